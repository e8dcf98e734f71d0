"""Small models of every operator in every version that it ever had, with what may be absent absent.

Nothing here knows what an operator does. ONNX's own node tests say how its newest version is used;
by the schema of an older version, inputs go back into the attributes that they were, and what it
does not have is left out. Each model comes again without each optional attribute and input. Whether
that makes sense is for the engines to say, and what it means too.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper

import node_suite
import oracle
import small
from exemptions import described

# The oldest operator set that is read.
OLDEST = 7
# Inputs and attributes that have another name in another version, by the newest one.
OTHER_NAMES = {"constant_value": "value", "K": "k", "steps": "", "input_mean": "mean", "input_var": "var"}
# Operators that are gone, after the one whose tests they borrow.
GONE = {"Upsample": "Resize", "Scatter": "ScatterElements"}


@dataclasses.dataclass
class Sample:
    """A model of one node, in the operator set that has this version of its operator."""

    name: str
    operator: str
    since: int
    model: onnx.ModelProto
    inputs: dict
    rtol: float | None = None
    atol: float = 0.0


@functools.cache
def versions() -> dict[str, list[int]]:
    """The versions of each operator of ONNX's own domain, oldest first."""
    found: dict[str, list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            found.setdefault(schema.name, []).append(schema.since_version)
    return {name: sorted(found[name]) for name in sorted(found)}


def pairs() -> list[tuple[str, int]]:
    """Every operator with each of its versions."""
    return [(name, since) for name, all_of in versions().items() for since in all_of]


def opset_of(operator: str, since: int) -> int | None:
    """The first operator set that is read and has the operator in this version."""
    later = [v for v in versions()[operator] if v > since]
    return None if later and later[0] <= OLDEST else max(since, OLDEST)


@functools.cache
def _cases() -> dict[str, list[node_suite.Case]]:
    found: dict[str, list[node_suite.Case]] = {}
    for case in node_suite.cases():
        if "_expanded" not in case.name and len(case.model.graph.node) == 1:
            found.setdefault(case.model.graph.node[0].op_type, []).append(case)
    return found


def samples(operator: str, since: int, most: int | None = None) -> Iterator[Sample]:
    """Models of the operator in this version; `most` limits the node tests that they are made of."""
    opset = opset_of(operator, since)
    if opset is None:
        return
    yield from _written(operator, since, opset)
    cases = [case for case in _cases().get(GONE.get(operator, operator), []) if not case.model.graph.node[0].domain]
    # Spread over all tests: neighbours in the list are alike.
    step = max(1, len(cases) // most) if most else 1
    for case in cases[::step][:most]:
        made = _in_version(operator, since, case.model.graph.node[0], case.inputs)
        for label, less in _without(operator, since, *made) if made else ():
            sample = _sample(f"{case.name}{label}", operator, since, opset, *less, case)
            if sample is not None:
                yield sample


def _in_version(operator: str, since: int, node: onnx.NodeProto, inputs: dict):
    """The node as this version of its operator says it, and its inputs; `None` if that cannot be."""
    newest = _newest(node.op_type)
    schema = onnx.defs.get_schema(operator, since)
    names = {_formal(newest, i): name for i, name in enumerate(node.input) if name}
    rest = [name for i, name in enumerate(node.input) if i >= len(newest.inputs)]
    taken: list[str] = []
    for i, formal in enumerate(schema.inputs):
        found = names.get(formal.name, names.get(_renamed(formal.name), ""))
        if not found and len(schema.inputs) == len(newest.inputs) and i < len(node.input):
            found = node.input[i]
        taken.append(found)
    while taken and not taken[-1]:
        taken.pop()
    taken += rest
    made = helper.make_node(operator, taken, list(node.output)[: schema.max_output])
    for attribute in node.attribute:
        if attribute.name in schema.attributes:
            made.attribute.append(attribute)
    kinds = onnx.defs.OpSchema.AttrType
    for name, attribute in schema.attributes.items():
        value = inputs.get(names.get(name, names.get(_renamed(name), "")))
        if value is None or any(a.name == name for a in made.attribute):
            continue
        value = np.asarray(value)
        if attribute.type in (kinds.INTS, kinds.FLOATS):
            made.attribute.append(helper.make_attribute(name, value.reshape(-1).tolist(), attr_type=_kind(attribute)))
        elif value.size == 1 and attribute.type in (kinds.INT, kinds.FLOAT):
            number = value.reshape(-1)[0].item()
            number = float(number) if attribute.type == kinds.FLOAT else int(number)
            made.attribute.append(helper.make_attribute(name, number))
    given = {a.name for a in made.attribute}
    if any(a.required and name not in given for name, a in schema.attributes.items()):
        return None
    return made, _cast(schema, made, inputs)


def _kind(attribute) -> int:
    return getattr(onnx.AttributeProto, attribute.type.name)


def _newest(operator: str) -> onnx.defs.OpSchema:
    return onnx.defs.get_schema(operator, versions()[operator][-1])


def _formal(schema: onnx.defs.OpSchema, i: int) -> str:
    return schema.inputs[min(i, len(schema.inputs) - 1)].name


def _renamed(name: str) -> str:
    others = {old: new for new, old in OTHER_NAMES.items()}
    return OTHER_NAMES.get(name, others.get(name, name))


def _cast(schema, node, inputs: dict) -> dict:
    """The inputs of the node, in types that this version admits."""
    made, bound = {}, {}
    for i, name in enumerate(node.input):
        value = inputs.get(name)
        value = np.asarray(value) if isinstance(value, np.generic) else value
        if not name or not isinstance(value, np.ndarray):
            made.update({name: value} if name else {})
            continue
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        admitted = formal.types
        own = described("x", value).type.tensor_type.elem_type
        if f"tensor({onnx.TensorProto.DataType.Name(own).lower()})" not in admitted:
            for dtype in (np.float32, np.int64, np.int32, np.uint8):
                kind = onnx.TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))).lower()
                if f"tensor({kind})" in admitted:
                    bound[formal.type_str] = dtype
                    break
        made[name] = value
    for i, name in enumerate(node.input):
        if isinstance(made.get(name), np.ndarray) and made[name].dtype.kind in "OUS":
            continue
        dtype = bound.get(schema.inputs[min(i, len(schema.inputs) - 1)].type_str) if name else None
        if dtype is not None and isinstance(made.get(name), np.ndarray):
            made[name] = made[name].astype(dtype)
    return made


