"""What type checkers see: a script for each public module, by `mypy --strict`.

Lines that end in `# error` have to be refused, all others accepted: a signature of `Any` accepts
both, and fails here.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import tangram
from tangram import _options

HERE = pathlib.Path(__file__).parent
SCRIPTS = sorted((HERE / "typed").glob("*.py"))
MODULES = [
    "tangram", "tangram.onnxruntime", "tangram.egraph", "tangram.presburger", "tangram.polyhedral",
    "tangram.fleet", "tangram.mlir", "tangram.compat.onnxsim", "tangram.compat.onnxslim", "gsl",
]
COMPLETE = 98.0
"""Percent of the public names whose type every checker reads alike, at least."""


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> dict[str, set[int]]:
    """The lines of each script that are refused."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    cache = tmp_path_factory.mktemp("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={cache}"]
    flags = ["--hide-error-context", "--no-color-output", "--show-absolute-path"]
    done = subprocess.run(
        [*command, *flags, *map(str, SCRIPTS)], cwd=cache, capture_output=True, text=True, check=False
    )
    found: dict[str, set[int]] = {path.stem: set() for path in SCRIPTS}
    for line in done.stdout.splitlines():
        if match := re.match(r"(.+)\.py:(\d+): error: ", line):
            found.setdefault(pathlib.Path(match[1]).name, set()).add(int(match[2]))
    assert done.returncode in (0, 1), done.stderr
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_is_right_is_accepted_and_what_is_wrong_refused(script, told) -> None:
    lines = script.read_text().splitlines()
    wrong = {at for at, line in enumerate(lines, start=1) if line.endswith("# error")}
    found = told[script.stem]
    accepted = [lines[at - 1] for at in sorted(wrong - found)]
    refused = [lines[at - 1] for at in sorted(found - wrong)]
    assert not accepted and not refused, f"accepted: {accepted}, refused: {refused}"


@pytest.mark.parametrize("package", ["gsl", "tangram"])
def test_types_are_complete(package: str, tmp_path) -> None:
    """No name is left to a checker's own inference: pyright counts them."""
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed")
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(
        [*command, "--verifytypes", package, "--ignoreexternal"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(pathlib.Path(tangram.__file__).parents[1])},
        capture_output=True, text=True, check=False,
    )
    told = json.loads(done.stdout)["typeCompleteness"]
    open_ = [
        f"{symbol['name']}: {told['message']}"
        for symbol in told["symbols"]
        if symbol["isExported"] and not symbol["isTypeKnown"]
        for told in symbol["diagnostics"][:1]
    ]
    assert told["exportedSymbolCounts"]["withKnownType"] > 500, done.stdout
    assert told["completenessScore"] * 100 >= COMPLETE, "\n".join(open_)


def test_every_name_is_defined(tmp_path, root) -> None:
    """Also in what seldom runs: a test once waited for ever behind a name that nothing imported."""
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed")
    folders = [str(root / name) for name in ("tests/python", "python", "bench", "packaging")]
    settings = {"include": folders, "typeCheckingMode": "off", "reportUndefinedVariable": "error"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "-p", str(tmp_path), "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    wrong = [f"{one['file']}: {one['message']}" for one in told["generalDiagnostics"] if one["severity"] == "error"]
    assert told["summary"]["filesAnalyzed"] > 200 and not wrong, wrong


def functions(name: str) -> list[tuple[str, inspect.Signature]]:
    """The public functions and methods of a module, with what is annotated."""
    module = importlib.import_module(name)
    found = []
    for one in getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]:
        value = getattr(module, one)
        if not getattr(value, "__module__", "").startswith(("tangram", "gsl")):
            continue
        members = vars(value).items() if inspect.isclass(value) else [(one, value)]
        for member, of in members:
            of = getattr(of, "__func__", of)
            if inspect.isfunction(of) and (not member.startswith("_") or member == "__init__"):
                found.append((f"{name}.{one}.{member}", inspect.signature(of)))
    return found


@pytest.mark.parametrize("name", MODULES)
def test_public_functions_say_their_types(name: str) -> None:
    open_ = []
    for place, signature in functions(name):
        unsaid = [
            p.name
            for p in signature.parameters.values()
            if p.annotation is p.empty and p.name not in ("self", "cls")
        ]
        if unsaid or signature.return_annotation is signature.empty:
            open_.append((place, unsaid))
    assert not open_, open_


def test_options_have_one_type_each() -> None:
    """Type checkers read a class, completion and `help` a table: both say the same."""
    said = {**_options.Edits.__annotations__, **_options.Options.__annotations__}
    table = {name: option.kind for name, option in _options.ALL.items()}
    assert set(said) == set(table)
    for name, kind in table.items():
        text = said[name].__forward_arg__ if hasattr(said[name], "__forward_arg__") else str(said[name])
        assert text.replace('"', "'") == kind, name
    assert "strategy" in inspect.signature(tangram.optimize).parameters
