"""What else says what a model of one node computes, where the judge and the optimiser differ.

The body of functions that schemas define is run by onnxruntime, which need not know the operator,
or by onnx's evaluator: what the operator gives by itself may be something else there.
Floats of 16 bits are computed in 32 and rounded once, which no sum in 16 bits comes nearer to.
Where an operator only got more attributes, onnx's evaluator speaks of its newest version. A window that does not fit into its data has no element by the formula and what lies around by some
engines: of such a model nothing can be said.
"""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import onnx

import oracle

NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def opinions(model: onnx.ModelProto, inputs: dict) -> Iterator[list]:
    """Results by other ways, those that can be had."""
    for way in (by_body, in_wider_floats, by_newest_version, without_stop_words, raw_scores):
        try:
            found = way(model, inputs)
        except Exception:  # noqa: BLE001: engines have many ways to refuse
            continue
        if found is not None:
            yield found


def by_body(model: onnx.ModelProto, inputs: dict) -> list | None:
    """What onnxruntime makes of the function that the schema of the node defines."""
    node = model.graph.node[0]
    opset = next(set_.version for set_ in model.opset_import if not set_.domain)
    schema = onnx.defs.get_schema(node.op_type, opset)
    body = onnx.FunctionProto()
    if schema.has_context_dependent_function:
        types = {value.name: value.type for value in model.graph.input}
        given = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        last = max(schema.context_dependent_function_opset_versions)
        text = schema.get_context_dependent_function_with_opset_version(last, node.SerializeToString(), given)
        body.ParseFromString(text)
    elif schema.has_function:
        body.CopyFrom(schema.function_body)
    else:
        return None
    written = written_out(model, node, body)
    try:
        return oracle.run_ort(written, inputs)
    except Exception:  # noqa: BLE001: it has many ways to refuse
        return oracle.run_reference(written, inputs)


def written_out(model: onnx.ModelProto, node: onnx.NodeProto, body: onnx.FunctionProto) -> onnx.ModelProto:
    """The model with a function's body in the place of its only node."""
    names = dict(zip([*body.input, *body.output], [*node.input, *node.output]))
    given = {attribute.name: attribute for attribute in node.attribute}
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.graph.node[:], made.opset_import[:]
    made.opset_import.extend(body.opset_import)
    for inner in body.node:
        copy = made.graph.node.add()
        copy.CopyFrom(inner)
        copy.input[:] = [names.get(name, name) for name in inner.input]
        copy.output[:] = [names.get(name, name) for name in inner.output]
        for attribute in [a for a in copy.attribute if a.ref_attr_name]:
            copy.attribute.remove(attribute)
            if attribute.ref_attr_name in given:
                value = copy.attribute.add()
                value.CopyFrom(given[attribute.ref_attr_name])
                value.name = attribute.name
    return made


def in_wider_floats(model: onnx.ModelProto, inputs: dict) -> list | None:
    """What the evaluator computes in float32 where the node computes in 16 bits, rounded at the end."""
    narrow = {np.asarray(value).dtype for value in inputs.values()} & set(NARROW)
    if len(narrow) != 1:
        return None
    (dtype,) = narrow
    made = onnx.ModelProto()
    made.CopyFrom(model)
    code = onnx.helper.np_dtype_to_tensor_dtype(dtype)
    for value in [*made.graph.input, *made.graph.output]:
        if value.type.tensor_type.elem_type == code:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    wide = {name: value.astype(np.float32) if value.dtype == dtype else value for name, value in inputs.items()}
    results = oracle.run_reference(made, wide)
    return [result.astype(dtype) if np.asarray(result).dtype == np.float32 else result for result in results]


# Versions after which an operator got attributes and types, and what it had means the same: onnx's
# evaluator knows the newest only.
ADDED_TO_SINCE = {"Resize": 13}


def by_newest_version(model: onnx.ModelProto, inputs: dict) -> list | None:
    """What the evaluator makes of the newest version of the operator, where that means the same.

    Known: with `align_corners` and extents that are fractions, onnxruntime takes the whole part of
    the new extent; the node tests take the fraction.
    """
    node = model.graph.node[0]
    opset = next(set_.version for set_ in model.opset_import if not set_.domain)
    if opset < ADDED_TO_SINCE.get(node.op_type, 1 << 30):
        return None
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.opset_import[:]
    newest = max(s.since_version for s in onnx.defs.get_all_schemas_with_history() if (s.domain, s.name) == ("", node.op_type))
    made.opset_import.append(onnx.helper.make_opsetid("", newest))
    return oracle.run_reference(made, inputs)


def without_stop_words(model: onnx.ModelProto, inputs: dict) -> list | None:
    """Words that are no stop words, whatever their case, as the text of the standard has it.

    Known: the evaluator compares as they are words whose case is not to change, though
    `is_case_sensitive` is 0; onnxruntime wants a locale that not every machine has.
    """
    node = model.graph.node[0]
    given = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    if node.op_type != "StringNormalizer" or given.get("is_case_sensitive") or "case_change_action" in given:
        return None
    stop = {word.decode().lower() for word in given.get("stopwords", [])}
    x = np.asarray(inputs[node.input[0]])
    kept = [word for word in x.reshape(-1).tolist() if word.lower() not in stop]
    return [np.array(kept or [""], dtype=object).reshape((1, -1) if x.ndim == 2 else -1)]


def raw_scores(model: onnx.ModelProto, inputs: dict) -> list | None:
    """What the evaluator makes of attention, the raw scores as they are without a bound.

    Known: in mode 0 these are the product itself, and the evaluator gives them behind `softcap`.
    """
    node = model.graph.node[0]
    given = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    named = [name for name in node.output if name]
    scores = node.output[3] if len(node.output) > 3 else ""
    if node.op_type != "Attention" or given.get("qk_matmul_output_mode") or not scores:
        return None
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for attribute in [a for a in made.graph.node[0].attribute if a.name == "softcap"]:
        made.graph.node[0].attribute.remove(attribute)
    results, raw = (oracle.run_reference(each, inputs) for each in (model, made))
    results[named.index(scores)] = raw[named.index(scores)]
    return results


def does_not_fit(model: onnx.ModelProto, inputs: dict) -> bool:
    """Whether a window of a pool is larger than its data with the padding around it."""
    node = model.graph.node[0]
    given = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    window = given.get("kernel_shape")
    if window is None or "Pool" not in node.op_type:
        return False
    extents = np.asarray(inputs[node.input[0]]).shape[-len(window):]
    pads = given.get("pads", [0] * 2 * len(window))
    around = [before + after for before, after in zip(pads, pads[len(window):])]
    return any(size > extent + more for size, extent, more in zip(window, extents, around))
