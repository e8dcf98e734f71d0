"""Every public name of islpy is here, or stands in a table with the reason why not."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

islpy = pytest.importorskip("islpy", reason="needs islpy")
ours = pytest.importorskip("tangram.isl")

from islpy_twin import plain  # noqa: E402

TABLE = Path(__file__).with_name("islpy_absent.txt")


def missing() -> set[str]:
    found = set()
    for name in (name for name in dir(islpy) if not name.startswith("_")):
        if not hasattr(ours, name):
            found.add(name)
            continue
        theirs, mine = getattr(islpy, name), getattr(ours, name)
        if not inspect.isclass(theirs):
            continue
        # A printer has a method for each kind of value.
        made = mine() if name == "Printer" else mine
        found |= {f"{name}.{m}" for m in dir(theirs) if not m.startswith("_") and not hasattr(made, m)}
    return found


def table() -> dict[str, str]:
    """The reason of each name that is not there."""
    reasons: dict[str, str] = {}
    reason = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
            continue
        owner, *names = line.split()
        assert reason, line
        reasons |= {f"{owner}.{name}" if owner != "-" else name: reason for name in names}
    return reasons


def test_every_name_of_islpy_is_here_or_has_a_reason() -> None:
    absent, reasons = missing(), table()
    assert sorted(absent - set(reasons)) == []
    # What has come since stands there no longer.
    assert sorted(set(reasons) - absent) == []


def test_code_is_made_by_callbacks() -> None:
    accesses = ours.Map("{ S[t, i] -> bar[t mod 2, i + 1] }")
    seen = []

    def user(node: object, build: ours.AstBuild) -> ours.AstNode:
        function = ours.PwMultiAff.from_map(accesses.apply_domain(build.get_schedule()))
        seen.append(build.get_schedule_space().dim(ours.dim_type.set))
        call = build.access_from_pw_multi_aff(function)
        return ours.AstNode.alloc_user(ours.AstExpr.from_id(ours.Id("use")).call([call]))

    build, _ = ours.AstBuild.alloc().set_at_each_domain(user)
    build = build.set_iterators(ours.IdList.alloc(None, 2).add(ours.Id("time")).add(ours.Id("at")))
    build, _ = build.set_before_each_for(lambda inner: ours.Id("loop"))
    build, _ = build.set_after_each_for(lambda node, inner: node.set_annotation(ours.Id("done")))
    code = build.node_from_schedule_map(ours.Map("{ S[t, i] -> [t, i] : 0 <= t < 4 and 0 <= i <= t }"))
    assert str(code) == (
        "for (int64_t time = 0; time <= 3; time += 1)\n"
        "  for (int64_t at = 0; at <= time; at += 1)\n"
        "    use(bar[time - 2 * floord(time, 2)][at + 1]);\n"
    )
    assert seen == [2] and code.get_annotation() == "done"
    assert build.expr_from_set(ours.Set("[n] -> { : n >= 3 }")).to_C_str() == "n - 3 >= 0"
    node = ours.AstExpr.from_val(2).mul(ours.AstExpr.from_id(ours.Id("i")).add(ours.AstExpr.from_val(1)))
    assert node.to_C_str() == "2 * (i + 1)" and node.op_get_type() == ours.ast_expr_op_type.mul


def test_lists_values_and_options_have_islpys_methods() -> None:
    ids = ours.IdList.alloc(ours.DEFAULT_CONTEXT, 2).add(ours.Id("i")).add(ours.Id("j"))
    assert ids.n_id() == 2 and ids.get_at(1) == "j" and ids.to_str() == "(i, j)"
    with pytest.raises(ours.Error, match="below 2"):
        ids.get_at(2)
    sizes = ours.MultiVal("{ [32, 8] }")
    assert sizes.get_val(1) == 8 and sizes.set_val(0, 4).add(sizes).to_str() == "{ [36, 16] }"
    first, second = (ours.PwMultiAff(t) for t in ("{ A[i] -> [i + 1] }", "{ B[j] -> C[2j] }"))
    theirs = islpy.PwMultiAff(str(first)).product(islpy.PwMultiAff(str(second)))
    assert first.product(second) == ours.PwMultiAff(str(theirs))
    relation = "{ [i] -> [j] : 0 <= i < 5 and i <= j <= 7 }"
    found, empty = ours.BasicMap(relation).partial_lexmin(ours.BasicSet("{ [i] : 3 <= i <= 9 }"))
    expected = islpy.BasicMap(relation).partial_lexmin(islpy.BasicSet("{ [i] : 3 <= i <= 9 }"))
    assert found == ours.Map(str(expected[0])) and empty == ours.Set(str(expected[1]))
    corners: list[object] = []
    ours.BasicSet("{ [i, j] : 0 <= i <= 3 and 0 <= j <= i }").compute_vertices().foreach_vertex(corners.append)
    assert len(corners) == 3
    assert ours.Aff.val_on_domain_space(ours.Space("{ A[i] }"), 7)(3) == 7
    ours.DEFAULT_CONTEXT.set_schedule_algorithm(ours.schedule_algorithm.feautrier)
    assert ours.DEFAULT_CONTEXT.get_schedule_algorithm() == ours.schedule_algorithm.feautrier
    ours.DEFAULT_CONTEXT.set_schedule_algorithm(ours.schedule_algorithm.isl)


def test_lists_that_are_returned_have_islpys_methods() -> None:
    points, pairs = ours.Set("{ A[i] : i > 3 or i < 0; B[] }"), ours.Map("{ A[i] -> B[]; B[] -> B[] }")
    function = ours.MultiPwAff("{ A[i] -> [(i), (2)] : i > 0 }")
    union = ours.MultiUnionPwAff("C[{ A[i] -> [(i)]; B[j] -> [(j)] }, { A[i] -> [(0)]; B[j] -> [(1)] }]")
    assert points.get_set_list().n_set() == 2 and points.get_basic_set_list().n_basic_set() == 3
    assert pairs.get_map_list().n_map() == pairs.get_basic_map_list().size() == 2
    assert isinstance(pairs.get_map_list().get_at(1), ours.Map)
    assert function.get_list().n_pw_aff() == 2 and function.as_map().as_pw_multi_aff().get_list().size() == 2
    assert ours.MultiAff("{ A[i] -> [(i), (2)] }").get_list().n_aff() == 2
    assert union.get_list().n_union_pw_aff() == 2 and union.get_at(0).get_pw_aff_list().n_pw_aff() == 2
    assert union.as_union_pw_multi_aff().get_pw_multi_aff_list().n_pw_multi_aff() == 2
    assert pairs.card().get_pw_qpolynomial_list().n_pw_qpolynomial() == 2
    bounds = ours.UnionPwQPolynomialFold("{ A[i] -> max(i, 3); B[i, j] -> max(i * j) }")
    assert bounds.get_pw_qpolynomial_fold_list().n_pw_qpolynomial_fold() == 2
    assert all(isinstance(found, list) for found in (points.get_set_list(), function.get_list()))


def test_unions_have_universes_and_preimages() -> None:
    points, pairs = "{ A[i] : 0 <= i < 4; B[] }", "{ A[i] -> B[i] : 0 <= i < 4; B[] -> B[i]; B[] -> C[] }"
    function, functions = "{ C[a] -> A[(2a)] }", "{ C[a] -> A[(2a)]; D[a] -> B[]; D[a] -> E[] : false }"
    for kind, text in (("UnionSet", points), ("UnionMap", pairs)):
        expected, found = getattr(islpy, kind)(text), getattr(ours, kind)(text)
        assert found.universe() == plain(expected.universe())
    assert ours.BasicSet("{ A[i] : i > 3 }").universe() == ours.Set.universe(ours.Space("{ A[i] }"))
    theirs, mine = (i.UnionSet(points) for i in (islpy, ours))
    expected = theirs.preimage_multi_aff(islpy.MultiAff(function))
    assert mine.preimage_multi_aff(ours.MultiAff(function)) == plain(expected)
    assert not mine.preimage_multi_aff(ours.MultiAff("{ C[a] -> X[(2a)] }"))
    expected = theirs.preimage_union_pw_multi_aff(islpy.UnionPwMultiAff(functions))
    assert mine.preimage_union_pw_multi_aff(ours.UnionPwMultiAff(functions)) == plain(expected)
    theirs, mine = (i.UnionMap(pairs) for i in (islpy, ours))
    for name in ("preimage_domain", "preimage_range"):
        single, several = f"{name}_multi_aff", f"{name}_union_pw_multi_aff"
        expected = getattr(theirs, single)(islpy.MultiAff("{ X[a] -> B[] }"))
        assert getattr(mine, single)(ours.MultiAff("{ X[a] -> B[] }")) == plain(expected)
        expected = getattr(theirs, several)(islpy.UnionPwMultiAff(functions))
        assert getattr(mine, several)(ours.UnionPwMultiAff(functions)) == plain(expected)
    with pytest.raises(ours.Error):
        ours.Set("{ A[i] : 0 <= i < 4 }").preimage_multi_aff(ours.MultiAff("{ C[a] -> X[(2a)] }"))
