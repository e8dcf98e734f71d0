"""Lists of values under islpy's names: Python's lists whose methods give new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Self, TypeVar

from tangram._native import PresburgerError
from tangram.presburger.affs import Aff, PwAff
from tangram.presburger.constraints import Constraint
from tangram.presburger.counts import PwQPolynomial
from tangram.presburger.folds import PwQPolynomialFold
from tangram.presburger.maps import BasicMap, Map
from tangram.presburger.multi_affs import PwMultiAff
from tangram.presburger.names import DEFAULT_CONTEXT, Context, Id, last_text
from tangram.presburger.polynomials import QPolynomial
from tangram.presburger.sets import BasicSet, Set
from tangram.presburger.union_affs import UnionPwAff, UnionPwMultiAff
from tangram.presburger.values import Val

T = TypeVar("T")


class ValueList(list[T]):
    """Values one after the other; all methods that islpy has give new lists.

    >>> ids = IdList.alloc(None, 2).add(Id("i")).add(Id("j"))
    >>> ids.n_id(), ids.get_at(1), ids.reverse()
    (2, 'j', ['j', 'i'])
    """

    __slots__ = ()

    @classmethod
    def alloc(cls, context: Context | None = None, n: int = 0) -> Self:
        """An empty list; room for ``n`` values is made as they come."""
        return cls()

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Reads values between parentheses and commas; a context before the text is accepted."""
        return cls([cls._of(part) for part in parts_of(last_text(arguments))])

    _of: ClassVar[Any]
    """The class of the values."""

    def add(self, el: T) -> Self:
        """With a value behind the others."""
        return type(self)([*self, el])

    def concat(self, list2: Iterable[T]) -> Self:
        """With the values of another list behind the others."""
        return type(self)([*self, *list2])

    def drop(self, first: int, n: int) -> Self:
        """Without ``n`` values from ``first`` on."""
        self._check(first, n)
        return type(self)([*self[:first], *self[first + n :]])

    def insert(self, pos: int, el: T) -> Self:  # type: ignore[override]
        """With a value before that at ``pos``."""
        self._check(pos, 0)
        return type(self)([*self[:pos], el, *self[pos:]])

    def get_at(self, index: int) -> T:
        """The value at a position.

        Raises:
            PresburgerError: there is none.
        """
        self._check(index, 1)
        return self[index]

    def set_at(self, index: int, el: T) -> Self:
        """With another value at a position."""
        self._check(index, 1)
        return type(self)([*self[:index], el, *self[index + 1 :]])

    def size(self) -> int:
        """The number of values."""
        return len(self)

    def reverse(self) -> Self:  # type: ignore[override]
        """The values in the other direction."""
        return type(self)(self[::-1])

    def swap(self, pos1: int, pos2: int) -> Self:
        """With two values exchanged."""
        return self.set_at(pos1, self.get_at(pos2)).set_at(pos2, self.get_at(pos1))

    def clear(self) -> Self:  # type: ignore[override]
        """Without values."""
        return type(self)()

    def copy(self) -> Self:
        """The same values."""
        return type(self)(self)

    def every(self, test: Callable[[T], bool]) -> bool:
        """Whether ``test`` holds for all values."""
        return all(test(value) for value in self)

    def foreach(self, fn: Callable[[T], object]) -> None:
        """Calls ``fn`` with each value."""
        for value in self:
            fn(value)

    def map(self, fn: Callable[[T], T]) -> Self:
        """What ``fn`` makes of each value."""
        return type(self)(fn(value) for value in self)

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def to_str(self) -> str:
        """The texts of the values between parentheses, as isl writes them."""
        return f"({', '.join(map(str, self))})"

    __str__ = to_str

    def dump(self) -> None:
        """Prints the values."""
        print(self.to_str())

    def _check(self, first: int, n: int) -> None:
        if first < 0 or n < 0 or first + n > len(self):
            raise PresburgerError(f"expected a position below {len(self)}, found {first + max(n, 1) - 1}")

    def _union(self) -> Any:
        if not self:
            raise PresburgerError("expected values to unite, found none")
        result: Any = self[0]
        for value in self[1:]:
            result = result | value
        return result


