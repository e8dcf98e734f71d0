"""Dimensions by kind and position: names, and others in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from tangram._native import PresburgerError
from tangram.presburger.names import (
    DEFAULT_CONTEXT,
    PARAMS,
    Column,
    Columns,
    Context,
    Id,
    dim_type,
)

if TYPE_CHECKING:
    from tangram.presburger.spaces import Space

LETTERS = {dim_type.param: "p", dim_type.in_: "i", dim_type.set: "o"}


class Named:
    """What has a space: each dimension has a kind, a position and a name.

    Names tell parameters apart; those of other dimensions are for readers.
    """

    __slots__ = ()
    # Of a function, the outputs are no dimensions that have names.
    _nameless: tuple[dim_type, ...] = ()

    def get_space(self) -> Space:
        """The parameters and tuples."""
        raise NotImplementedError

    @property
    def space(self) -> Space:
        """The parameters and tuples."""
        return self.get_space()

    def get_local_space(self) -> Space:
        """The parameters and tuples."""
        return self.get_space()

    def get_ctx(self) -> Context:
        """What islpy asks for; it does nothing."""
        return DEFAULT_CONTEXT

    def copy(self) -> Self:
        """The same value: values never change."""
        return self

    def to_str(self) -> str:
        """The text in isl's notation, as ``str`` gives it."""
        return str(self)

    def dump(self) -> None:
        """Prints the value."""
        print(self)

    def reset_user(self) -> Self:
        """The same value: names stand for nothing else."""
        return self

    def dim(self, type: dim_type) -> int:
        """The number of dimensions of a kind."""
        return len(self.get_space()._names(type))

    def get_dim_name(self, type: dim_type, pos: int) -> str | None:
        """The name of a dimension; ``None`` of an output of a function."""
        check(self, type, pos, 1)
        return None if type in self._nameless else self.get_space()._names(type)[pos]

    def has_dim_name(self, type: dim_type, pos: int) -> bool:
        """Whether a dimension has a name."""
        return self.get_dim_name(type, pos) is not None

    def get_dim_id(self, type: dim_type, pos: int) -> Id:
        """The name of a dimension."""
        return Id(self.get_dim_name(type, pos))

    has_dim_id = has_dim_name

    def find_dim_by_name(self, type: dim_type, name: str) -> int:
        """The position of a dimension; -1 if there is none of that name."""
        names = self.get_var_names(type)
        return names.index(name) if name in names else -1

    find_dim_by_id = find_dim_by_name

    def get_var_names(self, type: dim_type = dim_type.set) -> list[str]:
        """The names of the dimensions of a kind."""
        return [] if type in self._nameless else list(self.get_space()._names(type))

    get_var_names_not_none = get_var_names

    def get_var_ids(self, type: dim_type = dim_type.set) -> list[Id]:
        """The names of the dimensions of a kind."""
        return [Id(name) for name in self.get_var_names(type)]

    def get_var_dict(
        self, dimtype: dim_type | None = None, ignore_out: bool = False
    ) -> dict[str, tuple[dim_type, int]]:
        """Kind and position of the dimension of each name."""
        kinds = [dim_type.param, dim_type.in_, dim_type.set] if dimtype is None else [dimtype]
        if ignore_out:
            kinds.remove(dim_type.set)
        return {
            name: (kind, pos)
            for kind in kinds
            for pos, name in enumerate(self.get_var_names(kind))
        }

    def get_id_dict(self, dimtype: dim_type | None = None) -> dict[Id, tuple[dim_type, int]]:
        """Kind and position of the dimension of each name."""
        return {Id(name): place for name, place in self.get_var_dict(dimtype).items()}

    def get_tuple_name(self, type: dim_type = dim_type.set) -> str | None:
        """The name of a tuple, or ``None``."""
        name = self.get_space()._tuple(type).name
        return None if name == PARAMS.name else name or None

    def has_tuple_name(self, type: dim_type = dim_type.set) -> bool:
        """Whether a tuple has a name."""
        return bool(self.get_tuple_name(type))

    has_tuple_id = has_tuple_name

    def get_tuple_id(self, type: dim_type = dim_type.set) -> Id:
        """The name of a tuple, which may be empty."""
        return Id(self.get_tuple_name(type) or "")


