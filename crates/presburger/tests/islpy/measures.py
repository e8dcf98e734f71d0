"""Functions and numbers that are made of relations, compared with isl's at points or as maps."""

import math
import random
import re
from fractions import Fraction
from math import prod

import islpy
from islpy import dim_type

from claims import as_union, basics, equal, random_points, read, sample_points, within

# At so many random arguments functions are compared, besides one of each disjunct.
ARGUMENTS = 40
# Functions with longer texts are compared at few.
LONG = 50_000
# A bound is compared with the values of so many points at most.
VALUES = 400


def number(value):
    """Reads a value of isl."""
    return Fraction(str(value))


def arguments(domain):
    """Lists single points of the space, of the domain and beside it."""
    points = list(random_points(domain.get_space(), random.Random(2), ARGUMENTS))
    return [point.sample_point() for point in sample_points(domain) + points if not point.is_empty()]


def same_function(want, text, domain):
    """Returns whether a quasi-polynomial has the values of isl's at many points."""
    ours = read(islpy.PwQPolynomial, text)
    points = arguments(domain)
    if len(text) > LONG:
        points = points[:: len(points) // 5]
    for point in points:
        known = number(want.eval(point))
        # Where an equation holds, isl's reader may take one inner floor for another.
        if number(ours.eval(point)) != known != value_at(text, point):
            return False
    return True


def value_at(text, point):
    """Evaluates a quasi-polynomial without isl."""
    head, body = text.rsplit("}", 1)[0].split("{", 1)
    place = islpy.Set.from_point(point)
    for piece in filter(str.strip, body.split(";")):
        function, _, guard = piece.partition(":")
        domain, _, value = function.rpartition("->")
        where = read(islpy.Set, f"{head}{{ {domain} : {guard or 'true'} }}")
        if not place.is_subset(where):
            continue
        names = {"floor": math.floor, "Fraction": Fraction}
        for kind in (dim_type.param, dim_type.set):
            for index in range(where.dim(kind)):
                names[where.get_dim_name(kind, index)] = number(point.get_coordinate_val(kind, index))
        exact = re.sub(r"\b\d+\b", r"Fraction(\g<0>)", value.replace("^", "**"))
        return Fraction(eval(exact, names))
    return Fraction(0)


def params(value):
    """Returns the values of the parameters as a set of no dimensions."""
    return islpy.Set("{ [] }").intersect_params(value.params())


def weighted(x, weight):
    """Restricts a function to the outputs; isl would count those of several disjuncts twice."""
    return weight.intersect_domain(x.range().make_disjoint())


# Quasi-polynomials, and the sets of their arguments.
COUNTS = {
    "card": lambda x, y: (x.card(), x.domain()),
    "card_range": lambda x, y: (x.range().card(), x.params()),
    "card_sum": lambda x, y: (x.wrap().card(), x.params()),
}
SUMS = {
    "sum": lambda x, weight: (weighted(x, weight).sum(), x.params()),
    "apply": lambda x, weight: (x.make_disjoint().apply_pw_qpolynomial(weight), x.domain()),
    "square_sum": lambda x, weight: ((weighted(x, weight) * weight - weighted(x, weight)).sum(), x.params()),
}

# Functions that are compared as the relations they are the graphs of.
GRAPHS = {
    "dim_min": (islpy.PwAff, lambda x: x.dim_min(0)),
    "dim_max": (islpy.PwAff, lambda x: x.dim_max(0)),
    "set_dim_max": (islpy.PwAff, lambda x: x.range().dim_max(0)),
    "min_multi": (islpy.MultiPwAff, lambda x: x.min_multi_pw_aff()),
    "max_multi": (islpy.MultiPwAff, lambda x: x.max_multi_pw_aff()),
    "lexmin_function": (islpy.PwMultiAff, lambda x: x.lexmin_pw_multi_aff()),
    "lexmax_function": (islpy.PwMultiAff, lambda x: x.lexmax_pw_multi_aff()),
}


def graph(function):
    """Relates arguments to values; of a function of the parameters, a set."""
    if function.domain().is_params():
        tuples = islpy.PwMultiAff(str(function)) if isinstance(function, islpy.PwAff) else function
        return as_union(tuples.as_set())
    name = {islpy.PwAff: "pw_aff", islpy.PwMultiAff: "pw_multi_aff", islpy.MultiPwAff: "multi_pw_aff"}[type(function)]
    return getattr(islpy.Map, f"from_{name}")(function)


def same_graph(name, x, text):
    """Returns whether a function has the values of isl's everywhere."""
    kind, theirs = GRAPHS[name]
    want = graph(theirs(x))
    if text.endswith("{ }"):
        return want.is_empty()
    return equal(want, graph(read(kind, text)))


def box(x, text):
    """Returns whether least and greatest outputs are those of isl."""
    outputs = x.range().project_out(dim_type.param, 0, x.dim(dim_type.param))
    if text == "none":
        return outputs.is_empty()
    ends = [pair.split(":") for pair in text.split(" ")]
    for dim, (low, high) in enumerate(ends):
        known = [str(value) for value in (outputs.dim_min_val(dim), outputs.dim_max_val(dim))]
        if known != [low.replace("?", "-infty"), high.replace("?", "infty")]:
            return False
    return len(ends) == outputs.dim(dim_type.set)


def fixed_box(x, text):
    """Returns whether a box holds all outputs."""
    if text == "none":
        return True
    sizes, offset = text.split("|")
    corner = islpy.Map.from_multi_aff(islpy.MultiAff(offset))
    names = [f"d{i}" for i in range(len(sizes.split(" ")))]
    facts = " and ".join(f"0 <= {name} < {size}" for name, size in zip(names, sizes.split(" ")))
    places = " and ".join(f"p{name} = {name} + b{i}" for i, name in enumerate(names))
    bases = ", ".join(f"b{i}" for i in range(len(names)))
    spread = islpy.Map(f"{{ [{bases}] -> [p{', p'.join(names)}] : exists {', '.join(names)}: {places} and {facts} }}")
    return within(x, corner.apply_range(spread))


def stride(x, text):
    """Returns whether all outputs keep to a stride that is no smaller than isl's."""
    distance, points = text.split("|")
    known = x.get_range_stride_info(0).get_stride().to_python()
    return int(distance) >= known and within(x, islpy.Map(points))


def lattice_tile(x, text):
    """Returns whether all outputs keep to the strides, and how large these are next to isl's."""
    size, points = text.split("|")
    # The tile is as large as the strides; what islpy has of it differs between its builds.
    strides = (x.get_range_stride_info(dim).get_stride() for dim in range(x.dim(dim_type.out)))
    known = prod(stride.to_python() for stride in strides)
    found = prod(int(stride) for stride in size.split())
    good = within(x, islpy.Map(points))
    return good, "alike" if found == known else "better" if found > known else "worse"


def fourier_motzkin(text):
    """Returns whether a rational shadow is isl's; on the grid of the texts, rounding is the same."""
    if text == "none":
        return True
    first, before, after = text.split("|")
    parts = islpy.Set(before).get_basic_sets()
    if not parts:
        return islpy.Set(after).is_empty()
    (part,) = parts
    # An equation gives isl a stride, too, which no rational shadow has.
    shadow = part.eliminate(dim_type.set, int(first), 1).remove_divs()
    return as_union(shadow).is_equal(islpy.Set(after))


def closure(x, text):
    """Returns whether a closure, marked `true` if it is exact, is one, and how it compares."""
    exact, text = text.split("|", 1)
    ours, (theirs, is_exact) = islpy.Map(text), x.transitive_closure()
    good = within(x | x.apply_range(x), ours)
    if exact == "true":
        good = good and within(ours, theirs) and (not is_exact or equal(ours, theirs))
    return good, grade(exact == "true", is_exact)


def power(x, text):
    """Returns whether powers, marked `true` if they are exact, are those that steps make."""
    exact, text = text.split("|", 1)
    ours, (_, is_exact) = islpy.Map(text), x.power()
    step, good = x, True
    for count in range(1, 5):
        mine = ours.intersect_domain(islpy.Set(f"{{ [{count}] }}")).range().unwrap()
        good = good and (equal(step, mine) if exact == "true" else within(step, mine))
        step = step.apply_range(x)
    return good, grade(exact == "true", is_exact)


def grade(ours, theirs):
    return "alike" if ours == theirs else "better" if ours else "worse"


def top_level(text):
    """Splits a list at the commas outside of parentheses."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


class Bound:
    """A bound by parameters; isl's own reader forgets a value that is 0 among others."""

    def __init__(self, text):
        head, body = text.rsplit("}", 1)[0].split("{", 1)
        self.pieces = []
        for piece in filter(str.strip, body.split(";")):
            value, _, guard = (part.strip() for part in piece.partition(":"))
            listed = value.startswith(("max(", "min("))
            values = top_level(value[4:-1]) if listed else [value]
            functions = [read(islpy.PwQPolynomial, f"{head}{{ {value} }}") for value in values]
            self.pieces.append((read(islpy.Set, f"{head}{{ : {guard} }}"), functions))

    def values(self, point):
        """Returns the values of the piece that holds at a point, if there is one."""
        place = islpy.Set.from_point(point)
        held = (functions for where, functions in self.pieces if place.is_subset(where))
        return [number(function.eval(point)) for function in next(held, [])]


def bound(x, weight, upper, text):
    """Returns whether a bound holds at many values of the parameters, and how it compares."""
    function = weighted(x, weight)
    theirs, _ = function.bound(islpy.fold.max if upper else islpy.fold.min)
    ours, (sign, grades) = Bound(text), (1 if upper else -1, set())
    for point in arguments(x.params()):
        inside = x.range().intersect_params(islpy.Set.from_point(point))
        values = []
        if not inside.is_empty():
            inside.foreach_point(lambda p: values.append(number(weight.eval(p))) if len(values) < VALUES else None)
        if not values:
            continue
        bounds = ours.values(point)
        if not bounds:
            return False, None
        mine, known = max(sign * value for value in bounds), sign * number(theirs.eval(point))
        if mine < max(sign * value for value in values):
            return False, None
        grades.add(grade(mine, known) if mine == known else "better" if mine < known else "worse")
    return True, max(grades, default="alike", key=["alike", "better", "worse"].index)


def check(name, x, y, text):
    """Returns whether a result is right, and how it compares with isl's where both may differ."""
    if name in COUNTS or name in SUMS:
        want, domain = (COUNTS.get(name) or SUMS[name])(x, y)
        return same_function(want, text, domain), None
    if name in GRAPHS:
        return same_graph(name, x, text), None
    if name in ("upper_bound", "lower_bound"):
        return bound(x, y, name == "upper_bound", text)
    if name in ("closure", "power"):
        return (closure if name == "closure" else power)(x, text)
    if name == "lattice_tile":
        return lattice_tile(x, text)
    if name == "support":
        return within(weighted(x, y).domain() & islpy.Set(text), x.range()), None
    if name == "fourier_motzkin":
        return fourier_motzkin(text), None
    return {"box": box, "fixed_box": fixed_box, "stride": stride}[name](x, text), None


def answer(name, x, y):
    """Lets isl do what was given up."""
    if name == "card_sum":
        # What is checked against the count of all pairs is the sum of the counts.
        return x.card().sum()
    if name in COUNTS or name in SUMS:
        return (COUNTS.get(name) or SUMS[name])(x, y)
    if name in GRAPHS:
        return GRAPHS[name][1](x)
    if name in ("upper_bound", "lower_bound"):
        return weighted(x, y).bound(islpy.fold.max)
    return True


NAMES = {*COUNTS, *SUMS, *GRAPHS, "upper_bound", "lower_bound", "closure", "power", "support"} | {
    "fourier_motzkin", "box", "fixed_box", "lattice_tile", "stride"
}
WEIGHED = {*SUMS, "upper_bound", "lower_bound", "support"}
