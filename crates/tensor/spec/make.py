"""Makes the cases of this folder: random small operands and attributes, and what they give.

    pip install onnx onnxruntime numpy
    python make.py [FOLDER [CASES_PER_OPERATOR]]

Results come from onnx's reference evaluator or, where it lacks a feature, from onnxruntime. Where
both have it and disagree, the case is left out and counted on the terminal.
"""

import os
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

warnings.filterwarnings("ignore")
onnxruntime.set_default_logger_severity(4)
rng = np.random.default_rng(20)


def pick(*options):
    return options[rng.integers(len(options))]


def num(low, high):
    """An integer from low to high, both included."""
    return int(rng.integers(low, high + 1))


def data(*shape, dtype=np.float32):
    return (rng.integers(-60, 61, shape) / 16).astype(dtype)


def ints(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def text(array):
    if array is None:
        return "-"
    name = str(array.dtype)
    if name.startswith("float"):
        words = [str(x) for x in array.ravel()]
    else:
        words = [str(int(x)) for x in array.ravel()]
    shape = ",".join(map(str, array.shape)) or ","
    return f"{name} {shape} : {' '.join(words)}"


def attr_text(name, value):
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if values and isinstance(values[0], str):
        return f"{name} texts {' '.join(v.replace(' ', '~') for v in values)}"
    if values and isinstance(values[0], float):
        return f"{name} floats {' '.join(map(repr, values))}"
    return f"{name} ints {' '.join(str(int(v)) for v in values)}"


def evaluate(op, inputs, attrs, outputs, opset):
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outs = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, outs, **attrs)
    feed = {n: x for n, x in zip(names, inputs) if n}
    info = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in feed.items()
    ]
    results = [helper.make_empty_tensor_value_info(n) for n in outs]
    graph = helper.make_graph([node], "g", info, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 10
    found = []
    for run in (reference, runtime):
        try:
            found.append([np.asarray(y) for y in run(model, feed)])
        except Exception:
            found.append(None)
    return found


def reference(model, feed):
    return ReferenceEvaluator(model).run(None, feed)


def runtime(model, feed):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feed)


def agree(a, b):
    return len(a) == len(b) and all(
        x.shape == y.shape
        and x.dtype == y.dtype
        and np.allclose(x.astype(np.float64), y.astype(np.float64), 1e-4, 1e-5, equal_nan=True)
        for x, y in zip(a, b)
    )


def windows(n, extents, kernel, pads=True, dilate=True):
    attrs = {}
    if rng.random() < 0.6:
        attrs["strides"] = [num(1, 3) for _ in range(n)]
    if dilate and rng.random() < 0.4:
        # onnxruntime counts one window where none fits.
        attrs["dilations"] = [
            num(1, 2) if 2 * (k - 1) < extent else 1 for k, extent in zip(kernel, extents)
        ]
    if rng.random() < 0.25:
        attrs["auto_pad"] = pick("VALID", "SAME_UPPER", "SAME_LOWER")
        # Neither oracle follows the standard where windows have gaps or lie apart.
        attrs.pop("dilations", None)
        if "strides" in attrs:
            attrs["strides"] = [min(s, k) for s, k in zip(attrs["strides"], kernel)]
    elif pads and rng.random() < 0.6:
        attrs["pads"] = [num(0, kernel[i % n] - 1) for i in range(2 * n)]
    return attrs