def parts_of(text: str) -> list[str]:
    """What stands between the commas of a list, outside of brackets."""
    inner = text.strip()
    if not (inner.startswith("(") and inner.endswith(")")):
        raise PresburgerError(f"expected values between parentheses, found {text}")
    parts, depth = [""], 0
    for letter in inner[1:-1]:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    stripped = [part.strip() for part in parts]
    return [] if stripped == [""] else stripped


class AffList(ValueList[Aff]):
    """islpy's list of ``Aff``."""

    __slots__ = ()
    _of = Aff

    @classmethod
    def from_aff(cls, el: Aff) -> Self:
        """The list of one value."""
        return cls([el])

    n_aff: Final = ValueList[Aff].size
    get_aff: Final = ValueList[Aff].get_at
    set_aff: Final = ValueList[Aff].set_at


class PwAffList(ValueList[PwAff]):
    """islpy's list of ``PwAff``."""

    __slots__ = ()
    _of = PwAff

    @classmethod
    def from_pw_aff(cls, el: PwAff) -> Self:
        """The list of one value."""
        return cls([el])

    n_pw_aff: Final = ValueList[PwAff].size
    get_pw_aff: Final = ValueList[PwAff].get_at
    set_pw_aff: Final = ValueList[PwAff].set_at

    def _compared(self, name: str, other: Iterable[PwAff]) -> Set:
        regions = [getattr(mine, name)(theirs) for mine in self for theirs in other]
        if not regions:
            raise PresburgerError("expected expressions to compare, found none")
        result: Set = regions[0]
        for region in regions[1:]:
            result = result & region
        return result

    def eq_set(self, list2: Iterable[PwAff]) -> Set:
        """The arguments for which all expressions of both lists are equal to each other's."""
        return self._compared("eq_set", list2)

    def ne_set(self, list2: Iterable[PwAff]) -> Set:
        """The arguments for which each expression differs from all of the other list."""
        return self._compared("ne_set", list2)

    def le_set(self, list2: Iterable[PwAff]) -> Set:
        """The arguments for which each expression is at most all of the other list."""
        return self._compared("le_set", list2)

    def lt_set(self, list2: Iterable[PwAff]) -> Set:
        """The arguments for which each expression is less than all of the other list."""
        return self._compared("lt_set", list2)

    def ge_set(self, list2: Iterable[PwAff]) -> Set:
        """The arguments for which each expression is at least all of the other list."""
        return self._compared("ge_set", list2)

    def gt_set(self, list2: Iterable[PwAff]) -> Set:
        """The arguments for which each expression is more than all of the other list."""
        return self._compared("gt_set", list2)

    def max(self) -> PwAff:
        """The greatest value."""
        result = self.get_at(0)
        for value in self[1:]:
            result = result.max(value)
        return result

    def min(self) -> PwAff:
        """The least value."""
        result = self.get_at(0)
        for value in self[1:]:
            result = result.min(value)
        return result


class PwMultiAffList(ValueList[PwMultiAff]):
    """islpy's list of ``PwMultiAff``."""

    __slots__ = ()
    _of = PwMultiAff

    @classmethod
    def from_pw_multi_aff(cls, el: PwMultiAff) -> Self:
        """The list of one value."""
        return cls([el])

    n_pw_multi_aff: Final = ValueList[PwMultiAff].size
    get_pw_multi_aff: Final = ValueList[PwMultiAff].get_at
    set_pw_multi_aff: Final = ValueList[PwMultiAff].set_at


