"""Traces: every step with its operations, and the page that steps through them, in a browser."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess

import pytest

# Steps through the whole page by its keys, and writes down what it shows.
WALK = """
<script>
const seen = [];
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const names = (panel, kind) =>
  [...document.querySelectorAll(`#${panel} .node.${kind}`)].map((n) => Number(n.dataset.id)).sort((a, b) => a - b);
const folded = document.querySelectorAll("#steps [data-step]").length;
press("e");
press("Home");
for (let i = 0; i < steps.length; i += 1) {
  seen.push({
    place: at("place").textContent,
    made: names("after", "made"),
    removed: names("before", "removed"),
    boxes: document.querySelectorAll("#before .node, #after .node").length,
    details: at("details").textContent,
  });
  press("ArrowRight");
}
go(steps.length);
const last = [...program.nodes.keys()].sort((a, b) => a - b);
go(0);
const first = [...program.nodes.keys()].sort((a, b) => a - b);
document.body.textContent = "";
document.body.append(element("pre", { id: "seen" }, JSON.stringify({ seen, first, last, folded })));
</script>
"""


@pytest.fixture(scope="module")
def chromium() -> str:
    """A browser without a window."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("skipped: needs chromium")
    return found


def trace(tangram_bin: pathlib.Path, model: pathlib.Path, out: pathlib.Path, *more: str) -> None:
    """Writes the trace of an optimisation."""
    words = [tangram_bin, "opt", model, "-o", out.with_suffix(".onnx"), "--trace", out, "--quiet", *more]
    subprocess.run(words, check=True)


def dom(chromium: str, page: pathlib.Path, place: str = "") -> str:
    """What a page is once its scripts have run."""
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    words += [f"--user-data-dir={page.parent / 'profile'}", f"{page.as_uri()}{place}"]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout


def test_a_trace_is_complete(tangram_bin, root, tmp_path) -> None:
    out = tmp_path / "trace.json"
    trace(tangram_bin, root / "examples/models/inception.onnx", out, "--only", "parallel")
    told = json.loads(out.read_text())
    assert told["version"] == 1 and told["model"] == "inception.onnx"
    assert told["step_count"] == len(told["steps"]) > 0
    there = {node["id"]: node for node in told["before"]["nodes"]}
    for step in told["steps"]:
        for node in step["removed"]:
            del there[node["id"]]
        there |= {node["id"]: node for node in step["made"] + step["modified"]}
        for node in step["made"]:
            for port in node["operands"] + node["results"]:
                assert port["name"] and port["type"], node
    merged = [step for step in told["steps"] if step["rule"].startswith("parallel-")]
    assert merged
    for step in merged:
        made = {node["operation"] for node in step["made"]}
        assert {"nn.conv2d", "nn.split"} <= made
        assert sum(node["operation"] == "nn.conv2d" for node in step["matched"]) >= 2
    assert {rule["name"] for rule in told["rules"]} >= {step["rule"] for step in merged}


def test_a_saturation_has_no_steps(tangram_bin, root, tmp_path) -> None:
    words = [tangram_bin, "opt", root / "examples/models/cnn.onnx", "-o", tmp_path / "out.onnx"]
    words += ["--strategy", "saturate", "--trace", tmp_path / "t.json"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 2 and "--explain" in ran.stderr
    assert not (tmp_path / "t.json").exists()


def test_a_page_needs_nothing_else(tangram_bin, root, tmp_path) -> None:
    out = tmp_path / "trace.html"
    trace(tangram_bin, root / "examples/models/cnn.onnx", out)
    page = out.read_text()
    assert "default-src 'none'" in page
    outside = re.findall(r"https?://[^\s\"']+", page.replace("http://www.w3.org/2000/svg", ""))
    assert outside == []


def test_a_browser_steps_through_the_page(chromium, tangram_bin, root, tmp_path) -> None:
    out = tmp_path / "trace.html"
    trace(tangram_bin, root / "examples/models/cnn.onnx", out)
    trace(tangram_bin, root / "examples/models/cnn.onnx", tmp_path / "trace.json")
    told = json.loads((tmp_path / "trace.json").read_text())
    walk = tmp_path / "walk.html"
    walk.write_text(out.read_text().replace("</body>", WALK + "</body>"))
    shown = dom(chromium, walk)
    found = re.search(r'<pre id="seen">(.*)</pre>', shown, re.DOTALL)
    assert found, shown[-2000:]
    seen = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert len(seen["seen"]) == len(told["steps"])
    # What the engine does is folded until it is asked for.
    by_rules = [step for step in told["steps"] if step["rule"] not in ("erase-dead", "merge-equal")]
    assert 0 < seen["folded"] == len(by_rules) < len(told["steps"])
    there = {node["id"] for node in told["before"]["nodes"]}
    assert seen["first"] == sorted(there)
    for i, (step, page) in enumerate(zip(told["steps"], seen["seen"], strict=True)):
        assert page["place"] == f"step {i + 1} of {len(told['steps'])}: {step['rule']}"
        assert page["made"] == sorted(node["id"] for node in step["made"])
        assert page["removed"] == sorted(node["id"] for node in step["removed"])
        assert page["boxes"] > 0 and step["root"]["operation"] in page["details"]
        there -= {node["id"] for node in step["removed"]}
        there |= {node["id"] for node in step["made"]}
    assert seen["last"] == sorted(there)


def test_an_address_names_a_step(chromium, tangram_bin, root, tmp_path) -> None:
    out = tmp_path / "trace.html"
    trace(tangram_bin, root / "examples/models/cnn.onnx", out)
    shown = dom(chromium, out, "#3")
    assert re.search(r'id="place"[^>]*>step 3 of \d+: ', shown)
    assert 'aria-current="step"' in shown and "<svg" in shown


def test_python_writes_the_same_trace(tangram_bin: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """`optimize(trace=)` tells the steps that the command tells, as JSON and as a page."""
    import tangram

    model = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models" / "transformer.onnx"
    trace(tangram_bin, model, tmp_path / "command.json")
    made = tangram.optimize(model, trace=tmp_path / "python.json")
    command, python = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("command", "python"))
    assert python["steps"] and python["steps"] == command["steps"]
    assert python["before"] == command["before"]
    assert len(python["steps"]) >= sum(rule["fired"] for rule in made.report.data["rules"])
    tangram.optimize(model, trace=str(tmp_path / "python.html"))
    assert (tmp_path / "python.html").read_text().startswith("<!doctype html>")
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("tmp")) == []
    with pytest.raises(ValueError, match="no steps"):
        tangram.optimize(model, strategy="saturate", trace=tmp_path / "no.json")
    assert not (tmp_path / "no.json").exists()
