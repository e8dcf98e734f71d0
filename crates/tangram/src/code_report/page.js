const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const NAMESPACE = "http://www.w3.org/2000/svg";
const WIDTH = 1000;

/** An element with attributes and children; texts are texts. */
function make(name, attributes, ...children) {
  const svg = ["rect", "text", "title", "line"].includes(name);
  const made = svg ? document.createElementNS(NAMESPACE, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const bytes = (n) => n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
const ms = (seconds) => (seconds * 1e3).toFixed(seconds < 1e-4 ? 4 : 3);
const percent = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "";

const groups = data.groups.map((group, at) => {
  const counts = new Map();
  for (const [name] of group.operations) counts.set(name, (counts.get(name) || 0) + 1);
  const what = [...counts].map(([name, count]) => name.replace(/^nn\./, "") + (count > 1 ? ` x${count}` : "")).join(", ");
  const words = [group.name, ...group.operations.flat(2)].join(" ").toLowerCase();
  return { ...group, at, what, words };
});
const measured = groups.reduce((sum, group) => sum + group.seconds, 0);
const estimated = groups.reduce((sum, group) => sum + group.cycles, 0);
let chosen = -1;
let order = { by: "at", up: true };

function summary() {
  find("model").textContent = data.model;
  const compiled = groups.filter((group) => group.compiled).length;
  const parts = [
    `${ms(data.seconds)} ms on ${data.machine}`,
    `${groups.length} groups, ${compiled} of them compiled`,
    `arena ${bytes(data.arena)}`,
    `constants ${bytes(data.buffers.filter((b) => ["constant", "packed"].includes(b.storage)).reduce((sum, b) => sum + b.bytes, 0))}`,
  ];
  if (data.sizes.length) parts.push(data.sizes.map(([name, size]) => `${name} = ${size}`).join(", "));
  find("summary").textContent = parts.join("; ");
}

/** Where a group begins and ends in both pictures: by time, each at least a hair wide. */
function columns() {
  const least = measured / 400 || 1;
  const wide = groups.map((group) => Math.max(group.seconds, least));
  const whole = wide.reduce((sum, w) => sum + w, 0) || 1;
  let at = 0;
  return wide.map((w) => {
    const start = at;
    at += w * WIDTH / whole;
    return [start, at];
  });
}

function drawTime(places) {
  const svg = find("time");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} 44`);
  groups.forEach((group, i) => {
    const [start, end] = places[i];
    const kind = group.compiled ? "compiled" : "reference";
    const bar = make("rect", { x: start, y: 0, width: end - start, height: 30, class: kind, "data-group": i },
      make("title", {}, `${i}: ${group.name}\n${group.what}\n${ms(group.seconds)} ms, ${percent(group.seconds, measured)}`));
    bar.addEventListener("click", () => choose(i));
    svg.append(bar);
    if (end - start > 60) svg.append(make("text", { x: start + 3, y: 42 }, group.what.slice(0, Math.floor((end - start) / 6))));
  });
}

function drawArena(places) {
  const svg = find("arena");
  const height = data.arena ? 180 : 16;
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  if (!data.arena) svg.append(make("text", { x: 4, y: 12 }, "nothing lies in the arena"));
  data.buffers.forEach((buffer, i) => {
    if (buffer.offset === null || !buffer.life || !groups.length) return;
    const [first, last] = buffer.life;
    const start = places[Math.min(first, groups.length - 1)][0];
    const end = last >= groups.length ? WIDTH : places[last][1];
    const at = buffer.offset * height / data.arena;
    const box = make("rect", {
      x: start, y: height - at - buffer.bytes * height / data.arena, width: Math.max(end - start, 1),
      height: buffer.bytes * height / data.arena, class: "compiled", "data-buffer": i,
    }, make("title", {}, `buffer ${i}: ${buffer.element}, ${bytes(buffer.bytes)} at ${buffer.offset}\ngroups ${first} to ${Math.min(last, groups.length - 1)}`));
    box.addEventListener("click", () => choose(first));
    svg.append(box);
  });
}

function row(group) {
  const cell = (text, number) => make("td", number ? { class: "number" } : {}, text);
  const made = make("tr", { "data-group": group.at },
    cell(String(group.at)), cell(group.name), cell(group.what),
    cell(ms(group.seconds), true), cell(percent(group.seconds, measured), true),
    cell(group.compiled ? percent(group.cycles, estimated) : "", true), cell(String(group.parts), true));
  made.addEventListener("click", () => choose(group.at));
  return made;
}

function table() {
  const wanted = find("filter").value.toLowerCase();
  const sign = order.up ? 1 : -1;
  const compare = (a, b) => typeof a[order.by] === "string" ? a[order.by].localeCompare(b[order.by]) : a[order.by] - b[order.by];
  const shown = groups.filter((group) => group.words.includes(wanted)).sort((a, b) => sign * compare(a, b) || a.at - b.at);
  find("groups").replaceChildren(...shown.map(row));
  mark();
}

function mark() {
  for (const old of document.querySelectorAll(".chosen:not(.key), [aria-current]")) {
    old.classList.remove("chosen");
    old.removeAttribute("aria-current");
  }
  if (chosen < 0) return;
  for (const found of document.querySelectorAll(`[data-group="${chosen}"]`)) {
    if (found.tagName === "TR") found.setAttribute("aria-current", "true");
    else found.classList.add("chosen");
  }
  for (const [buffer] of groups[chosen].buffers) {
    for (const found of document.querySelectorAll(`[data-buffer="${buffer}"]`)) found.classList.add("chosen");
  }
}

function choose(at) {
  chosen = Math.max(0, Math.min(groups.length - 1, at));
  mark();
  const group = groups[chosen];
  const operations = make("table", {}, ...group.operations.map(([name, results]) =>
    make("tr", {}, make("td", {}, name), make("td", {}, results.join(", ")))));
  const memory = make("table", {}, ...group.buffers.map(([number, written]) => {
    const buffer = data.buffers[number];
    const place = buffer.offset === null ? buffer.storage : `${buffer.storage} at ${buffer.offset}`;
    return make("tr", {}, make("td", {}, written ? "writes" : "reads"), make("td", {}, `buffer ${number}`),
      make("td", {}, place), make("td", {}, buffer.element), make("td", { class: "number" }, bytes(buffer.bytes)));
  }));
  const others = groups.filter((other) => other.name === group.name && other.compiled && other.at !== chosen).map((other) => other.at);
  const same = others.length ? [make("p", { class: "soft" }, `The same code runs as ${others.join(", ")}.`)] : [];
  const code = data.code[group.name] ? [make("h2", {}, "Loops"), ...same, make("pre", {}, data.code[group.name])]
    : [make("p", { class: "soft" }, `Not compiled: ${group.reason || "it is a constant"}.`)];
  find("details").replaceChildren(
    make("h2", {}, `Group ${chosen}: ${group.name}, ${ms(group.seconds)} ms`), operations,
    make("h2", {}, "Memory"), memory, ...code);
}

find("filter").addEventListener("input", table);
for (const head of document.querySelectorAll("th")) {
  head.addEventListener("click", () => {
    const by = head.dataset.by;
    order = { by, up: order.by === by ? !order.up : ["at", "name", "what"].includes(by) };
    table();
  });
}
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT") {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "ArrowRight") choose(chosen + 1);
  else if (event.key === "ArrowLeft") choose(chosen - 1);
  else if (event.key === "/") {
    event.preventDefault();
    find("filter").focus();
  }
});
const places = columns();
summary();
drawTime(places);
drawArena(places);
table();
