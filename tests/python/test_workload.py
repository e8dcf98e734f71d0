"""The Python interface to models: options, exceptions, progress, text and pictures."""

from __future__ import annotations

import html.parser
import inspect
import json
import pickle
import re
import subprocess
import sys
import types
import xml.dom.minidom

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gsl
import tangram

# Options of the command that are about its own files and output.
OF_THE_COMMAND = {
    "output", "json", "quiet", "explain-rule", "at", "help", "version", "no-library",
    "jobs", "max-memory", "table", "no-config", "verbose",
    # A word of Python, and an engine that is a package there: callers compare with it themselves.
    "with",
    # Another word of Python: the keyword is `target`.
    "for",
    # An option of `save`.
    "external-data",
}


@pytest.fixture
def model(root):
    return root / "examples/models/transformer.onnx"


def test_every_option_of_the_command_is_a_keyword(tangram_bin) -> None:
    said = subprocess.run([tangram_bin, "opt", "--help"], capture_output=True, text=True, check=True)
    options = set(re.findall(r"^\s+(?:-\w, )?--([\w-]+)", said.stdout, re.MULTILINE)) - OF_THE_COMMAND
    keywords = set(inspect.signature(tangram.optimize).parameters)
    assert len(options) > 8
    assert {option for option in options if option.replace("-", "_") not in keywords} == set()


def test_the_keywords_are_spelled_out_and_the_same_everywhere() -> None:
    method = inspect.signature(tangram.Workload.optimize).parameters
    function = inspect.signature(tangram.optimize).parameters
    assert [str(p) for p in list(function.values())[1:]] == [str(p) for p in list(method.values())[1:]]
    assert all(p.kind is not p.VAR_KEYWORD for p in function.values())


@pytest.mark.parametrize("names", ["gelu", ["gelu"], ("gelu",), {"gelu"}, "gelu,relu-relu", iter(["gelu"])])
def test_names_are_taken_whole(model, names) -> None:
    usual = tangram.optimize(model, opset=20).report.fired
    assert "gelu" in usual
    assert "gelu" not in tangram.optimize(model, opset=20, disable=names).report.fired


def test_rules_may_be_named_alone_or_in_lists(model) -> None:
    (gelu,) = tangram.rules("gelu")
    for only in ("gelu", [gelu], gelu):
        assert set(tangram.optimize(model, opset=20, only=only).report.fired) == {"gelu"}
    with pytest.raises(tangram.RuleError, match="no-such-rule"):
        tangram.optimize(model, disable="no-such-rule")
    with pytest.raises(TypeError, match="disable"):
        tangram.optimize(model, disable=[3])
    with pytest.raises(TypeError, match="only"):
        tangram.optimize(model, only=b"gelu")


def test_the_opset_is_that_of_the_result(model, tmp_path) -> None:
    better = tangram.optimize(model, opset=20)
    better.save(tmp_path / "better.onnx")
    for proto in (better.to_onnx(), onnx.load(tmp_path / "better.onnx")):
        assert [o.version for o in proto.opset_import if o.domain == ""] == [20]
        onnx.checker.check_model(proto, full_check=True)


def test_a_check_says_how_much_results_differ(model) -> None:
    assert tangram.optimize(model).report.check is None
    found = tangram.optimize(model, check=True).report.check
    assert found["state"] == "equal" and found["difference"] < 1e-3 and "tolerance" in found["text"]
    wrong = "rule wrong { let x = *; match softmax(x); rewrite x; }"
    with pytest.raises(tangram.CheckError, match="DIFFERENT"):
        tangram.optimize(model, wrong, check=True)


