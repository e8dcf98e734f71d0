"""GSL, the graph substitution language: patterns, attributes, operations, substitutions.

>>> from gsl import pat, op, Subst
>>> x = pat.Wildcard()
>>> twice = Subst(op.Transpose(op.Transpose(x, axes=(0, 2, 1)), axes=(0, 2, 1)), x)
"""

from gsl import attr, op, pat
from gsl._parse import load, parse
from gsl._subst import Subst, Verdict
from gsl._workload import Workload

__all__ = ["Subst", "Verdict", "Workload", "attr", "load", "op", "parse", "pat"]
