"""Small models that a rule may match, made from its source by brute force.

A model is built pattern by pattern as nodes of ONNX. Each node is run at once by onnxruntime, which
says what shape its results have and refuses what is no model. Attributes and extents are drawn
from dense small domains, which are written down here. Nothing here knows the verifier; conditions
of the rule are not looked at, but numbers and types that it names are drawn more often.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import oracle
import rule_operators as operators
from tangram import _native

OPSET, IR = 21, 10
TYPES = {
    "float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL, "uint8": TensorProto.UINT8, "int16": TensorProto.INT16,
}
MOST_ELEMENTS = 4096


class Unknown(Exception):
    """What an expression means is not known while the model is being made."""


class NoModel(Exception):
    """Some pattern could not be made."""


class Source:
    """The source of a rule."""

    def __init__(self, text: str) -> None:
        self.data = json.loads(_native.parse_rules("rule", text)[0][2])
        self.patterns = self.data["patterns"]
        exprs = [expr["kind"] for expr in self.data["exprs"]]
        words = [kind["str"] for kind in exprs if isinstance(kind, dict) and "str" in kind]
        self.types = [word for word in words if word in TYPES]
        self.numbers = [k["int"] for k in exprs if isinstance(k, dict) and "int" in k]
        self.floats = [float(k["float"]) for k in exprs if isinstance(k, dict) and "float" in k]

    def kind(self, pattern: int) -> tuple[str, Any]:
        """The form of a pattern, and its parts."""
        kind = self.patterns[pattern]["kind"]
        return (kind, {}) if isinstance(kind, str) else next(iter(kind.items()))


class Draft:
    """One model in the making."""

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        self.source, self.rng = source, rng
        named = source.types and rng.random() < 0.5
        usual = ["float32"] * 5 + ["float64", "float16", "int32", "int64", "int8", "bool"]
        self.dtype = np.dtype(str(rng.choice(source.types if named else usual)))
        self.values: dict[str, Any] = {}
        self.made: dict[tuple, list[str]] = {}
        self.attrs: dict[tuple, dict] = {}
        self.chosen: dict[int, str] = {}
        self.symbols: dict[int, int] = {}
        self.branch: tuple[int, int] | None = None
        self.first: dict[int, int] = {}
        self.lengths: dict[int, int] = {}
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, np.ndarray] = {}
        self.constants: dict[str, np.ndarray] = {}

    def model(self) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
        """The model and the values of its inputs."""
        outputs = []
        for pattern in self.source.data["sources"]:
            outputs += self.value(pattern, None)
        if len(set(outputs)) < len(outputs) or not self.inputs:
            raise NoModel
        graph = helper.make_graph(
            self.nodes, "g", [_info(n, v) for n, v in self.inputs.items()],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(v, n) for n, v in self.constants.items()])
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        types = {v.name: v for v in model.graph.value_info}
        for output in model.graph.output:
            if not output.HasField("type"):
                output.CopyFrom(types[output.name])
        return model, dict(self.inputs)

    # Patterns.

    def key(self, pattern: int) -> tuple:
        """What a pattern is known by: templates are others in each branch."""
        if self.branch and pattern in self.first:
            index = self.branch[1]
            first = self.first[pattern]
            return (first,) if index == 0 and first is not None else (pattern, *self.branch)
        return (pattern,)

    def value(self, pattern: int, want: tuple | None) -> list[str]:
        """The values that a pattern stands for."""
        key = self.key(pattern)
        if key not in self.made:
            self.made[key] = self.make(key[0], key, want)
        return self.made[key]

    def make(self, pattern: int, key: tuple, want: tuple | None) -> list[str]:
        form, node = self.source.kind(pattern)
        match form:
            case "wildcard" | "not" | "variable":
                return [self.leaf(want, node if form == "variable" else {}, False)]
            case "const":
                return [self.constant(want, node)]
            case "call":
                return self.call(pattern, key, node, want)
            case "proj":
                results = self.value(node["tuple"], want)
                index = self.number(node["index"])
                if index >= len(results):
                    raise NoModel
                return [results[index]]
            case "alt":
                return self.value(int(self.rng.choice(node)), want)
            case "tuple":
                return [v for field in node for v in self.value(field, want)]
            case "variadic":
                return self.variadic(pattern, node, want)
        raise NoModel

    def variadic(self, pattern: int, node: dict, want: tuple | None) -> list[str]:
        least = max(node.get("min_len") or 1, 1)
        count = int(self.rng.integers(least, least + 3))
        if node.get("length") is not None:
            count = self.number(node["length"])
        self.lengths[pattern] = count
        self.first = {t["pattern"]: t.get("first") for t in node["templates"]}
        out = []
        for index in range(min(count, 6)):
            self.branch = (pattern, index)
            if node.get("index") is not None:
                self.symbols[node["index"]] = index
            out += self.value(node["field"], want)
            want = tuple(np.shape(self.values[out[0]]))
        self.branch = None
        return out

    def call(self, pattern: int, key: tuple, node: dict, want: tuple | None) -> list[str]:
        name = self.operator(node["op"])
        attrs = {}
        rest = self.attrs.get(self.key(node["rest"])) if node.get("rest") is not None else None
        for field in node.get("attrs", []):
            try:
                attrs[field["name"]] = self.evaluate(field["value"])
            except Unknown:
                pass
        for known, value in (rest or {}).items():
            attrs.setdefault(known, value)
        args = [a for arg in node["args"] for a in self.flat(arg)]
        leaves = ("wildcard", "const", "variable", "not")
        order = sorted(range(len(args)), key=lambda i: self.source.kind(args[i])[0] in leaves)
        made: list[list[str] | None] = [None] * len(args)
        for i in order:
            shapes = [None if m is None else np.shape(self.values[m[0]]) for m in made]
            proposal = operators.operand_shape(name, i, shapes, attrs, want, self.rng)
            made[i] = self.value(args[i], proposal)
        operands = [v for m in made for v in m or []]
        if node.get("commutative") and len(operands) == 2 and self.rng.random() < 0.5:
            operands.reverse()
        results = self.results(pattern)
        shapes = [np.shape(self.values[v]) for v in operands]
        operators.draw_attributes(name, attrs, shapes, results, self)
        self.attrs[key] = attrs
        return self.emit(name, operands, attrs, results)

    def flat(self, pattern: int) -> list[int]:
        form, node = self.source.kind(pattern)
        return list(node) if form == "tuple" else [pattern]

    def operator(self, op: int) -> str:
        ((form, names),) = self.source.data["ops"][op]["choice"].items()
        if op not in self.chosen:
            known = [names] if form == "name" else operators.ELEMENTWISE if form == "trait" else names
            self.chosen[op] = str(self.rng.choice(known))
        return self.chosen[op]

    def results(self, pattern: int) -> int:
        """How many results of a call are read."""
        most = 0
        for other in range(len(self.source.patterns)):
            form, node = self.source.kind(other)
            if form == "proj" and node["tuple"] == pattern:
                try:
                    most = max(most, self.number(node["index"]) + 1)
                except Unknown:
                    most = max(most, 2)
        return most + int(self.rng.integers(0, 2)) if most else 1

    def emit(self, name: str, operands: list[str], attrs: dict, results: int) -> list[str]:
        """Writes the nodes of an operation, and runs them."""
        outputs = [f"v{len(self.values)}_{i}" for i in range(results)]
        made = operators.emit(name, operands, outputs, attrs, self)
        if made is None:
            raise NoModel
        free = {n for node in made for n in node.input if n in self.values}
        graph = helper.make_graph(
            made, "g", [_info(n, self.values[n]) for n in sorted(free)],
            [onnx.ValueInfoProto(name=name) for name in outputs])
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
        try:
            found = oracle.run_ort(model, {name: self.values[name] for name in free})
        except Exception as error:  # noqa: BLE001: onnxruntime has many ways to refuse
            raise NoModel from error
        if any(np.size(v) > MOST_ELEMENTS for v in found if not isinstance(v, list)):
            raise NoModel
        self.nodes += made
        self.values |= dict(zip(outputs, found, strict=True))
        return outputs

    def fixed(self, value: Any, dtype: Any = np.int64) -> str:
        """The name of a constant that an operator reads."""
        name = f"c{len(self.values)}"
        self.constants[name] = self.values[name] = np.asarray(value, dtype)
        return name

    def leaf(self, want: tuple | None, fields: dict, constant: bool) -> str:
        shape = self.shape(want, fields)
        if math.prod(shape) > MOST_ELEMENTS:
            raise NoModel
        name = f"{'w' if constant else 'x'}{len(self.values)}"
        value = operators.numbers(self.dtype, shape, self.rng)
        self.values[name] = value
        (self.constants if constant else self.inputs)[name] = value
        return name

    def constant(self, want: tuple | None, node: dict) -> str:
        if node.get("value") is None:
            return self.leaf(want, node, True)
        value = self.evaluate(node["value"])
        scalar = not isinstance(value, (list, tuple))
        shape = self.shape(want, node) if scalar and self.rng.random() < 0.1 else np.shape(value)
        return self.fixed(np.broadcast_to(np.asarray(value), shape), self.dtype)

    def shape(self, want: tuple | None, fields: dict) -> tuple:
        shape = want
        if fields.get("ndim") is not None:
            rank = self.number(fields["ndim"])
            if shape is None or len(shape) != rank:
                shape = shape[-rank:] if shape and 0 < rank < len(shape) else None
                shape = shape or operators.extents(self.rng, max(0, min(rank, 6)))
        shape = operators.extents(self.rng) if shape is None else shape
        if fields.get("shape") is not None:
            stated = self.evaluate(fields["shape"])
            if len(stated) == len(shape):
                shape = tuple(n if s is None else int(s) for s, n in zip(stated, shape))
        return tuple(int(n) for n in shape)

    # Expressions, as far as they say something before all of the model is there.

    def number(self, expr: int) -> int:
        value = self.evaluate(expr)
        if not isinstance(value, int):
            raise Unknown
        return value

    def evaluate(self, expr: int) -> Any:
        kind = self.source.data["exprs"][expr]["kind"]
        if kind == "any":
            return None
        ((form, node),) = kind.items()
        match form:
            case "int" | "bool" | "str":
                return node
            case "float":
                return float(node)
            case "symbol" if node in self.symbols:
                return self.symbols[node]
            case "tuple":
                return [self.evaluate(field) for field in node]
            case "access":
                return self.access(node["pattern"], node["attribute"])
            case "proj":
                fields, at = self.evaluate(node["tuple"]), self.number(node["index"])
                if isinstance(fields, list) and 0 <= at < len(fields):
                    return fields[at]
            case "len":
                return len(self.evaluate(node))
            case "binary":
                return _binary(node["op"], self.evaluate(node["lhs"]), self.evaluate(node["rhs"]))
        raise Unknown

    def access(self, pattern: int, attribute: str) -> Any:
        key = self.key(pattern)
        if attribute == "length" and pattern in self.lengths:
            return self.lengths[pattern]
        if key not in self.made:
            raise Unknown
        value = self.values[self.made[key][0]]
        match attribute:
            case "shape":
                return [int(n) for n in np.shape(value)]
            case "ndim":
                return int(np.ndim(value))
            case "dtype":
                return str(value.dtype)
            case "length":
                return len(self.made[key])
        if attribute in self.attrs.get(key, {}):
            return self.attrs[key][attribute]
        raise Unknown


def _binary(op: str, a: Any, b: Any) -> Any:
    try:
        match op:
            case "add":
                return a + b
            case "sub":
                return a - b
            case "mul":
                return a * b
            case "div":
                return a / b
            case "floor-div":
                return a // b
            case "mod":
                return a % b
    except (TypeError, ZeroDivisionError) as error:
        raise Unknown from error
    raise Unknown


def _info(name: str, value: Any) -> onnx.ValueInfoProto:
    if isinstance(value, list):
        element = helper.np_dtype_to_tensor_dtype(value[0].dtype)
        return helper.make_tensor_sequence_value_info(name, element, None)
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def models(text: str, count: int, seed: int = 0, attempts: int = 40):
    """Yields up to `count` models that the rule of this text may match, with inputs."""
    source, rng = Source(text), np.random.default_rng(seed)
    made = 0
    for _ in range(count * attempts):
        if made >= count:
            return
        try:
            found = Draft(source, rng).model()
        except (NoModel, Unknown):
            continue
        except Exception:  # noqa: BLE001: onnx's shape inference refuses what is no model
            continue
        made += 1
        yield found