def test_a_check_takes_shapes_and_data(root) -> None:
    """A rule that is wrong for negative numbers alone holds where there are none."""
    nodes = [helper.make_node("Abs", ["x"], ["y"])]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N"]) for n in "xy"]
    proto = helper.make_model(helper.make_graph(nodes, "abs", info[:1], info[1:]), opset_imports=[helper.make_opsetid("", 17)])
    wrong = "rule wrong { let x = *; match abs(x); rewrite x; }"
    with pytest.raises(tangram.CheckError):
        tangram.optimize(proto, wrong, check=True, shape={"x": [50]})
    data = {"x": np.arange(7, dtype=np.float32)}
    assert tangram.optimize(proto, wrong, check=True, data=data).report.check["state"] == "equal"
    with pytest.raises(tangram.CheckError):
        tangram.optimize(proto, wrong, check=True, data={"x": -data["x"]})


def test_exact_rules_change_no_rounding(model) -> None:
    usual, exact = (set(tangram.optimize(model, exact=e).report.fired) for e in (False, True))
    assert exact < usual


def test_weights_go_where_they_are_wanted(tmp_path) -> None:
    wl = tangram.Workload.from_onnx(wide(2, 2, weights=1 << 16))
    wl.save(tmp_path / "a.onnx", external_data="external")
    wl.save(tmp_path / "b.onnx", external_data="inline")
    assert (tmp_path / "a.onnx").stat().st_size < 1 << 16 < (tmp_path / "b.onnx").stat().st_size
    with pytest.raises(ValueError, match="keep"):
        wl.save(tmp_path / "c.onnx", external_data="somewhere")


def test_costs_and_proofs_are_those_of_a_saturation(root, model, tmp_path) -> None:
    cost = json.loads((root / "crates/saturate/cost/cpu.json").read_text())
    (tmp_path / "cost.json").write_text(json.dumps(cost))
    cnn = root / "examples/models/cnn.onnx"
    for given in (cost, tmp_path / "cost.json"):
        made = tangram.optimize(cnn, strategy="saturate", cost=given, max_nodes=2000, explain=True)
        assert made.report.data["saturation"]["after"] <= made.report.data["saturation"]["before"]
    with pytest.raises(ValueError, match="cost"):
        tangram.optimize(cnn, strategy="saturate", cost={"what": 1})


ERRORS = [name for name in tangram.__all__ if name.endswith("Error")]


@pytest.mark.parametrize("name", ERRORS)
def test_exceptions_have_the_names_under_which_they_are_caught(name: str) -> None:
    kind = getattr(tangram, name)
    assert f"{kind.__module__}.{kind.__qualname__}" == f"tangram.{name}"
    again = pickle.loads(pickle.dumps(kind("why")))
    assert type(again) is kind and str(again) == "why"
    assert issubclass(kind, tangram.TangramError)


