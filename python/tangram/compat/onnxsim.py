"""`simplify` with the signature of onnxsim's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from tangram._models import check
from tangram._options import Edits
from tangram._workload import Workload
from tangram.compat import _passes, without_effect

if TYPE_CHECKING:
    import onnx

    Shapes = Mapping[str | None, Sequence[int]] | Sequence[int] | None

def simplify(
    model: str | os.PathLike[str] | onnx.ModelProto,
    check_n: int = 0,
    perform_optimization: bool = True,
    skip_fuse_bn: bool = False,
    overwrite_input_shapes: Shapes = None,
    test_input_shapes: Shapes = None,
    skipped_optimizers: Sequence[str] | None = None,
    skip_constant_folding: bool = False,
    skip_shape_inference: bool = False,
    input_data: Mapping[str, Any] | None = None,
    dynamic_input_shape: bool = False,
    custom_lib: str | None = None,
    include_subgraph: bool = False,
    unused_output: Sequence[str] | None = None,
    tensor_size_threshold: str | int = "1.5GB",
    mutable_initializer: bool = False,
    *,
    input_shapes: Shapes = None,
    inline_functions: bool = False,
    target_opset_version: int | Literal["latest"] | None = None,
    extra_optimizers: Sequence[str] | None = None,
    check_rtol: float | None = None,
    output_path: str | None = None,
    **others: Any,
) -> tuple[onnx.ModelProto, bool]:
    """Returns the optimised model, and whether it computes the same on `check_n` inputs.

    `extra_optimizers` are names of rules here that are applied on request; `check_rtol` is relative
    to the greatest magnitude in an output. Folded constants add up to `tensor_size_threshold` bytes. `skipped_optimizers` are passes of
    onnxsim, or names and labels of rules here. Graphs inside nodes are always optimised; inputs stay dynamic unless
    `overwrite_input_shapes` fixes them.
    """
    without_effect("simplify", {"custom_lib": custom_lib} | _asked(others))
    workload = Workload.from_onnx(model)
    outputs = [name for name in workload.outputs if name not in set(unused_output or ())]
    edits: Edits = {
        "input_shape": _named(overwrite_input_shapes, workload),
        "outputs": outputs if unused_output else (),
        "inline_functions": inline_functions,
    }
    skipped = [*(skipped_optimizers or ()), *(["fuse_bn_into_conv"] if skip_fuse_bn else [])]
    kept = workload.optimize(
        list(extra_optimizers or ()),
        library=perform_optimization,
        disable=_passes.rules("simplify", skipped, _passes.ONNXSIM),
        fold_limit=0 if skip_constant_folding else size(tensor_size_threshold),
        opset=_LATEST if target_opset_version == "latest" else target_opset_version,
        **edits,
    )
    same = True
    if check_n > 0:
        # What is compared is what was not asked to be another model: shapes and outputs.
        before = workload.edit(**edits)
        shapes = _named(test_input_shapes or input_shapes, workload)
        found = check(before, kept, runs=check_n, shape=shapes, data=input_data, tolerance=check_rtol)
        same = bool(found)
    if output_path is not None:
        kept.save(output_path)
    return kept.to_onnx(), same


# What asks for nothing, where that is not a false value.
_DEFAULTS = {
    "initializers_as_constants": True,
    "import_custom_schemas": True,
    "check_atol": 1e-5,
    "input_fill": "random",
    "gemm_fusion_backend": "ort_cpu",
    "external_data_threshold": "100MB",
    "gradient_precision": "fp32",
}
_LATEST = 28
"""The newest operator set that can be written."""


def _asked(others: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords that ask for something else than onnxsim does by default."""
    return {name: value for name, value in others.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}


def _named(shapes: Shapes, workload: Workload) -> dict[str, list[int]]:
    """Shapes by name; one without a name is that of the only input."""
    if not shapes:
        return {}
    if not isinstance(shapes, Mapping):
        shapes = {"": shapes}
    first = workload.inputs[0] if len(workload.inputs) == 1 else ""
    return {name or first: list(extents) for name, extents in shapes.items()}


def size(text: str | int) -> int:
    """A number of bytes, such as 1.5GB."""
    if isinstance(text, int):
        return text
    units = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "B": 1}
    for unit, factor in units.items():
        if text.upper().endswith(unit):
            return int(float(text[: -len(unit)]) * factor)
    return int(text)
