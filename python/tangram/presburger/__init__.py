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

There is no context object, and one class where islpy has several. Where names differ:

==========================================  ==================================================
islpy                                       here
==========================================  ==================================================
``BasicSet``, ``Set``, ``UnionSet``         :class:`Set`
``BasicMap``, ``Map``, ``UnionMap``         :class:`Map`
``Aff``, ``PwAff``                          :class:`PwAff`
``MultiAff``, ``PwMultiAff``,               :class:`PwMultiAff`, which has values where all its
``MultiPwAff``                              members have some
``PwQPolynomial``, ``UnionPwQPolynomial``   :class:`PwQPolynomial`, a function on one space
``PwQPolynomialFold``                       :class:`PwQPolynomialFold`
``Val``                                     ``int`` of any size, :class:`fractions.Fraction`
``get_basic_sets``, ``get_basic_maps``      :meth:`Set.disjuncts`
``get_set_list``, ``get_map_list``          :meth:`Set.pieces`
``a == b`` (the same text)                  ``a == b`` (the same points)
``fix_val(type, pos, value)``               ``fix(name, value)``, ``bind(N=value)``
``project_out(type, first, n)``             ``project_out(first, n)``, :meth:`Set.project_out_params`
``dim_min_val``, ``dim_max_val``            the same, of the only space; ``None`` if unbounded
``get_stride_info(pos)``                    ``get_stride_info(pos)``: the stride, and its offset as a map
``f.eval(point)``                           ``f(i, j, N=4)``
``foreach_*(f)``                            iteration
``dump``, ``get_ctx``, ``copy``             not needed
==========================================  ==================================================
"""

from tangram._native import PresburgerError
from tangram.presburger import _relations  # noqa: F401  (loads the classes in their order)
from tangram.presburger.budget import limits
from tangram.presburger.counts import PwQPolynomial, PwQPolynomialFold
from tangram.presburger.functions import PwAff, PwMultiAff, UnionPwMultiAff
from tangram.presburger.maps import Map
from tangram.presburger.points import Point
from tangram.presburger.sets import Set

__all__ = [
    "Aff",
    "Map",
    "MultiAff",
    "MultiPwAff",
    "Point",
    "PresburgerError",
    "PwAff",
    "PwMultiAff",
    "PwQPolynomial",
    "PwQPolynomialFold",
    "Set",
    "UnionMap",
    "UnionPwMultiAff",
    "UnionSet",
    "limits",
]

UnionSet = Set
"""islpy's name for sets over several spaces; every :class:`Set` may be one."""
UnionMap = Map
"""islpy's name for relations over several spaces; every :class:`Map` may be one."""
Aff = PwAff
"""islpy's name for expressions in one piece; every :class:`PwAff` may be one."""
MultiAff = MultiPwAff = PwMultiAff
"""islpy's names for tuples of expressions, in one piece or each in pieces of its own."""
