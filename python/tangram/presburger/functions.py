"""What functions have in common."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.arguments import Arguments
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import Context, dim_type, last_text
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.values import ratio

NativeKind = (
    _native.PwAff
    | _native.PwMultiAff
    | _native.UnionPwAff
    | _native.UnionPwMultiAff
    | _native.MultiUnionPwAff
)


class Function(Dimensions):
    """What all functions have in common: text, parameters, a domain, equality."""

    __slots__ = ("_function",)
    _native_kind: type[NativeKind]
    _family: ClassVar[Any]
    """The class of all that it can be equal to."""
    _function: Any

    _nameless = (dim_type.set,)

    def __init__(self, text: str | Self, context: Context | None = None) -> None:
        if isinstance(text, Function):
            self._function = text._function
        else:
            self._function = self._native_kind(text)

    @classmethod
    def _of(cls, function: NativeKind) -> Self:
        result = cls.__new__(cls)
        result._function = function
        return result

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's notation, as the constructor does; a context before it is accepted."""
        return cls(last_text(arguments))

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._function.params()

    def domain(self) -> Set:
        """The arguments that have a value; of a function of the parameters, those."""
        return wrap(Set, self._function.domain())

    def _binary(self, name: str, other: Self) -> Self:
        return self._of(self._function.binary(name, other._function))

    def add(self, other: Self) -> Self:
        """Adds where both have values."""
        return self._binary("add", other)

    def sub(self, other: Self) -> Self:
        """Subtracts where both have values."""
        return self._binary("sub", other)

    def union_add(self, other: Self) -> Self:
        """The values of either; the sum where both have one."""
        return self._binary("union_add", other)

    def is_equal(self, other: Self) -> bool:
        """Whether both have the same values at the same arguments."""
        return self._function.is_equal(other._function)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self._family):
            return NotImplemented
        try:
            return self.is_equal(other)
        except PresburgerError:
            if self._shape() != other._shape():
                return False
            raise

    def __hash__(self) -> int:
        return hash(self._shape())

    def _shape(self) -> object:
        return self.get_space()._shape()

    def get_space(self) -> Space:
        """The parameters, arguments and values."""
        return Space._of(self._function.space())

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._function)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Single(Arguments, Function):
    """A function from one tuple, or from the parameters."""

    __slots__ = ()

    def _at(self, point: tuple[int, ...], params: dict[str, int]) -> Any:
        known, wanted = self.get_param_names(), self.dim(dim_type.in_)
        if len(point) != wanted or set(params) != set(known):
            raise TypeError(f"expected {wanted} coordinates and the parameters {known}")
        return self._function.evaluate([*(params[name] for name in known), *point])

    _piece_kind: ClassVar[Any]
    """The class of a function of one piece."""

    def get_pieces(self) -> list[tuple[Set, Any]]:
        """Parts of the domain that do not overlap, each with one expression."""
        kind = self._piece_kind
        return [(wrap(Set, part), kind._of(value)) for part, value in self._function.pieces()]

    def n_piece(self) -> int:
        """The number of parts of the domain, each with one expression."""
        return len(self._function.pieces())

    def _pull(self, inner: Any) -> Any:
        return self.pullback_pw_multi_aff(inner)

    if TYPE_CHECKING:

        def pullback_pw_multi_aff(self, inner: Any) -> Any: ...

    def _parts(self) -> list[tuple[Set, Any]]:
        return self.get_pieces()

    def _united(self, other: Self) -> Self:
        return self.union_add(other)

    def get_domain_space(self) -> Space:
        """The space of the arguments."""
        space = self.get_space()
        return space.domain() if space.is_map() else space.params()

    get_domain_local_space = get_domain_space
    get_aggregate_domain: Final = Function.domain

    def _placed(self, space: Space, to: list[int]) -> Self:
        # Values are no coordinates of the pieces.
        arguments = self.dim(dim_type.param) + self.dim(dim_type.in_)
        return self._of(self._function.placed(space._form, to[:arguments]))

    def coalesce(self) -> Self:
        """The same function in fewer pieces, where pieces can be joined exactly."""
        return self._of(self._function.unary("coalesce"))

    def floor(self) -> Self:
        """Rounds down."""
        return self._of(self._function.unary("floor"))

    def neg(self) -> Self:
        """Changes the sign."""
        return self._of(self._function.unary("neg"))

    def scale_val(self, factor: int | Fraction) -> Self:
        """Multiplies with a number."""
        return self._of(self._function.scale(*ratio(factor)))

    def scale_down_val(self, divisor: int | Fraction) -> Self:
        """Divides by a number.

        Raises:
            PresburgerError: the number is 0.
        """
        top, bottom = ratio(divisor)
        return self._of(self._function.scale(bottom, top))

    def intersect_domain(self, points: Set) -> Self:
        """Keeps the values at ``points``."""
        return self._of(self._function.within("intersect_domain", points._union))

    def subtract_domain(self, points: Set) -> Self:
        """Drops the values at ``points``."""
        return self._of(self._function.within("subtract_domain", points._union))

    def gist(self, context: Set) -> Self:
        """The same values within ``context``, in shorter pieces."""
        return self._of(self._function.within("gist", context._union))

    def _with_params(self, params: Set) -> Set:
        """All arguments, for the parameters in ``params``."""
        return Set.universe(self.get_domain_space()).intersect_params(params.params())

    def intersect_params(self, params: Set) -> Self:
        """Keeps the values for parameters in ``params``."""
        return self.intersect_domain(self._with_params(params))

    def gist_params(self, params: Set) -> Self:
        """The same values for parameters in ``params``, in shorter pieces."""
        return self.gist(self._with_params(params))

    def plain_is_equal(self, other: Self) -> bool:
        """Whether both have the same values at the same arguments."""
        return self == other

    def to_str(self) -> str:
        """The text in isl's notation, as ``str`` gives it."""
        return str(self)

    def foreach_piece(self, visit: Callable[[Set, Any], object]) -> None:
        """Calls ``visit`` with each part of the domain and its expression."""
        for points, value in self.get_pieces():
            visit(points, value)

    def every_piece(self, test: Callable[[Set, Any], bool]) -> bool:
        """Whether ``test`` holds for each part of the domain and its expression."""
        return all(test(points, value) for points, value in self.get_pieces())

    def __neg__(self) -> Self:
        return self.neg()

    def __truediv__(self, other: int | Fraction) -> Self:
        return self.scale_down_val(other) if isinstance(other, int | Fraction) else NotImplemented
