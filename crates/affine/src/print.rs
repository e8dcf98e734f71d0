//! Maps and sets as MLIR writes them, with brackets only where they are needed.

use std::fmt;

use crate::expr::{AffineExpr, BinaryOp, Node};
use crate::map::AffineMap;
use crate::set::IntegerSet;

/// What stands for a name in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// A dimension, by number.
    Dim(u32),
    /// A symbol, by number.
    Symbol(u32),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Dim(i) => write!(f, "d{i}"),
            Name::Symbol(i) => write!(f, "s{i}"),
        }
    }
}

/// A part of the text of an expression.
enum Part {
    /// An expression; a sum, product or quotient is put in brackets if `true`.
    Expr(AffineExpr, bool),
    Text(&'static str),
    Number(u64),
}

/// What takes the text: plain pieces, and names.
pub trait Sink {
    /// Takes a piece of text.
    ///
    /// # Errors
    /// What the writer behind it says.
    fn text(&mut self, text: fmt::Arguments<'_>) -> fmt::Result;

    /// Takes a dimension or symbol.
    ///
    /// # Errors
    /// What the writer behind it says.
    fn name(&mut self, name: Name) -> fmt::Result {
        self.text(format_args!("{name}"))
    }
}

impl Sink for fmt::Formatter<'_> {
    fn text(&mut self, text: fmt::Arguments<'_>) -> fmt::Result {
        self.write_fmt(text)
    }
}

impl AffineMap {
    /// Writes `expr`, one of this map, to `sink`, which says what names look like.
    ///
    /// # Errors
    /// What `sink` says.
    pub fn print_expr(&self, expr: AffineExpr, sink: &mut dyn Sink) -> fmt::Result {
        let mut open = vec![Part::Expr(expr, false)];
        while let Some(part) = open.pop() {
            match part {
                Part::Text(text) => sink.text(format_args!("{text}"))?,
                Part::Number(number) => sink.text(format_args!("{number}"))?,
                Part::Expr(expr, tight) => match self.node(expr) {
                    Node::Dim(i) => sink.name(Name::Dim(i))?,
                    Node::Symbol(i) => sink.name(Name::Symbol(i))?,
                    Node::Constant(value) => sink.text(format_args!("{value}"))?,
                    Node::Binary(op, a, b) => {
                        if tight {
                            sink.text(format_args!("("))?;
                            open.push(Part::Text(")"));
                        }
                        self.parts(op, a, b, &mut open);
                    }
                },
            }
        }
        Ok(())
    }

    /// The parts of `a op b`, the last one first.
    fn parts(&self, op: BinaryOp, a: AffineExpr, b: AffineExpr, open: &mut Vec<Part>) {
        use Part::{Expr, Number, Text};
        let word = match op {
            BinaryOp::Add => return self.sum_parts(a, b, open),
            BinaryOp::Mul if self.as_constant(b) == Some(-1) => {
                return open.extend([Expr(a, true), Text("-")]);
            }
            BinaryOp::Mul => " * ",
            BinaryOp::FloorDiv => " floordiv ",
            BinaryOp::CeilDiv => " ceildiv ",
            BinaryOp::Mod => " mod ",
        };
        let right = match self.as_constant(b) {
            Some(number) if number >= 0 => Number(number.unsigned_abs()),
            _ => Expr(b, true),
        };
        open.extend([right, Text(word), Expr(a, true)]);
    }

    /// The parts of a sum: what is added with a negative factor is subtracted.
    fn sum_parts(&self, a: AffineExpr, b: AffineExpr, open: &mut Vec<Part>) {
        use Part::{Expr, Number, Text};
        if let Node::Binary(BinaryOp::Mul, x, factor) = self.node(b)
            && let Some(factor) = self.as_constant(factor)
            && factor < 0
        {
            if factor == -1 {
                let sum = matches!(self.node(x), Node::Binary(BinaryOp::Add, ..));
                open.push(Expr(x, sum));
            } else {
                open.extend([Number(factor.unsigned_abs()), Text(" * "), Expr(x, true)]);
            }
            return open.extend([Text(" - "), Expr(a, false)]);
        }
        match self.as_constant(b) {
            Some(number) if number < 0 => {
                open.extend([Number(number.unsigned_abs()), Text(" - "), Expr(a, false)]);
            }
            _ => open.extend([Expr(b, false), Text(" + "), Expr(a, false)]),
        }
    }

    fn space(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, letter: char, count: usize| {
            (0..count).try_for_each(|i| match i {
                0 => write!(f, "{letter}{i}"),
                _ => write!(f, ", {letter}{i}"),
            })
        };
        f.write_str("(")?;
        list(f, 'd', self.dims())?;
        f.write_str(")")?;
        if self.symbols() > 0 {
            f.write_str("[")?;
            list(f, 's', self.symbols())?;
            f.write_str("]")?;
        }
        Ok(())
    }
}

impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.space(f)?;
        f.write_str(" -> (")?;
        for (i, &result) in self.results().iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            self.print_expr(result, f)?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for IntegerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let map = self.constraints();
        map.space(f)?;
        f.write_str(" : (")?;
        for (i, (&left, &equal)) in map.results().iter().zip(self.equalities()).enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            map.print_expr(left, f)?;
            f.write_str(if equal { " == 0" } else { " >= 0" })?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for IntegerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
