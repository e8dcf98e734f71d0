//! Affine maps and integer sets, read from attributes and written to them.

use std::fmt::Write as _;

use tangram_ir::{Attr, AttrData, Context};

use super::expr::{Atom, Expr};

/// The deepest nesting of brackets that is read.
const MAX_BRACKETS: u32 = 32;

/// Dimensions and symbols, and expressions of them: the results of a map, or what a set compares
/// with zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// How many dimensions there are.
    pub dims: u32,
    /// How many symbols there are.
    pub symbols: u32,
    /// The results, or the left sides of constraints.
    pub results: Vec<Expr>,
    /// For a set, whether each constraint is `== 0`, not `>= 0`; `None` for a map.
    pub equalities: Option<Vec<bool>>,
}

impl Map {
    /// The map or set that `attr` is. `None` for anything else, and where factors or divisors are
    /// not constant.
    pub fn read(context: &Context, attr: Attr) -> Option<Map> {
        let AttrData::Opaque(text) = context.attr_data(attr) else { return None };
        let text = context.text(*text);
        let (is_set, rest) = match text.strip_prefix("affine_map<") {
            Some(rest) => (false, rest),
            None => (true, text.strip_prefix("affine_set<")?),
        };
        let mut reader = Reader { rest: rest.strip_suffix('>')?, brackets: 0 };
        reader.map(is_set)
    }

    /// The attribute.
    pub fn write(&self, context: &Context) -> Attr {
        let mut text = String::new();
        let list = |letter: char, count: u32| {
            (0..count).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(", ")
        };
        let head = if self.equalities.is_some() { "affine_set" } else { "affine_map" };
        let _ = write!(text, "{head}<({})", list('d', self.dims));
        if self.symbols > 0 {
            let _ = write!(text, "[{}]", list('s', self.symbols));
        }
        text += if self.equalities.is_some() { " : (" } else { " -> (" };
        for (i, result) in self.results.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{result}");
            if let Some(equalities) = &self.equalities {
                text += if equalities[i] { " == 0" } else { " >= 0" };
            }
        }
        text += ")>";
        context.attr(AttrData::Opaque(context.str(&text)))
    }

    /// The results at a point: first the dimensions, then the symbols.
    pub fn evaluate(&self, operands: &[i64]) -> Option<Vec<i64>> {
        let (dims, symbols) = operands.split_at_checked(self.dims as usize)?;
        self.results.iter().map(|result| result.evaluate(dims, symbols)).collect()
    }

    /// For a set, whether the point lies in it.
    pub fn contains(&self, operands: &[i64]) -> Option<bool> {
        let values = self.evaluate(operands)?;
        let equalities = self.equalities.as_ref()?;
        Some(values.iter().zip(equalities).all(|(&v, &eq)| if eq { v == 0 } else { v >= 0 }))
    }
}

struct Reader<'a> {
    rest: &'a str,
    brackets: u32,
}

impl<'a> Reader<'a> {
    fn accept(&mut self, word: &str) -> bool {
        let trimmed = self.rest.trim_start();
        match trimmed.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn need(&mut self, word: &str) -> Option<()> {
        self.accept(word).then_some(())
    }

    fn word(&mut self) -> &'a str {
        let trimmed = self.rest.trim_start();
        let end = trimmed.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(trimmed.len());
        let (word, rest) = trimmed.split_at(end);
        self.rest = rest;
        word
    }

    /// Names up to `close`; returns how many.
    fn names(&mut self, close: &str) -> Option<u32> {
        let mut count = 0;
        while !self.accept(close) {
            if self.word().is_empty() {
                return None;
            }
            count += 1;
            self.accept(",");
        }
        Some(count)
    }

    fn map(&mut self, is_set: bool) -> Option<Map> {
        self.need("(")?;
        let dims = self.names(")")?;
        let symbols = if self.accept("[") { self.names("]")? } else { 0 };
        self.need(if is_set { ":" } else { "->" })?;
        self.need("(")?;
        let (mut results, mut equalities) = (Vec::new(), Vec::new());
        while !self.accept(")") {
            results.push(self.sum()?);
            if is_set {
                let equal = self.accept("==");
                if !equal {
                    self.need(">=")?;
                }
                self.need("0")?;
                equalities.push(equal);
            }
            self.accept(",");
        }
        Some(Map { dims, symbols, results, equalities: is_set.then_some(equalities) })
    }

    fn sum(&mut self) -> Option<Expr> {
        let mut sum = self.product()?;
        loop {
            let factor = if self.accept("+") {
                1
            } else if self.accept("-") && !self.rest.starts_with('>') {
                -1
            } else {
                return Some(sum);
            };
            sum = sum.plus(&self.product()?, factor)?;
        }
    }

    fn product(&mut self) -> Option<Expr> {
        let mut product = self.atom()?;
        loop {
            if self.accept("*") {
                let factor = self.atom()?;
                product = match (product.as_number(), factor.as_number()) {
                    (_, Some(number)) => product.times(number)?,
                    (Some(number), None) => factor.times(number)?,
                    (None, None) => return None,
                };
            } else if self.accept("floordiv") {
                product = product.floor_div(self.atom()?.as_number()?)?;
            } else if self.accept("ceildiv") {
                product = product.ceil_div(self.atom()?.as_number()?)?;
            } else if self.accept("mod") {
                product = product.modulo(self.atom()?.as_number()?)?;
            } else {
                return Some(product);
            }
        }
    }

    fn atom(&mut self) -> Option<Expr> {
        self.brackets += 1;
        if self.brackets > MAX_BRACKETS {
            return None;
        }
        let atom = if self.accept("(") {
            let inner = self.sum()?;
            self.need(")")?;
            inner
        } else if self.accept("-") {
            self.atom()?.times(-1)?
        } else {
            let word = self.word();
            match word.as_bytes().first()? {
                b'd' => Expr::atom(Atom::Dim(word[1..].parse().ok()?)),
                b's' => Expr::atom(Atom::Symbol(word[1..].parse().ok()?)),
                _ => Expr::number(word.parse().ok()?),
            }
        };
        self.brackets -= 1;
        Some(atom)
    }
}
