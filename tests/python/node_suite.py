"""ONNX's own node tests, put to an optimiser in four ways.

The onnx package generates 1,884 small models with inputs and expected outputs. Each is changed as
its *mode* says, handed to `optimise(bytes) -> bytes`, and what comes back is checked: valid,
of the same interface, and right. A case that no engine computes rightly before the optimiser saw
it says nothing about the optimiser and is skipped.

Run as a command, it prints the summary by operator:

    python tests/python/node_suite.py --optimise MODULE:FUNCTION --mode symbolic --only '^test_cast'
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import importlib
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

import oracle

MODES = ("as-is", "first-free", "constant", "symbolic")
# What a case can come to; those after the first two are faults of the optimiser.
VERDICTS = ("ok", "skip", "wrong", "invalid", "interface", "crash")
# Beside a test's own tolerances, which leave no room for sums near zero in another order: relative
# to the greatest magnitude, in bfloat16 one unit in the last place of its eight bits.
ROUNDING = {
    np.dtype(np.float32): (1e-6, 0.0),
    np.dtype(np.float16): (1e-3, 0.0),
    np.dtype(ml_dtypes.bfloat16): (2**-7, 0.0),
}
# Operators that draw numbers: of their results only types and shapes can be compared.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"}
RANDOM |= {"RandomUniform", "RandomUniformLike"}
Optimise = Callable[[bytes], bytes]


class NotApplicable(Exception):
    """The mode does not change this case, or no engine runs it."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One node test: a model, its inputs, and what it has to compute."""

    name: str
    operator: str
    model: onnx.ModelProto
    inputs: dict
    expected: list
    rtol: float
    atol: float


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of one case."""

    case: str
    operator: str
    verdict: str
    detail: str = ""


@functools.cache
def cases() -> tuple[Case, ...]:
    """Generates all node tests, in memory."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Some tests overflow or divide by zero on purpose while they are generated.
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    plain = {t.name: t.model.graph.node[0].op_type for t in found if "_expanded" not in t.name}
    return tuple(_case(test, plain) for test in found)


def _case(test, plain: dict[str, str]) -> Case:
    arrays, expected = test.data_sets[0]
    names = [value.name for value in test.model.graph.input]
    # A function's body is counted with the operator that it expands.
    operator = plain.get(test.name.split("_expanded")[0], test.model.graph.node[0].op_type)
    inputs = dict(zip(names, map(_plain, arrays)))
    outputs = [_plain(value) for value in expected]
    return Case(test.name, operator, test.model, inputs, outputs, test.rtol, test.atol)


def _plain(value):
    """Unpacks values that the generator hands over as protobuf messages."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value


def variant(case: Case, mode: str) -> tuple[onnx.ModelProto, dict]:
    """Changes a case as the mode says; gives the model and the inputs that remain."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    if mode == "as-is":
        return model, case.inputs
    if mode == "symbolic":
        if not _make_symbolic(model.graph):
            raise NotApplicable("no dimension to make symbolic")
        return model, case.inputs
    free = model.graph.input[0].name if mode == "first-free" and model.graph.input else None
    constant = [v for v in model.graph.input if v.name != free and _is_tensor(v, case.inputs)]
    if not constant:
        raise NotApplicable("no input to make constant")
    return model, _make_constant(model, constant, case.inputs)


def _is_tensor(value: onnx.ValueInfoProto, inputs: dict) -> bool:
    return value.type.WhichOneof("value") == "tensor_type" and inputs.get(value.name) is not None


