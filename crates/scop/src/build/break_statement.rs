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

impl Builder<'_> {
    /// Notes where the innermost loop ends.
    pub(super) fn leave(&mut self, node: &Node<Statement>) -> Result<(), Problem> {
        let first = self.firsts.last().copied().unwrap_or_default();
        let own = self.conditions[first..].iter().chain(self.skipped.last().into_iter().flatten());
        let all = Formula::all(own.cloned());
        let Some(left) = self.left.last_mut() else {
            return self.wrong(node, "leaves the loop: control must be affine");
        };
        left.push(all);
        self.skip(node)
    }

    /// Lets no iteration run behind one that leaves the innermost loop.
    ///
    /// `head`: the loop's own conditions; `start`: its first statement.
    pub(super) fn end_at_leaving(&mut self, head: &[Formula], forwards: bool, start: usize) {
        let left = self.left.pop().unwrap_or_default();
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
        let (mut unknown, mut open) = (None, vec![body]);
        while let Some(node) = open.pop() {
            let found = jumps(node);
            if !found.breaks && !found.continues {
                continue;
            }
            match &node.node {
                Statement::If(choice) => {
                    if self.condition(&choice.node.condition).is_err() {
                        let message = "leaves the loop, on a condition that is not affine";
                        unknown = self.wrong::<_, ()>(node, message).err();
                        break;
                    }
                    open.extend(below(&node.node));
                }
                Statement::Compound(items) => open.extend(items.iter().filter_map(|item| {
                    let BlockItem::Statement(inner) = &item.node else { return None };
                    Some(inner)
                })),
                _ => {}
            }
        }
        self.loops.pop();
        unknown
    }
}
