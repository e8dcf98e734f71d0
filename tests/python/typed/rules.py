"""Rules and e-graphs: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

from typing import assert_type

import gsl
from gsl import attr, op, pat
from tangram.egraph import EGraph

x = pat.Wildcard()
rule = gsl.Subst(op.ReLU(x), op.ReLU(op.ReLU(x)))
assert_type(rule, gsl.Subst)
assert_type(rule.to_gsl(), str)
graph = EGraph()

gsl.Subst(op.ReLU(x))  # error
op.Rellu(x)  # error
rule.to_gls()  # error
graph.sise()  # error
