"""Many models: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

from typing import assert_type

import tangram
from tangram import fleet

for result in fleet.optimize_many(["a.onnx", "b.onnx"], out="better", check=True):
    assert_type(result, fleet.Result)
    assert_type(result.workload(), tangram.Workload)
executor = fleet.ProcessExecutor(2)
assert_type(executor.workers, int)

fleet.optimize_many("models", outt="better")  # error
fleet.optimize_many(3)  # error
fleet.ProcessExecutor("two")  # error
fleet.ProcesExecutor(2)  # error
