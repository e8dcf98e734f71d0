"""Tangram rearranges tensor programs into faster ones that compute the same.

>>> import tangram
>>> better = tangram.optimize("model.onnx")        # doctest: +SKIP
>>> better.save("better.onnx")                     # doctest: +SKIP
"""

from tangram._native import (
    EgraphError,
    EvaluationError,
    ModelError,
    PresburgerError,
    RuleError,
    TangramError,
    version,
)
from tangram._models import Check, Diff, Summary, check, diff, summary
from tangram._progress import Progress
from tangram._report import Report
from tangram._rules import Rule, Rules, rules
from tangram._workload import CheckError, Workload, optimize
from tangram.fleet import check_rules, compare_many, optimize_many

__version__ = version()

__all__ = [
    "Check",
    "CheckError",
    "Diff",
    "EgraphError",
    "EvaluationError",
    "ModelError",
    "PresburgerError",
    "Progress",
    "Report",
    "Rule",
    "RuleError",
    "Rules",
    "Summary",
    "TangramError",
    "Workload",
    "__version__",
    "check",
    "check_rules",
    "compare_many",
    "diff",
    "optimize",
    "optimize_many",
    "rules",
    "summary",
    "version",
]
