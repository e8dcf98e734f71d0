"""`tangram.presburger`: laws of sets, and agreement with islpy method by method."""

from __future__ import annotations

import doctest
import importlib
import itertools
import pickle
import pkgutil
import random
import types
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import pytest

presburger = pytest.importorskip("tangram.presburger")
from tangram.presburger import (  # noqa: E402
    Map,
    Point,
    PresburgerError,
    PwQPolynomial,
    Set,
    limits,
)

isl = pytest.importorskip("islpy", reason="needs islpy")


def affine(rng: random.Random, names: list[str]) -> str:
    terms = [f"{rng.randint(-3, 3)}*{name}" for name in names]
    return " + ".join([*terms, str(rng.randint(-6, 6))])


def constraints(rng: random.Random, names: list[str]) -> str:
    parts = [f"-5 <= {name} <= 5" for name in names]
    for _ in range(rng.randint(0, 2)):
        parts.append(f"{affine(rng, names)} >= 0")
    if rng.random() < 0.4:
        parts.append(f"({affine(rng, names)}) mod {rng.randint(2, 4)} = {rng.randint(0, 1)}")
    return " and ".join(parts)


def set_text(rng: random.Random) -> str:
    names = ["i", "j"]
    pieces = [f"[i, j] : {constraints(rng, names)}" for _ in range(rng.randint(1, 2))]
    return "{ " + "; ".join(pieces) + " }"


def map_text(rng: random.Random) -> str:
    return "{ [i, j] -> [k, l] : " + constraints(rng, ["i", "j", "k", "l"]) + " }"


def points(text: object) -> set[tuple[int, ...]]:
    """The points of a set without parameters, as islpy finds them."""
    found: set[tuple[int, ...]] = set()

    def visit(point: isl.Point) -> None:
        size = isl.Set.from_point(point).dim(isl.dim_type.set)
        value = point.get_coordinate_val
        found.add(tuple(value(isl.dim_type.set, i).to_python() for i in range(size)))

    isl.Set(str(text)).foreach_point(visit)
    return found


def test_the_documentation_is_true() -> None:
    modules = [presburger, *(importlib.import_module(name) for name in modules_of(presburger))]
    results = [doctest.testmod(module) for module in modules]
    assert sum(result.attempted for result in results) > 8
    assert sum(result.failed for result in results) == 0


def bounds_at(rows: list[list[int]], column: int, point: list[int]) -> list[Fraction]:
    """The bounds that rows give a variable where all others have these values."""
    rests = [
        row[0] + sum(f * v for at, (f, v) in enumerate(zip(row[1:], point), 1) if at != column)
        for row in rows
    ]
    return [Fraction(-rest, row[column]) for rest, row in zip(rests, rows)]


@pytest.mark.parametrize("seed", range(20))
def test_an_elimination_step_is_the_rational_projection(seed: int) -> None:
    rng = random.Random(seed)
    names = ["i", "j", "k"]
    rows = [[rng.randint(-4, 4) for _ in range(4)] for _ in range(rng.randint(2, 5))]
    terms = [" + ".join([*(f"{f}{n}" for f, n in zip(row[1:], names)), str(row[0])]) for row in rows]
    text = "{ [i, j, k] : " + " and ".join(f"{term} >= 0" for term in terms) + " }"
    gone = rng.randrange(3)
    steps = Set(text).fourier_motzkin(names[gone])
    if Set(text).is_empty():
        assert all(len(found) == 1 for found in steps)
        return
    ((step,),) = steps
    assert (step.names, step.variable) == (names, names[gone])
    assert len(step.combined) == len(step.lower) * len(step.upper)
    assert f"eliminate {names[gone]}" in str(step)
    for point in itertools.product(range(-3, 4), repeat=3):
        lower = bounds_at([row for row in rows if row[1 + gone] > 0], 1 + gone, list(point))
        upper = bounds_at([row for row in rows if row[1 + gone] < 0], 1 + gone, list(point))
        free = [row for row in rows if row[1 + gone] == 0]
        shadow = all(low <= high for low in lower for high in upper) and all(
            row[0] + sum(f * v for f, v in zip(row[1:], point)) >= 0 for row in free
        )
        left = all(row[0] + sum(f * v for f, v in zip(row[1:], point)) >= 0 for row in step.result)
        # What is read may be tighter than what was written, by integers, never looser.
        assert shadow or not left, (text, point)
        hit = any((*point[:gone], v, *point[gone + 1 :]) in Set(text) for v in range(-3, 4))
        assert left or not hit, (text, point)


