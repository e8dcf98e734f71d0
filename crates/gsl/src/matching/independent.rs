//! Branches that do not read each other.
//!
//! What merges branches into one operation needs all they read before it, and gives what they make
//! after it: a branch that reads what another one makes cannot be in the same merge. Of the
//! candidates those are taken that are independent of branch 0 and of each other, and of these as
//! many as there can be: a greatest antichain of the order "is read by".

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Op, Order, walk};

use super::bindings::Target;
use super::solver::Solver;

/// Among how many candidates that are related at all the most independent ones are found.
const MAX_RELATED: usize = 256;

/// Up to how many candidates it is found out which read which.
const MAX_CANDIDATES: usize = 4096;

/// Members of a set, by number.
type Bits = Vec<u64>;

impl Solver<'_> {
    /// Leaves those of `pool` that read neither each other nor `own`, and are read by none of these.
    pub(super) fn independent(&self, own: Option<Target>, pool: Vec<Target>) -> Vec<Target> {
        let members: Vec<Option<Op>> =
            own.into_iter().chain(pool.iter().copied()).map(|t| t.op(self.module)).collect();
        let first = usize::from(own.is_some());
        let Some(below) = self.ancestors(&members) else { return pool };
        let related = |i: usize, j: usize| has(&below[i], j) || has(&below[j], i);
        let free = |i: &usize| first == 0 || !related(*i, 0);
        let left: Vec<usize> = (first..members.len()).filter(free).collect();
        let (tied, single): (Vec<usize>, Vec<usize>) =
            left.iter().partition(|&&i| left.iter().any(|&j| i != j && related(i, j)));
        let mut kept = single;
        if tied.len() <= MAX_RELATED {
            // Of several greatest sets the one that reads the others least.
            let reads = |i: usize, j: usize| has(&below[tied[i]], tied[j]);
            kept.extend(antichain(tied.len(), reads).into_iter().map(|i| tied[i]));
        } else {
            // Those that read no other one.
            kept.extend(tied.iter().filter(|&&i| left.iter().all(|&j| !has(&below[i], j))));
        }
        kept.sort_unstable();
        kept.into_iter().map(|i| pool[i - first]).collect()
    }

    /// For each member the members that it depends on; none if there is no such pair.
    fn ancestors(&self, members: &[Option<Op>]) -> Option<Vec<Bits>> {
        let module = self.module;
        let number: FxHashMap<Op, usize> =
            members.iter().enumerate().filter_map(|(i, op)| Some(((*op)?, i))).collect();
        let mut found: Vec<Bits> = vec![Vec::new(); members.len()];
        let mut reached: FxHashMap<Op, Bits> = FxHashMap::default();
        let mut any = false;
        let tracked = members.len() <= MAX_CANDIDATES;
        for op in self.block.into_iter().flat_map(|block| module.ops(block)) {
            let mut bits = Bits::new();
            for def in operand_definitions(module, op) {
                if let Some(below) = reached.get(&def) {
                    unite(&mut bits, below);
                }
            }
            let member = number.get(&op).copied();
            if member.is_none() && bits.is_empty() {
                continue;
            }
            if let Some(i) = member {
                any |= !bits.is_empty();
                found[i].clone_from(&bits);
                // Of very many one bit says that there is some.
                set(&mut bits, if tracked { i } else { 0 });
            }
            reached.insert(op, bits);
        }
        any.then_some(found)
    }
}

/// What makes the operands of an operation, and those of what is in its regions.
fn operand_definitions(module: &Module, op: Op) -> Vec<Op> {
    let nested =
        if module.regions(op).is_empty() { vec![op] } else { walk(module, op, Order::Pre) };
    let operands = nested.into_iter().flat_map(|op| module.operands(op));
    operands.filter_map(|value| module.def_op(value)).collect()
}

fn has(bits: &Bits, i: usize) -> bool {
    bits.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
}

fn set(bits: &mut Bits, i: usize) {
    if bits.len() <= i / 64 {
        bits.resize(i / 64 + 1, 0);
    }
    bits[i / 64] |= 1 << (i % 64);
}

fn unite(bits: &mut Bits, other: &Bits) {
    if bits.len() < other.len() {
        bits.resize(other.len(), 0);
    }
    bits.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}

/// Returns a greatest set of `0..count` no two of which are ordered. `less` is a strict order.
///
/// As many chains as the set has members cover all (Dilworth); they follow from a greatest matching
/// of each element with one that is greater, and the set from a least cover of its pairs (König).
/// O(count³).
fn antichain(count: usize, less: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut lower: Vec<Option<usize>> = vec![None; count];
    let mut upper: Vec<Option<usize>> = vec![None; count];
    for start in 0..count {
        augment(start, count, &less, (&mut lower, &mut upper));
    }
    // What alternating paths reach from those without a greater partner.
    let mut left: Vec<bool> = upper.iter().map(Option::is_none).collect();
    let mut right = vec![false; count];
    let mut stack: Vec<usize> = (0..count).filter(|i| left[*i]).collect();
    while let Some(i) = stack.pop() {
        for j in (0..count).filter(|j| less(i, *j)) {
            if !std::mem::replace(&mut right[j], true)
                && let Some(next) = lower[j]
                && !std::mem::replace(&mut left[next], true)
            {
                stack.push(next);
            }
        }
    }
    (0..count).filter(|i| left[*i] && !right[*i]).collect()
}

/// Finds a path by which one more element has a greater partner, and takes it.
fn augment(
    start: usize,
    count: usize,
    less: &impl Fn(usize, usize) -> bool,
    (lower, upper): (&mut [Option<usize>], &mut [Option<usize>]),
) {
    let mut from: Vec<Option<usize>> = vec![None; count];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(i) = queue.pop_front() {
        for j in 0..count {
            if !less(i, j) || from[j].is_some() {
                continue;
            }
            from[j] = Some(i);
            let Some(next) = lower[j] else {
                let mut end = Some(j);
                while let Some(j) = end {
                    let Some(i) = from[j] else { return };
                    end = upper[i].replace(j);
                    lower[j] = Some(i);
                    if i == start {
                        return;
                    }
                }
                return;
            };
            queue.push_back(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn antichains_are_greatest_by_brute_force() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..400 {
            let count = rng.usize(0..=9);
            let share = rng.u8(1..=9);
            let mut order = vec![vec![false; count]; count];
            for i in 0..count {
                for j in i + 1..count {
                    order[i][j] = rng.u8(0..10) < share;
                }
            }
            for k in 0..count {
                for i in 0..count {
                    for j in 0..count {
                        order[i][j] |= order[i][k] && order[k][j];
                    }
                }
            }
            let apart = |set: &[usize]| set.iter().all(|&i| set.iter().all(|&j| !order[i][j]));
            let most = (0..1usize << count)
                .map(|bits| (0..count).filter(|i| bits >> i & 1 == 1).collect::<Vec<_>>())
                .filter(|set| apart(set))
                .map(|set| set.len())
                .max();
            let found = antichain(count, |i, j| order[i][j]);
            assert!(apart(&found), "{order:?}: {found:?}");
            assert_eq!(Some(found.len()), most, "{order:?}: {found:?}");
        }
    }
}
