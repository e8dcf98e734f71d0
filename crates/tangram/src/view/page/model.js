// The data of the page, and what is asked of it.

const data = JSON.parse(document.getElementById("data").textContent);
const models = data.models.map((model, number) => new Model(model, number));

/** A model: its items, what reads what, and texts to search. */
function Model(of, number) {
  Object.assign(this, { number, name: of.name, items: of.items, weights: of.weights });
  this.drawings = { whole: of.whole, folded: of.folded ?? of.whole };
  this.folds = of.folded !== undefined;
  this.others = of.others ?? [];
  this.users = this.items.map(() => []);
  this.items.forEach((item, at) => {
    for (const read of new Set(makers(item))) this.users[read].push(at);
  });
  this.operations = this.items.filter((item) => item.operator && item.operator !== "outputs");
  this.flops = sum(this.items.map((item) => item.cost?.[0] ?? 0));
  this.bytes = sum(this.items.map((item) => item.cost?.[1] ?? 0));
  this.time = sum([...this.items.map((item) => item.time ?? 0), ...this.others.map(([, time]) => time)]);
  this.searched = null;
}

/** The items that an item reads from. */
function makers(item) {
  return (item.reads ?? []).filter(Array.isArray).map(([maker]) => maker);
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function isInput(item) {
  return !item.operator;
}

/** What a box says above its first line: the operator, or the name of an input. */
function titleOf(item) {
  return isInput(item) ? item.makes[0][0] || "input" : item.operator;
}

/** A value as text: its name and its type. */
function valueOf(model, read) {
  if (read === null) return ["", ""];
  if (Array.isArray(read)) return model.items[read[0]].makes[read[1]];
  const weight = model.weights[read.weight];
  return [weight.name, weight.type];
}

/** A line of the graph as text: `y: float32[1, 8] = Gemm(x, w) {transB = 1}`. */
function lineOf(model, at) {
  const item = model.items[at];
  const made = item.makes.map(([name, type]) => (type ? `${name || "_"}: ${type}` : name || "_")).join(", ");
  if (isInput(item)) return `input ${made}`;
  const read = (item.reads ?? []).map((one) => valueOf(model, one)[0] || "_").join(", ");
  const attributes = (item.attributes ?? []).map(([key, value]) => `${key} = ${value}`).join(", ");
  const call = `${item.operator}(${read})${attributes ? ` {${attributes}}` : ""}`;
  return item.makes.length > 0 ? `${made} = ${call}` : call;
}

/** The items in which each word of `text` occurs. */
function search(model, text) {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  model.searched ??= model.items.map((item, at) => {
    const weights = (item.reads ?? []).filter((read) => read?.weight !== undefined);
    const types = weights.map((read) => model.weights[read.weight].type);
    const rules = [...(item.rules?.changed ?? []), ...(item.rules?.refused ?? []).map(([rule]) => rule)];
    return [lineOf(model, at), item.name ?? "", ...types, ...rules].join(" ").toLowerCase();
  });
  const found = [];
  model.searched.forEach((line, at) => {
    if (words.every((word) => line.includes(word))) found.push(at);
  });
  return found;
}

const PREFIXES = ["", "k", "M", "G", "T", "P"];

/** A number of three digits: `1.62 M`. */
function short(number) {
  let at = 0;
  while (number >= 999.5 && at + 1 < PREFIXES.length) [number, at] = [number / 1000, at + 1];
  return `${Number(number.toPrecision(3))}${PREFIXES[at] ? ` ${PREFIXES[at]}` : ""}`;
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
