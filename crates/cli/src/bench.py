"""Runs a model under onnxruntime, once for each line of standard input; prints seconds."""

import sys
import time

path, feed, outputs, threads = sys.argv[1:]
import numpy
import onnxruntime

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(threads)
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
given = dict(numpy.load(feed))
results = session.run(None, given)
numpy.savez(outputs, **{str(number): result for number, result in enumerate(results)})
print(onnxruntime.__version__, flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    session.run(None, given)
    print(time.perf_counter() - start, flush=True)
