// What the reader sees and does.

const at = (id) => document.getElementById(id);
const state = { model: null, item: null, hits: models.map(() => new Set()), found: [], next: 0, text: false };
// The most results that are listed; the others are marked in the graph.
const LISTED = 500;
const COLOURS = {
  operator: "operators",
  flops: "operations on numbers",
  bytes: "bytes moved",
  difference: "differences",
  time: "measured time",
  rules: "rules",
};
// What makes a node bright or dark.
const MEASURES = {
  flops: (item) => item.cost?.[0] ?? 0,
  bytes: (item) => item.cost?.[1] ?? 0,
  time: (item) => item.time ?? 0,
};

const look = {
  chosen: (model) => (state.model === model ? state.item : partner(model)),
  hits: (model) => state.hits[model.number],
  colour(model, number, colours) {
    const item = model.items[number];
    const by = at("colour").value;
    if (by === "difference" && item.mark && item.mark.kind !== "same") return colours[item.mark.kind];
    if (isInput(item)) return colours.input;
    if (by === "operator" && item.operator !== "outputs") return tint(item.operator);
    if (by === "rules" && item.rules) return colours[item.rules.changed.length > 0 ? "changed" : "removed"];
    const most = by in MEASURES ? greatest(model, by) : 0;
    if (most === 0) return colours.box;
    const share = Math.sqrt(MEASURES[by](item) / most);
    return `color-mix(in srgb, ${colours.high} ${Math.round(100 * share)}%, ${colours.low})`;
  },
};

/** What stands in the other model for the chosen item. */
function partner(model) {
  const other = state.model?.items[state.item]?.mark?.other;
  return state.model !== null && state.model !== model ? other ?? null : null;
}

function greatest(model, by) {
  model.greatest ??= {};
  model.greatest[by] ??= model.items.reduce((most, item) => Math.max(most, MEASURES[by](item)), 0);
  return model.greatest[by];
}

/** The ways to colour that these models have data for. */
function colourings() {
  const any = (has) => models.some((model) => model.items.some(has));
  const there = { difference: models.length > 1, time: any((item) => item.time !== undefined), rules: any((item) => item.rules) };
  return Object.entries(COLOURS).filter(([kind]) => there[kind] ?? true);
}

const dark = matchMedia("(prefers-color-scheme: dark)");

/** A colour for an operator, the same in every model. */
function tint(operator) {
  let hash = 7;
  for (const letter of operator) hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return dark.matches ? `hsl(${hash} 28% 22%)` : `hsl(${hash} 55% 91%)`;
}

const panes = models.map((model) => {
  const canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": `graph of ${model.name}` });
  const frame = element("div", { class: "pane" }, element("h2", {}, models.length > 1 ? model.name : ""), canvas);
  at("panes").append(frame);
  const pane = new Pane(canvas, model, look);
  pane.frame = frame;
  listen(pane);
  return pane;
});

function listen(pane) {
  const { canvas } = pane;
  const held = new Map();
  let moved = 0;
  const place = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, place(event));
    moved = 0;
  };
  canvas.onpointermove = (event) => {
    if (!held.has(event.pointerId)) return;
    const before = [...held.values()];
    const [x, y] = place(event);
    const [fromX, fromY] = held.get(event.pointerId);
    held.set(event.pointerId, [x, y]);
    moved += Math.abs(x - fromX) + Math.abs(y - fromY);
    if (held.size === 1) pane.move(x - fromX, y - fromY);
    else pinch(pane, before, [...held.values()]);
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => {
    if (held.delete(event.pointerId) && event.type === "pointerup" && moved < 5) choose(pane.model, pane.itemAt(...place(event)));
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    pane.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), ...place(event));
  }, { passive: false });
}

/** Two fingers: the graph follows their middle, and grows with their distance. */
function pinch(pane, [a, b], [c, d]) {
  const apart = ([x, y], [z, w]) => Math.max(1, Math.hypot(x - z, y - w));
  const [x, y] = [(c[0] + d[0]) / 2, (c[1] + d[1]) / 2];
  pane.move(x - (a[0] + b[0]) / 2, y - (a[1] + b[1]) / 2);
  pane.zoom(apart(c, d) / apart(a, b), x, y);
}

/** Chooses an item, or nothing; what is folded away is shown in the whole graph. */
function choose(model, item, move = false) {
  [state.model, state.item] = item === null ? [null, null] : [model, item];
  if (item !== null && !panes[model.number].boxOf.has(item)) fold(false);
  for (const pane of panes) {
    const shown = look.chosen(pane.model);
    if (shown !== null && shown !== undefined && (move || pane.model !== model)) pane.centre(shown);
    pane.redraw();
  }
  at("results").querySelector("[aria-current]")?.removeAttribute("aria-current");
  const line = at("results").querySelector(`[data-item="${model?.number} ${item}"]`);
  line?.setAttribute("aria-current", "true");
  line?.scrollIntoView({ block: "nearest" });
  details(model, item);
}

function searchFor(text) {
  at("search").value = text;
  find();
}

