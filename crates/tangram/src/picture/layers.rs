//! Layered layout: what is read stands above what reads it.
//!
//! The steps are Sugiyama's. A box stands one layer below the lowest that it reads. An edge that
//! passes layers has a bend in each, so that the order of a layer makes room for it; edges from one
//! box share their bends. Each layer is sorted by where its neighbours stand, up and down in turn.
//! At last, boxes move to the mean of their neighbours as far as those beside them allow.
//!
//! ```text
//!   a          a reads nothing: layer 0
//!   |\
//!   b |        b reads a: layer 1; the edge from a to c has a bend beside it
//!   |/
//!   c          layer 2
//! ```
//!
//! Cost: a fixed number of sweeps over boxes and bends, each no more than sorting. Bends are at
//! most [`BENDS`] for each box and edge; what would need more is drawn straight.
//!
//! # Source
//! Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system structures",
//! 1981; the places within a layer are an isotonic regression, by pooling adjacent violators.

/// The distance from one layer to the next, and the height of a box.
pub(super) const LAYER: f64 = 78.0;
pub(super) const HEIGHT: f64 = 40.0;
/// The distance between boxes of a layer, and the room that a bend takes.
const ACROSS: f64 = 22.0;
const BEND: f64 = 6.0;
/// How many bends there may be for each box and edge.
const BENDS: usize = 16;
/// How often all layers are sorted, and how often all boxes move.
const SORTS: usize = 8;
const MOVES: usize = 12;

/// Where everything is.
#[derive(Default)]
pub(super) struct Placed {
    /// The centre of each box.
    pub(super) centres: Vec<(f64, f64)>,
    /// The points of each edge, from the centre of its first box to that of its last.
    pub(super) routes: Vec<Vec<(f64, f64)>>,
    /// The extent of all.
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Places boxes of these widths. Edges go from an earlier box to a later one.
pub(super) fn place(widths: &[f64], edges: &[(usize, usize)]) -> Placed {
    let level = levels(widths.len(), edges);
    let mut rows = Rows::new(widths, &level);
    let chains = rows.chains(edges, &level);
    for turn in 0..SORTS {
        rows.each(turn % 2 == 1, Rows::sort);
    }
    rows.lay_out();
    for turn in 0..MOVES {
        rows.each(turn % 2 == 1, Rows::settle);
    }
    rows.finish(widths.len(), &chains)
}

/// The longest way from above to each box; what reads nothing stands just above its first reader.
fn levels(boxes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut by_target: Vec<(usize, usize)> = edges.to_vec();
    by_target.sort_unstable_by_key(|&(_, to)| to);
    let mut level = vec![0; boxes];
    let mut reads = vec![false; boxes];
    for (from, to) in by_target {
        level[to] = level[to].max(level[from] + 1);
        reads[to] = true;
    }
    let mut first = vec![usize::MAX; boxes];
    for &(from, to) in edges {
        first[from] = first[from].min(level[to]);
    }
    for at in (0..boxes).filter(|&at| !reads[at] && first[at] != usize::MAX) {
        level[at] = first[at] - 1;
    }
    level
}

/// Boxes, then bends: where each is and what it hangs on.
struct Rows {
    rows: Vec<Vec<usize>>,
    widths: Vec<f64>,
    row: Vec<usize>,
    /// The place in its row.
    slot: Vec<usize>,
    x: Vec<f64>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Rows {
    fn new(widths: &[f64], level: &[usize]) -> Rows {
        let count = level.iter().max().map_or(0, |most| most + 1);
        let mut rows = Rows {
            rows: vec![Vec::new(); count],
            widths: Vec::new(),
            row: Vec::new(),
            slot: Vec::new(),
            x: Vec::new(),
            above: Vec::new(),
            below: Vec::new(),
        };
        for (&width, &row) in widths.iter().zip(level) {
            rows.add(width, row);
        }
        rows
    }

    fn add(&mut self, width: f64, row: usize) -> usize {
        let item = self.widths.len();
        self.slot.push(self.rows[row].len());
        self.rows[row].push(item);
        self.row.push(row);
        self.widths.push(width);
        self.x.push(0.0);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        item
    }

    fn connect(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }

    /// Gives edges their bends, the short ones first; the items of each edge, in order.
    fn chains(&mut self, edges: &[(usize, usize)], level: &[usize]) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by_key(|&edge| level[edges[edge].1] - level[edges[edge].0]);
        // The bends below each box, from the top.
        let mut bends: Vec<Vec<usize>> = vec![Vec::new(); level.len()];
        let mut left = BENDS * (level.len() + edges.len());
        let mut chains = vec![Vec::new(); edges.len()];
        for edge in order {
            let (from, to) = edges[edge];
            let passed = level[to] - level[from] - 1;
            let missing = passed.saturating_sub(bends[from].len());
            if missing > left {
                chains[edge] = vec![from, to];
                continue;
            }
            left -= missing;
            for row in level[to] - missing..level[to] {
                let bend = self.add(BEND, row);
                self.connect(bends[from].last().copied().unwrap_or(from), bend);
                bends[from].push(bend);
            }
            let passed = &bends[from][..passed];
            self.connect(passed.last().copied().unwrap_or(from), to);
            chains[edge] =
                std::iter::once(from).chain(passed.iter().copied()).chain([to]).collect();
        }
        chains
    }

