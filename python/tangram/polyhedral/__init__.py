"""Dependences, schedules and loops, on the sets of :mod:`tangram.presburger`.

>>> from tangram.polyhedral import AstBuild, ScheduleConstraints, UnionAccessInfo
>>> from tangram.presburger import Map, Set
>>> domain = Set("[n] -> { S[i] : 0 <= i < n; T[i] : 1 <= i < n }")
>>> order = Map("{ S[i] -> [0, i]; T[i] -> [1, i] }").intersect_domain(domain)
>>> flow = (
...     UnionAccessInfo(Map("{ T[i] -> a[i - 1] }").intersect_domain(domain))
...     .set_must_source(Map("{ S[i] -> a[i] }").intersect_domain(domain))
...     .set_schedule_map(order)
...     .compute_flow()
...     .get_must_dependence()
... )
>>> flow
Map('[n] -> { S[i] -> T[i + 1] : 0 <= i <= n - 2 }')
>>> schedule = (
...     ScheduleConstraints.on_domain(domain)
...     .set_validity(flow)
...     .set_proximity(flow)
...     .compute_schedule()
... )
>>> print(AstBuild().node_from_schedule(schedule).to_C_str(), end="")
for (int64_t c0 = 1; c0 <= n; c0 += 1) {
  S(c0 - 1);
  if (n >= c0 + 1)
    T(c0);
}

Classes and methods have the names that islpy gives them. Schedules are checked against the
constraints that they were computed from. Values never change.
"""

from tangram.polyhedral.builds import AstBuild
from tangram.polyhedral.code import (
    AstExpr,
    AstExprList,
    AstNode,
    AstNodeList,
    AstPrintOptions,
    IdToAstExpr,
    ast_expr_op_type,
    ast_expr_type,
    ast_node_type,
)
from tangram.polyhedral.constraints import ScheduleConstraints
from tangram.polyhedral.editing import ast_loop_type
from tangram.polyhedral.flow import UnionAccessInfo, UnionFlow
from tangram.polyhedral.schedules import Schedule, ScheduleNode, schedule_node_type
from tangram.presburger import MultiVal

__all__ = [
    "AstBuild",
    "AstExpr",
    "AstExprList",
    "AstNode",
    "AstNodeList",
    "AstPrintOptions",
    "IdToAstExpr",
    "MultiVal",
    "Schedule",
    "ScheduleConstraints",
    "ScheduleNode",
    "UnionAccessInfo",
    "UnionFlow",
    "ast_expr_op_type",
    "ast_expr_type",
    "ast_loop_type",
    "ast_node_type",
    "schedule_node_type",
]
