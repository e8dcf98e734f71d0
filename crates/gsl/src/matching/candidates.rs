//! Where a further output may be: up from what is matched, along the users of values.

use rustc_hash::FxHashSet;
use tangram_ir::Op;

use super::bindings::{Frame, Target};
use super::solver::{Goal, Solver};
use crate::ast::{PatId, PatternKind};
use crate::plan::{Route, Ways};

/// How many users of a value are counted when ways are compared.
const MAX_COUNTED: usize = 64;

impl Solver<'_> {
    /// Looks for output `k`.
    pub(super) fn find_output(&mut self, k: usize) -> bool {
        let id = self.plan.rule().sources()[k];
        let place = self.bindings.resolve(self.plan, Frame::ROOT, id);
        if self.bindings.slot(place).is_some() {
            return true;
        }
        let candidates = self.candidates(k, Frame::ROOT, id);
        let goal = |target| Goal::Match { frame: Frame::ROOT, id, target };
        if candidates.is_empty() {
            let texts = || (self.plan.describe(id), "no such user of what is matched".into());
            return self.missed(id, Some(self.root), texts);
        }
        let alike = (candidates.len() > 2).then(|| Box::new(self.alike(&candidates)));
        self.choose_among(candidates.into_iter().map(goal).collect(), alike)
    }

    /// Lists what pattern `root` of output `k` may be, in the order of operations.
    ///
    /// Every match is among them: each goes along some way, and of the ways from matched values
    /// the one with the fewest users at its start is taken.
    pub(super) fn candidates(&self, k: usize, frame: Frame, root: PatId) -> Vec<Target> {
        let mut found = match self.reach(self.plan.ways(k), frame) {
            Some(found) => found,
            None => self.scan(root),
        };
        let inside = |target: &Target| {
            target.op(self.module).and_then(|op| self.module.block(op)) == self.block
        };
        found.retain(inside);
        let mut seen = FxHashSet::default();
        found.retain(|target| seen.insert(self.key(*target)));
        let mut ops: Vec<(Op, Target)> =
            found.into_iter().filter_map(|t| Some((t.op(self.module)?, t))).collect();
        ops.sort_by(|(a, _), (b, _)| {
            self.module.is_before(*b, *a).cmp(&self.module.is_before(*a, *b))
        });
        ops.into_iter().map(|(_, target)| target).collect()
    }

    /// Follows the best way that starts at what is matched; none if no way does.
    fn reach(&self, ways: &Ways, frame: Frame) -> Option<Vec<Target>> {
        let bound = ways.direct.iter().filter_map(|route| {
            let target = self.bindings.target(self.plan, frame, route.from)?;
            Some((self.count_users(target), route, target))
        });
        if let Some((_, route, target)) = bound.min_by_key(|(users, ..)| *users) {
            return Some(self.climb(route, vec![target]));
        }
        // Through an alternative: a match takes one of its options, whichever.
        ways.options.iter().find_map(|(route, options)| {
            let mut level = Vec::new();
            for option in options {
                level.extend(self.reach(option, frame)?);
            }
            Some(self.climb(route, level))
        })
    }

    fn count_users(&self, target: Target) -> usize {
        match self.key(target) {
            Target::Value(value) => self.module.uses(value).take(MAX_COUNTED).count(),
            Target::Results(op) => {
                let uses = self.module.results(op).flat_map(|value| self.module.uses(value));
                uses.take(MAX_COUNTED).count()
            }
        }
    }

    /// Every value that an operation of the block makes.
    fn scan(&self, root: PatId) -> Vec<Target> {
        let ops = self.block.into_iter().flat_map(|block| self.module.ops(block));
        if matches!(self.plan.rule().pattern(root).kind, PatternKind::Call { .. }) {
            return ops.flat_map(|op| self.made(root, op)).collect();
        }
        ops.flat_map(|op| self.module.results(op)).map(Target::Value).collect()
    }

    fn made(&self, id: PatId, op: Op) -> Vec<Target> {
        if self.plan.is_tuple(id) {
            vec![Target::Results(op)]
        } else {
            self.module.results(op).take(1).map(Target::Value).collect()
        }
    }

    fn climb(&self, route: &Route, mut level: Vec<Target>) -> Vec<Target> {
        for &step in &route.steps {
            let mut next = Vec::new();
            let mut seen = FxHashSet::default();
            for target in level {
                for above in self.above(target, step) {
                    if seen.insert(above) {
                        next.push(above);
                    }
                }
            }
            level = next;
        }
        level
    }

    /// Lists what pattern `step` may be if one of its parts is `target`.
    fn above(&self, target: Target, step: PatId) -> Vec<Target> {
        match self.plan.rule().pattern(step).kind {
            PatternKind::Call { op, associative, .. } => {
                let named = |user: &Op| self.plan.names(op).contains(&self.module.name(*user));
                let mut users: Vec<Op> = self.users(target).into_iter().filter(named).collect();
                let mut known: FxHashSet<Op> = users.iter().copied().collect();
                let mut at = 0;
                // A flattened call may have the operand further below.
                while associative && at < users.len() {
                    for above in self.made(step, users[at]) {
                        let more = self.users(above).into_iter().filter(named);
                        users.extend(more.filter(|op| known.insert(*op)).collect::<Vec<_>>());
                    }
                    at += 1;
                }
                users.into_iter().flat_map(|user| self.made(step, user)).collect()
            }
            PatternKind::Proj { .. } => match target {
                Target::Results(op) => self.module.results(op).map(Target::Value).collect(),
                Target::Value(_) => Vec::new(),
            },
            _ => vec![target],
        }
    }

    /// Lists the operations that use a value, each once, earliest first where they share a block.
    fn users(&self, target: Target) -> Vec<Op> {
        let Some(value) = self.key(target).value(self.module) else { return Vec::new() };
        let mut users: Vec<Op> = self.module.uses(value).map(|user| user.op).collect();
        users.sort_unstable();
        users.dedup();
        users
    }
}
