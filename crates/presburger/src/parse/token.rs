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

/// Mathematics' own signs, and what they are in the notation; several tokens are apart by spaces.
const MATHEMATICS: [(char, &str); 28] = [
    ('∧', "&&"),
    ('∨', "||"),
    ('¬', "!"),
    ('∃', "exists"),
    ('∀', "forall"),
    ('⇒', "implies"),
    ('→', "->"),
    ('≤', "<="),
    ('⩽', "<="),
    ('≦', "<="),
    ('≥', ">="),
    ('⩾', ">="),
    ('≧', ">="),
    ('≠', "!="),
    ('≺', "<<"),
    ('≼', "<<="),
    ('⪯', "<<="),
    ('≻', ">>"),
    ('≽', ">>="),
    ('⪰', ">>="),
    ('−', "-"),
    ('×', "*"),
    ('·', "*"),
    ('∗', "*"),
    ('⌊', "floor ("),
    ('⌋', ")"),
    ('⌈', "ceil ("),
    ('⌉', ")"),
];

/// The tokens of a text or of several parts of one, each with its column there; the last one is
/// [`Token::End`].
///
/// Notations that hold sets hand the tokens of these to the parser of sets: columns stay those of
/// the whole text.
#[derive(Debug, Clone)]
pub(crate) struct Tokens(pub(super) Vec<(Token, usize)>);

impl Tokens {
    /// No tokens, at the start of a text.
    pub fn none() -> Self {
        Self(vec![(Token::End, 1)])
    }

    /// Splits a text.
    ///
    /// # Errors
    /// [`Error::Syntax`] for a character that starts no token.
    pub fn of(text: &str) -> Result<Self, Error> {
        tokens(text, 1).map(Self)
    }

    /// Appends the tokens of a text that starts at a column.
    pub fn text(mut self, text: &str, column: usize) -> Result<Self, Error> {
        self.0.pop();
        self.0.extend(tokens(text, column)?);
        Ok(self)
    }

    /// Appends a sign.
    pub fn sign(mut self, sign: &'static str) -> Self {
        let column = self.0.last().map_or(1, |(_, column)| *column);
        self.0.insert(self.0.len() - 1, (Token::Sign(sign), column));
        self
    }
}

/// Splits `text`, which starts at a column.
fn tokens(text: &str, mut column: usize) -> Result<Vec<(Token, usize)>, Error> {
    let mut result = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(signs) = own_sign(c) {
            for sign in signs.split(' ') {
                let known = SIGNS.into_iter().find(|known| *known == sign);
                let token = known.map_or_else(|| Token::Name(sign.to_owned()), Token::Sign);
                result.push((token, column));
            }
            column += 1;
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let word = |f: fn(char) -> bool| rest.find(|c| !f(c)).unwrap_or(rest.len());
        let (token, bytes) = if c.is_whitespace() {
            (None, c.len_utf8())
        } else if c.is_ascii_digit() {
            let end = word(|c| c.is_ascii_digit());
            (Some(Token::Number(number(&rest[..end], column)?)), end)
        } else if c.is_alphabetic() || c == '_' {
            let end = word(|c| c.is_alphanumeric() || c == '_' || c == '\'');
            (Some(Token::Name(keyword(&rest[..end]).to_owned())), end)
        } else if let Some(sign) = sign_of(rest) {
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

/// The sign that a text starts with.
fn sign_of(text: &str) -> Option<&'static str> {
    // Most signs are told apart by a byte, and there are many tokens.
    let first = *text.as_bytes().first()?;
    SIGNS.into_iter().find(|sign| sign.as_bytes()[0] == first && text.starts_with(sign))
}

/// What a sign of mathematics, or one as wide as Chinese characters (`：` is `:`), is in the notation.
fn own_sign(c: char) -> Option<&'static str> {
    /// From a wide sign to ASCII's.
    const WIDE: u32 = 0xfee0;
    if c.is_ascii() {
        return None;
    }
    if let '\u{ff01}'..='\u{ff5e}' = c {
        let narrow = char::from_u32(u32::from(c) - WIDE)?;
        return SIGNS.into_iter().find(|sign| sign.starts_with(narrow) && sign.len() == 1);
    }
    MATHEMATICS.iter().find_map(|&(sign, signs)| (sign == c).then_some(signs))
}

/// Digits of the longest number that is read: turning digits into a number takes the square of them.
const DIGITS: usize = 100_000;

fn number(digits: &str, column: usize) -> Result<Integer, Error> {
    if digits.len() > DIGITS {
        let expected = format!("a number of at most {DIGITS} digits");
        let found = format!("{} digits", digits.len());
        return Err(Error::Syntax { column, expected: expected.into(), found });
    }
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
