"""What `tangram compile` shows of the passes over nests."""

from __future__ import annotations

import pathlib
import re
import subprocess

MODEL = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models" / "cnn.onnx"
PASSES = "import widen quantise scale constants fuse layout pack group contract".split()


def compiled(tangram_bin, folder, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [tangram_bin.resolve(), "compile", MODEL, "-o", folder / "out.c", *flags]
    return subprocess.run(command, text=True, capture_output=True)


def test_every_pass_is_timed_in_order(tangram_bin, tmp_path) -> None:
    ran = compiled(tangram_bin, tmp_path, "--emit", "c", "--time-passes")
    assert ran.returncode == 0, ran.stderr
    names = [line.split()[-1] for line in ran.stderr.splitlines() if " ms  " in line]
    assert names == [*PASSES, "schedule", "micro"]


def test_the_program_is_printed_after_passes_and_code_is_the_same(tangram_bin, tmp_path) -> None:
    plain = compiled(tangram_bin, tmp_path, "--emit", "c")
    code = (tmp_path / "out.c").read_bytes()
    shown = compiled(tangram_bin, tmp_path, "--emit", "c", "--print-after", "fuse,pack", "--verify-each")
    assert (plain.returncode, shown.returncode) == (0, 0), shown.stderr
    assert (tmp_path / "out.c").read_bytes() == code
    heads = [line for line in shown.stderr.splitlines() if line.startswith("// -----")]
    assert heads == ["// ----- after fuse -----", "// ----- after pack -----"]
    assert '"tg.nest"' in shown.stderr and "dense_resource" in shown.stderr


def test_micro_kernels_are_printed_and_named_as_in_the_code(tangram_bin, tmp_path) -> None:
    shown = compiled(tangram_bin, tmp_path, "--emit", "c", "--machine", "avx2", "--print-after", "micro")
    assert shown.returncode == 0, shown.stderr
    code = (tmp_path / "out.c").read_text()
    named = set(re.findall(r"func\.func @(tg_tile_\w+)\(", shown.stderr))
    assert named and named == set(re.findall(r"^static void (tg_tile_\w+)\(", code, re.MULTILINE))
    for wanted in ["scf.for", "memref.prefetch", "vector.broadcast", '"tg.advance"', "arith.addf"]:
        assert wanted in shown.stderr
    ran = compiled(tangram_bin, tmp_path, "--machine", "avx2", "--stop-after", "micro")
    assert ran.returncode == 0, ran.stderr
    assert "vector<8xf32>" in (tmp_path / "out.c").read_text()


def test_a_program_is_written_in_the_place_of_code(tangram_bin, tmp_path) -> None:
    ran = compiled(tangram_bin, tmp_path, "--stop-after", "layout")
    assert ran.returncode == 0, ran.stderr
    assert '"tg.nest"' in (tmp_path / "out.c").read_text()
    assert not (tmp_path / "out.h").exists()


def test_flags_without_effect_and_unknown_passes_are_refused(tangram_bin, tmp_path) -> None:
    for flags, message in [
        (("--print-after", "tile"), "no pass `tile` over nests"),
        (("--stop-after", "all"), "no pass `all` over nests"),
        (("--emit", "mlir", "--print-after-all"), "no effect with `--emit mlir`"),
        (("--emit", "mlir", "--time-passes"), "no effect with `--emit mlir`"),
        (("--stop-after", "pack", "--report", "page.html"), "makes no code"),
    ]:
        ran = compiled(tangram_bin, tmp_path, *flags)
        assert ran.returncode != 0 and message in ran.stderr, (flags, ran.stderr)
        assert not (tmp_path / "out.c").exists()
