"""Fourier and Motzkin's elimination over the rationals, step by step, and bounds of loops by it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tangram._native import PresburgerError

#: The constant of an inequality ``... >= 0``, then a coefficient for each name.
Row = list[int]


@dataclass(frozen=True)
class EliminationStep:
    """What the elimination of one variable did; ``str`` shows it.

    Rows are inequalities ``row[0] + row[1] * names[0] + ... >= 0``.
    """

    #: The names of the columns: parameters, dimensions, then ``e0``... for integer divisions.
    names: list[str]
    #: The variable that is gone.
    variable: str
    #: The rows that bound it from below.
    lower: list[Row]
    #: The rows that bound it from above.
    upper: list[Row]
    #: One row for each lower with each upper bound.
    combined: list[Row]
    #: What is left without redundant rows: the projection over the rationals.
    result: list[Row]
    #: How many of the rows were redundant.
    redundant: int
    _text: str = field(repr=False)

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class LoopBounds:
    """The bounds of a loop in terms of the loops around it; ``str`` shows them.

    >>> from tangram.presburger import Set
    >>> (nest,) = Set("{ [i, j] : 0 <= i <= 3 and i <= 2j <= 6 }").loop_bounds("j", "i")
    >>> print(*nest, sep="\\n")
    for j in 0 ..= 3
    for i in 0 ..= min(3, 2j)
    >>> nest[1].iterations(j=1)
    range(0, 3)
    """

    #: The names of the columns: symbols, the loops, then divisions that rows use.
    names: list[str]
    #: The variable of the loop.
    variable: str
    #: Rows whose bounds the loop starts at, the greatest of them, rounded up.
    lower: list[Row]
    #: Rows whose bounds the loop ends at, the least of them, rounded down.
    upper: list[Row]
    #: The distance of the values of the variable, and a row that they equal modulo this distance.
    stride: tuple[int, Row]
    #: The divisions among the names: a row over the names before it, and the divisor.
    divisions: list[tuple[Row, int]]
    #: What points have to satisfy beyond bounds and strides; only of the innermost loop.
    condition: str | None
    _text: str = field(repr=False)

    def __str__(self) -> str:
        return self._text

    def iterations(self, **values: int) -> range:
        """The values of the variable where the loops around it and the parameters have these.

        Raises:
            PresburgerError: a value is missing, or the loop has no first or no last value.
        """
        column = 1 + self.names.index(self.variable)
        starts = [-self._rest(row, column, values) for row in self.lower]
        first = [-(-start // row[column]) for start, row in zip(starts, self.lower)]
        last = [self._rest(row, column, values) // -row[column] for row in self.upper]
        if not first or not last:
            raise PresburgerError(f"`{self.variable}` is unbounded")
        stride, offset = self.stride
        start = max(first)
        if stride > 1:
            start += (self._rest(offset, column, values) - start) % stride
        return range(start, min(last) + 1, stride)

    def _rest(self, row: Row, column: int, values: dict[str, int]) -> int:
        """A row without the variable of the loop."""
        total = row[0]
        for at, (name, factor) in enumerate(zip(self.names, row[1:]), 1):
            if factor and at != column:
                total += factor * self._value(at - 1, name, values)
        return total

    def _value(self, at: int, name: str, values: dict[str, int]) -> int:
        first = len(self.names) - len(self.divisions)
        if at >= first:
            row, divisor = self.divisions[at - first]
            return self._rest(row, 0, values) // divisor
        if name not in values:
            raise PresburgerError(f"`{name}` needs a value")
        return values[name]
