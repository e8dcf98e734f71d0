"""The sample program of the language chapter, and what it ought to merge, counted apart."""

from __future__ import annotations

import itertools

import onnx
from onnx import helper

import gsl
from gsl import Subst, attr, op, pat


def sample(wl: gsl.Workload) -> tuple[Subst, gsl.Workload]:
    """The program of the chapter, word for word but for the line that makes `wl`."""
    # fmt: off
    # 输入
    x = pat.Wildcard()
    w1 = pat.Variable()
    w = pat.Variable(shape=(None, None, w1.shape[2], w1.shape[3]))

    # 源模式
    conv1 = op.Conv2D(x, w1, groups=1)
    conv_attrs = ['strides', 'padding', 'dilation', 'groups']
    conv = op.Conv2D(x, w, **pat.same_attr(conv1, conv_attrs))
    src = pat.Variadic(conv, templates=[conv, w], first=[conv1, w1], min_len=2)

    # 目标模式
    i = attr.Symbol()
    w_inst = src(w, i)
    concat = op.Concatenate(pat.Variadic(w_inst, templates=[w_inst], index=i, length=src.length), axis=0)
    conv = op.Conv2D(x, concat, **pat.same_attr(conv1, conv_attrs))
    split = op.Split(conv, axis=1, indices_or_sections=attr.Variadic(lambda j: attr.ReduceIndexed(attr.BinaryOp.ADD, lambda k: src(w, k).shape[0], j + 1), length=src.length - 1))
    i = attr.Symbol()
    item = split[i]
    tgt = pat.Variadic(item, templates=[item], index=i)

    # 创建替换规则
    subst = Subst(src, tgt)

    # 将替换作用于工作负载
    new_wl = subst(wl)
    # fmt: on
    return subst, new_wl


def _convolutions(model: onnx.ModelProto) -> list[tuple]:
    """What each convolution with a weight of its own reads and says, defaults written out."""
    shapes = {w.name: tuple(w.dims) for w in model.graph.initializer}
    found = []
    for node in model.graph.node:
        if node.op_type != "Conv" or len(shapes.get(node.input[1], ())) != 4:
            continue
        attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        window = shapes[node.input[1]][2:]
        said = (
            tuple(attrs.get("strides", (1, 1))),
            tuple(attrs.get("pads", (0, 0, 0, 0))),
            tuple(attrs.get("dilations", (1, 1))),
            attrs.get("auto_pad", b"NOTSET"),
            attrs.get("group", 1),
        )
        found.append((node.input[0], node.input[1], window, said))
    return found


def _together(a: tuple, b: tuple) -> bool:
    """Whether the source of the rule matches two convolutions as two branches."""
    (x, w, window, said), (y, v, other, also) = a, b
    return x == y and w != v and window == other and said == also and said[-1] == 1


def mergeable(model: onnx.ModelProto) -> list[int]:
    """Sizes of the greatest groups of convolutions of which every two are branches of one match.

    By comparing every two; no group is a part of another because `_together` says what does not
    depend on others, weights apart, which no two convolutions of these models share.
    """
    convs = _convolutions(model)
    beside = {i: {i} for i in range(len(convs))}
    for i, j in itertools.combinations(range(len(convs)), 2):
        if _together(convs[i], convs[j]):
            beside[i].add(j)
            beside[j].add(i)
    groups = {frozenset(group) for group in beside.values() if len(group) > 1}
    for group in groups:
        assert all(beside[i] == group for i in group), "a group is no clique"
    return sorted(len(group) for group in groups)
