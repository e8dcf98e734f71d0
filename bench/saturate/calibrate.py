"""Measures single operators in onnxruntime and fits the cost model's kinds to them.

    python bench/saturate/calibrate.py [--json FILE] [--write FILE]

Each operator is measured as the model is that the benchmark times: without onnxruntime's own
optimisations, one thread, processor time. A model of one node is compared with one of nine of the
same kind over the same input, so that what is left is the time of a node without that of a run.

A kind of operator takes `start + parts * each + flops / rate + bytes / traffic + unfolded / unfolding`
seconds: parts are the groups of a convolution, the batches of a product, the pieces of a split or
concatenation; unfolded is what a convolution copies to read each window of its input as a column,
unless windows are single elements. The numbers are those with the least squares of relative errors,
none below zero. `--write` puts them in a cost file: `crates/saturate/cost/cpu.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import statistics
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
import oracle  # noqa: E402: the sessions that the benchmark times

COPIES = 9
ROUNDS = 15


class Case:
    """A node over `inputs`, with what the cost model counts of it."""

    def __init__(
        self, kind, op, inputs, weights=(), out=None, outputs=1, flops=0.0, parts=0, unfolded=0.0, **attributes
    ):
        self.kind, self.op, self.inputs, self.weights = kind, op, inputs, weights
        self.outputs, self.attributes = outputs, attributes
        self.flops, self.parts, self.unfolded = flops, parts, 4.0 * unfolded
        self.read = [*inputs, *(w if isinstance(w, tuple) else w.shape for w in weights if not _is_index(w))]
        self.out = out or inputs[0]
        self.bytes = 4.0 * (sum(map(math.prod, self.read)) + math.prod(self.out))

    def model(self, copies: int) -> onnx.ModelProto:
        rng = np.random.default_rng(1)
        weights = []
        for number, weight in enumerate(self.weights):
            data = rng.standard_normal(weight).astype(np.float32) if isinstance(weight, tuple) else weight
            weights.append(numpy_helper.from_array(data, f"w{number}"))
        inputs = [f"x{i}" for i in range(len(self.inputs))]
        names = inputs + [w.name for w in weights]
        nodes = [
            helper.make_node(self.op, names, [f"y{copy}.{k}" for k in range(self.outputs)], **self.attributes)
            for copy in range(copies)
        ]
        # One output of the graph: the others are dropped as soon as they are made.
        nodes.append(helper.make_node("Shape", [f"y{copies - 1}.0"], ["shape"]))
        described = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in zip(inputs, self.inputs)]
        result = [helper.make_tensor_value_info("shape", TensorProto.INT64, None)]
        graph = helper.make_graph(nodes, "case", described, result, weights)
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def _is_index(weight) -> bool:
    return not isinstance(weight, tuple) and weight.dtype == np.int64


def seconds(case: Case) -> float:
    """The processor time that one node takes."""
    rng = np.random.default_rng(2)
    feed = {f"x{i}": rng.standard_normal(s).astype(np.float32) for i, s in enumerate(case.inputs)}
    few, many = (oracle.session(case.model(copies)) for copies in (1, COPIES))
    many.run(None, feed)
    start = time.perf_counter()
    many.run(None, feed)
    runs = max(1, int(0.003 / (time.perf_counter() - start)))
    found = []
    for _ in range(ROUNDS):
        times = []
        for session in (few, many):
            start = time.process_time()
            for _ in range(runs):
                session.run(None, feed)
            times.append((time.process_time() - start) / runs)
        found.append((times[1] - times[0]) / (COPIES - 1))
    return statistics.median(found)


def convolution(x, out, kernel, groups=1, stride=1) -> Case:
    n, c, h, w = x
    oh, ow = -(-h // stride), -(-w // stride)
    weight = (out, c // groups, kernel, kernel)
    pads = [kernel // 2] * 4
    unfolded = 0 if kernel == 1 and stride == 1 else n * c * kernel * kernel * oh * ow
    flops = 2.0 * n * oh * ow * math.prod(weight)
    return Case("convolution", "Conv", [x], [weight], (n, out, oh, ow), flops=flops, parts=n * groups,
                unfolded=unfolded, group=groups, strides=[stride, stride], pads=pads)


def cases() -> list[Case]:
    """What is measured: the operators of the benchmark's networks, from small to large."""
    made = []
    for size in (4, 8, 16, 32):
        for into, out in ((4, 4), (16, 8), (16, 64), (32, 32), (64, 64), (128, 64)):
            for kernel in (1, 3):
                made.append(convolution((1, into, size, size), out, kernel))
        made.append(convolution((1, 3, size, size), 32, 3, stride=2))
        made.append(convolution((1, 4, size, size), 8, 5))
        for groups, channels in ((8, 32), (4, 64), (32, 32)):
            made.append(convolution((1, channels, size, size), channels, 3, groups))
        made.append(convolution((1, 64, size, size), 64, 1, 8))
    for m, k, n in ((1, 32, 32), (1, 64, 128), (1, 512, 512), (8, 64, 64), (16, 64, 192), (16, 192, 64),
                    (64, 64, 64), (64, 256, 256), (128, 512, 128), (256, 256, 256)):
        made.append(Case("product", "MatMul", [(m, k)], [(k, n)], (m, n), flops=2.0 * m * k * n))
        made.append(Case("product", "MatMul", [(1, m, k)], [(k, n)], (1, m, n), flops=2.0 * m * k * n))
        made.append(Case("product", "Gemm", [(m, k)], [(k, n), (n,)], (m, n), flops=2.0 * m * k * n))
    for b, m, k, n in ((4, 16, 16, 16), (8, 64, 32, 64), (4, 128, 64, 128)):
        shapes = [(b, m, k), (b, k, n)]
        made.append(Case("product", "MatMul", shapes, [], (b, m, n), parts=b, flops=2.0 * b * m * k * n))
    for shape in ((32,), (1, 16, 8, 8), (1, 32, 16, 16), (1, 64, 32, 32), (1, 128, 64, 64)):
        count = math.prod(shape)
        made += [Case("element-wise", op, [shape, shape], flops=count) for op in ("Add", "Mul")]
        made.append(Case("element-wise", "Relu", [shape], flops=count))
        if len(shape) == 4:
            made.append(Case("element-wise", "Add", [shape], [(shape[1], 1, 1)], flops=count))
        made += [Case("transcendental", op, [shape], flops=count) for op in ("Tanh", "Sigmoid", "Exp", "Erf")]
        made.append(Case("view", "Reshape", [shape], [np.array([-1])]))
        if len(shape) != 4:
            continue
        c, h, w = shape[1:]
        made.append(Case("transpose", "Transpose", [shape], out=shape, perm=[0, 2, 3, 1]))
        bounds = [np.array([0]), np.array([c // 2]), np.array([1])]
        made.append(Case("copy", "Slice", [shape], bounds, (1, c // 2, h, w)))
        for parts in (2, 4, 8):
            piece = (1, c // parts, h, w)
            each = np.full(parts, c // parts)
            made.append(Case("split", "Split", [shape], [each], shape, parts, parts=parts, axis=1))
            made.append(Case("concatenate", "Concat", [piece] * parts, out=shape, parts=parts, axis=1))
        for rows in (1, 16):
            flat = (rows, c * 8)
            each = np.full(4, c * 2)
            made.append(Case("split", "Split", [flat], [each], flat, 4, parts=4, axis=1))
        made.append(Case("reduction", "ReduceMean", [shape], out=(1, c), flops=count, axes=[2, 3], keepdims=0))
        made.append(Case("reduction", "Softmax", [(c, h * w)], flops=count, axis=-1))
        made.append(Case("window", "MaxPool", [shape], flops=9.0 * count, kernel_shape=[3, 3], pads=[1] * 4))
    return made


def terms(case: Case) -> list[float]:
    """What the coefficients of a kind are factors of."""
    traffic = 0.0 if case.kind == "view" else case.bytes
    return [1.0, case.parts, case.flops, traffic, case.unfolded]


def fit(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Least squares with no coefficient below zero, by trying each set of those above.

    Errors count in relation to the geometric mean of estimate and time, so that half and double
    are equally wrong.
    """
    best, found = np.inf, np.zeros(rows.shape[1])
    for mask in range(1, 1 << rows.shape[1]):
        used = [i for i in range(rows.shape[1]) if mask >> i & 1 and rows[:, i].any()]
        estimate = times
        for _ in range(8):
            weight = 1 / np.sqrt(times * estimate)
            answer = np.linalg.lstsq(rows[:, used] * weight[:, None], times * weight, rcond=None)[0]
            estimate = np.maximum(rows[:, used] @ answer, times / 16)
        error = np.square(np.log(estimate / times)).sum()
        if (answer >= 0).all() and error < best - 1e-9:
            best = error
            found = np.zeros(rows.shape[1])
            found[used] = answer
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="what was measured")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="the cost file to renew")
    arguments = parser.parse_args()
    measured: dict[str, list[tuple[Case, float]]] = {}
    for case in cases():
        measured.setdefault(case.kind, []).append((case, seconds(case)))
    if arguments.json:
        rows = [(kind, case, t) for kind, found in measured.items() for case, t in found]
        listed = [[k, c.op, c.inputs, list(map(str, c.weights)), terms(c), t, c.attributes] for k, c, t in rows]
        arguments.json.write_text(json.dumps(listed) + "\n")
    kinds = {}
    for kind, found in measured.items():
        times = np.array([max(t, 1e-8) for _, t in found])
        rows = np.array([terms(case) for case, _ in found])
        answer = fit(rows, times)
        kinds[kind] = answer.tolist()
        off = rows @ answer / times
        rates = [1e-9 / rate if rate else np.inf for rate in answer[2:]]
        print(f"{kind:16} {answer[0] * 1e6:6.2f} us {answer[1] * 1e6:6.3f} us/part "
              "{:7.1f} Gflop/s {:7.1f} GB/s {:7.1f} GB/s unfolded ".format(*rates) +
              f"off: {np.quantile(off, .1):.2f} {np.median(off):.2f} {np.quantile(off, .9):.2f} ({len(found)})")
    if arguments.write:
        arguments.write.write_text(json.dumps(cost_file(kinds), indent=2) + "\n")
    return 0


def rounded(number: float) -> float:
    """Three digits: more is noise."""
    return float(f"{number:.3g}")


def cost_file(kinds: dict[str, list[float]]) -> dict:
    """A cost file: the rates of each kind, and of what has none the product's and element-wise ones."""

    def rates(answer: list[float]) -> dict:
        start, part, *times = answer
        names = ("flops_per_second", "bytes_per_second", "unfolded_bytes_per_second")
        said = {"start_seconds": rounded(start), "part_seconds": rounded(part)}
        return said | {name: rounded(1 / each) for name, each in zip(names, times) if each}

    found = {kind: rates(answer) for kind, answer in kinds.items()}
    plain = found["element-wise"]
    return {
        "name": "one core of a server processor",
        "source": f"bench/saturate/calibrate.py: onnxruntime {onnxruntime.__version__}, one thread, unoptimised",
        "flops_per_second": found["product"]["flops_per_second"],
        "scalar_flops_per_second": plain["flops_per_second"],
        "bytes_per_second": found["copy"]["bytes_per_second"],
        "launch_seconds": plain["start_seconds"],
        "fused_share": 1,
        "symbol_size": 16,
        "kinds": found,
    }


if __name__ == "__main__":
    sys.exit(main())