function find() {
  const text = at("search").value;
  const found = models.map((model) => search(model, text));
  state.hits = found.map((list) => new Set(list));
  state.found = found.flatMap((list, number) => list.map((item) => [models[number], item]));
  state.next = 0;
  const lines = state.found.slice(0, LISTED).map(([model, item]) => {
    const { operator, name, makes } = model.items[item];
    const where = models.length > 1 ? `${model.name}: ` : "";
    const text = element("button", { "data-item": `${model.number} ${item}` },
      `${where}${operator || "input"} `, element("small", {}, name || makes[0]?.[0] || ""));
    text.onclick = () => choose(model, item, true);
    return element("li", {}, text);
  });
  at("results").replaceChildren(...lines);
  const more = state.found.length > LISTED ? `, ${LISTED} listed` : "";
  at("found").textContent = text.trim() === "" ? "" : `${state.found.length} found${more}`;
  panes.forEach((pane) => pane.redraw());
}

/** Goes to the next of what was found. */
function next() {
  if (state.found.length === 0) return;
  choose(...state.found[state.next % state.found.length], true);
  state.next += 1;
}

function fold(folded) {
  at("fold").checked = folded;
  for (const pane of panes) {
    pane.use(folded ? "folded" : "whole");
    pane.fit();
  }
}

/** Shows the graphs as text, or as pictures. */
function asText(on) {
  state.text = on;
  at("as-text").setAttribute("aria-pressed", String(on));
  for (const { frame, canvas, model } of panes) {
    frame.querySelector("pre")?.remove();
    canvas.hidden = on;
    canvas.style.display = on ? "none" : "";
    if (on) frame.append(element("pre", { tabindex: "0" }, model.items.map((_, item) => lineOf(model, item)).join("\n")));
  }
}

function legend() {
  const colours = palette();
  const key = (colour, text) => [element("span", { class: "key", style: `background: ${colour}` }), text];
  const by = at("colour").value;
  const keys = {
    operator: ["each operator has its colour"],
    flops: [...key(colours.low, "none"), ...key(colours.high, "most of the operations")],
    bytes: [...key(colours.low, "none"), ...key(colours.high, "most of the bytes")],
    difference: ["removed", "added", "changed"].flatMap((kind) => key(colours[kind], kind)),
    time: [...key(colours.low, "not measured"), ...key(colours.high, "most of the time")],
    rules: [...key(colours.changed, "a rule fires"), ...key(colours.removed, "a rule matches and is not applied")],
  };
  at("legend").replaceChildren(...keys[by]);
}

function onKey(event) {
  const typing = event.target.matches?.("input, select");
  if (typing && event.key === "Enter") next();
  if (typing && event.key === "Escape") event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const pane = panes[state.model?.number ?? 0];
  const [width, height] = pane.size();
  const near = (list) => list.length > 0 && choose(state.model, list[0], true);
  const does = {
    "/": () => at("search").focus(),
    "0": () => panes.forEach((one) => one.fit()),
    "+": () => pane.zoom(1.3, width / 2, height / 2),
    "=": () => pane.zoom(1.3, width / 2, height / 2),
    "-": () => pane.zoom(1 / 1.3, width / 2, height / 2),
    "ArrowLeft": () => pane.move(80, 0),
    "ArrowRight": () => pane.move(-80, 0),
    "ArrowUp": () => pane.move(0, 80),
    "ArrowDown": () => pane.move(0, -80),
    "Enter": next,
    "Escape": () => choose(null, null),
    "[": () => state.item !== null && near(makers(state.model.items[state.item])),
    "]": () => state.item !== null && near(state.model.users[state.item]),
    "t": () => asText(!state.text),
  }[event.key];
  const onButton = event.key === "Enter" && event.target.matches?.("button, a");
  // The text is scrolled by the keys that move the graph.
  if (does === undefined || onButton || (state.text && event.key.startsWith("Arrow"))) return;
  event.preventDefault();
  does();
}

function start() {
  at("title").textContent = models.map((model) => model.name).join(" → ");
  const counts = models.map((model) => model.operations.length);
  at("summary").textContent = `${counts.join(" → ")} operations`;
  at("colour").append(...colourings().map(([value, text]) => element("option", { value }, text)));
  if (models.length > 1) at("colour").value = "difference";
  at("fold-label").hidden = !models.some((model) => model.folds);
  at("search").oninput = find;
  at("colour").onchange = () => {
    legend();
    panes.forEach((pane) => pane.redraw());
  };
  at("fold").onchange = () => fold(at("fold").checked);
  at("fit").onclick = () => panes.forEach((pane) => pane.fit());
  at("as-text").onclick = () => asText(!state.text);
  document.addEventListener("keydown", onKey);
  addEventListener("resize", () => panes.forEach((pane) => pane.redraw()));
  dark.addEventListener("change", () => {
    legend();
    panes.forEach((pane) => pane.redraw());
  });
  legend();
  details(null, null);
  panes.forEach((pane) => pane.fit());
}

start();
