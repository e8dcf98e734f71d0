"""Numbers with the methods that islpy gives them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self


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
        return cls(arguments[-1])

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

    __int__ = __index__

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

    is_neginfty = is_nan = is_infty

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
