"""Nearest elements where a place lies between two: by the specification's formulas, in exact fractions.

A scale is a number of type float32: 0.7 is 0.699999988. `(3 + 0.5) / scale - 0.5` is 4.500000085, so
its nearest element is 5, under every rule for ties; there is no tie. onnxruntime divides in float32,
where the quotient is 5 and the place 4.5, and takes 4. What the reference kernels take is what the
formulas say; where onnxruntime takes another element, its place in float32 is not the exact one.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import oracle
import small
import tangram

LENGTH = 10
SCALES = [0.7, 1.4, 0.6, 0.3, 1.3, 2.5, 0.9, 1.1, 0.55, 3.3]
NEAREST = {
    "round_prefer_floor": lambda place: math.ceil(place - Fraction(1, 2)),
    "round_prefer_ceil": lambda place: math.floor(place + Fraction(1, 2)),
    "floor": math.floor,
    "ceil": math.ceil,
}
PLACES = {
    "half_pixel": lambda at, scale, half: (at + half) / scale - half,
    "asymmetric": lambda at, scale, half: at / scale,
}


def resized(scale: float, places: str, nearest: str):
    attributes = f'mode = "nearest", coordinate_transformation_mode = "{places}", nearest_mode = "{nearest}"'
    body = f"(float[1, 1, {LENGTH}] x) => (float[1, 1, n] y) {{ y = Resize <{attributes}> (x, , scales) }}"
    return small.model(body, 13, {"scales": np.array([1, 1, scale], np.float32)}, ir=7)


@pytest.mark.parametrize("nearest", NEAREST)
@pytest.mark.parametrize("places", PLACES)
def test_the_nearest_element_is_that_of_the_exact_place(places, nearest) -> None:
    data = np.arange(LENGTH, dtype=np.float32).reshape(1, 1, LENGTH)
    for scale in map(np.float32, SCALES):
        model = resized(float(scale), places, nearest)
        exact = Fraction(float(scale))
        # Extents are products in float32: onnx's inference and every engine make 7 of 10.
        count = int(np.float32(LENGTH) * scale)
        wanted = [NEAREST[nearest](PLACES[places](Fraction(at), exact, Fraction(1, 2))) for at in range(count)]
        wanted = [min(max(at, 0), LENGTH - 1) for at in wanted]
        found = np.asarray(tangram.Workload.from_onnx(model)(data)).reshape(-1)
        assert found.astype(int).tolist() == wanted, (float(scale), places, nearest)
        theirs = oracle.run_ort(model, {"x": data})[0].reshape(-1).astype(int).tolist()
        assert len(theirs) == count
        for at in (at for at in range(count) if theirs[at] != wanted[at]):
            place = PLACES[places](np.float32(at), scale, np.float32(0.5))
            assert Fraction(float(place)) != PLACES[places](Fraction(at), exact, Fraction(1, 2))


def test_a_scale_of_seven_tenths_makes_no_tie() -> None:
    """The case by name: element 3 of 7."""
    data = np.arange(LENGTH, dtype=np.float32).reshape(1, 1, LENGTH)
    model = resized(0.7, "half_pixel", "round_prefer_floor")
    assert Fraction(float(np.float32(0.7))) < Fraction(7, 10)
    assert np.asarray(tangram.Workload.from_onnx(model)(data)).reshape(-1)[3] == 5
