//! Types that the text of an operation does not say, by the rules of its format.

use smallvec::smallvec;

use super::Parser;
use super::custom::{Draft, Types};
use crate::assembly::{Group, TypeRule};
use crate::op_def::Traits;
use crate::shaped;
use crate::types::{Type, TypeData};

impl<'a> Parser<'a> {
    /// A type of a dialect of which nothing but the text is known.
    pub(super) fn type_called(&self, text: &str) -> Type {
        self.context.ty(TypeData::Opaque(self.context.str(text)))
    }

    /// The type of value `n` of operand `i`, as far as the text and the rules say it.
    pub(super) fn operand_type(&self, draft: &Draft<'a>, i: usize, n: usize) -> Option<Type> {
        if let Some(types) = &draft.types[i] {
            return types.get(n).or(types.last()).copied();
        }
        let same = draft.def.traits.contains(Traits::SAME_TYPE);
        let mut known = draft.types.iter().chain(&draft.results).flatten().flatten();
        known.next().copied().filter(|_| same)
    }

    /// Fills in the types that the format does not write.
    pub(super) fn apply_rules(&self, draft: &mut Draft<'a>) {
        for &(place, rule) in &draft.program.rules {
            let count = match place {
                Group::Operand(i) => draft.operands[i].len(),
                Group::Result(_) => 1,
            };
            // Several values take the types of as many others.
            if let TypeRule::Same(other) = rule
                && let Some(types) = self.known_types(draft, other)
                && (types.len() == count || matches!(place, Group::Result(_)))
            {
                let types = types.clone();
                match place {
                    Group::Operand(i) => draft.types[i] = Some(types),
                    Group::Result(i) => draft.results[i] = Some(types),
                }
                continue;
            }
            let ty = match rule {
                TypeRule::Index => Some(self.context.ty(TypeData::Index)),
                TypeRule::Integer(width) => Some(self.context.int_type(width)),
                TypeRule::Named(text) => Some(self.type_called(text)),
                TypeRule::Own => match place {
                    Group::Operand(i) => {
                        let first = draft.operands[i].first();
                        first.and_then(|used| self.defined_type(used))
                    }
                    Group::Result(_) => None,
                },
                TypeRule::Same(other) => self.first_type(draft, other),
                TypeRule::Element(other) => {
                    let ty = self.first_type(draft, other);
                    ty.and_then(|ty| match *self.context.type_data(ty) {
                        TypeData::Complex(part) => Some(part),
                        _ => shaped::element(self.context, ty),
                    })
                }
            };
            let Some(ty) = ty else { continue };
            match place {
                Group::Operand(i) => draft.types[i] = Some(smallvec![ty; count]),
                Group::Result(i) => draft.results[i] = Some(smallvec![ty; count]),
            }
        }
    }

    fn known_types<'d>(&self, draft: &'d Draft<'a>, group: Group) -> Option<&'d Types> {
        match group {
            Group::Operand(i) => draft.types[i].as_ref(),
            Group::Result(i) => draft.results[i].as_ref(),
        }
    }

    fn first_type(&self, draft: &Draft<'a>, group: Group) -> Option<Type> {
        self.known_types(draft, group)?.first().copied()
    }
}
