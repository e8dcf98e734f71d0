//! Tokens of the notation, with their columns.

use crate::{Error, Integer};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Number(Integer),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 35] = [
    "<<=", ">>=", "->", "<<", ">>", "<=", ">=", "!=", "==", "&&", "||", "//", "<", ">", "=", "{",
    "}", "[", "]", "(", ")", ",", ":", ";", "+", "-", "*", "/", "%", "!", "?", ".", "^", "&", "|",
];

/// Splits `text`; the last token is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Error> {
    let mut result = Vec::new();
    let (mut rest, mut column) = (text, 1);
    while let Some(c) = rest.chars().next() {
        let word = |f: fn(char) -> bool| rest.find(|c| !f(c)).unwrap_or(rest.len());
        let (token, bytes) = if c.is_whitespace() {
            (None, c.len_utf8())
        } else if c.is_ascii_digit() {
            let end = word(|c| c.is_ascii_digit());
            (Some(Token::Number(number(&rest[..end], column)?)), end)
        } else if c.is_alphabetic() || c == '_' {
            let end = word(|c| c.is_alphanumeric() || c == '_' || c == '\'');
            (Some(Token::Name(keyword(&rest[..end]).to_owned())), end)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Some(Token::Sign(sign)), sign.len())
        } else {
            return Err(Error::Syntax { column, expected: "a token".into(), found: c.to_string() });
        };
        result.extend(token.map(|token| (token, column)));
        column += rest[..bytes].chars().count();
        rest = &rest[bytes..];
    }
    result.push((Token::End, column));
    Ok(result)
}

fn number(digits: &str, column: usize) -> Result<Integer, Error> {
    let wrong = |_| Error::Syntax { column, expected: "a number".into(), found: digits.to_owned() };
    digits.parse().map_err(wrong)
}

/// Keywords may be written in capitals, wholly or in the first letter.
fn keyword(word: &str) -> &str {
    match word {
        "And" | "AND" => "and",
        "Or" | "OR" => "or",
        "Not" | "NOT" => "not",
        "Implies" | "IMPLIES" => "implies",
        "Exists" | "EXISTS" => "exists",
        "Forall" | "FORALL" => "forall",
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "Mod" | "MOD" => "mod",
        other => other,
    }
}