def _without(operator: str, since: int, node: onnx.NodeProto, inputs: dict):
    """The node as it is, without each optional attribute and input, and without all of them."""
    yield "", (node, inputs)
    schema = onnx.defs.get_schema(operator, since)
    optional = [a.name for a in node.attribute if not schema.attributes[a.name].required]
    option = onnx.defs.OpSchema.FormalParameterOption.Optional
    formals = [schema.inputs[min(i, len(schema.inputs) - 1)] for i in range(len(node.input))]
    spare = [i for i, f in enumerate(formals) if f.option == option and node.input[i]]
    for name in optional:
        yield f" without {name}", (_less(node, {name}, set()), inputs)
    for i in spare if operator != "Loop" else []:
        yield f" without input {i}", (_less(node, set(), {i}), inputs)
    if len(optional) + len(spare) > 1 and operator != "Loop":
        yield " bare", (_less(node, set(optional), set(spare)), inputs)


def _less(node: onnx.NodeProto, attributes: set[str], inputs: set[int]) -> onnx.NodeProto:
    kept = ["" if i in inputs else name for i, name in enumerate(node.input)]
    while kept and not kept[-1]:
        kept.pop()
    made = helper.make_node(node.op_type, kept, list(node.output))
    made.attribute.extend(a for a in node.attribute if a.name not in attributes)
    return made


