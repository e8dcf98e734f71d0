"""Functions on the points of sets, and what is asked of single dimensions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tangram.presburger.bounds import Bounds
from tangram.presburger.names import dim_type
from tangram.presburger.values import Val

if TYPE_CHECKING:
    from tangram.polyhedral import Schedule
    from tangram.presburger.affs import PwAff
    from tangram.presburger.count_unions import UnionPwQPolynomial, UnionPwQPolynomialFold
    from tangram.presburger.dimensions import Dimensions
    from tangram.presburger.folds import PwQPolynomialFold
    from tangram.presburger.maps import Map
    from tangram.presburger.multi_vals import MultiVal
    from tangram.presburger.points import Point
    from tangram.presburger.sets import Set
    from tangram.presburger.multi_union_affs import MultiUnionPwAff
    from tangram.presburger.union_affs import UnionPwMultiAff


class SetFunctions(Bounds):
    """What is made of a set: functions, sums and boxes."""

    __slots__ = ()

    def _set(self) -> Set:
        return self  # type: ignore[return-value]

    def pw_aff_on_domain_val(self, v: int | Fraction) -> PwAff:
        """A number at the points."""
        from tangram.presburger.affs import PwAff

        return PwAff.val_on_domain(self, v)

    def param_pw_aff_on_domain_id(self, id: str) -> PwAff:
        """The value of a parameter at the points."""
        from tangram.presburger.affs import PwAff

        return PwAff.param_on_domain_id(self, id)

    def pw_multi_aff_on_domain_multi_val(self, mv: MultiVal) -> Any:
        """The same numbers at all points."""
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff.multi_val_on_domain(self, mv)

    def identity_union_pw_multi_aff(self) -> UnionPwMultiAff:
        """The functions that give each point itself."""
        return self._set().identity().as_union_pw_multi_aff()

    def project_onto_map(self, type: dim_type, first: int, n: int) -> Map:
        """Relates each point to ``n`` of its dimensions from ``first`` on."""
        identity = self._set().identity().flatten_range()
        rest = identity.project_out(type, first + n, identity.dim(type) - first - n)
        return rest.project_out(type, 0, first)

    def min_multi_union_pw_aff(self, obj: MultiUnionPwAff) -> MultiVal:
        """The least value of each output of functions at the points.

        Raises:
            PresburgerError: one has none.
        """
        return obj.intersect_domain(self._set()).min_multi_val()

    def apply_pw_qpolynomial_fold(self, bound: PwQPolynomialFold) -> PwQPolynomialFold:
        """The bound over all points."""
        return bound.intersect_domain(self._set()).bound()

    def apply_union_pw_qpolynomial(self, functions: UnionPwQPolynomial) -> UnionPwQPolynomial:
        """The sum of functions over all points."""
        return functions.intersect_domain(self._set()).sum()

    def apply_union_pw_qpolynomial_fold(self, bounds: UnionPwQPolynomialFold) -> UnionPwQPolynomialFold:
        """The bound over all points."""
        return bounds.intersect_domain(self._set()).bound()

    def compute_schedule(self, validity: Map, proximity: Map) -> Schedule:
        """An order of the points that keeps to ``validity`` and brings pairs of ``proximity`` together."""
        from tangram.polyhedral import ScheduleConstraints

        constraints = ScheduleConstraints.on_domain(self._set()).set_validity(validity)
        return constraints.set_proximity(proximity).compute_schedule()

    def sum(self, other: Set) -> Set:
        """The sums of a point of this and one of ``other``."""
        return other.apply(self._set().translation())

    def get_plain_multi_val_if_fixed(self) -> MultiVal:
        """The only values of all dimensions; NaN is an error here.

        Raises:
            PresburgerError: one has several values, or none.
        """
        from tangram.presburger.multi_vals import MultiVal

        kind = dim_type.set
        values = [self.plain_get_val_if_fixed(kind, at) for at in range(self.dim(kind))]
        return MultiVal.from_val_list(self.get_space(), values)

    def dim_residue_class_val(self, pos: int) -> tuple[Val, Val]:
        """What all values of a dimension are congruent to: modulus and residue; 0 and the value if it is one."""
        alone = self.project_out_params()._alone(pos)
        if alone.is_singleton():
            return Val(0), alone.plain_get_val_if_fixed(dim_type.set, 0)
        stride = alone.get_stride_info(0)
        return stride.get_stride(), stride.get_offset().get_constant_val() % stride.stride

    def _alone(self, pos: int) -> Set:
        count, kind = self.dim(dim_type.set), dim_type.set
        return self._set().project_out(kind, pos + 1, count - pos - 1).project_out(kind, 0, pos)

    def eliminate_dims(self, first: int, n: int) -> Set:
        """Frees ``n`` dimensions from ``first`` on."""
        return self._set().eliminate(dim_type.set, first, n)

    def dim_has_any_lower_bound(self, type: dim_type, pos: int) -> bool:
        """Whether a dimension has a least value in some conjunction."""
        return any(part.dim_has_lower_bound(type, pos) for part in self._set().get_basic_sets())

    def dim_has_any_upper_bound(self, type: dim_type, pos: int) -> bool:
        """Whether a dimension has a greatest value in some conjunction."""
        return any(part.dim_has_upper_bound(type, pos) for part in self._set().get_basic_sets())

    def split_dims(self, type: dim_type, first: int, n: int) -> Set:
        """The same points, in parts within which ``n`` dimensions from ``first`` on do not change their sign."""
        points = self._set()
        for pos in range(first, first + n):
            points = points.upper_bound_val(type, pos, -1) | points.lower_bound_val(type, pos, 0)
        return points

    @classmethod
    def box_from_points(cls, pnt1: Point, pnt2: Point) -> Any:
        """The points between two corners."""
        box = cls.universe(pnt1.get_space())
        for pos, ends in enumerate(zip(pnt1, pnt2, strict=True)):
            box = box.lower_bound_val(dim_type.set, pos, min(ends)).upper_bound_val(dim_type.set, pos, max(ends))
        for pos, name in enumerate(pnt1.params):
            ends = (pnt1.params[name], pnt2.params[name])
            box = box.lower_bound_val(dim_type.param, pos, min(ends)).upper_bound_val(dim_type.param, pos, max(ends))
        return box

    @classmethod
    def positive_orthant(cls, space: Dimensions) -> Any:
        """The points of a space without negative coordinates."""
        orthant = cls.universe(space)
        for pos in range(orthant.dim(dim_type.set)):
            orthant = orthant.lower_bound_val(dim_type.set, pos, 0)
        return orthant

