"""Times isl, through islpy: reads an operation and two relations a line, answers seconds."""

import sys
import time

import islpy

OPERATIONS = {
    "parse": lambda a, b, text: islpy.Map(text),
    "union": lambda a, b, text: a.union(b),
    "intersect": lambda a, b, text: a.intersect(b),
    "subtract": lambda a, b, text: a.subtract(b),
    "subset": lambda a, b, text: a.is_subset(b),
    "equal": lambda a, b, text: a.is_equal(b),
    "empty": lambda a, b, text: a.intersect(b).is_empty(),
    # isl keeps projected variables as unknowns until someone needs them.
    "domain": lambda a, b, text: a.domain().compute_divs(),
    "apply": lambda a, b, text: b.domain().apply(a).compute_divs(),
    "compose": lambda a, b, text: a.apply_range(b.reverse()).compute_divs(),
    "lexmin": lambda a, b, text: a.lexmin(),
    "coalesce": lambda a, b, text: a.union(b).coalesce(),
    "gist": lambda a, b, text: a.gist(b),
    "hull": lambda a, b, text: a.union(b).simple_hull(),
}


def main():
    """Answers each line `repeats TAB operation TAB a TAB b` with the median seconds."""
    for line in sys.stdin:
        repeats, name, first, second = line.rstrip("\n").split("\t")
        operation = OPERATIONS[name]
        times = []
        for _ in range(int(repeats)):
            # Fresh objects: isl keeps what it has found out about an object.
            a, b = islpy.Map(first), islpy.Map(second)
            if name == "coalesce":
                # Disjuncts with unknowns are left alone; ours have none.
                a, b = a.compute_divs(), b.compute_divs()
            start = time.perf_counter()
            operation(a, b, first)
            times.append(time.perf_counter() - start)
        print(sorted(times)[len(times) // 2], flush=True)


main()
