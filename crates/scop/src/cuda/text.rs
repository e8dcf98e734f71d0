//! Statements as the device runs them.

use std::collections::HashMap;
use std::fmt::Write;

use super::variables::KEPT;
use crate::c_tokens::{Token, tokens};
use crate::pure::{is_constant, is_pure};

/// How a variable is written in a kernel, if not as in the source.
pub(super) enum Form {
    /// The only cell of an array.
    Cell,
    /// An array in one dimension.
    Flat {
        /// Those of the source.
        extents: Vec<String>,
        /// Whether the place of each element is a number of 32 bits.
        narrow: bool,
    },
}

/// Words in front of parentheses that call nothing.
const CONTROL: &[&str] = &[
    "if", "for", "while", "switch", "return", "sizeof", "else", "do", "int", "long", "short",
    "char", "signed", "unsigned", "float", "double",
];

/// Checks that a statement calls only functions that the device has.
pub(super) fn check(text: &str) -> Result<(), String> {
    if text.contains("({") {
        return Err("`({ .. })` is none of CUDA's expressions: use a variable".into());
    }
    for (at, token) in tokens(text) {
        let Token::Name(word) = token else { continue };
        if KEPT.contains(&word) {
            return Err(format!("`{word}` is a word of CUDA's language: use another name"));
        }
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

/// Writes what the compiler for devices has under another name, or under its plain one.
pub(super) fn for_device(text: &str) -> String {
    let (mut result, mut behind) = (String::new(), 0);
    for (at, token) in tokens(text) {
        if at < behind {
            continue;
        }
        let (Token::Name(word) | Token::Other(word)) = token;
        let Some(plain) = word.strip_prefix("__builtin_") else {
            result.push_str(if word == "_Bool" { "bool" } else { word });
            continue;
        };
        if !is_constant(word) {
            result.push_str(plain);
            continue;
        }
        let bits = match (
            plain.starts_with("nan"),
            plain.ends_with("ff") || plain == "huge_valf" || plain == "nanf",
        ) {
            (false, true) => "__int_as_float(0x7f800000)",
            (true, true) => "__int_as_float(0x7fc00000)",
            (false, false) => "__longlong_as_double(0x7ff0000000000000LL)",
            (true, false) => "__longlong_as_double(0x7ff8000000000000LL)",
        };
        result.push_str(bits);
        let arguments = &text[at + word.len()..];
        behind = at + word.len() + arguments.find(')').map_or(0, |end| end + 1);
    }
    result
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
                Some(Form::Flat { extents, narrow }) => {
                    let start = at + word.len();
                    let (subscripts, length) = subscripts(&text[start..], extents.len());
                    behind = start + length;
                    let place = place(&subscripts, (extents, *narrow), forms);
                    let _ = write!(result, "{word}[{place}]");
                }
                None => result.push_str(word),
            },
            Token::Other(other) => result.push_str(other),
        }
    }
    result
}

/// Writes the place of a cell in one dimension.
fn place(
    subscripts: &[&str],
    (extents, narrow): (&[String], bool),
    forms: &HashMap<String, Form>,
) -> String {
    let mut place = String::new();
    for (at, (subscript, extent)) in subscripts.iter().zip(extents).enumerate() {
        let subscript = flat(subscript, forms);
        place = if at == 0 {
            subscript
        } else {
            let extent = if narrow { wrapped(extent) } else { wide(extent) };
            format!("{} * {extent} + {}", wrapped(&place), term(&subscript))
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
