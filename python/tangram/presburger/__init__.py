"""Integer sets and relations: exact, parametric, in isl's notation.

>>> from tangram.presburger import Map, Set
>>> triangle = Set("[N] -> { S[i, j] : 0 <= i < N and 0 <= j <= i }")
>>> triangle.card()
PwQPolynomial('[N] -> { (1/2 * N + 1/2 * N^2) : N >= 1 }')
>>> triangle.card()(N=10)
55
>>> list(triangle.bind(N=2))
[S[0, 0], S[1, 0], S[1, 1]]
>>> Map("{ S[i, j] -> T[j, i] }")(triangle.bind(N=2)) == Set("{ T[0, 0]; T[0, 1]; T[1, 1] }")
True

A :class:`Set` or :class:`Map` may hold points of several spaces, told apart by the names and
the numbers of dimensions of their tuples. Values never change. Methods have the names that
islpy gives them; operators do what Python's own sets do: ``|``, ``&``, ``-``, ``^``, ``<=``, ``in``,
``len``, iteration, and ``~`` for the complement.

Notebooks show a finite set or relation of up to three dimensions as a picture.

Programs for islpy mostly run with ``import tangram.isl as isl``, which has schedules as well. What
differs:

==========================================  ==================================================
islpy                                       here
==========================================  ==================================================
``Context``, ``DEFAULT_CONTEXT``            accepted; options of the default one count
``Set``, ``UnionSet``                       :class:`Set`; :class:`BasicSet` is a subclass
``Map``, ``UnionMap``                       :class:`Map`; :class:`BasicMap` is a subclass
a result of several basic sets              a :class:`Set` where islpy hides variables that exist
``PwAff``                                   :class:`PwAff`; :class:`Aff` is a subclass
``MultiAff``, ``PwMultiAff``,               :class:`PwMultiAff`, which has values where all its
``MultiPwAff``                              members have some
``UnionMap.card()``                         :class:`UnionPwQPolynomial`, also for one space
``LocalSpace``                              :class:`Space`
``Val``                                     :class:`Val`, a :class:`fractions.Fraction`; arguments
                                            may be any integers and fractions
``Id``                                      :class:`Id`, a ``str``
dimensions without names                    names that are made up: ``i0``, ``o1``
``a == b`` of functions and spaces          the same values, the same tuples
``dim_max_val`` of what is unbounded        ``None``
``transitive_closure()``, ``power()``       a pair: the relation, and whether it is exact
``f.eval(point)``                           ``f(i, j, N=4)``, or ``f.eval(point)``
lists (``BasicSetList``...)                 Python's lists with islpy's methods as well
``isl.Error``                               :class:`PresburgerError`
==========================================  ==================================================

Beyond islpy: ``bind(N=3)`` and ``fix("i", 3)`` give values by name, ``disjuncts()`` and
``pieces()`` are lists, ``fourier_motzkin("j")`` and ``loop_bounds("i", "j")`` show elimination
step by step and the loops that it gives, functions are called, sets and relations are iterated over and drawn.
"""

from tangram._native import PresburgerError
from tangram.presburger import _relations  # noqa: F401  (loads the classes in their order)
from tangram.presburger.affs import Aff, PwAff
from tangram.presburger.aligned import (
    affs_from_space,
    align_spaces,
    align_two,
    make_zero_and_vars,
)
from tangram.presburger.budget import limits
from tangram.presburger.constraints import Constraint
from tangram.presburger.count_unions import UnionPwQPolynomial, UnionPwQPolynomialFold
from tangram.presburger.counts import PwQPolynomial
from tangram.presburger.elimination import EliminationStep, LoopBounds
from tangram.presburger.folds import PwQPolynomialFold
from tangram.presburger.lists import (
    AffList,
    BasicMapList,
    BasicSetList,
    ConstraintList,
    IdList,
    MapList,
    PwAffList,
    PwMultiAffList,
    PwQPolynomialFoldList,
    PwQPolynomialList,
    QPolynomialList,
    SetList,
    UnionMapList,
    UnionPwAffList,
    UnionPwMultiAffList,
    UnionSetList,
    ValList,
)
from tangram.presburger.maps import BasicMap, Map
from tangram.presburger.multi_affs import PwMultiAff
from tangram.presburger.multi_union_affs import MultiUnionPwAff
from tangram.presburger.multi_vals import MultiVal
from tangram.presburger.names import (
    DEFAULT_CONTEXT,
    Context,
    Id,
    bound,
    dim_type,
    fold,
    format,
    schedule_algorithm,
)
from tangram.presburger.points import Point
from tangram.presburger.polynomials import QPolynomial, Term
from tangram.presburger.printer import Printer
from tangram.presburger.sets import BasicSet, Set
from tangram.presburger.spaces import LocalSpace, Space
from tangram.presburger.strides import StrideInfo
from tangram.presburger.union_affs import UnionPwAff, UnionPwMultiAff
from tangram.presburger.values import Val
from tangram.presburger.vertices import Vertex, Vertices

__all__ = [
    "DEFAULT_CONTEXT",
    "Aff",
    "AffList",
    "BasicMap",
    "BasicMapList",
    "BasicSet",
    "BasicSetList",
    "Constraint",
    "ConstraintList",
    "Context",
    "EliminationStep",
    "Error",
    "Id",
    "IdList",
    "LocalSpace",
    "LoopBounds",
    "Map",
    "MapList",
    "MultiAff",
    "MultiPwAff",
    "MultiUnionPwAff",
    "MultiVal",
    "Point",
    "PresburgerError",
    "Printer",
    "PwAff",
    "PwAffList",
    "PwMultiAff",
    "PwMultiAffList",
    "PwQPolynomial",
    "PwQPolynomialFold",
    "PwQPolynomialFoldList",
    "PwQPolynomialList",
    "QPolynomial",
    "QPolynomialList",
    "Set",
    "SetList",
    "Space",
    "StrideInfo",
    "Term",
    "UnionMap",
    "UnionMapList",
    "UnionPwAff",
    "UnionPwAffList",
    "UnionPwMultiAff",
    "UnionPwMultiAffList",
    "UnionPwQPolynomial",
    "UnionPwQPolynomialFold",
    "UnionSet",
    "UnionSetList",
    "Val",
    "ValList",
    "Vertex",
    "Vertices",
    "affs_from_space",
    "align_spaces",
    "align_two",
    "bound",
    "dim_type",
    "fold",
    "format",
    "limits",
    "make_zero_and_vars",
    "schedule_algorithm",
]

Error = PresburgerError
"""islpy's name for what is raised."""
UnionSet = Set
"""islpy's name for sets over several spaces; every :class:`Set` may be one."""
UnionMap = Map
"""islpy's name for relations over several spaces; every :class:`Map` may be one."""
MultiAff = MultiPwAff = PwMultiAff
"""islpy's names for tuples of expressions, in one piece or each in pieces of its own."""
