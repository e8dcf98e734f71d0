"""What a schedule must keep to and what it should bring together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from tangram import _native
from tangram.polyhedral.schedules import Schedule
from tangram.presburger import DEFAULT_CONTEXT, Context, Map, Set
from tangram.presburger.names import last_text

Relations = Set | Map


class ScheduleConstraints:
    """The instances to schedule, and pairs of them that constrain their order.

    >>> domain = Set("{ S[i] : 0 <= i < 4 }")
    >>> ScheduleConstraints.on_domain(domain).compute_schedule().get_map() == Map("{ S[i] -> [i] }") & Map(
    ...     "{ S[i] -> [j] : 0 <= i < 4 }"
    ... )
    True
    """

    __slots__ = ("_parts",)
    _parts: Mapping[str, Relations]

    def __init__(self, text: str, context: Context | None = None) -> None:
        parts = _native.read_constraints(text)
        kind = {"domain": Set, "context": Set}
        self._parts = {name: kind.get(name, Map)._wrap(union) for name, union in parts}

    @classmethod
    def _of(cls, parts: Mapping[str, Relations]) -> Self:
        result = cls.__new__(cls)
        result._parts = parts
        return result

    @classmethod
    def on_domain(cls, domain: Set) -> Self:
        """No constraints on the instances in ``domain``."""
        return cls._of({"domain": domain})

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's form, as the constructor does; a context before it is accepted."""
        return cls(last_text(arguments))

    def _with(self, name: str, value: Relations) -> Self:
        return self._of({**self._parts, name: value})

    def set_context(self, context: Set) -> Self:
        """With what is known about the parameters."""
        return self._with("context", context)

    def set_validity(self, pairs: Map) -> Self:
        """With pairs whose first instance runs before the second."""
        return self._with("validity", pairs)

    def set_coincidence(self, pairs: Map) -> Self:
        """With pairs that a parallel loop may not take apart."""
        return self._with("coincidence", pairs)

    def set_proximity(self, pairs: Map) -> Self:
        """With pairs that should run close to each other."""
        return self._with("proximity", pairs)

    def set_conditional_validity(self, condition: Map, validity: Map) -> Self:
        """With pairs that are ordered where a pair of ``condition`` next to them runs apart."""
        return self._with("condition", condition)._with("conditional_validity", validity)

    def _get(self, name: str) -> Map:
        return self._parts.get(name) or Map("{ }")  # type: ignore[return-value]

    def get_domain(self) -> Set:
        """The instances."""
        return self._parts.get("domain") or Set("{ }")  # type: ignore[return-value]

    def get_context(self) -> Set:
        """What is known about the parameters."""
        return self._parts.get("context") or Set("{ [] }")  # type: ignore[return-value]

    def get_validity(self) -> Map:
        """Pairs whose first instance runs before the second."""
        return self._get("validity")

    def get_coincidence(self) -> Map:
        """Pairs that a parallel loop may not take apart."""
        return self._get("coincidence")

    def get_proximity(self) -> Map:
        """Pairs that should run close to each other."""
        return self._get("proximity")

    def get_conditional_validity_condition(self) -> Map:
        """Pairs that keep conditional validity harmless where they run together."""
        return self._get("condition")

    def get_conditional_validity(self) -> Map:
        """Pairs that are ordered where a condition runs apart."""
        return self._get("conditional_validity")

    def compute_schedule(
        self,
        *,
        algorithm: Literal["pluto", "feautrier"] | None = None,
        fusion: Literal["none", "smart", "max"] | None = None,
        outer_coincidence: bool | None = None,
        max_coefficient: int | None = None,
    ) -> Schedule:
        """A schedule that keeps to the constraints, which is checked.

        What is not given is as the options of ``DEFAULT_CONTEXT`` say.

        Raises:
            PresburgerError: there is no affine schedule, or a limit ends the search.
        """
        parts = [(name, value._union) for name, value in self._parts.items()]
        options = DEFAULT_CONTEXT._options
        feautrier = (
            bool(options["schedule_algorithm"]) if algorithm is None else algorithm == "feautrier"
        )
        if fusion is None:
            fusion = "none" if options["schedule_serialize_sccs"] else "smart"
        if outer_coincidence is None:
            outer_coincidence = bool(options["schedule_outer_coincidence"])
        largest = options["schedule_max_coefficient"]
        if max_coefficient is None and isinstance(largest, int) and largest >= 0:
            max_coefficient = largest
        return Schedule._of(
            _native.compute_schedule(parts, feautrier, fusion, outer_coincidence, max_coefficient)
        )

    def __str__(self) -> str:
        parts = ", ".join(f'{name}: "{value}"' for name, value in self._parts.items())
        return f"{{ {parts} }}"

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
        return f"ScheduleConstraints({str(self)!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)
