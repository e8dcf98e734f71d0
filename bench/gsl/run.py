"""Measures matching and rewriting by rules, beside onnxscript's rewriter on the same rules.

    cargo xtask bench gsl [--rounds N] [--nodes N]... [--rule NAME]... [--json FILE]

First each rule alone, then all together, on models of both kinds: a chain in which every rule has
work, and networks. Time of applying the rules alone, without reading and writing; runs
in turns, medians. Then how time and memory grow with the graph, to a million nodes; the peer
stops where a run takes too long. Rules compete: two
convolutions that are merged first have no batch norm of their own to fold any more. So rules fire
equally often alone, not always together (Inception). `us/node` is per node of the model, `us/fired` per rewrite.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import chain
import onnx
import peer

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "onnx"))
sys.path.insert(0, str(ROOT / "tests" / "python"))
import measure  # noqa: E402: all benchmarks run their commands the same way
import networks  # noqa: E402: tests run on the same ones

NODES = (1_000, 10_000, 100_000, 1_000_000)
PEER = str(pathlib.Path(__file__).with_name("peer.py"))
# The peer's reshape rule is two of ours: with extents that are known, and with those that are not.
OURS = {"reshape-reshape": "reshape-reshape,reshape-reshape-static"}


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs")
    parser.add_argument("--size", type=int, default=5_000, help="nodes of the chain for single rules")
    parser.add_argument("--nodes", type=int, action="append", help="sizes; several when not given")
    parser.add_argument("--rule", action="append", choices=sorted(peer.RULES))
    parser.add_argument("--peer-limit", type=float, default=120.0, help="seconds for one run of the peer")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def ours(model: pathlib.Path, rules: list[str]) -> dict:
    """One run of the command."""
    said = model.with_name("report.json")
    names = ",".join(OURS.get(rule, rule) for rule in rules)
    words = [os.environ["TANGRAM_BIN"], "opt", str(model), "-o", str(model.with_name("out.onnx"))]
    words += ["--only", names, "--json", str(said), "--steps", "0", "--quiet"]
    ran = measure.run(words, 3600.0)
    if not ran.ok:
        return {"failed": f"{ran.ended}: {ran.output.strip()[-300:]}"}
    told = json.loads(said.read_text())
    return {
        "seconds": told["seconds"]["optimise"],
        "fired": sum(rule["fired"] for rule in told["rules"]),
        "peak": ran.peak_anonymous_bytes,
    }


def theirs(model: pathlib.Path, rules: list[str], limit: float) -> dict:
    """One run of the peer."""
    ran = measure.run([sys.executable, PEER, str(model), ",".join(rules)], limit)
    if ran.ended == "timeout":
        return {"failed": f"more than {limit:g} s"}
    if not ran.ok:
        return {"failed": f"{ran.ended}: {ran.output.strip()[-300:]}"}
    return json.loads(ran.output.splitlines()[-1]) | {"peak": ran.peak_anonymous_bytes}


def pairs(model: pathlib.Path, rules: list[str], rounds: int, limit: float) -> dict:
    """Runs both in turns; medians, and the median of the ratios of pairs."""
    found: dict[str, list[dict]] = {"ours": [], "theirs": []}
    for turn in range(rounds):
        both = [("ours", lambda: ours(model, rules)), ("theirs", lambda: theirs(model, rules, limit))]
        for side, run in both if turn % 2 == 0 else reversed(both):
            if not any("failed" in past for past in found[side]):
                found[side].append(run())
    result: dict = {}
    for side, runs in found.items():
        bad = [run for run in runs if "failed" in run]
        result[side] = bad[0] if bad else runs[0] | {
            "seconds": statistics.median(run["seconds"] for run in runs),
            "peak": max(run["peak"] for run in runs),
        }
    if "failed" not in result["ours"] and "failed" not in result["theirs"]:
        both = zip(found["ours"], found["theirs"], strict=True)
        result["ratio"] = statistics.median(b["seconds"] / max(a["seconds"], 1e-9) for a, b in both)
    return result


HEAD = f"{'model':<14}{'nodes':>9} {'rules':<24}" + "".join(
    f"{side + ' ms':>12}{'us/node':>9}{'fired':>8}{'us/fired':>9}{'MB':>7}" for side in ("tangram", "peer")
) + f"{'ratio':>8}"


def cells(side: dict, nodes: int) -> str:
    """One side of a row."""
    if "failed" in side:
        return f"{side['failed'].splitlines()[-1][-44:]:>45}"
    micro = 1e6 * side["seconds"]
    each = f"{micro / side['fired']:>9.1f}" if side["fired"] else f"{'-':>9}"
    return f"{micro / 1e3:>12.2f}{micro / nodes:>9.2f}{side['fired']:>8}{each}{side['peak'] / 1e6:>7.0f}"


def row(name: str, nodes: int, rules: str, result: dict) -> str:
    """One line of the table."""
    ratio = f"{result['ratio']:>7.1f}x" if "ratio" in result else f"{'-':>8}"
    return f"{name:<14}{nodes:>9} {rules:<24}{cells(result['ours'], nodes)}{cells(result['theirs'], nodes)}{ratio}"


def main() -> int:
    """Runs all and prints a table."""
    arguments = options()
    chosen = arguments.rule or list(peer.RULES)
    results = []

    def bench(name: str, model: onnx.ModelProto, groups: list[tuple[str, list[str]]], rounds: int) -> None:
        nodes = len(model.graph.node)
        with tempfile.TemporaryDirectory(prefix="tangram-gsl-") as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(model.SerializeToString(deterministic=True))
            for label, rules in groups:
                found = pairs(path, rules, rounds, arguments.peer_limit)
                results.append({"model": name, "nodes": nodes, "rules": label} | found)
                print(row(name, nodes, label, found), flush=True)

    print(HEAD)
    together = [("all of these", chosen)]
    bench("chain", chain.chain(arguments.size), [(r, [r]) for r in chosen] + together, arguments.rounds)
    alone = [(rule, [rule]) for rule in chosen if rule == "conv-batch-norm"]
    bench("inception_v2", networks.light("light_inception_v2"), alone + together, arguments.rounds)
    bench("transformer", chain.transformer(), together, arguments.rounds)
    for count in arguments.nodes or NODES:
        bench("chain", chain.chain(count), together, 1 if count > 50_000 else arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return int(any("failed" in result["ours"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
