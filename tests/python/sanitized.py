"""Random models as C under sanitizers: nothing is read or written outside of its buffer, or before
it is written, and the results are onnxruntime's.

    python tests/python/sanitized.py --count 1000 --seed 0 [--machine scalar] [--keep DIR]

The C of a model takes one arena and divides it into slots. Here each slot, input, output and the
weights are blocks of their own, exactly as long as they say and full of bytes that are NaN as
floating-point numbers, so that the sanitizer of addresses sees what leaves them, and a value that is
read before it is there shows in the results.
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper

import oracle
import random_models
import tangram
from apart import Verdict, apart
from random_models import feeds

FLAGS = ["-std=gnu11", "-O1", "-fno-trapping-math", "-fno-math-errno", "-w"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-static-libasan"]
# What is no fault of a model, or of onnxruntime.
WRONG = ("wrong", "wrong exit", "does not build", "sanitizer", "differs", "not judged")
SLOT = re.compile(r"void \*(s\d+) = a \+ at;\n    at \+= whole\((.*)\);\n")

BLOCK = """
#include <stdlib.h>
static void *block(int64_t bytes)
{
    void *made;
    if (posix_memalign(&made, 64, bytes ? bytes : 1))
        abort();
    memset(made, 0xff, bytes);
    return made;
}
"""

# A block of no bytes is one of one byte, since what is given has to be somewhere.
DRIVER = """
#include "m.h"
#include <stdio.h>
#include <string.h>
{block}
static void *filled(const char *name, int64_t bytes)
{{
    void *made = block(bytes);
    FILE *file = fopen(name, "rb");
    if (!file || fread(made, 1, bytes, file) != (size_t)bytes)
        exit(77);
    fclose(file);
    return made;
}}
int main(void)
{{
    const int64_t dims[] = {{{dims}}};
    const int64_t sizes[] = {{{sizes}}};
    const void *inputs[{inputs} + 1];
    void *outputs[{outputs} + 1];
    char name[64];
    for (int i = 0; i < {inputs}; i++) {{
        snprintf(name, sizeof name, "in%d", i);
        inputs[i] = filled(name, sizes[i]);
    }}
    for (int i = 0; i < {outputs}; i++)
        outputs[i] = block(sizes[{inputs} + i]);
    void *weights = filled("m.weights", M_WEIGHTS_BYTES);
    void *arena = block(m_arena_bytes(dims, NULL));
    int failed = m_run(weights, arena, inputs, outputs, dims, NULL);
    if (failed)
        return 70 + failed;
    for (int i = 0; i < {outputs}; i++) {{
        snprintf(name, sizeof name, "out%d", i);
        FILE *file = fopen(name, "wb");
        fwrite(outputs[i], 1, sizes[{inputs} + i], file);
        fclose(file);
    }}
    return 0;
}}
"""


def compiler() -> list[str]:
    """The words that call the C compiler."""
    return (os.environ.get("CC") or shutil.which("gcc") or "cc").split()


class Grower(random_models.Grower):
    """Models without bodies and sequences, each of whose open extents has a name."""

    def grow(self, scope: random_models.Scope, size: int, depth: int = 0) -> None:
        for _ in range(size * 6):
            if len(scope.nodes) >= size:
                return
            node, constants = self.plain(scope)
            if node is not None:
                self.accept(scope, node, constants)

    def __init__(self, seed: int, wide: bool) -> None:
        super().__init__(seed, wide=wide)
        self.is_open = self.rng.random() < 0.3

    def _dim(self, extent: int, symbols: dict[int, str]):
        fixed = not self.is_open or self.rng.random() < 0.5
        return extent if fixed else symbols.setdefault(extent, f"n{extent}")


def judge(seed: int, size: int, tangram_bin: pathlib.Path, folder: pathlib.Path, machine: str, runs) -> Verdict:
    """Grows the model of a seed and judges it."""
    model = Grower(seed, wide=seed % 2 == 1).model(size)
    return judge_model(model, tangram_bin, folder, machine, runs)


def judge_model(model: onnx.ModelProto, tangram_bin: pathlib.Path, folder: pathlib.Path, machine: str, runs) -> Verdict:
    """Writes a model as C, builds that, and runs it on two inputs."""
    if not random_models._valid(model):
        return Verdict("not a model")
    given = [inputs(model, s) for s in range(2)]
    given = [feed for feed in given if random_models.expected_outputs(model, feed)]
    if not given:
        return Verdict("does not run")
    runs()
    kernels = tangram.Workload.from_onnx(model)
    try:
        expected = [kernels(*feed.values()) for feed in given]
    except tangram.EvaluationError as error:
        return Verdict("no kernel", str(error))
    if len(model.graph.output) == 1:
        expected = [[one] for one in expected]
    onnx.save(model, folder / "m.onnx")
    emit = [tangram_bin, "compile", "m.onnx", "--emit", "c", "--machine", machine, "-o", "m.c"]
    done = subprocess.run(emit, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        known = done.returncode < 100 and "panicked" not in done.stderr
        return Verdict("not compiled" if known else "wrong exit", done.stderr)
    instrument(folder / "m.c")
    for feed, results in zip(given, expected):
        verdict = run(model, feed, results, folder)
        if verdict.kind != "right":
            return verdict
    return Verdict("right")


def inputs(model: onnx.ModelProto, seed: int) -> dict:
    """Inputs, in the order of the model; those that have a default are given it."""
    defaults = {weight.name: onnx.numpy_helper.to_array(weight) for weight in model.graph.initializer}
    found = {**defaults, **feeds(model, seed)}
    return {info.name: found[info.name] for info in model.graph.input}


def judge_apart(seed: int, size: int, tangram_bin: pathlib.Path, folder: pathlib.Path, machine: str) -> Verdict:
    """Judges the model of a seed in a process of its own: some end that of onnxruntime."""
    return apart(lambda runs: judge(seed, size, tangram_bin, folder, machine, runs))


def instrument(source: pathlib.Path) -> None:
    """Makes every slot of the arena a block of its own."""
    text = SLOT.sub(r"void *\1 = block(\2);\n", source.read_text())
    source.write_text(text.replace("#include <string.h>\n", f"#include <string.h>\n{BLOCK}", 1))


def run(model: onnx.ModelProto, feed: dict, expected: list, folder: pathlib.Path) -> Verdict:
    """Builds and runs the C of a model with the sizes of an input."""
    for i, value in enumerate(feed.values()):
        (folder / f"in{i}").write_bytes(np.ascontiguousarray(value).tobytes())
    sizes = [str(value.nbytes) for value in (*feed.values(), *expected)]
    parts = {"inputs": len(feed), "outputs": len(expected), "block": BLOCK}
    lists = {"dims": ", ".join(map(str, extents(model, feed, folder))) or "0", "sizes": ", ".join(sizes)}
    (folder / "main.c").write_text(DRIVER.format(**parts, **lists))
    build = [*compiler(), *FLAGS, "-march=native", *SANITIZERS, "main.c", "m.c", "-lm", "-o", "m"]
    built = subprocess.run(build, cwd=folder, capture_output=True, text=True)
    if built.returncode:
        return Verdict("does not build", built.stderr)
    leaks = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(["./m"], cwd=folder, capture_output=True, text=True, env=leaks, timeout=300)
    if done.returncode in (71, 72):
        return Verdict("declined", f"m_run returned {done.returncode - 70}")
    if done.returncode:
        return Verdict("sanitizer", done.stderr)
    found = [
        np.frombuffer((folder / f"out{i}").read_bytes(), value.dtype).reshape(value.shape)
        for i, value in enumerate(expected)
    ]
    for i, (one, other, precision) in enumerate(zip(found, expected, precisions(model))):
        judged_as = coarsest([precision, other.dtype])
        tolerances = {other.dtype: oracle.TOLERANCES[judged_as]} if judged_as else {}
        if not (same := oracle.same(one, other, tolerances)):
            return Verdict("differs", f"value {i}: {same.why}")
    return Verdict("right")


def precisions(model: onnx.ModelProto) -> list[np.dtype | None]:
    """For each output the coarsest of the types in which it was computed, step by step: a `double`
    made of a rounded `float` is no better than that. Nothing if nothing was rounded."""
    inferred = onnx.shape_inference.infer_shapes(model).graph
    infos = {info.name: info.type.tensor_type.elem_type for info in (*inferred.value_info, *inferred.output)}
    found: dict[str, np.dtype | None] = {}
    for node in inferred.node:
        read = [found.get(name) for name in node.input]
        for name in node.output:
            own = helper.tensor_dtype_to_np_dtype(infos[name]) if infos.get(name) else None
            found[name] = coarsest([own, *read])
    return [found.get(info.name) for info in inferred.output]


def coarsest(types: list[np.dtype | None]) -> np.dtype | None:
    """The floating-point type among them that is judged most leniently, if there is one."""
    floats = [dtype for dtype in types if dtype in oracle.TOLERANCES]
    return max(floats, key=lambda dtype: oracle.TOLERANCES[dtype], default=None)


def extents(model: onnx.ModelProto, feed: dict, folder: pathlib.Path) -> list[int]:
    """The sizes of the symbols that the header lists, in its order."""
    sizes = {}
    for info in model.graph.input:
        for at, dim in enumerate(info.type.tensor_type.shape.dim):
            # An extent of 0 is taken for one without a name.
            sizes[dim.dim_param or f"extent {at} of {info.name}"] = feed[info.name].shape[at]
    return [sizes[symbol] for symbol in re.findall(r" \* dims\[\d+\]: (.*)", (folder / "m.h").read_text())]


def main() -> None:
    """Prints how many are what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=8, help="nodes of a model")
    parser.add_argument("--machine", default="scalar")
    parser.add_argument("--tangram", default=os.environ.get("TANGRAM_BIN", "tangram"), help="the command")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the models that are wrong")
    options = parser.parse_args()
    if (found := shutil.which(options.tangram)) is None:
        parser.error(f"no command `{options.tangram}`: --tangram PATH says where it is")
    command = pathlib.Path(found).resolve()
    kinds: collections.Counter = collections.Counter()
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as name:
            verdict = judge_apart(seed, options.size, command, pathlib.Path(name), options.machine)
            kinds[verdict.kind] += 1
            if verdict.kind in WRONG:
                print(f"{seed}: {verdict.kind}: {verdict.why[:600]}", flush=True)
                if options.keep:
                    shutil.copytree(name, options.keep / str(seed), dirs_exist_ok=True)
    print(dict(kinds))
    if any(kinds[kind] for kind in WRONG):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
