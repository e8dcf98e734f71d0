"""Numbers with the methods that islpy gives them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from tangram.presburger.names import DEFAULT_CONTEXT, Context, last_text


class Val(Fraction):
    """An integer or a fraction, of any size; calculates and compares as Python's numbers do.

    >>> Val(7) / 2, Val("3").is_one(), list(range(Val(3)))
    (7/2, False, [0, 1, 2])
    """

    __slots__ = ()

    @classmethod
    def zero(cls, context: object = None) -> Self:
        """0."""
        return cls(0)

    @classmethod
    def one(cls, context: object = None) -> Self:
        """1."""
        return cls(1)

    @classmethod
    def negone(cls, context: object = None) -> Self:
        """-1."""
        return cls(-1)

    @classmethod
    def int_from_si(cls, *arguments: Any) -> Self:
        """The number that is the last argument."""
        return cls(last_text(arguments))

    def to_python(self) -> int:
        """As ``int``.

        Raises:
            ValueError: it is a fraction.
        """
        return self.__index__()

    def __index__(self) -> int:
        if self.denominator != 1:
            raise ValueError(f"expected an integer, found {self}")
        return self.numerator

    def __int__(self) -> int:  # type: ignore[override]
        return self.__index__()

    def is_zero(self) -> bool:
        """Whether it is 0."""
        return self == 0

    def is_one(self) -> bool:
        """Whether it is 1."""
        return self == 1

    def is_negone(self) -> bool:
        """Whether it is -1."""
        return self == -1

    def is_int(self) -> bool:
        """Whether it is an integer."""
        return self.denominator == 1

    def is_rat(self) -> bool:
        """Whether it is a number, which it always is."""
        return True

    def is_infty(self) -> bool:
        """Whether it is infinite, which it never is."""
        return False

    is_neginfty = is_infty
    is_nan = is_infty

    def is_pos(self) -> bool:
        """Whether it is above 0."""
        return self > 0

    def is_neg(self) -> bool:
        """Whether it is below 0."""
        return self < 0

    def is_nonneg(self) -> bool:
        """Whether it is at least 0."""
        return self >= 0

    def is_nonpos(self) -> bool:
        """Whether it is at most 0."""
        return self <= 0

    def is_divisible_by(self, other: int | Fraction) -> bool:
        """Whether it is an integer times ``other``."""
        return Fraction(self, other).denominator == 1

    def sgn(self) -> int:
        """-1, 0 or 1."""
        return (self > 0) - (self < 0)

    def get_num_si(self) -> int:
        """The numerator."""
        return self.numerator

    def get_den_si(self) -> int:
        """The denominator."""
        return self.denominator

    def get_den_val(self) -> Val:
        """The denominator."""
        return Val(self.denominator)

    def neg(self) -> Val:
        """With the other sign."""
        return -self

    def floor(self) -> Val:
        """The greatest integer that is not above it."""
        return Val(self.__floor__())

    def ceil(self) -> Val:
        """The least integer that is not below it."""
        return Val(self.__ceil__())

    @classmethod
    def read_from_str(cls, *arguments: Any) -> Self:
        """The number that the last argument writes."""
        return cls(last_text(arguments))

    int_from_ui = int_from_si

    def to_str(self) -> str:
        """The text, as ``str`` gives it."""
        return str(self)

    def get_ctx(self) -> Context:
        """What islpy asks for; it does nothing."""
        return DEFAULT_CONTEXT

    def copy(self) -> Self:
        """The same number."""
        return self

    def dump(self) -> None:
        """Prints the number."""
        print(self)

    def get_d(self) -> float:
        """The nearest floating-point number."""
        return float(self)

    def set_si(self, i: int) -> Val:
        """Another integer."""
        return Val(i)

    def gcdext(self, v2: int | Fraction) -> tuple[Val, Val, Val]:
        """The greatest common divisor of two integers, and factors by which they add up to it."""
        (a, x, y), (b, z, w) = (self.to_python(), 1, 0), (Val(v2).to_python(), 0, 1)
        while b:
            quotient = a // b
            (a, x, y), (b, z, w) = (b, z, w), (a - quotient * b, x - quotient * z, y - quotient * w)
        sign = -1 if a < 0 else 1
        return Val(sign * a), Val(sign * x), Val(sign * y)

    def abs(self) -> Val:
        """Without its sign."""
        return Val(abs(Fraction(self)))

    def inv(self) -> Val:
        """1 divided by it.

        Raises:
            ZeroDivisionError: it is 0.
        """
        return Val(1 / Fraction(self))

    def trunc(self) -> Val:
        """Rounds towards 0."""
        return Val(self.__trunc__())

    def min(self, other: int | Fraction) -> Val:
        """The lesser of both."""
        return Val(min(Fraction(self), other))

    def max(self, other: int | Fraction) -> Val:
        """The greater of both."""
        return Val(max(Fraction(self), other))

    def pow2(self) -> Val:
        """2 to its power, which is an integer."""
        return Val(Fraction(2) ** self.to_python())

    two_exp = pow2

    def gcd(self, other: int | Fraction) -> Val:
        """The greatest common divisor of two integers."""
        return Val(math.gcd(self.to_python(), Val(other).to_python()))

    def eq(self, other: int | Fraction) -> bool:
        """Whether both are equal."""
        return self == other

    def ne(self, other: int | Fraction) -> bool:
        """Whether both differ."""
        return self != other

    def lt(self, other: int | Fraction) -> bool:
        """Whether it is less."""
        return self < other

    def le(self, other: int | Fraction) -> bool:
        """Whether it is at most the other."""
        return self <= other

    def gt(self, other: int | Fraction) -> bool:
        """Whether it is greater."""
        return self > other

    def ge(self, other: int | Fraction) -> bool:
        """Whether it is at least the other."""
        return self >= other

    def abs_eq(self, other: int | Fraction) -> bool:
        """Whether both are equal but for their signs."""
        return abs(Fraction(self)) == abs(Fraction(other))

    def cmp_si(self, other: int) -> int:
        """-1, 0 or 1: less, equal or greater."""
        return (self > other) - (self < other)

    def add(self, other: int | Fraction) -> Val:
        """Adds."""
        return self + other

    def sub(self, other: int | Fraction) -> Val:
        """Subtracts."""
        return self - other

    def mul(self, other: int | Fraction) -> Val:
        """Multiplies."""
        return self * other

    def div(self, other: int | Fraction) -> Val:
        """Divides."""
        return self / other

    def mod(self, other: int | Fraction) -> Val:
        """The remainder, from 0 up to ``other``."""
        return self % other

    def __repr__(self) -> str:
        return str(self)

    if TYPE_CHECKING:
        # The results of Fraction's operators are numbers of this class; see below.
        def __add__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __radd__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __sub__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __rsub__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __mul__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __rmul__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __truediv__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __rtruediv__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __mod__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __floordiv__(self, other: int | Fraction) -> Val: ...  # type: ignore[override]
        def __neg__(self) -> Val: ...
        def __abs__(self) -> Val: ...


def _as_val(name: str) -> Any:
    plain = getattr(Fraction, name)

    def method(self: Val, *others: Any) -> Any:
        result = plain(self, *others)
        return Val(result) if isinstance(result, int | Fraction) else result

    method.__name__ = name
    return method


for _name in ["add", "sub", "mul", "truediv", "mod", "floordiv"]:
    for _side in [f"__{_name}__", f"__r{_name}__"]:
        setattr(Val, _side, _as_val(_side))
for _name in ["__neg__", "__pos__", "__abs__"]:
    setattr(Val, _name, _as_val(_name))


def make_number(numerator: int, denominator: int) -> Fraction | int:
    """The number, as ``int`` if it is one."""
    value = Fraction(numerator, denominator)
    return int(value) if value.denominator == 1 else value


def ratio(value: int | Fraction) -> tuple[int, int]:
    """Numerator and denominator."""
    return value.numerator, value.denominator
