//! The branches of a variadic output: as many as possible.
//!
//! Branch 0 is at the root. The others are looked for among the users of what all branches share;
//! each candidate that could be a branch by itself is taken or left, and a branch and bound keeps
//! the choice with the most branches. Where the branches do not stand in each other's way, the
//! first choice takes all candidates, and nothing else is tried.
//!
//! Branches that read their index come in an order: each candidate that is left is tried as the next
//! one, first the one behind the last that was taken, as users of results and uses of a value mostly
//! come in that order too.

use std::rc::Rc;

use super::bindings::{Frame, Target};
use super::solver::{Check, Goal, Solver};
use crate::ast::{PatId, PatternKind};

/// The candidates that are branches now.
#[derive(Default)]
pub(super) struct Taken {
    /// Their places in the pool, in the order in which they were taken.
    pub(super) places: Vec<usize>,
    /// Whether the candidate at a place is one of them.
    pub(super) marks: Vec<bool>,
}

impl Solver<'_> {
    fn variadic(&self) -> Option<(PatId, PatId)> {
        self.variadic_output()
    }

    /// Returns whether the branches read their index, so that their order matters.
    fn is_ordered(&self) -> bool {
        let Some((variadic, _)) = self.variadic() else { return false };
        matches!(
            self.plan.rule().pattern(variadic).kind,
            PatternKind::Variadic { index: Some(_), .. }
        )
    }

    /// Collects the candidates for branches after the first.
    pub(super) fn gather(&mut self) -> bool {
        let Some((variadic, field)) = self.variadic() else { return false };
        let own = self.bindings.target(self.plan, Frame(1), field);
        let frame = self.bindings.open(variadic, 1, Frame::ROOT);
        let mut pool = self.candidates(0, frame, field);
        pool.retain(|target| Some(*target) != own);
        if !self.is_ordered() {
            pool.retain(|target| self.can(Goal::Match { frame, id: field, target: *target }));
        }
        let pool: Rc<[Target]> = self.independent(own, pool).into();
        self.taken = Taken { places: Vec::new(), marks: vec![false; pool.len()] };
        if self.is_ordered() {
            self.order(Rc::clone(&pool), 0, pool.len())
        } else {
            self.extend(pool, 0)
        }
    }

    /// Takes further branches, or ends with those there are.
    pub(super) fn extend(&mut self, pool: Rc<[Target]>, next: usize) -> bool {
        let taken = self.bindings.growing.len();
        if taken + (pool.len() - next) <= self.best {
            return false;
        }
        if next == pool.len() {
            self.push(Goal::Close);
            return true;
        }
        let take = Goal::Take { pool: pool.clone(), next, ordered: false };
        self.choose(vec![take, Goal::Extend { pool, next: next + 1 }])
    }

    /// Takes one of the candidates as the next branch in order, or ends with those there are: looks at
    /// `left` of them, from `next` on and around.
    pub(super) fn order(&mut self, pool: Rc<[Target]>, mut next: usize, mut left: usize) -> bool {
        let (taken, others) = (self.bindings.growing.len(), pool.len() - self.taken.places.len());
        if taken + others <= self.best {
            return false;
        }
        while left > 0 && self.taken.marks[next] {
            (next, left) = ((next + 1) % pool.len(), left - 1);
        }
        if left == 0 {
            self.push(Goal::Close);
            return true;
        }
        let take = Goal::Take { pool: pool.clone(), next, ordered: true };
        let next = (next + 1) % pool.len();
        self.choose(vec![take, Goal::Order { pool, next, left: left - 1 }])
    }

    /// Takes candidate `next` as a branch.
    pub(super) fn take(&mut self, pool: Rc<[Target]>, next: usize, ordered: bool) -> bool {
        let Some((variadic, id)) = self.variadic() else { return false };
        let index = self.bindings.growing.len();
        let frame = self.bindings.open(variadic, index, Frame::ROOT);
        self.grow(frame);
        self.mark_taken(next);
        let (target, behind) = (pool[next], next + 1);
        self.push(if ordered {
            Goal::Order { next: behind % pool.len(), left: pool.len(), pool }
        } else {
            Goal::Extend { pool, next: behind }
        });
        self.push(Goal::Match { frame, id, target });
        true
    }

    /// Ends the variadic output.
    pub(super) fn close(&mut self) -> bool {
        let Some((variadic, _)) = self.variadic() else { return false };
        let PatternKind::Variadic { length, min_len, .. } = self.plan.rule().pattern(variadic).kind
        else {
            return false;
        };
        let frames = self.bindings.growing.clone();
        let least = min_len.unwrap_or(1) as usize;
        if frames.len() < least || frames.len() <= self.best {
            let texts = || (format!("{least} branches"), format!("{}", frames.len()));
            return self.missed(variadic, Some(self.root), texts);
        }
        let bound = self.bindings.list(&frames);
        self.bind((Frame::ROOT, variadic), bound)
            && (length.is_none()
                || self.check(Check::Length { frame: Frame::ROOT, id: variadic }, false))
    }
}
