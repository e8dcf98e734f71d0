// What the reader sees and does.

const at = (id) => document.getElementById(id);
const view = { step: 0, radius: 1, constants: false, engine: false, filter: "", chosen: null, listed: [] };
// What the engine does after rules: most of the steps, and the least worth seeing.
const ENGINE = new Set(["erase-dead", "merge-equal"]);
const searched = steps.map((step) =>
  [step.rule, ...[...step.matched, ...step.made].flatMap((n) => n.results.map((p) => p.name))]
    .join(" ").toLowerCase());

function show() {
  const step = steps[view.step];
  if (step === undefined) {
    go(steps.length);
    at("place").textContent = steps.length === 0 ? "nothing was done" : "the result";
  } else {
    at("place").textContent = `step ${view.step + 1} of ${steps.length}: ${step.rule}`;
    const ids = (nodes) => nodes.map((node) => node.id);
    const draws = (canvas, seeds, kinds) => {
      const classes = new Map();
      for (const [kind, nodes] of kinds) {
        for (const id of ids(nodes)) classes.set(id, `${classes.get(id) ?? ""} ${kind}`);
      }
      const part = neighbourhood(seeds, view.radius, view.constants);
      draw(at(canvas), part, classes, view.chosen);
    };
    const { matched, removed, made, modified } = step;
    go(view.step + 1);
    draws("after", ids([...made, ...modified, ...matched]), [
      ["made", made], ["modified", modified], ["matched", matched],
    ]);
    go(view.step);
    draws("before", ids([...matched, ...removed, ...modified]), [
      ["removed", removed], ["modified", modified], ["matched", matched],
    ]);
  }
  const total = trace.step_count > steps.length ? `, ${trace.step_count} steps in all` : "";
  at("count").textContent = `${program.nodes.size} operations${total}`;
  at("slider").value = view.step;
  history.replaceState(null, "", `#${view.step + 1}`);
  mark();
  details();
}

function mark() {
  document.querySelector("#steps [aria-current]")?.removeAttribute("aria-current");
  const line = document.querySelector(`#steps [data-step="${view.step}"]`);
  line?.setAttribute("aria-current", "step");
  line?.scrollIntoView({ block: "nearest" });
}

function details() {
  const panel = at("details");
  panel.replaceChildren();
  const step = steps[view.step];
  if (step === undefined) return;
  const known = [...step.made, ...step.removed, ...step.modified, ...step.matched];
  const node = program.nodes.get(view.chosen) ?? known.find((n) => n.id === view.chosen) ?? step.root;
  panel.append(table(node), ruleText(step.rule));
}

function table(node) {
  const port = (p) => `${p.name}: ${p.type}`;
  const rows = [
    ["operation", node.operation],
    ...node.operands.map((p, i) => [`operand ${i}`, port(p)]),
    ...node.results.map((p, i) => [`result ${i}`, port(p)]),
    ...Object.entries(node.attributes ?? {}),
    ["from", node.source.join(", ")],
  ];
  const line = ([key, value]) => element("tr", {}, element("td", {}, key), element("td", {}, value));
  return element("table", {}, ...rows.map(line));
}

function ruleText(name) {
  const rule = trace.rules.find((known) => known.name === name);
  const text = rule === undefined ? `${name}\n\nThis is done by the engine: it has no rule text.` : rule.text;
  return element("pre", {}, text);
}

function list() {
  const wanted = view.filter.toLowerCase().split(/\s+/).filter(Boolean);
  view.listed = [];
  const lines = [];
  let folded = 0;
  steps.forEach((step, i) => {
    if (!view.engine && wanted.length === 0 && ENGINE.has(step.rule)) {
      folded += 1;
      return;
    }
    if (!wanted.every((word) => searched[i].includes(word))) return;
    view.listed.push(i);
    const name = step.root.results.map((p) => p.name).join(", ");
    lines.push(element("li", { "data-step": i, title: `${step.rule} at ${name}` },
      element("small", {}, `${i + 1} `), element("b", {}, step.rule), element("small", {}, ` ${name}`)));
  });
  if (folded > 0) {
    const told = `${folded} steps of the engine are folded: e shows them`;
    lines.push(element("li", { class: "folded" }, element("small", {}, told)));
  }
  at("steps").replaceChildren(...lines);
  for (const button of at("rules").children) {
    button.setAttribute("aria-pressed", String(button.dataset.rule === view.filter));
  }
  mark();
}

