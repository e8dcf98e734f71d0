"""`tangram.toml`: what it says is what the same words on the command line say; errors have places."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

RULE = "/// Never fires.\nrule own {\n  let x = *;\n  match relu(relu(relu(x)));\n  rewrite relu(x);\n}\n"


def run(
    command: pathlib.Path, *words: str | pathlib.Path, cwd: pathlib.Path
) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder."""
    return subprocess.run([command, *words], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: pathlib.Path, root: pathlib.Path) -> pathlib.Path:
    """A folder with a model, rules and a place for a configuration file."""
    (tmp_path / "models" / "vision").mkdir(parents=True)
    model = sorted((root / "examples" / "models").glob("*.onnx"))[0]
    shutil.copy(model, tmp_path / "models" / "vision" / "a.onnx")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "own.gsl").write_text(RULE)
    return tmp_path


MODEL = "models/vision/a.onnx"


def report(command: pathlib.Path, project: pathlib.Path, *words: str, cwd: str = ".") -> str:
    """What `opt` does to the model, as JSON without its times."""
    here = project / cwd
    out = project / "out.json"
    done = run(
        command, "opt", project / MODEL, "-o", project / "b.onnx", "--json", out, *words, cwd=here
    )
    assert done.returncode == 0, done.stderr
    return (project / "b.onnx").read_bytes().hex()


def test_options_are_those_of_the_command_line(
    tangram_bin: pathlib.Path, project: pathlib.Path
) -> None:
    """`only` of a file leaves out what it leaves out on the command line; the line goes before."""
    plain = report(tangram_bin, project, "--no-config")
    nothing = report(tangram_bin, project, "--no-config", "--no-library", "--rules", "rules/own.gsl")
    assert plain != nothing
    config = project / "tangram.toml"
    config.write_text('rules = ["rules/own.gsl"]\n[opt]\nno-library = true\n')
    assert report(tangram_bin, project) == nothing
    # From another folder too, and not where it is asked for otherwise.
    assert report(tangram_bin, project, cwd="rules") == nothing
    assert report(tangram_bin, project, "--no-config") == plain
    config.write_text('[opt]\nopset = 1\n')
    done = run(tangram_bin, "opt", MODEL, "-o", "b.onnx", "--opset", "18", cwd=project)
    assert done.returncode == 0, done.stderr


def test_models_have_options_of_their_own(tangram_bin: pathlib.Path, project: pathlib.Path) -> None:
    """A later table goes before an earlier one, and a pattern is taken from the file's folder."""
    plain = report(tangram_bin, project, "--no-config")
    nothing = report(tangram_bin, project, "--no-config", "--no-library")
    table = '[[model]]\npath = "{}"\nopt = {{ no-library = {} }}\n'
    config = project / "tangram.toml"
    config.write_text(table.format("models/**/*.onnx", "true"))
    assert report(tangram_bin, project) == nothing
    config.write_text(table.format("models/*.onnx", "true"))
    assert report(tangram_bin, project) == plain
    config.write_text(table.format("**/*.onnx", "true") + table.format("**/a.onnx", "false"))
    assert report(tangram_bin, project) == plain


def test_verbose_says_which_file(tangram_bin: pathlib.Path, project: pathlib.Path) -> None:
    """The nearest file counts: beside the model before one further up."""
    outer, inner = project / "tangram.toml", project / "models" / "tangram.toml"
    outer.write_text("")
    inner.write_text("")
    words = ["opt", MODEL, "-o", "b.onnx"]
    assert f"configuration: {inner}" in run(tangram_bin, *words, "-v", cwd=project).stderr
    inner.unlink()
    assert f"configuration: {outer}" in run(tangram_bin, *words, "-v", cwd=project).stderr
    assert "configuration" not in run(tangram_bin, *words, cwd=project).stderr
    none = run(tangram_bin, *words, "-v", "--no-config", cwd=project).stderr
    assert none.startswith("configuration: no tangram.toml\n")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("rules = [\n", "1:10", "unclosed array"),
        ("# é\n rule = 1\n", "2:2", "there is no `rule` here"),
        ("[opt]\nexact = 1\n", "2:9", "`exact` is `true` or `false`"),
        ("[opt]\noutput = 'b.onnx'\n", "2:1", "no option `--output`"),
        ("[opt]\n\nopset = 'x'\n", "3:1", "invalid value 'x' for '--opset <VERSION>'"),
        ("[opt]\nstrategy = 'slow'\n", "2:1", "invalid value 'slow'"),
        ("[compile]\nnothing = true\n", "2:1", "`tangram compile` has no option `--nothing`"),
        ("opt = 3\n", "1:7", "expected a table, as in `[opt]`"),
        ("[[model]]\nopt = {}\n", "1:1", "`path` is missing"),
        ("model = 2\n", "1:9", "expected tables `[[model]]`"),
        ("disable = [{}]\n", "1:12", "expected a text or a number"),
    ],
)
def test_errors_have_places(
    tangram_bin: pathlib.Path, project: pathlib.Path, text: str, place: str, message: str
) -> None:
    """What is wrong is told with file, line and column, and nothing is written."""
    config = project / "tangram.toml"
    config.write_text(text)
    done = run(tangram_bin, "opt", MODEL, "-o", "b.onnx", cwd=project)
    assert done.returncode == 2 and not (project / "b.onnx").exists()
    assert done.stderr.startswith(f"{config}:{place}: error: "), done.stderr
    assert message in done.stderr


def test_compile_reads_its_own_table(tangram_bin: pathlib.Path, project: pathlib.Path) -> None:
    """`[compile]` is for `tangram compile`; shared keys that it has no flag for are no errors."""
    (project / "tangram.toml").write_text('disable = ["gelu"]\n[compile]\nemit = "mlir"\n')
    done = run(tangram_bin, "compile", MODEL, "-o", "b.mlir", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "func.func" in (project / "b.mlir").read_text()
