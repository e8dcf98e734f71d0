"""Every version of every operator, put to the optimiser: as it is, folded, and in other versions.

    python tests/python/schema_walk.py [--only REGEX] [--most N] [--command BINARY]

`operator_versions` makes models of each pair of an operator and a version, with what may be absent
absent. What such a model computes is what onnxruntime says without optimisations, of the model as
it came; where it has no such operator, onnx's evaluator, if it knows that very version. The same
has to come out of the model that was optimised, with its inputs open, with all but the first
constant, and with all constant; of the reference kernels; and of the model written in the operator
sets that have other versions of the operator, up and down. A version may be refused, with a
reason; nothing may be wrong or invalid.
"""

from __future__ import annotations

import argparse
import collections
import functools
import re
import subprocess
import sys
import warnings
from collections.abc import Callable

import numpy as np
import onnx
from onnx import numpy_helper

import node_suite
import operator_versions as versions
import oracle
import second_opinions
from exemptions import described
from operator_versions import Sample

try:
    import tangram
except ImportError:  # Then there is the command.
    tangram = None

FORMS = ("open", "parameters constant", "constant")
# Verdicts, and which of them are faults.
VERDICTS = ("ok", "refused", "unjudged", "wrong", "invalid", "crash")
FAULTS = VERDICTS[3:]
# Operators whose function bodies onnx's own inference refuses in some operator sets.
UNCHECKED = [("MeanVarianceNormalization", 13, 10**6)]


Optimise = Callable[[onnx.ModelProto, int | None], onnx.ModelProto]


class Refused(Exception):
    """The optimiser says that it cannot do what was asked for."""


class Walk:
    """What came of the samples, by operator and version."""

    def __init__(self, optimise: Optimise | None = None) -> None:
        self.optimise = optimise or in_process
        self.counts: dict[tuple, collections.Counter] = collections.defaultdict(collections.Counter)
        self.faults: list[str] = []
        self.refusals: dict[str, list[str]] = collections.defaultdict(list)

    def pair(self, operator: str, since: int, most: int | None = None) -> None:
        """Judges the samples of an operator in a version."""
        if versions.opset_of(operator, since) is None:
            self.counts[operator, since]["too old"] += 1
        for sample in versions.samples(operator, since, most):
            self.sample(sample, near=most is not None)
        if most is not None and not self.counts[operator, since]["judged"]:
            # What was chosen says nothing in this version.
            self.pair(operator, since)

    def sample(self, sample: Sample, near: bool = False) -> None:
        """Judges one sample; with `near` among the other versions only the next ones."""
        count = self.counts[sample.operator, sample.since]
        count["samples"] += 1
        engine, expected = meaning(sample)
        if second_opinions.does_not_fit(sample.model, sample.inputs):
            count["samples"] -= 1
            return
        if engine is None or fault(typed(sample.model, expected)) is not None:
            return
        count["judged"] += 1
        judge = functools.partial(self.judged, sample, engine, expected)
        self.note(sample, "evaluated", evaluated(sample, expected))
        for form in FORMS:
            made = in_form(typed(sample.model, expected), sample.inputs, form)
            if made is not None:
                judge(form, *made)
        model, inputs = in_form(typed(sample.model, expected), sample.inputs, FORMS[1]) or (None, None)
        if model is None:
            model, inputs = typed(sample.model, expected), sample.inputs
        for target in targets(sample, near):
            way = "up" if target > sample.since else "down"
            judge(way, model, inputs, versions.opset_of(sample.operator, target))

    def judged(self, sample, engine, expected, what, model, inputs, opset=None) -> None:
        """Optimises a model, in another operator set if one is given, and compares."""
        found = compared(self.optimise, sample, engine, expected, model, inputs, opset)
        self.note(sample, what, found, opset)

    def note(self, sample: Sample, what: str, found: tuple[str, str], opset: int | None = None) -> None:
        verdict, why = found
        self.counts[sample.operator, sample.since][what, verdict] += 1
        place = f"{sample.operator} {sample.since}" + (f" to {opset}" if opset else "")
        if verdict in FAULTS:
            self.faults.append(f"{verdict}: {place}, {what}: {sample.name}: {why}")
        elif verdict == "refused":
            self.refusals[why].append(place)

    def unjudged(self) -> list[tuple[str, int]]:
        """The pairs of which no sample could be judged."""
        return [pair for pair, count in self.counts.items() if not count["judged"] and not count["too old"]]

    def table(self) -> str:
        """A line for each pair, what was refused with the reasons, and the faults."""
        columns = ("evaluated", *FORMS, "up", "down")
        lines = [f"{'operator':<28}{'since':>6}{'judged':>8}" + "".join(f"{c[:10]:>14}" for c in columns)]
        for (operator, since), count in self.counts.items():
            line = f"{operator:<28}{since:>6}{count['judged']:>8}"
            if count["too old"]:
                line += "   of an operator set before 7, which is refused as a whole"
            else:
                line += "".join(f"{_cell(count, column):>14}" for column in columns)
            lines.append(line)
        for why, places in sorted(self.refusals.items()):
            first, *rest = dict.fromkeys(places)
            lines.append(f"refused: {why}: {first}" + (f" and {len(rest)} more" if rest else ""))
        return "\n".join([*lines, *self.faults])


