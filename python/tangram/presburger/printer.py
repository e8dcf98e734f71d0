"""Texts of values, the way islpy writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from tangram.presburger.names import Context, format


class Printer:
    """Collects the texts of values; ``str`` of each gives the same.

    >>> from tangram.presburger import Set
    >>> Printer.to_str().print_set(Set("{ [1] }")).get_str()
    '{ [1] }'
    """

    __slots__ = ("_format", "_texts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._format = format.ISL

    def set_output_format(self, output_format: format) -> Self:
        """With another way to write; code is written in C, all else in isl's notation."""
        self._format = output_format
        return self

    def get_output_format(self) -> format:
        """What :meth:`set_output_format` has set."""
        return self._format

    @classmethod
    def to_str(cls, context: Context | None = None) -> Self:
        """Nothing is collected yet."""
        return cls()

    def print_str(self, value: object) -> Self:
        """Adds the text of a value."""
        self._texts.append(str(value))
        return self

    def flush(self) -> Self:
        """Does nothing: there is no file."""
        return self

    def get_str(self) -> str:
        """All texts, one behind the other."""
        return "".join(self._texts)

    def __getattr__(self, name: str) -> Callable[[object], Self]:
        # islpy has a method for each kind of value: print_set, print_aff, ...
        if name.startswith("print_"):
            return self.print_str
        raise AttributeError(name)
