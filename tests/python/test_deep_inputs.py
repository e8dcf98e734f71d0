"""Whatever is deep, long or has long names ends soon and within its memory, with a result or a message."""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import time

import pytest

from deep_inputs import LANGUAGES, Case, cases

MEMORY = 1 << 30
# Of a build with optimisation; the tests' own has little of it.
SECONDS = 5


def fault(binary: pathlib.Path, folder: pathlib.Path, case: Case, command: list[str], seconds: int = SECONDS) -> str | None:
    """What is wrong with a command on a file, if anything."""
    content = case.content if isinstance(case.content, bytes) else case.content.encode()
    (folder / case.file).write_bytes(content)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Of the processor's time: the machine may have more to do.
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    standard = (folder / case.file).open("rb") if "-" in command else subprocess.DEVNULL
    start = time.monotonic()
    try:
        done = subprocess.run(
            [binary, *command], cwd=folder, stdin=standard, preexec_fn=limited, capture_output=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{case.name}: {command}: no end"
    finally:
        if standard is not subprocess.DEVNULL:
            standard.close()
    what = f"{case.name}: {' '.join(command)}: {done.returncode} after {time.monotonic() - start:.1f} s"
    if done.returncode not in (0, 1, 2, 3) or b"panicked" in done.stderr:
        return f"{what}: {done.stderr[-300:]!r}"
    if done.returncode == 2 and not done.stderr.strip():
        return f"{what}: no message"
    # A message is for a person: of what is long it says a part.
    return f"{what}: a message of {len(done.stderr)} bytes" if len(done.stderr) > 200_000 else None


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_some_that_are_deep(language, tangram_bin, tmp_path) -> None:
    # Small ones of all kinds, where recursion would end at once.
    found = []
    for case in cases(language, 3_000, 2_000, 50_000):
        found += [wrong for command in case.commands[:1] if (wrong := fault(tangram_bin, tmp_path, case, command, 20))]
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_all_that_are_very_deep(language, tangram_bin, tmp_path) -> None:
    found = []
    for case in cases(language, 100_000, 1_000_000, 10_000_000):
        found += [wrong for command in case.commands if (wrong := fault(tangram_bin, tmp_path, case, command))]
    assert not found, "\n".join(found)


def test_a_command_that_gets_no_memory_says_so(tangram_bin, tmp_path) -> None:
    rule = "rule r { let x = *; match relu(relu(x)); rewrite relu(x); }\n"
    (tmp_path / "f.gsl").write_text(rule * 100_000)
    limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))  # noqa: E731
    command = [tangram_bin, "rules", "fmt", "f.gsl"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert done.stderr.splitlines()[-1].startswith("error: out of memory"), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["f.gsl"]
    assert (tmp_path / "f.gsl").read_text() == rule * 100_000


def test_as_many_points_as_nobody_can_list_are_a_message(tangram_bin, tmp_path) -> None:
    names = [f"i{k}" for k in range(50)]
    bounds = " and ".join(f"0 <= {name} < 10" for name in names)
    (tmp_path / "f.calc").write_text(f"scan {{ [{', '.join(names)}] : {bounds} }};\n")
    limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # noqa: E731
    command = [tangram_bin, "calc", "f.calc"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert "--max-steps" in done.stderr or "steps" in done.stderr, done.stderr


def main() -> None:
    """Tries the cases of the languages that are named, and prints what is wrong."""
    import sys
    import tempfile

    binary = pathlib.Path(os.environ["TANGRAM_BIN"])
    depth, length, letters = map(int, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        for language in sys.argv[4:] or LANGUAGES:
            for case in cases(language, depth, length, letters):
                for command in case.commands:
                    if wrong := fault(binary, pathlib.Path(folder), case, command):
                        print(wrong, flush=True)
            print("done", language, flush=True)


if __name__ == "__main__":
    main()
