"""The page to explore a model: what is in it, and what a browser makes of it."""

from __future__ import annotations

import colorsys
import json
import pathlib
import re
import shutil
import subprocess

import numpy as np
import onnx
import pytest

EXAMPLES = ["cnn", "control", "half", "inception", "legacy", "lstm_tagger", "quantised", "text", "transformer"]

# Goes through the page as a reader would, and writes down what it shows.
WALK = """
<script>
const seen = { errors: [] };
addEventListener("error", (event) => seen.errors.push(event.message));
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const pane = panes[0];
seen.operations = models.map((model) => model.operations.length);
seen.boxes = { whole: models[0].drawings.whole.boxes.length, folded: models[0].drawings.folded.boxes.length };
pane.draw();
const [x, y] = pane.drawing.places[pane.boxOf.get(pane.drawing.boxes[1])];
seen.under = pane.itemAt((x - pane.left) * pane.scale, (y - pane.top) * pane.scale) === pane.drawing.boxes[1];
// Each item is found by its line, is chosen, is shown by its drawing, and says what it is.
const all = models[0].items.map((_, item) => item);
seen.lost = all.filter((item) => {
  choose(models[0], item, true);
  pane.draw();
  const heading = document.querySelector("#details h2").textContent;
  return heading !== titleOf(models[0].items[item]) || !pane.boxOf.has(item)
    || !search(models[0], lineOf(models[0], item)).includes(item);
});
fold(true);
searchFor(models[0].operations[0].operator);
seen.found = state.found.length;
press("Enter");
seen.chosen = titleOf(models[0].items[state.item]);
press("]");
seen.behind = state.item;
press("Escape");
seen.none = state.item;
for (const kind of Object.keys(COLOURS).slice(0, models.length > 1 ? 4 : 3)) {
  at("colour").value = kind;
  at("colour").onchange();
  panes.forEach((one) => one.draw());
}
press("t");
seen.lines = panes.map(({ frame }) => frame.querySelector("pre").textContent.split("\\n").length);
seen.marks = models.map((model) => {
  const counts = {};
  for (const { mark } of model.items) if (mark) counts[mark.kind] = (counts[mark.kind] ?? 0) + 1;
  return counts;
});
document.body.textContent = "";
document.body.append(element("pre", { id: "seen" }, JSON.stringify(seen)));
</script>
"""


