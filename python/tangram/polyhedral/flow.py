"""Which write each read takes its value from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from tangram import _native
from tangram.polyhedral.schedules import Schedule
from tangram.presburger import DEFAULT_CONTEXT, Context, Map

NAMES = ("sink", "must_source", "may_source", "kill", "schedule_map")


class UnionAccessInfo:
    """Who accesses what, and when.

    >>> write, read = Map("{ S[i] -> a[0] : 0 <= i < 4 }"), Map("{ T[] -> a[0] }")
    >>> order = Map("{ S[i] -> [i]; T[] -> [9] }")
    >>> info = UnionAccessInfo(read).set_must_source(write).set_schedule_map(order)
    >>> info.compute_flow().get_must_dependence()
    Map('{ S[i = 3] -> T[] }')
    """

    __slots__ = ("_parts",)
    _parts: Mapping[str, Map]

    def __init__(self, sink: Map) -> None:
        self._parts = {"sink": sink}

    @classmethod
    def from_sink(cls, sink: Map) -> Self:
        """Reads, or whatever the sources are looked for: instances to cells."""
        return cls(sink)

    def _with(self, name: str, value: Map) -> Self:
        result = self.__class__(self._parts["sink"])
        result._parts = {**self._parts, name: value}
        return result

    def set_must_source(self, accesses: Map) -> Self:
        """With writes that certainly happen."""
        return self._with("must_source", accesses)

    def set_may_source(self, accesses: Map) -> Self:
        """With writes that may happen."""
        return self._with("may_source", accesses)

    def set_kill(self, accesses: Map) -> Self:
        """With ends of values: nothing written before is seen after."""
        return self._with("kill", accesses)

    def set_schedule_map(self, schedule: Map) -> Self:
        """With the order: instances to points of one tuple."""
        return self._with("schedule_map", schedule)

    def set_schedule(self, schedule: Schedule) -> Self:
        """With the order of a schedule tree."""
        return self.set_schedule_map(schedule.get_map())

    def compute_flow(self) -> UnionFlow:
        """Finds the source of the value that each sink sees. Exact.

        Raises:
            PresburgerError: the schedule has points of different dimensions.
        """
        none = Map("{ }")
        parts = [self._parts.get(name, none)._union for name in NAMES]
        return UnionFlow([Map._wrap(union) for union in _native.compute_flow(*parts)])

    def copy(self) -> Self:
        """The same value."""
        return self

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def to_str(self) -> str:
        """The text, as ``str`` gives it."""
        return str(self)

    def __repr__(self) -> str:
        parts = ", ".join(f'{name}: "{value}"' for name, value in self._parts.items())
        return f"<UnionAccessInfo {{ {parts} }}>"


class UnionFlow:
    """The sources of all sinks."""

    __slots__ = ("_maps",)

    def __init__(self, maps: list[Map]) -> None:
        self._maps = maps

    def get_full_must_dependence(self) -> Map:
        """From a source to ``[sink -> cell]``, where this is certainly the source."""
        return self._maps[0]

    def get_full_may_dependence(self) -> Map:
        """From a source to ``[sink -> cell]``, where this may be the source."""
        return self._maps[1]

    def get_must_dependence(self) -> Map:
        """From a source to its sink, where this is certainly the source."""
        return _sinks(self._maps[0])

    def get_may_dependence(self) -> Map:
        """From a source to its sink, where this may be the source."""
        return _sinks(self._maps[1])

    def get_must_no_source(self) -> Map:
        """Accesses of sinks before which there is no source and no end of a value."""
        return self._maps[2]

    def get_may_no_source(self) -> Map:
        """Accesses of sinks before which there is no certain source and no end of a value."""
        return self._maps[3]

    def copy(self) -> Self:
        """The same value."""
        return self

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def to_str(self) -> str:
        """The text, as ``str`` gives it."""
        return str(self)

    def __repr__(self) -> str:
        names = ("must_dependence", "may_dependence", "must_no_source", "may_no_source")
        parts = ", ".join(f'{n}: "{m}"' for n, m in zip(names, self._maps, strict=True))
        return f"<UnionFlow {{ {parts} }}>"


def _sinks(full: Map) -> Map:
    return full if full.is_empty() else full.apply_range(full.range().unwrap().domain_map())
