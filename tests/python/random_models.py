"""Random models of any operators, and a judge of what an optimiser makes of them.

    python tests/python/random_models.py --count 1000 --seed 0 [--keep DIR]

A model grows node by node. Each node is run at once, by onnxruntime, on the values that its inputs
have: what it refuses is no part of the model, and what it gives is there for later nodes. So every
model is valid by construction, whatever its operators are, and nothing here knows the optimiser.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper, numpy_helper

import exemptions
import oracle
import random_nodes as nodes
from apart import Verdict, apart

MOST_ELEMENTS = 4096
NEWEST = 23
IR = {9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11}


@dataclasses.dataclass
class Scope:
    """The values that a node may read, by name, and the graph that grows."""

    values: dict[str, np.ndarray | list]
    nodes: list[onnx.NodeProto] = dataclasses.field(default_factory=list)
    constants: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    made: list[str] = dataclasses.field(default_factory=list)


class Grower:
    """Grows one model."""

    def __init__(self, seed: int, opset: int | None = None, wide: bool = False) -> None:
        """`wide`: more types, extents and attributes, and more of what a file may say."""
        self.rng = np.random.default_rng(seed)
        self.wide = wide
        self.opset = opset or int(self.rng.integers(9, NEWEST + 1))
        self.names = 0
        # Operators of nodes that onnxruntime runs and the standard has something against.
        self.contradicted: list[str] = []

    def name(self, stem: str) -> str:
        """A name that nothing has yet."""
        self.names += 1
        return f"{stem}{self.names}"

    def model(self, size: int) -> onnx.ModelProto:
        """Grows a model of about `size` nodes."""
        rng, inputs = self.rng, {}
        symbols: dict[int, str] = {}
        declared = []
        for _ in range(int(rng.integers(1, 4))):
            extents = [0, 1, 1, 2, 3, 4, 5, 6, 8] if self.wide else [1, 2, 3, 4, 6]
            ranks = [0, 1, 2, 3, 3, 4, 4, 5] if self.wide else [1, 2, 3, 3, 4, 4]
            types = ["float32"] * 6 + ["int64", "float16", "bool", "float64"]
            types += ["int32", "int8", "uint8", "uint32", "uint64"] if self.wide else []
            name, shape = self.name("x"), [int(n) for n in rng.choice(extents, rng.choice(ranks))]
            dtype = np.dtype(rng.choice(types))
            inputs[name] = nodes.weight(rng, dtype, shape)
            declared.append(helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(dtype), [self._dim(n, symbols) for n in shape]))
        scope = Scope(dict(inputs))
        self.grow(scope, size)
        return self.finish(scope, declared)

    def _dim(self, extent: int, symbols: dict[int, str]):
        draw = self.rng.random()
        if draw < 0.7:
            return extent
        return symbols.setdefault(extent, f"n{extent}") if draw < 0.9 else None

    def grow(self, scope: Scope, size: int, depth: int = 0) -> None:
        """Adds up to `size` nodes."""
        for _ in range(size * 4):
            if len(scope.nodes) >= size:
                return
            draw = self.rng.random()
            if depth < 2 and draw < 0.06:
                node, constants = self.branch(scope, depth)
            elif depth < 2 and draw < 0.09:
                node, constants = self.loop(scope, depth)
            elif draw < 0.12:
                node, constants = self.sequence(scope)
            else:
                node, constants = self.plain(scope)
            if node is not None:
                self.accept(scope, node, constants)

    def accept(self, scope: Scope, node: onnx.NodeProto, constants: dict) -> bool:
        """Runs a node; keeps it if it runs."""
        results = self.run([node], {**scope.values, **constants}, list(filter(None, node.output)))
        if results is None or any(not _fits(value) for value in results):
            return False
        if exemptions.contradicted(node, {**scope.values, **constants}, results, self._wrap):
            self.contradicted.append(node.op_type)
            return False
        # Names of nodes are told apart within one graph only; converters name some after values.
        before = scope.made[-1] if scope.made else ""
        node.name = ["", f"node{len(scope.nodes)}", before][len(scope.nodes) % 3]
        scope.nodes.append(node)
        scope.constants |= constants
        # Nothing else reads an open end: as an operand it is out of range almost everywhere.
        scope.values |= {n: v for n, v in constants.items() if not _is_open_end(v)}
        for name, value in zip(filter(None, node.output), results):
            scope.values[name] = value
            scope.made.append(name)
        return True

    def run(self, body: list[onnx.NodeProto], values: dict, outputs: list[str]) -> list | None:
        """Runs nodes on values; `None` where they cannot be run."""
        free = [name for name in exemptions.free_names(body) if name in values]
        graph = helper.make_graph(
            body, "g", [exemptions.described(name, values[name]) for name in free],
            [onnx.ValueInfoProto(name=name) for name in outputs])
        model = self._wrap(graph)
        try:
            return oracle.run_ort(model, {name: values[name] for name in free})
        except Exception:  # noqa: BLE001: onnxruntime has many ways to refuse
            return None

    def _wrap(self, graph: onnx.GraphProto) -> onnx.ModelProto:
        opset = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR[self.opset])

    def pick(self, scope: Scope, kinds: set[str] | None = None) -> str | None:
        """Draws a value, a new one more often than an old one."""
        fit = [n for n, v in scope.values.items() if kinds is None or nodes.type_name(v) in kinds]
        if not fit:
            return None
        recent = fit[-4:] if self.rng.random() < 0.6 else fit
        return recent[self.rng.integers(len(recent))]

    def plain(self, scope: Scope) -> tuple[onnx.NodeProto | None, dict]:
        """Draws a node of an operator without a body."""
        rng, schema = self.rng, nodes.draw_operator(self.rng, self.opset)
        inputs, constants, bound = [], {}, {}
        rank, data = 2, None
        for at, formal in enumerate(schema.inputs):
            option = formal.option
            if option == onnx.defs.OpSchema.FormalParameterOption.Optional and rng.random() < 0.5:
                inputs.append("")
                continue
            many = option == onnx.defs.OpSchema.FormalParameterOption.Variadic
            for _ in range(int(rng.integers(1, 4)) if many else 1):
                kinds = {bound[formal.type_str]} if formal.type_str in bound else set(formal.types)
                name = self.argument(scope, schema.name, at, formal, kinds, rank, data, constants)
                if name is None:
                    return None, {}
                value = constants.get(name, scope.values.get(name))
                if formal.is_homogeneous and formal.type_str in _constraints(schema):
                    bound.setdefault(formal.type_str, nodes.type_name(value))
                if data is None:
                    data, rank = value, getattr(value, "ndim", 1)
                inputs.append(name)
        while inputs and not inputs[-1]:
            inputs.pop()
        if _divides_by_zero(schema.name, inputs, scope.values, constants):
            return None, {}
        attributes = nodes.attributes(rng, schema, rank, nodes.WIDE if self.wide else nodes.USUAL)
        outputs = [self.name("v") for _ in range(self._outputs(schema, attributes))]
        return helper.make_node(schema.name, inputs, outputs, **attributes), constants

    def argument(self, scope, operator, at, formal, kinds, rank, data, constants) -> str | None:
        """Draws an input: a value that is there, or a constant."""
        rng = self.rng
        special = nodes.constant_input(rng, operator, formal.name, kinds, rank, data)
        if special is not None and rng.random() < 0.9:
            return _add(constants, self.name("c"), special)
        old = self.pick(scope, kinds)
        if at == 0 or (old is not None and rng.random() < 0.45):
            return old
        return self.weight(data, kinds, constants)

    def weight(self, data, kinds: set[str], constants: dict) -> str | None:
        """Draws a constant that may go with `data`."""
        rng = self.rng
        named = {nodes.type_name(np.zeros(0, d)): d for d in (np.float32, np.bool_, np.float16, np.float64, *nodes.INTEGERS)}
        own = nodes.type_name(data) if isinstance(data, np.ndarray) else None
        usable = [own] if own in kinds and own in named else [n for n in named if n in kinds]
        if not usable:
            return None
        dims = list(data.shape) if isinstance(data, np.ndarray) else [1]
        forms = [[], [1], dims[-1:], dims, [d if rng.random() < 0.5 else 1 for d in dims], dims[1:2],
                 dims[1:2] and [dims[1], *[1] * (len(dims) - 2)], dims[-1:] + [int(rng.integers(1, 4))],
                 [int(rng.integers(1, 4)), *dims[1:2], *[int(rng.choice([1, 2, 3])) for _ in dims[2:]]]]
        shape = forms[rng.integers(len(forms))]
        return _add(constants, self.name("w"), nodes.weight(rng, named[usable[0]], shape))

    def _outputs(self, schema, attributes: dict) -> int:
        low, high = schema.min_output, min(schema.max_output, 4)
        if schema.name == "Split":
            return int(attributes.get("num_outputs", 2))
        return int(self.rng.integers(low, high + 1)) if self.rng.random() < 0.3 else max(low, 1)

    def sequence(self, scope: Scope) -> tuple[onnx.NodeProto | None, dict]:
        """Draws a node that makes or reads a sequence."""
        if self.opset < 11:
            return None, {}
        held = self.pick(scope, {f"seq(tensor({t}))" for t in ("float", "int64", "float16", "bool")})
        if held is None or self.rng.random() < 0.3:
            first = self.pick(scope, {"tensor(float)", "tensor(int64)"})
            if first is None:
                return None, {}
            more = self.pick(scope, {nodes.type_name(scope.values[first])})
            if self.rng.random() < 0.4:
                return helper.make_node("SplitToSequence", [first], [self.name("s")]), {}
            return helper.make_node("SequenceConstruct", [first, more], [self.name("s")]), {}
        at = np.array(int(self.rng.integers(-1, 2)), np.int64)
        constants = {self.name("c"): at}
        kind = self.rng.choice(["SequenceAt", "SequenceLength", "ConcatFromSequence", "SequenceErase"])
        if kind in ("SequenceAt", "SequenceErase"):
            return helper.make_node(kind, [held, *constants], [self.name("v")]), constants
        attributes = {"axis": int(self.rng.integers(-1, 2))} if kind == "ConcatFromSequence" else {}
        return helper.make_node(kind, [held], [self.name("v")], **attributes), {}

    def body(self, scope: Scope, depth: int, more: dict | None = None) -> Scope:
        """Grows a body that reads what is outside."""
        inner = Scope({**scope.values, **(more or {})})
        self.grow(inner, int(self.rng.integers(1, 5)), depth + 1)
        return inner

    def graph(self, inner: Scope, inputs: list, outputs: list[str]) -> onnx.GraphProto:
        """Makes a graph of a body; its constants are initializers, or nodes."""
        weights, body = self._constants(inner)
        infos = [exemptions.described(name, inner.values[name], ranks=False) for name in outputs]
        return helper.make_graph(body, self.name("g"), inputs, infos, weights)

    def _constants(self, scope: Scope) -> tuple[list, list]:
        used = exemptions.free_names(scope.nodes)
        weights, made = [], []
        for name, value in scope.constants.items():
            if name not in used:
                continue
            tensor = numpy_helper.from_array(value, name)
            if self.rng.random() < 0.4:
                made.append(helper.make_node("Constant", [], [name], value=tensor))
            else:
                weights.append(tensor)
        return weights, made + scope.nodes

    def branch(self, scope: Scope, depth: int) -> tuple[onnx.NodeProto | None, dict]:
        """Draws an `If` on a value that is there, or on a constant."""
        flags = [n for n, v in scope.values.items() if nodes.type_name(v) == "tensor(bool)" and v.size == 1]
        constants: dict = {}
        if flags and self.rng.random() < 0.7:
            flag = flags[self.rng.integers(len(flags))]
        else:
            flag = _add(constants, self.name("c"), np.array(self.rng.random() < 0.5))
        bodies = []
        for _ in range(2):
            inner = self.body(scope, depth)
            kinds = {nodes.type_name(v) for n, v in inner.values.items() if n in inner.made}
            bodies.append((inner, kinds))
        shared = sorted(k for k in bodies[0][1] & bodies[1][1] if k.startswith("tensor"))
        if not shared:
            return None, {}
        kind = shared[self.rng.integers(len(shared))]
        graphs = []
        for inner, _ in bodies:
            fit = [n for n in inner.made if nodes.type_name(inner.values[n]) == kind]
            graphs.append(self.graph(inner, [], [fit[self.rng.integers(len(fit))]]))
        node = helper.make_node(
            "If", [flag], [self.name("v")], then_branch=graphs[0], else_branch=graphs[1])
        return node, constants

    def loop(self, scope: Scope, depth: int) -> tuple[onnx.NodeProto | None, dict]:
        """Draws a `Loop` with one value that goes around and one that is stacked."""
        start = self.pick(scope, {"tensor(float)", "tensor(int64)"})
        if start is None or self.opset < 11:
            return None, {}
        trips, go = self.name("c"), self.name("c")
        constants = {trips: np.array(self.rng.integers(1, 4), np.int64), go: np.array(True)}
        i, flag, state = self.name("i"), self.name("b"), self.name("s")
        value = scope.values[start]
        inner = self.body(scope, depth, {i: np.array(0, np.int64), flag: np.array(True), state: value})
        same = [n for n in inner.made if nodes.type_name(inner.values[n]) == nodes.type_name(value)
                and inner.values[n].shape == value.shape]
        more = [n for n in inner.made if isinstance(inner.values[n], np.ndarray)]
        if not same or not more:
            return None, {}
        kept = self.name("b")
        inner.nodes.append(helper.make_node("Identity", [flag], [kept]))
        inner.values[kept] = np.array(True)
        back, stacked = same[self.rng.integers(len(same))], more[self.rng.integers(len(more))]
        if back == stacked:
            again = self.name("v")
            inner.nodes.append(helper.make_node("Identity", [stacked], [again]))
            inner.values[again] = inner.values[stacked]
            stacked = again
        inputs = [exemptions.described(i, np.array(0, np.int64)), exemptions.described(flag, np.array(True)), exemptions.described(state, value, False)]
        graph = self.graph(inner, inputs, [kept, back, stacked])
        outputs = [self.name("v"), self.name("v")]
        return helper.make_node("Loop", [trips, go, start], outputs, body=graph), constants

    def finish(self, scope: Scope, declared: list) -> onnx.ModelProto:
        """Chooses outputs, drops some of what is not used."""
        read = exemptions.free_names(scope.nodes)
        leaves = [n for n in scope.made if n not in read]
        outputs = [n for n in scope.made if n in leaves or self.rng.random() < 0.1]
        outputs = [n for n in outputs if self.rng.random() < 0.8] or outputs[-1:]
        if not outputs:
            return self._wrap(helper.make_graph([], "g", [], []))
        weights, body = self._constants(scope)
        infos = [exemptions.described(name, scope.values[name], extents=False) for name in outputs]
        model = self._wrap(helper.make_graph(body, "g", declared, infos, weights))
        if self.wide:
            self._say_more(model)
        return model

    def _say_more(self, model: onnx.ModelProto) -> None:
        """Adds what a file may say besides: defaults of inputs, types of values, a plain output,
        names that bodies share.
        """
        rng, graph = self.rng, model.graph
        if rng.random() < 0.5:
            _share_names(graph)
        for weight in graph.initializer:
            if rng.random() < 0.1:
                graph.input.append(helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims))
        if rng.random() < 0.3 and _valid(model, full=True):
            inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph.value_info
            graph.value_info.extend(value for value in inferred if rng.random() < 0.7)
        if rng.random() < 0.05:
            of = graph.input[rng.integers(len(graph.input))]
            graph.node.append(helper.make_node("Identity", [of.name], [self.name("v")]))
            copy = graph.output.add()
            copy.CopyFrom(of)
            copy.name = graph.node[-1].output[0]


def _share_names(graph: onnx.GraphProto) -> None:
    """Gives what bodies without bodies make the same names in each of them."""
    for node in graph.node:
        for body in [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]:
            if any(a.type == onnx.AttributeProto.GRAPH for each in body.node for a in each.attribute):
                _share_names(body)
                continue
            made = [weight.name for weight in body.initializer]
            made += [name for each in body.node for name in each.output if name]
            names = {name: f"own{number}" for number, name in enumerate(made)}
            for each in body.node:
                each.input[:] = [names.get(name, name) for name in each.input]
                each.output[:] = [names.get(name, name) for name in each.output]
            for value in [*body.initializer, *body.output]:
                value.name = names.get(value.name, value.name)


def _add(constants: dict, name: str, value: np.ndarray) -> str:
    constants[name] = value
    return name


def _is_open_end(value: np.ndarray) -> bool:
    return value.dtype == np.int64 and value.size > 0 and int(value.max()) >= 2**31 - 1


def _fits(value) -> bool:
    if isinstance(value, list):
        return len(value) < 20 and all(_fits(one) for one in value)
    return isinstance(value, np.ndarray) and value.size <= MOST_ELEMENTS


def _constraints(schema) -> set[str]:
    return {constraint.type_param_str for constraint in schema.type_constraints}


def _divides_by_zero(operator: str, inputs: list[str], values: dict, constants: dict) -> bool:
    """Returns whether a node might divide integers by zero, which ends the process of onnxruntime."""
    if operator not in ("Div", "Mod") or len(inputs) < 2:
        return False
    divisor = constants.get(inputs[1], values.get(inputs[1]))
    return divisor.dtype.kind in "iu" and (inputs[1] not in constants or not divisor.all())


def feeds(model: onnx.ModelProto, seed: int) -> dict:
    """Inputs on which most arithmetic is exact."""
    sizes = {f"n{n}": n for n in range(10)}
    empty = {value.name: _empty(value, sizes) for value in model.graph.input if _has_none(value)}
    inputs = oracle.random_inputs(model, sizes=sizes, seed=seed, default_size=2, given=empty)
    rng = np.random.default_rng(seed)
    return {
        name: nodes.weight(rng, value.dtype, list(value.shape)) if value.dtype.kind == "f" else value
        for name, value in inputs.items()
    }


def _has_none(value: onnx.ValueInfoProto) -> bool:
    """Returns whether an extent is 0, which others take for one that is not known."""
    dims = value.type.tensor_type.shape.dim
    return any(dim.WhichOneof("value") == "dim_value" and dim.dim_value == 0 for dim in dims)


def _empty(value: onnx.ValueInfoProto, sizes: dict[str, int]) -> np.ndarray:
    tensor = value.type.tensor_type
    dims = [d.dim_value if d.HasField("dim_value") else sizes.get(d.dim_param, 2) for d in tensor.shape.dim]
    return np.zeros(dims, helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def judge_apart(
    seed: int, size: int, command: list[str], folder: pathlib.Path, wide: bool = False
) -> Verdict:
    """Grows and judges a model in a process of its own: some models end that of onnxruntime."""
    return apart(lambda runs: judge(Grower(seed, wide=wide).model(size), command, folder, runs))


def judge(
    model: onnx.ModelProto, command: list[str], folder: pathlib.Path, runs=lambda: None
) -> Verdict:
    """Optimises a model and compares what both compute; calls `runs` once the model itself ran."""
    source, target = folder / "in.onnx", folder / "out.onnx"
    target.unlink(missing_ok=True)
    onnx.save(model, source)
    full = _valid(model, full=True)
    if not _valid(model):
        return Verdict("not a model")
    expected = [(given, expected_outputs(model, given)) for given in (feeds(model, s) for s in range(3))]
    expected = [(given, outputs) for given, outputs in expected if outputs is not None]
    if not expected:
        return Verdict("does not run")
    runs()
    ran = subprocess.run([*command, str(source), "-o", str(target)], capture_output=True, text=True, timeout=120)
    if ran.returncode != 0 or not target.exists():
        return Verdict("failed", f"{ran.returncode} {ran.stderr[-300:]} {ran.stdout[-200:]}")
    found = onnx.load(target)
    if oracle.interface(found) != oracle.interface(model):
        return Verdict("interface")
    try:
        onnx.checker.check_model(found, full_check=full)
    except Exception as error:  # noqa: BLE001: the checker has several exception types
        return Verdict("invalid", str(error)[:300])
    if len(_nodes(found.graph.node)) > len(_nodes(model.graph.node)):
        return Verdict("more nodes", f"{len(_nodes(model.graph.node))} became {len(_nodes(found.graph.node))}")
    for given, outputs in expected:
        try:
            actual = oracle.run_ort(found, given)
        except Exception as error:  # noqa: BLE001
            if all(exemptions.excused(model, found, given, at) for at in range(len(outputs))):
                continue
            return Verdict("does not load", str(error)[:300])
        for at, (one, other) in enumerate(zip(actual, outputs, strict=True)):
            same = oracle.same(one, other)
            if not same and not _exempt(model, found, given, at):
                return Verdict("wrong", f"value {at}: {same.why}")
    return Verdict("right")


def judge_session_apart(seed: int, size: int, folder: pathlib.Path, wide: bool = False) -> Verdict:
    """Grows a model, and judges a session of it, in a process of its own."""

    def work(runs: Callable[[], object]) -> Verdict:
        model = Grower(seed, wide=wide).model(size)
        onnx.save(model, folder / "in.onnx")
        return judge_session(model, runs)

    return apart(work)


def judge_session(model: onnx.ModelProto, runs=lambda: None) -> Verdict:
    """Runs a model in an inference session, and on the reference kernels alone, which judge."""
    if not _valid(model):
        return Verdict("not a model")
    given = [given for given in (feeds(model, s) for s in range(3)) if expected_outputs(model, given)]
    if not given:
        return Verdict("does not run")
    runs()
    # Whoever only grows models needs no package.
    import tangram

    kernels, session = tangram.Workload.from_onnx(model), tangram.InferenceSession(model)
    for values in given:
        try:
            expected = kernels(*(values[value.name] for value in model.graph.input if value.name in values))
        except tangram.EvaluationError as error:
            return Verdict("no kernel", str(error))
        expected = expected if len(model.graph.output) > 1 else [expected]
        for at, (mine, theirs) in enumerate(zip(session.run(None, values), expected, strict=True)):
            same = oracle.same(mine, theirs)
            if not same:
                return Verdict("wrong", f"value {at}: {same.why}")
    return Verdict("right")


def _exempt(model: onnx.ModelProto, found: onnx.ModelProto, given: dict, output: int) -> bool:
    ways = (exemptions.excused, exemptions.alike)
    return any(way(model, found, given, output) for way in ways)


def _nodes(body) -> list:
    """The nodes of a graph and of its bodies, without constants."""
    found = []
    for node in body:
        found += [node] if node.op_type != "Constant" else []
        for attribute in node.attribute:
            found += _nodes(attribute.g.node)
    return found


def _valid(model, full: bool = False) -> bool:
    try:
        onnx.checker.check_model(model, full_check=full)
    except Exception:  # noqa: BLE001
        return False
    return True


def expected_outputs(model: onnx.ModelProto, given: dict) -> list | None:
    try:
        return oracle.run_ort(model, given)
    except Exception:  # noqa: BLE001
        return None


def main() -> int:
    """Judges many models; lists what is not right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=12)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the models that are not right")
    parser.add_argument("--wide", action="store_true", help="more types, extents and attributes")
    parser.add_argument("--session", action="store_true", help="judge inference sessions instead")
    parser.add_argument("--command", default="target/debug/tangram opt --quiet")
    arguments = parser.parse_args()
    counts: collections.Counter = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            if arguments.session:
                verdict = judge_session_apart(seed, arguments.size, pathlib.Path(folder), arguments.wide)
            else:
                verdict = judge_apart(
                    seed, arguments.size, arguments.command.split(), pathlib.Path(folder), arguments.wide
                )
            counts[verdict.kind] += 1
            if verdict.kind not in ("right", "not a model", "does not run", "no kernel"):
                print(seed, verdict.kind, verdict.why, flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(exist_ok=True, parents=True)
                    shutil.copy(pathlib.Path(folder, "in.onnx"), arguments.keep / f"{seed}.onnx")
    print(dict(counts), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
