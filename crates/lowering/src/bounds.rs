//! Accesses stay within their tensors.
//!
//! A nest runs over a box of iterators, and reads and writes at places that are affine in them. The
//! sizes for which one of these places is outside of its tensor are those of
//!
//! ```text
//! { [sizes] : exists iterators in the box: place < 0 or place >= extent }
//! ```
//!
//! for a coordinate of an access. They are computed by integer projection, for all sizes at once.
//! Where there are none, as is the rule, the access is proven to be in bounds. Otherwise the sizes
//! are compared before a run, as those of `x[:, 0]`, which has to have a column. A size that is a
//! product or a quotient of others is a size of its own here: that is sound, since the comparison
//! knows its value.
//!
//! Places that are guarded (padding) need no proof, and places that are computed from data (tables)
//! are compared when they are read. Nests are those of the definitions: that memory for one row
//! (`array_contraction`) or transformed windows (`winograd`) take the place of a tensor moves no
//! access out of it.

use tangram_affine::AffineMap;
use tangram_affine::symbolic::Expr;
use tangram_presburger::{Budget, Conjunction, Relation, Tuple};

use crate::LowerError;
use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::relations::NestRows;
use crate::scop::context;

/// Sizes for which an access may be outside of its tensor: a union of conjunctions, each of rows
/// `[constant, parameters..]` that are not negative.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Excluded(Vec<Vec<Vec<i64>>>);

impl Excluded {
    /// Finds the sizes of nests.
    ///
    /// # Errors
    /// [`LowerError::NotAffine`] where a place can be neither proven nor compared.
    pub fn of(
        nests: &[Nest],
        tensors: &[Tensor],
        parameters: &Parameters,
        budget: &Budget,
    ) -> Result<Excluded, LowerError> {
        let context = context(parameters)?;
        let mut excluded = Excluded::default();
        for nest in nests {
            let generic = &nest.generic;
            let unguarded = generic.inputs.iter().zip(&nest.inputs);
            let unguarded = unguarded.filter(|(access, _)| access.outside.is_none());
            for (access, tensor) in unguarded.chain([(&generic.output, &nest.output)]) {
                for (at, extent) in tensors[*tensor].extents.iter().enumerate() {
                    let place = Place { nest, map: &access.map, at, extent, parameters };
                    for set in place.outside()? {
                        excluded.add(&set, &context, budget)?;
                    }
                }
            }
        }
        Ok(excluded)
    }

    /// Adds the sizes for which there is a point.
    fn add(
        &mut self,
        points: &Relation,
        context: &Relation,
        budget: &Budget,
    ) -> Result<(), LowerError> {
        let points = points.intersect_params(context, budget)?;
        if points.is_empty(budget)? {
            return Ok(());
        }
        let sizes = points.params(budget)?.gist(context, budget)?;
        for part in sizes.narrow_conjunctions()? {
            let rows = rows(&part).ok_or(LowerError::NotAffine)?;
            // No size at all would be left.
            if rows.is_empty() {
                return Err(LowerError::NotAffine);
            }
            if !self.0.contains(&rows) {
                self.0.push(rows);
            }
        }
        Ok(())
    }

    /// The conjunctions as expressions of what the parameters stand for.
    pub fn expressions(&self, parameters: &Parameters) -> Option<Vec<Vec<Expr>>> {
        let expression = |row: &Vec<i64>| {
            let terms = parameters.expressions().iter().zip(&row[1..]);
            terms
                .filter(|(_, factor)| **factor != 0)
                .try_fold(Expr::int(row[0]), |sum, (parameter, factor)| {
                    sum.try_add(&parameter.try_mul(&Expr::int(*factor))?)
                })
        };
        self.0.iter().map(|rows| rows.iter().map(expression).collect()).collect()
    }

    /// Writes the rows as [`Excluded::parse`] reads them.
    pub fn to_text(&self) -> String {
        let row = |row: &Vec<i64>| row.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        let rows = |rows: &Vec<Vec<i64>>| rows.iter().map(row).collect::<Vec<_>>().join(",");
        self.0.iter().map(rows).collect::<Vec<_>>().join(";")
    }

    /// Reads what [`Excluded::to_text`] wrote.
    pub fn parse(text: &str) -> Option<Excluded> {
        if text.is_empty() {
            return Some(Excluded::default());
        }
        let row = |text: &str| text.split(' ').map(|number| number.parse().ok()).collect();
        let rows = |text: &str| text.split(',').map(row).collect::<Option<_>>();
        text.split(';').map(rows).collect::<Option<_>>().map(Excluded)
    }
}

/// The rows of a set of parameters that have no division. There are fewer of them than there may
/// be, and so more sizes.
fn rows(part: &Conjunction<i128>) -> Option<Vec<Vec<i64>>> {
    let divisions = part.divisions.len();
    let narrow = |row: &[i128]| -> Option<Vec<i64>> {
        row.iter().map(|value| i64::try_from(*value).ok()).collect()
    };
    let mut rows = Vec::new();
    let equal = part
        .equalities
        .iter()
        .flat_map(|row| [row.clone(), row.iter().map(|value| -value).collect()]);
    for row in equal.chain(part.inequalities.iter().cloned()) {
        let (own, divided) = row.split_at(row.len().checked_sub(divisions)?);
        if divided.iter().all(|value| *value == 0) {
            rows.push(narrow(own)?);
        }
    }
    Some(rows)
}

/// A coordinate of an access.
struct Place<'a> {
    nest: &'a Nest,
    map: &'a AffineMap,
    at: usize,
    extent: &'a Expr,
    parameters: &'a Parameters,
}

impl Place<'_> {
    /// Relations without a point where the coordinate is within its extent.
    fn outside(&self) -> Result<Vec<Relation>, LowerError> {
        let ends = self.ends();
        let relations = ends.ok_or(LowerError::NotAffine)?.into_iter().map(|rows| {
            let from = Tuple::anonymous(self.nest.generic.extents.len());
            rows.relation(from, Tuple::anonymous(1))
        });
        Ok(relations.collect::<Result<_, _>>()?)
    }

    /// No conditions but those of the iterators; one output.
    fn rows(&self) -> Option<NestRows<'_>> {
        let extents = &self.nest.generic.extents;
        let mut rows = NestRows::new(self.parameters, extents.len(), 1);
        for (at, extent) in extents.iter().enumerate() {
            rows.iterates(at, extent)?;
        }
        Some(rows)
    }

    /// Below 0, and at the extent or beyond, of a coordinate that is affine.
    fn ends(&self) -> Option<Vec<NestRows<'_>>> {
        let symbols = &self.nest.generic.symbols;
        let end = |below: bool| {
            let mut rows = self.rows()?;
            rows.is_result(0, (self.map, self.at), symbols, None)?;
            match below {
                true => rows.is_negative(0),
                false => rows.is_at_least(0, self.extent)?,
            }
            Some(rows)
        };
        Some(vec![end(true)?, end(false)?])
    }
}

#[cfg(test)]
mod tests {
    use super::Excluded;

    #[test]
    fn rows_come_back_as_they_were_written() {
        let all = [
            vec![],
            vec![vec![vec![-1, 1]]],
            vec![vec![vec![0, -2, i64::MIN], vec![i64::MAX, 3, 0]], vec![vec![5, 0, 0]]],
        ];
        for rows in all {
            let excluded = Excluded(rows);
            assert_eq!(Excluded::parse(&excluded.to_text()), Some(excluded));
        }
        assert_eq!(Excluded::parse("1 x"), None);
    }
}