@pytest.mark.parametrize("seed", range(20))
def test_loops_with_these_bounds_visit_every_point_once(seed: int) -> None:
    rng = random.Random(seed)
    text = "{ [i, j] : " + " and ".join(
        ["-5 <= i <= 5", "-5 <= j <= 5", *(f"{affine(rng, ['i', 'j'])} >= 0" for _ in range(2))]
    ) + " }"
    order = rng.sample(["i", "j"], 2)
    visited = []
    for outer, inner in Set(text).loop_bounds(*order):
        for first in outer.iterations():
            for second in inner.iterations(**{order[0]: first}):
                at = {order[0]: first, order[1]: second}
                visited.append((at["i"], at["j"]))
    assert sorted(visited) == sorted(points(text))


@pytest.mark.parametrize("seed", range(20))
def test_loops_with_strides_visit_what_bounds_and_strides_say(seed: int) -> None:
    rng = random.Random(seed)
    conditions = ["-5 <= i <= 5", "-5 <= j <= 5", f"{affine(rng, ['i', 'j'])} >= 0"]
    conditions += [f"({affine(rng, ['i', 'j'])}) mod {rng.randint(2, 4)} = {rng.randint(0, 1)}"]
    if rng.random() < 0.5:
        conditions += [f"floor(({affine(rng, ['i', 'j'])})/{rng.randint(2, 3)}) <= j"]
    text = "{ [i, j] : " + " and ".join(conditions) + " }"
    order = rng.sample(["i", "j"], 2)
    visited = []
    for outer, inner in Set(text).loop_bounds(*order):
        assert "e0" not in f"{outer} {inner}" and outer.condition is None
        for first in outer.iterations():
            for second in inner.iterations(**{order[0]: first}):
                at = {order[0]: first, order[1]: second}
                if inner.condition is None or (at["i"], at["j"]) in Set(text):
                    visited.append((at["i"], at["j"]))
    assert sorted(visited) == sorted(points(text)), text


def test_bounds_of_loops_say_what_is_missing() -> None:
    ((outer, inner),) = Set("[n] -> { [i, j] : 0 <= i < n and i <= j }").loop_bounds("i", "j")
    with pytest.raises(PresburgerError, match="`n` needs a value"):
        outer.iterations()
    with pytest.raises(PresburgerError, match="`j` is unbounded"):
        inner.iterations(i=1, n=4)
    with pytest.raises(PresburgerError, match="one of n, i, j"):
        Set("[n] -> { [i, j] : 0 <= i < n and i <= j }").loop_bounds("k")


def modules_of(package: types.ModuleType) -> list[str]:
    found = pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    return [module.name for module in found]


UNARY = ["coalesce", "lexmin", "lexmax", "make_disjoint", "remove_redundancies"]
BINARY = ["union", "intersect", "subtract", "gist"]
TESTS = ["is_equal", "is_subset", "is_strict_subset", "is_disjoint"]


