//! Words of C text, and other text in their place.

use std::collections::HashMap;
use std::fmt::Write;

use crate::plain::literal;

/// A piece of C text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token<'a> {
    /// A name that is not that of a member.
    Name(&'a str),
    /// Anything else: numbers, literals, members, and single characters.
    Other(&'a str),
}

/// Writes a piece of the source in one line, without the lines that say where macros of headers stand.
pub(crate) fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.collect::<Vec<_>>().join(" ")
}

/// Returns whether a character can be in a name or number.
pub(crate) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits text, spaces and all.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = (usize, Token<'_>)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let (at, rest) = (from, &text[from..]);
        let first = rest.chars().next()?;
        let is_name = first.is_alphabetic() || first == '_';
        let length = if is_name {
            rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len())
        } else if first.is_ascii_digit() {
            // Suffixes and exponents are no names.
            rest.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(rest.len())
        } else if first == '"' || first == '\'' {
            literal(rest, first)
        } else {
            first.len_utf8()
        };
        from += length;
        // Only asked of names: what is in front of a space may be megabytes of spaces.
        let is_member = || {
            let before = text[..at].trim_end();
            before.ends_with("->") || before.ends_with('.')
        };
        let word = &rest[..length];
        Some((at, if is_name && !is_member() { Token::Name(word) } else { Token::Other(word) }))
    })
}

/// Puts arguments in the place of the names of loop variables.
///
/// `types`: those of arguments with values for which their own type is too small a factor; none
/// for others, and none at all behind the last of them.
pub(crate) fn replaced(
    text: &str,
    dims: &[String],
    arguments: &[String],
    types: &[Option<&str>],
) -> String {
    let mut result = String::new();
    // For each open bracket, whether something is multiplied in it.
    let mut products = Vec::new();
    for (at, token) in tokens(text) {
        let word = match token {
            Token::Other(other) => {
                match other {
                    "[" => products.push(subscript(&text[at + 1..]).contains('*')),
                    "]" => drop(products.pop()),
                    _ => {}
                }
                result.push_str(other);
                continue;
            }
            Token::Name(word) => word,
        };
        let place = dims.iter().position(|dim| *dim == word);
        let Some(argument) = place.and_then(|place| arguments.get(place)) else {
            result.push_str(word);
            continue;
        };
        let before = result.trim_end();
        let cast = place.and_then(|place| types.get(place).copied().flatten());
        let whole = (before.ends_with(['[', '(', ',']) || before.is_empty())
            && text[at + word.len()..].trim_start().starts_with([']', ')', ',']);
        let cast = cast.filter(|_| products.last() == Some(&true) && !before.ends_with(')'));
        if let Some(cast) = cast {
            let _ = write!(result, "({cast})");
        }
        let simple = argument.chars().all(is_of_word);
        if (whole && cast.is_none()) || simple {
            result.push_str(argument);
        } else {
            let _ = write!(result, "({argument})");
        }
    }
    result
}

/// Casts variables to their types where a wider type could change a value: everywhere but in
/// subscripts that are sums and products, which are computed without limits unless `everywhere`.
pub(crate) fn with_types(text: &str, types: &HashMap<&str, &str>, everywhere: bool) -> String {
    if types.is_empty() {
        return text.to_owned();
    }
    let mut result = String::new();
    let mut plain = Vec::new();
    for (at, token) in tokens(text) {
        match token {
            Token::Name(word) => match types.get(word) {
                Some(element) if !plain.last().is_some_and(|plain| *plain) => {
                    let _ = write!(result, "({element}){word}");
                }
                _ => result.push_str(word),
            },
            Token::Other(other) => {
                match other {
                    "[" => plain.push(!everywhere && is_plain(&text[at + 1..])),
                    "]" => drop(plain.pop()),
                    _ => {}
                }
                result.push_str(other);
            }
        }
    }
    result
}

/// Returns whether a subscript, up to its `]`, has the same value in any wider type.
fn is_plain(text: &str) -> bool {
    let mut depth = 0;
    for (_, token) in tokens(subscript(text)) {
        let Token::Other(other) = token else { continue };
        match other {
            "[" => depth += 1,
            "]" => depth -= 1,
            _ if depth > 0 => {}
            "+" | "-" | "*" | "(" | ")" | "," | " " | "\n" | "\t" => {}
            _ if !other.is_empty() && other.bytes().all(|b| b.is_ascii_digit()) => {}
            _ => return false,
        }
    }
    true
}

/// Cuts text in front of the `]` that ends the subscript in which it starts.
fn subscript(text: &str) -> &str {
    let mut depth = 1;
    let end = tokens(text).find(|(_, token)| {
        match token {
            Token::Other("[") => depth += 1,
            Token::Other("]") => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Lists the words of C text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty())
}
