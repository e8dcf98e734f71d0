//! Reading a program: names, signs, and sets as whole texts.

use tangram_presburger::count::Integer;

use crate::error::Fault;
use crate::matrices::{self, Matrix};

/// The signs, longest first.
const SIGNS: [&str; 30] = [
    "->*", "->-", "<<=", ">>=", ":=", "->", "<<", ">>", "<=", ">=", "!=", "==", "^+", "<", ">",
    "=", "(", ")", "[", "]", ",", ";", "+", "-", "*", "/", "%", "@", ".", "^",
];

/// What stands at a place of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Number(Integer),
    Text(String),
    /// A set or relation in isl's notation, with its parameters.
    Set(String),
    Sign(&'static str),
    /// Sets as matrices of constraints.
    Matrices(Vec<Matrix>),
    End,
}

/// Splits a program into tokens and their byte offsets.
pub(crate) fn tokens(program: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let mut result = Vec::new();
    let mut at = 0;
    while let Some(c) = program[at..].chars().next() {
        let rest = &program[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if c == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(length) = set_length(rest, at)? {
            result.push((Token::Set(rest[..length].to_owned()), at));
            at += length;
        } else if let Some((all, length)) = matrices::read(rest, at)? {
            result.push((Token::Matrices(all), at));
            at += length;
        } else {
            let (token, length) = simple(rest, at, c)?;
            result.push((token, at));
            at += length;
        }
    }
    result.push((Token::End, program.len()));
    Ok(result)
}

fn simple(rest: &str, at: usize, c: char) -> Result<(Token, usize), Fault> {
    let end = |f: fn(char) -> bool| rest.find(|c| !f(c)).unwrap_or(rest.len());
    if c.is_ascii_digit() {
        let length = end(|c| c.is_ascii_digit());
        let value = digits(&rest[..length]).unwrap_or(Integer::ZERO);
        return Ok((Token::Number(value), length));
    }
    if c.is_alphabetic() || c == '_' {
        let length = end(|c| c.is_alphanumeric() || c == '_');
        return Ok((Token::Name(rest[..length].to_owned()), length));
    }
    let digits = rest[c.len_utf8()..].bytes().take_while(u8::is_ascii_digit).count();
    if c == '$' && digits > 0 {
        return Ok((Token::Name(rest[..1 + digits].to_owned()), 1 + digits));
    }
    if c == '"' {
        let Some(length) = rest[1..].find('"') else {
            return Err(Fault::open(at, "expected a closing `\"`, found the end"));
        };
        return Ok((Token::Text(rest[1..1 + length].to_owned()), length + 2));
    }
    match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => Err(Fault::syntax(at, format!("expected a token, found `{c}`"))),
    }
}

/// Returns the value of digits; none if there is no digit.
pub(crate) fn digits(text: &str) -> Option<Integer> {
    let digits = text.bytes().map(|byte| Integer::from(i64::from(byte - b'0')));
    let ten = Integer::from(10);
    let value = digits.fold(Integer::ZERO, |value, digit| value.mul(&ten).add(&digit));
    (!text.is_empty()).then_some(value)
}

/// Returns the length of the set that starts here: `{ .. }`, or `[ .. ] -> { .. }`.
fn set_length(rest: &str, at: usize) -> Result<Option<usize>, Fault> {
    let mut start = 0;
    if let Some(inner) = rest.strip_prefix('[') {
        let Some(close) = rest.find(']') else { return Ok(None) };
        let after = rest[close + 1..].trim_start();
        let Some(after) = after.strip_prefix("->") else { return Ok(None) };
        // Names of parameters, not an index of a list.
        if inner.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        start = rest.len() - after.trim_start().len();
    }
    if !rest[start..].starts_with('{') {
        return Ok(None);
    }
    match rest[start..].find('}') {
        Some(end) => Ok(Some(start + end + 1)),
        None => Err(Fault::open(at, "expected `}` after this, found the end")),
    }
}
