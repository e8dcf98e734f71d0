//! One plan for many rules: which of them may match at an operation, found in one traversal.
//!
//! The [`Prefix`](super::Prefix) of a rule says what the operations around a root have to be, each
//! named by the operands that lead to it. Rules ask much the same of the same places, so the plan
//! lists every place once, parents first, with a bit for each rule: at a place, the rules that
//! the operation there does not suit are struck out. A place that no remaining rule asks about is
//! passed over, so that a hundred rules cost little more than the one that gets farthest.
//!
//! Running example: `relu(relu(x))`, `relu(add(x, y))` and `clip(relu(x))` have, for the root
//! `relu`, the places "root" and "operand 0 of the root". At `relu(tanh(x))` the second place
//! strikes out both rules of that root; two operations were looked at.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{Module, Name, Op, Traits};
use tangram_rewrite::Roots;

use super::{Instruction, MatchPlan};
use crate::matching::given_operands;

/// A bit for each rule.
type Mask = SmallVec<[u64; 2]>;

/// What a rule asks of the operation at a place.
#[derive(Clone, Debug, Default)]
struct Demand {
    names: Option<Vec<Name>>,
    operands: Option<(u32, bool)>,
    constant: bool,
}

/// A place and the rules that ask something of it.
#[derive(Clone, Debug)]
struct SharedPosition {
    /// The place whose operand this is; the root is its own.
    parent: u32,
    /// Which operand of it.
    operand: u32,
    /// The rules that ask something here or further down.
    asking: Mask,
    /// The rules that the operation need not exist for.
    absent: Mask,
    /// The rules that an operation of this name suits.
    by_name: FxHashMap<Name, Mask>,
    /// The rules that any other name suits.
    other: Mask,
    /// The rules that do not ask for a constant.
    computed: Option<Mask>,
    /// By number of operands, the last for all that are more: the rules that it suits.
    by_count: Vec<Mask>,
}

/// The rules of a set, merged by what they ask of the operations around a root.
#[derive(Clone, Debug)]
pub struct SharedPlan {
    roots: FxHashMap<Name, Vec<SharedPosition>>,
    /// The rules that may start anywhere.
    anywhere: Mask,
    rules: usize,
}

impl SharedPlan {
    /// Merges plans; their order numbers the rules.
    pub fn new<'p>(plans: impl IntoIterator<Item = &'p MatchPlan>) -> Self {
        let plans: Vec<&MatchPlan> = plans.into_iter().collect();
        let demands: Vec<Demands> = plans.iter().map(|plan| demands(plan)).collect();
        let rules = demands.len();
        let words = rules.div_ceil(64).max(1);
        let mut by_root: FxHashMap<Name, Vec<usize>> = FxHashMap::default();
        let mut anywhere = empty(words);
        for (rule, plan) in plans.iter().enumerate() {
            match plan.roots() {
                Roots::Names(names) => {
                    names.iter().for_each(|name| by_root.entry(*name).or_default().push(rule));
                }
                _ => set(&mut anywhere, rule),
            }
        }
        let places = |list: Vec<usize>| places(&demands, &list, words);
        let roots = by_root.into_iter().map(|(name, list)| (name, places(list))).collect();
        Self { roots, anywhere, rules }
    }

    /// Returns how many rules there are.
    pub fn len(&self) -> usize {
        self.rules
    }

    /// Returns whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules == 0
    }

    /// Sets the bits of the rules that may match at `root`, and no others. Returns how many
    /// operations were looked at.
    pub fn admit(&self, module: &Module, root: Op, admitted: &mut Vec<u64>) -> usize {
        admitted.clear();
        admitted.extend_from_slice(&self.anywhere);
        let Some(places) = self.roots.get(&module.name(root)) else { return 0 };
        let mut left = places[0].asking.clone();
        let mut ops: SmallVec<[Option<Op>; 16]> = SmallVec::new();
        let mut visited = 0;
        for place in places {
            if !meets(&left, &place.asking) {
                ops.push(None);
                continue;
            }
            let op = if ops.is_empty() { Some(root) } else { operand(module, place, &ops) };
            ops.push(op);
            visited += 1;
            match op {
                Some(op) => place.strike_out(module, op, &mut left),
                None => keep(&mut left, &place.absent),
            }
        }
        admitted.iter_mut().zip(&left).for_each(|(all, left)| *all |= left);
        visited
    }
}

impl SharedPosition {
    /// Leaves the rules that `op` suits.
    fn strike_out(&self, module: &Module, op: Op, left: &mut Mask) {
        keep(left, self.by_name.get(&module.name(op)).unwrap_or(&self.other));
        if let Some(computed) = &self.computed
            && !module.has_traits(op, Traits::CONSTANT_LIKE)
        {
            keep(left, computed);
        }
        if let Some(last) = self.by_count.len().checked_sub(1) {
            keep(left, &self.by_count[given_operands(module, op).min(last)]);
        }
    }
}

