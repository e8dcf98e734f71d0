"""Tuples of numbers and of functions: their names, their sides and their arguments, beside islpy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

ours = pytest.importorskip("tangram.isl")
islpy = pytest.importorskip("islpy", reason="needs islpy")

VALUES = ["{ B[3, 4] }", "[n] -> { B[3, 4/3] }", "{ [C[3] -> D[4]] }", "{ [] }"]
ONE: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda isl, v: v,
    "neg": lambda isl, v: v.neg(),
    "scale_val": lambda isl, v: v.scale_val(2),
    "scale_down_val": lambda isl, v: v.scale_down_val(3),
    "add_val": lambda isl, v: v.add_val(1),
    "add": lambda isl, v: v.add(v),
    "sub": lambda isl, v: v.sub(v.scale_val(3)),
    "max": lambda isl, v: v.max(v.neg()),
    "min": lambda isl, v: v.min(v.neg()),
    "scale_multi_val": lambda isl, v: v.scale_multi_val(v),
    "scale_down_multi_val": lambda isl, v: v.scale_down_multi_val(v),
    "range_product": lambda isl, v: v.range_product(v),
    "flat_range_product": lambda isl, v: v.flat_range_product(v),
    "range_splice": lambda isl, v: v.range_splice(0, v),
    "flatten_range": lambda isl, v: v.flatten_range(),
    "range_is_wrapping": lambda isl, v: v.range_is_wrapping(),
    "add_dims": lambda isl, v: v.add_dims(isl.dim_type.param, 1).dim(isl.dim_type.param),
    "align_params": lambda isl, v: v.align_params(isl.Space("[m, n] -> { : }")),
    "drop_dims": lambda isl, v: v.drop_dims(isl.dim_type.set, 0, v.dim(isl.dim_type.set)),
    "involves_dims": lambda isl, v: v.involves_dims(isl.dim_type.set, 0, v.dim(isl.dim_type.set)),
    "set_tuple_name": lambda isl, v: v.set_tuple_name(isl.dim_type.set, "Z"),
    "set_range_tuple_id": lambda isl, v: v.set_range_tuple_id(isl.Id("Z")),
    "reset_range_tuple_id": lambda isl, v: v.reset_range_tuple_id(),
    "reset_tuple_id": lambda isl, v: v.reset_tuple_id(isl.dim_type.set),
    "has_tuple_id": lambda isl, v: v.has_tuple_id(isl.dim_type.set),
    "has_range_tuple_id": lambda isl, v: v.has_range_tuple_id(),
    "get_tuple_name": lambda isl, v: v.get_tuple_name(isl.dim_type.set),
    "get_var_names": lambda isl, v: v.get_var_names(isl.dim_type.param),
    "find_dim_by_name": lambda isl, v: v.find_dim_by_name(isl.dim_type.param, "n"),
    "zero": lambda isl, v: isl.MultiVal.zero(v.get_space()),
    "is_zero": lambda isl, v: v.is_zero(),
    "plain_is_equal": lambda isl, v: v.plain_is_equal(v.neg()),
    "from_range": lambda isl, v: v.from_range(),
    "factor_range": lambda isl, v: v.factor_range(),
    "other tuple": lambda isl, v: v.add(v.set_tuple_name(isl.dim_type.set, "Other")),
}


def told(call: Callable[[Any, Any], Any], isl: Any, value: Any) -> str:
    """What a call gives as text, or that it is refused."""
    try:
        return str(call(isl, value))
    except (isl.Error, ZeroDivisionError):
        return "refused"


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("text", VALUES)
def test_numbers_keep_their_tuple(text: str, name: str) -> None:
    expected, found = (told(ONE[name], isl, isl.MultiVal(text)) for isl in (islpy, ours))
    assert found == expected


def test_numbers_are_a_python_tuple_as_well() -> None:
    sizes = ours.MultiVal("{ S[32, 8] }")
    assert sizes == (32, 8) and list(sizes) == [32, 8] and sizes[1] * 2 == 16
    assert str(pickle.loads(pickle.dumps(sizes))) == "{ S[32, 8] }" and str(ours.MultiVal([3, 4])) == "{ [3, 4] }"
    assert ours.MultiVal.from_val_list(ours.Space("{ B[i, j] }"), [1, 2]).to_str() == "{ B[1, 2] }"
    for text in ("{ B[i] }", "{ B[3, n] }", "[n] -> { B[n] }", "B"):
        with pytest.raises(ours.Error):
            ours.MultiVal(text)


FUNCTIONS = {
    "PwAff": [
        "[n, m] -> { A[i, j] -> [(i)] : i > n }", "[n, m] -> { [A[i] -> B[j]] -> [(j + n)] : i > 3 }",
        "[n] -> { [(n)] : n > 3 }", "[n, m] -> { A[i, j] -> [(n)] : n > 3; A[i, j] -> [(2n)] : n < 0 }",
    ],
    "PwMultiAff": [
        "[n, m] -> { A[i, j] -> B[(i), (n)] : i > n }", "[n] -> { [A[i] -> B[j]] -> [C[(j)] -> D[(n)]] : i > 3 }",
        "[n] -> { B[(n)] : n > 3 }", "[n, m] -> { A[i, j] -> B[(n), (2)] : n > 3 }",
    ],
    "PwQPolynomial": [
        "[n, m] -> { A[i, j] -> i * n : i > n }", "[n] -> { [A[i] -> B[j]] -> j^2 + n : i > 3 }",
        "[n] -> { n : n > 3 }", "[n, m] -> { A[i, j] -> n : n > 3 }",
    ],
    "PwQPolynomialFold": [
        "[n, m] -> { A[i, j] -> max(i, n) : i > n }", "[n] -> { [A[i] -> B[j]] -> max(j) : i > 3 }",
        "[n, m] -> { A[i, j] -> max(n, 3) : n > 3 }",
    ],
}  # fmt: skip
ARGUMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "drop second": lambda isl, v: v.drop_dims(isl.dim_type.in_, 1, 1),
    "drop parameter": lambda isl, v: v.drop_dims(isl.dim_type.param, 1, 1),
    "drop_unused_params": lambda isl, v: v.drop_unused_params(),
    "project_domain_on_params": lambda isl, v: v.project_domain_on_params(),
    "from_range": lambda isl, v: v.from_range(),
    "domain_reverse": lambda isl, v: v.domain_reverse(),
    "wrapped domain": lambda isl, v: v.intersect_domain_wrapped_domain(isl.Set("[n] -> { A[i] : i < 9 + n }")),
    "wrapped range": lambda isl, v: v.intersect_domain_wrapped_range(isl.Set("{ B[j] : j > 2 }")),
    "involves_param_id": lambda isl, v: [
        v.involves_param_id(v.get_space().get_dim_id(isl.dim_type.param, at)) for at in range(v.dim(isl.dim_type.param))
    ],
}
OF_AFFS = ARGUMENTS | {
    "insert_domain": lambda isl, v: v.insert_domain(isl.Space("{ C[k] }")),
    "involves_dims": lambda isl, v: [v.involves_dims(isl.dim_type.in_, at, 1) for at in range(v.dim(isl.dim_type.in_))],
}
# isl gives what is left out the value 0, here it is refused where something depends on it.
STRICT = {"drop second", "drop parameter", "project_domain_on_params"}


def value_of(found: Any) -> Any:
    """A function as a value of ours, which compares."""
    kind = type(found).__name__
    if kind == "PwQPolynomialFold":
        return ours.UnionPwQPolynomialFold(str(found)).get_pw_qpolynomial_fold_list()[0]
    return getattr(ours, kind)(str(found)) if kind in FUNCTIONS else found


def compared(kind: str, text: str, name: str, call: Callable[[Any, Any], Any]) -> None:
    mine = getattr(ours, kind)(text)
    try:
        expected = value_of(call(islpy, getattr(islpy, kind)(text)))
    except islpy.Error:
        with pytest.raises(ours.Error):
            call(ours, mine)
        return
    try:
        found = call(ours, mine)
    except ours.Error as error:
        assert name in STRICT and "nothing depends on" in str(error)
        return
    if kind == "PwQPolynomialFold" and not isinstance(found, list):
        assert str(found) == str(expected)
        return
    assert found == expected, (found, expected)
    if not isinstance(found, list):
        assert found.get_space() == expected.get_space()


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in FUNCTIONS.items() for text in texts])
def test_arguments_are_left_out_and_reordered_as_in_islpy(kind: str, text: str) -> None:
    calls = OF_AFFS if kind in ("PwAff", "PwMultiAff") else ARGUMENTS
    for name, call in calls.items():
        if hasattr(getattr(islpy, kind), name) or " " in name:
            compared(kind, text, name, call)