def _cell(count: collections.Counter, column: str) -> str:
    found = {verdict: count[column, verdict] for verdict in VERDICTS}
    marks = {"refused": "-", "unjudged": "?", "wrong": "!", "invalid": "!", "crash": "!"}
    others = [f"{n}{marks[verdict]}" for verdict, n in found.items() if n and verdict != "ok"]
    return " ".join([str(found["ok"]) if found["ok"] else "", *others]).strip()


def targets(sample: Sample, near: bool) -> list[int]:
    """The other versions of the operator that an operator set which is read has."""
    all_of = versions.versions()[sample.operator]
    others = [v for v in all_of if v != sample.since and versions.opset_of(sample.operator, v)]
    if not near:
        return others
    below = [v for v in others if v < sample.since][-1:]
    return below + [v for v in others if v > sample.since][:1]


def meaning(sample: Sample):
    """An engine that knows the version, and what it computes; `None` and why if there is none."""
    try:
        return oracle.run_ort, quietly(oracle.run_ort, sample.model, sample.inputs)
    except Exception as error:  # noqa: BLE001: it has many ways to refuse
        why = str(error)
    if not evaluator_knows(sample.operator, sample.since):
        return None, why
    try:
        return oracle.run_reference, quietly(oracle.run_reference, sample.model, sample.inputs)
    except Exception as error:  # noqa: BLE001: so has this one
        return None, str(error)


@functools.cache
def evaluator_knows(operator: str, since: int) -> bool:
    """Whether onnx's evaluator has this version of the operator, not another under its name."""
    from onnx.reference.ops._op_list import load_op

    try:
        found = quietly(load_op, "", operator, versions.opset_of(operator, since))
    except Exception:  # noqa: BLE001: it says so in several ways
        return False
    return found.__name__.endswith(f"_{since}") or _usage(operator, since) == _usage(operator, versions.versions()[operator][-1])


def version_in(operator: str, opset: int) -> int:
    """The version of the operator that an operator set has; its first one if the set has none."""
    all_of = versions.versions()[operator]
    return max([v for v in all_of if v <= opset], default=all_of[0])


def _usage(operator: str, since: int) -> tuple:
    schema = onnx.defs.get_schema(operator, since)
    attributes = {n: (a.type, a.required, a.default_value.SerializeToString()) for n, a in schema.attributes.items()}
    return [i.name for i in schema.inputs], [o.name for o in schema.outputs], attributes


def quietly(function, *arguments):
    """Calls an engine without its warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arguments)


def typed(model: onnx.ModelProto, results: list) -> onnx.ModelProto:
    """The model with the types of its outputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for value, result in zip(made.graph.output, results):
        value.CopyFrom(described(value.name, np.asarray(result) if not isinstance(result, list) else result))
    return made


