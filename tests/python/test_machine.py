"""`tangram machine`, and loops for machines of several kinds."""

from __future__ import annotations

import json
import pathlib
import subprocess

PRODUCT = """
void product(int n, double C[n][n], double A[n][n], double B[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def call(tangram_bin: pathlib.Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tangram_bin, *map(str, words)], capture_output=True, text=True)


def test_a_machine_is_printed_and_read_again(tangram_bin, tmp_path) -> None:
    shown = call(tangram_bin, "machine", "avx512")
    assert shown.returncode == 0 and "32 of 8 doubles, 16 floats" in shown.stdout
    written = tmp_path / "machine.json"
    written.write_text(call(tangram_bin, "machine", "--json").stdout)
    again = call(tangram_bin, "machine", written, "--json")
    assert json.loads(again.stdout) == json.loads(written.read_text())


def test_what_is_no_machine_is_refused_with_its_place(tangram_bin, tmp_path) -> None:
    unknown = call(tangram_bin, "machine", "avx3")
    assert unknown.returncode == 2 and "native, scalar, sse2, avx2" in unknown.stderr
    broken = tmp_path / "broken.json"
    broken.write_text('{\n  "name": 1\n}')
    refused = call(tangram_bin, "machine", broken)
    assert refused.returncode == 2 and f"{broken}:2:11: invalid type" in refused.stderr
    assert "Traceback" not in refused.stderr and "panicked" not in refused.stderr


def test_loops_suit_the_machine(tangram_bin, tmp_path) -> None:
    source = tmp_path / "product.c"
    source.write_text(PRODUCT)
    small = json.loads(call(tangram_bin, "machine", "avx2", "--json").stdout)
    small["vector_registers"] = 4
    small["caches"][0]["bytes"] = 4 << 10
    file = tmp_path / "small.json"
    file.write_text(json.dumps(small))

    plain = call(tangram_bin, "scop", source)
    named = call(tangram_bin, "scop", source, "--machine", "avx2")
    tiny = call(tangram_bin, "scop", source, "--machine", file)
    assert plain.returncode == named.returncode == tiny.returncode == 0, tiny.stderr
    assert plain.stdout == named.stdout
    # Twelve sums, two vectors and an element in 16 registers; two sums, and one of each, in four.
    assert "6 rows of 8 elements" in plain.stdout and "2 rows of 4 elements" in tiny.stdout

    plain = call(tangram_bin, "scop", source, "--vectorize=false")
    tiny = call(tangram_bin, "scop", source, "--vectorize=false", "--machine", file)
    # Three tiles of 8 by 8 doubles fit in 4 KiB, two by two sums in four registers.
    assert "32 * c" in plain.stdout and "8 * c" in tiny.stdout and "32 * c" not in tiny.stdout
    products = [text.count("A[") for text in (plain.stdout, tiny.stdout)]
    assert products[1] < products[0]
