//! Sums of all digits of an index that was split are that index: of `a, b = i into (4, 5)`, the
//! expression `(a * 5 + b) * 2` is `i * 2`.

use tangram_affine::{AffineExpr, AffineExprs, AffineMap, simplify};
use tangram_ir::{Module, Op, Value};

use super::compose::Applied;
use super::indices::Split;
use super::verify::{is_dimension, is_symbol};

impl Applied {
    /// The same over an index in the place of its digits, where the map uses these for nothing
    /// but their sum.
    pub(super) fn rejoined(&self, module: &Module, user: Op) -> Option<Applied> {
        (0..self.operands.len()).find_map(|last| self.rejoined_at(module, user, last))
    }

    /// As [`Applied::rejoined`], if operand `last` is a last digit.
    fn rejoined_at(&self, module: &Module, user: Op, last: usize) -> Option<Applied> {
        let def = module.def_op(self.operands[last])?;
        if module.name_text(def) != "affine.delinearize_index" {
            return None;
        }
        let split = Split::of(module, def)?;
        let digits: Vec<Value> = module.results(def).collect();
        if digits.len() < 2 || digits.last() != Some(&self.operands[last]) {
            return None;
        }
        let is_symbolic = last >= self.map.dims();
        let anything =
            matches!(module.name_text(user), "affine.apply" | "affine.min" | "affine.max");
        let fits = if is_symbolic {
            is_symbol(module, split.index, user)
        } else {
            is_dimension(module, split.index, user)
        };
        if !(anything || fits) {
            return None;
        }
        // The last digit is the index without the others, which go if they were there for it.
        let mut exprs = AffineExprs::new();
        let mut made: Vec<AffineExpr> =
            (0..self.operands.len()).map(|i| self.operand(&mut exprs, i)).collect();
        let mut rest = if is_symbolic {
            exprs.symbol(self.map.symbols() as u32)
        } else {
            exprs.dim(self.map.dims() as u32)
        };
        let mut stride = -1i64;
        let mut others = Vec::with_capacity(digits.len());
        for (at, digit) in digits.iter().enumerate().rev().skip(1) {
            let factor = (*split.factors.get(at + 1)?)?.number()?;
            stride = stride.checked_mul(factor)?;
            let place = self.operands.iter().position(|operand| operand == digit)?;
            let by = exprs.constant(stride);
            let term = exprs.mul(made[place], by);
            rest = exprs.add(rest, term);
            others.push(place);
        }
        made[last] = rest;
        let (dims, symbols) = made.split_at(self.map.dims());
        let results = self.map.substitute(&mut exprs, dims, symbols);
        let results: Vec<AffineExpr> =
            results.into_iter().map(|result| simplify(&mut exprs, result)).collect();
        let (dims, symbols) = (self.map.dims(), self.map.symbols());
        let more = [u32::from(!is_symbolic), u32::from(is_symbolic)];
        let map = AffineMap::new(dims as u32 + more[0], symbols as u32 + more[1], &exprs, &results);
        let (used_dims, used_symbols) = map.used();
        let is_used = |at: usize| match at.checked_sub(dims) {
            None => used_dims[at],
            Some(at) => used_symbols[at],
        };
        let mut operands = self.operands.clone();
        operands.insert(if is_symbolic { operands.len() } else { dims }, split.index);
        (!others.into_iter().any(is_used)).then_some(Applied { map, operands })
    }

    fn operand(&self, exprs: &mut AffineExprs, at: usize) -> AffineExpr {
        match at.checked_sub(self.map.dims()) {
            None => exprs.dim(at as u32),
            Some(at) => exprs.symbol(at as u32),
        }
    }
}