    /// Visits the rows from above, or from below.
    fn each(&mut self, upwards: bool, visit: impl Fn(&mut Rows, usize, bool)) {
        let count = self.rows.len();
        for turn in 0..count {
            visit(self, if upwards { count - 1 - turn } else { turn }, upwards);
        }
    }

    /// Sorts a row by the mean place of the neighbours on the side that was sorted before it.
    fn sort(&mut self, row: usize, upwards: bool) {
        let side = if upwards { &self.below } else { &self.above };
        let mut wanted: Vec<(f64, usize)> = self.rows[row]
            .iter()
            .map(|&item| {
                let places = side[item].iter().map(|&other| self.slot[other] as f64);
                (mean(places).unwrap_or(self.slot[item] as f64), item)
            })
            .collect();
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.rows[row] = wanted.into_iter().map(|(_, item)| item).collect();
        for (slot, &item) in self.rows[row].iter().enumerate() {
            self.slot[item] = slot;
        }
    }

    /// Puts the items of each row side by side, around the middle.
    fn lay_out(&mut self) {
        for row in &self.rows {
            let offsets = offsets(row, &self.widths);
            let middle = offsets.last().map_or(0.0, |last| last / 2.0);
            for (&item, offset) in row.iter().zip(offsets) {
                self.x[item] = offset - middle;
            }
        }
    }

    /// Moves the items of a row towards their neighbours: the least squares that keep distances.
    fn settle(&mut self, row: usize, _: bool) {
        let items = &self.rows[row];
        let offsets = offsets(items, &self.widths);
        let wish = |item: usize| {
            let near = self.above[item].iter().chain(&self.below[item]);
            mean(near.map(|&other| self.x[other])).unwrap_or(self.x[item])
        };
        // Pools of items that stand as close as they may: the sum of their wishes, and how many.
        let mut pools: Vec<(f64, usize)> = Vec::new();
        for (&item, offset) in items.iter().zip(&offsets) {
            let mut pool = (wish(item) - offset, 1);
            while let Some(&(sum, count)) = pools.last() {
                if sum / count as f64 <= pool.0 / pool.1 as f64 {
                    break;
                }
                pool = (pool.0 + sum, pool.1 + count);
                pools.pop();
            }
            pools.push(pool);
        }
        let means = pools.iter().flat_map(|&(sum, n)| std::iter::repeat_n(sum / n as f64, n));
        for ((&item, offset), mean) in items.iter().zip(&offsets).zip(means) {
            self.x[item] = mean + offset;
        }
    }

