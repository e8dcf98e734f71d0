//! Expressions from text.
//!
//! Reads what is printed, and what exporters write: `+ - * / // % ** ^`, `floordiv`, `ceildiv`,
//! `mod`, `floor(..)`, `ceil(..)`, `trunc(..)`, `min(..)`, `max(..)`. A `/` makes a fraction;
//! fractions add and multiply, and become integers by `floor`, `ceil`, `trunc` or by exactness,
//! so that `floor(H/2 - 1/2)` is read as it is meant. Names have letters, digits, `_`, `.`, `:`
//! and do not start with a digit; any other name stands in backticks, with `` ` `` doubled.
//!
//! This is the notation of tensors' extents. MLIR's maps and sets have another one
//! (`crate::parse`): names are declared, `/` is no operator, and products of symbols are no error here.

use std::str::FromStr;

use super::Expr;

const MAX_PARENTHESES: usize = 96;

/// Says where and why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at offset {offset}")]
pub struct ParseError {
    /// Offset into the text, in bytes.
    pub offset: usize,
    /// What is wrong there.
    pub kind: ParseErrorKind,
}

/// Says what is wrong with the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else was expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What could stand there.
        expected: &'static str,
        /// The character found, or the end.
        found: String,
    },
    /// A name in backticks does not end.
    #[error("expected a closing backtick, found the end")]
    OpenQuote,
    /// Parentheses nest too deep.
    #[error("expected at most 96 nested parentheses, found more")]
    TooDeep,
    /// The value is a fraction, is divided by zero, overflows or is too big.
    #[error("expected an integer expression within the limits, found another")]
    NoValue,
}

/// Is `num/den`, with `den` 1 for most.
#[derive(Clone)]
struct Fraction {
    num: Expr,
    den: Expr,
}

impl Fraction {
    fn integer(num: Expr) -> Self {
        Self { num, den: Expr::int(1) }
    }

    fn is_integer(&self) -> bool {
        self.den.as_int() == Some(1)
    }

    fn to_integer(&self) -> Option<Expr> {
        if self.is_integer() { Some(self.num.clone()) } else { self.num.exact_div(&self.den) }
    }

    fn combine(&self, other: &Self, join: fn(&Expr, &Expr) -> Option<Expr>) -> Option<Self> {
        if self.den == other.den {
            return Some(Self { num: join(&self.num, &other.num)?, den: self.den.clone() });
        }
        let num = join(&self.num.try_mul(&other.den)?, &other.num.try_mul(&self.den)?)?;
        Some(Self { num, den: self.den.try_mul(&other.den)? })
    }

    fn mul(&self, other: &Self) -> Option<Self> {
        Some(Self { num: self.num.try_mul(&other.num)?, den: self.den.try_mul(&other.den)? })
    }

    fn div(&self, other: &Self) -> Option<Self> {
        let den = self.den.try_mul(&other.num)?;
        (!den.is_zero()).then_some(Self { num: self.num.try_mul(&other.den)?, den })
    }

    fn round(&self, round: fn(&Expr, &Expr) -> Option<Expr>) -> Option<Self> {
        round(&self.num, &self.den).map(Self::integer)
    }

    fn power(&self, exponent: &Self) -> Option<Self> {
        let times = exponent.to_integer()?.as_int().filter(|n| (0..=64).contains(n))?;
        (0..times).try_fold(Self::integer(Expr::int(1)), |result, _| result.mul(self))
    }
}

impl FromStr for Expr {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let value = parser.sum()?;
        if !parser.rest().is_empty() {
            return Err(parser.expected("an operator or the end"));
        }
        parser.value(value.to_integer())
    }
}

/// Tells whether a name needs no backticks.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_name_char)
}

