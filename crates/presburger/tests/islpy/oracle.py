"""Checks results against isl: reads `operation TAB a TAB b TAB result` a line, prints a report."""

import sys
from collections import Counter, defaultdict

import islpy
from islpy import dim_type

import measures
import relations
from claims import as_union, bounded, equal, read


def check(name, x, y, text):
    """Returns whether a result is right, whether it says something, and how it compares."""
    if name in measures.NAMES:
        good, verdict = measures.check(name, x, y, text)
        return good, not x.is_empty(), verdict
    if name in relations.ALLOWED:
        z = read(islpy.Set if name == "lift" else islpy.Map, text)
        good = relations.ALLOWED[name](x, y, z)
        return good, not x.is_empty(), relations.verdict(name, x, y, z)
    want = as_union(relations.EQUAL[name](x, y))
    if isinstance(want, bool):
        return str(want).lower() == text, want, None
    return equal(want, read(type(want), text)), not want.is_empty(), None


def answers(name, x, y):
    """Returns whether isl does what was given up; any number of operations, but no more time."""
    if name in relations.EQUAL:
        return bounded(lambda: relations.EQUAL[name](x, y) is not None, 0) is not None
    if name in measures.NAMES:
        return bounded(lambda: measures.answer(name, x, y) is not None, 0) is not None
    return True


def describe(shapes, text, x):
    """Counts how an input is made up."""
    shapes["dimensions"][x.dim(dim_type.in_) + x.dim(dim_type.out)] += 1
    shapes["parameters"][x.dim(dim_type.param)] += 1
    shapes["divisions"][max(part.dim(dim_type.div) for part in x.compute_divs().get_basic_maps() or [x])] += 1
    shapes["disjuncts"][len(x.get_basic_maps())] += 1


def main():
    """Checks all lines; the last line of the report sums up."""
    results, operations = Counter(), defaultdict(Counter)
    shapes = {name: Counter() for name in ("dimensions", "parameters", "divisions", "disjuncts")}
    seen = set()
    for line in sys.stdin:
        name, a, b, text = line.rstrip("\n").split("\t")
        x = islpy.Map(a)
        y = islpy.PwQPolynomial(b) if name in measures.WEIGHED else islpy.Map(b)
        if a not in seen:
            seen.add(a)
            describe(shapes, a, x)
            results["inputs"] += 1
            results["nonempty inputs"] += not x.is_empty()
        tally = operations[name]
        tally["checked"] += 1
        if text.startswith("error: "):
            theirs = answers(name, x, y)
            tally["given up"] += 1
            tally["isl answers"] += theirs
            print("GIVEN UP", name, a, b, text, "isl answers" if theirs else "isl gives up too")
            continue
        found = bounded(lambda: check(name, x, y, text))
        if found is None:
            tally["isl gives up"] += 1
            continue
        good, full, verdict = found
        tally["with a point or true"] += full
        if verdict:
            tally[verdict] += 1
        if not good:
            tally["wrong"] += 1
            print("WRONG", name, a, b, "got", text)
        if verdict in ("worse", "neither"):
            print(verdict.upper(), name, a, b, "got", text)
    for name, counts in shapes.items():
        print(f"{name}: " + ", ".join(f"{value}: {counts[value]}" for value in sorted(counts)))
    print(f"inputs: {results['inputs']}, with a point: {results['nonempty inputs']}")
    columns = ["checked", "with a point or true", "given up", "isl answers", "isl gives up", "wrong"]
    compared = ["better", "alike", "worse", "neither"]
    print(f"{'operation':16}" + "".join(f"{column:>22}" for column in columns) + "  beside isl's")
    for name, tally in sorted(operations.items()):
        beside = ", ".join(f"{tally[word]} {word}" for word in compared if tally[word])
        print(f"{name:16}" + "".join(f"{tally[column]:>22}" for column in columns) + f"  {beside}")
    total = sum(operations.values(), Counter())
    print(f"completed: {total['checked'] - total['given up']} of {total['checked']}")
    print(f"checked {total['checked']} given up {total['given up']} wrong {total['wrong']} end")


main()
