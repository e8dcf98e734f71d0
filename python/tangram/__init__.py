"""Tangram rearranges tensor programs into faster ones that compute the same.

>>> import tangram
>>> better = tangram.optimize("model.onnx")        # doctest: +SKIP
>>> better.save("better.onnx")                     # doctest: +SKIP
>>> session = tangram.InferenceSession("model.onnx")  # doctest: +SKIP
>>> session.run(None, {"x": x})                       # doctest: +SKIP
"""

from tangram._native import (
    EgraphError,
    EvaluationError,
    MlirError,
    ModelError,
    PresburgerError,
    RuleError,
    TangramError,
    version,
)
from tangram._models import Check, Diff, Summary, check, diff, summary
from tangram._operators import Operand, Operator
from tangram._ort_value import IOBinding, NodeArg, OrtValue
from tangram._progress import Progress
from tangram._report import Report
from tangram._rules import Rule, Rules, rules
from tangram._session import (
    Fail,
    InferenceSession,
    InvalidArgument,
    ModelMetadata,
    get_all_providers,
    get_available_providers,
    get_device,
    set_default_logger_severity,
    set_default_logger_verbosity,
)
from tangram._session_options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    RunOptions,
    SessionOptions,
)
from tangram._workload import CheckError, Workload, optimize
from tangram.fleet import check_rules, compare_many, optimize_many

__version__ = version()

__all__ = [
    "Check",
    "CheckError",
    "Diff",
    "EgraphError",
    "EvaluationError",
    "ExecutionMode",
    "ExecutionOrder",
    "Fail",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "InvalidArgument",
    "ModelError",
    "ModelMetadata",
    "NodeArg",
    "Operand",
    "Operator",
    "OrtValue",
    "PresburgerError",
    "Progress",
    "Report",
    "Rule",
    "RuleError",
    "Rules",
    "RunOptions",
    "SessionOptions",
    "Summary",
    "TangramError",
    "Workload",
    "__version__",
    "check",
    "check_rules",
    "compare_many",
    "diff",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "optimize",
    "optimize_many",
    "rules",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "summary",
    "version",
]
