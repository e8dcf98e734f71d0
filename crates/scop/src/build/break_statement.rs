//! `break`: iterations behind the first one that leaves its loop do not run.
//!
//! ```c
//! for (int i = 0; i < n; i++) {
//!     x[i] = 1;                   // not (exists e : e < i and 0 <= e < n and e = m)
//!     if (i == m) break;
//!     y[i] = 1;                   // and not i = m
//! }
//! ```
//!
//! A loop that data leaves is one statement.

use lang_c::ast::{BlockItem, Statement};
use lang_c::span::Node;
use tangram_presburger::formula::{Comparison, Expr, Formula};

use super::Builder;
use crate::Problem;
use crate::black_box::jumps;
use crate::source::below;

/// A loop or a `switch` around the place that is read.
pub(super) struct Breakable {
    pub is_loop: bool,
    /// How many conditions there were in front of its body.
    first: usize,
    /// Where no jump has skipped what follows.
    pub skipped: Vec<Formula>,
    /// Where `break` ends it, of a loop.
    pub left: Vec<Formula>,
}

impl Breakable {
    pub fn of_loop(first: usize) -> Self {
        Self { is_loop: true, first, skipped: Vec::new(), left: Vec::new() }
    }

    pub fn of_switch(first: usize) -> Self {
        Self { is_loop: false, ..Self::of_loop(first) }
    }
}

impl Builder<'_> {
    /// Returns the conditions of a statement at the place that is read.
    pub(super) fn all_conditions(&self) -> Vec<Formula> {
        let skipped = self.breakable.iter().flat_map(|around| &around.skipped);
        self.conditions.iter().chain(skipped).cloned().collect()
    }

    /// Notes where the innermost loop or `switch` ends.
    pub(super) fn leave(&mut self, node: &Node<Statement>) -> Result<(), Problem> {
        let Some(at) = self.breakable.len().checked_sub(1) else { return self.leaves(node) };
        let here = self.skip(at);
        let around = &mut self.breakable[at];
        if around.is_loop {
            around.left.push(here);
        }
        Ok(())
    }

    /// What stands behind a `continue` runs where its conditions do not hold.
    pub(super) fn continue_loop(&mut self, node: &Node<Statement>) -> Result<(), Problem> {
        let Some(at) = self.breakable.iter().rposition(|around| around.is_loop) else {
            return self.leaves(node);
        };
        self.skip(at);
        Ok(())
    }

    /// Skips the rest of what is around the place that is read; returns where that happens.
    fn skip(&mut self, at: usize) -> Formula {
        let here = self.conditions[self.breakable[at].first..].iter();
        let inside = self.breakable[at + 1..].iter().flat_map(|around| &around.skipped);
        let all = Formula::all(here.chain(inside).cloned());
        let before = self.breakable[at].skipped.iter().cloned();
        let first = Formula::all([all.clone()].into_iter().chain(before));
        self.breakable[at].skipped.push(match all.is_always() {
            true => Formula::never(),
            false => all.negated(),
        });
        first
    }

    /// Says of a jump that it leaves what is followed. Outside of all loops, the branches around it
    /// may still hold parts, as those of conditions on data.
    pub(super) fn leaves(&mut self, node: &Node<Statement>) -> Result<(), Problem> {
        if !self.is_outermost() {
            return self.wrong(node, "leaves the loop: control must be affine");
        }
        self.guards += 1;
        self.wrong(node, "leaves the part: control must go on behind it")
    }

    /// Lets no iteration run behind one that leaves the innermost loop.
    ///
    /// `head`: the loop's own conditions; `left`: where `break` ends it; `start`: its first
    /// statement.
    pub(super) fn end_at_leaving(
        &mut self,
        head: &[Formula],
        left: Vec<Formula>,
        forwards: bool,
        start: usize,
    ) {
        let Some(name) = self.loops.last().cloned().filter(|_| !left.is_empty()) else { return };
        let taken =
            |new: &String| head.iter().chain(&left).any(|condition| condition.mentions(new));
        let mut earlier = format!("{name}_left");
        while taken(&earlier) {
            earlier.push('_');
        }
        let mut of_earlier = Formula::all(head.iter().cloned().chain([Formula::any(left)]));
        of_earlier.rename(&name, &earlier);
        let order = if forwards { Comparison::Below } else { Comparison::Above };
        let ordered = Expr::name(&earlier).compared(order, Expr::name(&name));
        let runs = Formula::all([ordered, of_earlier]);
        let condition = Formula::Exists(vec![earlier], Box::new(runs)).negated();
        for raw in &mut self.statements[start..] {
            raw.conditions.push(condition.clone());
        }
    }

    /// Says why it is not known which iteration leaves a loop over `name`, if one does.
    pub(crate) fn unknown_leaving(
        &mut self,
        name: &str,
        body: &Node<Statement>,
    ) -> Option<Problem> {
        if !jumps(body).breaks {
            return None;
        }
        self.loops.push(name.to_owned());
        let unknown = self.unknown_jump(body, "leaves the loop, on a condition that is not affine");
        self.loops.pop();
        unknown
    }

    /// Finds a condition that is not affine around a jump out of `body`.
    pub(super) fn unknown_jump(
        &mut self,
        body: &Node<Statement>,
        message: &str,
    ) -> Option<Problem> {
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            let found = jumps(node);
            if !found.breaks && !found.continues {
                continue;
            }
            match &node.node {
                Statement::If(choice) => {
                    if self.condition(&choice.node.condition).is_err() {
                        return self.wrong::<_, ()>(node, message).err();
                    }
                    open.extend(below(&node.node));
                }
                Statement::Labeled(_) => open.extend(below(&node.node)),
                Statement::Compound(items) => open.extend(items.iter().filter_map(|item| {
                    let BlockItem::Statement(inner) = &item.node else { return None };
                    Some(inner)
                })),
                _ => {}
            }
        }
        None
    }
}
