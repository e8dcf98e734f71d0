"""The example kernels as programs that time themselves."""

from __future__ import annotations

import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "kernels"

# Values of the integer parameters, in their order: odd, and larger than caches near the core.
SIZES = {
    "gemm": (701, 653, 607),
    "two_products": (401, 451, 551, 601),
    "three_products": (401, 451, 501, 551, 601),
    "atax": (2901, 3101),
    "bicg": (2901, 3101),
    "mvt": (3001,),
    "gesummv": (2801,),
    "gemver": (2801,),
    "syrk": (601, 701),
    "trmm": (601, 701),
    "trisolv": (3001,),
    "lu": (701,),
    "cholesky": (901,),
    "covariance": (501, 601),
    "doitgen": (51, 61, 71),
    "conv2d": (1, 33, 29, 57, 61),
    "jacobi_1d": (201, 200001),
    "jacobi_2d": (51, 1001),
    "seidel_2d": (21, 801),
    "fdtd_2d": (51, 801, 901),
    "floyd_warshall": (401,),
}


# Kernels as calls of a library of linear algebra.
BLAS = {
    "gemm": """#include <cblas.h>
void gemm(int ni, int nj, int nk, double alpha, double beta, double *C, double *A, double *B) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ni, nj, nk, alpha, A, nk, B, nj, beta, C, nj);
}
""",
}


@dataclasses.dataclass
class Parameter:
    """A parameter of a kernel's function."""

    element: str
    name: str
    extents: list[str]


def parameters(text: str, name: str) -> list[Parameter]:
    """Reads the parameters of a kernel's function."""
    found = re.search(rf"\b{name}\(([^{{]*)\)\s*{{", text)
    if not found:
        raise SystemExit(f"no function {name} in its file")
    result = []
    for part in found.group(1).split(","):
        element, rest = part.split(maxsplit=1)
        extents = re.findall(r"\[([^\]]*)\]", rest)
        result.append(Parameter(element, rest.split("[")[0].strip(), extents))
    return result


def driver(text: str, name: str) -> str:
    """Writes a program that runs a kernel once; it prints processor and wall seconds and a sum."""
    declared, prepared, summed, arguments = [], [], [], []
    sizes = iter(SIZES[name])
    for parameter in parameters(text, name):
        if not parameter.extents:
            value = next(sizes) if parameter.element == "int" else 1.5
            prepared.append(f"  {parameter.element} {parameter.name} = {value};")
            arguments.append(parameter.name)
        else:
            count = " * ".join(f"(size_t)({extent})" for extent in parameter.extents)
            element, array, last = parameter.element, parameter.name, parameter.extents[-1]
            prepared.append(f"  size_t n_{array} = {count};")
            prepared.append(f"  {element} *a_{array} = aligned_alloc(64, (n_{array} * 8 + 64) / 64 * 64);")
            prepared.append(
                f"  for (size_t i = 0; i < n_{array}; i++) a_{array}[i] = ({element})((i * 7 + 3) % 11)"
                f" / ({element})7 + (i / ({last}) % ({last}) == i % ({last}) ? 4 * ({last}) : 0);"
            )
            summed.append(
                f"  for (size_t i = 0; i < n_{array}; i++) sum += a_{array}[i] * (1 + i % 5);"
            )
            arguments.append(f"(void *)a_{array}")
        declared.append("void *" if parameter.extents else parameter.element)
    return "\n".join(
        [
            "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>",
            f"void {name}({', '.join(declared)});",
            "static double now(clockid_t clock) { struct timespec t;",
            "  clock_gettime(clock, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }",
            "int main(void) {\n  double sum = 0;",
            *prepared,
            "  double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);",
            f"  {name}({', '.join(arguments)});",
            "  cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu; wall = now(CLOCK_MONOTONIC) - wall;",
            *summed,
            '  printf("%.9f %.9f %.17g\\n", cpu, wall, sum);\n  return 0;\n}\n',
        ]
    )
