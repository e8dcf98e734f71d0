//! The candidate for both disjuncts of a pair, and what it holds beyond them.

use super::side::Side;
use crate::basic_map::{BasicMap, Div};
use crate::matrix::evaluate;
use crate::solve::feasible;
use crate::solve::lattice::value;
use crate::solve::number::{Number, fit, opposites};
use crate::solve::redundancy::refill;
use crate::solve::simplex::Simplex;
use crate::system::System;
use crate::{Budget, Error, Integer};

/// A conjunction that gets smaller, and tableaus that go along.
pub(super) struct Between<T> {
    pub candidate: System,
    bounds: System,
    /// The divisions as columns and definitions.
    floors: Vec<(usize, Div)>,
    /// The rational points of the candidate.
    all: Simplex<T>,
    /// Those beyond a row of the first disjunct, and the index of the row.
    rest: Option<(usize, Simplex<T>)>,
}

impl<T: Number> Between<T> {
    /// Starts with a candidate over the divisions of `part`.
    pub fn new(part: &BasicMap, candidate: System, budget: &Budget) -> Result<Self, Error> {
        let bounds = part.bounds();
        let mut all = Simplex::new(part.cols() - 1);
        all.reserve(bounds.size() + candidate.size() + 1);
        let mut narrow = Vec::with_capacity(part.cols());
        for row in candidate.eqs.rows() {
            refill(&mut narrow, row)?;
            all.add_equation(&narrow, budget)?;
        }
        for row in bounds.ineqs.rows().chain(candidate.ineqs.rows()) {
            refill(&mut narrow, row)?;
            all.add_inequality(&narrow, budget)?;
        }
        Ok(Self { candidate, bounds, floors: part.floors(), all, rest: None })
    }

    /// Finds an integer point of the candidate where both rows, each of its side, are negative.
    pub fn beyond(
        &mut self,
        [a, b]: [(&Side<T>, usize); 2],
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        let (index, outside) = (a.1, beyond(a.0.rows.row(a.1))?);
        let rest = match &mut self.rest {
            Some((known, rest)) if *known == index => rest,
            rest => {
                if self.all.is_empty() || self.all.excludes(&outside, budget)? {
                    return Ok(None);
                }
                let mut tableau = self.all.clone();
                tableau.add_inequality(&outside, budget)?;
                &mut rest.insert((index, tableau)).1
            }
        };
        let further = beyond(b.0.rows.row(b.1))?;
        if rest.is_empty() || rest.excludes(&further, budget)? {
            return Ok(None);
        }
        let mut both = rest.clone();
        both.add_inequality(&further, budget)?;
        if let Some(point) = both.integer_sample() {
            return Ok(Some(point.iter().map(Number::integer).collect()));
        }
        if let Some(point) = self.rounded(&both.sample(), [&outside, &further], a.0)? {
            return Ok(Some(point));
        }
        let mut system = self.bounds.clone();
        system.extend(&self.candidate);
        for row in [&outside, &further] {
            system.ineqs.push_all(row.iter().map(Number::integer));
        }
        feasible::point(&system, &self.floors, budget)
    }

    /// Rounds the dimensions of a point and sets divisions to what they are there, if that leaves it
    /// in the candidate and where both rows hold.
    fn rounded(
        &self,
        point: &[(T, T)],
        rows: [&[T]; 2],
        side: &Side<T>,
    ) -> Result<Option<Vec<Integer>>, Error> {
        for up in [false, true] {
            let mut near = Vec::with_capacity(point.len());
            for (num, den) in point {
                near.push(match up {
                    false => num.floor_div(den),
                    true => fit(fit(num.opposite())?.floor_div(den).opposite())?,
                });
            }
            side.lift(&mut near)?;
            let mut holds = true;
            for row in rows {
                holds = holds && value(row, &near)?.sign() >= 0;
            }
            if !holds {
                continue;
            }
            let near: Vec<Integer> = near.iter().map(Number::integer).collect();
            let System { eqs, ineqs } = &self.candidate;
            if eqs.rows().all(|row| evaluate(row, &near).is_zero())
                && ineqs.rows().all(|row| evaluate(row, &near).sign() >= 0)
            {
                return Ok(Some(near));
            }
        }
        Ok(None)
    }

    /// Adds a constraint to the candidate.
    pub fn cut(&mut self, row: &[T], budget: &Budget) -> Result<(), Error> {
        self.candidate.ineqs.push_all(row.iter().map(Number::integer));
        if let Some((_, rest)) = &mut self.rest {
            rest.add_inequality(row, budget)?;
        }
        self.all.add_inequality(row, budget)
    }
}

/// Returns the constraint that holds exactly where `row >= 0` does not.
fn beyond<T: Number>(row: &[T]) -> Result<Vec<T>, Error> {
    let mut result = opposites(row)?;
    result[0] = fit(result[0].minus(&T::one()))?;
    Ok(result)
}
