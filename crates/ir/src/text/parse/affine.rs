//! Affine maps and integer sets: their notation is read by [`tangram_affine`], from the place where
//! they begin, and reading goes on where they end.

use tangram_affine::{AffineExpr, AffineMap, Operands, ParseError, Reader, Variable};

use super::custom::Uses;
use super::values::ValueUse;
use super::{Kind, Parsed, Parser, Token};
use crate::attributes::{Attr, AttrData};

/// The values in affine expressions: dimensions and symbols in the order of their numbers.
#[derive(Default)]
pub(super) struct AffineOperands<'a> {
    pub(super) dims: Uses<'a>,
    pub(super) symbols: Uses<'a>,
}

/// Values as they are met in a text.
struct Numbering<'a, 'b> {
    text: &'a str,
    operands: &'b mut AffineOperands<'a>,
}

impl Operands for Numbering<'_, '_> {
    fn operand(&mut self, start: usize, end: usize, symbol: bool) -> Variable {
        let word = &self.text[start..end];
        let (name, index) = word.split_once('#').unwrap_or((word, "0"));
        let token =
            Token { kind: Kind::Percent, start: start as u32, end: (start + name.len()) as u32 };
        // A number with too many digits is beyond any number of results.
        let value = ValueUse { name, index: index.parse().unwrap_or(u32::MAX), token };
        let list = if symbol { &mut self.operands.symbols } else { &mut self.operands.dims };
        let same = |known: &ValueUse<'_>| known.name == value.name && known.index == value.index;
        let number = list.iter().position(same).unwrap_or_else(|| {
            list.push(value);
            list.len() - 1
        }) as u32;
        if symbol { Variable::Symbol(number) } else { Variable::Dim(number) }
    }
}

impl<'a> Parser<'a> {
    /// `affine_map<(i, j)[n] -> (i + n, j)>`; the current token is `affine_map`.
    pub(super) fn affine_map(&mut self) -> Parsed<Attr> {
        self.take();
        self.expect(b'<', "after `affine_map`")?;
        let map = self.bare_map()?;
        self.expect(b'>', "after the map")?;
        Ok(map)
    }

    /// `(i, j)[n] -> (i + n, j)`.
    pub(super) fn bare_map(&mut self) -> Parsed<Attr> {
        self.affine_exprs.clear();
        let map = self.affine(Reader::map)?;
        Ok(self.context.attr(AttrData::AffineMap(map)))
    }

    /// `affine_set<(i)[n] : (i >= 0, n - i - 1 >= 0)>`; the current token is `affine_set`.
    pub(super) fn affine_set(&mut self) -> Parsed<Attr> {
        self.take();
        self.expect(b'<', "after `affine_set`")?;
        self.affine_exprs.clear();
        let set = self.affine(Reader::set)?;
        self.expect(b'>', "after the set")?;
        Ok(self.context.attr(AttrData::IntegerSet(set)))
    }

    /// Expressions over values, `%0 + 1, symbol(%1)`, up to `close`: a map, and its operands.
    pub(super) fn affine_of_values(&mut self, close: u8) -> Parsed<(Attr, AffineOperands<'a>)> {
        let mut operands = AffineOperands::default();
        let mut results = Vec::new();
        self.affine_exprs.clear();
        self.list(close, |p| {
            results.push(p.affine_expr(&mut operands)?);
            Ok(())
        })?;
        Ok((self.map_over(&operands, &results), operands))
    }

    /// As [`Parser::affine_of_values`], up to `)`, with `max(...)` or `min(...)` around several
    /// expressions of one bound; gives how many each bound has.
    pub(super) fn grouped_affine(
        &mut self,
        extreme: &str,
    ) -> Parsed<(Attr, AffineOperands<'a>, Vec<usize>)> {
        let mut operands = AffineOperands::default();
        let (mut results, mut sizes) = (Vec::new(), Vec::new());
        self.affine_exprs.clear();
        self.list(b')', |p| {
            let before = results.len();
            if p.accept_word(extreme) {
                p.expect(b'(', "before the expressions of a bound")?;
                p.list(b')', |p| {
                    results.push(p.affine_expr(&mut operands)?);
                    Ok(())
                })?;
            } else {
                results.push(p.affine_expr(&mut operands)?);
            }
            sizes.push(results.len() - before);
            Ok(())
        })?;
        Ok((self.map_over(&operands, &results), operands, sizes))
    }

    fn map_over(&self, operands: &AffineOperands<'a>, results: &[AffineExpr]) -> Attr {
        let (dims, symbols) = (operands.dims.len() as u32, operands.symbols.len() as u32);
        let map = AffineMap::new(dims, symbols, &self.affine_exprs, results);
        self.context.attr(AttrData::AffineMap(map))
    }

    /// One expression over values, in the arena of the parser.
    fn affine_expr(&mut self, operands: &mut AffineOperands<'a>) -> Parsed<AffineExpr> {
        let text = self.text;
        self.affine(|reader| reader.sum(Some(&mut Numbering { text, operands })))
    }

    /// Reads with `read` from the current token on.
    fn affine<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, ParseError>,
    ) -> Parsed<T> {
        let exprs = std::mem::take(&mut self.affine_exprs);
        let mut reader = Reader::new(self.text, self.token.start as usize, exprs);
        let result = read(&mut reader);
        let end = reader.position();
        self.affine_exprs = reader.exprs;
        match result {
            Ok(value) => {
                self.jump(end);
                Ok(value)
            }
            Err(error) => self.affine_error(error),
        }
    }

    fn affine_error<T>(&mut self, error: ParseError) -> Parsed<T> {
        match error {
            ParseError::Expected { at, what } => {
                self.jump(at);
                self.unexpected(what)
            }
            ParseError::Redefinition { at, name } => {
                self.jump(at);
                let message = format!("expected a new name, found `{name}` again");
                self.error(self.token, "redefinition", message)
            }
            ParseError::NotAffine { at, what } => {
                self.jump(at);
                let message = format!("expected {what} without dimensions, found one with some");
                self.error(self.token, "not-affine", message)
            }
            other => self.error(self.token, "syntax", other.to_string()),
        }
    }
}