@pytest.mark.parametrize("seed", range(12))
def test_sets_agree_with_islpy(seed: int) -> None:
    rng = random.Random(seed)
    a, b = set_text(rng), set_text(rng)
    ours, theirs = (Set(a), Set(b)), (isl.Set(a), isl.Set(b))
    assert set(ours[0]) == points(a)
    assert ours[0].is_empty() == theirs[0].is_empty()
    for name in UNARY:
        assert Set(str(getattr(theirs[0], name)())) == getattr(ours[0], name)(), name
    # islpy keeps strides in its hull; ours is of equations in the dimensions alone.
    hull = Set(str(theirs[0].affine_hull()))
    assert hull == ours[0].affine_hull() if "mod" not in a else hull <= ours[0].affine_hull()
    for name in BINARY[:3]:
        assert Set(str(getattr(theirs[0], name)(theirs[1]))) == getattr(ours[0], name)(ours[1]), name
    gist = ours[0].gist(ours[1])
    assert gist & ours[1] == ours[0] & ours[1]
    for name in TESTS:
        assert getattr(theirs[0], name)(theirs[1]) == getattr(ours[0], name)(ours[1]), name
    assert Set(str(theirs[0].project_out(isl.dim_type.set, 0, 1))) == ours[0].project_out(presburger.dim_type.set, 0, 1)
    assert len(ours[0]) == len(points(a)) == ours[0].card()()


@pytest.mark.parametrize("seed", range(8))
def test_relations_agree_with_islpy(seed: int) -> None:
    rng = random.Random(seed)
    a, b = map_text(rng), map_text(rng)
    ours, theirs = (Map(a), Map(b)), (isl.Map(a), isl.Map(b))
    for name in ["domain", "range", "deltas", "wrap"]:
        assert Set(str(getattr(theirs[0], name)())) == getattr(ours[0], name)(), name
    for name in ["reverse", "lexmin", "lexmax", "domain_map", "range_map"]:
        assert Map(str(getattr(theirs[0], name)())) == getattr(ours[0], name)(), name
    for name in ["apply_range", "union", "intersect", "subtract", "product", "range_product"]:
        assert Map(str(getattr(theirs[0], name)(theirs[1]))) == getattr(ours[0], name)(ours[1]), name
    for name in ["is_single_valued", "is_injective", "is_bijective"]:
        assert getattr(theirs[0], name)() == getattr(ours[0], name)(), name
    inputs = set_text(rng)
    expected = isl.Set(inputs).apply(theirs[0])
    assert ours[0](Set(inputs)) == Set(inputs).apply(ours[0]) == Set(str(expected))


def test_operators_are_those_of_pythons_sets() -> None:
    a, b = Set("{ [i] : 0 <= i < 10 }"), Set("{ [i] : 5 <= i < 12 }")
    x, y = set(range(10)), set(range(5, 12))
    assert [p[0] for p in a | b] == sorted(x | y)
    assert [p[0] for p in a & b] == sorted(x & y)
    assert [p[0] for p in a - b] == sorted(x - y)
    assert [p[0] for p in a ^ b] == sorted(x ^ y)
    assert (a < a | b) and (a <= a) and not (a < a) and (a | b > b) and (a >= a)
    assert a != b and a == ~~a and a and not a - a
    assert (3,) in a and (10,) not in a and len(a) == 10
    assert hash(a) == hash(~~a) and len({a, ~~a, a - a, Set("{ T[i] : i < i }")}) == 2
    with pytest.raises(TypeError):
        a | Map("{ [i] -> [i] }")  # type: ignore[operator]


