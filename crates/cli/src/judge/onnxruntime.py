"""Runs two models in onnxruntime on the inputs of a folder; prints their largest difference as JSON."""

import json
import pathlib
import sys


def compare(folder, request):
    """What is printed: the worst output, or why nothing can be said."""
    try:
        import numpy
        import onnxruntime
    except ImportError as error:
        return {"not_possible": f"this Python has no onnxruntime ({error}); TANGRAM_PYTHON names another"}
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    sessions = []
    for name in ("first", "second"):
        try:
            path = str(folder / f"{name}.onnx")
            sessions.append(onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]))
        except Exception as error:  # it has many ways to refuse
            return {"not_possible": f"onnxruntime does not load the {name} model: {error}"}
    first, second = sessions
    names = [output.name for output in first.get_outputs()]
    others = [output.name for output in second.get_outputs()]
    if len(names) != len(others):
        return {"not_possible": f"{len(names)} outputs became {len(others)}"}
    worst, runs, why = None, 0, "there are no inputs"
    for path in sorted(folder.glob("*.npz")):
        inputs = dict(numpy.load(path, allow_pickle=False))
        try:
            expected = first.run(names, inputs)
        except Exception as error:  # the next sizes may do
            why = str(error)
            continue
        kept = {value.name for value in second.get_inputs()}
        try:
            found = second.run(others, {name: value for name, value in inputs.items() if name in kept})
        except Exception as error:
            return {"not_possible": f"onnxruntime runs the first model and not the second: {error}"}
        for name, x, y in zip(names, expected, found):
            one = difference(numpy, name, x, y, request)
            if "not_possible" in one:
                return one
            if worst is None or excess(one) > excess(worst):
                worst = one
        runs += 1
        if runs == request["runs"]:
            break
    return worst or {"not_possible": f"onnxruntime ran the first model on none of the inputs: {why}"}


def excess(one):
    """How far a difference lies above its tolerance, then how large it is."""
    return max(one["relative"] - one["tolerance"], 0.0), one["relative"]


def difference(numpy, name, x, y, request):
    """The largest difference of two outputs, relative to the greatest magnitude in the first."""
    if not isinstance(x, numpy.ndarray) or not isinstance(y, numpy.ndarray):
        return {"not_possible": f"output {name} is no tensor"}
    if x.dtype != y.dtype or x.shape != y.shape:
        return {"not_possible": f"{name} was {x.dtype}{list(x.shape)} and became {y.dtype}{list(y.shape)}"}
    tolerance = request["tolerances"].get(str(x.dtype), 0.0)
    if request["exact"]:
        tolerance = 0.0
    elif request["tolerance"] is not None and tolerance > 0.0:
        tolerance = request["tolerance"]
    told = {"output": name, "tolerance": tolerance}
    if x.dtype.kind not in "fiub":
        apart = 0.0 if (x == y).all() else 1e300
        return {"absolute": apart, "relative": apart, **told}
    a, b = x.astype(numpy.float64).ravel(), y.astype(numpy.float64).ravel()
    with numpy.errstate(all="ignore"):
        apart = numpy.where((a == b) | (numpy.isnan(a) & numpy.isnan(b)), 0.0, numpy.abs(a - b))
    apart = numpy.where(numpy.isnan(apart), 1e300, apart).clip(0, 1e300)
    scale = numpy.abs(a[numpy.isfinite(a)]).max(initial=1e-30)
    absolute = float(apart.max(initial=0.0))
    return {"absolute": absolute, "relative": min(absolute / float(scale), 1e300), **told}


print(json.dumps(compare(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]))))
