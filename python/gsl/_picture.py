"""Pictures of rules: both sides as graphs, in SVG without other tools."""

from __future__ import annotations

import html
from typing import Any

_WIDTH, _HEIGHT, _GAP = 150, 34, 26


def rule_svg(rule: dict[str, Any]) -> str:
    """Draws source and target side by side; edges go from operands down to their users."""
    left, width, tall = _side(rule, rule["sources"], 0, "source")
    right, more, high = _side(rule, rule["targets"], width + 40, "target")
    total, height = width + 40 + more, max(tall, high)
    style = "font-family:sans-serif;font-size:12px"
    size = f'width="{total}" height="{height}" viewBox="0 0 {total} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="{style}">'
    return head + "".join(left + right) + "</svg>"


def _side(
    rule: dict[str, Any], outputs: list[int], offset: int, title: str
) -> tuple[list[str], int, int]:
    rank = _ranks(rule, outputs)
    rows: dict[int, list[int]] = {}
    for pattern, row in sorted(rank.items()):
        rows.setdefault(row, []).append(pattern)
    place = {
        pattern: (offset + 10 + column * (_WIDTH + 12), 30 + row * (_HEIGHT + _GAP))
        for row, members in rows.items()
        for column, pattern in enumerate(members)
    }
    out = [f'<text x="{offset + 10}" y="18" font-weight="bold">{title}</text>']
    for pattern, (x, y) in place.items():
        for part in parts(rule["patterns"][pattern]["kind"]):
            px, py = place[part]
            ends = f'x1="{px + _WIDTH / 2}" y1="{py + _HEIGHT}" x2="{x + _WIDTH / 2}" y2="{y}"'
            out.append(f'<line {ends} stroke="#888"/>')
    for pattern, (x, y) in place.items():
        fill = "#dbe9ff" if pattern in outputs else "#f4f4f4"
        box = f'x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"'
        out.append(f'<rect {box} fill="{fill}" stroke="#555"/>')
        text = html.escape(_label(rule, pattern))
        out.append(f'<text x="{x + 8}" y="{y + 21}">{text}</text>')
    columns = max(len(members) for members in rows.values())
    return out, 20 + columns * (_WIDTH + 12), 40 + len(rows) * (_HEIGHT + _GAP)


def _ranks(rule: dict[str, Any], outputs: list[int]) -> dict[int, int]:
    """The longest way from a leaf to each pattern."""
    rank: dict[int, int] = {}
    stack = [(output, False) for output in outputs]
    while stack:
        pattern, left = stack.pop()
        below = parts(rule["patterns"][pattern]["kind"])
        if left:
            rank[pattern] = max((rank[part] + 1 for part in below), default=0)
        elif pattern not in rank:
            stack.append((pattern, True))
            stack.extend((part, False) for part in below)
    return rank


def parts(kind: Any) -> list[int]:
    """The operands, fields or branches of a pattern."""
    if isinstance(kind, str):
        return []
    ((form, node),) = kind.items()
    match form:
        case "call" | "native":
            return list(node["args"])
        case "tuple" | "alt":
            return list(node)
        case "proj":
            return [node["tuple"]]
        case "variadic":
            return [node["field"]]
        case "inst":
            return [node["variadic"]]
        case "not":
            return [node]
        case "cond":
            return [node["then"], node["otherwise"]]
        case "case":
            return list(node["arms"])
    return []


def _label(rule: dict[str, Any], pattern: int) -> str:
    node = rule["patterns"][pattern]
    kind, name = node["kind"], node.get("name") or ""
    form = kind if isinstance(kind, str) else next(iter(kind))
    if form == "call":
        ((choice, named),) = rule["ops"][kind["call"]["op"]]["choice"].items()
        form = "|".join(named) if isinstance(named, list) else named
        form = f"any {form}" if choice == "trait" else form
    text = f"{name}: {form}" if name else form
    return text if len(text) <= 20 else text[:19] + "…"