def test_points_know_their_tuples() -> None:
    s = Set("{ S[i, j] : 0 <= i, j < 2; T[] }")
    assert sorted(map(repr, s)) == ["S[0, 0]", "S[0, 1]", "S[1, 0]", "S[1, 1]", "T[]"]
    # A tuple of Python has no name; a point without one is of a tuple without one.
    assert Point((1, 0), "S") in s and (1, 0) in s and Point((1, 0)) not in s
    assert (2, 0) not in s and () in s and ((0,), (1,)) in Map("{ S[i] -> A[i + 1] }")
    assert [piece.get_tuple_name() for piece in s.pieces()] == ["S", "T"]
    pairs = list(Map("{ S[i] -> A[i + 1] : 0 <= i < 2 }"))
    assert repr(pairs) == "[(S[0], A[1]), (S[1], A[2])]"
    assert (Point((0,), "S"), Point((1,), "A")) in Map("{ S[i] -> A[i + 1] }")
    assert pickle.loads(pickle.dumps(pairs)) == pairs
    assert pickle.loads(pickle.dumps(s)) == s


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("[n] -> { S[i, j] : 0 <= i < n and 0 <= j <= i and n = 4 }", 10),
        ("[n, m] -> { S[i] : 0 <= i < n and 2 <= n <= 3 and m = 7 }", 5),
        ("[n] -> { S[i] : 0 <= i < 4 }", 4),
        ("[n] -> { U[i, j] : 0 <= i, j < n and n = 2; T[] : n = 3 }", 5),
    ],
)
def test_parameters_with_finitely_many_values_are_counted_with(text: str, points: int) -> None:
    s = Set(text)
    found = list(s)
    assert len(s) == s.count_val() == len(found) == len(set(map(repr, found))) == points
    assert all(point in s for point in found)
    sample = s.sample_point()
    assert sample is not None and all(name in sample.params for name in s.pieces()[0].get_param_names())
    pairs = Map("[n] -> { S[i] -> T[j] : 0 <= i, j < n and n = 2 }")
    assert len(list(pairs)) == len(pairs) == 4 and all(pair in pairs for pair in pairs)


def test_counts_are_functions_of_parameters() -> None:
    text = "[N, M] -> { S[i, j] : 0 <= i < N and i <= 2j < M; T[i] : 0 <= 3i < M }"
    count = Set(text).card()
    for n, m in itertools.product(range(-1, 7), range(-1, 9)):
        assert count(N=n, M=m) == len(Set(text).bind(N=n, M=m))
    with pytest.raises(TypeError, match="N"):
        count(M=3)
    (outputs,) = Map("[N] -> { S[i] -> A[j] : i <= j < N }").card()
    assert outputs(2, N=5) == 3
    assert (count + count - count)(N=4, M=6) == count(N=4, M=6)
    assert Set("{ [i] : i < 0 and i > 0 }").card()() == 0


def test_numbers_have_any_size() -> None:
    for large in (2**63, 10**40 + 7, 10**400 + 9):
        (point,) = Set(f"{{ [{large}, -{large}] }}")
        assert tuple(point) == (large, -large)
        triangle = Set("[n] -> { [i, j] : 0 <= i <= j < n }").card()
        assert triangle(n=large) == large * (large + 1) // 2
        assert list(Set("[n] -> { [i] : n <= i < n + 1 }").bind(n=-large)) == list(
            Set(f"{{ [-{large}] }}")
        )
    interval = Set("[n] -> { [i] : n <= i < n + 1 }")
    assert list(interval.bind(n=True)) == [(1,)]
    for other in (1.5, "1", None):
        with pytest.raises(TypeError, match="integer"):
            interval.bind(n=other)  # type: ignore[arg-type]


def test_errors_say_the_way_out(tmp_path) -> None:
    with pytest.raises(PresburgerError, match="column 9"):
        Set("{ [i] : & }")
    with pytest.raises(PresburgerError, match="Map"):
        Set("{ [i] -> [j] }")
    with pytest.raises(PresburgerError, match=r"bind\(N=\.\.\.\)"):
        list(Set("[N] -> { [i] : 0 <= i < N }"))
    with pytest.raises(PresburgerError, match="no parameter 'M'"):
        Set("[N] -> { [i] : 0 <= i < N }").bind(M=3)
    with pytest.raises(PresburgerError, match="limits"), limits(steps=10):
        Set("{ [i, j] : 0 <= i, j < 100 and i mod 7 = j mod 5 }").card()
    assert Set("{ [i] : 0 <= i < 3 }").plot(str(tmp_path / "a.svg"))
    ElementTree.parse(tmp_path / "a.svg")


