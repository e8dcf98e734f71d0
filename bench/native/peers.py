"""What runs the same models: each peer becomes a function of nothing that returns the outputs."""

from __future__ import annotations

import os
import pathlib
import signal
import tempfile
from collections.abc import Callable

import numpy as np
import onnx

Feed = dict[str, np.ndarray]
Runner = Callable[[], list[np.ndarray]]


def onnxruntime_runner(path: pathlib.Path, feed: Feed, threads: int) -> Runner:
    """All optimisations on, which is the default."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feed)


def openvino_runner(path: pathlib.Path, feed: Feed, threads: int) -> Runner:
    """In float32 as the others, tuned for latency, for these extents."""
    import openvino

    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: value.shape for name, value in feed.items()})
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = core.compile_model(model, "CPU", settings)
    request = compiled.create_infer_request()
    ports = list(compiled.outputs)

    def run() -> list[np.ndarray]:
        found = request.infer(feed, share_inputs=True)
        return [found[port] for port in ports]

    return run


def tract_runner(path: pathlib.Path, feed: Feed, threads: int) -> Runner:
    """On one thread, for these extents: what a file says of inner values is left out, since tract
    holds it against the extents that it is given."""
    import tract

    if threads > 1:
        raise ValueError("tract runs on one thread")
    proto = onnx.load(path)
    del proto.graph.value_info[:]
    for port in proto.graph.input:
        dims = port.type.tensor_type.shape.dim
        for dim, extent in zip(dims, feed[port.name].shape, strict=True):
            dim.dim_value = extent
    for port in proto.graph.output:
        port.type.tensor_type.ClearField("shape")
    with tempfile.TemporaryDirectory() as folder:
        fixed = pathlib.Path(folder) / "model.onnx"
        onnx.save(proto, fixed)
        runnable = tract.onnx().load(fixed).into_model().into_runnable()
    values = [feed[port.name] for port in proto.graph.input]
    return lambda: [output.to_numpy() for output in runnable.run(values)]


def survives(make: Callable[..., Runner], path: pathlib.Path, feed: Feed, threads: int) -> bool:
    """Whether a run in a process of its own ends well, and soon: tract ends the process that it
    panics in, OpenVINO that of some models of sound."""
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            make(path, feed, threads)()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


PEERS = {
    "onnxruntime": onnxruntime_runner,
    "openvino": openvino_runner,
    "tract": tract_runner,
}
