//! Aliases: their definitions, and what they stand for where they are used.
//!
//! An alias of two aliases doubles what is printed, and a chain of fifty such lines would never be
//! printed to the end. So the text that aliases save is counted, and bounded.

use rustc_hash::FxHashMap;

use super::locs::Located;
use super::{Failed, Kind, Parsed, Parser, Token};
use crate::attributes::{Attr, AttrData};
use crate::location::Loc;
use crate::text::print;
use crate::types::Type;

/// How many bytes aliases may stand for, in a text without a byte of its own.
const MOST: u64 = 64 << 20;
/// How many more with each byte of the text.
const MORE: u64 = 64;

/// The aliases of a text.
#[derive(Default)]
pub(super) struct Aliases<'a> {
    /// What was defined, by name with its prefix; `None` where the definition has an error.
    named: FxHashMap<&'a str, Option<Alias>>,
    /// How many bytes those that were used stand for; within a definition, those used there.
    pub expanded: u64,
    /// How many of these became text in definitions.
    spelt: u64,
    /// Whether that was too much, which is said once.
    full: bool,
}

#[derive(Clone, Copy)]
struct Alias {
    meaning: Meaning,
    /// The length of its definition without aliases.
    bytes: u64,
}

/// What an alias stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Type(Type),
    Attr(Attr),
    Loc(Loc),
}

impl<'a> Parser<'a> {
    /// `#name = attribute` or `!name = type`.
    pub(super) fn alias(&mut self) -> Parsed<()> {
        let token = self.take();
        self.expect(b'=', "after an alias")?;
        let start = self.token.start;
        // A definition is printed where it is used, and nowhere else.
        let outside = std::mem::take(&mut self.aliases.expanded);
        let meaning = self.meaning(token.kind);
        let inside = std::mem::replace(&mut self.aliases.expanded, outside);
        let bytes = inside + u64::from(self.token.start.saturating_sub(start));
        let alias = meaning.map(|meaning| Alias { meaning, bytes });
        self.aliases.named.insert(self.spelling(token), alias.as_ref().ok().copied());
        self.memo.forget();
        alias.map(|_| ())
    }

    /// Reads what an alias of this prefix is to stand for.
    fn meaning(&mut self, prefix: Kind) -> Parsed<Meaning> {
        if prefix == Kind::Bang {
            return self.ty().map(Meaning::Type);
        }
        let attr = self.attr()?;
        Ok(match *self.context.attr_data(attr) {
            AttrData::Location(loc) => Meaning::Loc(loc),
            _ => Meaning::Attr(attr),
        })
    }

    /// The type that `!name` in `token` stands for.
    pub(super) fn type_alias(&mut self, token: Token) -> Parsed<Type> {
        match self.used(token)? {
            Meaning::Type(ty) => Ok(ty),
            _ => self.unknown_alias(token),
        }
    }

    /// The attribute that `#name` in `token` stands for.
    pub(super) fn attr_alias(&mut self, token: Token) -> Parsed<Attr> {
        match self.used(token)? {
            Meaning::Attr(attr) => Ok(attr),
            Meaning::Loc(loc) => Ok(self.context.attr(AttrData::Location(loc))),
            Meaning::Type(_) => self.unknown_alias(token),
        }
    }

    /// The location that `#name` in `token` stands for.
    pub(super) fn loc_alias(&mut self, token: Token) -> Parsed<Loc> {
        match self.used(token)? {
            Meaning::Loc(loc) => Ok(loc),
            _ => self.unknown_alias(token),
        }
    }

    /// Returns whether `#name` in `token` is a location that was defined already.
    pub(super) fn is_loc_alias(&self, token: Token) -> bool {
        let found = self.aliases.named.get(self.spelling(token)).copied().flatten();
        found.is_some_and(|alias| matches!(alias.meaning, Meaning::Loc(_)))
    }

    /// The text of the type or attribute that `token` stands for; `None` if it is no alias.
    pub(super) fn alias_text(&mut self, token: Token) -> Option<String> {
        let touched = self.src.get(token.end as usize) == Some(&b'<');
        let alias = (*self.aliases.named.get(self.spelling(token)).filter(|_| !touched)?)?;
        self.used(token).ok()?;
        self.aliases.spelt = self.aliases.spelt.saturating_add(alias.bytes);
        Some(match alias.meaning {
            Meaning::Type(ty) => print::type_text(self.module, ty),
            Meaning::Attr(attr) => print::attr_text(self.module, attr),
            Meaning::Loc(loc) => {
                let attr = self.context.attr(AttrData::Location(loc));
                print::attr_text(self.module, attr)
            }
        })
    }

