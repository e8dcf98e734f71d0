"""The stubs of the native half say what it holds, and the public package keeps to its types."""

from __future__ import annotations

import ast
import inspect
import pathlib

import pytest

native = pytest.importorskip("tangram._native")

STUB = pathlib.Path(__file__).resolve().parents[2] / "python" / "tangram" / "_native.pyi"
# What every class has, or pyo3 gives it.
COMMON = set(dir(object)) | {"__buffer__", "__module__", "__dict__", "__weakref__", "__str__"}


def stubbed() -> dict[str, ast.stmt]:
    """The public names of the stub."""
    nodes = ast.parse(STUB.read_text()).body
    kinds = (ast.ClassDef, ast.FunctionDef)
    return {node.name: node for node in nodes if isinstance(node, kinds)}


def parameters(node: ast.FunctionDef) -> list[tuple[str, bool]]:
    """The parameters of a function of the stub, and which may be left out."""
    given = node.args.args
    optional = len(given) - len(node.args.defaults)
    return [(one.arg, at >= optional) for at, one in enumerate(given) if one.arg != "self"]


def held(function: object) -> list[tuple[str, bool]]:
    """The parameters of a function that is there, and which may be left out."""
    all_of_it = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [(one.name, one.default is not one.empty) for one in all_of_it if one.name != "self"]


def test_the_stub_names_all_that_is_there() -> None:
    runtime = {name for name in dir(native) if not name.startswith("_")}
    assert set(stubbed()) == runtime


@pytest.mark.parametrize("name", sorted(stubbed()))
def test_methods_and_parameters_are_those_of_the_stub(name: str) -> None:
    node, there = stubbed()[name], getattr(native, name)
    if isinstance(node, ast.FunctionDef):
        assert parameters(node) == held(there)
        return
    assert isinstance(node, ast.ClassDef)
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    assert set(methods) - {"__init__", "__buffer__"} == set(vars(there)) - COMMON - {"__new__"}
    for method, stub in methods.items():
        # Only newer versions of Python show what lends bytes.
        if method not in ("__init__", "__buffer__"):
            marks = {getattr(mark, "id", "") for mark in stub.decorator_list}
            assert ("staticmethod" in marks) == isinstance(vars(there)[method], staticmethod), method
            assert ("property" in marks) == inspect.isgetsetdescriptor(vars(there)[method]), method
            if "property" in marks:
                continue
            assert parameters(stub) == held(getattr(there, method)), method
