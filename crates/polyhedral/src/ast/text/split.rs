//! Loops that run a part of their iterations.
//!
//! A loop over blocks is shared out by the iterations of the loop within a block, if there are such
//! loops: two blocks of 2,040 and 1,096 rows are otherwise the whole work of two threads.
//!
//! ```text
//! for (c0 = 0; c0 < n; c0 += 2040)                     for (c0 = 12 * first0; c0 < min(n, 12 * last0); c0 += 2040)
//!   for (c1 ...)                                 ──▶     for (c1 ...)
//!     for (c2 = c0; c2 < min(n, c0 + 2040); c2 += 12)      for (c2 = c0; c2 < min(n, c0 + 2040, 12 * last0); c2 += 12)
//! ```

use super::expression::Strength;
use super::{CStyle, Writer};
use crate::ast::{Ast, AstNode, AstNodeKind, Expr, ExprKind};

/// A loop that can run a part of its iterations ([`CStyle::split`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitLoop {
    /// The dimension of the schedule.
    pub dimension: u32,
    /// How many iterations it has, as text over parameters; 0 or less for none. Of a loop over
    /// blocks, how many the loops within all blocks have.
    pub count: String,
    /// The loop within a block.
    within: Option<Within>,
}

/// A loop over what is in a block of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Within {
    dimension: u32,
    step: i128,
    /// Where blocks begin, as text.
    lower: String,
    /// Where the last block ends, inclusive, as text.
    upper: String,
}

impl Ast {
    /// Finds the outermost loops, each the whole body of the one before, whose bounds depend on
    /// parameters alone; a loop that has none inside only `with_innermost`, or where there is no
    /// other.
    pub fn outermost_loops(&self, style: &CStyle, with_innermost: bool) -> Vec<SplitLoop> {
        let none = |_: &str, _: &[String]| String::new();
        let writer = Writer::new(self, style, &none);
        let (mut found, mut dimensions) = (Vec::new(), Vec::new());
        let mut open = self.root();
        while let Some(node) = open.take() {
            match self.node(node) {
                AstNodeKind::For { iterator, lower, upper: Some(upper), step, body, .. } => {
                    let uses = |at: &u32| self.uses(*lower, *at) || self.uses(*upper, *at);
                    let last = !with_innermost && writer.innermost(*body) && !found.is_empty();
                    if dimensions.iter().any(uses) || last {
                        break;
                    }
                    dimensions.push(*iterator);
                    let within = if with_innermost {
                        writer.within(*iterator, *lower, *step, *body)
                    } else {
                        None
                    };
                    let count = match &within {
                        Some(Within { step, lower, upper, .. }) => {
                            format!("({upper} - {lower} + {step}) / {step}")
                        }
                        None => {
                            let upper = writer.operand(*upper, Strength::Sum);
                            let lower = writer.operand(*lower, Strength::Product);
                            format!("({upper} - {lower} + {step}) / {step}")
                        }
                    };
                    found.push(SplitLoop { dimension: *iterator, count, within });
                    open = Some(*body);
                }
                AstNodeKind::Mark { body, .. } => open = Some(*body),
                AstNodeKind::If { then, otherwise: None, .. } if found.is_empty() => {
                    open = Some(*then);
                }
                AstNodeKind::Block(list) if list.len() == 1 => open = list.first().copied(),
                _ => {}
            }
        }
        found
    }

    /// Whether anything in a piece of code depends on an iterator.
    fn mentions(&self, node: AstNode, iterator: u32) -> bool {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let found = match self.node(node) {
                AstNodeKind::For { lower, upper, .. } => {
                    upper.iter().chain([lower]).any(|bound| self.uses(*bound, iterator))
                }
                AstNodeKind::If { condition, .. } => self.uses(*condition, iterator),
                AstNodeKind::Call { arguments, .. } => {
                    arguments.iter().any(|argument| self.uses(*argument, iterator))
                }
                AstNodeKind::Block(_) | AstNodeKind::Mark { .. } => false,
            };
            if found {
                return true;
            }
            open.extend(self.children(node));
        }
        false
    }
}

