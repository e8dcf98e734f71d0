"""Tangram rearranges tensor programs into faster ones that compute the same.

>>> import tangram
>>> better = tangram.optimize("model.onnx")        # doctest: +SKIP
>>> better.save("better.onnx")                     # doctest: +SKIP
"""

from tangram._native import EvaluationError, ModelError, RuleError, TangramError, version
from tangram._workload import Report, Workload, optimize

__version__ = version()

__all__ = [
    "EvaluationError",
    "ModelError",
    "Report",
    "RuleError",
    "TangramError",
    "Workload",
    "__version__",
    "optimize",
    "version",
]
