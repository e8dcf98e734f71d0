//! Extents and indexing maps as sets and relations.

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExpr, AffineMap, BinaryOp, Node};
use tangram_presburger::{Relation, Rows, Space, Tuple};

use crate::parameters::Parameters;

/// Rows over the parameters of a function, the iterators of a nest, and coordinates: what
/// [`Rows`] says by numbers in terms of extents and indexing maps.
pub(crate) struct NestRows<'a> {
    parameters: &'a Parameters,
    rows: Rows,
}

impl<'a> NestRows<'a> {
    /// No conditions yet.
    pub fn new(parameters: &'a Parameters, iterators: usize, outputs: usize) -> NestRows<'a> {
        let rows = Rows::new(parameters.expressions().len(), iterators, outputs);
        NestRows { parameters, rows }
    }

    /// A row that has only the number 0 yet.
    fn empty(&self) -> Vec<i128> {
        vec![0; self.rows.columns()]
    }

    /// The row of an expression of parameters.
    fn expr(&self, expr: &Expr) -> Option<Vec<i128>> {
        let mut row = self.parameters.row(expr)?;
        row.resize(self.rows.columns(), 0);
        Some(row)
    }

    /// Says that the value of `row` is at least 0 and less than `extent`.
    fn within(&mut self, row: Vec<i128>, extent: &Expr) -> Option<()> {
        let mut upper = self.expr(extent)?;
        upper[0] -= 1;
        upper.iter_mut().zip(&row).for_each(|(a, b)| *a -= b);
        self.rows.at_least_zero(row);
        self.rows.at_least_zero(upper);
        Some(())
    }

    /// Says that an iterator runs from 0 up to an extent, exclusive.
    pub fn iterates(&mut self, at: usize, extent: &Expr) -> Option<()> {
        let mut row = self.empty();
        row[self.rows.input(at)] = 1;
        self.within(row, extent)
    }

    /// Says that an output is a result of a map, and within an extent if one is given.
    pub fn is_result(
        &mut self,
        output: usize,
        (map, at): (&AffineMap, usize),
        symbols: &[Expr],
        extent: Option<&Expr>,
    ) -> Option<()> {
        let row = self.linear(map, map.results()[at], symbols)?;
        if let Some(extent) = extent {
            self.within(row.clone(), extent)?;
        }
        self.rows.output_is(output, &row, &[]);
        Some(())
    }

    /// Says that an output is anywhere within an extent.
    pub fn is_any(&mut self, output: usize, extent: &Expr) -> Option<()> {
        let mut row = self.empty();
        row[self.rows.output(output)] = 1;
        self.within(row, extent)
    }

    /// Says that an output is below 0.
    pub fn is_negative(&mut self, output: usize) {
        let mut row = self.empty();
        row[0] = -1;
        row[self.rows.output(output)] = -1;
        self.rows.at_least_zero(row);
    }

    /// Says that an output is at least an expression of parameters.
    pub fn is_at_least(&mut self, output: usize, least: &Expr) -> Option<()> {
        let mut row = self.expr(least)?;
        row.iter_mut().for_each(|value| *value = -*value);
        row[self.rows.output(output)] = 1;
        self.rows.at_least_zero(row);
        Some(())
    }

    /// The row of a result of a map; nothing if it is not affine.
    fn linear(
        &mut self,
        map: &AffineMap,
        result: AffineExpr,
        symbols: &[Expr],
    ) -> Option<Vec<i128>> {
        let mut known: Vec<Option<Vec<i128>>> = Vec::new();
        for node in &map.nodes()[..=result.index()] {
            let value = match *node {
                Node::Dim(at) => {
                    let mut row = self.empty();
                    row[self.rows.input(at as usize)] = 1;
                    Some(row)
                }
                Node::Symbol(at) => self.expr(symbols.get(at as usize)?),
                Node::Constant(value) => self.expr(&Expr::int(value)),
                Node::Binary(op, a, b) => {
                    let a = known[a.index()].clone();
                    let b = known[b.index()].clone();
                    a.zip(b).and_then(|(a, b)| self.binary(op, a, b))
                }
            };
            known.push(value);
        }
        known.pop().flatten()
    }

    fn binary(&mut self, op: BinaryOp, mut a: Vec<i128>, mut b: Vec<i128>) -> Option<Vec<i128>> {
        a.resize(self.rows.columns(), 0);
        b.resize(self.rows.columns(), 0);
        let number = |row: &[i128]| row[1..].iter().all(|v| *v == 0).then_some(row[0]);
        match op {
            BinaryOp::Add => Some(a.iter().zip(&b).map(|(a, b)| a + b).collect()),
            BinaryOp::Mul => match (number(&a), number(&b)) {
                (_, Some(factor)) => scaled(&a, factor),
                (Some(factor), None) => scaled(&b, factor),
                (None, None) => None,
            },
            BinaryOp::FloorDiv => self.floor(a, number(&b)?),
            BinaryOp::CeilDiv => {
                let divisor = number(&b)?;
                a[0] += divisor - 1;
                self.floor(a, divisor)
            }
            BinaryOp::Mod => {
                let divisor = number(&b)?;
                let quotient = self.floor(a.clone(), divisor)?;
                let taken = scaled(&quotient, -divisor)?;
                a.resize(taken.len(), 0);
                Some(a.iter().zip(&taken).map(|(a, b)| a + b).collect())
            }
        }
    }

    fn floor(&mut self, numerator: Vec<i128>, denominator: i128) -> Option<Vec<i128>> {
        if denominator <= 0 {
            return None;
        }
        let column = self.rows.floor(numerator, denominator);
        let mut row = self.empty();
        row[column] = 1;
        Some(row)
    }

    /// The set of iterators' values that the conditions leave.
    pub fn set(self, tuple: Tuple) -> Result<Relation, tangram_presburger::Error> {
        let space = Space::set(self.parameters.names(), tuple);
        self.rows.relation(space)
    }

    /// The relation from iterators to outputs.
    pub fn relation(self, from: Tuple, to: Tuple) -> Result<Relation, tangram_presburger::Error> {
        let space = Space::map(self.parameters.names(), from, to);
        self.rows.relation(space)
    }
}

fn scaled(row: &[i128], factor: i128) -> Option<Vec<i128>> {
    row.iter().map(|value| value.checked_mul(factor)).collect()
}
