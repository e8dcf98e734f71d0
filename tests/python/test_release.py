"""The workflow of a release calls what is there, for the machines that the packages say they are for."""

from __future__ import annotations

import re
import subprocess

import pytest

yaml = pytest.importorskip("yaml")


@pytest.fixture
def workflow(root) -> dict:
    file = root / ".github/workflows/release.yml"
    if not file.is_file():
        pytest.skip("the workflow is not part of the source distribution")
    return yaml.safe_load(file.read_text())


def commands(workflow: dict) -> list[str]:
    """Each line of shell in it."""
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [line.strip() for step in steps for line in step.get("run", "").splitlines()]


def test_what_it_runs_is_there(workflow, root) -> None:
    lines = commands(workflow)
    files = {word for line in lines for word in re.findall(r"(?<!\S)(?:packaging|\.ci)/\S+", line)}
    assert files == {".ci/run", "packaging/checksums.py"}
    assert all((root / file).is_file() for file in files)
    asked = {flag for line in lines if "cargo xtask package" in line for flag in re.findall(r"--[a-z]+", line)}
    source = (root / "xtask/src/package.rs").read_text()
    options = source[source.index("pub struct Options") : source.index("pub fn all")]
    known = {f"--{name}" for name in re.findall(r"^ {4}(\w+): ", options, re.MULTILINE)}
    assert asked == {"--target", "--verify"} <= known


def test_nothing_waits_for_a_job_that_is_not(workflow) -> None:
    jobs = workflow["jobs"]
    for name, job in jobs.items():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) < set(jobs), name
    # What is drafted was made by the others, of a commit that passes its checks.
    assert set(jobs["draft"]["needs"]) == {"wheel", "sources"}
    assert all(jobs[name]["needs"] == "check" for name in ("wheel", "sources"))


def test_every_machine_of_the_classifiers_has_a_wheel(workflow, root) -> None:
    targets = [row["target"] for row in workflow["jobs"]["wheel"]["strategy"]["matrix"]["include"]]
    text = (root / "pyproject.toml").read_text()
    systems = {"MacOS": "apple-darwin", "Microsoft :: Windows": "windows", "POSIX :: Linux": "linux"}
    said = {part for name, part in systems.items() if f"Operating System :: {name}" in text}
    assert said and all(any(part in target for target in targets) for part in said)
    assert len(targets) == len(set(targets))


def test_its_shell_parses(workflow) -> None:
    for line in commands(workflow):
        # What the service puts in is a word.
        text = re.sub(r"\$\{\{.*?\}\}", "WORD", line)
        subprocess.run(["bash", "-n", "-c", text], check=True)
