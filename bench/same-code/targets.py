"""Processors, compilers and flags that code is compared for."""

from __future__ import annotations

import dataclasses
import shutil

HOST = "x86_64"
# What a machine's code is built with; of these, what the installed compilers know.
MACHINES = {
    "avx2": ("x86_64", ["-mavx2", "-mfma"]),
    "avx512": (
        "x86_64",
        ["-mavx2", "-mfma", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl",
         "-mprefer-vector-width=512"],
    ),
    "scalar": ("x86_64", []),
    "neon": ("aarch64", []),
}
COMPILERS = {
    "gcc": {"x86_64": ["gcc"], "aarch64": ["aarch64-linux-gnu-gcc"]},
    "clang": {
        "x86_64": ["clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"],
        "aarch64": ["clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"],
    },
}
# Headers of a cross compiler's C library, which clang takes too.
CROSS_ROOT = "/usr/aarch64-linux-gnu"
# Constants in pools whose entries can be told apart, at every level.
COMMON = ["-std=gnu11", "-c", "-w", "-ffunction-sections", "-fdata-sections", "-fmerge-constants", "-fPIC",
          "-fno-asynchronous-unwind-tables", "-fno-ident"]
SESSION = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing",
           "-fno-plt", "-fno-semantic-interposition"]


@dataclasses.dataclass(frozen=True)
class Build:
    """A way to build a source: a name for the table, and the command without files."""

    name: str
    command: tuple[str, ...]


def builds(machine: str, exact: bool, every: bool) -> list[Build]:
    """Ways to build code for `machine`: as sessions do; with `every`, as firmware does as well."""
    family, flags = MACHINES[machine]
    contract = f"-ffp-contract={'off' if exact else 'fast'}"
    levels = {"": [*SESSION, contract]}
    if every:
        # Neither says what may be fused: compilers do as they do by default.
        levels |= {" -O2": ["-O2"], " plain": []}
    found = []
    for compiler, commands in COMPILERS.items():
        command = next(filter(None, map(shutil.which, commands[family])), None)
        if command is None:
            continue
        cross = []
        if compiler == "clang" and family != HOST:
            cross = [f"--target={family}-linux-gnu", f"--sysroot={CROSS_ROOT}", f"-I{CROSS_ROOT}/include"]
        for level, options in levels.items():
            found.append(Build(f"{compiler}{level}", (command, *cross, *COMMON, *options, *flags)))
    return found


def missing() -> list[str]:
    """Compilers that are not installed, with what they would build."""
    names = []
    for compiler, families in COMPILERS.items():
        for family, commands in families.items():
            if not any(map(shutil.which, commands)):
                names.append(f"{compiler} for {family}")
    return names
