//! Constraints in and out as integer rows.
//!
//! Inside, a conjunction is a [`BasicMap`]; here its rows lie open, in numbers of any width, for
//! those who make or take apart sets. What only makes one by columns uses [`Rows`](super::Rows).

use crate::basic_map::{BasicMap, Div};
use crate::{Error, Integer, Relation, Space};

/// A division `floor(numerator / denominator)` that a conjunction uses as a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division<T = Integer> {
    /// Constant, dimensions and earlier divisions: `1 + dims + index` numbers.
    pub numerator: Vec<T>,
    /// Always positive.
    pub denominator: T,
}

/// One disjunct of a relation as integer rows.
///
/// A row is `[constant, parameters.., inputs.., outputs.., divisions..]`. The bounds
/// `0 <= numerator - denominator * q < denominator` of a division `q` are implied by
/// [`Self::divisions`] and are not among the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conjunction<T = Integer> {
    /// Definitions of the divisions; each uses earlier ones only.
    pub divisions: Vec<Division<T>>,
    /// Rows that are zero.
    pub equalities: Vec<Vec<T>>,
    /// Rows that are not negative.
    pub inequalities: Vec<Vec<T>>,
}

impl<T> Default for Conjunction<T> {
    fn default() -> Self {
        Self { divisions: Vec::new(), equalities: Vec::new(), inequalities: Vec::new() }
    }
}

impl Conjunction {
    /// Returns the same rows as machine numbers.
    ///
    /// # Errors
    /// [`Error::Overflow`] if a number does not fit into 128 bits.
    pub fn narrowed(&self) -> Result<Conjunction<i128>, Error> {
        let rows = |rows: &[Vec<Integer>]| {
            rows.iter().map(|row| narrow(row)).collect::<Result<Vec<_>, _>>()
        };
        let division = |division: &Division| {
            let denominator = division.denominator.to_i128().ok_or(Error::Overflow)?;
            Ok(Division { numerator: narrow(&division.numerator)?, denominator })
        };
        Ok(Conjunction {
            divisions: self.divisions.iter().map(division).collect::<Result<_, Error>>()?,
            equalities: rows(&self.equalities)?,
            inequalities: rows(&self.inequalities)?,
        })
    }
}

/// Returns a row or point as machine numbers.
///
/// # Errors
/// [`Error::Overflow`] if a number does not fit into 128 bits.
pub fn narrow(row: &[Integer]) -> Result<Vec<i128>, Error> {
    row.iter().map(|value| value.to_i128().ok_or(Error::Overflow)).collect()
}

impl Relation {
    /// Returns the disjuncts as integer rows.
    pub fn conjunctions(&self) -> Vec<Conjunction> {
        self.parts.iter().map(BasicMap::conjunction).collect()
    }

    /// Returns the disjuncts as rows of machine numbers.
    ///
    /// # Errors
    /// [`Error::Overflow`] if a number does not fit into 128 bits.
    pub fn narrow_conjunctions(&self) -> Result<Vec<Conjunction<i128>>, Error> {
        self.parts.iter().map(BasicMap::narrow_conjunction).collect()
    }

    /// Makes a relation from disjuncts given as integer rows.
    ///
    /// # Errors
    /// [`Error::Row`] if a row does not have a number per column or a denominator is
    /// not positive.
    pub fn from_conjunctions<T: Clone + Into<Integer>>(
        space: Space,
        given: &[Conjunction<T>],
    ) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for conjunction in given {
            parts.extend(BasicMap::from_conjunction(space.dims(), conjunction)?);
        }
        Ok(Self::new(space, parts))
    }
}

impl BasicMap {
    fn conjunction(&self) -> Conjunction {
        let rows = |m: &crate::matrix::Matrix| m.rows().map(<[Integer]>::to_vec).collect();
        Conjunction {
            divisions: self.divs.iter().map(Division::from).collect(),
            equalities: rows(&self.system.eqs),
            inequalities: rows(&self.system.ineqs),
        }
    }

    fn narrow_conjunction(&self) -> Result<Conjunction<i128>, Error> {
        let rows = |m: &crate::matrix::Matrix| m.rows().map(narrow).collect::<Result<_, _>>();
        let division = |div: &Div| {
            let denominator = div.den.to_i128().ok_or(Error::Overflow)?;
            Ok(Division { numerator: narrow(&div.num)?, denominator })
        };
        Ok(Conjunction {
            divisions: self.divs.iter().map(division).collect::<Result<_, Error>>()?,
            equalities: rows(&self.system.eqs)?,
            inequalities: rows(&self.system.ineqs)?,
        })
    }

    fn from_conjunction<T: Clone + Into<Integer>>(
        dims: usize,
        given: &Conjunction<T>,
    ) -> Result<Option<Self>, Error> {
        let divs = divisions(dims, &given.divisions)?;
        let cols = 1 + dims + divs.len();
        let mut basic = Self::with_divs(dims, divs);
        for given in &given.equalities {
            basic.system.eqs.push(&row(given, cols)?);
        }
        for given in &given.inequalities {
            basic.system.ineqs.push(&row(given, cols)?);
        }
        Ok(basic.tidied())
    }
}

/// Checks definitions of divisions over `dims` dimensions.
pub(crate) fn divisions<T: Clone + Into<Integer>>(
    dims: usize,
    given: &[Division<T>],
) -> Result<Vec<Div>, Error> {
    let mut divs = Vec::new();
    for (index, div) in given.iter().enumerate() {
        let num = row(&div.numerator, 1 + dims + index)?;
        let den: Integer = div.denominator.clone().into();
        if den.sign() <= 0 {
            return Err(Error::Row { expected: 1, found: 0 });
        }
        divs.push(Div { num, den });
    }
    Ok(divs)
}

fn row<T: Clone + Into<Integer>>(row: &[T], expected: usize) -> Result<Vec<Integer>, Error> {
    if row.len() != expected {
        return Err(Error::Row { expected, found: row.len() });
    }
    Ok(row.iter().cloned().map(T::into).collect())
}
