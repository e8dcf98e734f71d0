"""Points of sets and relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from tangram._native import PresburgerError
from tangram.presburger.dimensions import Named
from tangram.presburger.names import Tuple, dim_type
from tangram.presburger.values import Val

if TYPE_CHECKING:
    from tangram.presburger.dimensions import Dimensions
    from tangram.presburger.multi_vals import MultiVal
    from tangram.presburger.sets import Set
    from tangram.presburger.spaces import Space


class Point(Named, tuple[int, ...]):
    """Coordinates of an integer point, and the name of its tuple, which may be empty.

    >>> Point((1, 2), "S")
    S[1, 2]

    A point may know values of parameters as well, by their names.
    """

    name: str
    params: Mapping[str, int]

    def __new__(
        cls,
        coordinates: tuple[int, ...] | list[int],
        name: str = "",
        params: Mapping[str, int] | None = None,
    ) -> Self:
        point = super().__new__(cls, coordinates)
        point.name = name
        point.params = dict(params or {})
        return point

    @classmethod
    def zero(cls, space: Dimensions) -> Self:
        """The point of a set space, of parameters and coordinates that are all 0."""
        space = space.get_space()
        params = dict.fromkeys(space.get_var_names(dim_type.param), 0)
        return cls([0] * space.dim(dim_type.set), space.get_tuple_name() or "", params)

    def __getnewargs__(self) -> tuple[tuple[int, ...], str, Mapping[str, int]]:
        return tuple(self), self.name, self.params

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value}" for name, value in self.params.items())
        point = f"{self.name}[{', '.join(map(str, self))}]"
        return f"[{values}] -> {point}" if values else point

    def get_space(self) -> Space:
        """The space of sets of such points, with names that are made up."""
        from tangram.presburger.spaces import Space, named

        output = Tuple(self.name, named("i", len(self)))
        return Space._of((tuple(self.params), None, output))

    def get_coordinate_val(self, type: dim_type, pos: int) -> Val:
        """The coordinate of a dimension, or the value of a parameter."""
        values = list(self.params.values()) if type == dim_type.param else list(self)
        if not 0 <= pos < len(values):
            raise PresburgerError(f"expected a {type!r} below {len(values)}, found {pos}")
        return Val(values[pos])

    def to_str(self) -> str:
        """The text, as ``repr`` gives it."""
        return repr(self)

    def void(self) -> bool:
        """Whether it is no point, which it never is."""
        return False

    def dump(self) -> None:
        """Prints the point."""
        print(repr(self))

    def set_coordinate_val(self, type: dim_type, pos: int, value: int) -> Self:
        """With another coordinate of a dimension, or another value of a parameter.

        Raises:
            PresburgerError: there is no such dimension.
        """
        params, coordinates = dict(self.params), list(self)
        count = len(params) if type == dim_type.param else len(coordinates)
        if not 0 <= pos < count:
            raise PresburgerError(f"expected a {type!r} below {count}, found {pos}")
        if type == dim_type.param:
            params[list(params)[pos]] = int(value)
        else:
            coordinates[pos] = int(value)
        return self.__class__(coordinates, self.name, params)

    def add_ui(self, type: dim_type, pos: int, value: int) -> Self:
        """With a coordinate that much larger."""
        return self.set_coordinate_val(type, pos, int(self.get_coordinate_val(type, pos)) + value)

    def sub_ui(self, type: dim_type, pos: int, value: int) -> Self:
        """With a coordinate that much smaller."""
        return self.add_ui(type, pos, -value)

    def get_multi_val(self) -> MultiVal:
        """The coordinates."""
        from tangram.presburger.multi_vals import MultiVal

        return MultiVal._of(self.get_space(), self)

    def is_void(self) -> bool:
        """Whether it is no point, which it never is."""
        return False

    def to_set(self) -> Set:
        """The set of this point."""
        from tangram.presburger.sets import Set

        return Set.from_point(self)
