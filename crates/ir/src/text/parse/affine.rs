//! Affine maps and integer sets.
//!
//! They are checked and kept as text in MLIR's spelling, with the dimensions named `d0`, `d1`, ...
//! and the symbols `s0`, `s1`, ..., so that two that differ in names and brackets only are one
//! attribute. Expressions are not simplified.

use rustc_hash::FxHashMap;

use super::values::ValueUse;
use super::{Kind, Parsed, Parser, Token};
use crate::attributes::Attr;

/// How an expression binds, which says where it needs brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    Atom,
    Product,
    Sum,
}

/// An expression as text.
struct Expr {
    text: String,
    binding: Binding,
}

impl Expr {
    /// The text as an operand of a product.
    fn tight(&self) -> String {
        match self.binding {
            Binding::Atom => self.text.clone(),
            Binding::Product | Binding::Sum => format!("({})", self.text),
        }
    }
}

/// What the names in brackets stand for.
type Names<'a> = FxHashMap<&'a str, String>;

/// The values in affine expressions: dimensions and symbols in the order of their numbers.
#[derive(Default)]
pub(super) struct AffineOperands<'a> {
    pub(super) dims: Vec<ValueUse<'a>>,
    pub(super) symbols: Vec<ValueUse<'a>>,
}

/// The number of `value` in `list`, which it enters if it is new.
fn numbered<'a>(list: &mut Vec<ValueUse<'a>>, value: ValueUse<'a>) -> usize {
    let same = |known: &ValueUse<'a>| known.name == value.name && known.index == value.index;
    list.iter().position(same).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
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
        let (names, head) = self.affine_space()?;
        self.expect_kind(Kind::Arrow, "`->` before the results")?;
        self.expect(b'(', "before the results")?;
        let mut results: Vec<String> = Vec::new();
        self.list(b')', |p| {
            results.push(p.affine_expr(&names)?.text);
            Ok(())
        })?;
        Ok(self.opaque(&format!("affine_map<{head} -> ({})>", results.join(", "))))
    }

    /// `affine_set<(i)[n] : (i >= 0, n - i - 1 >= 0)>`; the current token is `affine_set`.
    pub(super) fn affine_set(&mut self) -> Parsed<Attr> {
        self.take();
        self.expect(b'<', "after `affine_set`")?;
        let (names, head) = self.affine_space()?;
        self.expect(b':', "before the constraints")?;
        self.expect(b'(', "before the constraints")?;
        let mut constraints: Vec<String> = Vec::new();
        self.list(b')', |p| {
            constraints.push(p.affine_constraint(&names)?);
            Ok(())
        })?;
        self.expect(b'>', "after the set")?;
        Ok(self.opaque(&format!("affine_set<{head} : ({})>", constraints.join(", "))))
    }

    /// Expressions over values, `%0 + 1, symbol(%1)`, up to `close`: a map, and its operands.
    pub(super) fn affine_of_values(&mut self, close: u8) -> Parsed<(Attr, AffineOperands<'a>)> {
        self.affine_operands = Some(AffineOperands::default());
        let mut results: Vec<String> = Vec::new();
        let names = Names::default();
        let read = self.list(close, |p| {
            results.push(p.affine_expr(&names)?.text);
            Ok(())
        });
        let operands = self.affine_operands.take().unwrap_or_default();
        read?;
        Ok((self.map_over(&operands, &results), operands))
    }

    /// As [`Parser::affine_of_values`], up to `)`, with `max(...)` or `min(...)` around several
    /// expressions of one bound; gives how many each bound has.
    pub(super) fn grouped_affine(
        &mut self,
        extreme: &str,
    ) -> Parsed<(Attr, AffineOperands<'a>, Vec<usize>)> {
        self.affine_operands = Some(AffineOperands::default());
        let (mut results, mut sizes): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
        let names = Names::default();
        let read = self.list(b')', |p| {
            let before = results.len();
            if p.accept_word(extreme) {
                p.expect(b'(', "before the expressions of a bound")?;
                p.list(b')', |p| {
                    results.push(p.affine_expr(&names)?.text);
                    Ok(())
                })?;
            } else {
                results.push(p.affine_expr(&names)?.text);
            }
            sizes.push(results.len() - before);
            Ok(())
        });
        let operands = self.affine_operands.take().unwrap_or_default();
        read?;
        Ok((self.map_over(&operands, &results), operands, sizes))
    }

    fn map_over(&self, operands: &AffineOperands<'a>, results: &[String]) -> Attr {
        let list = |letter: char, count: usize| -> String {
            let names: Vec<String> = (0..count).map(|i| format!("{letter}{i}")).collect();
            names.join(", ")
        };
        let symbols = match operands.symbols.len() {
            0 => String::new(),
            count => format!("[{}]", list('s', count)),
        };
        let dims = list('d', operands.dims.len());
        self.opaque(&format!("affine_map<({dims}){symbols} -> ({})>", results.join(", ")))
    }

    /// `%0` or `symbol(%0)` in an expression.
    fn affine_value(&mut self, symbol: bool) -> Parsed<Expr> {
        let value = self.value_use()?;
        let operands = self.affine_operands.get_or_insert_default();
        let text = match symbol {
            true => format!("s{}", numbered(&mut operands.symbols, value)),
            false => format!("d{}", numbered(&mut operands.dims, value)),
        };
        Ok(Expr { text, binding: Binding::Atom })
    }

    /// `(i, j)[n]`: the meaning of the names, and the text with new names.
    fn affine_space(&mut self) -> Parsed<(Names<'a>, String)> {
        let mut names = Names::default();
        self.expect(b'(', "before the dimensions")?;
        let dims = self.affine_names(b')', 'd', &mut names)?;
        let mut head = format!("({})", dims.join(", "));
        if self.accept(b'[') {
            let symbols = self.affine_names(b']', 's', &mut names)?;
            if !symbols.is_empty() {
                head += &format!("[{}]", symbols.join(", "));
            }
        }
        Ok((names, head))
    }

    fn affine_names(
        &mut self,
        close: u8,
        letter: char,
        names: &mut Names<'a>,
    ) -> Parsed<Vec<String>> {
        let mut list = Vec::new();
        self.list(close, |p| {
            let token = p.expect_kind(Kind::Word, "a name")?;
            let new = format!("{letter}{}", list.len());
            list.push(new.clone());
            if names.insert(p.spelling(token), new).is_none() {
                return Ok(());
            }
            let message = format!("expected a new name, found `{}` again", p.spelling(token));
            p.error(token, "redefinition", message)
        })?;
        Ok(list)
    }

    /// `a >= b`, `a <= b` or `a == b`, as something compared with zero.
    fn affine_constraint(&mut self, names: &Names<'a>) -> Parsed<String> {
        let left = self.affine_expr(names)?;
        let sign = self.token;
        let Kind::Punct(first @ (b'>' | b'<' | b'=')) = sign.kind else {
            return self.unexpected("`>=`, `<=` or `==`");
        };
        self.take();
        self.expect(b'=', "in a comparison")?;
        let right = self.affine_expr(names)?;
        let (left, right) = if first == b'<' { (right, left) } else { (left, right) };
        let relation = if first == b'=' { "==" } else { ">=" };
        let difference = match right.text.as_str() {
            "0" => left.text,
            _ if right.binding == Binding::Sum => format!("{} - {}", left.text, right.tight()),
            _ => format!("{} - {}", left.text, right.text),
        };
        Ok(format!("{difference} {relation} 0"))
    }

    /// Sums and differences.
    fn affine_expr(&mut self, names: &Names<'a>) -> Parsed<Expr> {
        let mut sum = self.affine_product(names)?;
        loop {
            let sign = if self.accept(b'+') {
                '+'
            } else if self.accept(b'-') {
                '-'
            } else {
                return Ok(sum);
            };
            let term = self.affine_product(names)?;
            let bare = sign == '+' || term.binding != Binding::Sum;
            sum.text += &format!(" {sign} ");
            sum.text += &if bare { term.text } else { term.tight() };
            sum.binding = Binding::Sum;
        }
    }

    /// Products, quotients and rests.
    fn affine_product(&mut self, names: &Names<'a>) -> Parsed<Expr> {
        let mut product = self.affine_atom(names)?;
        loop {
            let operator = if self.accept(b'*') {
                "*"
            } else if self.token.kind == Kind::Word {
                match self.spelling(self.token) {
                    word @ ("floordiv" | "ceildiv" | "mod") => {
                        self.take();
                        word
                    }
                    _ => return Ok(product),
                }
            } else {
                return Ok(product);
            };
            let factor = self.affine_atom(names)?;
            let text = format!("{} {operator} {}", product.tight(), factor.tight());
            product = Expr { text, binding: Binding::Product };
        }
    }

    /// A name, a number, something negated or in brackets.
    fn affine_atom(&mut self, names: &Names<'a>) -> Parsed<Expr> {
        let token = self.token;
        let atom = |text: String| Ok(Expr { text, binding: Binding::Atom });
        match token.kind {
            Kind::Int => {
                let value = self.affine_number(token)?;
                atom(value.to_string())
            }
            Kind::Percent if self.affine_operands.is_some() => self.affine_value(false),
            Kind::Word if self.affine_operands.is_some() && self.is_word("symbol") => {
                self.take();
                self.expect(b'(', "after `symbol`")?;
                let symbol = self.affine_value(true)?;
                self.expect(b')', "after a symbol")?;
                Ok(symbol)
            }
            Kind::Word => match names.get(self.spelling(token)) {
                Some(name) => {
                    self.take();
                    atom(name.clone())
                }
                None => self.unexpected("a dimension or symbol"),
            },
            Kind::Punct(b'-') => self.nested(|p| {
                p.take();
                let inner = p.affine_atom(names)?;
                let number = inner.text.bytes().all(|b| b.is_ascii_digit());
                let binding = if number { Binding::Atom } else { Binding::Product };
                let operand = match inner.text.starts_with('-') {
                    true => format!("({})", inner.text),
                    false => inner.tight(),
                };
                Ok(Expr { text: format!("-{operand}"), binding })
            }),
            Kind::Punct(b'(') => self.nested(|p| {
                p.take();
                let inner = p.affine_expr(names)?;
                p.expect(b')', "after an expression")?;
                Ok(inner)
            }),
            _ => self.unexpected("an affine expression"),
        }
    }

    fn affine_number(&mut self, token: Token) -> Parsed<i64> {
        match self.spelling(token).parse() {
            Ok(value) => {
                self.take();
                Ok(value)
            }
            Err(_) => self.unexpected("a decimal number of at most 63 bits"),
        }
    }
}
