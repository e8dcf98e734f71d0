"""Nodes that turn out to be impossible once shapes are known: kept, where nobody runs them."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
import small

# The shape of `r` is a number only after square roots and conversions are folded.
HIDDEN = """t0 = Add(a, b)  t1 = Cast <to = 1> (t0)  t2 = Sqrt(t1)  t = Cast <to = 7> (t2)
            r = Reshape(x, t)"""

# What stands behind it in a branch that is never taken, and cannot be: extents do not fit.
BEHIND = {
    "broadcast": "v = Add(r, w)",
    "product": "v = MatMul(r, w)",
    "joint": "v = Concat <axis = 0> (r, w)",
    "in two steps": "v0 = Relu(r)  v1 = Transpose <perm = [1, 0]> (v0)  v = MatMul(w, v1)",
    "twice": "v0 = Mul(r, r)  v = Add(v0, w)",
    "a window": "v = Conv(r4, k)",
}


def model(behind: str, hidden: str = HIDDEN):
    weights = {
        "a": np.array([3, 8]),
        "b": np.array([1, 1]),
        "a4": np.array([0, 8, 8, 8]),
        "b4": np.array([1, 1, 1, 1]),
        "w": np.ones((5, 5), np.float32),
        "k": np.ones((5, 5, 1, 1), np.float32),
    }
    if "r4" in behind:
        hidden = hidden.replace("a, b", "a4, b4").replace("r =", "r4 =")
    return small.model(
        f"""(float[n, m] x, bool c) => (float s) {{
            s = If (c) <then_branch = p () => (float sp) {{ {hidden}
                            {behind}  sp = ReduceSum <keepdims = 0> (v) }},
                        else_branch = q () => (float sq) {{ sq = ReduceSum <keepdims = 0> (x) }}>
        }}""",
        weights=weights,
    )


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


@pytest.mark.parametrize("behind", BEHIND)
def test_a_branch_that_cannot_run_stays_where_it_is_not_taken(command, behind) -> None:
    before = model(BEHIND[behind])
    after, _ = command.optimise(before)
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "c": np.array(False)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


def test_a_branch_that_can_run_is_refined(command) -> None:
    before = model("v0 = Mul(r, r)  v = Sub(v0, r)")
    after, _ = command.optimise(before)
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "c": np.array(True)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))
    assert not {"Sqrt", "Cast"} & set(small.operators(after))
