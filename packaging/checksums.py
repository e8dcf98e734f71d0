"""Writes and checks the sums of what is published.

    python packaging/checksums.py target/packages target/package

writes a file SHA256SUMS into each folder, a line for each file of a release in it, in the form that
`sha256sum --check SHA256SUMS` reads. With `--check`, the files are compared with the sums that are there: one
that is missing, differs or has no sum is an error.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import sys

NAME = "SHA256SUMS"
ENDINGS = (".whl", ".tar.gz", ".crate")


def sums(folder: pathlib.Path) -> str:
    """The sums of the files of a release in a folder, in the order of their names."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.endswith(ENDINGS))
    lines = []
    for path in files:
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    return "".join(lines)


def faults(folder: pathlib.Path) -> list[str]:
    """What differs from the sums in a folder."""
    try:
        known = (folder / NAME).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        return [f"{folder / NAME}: {error.strerror}"]
    there = sums(folder).splitlines()
    wrong = [f"{folder}: no sum is that of {line.split('  ', 1)[1]}" for line in there if line not in known]
    names = {line.split("  ", 1)[1] for line in there}
    missing = [line for line in known if line.split("  ", 1)[-1] not in names]
    return wrong + [f"{folder}: there is no {line.split('  ', 1)[-1]}" for line in missing]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    found = []
    for folder in arguments.folders:
        if arguments.check:
            found += faults(folder)
        elif text := sums(folder):
            (folder / NAME).write_text(text, encoding="utf-8")
        else:
            found.append(f"{folder}: there is nothing of a release")
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
