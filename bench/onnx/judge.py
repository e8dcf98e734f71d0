"""Judges optimised models: right, valid, of the same interface, in standard domains, how large.

    python judge.py [--from SIZE] ORIGINAL NAME=OPTIMISED...

prints a line of JSON for the original and one for each optimised model. It runs apart from the
benchmark, so that a model that brings onnxruntime down takes only its own verdict with it.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
from collections.abc import Iterator

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "python"))
import oracle  # noqa: E402: the tests and the benchmark judge by one measure

STANDARD = {"", "ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview.training"}
# Sizes tried for what a model leaves open, until the original runs: images, and all else.
SIZES = [(64, 2), (64, 1), (224, 1), (48, 4), (256, 8), (32, 16)]
SEEDS = (0, 1)
# What models of speech take: samples in a second, and in a window with what goes before it.
RATE, WINDOW = 16_000, 576


def graphs(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.GraphProto]:
    """Yields a graph and the graphs inside it."""
    waiting = [graph]
    while waiting:
        graph = waiting.pop()
        yield graph
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            if attribute.type == onnx.AttributeProto.GRAPH:
                waiting.append(attribute.g)
            waiting.extend(attribute.graphs)


def nodes(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """Yields all nodes of a graph and of the graphs inside it."""
    for one in graphs(graph):
        yield from one.node


def all_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yields all nodes of a model, the bodies of its functions included."""
    for body in (model.graph, *model.functions):
        yield from nodes(body)


def count(model: onnx.ModelProto) -> int:
    """Counts nodes without constants."""
    return sum(node.op_type != "Constant" for node in all_nodes(model))


def domains(model: onnx.ModelProto) -> set[str]:
    """Lists the domains of operators that no function of the model defines."""
    defined = {(function.domain, function.name) for function in model.functions}
    used = {(node.domain, node.op_type) for node in all_nodes(model)}
    return {domain for domain, _ in used - defined}


def checker_fault(path: str) -> str | None:
    """Says what onnx's checker has against a model."""
    try:
        onnx.checker.check_model(path)
    except Exception as error:  # noqa: BLE001: the checker has several exception types
        return str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
    return None


def dimensions(model: onnx.ModelProto) -> dict[str, int]:
    """Counts what onnx's own shape inference knows of the dimensions of node outputs.

    Like our own report it counts the bodies of control flow, and neither constants nor copies of
    values that are counted already.
    """
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for graph in graphs(bare.graph):
        del graph.value_info[:]
    counts = {"static": 0, "symbolic": 0, "unknown": 0, "unranked": 0}
    # Inference also makes up names for what it does not know; those count as unknown.
    declared = {
        dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim
    }
    try:
        inferred = onnx.shape_inference.infer_shapes(bare, data_prop=True).graph
    except Exception:  # noqa: BLE001: then it knows nothing
        return counts
    for graph in graphs(inferred):
        values = {value.name: value for value in [*graph.value_info, *graph.output]}
        makers = (node for node in graph.node if node.op_type not in ("Constant", "Identity"))
        for name in {name for node in makers for name in node.output} - {""}:
            _count_dimensions(values.get(name), declared, counts)
    return counts


def _count_dimensions(
    value: onnx.ValueInfoProto | None, declared: set[str], counts: dict[str, int]
) -> None:
    kind = value.type.tensor_type if value else None
    if kind is None or not kind.HasField("shape"):
        counts["unranked"] += 1
        return
    for dim in kind.shape.dim:
        named = dim.dim_param and dim.dim_param in declared
        # Some exporters write -1 for what they do not know, and inference hands it on.
        static = dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0
        counts["static" if static else "symbolic" if named else "unknown"] += 1


def interface_change(model: onnx.ModelProto, original: onnx.ModelProto) -> str | None:
    """Says what became of the interface: nothing, optional inputs left out, or worse."""
    before, after = oracle.interface(original), oracle.interface(model)
    if before == after:
        return None
    # An input with an initializer is optional: whoever calls the model need not know of it.
    return "optional" if required(original, before) == required(model, after) else "changed"


def required(model: onnx.ModelProto, interface: list) -> list:
    """Keeps outputs, and the inputs that a caller must give."""
    optional = {("input", tensor.name) for tensor in model.graph.initializer}
    return [value for value in interface if value[:2] not in optional]


