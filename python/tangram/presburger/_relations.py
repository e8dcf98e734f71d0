"""What sets and relations have in common."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger import plots
from tangram.presburger.constrained import Constrained
from tangram.presburger.names import Context, dim_type

if TYPE_CHECKING:
    from tangram.presburger.union_affs import UnionPwMultiAff

R = TypeVar("R", bound="Relations")


class Relations(Constrained):
    """What sets and relations have in common."""

    __slots__ = ("_union",)
    _general: ClassVar[Any]
    """The class of all values of this kind, sets or relations."""
    _basic: ClassVar[Any]
    """The class of those of one conjunction."""

    def __init__(self, text: str | Self, context: Context | None = None) -> None:
        self._union = text._union if isinstance(text, Relations) else _native.Union(text)
        is_set = self._general is Set
        if any((source is None) != is_set for _, source, _ in self._union.spaces()):
            wanted, other = ("a set", "Map") if is_set else ("a relation", "Set")
            raise PresburgerError(f"expected {wanted}, found {text}; {other}(...) reads it")
        if isinstance(self, self._basic) and not is_basic(self._union):
            name = self._general.__name__
            raise PresburgerError(f"expected one conjunction, found {text}; {name}(...) reads it")

    @classmethod
    def _wrap(cls, union: _native.Union) -> Self:
        basic = issubclass(cls, cls._basic) and is_basic(union)
        return wrap(cls._basic if basic else cls._general, union)

    def __str__(self) -> str:
        return str(self._union)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def _unary(self, name: str) -> Self:
        return self._wrap(self._union.unary(name))

    def _binary(self, name: str, other: Relations) -> Self:
        return self._to(self._general, name, other)

    def _to(self, kind: type[R], name: str, *others: Relations) -> R:
        """Applies an operation; the result may be basic where all operands are."""
        union = self._union
        unions = [union_of(other) for other in others]
        result = union.binary(name, *unions) if unions else union.unary(name)
        basic = all(isinstance(value, value._basic) for value in (self, *others))
        return (kind._basic if basic else kind)._wrap(result)

    def _hull(self, name: str) -> Self:
        """What is of one conjunction in each space."""
        return self._basic._wrap(self._union.unary(name))

    # Sets of points, be they single or pairs.

    def union(self, other: Self) -> Self:
        """The points of either."""
        return self._binary("union", other)

    def intersect(self, other: Self) -> Self:
        """The points of both."""
        return self._binary("intersect", other)

    def subtract(self, other: Self) -> Self:
        """The points of this that are not in ``other``."""
        return self._binary("subtract", other)

    def complement(self) -> Self:
        """The points of the same spaces that are not in this."""
        return self._unary("complement")

    def _full(self) -> Self:
        """All points of the same spaces."""
        return self._unary("universe")

    def is_empty(self) -> bool:
        """Whether there is no point for any value of the parameters."""
        return self._union.test("is_empty")

    def is_equal(self, other: Self) -> bool:
        """Whether both hold the same points for all values of the parameters."""
        return self._union.test("is_equal", union_of(other))

    def is_subset(self, other: Self) -> bool:
        """Whether ``other`` holds every point of this."""
        return self._union.test("is_subset", union_of(other))

    def is_strict_subset(self, other: Self) -> bool:
        """Whether ``other`` holds every point of this and more."""
        return self._union.test("is_strict_subset", union_of(other))

    def is_disjoint(self, other: Self) -> bool:
        """Whether no point is in both."""
        return self._union.test("is_disjoint", union_of(other))

    def coalesce(self) -> Self:
        """The same points in fewer pieces, where pieces can be joined exactly."""
        return self._unary("coalesce")

    def gist(self, context: Self) -> Self:
        """What this says beyond ``context``: the same points within it, in fewer constraints."""
        return self._binary("gist", context)

    gist_basic_set = gist
    gist_basic_map = gist

    def affine_hull(self) -> Self:
        """The smallest superset that equations describe, in each space."""
        return self._hull("affine_hull")

    def simple_hull(self) -> Self:
        """A convex superset bounded by shifted constraints of the pieces, in each space."""
        return self._hull("simple_hull")

    def unshifted_simple_hull(self) -> Self:
        """A convex superset bounded by constraints of the pieces as they are, in each space."""
        return self._hull("unshifted_simple_hull")

    def convex_hull(self) -> Self:
        """The smallest convex superset, in each space."""
        return self._hull("convex_hull")

    def polyhedral_hull(self) -> Self:
        """The smallest convex superset within the affine hull, in each space."""
        return self._hull("polyhedral_hull")

    def remove_redundancies(self) -> Self:
        """The same points without constraints that others imply."""
        return self._unary("remove_redundancies")

    def make_disjoint(self) -> Self:
        """The same points in disjuncts that share none."""
        return self._unary("make_disjoint")

    plain_is_empty = is_empty
    plain_is_equal = is_equal
    plain_is_disjoint = is_disjoint
    union_disjoint = union

    def has_equal_space(self, other: Relations) -> bool:
        """Whether both have the same parameters and tuples."""
        return self.get_space().is_equal(other.get_space())

    def contains(self, space: Space) -> bool:
        """Whether there are points of a space."""
        return not self._in(space).is_empty()

    def _in(self, space: Space) -> Self:
        """The points of one space."""
        return self & self._wrap(_native.Union.full(space.get_space()._form))

    def _expect(self, fits: Callable[[Space], bool], wanted: str) -> None:
        """Raises what says what was expected of the only space, unless there is no point.

        Of several spaces, those are dropped that do not fit, as isl's unions do.
        """
        spaces = self._union.spaces()
        if len(spaces) == 1 and not fits(Space._of(spaces[0])) and not self.is_empty():
            raise PresburgerError(f"expected {wanted}, found {self}")

    def _preimage(self, side: str, functions: PwMultiAff | UnionPwMultiAff) -> Any:
        """What functions send to the points, or to the inputs or outputs of the pairs.

        Of several spaces, or for several functions, what does not fit is left out.
        """
        type = dim_type.in_ if side == "domain" else dim_type.set
        single = [functions] if isinstance(functions, PwMultiAff) else functions.functions()
        pieces = self.pieces()
        fitting = [
            (piece, function)
            for piece in pieces
            for function in single
            if len(pieces) == len(single) == 1
            or piece.get_space()._tuple(type).shape() == function.get_space()._output.shape()
        ]
        parts = [self._general._wrap(f._function.preimage(side, piece._union)) for piece, f in fitting]
        if not parts and side == "set" and len(single) == 1:
            return self._general.empty(single[0].get_domain_space())
        return functools.reduce(self._general.union, parts, self._general("{ }"))

    def isa_single(self) -> bool:
        """Whether all points are of one space."""
        return len(self._union.spaces()) == 1

    def plain_is_universe(self) -> bool:
        """Whether all points of the only space are in it."""
        return self.is_equal(self.universe(self))

    is_universe = plain_is_universe

    def disjuncts(self) -> list[Self]:
        """One value for each conjunction of constraints."""
        return [wrap(self._basic, part) for part in self._union.disjuncts()]

    def compute_divs(self) -> Self:
        """The same points: every integer division is explicit already."""
        return self

    def detect_equalities(self) -> Self:
        """The same points, with the equations that hold on all of them among the constraints."""
        return self._unary("detect_equalities")

    def lexmin(self) -> Self:
        """The first point, or the first output of each input; parametric.

        Raises:
            PresburgerError: there is no first one for some input, or some values of the parameters.
        """
        return self._unary("lexmin")

    def lexmax(self) -> Self:
        """The last point, or the last output of each input; parametric.

        Raises:
            PresburgerError: there is no last one for some input, or some values of the parameters.
        """
        return self._unary("lexmax")

    def as_pw_multi_aff(self) -> PwMultiAff:
        """The function that gives each input its only output; of a set, the parameters.

        Raises:
            PresburgerError: an input has two outputs, or there are several spaces.
        """
        return self._function("only")

    def lexmin_pw_multi_aff(self) -> PwMultiAff:
        """The first point, or the first output of each input, as a function.

        Raises:
            PresburgerError: there is no first one for some input, or some values of the parameters.
        """
        return self._function("lexmin")

    def lexmax_pw_multi_aff(self) -> PwMultiAff:
        """The last point, or the last output of each input, as a function.

        Raises:
            PresburgerError: there is no last one for some input, or some values of the parameters.
        """
        return self._function("lexmax")

    def _function(self, name: str) -> PwMultiAff:
        return PwMultiAff._of(_native.PwMultiAff.of_map(name, self._union))

    def dim_min(self, dim: int) -> PwAff:
        """The least value of a dimension, or output, as a function of parameters and inputs.

        Raises:
            PresburgerError: there is no least one for some input, or some values of the parameters.
        """
        return PwAff._of(_native.PwAff.extremum(self._union, dim, False, False))

    def dim_max(self, dim: int) -> PwAff:
        """The greatest value of a dimension, or output, as a function of parameters and inputs.

        Raises:
            PresburgerError: there is no greatest one for some input, or some values of the parameters.
        """
        return PwAff._of(_native.PwAff.extremum(self._union, dim, True, False))

    def sample(self) -> Self:
        """One point of each space that has one."""
        return self._unary("sample")

    def params(self) -> Set:
        """The values of the parameters for which there is a point."""
        return self._to(Set, "params")

    def intersect_params(self, params: Set) -> Self:
        """Restricts the parameters to ``params``, a set of ``[]``."""
        return self._wrap(self._union.binary("intersect_params", union_of(params)))

    def bind(self, **values: int) -> Self:
        """Gives parameters their values, after which they are gone.

        Raises:
            PresburgerError: there is no such parameter.
        """
        unknown = [name for name in values if name not in self.get_param_names()]
        if unknown:
            raise PresburgerError(f"no parameter {unknown[0]!r}; there are {self.get_param_names()}")
        return self._wrap(self._union.bind(list(values.items())))

    def project_out_params(self, *names: str) -> Self:
        """Drops parameters: keeps what is there for some value of them; all if none is named."""
        gone = list(names) or self.get_param_names()
        return self._wrap(self._union.project_params(gone))

    def project_out_all_params(self) -> Self:
        """What is left without parameters: the points for any values of them."""
        return self.project_out_params()

    def project_out_param_id(self, name: str) -> Self:
        """What is left without a parameter; the same where there is none of that name."""
        return self.project_out_params(name) if name in self.get_param_names() else self

    def drop_unused_params(self) -> Self:
        """Without parameters that no constraint uses."""
        kind = dim_type.param
        unused = [
            name
            for pos, name in enumerate(self.get_param_names())
            if not any(piece.involves_dims(kind, pos, 1) for piece in self.pieces())
        ]
        return self.project_out_params(*unused) if unused else self

    def gist_params(self, params: Set) -> Self:
        """What this says beyond ``params``, a set of ``[]``."""
        return self.gist(self._full().intersect_params(params))

    def is_bounded(self) -> bool:
        """Whether there are finitely many points for each value of the parameters."""
        for piece in self.pieces():
            points = piece if piece._general is Set else piece._to(Set, "wrap")
            params = points.params()
            for dim in range(points.dim(dim_type.set)):
                for greatest in [False, True]:
                    end = _native.PwAff.extremum(points._union, dim, greatest, True)
                    if not params <= PwAff._of(end).domain():
                        return False
        return True

    def is_singleton(self) -> bool:
        """Whether there is at most one point for each value of the parameters."""
        points = self if self._general is Set else self._to(Set, "wrap")
        pieces = [piece for piece in points.pieces() if not piece.is_empty()]
        single = all(Set("{ [] }").cross(piece).is_single_valued() for piece in pieces)
        params = [piece.params() for piece in pieces]
        apart = all(a.is_disjoint(b) for at, a in enumerate(params) for b in params[:at])
        return single and apart

    def plain_get_val_if_fixed(self, type: dim_type, pos: int) -> Val:
        """The value of a dimension that has one; NaN is an error here.

        Raises:
            PresburgerError: it has several values, or none.
        """
        # The dimension alone, as that of a set without parameters.
        names = self.get_param_names()
        points = self if self._general is Set else self._to(Set, "wrap")
        if points.is_params():
            points = points.from_params()
        at = pos if type == dim_type.param else len(names) + pos
        at += self.dim(dim_type.in_) if self._general is not Set and type == dim_type.set else 0
        flat = points.move_dims(dim_type.set, 0, dim_type.param, 0, len(names))
        found = flat.project_out(dim_type.set, at + 1, flat.n_dim() - at - 1)
        found = found.project_out(dim_type.set, 0, at)
        least, greatest = found.dim_min_val(0), found.dim_max_val(0)
        if least is None or least != greatest:
            raise PresburgerError("the dimension has no single value")
        return least

    def partial_lexmin(self, dom: Set) -> tuple[Self, Set]:
        """The first outputs of inputs in ``dom``, or points for these parameters; and where there
        is none."""
        return self._partial(dom, "lexmin")

    def partial_lexmax(self, dom: Set) -> tuple[Self, Set]:
        """The last outputs of inputs in ``dom``, or points for these parameters; and where there
        is none."""
        return self._partial(dom, "lexmax")

    def _partial(self, dom: Set, name: str) -> tuple[Any, Set]:
        if self._general is Set:
            inside = self.intersect_params(dom.params() if not dom.is_params() else dom)
            return getattr(inside, name)(), dom.subtract(self.params())
        inside = self._binary("intersect_domain", dom)
        return getattr(inside, name)(), dom.subtract(self._to(Set, "domain"))

    def partial_lexmin_pw_multi_aff(self, dom: Set) -> tuple[PwMultiAff, Set]:
        """As :meth:`partial_lexmin`, with a function."""
        return self._partial(dom, "lexmin_pw_multi_aff")

    def partial_lexmax_pw_multi_aff(self, dom: Set) -> tuple[PwMultiAff, Set]:
        """As :meth:`partial_lexmax`, with a function."""
        return self._partial(dom, "lexmax_pw_multi_aff")

    plain_unshifted_simple_hull = unshifted_simple_hull

    def align_divs(self) -> Self:
        """The same points: every integer division is explicit already."""
        return self

    def remove_unknown_divs(self) -> Self:
        """The same points: every integer division is known."""
        return self

    def get_constraint_list(self) -> Any:
        """The equations and inequalities of one conjunction."""
        from tangram.presburger.lists import ConstraintList

        return ConstraintList(self.get_constraints())

    def total_dim(self) -> int:
        """The number of all dimensions."""
        return self.dim(dim_type.all)

    def is_rational(self) -> bool:
        """Whether points may be fractions, which they never are here."""
        return False

    def to_list(self) -> Any:
        """The list of this value."""
        from tangram.presburger import lists

        return lists.ALL[f"{type(self).__name__}List"]([self])

    def drop_constraints_not_involving_dims(self, type: dim_type, first: int, n: int) -> Self:
        """With the constraints alone that are about ``n`` dimensions from ``first`` on: a superset."""
        space = self.get_space()
        kinds = (dim_type.param, dim_type.in_, dim_type.set)
        start = 1 + sum(self.dim(kind) for kind in kinds if kind < type) + first
        wanted = range(start, start + n)
        kept = []
        for equalities, inequalities, floors in self._union.rows():
            size = 1 + space.dim(dim_type.all)
            # A division is about the dimensions that its numerator is about.
            about = [at in wanted for at in range(size)]
            for numerator, _ in floors:
                about.append(any(v and about[at] for at, v in enumerate(numerator)))
            sides = [
                [row for row in rows if any(v and about[at] for at, v in enumerate(row))]
                for rows in (equalities, inequalities)
            ]
            kept.append((sides[0], sides[1], floors))
        return self._wrap(_native.Union.of_rows(space._form, kept))

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._union.params()

    def pieces(self) -> list[Self]:
        """One value for each space."""
        return [self._wrap(piece) for piece in self._union.pieces()]

    def __hash__(self) -> int:
        # Equal values have points in the same spaces; constraints have many forms.
        full = [piece for piece in self.pieces() if not piece.is_empty()]
        return hash(frozenset(piece.get_space()._shape() for piece in full))

    def __or__(self, other: Self) -> Self:
        return self.union(other) if isinstance(other, self._general) else NotImplemented

    def __and__(self, other: Self) -> Self:
        return self.intersect(other) if isinstance(other, self._general) else NotImplemented

    def __sub__(self, other: Self) -> Self:
        return self.subtract(other) if isinstance(other, self._general) else NotImplemented

    def __xor__(self, other: Self) -> Self:
        return (self - other) | (other - self)

    def __invert__(self) -> Self:
        return self.complement()

    def __eq__(self, other: object) -> bool:
        return self.is_equal(other) if isinstance(other, self._general) else NotImplemented

    def __le__(self, other: Self) -> bool:
        return self.is_subset(other) if isinstance(other, self._general) else NotImplemented

    def __lt__(self, other: Self) -> bool:
        return self.is_strict_subset(other) if isinstance(other, self._general) else NotImplemented

    def __ge__(self, other: Self) -> bool:
        return other.is_subset(self) if isinstance(other, self._general) else NotImplemented

    def __gt__(self, other: Self) -> bool:
        return other.is_strict_subset(self) if isinstance(other, self._general) else NotImplemented

    def __bool__(self) -> bool:
        return not self.is_empty()

    # Pictures.

    def plot(self, path: str | None = None, **params: int) -> str:
        """Draws the points as SVG text, with ``params`` bound; writes it to ``path`` if given.

        Raises:
            PresburgerError: more than three dimensions, too many points, or infinitely many.
        """
        return plots.draw((self.bind(**params) if params else self)._union, path)

    def _repr_svg_(self) -> str | None:
        return None if self.get_param_names() else plots.notebook(self._union)


def union_of(value: Relations) -> _native.Union:
    """The points of an operand.

    Raises:
        TypeError: it is no set or relation.
    """
    if isinstance(value, Relations):
        return value._union
    way = "Set(...) and Map(...) read one"
    raise TypeError(f"expected a set or a relation, found {value!r}; {way}")


def wrap(kind: type[R], union: _native.Union) -> R:
    value = kind.__new__(kind)
    value._union = union
    return value


def is_basic(union: _native.Union) -> bool:
    """Whether there is one space, and at most one conjunction."""
    return len(union.spaces()) == 1 and len(union.rows()) <= 1


def ends(piece: Relations) -> list[tuple[int | None, int | None]]:
    """Least and greatest value of each dimension of a set, or of both sides of a relation."""
    sides = [piece] if piece._general is Set else [piece._to(Set, "domain"), piece._to(Set, "range")]
    return [ends for side in sides for ends in side._union.bounding_box() or []]


def bind_first(value: Relations) -> PresburgerError:
    """What is said where points are asked for and parameters have infinitely many values."""
    call = ", ".join(f"{name}=..." for name in value.get_param_names())
    return PresburgerError(f"the points depend on parameters; bind({call}) fixes them")


def params_as_dims(value: R) -> tuple[list[str], list[R]]:
    """Without parameters that say nothing; of each space, the others as the first dimensions."""
    value = value.drop_unused_params()
    names = value.get_param_names()
    if not names:
        return names, value.pieces()
    moved = []
    for piece in value.pieces():
        if piece._general is Set and piece.is_params():
            piece = piece.from_params()
        # Each space knows the parameters that its constraints use.
        missing = [name for name in names if name not in piece.get_param_names()]
        first = dim_type.set if piece._general is Set else dim_type.in_
        piece = piece.add_dims(dim_type.param, len(missing)) if missing else piece
        for at, name in enumerate(missing, len(names) - len(missing)):
            piece = piece.set_dim_name(dim_type.param, at, name)
        order = Space.create_from_names(set=[], params=names)
        moved.append(piece.align_params(order).move_dims(first, 0, dim_type.param, 0, len(names)))
    return names, moved


# The classes need each other; this module is loaded first.
from tangram.presburger.sets import Set  # noqa: E402,I001
from tangram.presburger.spaces import Space  # noqa: E402
from tangram.presburger.values import Val  # noqa: E402
from tangram.presburger.affs import PwAff  # noqa: E402
from tangram.presburger.multi_affs import PwMultiAff  # noqa: E402
