"""Spaces: the parameters, and the tuples of a set, a relation or a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger.dimensions import check
from tangram.presburger.names import (
    PARAMS,
    Column,
    Columns,
    Context,
    Form,
    Tuple,
    dim_type,
    last_text,
    read_tuple,
)
from tangram.presburger.space_pairs import SpacePairs


class Space(SpacePairs):
    """Names of parameters, and the tuples of a set, a relation or a function.

    >>> space = Space.create_from_names(set=["i", "j"], params=["n"])
    >>> space, space.get_var_dict()["j"]
    (Space('[n] -> { [i, j] }'), (<dim_type.set: 3>, 1))
    """

    __slots__ = ("_input", "_output", "_params")
    _params: Sequence[str]
    _input: Tuple | None
    _output: Tuple

    def __init__(self, text: str | Space) -> None:
        if isinstance(text, str):
            spaces = _native.Union(text).spaces()
            if len(spaces) != 1:
                raise PresburgerError(f"expected one space, found {len(spaces)}")
            text = Space._of(spaces[0])
        self._params, self._input, self._output = text._params, text._input, text._output

    @classmethod
    def _of(cls, form: tuple[Sequence[str], Any, Any]) -> Self:
        params, source, target = form
        space = cls.__new__(cls)
        space._params = tuple(params)
        space._input = source and read_tuple(source)
        space._output = read_tuple(target)
        return space

    @property
    def _form(self) -> Form:
        return self._params, self._input, self._output

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's notation; a context before the text is accepted."""
        return cls(last_text(arguments))

    @classmethod
    def create_from_names(
        cls,
        ctx: Context | None = None,
        set: Sequence[str] | None = None,
        in_: Sequence[str] | None = None,
        out: Sequence[str] | None = None,
        params: Sequence[str] = (),
    ) -> Self:
        """The space of a set of ``set``, or of a relation from ``in_`` to ``out``.

        Raises:
            PresburgerError: both or neither are given.
        """
        if (set is None) == (in_ is None and out is None):
            raise PresburgerError("expected either set, or in_ and out")
        if set is not None:
            return cls._of((params, None, Tuple("", set)))
        return cls._of((params, Tuple("", in_ or ()), Tuple("", out or ())))

    @classmethod
    def alloc(cls, ctx: Context | None, nparam: int, n_in: int, n_out: int) -> Self:
        """The space of a relation, with names of dimensions that are made up."""
        return cls.create_from_names(
            in_=named("i", n_in), out=named("o", n_out), params=named("p", nparam)
        )

    @classmethod
    def set_alloc(cls, ctx: Context | None, nparam: int, dim: int) -> Self:
        """The space of a set, with names of dimensions that are made up."""
        return cls.create_from_names(set=named("i", dim), params=named("p", nparam))

    @classmethod
    def params_alloc(cls, ctx: Context | None, nparam: int) -> Self:
        """The space of parameters alone, with names that are made up."""
        return cls.set_alloc(ctx, nparam, 0).params()

    @classmethod
    def from_space(cls, space: Space) -> Space:
        """The space itself: islpy's local spaces are spaces here."""
        return space

    def get_space(self) -> Space:
        """The space itself."""
        return self

    def _placed(self, space: Space, to: list[int]) -> Space:
        return space

    def drop_dims(self, type: dim_type, first: int, num: int) -> Space:
        """Without ``num`` dimensions from ``first`` on."""
        columns = self._columns()
        check(self, type, first, num)
        del columns[type][first : first + num]
        return self._rebuilt(columns)[0]

    def _columns(self) -> Columns:
        """The dimensions, each with the column where it is."""
        columns: Columns = {}
        count = 0
        for type in (dim_type.param, dim_type.in_, dim_type.set):
            names = self._names(type)
            columns[type] = [Column(name, count + index) for index, name in enumerate(names)]
            count += len(names)
        return columns

    def _rebuilt(self, columns: Columns) -> tuple[Space, list[int]]:
        """The space of ``columns``, and where each column that was there goes; -1 is away.

        A tuple keeps its name if it keeps its dimensions, whatever their names.
        """
        old = self._columns()
        to = [-1] * sum(map(len, old.values()))
        for index, column in enumerate(c for part in columns.values() for c in part):
            if column.old is not None:
                to[column.old] = index
        params = [column.name for column in columns[dim_type.param]]
        tuples: list[Tuple | None] = []
        for type, known in ((dim_type.in_, self._input), (dim_type.set, self._output)):
            names = tuple(column.name for column in columns[type])
            same = [c.old for c in columns[type]] == [c.old for c in old[type]]
            tuples.append(known.renamed(names) if known and same else Tuple("", names))
        source = tuples[0] if self._input is not None or columns[dim_type.in_] else None
        return Space._of((params, source, tuples[1] or Tuple())), to

    def _names(self, type: dim_type) -> Sequence[str]:
        if type == dim_type.param:
            return self._params
        if type == dim_type.in_:
            return self._input.dims if self._input else ()
        if type == dim_type.set:
            return self._output.dims
        if type == dim_type.all:
            return [*self._params, *self._names(dim_type.in_), *self._output.dims]
        return ()

    def _tuple(self, type: dim_type) -> Tuple:
        if type == dim_type.set:
            return self._output
        if type != dim_type.in_ or self._input is None:
            raise PresburgerError(f"{self} has no tuple {type!r}")
        return self._input

    def _with_tuple(self, type: dim_type, changed: Tuple) -> Space:
        self._tuple(type)
        if type == dim_type.set:
            return Space._of((self._params, self._input, changed))
        return Space._of((self._params, changed, self._output))

    # What the tuples are, and others made of them.

    def is_set(self) -> bool:
        """Whether it is the space of a set."""
        return self._input is None

    def is_map(self) -> bool:
        """Whether it is the space of a relation."""
        return self._input is not None

    def is_params(self) -> bool:
        """Whether it has parameters alone."""
        return self._input is None and self._output.name == PARAMS.name

    def is_wrapping(self) -> bool:
        """Whether it is the space of a set of pairs."""
        return self._input is None and self._output.sides is not None

    def params(self) -> Space:
        """The space of the parameters."""
        return Space._of((self._params, None, PARAMS))

    def set_from_params(self) -> Space:
        """The space of sets of the point ``[]``, for the same parameters."""
        return Space._of((self._params, None, Tuple())) if self.is_params() else self

    def domain(self) -> Space:
        """The space of the inputs."""
        return Space._of((self._params, None, self._tuple(dim_type.in_)))

    def range(self) -> Space:
        """The space of the outputs."""
        return Space._of((self._params, None, self._output))

    def reverse(self) -> Space:
        """With inputs and outputs swapped."""
        return Space._of((self._params, self._output, self._tuple(dim_type.in_)))

    def map_from_set(self) -> Space:
        """The space of relations from these points to these points."""
        return Space._of((self._params, self._output, self._output))

    def map_from_domain_and_range(self, range: Space) -> Space:
        """The space of relations from these points to those of ``range``."""
        params = [*self._params, *(name for name in range._params if name not in self._params)]
        return Space._of((params, self._output, range._output))

    def from_domain(self) -> Space:
        """The space of relations from these points to the point ``[]``."""
        return Space._of((self._params, self._output, Tuple()))

    def from_range(self) -> Space:
        """The space of relations from the point ``[]`` to these points."""
        return Space._of((self._params, Tuple(), self._output))

    def wrap(self) -> Space:
        """The space of sets of the pairs."""
        source = self._tuple(dim_type.in_)
        dims = (*source.dims, *self._output.dims)
        return Space._of((self._params, None, Tuple("", dims, (source, self._output))))

    def unwrap(self) -> Space:
        """The space of relations of the pairs that are the points."""
        if self._output.sides is None:
            raise PresburgerError(f"expected the space of pairs, found {self}")
        source, target = self._output.sides
        return Space._of((self._params, source, target))

    def is_equal(self, other: Space) -> bool:
        """Whether parameters and tuples agree; names of other dimensions do not count."""
        return self._params == other._params and self.has_equal_tuples(other)

    def has_equal_tuples(self, other: Space) -> bool:
        """Whether the tuples agree; parameters do not count."""
        return self._shape() == other._shape()

    def _shape(self) -> object:
        return self._input and self._input.shape(), self._output.shape()

    def __eq__(self, other: object) -> bool:
        return self.is_equal(other) if isinstance(other, Space) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._params, self._shape()))

    def __reduce__(self) -> tuple[object, ...]:
        return Space._of, (self._form,)

    def __str__(self) -> str:
        return str(_native.Union.full(self._form))

    def __repr__(self) -> str:
        return f"Space({str(self)!r})"


LocalSpace = Space
"""islpy's name for a space with divisions; constraints and expressions carry theirs here."""


def named(letter: str, count: int) -> list[str]:
    """Names that are made up: a letter and a number."""
    return [f"{letter}{number}" for number in range(count)]
