//! What the words of the language mean.

use std::fmt::Write;

use crate::operators::BINARY;
use crate::unary::NAMES;
use crate::verbs::{VERBS, WORDS};

/// Returns whether a word is an operator or a verb, and no name for a value.
pub(crate) fn is_reserved(word: &str) -> bool {
    words().any(|known| known == word) || matches!(word, "True" | "False")
}

/// Lists all words of the language.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    let binary = BINARY.iter().map(|(name, _)| *name);
    binary
        .filter(|name| name.starts_with(char::is_alphabetic))
        .chain(NAMES.iter().map(|(name, ..)| *name))
        .chain(VERBS.iter().map(|(name, _)| *name))
        .chain(WORDS)
}

/// Explains one word or sign.
pub(crate) fn of(word: &str) -> Option<String> {
    let two = |table: &[(&str, &str)]| {
        table.iter().find(|(name, _)| *name == word).map(|(name, does)| format!("{name}: {does}"))
    };
    let one = NAMES.iter().find(|(name, ..)| *name == word);
    let one = one.map(|(name, takes, does)| format!("{name}: of {takes}: {does}"));
    one.or_else(|| two(&VERBS)).or_else(|| two(&BINARY))
}

/// Lists all operators and verbs with what they do, a line each.
pub fn all() -> String {
    let mut text = String::from(
        "A statement ends in `;`. `name := E;` stores a value, `E;` prints one, `#` starts a remark.\n",
    );
    text.push_str("\nBetween two values, all of one precedence, from left to right:\n");
    for (name, does) in BINARY {
        let _ = writeln!(text, "  {name:<16} {does}");
    }
    text.push_str("\nBehind a value:\n");
    for (name, does) in [
        ("^3, ^-1", "a map composed with itself; its inverse"),
        ("^+", "the transitive closure of a map, and whether it is exact"),
        ("[0]", "an item of a list"),
    ] {
        let _ = writeln!(text, "  {name:<16} {does}");
    }
    text.push_str("\nBefore a value:\n");
    let mut names: Vec<_> = NAMES.iter().collect();
    names.sort_unstable();
    for (name, takes, does) in names {
        let _ = writeln!(text, "  {name:<16} {takes}: {does}");
    }
    text.push_str("\nVerbs:\n");
    for (name, does) in VERBS {
        let _ = writeln!(text, "  {name:<16} {does}");
    }
    text.trim_end().to_owned()
}
