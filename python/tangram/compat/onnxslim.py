"""`slim` with the signature of onnxslim's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tangram._models import check, summary
from tangram._options import Edits
from tangram._workload import CheckError, Workload
from tangram.compat import _passes, without_effect

if TYPE_CHECKING:
    import onnx

    Model = str | os.PathLike[str] | onnx.ModelProto


def slim(
    model: Model | list[Model],
    output_model: str | None = None,
    *,
    model_check: bool = False,
    input_shapes: Mapping[str, Sequence[int]] | Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    no_shape_infer: bool = False,
    skip_fusion_patterns: Sequence[str] | None = None,
    size_threshold: int | None = None,
    inspect: bool = False,
    save_as_external_data: bool = False,
    model_check_inputs: Sequence[str] | None = None,
    verbose: bool = False,
    dtype: str | None = None,
    **others: Any,
) -> onnx.ModelProto | None:
    """Returns the optimised model, or writes it to `output_model`.

    `dtype="fp16"` has floats of 16 bits inside; inputs and outputs stay what they are.
    `skip_fusion_patterns` are patterns of onnxslim, or names and labels of rules here. `model_check` raises `CheckError` if
    the result computes something else. `inspect` prints what the model is, and does no more.
    """
    if inspect:
        for one in model if isinstance(model, list) else [model]:
            print(summary(one))
        return None
    narrow = "float16" if dtype == "fp16" else None
    without_effect("slim", others | {"dtype": None if narrow else dtype})
    workload = Workload.from_onnx(model)  # type: ignore[arg-type]
    edits: Edits = {"input_shape": shapes(input_shapes), "outputs": [text.split(":")[0] for text in outputs or ()]}
    disable = _passes.rules("slim", skip_fusion_patterns or (), _passes.ONNXSLIM)
    kept = workload.optimize(disable=disable, fold_limit=size_threshold, to=narrow, **edits)
    if model_check:
        sizes, arrays = _given(model_check_inputs)
        before, allowed = workload.edit(**edits), 5e-3 if narrow else None
        if not (found := check(before, kept, runs=1, shape=sizes, data=arrays, tolerance=allowed)):
            raise CheckError(str(found))
    if output_model is None:
        return kept.to_onnx()
    kept.save(output_model, external_data="external" if save_as_external_data else "auto")
    return None


def shapes(given: Mapping[str, Sequence[int]] | Sequence[str] | None) -> dict[str, list[int]]:
    """Shapes by name, from such a mapping or from texts `x:1,3,224,224`."""
    if isinstance(given, Mapping):
        return {name: list(extents) for name, extents in given.items()}
    pairs = (text.rsplit(":", 1) for text in given or ())
    return {name: [int(n) for n in numbers.split(",")] for name, numbers in pairs}


def _given(inputs: Sequence[str] | None) -> tuple[dict[str, list[int]], dict[str, Any]]:
    """Shapes, and arrays of files, from texts `x:1,3` and `x:x.npy`."""
    files = [text for text in inputs or () if text.endswith(".npy")]
    sizes = shapes([text for text in inputs or () if text not in files])
    if not files:
        return sizes, {}
    import numpy as np

    pairs = (text.split(":", 1) for text in files)
    return sizes, {name: np.load(path) for name, path in pairs}
