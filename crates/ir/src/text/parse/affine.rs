//! Affine maps and integer sets: their notation is read by [`tangram_affine`], from the place where
//! they begin, and reading goes on where they end.

use tangram_affine::{AffineExpr, AffineMap, Operands, ParseError, Reader, Variable};

use super::custom::Uses;
use super::names::Names;
use super::values::ValueUse;
use super::{Kind, Parsed, Parser};
use crate::attributes::{Attr, AttrData};

/// The values in affine expressions: dimensions and symbols in the order of their numbers.
#[derive(Default)]
pub(super) struct AffineOperands {
    pub(super) dims: Uses,
    pub(super) symbols: Uses,
}

/// Values as they are met in a text.
struct Numbering<'a, 'b> {
    text: &'a str,
    names: &'b mut Names<'a>,
    operands: &'b mut AffineOperands,
}

impl Operands for Numbering<'_, '_> {
    fn operand(&mut self, start: usize, end: usize, symbol: bool) -> Variable {
        let word = &self.text[start..end];
        let (name, index) = match word.split_once('#') {
            // A number with too many digits is beyond any number of results.
            Some((name, index)) => (name, index.parse().unwrap_or(u32::MAX)),
            None => (word, 0),
        };
        let name = self.names.number(self.text, start, start + name.len());
        let value = ValueUse { name, index, at: start as u32 };
        let list = if symbol { &mut self.operands.symbols } else { &mut self.operands.dims };
        let same = |known: &ValueUse| known.name == value.name && known.index == value.index;
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
        self.same_attr(|p| {
            p.take();
            p.expect(b'<', "after `affine_map`")?;
            let map = p.bare_map()?;
            p.expect(b'>', "after the map")?;
            Ok(map)
        })
    }

    /// `(i, j)[n] -> (i + n, j)`.
    pub(super) fn bare_map(&mut self) -> Parsed<Attr> {
        self.affine_exprs.clear();
        let map = self.affine(Reader::map)?;
        Ok(self.context.attr(AttrData::AffineMap(map)))
    }

    /// `affine_set<(i)[n] : (i >= 0, n - i - 1 >= 0)>`; the current token is `affine_set`.
    pub(super) fn affine_set(&mut self) -> Parsed<Attr> {
        self.same_attr(|p| {
            p.take();
            p.expect(b'<', "after `affine_set`")?;
            p.affine_exprs.clear();
            let set = p.affine(Reader::set)?;
            p.expect(b'>', "after the set")?;
            Ok(p.context.attr(AttrData::IntegerSet(set)))
        })
    }

    /// Expressions over values, `%0 + 1, symbol(%1)`, up to `close`: a map, and its operands.
    pub(super) fn affine_of_values(&mut self, close: u8) -> Parsed<(Attr, AffineOperands)> {
        let (start, errors) = (self.token, self.errors.len());
        if let Some(read) = self.different_values(close) {
            return Ok(read);
        }
        self.token = start;
        self.errors.truncate(errors);
        let mut operands = AffineOperands::default();
        let mut results = Vec::new();
        self.affine_exprs.clear();
        self.list(close, |p| {
            results.push(p.affine_expr(&mut operands)?);
            Ok(())
        })?;
        Ok((self.map_over(&operands, &results), operands))
    }

    /// The same for a few different values alone, `%0, %1`, as nearly always; `None` where there is
    /// more.
    fn different_values(&mut self, close: u8) -> Option<(Attr, AffineOperands)> {
        const FEW: usize = 8;
        let mut operands = AffineOperands::default();
        while !self.accept(close) {
            let comma = operands.dims.is_empty() || self.accept(b',');
            if !comma || self.token.kind != Kind::Percent || operands.dims.len() == FEW {
                return None;
            }
            let value = self.value_use().ok()?;
            if operands.dims.iter().any(|known| known.name == value.name) {
                return None;
            }
            operands.dims.push(value);
        }
        let rank = operands.dims.len();
        for dims in self.identities.len()..=rank {
            let map = AffineMap::identity(dims as u32);
            self.identities.push(self.context.attr(AttrData::AffineMap(map)));
        }
        Some((self.identities[rank], operands))
    }

    /// As [`Parser::affine_of_values`], up to `)`, with `max(...)` or `min(...)` around several
    /// expressions of one bound; gives how many each bound has.
    pub(super) fn grouped_affine(
        &mut self,
        extreme: &str,
    ) -> Parsed<(Attr, AffineOperands, Vec<usize>)> {
        let mut operands = AffineOperands::default();
        let (mut results, mut sizes) = (Vec::new(), Vec::new());
        self.affine_exprs.clear();
        self.list(b')', |p| {
            let before = results.len();
            if p.accept_word(extreme) {
                p.expect(b'(', "before the expressions of a bound")?;
                if p.is(b')') {
                    return p.unexpected("an expression: there is no extreme of none");
                }
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

    fn map_over(&self, operands: &AffineOperands, results: &[AffineExpr]) -> Attr {
        let (dims, symbols) = (operands.dims.len() as u32, operands.symbols.len() as u32);
        let map = AffineMap::new(dims, symbols, &self.affine_exprs, results);
        self.context.attr(AttrData::AffineMap(map))
    }

    /// One expression over values, in the arena of the parser.
    fn affine_expr(&mut self, operands: &mut AffineOperands) -> Parsed<AffineExpr> {
        let text = self.text;
        let mut names = std::mem::take(&mut self.values.names);
        let mut numbering = Numbering { text, names: &mut names, operands };
        let result = self.affine(|reader| reader.sum(Some(&mut numbering)));
        self.values.names = names;
        result
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
