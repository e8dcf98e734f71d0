//! Indices joined from digits and split into them.

use tangram_ir::Op;

use super::{Datum, Machine, Result};

impl Machine<'_> {
    /// `affine.linearize_index` and `affine.delinearize_index`.
    pub(super) fn digits(&self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let joins = self.module.name_text(op) == "affine.linearize_index";
        let given = self.ints(op, operands)?;
        let basis = crate::mlir::extents::list(self.module, op, "static_basis");
        let dynamic = basis.ok_or_else(|| self.unsupported(op))?;
        let dynamic = dynamic.iter().filter(|&&n| n == crate::mlir::extents::DYNAMIC).count();
        let (indices, rest) = given.split_at(given.len() - dynamic);
        let factors = self.mixed(op, "static_basis", &mut rest.iter().copied())?;
        // Factors are above 0, and no larger than what they are computed with.
        if factors.iter().any(|&factor| factor <= 0) {
            return Err(self.undefined(op));
        }
        let int = |value: i64| Datum::Int(value.into());
        let wide = || self.unsupported(op);
        if !joins {
            let (mut digits, mut left) = (Vec::new(), indices[0]);
            let count = self.module.result_count(op);
            for &factor in factors.iter().rev().take(count - 1) {
                digits.push(int(left.rem_euclid(factor)));
                left = left.div_euclid(factor);
            }
            // The first factor, where it is there, is a promise.
            if factors.len() == count && !(0..factors[0]).contains(&left) {
                return Err(self.undefined(op));
            }
            digits.push(int(left));
            digits.reverse();
            return Ok(digits);
        }
        let first = indices.len() - factors.len();
        let disjoint = crate::mlir::affine::is_disjoint(self.module, op);
        let mut sum = 0i64;
        for (at, &index) in indices.iter().enumerate() {
            let factor = at.checked_sub(first).map(|at| factors[at]);
            if disjoint && (index < 0 || factor.is_some_and(|factor| index >= factor)) {
                return Err(self.undefined(op));
            }
            let by = if at == 0 { 1 } else { factor.unwrap_or(1) };
            sum = sum.checked_mul(by).and_then(|sum| sum.checked_add(index)).ok_or_else(wide)?;
        }
        Ok(vec![int(sum)])
    }
}
