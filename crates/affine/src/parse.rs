//! Reads MLIR's notation for affine expressions, maps and integer sets.
//!
//! ```text
//! map  := space -> ( sum, ... )        space := ( name, ... ) [ name, ... ]
//! set  := space : ( sum >= sum, ... )  sum := product { + product | - product }
//! product := atom { * atom | floordiv atom | ceildiv atom | mod atom }
//! atom := name | number | - atom | ( sum ) | %value | symbol( %value )
//! ```
//!
//! Operators wait on a stack until a weaker one or the end arrives, so that brackets may nest as
//! deep as memory goes (E. Dijkstra's shunting yard, 1961). A [`Reader`] starts anywhere in a text
//! and says where it stopped: the reader of a whole program hands over here, and goes on behind.
//!
//! Extents of tensors have another notation (`symbolic/parse`), sets and relations that of isl
//! (`parse` in `tangram-presburger`).

use std::str::FromStr;

use rustc_hash::FxHashMap;

use crate::expr::{AffineExpr, AffineExprs, BinaryOp};
use crate::map::AffineMap;
use crate::set::IntegerSet;

/// What a name or value is in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// A dimension, by number.
    Dim(u32),
    /// A symbol, by number.
    Symbol(u32),
}

/// Says what `%0` and `symbol(%0)` are, where a program's values may stand in expressions.
pub trait Operands {
    /// The variable that `text[start..end]`, which is `%name` or `%name#index`, stands for.
    fn operand(&mut self, start: usize, end: usize, symbol: bool) -> Variable;
}

/// No values: names alone.
pub enum NoOperands {}

impl Operands for NoOperands {
    fn operand(&mut self, _: usize, _: usize, _: bool) -> Variable {
        match *self {}
    }
}

/// Why a text is no expression, map or set.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Something else was expected at byte `at`.
    #[error("expected {what} at byte {at}")]
    Expected {
        /// Where.
        at: usize,
        /// What.
        what: &'static str,
    },
    /// A name of the space was there already.
    #[error("expected a new name, found `{name}` again at byte {at}")]
    Redefinition {
        /// Where it stands.
        at: usize,
        /// The name.
        name: String,
    },
    /// A factor or divisor with dimensions.
    #[error("expected {what} without dimensions, found one with dimensions at byte {at}")]
    NotAffine {
        /// Where the operator stands.
        at: usize,
        /// What must have none.
        what: &'static str,
    },
}

type Parsed<T> = Result<T, ParseError>;

/// What waits for its right operand, or for its end.
#[derive(Clone, Copy)]
enum Waiting {
    Bracket,
    Minus,
    /// `a - b`, which is `a + -b`.
    Subtract,
    Binary(BinaryOp, usize),
}

impl Waiting {
    /// Stronger ones are done first; a bracket waits for its end.
    fn strength(self) -> u8 {
        match self {
            Waiting::Bracket => 0,
            Waiting::Subtract | Waiting::Binary(BinaryOp::Add, _) => 1,
            Waiting::Binary(..) => 2,
            Waiting::Minus => 3,
        }
    }
}

/// Reads from a text, into an arena.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The expressions read so far.
    pub exprs: AffineExprs,
    names: FxHashMap<&'a str, Variable>,
}

impl<'a> Reader<'a> {
    /// Reads `text` from byte `at` on; expressions go into `exprs`.
    pub fn new(text: &'a str, at: usize, exprs: AffineExprs) -> Reader<'a> {
        Reader { text, at, exprs, names: FxHashMap::default() }
    }

    /// The first byte that was not read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// `(i, j)[n] -> (i + n, j)`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn map(&mut self) -> Parsed<AffineMap> {
        let (dims, symbols) = self.space()?;
        self.need("->", "`->` before the results")?;
        self.need("(", "`(` before the results")?;
        let mut results = Vec::new();
        self.list(")", |reader| {
            results.push(reader.sum(None::<&mut NoOperands>)?);
            Ok(())
        })?;
        Ok(AffineMap::new(dims, symbols, &self.exprs, &results))
    }