/// Tells whether a name is an operator between two operands.
pub(super) fn is_operator_word(name: &str) -> bool {
    matches!(name, "mod" | "floordiv" | "ceildiv")
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':')
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Skips white space and returns what is left.
    fn rest(&mut self) -> &'a str {
        let trimmed = self.text[self.at..].trim_start();
        self.at = self.text.len() - trimmed.len();
        trimmed
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { offset: self.at, kind }
    }

    fn expected(&mut self, expected: &'static str) -> ParseError {
        let found = self.rest().chars().next();
        let found = found.map_or_else(|| "the end".to_owned(), |c| format!("'{c}'"));
        self.error(ParseErrorKind::Expected { expected, found })
    }

    fn value<T>(&self, value: Option<T>) -> Result<T, ParseError> {
        value.ok_or_else(|| self.error(ParseErrorKind::NoValue))
    }

    fn sum(&mut self) -> Result<Fraction, ParseError> {
        let mut value = self.product()?;
        loop {
            let join = match () {
                () if self.accept("+") => Expr::try_add,
                () if self.accept("-") => Expr::try_sub,
                () => return Ok(value),
            };
            let right = self.product()?;
            value = self.value(value.combine(&right, join))?;
        }
    }

    fn product(&mut self) -> Result<Fraction, ParseError> {
        let mut value = self.signed()?;
        loop {
            let Some(operator) = self.product_operator() else { return Ok(value) };
            let right = self.signed()?;
            let result = match operator {
                "*" => value.mul(&right),
                "/" => value.div(&right),
                "//" | "floordiv" => value.div(&right).and_then(|q| q.round(Expr::floor_div)),
                "ceildiv" => value.div(&right).and_then(|q| q.round(Expr::ceil_div)),
                _ => remainder(&value, &right),
            };
            value = self.value(result)?;
        }
    }

    fn product_operator(&mut self) -> Option<&'static str> {
        let rest = self.rest();
        let word = name_prefix(rest);
        let words = ["mod", "floordiv", "ceildiv"];
        let found = words.into_iter().find(|known| *known == word);
        let found =
            found.or_else(|| ["*", "//", "/", "%"].into_iter().find(|op| rest.starts_with(op)))?;
        self.at += found.len();
        Some(found)
    }

    fn signed(&mut self) -> Result<Fraction, ParseError> {
        let mut negative = false;
        loop {
            // The least i64 has no positive twin: its sign belongs to the literal.
            if self.rest().starts_with("-9223372036854775808") && !negative {
                self.at += "-9223372036854775808".len();
                return Ok(Fraction::integer(Expr::int(i64::MIN)));
            }
            if self.accept("-") {
                negative = !negative;
            } else if !self.accept("+") {
                break;
            }
        }
        let base = self.primary()?;
        let value = if self.accept("**") || self.accept("^") {
            let exponent = self.primary()?;
            self.value(base.power(&exponent))?
        } else {
            base
        };
        if !negative {
            return Ok(value);
        }
        let num = self.value(value.num.neg())?;
        Ok(Fraction { num, den: value.den })
    }

    fn primary(&mut self) -> Result<Fraction, ParseError> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let number = self.value(rest[..digits].parse().ok())?;
            self.at += digits;
            return Ok(Fraction::integer(Expr::int(number)));
        }
        if rest.starts_with('`') {
            return self.quoted();
        }
        if rest.starts_with('(') {
            return self.parenthesised();
        }
        let name = name_prefix(rest);
        if !is_name(name) {
            return Err(self.expected("a number, a name or '('"));
        }
        self.at += name.len();
        if self.rest().starts_with('(') {
            return self.call(name);
        }
        Ok(Fraction::integer(Expr::symbol(name)))
    }

    fn quoted(&mut self) -> Result<Fraction, ParseError> {
        let mut name = String::new();
        let mut chars = self.text[self.at + 1..].char_indices().peekable();
        while let Some((offset, c)) = chars.next() {
            if c == '`' && chars.next_if(|(_, next)| *next == '`').is_none() {
                self.at += offset + 2;
                return Ok(Fraction::integer(Expr::symbol(&name)));
            }
            name.push(c);
        }
        Err(self.error(ParseErrorKind::OpenQuote))
    }

    fn parenthesised(&mut self) -> Result<Fraction, ParseError> {
        self.open()?;
        let value = self.sum()?;
        self.close()?;
        Ok(value)
    }

    fn open(&mut self) -> Result<(), ParseError> {
        if self.depth == MAX_PARENTHESES {
            return Err(self.error(ParseErrorKind::TooDeep));
        }
        self.depth += 1;
        if self.accept("(") { Ok(()) } else { Err(self.expected("'('")) }
    }

    fn close(&mut self) -> Result<(), ParseError> {
        self.depth -= 1;
        if self.accept(")") { Ok(()) } else { Err(self.expected("')'")) }
    }

    fn call(&mut self, name: &str) -> Result<Fraction, ParseError> {
        self.open()?;
        let mut value = self.sum()?;
        let joined: Option<fn(&Expr, &Expr) -> Option<Expr>> = match name.to_ascii_lowercase() {
            low if low == "min" => Some(Expr::min),
            low if low == "max" => Some(Expr::max),
            _ => None,
        };
        while let Some(join) = joined.filter(|_| self.accept(",")) {
            let right = self.sum()?;
            // Fractions have no order to rely on while the sign of a denominator is unknown.
            let (left, right) = (value.to_integer(), right.to_integer());
            let both = left.zip(right).and_then(|(a, b)| join(&a, &b));
            value = Fraction::integer(self.value(both)?);
        }
        self.close()?;
        let result = match name.to_ascii_lowercase().as_str() {
            "min" | "max" => Some(value),
            "floor" => value.round(Expr::floor_div),
            "ceil" | "ceiling" => value.round(Expr::ceil_div),
            "trunc" => value.round(Expr::trunc_div),
            _ => return Err(self.expected("floor, ceil, trunc, min or max before '('")),
        };
        self.value(result)
    }
}

fn remainder(left: &Fraction, right: &Fraction) -> Option<Fraction> {
    left.to_integer()?.modulo(&right.to_integer()?).map(Fraction::integer)
}

fn name_prefix(text: &str) -> &str {
    &text[..text.find(|c| !is_name_char(c)).unwrap_or(text.len())]
}
