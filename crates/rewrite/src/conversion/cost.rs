//! Which pattern first: how many steps it is from what a pattern makes to legal operations.

use rustc_hash::FxHashMap;
use tangram_ir::{Context, Name};

use super::target::ConversionTarget;
use crate::pattern::{IMPOSSIBLE, RewritePattern, Roots};
use crate::set::FrozenPatternSet;

/// In what order the patterns for each name are tried: found once for a target and a set.
pub(super) struct PatternOrder {
    orders: FxHashMap<Name, Box<[u32]>>,
    /// For names that no pattern names.
    any: Box<[u32]>,
    /// Patterns that are never tried, each with an operation that it makes and that can never
    /// become legal.
    dropped: Vec<(u32, Name)>,
}

impl PatternOrder {
    pub(super) fn new(
        context: &Context,
        target: &ConversionTarget,
        set: &FrozenPatternSet,
    ) -> PatternOrder {
        let depths = depths(context, target, set);
        let benefits = benefits(context, target, set, &depths);
        let order = |candidates: &[u32]| {
            let mut order = candidates.to_vec();
            order.retain(|&i| benefits[i as usize] != IMPOSSIBLE);
            order.sort_by_key(|&i| std::cmp::Reverse(benefits[i as usize]));
            order.into()
        };
        PatternOrder {
            orders: set.by_name().map(|(name, candidates)| (name, order(candidates))).collect(),
            any: order(set.candidates_of_any()),
            dropped: dropped(context, target, set, &depths),
        }
    }

    /// The patterns that are never tried, each with an operation that it makes and that can never
    /// become legal.
    pub(super) fn dropped(&self) -> &[(u32, Name)] {
        &self.dropped
    }

    /// The patterns for operations named `name`, cheapest way first.
    pub(super) fn candidates(&self, name: Name) -> &[u32] {
        self.orders.get(&name).unwrap_or(&self.any)
    }
}

/// The final benefit of each pattern: fewer steps first, then greater benefit, then the order of
/// the set. A pattern that names an operation which can never become legal gets [`IMPOSSIBLE`].
fn benefits(
    context: &Context,
    target: &ConversionTarget,
    set: &FrozenPatternSet,
    depths: &FxHashMap<Name, u32>,
) -> Vec<u16> {
    let steps: Vec<Option<u32>> =
        set.iter().map(|pattern| steps(context, target, depths, pattern)).collect();
    let mut order: Vec<usize> = (0..steps.len()).filter(|&i| steps[i].is_some()).collect();
    order.sort_by_key(|&i| (steps[i], std::cmp::Reverse(set.pattern(i as u32).benefit())));
    let mut benefits = vec![IMPOSSIBLE; steps.len()];
    for (rank, &i) in order.iter().enumerate() {
        benefits[i] = (IMPOSSIBLE - 1).saturating_sub(rank.min(usize::from(u16::MAX)) as u16);
    }
    benefits
}

/// The patterns that get [`IMPOSSIBLE`], each with the first operation that is to blame.
fn dropped(
    context: &Context,
    target: &ConversionTarget,
    set: &FrozenPatternSet,
    depths: &FxHashMap<Name, u32>,
) -> Vec<(u32, Name)> {
    let hopeless = |name: &Name| !target.may_be_legal(context, *name) && !depths.contains_key(name);
    let made = |pattern: &dyn RewritePattern| pattern.generated().iter().copied().find(hopeless);
    (0..).zip(set.iter()).filter_map(|(i, pattern)| Some((i, made(pattern)?))).collect()
}

/// The steps from each name that a pattern is rooted at to legal operations, where there is a way.
fn depths(
    context: &Context,
    target: &ConversionTarget,
    set: &FrozenPatternSet,
) -> FxHashMap<Name, u32> {
    let mut depths: FxHashMap<Name, u32> = FxHashMap::default();
    // Each round settles at least one name, so there are at most as many rounds as names.
    loop {
        let mut changed = false;
        for pattern in set.iter() {
            let Roots::Names(names) = pattern.roots() else { continue };
            let Some(depth) = steps(context, target, &depths, pattern) else { continue };
            for name in names {
                let known = depths.entry(name).or_insert(u32::MAX);
                if depth < *known {
                    *known = depth;
                    changed = true;
                }
            }
        }
        if !changed {
            return depths;
        }
    }
}

/// One more than the steps from the operation that `pattern` makes which is farthest from legal.
fn steps(
    context: &Context,
    target: &ConversionTarget,
    depths: &FxHashMap<Name, u32>,
    pattern: &dyn RewritePattern,
) -> Option<u32> {
    let mut most = 0;
    for &name in pattern.generated() {
        let depth =
            if target.may_be_legal(context, name) { 0 } else { depths.get(&name).copied()? };
        most = most.max(depth);
    }
    Some(most + 1)
}
