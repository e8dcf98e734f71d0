"""The tables of the ONNX benchmark, from the same records that the JSON file holds."""

from __future__ import annotations

import statistics

OURS = "tangram"
# Ours without a limit on what folding may add.
FOLDED = "tangram_folded"
# What a time may exceed the fastest peer's by: seconds, and as a share.
SLACK = (0.005, 0.10)
USABLE = ("ok", "unjudged")


def cell(result: dict) -> str:
    """Shows one model under one optimiser: nodes and milliseconds, or what went wrong.

    A star marks a result that left optional inputs (those with an initializer) out.
    """
    if "seconds" not in result:
        return result["verdict"]
    dropped = "*" if result.get("interface") == "optional" else ""
    shown = f"{result.get('nodes', '?')}{dropped} {milliseconds(result)}"
    return shown if result["verdict"] == "ok" else f"{shown} {result['verdict'].upper()}"


def milliseconds(result: dict) -> str:
    """Shows the work of one run: load, optimise and save together."""
    return f"{1000 * result['work']:.0f}ms"


def table(rows: list[list[str]]) -> str:
    """Aligns rows of text in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def models(records: dict[str, dict], names: list[str]) -> str:
    """Shows nodes and time for every model and optimiser."""
    rows = [["model", "nodes", *names]]
    for model, record in records.items():
        cells = [cell(record["results"][name]) for name in names]
        rows.append([model, str(record["original"].get("nodes", "?")), *cells])
    return table(rows)


def processor(records: dict[str, dict], names: list[str]) -> str:
    """Shows processor time; of ours that of the whole process, of peers without their start."""
    rows = [["model", *(f"{name} (cpu)" for name in names)]]
    for model, record in records.items():
        times = [record["results"][name].get("cpu") for name in names]
        rows.append([model, *("-" if cpu is None else f"{1000 * cpu:.0f}ms" for cpu in times)])
    return table(rows)


def memory(records: dict[str, dict], names: list[str]) -> str:
    """Shows file size, peak memory and process start."""
    rows = [["model", "MB", *(f"{name} (MB out, peak, start)" for name in names)]]
    for model, record in records.items():
        row = [model, f"{record['original'].get('bytes', 0) / 1e6:.1f}"]
        for result in (record["results"][name] for name in names):
            if "seconds" not in result:
                row.append(result["verdict"])
                continue
            sizes = f"{result.get('bytes', 0) / 1e6:.1f} {result['peak_bytes'] / 1e6:.0f}"
            row.append(f"{sizes} {1000 * result['start']:.0f}ms")
        rows.append(row)
    return table(rows)


def latency(records: dict[str, dict], names: list[str]) -> str:
    """Shows milliseconds of a run under onnxruntime, of the original and of each result."""
    rows = [["model", "original", *(f"{name} (run)" for name in names)]]
    for model, record in records.items():
        times = [record["original"].get("latency")]
        times += [record["results"][name].get("latency") for name in names]
        rows.append([model, *("-" if ms is None else f"{ms:.2f}ms" for ms in times)])
    return table(rows)


def shares(records: dict[str, dict]) -> str:
    """Shows how much of each model is known: to onnx's shape inference, and to ours."""
    rows = [["model", "onnx: static", "symbolic", "unknown", "ours: static", "symbolic", "unknown", "nn"]]
    for model, record in records.items():
        ours = record["results"].get(OURS, {}).get("shares") or {}
        theirs = _percentages(record["original"].get("dimensions", {}))
        known = _percentages(ours.get("dimensions", {}))
        share = ours.get("nn_operators")
        rows.append([model, *theirs, *known, "-" if share is None else f"{100 * share:.0f}%"])
    return table(rows)


def _percentages(counts: dict[str, int]) -> list[str]:
    shares = _shares(counts)
    return [f"{100 * share:.1f}%" for share in shares] if shares else ["-", "-", "-"]


def _shares(counts: dict[str, float]) -> list[float]:
    """Gives the shares that are static, symbolic and unknown; a tensor of unknown rank counts as
    one unknown dimension, as in our own report."""
    kinds = [counts.get(kind, 0) for kind in ("static", "symbolic", "unknown")]
    kinds[2] += counts.get("unranked", 0)
    return [count / sum(kinds) for count in kinds] if sum(kinds) else []


