"""Quasi-polynomials by pieces and terms, as islpy has them."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import pytest

ours = pytest.importorskip("tangram.presburger")
islpy = pytest.importorskip("islpy", reason="needs islpy")

FUNCTIONS = [
    "[n] -> { [i, j] -> 1/2 * n * i^2 - 3 * floor((n + i)/3) * j + 5 : 0 <= i <= n and j > 0 }",
    "[n] -> { [i, j] -> n^2 - i * j : i > j; [i, j] -> floor((i)/2)^2 : i <= j and j <= n }",
    "[n] -> { [i, j] -> 7 : i = 2j + n }",
]
VALUES = list(itertools.product((0, 1, 4), (-3, 0, 2, 5), (-1, 1, 3)))


def value(isl: Any, terms: list[Any], n: int, point: tuple[int, int]) -> Fraction:
    """The sum of terms at a point, from their powers and floors."""
    kind = isl.dim_type
    total = Fraction(0)
    for term in terms:
        product = Fraction(str(term.get_coefficient_val()))
        product *= n ** term.get_exp(kind.param, 0)
        for at, coordinate in enumerate(point):
            product *= coordinate ** term.get_exp(kind.set, at)
        for at in range(term.dim(kind.div)):
            aff = ours.Aff(str(term.get_div(at)))
            floor = Fraction(aff(*point, n=n)).__floor__()
            product *= floor ** term.get_exp(kind.div, at)
        total += product
    return total


@pytest.mark.parametrize("text", FUNCTIONS)
def test_pieces_and_terms_make_up_the_function(text: str) -> None:
    function = ours.PwQPolynomial(text)
    theirs = islpy.PwQPolynomial(text)
    assert function.n_piece() == theirs.n_piece()
    for n, *point in VALUES:
        at = tuple(point)
        inside = [
            part.get_terms()
            for points, part in function.get_pieces()
            if at in points.bind(n=n)
        ]
        assert len(inside) <= 1
        expected = function(*at, n=n)
        assert (value(ours, inside[0], n, at) if inside else 0) == expected
        where = f"[n] -> {{ [i, j] : n = {n} and i = {at[0]} and j = {at[1]} }}"
        assert Fraction(str(theirs.eval(islpy.Set(where).sample_point()))) == expected


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions_are_put_together_of_their_pieces(text: str) -> None:
    function = ours.PwQPolynomial(text)
    whole = ours.PwQPolynomial.zero(function.get_space())
    for points, part in function.get_pieces():
        assert isinstance(part, ours.QPolynomial) and part.isa_qpolynomial()
        whole = whole.add_disjoint(ours.PwQPolynomial.alloc(points, part))
    assert whole == function and hash(whole) == hash(function)
    assert pickle.loads(pickle.dumps(function)) == function


def test_polynomials_are_built_of_dimensions() -> None:
    found = []
    for isl in (ours, islpy):
        space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=["i", "j"], params=["n"])
        kind = isl.dim_type
        n = isl.QPolynomial.var_on_domain(space, kind.param, 0)
        i = isl.QPolynomial.var_on_domain(space, kind.set, 0)
        one = isl.QPolynomial.one_on_domain(space)
        third = isl.QPolynomial.from_aff(isl.Aff("[n] -> { [i, j] -> [(floor((i + n)/3))] }"))
        power = n.mul(i).add(one).pow(3).sub(third.mul(third)).neg().scale_val(isl.Val("2/3"))
        found.append(ours.PwQPolynomial(str(power)))
        assert str(isl.QPolynomial.zero_on_domain(space).get_constant_val()) == "0"
        assert str(power.get_constant_val()) == "-2/3"
        assert power.space.dim(kind.in_) == 2
        whole = isl.PwQPolynomial.from_qpolynomial(power)
        assert whole.dim(kind.param) == 1 and whole.dim(kind.in_) == 2
        assert whole.find_dim_by_name(kind.in_, "j") == 1
    assert found[0] == found[1]
    with pytest.raises(ours.PresburgerError, match="one value everywhere"):
        ours.QPolynomial("{ [i] -> i : i > 0 }")


def test_functions_move_between_spaces() -> None:
    for text in FUNCTIONS:
        results = []
        for isl in (ours, islpy):
            kind = isl.dim_type
            function = isl.PwQPolynomial(text)
            function = function.insert_dims(kind.param, 0, 1).set_dim_name(kind.param, 0, "m")
            function = function.insert_dims(kind.in_, 1, 1)
            results.append(ours.PwQPolynomial(str(function)))
        assert results[0] == results[1]
    aligned = ours.PwQPolynomial("[n] -> { [i] -> n * i }").align_params(ours.Space("[k, n] -> { [] }"))
    assert aligned.get_param_names() == ["k", "n"] and aligned(3, k=1, n=5) == 15


def test_values_at_points_that_know_parameters() -> None:
    function = ours.PwQPolynomial("[n, m] -> { n^2 + m : n > 0 }")
    point = ours.Point.zero(function.space.params())
    point = point.set_coordinate_val(ours.dim_type.param, 0, 4)
    point = point.set_coordinate_val(ours.dim_type.param, 1, 3)
    assert function.eval(point).to_python() == 19
    assert ours.Set.from_point(point) == ours.Set("[n, m] -> { [] : n = 4 and m = 3 }")
    assert point.get_coordinate_val(ours.dim_type.param, 0) == 4
    assert repr(point) == "[n = 4, m = 3] -> []" and pickle.loads(pickle.dumps(point)).params == point.params
    moved = ours.Point((1, 2), "S").add_ui(ours.dim_type.set, 1, 5).sub_ui(ours.dim_type.set, 0, 1)
    assert repr(moved) == "S[0, 7]" and moved.get_space().dim(ours.dim_type.set) == 2
    with pytest.raises(ours.PresburgerError, match="below 2"):
        moved.set_coordinate_val(ours.dim_type.set, 2, 0)


def test_equality_is_about_values_at_integers() -> None:
    square = ours.PwQPolynomial("{ [i] -> (i - 2*floor(i/2))^2 }")
    assert square == ours.PwQPolynomial("{ [i] -> (i - 2*floor(i/2)) }")
    assert square != ours.PwQPolynomial("{ [i] -> 1 }")
    assert (square - square).is_zero() and hash(square) == hash(square - square)
    assert ours.PwQPolynomial("{ A[i] -> i }") != ours.PwQPolynomial("{ B[i] -> i }")
    assert ours.PwQPolynomial("{ A[i] -> 0 }") == ours.PwQPolynomial("{ B[i] -> 0 }")


def test_lattice_width_is_a_function_of_parameters() -> None:
    triangle = ours.Set("[n] -> { [x, y] : x, y >= 0 and x <= 10 and 2x + y <= n }")
    assert triangle.lattice_width() == ours.PwQPolynomial("[n] -> { 10 : n > 20; 1/2 * n : 0 <= n <= 20 }")


def test_polynomials_near_and_around() -> None:
    for text in FUNCTIONS:
        function = ours.PwQPolynomial(text)
        near = ours.PwQPolynomial(str(islpy.PwQPolynomial(text).to_polynomial(0)))
        assert function.to_polynomial(0) == near
        upper, lower = function.to_polynomial(1), function.to_polynomial(-1)
        for n, *at in VALUES:
            assert lower(*at, n=n) <= function(*at, n=n) <= upper(*at, n=n)
        assert "floor" not in str(upper.get_pieces()[0][1]) + str(lower.get_pieces()[0][1])


def test_equalities_are_detected() -> None:
    points = ours.Set("{ [i, j] : 2i <= 3j <= 2i + 1 and exists k : 3j - 2i = 2k }")
    assert points.detect_equalities() == points
    assert any(c.is_equality() for c in points.detect_equalities().get_basic_sets()[0].get_constraints())


def test_a_parameter_with_one_value_needs_none() -> None:
    points = ours.Set("[n, m] -> { [i] : 0 <= i < n + m and n = 4 }")
    assert points.card()(m=3) == points.card()(n=4, m=3) == 7
    assert points.card()(n=5, m=3) == 0
    assert ours.Set("[n] -> { [i] : 0 <= i < n and 2n = 8 }").card()() == 4
    assert ours.Set("[n] -> { [i] : 0 <= i < 4 and 1 <= n <= 1 }").card()() == 4
    with pytest.raises(TypeError, match="parameters"):
        ours.Set("[n] -> { [i] : 0 <= i < n and 3 <= n <= 4 }").card()()
    with pytest.raises(TypeError, match="parameters"):
        points.card()(m=3, k=4)
