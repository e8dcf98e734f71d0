"""Ctrl-C in Python ends what would go on for very long: an optimisation, a count of points."""

from __future__ import annotations

import itertools
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
# No form comes back, and nothing grows.
endless = '''
rule begin { let x = *; match relu(x); rewrite leaky_relu(x) { alpha = 0.0 }; }
rule count { let x = *; match leaky_relu(x) as r; rewrite leaky_relu(x) { alpha = r.alpha + 1.0 }; }
'''
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tangram.optimize(model, rules=[endless], library=False, max_rewrites=10**15)
except KeyboardInterrupt:
    print("interrupted", model.to_onnx() == before)
else:
    print("ended")
"""


def test_ctrl_c_is_raised_and_leaves_the_model_alone() -> None:
    command = [sys.executable, "-c", SCRIPT, MODELS / "cnn.onnx"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted True\n", done.stderr


COUNT = """
import os, signal, threading, time
from tangram.presburger import Set

signal.signal(signal.SIGINT, signal.default_int_handler)
large = Set(
    "[n, m, p] -> { [a, b, c, d, e] : 0 <= a, b, c, d, e and 3a + 5b + 7c <= n and "
    "2b + 3d + 5e <= m and a + 4c + 9e <= p and 7a + 2b + 3c + 5d <= n + m }"
)
ticks = []

def tick_then_interrupt():
    for _ in range(20):
        ticks.append(time.sleep(0.025))
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=tick_then_interrupt).start()
try:
    large.card()
except KeyboardInterrupt:
    print("interrupted", len(ticks), len(large.bind(n=8, m=6, p=9)))
else:
    print("ended")
"""


def test_ctrl_c_is_raised_while_points_are_counted() -> None:
    command = [sys.executable, "-c", COUNT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    # Other threads ran meanwhile, and the set is as usable as it was.
    bounds = [range(4), range(5), range(4), range(4), range(3)]
    inside = [
        0
        for a, b, c, d, e in itertools.product(*bounds)
        if 3 * a + 5 * b + 7 * c <= 8
        and 2 * b + 3 * d + 5 * e <= 6
        and a + 4 * c + 9 * e <= 9
        and 7 * a + 2 * b + 3 * c + 5 * d <= 14
    ]
    assert done.stdout == f"interrupted 20 {len(inside)}\n", done.stderr
