// A graph on a canvas: the part of it that is seen, with as much as can be read at that size.

// Below these scales, text cannot be read, and ways of edges are not told apart.
const READABLE = 0.45;
const ROUTED = 0.12;
// Edges that are drawn at most when all of a large graph is seen: more take longer than a movement.
const MOST_EDGES = 60000;
const MARGIN = 40;

/** Draws `model` on `canvas`. `look` says what is chosen and how boxes are coloured. */
function Pane(canvas, model, look) {
  Object.assign(this, { canvas, model, look, scale: 1, left: 0, top: 0, waiting: false });
  this.use("folded");
}

/** Takes one of the drawings of the model. */
Pane.prototype.use = function (kind) {
  const drawing = this.model.drawings[kind];
  this.kind = kind;
  this.drawing = drawing;
  this.boxOf = new Map(drawing.boxes.map((item, box) => [item, box]));
  this.rows = byRow(drawing.places, ([, y]) => [y, y], drawing.height);
  this.edgeRows = byRow(drawing.edges, ([from, to]) => [drawing.places[from][1], drawing.places[to][1]], 16 * drawing.height);
};

/** Numbers of things by the horizontal stripes that they reach into. */
function byRow(things, extent, height) {
  const rows = new Map();
  things.forEach((thing, number) => {
    const [from, to] = extent(thing).map((y) => Math.floor(y / height));
    for (let row = from; row <= to; row += 1) {
      if (rows.has(row)) rows.get(row).push(number);
      else rows.set(row, [number]);
    }
  });
  return { rows, height };
}

/** What lies in the stripes from `upper` to `lower`, once each. */
function between({ rows, height }, upper, lower) {
  const found = new Set();
  const [first, last] = [Math.floor(upper / height) - 1, Math.floor(lower / height) + 1];
  if (last - first > rows.size) {
    for (const [row, list] of rows) if (row >= first && row <= last) list.forEach((one) => found.add(one));
  } else {
    for (let row = first; row <= last; row += 1) rows.get(row)?.forEach((one) => found.add(one));
  }
  return found;
}

Pane.prototype.size = function () {
  return [this.canvas.clientWidth, this.canvas.clientHeight];
};

/** Shows all of the graph, or its upper end where all would be too small to see. */
Pane.prototype.fit = function () {
  const [width, height] = this.size();
  const [wide, high] = this.drawing.extent;
  const scale = Math.min((width - MARGIN) / Math.max(1, wide), (height - 2 * MARGIN) / Math.max(1, high), 1);
  this.scale = Math.max(scale, 1e-4);
  this.left = wide / 2 - width / 2 / this.scale;
  this.top = high / 2 - height / 2 / this.scale;
  this.redraw();
};

/** Moves a box into the middle, at a size at which it can be read. */
Pane.prototype.centre = function (item) {
  const box = this.boxOf.get(item);
  if (box === undefined) return;
  const [width, height] = this.size();
  const [x, y] = this.drawing.places[box];
  this.scale = Math.max(this.scale, 0.8);
  this.left = x - width / 2 / this.scale;
  this.top = y - height / 2 / this.scale;
  this.redraw();
};

/** Changes the scale around a point of the canvas. */
Pane.prototype.zoom = function (factor, x, y) {
  const scale = Math.min(4, Math.max(1e-4, this.scale * factor));
  this.left += x / this.scale - x / scale;
  this.top += y / this.scale - y / scale;
  this.scale = scale;
  this.redraw();
};

Pane.prototype.move = function (x, y) {
  this.left -= x / this.scale;
  this.top -= y / this.scale;
  this.redraw();
};

/** The item under a point of the canvas. */
Pane.prototype.itemAt = function (x, y) {
  const [px, py] = [this.left + x / this.scale, this.top + y / this.scale];
  const { places, boxes, height } = this.drawing;
  for (const box of between(this.rows, py - height, py + height)) {
    const [cx, cy, width] = places[box];
    if (Math.abs(px - cx) <= width / 2 && Math.abs(py - cy) <= height / 2) return boxes[box];
  }
  return null;
};

/** Draws at the next occasion, once for all changes until then. */
Pane.prototype.redraw = function () {
  if (this.waiting) return;
  this.waiting = true;
  requestAnimationFrame(() => {
    this.waiting = false;
    this.draw();
  });
};

Pane.prototype.draw = function () {
  const [width, height] = this.size();
  const dots = window.devicePixelRatio || 1;
  [this.canvas.width, this.canvas.height] = [Math.round(width * dots), Math.round(height * dots)];
  const cx = this.canvas.getContext("2d");
  cx.setTransform(dots * this.scale, 0, 0, dots * this.scale, -this.left * this.scale * dots, -this.top * this.scale * dots);
  const seen = { left: this.left, right: this.left + width / this.scale, top: this.top, bottom: this.top + height / this.scale };
  const colours = palette();
  this.frames(cx, colours);
  this.edges(cx, seen, colours);
  this.boxes(cx, seen, colours);
};

