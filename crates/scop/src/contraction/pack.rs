//! Packing loops of contractions as C.
//!
//! Variables have the names of the source's loops, so that operands are written as they stand
//! there:
//!
//! ```c
//! for (int k = c1; k <= n - 1 && k < c1 + 256; k++)
//!     for (int j = at; j < at + 8; j++)
//!         *to++ = j <= m - 1 ? B[k][j] : 0;
//! ```

use std::fmt::Write;

use tangram_kernel::Role;
use tangram_polyhedral::contraction::{Contraction, Copied, LoopKind, TileDim};

use super::write::{Tiles, Values, operand};
use crate::declare::is_narrow;

impl Tiles<'_> {
    /// Copies a block of operands to their panels.
    pub(super) fn packing(&self, copied: Copied, value: &Values) -> String {
        let Contraction { tile, blocking, .. } = self.contraction;
        let (kind, outer, step, size) = match copied {
            Copied::Rows => (LoopKind::Row, LoopKind::RowOuter, tile.rows, blocking.rows),
            Copied::Columns => {
                (LoopKind::Column, LoopKind::ColumnOuter, tile.columns(), blocking.columns)
            }
        };
        let mut text = String::from("{\n");
        text.push_str(&self.own_panels(|role| role == copied.role()));
        let around = |own| own == outer || matches!(own, LoopKind::Batch | LoopKind::ReducedOuter);
        let all: Vec<usize> = self.copied(copied.role()).collect();
        let texts: Vec<&str> = all.iter().map(|at| self.operands.texts[*at].as_str()).collect();
        for line in self.outer(value, &texts, around) {
            let _ = writeln!(text, "{}{line}", self.indent);
        }
        let loop_at = self.contraction.only(kind);
        for at in all {
            // All threads pack what all of them use, each some of the panels.
            let shared = self.contraction.used_by_all() == Some(copied);
            let mut heads = match shared {
                true => self.head_of_all(at, value, (loop_at, step, size)),
                false => self.head_of_one(at, value, (loop_at, step, size), &mut text),
            };
            heads.extend(self.reduced(value));
            let (head, place) = self.elements(loop_at, step);
            heads.push(head);
            let mut depth = 1;
            for head in &heads {
                let _ = writeln!(text, "{}{head}", self.indent.repeat(depth));
                // Pragmas and declarations have nothing inside.
                depth += usize::from(head.starts_with("for"));
            }
            text.push_str(&self.copy(at, value, (loop_at, &place), &self.indent.repeat(depth)));
            if shared {
                let _ = writeln!(text, "{}}}", self.indent);
            }
        }
        text.push('}');
        text
    }

    /// Lists the operands of a role.
    fn copied(&self, role: Role) -> impl Iterator<Item = usize> {
        let roles = self.contraction.body.roles().iter().enumerate();
        roles.filter(move |(_, own)| **own == role).map(|(at, _)| at)
    }

    /// A pointer that goes through the panels of an operand.
    fn pointer(&self, at: usize) -> String {
        let to = self.local(&format!("to{at}"));
        format!("{} *{to} = {}", self.contraction.element.c_type(), self.panel(at))
    }

    /// The loop over panels, one behind the other.
    fn head_of_one(
        &self,
        at: usize,
        value: &Values,
        (loop_at, step, size): (usize, usize, usize),
        text: &mut String,
    ) -> Vec<String> {
        let _ = writeln!(text, "{}{};", self.indent, self.pointer(at));
        let (first, last) = (value.at(TileDim::First(loop_at)), value.at(TileDim::Last(loop_at)));
        let (from, index) = (self.local("at"), self.index);
        let within = self.within(&from, last, first, size);
        vec![format!("for ({index} {from} = {first}; {within}; {from} += {step})")]
    }

    /// The loop over panels, which threads share.
    fn head_of_all(
        &self,
        at: usize,
        value: &Values,
        (loop_at, step, size): (usize, usize, usize),
    ) -> Vec<String> {
        let [first, last] =
            [TileDim::First(loop_at), TileDim::Last(loop_at)].map(|at| operand(value.at(at)));
        let [from, start] = ["at", "at_first"].map(|name| self.local(name));
        let condition = self.shared_where().pop().map(|(_, condition)| condition);
        let condition = condition.filter(|condition| !condition.is_empty());
        let shared = condition.map(|condition| format!(" if ({condition})")).unwrap_or_default();
        let count = format!("{last} - {first} < {size} ? {last} - {first} + 1 : {size}");
        vec![
            format!("#pragma omp parallel for{shared}"),
            format!("for (long {start} = 0; {start} < ({count}); {start} += {step}) {{"),
            format!("{} + {start} * ({});", self.pointer(at), self.depth(value)),
            format!("const {} {from} = {first} + {start};", self.index),
        ]
    }

    /// The loop over a panel's rows or columns, and what stands for one.
    fn elements(&self, loop_at: usize, step: usize) -> (String, String) {
        let (name, ty) = self.loops[loop_at];
        let [from, r] = ["at", "r"].map(|name| self.local(name));
        // Where the panel goes on behind the last iteration, a small type would begin anew.
        match is_narrow(ty) {
            true => (format!("for (int {r} = 0; {r} < {step}; {r}++)"), format!("{from} + {r}")),
            false => {
                let head =
                    format!("for ({ty} {name} = {from}; {name} < {from} + {step}; {name}++)");
                (head, name.to_owned())
            }
        }
    }

    /// Copies an element, or puts 0 where there is none.
    fn copy(
        &self,
        at: usize,
        value: &Values,
        (loop_at, place): (usize, &str),
        margin: &str,
    ) -> String {
        let ((name, ty), last) = (self.loops[loop_at], value.at(TileDim::Last(loop_at)));
        let (to, inside) = (self.local(&format!("to{at}")), self.inside(loop_at));
        let expression = &self.operands.texts[at];
        let written = format!("*{to}++ = {place} <= {last}{inside} ? {expression} : 0;");
        match is_narrow(ty) {
            true => format!(
                "{margin}{{\n{margin}{0}const {ty} {name} = {place};\n{margin}{0}{written}\n{margin}}}\n",
                self.indent
            ),
            false => format!("{margin}{written}\n"),
        }
    }
}
