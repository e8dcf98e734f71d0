//! The words that name operations with a format of their own.

use super::Parser;
use super::operations::OpenRegion;
use super::texts::Texts;
use crate::assembly::Program;
use crate::context::Name;
use crate::op_def::OpDef;

/// An operation's name, what it is, and how its text reads.
pub(super) type Named<'a> = (Name, &'static OpDef, &'a Program);

/// The operations that words named before: in full, and without the dialect that goes without
/// saying, by that dialect.
#[derive(Default)]
pub(super) struct Words<'a> {
    full: Texts<'a, Named<'a>>,
    short: Vec<(&'static str, Texts<'a, Named<'a>>)>,
}

impl<'a> Parser<'a> {
    /// The operation that the current word names: in full, or without the dialect that goes
    /// without saying where it stands.
    pub(super) fn custom_name(&mut self, open: &[OpenRegion<'a>]) -> Option<Named<'a>> {
        let (start, end) = (self.token.start as usize, self.token.end as usize);
        if let Some(named) = self.named.full.find(self.src, start, end) {
            return Some(named);
        }
        let around = match open.last() {
            None => "builtin",
            Some(top) => {
                let op = top.owner.op;
                op.and_then(|op| self.module.def(op)).map_or("", |def| def.default_dialect)
            }
        };
        let at = self.named.short.iter().position(|entry| std::ptr::eq(entry.0, around));
        if let Some(at) = at
            && let Some(named) = self.named.short[at].1.find(self.src, start, end)
        {
            return Some(named);
        }
        let (word, context) = (self.spelling(self.token), self.context);
        let find = |name: &str| {
            let name = context.find_name(name)?;
            Some((name, context.def(name)?, context.program(name)?))
        };
        if let Some(named) = find(word).filter(|_| word.contains('.')) {
            return Some(self.named.full.find_or_insert(self.src, start, end, named));
        }
        let named = find(&format!("{around}.{word}")).or_else(|| find(&format!("func.{word}")))?;
        let at = at.unwrap_or_else(|| {
            self.named.short.push((around, Texts::default()));
            self.named.short.len() - 1
        });
        Some(self.named.short[at].1.find_or_insert(self.src, start, end, named))
    }
}
