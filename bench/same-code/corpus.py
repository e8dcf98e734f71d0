"""Programs whose code is compared: models, random models, and loops in C."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "python"), str(ROOT / "bench" / "native"), str(ROOT / "bench" / "polyhedral")]


def models(folders: list[pathlib.Path]) -> Iterator[pathlib.Path]:
    """The examples, and models in other folders."""
    for folder in [ROOT / "examples" / "models", *folders]:
        yield from sorted(folder.glob("*.onnx"))


def networks(into: pathlib.Path) -> Iterator[pathlib.Path]:
    """The benchmark's own networks, written to `into`."""
    import networks as made

    for build in (made.resnet50, made.densenet121, made.shufflenet_v2, made.minilm_l6):
        path = into / f"{build.__name__}.onnx"
        onnx.save(build(), path)
        yield path


def random(into: pathlib.Path, seeds: Iterator[int], size: int) -> Iterator[pathlib.Path]:
    """Random models of about `size` nodes, one for each seed that gives one."""
    import random_models

    for seed in seeds:
        path = into / f"random{seed}.onnx"
        onnx.save(random_models.Grower(seed).model(size), path)
        yield path


def kernels(into: pathlib.Path) -> Iterator[pathlib.Path]:
    """The kernels of the polyhedral benchmark in all of their forms, as C files in `into`."""
    import forms
    from description import FORMS

    for kernel in forms.KERNELS:
        for form in filter(kernel.has, FORMS):
            path = into / f"{kernel.function}_{form}.c"
            path.write_text(kernel.source(form))
            yield path