impl Writer<'_> {
    /// Finds the loop over what is in a block of `size` iterations of a loop: the only code that
    /// depends on its iterator, from there on, to the end of the block or that of all.
    fn within(&self, iterator: u32, first: Expr, size: i128, body: AstNode) -> Option<Within> {
        let ast = self.ast;
        let mut open = body;
        loop {
            match ast.node(open) {
                AstNodeKind::Mark { body, .. } => open = *body,
                AstNodeKind::Block(list) if list.len() == 1 => open = list[0],
                AstNodeKind::For {
                    iterator: dimension,
                    lower,
                    upper: Some(upper),
                    step,
                    body,
                    ..
                } => {
                    if *ast.expr(*lower) != ExprKind::Iterator(iterator) {
                        if [lower, upper].iter().any(|bound| ast.uses(**bound, iterator)) {
                            return None;
                        }
                        open = *body;
                        continue;
                    }
                    let upper = self.end_of_all(*upper, iterator, size)?;
                    let fits = size % step == 0 && !ast.mentions(*body, iterator);
                    let lower = self.operand(first, Strength::Product);
                    return fits.then_some(Within {
                        dimension: *dimension,
                        step: *step,
                        lower,
                        upper,
                    });
                }
                _ => return None,
            }
        }
    }

    /// What an upper bound is besides the end of a block of `size` that starts at `iterator`.
    fn end_of_all(&self, upper: Expr, iterator: u32, size: i128) -> Option<String> {
        let ast = self.ast;
        let ExprKind::Min(bounds) = ast.expr(upper) else { return None };
        let is_end = |bound: &Expr| match ast.expr(*bound) {
            ExprKind::Add(a, b) => {
                *ast.expr(*a) == ExprKind::Iterator(iterator)
                    && *ast.expr(*b) == ExprKind::Int(size - 1)
            }
            _ => false,
        };
        let (ends, others): (Vec<Expr>, Vec<Expr>) = bounds.iter().partition(|bound| is_end(bound));
        let fits = ends.len() == 1 && !others.iter().any(|bound| ast.uses(*bound, iterator));
        match others[..] {
            [one] if fits => Some(self.operand(one, Strength::Sum)),
            [_, ..] if fits => Some(self.nested("min", &others)),
            _ => None,
        }
    }

    /// The head of a loop that is shared out, or whose block is; nothing of other loops.
    pub(super) fn split_head(
        &self,
        iterator: u32,
        (lower, upper): (Expr, Expr),
        step: i128,
    ) -> Option<String> {
        let (name, index) = (self.iterator(iterator), &self.style.index);
        let min = format!("{}min", self.style.prefix);
        for split in &self.style.split {
            let d = split.dimension;
            match &split.within {
                None if d == iterator => {
                    let first = self.operand(lower, Strength::Product);
                    return Some(format!(
                        "for ({index} {name} = {first} + first{d} * {step}; {name} < {first} + \
                         last{d} * {step}; {name} += {step})"
                    ));
                }
                Some(Within { step: own, lower: first, upper: last, .. }) if d == iterator => {
                    return Some(format!(
                        "for ({index} {name} = {first} + first{d} * {own}; {name} <= \
                         {min}({last}, {first} + last{d} * {own} - 1); {name} += {step})"
                    ));
                }
                Some(Within { dimension, step: own, lower: first, .. })
                    if *dimension == iterator =>
                {
                    let (from, upper) = (self.text(lower), self.text(upper));
                    return Some(format!(
                        "for ({index} {name} = {from}; {name} <= \
                         {min}({upper}, {first} + last{d} * {own} - 1); {name} += {own})"
                    ));
                }
                _ => {}
            }
        }
        None
    }
}
