"""Small models that the schemas of old and new operator sets alone suggest, beside onnxruntime.

    python tests/python/schema_nodes.py --seconds 900 --seed 0 [--only REGEX] [--keep DIR]

Each node is drawn from the schemas of a random operator set: an operator in the version that the set
has, types that its constraints admit, mixed where they may be, extents of 0, 1 and few more, values at
the limits of integer types, attributes by kind, with the words that their descriptions quote. What
onnxruntime refuses is no part of a model; nothing here knows what an operator does, or what the
optimiser does. The model is optimised with its inputs open, all but the first constant, or all
constant, as it came or for another operator set, and must compute what onnxruntime computes without
optimisations on the model as it came.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import sys
import time
from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

import exemptions
import node_suite
import oracle
import schema_walk
import second_opinions
from apart import Verdict, apart

OPSETS = range(7, 26)
TYPES = ("float", "double", "float16", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
EXTENTS = (0, 1, 1, 2, 2, 3, 4)
# What is random, has a body, or takes what is no tensor; trees and the like are in `learned_models`.
SPECIAL = node_suite.RANDOM | {"Dropout", "Constant", "ImageDecoder", "StringNormalizer", "TfIdfVectorizer"}
# Elements of the largest result.
MOST = 2048
TRIES = 60


def operators(opset: int, only: str = "") -> list[onnx.defs.OpSchema]:
    """What an operator set has of operators between tensors."""
    found = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= opset and not schema.deprecated:
            known = found.get(schema.name)
            if known is None or known.since_version < schema.since_version:
                found[schema.name] = schema
    kept = [s for s in found.values() if s.name not in SPECIAL and re.search(only, s.name)]
    return sorted((s for s in kept if _is_plain(s)), key=lambda schema: schema.name)


def _is_plain(schema: onnx.defs.OpSchema) -> bool:
    graphs = (onnx.defs.OpSchema.AttrType.GRAPH, onnx.defs.OpSchema.AttrType.GRAPHS)
    if any(a.type in graphs for a in schema.attributes.values()):
        return False
    ports = [*schema.inputs, *schema.outputs]
    return all(any(f"tensor({kind})" in port.types for kind in TYPES) for port in ports)


class Drawer:
    """Draws one model."""

    def __init__(self, seed: int, only: str = "") -> None:
        self.rng = np.random.default_rng([seed, 471])
        self.opset = int(self.rng.choice(list(OPSETS)))
        self.schemas = operators(self.opset, only)
        self.values: dict[str, np.ndarray] = {}
        self.inputs: list[str] = []
        self.nodes: list[onnx.NodeProto] = []

    def any(self, of):
        """One of these."""
        return of[int(self.rng.integers(len(of)))]

    def chance(self, share: float) -> bool:
        """Whether it happens this time."""
        return bool(self.rng.random() < share)

    def model(self, size: int) -> onnx.ModelProto | None:
        """A model of up to `size` nodes; none if no node could be drawn."""
        for _ in range(TRIES):
            if len(self.nodes) == size:
                break
            self.node()
        if not self.nodes:
            return None
        made = [name for node in self.nodes for name in node.output if name]
        read = {name for node in self.nodes for name in node.input}
        used = [name for name in self.inputs if name in read]
        ends = [name for name in made if name not in read or self.chance(0.3)]
        return self.wrapped(self.nodes, used, ends)

    def wrapped(self, nodes: list[onnx.NodeProto], inputs: list[str], outputs: list[str]) -> onnx.ModelProto:
        """A model of nodes, in the operator set."""
        graph = helper.make_graph(
            nodes, "drawn", [exemptions.described(name, self.values[name]) for name in inputs],
            [exemptions.described(n, self.values[n]) if n in self.values else onnx.ValueInfoProto(name=n) for n in outputs],
        )  # fmt: skip
        sets = [helper.make_opsetid("", self.opset)]
        # Nothing before knows initialisers that are no inputs.
        ir = max(4, helper.find_min_ir_version_for(sets, True))
        return helper.make_model(graph, opset_imports=sets, ir_version=ir)

    def node(self) -> None:
        """Draws a node; keeps it if onnxruntime runs it and the standard has nothing against it."""
        schema = self.any(self.schemas)
        kinds = self.kinds(schema)
        shape = [int(n) for n in self.rng.choice(EXTENTS, int(self.rng.integers(0, 5)))]
        known = dict(self.values)
        inputs = [self.input(schema, i, kinds, shape) for i in range(self.count(schema))]
        while inputs and not inputs[-1]:
            inputs.pop()
        outputs = [f"y{len(self.nodes)}_{i}" for i in range(self.outputs(schema))]
        node = helper.make_node(schema.name, inputs, outputs)
        node.attribute.extend(self.attributes(schema, shape))
        if len(inputs) < schema.min_input or not self.accepted(node):
            self.values = known
            self.inputs = [name for name in self.inputs if name in known]

    def accepted(self, node: onnx.NodeProto) -> bool:
        """Runs a node, and adds it with its results."""
        if node.op_type in ("Div", "Mod") and self.values[node.input[1]].dtype.kind in "iu":
            # Engines end there.
            if not self.values[node.input[1]].all():
                return False
        read = list(dict.fromkeys(name for name in node.input if name))
        model = self.wrapped([node], read, list(node.output))
        values = {name: self.values[name] for name in read}
        try:
            results = schema_walk.quietly(oracle.run_ort, model, values)
        except Exception:  # noqa: BLE001: it has many ways to refuse
            return False
        if any(not isinstance(r, np.ndarray) or r.size > MOST or r.dtype.kind in "OUS" for r in results):
            return False

        def wrap(graph: onnx.GraphProto) -> onnx.ModelProto:
            return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)

        if exemptions.contradicted(node, values, results, wrap) or second_opinions.does_not_fit(model, values):
            return False
        for name, result in zip(node.output, results):
            self.values[name] = result
        self.nodes.append(node)
        return True

    def kinds(self, schema: onnx.defs.OpSchema) -> dict[str, str]:
        """A type for each variable of the signature."""
        found = {}
        for constraint in schema.type_constraints:
            admitted = [kind for kind in TYPES if f"tensor({kind})" in constraint.allowed_type_strs]
            if admitted:
                usual = [kind for kind in admitted if kind in ("float", "int64")]
                found[constraint.type_param_str] = self.any(usual if usual and self.chance(0.4) else admitted)
        return found

    def count(self, schema: onnx.defs.OpSchema) -> int:
        most = min(schema.max_input, max(schema.min_input, len(schema.inputs)) + 2)
        most = most if schema.max_input > len(schema.inputs) else len(schema.inputs)
        return int(self.rng.integers(schema.min_input, most + 1))

    def outputs(self, schema: onnx.defs.OpSchema) -> int:
        most = min(schema.max_output, 3)
        return int(self.rng.integers(max(1, schema.min_output), max(1, schema.min_output, most) + 1))

    def input(self, schema: onnx.defs.OpSchema, at: int, kinds: dict[str, str], shape: list[int]) -> str:
        """The name of a value for an input: an earlier one, or a new one."""
        formal = schema.inputs[min(at, len(schema.inputs) - 1)]
        optional = formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional
        if optional and self.chance(0.3):
            return ""
        fixed = re.fullmatch(r"tensor\((\w+)\)", formal.type_str)
        kind = fixed.group(1) if fixed else kinds.get(formal.type_str, "float")
        dtype = np.dtype({"float": "float32", "double": "float64"}.get(kind, kind))
        fit = [name for name, value in self.values.items() if value.dtype == dtype]
        if fit and self.chance(0.5):
            return self.any(fit)
        name = f"x{len(self.values)}"
        self.values[name] = self.value(dtype, self.shape(at, shape))
        self.inputs.append(name)
        return name

    def shape(self, at: int, shape: list[int]) -> list[int]:
        """The shape that an input has beside the first."""
        draw = self.rng.random()
        if at == 0 or draw < 0.4:
            return shape
        if draw < 0.6:
            kept = shape[int(self.rng.integers(0, len(shape) + 1)) :]
            return [1 if self.chance(0.3) else n for n in kept]
        if draw < 0.8:
            return [self.any([len(shape), 1, 2, *shape])] if self.chance(0.8) else []
        return [int(n) for n in self.rng.choice(EXTENTS, int(self.rng.integers(0, 5)))]

    def value(self, dtype: np.dtype, shape: list[int]) -> np.ndarray:
        """Small numbers, or those at the limits of the type."""
        rng = self.rng
        if dtype.kind == "b":
            return rng.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            low = 0 if dtype.kind == "u" else -2
            drawn = rng.integers(low, 4, shape).astype(dtype)
            if self.chance(0.25):
                edges = np.array([limits.min, limits.max, limits.max - 1, limits.max // 2 + 1, 1, 2], dtype)
                drawn = edges[rng.integers(0, len(edges), shape)]
            return np.asarray(drawn, dtype)
        drawn = np.round(rng.standard_normal(shape) * 2, 2)
        if self.chance(0.3):
            drawn = np.asarray(rng.choice([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 1.0, -1.0, 3.0], shape))
        return np.asarray(drawn, dtype)

    def attributes(self, schema: onnx.defs.OpSchema, shape: list[int]) -> list[onnx.AttributeProto]:
        """Attributes by kind."""
        found = []
        for name, attribute in schema.attributes.items():
            if attribute.required or self.chance(0.35):
                value = self.attribute(attribute, len(shape))
                if value is not None:
                    kind = getattr(onnx.AttributeProto, attribute.type.name)
                    found.append(helper.make_attribute(name, value, attr_type=kind))
        return found

    def attribute(self, attribute, rank: int):
        kinds = onnx.defs.OpSchema.AttrType
        ints = [0, 1, 1, 2, -1, 3, -2]
        match attribute.type:
            case kinds.INT:
                return self.any(ints + ([6, 7, 9, 10, 11, 12, 13] if attribute.name in ("to", "dtype") else []))
            case kinds.FLOAT:
                return self.any([0.0, 0.5, 1.0, -1.0, 0.1, 1e-5, 2.0, 3.3])
            case kinds.STRING:
                quoted = re.findall(r"[`'\"]([A-Za-z_]+)[`'\"]|\b([A-Z]{2,}_?[A-Z]*)\b", attribute.description)
                words = [a or b for a, b in quoted] or ["nearest"]
                return self.any(words)
            case kinds.INTS:
                length = self.any([rank, 1, 2, max(rank - 2, 0), max(2 * (rank - 2), 0)])
                return [self.any([1, 1, 2, 0, -1, 3]) for _ in range(length)]
            case kinds.FLOATS:
                return [self.any([0.0, 1.0, 0.5, 2.0]) for _ in range(self.any([rank, 1, 2]))]
        return None


def judged(seed: int, only: str = "", begun: Callable[[], object] = lambda: None) -> tuple[Verdict, onnx.ModelProto | None, int | None]:
    """What comes of one model, the model, and the operator set that was asked for."""
    drawer = Drawer(seed, only)
    model = drawer.model(int(drawer.rng.integers(1, 5)))
    if model is None:
        return Verdict("none"), None, None
    inputs = {value.name: drawer.values[value.name] for value in model.graph.input}
    form = drawer.any(schema_walk.FORMS)
    opset = drawer.any(list(OPSETS)) if drawer.chance(0.4) else None
    if schema_walk.fault(model) is not None:
        return Verdict("none"), None, None
    try:
        expected = schema_walk.quietly(oracle.run_ort, model, inputs)
    except Exception:  # noqa: BLE001: nodes that run alone need not run together
        return Verdict("none"), None, None
    begun()
    given, left = schema_walk.in_form(model, inputs, form) or (model, inputs)
    return compared(given, left, expected, opset), given, opset


def compared(model: onnx.ModelProto, inputs: dict, expected: list, opset: int | None) -> Verdict:
    """What the optimiser makes of a model, beside what the model computes."""
    try:
        found = schema_walk.in_process(model, opset)
    except schema_walk.Refused as error:
        told = opset is not None and "defect" not in str(error)
        return Verdict("refused" if told else "crash", str(error))
    written = next(set_.version for set_ in found.opset_import if not set_.domain)
    operators = {node.op_type for node in found.graph.node}
    known = any(name in operators and first <= written < last for name, first, last in schema_walk.UNCHECKED)
    if not known and (why := schema_walk.fault(found)) is not None:
        return Verdict("invalid", why)
    try:
        results = schema_walk.quietly(oracle.run_ort, found, inputs)
    except Exception as error:  # noqa: BLE001: as above
        return Verdict("unjudged" if opset else "fails", str(error))
    for at, (ours, theirs) in enumerate(zip(results, expected)):
        difference = oracle.same(ours, theirs, node_suite.ROUNDING, rtol=1e-4, atol=1e-5)
        if not difference and not exemptions.excused(model, found, inputs, at):
            return Verdict("wrong", f"{model.graph.output[at].name}: {difference.why}")
    return Verdict("ok")


FAULTS = ("crash", "invalid", "fails", "wrong")


def main() -> int:
    """Draws and judges models until time is up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="REGEX", help="operators by name")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for models that fail")
    given = parser.parse_args()
    counts: collections.Counter = collections.Counter()
    seed, end = given.seed, time.monotonic() + given.seconds
    while time.monotonic() < end:
        verdict = apart(lambda begun, seed=seed: told(seed, begun, given.only, given.keep))
        counts[verdict.kind] += 1
        if verdict.kind in FAULTS:
            print(f"{seed}: {verdict.kind}: {verdict.why[:600]}", flush=True)
        seed += 1
    print(dict(counts))
    return int(any(counts[kind] for kind in FAULTS))


def told(seed: int, begun: Callable[[], object], only: str = "", keep: pathlib.Path | None = None) -> Verdict:
    """What comes of one model, with its text where that is a fault; `keep`: a folder for it."""
    verdict, model, opset = judged(seed, only, begun)
    if verdict.kind in FAULTS and model is not None:
        text = f"opset {model.opset_import[0].version} to {opset}: {onnx.printer.to_text(model.graph)}"
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            onnx.save(model, keep / f"{seed}.onnx")
        return Verdict(verdict.kind, f"{verdict.why}\n{text}")
    return verdict


if __name__ == "__main__":
    sys.exit(main())