Pane.prototype.frames = function (cx, colours) {
  const { places, height, frames } = this.drawing;
  for (const [boxes, times] of frames) {
    let [left, right, upper, lower] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const box of boxes) {
      const [x, y, width] = places[box];
      [left, right] = [Math.min(left, x - width / 2), Math.max(right, x + width / 2)];
      [upper, lower] = [Math.min(upper, y - height / 2), Math.max(lower, y + height / 2)];
    }
    cx.fillStyle = colours.frame;
    cx.strokeStyle = colours.frameLine;
    cx.lineWidth = 1.5;
    rounded(cx, left - 16, upper - 16, right - left + 32, lower - upper + 32, 8);
    cx.fill();
    cx.stroke();
    cx.fillStyle = colours.frameLine;
    cx.font = "600 13px system-ui, sans-serif";
    cx.textAlign = "left";
    cx.fillText(`${times} ×`, left - 10, upper - 3);
  }
};

Pane.prototype.edges = function (cx, seen, colours) {
  const { places, edges, height } = this.drawing;
  const routed = this.scale >= ROUTED;
  const chosen = this.boxOf.get(this.look.chosen(this.model));
  const near = [];
  cx.strokeStyle = colours.edge;
  cx.lineWidth = Math.max(1, 0.6 / this.scale);
  cx.beginPath();
  let count = 0;
  for (const number of between(this.edgeRows, seen.top, seen.bottom)) {
    const [from, to, bends] = edges[number];
    if (from === chosen || to === chosen) near.push(number);
    if ((count += 1) > MOST_EDGES) break;
    trace(cx, places[from], places[to], bends, height, routed);
  }
  cx.stroke();
  // Those of the chosen box stand out.
  cx.strokeStyle = colours.chosen;
  cx.lineWidth = Math.max(2, 1.2 / this.scale);
  cx.beginPath();
  for (const number of near) {
    const [from, to, bends] = edges[number];
    trace(cx, places[from], places[to], bends, height, routed);
  }
  cx.stroke();
};

/** The way of an edge, from the lower side of a box to the upper side of another. */
function trace(cx, from, to, bends, height, routed) {
  let [x, y] = [from[0], from[1] + height / 2];
  cx.moveTo(x, y);
  if (!routed) {
    cx.lineTo(to[0], to[1] - height / 2);
    return;
  }
  for (let at = 0; at <= bends.length; at += 2) {
    const last = at === bends.length;
    const [nextX, upper] = last ? [to[0], to[1] - height / 2] : [bends[at], bends[at + 1] - height / 2];
    const turn = (y + upper) / 2;
    cx.bezierCurveTo(x, turn, nextX, turn, nextX, upper);
    [x, y] = [nextX, upper];
    if (!last) {
      y = bends[at + 1] + height / 2;
      cx.lineTo(x, y);
    }
  }
  arrow(cx, to[0], to[1] - height / 2);
}

function arrow(cx, x, y) {
  cx.moveTo(x - 4, y - 6);
  cx.lineTo(x, y);
  cx.lineTo(x + 4, y - 6);
}

Pane.prototype.boxes = function (cx, seen, colours) {
  const { places, boxes, height } = this.drawing;
  const readable = this.scale >= READABLE;
  const chosen = this.look.chosen(this.model);
  const hits = this.look.hits(this.model);
  for (const box of between(this.rows, seen.top, seen.bottom)) {
    const [x, y, width] = places[box];
    if (x + width / 2 < seen.left || x - width / 2 > seen.right) continue;
    const item = this.model.items[boxes[box]];
    cx.fillStyle = this.look.colour(this.model, boxes[box], colours);
    const [is, hit] = [boxes[box] === chosen, hits.has(boxes[box])];
    rounded(cx, x - width / 2, y - height / 2, width, height, isInput(item) ? height / 2 : 4);
    cx.fill();
    cx.strokeStyle = is ? colours.chosen : hit ? colours.hit : colours.edge;
    cx.lineWidth = (is || hit ? Math.max(3, 2 / this.scale) : 1);
    cx.stroke();
    if (readable) this.label(cx, item, x, y, width, colours);
  }
};

Pane.prototype.label = function (cx, item, x, y, width, colours) {
  cx.textAlign = "center";
  cx.fillStyle = colours.ink;
  cx.font = "600 13px system-ui, sans-serif";
  cx.fillText(cut(titleOf(item), width - 10, 7.6), x, y - 3);
  cx.font = "11px system-ui, sans-serif";
  cx.fillStyle = colours.soft;
  const made = item.makes[0];
  const second = isInput(item) ? made[1] : item.name || made?.[0] || "";
  cx.fillText(cut(second, width - 10, 6), x, y + 12);
  if (made && !isInput(item)) {
    cx.textAlign = "left";
    cx.fillText(made[1], x + 5, y + this.drawing.height / 2 + 13);
  }
};

/** As much of a text as fits, by the width of its letters on average. */
function cut(text, width, letter) {
  const most = Math.max(1, Math.floor(width / letter));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function rounded(cx, x, y, width, height, radius) {
  cx.beginPath();
  cx.roundRect(x, y, width, height, radius);
}

/** The colours of the style, which follow what the reader prefers. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: get("ink"), soft: get("soft"), edge: get("edge"), box: get("box"), input: get("input"),
    frame: get("frame"), frameLine: get("frame-line"), chosen: get("chosen"), hit: get("hit"),
    removed: get("removed"), added: get("added"), changed: get("changed"), low: get("low"), high: get("high"),
  };
}