def conv(op="Conv"):
    n, groups = num(1, 3), num(1, 2)
    kernel = [num(1, 3) for _ in range(n)]
    extents = [num(4, 6) for _ in range(n)] if n < 3 else [num(3, 4) for _ in range(n)]
    c, m = groups * num(1, 2), groups * num(1, 2)
    attrs = {"group": groups, **windows(n, extents, kernel)}
    if op == "Conv":
        x, w = data(num(1, 2), c, *extents), data(m, c // groups, *kernel)
    else:
        x, w = data(num(1, 2), c, *extents), data(c, m // groups, *kernel)
        strides = attrs.get("strides", [1] * n)
        if "auto_pad" not in attrs and rng.random() < 0.4:
            attrs["output_padding"] = [num(0, s - 1) for s in strides]
    return op, [x, w] + ([data(m)] if num(0, 1) else []), attrs, 1


def pool(op):
    n = num(1, 3)
    kernel = [num(1, 3) for _ in range(n)]
    extents = [num(3, 7) for _ in range(n)] if n < 3 else [num(3, 4) for _ in range(n)]
    attrs = {"kernel_shape": kernel, "ceil_mode": num(0, 1), **windows(n, extents, kernel)}
    if op == "AveragePool":
        attrs["count_include_pad"] = num(0, 1)
    if op == "LpPool":
        attrs["p"] = num(1, 3)
    return op, [data(num(1, 2), num(1, 2), *extents)], attrs, 2 if op == "MaxPool" else 1


def matmul():
    m, k, n = num(1, 4), num(1, 5), num(1, 4)
    kind = num(0, 4)
    batches = [(), ()] if kind < 2 else pick([(2,), ()], [(), (3,)], [(2, 1), (3,)], [(2,), (2,)])
    a, b = data(*batches[0], m, k), data(*batches[1], k, n)
    if kind == 0:
        a = data(k)
    elif kind == 1:
        b = data(k)
    return "MatMul", [a, b], {}, 1


def gemm():
    m, k, n = num(1, 4), num(1, 5), num(1, 4)
    ta, tb = num(0, 1), num(0, 1)
    attrs = {"transA": ta, "transB": tb, "alpha": num(1, 8) / 4, "beta": num(0, 8) / 4}
    c = pick(None, data(n), data(m, 1), data(m, n), data())
    a, b = data(*((k, m) if ta else (m, k))), data(*((n, k) if tb else (k, n)))
    return "Gemm", [a, b] + ([] if c is None else [c]), attrs, 1


EQUATIONS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ba", [(2, 3)]),
    ("i,j,k->kij", [(2,), (3,), (2,)]),
    ("bij,bjk,bkl->bil", [(2, 2, 3), (2, 3, 2), (2, 2, 2)]),
    ("...ij,...jk->...ik", [(2, 1, 2, 3), (3, 3, 2)]),
    ("...i->...", [(2, 3, 4)]),
    ("b...a,a...c", [(2, 3, 4), (4, 3, 2)]),
    ("iij,jk->ik", [(2, 2, 3), (3, 2)]),
    ("bhqd,bhkd->bhqk", [(1, 2, 3, 2), (1, 2, 4, 2)]),
    ("ij,kl->", [(2, 3), (2, 2)]),
    ("abc,cd,def->feba", [(2, 2, 3), (3, 2), (2, 2, 3)]),
]


def einsum():
    equation, shapes = EQUATIONS[num(0, len(EQUATIONS) - 1)]
    return "Einsum", [data(*shape) for shape in shapes], {"equation": equation}, 1


def norm(op):
    c = pick(2, 4)
    x = data(num(1, 2), c, *[num(2, 4) for _ in range(num(1, 2))])
    attrs = {"epsilon": pick(1e-5, 0.5)}
    if op == "BatchNormalization":
        return op, [x, data(c), data(c), data(c), abs(data(c))], attrs, 1
    if op == "InstanceNormalization":
        return op, [x, data(c), data(c)], attrs, 1
    if op == "GroupNormalization":
        return op, [x, data(c), data(c)], {"num_groups": pick(1, 2), **attrs}, 1
    if op == "LpNormalization":
        return op, [x], {"axis": num(-2, 2), "p": num(1, 2)}, 1
    if op == "LRN":
        attrs = {"size": pick(1, 3, 5), "alpha": 0.25, "beta": pick(0.75, 0.5), "bias": 1.5}
        return op, [x.reshape(*x.shape, *[1] * (4 - x.ndim))], attrs, 1
    if op == "MeanVarianceNormalization":
        return op, [data(2, 3, 2, 2)], {"axes": pick([0, 2, 3], [1], [-1, 0])}, 1
    axis = num(-x.ndim, x.ndim - 1)
    shape = x.shape[axis:] if axis < 0 else x.shape[axis:]
    attrs["axis"] = axis
    if op == "RMSNormalization":
        return op, [x, data(*shape)], attrs, 1
    return op, [x, data(*shape)] + ([data(*shape)] if num(0, 1) else []), attrs, 3


def recurrent(op):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    direction = pick("forward", "reverse", "bidirectional")
    d = 2 if direction == "bidirectional" else 1
    t, b, i, h = num(1, 4), num(1, 3), num(1, 3), num(1, 3)
    small = lambda *shape: (data(*shape) / 4).astype(np.float32)
    maybe = lambda array: array if num(0, 1) else None
    attrs = {"hidden_size": h, "direction": direction}
    lens = maybe(rng.integers(1, t + 1, b).astype(np.int32))
    inputs = [small(t, b, i), small(d, gates * h, i), small(d, gates * h, h)]
    inputs += [maybe(small(d, 2 * gates * h)), lens, maybe(small(d, b, h))]
    if op == "LSTM":
        inputs += [maybe(small(d, b, h)), maybe(small(d, 3 * h))]
        # onnxruntime's `input_forget` sums gates in another way: left to tests by hand.
    if op == "GRU":
        attrs["linear_before_reset"] = num(0, 1)
    if rng.random() < 0.3:
        attrs["clip"] = 0.5
    if rng.random() < 0.4:
        names = ["Relu", "Tanh", "Sigmoid", "Softsign", "Softplus", "HardSigmoid", "LeakyRelu"]
        count = {"RNN": 1, "GRU": 2, "LSTM": 3}[op] * d
        attrs["activations"] = [pick(*names) for _ in range(count)]
    return op, inputs, attrs, 3 if op == "LSTM" else 2


def resize():
    n = num(1, 3)
    x = data(*[num(1, 2) for _ in range(4 - n)], *[num(1, 5) for _ in range(n)])
    mode = pick("nearest", "linear", "cubic")
    transform = pick(
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
        "asymmetric", "tf_crop_and_resize",
    )
    attrs = {"mode": mode, "coordinate_transformation_mode": transform}
    axes = list(range(4 - n, 4))
    attrs["axes"] = axes
    roi = None
    if mode == "nearest":
        attrs["nearest_mode"] = pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    else:
        attrs["antialias"] = int(rng.random() < 0.3)
        attrs["exclude_outside"] = int(rng.random() < 0.3)
    if mode == "cubic":
        attrs["cubic_coeff_a"] = pick(-0.75, -0.5)
    if transform == "tf_crop_and_resize":
        roi = np.array([pick(0.0, 0.25, -0.25) for _ in axes] + [pick(0.5, 1.0, 1.25) for _ in axes])
        roi = roi.astype(np.float32)
        attrs["extrapolation_value"] = 9.0
    if num(0, 1):
        scales = np.array([pick(0.5, 2.0, 1.5, 0.75, 3.0, 1.0) for _ in axes], np.float32)
        return "Resize", [x, roi, scales], attrs, 1
    sizes = np.array([num(1, 8) for _ in axes], np.int64)
    if rng.random() < 0.3:
        attrs["keep_aspect_ratio_policy"] = pick("not_larger", "not_smaller")
    return "Resize", [x, roi, None, sizes], attrs, 1


def grid_sample():
    n = num(1, 3)
    extents = [num(1, 4) for _ in range(n)]
    x = data(1, num(1, 2), *extents)
    grid = (rng.integers(-22, 23, (1, *[num(1, 3) for _ in range(n)], n)) / 16).astype(np.float32)
    attrs = {
        "mode": pick("linear", "nearest", "cubic"),
        "padding_mode": pick("zeros", "border", "reflection"),
        "align_corners": num(0, 1),
    }
    return "GridSample", [x, grid], attrs, 1


def affine_grid():
    n = pick(2, 3)
    size = np.array([2, 1, *[num(2, 3) for _ in range(n)]], np.int64)
    return "AffineGrid", [data(2, n, n + 1), size], {"align_corners": num(0, 1)}, 1


def roi_align():
    corners = rng.integers(0, 12, (3, 2))
    rois = np.concatenate([corners, corners + rng.integers(1, 12, (3, 2))], 1).astype(np.float32)
    attrs = {
        "output_height": pick(1, 2, 4), "output_width": pick(1, 2, 4), "sampling_ratio": num(0, 2),
        "spatial_scale": 0.5, "mode": pick("avg", "max"),
        "coordinate_transformation_mode": pick("half_pixel", "output_half_pixel"),
    }
    indices = rng.integers(0, 2, 3).astype(np.int64)
    return "RoiAlign", [data(2, 2, 6, 7), rois, indices], attrs, 1


def max_roi_pool():
    corners = rng.integers(0, 12, (2, 2))
    rois = np.concatenate([rng.integers(0, 2, (2, 1)), corners, corners + rng.integers(0, 12, (2, 2))], 1)
    attrs = {"pooled_shape": [num(1, 3), num(1, 3)], "spatial_scale": pick(1.0, 0.5)}
    return "MaxRoiPool", [data(2, 2, 7, 6), rois.astype(np.float32)], attrs, 1


def col2im():
    n = num(1, 2)
    image, block = [num(3, 5) for _ in range(n)], [num(1, 2) for _ in range(n)]
    attrs = {
        "strides": [num(1, 2) for _ in range(n)], "dilations": [num(1, 2) for _ in range(n)],
        "pads": [num(0, 1) for _ in range(2 * n)],
    }
    count = 1
    for i in range(n):
        span = attrs["dilations"][i] * (block[i] - 1) + 1
        room = image[i] + attrs["pads"][i] + attrs["pads"][n + i] - span
        count *= room // attrs["strides"][i] + 1
    x = data(2, 2 * int(np.prod(block)), count)
    return "Col2Im", [x, np.array(image), np.array(block)], attrs, 1


def crop_pad():
    x = data(num(1, 5), num(1, 5), num(1, 5))
    axes = pick([0, 1, 2], [2, 0], [-1])
    return "CenterCropPad", [x, np.array([num(1, 6) for _ in axes])], {"axes": axes}, 1


def nms():
    b, c, n = num(1, 2), num(1, 2), num(1, 6)
    boxes = (rng.integers(0, 9, (b, n, 4)) / 8).astype(np.float32)
    scores = (rng.integers(0, 8, (b, c, n)) / 8).astype(np.float32)
    inputs = [boxes, scores, np.array([num(1, 4)]), np.array([pick(0.0, 0.3, 0.6)], np.float32)]
    inputs += [np.array([0.2], np.float32)] if num(0, 1) else []
    return "NonMaxSuppression", inputs, {"center_point_box": num(0, 1)}, 1


def quantize():
    x = data(3, 4, 2)
    dtype = pick(np.uint8, np.int8, np.uint16, np.int16)
    kind = pick("whole", "axis", "blocks")
    attrs, shape = {"axis": 1}, ()
    if kind == "axis":
        shape = (4,)
    elif kind == "blocks":
        attrs["block_size"], shape = 2, (3, 2, 2)
    scale = (rng.integers(1, 32, shape) / 32).astype(np.float32)
    return "QuantizeLinear", [x, np.asarray(scale), np.asarray(ints(dtype, *shape))], attrs, 1


def dequantize():
    dtype = pick(np.uint8, np.int8, np.uint16, np.int16)
    kind, attrs, shape = pick("whole", "axis", "blocks"), {"axis": -2}, ()
    if kind == "axis":
        shape = (4,)
    elif kind == "blocks":
        attrs["block_size"], shape = 3, (3, 2, 2)
    scale = (rng.integers(1, 32, shape) / 32).astype(np.float32)
    x, zero = ints(dtype, 3, 4, 2), np.asarray(ints(dtype, *shape))
    return "DequantizeLinear", [x, np.asarray(scale), zero], attrs, 1


def matmul_integer():
    m, k, n = num(1, 3), num(1, 4), num(1, 3)
    a, b = ints(np.uint8, m, k), ints(pick(np.uint8, np.int8), k, n)
    inputs = [a, b] + ([ints(a.dtype), ints(b.dtype, *pick((), (n,)))] if num(0, 1) else [])
    return "MatMulInteger", [np.asarray(x) for x in inputs], {}, 1


def conv_integer():
    kernel = [num(1, 3), num(1, 2)]
    attrs = windows(2, [4, 5], kernel)
    x, w = ints(np.uint8, 1, 2, 4, 5), ints(np.uint8, 2, 2, *kernel)
    inputs = [x, w] + ([np.asarray(ints(np.uint8)), np.asarray(ints(np.uint8))] if num(0, 1) else [])
    return "ConvInteger", inputs, attrs, 1


def scale(*shape):
    return np.asarray((rng.integers(1, 32, shape) / 512).astype(np.float32))


def qlinear_matmul():
    m, k, n = num(1, 3), num(1, 4), num(1, 3)
    dtype = pick(np.uint8, np.int8)
    a, b = ints(dtype, m, k), ints(dtype, k, n)
    columns = pick((), (n,))
    inputs = [a, scale(), ints(dtype), b, scale(*columns), ints(dtype, *columns), scale(), ints(dtype)]
    return "QLinearMatMul", [np.asarray(x) for x in inputs], {}, 1


def qlinear_conv():
    kernel = [num(1, 3), num(1, 2)]
    attrs = windows(2, [4, 5], kernel)
    x, w = ints(np.uint8, 1, 2, 4, 5), ints(np.int8, 3, 2, *kernel)
    filters = pick((), (3,))
    inputs = [x, scale(), ints(np.uint8), w, scale(*filters), np.zeros(filters, np.int8)]
    inputs += [np.asarray(np.float32(2.0)), ints(np.uint8)]
    inputs += [rng.integers(-500, 500, 3).astype(np.int32)] if num(0, 1) else []
    return "QLinearConv", [np.asarray(x) for x in inputs], attrs, 1


def attention():
    b, kv, s, t, d, e = num(1, 2), num(1, 2), num(1, 3), num(1, 4), num(1, 3), num(1, 3)
    h = kv * num(1, 2)
    inputs = [data(b, h, s, d), data(b, kv, t, d), data(b, kv, t, e)]
    attrs = {"is_causal": num(0, 1), "qk_matmul_output_mode": num(0, 3)}
    if rng.random() < 0.4:
        swap = lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(b, x.shape[2], -1)
        inputs = [swap(x) for x in inputs]
        attrs |= {"q_num_heads": h, "kv_num_heads": kv}
    past = num(1, 2) if num(0, 1) else 0
    mask = pick(None, data(s, t + past), rng.random((b, 1, s, t + past)) < 0.7)
    inputs += [mask]
    if past:
        inputs += [data(b, kv, past, d), data(b, kv, past, e)]
    if rng.random() < 0.3:
        attrs["softcap"] = 2.0
    if rng.random() < 0.3:
        attrs["scale"] = 0.25
    return "Attention", inputs, attrs, 4


def rotary():
    b, h, s, d = num(1, 2), num(1, 2), num(1, 3), pick(2, 4, 6)
    part = pick(0, d, 2)
    half = (part or d) // 2
    attrs = {"interleaved": num(0, 1), "rotary_embedding_dim": part}
    x = data(b, h, s, d)
    if num(0, 1):
        x, attrs["num_heads"] = data(b, s, h * d), h
    if num(0, 1):
        return "RotaryEmbedding", [x, data(b, s, half), data(b, s, half)], attrs, 1
    at = rng.integers(0, 5, (b, s))
    return "RotaryEmbedding", [x, data(5, half), data(5, half), at], attrs, 1


def dft():
    n, parts = num(1, 9), num(1, 2)
    inverse, onesided = num(0, 1), num(0, 1)
    if onesided and not inverse:
        parts = 1
    if inverse:
        parts = 2
    x = pick(data(2, n, parts), data(n, 2, parts))
    length = np.asarray(np.int64(num(1, 10))) if num(0, 1) else None
    axis = np.asarray(np.int64(pick(0, 1, -2, -3)))
    return "DFT", [x, length, axis], {"inverse": inverse, "onesided": onesided}, 1


def stft():
    length, step = num(2, 5), num(1, 3)
    x = data(2, length + num(0, 6), 1)
    window = data(length) if num(0, 1) else None
    inputs = [x, np.asarray(np.int64(step)), window, np.asarray(np.int64(length))]
    return "STFT", inputs, {"onesided": num(0, 1)}, 1


def window_function(op):
    return op, [np.asarray(np.int64(num(2, 9)))], {"periodic": num(0, 1)}, 1


def mel():
    bands, length = num(1, 6), pick(16, 64)
    inputs = [np.asarray(np.int64(v)) for v in (bands, length, 8000)]
    inputs += [np.asarray(np.float32(v)) for v in (pick(0, 100), pick(3000, 3500))]
    return "MelWeightMatrix", inputs, {}, 1


def loss(op):
    n, c, inner = num(1, 3), num(2, 4), [num(1, 3) for _ in range(num(0, 2))]
    attrs = {"reduction": pick("none", "mean", "sum")}
    target = rng.integers(0, c, (n, *inner)).astype(np.int64)
    if num(0, 1):
        attrs["ignore_index"] = 1
        target.flat[0] = 0
    inputs = [data(n, c, *inner), target] + ([abs(data(c)) + np.float32(0.5)] if num(0, 1) else [])
    return op, inputs, attrs, 2 if op.startswith("Soft") else 1


def det():
    n = num(1, 4)
    return "Det", [data(*pick((), (2,)), n, n)], {}, 1


FAMILIES = {
    "conv": [conv, lambda: conv("ConvTranspose")],
    "pool": [lambda: pool("MaxPool"), lambda: pool("AveragePool"), lambda: pool("LpPool")],
    "product": [matmul, gemm, einsum, det],
    "norm": [
        lambda op=op: norm(op)
        for op in (
            "BatchNormalization", "InstanceNormalization", "GroupNormalization",
            "LayerNormalization", "RMSNormalization", "LpNormalization", "LRN",
            "MeanVarianceNormalization",
        )
    ],
    "recurrent": [lambda op=op: recurrent(op) for op in ("RNN", "GRU", "LSTM")],
    "resize": [resize, resize, resize],
    "image": [grid_sample, affine_grid, roi_align, max_roi_pool, col2im, crop_pad, nms],
    "quant": [quantize, dequantize, matmul_integer, conv_integer, qlinear_matmul, qlinear_conv],
    "attention": [attention, rotary],
    "signal": [dft, stft, mel]
    + [lambda op=op: window_function(op) for op in ("HannWindow", "HammingWindow", "BlackmanWindow")],
    "loss": [lambda op=op: loss(op) for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")],
}

# Operators that the reference evaluator computes wrongly: it takes the batches of LRN for the
# channels, forgets the absolute value of 1-norms, and counts maxima within a channel.
WRONG = ["LRN", "LpNormalization", "MaxPool"]

# Features that the reference evaluator accepts and ignores.
IGNORED = {
    "RNN": ["activations", "clip"], "GRU": ["activations", "clip"],
    "LSTM": ["activations", "clip"],
}


def choose(op, inputs, attrs, found):
    """The result to trust, and the reason for having none."""
    expected, other = found
    lens = op in IGNORED and len(inputs) > 4 and inputs[4] is not None
    if lens or any(name in attrs for name in IGNORED.get(op, [])):
        expected, other = other, None
    if expected is None or op in WRONG:
        expected, other = other, None
    if expected is None:
        return None, "no result"
    if attrs.get("coordinate_transformation_mode") == "pytorch_half_pixel":
        # The standard has 0 for the coordinate of a single element, the evaluator -0.5.
        if 1 in expected[0].shape:
            return None, "single element"
    if other is not None and not agree(expected, other):
        return None, "disagreement"
    return expected, None


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    for family, makers in FAMILIES.items():
        notes = {}
        with open(os.path.join(folder, family + ".txt"), "w") as out:
            out.write(f"# Made by make.py with onnx {onnx.__version__} and ")
            out.write(f"onnxruntime {onnxruntime.__version__}.\n")
            for maker in makers:
                for _ in range(count):
                    op, inputs, attrs, outputs = maker()
                    inputs = [x if x is None else np.asarray(x) for x in inputs]
                    opset = 24 if op == "Attention" else 23
                    found = evaluate(op, inputs, attrs, outputs, opset)
                    expected, why = choose(op, inputs, attrs, found)
                    if expected is None:
                        notes[op, why] = notes.get((op, why), 0) + 1
                        if os.environ.get("SHOW"):
                            print(op, why, attrs, [x.shape for x in inputs if x is not None])
                        if not os.environ.get("ALL") or found[0] is None:
                            continue
                        expected = found[0]
                    out.write(f"\ncase {op} {num(1, 10**6)}\nop {op}\n")
                    for name, value in attrs.items():
                        out.write(f"attr {attr_text(name, value)}\n")
                    for array in inputs:
                        out.write(f"in {text(array)}\n")
                    for array in expected:
                        out.write(f"out {text(array)}\n")
        print(family, {" ".join(k): v for k, v in notes.items()})


main()