    /// Gives operations and arguments the locations whose aliases were defined after them.
    pub(super) fn settle_locs(&mut self) {
        for (what, token) in std::mem::take(&mut self.late_locs) {
            let Ok(loc) = self.loc_alias(token) else { continue };
            match what {
                Located::Op(op) => self.module.set_loc(op, loc),
                Located::Arg(arg) => self.module.set_arg_loc(arg, loc),
            }
        }
    }

    /// What the alias in `token` stands for, counted once more.
    fn used(&mut self, token: Token) -> Parsed<Meaning> {
        let alias = match self.aliases.named.get(self.spelling(token)) {
            Some(&Some(alias)) => alias,
            // That was reported.
            Some(None) => return Err(Failed),
            None => return self.unknown_alias(token),
        };
        let most = MOST + MORE * self.src.len() as u64;
        let so_far = self.aliases.expanded.max(self.aliases.spelt);
        if self.aliases.full {
            return Err(Failed);
        }
        if so_far.saturating_add(alias.bytes) > most {
            self.aliases.full = true;
            let message = format!("expected aliases that stand for at most {most} bytes in all");
            return self.error(token, "aliases-too-long", message);
        }
        self.aliases.expanded += alias.bytes;
        Ok(alias.meaning)
    }

    fn unknown_alias<T>(&mut self, token: Token) -> Parsed<T> {
        // Its definition may be what was passed over.
        if self.aliases.full {
            return Err(Failed);
        }
        let message =
            format!("expected an alias that is defined, found `{}`", self.spelling(token));
        self.error(token, "undefined-alias", message)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::Context;
    use crate::text::parse;

    /// Writes an alias by the name of another.
    type Next<'a> = &'a dyn Fn(&str) -> String;

    /// The codes of the errors of `text`.
    fn errors(text: &str) -> Vec<&'static str> {
        match parse(text, "a.mlir", Context::new()) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(|error| error.code).collect(),
        }
    }

    /// `levels` aliases, each by `next` of the name before, and then `last` of the last one.
    fn chain(first: &str, levels: usize, next: Next<'_>, last: &str) -> String {
        let prefix = &first[..1];
        let mut text = format!("{first}\n");
        for level in 1..=levels {
            let before = format!("{prefix}a{}", level - 1);
            writeln!(text, "{prefix}a{level} = {}", next(&before)).expect("to memory");
        }
        text + &last.replace('$', &format!("{prefix}a{levels}")) + "\n"
    }

    #[test]
    fn aliases_that_double_are_refused_once() {
        let ty = "\"own.op\"() : () -> $";
        let attr = "\"own.op\"() {x = $} : () -> ()";
        let loc = "\"own.op\"() : () -> () loc($)";
        let cases: [(&str, Next<'_>, &str); 6] = [
            ("!a0 = i32", &|a| format!("tuple<{a}, {a}>"), ty),
            ("!a0 = !own.x<i32>", &|a| format!("!own.x<{a}, {a}>"), ty),
            ("#a0 = 1", &|a| format!("[{a}, {a}]"), attr),
            ("#a0 = #own.x<1>", &|a| format!("#own.x<{a}, {a}>"), attr),
            ("#a0 = loc(\"x\")", &|a| format!("loc(fused[{a}, \"y\", {a}])"), loc),
            ("#a0 = loc(\"x\")", &|a| format!("loc(callsite({a} at {a}))"), loc),
        ];
        for (first, next, last) in cases {
            assert_eq!(errors(&chain(first, 60, next, last)), ["aliases-too-long"], "{first}");
            assert_eq!(errors(&chain(first, 12, next, last)), [""; 0], "{first}");
        }
    }

    #[test]
    fn a_long_alias_may_not_be_used_everywhere() {
        let grow = |a: &str| format!("tuple<{a}, {a}>");
        let uses = "\"own.op\"() : () -> $\n".repeat(5_000);
        assert_eq!(errors(&chain("!a0 = i32", 16, &grow, &uses)), ["aliases-too-long"]);
        assert_eq!(errors(&chain("!a0 = i32", 6, &grow, &uses)), [""; 0]);
    }

    #[test]
    fn what_definitions_say_is_not_printed_where_they_stand() {
        let text = chain("!a0 = i32", 9_000, &|a| format!("memref<1x{a}>"), "");
        assert_eq!(errors(&text), [""; 0]);
    }

    #[test]
    fn each_alias_that_is_not_defined_is_an_error() {
        let text = "\"own.a\"() : () -> !b\n\"own.c\"() {x = #d} : () -> ()\n\
                    \"own.e\"() : () -> () loc(#f)\n";
        assert_eq!(errors(text), ["undefined-alias"; 3]);
    }
}
