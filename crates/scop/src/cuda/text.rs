//! Statements as the device runs them.

use std::collections::HashMap;
use std::fmt::Write;

use crate::c_tokens::{Token, tokens};
use crate::pure::is_pure;

/// How a variable is written in a kernel, if not as in the source.
pub(super) enum Form {
    /// The only cell of an array.
    Cell,
    /// An array of these extents, in one dimension.
    Flat(Vec<String>),
}

/// Words in front of parentheses that call nothing.
const CONTROL: &[&str] = &[
    "if", "for", "while", "switch", "return", "sizeof", "else", "do", "int", "long", "short",
    "char", "signed", "unsigned", "float", "double",
];

/// Checks that a statement calls only functions that the device has.
pub(super) fn check(text: &str) -> Result<(), String> {
    for (at, token) in tokens(text) {
        let Token::Name(word) = token else { continue };
        let calls = text[at + word.len()..].trim_start().starts_with('(');
        if calls && !CONTROL.contains(&word) && !is_on_device(word) {
            return Err(format!("`{word}` is no function of the device: write out what it does"));
        }
    }
    Ok(())
}

/// Returns whether a function of C's library is one of the device, too.
fn is_on_device(name: &str) -> bool {
    is_pure(name) && !["min", "max", "MIN", "MAX", "floord", "ceild"].contains(&name)
}

/// Writes variables in their forms.
pub(super) fn flat(text: &str, forms: &HashMap<String, Form>) -> String {
    let mut result = String::new();
    let mut behind = 0;
    for (at, token) in tokens(text) {
        if at < behind {
            continue;
        }
        match token {
            Token::Name(word) => match forms.get(word) {
                Some(Form::Cell) => {
                    let _ = write!(result, "{word}[0]");
                }
                Some(Form::Flat(extents)) => {
                    let start = at + word.len();
                    let (subscripts, length) = subscripts(&text[start..], extents.len());
                    behind = start + length;
                    let _ = write!(result, "{word}[{}]", place(&subscripts, extents, forms));
                }
                None => result.push_str(word),
            },
            Token::Other(other) => result.push_str(other),
        }
    }
    result
}

/// Writes the place of a cell in one dimension.
fn place(subscripts: &[&str], extents: &[String], forms: &HashMap<String, Form>) -> String {
    let mut place = String::new();
    for (at, (subscript, extent)) in subscripts.iter().zip(extents).enumerate() {
        let subscript = flat(subscript, forms);
        place = if at == 0 {
            subscript
        } else {
            format!("{} * {} + {}", wrapped(&place), wide(extent), term(&subscript))
        };
    }
    place
}

fn is_simple(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn wrapped(text: &str) -> String {
    if is_simple(text) { text.to_owned() } else { format!("({text})") }
}

/// A term of a sum: sums need no parentheses.
fn term(text: &str) -> String {
    let sum = text.chars().all(|c| c.is_alphanumeric() || "_ +-*".contains(c));
    if sum { text.to_owned() } else { wrapped(text) }
}

/// An extent whose products do not leave 64 bits.
fn wide(extent: &str) -> String {
    if extent.chars().all(|c| c.is_ascii_digit()) {
        format!("{extent}LL")
    } else {
        format!("(long long){}", wrapped(extent))
    }
}

/// Reads so many subscripts in brackets; returns them with the length of all.
fn subscripts(text: &str, count: usize) -> (Vec<&str>, usize) {
    let (mut found, mut start, mut depth, mut length) = (Vec::new(), 0, 0_usize, 0);
    for (at, token) in tokens(text) {
        match token {
            Token::Other("[") => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            Token::Other("]") => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    found.push(&text[start..at]);
                    length = at + 1;
                    if found.len() == count {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    (found, length)
}
