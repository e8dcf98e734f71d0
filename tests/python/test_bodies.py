"""Loops and branches whose bodies are compiled, beside onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

import oracle
import tangram

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'

# A recurrent cell as other frameworks export it: a loop that carries its weights, and takes a step
# of a sequence by its number.
CELL = f"""{HEAD}
agraph (float[steps, batch, 5] x, float[5, 12] w, float[3, 12] r, float[12] b, float[batch, 3] h)
    => (float[batch, 3] last, float[steps, batch, 3] all)
{{
  shape = Shape <start: int = 0, end: int = 1> (x)
  zero = Constant <value_ints: ints = [0]> ()
  count = Squeeze (shape, zero)
  yes = Constant <value = bool {{1}}> ()
  last, c_last, w_last, r_last, b_last, all = Loop (count, yes, h, h, w, r, b) <body = cell
    (int64 i, bool on, float[batch, 3] h0, float[batch, 3] c0, float[5, 12] w0, float[3, 12] r0, float[12] b0)
    => (bool on1, float[batch, 3] h1, float[batch, 3] c1, float[5, 12] w1, float[3, 12] r1, float[12] b1, float[batch, 3] y)
    {{
      on1 = Identity (on)
      step = Gather <axis: int = 0> (x, i)
      left = MatMul (step, w0)
      right = MatMul (h0, r0)
      sum = Add (left, right)
      gates = Add (sum, b0)
      gi, gj, gf, go = Split <axis: int = 1> (gates)
      si = Sigmoid (gi)
      tj = Tanh (gj)
      sf = Sigmoid (gf)
      so = Sigmoid (go)
      kept = Mul (sf, c0)
      new = Mul (si, tj)
      c1 = Add (kept, new)
      tc = Tanh (c1)
      h1 = Mul (so, tc)
      w1 = Identity (w0)
      r1 = Identity (r0)
      b1 = Identity (b0)
      y = Identity (h1)
    }}>
}}
"""

# The same where the body reads what is computed around it.
TURNED = CELL.replace("float[steps, batch, 5] x,", "float[batch, steps, 5] given,").replace(
    "  shape = Shape", "  x = Transpose <perm: ints = [1, 0, 2]> (given)\n  shape = Shape"
)

# A state that grows with every step, as a cache of keys does.
CACHE = f"""{HEAD}
agraph (float[n, 4] start, float[4, 4] w, int64 count) => (float[m, 4] last)
{{
  yes = Constant <value = bool {{1}}> ()
  last = Loop (count, yes, start) <body = grow
    (int64 i, bool on, float[k, 4] rows) => (bool on1, float[l, 4] more)
    {{
      on1 = Identity (on)
      zero = Constant <value_ints: ints = [0]> ()
      one = Constant <value_ints: ints = [1]> ()
      first = Slice (rows, zero, one)
      product = MatMul (first, w)
      turned = Transpose <perm: ints = [1, 0]> (rows)
      scores = MatMul (product, turned)
      weights = Softmax <axis: int = -1> (scores)
      mixed = MatMul (weights, rows)
      more = Concat <axis: int = 0> (rows, mixed)
    }}>
}}
"""

# Slices of a sequence, backwards, with a state, and what is computed around the body.
SCAN = f"""{HEAD}
agraph (float[steps, batch, 6] x, float[6, 6] w, float[batch, 6] h) => (float[batch, 6] last, float[steps, batch, 6] all)
{{
  scale = ReduceMean <axes: ints = [0, 1], keepdims: int = 0> (x)
  last, all = Scan <num_scan_inputs: int = 1, scan_input_directions: ints = [1], body = cell
    (float[batch, 6] h0, float[batch, 6] step) => (float[batch, 6] h1, float[batch, 6] y)
    {{
      product = MatMul (h0, w)
      sum = Add (product, step)
      scaled = Mul (sum, scale)
      h1 = Tanh (scaled)
      y = Relu (h1)
    }}> (h, x)
}}
"""

# Branches of which one holds a loop.
BRANCH = f"""{HEAD}
agraph (float[n, 4] x, float[4, 4] w, bool first, int64 count) => (float[n, 4] y)
{{
  doubled = Add (x, x)
  y = If (first) <then_branch = plain () => (float[n, 4] a)
    {{
      p = MatMul (doubled, w)
      q = Relu (p)
      r = Add (q, x)
      a = Mul (r, r)
    }}, else_branch = looped () => (float[n, 4] b)
    {{
      yes = Constant <value = bool {{1}}> ()
      e = Exp (x)
      s = Sigmoid (e)
      b0 = Mul (s, doubled)
      b = Loop (count, yes, b0) <body = again (int64 i, bool on, float[n, 4] z) => (bool on1, float[n, 4] z1)
        {{
          on1 = Identity (on)
          m = MatMul (z, w)
          t = Tanh (m)
          u = Add (t, doubled)
          z1 = Softmax <axis: int = 1> (u)
        }}>
    }}>
}}
"""


def real(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def cell(steps: int, batch: int) -> dict:
    x = {"x": real(steps, batch, 5), "w": real(5, 12), "r": real(3, 12), "b": real(12)}
    return {**x, "h": real(batch, 3)}


def turned(steps: int, batch: int) -> dict:
    inputs = cell(steps, batch)
    return {"given": inputs.pop("x").transpose(1, 0, 2).copy(), **inputs}


def cache(n: int, count: int) -> dict:
    return {"start": real(n, 4), "w": real(4, 4), "count": np.array(count)}


def scan(steps: int, batch: int) -> dict:
    return {"x": real(steps, batch, 6), "w": real(6, 6), "h": real(batch, 6)}


def branch(n: int, first: bool) -> dict:
    return {"x": real(n, 4), "w": real(4, 4), "first": np.array(first), "count": np.array(3)}


CASES = {
    "cell": (CELL, [cell(4, 2), cell(1, 3), cell(0, 2)]),
    "turned": (TURNED, [turned(4, 2), turned(1, 3), turned(0, 2)]),
    "cache": (CACHE, [cache(1, 5), cache(3, 2), cache(2, 0)]),
    "scan": (SCAN, [scan(4, 2), scan(1, 1)]),
    "branch": (BRANCH, [branch(2, True), branch(3, False), branch(1, False)]),
}


@pytest.mark.parametrize("constant", [False, True], ids=["inputs", "weights"])
@pytest.mark.parametrize("name", CASES)
def test_compiled_bodies_are_right(name: str, constant: bool) -> None:
    text, runs = CASES[name]
    model = onnx.parser.parse_model(text)
    weights = {key: runs[0][key] for key in ("w", "r", "b") if constant and key in runs[0]}
    for key, value in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, key))
        model.graph.input.remove(next(i for i in model.graph.input if i.name == key))
    onnx.checker.check_model(model, full_check=True)
    options = tangram.SessionOptions()
    session = tangram.InferenceSession(model, options)
    for run in runs:
        given = {key: value for key, value in run.items() if key not in weights}
        expected = oracle.run_ort(model, given)
        found = session.run(None, given)
        for mine, theirs in zip(found, expected, strict=True):
            if not theirs.size:
                # Where nothing was collected, onnxruntime has 0 for every symbol.
                assert not mine.size and mine.ndim == theirs.ndim
                continue
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6)
    compiled = {n: counts for n, counts in session.coverage().items() if n == "nn.matmul"}
    assert compiled and all(counts[1] == 0 for counts in compiled.values()), session.coverage()


def test_a_body_that_declares_wrong_sizes_still_runs() -> None:
    model = onnx.parser.parse_model(CACHE.replace("float[k, 4] rows", "float[1, 4] rows"))
    session = tangram.InferenceSession(model)
    given = cache(1, 4)
    right = oracle.run_ort(onnx.parser.parse_model(CACHE), given)
    np.testing.assert_allclose(session.run(None, given)[0], right[0], rtol=2e-5, atol=2e-6)


def test_weights_that_a_loop_carries_are_read_from_outside() -> None:
    model = onnx.parser.parse_model(CELL)
    better = tangram.optimize(model).to_onnx()
    (loop,) = [node for node in better.graph.node if node.op_type == "Loop"]
    body = loop.attribute[0].g
    read = {name for node in body.node for name in node.input}
    assert {"w", "r", "b"} <= read
    given = cell(3, 2)
    assert oracle.same(oracle.run_ort(better, given), oracle.run_ort(model, given))


def test_a_sequence_that_is_only_handed_on():
    text = f"""{HEAD}
    agraph (float[2] x, float[3] y) => (float[m] second)
    {{
      both = SequenceConstruct (x, y)
      same = Identity (both)
      one = Constant <value = int64 {{1}}> ()
      second = SequenceAt (same, one)
    }}"""
    model = onnx.parser.parse_model(text)
    feeds = {"x": np.ones(2, np.float32), "y": np.arange(3, dtype=np.float32)}
    (found,) = tangram.InferenceSession(model).run(None, feeds)
    np.testing.assert_array_equal(found, feeds["y"])
