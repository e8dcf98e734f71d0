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

# A loop that runs where the branch is taken, with a body of one state and what else it makes.
LOOP = """steps = Cast <to = 7> (c)  first = Cast <to = 9> (c)
          {results} = Loop (steps, first{states}) <body = b (int64 i, bool go{arguments})
            => (bool goes{yields}) {{ goes = Identity(go)  {body} }}>"""

# The same in regions: the value goes in as an operand or is seen from inside, and comes out again.
IN_REGIONS = {
    "a state of a scan": """v, rest = Scan <num_scan_inputs = 1, body = b (float[i, j] s0, float[k] e0)
        => (float[i, j] s1, float[k] e1) { s1 = Add(s0, w)  e1 = Identity(e0) }> (r, w)""",
    "a slice of a scan": """v = Scan <num_scan_inputs = 1, body = b (float[j] e0) => (float[k] e1) {
        e1 = Add(e0, w0) }> (r)""",
    "a slice in two steps": """v = Scan <num_scan_inputs = 1, body = b (float[j] e0) => (float[k] e1) {
        e2 = Neg(e0)  e3 = Exp(e2)  e1 = Mul(e3, w0) }> (r)""",
    "beside a slice": """r2 = Neg(r)  v = Scan <num_scan_inputs = 1, body = b (float[j] e0)
        => (float[k, l] e1) { e2 = Mul(e0, w0)  e1 = Add(r2, e2) }> (w)""",
    "seen by a scan": """v = Scan <num_scan_inputs = 1, body = b (float[j] e0) => (float[k, l] e1) {
        e1 = Add(r, w) }> (w)""",
    "seen by a loop": LOOP.format(
        results="v", states=", w", arguments=", float[i, j] s0", yields=", float[k, l] s1",
        body="s1 = Add(r, w)",
    ),
    "seen by a branch": """v = If (c) <then_branch = p1 () => (float[i, j] y1) { y1 = Add(r, w) },
                               else_branch = q1 () => (float[k, l] y2) { y2 = Neg(r) }>""",
    "seen by a scan in a branch": """v = If (c) <
        then_branch = p1 () => (float[i, j] y1) {
            y1 = Scan <num_scan_inputs = 1, body = b (float[j] e0) => (float[k] e1) {
                e1 = Add(e0, w0) }> (r) },
        else_branch = q1 () => (float[k, l] y2) { y2 = Neg(r) }>""",
    "what branches yield": """v0 = If (c) <then_branch = p1 () => (float[i, j] y1) { y1 = Neg(r) },
                                else_branch = q1 () => (float[k, l] y2) { y2 = Exp(r) }>
                          v = Add(v0, w)""",
    "what a scan collects": """v0 = Scan <num_scan_inputs = 1, body = b (float[j] e0)
        => (float[k, l] e1) { e1 = Neg(r) }> (x)  v = Add(v0, w)""",
    "what a loop collects": LOOP.format(
        results="v0", states="", arguments="", yields=", float[k, l] e1", body="e1 = Neg(r)",
    ) + "  v1 = Relu(v0)  v = Add(v1, w)",
    "the last state of a scan": """v0, rest = Scan <num_scan_inputs = 1, body = b (float[i, j] s0,
        float[k] e0) => (float[i, j] s1, float[k] e1) { s1 = Neg(s0)  e1 = Identity(e0) }> (r, w)
        v = Add(v0, w)""",
    # No step may change the extents of a state here, but nothing says so.
    "a state of a loop": LOOP.format(
        results="v", states=", r", arguments=", float[i, j] s0", yields=", float[k, l] s1",
        body="s1 = Add(s0, w)",
    ),
    "a state handed on": LOOP.format(
        results="v, rest", states=", w, r", arguments=", float[i, j] s0, float[g, h] u0",
        yields=", float[k, l] s1, float[g, h] u1", body="s1 = Add(u0, w)  u1 = Identity(u0)",
    ),
}  # fmt: skip


def model(behind: str, hidden: str = HIDDEN):
    weights = {
        "a": np.array([3, 8]),
        "b": np.array([1, 1]),
        "a4": np.array([0, 8, 8, 8]),
        "b4": np.array([1, 1, 1, 1]),
        "w": np.ones((5, 5), np.float32),
        "w0": np.ones(5, np.float32),
        "w3": np.ones(3, np.float32),
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


def nodes(graph):
    """All nodes of a graph, those of the graphs in it included."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes(attribute.g)


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


@pytest.mark.parametrize("behind", [*BEHIND, *IN_REGIONS])
def test_a_branch_that_cannot_run_stays_where_it_is_not_taken(command, behind) -> None:
    before = model((BEHIND | IN_REGIONS)[behind])
    after, _ = command.optimise(before)
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "c": np.array(False)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


@pytest.mark.parametrize("behind", [
    "v0 = Mul(r, r)  v = Sub(v0, r)",
    "v = Scan <num_scan_inputs = 1, body = b (float[j] e0) => (float[k] e1) { e1 = Add(e0, w3) }> (r)",
    """v0 = If (c) <then_branch = p1 () => (float[i, j] y1) { y1 = Neg(r) },
                   else_branch = q1 () => (float[k, l] y2) { y2 = Exp(r) }>  v = Add(v0, w3)""",
])  # fmt: skip
def test_a_branch_that_can_run_is_refined(command, behind) -> None:
    before = model(behind)
    after, _ = command.optimise(before)
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "c": np.array(True)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))
    assert not {"Sqrt", "Cast"} & {node.op_type for node in nodes(after.graph)}
