"""Checks results against isl: reads `operation TAB a TAB b TAB result` a line, prints a report."""

import itertools
import random
import sys
from collections import Counter

import islpy
from islpy import dim_type

# What isl may take to check a claim for all points at once.
OPERATIONS = 100_000
# What isl may take for a result that was given up: as many as there are steps.
ANSWER_OPERATIONS = 3_000_000
# Beyond that, it is checked at so many random points, and at one point of each disjunct.
POINTS = 60


def run(claim, values, operations=OPERATIONS):
    """Checks a claim within the limit; nothing if isl gives up."""
    context = islpy.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        return claim(*values)
    except islpy.Error as error:
        if "maximal number of operations" in str(error):
            return None
        raise
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def random_points(space, source):
    """Makes points with small coordinates."""
    kinds = [kind for kind in (dim_type.param, dim_type.in_, dim_type.out) if kind != dim_type.in_ or not space.is_set()]
    for _ in range(POINTS):
        point = islpy.Set.universe(space) if space.is_set() else islpy.Map.universe(space)
        for kind in kinds:
            for index in range(point.dim(kind)):
                point = point.fix_val(kind, index, islpy.Val(source.randint(-4, 10)))
        yield point


def holds(claim, *values):
    """Says whether a claim that a point decides is true of all points, as far as isl gets."""
    answer = run(claim, values)
    if answer is not None:
        return answer
    samples = [as_union(part.sample()) for value in values for part in basics(value)[:20]]
    points = itertools.chain(samples, random_points(values[0].get_space(), random.Random(1)))
    return all(claim(*(value & point for value in values)) for point in points)


def basics(value):
    """Returns the disjuncts of a set or relation."""
    return value.get_basic_maps() if isinstance(value, islpy.Map) else value.get_basic_sets()


def as_union(value):
    """Turns a single conjunction into a set or relation."""
    if isinstance(value, islpy.BasicMap):
        return islpy.Map.from_basic_map(value)
    if isinstance(value, islpy.BasicSet):
        return islpy.Set.from_basic_set(value)
    return value


# What isl answers; results are equal to it.
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
    "params": lambda x, y: islpy.Set("{ [] }").intersect_params(x.params()),
    "lexmin": lambda x, y: x.lexmin(),
    "lexmax": lambda x, y: x.lexmax(),
    "least_output": lambda x, y: x.range().lexmin(),
    "compose": lambda x, y: x.apply_range(y.reverse()),
    "apply_domain": lambda x, y: x.apply_domain(y),
    "restrict": lambda x, y: x.intersect_domain(y.domain()),
    "subtract_range": lambda x, y: x.subtract_range(y.range()),
    "deltas": lambda x, y: x.deltas(),
    "wrap": lambda x, y: x.wrap(),
    "product": lambda x, y: x.product(y),
    "zip": lambda x, y: x.product(y).zip(),
    "range_product": lambda x, y: x.range_product(y),
    "domain_product": lambda x, y: x.domain_product(y),
    "uncurry": lambda x, y: x.range_product(y).uncurry(),
    "project": lambda x, y: x.domain().project_out(dim_type.set, 0, 1),
    "affine_hull": lambda x, y: x.affine_hull().remove_divs(),
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
    """Says whether no two disjuncts share a point."""
    parts = [as_union(part) for part in basics(value)]
    return all(a.is_disjoint(b) for i, a in enumerate(parts) for b in parts[:i])


def is_hull(value):
    """Says whether there is one conjunction at most, without divisions."""
    parts = basics(value)
    return len(parts) < 2 and all(part.dim(dim_type.div) == 0 for part in parts)


def closure(x, text):
    """Says whether a closure, marked `true` if it is exact, is one."""
    exact, text = text.split("|", 1)
    ours, (theirs, _) = islpy.Map(text), x.transitive_closure()
    if exact == "true" and not holds(lambda a, b: a.is_subset(b), ours, theirs):
        return False
    return holds(lambda a, b: a.is_subset(b), x | x.apply_range(x), ours)


# Several results are right.
ALLOWED = {
    "gist": lambda x, y, z: (z & y).is_equal(x & y),
    "coalesce": lambda x, y, z: x.is_equal(z),
    "make_disjoint": lambda x, y, z: x.is_equal(z) and pairwise_disjoint(z),
    "redundancies": lambda x, y, z: x.is_equal(z),
    "simple_hull": lambda x, y, z: x.is_subset(z),
    "unshifted": lambda x, y, z: x.is_subset(z),
    # Rational hulls of sets with divisions differ; they are conjunctions without any.
    "polyhedral_hull": lambda x, y, z: x.is_subset(z) and is_hull(z),
    "convex_hull": lambda x, y, z: x.is_subset(z) and is_hull(z),
    "sample": lambda x, y, z: z.is_subset(x) and z.is_empty() == x.is_empty(),
}


def check(name, x, y, text):
    """Returns whether a result is right, and whether isl's has a point or holds."""
    if name == "closure":
        return closure(x, text), True
    if name in ALLOWED:
        return holds(ALLOWED[name], x, y, islpy.Map(text)), not x.is_empty()
    want = as_union(EQUAL[name](x, y))
    if isinstance(want, bool):
        return str(want).lower() == text, want
    return holds(lambda a, b: a.is_equal(b), want, type(want)(text)), not want.is_empty()


def main():
    """Checks all lines; the last line of the report sums up."""
    results = Counter()
    shapes = {name: Counter() for name in ("dimensions", "parameters", "divisions", "disjuncts")}
    merged, seen, operations = [0, 0], set(), Counter()
    for line in sys.stdin:
        name, a, b, text = line.rstrip("\n").split("\t")
        x, y = islpy.Map(a), islpy.Map(b)
        if a not in seen:
            seen.add(a)
            shapes["dimensions"][x.dim(dim_type.in_) + x.dim(dim_type.out)] += 1
            shapes["parameters"][x.dim(dim_type.param)] += 1
            shapes["divisions"][max(part.dim(dim_type.div) for part in x.compute_divs().get_basic_maps() or [x])] += 1
            shapes["disjuncts"][len(x.get_basic_maps())] += 1
            results["inputs"] += 1
            results["nonempty inputs"] += not x.is_empty()
        results["checked"] += 1
        operations[name] += 1
        if text.startswith("error: "):
            results["given up"] += 1
            theirs = name not in EQUAL or run(EQUAL[name], (x, y), ANSWER_OPERATIONS) is not None
            results["isl answers"] += theirs
            print("GIVEN UP", name, a, b, text, "isl answers" if theirs else "isl gives up too")
            continue
        good, full = check(name, x, y, text)
        results["nonempty"] += full
        if name == "coalesce":
            merged[0] += len(basics(islpy.Map(text)))
            merged[1] += len(x.coalesce().get_basic_maps())
        if not good:
            results["wrong"] += 1
            print("WRONG", name, a, b, "got", text)
    for name, counts in shapes.items():
        print(f"{name}: " + ", ".join(f"{value}: {counts[value]}" for value in sorted(counts)))
    print(f"inputs: {results['inputs']}, with a point: {results['nonempty inputs']}")
    print("operations: " + ", ".join(f"{name} {count}" for name, count in sorted(operations.items())))
    print(f"disjuncts after coalescing: ours {merged[0]}, isl {merged[1]}")
    print(f"given up though isl answers: {results['isl answers']} of {results['given up']}")
    answered = results["checked"] - results["given up"]
    print(f"completed: {answered} of {results['checked']}, with a point or true: {results['nonempty']}")
    print(f"checked {results['checked']} given up {results['given up']} wrong {results['wrong']} end")


main()
