"""Looking at models: what one is, what changed between two, whether two compute the same."""

from __future__ import annotations

import dataclasses
import html
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tangram import _native
from tangram._report import short, table
from tangram._workload import Workload, native_inputs, python_of

if TYPE_CHECKING:
    from tangram._workload import CheckLike, ModelLike


@dataclasses.dataclass(frozen=True)
class Summary:
    """What a model is: a table in notebooks. `data` holds everything, as `tangram show --format json`."""

    data: dict[str, Any]

    @property
    def nodes(self) -> int:
        """Nodes, constants not counted."""
        return self.data["nodes"]

    @property
    def operators(self) -> dict[str, int]:
        """Nodes by operator."""
        return self.data["operators"]

    @property
    def parameters(self) -> int:
        """Numbers in weights."""
        return self.data["parameters"]

    @property
    def symbols(self) -> list[str]:
        """Names of dimensions that are left open."""
        return self.data["symbols"]

    def __repr__(self) -> str:
        return f"Summary({self.nodes} nodes, {short(self.parameters)} parameters)"

    def _repr_html_(self) -> str:
        ports = [
            (kind, port["name"], port["element"], "unknown" if port["shape"] is None else ", ".join(port["shape"]))
            for kind in ("inputs", "outputs")
            for port in self.data[kind]
        ]
        counts = sorted(self.operators.items(), key=lambda item: (-item[1], item[0]))
        cost = self.data["cost"]
        facts = [
            ("nodes", self.nodes),
            ("parameters", short(self.parameters)),
            ("weights", f"{short(self.data['weight_bytes'])}B"),
            ("flops", short(cost["flops"])),
            ("opset", ", ".join(f"{name} {number}" for name, number in self.data["opsets"].items())),
            ("producer", self.data["producer"]),
            ("dynamic", ", ".join(self.symbols) or "nothing"),
        ]
        return table(("", "name", "type", "shape"), ports) + table(("operator", "nodes"), counts) + table(("", ""), facts)


def summary(model: ModelLike) -> Summary:
    """Says what a model is: inputs, outputs, operators, weights, estimated cost, operator sets."""
    return Summary(json.loads(Workload.from_onnx(model)._model.summary()))


@dataclasses.dataclass(frozen=True)
class Diff:
    """What changed between two models; false if nothing did. `print` shows it as text."""

    data: dict[str, Any]
    """All nodes that were removed, added and changed, as `tangram diff --json` has them."""
    text: str = dataclasses.field(repr=False)

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self.data[kind])} {kind}" for kind in ("removed", "added", "changed"))
        return f"Diff({counts})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"

    def __bool__(self) -> bool:
        data = self.data
        return bool(data["removed"] or data["added"] or data["changed"] or data["interface"])

    def __str__(self) -> str:
        return self.text


def diff(before: ModelLike, after: ModelLike) -> Diff:
    """Says what changed from one model to another, node by node, whatever values are named."""
    _, told, text = _native.diff_models(_file(before), _file(after))
    return Diff(json.loads(told), text)


def _file(model: ModelLike) -> str | bytes:
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    if isinstance(model, Workload):
        return model.to_bytes()
    return bytes(model) if isinstance(model, (bytes, bytearray, memoryview)) else model.SerializeToString()


@dataclasses.dataclass(frozen=True)
class Check:
    """Whether two models compute the same; false if not. `print` shows it as text."""

    holds: bool
    data: dict[str, Any]
    """The worst difference, the sizes of each run, and the first value that differs."""
    text: str = dataclasses.field(repr=False)

    @property
    def difference(self) -> float:
        """The largest difference of an output, relative to its greatest magnitude."""
        return self.data["worst"]["relative"]

    @property
    def begins(self) -> str | None:
        """The first value that differs, of those that both models have under one name."""
        first = self.data["begins"]
        return None if first is None else first["output"]

    def __repr__(self) -> str:
        worst = (self.data["worst"] or {}).get("relative")
        how_far = "" if worst is None else f", difference={worst:g}"
        return f"Check({'equal' if self.holds else 'different'}{how_far})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.text


def check(
    first: ModelLike,
    second: ModelLike,
    *,
    runs: int = 3,
    seed: int = 0,
    shape: Mapping[str, Sequence[int]] | None = None,
    data: Mapping[str, Any] | None = None,
    exact: bool = False,
    tolerance: float | None = None,
    engine: CheckLike = True,
) -> Check:
    """Evaluates two models on the same inputs, `runs` times, and compares.

    Inputs are random, of other sizes in each run where sizes are open; `shape` and `data` give
    extents and arrays by name. Inputs and outputs are paired by name, or by place where names
    differ. `exact`: want results that are equal to the last bit. `tolerance`: the largest difference
    that is allowed, as a share of the greatest magnitude in an output.

    Raises `EvaluationError` where one cannot be evaluated.
    """
    models = Workload.from_onnx(first)._model, Workload.from_onnx(second)._model
    shapes, arrays = native_inputs(shape, data)
    how = (runs, seed, python_of(engine))
    holds, told, text = models[0].compare_files(models[1], shapes, arrays, (exact, tolerance), how)
    return Check(holds, json.loads(told), text)
