"""Runs notebooks without a kernel: the cells in one namespace, the last expression of each shown.

`python tests/python/notebooks.py` makes the stored outputs of `examples/notebooks` anew.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
PICTURES = {"image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def lines(text: str) -> list[str]:
    """Text as the format keeps it: a list of lines with their ends."""
    return text.splitlines(keepends=True)


def shown(value: object) -> dict[str, list[str]]:
    """What a notebook keeps of a value: its text and its pictures."""
    data = {"text/plain": lines(repr(value))}
    for kind, method in PICTURES.items():
        picture = getattr(value, method, lambda: None)()
        if picture is not None:
            data[kind] = lines(picture)
    return data


def run_cell(source: str, place: str, names: dict[str, object], count: int) -> list[dict]:
    """Runs one cell and returns its outputs."""
    tree = ast.parse(source, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
    outputs: list[dict] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {"data": shown(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def run(path: pathlib.Path) -> dict:
    """The notebook with the outputs of a run from a clean namespace."""
    notebook = json.loads(path.read_text())
    names: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["outputs"] = run_cell("".join(cell["source"]), f"{path.name}[{cell['id']}]", names, count)
            cell["execution_count"] = count
    return notebook


if __name__ == "__main__":
    for notebook_path in NOTEBOOKS:
        made = json.dumps(run(notebook_path), indent=1, ensure_ascii=False)
        notebook_path.write_text(made + "\n")