def fault(model: onnx.ModelProto) -> str | None:
    """What onnx's checker says against a model."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # noqa: BLE001: it has several exception types
        return str(error).strip().splitlines()[0]
    return None


def in_form(model: onnx.ModelProto, inputs: dict, form: str):
    """The model with inputs that are constants, and those that are left; `None` if none can be."""
    if form == "open":
        return model, inputs
    free = {model.graph.input[0].name} if form == FORMS[1] and model.graph.input else set()
    tensor = {v.name for v in model.graph.input if v.type.WhichOneof("value") == "tensor_type"}
    fixed = [name for name in inputs if name in tensor - free]
    if not fixed:
        return None
    made = onnx.ModelProto()
    made.CopyFrom(model)
    kept = [value for value in model.graph.input if value.name not in fixed]
    del made.graph.input[:]
    made.graph.input.extend(kept)
    made.graph.initializer.extend(numpy_helper.from_array(np.asarray(inputs[name]), name) for name in fixed)
    return made, {name: value for name, value in inputs.items() if name not in fixed}


def evaluated(sample: Sample, expected: list) -> tuple[str, str]:
    """What the reference kernels say."""
    if tangram is None:
        return "unjudged", "the package is not installed"
    try:
        ordered = [sample.inputs[value.name] for value in sample.model.graph.input]
        found = tangram.Workload.from_onnx(typed(sample.model, expected))(*ordered)
    except (tangram.EvaluationError, tangram.ModelError) as error:
        return "unjudged", str(error)
    found = found if len(expected) > 1 else [found]
    verdict = same(sample, found, expected)
    return ("ok", "") if verdict[0] == "wrong" and excused(sample, found) else verdict


def in_process(model: onnx.ModelProto, opset: int | None) -> onnx.ModelProto:
    """Optimises a model by the package."""
    try:
        return tangram.optimize(model, opset=opset).to_onnx()
    except tangram.ModelError as error:
        raise Refused(str(error)) from None


def by_command(binary: str) -> Optimise:
    """Optimises models by a command."""

    def optimise(model: onnx.ModelProto, opset: int | None) -> onnx.ModelProto:
        words = [binary, "opt", "-", "-o", "-", "-q", *(["--opset", str(opset)] if opset else [])]
        ran = subprocess.run(words, input=model.SerializeToString(), capture_output=True, check=False)
        if ran.returncode != 0:
            raise Refused(ran.stderr.decode()) if ran.returncode in (1, 2) else RuntimeError(ran.stderr.decode())
        return onnx.load_from_string(ran.stdout)

    return optimise


def compared(optimise, sample, engine, expected, model, inputs, opset) -> tuple[str, str]:
    """Optimises a model and runs the result."""
    try:
        found = optimise(model, opset)
    except Refused as error:
        lines = [line.strip() for line in str(error).splitlines()]
        why = re.sub(r", at .*", "", lines[1] if opset and len(lines) > 1 else lines[0])
        told = opset is not None and "defect" not in str(error)
        return ("refused" if told else "crash"), why
    except Exception as error:  # noqa: BLE001: whatever else it raises is the finding
        return "crash", f"{type(error).__name__}: {error}"
    written = {set_.domain: set_.version for set_ in found.opset_import}.get("", 0)
    checked = not any(op == sample.operator and first <= written < last for op, first, last in UNCHECKED)
    if checked and (why := fault(found)) is not None and fault(model) is None:
        return "invalid", why
    for run in (engine, oracle.run_ort, oracle.run_reference):
        if run is oracle.run_reference and not evaluator_knows(sample.operator, version_in(sample.operator, written)):
            continue
        try:
            results = quietly(run, found, inputs)
        except Exception:  # noqa: BLE001: an engine may have another version of the operator only
            continue
        verdict = same(sample, results, expected)
        return ("ok", "") if verdict[0] == "wrong" and excused(sample, results) else verdict
    return "unjudged", "no engine runs it"


def excused(sample: Sample, found: list) -> bool:
    """Whether somebody else finds what was found and not what the judge does: onnx's evaluator, if it
    knows this version, or one of the second opinions.

    Known: `Clip` without bounds makes infinities finite in onnxruntime; in the evaluator a causal
    `Attention` takes the one row of a mask for all of its rows.
    """
    for other in second_opinions.opinions(sample.model, sample.inputs):
        if same(sample, found, other)[0] == "ok":
            return True
    if not evaluator_knows(sample.operator, sample.since):
        return False
    try:
        return same(sample, found, quietly(oracle.run_reference, sample.model, sample.inputs))[0] == "ok"
    except Exception:  # noqa: BLE001: it does not know all
        return False


def same(sample: Sample, found: list, expected: list) -> tuple[str, str]:
    """Compares results; of drawn numbers only types and shapes."""
    if any(node.op_type in node_suite.RANDOM or _drops(node) for node in sample.model.graph.node):
        kinds = [[(np.asarray(value).shape, np.asarray(value).dtype) for value in values] for values in (found, expected)]
        return ("ok", "") if kinds[0] == kinds[1] else ("wrong", f"{kinds[0]}, not {kinds[1]}")
    found = [_as_eight_bits(a, b) for a, b in zip(found, expected)] if len(found) == len(expected) else found
    result = oracle.same(found, expected, node_suite.ROUNDING, rtol=sample.rtol or 1e-5, atol=max(sample.atol, 1e-6))
    return ("ok", "") if result else ("wrong", result.why)


def _as_eight_bits(found, expected):
    """Floats of eight bits, which onnxruntime gives as the bytes that they are."""
    kinds = [getattr(value, "dtype", None) for value in (found, expected)]
    is_byte = kinds[0] == np.uint8 and kinds[1] is not None and "float8" in kinds[1].name
    return found.view(kinds[1]) if is_byte else found


def _drops(node: onnx.NodeProto) -> bool:
    """Whether a node is a dropout that is told to train, and not from which seed."""
    return node.op_type == "Dropout" and len(node.input) > 2 and all(a.name != "seed" for a in node.attribute)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="operators by name")
    parser.add_argument("--most", type=int, help="node tests for each pair; all when not given")
    parser.add_argument("--command", metavar="BINARY", help="optimise by this command, not by the package")
    given = parser.parse_args()
    walk = Walk(by_command(given.command) if given.command else None)
    for operator, since in versions.pairs():
        if re.search(given.only, operator):
            walk.pair(operator, since, given.most)
    print(walk.table())
    print("without a judge:", *[f"{operator} {since}" for operator, since in walk.unjudged()])
    return int(bool(walk.faults))


if __name__ == "__main__":
    sys.exit(main())