def test_notebooks_show_what_fits() -> None:
    svg = Set("{ [i, j] : 0 <= i <= j < 5 }")._repr_svg_()
    assert svg is not None
    dots = [e for e in ElementTree.fromstring(svg) if e.get("fill") == "#0072b2"]
    assert len(dots) == 15 + 1  # and one in the legend
    assert Set("[N] -> { [i] : 0 <= i < N }")._repr_svg_() is None
    assert Set("{ [a, b, c, d] : 0 <= a, b, c, d < 2 }")._repr_svg_() is None
    assert Set("{ [i] : i > 0 }")._repr_svg_() is None


def value(val: isl.Val) -> int | None:
    return val.to_python() if val.is_int() else None


@pytest.mark.parametrize("seed", range(8))
def test_extents_hulls_and_orders_agree_with_islpy(seed: int) -> None:
    rng = random.Random(100 + seed)
    a, b = set_text(rng), set_text(rng)
    ours, theirs = (Set(a), Set(b)), (isl.Set(a), isl.Set(b))
    assert ours[0].convex_hull() <= Set(str(theirs[0].simple_hull())) or "mod" in a
    assert ours[0].is_bounded() and ours[0].is_singleton() == theirs[0].is_singleton()
    assert ours[0].count_val() == theirs[0].count_val().to_python()
    for name in ["lex_lt_set", "lex_le_set", "lex_gt_set", "lex_ge_set"]:
        assert Map(str(getattr(theirs[0], name)(theirs[1]))) == getattr(ours[0], name)(ours[1]), name
    assert Set(str(theirs[0].flat_product(theirs[1]))) == ours[0].flat_product(ours[1])
    for text in ours[0].disjuncts():
        assert text <= ours[0]
    if ours[0].is_empty():
        assert ours[0].bounding_box() == [] and ours[0].sample_point() is None
        return
    assert ours[0].sample_point() in ours[0]
    for dim in range(2):
        assert ours[0].dim_min_val(dim) == value(theirs[0].dim_min_val(dim))
        assert ours[0].dim_max_val(dim) == value(theirs[0].dim_max_val(dim))
        # Every value keeps to the stride that is found.
        stride, offset = ours[0].get_stride_info(dim)
        assert all((p[dim] - offset(*p)) % stride == 0 for p in ours[0])


@pytest.mark.parametrize("seed", range(6))
def test_products_of_relations_come_apart_as_in_islpy(seed: int) -> None:
    rng = random.Random(200 + seed)
    a, b = map_text(rng), map_text(rng)
    ours, theirs = (Map(a), Map(b)), (isl.Map(a), isl.Map(b))
    expected = theirs[0].flat_domain_product(theirs[1])
    assert Map(str(expected)) == ours[0].flat_domain_product(ours[1])
    both = ours[0].product(ours[1]), theirs[0].product(theirs[1])
    for name in ["factor_domain", "factor_range"]:
        assert Map(str(getattr(both[1], name)())) == getattr(both[0], name)(), name
    pairs = ours[0].range_product(ours[1]), theirs[0].range_product(theirs[1])
    for name in ["range_factor_domain", "range_factor_range", "uncurry"]:
        assert Map(str(getattr(pairs[1], name)())) == getattr(pairs[0], name)(), name
    assert pairs[0].uncurry().curry() == pairs[0]
    for exponent in [-2, 1, 3]:
        expected = theirs[0].fixed_power_val(exponent)
        assert Map(str(expected)) == ours[0].fixed_power_val(exponent)


@pytest.mark.parametrize("name", ["lex_lt_map", "lex_le_map", "lex_gt_map", "lex_ge_map"])
def test_relations_order_their_inputs_as_in_islpy(name: str) -> None:
    texts = "{ [i] -> [i mod 3, i] : 0 <= i < 6 }", "{ [i] -> [j, 5 - j] : 0 <= j <= i < 4 }"
    expected = getattr(isl.Map(texts[0]), name)(isl.Map(texts[1]))
    assert Map(str(expected)) == getattr(Map(texts[0]), name)(Map(texts[1]))


