//! Constraints in and out as integer rows.

use crate::basic::{Basic, Div};
use crate::{Error, Relation, Space};

/// A division `floor(numerator / denominator)` that a conjunction uses as a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    /// Constant, dimensions and earlier divisions: `1 + dims + index` numbers.
    pub numerator: Vec<i128>,
    /// Always positive.
    pub denominator: i128,
}

/// One disjunct of a relation as integer rows.
///
/// A row is `[constant, parameters.., inputs.., outputs.., divisions..]`. The bounds
/// `0 <= numerator - denominator * q < denominator` of a division `q` are implied by
/// [`Self::divisions`] and are not among the rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conjunction {
    /// Definitions of the divisions; each uses earlier ones only.
    pub divisions: Vec<Division>,
    /// Rows that are zero.
    pub equalities: Vec<Vec<i128>>,
    /// Rows that are not negative.
    pub inequalities: Vec<Vec<i128>>,
}

impl Relation {
    /// Returns the disjuncts as integer rows.
    pub fn conjunctions(&self) -> Vec<Conjunction> {
        self.parts.iter().map(Basic::conjunction).collect()
    }

    /// Makes a relation from disjuncts given as integer rows.
    ///
    /// # Errors
    /// [`Error::Row`] if a row does not have a number per column or a denominator is
    /// not positive; [`Error::Overflow`] if normalisation needs more than 128 bits.
    pub fn from_conjunctions(space: Space, given: &[Conjunction]) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for conjunction in given {
            parts.extend(Basic::from_conjunction(space.dims(), conjunction)?);
        }
        Ok(Self::new(space, parts))
    }
}

impl Basic {
    fn conjunction(&self) -> Conjunction {
        let rows = |m: &crate::matrix::Matrix| m.rows().map(<[i128]>::to_vec).collect();
        let divisions = self
            .divs
            .iter()
            .map(|div| Division { numerator: div.num.clone(), denominator: div.den });
        Conjunction {
            divisions: divisions.collect(),
            equalities: rows(&self.system.eqs),
            inequalities: rows(&self.system.ineqs),
        }
    }

    fn from_conjunction(dims: usize, given: &Conjunction) -> Result<Option<Self>, Error> {
        let mut divs = Vec::new();
        for (index, div) in given.divisions.iter().enumerate() {
            check(&div.numerator, 1 + dims + index)?;
            if div.denominator <= 0 {
                return Err(Error::Row { expected: 1, found: 0 });
            }
            divs.push(Div { num: div.numerator.clone(), den: div.denominator });
        }
        let cols = 1 + dims + divs.len();
        let mut basic = Self::with_divs(dims, divs);
        for row in &given.equalities {
            check(row, cols)?;
            basic.system.eqs.push(row);
        }
        for row in &given.inequalities {
            check(row, cols)?;
            basic.system.ineqs.push(row);
        }
        basic.tidied()
    }
}

fn check(row: &[i128], expected: usize) -> Result<(), Error> {
    if row.len() == expected && !row.contains(&i128::MIN) {
        return Ok(());
    }
    Err(Error::Row { expected, found: row.len() })
}
