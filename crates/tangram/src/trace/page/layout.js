// A drawing in layers: what is read stands above what reads it.

const SIZE = { width: 168, height: 50, across: 26, down: 40, bend: 14 };

/**
 * Places boxes. `boxes`: keys; `edges`: pairs [from, to] of keys, without cycles.
 * Returns the centre of each box, the points of each edge, and the extent of the drawing.
 */
function layout(boxes, edges) {
  const level = levels(boxes, edges);
  const { rows, chains } = rowsOf(boxes, edges, level);
  const near = neighbours(chains);
  order(rows, near);
  return place(rows, chains, near);
}

/** Longest ways from above; what has nothing above it moves down to what reads it first. */
function levels(boxes, edges) {
  const below = new Map(boxes.map((box) => [box, []]));
  const waits = new Map(boxes.map((box) => [box, 0]));
  for (const [from, to] of edges) {
    below.get(from).push(to);
    waits.set(to, waits.get(to) + 1);
  }
  const sources = boxes.filter((box) => waits.get(box) === 0);
  const level = new Map(boxes.map((box) => [box, 0]));
  const ready = [...sources];
  while (ready.length > 0) {
    const box = ready.pop();
    for (const to of below.get(box)) {
      level.set(to, Math.max(level.get(to), level.get(box) + 1));
      waits.set(to, waits.get(to) - 1);
      if (waits.get(to) === 0) ready.push(to);
    }
  }
  for (const box of sources) {
    const first = Math.min(...below.get(box).map((to) => level.get(to)));
    if (Number.isFinite(first)) level.set(box, first - 1);
  }
  return level;
}

/** Boxes by level, and edges as chains with a bend on each level that they pass. */
function rowsOf(boxes, edges, level) {
  const rows = Array.from({ length: Math.max(0, ...level.values()) + 1 }, () => []);
  for (const box of boxes) rows[level.get(box)].push({ key: box, width: SIZE.width });
  const cell = new Map(rows.flat().map((item) => [item.key, item]));
  const chains = edges.map(([from, to]) => {
    const chain = [cell.get(from)];
    for (let at = level.get(from) + 1; at < level.get(to); at += 1) {
      const bend = { key: null, width: SIZE.bend };
      rows[at].push(bend);
      chain.push(bend);
    }
    chain.push(cell.get(to));
    return chain;
  });
  return { rows, chains };
}

function neighbours(chains) {
  const near = { up: new Map(), down: new Map() };
  const add = (map, key, other) => (map.has(key) ? map.get(key).push(other) : map.set(key, [other]));
  for (const chain of chains) {
    for (let i = 1; i < chain.length; i += 1) {
      add(near.down, chain[i - 1], chain[i]);
      add(near.up, chain[i], chain[i - 1]);
    }
  }
  return near;
}

/** Sorts each row by where its neighbours stand, downwards and upwards in turn. */
function order(rows, near) {
  const number = () => rows.forEach((row) => row.forEach((item, i) => (item.slot = i)));
  number();
  for (let sweep = 0; sweep < 8; sweep += 1) {
    const side = sweep % 2 === 0 ? near.up : near.down;
    const turn = sweep % 2 === 0 ? rows : [...rows].reverse();
    for (const row of turn) {
      for (const item of row) {
        const others = side.get(item) ?? [];
        const sum = others.reduce((total, other) => total + other.slot, 0);
        item.want = others.length > 0 ? sum / others.length : item.slot;
      }
      row.sort((a, b) => a.want - b.want || a.slot - b.slot);
      row.forEach((item, i) => (item.slot = i));
    }
  }
}

/** Moves each item towards the middle of its neighbours, as far as the row leaves room. */
function place(rows, chains, near) {
  for (const row of rows) {
    let x = 0;
    for (const item of row) {
      item.x = x + item.width / 2;
      x += item.width + SIZE.across;
    }
    row.forEach((item) => (item.x -= x / 2));
  }
  for (let round = 0; round < 12; round += 1) {
    const turn = round % 2 === 0 ? rows : [...rows].reverse();
    for (const row of turn) {
      for (const item of row) {
        const others = [...(near.up.get(item) ?? []), ...(near.down.get(item) ?? [])];
        const sum = others.reduce((total, other) => total + other.x, 0);
        if (others.length > 0) item.x = sum / others.length;
      }
      spread(row);
    }
  }
  const all = rows.flat();
  const left = Math.min(...all.map((item) => item.x - item.width / 2));
  const right = Math.max(...all.map((item) => item.x + item.width / 2));
  rows.forEach((row, i) => {
    for (const item of row) {
      item.x -= left;
      item.y = i * (SIZE.height + SIZE.down) + SIZE.height / 2;
    }
  });
  const height = rows.length * (SIZE.height + SIZE.down) - SIZE.down;
  const centres = new Map(all.filter((item) => item.key !== null).map((i) => [i.key, i]));
  return { centres, chains, width: right - left, height };
}

/** Takes the items of a row apart: as far to the left as to the right. */
function spread(row) {
  const gap = (i) => (row[i - 1].width + row[i].width) / 2 + SIZE.across;
  const right = row.map((item) => item.x);
  const left = [...right];
  for (let i = 1; i < row.length; i += 1) {
    right[i] = Math.max(right[i], right[i - 1] + gap(i));
  }
  for (let i = row.length - 1; i > 0; i -= 1) {
    left[i - 1] = Math.min(left[i - 1], left[i] - gap(i));
  }
  row.forEach((item, i) => (item.x = (left[i] + right[i]) / 2));
}
