"""Models that a rule may match, with the types of their values mixed as the schemas allow.

    python tests/python/rule_types.py [--rules NAME...] [--models N] [--command BINARY]

`rule_models` makes a model in one type. Here the type of one input or constant is made each other one,
whatever that does to the nodes behind it; onnxruntime, or onnx's evaluator where that has no kernel,
says whether it is a model still, and what it computes. Then the rule alone is applied, and all rules
are: the result is valid and computes the same.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import subprocess
from collections.abc import Container, Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper

import oracle
import rule_models
import schema_walk
import tangram

TYPES = ("float32", "float16", "float64", "int32", "int64", "uint8")
# So many sets of values are retyped in a model, for each type.
MOST_SUBSETS = 32


def retyped(model: onnx.ModelProto, inputs: dict) -> Iterator[tuple[str, onnx.ModelProto, dict]]:
    """The model with the type of some of its inputs and constants changed, and what changed."""
    own = {value.name: np.asarray(inputs[value.name]) for value in model.graph.input}
    held = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    all_of = {**own, **held}
    for kind in TYPES:
        others = [name for name, value in all_of.items() if value.dtype != kind and value.dtype.kind not in "OUS"]
        for names in itertools.islice(_subsets(others), MOST_SUBSETS):
            with np.errstate(all="ignore"):
                changed = {name: all_of[name].astype(kind) for name in names}
            made = onnx.ModelProto()
            made.CopyFrom(model)
            _bare(made)
            for info in made.graph.input:
                if info.name in changed:
                    info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            for one in made.graph.initializer:
                if one.name in changed:
                    one.CopyFrom(numpy_helper.from_array(changed[one.name], one.name))
            if _is_typed(made):
                given = {name: value for name, value in changed.items() if name in own}
                yield f"{', '.join(names)} as {kind}", made, {**inputs, **given}


def _is_typed(model: onnx.ModelProto) -> bool:
    """Whether each node takes the types that it is given."""
    try:
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except Exception:  # noqa: BLE001: inference has several exception types
        return False
    return True


def _subsets(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Sets of these, small ones first."""
    return itertools.chain.from_iterable(itertools.combinations(names, n) for n in range(1, len(names) + 1))


def _bare(model: onnx.ModelProto) -> None:
    """Leaves out what is said of the types of results."""
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.ClearField("type")


def meaning(model: onnx.ModelProto, inputs: dict):
    """What a model computes and who says so; none if nobody runs it."""
    for run in (oracle.run_ort, oracle.run_reference):
        try:
            return run, schema_walk.quietly(run, model, inputs)
        except Exception:  # noqa: BLE001: engines have many ways to refuse
            continue
    return None


def judged(rule: str, text: str, count: int, seed: int = 0) -> tuple[collections.Counter, list[str]]:
    """How many mixtures of a rule were judged, and what is wrong."""
    counts, faults = collections.Counter(), []
    for model, inputs in rule_models.models(text, count, seed):
        for what, mixed, given in retyped(model, inputs):
            found = meaning(mixed, given)
            if found is None:
                continue
            before = schema_walk.typed(mixed, found[1])
            if schema_walk.fault(before) is not None:
                continue
            counts["mixtures"] += 1
            for only in ([rule], []):
                why = fault(before, given, found, only)
                counts["fires"] += bool(only) and why == ""
                if why:
                    form = onnx.printer.to_text(before.graph)
                    faults.append(f"{rule}, {what}, {'alone' if only else 'with all'}: {why}\n{form}")
    return counts, faults


def fault(before: onnx.ModelProto, inputs: dict, found: tuple, only: list[str]) -> str | None:
    """What is wrong with what becomes of a model; the empty text for nothing, none where nothing is done."""
    run, expected = found
    try:
        made = tangram.optimize(before, only=only)
    except tangram.TangramError as error:
        return str(error)
    if only and not made.report.fired:
        return None
    after = made.to_onnx()
    if (why := schema_walk.fault(after)) is not None:
        return f"invalid: {why}"
    try:
        results = schema_walk.quietly(run, after, inputs)
    except Exception as error:  # noqa: BLE001: as above
        try:
            results = schema_walk.quietly(oracle.run_reference, after, inputs)
        except Exception:  # noqa: BLE001: as above
            return f"does not run: {error}"
    same = oracle.same(results, expected, rtol=1e-3, atol=1e-3)
    return "" if same or _alike(before, after, inputs) else f"wrong: {same.why}"


def _alike(before: onnx.ModelProto, after: onnx.ModelProto, inputs: dict) -> bool:
    """Whether onnx's evaluator finds both equal."""
    try:
        ours, theirs = (schema_walk.quietly(oracle.run_reference, one, inputs) for one in (after, before))
    except Exception:  # noqa: BLE001: it does not know all
        return False
    return bool(oracle.same(ours, theirs, rtol=1e-3, atol=1e-3))


def shipped(command: str, names: Container[str] = ()) -> list[tuple[str, str]]:
    """Name and text of each shipped rule; with `names` of those only."""

    def run(*words: str) -> str:
        return subprocess.run([command, "rules", *words], capture_output=True, text=True, check=True).stdout

    known = [rule["name"] for rule in json.loads(run("list", "--json"))]
    return [(name, run("show", name)) for name in known if not names or name in names]


def main() -> int:
    """Prints what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", nargs="*")
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command", default=os.environ.get("TANGRAM_BIN", "tangram"))
    options = parser.parse_args()
    all_of: collections.Counter = collections.Counter()
    failed = 0
    for name, text in shipped(options.command, options.rules or ()):
        counts, faults = judged(name, text, options.models, options.seed)
        all_of += counts
        failed += len(faults)
        print(f"{name}: {dict(counts)}", *faults[:3], sep="\n", flush=True)
    print(dict(all_of), failed, "faults")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
