"""Runs models that were optimised in several ways under onnxruntime, side by side.

    python latency.py ROUNDS ORIGINAL NAME=OPTIMISED...

prints one line of JSON: the milliseconds of processor time that a run takes, the least of all
rounds, for the original and for each optimised model. onnxruntime has its defaults, all of its own
optimisations among them, and one thread; models take turns. Of an input's open extents the first
is 1, as a batch is, the others are those of an image or of a sequence.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time

import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "python"))
import oracle  # noqa: E402

IMAGE, SEQUENCE = 224, 128


def inputs(model: onnx.ModelProto) -> dict:
    """Random inputs of usual sizes."""
    sizes: dict[str, int] = {}
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                sizes.setdefault(dim.dim_param, 1 if axis == 0 else SEQUENCE)
    return oracle.random_inputs(model, sizes, default_size=SEQUENCE, image=IMAGE)


def session(path: str) -> onnxruntime.InferenceSession:
    """A session as users have it, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main() -> None:
    """Measures the models that the command line names."""
    rounds, original, *named = sys.argv[1:]
    paths = {"original": original} | dict(one.split("=", 1) for one in named)
    feed = inputs(onnx.load(original, load_external_data=False))
    sessions = {name: session(path) for name, path in paths.items()}
    least = dict.fromkeys(sessions, float("inf"))
    for turn in range(int(rounds) + 1):
        for name, one in sessions.items():
            start = time.process_time()
            one.run(None, feed)
            # The first turn warms up.
            if turn:
                least[name] = min(least[name], 1e3 * (time.process_time() - start))
    print(json.dumps(least))


if __name__ == "__main__":
    main()
