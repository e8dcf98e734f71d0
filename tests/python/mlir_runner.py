"""Runs a model that was written as `linalg` by upstream MLIR alone: bufferised, lowered, jitted.

    python tests/python/mlir_runner.py --count 200 --seed 0 [--command tangram]

draws random models and compares what MLIR 22 makes of them with onnxruntime.
"""

from __future__ import annotations

import argparse
import collections
import glob
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np
import onnx

# What MLIR itself does from tensors to LLVM; nothing in it is of this project.
PIPELINE = (
    "builtin.module(func.func(convert-elementwise-to-linalg),empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{bufferize-function-boundaries=true},func.func(convert-linalg-to-loops),"
    "func.func(memref-expand),expand-strided-metadata,lower-affine,"
    "func.func(arith-expand{include-bf16=true}),convert-scf-to-cf,"
    "func.func(math-expand-ops{ops=asinh,acosh,atanh}),convert-math-to-funcs{convert-ctlz=0},"
    "convert-math-to-llvm,convert-math-to-libm,expand-strided-metadata,lower-affine,"
    "finalize-memref-to-llvm,convert-arith-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "convert-index-to-llvm,reconcile-unrealized-casts)"
)
ELEMENTS = {
    "float16": "f16", "float32": "f32", "float64": "f64", "bool": "i1", "int8": "i8", "uint8": "i8",
    "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64",
}
PRINTED = {"f32": "F32", "f64": "F64", "i32": "I32", "i64": "I64"}
NUMBER = r"-?(?:nan|inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"


class Failed(Exception):
    """MLIR refused the program."""


def libraries() -> list[str]:
    """The libraries that print buffers, as the package puts them beside `mlir-runner`."""
    found = [glob.glob(f"/usr/lib/llvm-22/lib/libmlir_{name}utils.so*") for name in ("runner_", "c_runner_")]
    return [paths[0] for paths in found if paths]


def is_here() -> bool:
    """Whether MLIR 22 is installed."""
    return bool(shutil.which("mlir-opt-22") and shutil.which("mlir-runner-22") and len(libraries()) == 2)


def verify(text: str) -> str:
    """What `mlir-opt` says against a program; nothing if it is valid."""
    return _run(["mlir-opt-22", "--allow-unregistered-dialect", "-o", os.devnull], text).stderr


def run(text: str, feeds: list[np.ndarray]) -> list[np.ndarray]:
    """The results of `@main` of a program that is all upstream dialects."""
    lowered = _run(["mlir-opt-22", f"--pass-pipeline={PIPELINE}"], _with_entry(text, feeds))
    if lowered.returncode:
        raise Failed(lowered.stderr[:1000])
    command = ["mlir-runner-22", "-e", "entry", "-entry-point-result=void", "-O1"]
    ran = _run([*command, f"-shared-libs={','.join(libraries())}"], lowered.stdout)
    if ran.returncode:
        raise Failed(ran.stderr[:1000])
    return [_read(part) for part in ran.stdout.split("Unranked Memref base@")[1:]]


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)


def _read(printed: str) -> np.ndarray:
    sizes = re.search(r"sizes = \[(.*?)\]", printed)
    shape = [int(size) for size in sizes[1].split(",") if size.strip()]
    numbers = re.findall(NUMBER, printed[printed.index("data =") + 6 :])[: math.prod(shape)]
    return np.array([float(number) for number in numbers]).reshape(shape)


def _constant(array: np.ndarray) -> tuple[str, str]:
    """An array as an attribute, and its type."""
    extents = "".join(f"{extent}x" for extent in array.shape)
    ty = f"tensor<{extents}{ELEMENTS[array.dtype.name]}>"
    if array.size == 0:
        return f"dense<> : {ty}", ty
    if array.dtype == bool:
        return f"dense<{str(array.tolist()).lower()}> : {ty}", ty
    return f'dense<"0x{array.tobytes().hex().upper()}"> : {ty}', ty


