"""Names of models, files and rules are shown as text: nothing that a terminal obeys is in them."""

from __future__ import annotations

import shutil
import subprocess

import onnx
import pytest
from onnx import TensorProto, helper

import small

ESCAPE = "\x1b[2J\x1b]0;t\x07"
TURNED = "\u202egnp.exe"


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    value = helper.make_tensor_value_info
    names = [f"x{ESCAPE}", f"y{TURNED}\u009b1m"]
    graph = helper.make_graph(
        [helper.make_node("Relu", [names[0]], ["a" + ESCAPE], name="n" + ESCAPE),
         helper.make_node("Foreign" + ESCAPE, ["a" + ESCAPE], [names[1]], domain="own\r")],
        "g" + ESCAPE,
        [value(names[0], TensorProto.FLOAT, ["N" + ESCAPE, 3])],
        [value(names[1], TensorProto.FLOAT, ["N" + ESCAPE, 3])],
        doc_string=ESCAPE,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name=ESCAPE)
    onnx.save(model, tmp_path / "m.onnx")
    model.graph.node.pop()
    model.graph.output[0].name = "a" + ESCAPE
    onnx.save(model, tmp_path / "plain.onnx")
    return small.Command(tangram_bin, tmp_path)


COMMANDS = [
    ["show", "m.onnx"],
    ["diff", "m.onnx", "plain.onnx"],
    ["check", "m.onnx", "plain.onnx"],
    ["check", "plain.onnx", "plain.onnx"],
    ["opt", "m.onnx", "-o", "o.onnx"],
    ["opt", "plain.onnx", "-o", "o.onnx", "--check"],
    ["opt", "plain.onnx", "-o", "o.onnx", "--opset", "6"],
    ["run", "plain.onnx", "--random", "--profile", "--interpret"],
    ["run", "m.onnx", "--random", "--interpret"],
    ["run", "plain.onnx", "--interpret"],
    ["run", "plain.onnx", "--input", ESCAPE + "=x.npy"],
    ["opt", "plain.onnx", "-o", "o.onnx", "--rules", ESCAPE],
    ["opt", ESCAPE + ".onnx", "-o", "o.onnx"],
    ["rules", "show", ESCAPE],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=ascii)
def test_what_is_printed_is_text(command, arguments) -> None:
    done = subprocess.run([command.binary, *arguments], cwd=command.folder, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode()
    obeyed = [letter for letter in said if letter in "\x1b\x07\r\x7f\u202e\u2066\u009b"]
    assert not obeyed and said, said.encode("unicode_escape")


def test_a_file_whose_name_begins_with_a_dash_is_a_file(command) -> None:
    source = "#define N 4\nvoid f(double a[N]) {\n#pragma scop\n  for (int i = 0; i < N; i++) a[i] = 2;\n#pragma endscop\n}\n"
    (command.folder / "-o.c").write_text(source)
    command.run("scop", "--", "-o.c")
    assert not (command.folder / "a.out").exists()


def test_what_is_included_from_elsewhere_is_not_quoted(tangram_bin, tmp_path) -> None:
    """A C file may name any file that its reader can read."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "near").mkdir()
    secret = tmp_path / "secret.txt"
    source = tmp_path / "near" / "a.c"
    source.write_text(f'#include "{secret}"\nvoid f(int n, double a[n]) {{}}\n')
    for text in ("# hunter2\n", "int hunter2( {\n"):
        secret.write_text(text)
        done = subprocess.run([tangram_bin, "scop", source], capture_output=True, text=True, check=False)
        # What can be read of the file decides whether it is given back or refused.
        assert done.returncode in (0, 2) and "secret.txt" in done.stderr, done.stderr
        assert "hunter2" not in done.stderr + done.stdout


# Lines that end in a backslash are joined before the end of a comment is looked for.
LIVE = ["*/\n#error a", "*\\\n/\n#error b", "*\\ \n/\n#error c", "*\\\r\n/\n#error d", "*??/\n/\n#error e", "\\\n*\\\n/ int f;"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", LIVE, ids=ascii)
def test_no_name_is_code_in_a_header(tangram_bin, tmp_path, name) -> None:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Relu", [name], ["y" + name])], "g",
        [value(name, TensorProto.FLOAT, ["N" + name, 3])], [value("y" + name, TensorProto.FLOAT, ["N" + name, 3])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    words = [tangram_bin, "compile", "m.onnx", "-o", "m.c", "--machine", "sse2"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    for standard in ("gnu11", "c99", "c11"):
        look = ["cc", f"-std={standard}", "-Wcomment", "-Werror", "-x", "c", "-fsyntax-only", "m.h"]
        done = subprocess.run(look, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_pictures_for_graphviz_show_names_as_text(command) -> None:
    for model in ("m.onnx", "plain.onnx"):
        text = command.run("show", model, "--format", "dot").stdout
        assert not [letter for letter in text if letter in "\x1b\x07\r\x00\u202e\u009b"], text
        assert all(line.count('"') % 2 == 0 for line in text.replace('\\"', "").splitlines()), text
