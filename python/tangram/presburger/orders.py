"""Relations that compare: the first dimensions of points, or the values of functions at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from tangram.presburger.bounds import Bounds
from tangram.presburger.names import dim_type

if TYPE_CHECKING:
    from tangram.presburger.dimensions import Dimensions
    from tangram.presburger.maps import Map
    from tangram.presburger.sets import Set
    from tangram.presburger.multi_union_affs import MultiUnionPwAff


class Orders(Bounds):
    """Pairs of a space of relations by the order of their sides."""

    __slots__ = ()

    if TYPE_CHECKING:

        def domain(self) -> Set: ...
        def range(self) -> Set: ...

    @classmethod
    def equal(cls, space: Dimensions, n_equal: int) -> Any:
        """Pairs whose first ``n_equal`` dimensions agree."""
        pairs = cls.universe(space)
        for pos in range(n_equal):
            pairs = pairs.equate(dim_type.in_, pos, dim_type.set, pos)
        return pairs

    @classmethod
    def less_at(cls, space: Dimensions, pos: int) -> Any:
        """Pairs whose inputs are less than the outputs at a dimension, and agree before."""
        return cls.equal(space, pos).order_lt(dim_type.in_, pos, dim_type.set, pos)

    @classmethod
    def more_at(cls, space: Dimensions, pos: int) -> Any:
        """Pairs whose inputs are more than the outputs at a dimension, and agree before."""
        return cls.equal(space, pos).order_gt(dim_type.in_, pos, dim_type.set, pos)

    @classmethod
    def lex_lt_first(cls, space: Dimensions, n: int) -> Map:
        """Pairs whose first ``n`` inputs are lexicographically less than the outputs."""
        return cls._first(space, n, cls.less_at, False)

    @classmethod
    def lex_le_first(cls, space: Dimensions, n: int) -> Map:
        """As :meth:`lex_lt_first`, or equal."""
        return cls._first(space, n, cls.less_at, True)

    @classmethod
    def lex_gt_first(cls, space: Dimensions, n: int) -> Map:
        """Pairs whose first ``n`` inputs are lexicographically greater than the outputs."""
        return cls._first(space, n, cls.more_at, False)

    @classmethod
    def lex_ge_first(cls, space: Dimensions, n: int) -> Map:
        """As :meth:`lex_gt_first`, or equal."""
        return cls._first(space, n, cls.more_at, True)

    @classmethod
    def _first(cls, space: Dimensions, n: int, at: Any, equal: bool) -> Map:
        pairs: Any = cls.equal(space, n) if equal else cls.empty(space)
        for pos in range(n):
            pairs = pairs.union(at(space, pos))
        return pairs.to_map()  # type: ignore[no-any-return]

    def _at(self, function: MultiUnionPwAff, name: str) -> Self:
        values = function.as_union_map()
        pairs = values.apply_range(values.reverse()) if name == "eq" else getattr(values, f"lex_{name}_map")(values)
        return self.intersect(pairs)

    def eq_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> Self:
        """Keeps the pairs at whose sides functions have one value."""
        return self._at(mupa, "eq")

    def lex_lt_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> Self:
        """Keeps the pairs at whose inputs functions are before their values at the outputs."""
        return self._at(mupa, "lt")

    def lex_le_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> Self:
        """As :meth:`lex_lt_at_multi_union_pw_aff`, or equal."""
        return self._at(mupa, "le")

    def lex_gt_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> Self:
        """Keeps the pairs at whose inputs functions are behind their values at the outputs."""
        return self._at(mupa, "gt")

    def lex_ge_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> Self:
        """As :meth:`lex_gt_at_multi_union_pw_aff`, or equal."""
        return self._at(mupa, "ge")
