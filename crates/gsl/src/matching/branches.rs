//! The branches of a variadic output: as many as possible.
//!
//! Branch 0 is at the root. The others are looked for among the users of what all branches share;
//! each candidate that could be a branch by itself is taken or left, and a branch and bound keeps
//! the choice with the most branches. Where the branches do not stand in each other's way, the
//! first choice takes all candidates, and nothing else is tried.

use std::rc::Rc;

use super::bindings::{Frame, Target};
use super::solver::{Check, Goal, Solver};
use crate::ast::{PatId, PatternKind};

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
        let pool = self.independent(own, pool);
        self.extend(pool.into(), 0)
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
        let mut ways = Vec::new();
        if self.is_ordered() {
            for i in 0..pool.len() {
                let rest = pool.iter().enumerate().filter(|(j, _)| *j != i);
                let rest = rest.map(|(_, target)| *target).collect();
                ways.push(Goal::Take { pool: pool.clone(), next: i, rest: Some(rest) });
            }
            ways.push(Goal::Close);
        } else {
            ways.push(Goal::Take { pool: pool.clone(), next, rest: None });
            ways.push(Goal::Extend { pool, next: next + 1 });
        }
        self.choose(ways)
    }

    /// Takes candidate `next` as a branch.
    pub(super) fn take(
        &mut self,
        pool: &Rc<[Target]>,
        next: usize,
        rest: Option<Rc<[Target]>>,
    ) -> bool {
        let Some((variadic, id)) = self.variadic() else { return false };
        let index = self.bindings.growing.len();
        let frame = self.bindings.open(variadic, index, Frame::ROOT);
        self.grow(frame);
        self.push(match rest {
            Some(rest) => Goal::Extend { pool: rest, next: 0 },
            None => Goal::Extend { pool: pool.clone(), next: next + 1 },
        });
        self.push(Goal::Match { frame, id, target: pool[next] });
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