def test_every_exception_has_a_public_name() -> None:
    native = {name for name, kind in vars(tangram._native).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert len(native) > 4 and native <= set(tangram.__all__)


def test_progress_is_told_and_may_end_the_work(model) -> None:
    heard: list[tangram.Progress] = []
    tangram.optimize(model, progress=heard.append)
    assert heard and heard[-1].share == 1.0 and heard[-1].rewrites > 0
    assert [p.visited for p in heard] == sorted(p.visited for p in heard)

    def stop(progress: tangram.Progress) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        tangram.optimize(model, progress=stop)


class Screen:
    """What IPython would show."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def HTML(self, text: str) -> str:  # noqa: N802
        return text

    def display(self, text: str, display_id: bool) -> Screen:
        self.shown.append(text)
        return self

    def update(self, text: str) -> None:
        self.shown.append(text)


def test_notebooks_show_a_bar_where_it_lasts(model, monkeypatch) -> None:
    screen = Screen()
    shell = types.SimpleNamespace(kernel=object())
    ipython = types.SimpleNamespace(get_ipython=lambda: shell, display=screen)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    tangram.optimize(model)
    quick = list(screen.shown)
    monkeypatch.setattr("tangram._progress.Bar._PATIENCE", -1.0)
    tangram.optimize(model)
    assert quick == [] and screen.shown and "<progress" in screen.shown[-1]
    screen.shown.clear()
    tangram.optimize(model, progress=False)
    assert screen.shown == []


def test_rules_are_listed_as_the_command_does(tangram_bin) -> None:
    said = subprocess.run([tangram_bin, "rules", "list", "--json"], capture_output=True, text=True, check=True)
    listed = {rule["name"]: rule for rule in json.loads(said.stdout)}
    rules = tangram.rules()
    assert {rule.name for rule in rules} == set(listed)
    for rule in rules:
        assert list(rule.labels) == listed[rule.name]["labels"] and rule.doc == listed[rule.name]["doc"]
        assert rule.on_request == ("on-request" in rule.labels)
    assert gsl.parse(rules[0].to_gsl())[0].name == rules[0].name
    assert rules[0].name in rules._repr_html_()


class Cells(html.parser.HTMLParser):
    """The cells of tables; fails where a tag is left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def test_a_report_is_a_table(model) -> None:
    report = tangram.optimize(model, check=True).report
    cells = Cells(report._repr_html_()).cells
    for rule, fired in report.fired.items():
        assert cells[cells.index(rule) + 1] == str(fired)
    at = cells.index("nodes")
    assert cells[at + 1 : at + 3] == [str(report.nodes_before), str(report.nodes_after)]
    assert any("equal" in cell for cell in cells)
    odd = dict(report.data, rules=[dict(report.data["rules"][0], name="<b>&", fired=1)])
    assert "<b>&" in Cells(tangram.Report(odd)._repr_html_()).cells


def wide(layers: int, columns: int, weights: int = 4) -> onnx.ModelProto:
    """Columns of nodes; each reads those beside it above, some one far above."""
    nodes, values = [], []
    big = numpy_helper.from_array(np.arange(weights, dtype=np.float32), "w")
    above = [f"x{i}" for i in range(columns)]
    inputs = list(above)
    for layer in range(layers):
        names = [f"l{layer}_{i}" for i in range(columns)]
        for i, name in enumerate(names):
            reads = [above[i], above[(i * 7 + layer) % columns]]
            if layer % 5 == 4:
                reads[1] = inputs[i]
            nodes.append(helper.make_node("Add", reads, [name], name=f"node_{name}"))
        above = names
    nodes.append(helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0))
    nodes.append(helper.make_node("Add", [above[0], "s"], ["y"]))
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in inputs]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ["y", *above[1:]]]
    return helper.make_model(helper.make_graph(nodes, "wide", values, outputs, [big]), opset_imports=[helper.make_opsetid("", 17)])


def boxes(picture: str) -> int:
    """How many boxes a picture has; it is well-formed."""
    return len(xml.dom.minidom.parseString(picture).getElementsByTagName("rect"))


def test_a_picture_has_types_at_edges_and_attributes(root) -> None:
    picture = tangram.Workload.from_onnx(root / "examples/models/cnn.onnx").to_svg()
    parsed = xml.dom.minidom.parseString(picture)
    texts: dict[str, list[str]] = {}
    for text in parsed.getElementsByTagName("text"):
        texts.setdefault(text.getAttribute("class"), []).append(text.firstChild.data)
    # Types stand at the edges, attributes in the boxes.
    assert "float32[batch, 3, height, width]" in texts["e"]
    # An operation has ONNX's name, and what it reads of weights stands before its attributes.
    assert "Conv" in {name.strip() for name in texts[""]}
    assert any(detail.startswith("stem.weight float32[16, 3, 3, 3], dilation") for detail in texts["t"])
    assert "axis = -1" in texts["t"]
    assert not any(detail.startswith("float32[") for detail in texts["t"])
    assert "prefers-color-scheme:dark" in picture and "sans-serif" in picture


