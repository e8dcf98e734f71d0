"""Claims about sets and relations, checked as far as isl gets."""

import itertools
import json
import os
import random
import signal
import traceback

import islpy
from islpy import dim_type

# What isl may take to check a claim for all points at once.
OPERATIONS = 100_000
# What isl may take to check one line.
LINE_OPERATIONS = 3_000_000
# What isl may take for one line, and for a result that was given up: its operations are of very
# different lengths.
SECONDS = 30
# Beyond that, it is checked at so many random points, and at one point of each disjunct.
POINTS = 60


def run(claim, values, operations=OPERATIONS):
    """Checks a claim within the limit; nothing if isl gives up."""
    context = islpy.DEFAULT_CONTEXT
    around = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        return claim(*values)
    except islpy.Error as error:
        if "maximal number of operations" in str(error):
            return None
        raise
    finally:
        context.set_max_operations(around)
        context.reset_operations()


def read(kind, text):
    """Reads a result; the reader takes the end of its operations for a mistake in the text."""
    context = islpy.DEFAULT_CONTEXT
    around = context.get_max_operations()
    context.set_max_operations(0)
    try:
        return kind(text)
    finally:
        context.set_max_operations(around)
        context.reset_operations()


def bounded(claim, operations=LINE_OPERATIONS):
    """Evaluates a claim in a process of its own; nothing if isl takes too long or aborts."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os.write(target, json.dumps(run(claim, (), operations)).encode())
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(target)
    with os.fdopen(source) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError("a claim cannot be checked")
    return json.loads(text) if text else None


def random_points(space, source, count=POINTS):
    """Makes points with small coordinates."""
    kinds = [kind for kind in (dim_type.param, dim_type.in_, dim_type.out) if kind != dim_type.in_ or not space.is_set()]
    for _ in range(count):
        point = islpy.Set.universe(space) if space.is_set() else islpy.Map.universe(space)
        for kind in kinds:
            for index in range(point.dim(kind)):
                point = point.fix_val(kind, index, islpy.Val(source.randint(-4, 10)))
        yield point


def sample_points(value):
    """Makes one point of each of the first disjuncts."""
    return [as_union(part.sample()) for part in basics(value)[:20]]


def holds(claim, *values):
    """Returns whether a claim that a point decides is true of all points, as far as isl gets."""
    answer = run(claim, values)
    if answer is not None:
        return answer
    samples = [point for value in values for point in sample_points(value)]
    points = itertools.chain(samples, random_points(values[0].get_space(), random.Random(1)))
    return all(claim(*(value & point for value in values)) for point in points)


def equal(a, b):
    """Returns whether two sets or relations hold the same points, as far as isl gets."""
    return holds(lambda x, y: x.is_equal(y), a, b)


def within(a, b):
    """Returns whether all points of the first are in the second, as far as isl gets."""
    return holds(lambda x, y: x.is_subset(y), a, b)


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