@pytest.fixture(scope="module")
def chromium() -> str:
    """A browser without a window."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("skipped: needs chromium")
    return found


def page(tangram_bin: pathlib.Path, out: pathlib.Path, *words: object) -> str:
    """Writes the page of one model or two."""
    subprocess.run([tangram_bin, "view", *map(str, words), "-o", out], check=True, capture_output=True)
    return out.read_text()


def data_of(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found, text[:200]
    return json.loads(found.group(1))


def told(tangram_bin: pathlib.Path, *words: object) -> dict:
    done = subprocess.run([tangram_bin, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def walked(chromium: str, text: str, folder: pathlib.Path, script: str = WALK) -> dict:
    """What the reader of a page sees, as a script at its end writes it down."""
    path = folder / "walk.html"
    path.write_text(text.replace("</body>", script + "</body>"))
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800", "--dump-dom"]
    words += [f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    found = re.search(r'<pre id="seen">(.*?)</pre>', said, re.DOTALL)
    assert found, said[-2000:]
    return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_nodes_are_those_of_the_model(name, root, tangram_bin, tmp_path) -> None:
    model = root / f"examples/models/{name}.onnx"
    (of,) = data_of(page(tangram_bin, tmp_path / "m.html", model))["models"]
    nodes = [item for item in of["items"] if item.get("operator") not in (None, "outputs")]
    main = [node for node in onnx.load(model).graph.node if node.op_type != "Constant"]
    assert len(nodes) == len(main)
    whole = of["whole"]
    assert sorted(whole["boxes"]) == list(range(len(of["items"])))
    # What reads stands below what it reads, and no boxes overlap.
    for upper, lower, _ in whole["edges"]:
        assert whole["places"][upper][1] < whole["places"][lower][1]
    rows: dict[int, list] = {}
    for x, y, width in whole["places"]:
        rows.setdefault(y, []).append((x - width / 2, x + width / 2))
    for row in rows.values():
        row.sort()
        assert all(left[1] <= right[0] for left, right in zip(row, row[1:], strict=False))


def test_weights_have_statistics(root, tangram_bin, tmp_path) -> None:
    (of,) = data_of(page(tangram_bin, tmp_path / "m.html", root / "examples/models/cnn.onnx"))["models"]
    numbers = [weight["statistics"] for weight in of["weights"] if "statistics" in weight]
    assert numbers
    for found in numbers:
        assert found["least"] <= found["mean"] <= found["greatest"]
        if found["histogram"]:
            assert len(found["histogram"]) == 24


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_reader_finds_every_node(name, root, chromium, tangram_bin, tmp_path) -> None:
    text = page(tangram_bin, tmp_path / "m.html", root / f"examples/models/{name}.onnx")
    seen = walked(chromium, text, tmp_path)
    assert seen["errors"] == [] and seen["lost"] == [] and seen["under"] and seen["none"] is None
    assert seen["found"] > 0 and seen["behind"] is not None
    assert seen["lines"] == [len(data_of(text)["models"][0]["items"])]


def test_equal_blocks_are_folded(chromium, tangram_bin, tmp_path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[4, 8] x) => (float[4, 8] y) {'
        + "".join(f"a{k} = Sigmoid ({f'c{k - 1}' if k else 'x'}) b{k} = Tanh (a{k}) c{k} = Add (a{k}, b{k})" for k in range(6))
        + "y = Identity (c5) }"
    )
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    seen = walked(chromium, page(tangram_bin, tmp_path / "m.html", tmp_path / "m.onnx"), tmp_path)
    assert seen["errors"] == [] and seen["lost"] == []
    assert seen["boxes"]["folded"] < seen["boxes"]["whole"] == 1 + 18 + 2


def test_differences_are_marked(root, chromium, tangram_bin, tmp_path) -> None:
    before, after = root / "examples/models/inception.onnx", tmp_path / "after.onnx"
    subprocess.run([tangram_bin, "opt", before, "-o", after, "--quiet"], check=True)
    seen = walked(chromium, page(tangram_bin, tmp_path / "m.html", before, after), tmp_path)
    diff = told(tangram_bin, "diff", before, after, "--json")
    assert seen["errors"] == [] and seen["lost"] == []
    first, second = seen["marks"]
    assert first.get("removed", 0) == len(diff["removed"]) > 0 and second.get("added", 0) == len(diff["added"])
    assert first["changed"] == second["changed"] == len(diff["changed"])


# What the page says of each node whose fate or time is known.
SAID = """
<script>
const said = { kinds: [...at("colour").options].map(({ value }) => value), colours: {}, texts: [] };
for (const kind of ["time", "rules"].filter((one) => said.kinds.includes(one))) {
  at("colour").value = kind;
  at("colour").onchange();
  said.colours[kind] = new Set(models[0].items.map((_, item) => look.colour(models[0], item, palette()))).size;
}
models[0].items.forEach((item, number) => {
  choose(models[0], number, true);
  said.texts.push(document.getElementById("details").textContent);
});
choose(null, null);
said.overview = document.getElementById("details").textContent;
document.body.textContent = "";
document.body.append(element("pre", { id: "seen" }, JSON.stringify(said)));
</script>
"""


def test_rules_stand_at_the_nodes_that_they_change(root, chromium, tangram_bin, tmp_path) -> None:
    model = root / "examples/models/transformer.onnx"
    text = page(tangram_bin, tmp_path / "m.html", model, "--rules")
    (of,) = data_of(text)["models"]
    fates = {item["name"]: item["rules"]["changed"] for item in of["items"] if "rules" in item and "name" in item}
    report = told(tangram_bin, "opt", model, "-o", tmp_path / "o.onnx", "--json", "-")
    applied = {rule["name"] for rule in report["rules"] if rule["fired"] > 0}
    assert applied <= {rule for changed in fates.values() for rule in changed}
    kept = {node.name for node in onnx.load(tmp_path / "o.onnx").graph.node}
    gone = [node.name for node in onnx.load(model).graph.node if node.name not in kept and node.op_type != "Constant"]
    assert gone and all(fates[name] for name in gone if name in {item.get("name") for item in of["items"]})
    said = walked(chromium, text, tmp_path, SAID)
    assert "rules" in said["kinds"] and "time" not in said["kinds"] and said["colours"]["rules"] > 1
    for item, shown in zip(of["items"], said["texts"], strict=True):
        assert all(rule in shown for rule in item.get("rules", {"changed": []})["changed"])


def test_times_are_those_that_the_runtime_measured(root, chromium, tangram_bin, tmp_path) -> None:
    ort = pytest.importorskip("onnxruntime")
    model = root / "examples/models/cnn.onnx"
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {one.name: np.ones([d if isinstance(d, int) else 2 for d in one.shape], np.float32) for one in session.get_inputs()}
    for _ in range(3):
        session.run(None, feeds)
    profile = session.end_profiling()
    events = json.loads(pathlib.Path(profile).read_text())
    runs: dict[str, list[float]] = {}
    for event in events:
        if event["name"].endswith("_kernel_time"):
            runs.setdefault(event["name"].removesuffix("_kernel_time"), []).append(event["dur"])
    text = page(tangram_bin, tmp_path / "m.html", model, "--profile", profile)
    (of,) = data_of(text)["models"]
    times = {item["name"]: item["time"] for item in of["items"] if "time" in item}
    shown = times | dict(of.get("others", []))
    assert times and shown == pytest.approx({name: sum(all_) / len(all_) for name, all_ in runs.items()})
    said = walked(chromium, text, tmp_path, SAID)
    assert "time" in said["kinds"] and said["colours"]["time"] > 1
    assert sum("measured" in shown for shown in said["texts"]) == len(times)
    assert all(name in said["overview"] for name, _ in of.get("others", []))
    for words in (["--profile", model], ["--profile", profile, "--profile", profile]):
        done = subprocess.run([tangram_bin, "view", model, "-o", tmp_path / "n.html", *words], capture_output=True, check=False)
        assert done.returncode == 2 and not (tmp_path / "n.html").exists()


def test_a_name_that_nobody_gave_takes_no_files_place(root, tangram_bin, tmp_path) -> None:
    model = root / "examples/models/cnn.onnx"
    done = subprocess.run([tangram_bin, "view", model], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "cnn.html\n" and (tmp_path / "cnn.html").stat().st_size > 10_000
    (tmp_path / "cnn.html").write_text("mine")
    done = subprocess.run([tangram_bin, "view", model], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "-o cnn.html" in done.stderr
    assert (tmp_path / "cnn.html").read_text() == "mine"


def luminance(colour: tuple[float, float, float]) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    bright, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_text_can_be_read_in_light_and_dark(root, tangram_bin, tmp_path) -> None:
    text = page(tangram_bin, tmp_path / "m.html", root / "examples/models/cnn.onnx")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in re.findall(r":root \{(.*?)\}", text, re.DOTALL))
    tints = re.search(r"hsl\(\$\{hash\} (\d+)% (\d+)%\)` : `hsl\(\$\{hash\} (\d+)% (\d+)%\)", text)
    assert tints is not None
    of_dark, of_light = tints.groups()[:2], tints.groups()[2:]
    for colours, (saturation, lightness) in ((light, of_light), (dark, of_dark)):
        rgb = {}
        for name, code in colours.items():
            code = code[1:] if len(code) == 7 else "".join(c * 2 for c in code[1:])
            rgb[name] = tuple(int(code[i : i + 2], 16) / 255 for i in (0, 2, 4))
        hues = [colorsys.hls_to_rgb(hue / 360, int(lightness) / 100, int(saturation) / 100) for hue in range(360)]
        grounds = [rgb[name] for name in ("back", "panel", "box", "input", "removed", "added", "changed", "low")] + hues
        for ink in ("ink", "soft"):
            assert min(contrast(rgb[ink], ground) for ground in grounds) >= 4.5, ink