    /// `(i)[n] : (i >= 0, i <= n - 1)`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn set(&mut self) -> Parsed<IntegerSet> {
        let (dims, symbols) = self.space()?;
        self.need(":", "`:` before the constraints")?;
        self.need("(", "`(` before the constraints")?;
        let (mut left, mut equalities) = (Vec::new(), Vec::new());
        self.list(")", |reader| {
            let (constraint, equal) = reader.constraint()?;
            left.push(constraint);
            equalities.push(equal);
            Ok(())
        })?;
        Ok(IntegerSet::new(dims, symbols, &mut self.exprs, &left, &equalities))
    }

    /// An expression of the names of the space, or of `operands`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn sum<O: Operands>(&mut self, mut operands: Option<&mut O>) -> Parsed<AffineExpr> {
        let (mut waiting, mut done): (Vec<Waiting>, Vec<AffineExpr>) = (Vec::new(), Vec::new());
        loop {
            if self.accept("(") {
                waiting.push(Waiting::Bracket);
                continue;
            }
            if self.accept("-") {
                waiting.push(Waiting::Minus);
                continue;
            }
            done.push(self.atom(operands.as_deref_mut())?);
            loop {
                let at = self.skip_space();
                let operator = self.operator(at);
                let strength = operator.map_or(1, Waiting::strength);
                self.finish(&mut waiting, &mut done, strength)?;
                if let Some(operator) = operator {
                    waiting.push(operator);
                    break;
                }
                match waiting.last() {
                    None => return done.pop().ok_or_else(|| self.expected("an expression")),
                    Some(_) => {
                        self.need(")", "`)` after an expression")?;
                        waiting.pop();
                    }
                }
            }
        }
    }

    fn operator(&mut self, at: usize) -> Option<Waiting> {
        const WORDS: [(&str, BinaryOp); 3] = [
            ("floordiv", BinaryOp::FloorDiv),
            ("ceildiv", BinaryOp::CeilDiv),
            ("mod", BinaryOp::Mod),
        ];
        let rest = &self.text[at..];
        let (operator, length) = match rest.as_bytes().first()? {
            b'+' => (Waiting::Binary(BinaryOp::Add, at), 1),
            b'*' => (Waiting::Binary(BinaryOp::Mul, at), 1),
            b'-' if !rest.starts_with("->") => (Waiting::Subtract, 1),
            b'a'..=b'z' => {
                let word = &rest[..word_length(rest)];
                let (_, op) = WORDS.iter().find(|(name, _)| *name == word)?;
                (Waiting::Binary(*op, at), word.len())
            }
            _ => return None,
        };
        self.at = at + length;
        Some(operator)
    }

    /// Does what waits and is at least as strong as `strength`.
    fn finish(
        &mut self,
        waiting: &mut Vec<Waiting>,
        done: &mut Vec<AffineExpr>,
        strength: u8,
    ) -> Parsed<()> {
        while let Some(&last) = waiting.last()
            && last.strength() >= strength
            && let Some(right) = done.pop()
        {
            waiting.pop();
            let made = match (last, done.pop()) {
                (Waiting::Bracket, left) => {
                    done.extend(left);
                    right
                }
                (Waiting::Minus, left) => {
                    done.extend(left);
                    self.exprs.neg(right)
                }
                (_, None) => return Err(self.expected("an expression")),
                (Waiting::Subtract, Some(left)) => self.exprs.sub(left, right),
                (Waiting::Binary(op, at), Some(left)) => self.binary(op, at, left, right)?,
            };
            done.push(made);
        }
        Ok(())
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        at: usize,
        left: AffineExpr,
        right: AffineExpr,
    ) -> Parsed<AffineExpr> {
        let symbolic = |e| self.exprs.is_symbolic(e);
        let fault = match op {
            BinaryOp::Add => None,
            BinaryOp::Mul => (!symbolic(left) && !symbolic(right)).then_some("a factor"),
            _ => (!symbolic(right)).then_some("a divisor"),
        };
        match fault {
            Some(what) => Err(ParseError::NotAffine { at, what }),
            None => Ok(self.exprs.binary(op, left, right)),
        }
    }

    /// A name, a number or a value.
    fn atom<O: Operands>(&mut self, operands: Option<&mut O>) -> Parsed<AffineExpr> {
        let start = self.skip_space();
        let rest = &self.text[start..];
        match (rest.as_bytes().first(), operands) {
            (Some(b'0'..=b'9'), _) => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let Ok(value) = rest[..digits].parse() else {
                    return Err(self.expected("a decimal number of at most 63 bits"));
                };
                self.at = start + digits;
                Ok(self.exprs.constant(value))
            }
            (Some(b'%'), Some(operands)) => self.value(operands, false),
            (Some(b's'), Some(operands)) if &rest[..word_length(rest)] == "symbol" => {
                self.at = start + "symbol".len();
                self.need("(", "`(` after `symbol`")?;
                let symbol = self.value(operands, true)?;
                self.need(")", "`)` after a symbol")?;
                Ok(symbol)
            }
            (Some(b'a'..=b'z' | b'A'..=b'Z' | b'_'), _) => {
                let word = &rest[..word_length(rest)];
                let Some(&variable) = self.names.get(word) else {
                    return Err(self.expected("a dimension or symbol"));
                };
                self.at = start + word.len();
                Ok(self.variable(variable))
            }
            _ => Err(self.expected("an affine expression")),
        }
    }

    fn variable(&mut self, variable: Variable) -> AffineExpr {
        match variable {
            Variable::Dim(i) => self.exprs.dim(i),
            Variable::Symbol(i) => self.exprs.symbol(i),
        }
    }

    /// `%name`, `%0#1`.
    fn value<O: Operands>(&mut self, operands: &mut O, symbol: bool) -> Parsed<AffineExpr> {
        let start = self.skip_space();
        let rest = &self.text[start..];
        let Some(name) = rest.strip_prefix('%').filter(|name| name_length(name) > 0) else {
            return Err(self.expected("a value"));
        };
        let mut length = 1 + name_length(name);
        if let Some(index) = rest[length..].strip_prefix('#') {
            let digits = index.bytes().take_while(u8::is_ascii_digit).count();
            length += if digits > 0 { 1 + digits } else { 0 };
        }
        self.at = start + length;
        let variable = operands.operand(start, start + length, symbol);
        Ok(self.variable(variable))
    }

    /// `(i, j)[n]`: the numbers of both.
    fn space(&mut self) -> Parsed<(u32, u32)> {
        self.names.clear();
        self.need("(", "`(` before the dimensions")?;
        let dims = self.names(")", Variable::Dim)?;
        let symbols = if self.accept("[") { self.names("]", Variable::Symbol)? } else { 0 };
        Ok((dims, symbols))
    }

    fn names(&mut self, close: &'static str, variable: fn(u32) -> Variable) -> Parsed<u32> {
        let mut count = 0;
        self.list(close, |reader| {
            let at = reader.skip_space();
            let name = &reader.text[at..at + word_length(&reader.text[at..])];
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(reader.expected("a name"));
            }
            if reader.names.insert(name, variable(count)).is_some() {
                return Err(ParseError::Redefinition { at, name: name.into() });
            }
            reader.at += name.len();
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// `a >= b`, `a <= b` or `a == b`, as what is compared with zero, and whether it is equal.
    fn constraint(&mut self) -> Parsed<(AffineExpr, bool)> {
        let left = self.sum(None::<&mut NoOperands>)?;
        let sign = ["==", ">=", "<="].into_iter().find(|sign| self.accept(sign));
        let Some(sign) = sign else { return Err(self.expected("`>=`, `<=` or `==`")) };
        let right = self.sum(None::<&mut NoOperands>)?;
        Ok(match sign {
            "<=" => (self.exprs.sub(right, left), false),
            sign => (self.exprs.sub(left, right), sign == "=="),
        })
    }

    fn list(
        &mut self,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        if self.accept(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.accept(close) {
                return Ok(());
            }
            let what = if close == ")" { "`,` or `)`" } else { "`,` or `]`" };
            self.need(",", what)?;
        }
    }

    fn accept(&mut self, piece: &str) -> bool {
        let at = self.skip_space();
        let found = self.text[at..].starts_with(piece);
        // An arrow is no minus.
        let found = found && !(piece == "-" && self.text[at..].starts_with("->"));
        self.at += if found { piece.len() } else { 0 };
        found
    }

    fn need(&mut self, piece: &str, what: &'static str) -> Parsed<()> {
        if self.accept(piece) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn expected(&self, what: &'static str) -> ParseError {
        ParseError::Expected { at: self.at, what }
    }

    /// Leaves space and comments behind; gives where the next token starts.
    fn skip_space(&mut self) -> usize {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches([' ', '\n', '\t', '\r']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return self.at;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }
}

/// The length of the name, or keyword, that `text` begins with.
fn word_length(text: &str) -> usize {
    let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
    text.bytes().take_while(word).count()
}

/// The length of the name of a value: digits alone, or a word that may hold `-`.
fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return text.bytes().take_while(u8::is_ascii_digit).count();
    }
    let name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-');
    text.bytes().take_while(name).count()
}

/// Reads all of `text` with `read`.
fn whole<'a, T>(text: &'a str, read: fn(&mut Reader<'a>) -> Parsed<T>) -> Parsed<T> {
    let mut reader = Reader::new(text, 0, AffineExprs::new());
    let value = read(&mut reader)?;
    match reader.skip_space() {
        end if end == text.len() => Ok(value),
        _ => Err(reader.expected("the end of the text")),
    }
}

impl FromStr for AffineMap {
    type Err = ParseError;

    fn from_str(text: &str) -> Parsed<AffineMap> {
        whole(text, Reader::map)
    }
}

impl FromStr for IntegerSet {
    type Err = ParseError;

    fn from_str(text: &str) -> Parsed<IntegerSet> {
        whole(text, Reader::set)
    }
}