def find_inputs(path: str, model: onnx.ModelProto, first: int = 0) -> tuple[list, list, str]:
    """Finds inputs that the original runs on; gives them, its outputs, and what went wrong.

    Each try is announced: some sizes end the engine, and whoever waits begins with the next one.
    """
    why = ""
    try:
        session = oracle.session(path)
    except Exception as error:  # noqa: BLE001: nothing to compare with then
        return [], [], str(error)
    for number in range(first, len(SIZES) + 1):
        print(json.dumps({"trying": number}), flush=True)
        try:
            inputs = [sized_inputs(model, number, seed) for seed in SEEDS]
            return inputs, [session.run(None, one) for one in inputs], ""
        except Exception as error:  # noqa: BLE001: the next sizes may do
            why = str(error) if number < len(SIZES) or not why else why
    return [], [], why or "no size does"


def sized_inputs(model: onnx.ModelProto, number: int, seed: int) -> dict:
    """Makes inputs of the sizes of this number, or of one window of sound at last."""
    if number == len(SIZES):
        return audio_inputs(model, seed)
    image, other = SIZES[number]
    return oracle.random_inputs(model, seed=seed, default_size=other, image=image)


def audio_inputs(model: onnx.ModelProto, seed: int) -> dict:
    """Makes one window of sound: a rate, samples in a row, and states for a batch of one."""
    given = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        dims = [dim.dim_value if dim.dim_value > 0 else None for dim in tensor.shape.dim]
        if not dims and tensor.elem_type == onnx.TensorProto.INT64:
            given[value.name] = np.array(RATE, np.int64)
        elif tensor.elem_type == onnx.TensorProto.FLOAT and None in dims:
            last = WINDOW if len(dims) == 2 else 1
            shape = [n or 1 for n in dims[:-1]] + [dims[-1] or last]
            rng = np.random.default_rng([seed, len(given)])
            given[value.name] = rng.standard_normal(shape).astype(np.float32)
    return oracle.random_inputs(model, seed=seed, given=given, default_size=1)


def judge(path: str, original: onnx.ModelProto, valid: bool, inputs: list, expected: list) -> dict:
    """Judges one optimised model against the original."""
    model = onnx.load(path, load_external_data=False)
    vendor = sorted(domains(model) - STANDARD - domains(original))
    report = {"nodes": count(model), "bytes": size(path), "vendor": vendor, "difference": None}
    fault = checker_fault(path)
    report["checker"] = fault
    report["interface"] = interface_change(model, original)
    if report["interface"] == "changed":
        return report | {"verdict": "interface"}
    if fault and valid:
        return report | {"verdict": "invalid"}
    try:
        session = oracle.session(path)
        found = oracle.same([session.run(None, one) for one in inputs], expected)
    except Exception as error:  # noqa: BLE001: the original ran in the same engine
        return report | {"verdict": "invalid", "checker": str(error).splitlines()[0]}
    report["difference"] = found.largest if found.largest != float("inf") else None
    if not found:
        return report | {"verdict": "wrong", "why": found.why}
    verdict = "vendor" if vendor else "ok" if inputs else "unjudged"
    return report | {"verdict": verdict}


def size(path: str) -> int:
    """Returns the bytes of a model with what lies beside it under its name."""
    beside = pathlib.Path(path).parent.glob(pathlib.Path(path).name + "*")
    return sum(os.path.getsize(file) for file in beside)


def main() -> None:
    """Judges the models that the command line names."""
    words = sys.argv[1:]
    first = int(words[1]) if words[0] == "--from" else 0
    path, *rest = words[2:] if words[0] == "--from" else words
    original = onnx.load(path, load_external_data=False)
    fault = checker_fault(path)
    inputs, expected, why = find_inputs(path, original, first)
    report = {
        "nodes": count(original),
        "bytes": size(path),
        "checker": fault,
        "dimensions": dimensions(original),
        "unjudged": why or None,
    }
    print(json.dumps({"original": report}), flush=True)
    for named in rest:
        name, _, optimised = named.partition("=")
        print(json.dumps({"begun": name}), flush=True)
        verdict = judge(optimised, original, fault is None, inputs, expected)
        print(json.dumps({name: verdict}), flush=True)


if __name__ == "__main__":
    main()
