"""Operators of one's own: what they give, so that what is around them is optimised."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

Extents = tuple[int | str | None, ...]
Type = tuple[Any, Extents | None]
"""An element type, such as `float32`, and extents; none where not even their number is known."""


class Operand(NamedTuple):
    """What a node reads, as the function of an `Operator` sees it."""

    name: str | None
    """Its name in the model."""
    dtype: str | None
    """Its element type, such as `float32`; none if it is no tensor."""
    shape: Extents | None
    """Its extents: numbers, expressions of named dimensions, or none; none for an unknown rank."""
    data: Any = None
    """The array of a constant of at most 64 KiB."""

    @property
    def type(self) -> Type:
        """Its element type and extents, as a function gives them back."""
        return self.dtype, self.shape


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator that Tangram does not know, declared with what it gives.

    What it computes stays unknown (`gsl.define` says that too): no rule looks into it, and its nodes are written as they were.
    What is behind it is typed, folded and rewritten by what `infer` says; nodes that equal each
    other are merged and those that nobody reads go, unless it is not `pure`.

    >>> import tangram
    >>> swish = tangram.Operator("acme", "Swish", lambda operands, attributes: operands[0].type)
    >>> better = tangram.optimize("model.onnx", operators=[swish])   # doctest: +SKIP
    """

    domain: str
    name: str
    infer: Callable[[list[Operand | None], dict[str, Any]], Type | Iterable[Type | None] | None]
    """Takes the operands, none where one is absent, and the attributes; gives the type of the only
    output or one type for each, none where it is not known. Extents may be numbers, expressions of
    the operands' dimensions, as `2*N`, or none."""
    pure: bool = True
    """Whether it gives the same for the same and has no effect beside that."""

    def native(self) -> tuple[str, str, bool, Callable[[list[Any], dict[str, Any]], list[Any]]]:
        """What the native half takes."""
        return self.domain, self.name, self.pure, self._types

    def _types(self, operands: list[Any], attributes: Mapping[str, Any]) -> list[Any]:
        given = self.infer([_operand(one) for one in operands], dict(attributes))
        if given is None:
            return []
        several = list(given)
        # A pair of an element type and extents is one type, whatever else has two members.
        one = len(several) == 2 and not isinstance(several[0], (tuple, list, type(None)))
        return [_type(of) for of in ([given] if one else several)]


def _operand(of: Any) -> Operand | None:
    if of is None:
        return None
    from tangram._arrays import from_native

    name, dtype, shape, data = of
    return Operand(name, dtype, shape, None if data is None else from_native(data))


def _type(of: Any) -> Any:
    if of is None or of[0] is None:
        return None
    dtype, shape = of
    if not isinstance(dtype, str):
        import numpy as np

        dtype = np.dtype(dtype).name
    return dtype, None if shape is None else [n if n is None or isinstance(n, str) else int(n) for n in shape]


if TYPE_CHECKING:
    from gsl import Definition

    OperatorLike: TypeAlias = "Operator | Definition | Iterable[Operator | Definition]"


def natives(operators: OperatorLike) -> list[Any]:
    """All operators as the native half takes them."""
    several = operators if isinstance(operators, Iterable) else [operators]
    return [one.native() for one in several]
