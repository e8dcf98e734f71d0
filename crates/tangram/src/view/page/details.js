// What is known of the chosen node.

function details(model, at) {
  const panel = document.getElementById("details");
  panel.replaceChildren();
  if (at === null) {
    panel.append(...overview());
    return;
  }
  const item = model.items[at];
  panel.append(element("h2", {}, titleOf(item)));
  if (item.name) panel.append(element("p", {}, item.name));
  panel.append(...difference(model, at), ...attributes(item), ...reads(model, item), ...makes(model, item, at));
  panel.append(...rules(item));
  if (item.cost) panel.append(...cost(model, item));
  if (item.time !== undefined) panel.append(...time(model, item));
  if (item.inner) panel.append(element("h3", {}, "in its regions"), element("pre", {}, item.inner.join("\n")));
}

/** What the models are, as long as nothing is chosen. */
function overview() {
  const out = [];
  for (const model of models) {
    const counts = new Map();
    for (const { operator } of model.operations) counts.set(operator, (counts.get(operator) ?? 0) + 1);
    const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => {
      const link = element("a", { role: "button", tabindex: "0" }, name);
      link.onclick = () => searchFor(name);
      return row(link, String(count));
    });
    out.push(element("h2", {}, model.name));
    out.push(element("p", {}, `${model.operations.length} operations, ${model.weights.length} weights`));
    if (model.flops > 0) out.push(element("p", {}, `${short(model.flops)} operations on numbers, ${short(model.bytes)}B moved`));
    out.push(element("h3", {}, "operators"), element("table", {}, ...rows), ...runtimes(model));
  }
  for (const line of data.interface) out.push(element("p", {}, line));
  return out;
}

function difference(model, at) {
  const { mark } = model.items[at];
  if (!mark || models.length < 2) return [];
  const other = models[1 - model.number];
  const words = {
    same: "the same in both", removed: `not in ${other.name}`, added: `not in ${other.name}`, changed: `changed`,
  };
  const out = [element("p", {}, words[mark.kind])];
  if (mark.other !== undefined) out.push(element("p", {}, itemLink(other, mark.other, `in ${other.name}`)));
  if (mark.kind === "changed" && mark.other !== undefined) {
    const [before, after] = model.number === 0 ? [at, mark.other] : [mark.other, at];
    out.push(element("pre", {}, `- ${lineOf(models[0], before)}\n+ ${lineOf(models[1], after)}`));
  }
  return [...out, ...(mark.hidden ?? []).map((line) => element("p", {}, line))];
}

function attributes(item) {
  if (!item.attributes) return [];
  const rows = item.attributes.map(([key, value]) => row(key, element("code", {}, value)));
  return [element("h3", {}, "attributes"), element("table", {}, ...rows)];
}

function reads(model, item) {
  if (!item.reads) return [];
  const rows = item.reads.map((read) => {
    const [name, type] = valueOf(model, read);
    if (read === null) return row("", "absent");
    if (Array.isArray(read)) return row(itemLink(model, read[0], name || "value"), type);
    return row(name || "constant", element("div", {}, type, ...statistics(model.weights[read.weight])));
  });
  return [element("h3", {}, "reads"), element("table", {}, ...rows)];
}

function statistics({ statistics: found }) {
  if (!found) return [];
  const number = (x, digits = 4) => String(Number(x.toPrecision(digits)));
  // What is not finite is a word already.
  const shown = (text) => (Number.isFinite(Number(text)) ? number(Number(text), 7) : text);
  if (found.elements) return [element("p", {}, found.elements.map(shown).join(", "))];
  const odd = found.not_finite > 0 ? `, ${found.not_finite} not finite` : "";
  const zeros = found.zeros > 0 ? `, ${found.zeros} zeros` : "";
  const line = `${number(found.least)} to ${number(found.greatest)}, mean ${number(found.mean)}, deviation ${number(found.deviation)}${zeros}${odd}`;
  const most = Math.max(1, ...found.histogram);
  const bars = found.histogram.map((count) => element("i", { style: `height: ${(100 * count) / most}%` }));
  return [element("p", {}, line), element("div", { class: "bars", role: "img", "aria-label": "histogram of the elements" }, ...bars)];
}

function makes(model, item, at) {
  if (item.makes.length === 0) return [];
  const rows = item.makes.map(([name, type]) => row(name, type));
  const users = model.users[at].slice(0, 50).map((user) => {
    const link = itemLink(model, user, titleOf(model.items[user]));
    return row(link, model.items[user].name ?? "");
  });
  const more = model.users[at].length - users.length;
  const out = [element("h3", {}, "makes"), element("table", {}, ...rows)];
  if (users.length > 0) out.push(element("h3", {}, "read by"), element("table", {}, ...users));
  return more > 0 ? [...out, element("p", {}, `and ${more} more`)] : out;
}

function cost(model, item) {
  const [flops, bytes] = item.cost;
  return [
    element("h3", {}, "cost, estimated"),
    element("table", {},
      row("operations", `${short(flops)}${share(flops, model.flops)}`),
      row("moved", `${short(bytes)}B${share(bytes, model.bytes)}`)),
  ];
}

function share(of, all) {
  return all > 0 ? ` (${((100 * of) / all).toPrecision(2)} %)` : "";
}

function microseconds(time) {
  return `${Number(time.toPrecision(3))} µs`;
}

function time(model, item) {
  const text = `${microseconds(item.time)}${share(item.time, model.time)}`;
  return [element("h3", {}, "measured"), element("table", {}, row("time", text))];
}

/** What ran and is no node of the model. */
function runtimes(model) {
  if (model.others.length === 0) return [];
  const rows = model.others.slice(0, 50).map(([name, time]) => row(name, `${microseconds(time)}${share(time, model.time)}`));
  return [element("h3", {}, "run, and no node of this model"), element("table", {}, ...rows)];
}

/** What rules do at a node, and what keeps them from it. */
function rules(item) {
  if (!item.rules) return [];
  const rows = [
    ...item.rules.changed.map((rule) => row(element("code", {}, rule), "fires")),
    ...(item.rules.refused ?? []).map(([rule, why]) => row(element("code", {}, rule), `is not applied: ${why}`)),
  ];
  return [element("h3", {}, "rules"), element("table", {}, ...rows)];
}

function row(name, ...cells) {
  return element("tr", {}, element("td", {}, name), element("td", {}, ...cells));
}

function itemLink(model, at, text) {
  const link = element("a", { role: "button", tabindex: "0" }, text);
  link.onclick = () => choose(model, at, true);
  link.onkeydown = (event) => event.key === "Enter" && choose(model, at, true);
  return link;
}
