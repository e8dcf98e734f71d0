"""`--check` on models that are more than operators and tensors."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import small
import tangram

MODELS = {
    "a local function": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[n, 3] x) => (float[n, 3] y) { z = own.f(x)  y = Identity(z) }
        <domain: "own", opset_import: ["" : 17]> f (a) => (b) { c = Relu(a)  b = Neg(c) }""",
    "random numbers": """<ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 3] x) => (float[2, 3] y) { r = RandomNormalLike(x)  s = RandomUniform <shape = [2, 3]> ()
            t = Add(r, x)  u = Identity(t)  y = Mul(u, s) }""",
    "random numbers in a branch": """<ir_version: 8, opset_import: ["" : 17]>
        g (bool c, float[n, 3] x) => (float[n, 3] y) {
            z = If (c) <
                then_branch = t () => (float[n, 3] a) { r = RandomNormalLike(x)  s = Identity(r)  a = Add(s, x) },
                else_branch = e () => (float[n, 3] b) { b = RandomUniformLike(x) }>
            y = Identity(z) }""",
    "random numbers in a loop": """<ir_version: 8, opset_import: ["" : 17]>
        g (int64 k, float[2, 3] x) => (float[2, 3] y) {
            z = Loop (k, , x) <
                body = l (int64 i, bool on, float[2, 3] a) => (bool more, float[2, 3] b) {
                    more = Identity(on)  r = RandomNormalLike(x)  s = Identity(r)  b = Mul(a, s) }>
            y = Identity(z) }""",
    "a sequence": """<ir_version: 8, opset_import: ["" : 17]>
        g (seq(float[n]) x) => (float[m] y) { z = ConcatFromSequence <axis = 0> (x)  y = Identity(z) }""",
    "an optional value": """<ir_version: 8, opset_import: ["" : 17]>
        g (optional(float[n]) x) => (float[n] y) { z = OptionalGetElement(x)  y = Neg(z) }""",
}


def sparse() -> onnx.ModelProto:
    """A model with a sparse initialiser, by linear indices."""
    model = small.model("(float[2, 3] x) => (float[2, 3] y) { z = Add(x, w)  y = Identity(z) }")
    values = numpy_helper.from_array(np.array([1.5, -2], np.float32), "w")
    indices = numpy_helper.from_array(np.array([1, 5]), "w_indices")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 3]))
    return model


@pytest.mark.parametrize("name", [*MODELS, "a sparse initialiser"])
def test_models_of_all_kinds_are_compared(name) -> None:
    model = onnx.parser.parse_model(MODELS[name]) if name in MODELS else sparse()
    kept = tangram.optimize(model)
    assert tangram.check(model, kept)
    # The comparison can fail: the same model with its result negated is another.
    other = onnx.ModelProto()
    other.CopyFrom(model)
    last = other.graph.node[-1]
    last.CopyFrom(helper.make_node("Abs", [last.input[0]], list(last.output)))
    assert not tangram.check(model, other)


@pytest.mark.parametrize("name", [*MODELS, "a sparse initialiser"])
def test_the_command_compares_them(tangram_bin, tmp_path, name) -> None:
    model = onnx.parser.parse_model(MODELS[name]) if name in MODELS else sparse()
    small.Command(tangram_bin, tmp_path).optimise(model, "--check")
