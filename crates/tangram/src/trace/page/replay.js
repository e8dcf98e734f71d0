// The program at any step: the first graph, and steps applied to it or taken back.

const trace = JSON.parse(document.getElementById("data").textContent);
const steps = trace.steps;

/** The program as it is before step `at`. */
const program = { at: 0, nodes: new Map(), maker: new Map(), inputs: new Map(), undo: [] };

for (const port of trace.before.arguments) program.inputs.set(port.value, port);
for (const node of trace.before.nodes) put(node.id, node);

/** Sets what stands at a number; null takes it away. */
function put(id, node) {
  if (node === null) {
    program.nodes.delete(id);
    return;
  }
  program.nodes.set(id, node);
  for (const port of node.results) program.maker.set(port.value, id);
}

function apply(step) {
  const old = [];
  const change = (id, node) => {
    old.push([id, program.nodes.get(id) ?? null]);
    put(id, node);
  };
  for (const node of step.removed) change(node.id, null);
  for (const node of [...step.made, ...step.modified]) change(node.id, node);
  program.undo.push(old);
  program.at += 1;
}

function takeBack() {
  for (const [id, node] of program.undo.pop().reverse()) put(id, node);
  program.at -= 1;
}

/** Makes the program what it is before step `at`. */
function go(at) {
  while (program.at < at) apply(steps[program.at]);
  while (program.at > at) takeBack();
}

/** The users of each value, as numbers of nodes. */
function users() {
  const found = new Map();
  for (const node of program.nodes.values()) {
    for (const { value } of node.operands) {
      const list = found.get(value);
      if (list === undefined) found.set(value, [node.id]);
      else if (list[list.length - 1] !== node.id) list.push(node.id);
    }
  }
  return found;
}

const HIDDEN = new Set(["nn.constant", "nn.none"]);

/** How many neighbours of one node, and how many nodes in all, are shown at most. */
const MOST = { fan: 8, nodes: 120 };

/**
 * The nodes within `radius` of `seeds`, and how many neighbours of each are left out.
 * Constants are passed over unless `constants` or they are seeds.
 */
function neighbourhood(seeds, radius, constants) {
  const used = users();
  const shown = new Map();
  const rest = new Map();
  let ring = [];
  for (const id of seeds) {
    if (program.nodes.has(id) && !shown.has(id)) {
      shown.set(id, 0);
      ring.push(id);
    }
  }
  for (let distance = 1; distance <= radius && ring.length > 0; distance += 1) {
    const next = [];
    for (const id of ring) {
      const node = program.nodes.get(id);
      const above = node.operands.map(({ value }) => program.maker.get(value));
      const below = node.results.flatMap(({ value }) => used.get(value) ?? []);
      let left = 0;
      for (const side of [above, below]) {
        const others = [...new Set(side)].filter((other) => {
          const found = other !== undefined && program.nodes.get(other);
          return found && !shown.has(other) && (constants || !HIDDEN.has(found.operation));
        });
        others.forEach((other, i) => {
          if (i >= MOST.fan || shown.size >= MOST.nodes) {
            left += 1;
            return;
          }
          shown.set(other, distance);
          next.push(other);
        });
      }
      if (left > 0) rest.set(id, left);
    }
    ring = next;
  }
  return { shown: [...shown.keys()], rest };
}
