"""Relations whose inputs or outputs are pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tangram.presburger._relations import Relations
from tangram.presburger.spaces import Space

if TYPE_CHECKING:
    from tangram.presburger.maps import Map
    from tangram.presburger.sets import Set


class Pairs(Relations):
    """What is done to the sides of the pairs ``[a -> b]`` that a relation has."""

    __slots__ = ()

    if TYPE_CHECKING:
        # Those of relations.
        def domain(self) -> Set: ...
        def _full(self) -> Map: ...  # type: ignore[override]
        def range(self) -> Set: ...
        def reverse(self) -> Map: ...
        def apply_range(self, other: Map) -> Map: ...
        def intersect_domain(self, inputs: Set) -> Self: ...

    # Of relations of several spaces, those are dropped whose sides are no pairs where they have to be.

    def _expect_inputs(self) -> None:
        """Raises what says that inputs have to be pairs, if they are of one space and are not."""
        self._expect(Space.domain_is_wrapping, "inputs that are pairs `[a -> b]`")

    def _expect_outputs(self) -> None:
        """Raises what says that outputs have to be pairs, if they are of one space and are not."""
        self._expect(Space.range_is_wrapping, "outputs that are pairs `[b -> c]`")

    def _input_pairs(self) -> Map:
        """Relates ``a`` to ``b`` for all ``[a -> b]`` of the spaces of the inputs."""
        self._expect_inputs()
        return self._full().domain()._unwrapped()

    def _output_pairs(self) -> Map:
        """Relates ``b`` to ``c`` for all ``[b -> c]`` of the spaces of the outputs."""
        self._expect_outputs()
        return self._full().range()._unwrapped()

    def curry(self) -> Self:
        """Turns ``[a -> b] -> c`` into ``a -> [b -> c]``."""
        self._expect_inputs()
        return self._unary("curry")

    def uncurry(self) -> Self:
        """Turns ``a -> [b -> c]`` into ``[a -> b] -> c``."""
        self._expect_outputs()
        return self._unary("uncurry")

    def range_curry(self) -> Map:
        """Turns ``a -> [[b -> c] -> d]`` into ``a -> [b -> [c -> d]]``."""
        self._expect(Space.can_range_curry, "outputs that are pairs `[[b -> c] -> d]`")
        outputs = self._full().range()._unwrapped()._unary("curry")
        pairs = outputs._unary("uncurry")
        inner = outputs.range()._unwrapped()
        first, rest = pairs.domain_map(), pairs.range_map()
        sides = pairs.domain()._unwrapped()
        tails = first.apply_range(sides.range_map()).range_product(rest)
        tails = tails.intersect_range(inner.wrap())
        return self.apply_range(first.apply_range(sides.domain_map()).range_product(tails))

    def factor_domain(self) -> Map:
        """Turns ``[a -> b] -> [c -> d]`` into ``a -> c``."""
        return self.zip().domain()._unwrapped()

    def factor_range(self) -> Map:
        """Turns ``[a -> b] -> [c -> d]`` into ``b -> d``."""
        return self.zip().range()._unwrapped()

    def range_factor_domain(self) -> Map:
        """Turns ``a -> [b -> c]`` into ``a -> b``."""
        return self.apply_range(self._output_pairs().domain_map())

    def range_factor_range(self) -> Map:
        """Turns ``a -> [b -> c]`` into ``a -> c``."""
        return self.apply_range(self._output_pairs().range_map())

    def domain_factor_domain(self) -> Map:
        """Turns ``[a -> b] -> c`` into ``a -> c``."""
        self._expect_inputs()
        return self.reverse().range_factor_domain().reverse()

    def domain_factor_range(self) -> Map:
        """Turns ``[a -> b] -> c`` into ``b -> c``."""
        self._expect_inputs()
        return self.reverse().range_factor_range().reverse()

    def domain_is_wrapping(self) -> bool:
        """Whether the inputs are pairs."""
        return self.get_space().domain().is_wrapping()

    def range_is_wrapping(self) -> bool:
        """Whether the outputs are pairs."""
        return self.get_space().range().is_wrapping()

    def is_product(self) -> bool:
        """Whether inputs and outputs are pairs."""
        return self.domain_is_wrapping() and self.range_is_wrapping()

    can_zip = is_product
    can_curry = domain_is_wrapping
    can_uncurry = range_is_wrapping

    def can_range_curry(self) -> bool:
        """Whether the outputs are pairs whose inputs are pairs."""
        return self.get_space().can_range_curry()

    def intersect_domain_factor_domain(self, factor: Map) -> Self:
        """Keeps ``[a -> b] -> c`` where ``factor`` has ``a -> c``."""
        return self.intersect(self._input_pairs().domain_map().apply_range(factor))

    def intersect_domain_factor_range(self, factor: Map) -> Self:
        """Keeps ``[a -> b] -> c`` where ``factor`` has ``b -> c``."""
        return self.intersect(self._input_pairs().range_map().apply_range(factor))

    def intersect_range_factor_domain(self, factor: Map) -> Map:
        """Keeps ``a -> [b -> c]`` where ``factor`` has ``a -> b``."""
        self._expect_outputs()
        return self.reverse().intersect_domain_factor_domain(factor.reverse()).reverse()

    def intersect_range_factor_range(self, factor: Map) -> Map:
        """Keeps ``a -> [b -> c]`` where ``factor`` has ``a -> c``."""
        self._expect_outputs()
        return self.reverse().intersect_domain_factor_range(factor.reverse()).reverse()

    def intersect_domain_wrapped_domain(self, points: Set) -> Self:
        """Keeps ``[a -> b] -> c`` where ``a`` is in ``points``."""
        pairs = self._input_pairs()
        return self.intersect_domain(pairs.intersect_domain(points).wrap())

    def intersect_range_wrapped_domain(self, points: Set) -> Map:
        """Keeps ``a -> [b -> c]`` where ``b`` is in ``points``."""
        self._expect_outputs()
        return self.reverse().intersect_domain_wrapped_domain(points).reverse()

    intersect_domain_wrapped_domain_union_set = intersect_domain_wrapped_domain
    intersect_range_wrapped_domain_union_set = intersect_range_wrapped_domain

    def domain_reverse(self) -> Map:
        """Turns ``[a -> b] -> c`` into ``[b -> a] -> c``."""
        self._expect_inputs()
        return self.reverse().range_reverse().reverse()

    def range_reverse(self) -> Map:
        """Turns ``a -> [b -> c]`` into ``a -> [c -> b]``."""
        return self.apply_range(self._swapped())

    def _swapped(self) -> Map:
        """Relates each pair that is an output to the pair of its sides in the other order."""
        pairs = self._output_pairs()
        return pairs.range_map().range_product(pairs.domain_map())

    def zip(self) -> Self:
        """Turns ``[a -> b] -> [c -> d]`` into ``[a -> c] -> [b -> d]``."""
        self._expect(Space.can_zip, "inputs and outputs that are pairs `[a -> b]` and `[c -> d]`")
        return self._unary("zip")