def _sample(name, operator, since, opset, node, inputs, case) -> Sample | None:
    used = {key: inputs[key] for key in node.input if key and inputs.get(key) is not None}
    if any(key and key not in used for key in node.input):
        return None
    own = {value.name: value for value in case.model.graph.input}
    infos = []
    for key, value in used.items():
        # Optional values and sequences keep the type that the test says.
        tensor = isinstance(value, np.ndarray) and own[key].type.WhichOneof("value") == "tensor_type"
        infos.append(described(key, value) if tensor else own[key])
    outputs = [onnx.ValueInfoProto(name=key) for key in node.output if key]
    graph = helper.make_graph([node], "sample", infos, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = max(8, helper.find_min_ir_version_for([helper.make_opsetid("", opset)], True))
    return Sample(name, operator, since, model, used, case.rtol, case.atol)


# Operators without node tests, or with none that old versions understand: where what is absent or
# given matters, by the versions that take it. Values that are drawn would not do for some inputs.
ALL = (1, 10**6)
BODY = "b (float s, float e) => (float t, float o) { t = Add(s, e)  o = Mul(s, e) }"
BRANCHES = "then_branch = p () => (float[2] u) { u = Neg(x) }, else_branch = q () => (float[2] v) { v = Exp(x) }"
STEP = "b (int64 i, bool go, float[2] s) => (bool on, float[2] t, float[2] o) { on = Identity(go)  t = Add(s, s)  o = Neg(s) }"
GIVEN = {
    "roi": np.array([[0, 1, 1, 4, 4]], np.float32), "steps": np.array(3), "c": np.array(True),
    "up": np.array([1, 1, 1.5, 2], np.float32), "down": np.array([1, 1, 0.6, 0.55], np.float32),
    "both": np.array([1, 1, 1.7, 0.6], np.float32), "none": np.array([], np.float32),
    "sizes": np.array([1, 1, 7, 4]), "one": np.array(1), "infinite": np.array([np.inf, -np.inf, 1, -1], np.float32),
}  # fmt: skip
WRITTEN = [
    ("BatchNormalization", ALL, "(float[2, 3, 2] x, float[3] k) => (float y) { v = Abs(k)  y = BatchNormalization(x, k, k, k, v) }"),
    ("Clip", ALL, "(float[4] infinite) => (float y) { y = Clip(infinite) }"),
    ("ConcatFromSequence", ALL, "(float[2] x, float[2] z) => (float y) { s = SequenceConstruct(x, z)  y = ConcatFromSequence <axis = 0> (s) }"),
    ("ConcatFromSequence", ALL, "(float[2] x, float[2] z) => (float y) { s = SequenceConstruct(x, z)  y = ConcatFromSequence <axis = 0, new_axis = 1> (s) }"),
    ("Constant", (12, 10**6), "(float[2] x) => (float y) { k = Constant <value_floats = [0.5, 2.0]> ()  y = Mul(x, k) }"),
    ("Constant", (12, 10**6), "(float[2] x) => (float y) { k = Constant <value_float = 0.1> ()  y = Mul(x, k) }"),
    ("Constant", (12, 10**6), "(float[2] x) => (float y) { k = Constant <value_ints = [2, 1]> ()  y = Reshape(x, k) }"),
    ("Constant", (12, 10**6), "(float[2] x) => (string y) { y = Constant <value_strings = [\"a\", \"b\"]> () }"),
    ("Constant", (12, 10**6), "(string[2] x) => (bool y) { k = Constant <value_string = \"ab\"> ()  y = Equal(x, k) }"),
    ("Constant", (12, 10**6), "(float[3] x) => (float y, int64 l) { k = Constant <value_ints = [2, 3]> ()  l = Identity(k)  y = Neg(x) }"),
    ("DFT", ALL, "(float[2, 5, 4, 1] x) => (float y) { y = DFT(x) }"),
    ("DFT", (17, 19), "(float[2, 5, 4, 1] x) => (float y) { y = DFT <axis = 2, onesided = 1> (x) }"),
    ("DFT", (17, 19), "(float[2, 5, 4, 2] x) => (float y) { y = DFT <axis = -2, inverse = 1> (x) }"),
    # One-sided inverses of one or two complex numbers, with and without a length of the signal.
    *[("DFT", (20, 10**6), f"(float[2, {n}, 2] x) => (float y) {{ axis = Constant <value = int64 {{1}}> ()  {length}"
       f"y = DFT <inverse = 1, onesided = 1> (x, {'l' if length else ''}, axis) }}")
      for n in (1, 2, 3) for length in ("", *(f"l = Constant <value = int64 {{{k}}}> ()  " for k in (1, 2, 3)))],
    *[("DFT", (17, 10**6), f"(float[2, {n}, {kind}] x) => (float y) {{ y = DFT <{given}> (x) }}")
      for n in (1, 2) for kind in (1, 2) for given in ("onesided = 1", "inverse = 1", "inverse = 1, onesided = 1")],
    # Windows that begin in the padding behind the data, which newer versions leave out.
    *[(name, (10, 10**6), f"(float[1, 1, {n}] x) => (float y) {{ y = {name} <kernel_shape = [{k}], strides = [{s}], "
       f"pads = [{p}, {q}], ceil_mode = 1{more}> (x) }}")
      for name, more in (("AveragePool", ""), ("AveragePool", ", count_include_pad = 1"), ("MaxPool", ""))
      for n, k, s, p, q in ((2, 2, 3, 1, 1), (4, 3, 4, 1, 2), (6, 2, 5, 0, 1), (3, 1, 2, 0, 0), (8, 3, 3, 2, 2))],
    ("Dropout", ALL, "(float[2, 3] x) => (float y, float m) { y, m = Dropout(x) }"),
    ("Dropout", (1, 11), "(float[2, 3] x) => (float y) { y = Dropout <ratio = 0.3> (x) }"),
    ("GlobalLpPool", ALL, "(float[1, 2, 3, 3] x) => (float y) { y = GlobalLpPool(x) }"),
    ("GlobalLpPool", ALL, "(float[1, 2, 3, 3] x) => (float y) { y = GlobalLpPool <p = 1> (x) }"),
    ("GroupNormalization", (18, 20), "(float[2, 4, 3] x, float[2] k) => (float y) { y = GroupNormalization <num_groups = 2> (x, k, k) }"),
    ("If", ALL, f"(float[2] x, bool c) => (float[2] y) {{ y = If (c) <{BRANCHES}> }}"),
    ("Loop", ALL, f"(float[2] x, int64 steps, bool c) => (float[2] y, float z) {{ y, z = Loop (steps, c, x) <body = {STEP}> }}"),
    ("MaxRoiPool", ALL, "(float[1, 1, 6, 6] x, float[1, 5] roi) => (float y) { y = MaxRoiPool <pooled_shape = [2, 2]> (x, roi) }"),
    ("MaxRoiPool", ALL, "(float[1, 1, 6, 6] x, float[1, 5] roi) => (float y) { y = MaxRoiPool <pooled_shape = [2, 2], spatial_scale = 0.5> (x, roi) }"),
    ("MeanVarianceNormalization", ALL, "(float[2, 3, 2, 2] x) => (float y) { y = MeanVarianceNormalization(x) }"),
    ("MeanVarianceNormalization", ALL, "(float[2, 3] x) => (float y) { y = MeanVarianceNormalization <axes = [1]> (x) }"),
    ("Multinomial", ALL, "(float[2, 3] x) => (int32 y) { y = Multinomial(x) }"),
    ("Optional", ALL, "(float[2] x) => (bool y) { o = Optional(x)  y = OptionalHasElement(o) }"),
    ("Optional", ALL, "(float[2] x) => (float[2] y) { o = Optional(x)  y = OptionalGetElement(o) }"),
    ("RandomNormal", ALL, "() => (float y) { y = RandomNormal <shape = [2, 3]> () }"),
    ("RandomNormalLike", ALL, "(float[2] x) => (float y) { y = RandomNormalLike(x) }"),
    ("RandomUniform", ALL, "() => (float y) { y = RandomUniform <shape = [2, 3]> () }"),
    ("RandomUniformLike", ALL, "(float[2] x) => (float y) { y = RandomUniformLike(x) }"),
    ("Scan", (8, 8), f"(float[1] x, float[1, 3] z) => (float y, float w) {{ y, w = Scan (\"\", x, z) <num_scan_inputs = 1, body = {BODY}> }}"),
    ("Scan", (9, 10**6), f"(float x, float[3] z) => (float y, float w) {{ y, w = Scan (x, z) <num_scan_inputs = 1, body = {BODY}> }}"),
    ("SequenceAt", ALL, "(float[2] x, float[3] z, int64 one) => (float y) { s = SequenceConstruct(x, z)  y = SequenceAt(s, one) }"),
    ("SequenceConstruct", ALL, "(float[2] x) => (int64 y) { s = SequenceConstruct(x, x)  y = SequenceLength(s) }"),
    ("SequenceEmpty", ALL, "(float[2] x) => (float y) { e = SequenceEmpty()  s = SequenceInsert(e, x)  y = ConcatFromSequence <axis = 0> (s) }"),
    ("SequenceErase", ALL, "(float[2] x, float[3] z) => (float y) { s = SequenceConstruct(x, z)  t = SequenceErase(s)  y = ConcatFromSequence <axis = 0> (t) }"),
    ("SequenceLength", ALL, "(float[2] x) => (int64 y) { s = SequenceConstruct(x, x, x)  y = SequenceLength(s) }"),
    *[("Resize", (10, 10), f"(float[1, 1, 5, 6] x, float[4] {k}) => (float y) {{ y = Resize <mode = \"{m}\"> (x, {k}) }}")
      for k in ("up", "down", "both") for m in ("nearest", "linear")],
    *[("Resize", (11, 10**6), f"(float[1, 1, 5, 6] x, float[0] none, float[4] {k}) => (float y) {{ y = Resize <{a}> (x, none, {k}) }}")
      for k in ("up", "down", "both")
      for a in ("mode = \"nearest\"", "mode = \"linear\"", "nearest_mode = \"floor\", coordinate_transformation_mode = \"asymmetric\"",
                "nearest_mode = \"ceil\", coordinate_transformation_mode = \"asymmetric\"",
                "mode = \"cubic\"", "mode = \"linear\", coordinate_transformation_mode = \"asymmetric\"")],
    ("Resize", (11, 10**6), "(float[1, 1, 5, 6] x, float[0] none, int64[4] sizes) => (float y) { y = Resize(x, none, none, sizes) }"),
    *[(name, ALL, f"(float[2, 3, 4] x) => (float y) {{ y = {name} <axis = {axis}> (x) }}")
      for name in ("Softmax", "LogSoftmax", "Hardmax") for axis in (0, 1, 2)],
    *[(name, ALL, f"(float[2, 3, 4] x) => (float y) {{ y = {name}(x) }}") for name in ("Softmax", "LogSoftmax", "Hardmax")],
]  # fmt: skip


def _written(operator: str, since: int, opset: int) -> Iterator[Sample]:
    for number, (name, (first, last), text) in enumerate(WRITTEN):
        if name != operator or not first <= since <= last:
            continue
        model = small.model(text, opset=opset)
        model.ir_version = max(8, helper.find_min_ir_version_for([helper.make_opsetid("", opset)], True))
        del model.opset_import[1:]
        given = {value.name: GIVEN[value.name] for value in model.graph.input if value.name in GIVEN}
        inputs = oracle.random_inputs(model, given=given)
        for value in model.graph.output:
            # The engine says what it is.
            value.ClearField("type")
        yield Sample(f"written {number}", operator, since, model, inputs)