class BasicSetList(ValueList[BasicSet]):
    """islpy's list of ``BasicSet``."""

    __slots__ = ()
    _of = BasicSet

    @classmethod
    def from_basic_set(cls, el: BasicSet) -> Self:
        """The list of one value."""
        return cls([el])

    n_basic_set: Final = ValueList[BasicSet].size
    get_basic_set: Final = ValueList[BasicSet].get_at
    set_basic_set: Final = ValueList[BasicSet].set_at

    def coefficients(self) -> BasicSetList:
        """The coefficients of the constraints that hold on each value."""
        return self.map(lambda value: BasicSet(value.coefficients()))

    def union(self) -> Set:
        """The points of all values."""
        return self._union()

    def intersect(self) -> BasicSet:
        """The points that are in all values."""
        result = self.get_at(0)
        for value in self[1:]:
            result = result & value
        return result


class SetList(ValueList[Set]):
    """islpy's list of ``Set``."""

    __slots__ = ()
    _of = Set

    @classmethod
    def from_set(cls, el: Set) -> Self:
        """The list of one value."""
        return cls([el])

    n_set: Final = ValueList[Set].size
    get_set: Final = ValueList[Set].get_at
    set_set: Final = ValueList[Set].set_at

    def union(self) -> Set:
        """The points of all values."""
        return self._union()


class BasicMapList(ValueList[BasicMap]):
    """islpy's list of ``BasicMap``."""

    __slots__ = ()
    _of = BasicMap

    @classmethod
    def from_basic_map(cls, el: BasicMap) -> Self:
        """The list of one value."""
        return cls([el])

    n_basic_map: Final = ValueList[BasicMap].size
    get_basic_map: Final = ValueList[BasicMap].get_at
    set_basic_map: Final = ValueList[BasicMap].set_at

    def union(self) -> Map:
        """The points of all values."""
        return self._union()

    def intersect(self) -> BasicMap:
        """The points that are in all values."""
        result = self.get_at(0)
        for value in self[1:]:
            result = result & value
        return result


class MapList(ValueList[Map]):
    """islpy's list of ``Map``."""

    __slots__ = ()
    _of = Map

    @classmethod
    def from_map(cls, el: Map) -> Self:
        """The list of one value."""
        return cls([el])

    n_map: Final = ValueList[Map].size
    get_map: Final = ValueList[Map].get_at
    set_map: Final = ValueList[Map].set_at

    def union(self) -> Map:
        """The points of all values."""
        return self._union()


class UnionSetList(ValueList[Set]):
    """islpy's list of ``UnionSet``."""

    __slots__ = ()
    _of = Set

    @classmethod
    def from_union_set(cls, el: Set) -> Self:
        """The list of one value."""
        return cls([el])

    n_union_set: Final = ValueList[Set].size
    get_union_set: Final = ValueList[Set].get_at
    set_union_set: Final = ValueList[Set].set_at

    def union(self) -> Set:
        """The points of all values."""
        return self._union()


class UnionMapList(ValueList[Map]):
    """islpy's list of ``UnionMap``."""

    __slots__ = ()
    _of = Map

    @classmethod
    def from_union_map(cls, el: Map) -> Self:
        """The list of one value."""
        return cls([el])

    n_union_map: Final = ValueList[Map].size
    get_union_map: Final = ValueList[Map].get_at
    set_union_map: Final = ValueList[Map].set_at

    def union(self) -> Map:
        """The points of all values."""
        return self._union()


class IdList(ValueList[Id]):
    """islpy's list of ``Id``."""

    __slots__ = ()
    _of = Id

    @classmethod
    def from_id(cls, el: Id) -> Self:
        """The list of one value."""
        return cls([el])

    n_id: Final = ValueList[Id].size
    get_id: Final = ValueList[Id].get_at
    set_id: Final = ValueList[Id].set_at


class ValList(ValueList[Val]):
    """islpy's list of ``Val``."""

    __slots__ = ()
    _of = Val

    @classmethod
    def from_val(cls, el: Val) -> Self:
        """The list of one value."""
        return cls([el])

    n_val: Final = ValueList[Val].size
    get_val: Final = ValueList[Val].get_at
    set_val: Final = ValueList[Val].set_at


