"""The peers of the ONNX benchmark, each behind one function, and the process that runs one.

    python peers.py PEER IN OUT

loads IN, optimises it, saves OUT, and prints one line of JSON with the seconds of each step and the
processor time of all. What happens before the load (interpreter, imports) is left to the caller to measure.
"""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import sys
import time


# From here on weights have to lie outside the model's own file, which is limited to 2 GB.
LARGE = 2_000_000_000


class Clock:
    """Seconds by step, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.perf_counter()

    def mark(self, step: str) -> None:
        """Ends a step."""
        now = time.perf_counter()
        self.seconds[step] = now - self.last
        self.last = now


def _protobuf_peer(optimise):
    """Makes a peer of a function from model to model."""

    def run(source: str, target: str, clock: Clock) -> None:
        import onnx

        model = onnx.load(source)
        clock.mark("load")
        model = optimise(model)
        clock.mark("optimise")
        # A message of more than 2 GB cannot even be asked for its size.
        large = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > LARGE
        location = pathlib.Path(target).name + ".data"
        onnx.save(model, target, save_as_external_data=large, location=location if large else None)
        clock.mark("save")

    return run


def onnxsim():
    """onnxsim with its defaults."""
    import onnxsim as peer

    return _protobuf_peer(lambda model: peer.simplify(model)[0])


def onnxslim():
    """onnxslim with its defaults."""
    import onnxslim as peer

    return _protobuf_peer(lambda model: peer.slim(model))


def onnxoptimizer():
    """onnxoptimizer with its default passes."""
    import onnxoptimizer as peer

    return _protobuf_peer(lambda model: peer.optimize(model))


def onnxscript():
    """onnxscript's optimizer."""
    from onnxscript import optimizer

    return _protobuf_peer(lambda model: optimizer.optimize(model))


def onnxscript_rewriter():
    """onnxscript's optimizer, then its rewriter with the default rules."""
    from onnxscript import optimizer, rewriter

    return _protobuf_peer(lambda model: rewriter.rewrite(optimizer.optimize(model)))


def ort_basic():
    """onnxruntime's basic level; it loads, optimises and saves in one call."""
    import onnxruntime as peer

    def run(source: str, target: str, clock: Clock) -> None:
        options = peer.SessionOptions()
        options.graph_optimization_level = peer.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = target
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        if bytes_of(source) > LARGE:
            beside = pathlib.Path(target).name + ".data"
            key = "session.optimized_model_external_initializers_file_name"
            options.add_session_config_entry(key, beside)
        clock.mark("load")
        peer.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        clock.mark("optimise")

    return run


# The peers by the name that the table gives them, and the package that each comes from.
PEERS = {
    "onnxsim": (onnxsim, "onnxsim"),
    "onnxslim": (onnxslim, "onnxslim"),
    "onnxoptimizer": (onnxoptimizer, "onnxoptimizer"),
    "onnxscript": (onnxscript, "onnxscript"),
    "onnxscript_rw": (onnxscript_rewriter, "onnxscript"),
    "ort_basic": (ort_basic, "onnxruntime"),
}


def version(name: str) -> str | None:
    """Returns the installed version of a peer, or nothing where it is absent."""
    try:
        return importlib.metadata.version(PEERS[name][1])
    except importlib.metadata.PackageNotFoundError:
        return None


def bytes_of(source: str) -> int:
    """Returns the bytes of a model, external data included."""
    path = pathlib.Path(source)
    return sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))


def peak_bytes() -> int:
    """Returns the peak resident size of this process image alone."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    """Runs one peer on one model."""
    name, source, target = sys.argv[1:]
    run = PEERS[name][0]()
    before = peak_bytes()
    started = time.process_time()
    clock = Clock()
    run(source, target, clock)
    cpu = time.process_time() - started
    report = {"seconds": clock.seconds, "cpu": cpu, "peak_bytes": peak_bytes()}
    report["start_bytes"] = before
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
