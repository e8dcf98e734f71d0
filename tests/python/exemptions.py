"""Where onnxruntime is no judge, and who decides there.

What the standard leaves open, and where onnxruntime departs from it, a comparison must neither take
for a fault of the optimiser nor pass over in silence. There are three ways, and no list of seeds:

- `contradicted`: the standard's own shape inference, given the values of a node's inputs, finds
  another type or shape than onnxruntime's result has, or refuses the node. No such node gets into
  a random model. Known: `Slice` takes an open end of `INT_MAX` for the beginning where the step is
  negative (the standard clamps it to the extent); logarithmic reductions and `ArgMin` of
  nothing keep an extent of 0 (a reduced extent is 1); `ReduceLogSumExp` of nothing keeps its rank;
  `NonZero` of a scalar has one row (the standard: as many as there are dimensions, none); `PRelu`
  broadcasts its data to the slope (only the slope is broadcast); `DFT` takes a list of one for the
  scalar length; `MaxPool` with `auto_pad` and `pads`, of which only one may be given. The same
  goes for integers of 2^53 and more, and the lowest, that onnx's evaluator finds to be others:
  `Pow` of integers goes by way of floats in onnxruntime, so that what overflows is the lowest
  number; the standard says nothing of it, the evaluator and the kernels here are modulo 2^64. And
  for `ReduceLogSumExp` of integers, which onnxruntime computes in integers throughout (of -2 and -1
  it is -1, not the whole part of -0.69), and `ConcatFromSequence`, which copies what lies beside
  a part whose extents do not fit.
- `excused`: an output differs, and onnx's evaluator, asked for that output alone, finds the model
  and what was made of it equal. Known: `Clip` without a bound makes infinities finite (the bounds'
  defaults are the limits of the type by the text, but the function that defines the operator is
  then `Identity`, and so it is here and in the evaluator); nodes in half precision round, or do
  not, as their neighbours and the body that they are in want it;
  `LayerNormalization` in half precision without a bias runs, or misses an input, as other nodes
  read its scale or do not.
- `amended`: a node in which neither of the two is a judge is put into words that all agree on,
  before onnxruntime is asked. Known: a maximum of nothing but NaN, or -inf, is the lowest finite
  number in onnxruntime's `MaxPool`; by the standard it is one of the elements, and here a window
  with a NaN is NaN, as it is for `Max` and `ReduceMax`.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

import oracle

# No shape is longer; a value that is may be left out of what inference is told.
TOLD = 64


def free_names(body) -> list[str]:
    """The names that nodes read and do not make, those of their bodies included, in order."""
    found: dict[str, None] = {}
    made: set[str] = set()
    for node in body:
        reads = [name for name in node.input if name]
        for graph in _bodies(node):
            reads += _reads(graph)
        found.update((name, None) for name in reads if name not in made)
        made |= set(node.output)
    return list(found)


def _bodies(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    kinds = onnx.AttributeProto.GRAPH
    return [attribute.g for attribute in node.attribute if attribute.type == kinds]


def _reads(graph: onnx.GraphProto) -> list[str]:
    own = {v.name for v in graph.input} | {w.name for w in graph.initializer}
    made = own | {name for node in graph.node for name in node.output}
    passed = [o.name for o in graph.output if o.name not in made]
    return [name for name in free_names(graph.node) if name not in own] + passed


def contradicted(node: onnx.NodeProto, values: dict, results: list, wrap) -> str:
    """Says what the standard's inference has against the results of a node; "" for nothing.

    `values` holds what the node reads by name, `results` what onnxruntime gave for its named
    outputs; `wrap` makes a model of a graph.
    """
    inputs, known = [], []
    for name in free_names([node]):
        value = values.get(name)
        if value is None:
            continue
        if isinstance(value, np.ndarray) and value.size <= TOLD and value.dtype.kind in "iufb":
            known.append(numpy_helper.from_array(value, name))
        else:
            inputs.append(described(name, value))
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    model = wrap(helper.make_graph([node], "g", inputs, outputs, known))
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception as error:  # noqa: BLE001: inference has several exception types
        return str(error)
    for info, result in zip(inferred.graph.output, results):
        wrong = _differs(info, result)
        if wrong:
            return f"{node.op_type}: {wrong}"
    if _is_whole_throughout(node, values, results, wrap):
        return "ReduceLogSumExp: another result in floats"
    if _is_asked(node, results) and not _agreed(model, values, results):
        return f"{node.op_type}: onnx's evaluator has another result"
    return ""


def _is_asked(node: onnx.NodeProto, results: list) -> bool:
    """Returns whether onnx's evaluator is asked for the result of a node, and not inference only."""
    joins = node.op_type == "ConcatFromSequence"
    return joins or any(_is_beyond(result) for result in results)


def _is_whole_throughout(node: onnx.NodeProto, values: dict, results: list, wrap) -> bool:
    """Returns whether a sum of exponentials of integers is another one than that of floats."""
    data = values.get(node.input[0]) if node.op_type == "ReduceLogSumExp" else None
    if data is None or data.dtype.kind not in "iu":
        return False
    given = {**{name: values[name] for name in node.input if name}, node.input[0]: data.astype(float)}
    inputs = [described(name, value) for name, value in given.items()]
    outputs = [described(node.output[0], results[0].astype(float), extents=False)]
    exact = oracle.run_ort(wrap(helper.make_graph([node], "g", inputs, outputs)), given)[0]
    finite = np.isfinite(exact)
    return bool((np.trunc(exact[finite]) != results[0][finite]).any())