function rules() {
  const counts = new Map();
  for (const { rule } of steps) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  for (const [rule, count] of sorted) {
    at("rules").append(element("button", { "data-rule": rule }, `${rule} ${count}`));
  }
}

function to(step) {
  view.step = Math.max(0, Math.min(steps.length - 1, step));
  view.chosen = null;
  show();
}

/** Goes to the step that the address names; the list shows it, also if the engine made it. */
function address() {
  const step = Number(location.hash.slice(1)) - 1;
  if (!view.engine && ENGINE.has(steps[step]?.rule)) at("engine").click();
  to(Number.isInteger(step) ? step : 0);
}

/** The next step in the list, or the next of the same rule; forwards or backwards. */
function jump(direction, same) {
  const rule = steps[view.step]?.rule;
  const fits = (i) => (i - view.step) * direction > 0 && (!same || steps[i].rule === rule);
  const found = view.listed.filter(fits);
  if (found.length > 0) to(direction > 0 ? found[0] : found[found.length - 1]);
}

function radius(size) {
  view.radius = Math.max(0, Math.min(9, size));
  at("radius").value = view.radius;
  show();
}

const KEYS = {
  ArrowRight: () => jump(1, false), j: () => jump(1, false),
  ArrowLeft: () => jump(-1, false), k: () => jump(-1, false),
  n: () => jump(1, true), p: () => jump(-1, true),
  Home: () => to(view.listed[0] ?? 0), End: () => to(view.listed.at(-1) ?? steps.length - 1),
  e: () => at("engine").click(),
  "+": () => radius(view.radius + 1), "=": () => radius(view.radius + 1),
  "-": () => radius(view.radius - 1),
  c: () => at("constants").click(), "/": () => at("filter").focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches?.("#filter, #radius")) {
    if (event.key === "Escape" || event.key === "Enter") event.target.blur();
    return;
  }
  const act = KEYS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
});

function filterBy(text) {
  view.filter = text;
  at("filter").value = text;
  list();
  if (view.listed.length > 0 && !view.listed.includes(view.step)) to(view.listed[0]);
}

at("filter").addEventListener("input", (event) => filterBy(event.target.value));
at("rules").addEventListener("click", ({ target }) => {
  if (target.dataset.rule) filterBy(view.filter === target.dataset.rule ? "" : target.dataset.rule);
});
at("steps").addEventListener("click", ({ target }) => {
  const line = target.closest("[data-step]");
  if (line) to(Number(line.dataset.step));
});
for (const canvas of [at("before"), at("after")]) {
  canvas.addEventListener("click", ({ target }) => {
    const box = target.closest("[data-id]");
    if (!box) return;
    view.chosen = Number(box.dataset.id);
    document.querySelectorAll(".chosen").forEach((old) => old.classList.remove("chosen"));
    document.querySelectorAll(`.node[data-id="${view.chosen}"]`).forEach((n) => n.classList.add("chosen"));
    details();
  });
}
at("back").addEventListener("click", () => jump(-1, false));
at("next").addEventListener("click", () => jump(1, false));
at("slider").addEventListener("input", ({ target }) => to(Number(target.value)));
at("radius").addEventListener("change", ({ target }) => radius(Number(target.value)));
at("constants").addEventListener("change", ({ target }) => {
  view.constants = target.checked;
  show();
});
at("engine").addEventListener("change", ({ target }) => {
  view.engine = target.checked;
  list();
});
window.addEventListener("hashchange", address);

at("model").textContent = trace.model;
at("slider").max = Math.max(0, steps.length - 1);
rules();
list();
if (location.hash === "") to(view.listed[0] ?? 0);
else address();
