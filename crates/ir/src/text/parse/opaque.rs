//! Attributes and types of dialects, kept as text.

use super::{Parsed, Parser, Token, lexer};
use crate::text::print;
use crate::types::{Type, TypeData};

/// The byte after the bracket that closes the one at `start`. `->` and strings are skipped.
pub(super) fn balanced_end(src: &[u8], start: usize, open: u8) -> Option<usize> {
    let mut stack = vec![closing(open)];
    let mut angles = usize::from(open == b'<');
    let mut at = start + 1;
    while !stack.is_empty() {
        match *src.get(at)? {
            b'"' => {
                at = lexer::string_end(src, at)?;
                continue;
            }
            b'-' | b'=' if src.get(at + 1) == Some(&b'>') => at += 1,
            b'>' | b'<' if src.get(at + 1) == Some(&b'=') => at += 1,
            // Angle brackets count only where one was opened: elsewhere they compare.
            b'<' if angles > 0 => {
                angles += 1;
                stack.push(b'>');
            }
            b @ (b'(' | b'[' | b'{') => stack.push(closing(b)),
            b @ (b')' | b']' | b'}' | b'>') => {
                if stack.last() == Some(&b) {
                    stack.pop();
                    angles -= usize::from(b == b'>');
                } else if b != b'>' {
                    return None;
                }
            }
            b'/' if src.get(at + 1) == Some(&b'/') => {
                at = lexer::skip_space(src, at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Some(at)
}

/// The byte before the one at `at`.
fn src_prefix(src: &[u8], at: usize) -> Option<u8> {
    src.get(at.checked_sub(1)?).copied()
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => b'>',
    }
}

impl<'a> Parser<'a> {
    /// Takes the name in `token` and, if a bracket touches it, all up to its end. Aliases inside
    /// are written out.
    pub(super) fn raw(&mut self, from: usize) -> Parsed<String> {
        let token = self.token;
        let end = token.end as usize;
        let open = match self.src.get(end) {
            Some(&b @ (b'<' | b'[')) => b,
            _ => {
                self.take();
                return Ok(self.text.get(from..end).unwrap_or("").to_string());
            }
        };
        let Some(close) = balanced_end(self.src, end, open) else {
            let message =
                format!("expected a closing bracket for `{}`, found none", char::from(open));
            return self.error(token, "unbalanced", message);
        };
        let name = self.text.get(from..end).unwrap_or("");
        let mut text = name.to_string();
        // Nobody knows what space means in what nobody knows.
        let as_it_is =
            matches!(src_prefix(self.src, from), Some(b'#' | b'!')) && !self.is_known(name);
        self.expand(end, close, as_it_is, &mut text);
        self.jump(close);
        Ok(text)
    }

    /// Appends bytes `from..to` with aliases replaced by what they stand for and runs of space,
    /// unless they are to stay `as_it_is`, by one space.
    pub(super) fn expand(&mut self, from: usize, to: usize, as_it_is: bool, out: &mut String) {
        let (text, src) = (self.text, self.src);
        let mut at = from;
        let mut copied = from;
        while at < to {
            let end = match src[at] {
                b'"' => {
                    at = lexer::string_end(src, at).unwrap_or(to);
                    continue;
                }
                b' ' | b'\n' | b'\t' | b'\r' | b'/' => lexer::skip_space(src, at),
                b'#' | b'!' => lexer::next(src, at).end as usize,
                _ => at,
            };
            let space = matches!(src[at], b' ' | b'\n' | b'\t' | b'\r' | b'/');
            let replacement = match src[at] {
                _ if end <= at || space && as_it_is => None,
                b'#' | b'!' => self.alias_text(lexer::next(src, at)),
                _ => Some(" ".to_string()),
            };
            if let Some(new) = replacement {
                out.push_str(text.get(copied..at).unwrap_or(""));
                out.push_str(&new);
                copied = end;
            }
            at = end.max(at + 1);
        }
        out.push_str(text.get(copied..to).unwrap_or(""));
    }

    /// The text of `ty` for messages and opaque attributes.
    pub(super) fn type_text(&self, ty: Type) -> String {
        print::type_text(self.module, ty)
    }

    /// `!dialect.type<...>` or `!alias`; the current token is the name.
    pub(super) fn dialect_type(&mut self) -> Parsed<Type> {
        let token = self.token;
        let name = &self.spelling(token)[1..];
        if !name.contains('.') && !self.touches(b'<') {
            self.take();
            return self.type_alias(token);
        }
        if self.knows_dialect(name)
            && let Some(ty) = self.structured_type(token, name)
        {
            return Ok(ty);
        }
        let text = self.raw(token.start as usize + 1)?;
        Ok(self.context.ty(TypeData::Opaque(self.context.str(&text))))
    }

    /// A type of a known dialect whose parameters are attributes; `None`, with nothing read, if
    /// they are not.
    fn structured_type(&mut self, token: Token, name: &'a str) -> Option<Type> {
        let context = self.context;
        let errors = self.errors.len();
        let mut params = Vec::new();
        self.take();
        if self.src.get(token.end as usize) == Some(&b'<') {
            self.take();
            let read = self.nested(|p| {
                p.list(b'>', |p| {
                    params.push(p.attr()?);
                    Ok(())
                })
            });
            if read.is_err() {
                self.errors.truncate(errors);
                self.jump(token.start as usize);
                return None;
            }
        }
        Some(context.ty(TypeData::Dialect { name: context.str(name), params: params.into() }))
    }

    /// Returns whether the types of the dialect of `name` have attributes as parameters.
    fn knows_dialect(&mut self, name: &'a str) -> bool {
        let dialect = name.split('.').next().unwrap_or(name);
        let context = self.context;
        *self.registered.entry(dialect).or_insert_with(|| context.has_structured_types(dialect))
    }

    /// Returns whether the dialect of `name` has operations that are known.
    fn is_known(&mut self, name: &'a str) -> bool {
        let dialect = name.split('.').next().unwrap_or(name);
        let context = self.context;
        *self.dialects.entry(dialect).or_insert_with(|| context.has_dialect(dialect))
    }
}
