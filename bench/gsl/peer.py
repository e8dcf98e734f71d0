"""onnxscript's rewriter on one model, apart, so that its memory can be measured.

    python bench/gsl/peer.py MODEL RULE[,RULE...]

Prints seconds of applying the rules (reading and writing not counted), how often they fired, and
how many nodes are left, as JSON.
"""

from __future__ import annotations

import json
import sys
import time

import onnxscript.rewriter.rules.common as common
from onnxscript import ir
from onnxscript.rewriter import RewriteRule, RewriteRuleSet


def _gelu(op, x):
    y = op.Add(op.Erf(op.Div(x, 1.4142135623730951)), 1.0)
    return op.Mul(op.Mul(x, y), 0.5)


def _gelu_made(op, x):
    return op.Gelu(x, _domain="com.microsoft")


def _two_convs(op, x, w1, w2):
    return op.Conv(x, w1, _outputs=["y1"]), op.Conv(x, w2, _outputs=["y2"])


def _two_convs_made(op, x, w1, w2, y1, y2):
    node = y1.producer()
    attributes = {name: attribute.value for name, attribute in node.attributes.items()}
    wide = op.Conv(x, op.Concat(w1, w2, axis=0), **attributes)
    sizes = op.Constant(value_ints=[w1.shape[0], w2.shape[0]])
    return op.Split(wide, sizes, axis=1, _outputs=2)


def _two_convs_check(context, x, w1, w2, y1, y2):
    a, b = y1.producer(), y2.producer()
    said = [{n: t.value for n, t in node.attributes.items()} for node in (a, b)]
    ones = all(node.attributes.get("group") is None for node in (a, b))
    return a is not b and ones and said[0] == said[1] and w1.shape[2:] == w2.shape[2:]


RULES = {
    "transpose-transpose": common.transpose_transpose_rule,
    "relu-relu": common.successive_relu_rule,
    "clip-clip": common.successive_clip_rule,
    "expand-dims-expand-dims": common.unsqueeze_unsqueeze_rule,
    "reshape-reshape": common.reshape_reshape_rule,
    "conv-batch-norm": common.fuse_batchnorm_into_conv_rule,
    "gelu": RewriteRule(_gelu, _gelu_made),
    "parallel-two-conv2d": RewriteRule(_two_convs, _two_convs_made, _two_convs_check),
}


def main() -> None:
    """Applies rules to a model."""
    path, names = sys.argv[1], sys.argv[2].split(",")
    model = ir.load(path)
    rules = RewriteRuleSet([RULES[name] for name in names])
    start = time.perf_counter()
    fired = rules.apply_to_model(model)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "fired": fired, "nodes": len(model.graph)}))


if __name__ == "__main__":
    main()
