//! The points of a conjunction, one after the other.

use std::collections::BTreeSet;

use crate::basic_map::BasicMap;
use crate::{Budget, Error, Integer};

/// Adds all points of `part`: bounds one dimension after the other, depth first.
pub(super) fn scan(
    part: &BasicMap,
    points: &mut BTreeSet<Vec<Integer>>,
    budget: &Budget,
) -> Result<(), Error> {
    // One slice for each dimension that has a value: memory is for the points alone.
    let mut slices: Vec<Slice> = Vec::new();
    let mut point: Vec<Integer> = Vec::new();
    let mut next = Some(part.clone());
    loop {
        match next.take() {
            Some(slice) if point.len() < part.dims => {
                slices.extend(Slice::of(slice, point.len(), budget)?);
            }
            Some(_) if part.contains(&point) => {
                // A point takes memory as long as it is, which steps bound as well.
                budget.spend(1 + point.len())?;
                points.insert(point.clone());
            }
            _ => {}
        }
        let Some(slice) = slices.last_mut() else { return Ok(()) };
        point.truncate(slice.dim);
        match slice.advance(budget)? {
            Some((value, inner)) => {
                point.push(value);
                next = Some(inner);
            }
            None => {
                slices.pop();
            }
        }
    }
}

/// The points of a part whose dimensions before `dim` have values.
struct Slice {
    part: BasicMap,
    dim: usize,
    /// The next value of the dimension, and the last.
    value: Integer,
    last: Integer,
}

impl Slice {
    /// The slice, unless it is seen to be empty.
    fn of(part: BasicMap, dim: usize, budget: &Budget) -> Result<Option<Self>, Error> {
        match part.bounds_of(dim, budget)? {
            None => Ok(None),
            Some((Some(value), Some(last))) => Ok(Some(Self { part, dim, value, last })),
            Some(_) => Err(Error::Unbounded { dim }),
        }
    }

    /// Gives the dimension its next value.
    fn advance(&mut self, budget: &Budget) -> Result<Option<(Integer, BasicMap)>, Error> {
        if self.value > self.last {
            return Ok(None);
        }
        budget.spend(1)?;
        let mut row = vec![Integer::ZERO; self.part.cols()];
        (row[0], row[1 + self.dim]) = (-&self.value, Integer::ONE);
        let mut inner = self.part.clone();
        inner.system.eqs.push(&row);
        let value = self.value.clone();
        self.value += 1;
        Ok(Some((value, inner)))
    }
}
