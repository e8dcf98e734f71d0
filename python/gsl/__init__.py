"""GSL, the graph substitution language: patterns, attributes, operations, substitutions.

>>> from gsl import pat, op, Subst
>>> x = pat.Wildcard()
>>> twice = Subst(op.Transpose(op.Transpose(x, axes=(0, 2, 1)), axes=(0, 2, 1)), x)
"""

from gsl import attr, op, pat
from gsl._parse import load, parse
from gsl._subst import Definition, Subst, Verdict, define
from gsl._workload import Workload

__all__ = ["Definition", "Subst", "Verdict", "Workload", "attr", "define", "load", "op", "parse", "pat"]
