// A part of the program as a picture.

const SVG = "http://www.w3.org/2000/svg";
const LEAST_SCALE = 0.6;

function element(name, attributes, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS(SVG, name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

function label(node) {
  return node.operation === "func.return" ? "outputs" : node.operation.replace(/^nn\./, "");
}

/** Draws the nodes `shown` of the program; `classes` says how each stands to the step. */
function draw(canvas, { shown, rest }, classes, chosen) {
  canvas.replaceChildren();
  if (shown.length === 0) {
    canvas.append(element("div", { class: "empty" }, "nothing of this step is in the graph"));
    return;
  }
  const here = new Set(shown);
  const boxes = [...shown];
  const edges = new Map();
  for (const id of shown) {
    for (const { value } of program.nodes.get(id).operands) {
      const maker = program.maker.get(value);
      if (here.has(maker) && maker !== id) edges.set(`${maker} ${id}`, [maker, id]);
      else if (program.inputs.has(value)) {
        const key = `in${value}`;
        if (!boxes.includes(key)) boxes.push(key);
        edges.set(`${key} ${id}`, [key, id]);
      }
    }
  }
  const made = layout(boxes, [...edges.values()]);
  const [width, height] = [made.width + 4, made.height + 4];
  // What is a little too wide is made smaller; what is far too wide is scrolled.
  const scale = Math.min(1, Math.max(LEAST_SCALE, (canvas.clientWidth - 32) / width));
  const svg = element("svg:svg", {
    width: width * scale, height: height * scale, viewBox: `-2 -2 ${width} ${height}`, role: "img",
  });
  made.chains.forEach((chain) => svg.append(...edge(chain)));
  for (const [key, at] of made.centres) {
    svg.append(typeof key === "string" ? input(key, at) : box(key, at, classes, rest, chosen));
  }
  canvas.append(svg);
  const focus = svg.querySelector(".removed, .made, .matched, .modified");
  focus?.scrollIntoView({ block: "center", inline: "center" });
}

function edge(chain) {
  const half = SIZE.height / 2;
  const first = chain[0];
  const last = chain[chain.length - 1];
  let path = `M${first.x},${first.y + half}`;
  let from = { x: first.x, y: first.y + half };
  for (const stop of chain.slice(1)) {
    const to = { x: stop.x, y: stop === last ? stop.y - half - 5 : stop.y };
    const middle = (from.y + to.y) / 2;
    path += `C${from.x},${middle} ${to.x},${middle} ${to.x},${to.y}`;
    from = to;
  }
  const tip = `M${last.x},${last.y - half}l-4,-7h8z`;
  return [
    element("svg:path", { class: "edge", d: path }),
    element("svg:path", { class: "arrow", d: tip }),
  ];
}

function frame(at, name, lines) {
  const { width, height } = SIZE;
  const made = element("svg:g", { class: name });
  const corner = { x: at.x - width / 2, y: at.y - height / 2 };
  made.append(element("svg:rect", { ...corner, width, height, rx: 6 }));
  lines.forEach(([text, kind], i) => {
    const y = at.y - 11 + i * 14;
    const line = element("svg:text", { x: at.x, y: y + 4, class: kind }, cut(text, 27));
    made.append(line);
  });
  return made;
}

function input(key, at) {
  const port = program.inputs.get(Number(key.slice(2)));
  return frame(at, "node input", [["input", ""], [port.name, "small"], [port.type, "small"]]);
}

function box(id, at, classes, rest, chosen) {
  const node = program.nodes.get(id);
  const port = node.results[0];
  const more = rest.has(id) ? `  +${rest.get(id)}` : "";
  const name = port === undefined ? "" : node.results.map((p) => p.name).join(", ");
  const lines = [[label(node) + more, ""], [name, "small"], [port?.type ?? "", "small"]];
  const made = frame(at, `node ${classes.get(id) ?? ""}`, lines);
  if (id === chosen) made.classList.add("chosen");
  made.dataset.id = id;
  const title = element("svg:title", {}, `${node.operation} ${name}`);
  made.prepend(title);
  return made;
}