def summary(records: dict[str, dict], names: list[str]) -> str:
    """Counts verdicts for each optimiser, and says where ours falls short."""
    lines = []
    for name in names:
        verdicts: dict[str, int] = {}
        for record in records.values():
            verdict = record["results"][name]["verdict"]
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        lines.append(f"{name:<14} {counts}{_ratio(records, name)}")
    return "\n".join([*lines, "", *refusals(records, names), *shortfalls(records, names)])


def refusals(records: dict[str, dict], names: list[str]) -> list[str]:
    """Lists what the peers got wrong, and why."""
    lines = []
    for model, record in records.items():
        for name in names:
            result = record["results"][name]
            ours = name in (OURS, FOLDED)
            if not ours and result["verdict"] not in (*USABLE, "absent"):
                why = result.get("why") or result.get("checker") or result.get("vendor") or ""
                lines.append(f"{model}: {name} is {result['verdict']}: {str(why)[:160]}")
    return lines


def _ratio(records: dict[str, dict], name: str) -> str:
    """Says how many times the work of ours a peer needs, in the median."""
    if name in (OURS, FOLDED):
        return ""
    said = ""
    for figure, shown in (("work", "time"), ("cpu", "processor time")):
        pairs = [(r["results"].get(OURS, {}), r["results"][name]) for r in records.values()]
        pairs = [(one.get(figure), other.get(figure)) for one, other in pairs]
        ratios = [peer / ours for ours, peer in pairs if ours and peer]
        said += f"; {statistics.median(ratios):.1f} times our {shown}" if ratios else ""
    return said


def shortfalls(records: dict[str, dict], names: list[str]) -> list[str]:
    """Lists the models on which ours is not the best, and why."""
    lines = []
    for model, record in records.items():
        ours = record["results"].get(OURS, {"verdict": "absent"})
        if ours["verdict"] == "absent":
            continue
        folded = record["results"].get(FOLDED, ours)
        wrong = [one for one in (ours, folded) if one["verdict"] not in USABLE]
        if wrong:
            lines.append(f"{model}: ours is {wrong[0]['verdict']}: {wrong[0].get('why', '')}")
            continue
        if "nodes" not in folded:  # the judge ended on the model itself
            lines.append(f"{model}: not judged: {folded.get('why', '')}")
            continue
        peers = {n: record["results"][n] for n in names if n not in (OURS, FOLDED)}
        usable = {n: r for n, r in peers.items() if r["verdict"] in USABLE}
        if usable:
            lines += _behind(model, ours | {"nodes": folded["nodes"]}, usable)
        lines += _unknown(model, ours, record["original"].get("dimensions", {}))
    return lines


def _unknown(model: str, ours: dict, theirs: dict[str, int]) -> list[str]:
    """Says where onnx's shape inference knows more dimensions, or where an operator is not ours."""
    shares = ours.get("shares") or {}
    known, compared = _shares(shares.get("dimensions", {})), _shares(theirs)
    lines = []
    if known and compared and known[2] > compared[2] + 5e-4:
        unknown = f"{100 * known[2]:.1f}% of dimensions unknown"
        lines.append(f"{model}: {unknown}, to onnx {100 * compared[2]:.1f}%")
    if shares.get("nn_operators", 1.0) < 1.0:
        lines.append(f"{model}: {100 * shares['nn_operators']:.1f}% of operators in nn")
    return lines


def _behind(model: str, ours: dict, peers: dict[str, dict]) -> list[str]:
    lines = []
    fewest = min(peers, key=lambda name: peers[name]["nodes"])
    if ours["nodes"] > peers[fewest]["nodes"]:
        lines.append(f"{model}: {ours['nodes']} nodes, {fewest} has {peers[fewest]['nodes']}")
    fastest = min(peers, key=lambda name: peers[name]["work"])
    limit = peers[fastest]["work"] + max(SLACK[0], SLACK[1] * peers[fastest]["work"])
    if ours["work"] > limit:
        lines.append(f"{model}: {milliseconds(ours)}, {fastest} {milliseconds(peers[fastest])}")
    return lines
