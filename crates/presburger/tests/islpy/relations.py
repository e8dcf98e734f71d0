"""What isl makes of two relations: equal to our results, or a bound for them."""

import islpy
from islpy import dim_type

from claims import as_union, basics, equal, holds, within

# Results are equal to these.
EQUAL = {
    "same": lambda x, y: x,
    "intersect": lambda x, y: x & y,
    "union": lambda x, y: x | y,
    "subtract": lambda x, y: x - y,
    "symmetric": lambda x, y: (x - y) | (y - x),
    "complement": lambda x, y: x.complement(),
    "inverse": lambda x, y: x.reverse(),
    "domain": lambda x, y: x.domain(),
    "range": lambda x, y: x.range(),
    "params": lambda x, y: x.params(),
    "project_params": lambda x, y: x.project_out(dim_type.param, 0, 1) if x.dim(dim_type.param) else x,
    "lexmin": lambda x, y: x.lexmin(),
    "lexmax": lambda x, y: x.lexmax(),
    "least_output": lambda x, y: x.range().lexmin(),
    "compose": lambda x, y: x.apply_range(y.reverse()),
    "apply_domain": lambda x, y: x.apply_domain(y),
    "restrict": lambda x, y: x.intersect_domain(y.domain()),
    "restrict_params": lambda x, y: x.intersect_params(y.params()),
    "subtract_range": lambda x, y: x.subtract_range(y.range()),
    "identity": lambda x, y: x.range().identity(),
    "domain_map": lambda x, y: x.domain_map(),
    "range_map": lambda x, y: x.range_map(),
    "deltas": lambda x, y: x.deltas(),
    "deltas_map": lambda x, y: x.deltas_map(),
    "square": lambda x, y: x.fixed_power_val(islpy.Val(2)),
    "fifth_power": lambda x, y: x.fixed_power_val(islpy.Val(5)),
    "wrap": lambda x, y: x.wrap(),
    "unwrap": lambda x, y: (x.wrap() & y.wrap()).unwrap(),
    "product": lambda x, y: x.product(y),
    "zip": lambda x, y: x.product(y).zip(),
    "range_product": lambda x, y: x.range_product(y),
    "domain_product": lambda x, y: x.domain_product(y),
    "curry": lambda x, y: x.domain_product(y).curry(),
    "uncurry": lambda x, y: x.range_product(y).uncurry(),
    "project": lambda x, y: x.domain().project_out(dim_type.set, 0, 1),
    "affine_hull": lambda x, y: x.affine_hull().remove_divs(),
    "compute_divs": lambda x, y: x.compute_divs(),
    "eliminate": lambda x, y: x.eliminate(dim_type.out, 0, 1),
    "subset": lambda x, y: x.is_subset(y),
    "strict_subset": lambda x, y: (x & y).is_strict_subset(x),
    "surjective": lambda x, y: y.range().is_subset(x.range()),
    "equal": lambda x, y: x.is_equal(y),
    "disjoint": lambda x, y: x.is_disjoint(y),
    "empty": lambda x, y: (x & y).is_empty(),
    "single": lambda x, y: x.is_single_valued(),
    "injective": lambda x, y: x.is_injective(),
    "bijective": lambda x, y: x.is_bijective(),
}


def pairwise_disjoint(value):
    """Returns whether no two disjuncts share a point."""
    parts = [as_union(part) for part in basics(value)]
    return all(a.is_disjoint(b) for i, a in enumerate(parts) for b in parts[:i])


def divisions(value):
    """Counts the integer divisions of the disjuncts."""
    return sum(part.dim(dim_type.div) for part in basics(value))


def is_hull(value):
    """Returns whether there is one conjunction at most, with divisions only in equations: strides."""
    parts = basics(value)
    rows = [(part, row) for part in parts for row in part.get_constraints() if not row.is_equality()]
    free = all(not row.involves_dims(dim_type.div, 0, part.dim(dim_type.div)) for part, row in rows)
    return len(parts) < 2 and free


def lifted(x, z):
    """Returns whether `z` pairs the outputs of `x` with divisions, and has none of its own."""
    plain = equal(z, x.range())
    if plain or not z.is_wrapping():
        return plain and divisions(x.range()) == 0 or plain
    return divisions(z) == 0 and equal(z.unwrap().domain(), x.range())


# Several results are right.
ALLOWED = {
    "gist": lambda x, y, z: holds(lambda a, b, c: (c & b).is_equal(a & b), x, y, z),
    "gist_params": lambda x, y, z: equal(z.intersect_params(y.params()), x.intersect_params(y.params())),
    "coalesce": lambda x, y, z: equal(x, z),
    "equalities": lambda x, y, z: equal(x, z),
    "lattice_hull": lambda x, y, z: within(x, z) and len(basics(z)) < 2,
    "make_disjoint": lambda x, y, z: equal(x, z) and pairwise_disjoint(z),
    "redundancies": lambda x, y, z: equal(x, z),
    "simple_hull": lambda x, y, z: within(x, z) and len(basics(z)) < 2,
    "unshifted": lambda x, y, z: within(x, z) and len(basics(z)) < 2,
    # Hulls of sets with divisions differ: isl's bound divisions too, ours are convex but for strides.
    "polyhedral_hull": lambda x, y, z: within(x, z) and is_hull(z),
    "convex_hull": lambda x, y, z: within(x, z) and is_hull(z),
    "lift": lambda x, y, z: lifted(x, z),
    "sample": lambda x, y, z: z.is_subset(x) and z.is_empty() == x.is_empty(),
}

# What isl makes, to say which is closer: the first is in the second where it is.
CLOSER = {
    # With the congruences that isl finds.
    "lattice_hull": lambda x, y: x.affine_hull(),
    "simple_hull": lambda x, y: x.simple_hull(),
    "unshifted": lambda x, y: x.unshifted_simple_hull(),
    "polyhedral_hull": lambda x, y: x.polyhedral_hull(),
    "convex_hull": lambda x, y: x.convex_hull(),
}

# What isl makes, to say which is shorter, by its number of disjuncts and constraints.
SHORTER = {
    "coalesce": lambda x, y: x.coalesce(),
    "gist": lambda x, y: x.gist(y),
    "gist_params": lambda x, y: x.gist_params(y.params()),
    "make_disjoint": lambda x, y: x.make_disjoint(),
    "redundancies": lambda x, y: x.remove_redundancies(),
}


def equations(value):
    """Counts the equations of all disjuncts, more of which are better."""
    return -sum(part.n_constraint() - len([c for c in part.get_constraints() if not c.is_equality()]) for part in basics(value))


def length(value):
    """Counts disjuncts, and then constraints and divisions.

    The bounds that define a division are none of its constraints: isl stores both of them, of a
    quotient without a definition only those that matter.
    """
    parts = basics(value)
    stated = [row for part in parts for row in part.get_constraints() if not row.is_div_constraint()]
    return len(parts), len(stated) + divisions(value)


def verdict(name, x, y, z):
    """Says how a result that may differ compares with isl's: better, alike, worse, or neither."""
    if name == "equalities":
        # isl parses ours as it is; its own is what it detects.
        ours, theirs = equations(z), equations(x.detect_equalities())
        return "alike" if ours == theirs else "better" if ours < theirs else "worse"
    if name in SHORTER:
        ours, theirs = length(z), length(as_union(SHORTER[name](x, y)))
        return "alike" if ours == theirs else "better" if ours < theirs else "worse"
    if name in CLOSER:
        theirs = as_union(CLOSER[name](x, y))
        less, more = within(z, theirs), within(theirs, z)
        return "alike" if less and more else "better" if less else "worse" if more else "neither"
    return None