class ConstraintList(ValueList[Constraint]):
    """islpy's list of ``Constraint``."""

    __slots__ = ()
    _of = Constraint

    @classmethod
    def from_constraint(cls, el: Constraint) -> Self:
        """The list of one value."""
        return cls([el])

    n_constraint: Final = ValueList[Constraint].size
    get_constraint: Final = ValueList[Constraint].get_at
    set_constraint: Final = ValueList[Constraint].set_at


class PwQPolynomialList(ValueList[PwQPolynomial]):
    """islpy's list of ``PwQPolynomial``."""

    __slots__ = ()
    _of = PwQPolynomial

    @classmethod
    def from_pw_qpolynomial(cls, el: PwQPolynomial) -> Self:
        """The list of one value."""
        return cls([el])

    n_pw_qpolynomial: Final = ValueList[PwQPolynomial].size
    get_pw_qpolynomial: Final = ValueList[PwQPolynomial].get_at
    set_pw_qpolynomial: Final = ValueList[PwQPolynomial].set_at


class PwQPolynomialFoldList(ValueList[PwQPolynomialFold]):
    """islpy's list of ``PwQPolynomialFold``."""

    __slots__ = ()
    _of = PwQPolynomialFold

    @classmethod
    def from_pw_qpolynomial_fold(cls, el: PwQPolynomialFold) -> Self:
        """The list of one value."""
        return cls([el])

    n_pw_qpolynomial_fold: Final = ValueList[PwQPolynomialFold].size
    get_pw_qpolynomial_fold: Final = ValueList[PwQPolynomialFold].get_at
    set_pw_qpolynomial_fold: Final = ValueList[PwQPolynomialFold].set_at


class QPolynomialList(ValueList[QPolynomial]):
    """islpy's list of ``QPolynomial``."""

    __slots__ = ()
    _of = QPolynomial

    @classmethod
    def from_qpolynomial(cls, el: QPolynomial) -> Self:
        """The list of one value."""
        return cls([el])

    n_qpolynomial: Final = ValueList[QPolynomial].size
    get_qpolynomial: Final = ValueList[QPolynomial].get_at
    set_qpolynomial: Final = ValueList[QPolynomial].set_at


class UnionPwAffList(ValueList[UnionPwAff]):
    """islpy's list of ``UnionPwAff``."""

    __slots__ = ()
    _of = UnionPwAff

    @classmethod
    def from_union_pw_aff(cls, el: UnionPwAff) -> Self:
        """The list of one value."""
        return cls([el])

    n_union_pw_aff: Final = ValueList[UnionPwAff].size
    get_union_pw_aff: Final = ValueList[UnionPwAff].get_at
    set_union_pw_aff: Final = ValueList[UnionPwAff].set_at


class UnionPwMultiAffList(ValueList[UnionPwMultiAff]):
    """islpy's list of ``UnionPwMultiAff``."""

    __slots__ = ()
    _of = UnionPwMultiAff

    @classmethod
    def from_union_pw_multi_aff(cls, el: UnionPwMultiAff) -> Self:
        """The list of one value."""
        return cls([el])

    n_union_pw_multi_aff: Final = ValueList[UnionPwMultiAff].size
    get_union_pw_multi_aff: Final = ValueList[UnionPwMultiAff].get_at
    set_union_pw_multi_aff: Final = ValueList[UnionPwMultiAff].set_at


ALL = {
    kind.__name__: kind
    for kind in (
        AffList,
        PwAffList,
        PwMultiAffList,
        BasicSetList,
        SetList,
        BasicMapList,
        MapList,
        UnionSetList,
        UnionMapList,
        IdList,
        ValList,
        ConstraintList,
        PwQPolynomialList,
        PwQPolynomialFoldList,
        QPolynomialList,
        UnionPwAffList,
        UnionPwMultiAffList,
    )
}
"""All of them by their names."""