class Dimensions(Named):
    """What can have other dimensions in place of its own."""

    __slots__ = ()

    def _placed(self, space: Space, to: list[int]) -> Self:
        """The same over ``space``, where column ``i`` is column ``to[i]``."""
        raise NotImplementedError

    def set_dim_name(self, type: dim_type, pos: int, name: str) -> Self:
        """With another name of a dimension.

        Raises:
            PresburgerError: there is another parameter of that name.
        """
        check(self, type, pos, 1)
        space = self.get_space()
        if type == dim_type.param and name in {*space._params[:pos], *space._params[pos + 1 :]}:
            raise PresburgerError(f"there is a parameter {name!r} already in {space}")
        columns = space._columns()
        columns[type][pos] = Column(str(name), columns[type][pos].old)
        return self._rearranged(columns)

    set_dim_id = set_dim_name

    def rename_dims(self, names: dict[str, str]) -> Self:
        """With other names of dimensions, those of parameters too."""
        columns = self.get_space()._columns()
        renamed = {
            kind: [Column(names.get(column.name, column.name), column.old) for column in part]
            for kind, part in columns.items()
        }
        return self._rearranged(renamed)

    def insert_dims(self, type: dim_type, pos: int, n: int) -> Self:
        """With ``n`` dimensions before that at ``pos``, which are free; a tuple loses its name."""
        check(self, type, pos, 0)
        columns = self.get_space()._columns()
        letter = "i" if type == dim_type.set and self.get_space().is_set() else LETTERS[type]
        fresh = new_names(letter, pos, n, columns)
        columns[type][pos:pos] = [Column(name) for name in fresh]
        return self._rearranged(columns)

    def add_dims(self, type: dim_type, n: int) -> Self:
        """With ``n`` dimensions behind the others, which are free; a tuple loses its name."""
        return self.insert_dims(type, self.dim(type), n)

    def move_dims(
        self, dst_type: dim_type, dst_pos: int, src_type: dim_type, src_pos: int, n: int
    ) -> Self:
        """With ``n`` dimensions in another place; tuples that change lose their names."""
        check(self, src_type, src_pos, n)
        check(self, dst_type, dst_pos, 0)
        columns = self.get_space()._columns()
        moved = columns[src_type][src_pos : src_pos + n]
        del columns[src_type][src_pos : src_pos + n]
        columns[dst_type][dst_pos:dst_pos] = moved
        names = [column.name for column in columns[dim_type.param]]
        if len(set(names)) < len(names):
            raise PresburgerError(f"there would be two parameters of one name among {names}")
        return self._rearranged(columns)

    def align_params(self, model: Dimensions) -> Self:
        """With the parameters of ``model`` first, in its order, then the others."""
        columns = self.get_space()._columns()
        known = {column.name: column for column in columns[dim_type.param]}
        first = [known.pop(name, Column(name)) for name in model.get_space()._params]
        columns[dim_type.param] = [*first, *known.values()]
        return self._rearranged(columns)

    def set_tuple_name(self, type: dim_type | str, name: str | None = None) -> Self:
        """With another name of a tuple: ``set_tuple_name("S")``, or with its kind first."""
        if isinstance(type, str):
            type, name = dim_type.set, type
        if name is None:
            raise TypeError("expected the name of the tuple")
        space = self.get_space()
        changed = space._with_tuple(type, space._tuple(type)._replace(name=str(name)))
        return self._placed(changed, list(range(space.dim(dim_type.all))))

    set_tuple_id = set_tuple_name

    def reset_tuple_id(self, type: dim_type = dim_type.set) -> Self:
        """Without a name of the tuple."""
        return self.set_tuple_name(type, "")

    def _rearranged(self, columns: Columns) -> Self:
        return self._placed(*self.get_space()._rebuilt(columns))


def new_names(letter: str, first: int, count: int, columns: Columns) -> Sequence[str]:
    """Names that are made up of a letter and positions, none of those that are there."""
    taken = {column.name for part in columns.values() for column in part}
    names: list[str] = []
    for position in range(first, first + count):
        name = f"{letter}{position}"
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def check(value: Named, type: dim_type, first: int, count: int) -> None:
    """Raises what says that there are not as many dimensions."""
    dims = value.dim(type)
    if first < 0 or count < 0 or first + count > dims:
        wanted = first + max(count, 1) - 1
        raise PresburgerError(f"expected a {type!r} below {dims}, found {wanted} in {value.get_space()}")
