"""Many models, rules and comparisons on anybody's workers.

Everything here gives one function from bytes to bytes, `unit.work`, to a
`concurrent.futures.Executor`: processes of this machine by default, or what an engine has, such as
Dask's `client.get_executor()`, `RayExecutor`, loky, mpi4py or ipyparallel.

>>> from tangram import optimize_many
>>> for result in optimize_many("models", out="better"):      # doctest: +SKIP
...     print(result.model, result.state)
"""

from tangram.fleet.compare import Comparison, compare_many
from tangram.fleet.models import optimize_many
from tangram.fleet.processes import ProcessExecutor, WorkerDied
from tangram.fleet.ray_executor import RayExecutor
from tangram.fleet.rule_parts import RuleResult, check_rules
from tangram.fleet.run import Result
from tangram.fleet.tables import Table

__all__ = [
    "Comparison",
    "ProcessExecutor",
    "RayExecutor",
    "Result",
    "RuleResult",
    "Table",
    "WorkerDied",
    "check_rules",
    "compare_many",
    "optimize_many",
]
