"""Ctrl-C in Python ends an optimisation that would go on for ever."""

from __future__ import annotations

import pathlib
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"

SCRIPT = """
import os, signal, sys, threading
import tangram

# Where tests run in the background, the signal may come ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
model = tangram.Workload.from_onnx(sys.argv[1])
before = model.to_onnx()
endless = "rule swap { let a = *; let b = *; match add(a, b); rewrite add(b, a); }"
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tangram.optimize(model, rules=[endless], library=False, max_rewrites=10**15)
except KeyboardInterrupt:
    print("interrupted", model.to_onnx() == before)
else:
    print("ended")
"""


def test_ctrl_c_is_raised_and_leaves_the_model_alone() -> None:
    command = [sys.executable, "-c", SCRIPT, MODELS / "transformer.onnx"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted True\n", done.stderr
