"""Rules with types, casts and last digits changed: exact arithmetic says which are wrong, and none of those may be
said to hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import rule_numbers


def test_no_sample_of_wrong_rules_about_numbers_is_said_to_hold() -> None:
    found = rule_numbers.failing(rule_numbers.cases()[::37])
    assert not found, "\n".join(found)


@pytest.mark.long
def test_no_wrong_rule_about_numbers_is_said_to_hold() -> None:
    cases = rule_numbers.cases()
    assert sum(case.wrong for case in cases) > 500
    found = rule_numbers.failing(cases)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_fractions_are_rounded_as_numpy_rounds_them(dtype: str) -> None:
    for x in rule_numbers.samples("float64"):
        with np.errstate(over="ignore", under="ignore"):
            expected = float(np.dtype(dtype).type(float(x)))
        assert float(rule_numbers.rounded(Fraction(x), dtype)) == expected