def _make_constant(model: onnx.ModelProto, constant: list, inputs: dict) -> dict:
    # Before IR version 4 an initializer had to be an input as well.
    model.ir_version = max(model.ir_version, 4)
    names = {value.name for value in constant}
    for value in constant:
        array = np.asarray(inputs[value.name])
        tensor = numpy_helper.from_array(array, value.name)
        if tensor.data_type != value.type.tensor_type.elem_type:
            raise NotApplicable(f"input {value.name} has no exact form in numpy")
        model.graph.initializer.append(tensor)
    kept = [value for value in model.graph.input if value.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return {name: array for name, array in inputs.items() if name not in names}


def _make_symbolic(graph: onnx.GraphProto) -> int:
    """Gives every dimension of the interface a name of its own."""
    del graph.value_info[:]
    changed = 0
    for value in [*graph.input, *graph.output]:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"{value.name}_{axis}"
            changed += 1
    return changed


def engine_for(model: onnx.ModelProto, inputs: dict, case: Case):
    """Finds an engine that computes the case rightly as it stands."""
    reasons = []
    for engine in (oracle.run_ort, oracle.run_reference):
        try:
            outputs = _run(engine, model, inputs)
        except Exception as error:  # noqa: BLE001: an engine may refuse a model in any way
            reasons.append(str(error).splitlines()[0][:80] if str(error) else repr(error))
            continue
        found = compare(outputs, case)
        if found:
            return engine
        reasons.append(found.why)
    raise NotApplicable("; ".join(reasons))


def _run(engine, model: onnx.ModelProto, inputs: dict) -> list:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return engine(model, inputs)


def compare(outputs: list, case: Case, rounding: dict = ROUNDING) -> oracle.Difference:
    """Compares outputs with the expected ones; of drawn numbers only types and shapes."""
    if any(node.op_type in RANDOM for node in case.model.graph.node):
        kinds = [(array.shape, array.dtype) for array in case.expected]
        equal = [(array.shape, array.dtype) for array in outputs] == kinds
        return oracle.Difference(equal, 0.0, "" if equal else f"expected {kinds}")
    return oracle.same(outputs, case.expected, rounding, rtol=case.rtol, atol=case.atol)


def try_case(case: Case, optimise: Optimise, mode: str) -> Result:
    """Puts one case to the optimiser and judges what comes back."""

    def result(verdict: str, detail: str = "") -> Result:
        return Result(case.name, case.operator, verdict, detail)

    try:
        model, inputs = variant(case, mode)
        engine = engine_for(model, inputs, case)
        valid = _fault(model) is None
    except NotApplicable as reason:
        return result("skip", str(reason))
    try:
        optimised = onnx.load_from_string(optimise(model.SerializeToString()))
    except Exception as error:  # noqa: BLE001: whatever it raises is the finding
        return result("crash", f"{type(error).__name__}: {error}")
    if oracle.interface(optimised) != oracle.interface(model):
        return result("interface", str(oracle.interface(optimised)))
    fault = _fault(optimised)
    if valid and fault is not None:
        return result("invalid", fault)
    try:
        found = compare(_run(engine, optimised, inputs), case)
    except Exception as error:  # noqa: BLE001: the same engine ran the model before
        return result("invalid", f"{type(error).__name__}: {error}")
    return result("ok") if found else result("wrong", found.why)


def _fault(model: onnx.ModelProto) -> str | None:
    try:
        onnx.checker.check_model(model)
    except Exception as error:  # noqa: BLE001: the checker has several exception types
        return str(error)
    return None


def run(optimise: Optimise, mode: str, only: str = "", part: slice = slice(None)) -> list[Result]:
    """Puts every case whose name matches `only` to the optimiser; of these, those of a part."""
    pattern = re.compile(only)
    chosen = [case for case in cases() if pattern.search(case.name)]
    return [try_case(case, optimise, mode) for case in chosen[part]]


def faults(results: Iterable[Result]) -> list[Result]:
    """Keeps the results that are the optimiser's fault."""
    return [result for result in results if result.verdict not in ("ok", "skip")]


def summary(results: Iterable[Result], by_operator: bool = True) -> str:
    """Counts verdicts, in all and for each operator, and lists the faults."""
    results = list(results)
    rows: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for result in results:
        rows["all"][result.verdict] += 1
        if by_operator:
            rows[result.operator][result.verdict] += 1
    order = ["all", *sorted(name for name in rows if name != "all")]
    lines = [f"{'operator':<28}" + "".join(f"{verdict:>10}" for verdict in VERDICTS)]
    for name in order:
        counts = "".join(f"{rows[name][verdict] or '':>10}" for verdict in VERDICTS)
        lines.append(f"{name:<28}{counts}")
    for result in faults(results):
        first = result.detail.splitlines()[0][:160] if result.detail else ""
        lines.append(f"{result.verdict}: {result.case}: {first}")
    return "\n".join(lines)


def identity(model: bytes) -> bytes:
    """Optimises nothing; the suite has to find no fault in it."""
    return model


def main() -> int:
    """Runs the suite from a command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--optimise", default="node_suite:identity", metavar="MODULE:FUNCTION")
    parser.add_argument("--mode", choices=MODES, action="append", help="all when not given")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases by name")
    parser.add_argument("--trace", action="store_true", help="name each case, to find a crash")
    arguments = parser.parse_args()
    module, function = arguments.optimise.split(":")
    optimise = getattr(importlib.import_module(module), function)
    bad = 0
    for mode in arguments.mode or MODES:
        started = time.perf_counter()
        if arguments.trace:
            results = _traced(optimise, mode, arguments.only)
        else:
            results = run(optimise, mode, arguments.only)
        print(f"\nmode {mode}: {time.perf_counter() - started:.1f} s\n{summary(results)}")
        bad += len(faults(results))
    return min(bad, 1)


def _traced(optimise: Optimise, mode: str, only: str) -> list[Result]:
    results = []
    for case in cases():
        if re.search(only, case.name):
            print(f"{mode} {case.name}", file=sys.stderr, flush=True)
            results.append(try_case(case, optimise, mode))
    return results


if __name__ == "__main__":
    sys.exit(main())
