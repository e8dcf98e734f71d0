//! Random graphs: chains of element by element functions, softmaxes, norms, sums, products, transposes,
//! slices and concatenations whose values several others read.

use fastrand::Rng;

use super::{Graph, Side, attribute_ints};

/// A value of the graph.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) shape: Vec<Side>,
}

struct Maker {
    random: Rng,
    graph: Graph,
    known: Vec<Known>,
}

impl Maker {
    fn pick(&mut self) -> Known {
        // The latest ones more often: chains are long.
        let count = self.known.len();
        let at = if self.random.bool() { count - 1 } else { self.random.usize(0..count) };
        self.known[at].clone()
    }

    fn add(&mut self, operator: &str, inputs: &[&str], shape: Vec<Side>) -> String {
        let name = self.graph.node(operator, inputs, Vec::new());
        self.known.push(Known { name: name.clone(), shape });
        name
    }

    fn constant(&mut self, extents: &[i64]) -> String {
        let count: i64 = extents.iter().product();
        let values = (0..count).map(|_| self.random.f32() - 0.5).collect();
        self.graph.floats(extents, values)
    }

    fn numbers(&mut self, values: &[i64]) -> String {
        self.graph.ints(values)
    }

    fn transpose(&mut self, Known { name, shape }: &Known) {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        self.random.shuffle(&mut order);
        let perm = attribute_ints(order.iter().map(|&at| at as i64));
        let shape = order.iter().map(|&at| shape[at].clone()).collect();
        let name = self.graph.node("Transpose", &[name], vec![("perm", perm)]);
        self.known.push(Known { name, shape });
    }

    /// A product with a constant matrix, of what has rows of known length.
    fn multiply(&mut self, Known { name, shape }: &Known) {
        let [_, .., last] = &shape[..] else { return };
        let Some(depth) = last.number() else { return };
        let columns = [1, 3, 8, 24, 40][self.random.usize(0..5)];
        let weights = self.constant(&[depth, columns]);
        let mut shape = shape.clone();
        shape.pop();
        shape.push(Side::Number(columns));
        self.add("MatMul", &[name, &weights], shape);
    }

    fn step(&mut self) {
        let value = self.pick();
        let Known { name, shape } = &value;
        let rank = shape.len();
        match self.random.usize(0..13) {
            0 | 1 => {
                let all = ["Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Erf", "Softplus", "Elu"];
                let operator = all[self.random.usize(0..all.len())];
                self.add(operator, &[name], shape.clone());
            }
            2 => {
                let others: Vec<Known> =
                    self.known.iter().filter(|other| other.shape == *shape).cloned().collect();
                let other = others[self.random.usize(0..others.len())].name.clone();
                let operator = ["Add", "Mul", "Sub", "Max"][self.random.usize(0..4)];
                self.add(operator, &[name, &other], shape.clone());
            }
            3 => {
                // A constant along the last sides, broadcast.
                let known: Vec<i64> = shape.iter().rev().map_while(Side::number).collect();
                let count = self.random.usize(0..=known.len());
                let extents: Vec<i64> = known[..count].iter().rev().copied().collect();
                let constant = self.constant(&extents);
                let operator = ["Add", "Mul", "Min"][self.random.usize(0..3)];
                self.add(operator, &[name, &constant], shape.clone());
            }
            4 | 5 => {
                let axis = self.random.usize(0..rank) as i64;
                let name = self.graph.node("Softmax", &[name], vec![("axis", axis.into())]);
                self.known.push(Known { name, shape: shape.clone() });
            }
            6 => {
                let Some(last) = shape[rank - 1].number() else { return };
                let (scale, shift) = (self.constant(&[last]), self.constant(&[last]));
                self.add("LayerNormalization", &[name, &scale, &shift], shape.clone());
            }
            7 => {
                let operator = ["ReduceMean", "ReduceMax", "ReduceSum"][self.random.usize(0..3)];
                let axis = self.random.usize(0..rank);
                let axes = self.numbers(&[axis as i64]);
                let mut shape = shape.clone();
                shape[axis] = Side::Number(1);
                let sum = self.add(operator, &[name, &axes], shape);
                // What is left is read beside what it was made of.
                let operator = ["Sub", "Mul", "Add"][self.random.usize(0..3)];
                self.add(operator, &[name, &sum], value.shape.clone());
            }
            8 => self.transpose(&value),
            9 => self.multiply(&value),
            10 => {
                // Each row with each other: scores, and perhaps the rows that they weigh.
                if rank < 2 {
                    return;
                }
                let mut order: Vec<i64> = (0..rank as i64).collect();
                order.swap(rank - 1, rank - 2);
                let turned =
                    self.graph.node("Transpose", &[name], vec![("perm", attribute_ints(order))]);
                let mut scores = shape.clone();
                scores[rank - 1] = shape[rank - 2].clone();
                let mut last = self.add("MatMul", &[name, &turned], scores.clone());
                if self.random.bool() {
                    last = self.graph.node("Softmax", &[&last], vec![("axis", (-1).into())]);
                    self.known.push(Known { name: last.clone(), shape: scores });
                }
                if self.random.bool() {
                    self.add("MatMul", &[&last, name], shape.clone());
                }
            }
            11 => {
                let axis = self.random.usize(0..rank);
                let Some(extent) = shape[axis].number().filter(|extent| *extent > 1) else {
                    return;
                };
                let first = self.random.i64(0..extent - 1);
                let end = self.random.i64(first + 1..=extent);
                let (starts, ends) = (self.numbers(&[first]), self.numbers(&[end]));
                let axes = self.numbers(&[axis as i64]);
                let mut shape = shape.clone();
                shape[axis] = Side::Number(end - first);
                self.add("Slice", &[name, &starts, &ends, &axes], shape);
            }
            _ => {
                let axis = self.random.usize(0..rank);
                let Some(extent) = shape[axis].number().filter(|extent| *extent < 50) else {
                    return;
                };
                let others: Vec<Known> =
                    self.known.iter().filter(|other| other.shape == *shape).cloned().collect();
                let other = others[self.random.usize(0..others.len())].name.clone();
                let mut shape = shape.clone();
                shape[axis] = Side::Number(2 * extent);
                let axis = vec![("axis", (axis as i64).into())];
                let name = self.graph.node("Concat", &[name, &other], axis);
                self.known.push(Known { name, shape });
            }
        }
    }
}

