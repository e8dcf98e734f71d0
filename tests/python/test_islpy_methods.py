"""Each method that islpy has too gives what islpy's gives, on inputs drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

ours = pytest.importorskip("tangram.presburger")
islpy = pytest.importorskip("islpy", reason="needs islpy")
from islpy_twin import plain  # noqa: E402

DRAWS = 3


def terms(rng: random.Random, names: list[str]) -> str:
    return " + ".join([*(f"{rng.randint(-2, 2)}*{n}" for n in names), str(rng.randint(-4, 4))])


def condition(rng: random.Random, names: list[str]) -> str:
    parts = [f"-4 <= {name} <= 4" for name in names]
    parts += [f"{terms(rng, [*names, 'n'])} >= 0" for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.3:
        parts.append(f"({terms(rng, names)}) mod {rng.randint(2, 3)} = 0")
    return " and ".join(parts)


def draw(rng: random.Random, left: str, names: list[str], most: int = 2) -> str:
    pieces = [f"{left} : {condition(rng, names)}" for _ in range(rng.randint(1, most))]
    return f"[n] -> {{ {'; '.join(pieces)} }}"


def set_text(rng: random.Random) -> str:
    return draw(rng, "[i, j]", ["i", "j"])


def map_text(rng: random.Random) -> str:
    return draw(rng, "[i, j] -> [k, l]", ["i", "j", "k", "l"])


def pairs_text(rng: random.Random) -> str:
    return draw(rng, "[[i] -> [j]] -> [[k] -> [l]]", ["i", "j", "k", "l"])


def function_text(rng: random.Random) -> str:
    border = rng.randint(-2, 2)
    first, second = (f"[i, j] -> [({terms(rng, ['i', 'j', 'n'])})]" for _ in "ab")
    return f"[n] -> {{ {first} : i <= {border}; {second} : i > {border} and j >= -2 }}"


def aff_text(rng: random.Random) -> str:
    inner = terms(rng, ["i", "j"])
    return f"[n] -> {{ [i, j] -> [({terms(rng, ['i', 'j', 'n'])} + floor(({inner})/3))] }}"


def linear_text(rng: random.Random) -> str:
    return f"[n] -> {{ [i, j] -> [(({terms(rng, ['i', 'j', 'n'])})/{rng.randint(1, 4)})] }}"


def tuple_text(rng: random.Random) -> str:
    values = ", ".join(f"({terms(rng, ['i', 'j', 'n'])})" for _ in range(2))
    return f"[n] -> {{ [i, j] -> [{values}] : {terms(rng, ['i', 'j'])} >= 0 }}"


MAKE: dict[str, Callable[[random.Random], tuple[Any, Any]]] = {
    "set": lambda rng: both("Set", set_text(rng)),
    "map": lambda rng: both("Map", map_text(rng)),
    "pairs": lambda rng: both("Map", pairs_text(rng)),
    "wrapped": lambda rng: both("Set", draw(rng, "[[i] -> [j]]", ["i", "j"])),
    "basic_set": lambda rng: both("BasicSet", draw(rng, "[i, j]", ["i", "j"], 1)),
    "basic_map": lambda rng: both("BasicMap", draw(rng, "[i] -> [j]", ["i", "j"], 1)),
    "params": lambda rng: both("Set", f"[n] -> {{ : {rng.randint(-2, 2)} <= n <= 5 }}"),
    "pw_aff": lambda rng: both("PwAff", function_text(rng)),
    "aff": lambda rng: both("Aff", aff_text(rng)),
    "linear": lambda rng: both("Aff", linear_text(rng)),
    "tuple": lambda rng: both("PwMultiAff", tuple_text(rng)),
    "pos": lambda rng: (rng.randint(0, 1),) * 2,
    "value": lambda rng: (rng.randint(1, 4),) * 2,
    "set_dim": lambda rng: (islpy.dim_type.set, ours.dim_type.set),
    "in_dim": lambda rng: (islpy.dim_type.in_, ours.dim_type.in_),
    "param_dim": lambda rng: (islpy.dim_type.param, ours.dim_type.param),
    "zero": lambda rng: (0, 0),
    "one": lambda rng: (1, 1),
    "name": lambda rng: ("z", "z"),
}


def both(kind: str, text: str) -> tuple[Any, Any]:
    return getattr(islpy, kind)(text), getattr(ours, kind)(text)


# Kind of the object, and what follows: methods, each with the kinds of its arguments.
SETS = {
    "": "coalesce complement params is_empty lexmin lexmax make_disjoint remove_redundancies "
    "is_bounded is_singleton is_params is_wrapping identity plain_is_empty plain_is_universe "
    "compute_divs detect_equalities flatten get_space get_id_dict get_var_dict n_dim "
    "get_basic_sets get_tuple_name has_tuple_name neg tuple_dim n_param to_union_set "
    "project_out_all_params drop_unused_params",
    "set": "union_disjoint has_equal_space union intersect subtract is_equal is_subset is_strict_subset is_disjoint product "
    "flat_product lex_lt_set lex_le_set lex_gt_set lex_ge_set",
    "params": "intersect_params",
    "map": "apply",
    "tuple": "preimage_pw_multi_aff",
    "pos": "dim_max dim_min get_stride",
    "set_dim": "dim get_var_names get_var_ids",
    "set_dim pos": "get_dim_name has_dim_name get_dim_id has_dim_id",
    "set_dim pos one": "project_out eliminate involves_dims insert_dims remove_dims",
    "set_dim pos value": "fix_val lower_bound_val upper_bound_val",
    "set_dim pos name": "set_dim_name",
    "set_dim name": "find_dim_by_name",
    "set_dim one": "add_dims",
    "param_dim zero set_dim pos one": "move_dims",
    "set_dim zero param_dim zero": "equate",
    "name": "set_tuple_name",
}
MAPS = {
    "": "coalesce complement domain range reverse deltas deltas_map wrap domain_map range_map "
    "is_empty is_single_valued is_injective is_bijective is_identity is_translation lexmin lexmax "
    "params make_disjoint remove_redundancies flatten flatten_domain flatten_range get_basic_maps "
    "get_space get_var_dict plain_is_empty plain_is_universe neg to_union_map is_product can_zip "
    "project_out_all_params drop_unused_params domain_tuple_dim range_tuple_dim can_curry can_uncurry",
    "map": "flat_product has_equal_space union intersect subtract apply_range apply_domain product range_product "
    "domain_product flat_range_product flat_domain_product is_equal is_subset is_strict_subset "
    "is_disjoint lex_lt_map lex_le_map lex_gt_map lex_ge_map",
    "set": "intersect_domain intersect_range subtract_domain subtract_range",
    "params": "intersect_params",
    "tuple": "preimage_domain_pw_multi_aff preimage_range_pw_multi_aff",
    "pos": "dim_max dim_min",
    "in_dim pos one": "project_out eliminate involves_dims insert_dims",
    "set_dim pos one": "project_out eliminate remove_dims",
    "in_dim pos value": "fix_val lower_bound_val upper_bound_val",
    "in_dim pos set_dim pos": "equate order_lt order_le order_gt order_ge",
    "in_dim name": "set_tuple_name find_dim_by_name",
    "in_dim": "dim get_tuple_name has_tuple_name get_var_names",
    "in_dim zero set_dim pos one": "move_dims",
}
PAIRS = {"": "zip curry factor_domain factor_range range_factor_domain range_factor_range "
         "domain_factor_domain domain_factor_range uncurry domain_reverse range_reverse is_product "
         "domain_is_wrapping range_is_wrapping can_zip can_curry can_uncurry"}  # fmt: skip
FUNCTIONS = {
    "": "neg floor ceil coalesce domain zero_set non_zero_set nonneg_set pos_set get_pieces "
    "get_aggregate_domain get_domain_space is_cst is_empty n_piece params get_var_dict isa_aff",
    "params": "intersect_params",
    "pw_aff": "add sub min max union_add union_min union_max le_set lt_set ge_set gt_set eq_set "
    "ne_set is_equal",
    "pw_aff pw_aff": "cond",
    "set": "intersect_domain subtract_domain",
    "value": "mod_val scale_val scale_down_val",
    "tuple": "pullback_pw_multi_aff",
    "in_dim": "dim get_var_names",
    "in_dim one": "add_dims",
    "in_dim pos one": "insert_dims",
    "in_dim zero param_dim zero one": "move_dims",
}
AFFS = {
    "": "neg floor ceil is_cst plain_is_zero get_domain_space get_space to_pw_aff",
    "aff": "add sub le_set lt_set ge_set gt_set eq_set ne_set plain_is_equal",
    "value": "mod_val scale_val scale_down_val",
    "in_dim pos": "get_dim_name",
    "in_dim pos one": "involves_dims",
    "in_dim one": "add_dims",
}
# Without divisions, which both libraries write in forms of their own.
LINEAR = {
    "": "get_constant_val get_denominator_val is_cst plain_is_zero",
    "value": "set_constant_val add_constant_val",
    "in_dim pos": "get_coefficient_val",
    "in_dim pos value": "set_coefficient_val add_coefficient_val",
    "param_dim zero": "get_coefficient_val",
}
TUPLES = {
    "": "coalesce domain as_map get_space",
    "params": "intersect_params",
    "tuple": "add sub union_add range_product flat_range_product is_equal",
    "set": "intersect_domain subtract_domain",
    "value": "scale_val scale_down_val",
}
BASIC = {
    "": "is_empty to_set get_space is_universe remove_redundancies n_dim",
    "basic_set": "intersect union is_equal is_subset",
    "set_dim pos one": "eliminate involves_dims remove_dims insert_dims",
    "set_dim pos value": "fix_val",
}
BASIC_MAPS = {
    "": "domain range reverse is_empty to_map wrap deltas is_single_valued",
    "basic_map": "intersect union apply_range is_equal is_subset product",
}
TABLES = {
    "set": SETS, "map": MAPS, "pairs": PAIRS, "pw_aff": FUNCTIONS, "aff": AFFS, "linear": LINEAR, "tuple": TUPLES,
    "basic_set": BASIC, "basic_map": BASIC_MAPS,
    "wrapped": {"": "unwrap wrapped_domain_map is_wrapping get_space"},
}  # fmt: skip
CASES = [
    (kind, tuple(arguments.split()), name)
    for kind, table in TABLES.items()
    for arguments, names in table.items()
    for name in names.split()
]


@pytest.mark.parametrize(
    ("kind", "arguments", "name"), CASES, ids=lambda v: v if isinstance(v, str) else "-".join(v)
)
def test_methods_agree_with_islpy(kind: str, arguments: tuple[str, ...], name: str) -> None:
    rng = random.Random(f"{kind} {arguments} {name}")
    for _ in range(DRAWS):
        made = [MAKE[part](rng) for part in (kind, *arguments)]
        theirs, mine = ([pair[side] for pair in made] for side in (0, 1))
        expected = getattr(theirs[0], name)(*theirs[1:])
        found = getattr(mine[0], name)(*mine[1:])
        assert same(plain(found), plain(expected)), (theirs, expected, found)


def same(found: Any, expected: Any) -> bool:
    """Whether they are equal; conjunctions are of one union, however it is cut."""
    parts = (found, expected)
    if all(isinstance(p, list) and p and isinstance(p[0], ours.Set | ours.Map) for p in parts):
        return joined(found) == joined(expected)
    if all(isinstance(p, list) and p and isinstance(p[0], list) for p in parts):
        return pieced(found) == pieced(expected)
    return found == expected


def joined(parts: list[Any]) -> Any:
    result = parts[0]
    for part in parts[1:]:
        result = result | part
    return result


def pieced(parts: list[Any]) -> Any:
    """The function of parts of a domain and expressions."""
    result = parts[0][1].intersect_domain(parts[0][0])
    for domain, value in parts[1:]:
        result = result.union_add(value.intersect_domain(domain))
    return result


@pytest.mark.parametrize("text", ["7", "-7", "5/2", "-5/2", "0", "-1/3"])
def test_numbers_agree_with_islpy(text: str) -> None:
    theirs, mine = islpy.Val(text), ours.Val(text)
    names = "abs neg floor ceil trunc sgn is_zero is_int is_neg is_nonneg get_num_si get_den_val to_str"
    for name in names.split() + (["inv"] if mine else []):
        assert plain(getattr(mine, name)()) == plain(getattr(theirs, name)()), name
    for other in ["3", "-5/2", "1/6"]:
        both_of_it = (islpy.Val(other), ours.Val(other))
        for name in "add sub mul div min max eq ne lt le gt ge abs_eq is_divisible_by".split():
            if name != "is_divisible_by" or mine.is_int() and both_of_it[1].is_int():
                expected = getattr(theirs, name)(both_of_it[0])
                assert plain(getattr(mine, name)(both_of_it[1])) == plain(expected), (name, other)
    assert mine.cmp_si(2) == (theirs.cmp_si(2) > 0) - (theirs.cmp_si(2) < 0)
    if mine.is_int():
        assert mine.gcd(21) == plain(theirs.gcd(islpy.Val(21))) and mine.pow2() == plain(theirs.pow2())


@pytest.mark.parametrize("seed", range(4))
def test_quotients_round_towards_zero(seed: int) -> None:
    rng = random.Random(seed)
    theirs, mine = MAKE["pw_aff"](rng)
    divisor = rng.choice([-3, -2, 2, 5])
    text = f"[n] -> {{ [i, j] -> [({divisor})] }}"
    for name in ("tdiv_q", "tdiv_r"):
        expected = getattr(theirs, name)(islpy.PwAff(text))
        assert getattr(mine, name)(ours.PwAff(text)) == plain(expected)


def test_unions_are_taken_apart() -> None:
    theirs, mine = both("UnionSet", "{ A[i] : 0 <= i < 4; B[]; A[i] : i = 9 }")
    assert mine.n_set() == theirs.n_set() == 2 and not mine.isa_set()
    space = ours.Space("{ A[i] }")
    assert mine.extract_set(space) == plain(theirs.extract_set(islpy.Space("{ A[i] }")))
    assert mine.contains(space) and not mine.contains(ours.Space("{ C[] }"))
    assert mine.add_set(ours.Set("{ C[] }")).n_set() == 3
    assert mine.every_set(lambda piece: piece.is_bounded())
    assert ours.Set.from_union_set(mine.extract_set(space)) == mine.extract_set(space).as_set()
    maps = ours.UnionMap("{ A[i] -> B[]; B[] -> A[3] }")
    assert maps.n_map() == 2 and maps.extract_map(ours.Space("{ B[] -> A[i] }")) == ours.Map("{ B[] -> A[3] }")
    assert maps.add_map(ours.Map("{ A[i] -> C[] }")).every_map(lambda piece: piece.isa_map())


def test_tuples_are_made_of_expressions() -> None:
    first, second = ours.PwAff("{ [i] -> [(i + 1)] }"), ours.PwAff("{ [i] -> [(2i)] }")
    both_of_it = ours.MultiPwAff.from_pw_aff_list(ours.Space("{ [i] -> T[a, b] }"), [first, second])
    assert both_of_it == ours.PwMultiAff("{ [i] -> T[(i + 1), (2i)] }")
    assert both_of_it.get_list() == [first, second]
    assert both_of_it.set_at(0, second) == ours.PwMultiAff("{ [i] -> T[(2i), (2i)] }")
    assert ours.MultiAff.zero(ours.Space("{ [i] -> T[a, b] }")) == ours.PwMultiAff("{ [i] -> T[0, 0] }")
    assert ours.MultiAff.identity_on_domain_space(ours.Space("{ A[i] }")) == ours.PwMultiAff("{ A[i] -> A[(i)] }")
    assert ours.PwMultiAff.from_map(both_of_it.as_map()) == both_of_it


@pytest.mark.parametrize("seed", range(6))
def test_gists_agree_within_their_contexts(seed: int) -> None:
    rng = random.Random(seed)
    a, b, params = (MAKE[kind](rng)[1] for kind in ("set", "set", "params"))
    relation = MAKE["map"](rng)[1]
    assert a.gist(b) & b == a & b
    assert a.gist_params(params).intersect_params(params) == a.intersect_params(params)
    assert relation.gist_domain(a).intersect_domain(a) == relation.intersect_domain(a)
    assert relation.gist_range(a).intersect_range(a) == relation.intersect_range(a)
    value = MAKE["pw_aff"](rng)[1]
    assert value.gist(a).intersect_domain(a) == value.intersect_domain(a)


@pytest.mark.parametrize("seed", range(8))
def test_coefficients_of_constraints_agree_with_islpy(seed: int) -> None:
    rng = random.Random(seed)
    limits = [f"{terms(rng, ['i', 'j', 'n'])} >= 0" for _ in range(rng.randint(0, 3))]
    text = f"[n] -> {{ [i, j] : {' and '.join(['0 <= i <= 5', '-n <= j <= 4', *limits])} }}"
    theirs, mine = islpy.BasicSet(text), ours.BasicSet(text)
    # islpy's are of all rationals between the same borders.
    integers = [
        ours.Set(str(value).replace("rat:", ""))
        for value in (theirs.coefficients(), theirs.coefficients().solutions())
    ]
    assert mine.coefficients() == integers[0]
    if not mine.is_empty():
        assert mine.coefficients().solutions() == integers[1]
        corners = mine.bind(n=3).vertices()
        assert mine.bind(n=3).is_empty() or corners
        assert all(c() in mine.bind(n=3) for c in corners if isinstance(c(), ours.Point))


def test_a_set_of_one_conjunction_is_basic() -> None:
    basic = ours.BasicSet("{ [i, j] : 0 <= i, j < 9 and i mod 2 = 0 }")
    assert isinstance(basic, ours.Set) and basic == ours.Set(str(basic))
    for value in (basic & basic, basic.project_out(ours.dim_type.set, 0, 1), basic.lexmin()):
        assert type(value) is ours.BasicSet
    assert type(basic | ours.BasicSet("{ [i, j] : i > 20 }")) is ours.Set
    assert type(~basic) is type(basic & ours.Set("{ [i, j] }")) is type(basic.to_set()) is ours.Set
    assert type(ours.Set(basic)) is ours.Set and ours.Set("{ [i] : i > 0 }") | basic.params()
    with pytest.raises(ours.Error, match="one conjunction"):
        ours.BasicSet("{ [i] : i < 0 or i > 5 }")
    with pytest.raises(ours.Error, match="2 in"):
        ours.Set("{ [i] : i < 0 or i > 5 }").get_constraints()


def test_expressions_in_pieces_are_no_affs() -> None:
    v = ours.make_zero_and_vars("i, j", ["n"])
    assert type(v["i"] + v["n"] // 2) is type(3 * v["i"] % 4) is type(-v["j"]) is ours.Aff
    assert type(v["i"].max(v["j"])) is ours.PwAff and v["i"] == v["i"].to_pw_aff()
    assert type(v["i"] + v["i"].max(v["j"])) is ours.PwAff
    with pytest.raises(ours.Error, match="everywhere"):
        ours.Aff("{ [i] -> [(i)] : i > 0 }")
    with pytest.raises(ours.Error, match="no coefficients"):
        v["i"].get_coefficient_val(ours.dim_type.set, 0)


def test_dimensions_that_are_not_there() -> None:
    t = ours.dim_type
    domain = ours.Set("[n] -> { [i, j] : i < n }")
    for call in [
        lambda: domain.project_out(t.set, 1, 2),
        lambda: domain.fix_val(t.in_, 0, 1),
        lambda: domain.insert_dims(t.set, 3, 1),
        lambda: domain.get_dim_name(t.param, 1),
        lambda: domain.move_dims(t.param, 0, t.set, 2, 1),
    ]:
        with pytest.raises(ours.Error, match="below"):
            call()
    with pytest.raises(ours.Error, match="already"):
        domain.add_dims(t.param, 1).set_dim_name(t.param, 1, "n")
    with pytest.raises(ours.Error, match="two parameters"):
        domain.set_dim_name(t.set, 0, "n").move_dims(t.param, 0, t.set, 0, 1)
    with pytest.raises(ours.Error, match="no dimension 'm'"):
        ours.Constraint.eq_from_names(domain.space, {"m": 1})
    with pytest.raises(ours.Error, match="no dimension 'j'"):
        ours.align_spaces(domain, ours.Set("[n] -> { [i] }"))
    with pytest.raises(ours.Error, match="2 spaces"):
        ours.Set("{ A[i]; B[] }").get_space()
