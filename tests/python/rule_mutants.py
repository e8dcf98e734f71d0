"""Brute force as a judge of the verifier: every mutant of every rule, on models made without it.

    python tests/python/rule_mutants.py [--rules NAME...] [--models 200] [--cache DIR] [--command tangram]

For each rule, small models that its source may match are made (`rule_models`) and run by
onnxruntime. Each mutant is applied to all of them; where onnxruntime then computes something else,
brute force distinguishes it, and the verifier has to have refuted it, or at least not to have said
that it holds. The last lines are the score.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx

import gsl
import oracle
import rule_models
import rule_operators
import tangram

# What is said of a mutant that is not said to hold.
NOT_HELD = ("refuted", "refused by types", "inert", "not decided", "no rule")


@dataclasses.dataclass
class Judged:
    """What brute force made of the mutants of a rule."""

    rule: str
    models: int = 0
    matching: int = 0
    mutants: int = 0
    distinguished: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    missed: list[str] = dataclasses.field(default_factory=list)
    original: str = ""


def mutants(command: str, rule: str, step: int, cache: pathlib.Path | None) -> list[dict]:
    """The mutants of a rule, with what the verifier said of each."""
    kept = cache / f"{rule}.json" if cache else None
    if kept and kept.exists() and kept.stat().st_size:
        return json.loads(kept.read_text())[::step]
    words = [command, "rules", "mutate", rule, "--json", "--step", str(step)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)


def runs(model: onnx.ModelProto, inputs: dict, rng: np.random.Generator) -> list[tuple[dict, list]]:
    """What a model gives on its own inputs, and on others of small numbers."""
    session, out = oracle.session(model), []
    for again in range(3):
        data = inputs if again == 0 else {
            name: rule_operators.numbers(value.dtype, value.shape, rng)
            for name, value in inputs.items()
        }
        out.append((data, session.run(None, data)))
    return out


def same(expected, found) -> bool:
    """Whether two results are the same but for rounding; numbers that are none say nothing."""
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return False
    if not oracle.is_float(expected.dtype):
        return bool(np.array_equal(expected, found))
    a, b = expected.astype(np.float64), found.astype(np.float64)
    both = np.isfinite(a) & np.isfinite(b)
    if not both.all() and expected.dtype != np.float16:
        # What is a number stays one.
        if (np.isfinite(a) & ~np.isfinite(b)).any():
            return False
    scale = np.abs(a[both]).max(initial=1.0)
    rough = 2e-2 if expected.dtype == np.float16 else 1e-4
    return bool((np.abs(a[both] - b[both]) <= rough * scale).all())


def differs(rule: gsl.Subst, workload: gsl.Workload, known: list[tuple[dict, list]]) -> bool | None:
    """Whether a rule changes what a model computes; `None` where it does not fire."""
    try:
        made = rule(workload)
    except (tangram.RuleError, tangram.ModelError):
        return None
    if not made.report.fired:
        return None
    try:
        session = oracle.session(made.to_onnx())
        return any(
            not all(map(same, expected, session.run(None, data))) for data, expected in known
        )
    except Exception:  # noqa: BLE001: what ran before and does not now has changed
        return True


def judge(command: str, rule: str, count: int, step: int = 1, cache: pathlib.Path | None = None) -> Judged:
    """Judges the mutants of a rule."""
    words = [command, "rules", "show", rule]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    original = gsl.parse(text)[0]
    out, rng, known = Judged(rule), np.random.default_rng(11), []
    for model, inputs in rule_models.models(text, count):
        try:
            workload = gsl.Workload.from_onnx(model)
            known.append((workload, runs(model, inputs, rng)))
        except Exception:  # noqa: BLE001: a model that one of both does not take
            continue
        different = differs(original, *known[-1])
        out.matching += different is not None
        if different:
            out.original = f"the rule itself changes what a model computes:\n{onnx.printer.to_text(model)}"
    out.models = len(known)
    for mutant in mutants(command, rule, step, cache):
        if mutant["fate"] == "no rule":
            continue
        out.mutants += 1
        changed = gsl.parse(mutant["text"])[0]
        if any(differs(changed, workload, results) for workload, results in known):
            out.distinguished[mutant["fate"]] += 1
            if mutant["fate"] not in NOT_HELD:
                out.missed.append(f"{rule}: {mutant['change']}: {mutant['fate']}\n{mutant['text']}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rules", nargs="*")
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--command", default=os.environ.get("TANGRAM_BIN", "tangram"))
    options = parser.parse_args()
    words = [options.command, "rules", "list", "--json"]
    known = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    names = options.rules or [rule["name"] for rule in known]
    all_of = []
    for name in names:
        found = judge(options.command, name, options.models, options.step, options.cache)
        all_of.append(found)
        print(f"{name}: {found.models} models, {found.matching} match; of {found.mutants} mutants "
              f"{sum(found.distinguished.values())} distinguished {dict(found.distinguished)}", flush=True)
        for line in [found.original, *found.missed]:
            if line:
                print(f"  MISSED {line}", flush=True)
    print(score(all_of))
    return 1 if any(found.missed or found.original for found in all_of) else 0


def score(found: list[Judged]) -> str:
    """How many mutants were distinguished, what was said of them, and which rules had no model."""
    distinguished: collections.Counter = sum((f.distinguished for f in found), collections.Counter())
    count, mutants = distinguished.total(), sum(f.mutants for f in found)
    without = [f.rule for f in found if not f.matching]
    right = sum(n for fate, n in distinguished.items() if fate in NOT_HELD)
    return (
        f"{mutants} mutants, {count} distinguished by brute force: {dict(distinguished)}\n"
        f"no model that the rule matches was made for: {', '.join(without) or 'none'}\n"
        f"score: {100 * right / max(count, 1):.1f} % of those are not said to hold"
    )


if __name__ == "__main__":
    sys.exit(main())
