//! What was read before, by its text: the same type or map is read once.
//!
//! Kept are words, and words with what stands in the angle brackets that touch them: where such a
//! text ends does not depend on what follows. What it says may depend on aliases, so that a new one
//! makes the parser forget; where these stand for much, each use is counted, and so read.

use super::texts::Texts;
use super::{Parsed, Parser, Token, lexer};
use crate::attributes::Attr;
use crate::context::{Context, Str};
use crate::types::Type;

/// Longer texts are read each time: looking for the end must cost little at every level.
const LONGEST: usize = 128;

/// What was read, by its text.
#[derive(Default)]
pub(super) struct Memo<'a> {
    types: Texts<'a, Type>,
    attrs: Texts<'a, Attr>,
    /// The names of operations and attributes.
    strings: Texts<'a, Str>,
}

impl<'a> Memo<'a> {
    /// Forgets what aliases may change.
    pub(super) fn forget(&mut self) {
        (self.types, self.attrs) = (Texts::default(), Texts::default());
    }

    /// The text of `token` as a string.
    pub(super) fn string(&mut self, context: &Context, text: &'a str, token: Token) -> Str {
        let (start, end) = (token.start as usize, token.end as usize);
        if let Some(string) = self.strings.find(text.as_bytes(), start, end) {
            return string;
        }
        let string = context.str(text.get(start..end).unwrap_or(""));
        self.strings.find_or_insert(text.as_bytes(), start, end, string)
    }
}

impl<'a> Parser<'a> {
    /// What `read` makes of the text at the current token, a word, or made of it the last time.
    pub(super) fn same_type(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<Type>,
    ) -> Parsed<Type> {
        let start = self.token.start as usize;
        let Some(end) = whole_end(self.src, self.token) else { return read(self) };
        if let Some(ty) = self.memo.types.find(self.src, start, end) {
            self.jump(end);
            return Ok(ty);
        }
        let expanded = self.aliases.expanded;
        let ty = read(self)?;
        if self.is_behind(end) && self.aliases.expanded - expanded <= LONGEST as u64 {
            self.memo.types.find_or_insert(self.src, start, end, ty);
        }
        Ok(ty)
    }

    /// As [`Parser::same_type`].
    pub(super) fn same_attr(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<Attr>,
    ) -> Parsed<Attr> {
        let start = self.token.start as usize;
        let Some(end) = whole_end(self.src, self.token) else { return read(self) };
        if let Some(attr) = self.memo.attrs.find(self.src, start, end) {
            self.jump(end);
            return Ok(attr);
        }
        let expanded = self.aliases.expanded;
        let attr = read(self)?;
        if self.is_behind(end) && self.aliases.expanded - expanded <= LONGEST as u64 {
            self.memo.attrs.find_or_insert(self.src, start, end, attr);
        }
        Ok(attr)
    }

    /// Returns whether what ends at `end` is what was read last.
    fn is_behind(&self, end: usize) -> bool {
        lexer::skip_space(self.src, end) == self.token.start as usize
    }
}

/// Where the word `token` ends or, if `<` touches it, the bracket. `None` if that is long, or has
/// comments.
fn whole_end(src: &[u8], token: Token) -> Option<usize> {
    let word_end = token.end as usize;
    if src.get(word_end) != Some(&b'<') {
        return Some(word_end);
    }
    let src = &src[..src.len().min(word_end + LONGEST)];
    let (mut depth, mut at) = (0u32, word_end);
    loop {
        match *src.get(at)? {
            // An arrow or a comparison is no bracket.
            b'-' if src.get(at + 1) == Some(&b'>') => at += 1,
            b'<' | b'>' if src.get(at + 1) == Some(&b'=') => at += 1,
            b'<' => depth += 1,
            b'>' => {
                // One that nothing opened: `<` in front of `=` was no bracket.
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => at = lexer::string_end(src, at)? - 1,
            b'/' => return None,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::Context;

    #[test]
    fn a_bracket_that_nothing_opened_is_an_error() {
        for ty in ["memref<=x8xf32>", "tensor<=>", "!own.ty<=>", "memref<=", "!own.ty<>>"] {
            for _ in 0..2 {
                let text = format!("%a = \"own.op\"() : () -> {ty}");
                let found = crate::text::parse(&text, "a.mlir", Context::new());
                assert!(found.is_err() || ty.starts_with('!'), "{ty}");
            }
        }
    }
}