impl Maker {
    /// A step of additions, products and comparisons alone, which have one result each: no elementary
    /// function.
    fn plain_step(&mut self) {
        let value = self.pick();
        let Known { name, shape } = &value;
        let rank = shape.len();
        match self.random.usize(0..10) {
            0 => {
                let operator = ["Relu", "Neg", "Abs"][self.random.usize(0..3)];
                self.add(operator, &[name], shape.clone());
            }
            1 => {
                let others: Vec<Known> =
                    self.known.iter().filter(|other| other.shape == *shape).cloned().collect();
                let other = others[self.random.usize(0..others.len())].name.clone();
                let operator = ["Add", "Mul", "Sub"][self.random.usize(0..3)];
                self.add(operator, &[name, &other], shape.clone());
            }
            2 | 3 => {
                let operator = ["ReduceSum", "ReduceMean", "ReduceMax"][self.random.usize(0..3)];
                let mut axes: Vec<i64> = (0..rank as i64).collect();
                self.random.shuffle(&mut axes);
                axes.truncate(self.random.usize(1..=rank.min(2)));
                let mut shape = shape.clone();
                axes.iter().for_each(|&axis| shape[axis as usize] = Side::Number(1));
                let axes = self.numbers(&axes);
                self.add(operator, &[name, &axes], shape);
            }
            4 => self.transpose(&value),
            5 => self.multiply(&value),
            _ => {
                let Some(channels) = shape[1.min(rank - 1)].number().filter(|_| rank == 4) else {
                    return;
                };
                let filters = [2, 5, 16, 24][self.random.usize(0..4)];
                let window = [1, 3][self.random.usize(0..2)];
                let weights = self.constant(&[filters, channels, window, window]);
                let pads = vec![("pads", attribute_ints([window / 2; 4]))];
                let mut shape = shape.clone();
                shape[1] = Side::Number(filters);
                let name = self.graph.node("Conv", &[name, &weights], pads);
                self.known.push(Known { name, shape });
            }
        }
    }
}

/// A model.
pub(crate) struct Made {
    /// Its file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) inputs: Vec<Known>,
    /// What its inputs may be made from.
    pub(crate) random: Rng,
}

/// Makes a graph; nothing where it came out without results.
pub(crate) fn random_graph(seed: u64) -> Option<Made> {
    made(seed, 1..=4, Maker::step)
}

/// Makes a graph of sums and products, convolutions among them, without elementary functions.
pub(crate) fn plain_graph(seed: u64) -> Option<Made> {
    made(seed, if seed.is_multiple_of(2) { 4..=4 } else { 1..=4 }, Maker::plain_step)
}

fn made(seed: u64, ranks: std::ops::RangeInclusive<usize>, step: fn(&mut Maker)) -> Option<Made> {
    let mut random = Rng::with_seed(seed);
    let sides = [
        Side::Name("b"),
        Side::Name("s"),
        Side::Number(1),
        Side::Number(3),
        Side::Number(8),
        Side::Number(24),
        Side::Number(37),
    ];
    let mut graph = Graph::default();
    let mut known: Vec<Known> = Vec::new();
    for _ in 0..random.usize(1..=2) {
        let rank = random.usize(ranks.clone());
        let shape: Vec<Side> =
            (0..rank).map(|_| sides[random.usize(0..sides.len())].clone()).collect();
        known.push(Known { name: graph.input(&shape), shape });
    }
    let inputs = known.clone();
    let mut maker = Maker { random, graph, known };
    for _ in 0..maker.random.usize(3..12) {
        step(&mut maker);
    }
    let Maker { mut random, mut graph, known } = maker;
    let last = known.len() - 1;
    let mut outputs = vec![last];
    if random.bool() {
        outputs.push(random.usize(0..last.max(1)));
    }
    outputs.retain(|at| *at >= inputs.len());
    outputs.dedup();
    if outputs.is_empty() {
        return None;
    }
    outputs.iter().for_each(|at| graph.output(&known[*at].name));
    Some(Made { bytes: graph.bytes(), inputs, random })
}