def _with_entry(text: str, feeds: list[np.ndarray]) -> str:
    """The program with a function that calls `@main` and prints what it gives."""
    head = re.search(r"func\.func @main\((.*?)\)(?: -> \(?(.*?)\)?)? \{\n", text)
    inputs, results = (re.findall(r"tensor<[^>]*>", part or "") for part in head.groups())
    lines = []
    for kind, name in PRINTED.items():
        attribute = "attributes { llvm.emit_c_interface }"
        lines.append(f"func.func private @printMemref{name}(tensor<*x{kind}>) {attribute}")
    lines.append("func.func @entry() {")
    for i, (array, ty) in enumerate(zip(feeds, inputs, strict=True)):
        value, own = _constant(array)
        lines.append(f"  %a{i} = arith.constant {value}")
        lines.append(f"  %b{i} = tensor.cast %a{i} : {own} to {ty}")
    operands = ", ".join(f"%b{i}" for i in range(len(inputs)))
    signature = f"({', '.join(inputs)}) -> ({', '.join(results)})"
    lines.append(f"  %r:{len(results)} = func.call @main({operands}) : {signature}")
    for i, ty in enumerate(results):
        lines += _printing(f"%r#{i}", ty, i)
    lines += ["  return", "}"]
    end = text.rindex("}", 0, text.find("{-#") if "{-#" in text else len(text))
    return text[:end] + "\n".join(lines) + "\n" + text[end:]


def _printing(value: str, ty: str, i: int) -> list[str]:
    lines = []
    element = re.search(r"(b?f\d+|i\d+)>$", ty)[1]
    if element not in PRINTED:
        wide = "f32" if "f" in element else "i32"
        how = {"f16": "extf", "bf16": "extf", "i1": "extui"}.get(element, "extsi")
        wider = f"{ty[: -len(element) - 1]}{wide}>"
        lines.append(f"  %e{i} = arith.{how} {value} : {ty} to {wider}")
        value, ty, element = f"%e{i}", wider, wide
    lines.append(f"  %u{i} = tensor.cast {value} : {ty} to tensor<*x{element}>")
    lines.append(f"  func.call @printMemref{PRINTED[element]}(%u{i}) : (tensor<*x{element}>) -> ()")
    return lines


def emit(command: str, model: onnx.ModelProto, folder: pathlib.Path) -> tuple[str, bool] | None:
    """A model as `linalg`, and whether all of it is; nothing if a body of it cannot be said."""
    onnx.save(model, folder / "in.onnx")
    wanted = [command, "compile", folder / "in.onnx", "-o", folder / "out.mlir", "--emit", "mlir"]
    done = subprocess.run(wanted, capture_output=True, text=True, check=False)
    if done.returncode:
        assert "bodies of its own" in done.stderr, done.stderr
        return None
    return (folder / "out.mlir").read_text(), " stay" not in done.stdout


def differences(found: list[np.ndarray], expected: list) -> list[str]:
    """Where results differ by more than another order of sums makes."""
    wrong = []
    for at, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        # Buffers are printed with six digits, and integers without a sign.
        theirs = np.asarray(theirs)
        theirs = (theirs.view(f"i{theirs.itemsize}") if theirs.dtype.kind == "u" else theirs).astype(float)
        same = mine.shape == theirs.shape and np.isclose(mine, theirs, 2e-3, 2e-3, equal_nan=True).all()
        if not same:
            wrong.append(f"result {at}: {mine.ravel()[:4]} of {mine.shape}, {theirs.ravel()[:4]} of {theirs.shape}")
    return wrong


def judge(command: str, model: onnx.ModelProto, folder: pathlib.Path) -> str:
    """`right`, or what a model is instead."""
    import random_models

    written = emit(command, model, folder)
    if written is None:
        return "has bodies"
    text, whole = written
    if said := verify(text):
        return f"invalid: {said}"
    if not whole:
        return "in part"
    feeds = random_models.feeds(model, 0)
    expected = random_models.expected_outputs(model, feeds)
    if expected is None:
        return "not run"
    if any(np.isnan(np.asarray(value).astype(float)).any() for value in expected):
        # The greatest of numbers and NaNs is what onnxruntime does not decide on.
        return "has NaNs"
    try:
        found = run(text, [feeds[value.name] for value in model.graph.input if value.name in feeds])
    except Failed as error:
        # Sizes that the program takes to be equal are not.
        return "asserts" if "cf.assert" in text else f"not lowered: {error}"
    wrong = differences(found, expected)
    return f"wrong: {wrong}" if wrong else "right"


def main() -> None:
    """Judges random models."""
    import random_models

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--command", default=os.environ.get("TANGRAM_BIN", "tangram"))
    arguments = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            model = random_models.Grower(seed).model(arguments.size)
            verdict = judge(arguments.command, model, pathlib.Path(folder))
            counts[verdict.split(":")[0]] += 1
            if ":" in verdict:
                print(seed, verdict, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