fn operand(module: &Module, place: &SharedPosition, ops: &[Option<Op>]) -> Option<Op> {
    let parent = ops[place.parent as usize]?;
    let at = place.operand as usize;
    (at < module.operand_count(parent)).then(|| module.def_op(module.operand(parent, at)))?
}

fn empty(words: usize) -> Mask {
    smallvec::smallvec![0; words]
}

fn set(mask: &mut Mask, rule: usize) {
    mask[rule / 64] |= 1 << (rule % 64);
}

fn keep(left: &mut Mask, suited: &Mask) {
    left.iter_mut().zip(suited).for_each(|(left, suited)| *left &= suited);
}

fn meets(a: &Mask, b: &Mask) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

/// What one rule asks, by the operands that lead to a place; the root first.
type Demands = Vec<(Vec<u32>, Demand)>;

/// Reads the instructions of a prefix.
fn demands(plan: &MatchPlan) -> Demands {
    let mut found: Demands = vec![(Vec::new(), Demand::default())];
    for instruction in plan.prefix().code() {
        match *instruction {
            Instruction::Named { place, op } => {
                found[place as usize].1.names = Some(plan.names(op).to_vec());
            }
            Instruction::Operands { place, least, exact } => {
                found[place as usize].1.operands = Some((least, exact));
            }
            Instruction::Enter { place, operand } => {
                let path = below(&found[place as usize].0, operand);
                found.push((path, Demand::default()));
            }
            Instruction::Constant { .. } => {}
        }
    }
    // Places are numbered by `Enter` alone, so that constants come after them.
    for instruction in plan.prefix().code() {
        if let Instruction::Constant { place, operand } = *instruction {
            let path = below(&found[place as usize].0, operand);
            found.push((path, Demand { constant: true, ..Demand::default() }));
        }
    }
    found
}

fn below(path: &[u32], operand: u32) -> Vec<u32> {
    let mut path = path.to_vec();
    path.push(operand);
    path
}

/// Lays out the places of the rules in `list`, parents before operands, near ones first.
fn places(demands: &[Demands], list: &[usize], words: usize) -> Vec<SharedPosition> {
    let mut paths: Vec<&[u32]> = Vec::new();
    for rule in list {
        paths.extend(demands[*rule].iter().map(|(path, _)| &path[..]));
    }
    paths.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    paths.dedup();
    paths.iter().map(|path| place(demands, list, &paths, path, words)).collect()
}

fn place(
    demands: &[Demands],
    list: &[usize],
    paths: &[&[u32]],
    path: &[u32],
    words: usize,
) -> SharedPosition {
    let up = path.split_last().map_or(&[][..], |(_, up)| up);
    let parent = paths.iter().position(|other| *other == up).unwrap_or(0);
    let operand = path.last().copied().unwrap_or(0);
    let asked = |rule: usize| {
        demands[rule].iter().filter(move |(other, _)| other == path).map(|(_, demand)| demand)
    };
    let names: Vec<Name> = list
        .iter()
        .flat_map(|r| asked(*r))
        .flat_map(|d| d.names.iter().flatten())
        .copied()
        .collect();
    let counts = list.iter().flat_map(|r| asked(*r)).filter_map(|d| d.operands);
    let most = counts.map(|(least, _)| least as usize + 1).max();
    let suited = |test: &dyn Fn(&Demand) -> bool| {
        let mut mask = empty(words);
        let fit = list.iter().filter(|rule| asked(**rule).all(test));
        fit.for_each(|rule| set(&mut mask, *rule));
        mask
    };
    let by_name = names.iter().map(|name| {
        (*name, suited(&|d| d.names.as_ref().is_none_or(|names| names.contains(name))))
    });
    let counted = |count: usize| {
        suited(&|d| {
            d.operands.is_none_or(|(least, exact)| {
                if exact { count == least as usize } else { count >= least as usize }
            })
        })
    };
    let mut asking = empty(words);
    for rule in list {
        if demands[*rule].iter().any(|(other, _)| other.starts_with(path)) {
            set(&mut asking, *rule);
        }
    }
    let constants = list.iter().flat_map(|r| asked(*r)).any(|d| d.constant);
    SharedPosition {
        parent: parent as u32,
        operand,
        absent: suited(&|_| false),
        by_name: by_name.collect(),
        other: suited(&|d| d.names.is_none()),
        computed: constants.then(|| suited(&|d| !d.constant)),
        by_count: most.map_or(Vec::new(), |most| (0..=most).map(counted).collect()),
        asking,
    }
}
