//! Integers that are names of affine values.
//!
//! ```c
//! int at = y * w + x;
//! out[at] = in[at - 1];                               // out[y * w + x] = in[y * w + x - 1]
//! ```
//!
//! An integer that is set once, where it is declared, to a value that loops and parameters decide
//! is another way to write that value.

use lang_c::ast::{Declaration, Expression, InitDeclarator};
use lang_c::span::Node;

use super::Builder;
use crate::c_integer::Range;
use crate::c_tokens::{Token, tokens, words};
use crate::declare::{element, is_small, is_wide};
use crate::source::declared_name;
use crate::subscript::{Settled, Subscript};

impl Builder<'_> {
    /// Returns the value that a name of the source stands for.
    pub(crate) fn value_of(&self, name: &str) -> Option<&Settled> {
        let values = self.scopes.values.iter().rev();
        values.into_iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Notes that a variable is the name of a value, if it is; its declaration then needs no
    /// statement, unless what follows the part could use it.
    pub(super) fn declare_value(
        &mut self,
        node: &Node<Declaration>,
        declarator: &Node<InitDeclarator>,
        value: &Node<Expression>,
    ) -> bool {
        let own = &declarator.node.declarator.node;
        let Some(name) = declared_name(own).filter(|_| own.derived.is_empty()) else {
            return false;
        };
        let element = element(&node.node.specifiers, self.source);
        let resolved = self.names.resolved(&element);
        let once = self.written.declared.get(&name) == Some(&1);
        let stays = once && !self.is_assigned(&name) && !self.written.loops.contains(&name);
        let kept = self.is_outermost() && self.kept.contains(&name);
        if !stays
            || kept
            || self.hidden.contains(&name)
            || !is_wide(&resolved)
            || resolved.starts_with("enum ")
        {
            return false;
        }
        let mut settled = self.settled(&Subscript::one(value));
        settled.element.clone_from(&element);
        if settled.cases.is_none() && settled.polynomial.is_none() {
            return false;
        }
        // Sums of `int` are of that type already.
        let small = |word: &str| match self.type_of(word) {
            Some(other) => is_small(&other),
            None => word.bytes().all(|byte| byte.is_ascii_digit()),
        };
        if resolved != "int" || !words(&settled.text).all(small) {
            settled.text = format!("({element})({})", settled.text);
        }
        // What the value is made of wraps around where that does.
        settled.wrapping = settled.wrapping.converted(Some(Range::of(&resolved)));
        if let Some(cases) = &settled.cases {
            settled.claims.extend(self.claims_of(value, cases, Range::of(&resolved)));
        }
        self.scopes.values.push((name, settled));
        true
    }

    /// Returns the type of a loop or another variable.
    fn type_of(&self, name: &str) -> Option<String> {
        let at = self.loops.iter().position(|other| other == name);
        let element = match at {
            Some(at) => self.types.get(at)?.as_str(),
            None => self.element(name)?,
        };
        Some(self.names.resolved(element))
    }

    /// Puts values in the place of their names, and the part's names in that of the source's.
    pub(super) fn renamed(&self, from: usize, to: usize) -> String {
        let text = self.source.text.get(from..to).unwrap_or_default();
        if self.scopes.is_plain() {
            return text.to_owned();
        }
        let mut result = String::new();
        for (at, token) in tokens(text) {
            let word = match token {
                Token::Name(word) => word,
                Token::Other(other) => {
                    result.push_str(other);
                    continue;
                }
            };
            match self.value_of(word) {
                Some(value) => {
                    let behind = text[at + word.len()..].trim_start();
                    let whole = result.trim_end().ends_with('[') && behind.starts_with(']');
                    let text = &value.text;
                    result.push_str(&if whole { text.clone() } else { format!("({text})") });
                }
                None => result.push_str(self.named(word)),
            }
        }
        result
    }
}
