"""Runs models in onnxruntime as lines of standard input ask for it; answers in lines of JSON.

`{"load": PATH}` loads a model; `{"run": NUMBER, "times": N}` runs the one that was loaded as that
number so many times, and says how many seconds one run took.
"""

import json
import sys
import time


def say(told):
    """Answers."""
    print(json.dumps(told), flush=True)


def serve(feed):
    """Does what lines ask for until there are no more."""
    try:
        import numpy
        import onnxruntime
    except ImportError as error:
        say({"error": f"this Python has no onnxruntime ({error}); TANGRAM_PYTHON names another"})
        return
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    given = dict(numpy.load(feed, allow_pickle=False))
    sessions = []

    def load(path):
        """Loads a model with all optimisations."""
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = {value.name for value in session.get_inputs()}
        sessions.append((session, {name: value for name, value in given.items() if name in names}))
        return {}

    def run(number, times):
        """Runs a model, and says how long one run took."""
        session, inputs = sessions[number]
        start = time.perf_counter()
        for _ in range(times):
            session.run(None, inputs)
        return {"seconds": (time.perf_counter() - start) / times}

    say({"version": onnxruntime.__version__})
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            say(load(asked["load"]) if "load" in asked else run(asked["run"], asked["times"]))
        except Exception as error:  # it has many ways to refuse
            say({"error": str(error).partition("\n")[0]})


serve(sys.argv[1])
