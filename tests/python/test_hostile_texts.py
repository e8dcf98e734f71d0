"""Whatever a text says, each command ends soon and within its memory, with a result or a message."""

from __future__ import annotations

import os
import pathlib
import resource
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT
from hostile_texts import LANGUAGES, text

MEMORY = 1 << 30
SECONDS = 10


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Of the processor's time: the machine may have more to do.
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def fault(binary: pathlib.Path, folder: pathlib.Path, language: str, seed: int) -> str | None:
    """What is wrong with a command on a text, if anything."""
    file, files, command = LANGUAGES[language]
    (folder / file).write_text(text(seed, files), encoding="utf-8", errors="replace")
    if not (folder / "m.onnx").exists():
        shutil.copy(ROOT / "examples" / "models" / "cnn.onnx", folder / "m.onnx")
    done = subprocess.run([binary, *command], cwd=folder, preexec_fn=limited, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode not in (0, 1, 2, 3) or b"panicked" in done.stderr:
        return f"{language} {seed}: {done.returncode}: {done.stderr[-400:]!r}"
    if b"\x1b" in done.stderr:
        return f"{language} {seed}: an escape sequence is printed as it is"
    if done.returncode == 2 and not done.stderr.strip():
        return f"{language} {seed}: no message"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sample_of_texts(language, tangram_bin, tmp_path) -> None:
    found = [wrong for seed in range(8) if (wrong := fault(tangram_bin, tmp_path, language, seed))]
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_many_texts(language, tangram_bin, tmp_path) -> None:
    found = [wrong for seed in range(300) if (wrong := fault(tangram_bin, tmp_path, language, seed))]
    assert not found, "\n".join(found)


def main() -> None:
    """Tries the seeds from one number to another, and prints what is wrong."""
    import tempfile

    binary, first, last = pathlib.Path(os.environ["TANGRAM_BIN"]), int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        for language in sys.argv[3:] or LANGUAGES:
            wrong = [found for seed in range(first, last) if (found := fault(binary, pathlib.Path(folder), language, seed))]
            print(language, last - first, "faults", len(wrong), *wrong, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
