//! Integer sets: points at which affine expressions are zero, or not negative.

use crate::expr::{AffineExpr, AffineExprs};
use crate::map::AffineMap;

/// `(d0)[s0] : (d0 >= 0, d0 - s0 == 0)`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IntegerSet {
    constraints: AffineMap,
    equalities: Box<[bool]>,
}

impl IntegerSet {
    /// The set at whose points `constraints` of `exprs` are 0 where `equalities` says so, and at
    /// least 0 where not. A set without constraints gets `0 == 0`, as MLIR writes it.
    pub fn new(
        dims: u32,
        symbols: u32,
        exprs: &mut AffineExprs,
        constraints: &[AffineExpr],
        equalities: &[bool],
    ) -> IntegerSet {
        if constraints.is_empty() {
            let zero = exprs.constant(0);
            return IntegerSet::of(AffineMap::new(dims, symbols, exprs, &[zero]), &[true]);
        }
        IntegerSet::of(AffineMap::new(dims, symbols, exprs, constraints), equalities)
    }

    /// The set whose left sides are the results of `constraints`.
    pub fn of(constraints: AffineMap, equalities: &[bool]) -> IntegerSet {
        let mut equalities = equalities.to_vec();
        equalities.resize(constraints.results().len(), false);
        IntegerSet { constraints, equalities: equalities.into() }
    }

    /// The left sides of the constraints, as a map.
    pub fn constraints(&self) -> &AffineMap {
        &self.constraints
    }

    /// For each constraint, whether it is `== 0`, not `>= 0`.
    pub fn equalities(&self) -> &[bool] {
        &self.equalities
    }

    /// Whether a point, dimensions and then symbols, is in the set; `None` as in
    /// [`AffineMap::evaluate`].
    pub fn contains(&self, operands: &[i64]) -> Option<bool> {
        let values = self.constraints.evaluate(operands)?;
        let holds = |(&value, &equal): (&i64, &bool)| if equal { value == 0 } else { value >= 0 };
        Some(values.iter().zip(&self.equalities).all(holds))
    }

    /// Whether a constraint is a number that does not satisfy it (`Some(false)`), all are numbers
    /// that do (`Some(true)`), or neither.
    pub fn decided(&self) -> Option<bool> {
        let mut all = true;
        for (&left, &equal) in self.constraints.results().iter().zip(&self.equalities) {
            match self.constraints.as_constant(left) {
                Some(value) if if equal { value == 0 } else { value >= 0 } => {}
                Some(_) => return Some(false),
                None => all = false,
            }
        }
        all.then_some(true)
    }
}