def test_graphs_of_any_size_are_drawn(tangram_bin, tmp_path) -> None:
    proto = wide(60, 15)
    wl = tangram.Workload.from_onnx(proto)
    picture = wl._repr_svg_()
    assert boxes(picture) == 15 + 60 * 15 + 3 and "those nearest" not in picture
    large = tangram.Workload.from_onnx(wide(600, 15))
    cut = large._repr_svg_()
    assert boxes(cut) == 1000 and "1000 of 9018 operations" in cut and "the inputs" in cut
    near = large.to_svg(around="l300_3", limit=40)
    assert boxes(near) == 40 and "`l300_3`" in near
    assert boxes(large.to_svg(around="node_l300_3", limit=7)) == 7
    assert boxes(large.to_svg(limit=100_000)) == 9018
    with pytest.raises(tangram.ModelError, match="no-such"):
        large.to_svg(around="no-such")
    path = tmp_path / "wide.onnx"
    onnx.save(wide(600, 15), path)
    show = [tangram_bin, "show", path, "--format", "svg", "--around", "l9_1", "--limit", "30"]
    said = subprocess.run(show, capture_output=True, text=True, timeout=120, check=True).stdout
    assert boxes(said) == 30


def test_text_for_people_has_no_weights(tangram_bin, tmp_path) -> None:
    proto = wide(2, 2, weights=1 << 20)
    wl = tangram.Workload.from_onnx(proto)
    assert len(str(wl)) < 4000 and "left out" in str(wl)
    assert len(wl.to_mlir()) > 8 << 20
    path = tmp_path / "wide.onnx"
    onnx.save(proto, path)
    show = [tangram_bin, "show", path, "--format", "mlir"]
    said = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    whole = subprocess.run([*show, "--weights"], capture_output=True, text=True, check=True).stdout
    assert said == str(wl) and whole == wl.to_mlir()


def test_a_program_of_torch_is_a_model(root) -> None:
    """`torch.onnx.export(dynamo=True)` returns an object that holds the model as `model_proto`."""

    class Program:
        model_proto = onnx.load(root / "examples/models/cnn.onnx")

    made = tangram.optimize(Program(), check=True, runs=2)
    assert made.report.nodes_after < made.report.nodes_before and made.report.check["state"] == "equal"


def deep(layers: int) -> onnx.ModelProto:
    """Layers of five nodes, each on top of the one before, and each with an input of its own."""
    nodes, last = [], "x"
    for i in range(layers):
        own = [f"a{i}", f"b{i}", f"c{i}", f"d{i}"]
        chain = zip(["Relu", "Sigmoid", "Tanh", "Exp"], [last, *own], own, strict=False)
        nodes += [helper.make_node(operator, [source], [to]) for operator, source, to in chain]
        nodes += [helper.make_node("Add", [own[-1], last], [f"e{i}"]), helper.make_node("Mul", [f"e{i}", f"p{i}"], [f"y{i}"])]
        last = f"y{i}"
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in ["x", *(f"p{i}" for i in range(layers)), last]]
    graph = helper.make_graph(nodes, "deep", info[:-1], info[-1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_equal_layers_are_drawn_once(tangram_bin, tmp_path) -> None:
    wl = tangram.Workload.from_onnx(deep(12))
    whole = wl.to_svg(fold=False)
    assert boxes(whole) == 1 + 12 + 6 * 12 + 1 and "×" not in whole
    # One layer with its input, `x`, the outputs, and the frame.
    folded = wl.to_svg()
    assert boxes(folded) == 6 + 1 + 1 + 1 + 1 and "12 ×" in folded and "77 boxes are left out" in folded
    assert wl.to_svg(around="c7", limit=200) == wl.to_svg(around="c7", limit=200, fold=False)
    onnx.save(deep(12), tmp_path / "deep.onnx")
    show = [tangram_bin, "show", tmp_path / "deep.onnx", "--format", "svg"]
    for more, picture in (([], folded), (["--unfold"], whole)):
        assert subprocess.run([*show, *more], capture_output=True, text=True, check=True).stdout == picture