    fn finish(self, boxes: usize, chains: &[Vec<usize>]) -> Placed {
        let all = 0..self.widths.len();
        let edge = |item: usize, side: f64| self.x[item] + side * self.widths[item] / 2.0;
        let left = all.clone().map(|item| edge(item, -1.0)).fold(f64::INFINITY, f64::min);
        let right = all.map(|item| edge(item, 1.0)).fold(f64::NEG_INFINITY, f64::max);
        if boxes == 0 {
            return Placed::default();
        }
        let at =
            |&item: &usize| (self.x[item] - left, self.row[item] as f64 * LAYER + HEIGHT / 2.0);
        Placed {
            centres: (0..boxes).map(|item| at(&item)).collect(),
            routes: chains.iter().map(|chain| chain.iter().map(at).collect()).collect(),
            width: right - left,
            height: (self.rows.len() - 1) as f64 * LAYER + HEIGHT,
        }
    }
}

/// The distance of each item of a row from the first one, where all stand as close as they may.
fn offsets(row: &[usize], widths: &[f64]) -> Vec<f64> {
    let mut at = 0.0;
    let mut last = None;
    row.iter()
        .map(|&item| {
            if let Some(last) = last.replace(item) {
                at += (widths[last] + widths[item]) / 2.0 + ACROSS;
            }
            at
        })
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, n), value| (sum + value, n + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// A graph in which boxes read earlier ones, near and far.
    fn graph(random: &mut Rng) -> (Vec<f64>, Vec<(usize, usize)>) {
        let n = random.usize(1..60);
        let pair = |random: &mut Rng| (random.usize(..n), random.usize(..n));
        let pairs: Vec<_> = (0..random.usize(..3 * n)).map(|_| pair(random)).collect();
        let mut edges: Vec<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        edges.retain(|(a, b)| a != b);
        edges.sort_unstable();
        edges.dedup();
        ((0..n).map(|_| 30.0 + 170.0 * random.f64()).collect(), edges)
    }

    #[test]
    fn boxes_are_apart_and_below_what_they_read() {
        for seed in 0..200 {
            let (widths, edges) = graph(&mut Rng::with_seed(seed));
            let placed = place(&widths, &edges);
            for (i, a) in placed.centres.iter().enumerate() {
                let (left, right) = (a.0 - widths[i] / 2.0, a.0 + widths[i] / 2.0);
                assert!(left > -1e-6 && right < placed.width + 1e-6, "seed {seed}: {i} is outside");
                for (j, b) in placed.centres.iter().enumerate().skip(i + 1) {
                    let apart = (a.0 - b.0).abs() + 1e-6 >= (widths[i] + widths[j]) / 2.0 + ACROSS;
                    assert!(a.1 != b.1 || apart, "seed {seed}: {i} and {j} overlap");
                }
            }
            for (&(from, to), route) in edges.iter().zip(&placed.routes) {
                assert_eq!(route[0], placed.centres[from]);
                assert_eq!(route.last(), Some(&placed.centres[to]));
                assert!(route.windows(2).all(|pair| pair[0].1 < pair[1].1), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_chain_is_a_straight_line() {
        let edges: Vec<_> = (1..50).map(|i| (i - 1, i)).collect();
        let placed = place(&[80.0; 50], &edges);
        assert!(placed.centres.iter().all(|&(x, _)| (x - 40.0).abs() < 1e-6));
    }

    #[test]
    fn edges_that_pass_everything_cost_no_more_than_their_share() {
        // Each box of a long chain is read at the very end as well: bends by the square.
        let n = 20_000;
        let chain = (1..n).map(|i| (i - 1, i));
        let edges: Vec<_> = chain.chain((0..n - 2).map(|i| (i, n - 1))).collect();
        let level = levels(n, &edges);
        let mut rows = Rows::new(&vec![80.0; n], &level);
        rows.chains(&edges, &level);
        assert!(rows.widths.len() <= n + BENDS * (n + edges.len()));
        assert_eq!(place(&vec![80.0; n], &edges).centres.len(), n);
    }
}
