"""Every method that can be called without arguments has a result, or says why it has none."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

ours = pytest.importorskip("tangram.isl")

TEXTS = {
    "Aff": ["[n] -> { A[i] -> [(i + n)] }", "[n] -> { [(n)] }"],
    "BasicMap": ["[n] -> { A[i] -> B[j] : 0 <= i, j < n }", "{ [A[i] -> B[j]] -> [C[k] -> D[]] }"],
    "BasicSet": ["[n] -> { A[i] : 0 <= i < n }", "{ [A[i] -> B[j]] : 0 <= i, j < 5 }"],
    "Map": ["{ A[i] -> B[j] : i < j; A[i] -> C[] }", "{ A[i] -> [[B[j] -> C[k]] -> D[]] }"],
    "MultiUnionPwAff": ["C[{ A[i] -> [(i)]; B[j] -> [(j)] }, { A[i] -> [(0)]; B[j] -> [(1)] }]"],
    "MultiVal": ["{ B[3, 4] }"],
    "PwAff": ["[n] -> { A[i] -> [(i)] : i > 0; A[i] -> [(n)] : i < 0 }", "[n] -> { [(n)] : n > 0 }"],
    "PwMultiAff": ["[n] -> { A[i] -> B[(i), (n)] : i > 0 }", "[n] -> { B[(n)] }", "{ A[i] -> [B[(i)] -> C[(i)]] }"],
    "PwQPolynomial": ["[n] -> { A[i] -> i * n : i > 0 }", "[n] -> { n^2 }"],
    "PwQPolynomialFold": ["[n] -> { A[i] -> max(n, 2 * i) : i >= 0 }"],
    "QPolynomial": ["[n] -> { A[i] -> i * n }"],
    "Schedule": ['{ domain: "{ A[i] : 0 <= i < 4 }", child: { schedule: "[{ A[i] -> [(i)] }]" } }'],
    "Set": ["{ A[i] : i > 3 or i < 0; B[] }", "[n] -> { : n > 0 }", "{ [A[i] -> B[j]] : 0 <= i, j < 5 }"],
    "Space": ["[n] -> { A[i, j] }", "{ A[i] -> B[j] }", "{ [A[i] -> B[j]] }", "{ [A[i] -> B[j]] -> [C[k] -> D[]] }"],
    "UnionPwAff": ["{ A[i] -> [(i)]; B[j] -> [(j)] : j > 0 }"],
    "UnionPwMultiAff": ["{ A[i] -> C[(i), (0)]; B[j] -> C[(j), (1)] }"],
    "UnionPwQPolynomial": ["{ A[i] -> i; B[j] -> j^2 : j > 0 }"],
    "UnionPwQPolynomialFold": ["{ A[i] -> max(i, 3); B[i, j] -> max(i * j) }"],
    "Val": ["3", "-5/2"],
}


def values() -> Iterator[Any]:
    for name, texts in TEXTS.items():
        yield from (getattr(ours, name)(text) for text in texts)
    points = ours.Set("[n] -> { A[i, j] : n <= i <= j <= 5 and n = 2 }")
    yield from (points.sample_point(), points.get_stride_info(0), ours.Context(), ours.Id("i"), ours.Printer())
    yield from (points.affine_hull().get_constraints()[0], points.compute_vertices())
    yield from ours.QPolynomial("[n] -> { A[i] -> i * n }").get_terms()
    yield from (kind([]) for kind in vars(ours).values() if str(getattr(kind, "__name__", "")).endswith("List"))
    yield from (points.get_basic_set_list(), points.get_set_list(), points.get_constraint_list())
    schedule = ours.Schedule(TEXTS["Schedule"][0])
    tree, build = schedule.get_root(), ours.AstBuild.alloc()
    yield from (tree, tree.child(0), tree.child(0).child(0), build, build.node_from_schedule(schedule))


def methods(value: Any) -> Iterator[str]:
    """The names of what can be called without arguments."""
    for name in dir(value):
        member = getattr(type(value), name, None) or getattr(value, name)
        if name.startswith("_") or not callable(member) or isinstance(value, list) and hasattr(list, name):
            continue
        try:
            inspect.signature(getattr(value, name)).bind()
        except (TypeError, ValueError):
            continue
        yield name


VALUES = list(values())


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__} {value}"[:40])
def test_methods_without_arguments_have_results_or_say_why_not(value: Any) -> None:
    broken = []
    for name in methods(value):
        try:
            getattr(value, name)()
        except (ImportError, NameError, LookupError, AttributeError, RuntimeError, AssertionError) as error:
            broken.append((name, repr(error)))
        except (ours.Error, TypeError, ValueError, ZeroDivisionError):
            pass
    assert not broken


def test_an_identity_is_made_of_a_space() -> None:
    space = ours.Space.create_from_names(ours.DEFAULT_CONTEXT, set=["i"])
    assert space.identity_multi_aff_on_domain() == ours.MultiAff("{ [i] -> [(i)] }")
    assert ours.Space("{ A[i] }").identity_pw_multi_aff_on_domain() == ours.MultiAff("{ A[i] -> A[(i)] }")


@pytest.mark.parametrize("points", ["{ [i] : i > 3 }", "[n] -> { A[i] : i > n }", "[n] -> { : n > 3 }"])
def test_functions_on_a_set_have_no_values_elsewhere(points: str) -> None:
    domain = ours.Set(points)
    for value in (
        ours.PwAff.val_on_domain(domain, ours.Val(5)),
        ours.PwAff.zero_on_domain(domain),
        ours.Aff.val_on_domain(domain, 5),
    ):
        assert value.domain() == domain and type(value) is ours.PwAff
    assert type(ours.Aff.val_on_domain(domain.get_space(), 5)) is ours.Aff
