"""Kernels as CUDA's compiler at run time reads them: no error, no warning, no header.

The compiler comes as a package and needs neither a device nor a toolkit.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from pathlib import Path

import pytest

import nvrtc

pytestmark = pytest.mark.skipif(
    nvrtc.library() is None, reason="needs NVRTC: `pip install nvidia-cuda-nvrtc-cu12`"
)

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "kernels").glob("*.c"))


def kernels(tangram_bin: Path, source: Path, *flags: str) -> str | None:
    """The kernels of a file; nothing where no loop of it is parallel."""
    words = [tangram_bin, "scop", source, "--target", "cuda", "--device-only", *flags]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode == 2 and "error: " in ran.stderr:
        reasons = ("no loop of the part is parallel", "members of structures", "array of pointers", "is not known: declare it")
        assert any(reason in ran.stderr for reason in reasons), ran.stderr
        return None
    assert ran.returncode == 0, ran.stderr
    assert "#include" not in ran.stdout, ran.stdout
    return ran.stdout


@pytest.mark.parametrize("source", EXAMPLES, ids=lambda path: path.stem)
def test_kernels_of_the_examples_compile(tangram_bin, source):
    text = kernels(tangram_bin, source)
    assert text, "each example has kernels"
    assert nvrtc.log(text) == "", text
    assert 'extern "C" __global__ void' in text


def measured() -> list[tuple[str, str]]:
    """All forms of the kernels that are measured, as C."""
    sys.path.insert(0, str(ROOT / "bench" / "polyhedral"))
    import forms
    from description import FORMS

    pairs = itertools.product(forms.KERNELS, FORMS)
    return [(f"{own.function}_{form}", own.source(form)) for own, form in pairs if own.has(form)]


def compiles(tangram_bin: Path, folder: Path, forms: list[tuple[str, str]]) -> int:
    """Compiles the kernels of some forms; says of how many there are any."""
    made = 0
    for name, text in forms:
        source = folder / f"{name}.c"
        source.write_text(text)
        found = kernels(tangram_bin, source)
        if found is not None:
            made += 1
            assert nvrtc.log(found) == "", f"{name}\n{found}"
    return made


@pytest.mark.slow
def test_kernels_that_are_measured_compile(tangram_bin, tmp_path):
    some = measured()[::9]
    assert compiles(tangram_bin, tmp_path, some) > len(some) * 0.8


@pytest.mark.long
def test_all_kernels_that_are_measured_compile(tangram_bin, tmp_path):
    every = measured()
    assert compiles(tangram_bin, tmp_path, every) > len(every) * 0.9


FORMS_OF_C = """
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
enum { ROWS = 40, COLUMNS = 2 * ROWS };
enum color { RED = COLUMNS + 1, GREEN };
typedef uint64_t word;
typedef struct unused { int a; } unused;
typedef enum { LAST = sizeof(word) } last;
double A[ROWS][COLUMNS], B[ROWS];
word W[ROWS];
_Bool F[ROWS];
int8_t S[ROWS];
size_t Z[ROWS];
ptrdiff_t D[ROWS];
void f(int n, float *restrict x)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            A[i][j] = fmax(A[i][j] * 2, i == 3 ? INFINITY : DBL_MAX) + GREEN;
    for (int i = 0; i < n; i++) x[i] = x[i] > M_PI ? NAN : __builtin_fabsf(x[i]) + HUGE_VALF;
    for (int i = 0; i < ROWS; i++) W[i] = W[i] * LAST + UINT64_C(5) + sizeof(word);
    for (int i = 0; i < ROWS; i++) F[i] = (_Bool)S[i];
    for (int i = 0; i < ROWS; i++) S[i] = (int8_t)(S[i] * 3 + INT8_MAX);
    for (int i = 0; i < ROWS; i++) Z[i] = Z[i] + (uint_least8_t)i + SIZE_MAX;
    for (int i = 0; i < ROWS; i++) D[i] = D[i] + (intptr_t)i;
    for (int i = 0; i < ROWS; i++) B[i] = sqrt(B[i]) + pow(B[i], 2.5) + HUGE_VAL * floor(B[i]);
}
"""


def test_types_and_constants_of_kernels_are_there(tangram_bin, tmp_path):
    source = tmp_path / "forms.c"
    source.write_text(FORMS_OF_C)
    text = kernels(tangram_bin, source)
    assert text and nvrtc.log(text) == "", text
    for name in ("GREEN }", "typedef unsigned long int word;", "0x7ff0000000000000", "bool *F"):
        assert name in text, (name, text)
    assert "unused" not in text and "RED = COLUMNS + 1" in text


def test_indices_have_32_bits_where_that_is_enough(tangram_bin, tmp_path):
    source = tmp_path / "sizes.c"
    loops = "    for (int i = 0; i < {n}; i++)\n        for (int j = 0; j < {n}; j++) {a}[i][j] *= 2;\n"
    source.write_text(
        "double A[1000][1000], B[100000][100000];\nvoid f(int n, double C[n][n])\n{\n"
        + loops.format(n=1000, a="A") + loops.format(n=100000, a="B") + loops.format(n="n", a="C") + "}\n"
    )
    text = kernels(tangram_bin, source)
    assert text and nvrtc.log(text) == "", text
    small, large, open_ = text.split("__global__")[1:4]
    assert "long long" not in small and "* 1000 +" in small, small
    assert "* 100000LL +" in large, large
    assert "long long" in open_ and "(long long)n" in open_, open_


def test_programs_name_what_they_use(tangram_bin, tmp_path):
    # The device's part of a whole file, with what stands around it.
    source = tmp_path / "forms.c"
    source.write_text(FORMS_OF_C)
    words = [tangram_bin, "scop", source, "--target", "cuda"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    lines = [line for line in text.splitlines() if not line.startswith("#include")]
    own = "\n".join(lines).split('extern "C" void')
    device = own[0].replace("static __global__", "__global__")
    assert len(own) > 1 and nvrtc.log("typedef signed char int8_t;\n" + device) == "", device


def tree(rng: random.Random) -> tuple[str, str]:
    """A schedule tree of statements under common bands, and steps that map these."""
    depth = rng.choice([1, 2, 2, 3])
    names = "ST"[: rng.choice([1, 1, 2])]
    dims = "ijk"[:depth]
    bounds = []
    for at, dim in enumerate(dims):
        low = rng.choice(["0", "0", "1", f"{dims[at - 1]}" if at else "0"])
        high = rng.choice(["n", "m", "64", "n + 3", f"{dims[at - 1]} + 9" if at else "n"])
        bounds.append(f"{low} <= {dim} < {high}")
        if rng.random() < 0.15:
            bounds.append(f"{dim} mod {rng.choice([2, 3])} = {rng.choice([0, 1])}")
    domain = "; ".join(f"{s}[{', '.join(dims)}] : {' and '.join(bounds)}" for s in names)
    shift = rng.choice([0, 0, 1, 3])
    members = []
    for at, dim in enumerate(dims):
        one = dim if rng.random() < 0.8 else f"{dim} + {rng.choice(dims)}" if at == 0 else dim
        value = [f"{s}[{', '.join(dims)}] -> [({one} + {shift * number})]" for number, s in enumerate(names)]
        members.append("{ " + "; ".join(value) + " }")
    text = f'domain: "[n, m] -> {{ {domain} }}"\nchild:\n  schedule: "[{", ".join(members)}]"\n'
    if len(names) > 1:
        filters = "".join(f'    - filter: "{{ {s}[{", ".join(dims)}] }}"\n' for s in names)
        text += f"  child:\n    sequence:\n{filters}"
    blocks, threads = rng.choice([4, 16, 256]), rng.choice([8, 32, 128])
    if depth == 1:
        steps = rng.choice([
            f"find band; map_to_units t0 {threads}",
            f"find band; tile {threads}; map_to_units b0 {blocks}; find band 1; map_to_units t0 {threads}",
        ])
    else:
        sizes = " ".join(str(rng.choice([2, 8, 32])) for _ in dims)
        units = [f"b{at} {rng.choice([4, 16])}" for at in range(min(2, depth))]
        inner = [f"t{at} {rng.choice([2, 8])}" for at in range(min(2, depth))]
        steps = rng.choice([
            f"find band; split 1; map_to_units b0 {blocks}; find band 1; map_to_units t0 {threads}"
            if depth == 2 else f"find band; split 2; map_to_units {' '.join(units)}; find band 1; map_to_units t0 {threads}",
            f"find band; tile {sizes}; split {len(units)}; map_to_units {' '.join(units)}; "
            f"find band {2 if depth > len(units) else 1}; split {len(inner)}; map_to_units {' '.join(inner)}"
            if depth > 2 else
            f"find band; tile {sizes}; map_to_units {' '.join(units)}; find band 1; map_to_units {' '.join(inner)}",
        ])
    return text, steps


def mapped(tangram_bin: Path, folder: Path, seeds: range) -> int:
    """Compiles the kernels of random trees; says of how many trees the steps are possible."""
    made = 0
    for seed in seeds:
        text, steps = tree(random.Random(seed))
        file = folder / "mapped.st"
        file.write_text(text)
        words = [tangram_bin, "schedule", file, "--do", steps]
        found = subprocess.run(words, capture_output=True, text=True, check=False)
        if found.returncode:
            assert found.returncode == 2 and "error: " in found.stderr, found.stderr
            continue
        made += 1
        file.write_text(found.stdout)
        words = [tangram_bin, "codegen", file, "--target", "cuda", "--index", "long long", "--macros"]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, (seed, ran.stderr, found.stdout)
        count = text.partition("S[")[2].partition("]")[0].count(",") + 1
        numbers = ", ".join(f"long long a{at}" for at in range(count))
        body = "{ seen = " + " + ".join(f"a{at}" for at in range(count)) + "; }"
        own = "".join(f"__device__ void {s}({numbers}) {body}\n" for s in "ST" if f"{s}[" in text)
        statements = "__device__ long long seen;\n" + own
        assert nvrtc.log(statements + ran.stdout) == "", (seed, ran.stdout)
    return made


def test_kernels_of_random_trees_compile(tangram_bin, tmp_path):
    assert mapped(tangram_bin, tmp_path, range(60)) >= 50


@pytest.mark.long
def test_kernels_of_three_hundred_random_trees_compile(tangram_bin, tmp_path):
    assert mapped(tangram_bin, tmp_path, range(1000, 1330)) >= 300


@pytest.mark.parametrize(
    ("function", "kernel"),
    [
        ("void f(n) int n; { NEST }", "A[i][j] += B[i][j] * 2;"),
        ("void f(p, n, q) long n; double *restrict p, q[]; { NEST }", "A[i][j] += p[j] + q[i];"),
        ("void f(n) { NEST }", "A[i][j] += B[i][j];"),
        ("void f(int n) { NEST }", "(A[i])[j] += (((B))[i][(j)]) * 2, B[i][j] *= 1.5;"),
        ("void f(int n) { NEST }", "((A)[i])[j] = *(*(B + i) + j) + (*B)[j] + ((B[j]))[i];"),
        ("void f(int n) { NEST }", "if (B[0][j] > (B[i])[j]) ((A)[i])[j] += ((B[i]))[j]; else (*(A + i))[j] = 0;"),
    ],
)
def test_parameters_and_brackets_of_all_forms_are_kept(tangram_bin, tmp_path, function, kernel):
    source = tmp_path / "forms.c"
    nest = f"for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) {{ {kernel} }}"
    source.write_text("static double A[64][64], B[64][64];\n" + function.replace("NEST", nest) + "\n")
    text = kernels(tangram_bin, source)
    assert text and nvrtc.log(text) == "", text
    assert "64 +" in text
