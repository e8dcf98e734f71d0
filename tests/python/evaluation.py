"""The reference evaluation, put to ONNX's own node tests: how many it computes, by operator.

    python tests/python/evaluation.py [--only REGEX] [--session]

A case counts as right when every output agrees with the expected one, as unknown when an operator
in it has no evaluation. With `--session` the cases run in inference sessions, which apply the rules
and call compiled code where there is some.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import sys
from collections.abc import Callable

import node_suite
import tangram

VERDICTS = ("ok", "unknown", "wrong")


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of one case."""

    case: str
    operator: str
    verdict: str
    detail: str = ""


def evaluate(case: node_suite.Case) -> Result:
    """Evaluates one case and compares what comes out."""

    def result(verdict: str, detail: str = "") -> Result:
        return Result(case.name, case.operator, verdict, detail)

    try:
        workload = tangram.Workload.from_onnx(case.model)
        found = workload(*case.inputs.values())
    except (tangram.EvaluationError, tangram.ModelError) as error:
        return result("unknown", str(error))
    outputs = found if len(case.model.graph.output) > 1 else [found]
    same = node_suite.compare(outputs, case)
    return result("ok") if same else result("wrong", same.why)


def in_session(case: node_suite.Case) -> Result:
    """Runs one case in an inference session and compares what comes out."""

    def result(verdict: str, detail: str = "") -> Result:
        return Result(case.name, case.operator, verdict, detail)

    try:
        outputs = tangram.InferenceSession(case.model).run(None, case.inputs)
    except (tangram.Fail, tangram.ModelError) as error:
        return result("unknown", str(error))
    except tangram.InvalidArgument as error:
        return result("wrong", str(error))
    same = node_suite.compare(outputs, case)
    return result("ok") if same else result("wrong", same.why)


def run(
    only: str = "", engine: Callable[[node_suite.Case], Result] = evaluate, part: slice = slice(None)
) -> list[Result]:
    """Evaluates every case whose name matches `only`; of these, those of a part."""
    chosen = [case for case in node_suite.cases() if re.search(only, case.name)]
    return [engine(case) for case in chosen[part]]


def summary(results: list[Result]) -> str:
    """Counts verdicts by operator and lists what is not right."""
    rows: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for result in results:
        rows["all"][result.verdict] += 1
        rows[result.operator][result.verdict] += 1
    lines = [f"{'operator':<28}" + "".join(f"{verdict:>10}" for verdict in VERDICTS)]
    for name in ["all", *sorted(name for name in rows if name != "all")]:
        lines.append(f"{name:<28}" + "".join(f"{rows[name][v] or '':>10}" for v in VERDICTS))
    bad = (result for result in results if result.verdict != "ok")
    lines += [f"{r.verdict}: {r.case}: {r.detail.splitlines()[0][:160]}" for r in bad]
    return "\n".join(lines)


def main() -> int:
    """Prints the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="cases by name")
    parser.add_argument("--session", action="store_true", help="run inference sessions")
    given = parser.parse_args()
    results = run(given.only, in_session if given.session else evaluate)
    print(summary(results))
    return int(any(result.verdict == "wrong" for result in results))


if __name__ == "__main__":
    sys.exit(main())
