"""Runs loopy, a code generator on islpy, with `tangram.isl` in islpy's place.

Kernels become C, are compiled, and compute what numpy does; counts of operations are those that
the loops have. `test_loopy.py` runs this in a process of its own.
"""

from __future__ import annotations

import ctypes
import pathlib
import subprocess
import sys
import tempfile
import types
from typing import Any

import numpy as np

import tangram.isl

version = types.ModuleType("islpy.version")
version.VERSION = (2025, 2, 5)  # type: ignore[attr-defined]
version.VERSION_TEXT = "2025.2.5"  # type: ignore[attr-defined]
tangram.isl.version = version  # type: ignore[attr-defined]
sys.modules.update({"islpy": tangram.isl, "islpy.version": version})

import loopy as lp  # noqa: E402

lp.set_caching_enabled(False)
HEAD = "#include <stdint.h>\n#include <stdbool.h>\n#define min(a, b) ((a) < (b) ? (a) : (b))\n"


def kernel(domain: str, statements: str, **dtypes: Any) -> Any:
    made = lp.make_kernel(domain, statements, target=lp.CTarget(), lang_version=(2018, 2))
    return lp.add_dtypes(made, dtypes)


def native(made: Any) -> Any:
    """The compiled code of a kernel."""
    folder = pathlib.Path(tempfile.mkdtemp())
    source, library = folder / "kernel.c", folder / "kernel.so"
    source.write_text(HEAD + lp.generate_code_v2(made).device_code())
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return ctypes.CDLL(str(library)).loopy_kernel


def at(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def check_copies() -> None:
    plain = kernel("{ [i] : 0 <= i < n }", "out[i] = 2*a[i]", a=np.float64)
    split = lp.split_iname(plain, "i", 16)
    variants = [
        plain,
        split,
        lp.split_iname(plain, "i", 4, slabs=(0, 1)),
        lp.split_iname(split, "i_inner", 4, inner_tag="unr"),
        lp.chunk_iname(lp.assume(plain, "n >= 1"), "i", 5),
        lp.rename_iname(plain, "i", "k"),
    ]
    for variant in variants:
        function = native(variant)
        for n in range(1, 40):
            a, out = np.random.default_rng(n).random(n), np.zeros(n + 1)
            function(at(a), ctypes.c_int32(n), at(out))
            assert np.array_equal(out, [*(2 * a), 0]), (variant, n)


def check_products() -> None:
    made = kernel(
        "{ [i, j, k] : 0 <= i, j, k < n }", "c[i, j] = sum(k, a[i, k] * b[k, j])", a=np.float64, b=np.float64
    )
    for name, size in (("i", 16), ("j", 8), ("k", 4)):
        made = lp.split_iname(made, name, size)
    function = native(made)
    for n in (1, 7, 16, 19, 33):
        a, b, c = (*np.random.default_rng(n).random((2, n, n)), np.zeros((n, n)))
        function(at(a), at(b), at(c), ctypes.c_int32(n))
        assert np.allclose(c, a @ b), n


def check_counts() -> None:
    arguments = [lp.GlobalArg("a", np.float64, shape="n"), lp.GlobalArg("out", np.float64, shape="n, n"), ...]
    made = lp.make_kernel(
        "{ [i, j] : 0 <= j <= i < n }", "out[i, j] = a[i] * a[j] + 1", arguments,
        target=lp.OpenCLTarget(), assumptions="n >= 1", lang_version=(2018, 2),
    )  # fmt: skip
    counts = lp.get_op_map(made, count_redundant_work=True, subgroup_size=32)
    for n in (1, 9, 40):
        found = {key.name: counts[key].eval_with_dict({"n": n}) for key in counts.keys()}
        assert found == {"add": n * (n + 1) // 2, "mul": n * (n + 1) // 2}, found


if __name__ == "__main__":
    check_copies()
    check_products()
    check_counts()
    print("right")
