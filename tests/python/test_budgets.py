"""Every call that searches is begun anew with the limits that are set, wherever the first try ends.

A call makes a short try first; one that takes the end of that try for the end of its budget cannot
be given more. Here the first try has no steps at all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

ours = pytest.importorskip("tangram.isl")
islpy = pytest.importorskip("islpy", reason="needs islpy")
import test_islpy_methods as methods  # noqa: E402

from tangram import _native  # noqa: E402


@pytest.fixture(autouse=True)
def no_first_try() -> Iterator[None]:
    before = _native.set_first_try(0)
    yield
    _native.set_first_try(before)


@pytest.mark.parametrize("part", range(8))
def test_methods_are_begun_anew(part: int) -> None:
    with ours.limits(steps=10**10):
        for case in methods.CASES[part::8]:
            methods.test_methods_agree_with_islpy(*case)


TREE = """domain: "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < 4; T[i, j] : 0 <= i < n and 0 <= j < 4 }"
child:
  schedule: "[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }, { S[i, j] -> [(j)]; T[i, j] -> [(j)] }]"
  child:
    sequence:
    - filter: "{ S[i, j] }"
    - filter: "{ T[i, j] }"
"""
PAIRS = "[n] -> { S[i, j] -> T[i, j]; S[i, j] -> S[i + 1, j] }"


@pytest.mark.parametrize(
    "steps",
    "tile 4 2|strip_mine 0 4|sink|split 1|interchange 0 1|skew 1 0 1|distribute|shift 0 1|reorder 0 1"
    "|split 1; map_to_units t0 1|insert_mark here|order_before { S[i, j] : i < 2 }|unroll_and_jam 1 2".split("|"),
)
def test_steps_on_trees_are_begun_anew(steps: str) -> None:
    start = "sequence" if steps.startswith("reorder") else "band"
    with ours.limits(steps=10**10):
        tree = ours.Schedule(TREE)
        tree.do(f"find {start}; {steps}", ours.Map(PAIRS))
        assert tree.get_map().card() is not None
    with pytest.raises(ours.Error, match="limits"), ours.limits(steps=3):
        tree.do(f"find {start}; {steps}", ours.Map("{ }"))


def test_other_searches_are_begun_anew() -> None:
    with ours.limits(steps=10**10):
        domain = ours.Set("[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }")
        pairs = ours.Map("[n] -> { S[i] -> T[i + 1] : 0 <= i < n - 1 }")
        constraints = ours.ScheduleConstraints.on_domain(domain).set_validity(pairs)
        tree = constraints.compute_schedule()
        assert "for" in ours.AstBuild().node_from_schedule(tree).to_C_str()
        order = ours.Map("{ S[i] -> [0, i]; T[i] -> [1, i] }").intersect_domain(domain)
        info = ours.UnionAccessInfo(ours.Map("{ T[i] -> a[i] }").intersect_domain(domain))
        info = info.set_must_source(ours.Map("{ S[i] -> a[i] }").intersect_domain(domain))
        assert info.set_schedule_map(order).compute_flow().get_must_dependence()
        assert ours.Schedule.from_map(order).get_kelly() and ours.Schedule.from_map(order).get_regular()
    wrong = 'domain: "{ S[i] : 0 <= i < 3 }"\nchild: { schedule: "[{ S[i] -> [(j)] }]" }\n'
    with ours.limits(steps=10**10), pytest.raises(ours.Error, match="`j`"):
        ours.Schedule(wrong)