def _is_beyond(result) -> bool:
    if not isinstance(result, np.ndarray) or result.dtype.kind not in "iu" or result.size == 0:
        return False
    limits = np.iinfo(result.dtype)
    # Unsigned types begin at 0, which is what sums of nothing are.
    at_limit = limits.min < 0 and int(result.min()) == limits.min
    return at_limit or max(int(result.max()), -int(result.min())) >= 2**53


def _agreed(model: onnx.ModelProto, values: dict, results: list) -> bool:
    try:
        given = {value.name: values[value.name] for value in model.graph.input}
        return bool(oracle.same(oracle.run_reference(model, given), results))
    except Exception:  # noqa: BLE001: it does not know all
        return False


def _differs(info: onnx.ValueInfoProto, result) -> str:
    tensor = info.type.tensor_type
    if info.type.WhichOneof("value") != "tensor_type" or not isinstance(result, np.ndarray):
        return ""
    own = described("x", result).type.tensor_type
    if tensor.elem_type not in (0, own.elem_type):
        return f"type {own.elem_type}, inferred {tensor.elem_type}"
    if not tensor.HasField("shape"):
        return ""
    dims = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
    fits = len(dims) == result.ndim and all(d in (None, n) for d, n in zip(dims, result.shape))
    return "" if fits else f"shape {result.shape}, inferred {dims}"


def described(name: str, value, ranks: bool = True, extents: bool = True) -> onnx.ValueInfoProto:
    """The type of a value; without its extents, or its rank, on request."""
    if isinstance(value, list):
        depth, first = 0, value
        while isinstance(first, list):
            depth, first = depth + 1, first[0] if first else np.zeros(0, np.float32)
        kind = helper.make_tensor_type_proto(_element(first), None)
        for _ in range(depth):
            kind = helper.make_sequence_type_proto(kind)
        return helper.make_value_info(name, kind)
    shape = (list(value.shape) if extents else [None] * value.ndim) if ranks else None
    return helper.make_tensor_value_info(name, _element(value), shape)


def _element(value: np.ndarray) -> int:
    text = value.dtype.kind in "OUS"
    return onnx.TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(value.dtype)


def excused(model: onnx.ModelProto, found: onnx.ModelProto, given: dict, output: int) -> bool:
    """Returns whether onnx's evaluator finds one output of both models equal."""
    try:
        ours, theirs = (
            oracle.run_reference(only(each, output), _read(only(each, output), given))
            for each in (found, model)
        )
        return bool(oracle.same(ours, theirs))
    except Exception:  # noqa: BLE001: it does not know all
        return False


def _read(model: onnx.ModelProto, given: dict) -> dict:
    return {value.name: given[value.name] for value in model.graph.input if value.name in given}


def only(model: onnx.ModelProto, output: int) -> onnx.ModelProto:
    """The model without what an output does not need, bodies included."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    kept = made.graph.output[output]
    del made.graph.output[:]
    made.graph.output.append(kept)
    _prune(made.graph)
    return made


def _prune(graph: onnx.GraphProto) -> None:
    needed = {value.name for value in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed.isdisjoint(node.output):
            continue
        for body in _bodies(node):
            _prune(body)
        needed |= set(free_names([node]))
        kept.append(node)
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in reversed(kept)]
    weights = [weight for weight in graph.initializer if weight.name in needed]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(weights)



def amended(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with maxima of NaNs as they are everywhere but in onnxruntime's pools: NaN."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    _amend(made.graph)
    return made


def _amend(graph: onnx.GraphProto) -> None:
    nodes = []
    for node in graph.node:
        for body in _bodies(node):
            _amend(body)
        nodes += _maximum(node) if node.op_type == "MaxPool" and len(node.output) == 1 else [node]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def _maximum(pool: onnx.NodeProto) -> list[onnx.NodeProto]:
    """A pool that is NaN where its window has one, and else the greatest, of any type of floats."""
    data, out = pool.input[0], pool.output[0]
    # The greatest less itself is 0 wherever it is finite: 0 over 0 is NaN, its logarithm -inf.
    steps = [
        ("IsNaN", [data], "flag"), ("Cast", ["flag"], "number"), ("MaxPool", ["number"], "hit"),
        ("Cast", ["hit"], "any"), ("IsInf", [data], "low"), ("Not", ["low"], "high"),
        ("Cast", ["high"], "number2"), ("MaxPool", ["number2"], "more"), ("Cast", ["more"], "some"),
        ("MaxPool", [data], "most"), ("Sub", ["most", "most"], "zero"), ("Div", ["zero", "zero"], "nan"),
        ("Log", ["zero"], "least"), ("Where", ["some", "most", "least"], "greatest"),
        ("Where", ["any", "nan", "greatest"], ""),
    ]  # fmt: skip
    made = []
    for operator, inputs, output in steps:
        own = [name if name == data else f"{out}/{name}" for name in inputs]
        node = helper.make_node(operator, own, [f"{out}/{output}" if output else out])
        if operator == "MaxPool":
            node.attribute.extend(pool.attribute)
        elif operator == "Cast":
            to = onnx.TensorProto.FLOAT if output.startswith("number") else onnx.TensorProto.BOOL
            node.attribute.append(helper.make_attribute("to", to))
        elif operator == "IsInf":
            node.attribute.append(helper.make_attribute("detect_positive", 0))
        made.append(node)
    return made


def alike(model: onnx.ModelProto, found: onnx.ModelProto, given: dict, output: int) -> bool:
    """Returns whether an output of both models is equal once both are amended."""
    try:
        ours, theirs = (
            oracle.run_ort(only(amended(each), output), _read(each, given)) for each in (found, model)
        )
        return bool(oracle.same(ours, theirs))
    except Exception:  # noqa: BLE001: onnxruntime has many ways to refuse
        return False