@pytest.mark.parametrize(
    ("text", "stride"),
    [
        ("{ [i] : i mod 4 = 1 }", 4),
        ("{ [i] : i mod 4 = 1; [i] : i mod 6 = 3 }", 2),
        ("[n] -> { [i] : (i - n) mod 5 = 2 }", 5),
        ("{ [i] : exists j : i = 6j + 1 and j > 0 }", 6),
        ("{ [i] : (2i) mod 6 = 4 }", 3),
        ("{ [i] : i >= 0 }", 1),
    ],
)
def test_strides_are_those_of_islpy(text: str, stride: int) -> None:
    assert Set(text).get_stride(0) == stride
    # islpy does not join the strides of several pieces.
    assert stride % isl.Set(text).get_stride(0).to_python() == 0


def test_functions_are_calculated_with() -> None:
    square = PwQPolynomial("{ [i] -> i^2 }")
    inside = Set("{ [i] : 0 <= i < 4 }")
    assert square.intersect_domain(inside).sum()() == 14
    assert (2 * square + 1)(3) == 19 and (1 - square)(3) == -8 and (-square)(2) == -4
    assert square * square == PwQPolynomial("{ [i] -> i^4 }") and square != square + 1
    assert hash(square * 1) == hash(square)
    below = Map("{ [i] -> [j] : 0 <= j <= i }")
    sums = square.apply(below)
    assert [sums(i) for i in range(-1, 4)] == [0, 0, 1, 5, 14]
    assert inside.indicator_function()(3) == 1 and inside.indicator_function()(4) == 0
    assert square.intersect_domain(inside).domain() <= inside
    assert pickle.loads(pickle.dumps(square)) == square
    upper = PwQPolynomial("[n] -> { [i] -> i : 0 <= i <= n }").bound()
    assert upper(n=7) == 7 and upper(n=-1) is None and upper.is_upper()
    assert (upper * -2)(n=3) == -6 and not (upper * -2).is_upper()
    assert upper.domain() == Set("[n] -> { : n >= 0 }")
    assert upper.fold(PwQPolynomial("{ [i] -> i : 3 <= i <= 5 }").bound())(n=4) == 5


def test_large_integers_are_exact() -> None:
    big = 10**30
    assert Set(f"{{ [i] : 0 <= i < {big} }}").count_val() == big
    assert (Set(f"{{ [i] : {big} <= i <= {big} }}")).sample_point() == (big,)


def test_closures_and_fixed_dimensions() -> None:
    step = Map("[n] -> { [i] -> [i + 1] : 0 <= i < n }")
    closure, exact = step.transitive_closure()
    assert exact and closure == Map("[n] -> { [i] -> [j] : 0 <= i < j <= n }")
    power, exact = step.power()
    assert exact and power == Map("[n] -> { [k] -> [[i] -> [i + k]] : k > 0 and 0 <= i and i + k <= n }")
    assert Set("{ S[i, j] : 0 <= i, j < 3 }").fix("j", 1) == Set("{ S[i, 1] : 0 <= i < 3 }")
    with pytest.raises(PresburgerError, match="no dimension 'k'"):
        Set("{ S[i, j] }").fix("k", 1)
    assert step.project_out_params() == Map("{ [i] -> [i + 1] : i >= 0 }")
    assert step.is_translation() and not step.is_identity()
    assert Set("{ [i] }").identity().is_identity()


def test_every_native_name_is_in_the_stub() -> None:
    import ast
    import inspect
    import pathlib

    import tangram
    from tangram import _native

    stub = pathlib.Path(tangram.__file__).with_name("_native.pyi").read_text(encoding="utf-8")
    known = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef):
            known[node.name] = {f.name for f in node.body if isinstance(f, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            known[node.name] = set()
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert public <= set(known), public - set(known)
    for name in public:
        item = getattr(_native, name)
        if inspect.isclass(item) and not issubclass(item, Exception):
            methods = {method for method in vars(item) if not method.startswith("_")}
            assert methods == {m for m in known[name] if not m.startswith("_")}, name
    for name in presburger.__all__:
        assert getattr(presburger, name).__doc__
