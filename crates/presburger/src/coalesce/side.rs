//! One disjunct as its pairs see it: constraints, a tableau and some of its points.

use crate::basic::{Basic, Div};
use crate::solve::feasible;
use crate::solve::number::Number;
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::Simplex;
use crate::system::{System, hash};
use crate::{Budget, Error};

/// How many points are kept.
const POINTS: usize = 6;

#[derive(Debug)]
pub(super) struct Side<T> {
    pub part: Basic,
    /// Its constraints as inequalities, without the bounds of divisions.
    pub rows: Vec<Vec<T>>,
    /// Of the coefficients of each row.
    pub hashes: Vec<u64>,
    /// Its rational points.
    pub simplex: Simplex<T>,
    /// Integer points, divisions included.
    pub points: Vec<Vec<T>>,
}

impl<T: Number> Side<T> {
    /// Makes the side of a disjunct that has points and no redundant constraints.
    pub fn of(part: &Basic, budget: &Budget) -> Result<Self, Error> {
        let (simplex, _) = tableau(part, budget)?;
        Self::with(part.clone(), simplex, Vec::new())
    }

    /// Drops redundant constraints; nothing is left of a disjunct without points.
    pub fn minimal(part: &Basic, inhabited: bool, budget: &Budget) -> Result<Option<Self>, Error> {
        let (mut simplex, first) = tableau(part, budget)?;
        if simplex.is_empty() {
            return Ok(None);
        }
        let mut points: Vec<Vec<T>> = simplex.integer_sample().into_iter().collect();
        if points.is_empty() && !inhabited {
            let Some(point) = sample(part, budget)? else { return Ok(None) };
            points.push(point);
        }
        let mut kept = System::new(part.cols() - 1);
        kept.eqs = part.system.eqs.clone();
        for (index, row) in part.system.ineqs.rows().enumerate() {
            if simplex.drop_implied(first + index, true, budget)? {
                simplex.forget(first + index);
                continue;
            }
            kept.ineqs.push(row);
            remember(&mut points, &simplex);
        }
        let part = Basic { system: kept, ..part.clone() };
        Self::with(part, simplex, points).map(Some)
    }

    fn with(part: Basic, simplex: Simplex<T>, points: Vec<Vec<T>>) -> Result<Self, Error> {
        let rows = part.half_spaces();
        let hashes = rows.iter().map(|row| hash(&row[1..])).collect();
        let rows = rows.iter().map(|row| narrowed(row)).collect::<Result<_, _>>()?;
        Ok(Self { part, rows, hashes, simplex, points })
    }

    /// Says whether constraints of both, without divisions, are parallel.
    pub fn shares_a_normal(&self, other: &Self) -> bool {
        let opposite = |hash: &u64| hash.wrapping_neg();
        self.hashes.iter().any(|h| other.hashes.contains(h) || other.hashes.contains(&opposite(h)))
    }

    /// Adds the sample point of the tableau to the points.
    pub fn remember_sample(&mut self) {
        remember(&mut self.points, &self.simplex);
    }

    /// Rewrites over more divisions; column `i` goes to `to[i]`. Nothing if there is no point.
    pub fn over(
        &self,
        divs: &[Div],
        to: &[Option<usize>],
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let mut part = Basic::with_divs(self.part.dims, divs.to_vec());
        part.system = self.part.system.remap(part.cols(), to);
        let mut simplex = self.simplex.clone();
        let mut places: Vec<usize> = to[1..].iter().flatten().map(|col| col - 1).collect();
        let added: Vec<usize> = (0..part.cols() - 1).filter(|var| !places.contains(var)).collect();
        places.extend(&added);
        added.iter().for_each(|_| simplex.add_variable());
        simplex.reorder(&places);
        let mut bounds = System::new(part.cols() - 1);
        for var in &added {
            part.bound_div(var - part.dims, &mut bounds);
        }
        for row in bounds.ineqs.rows() {
            simplex.add_inequality(&narrowed(row)?, budget)?;
        }
        let added: Vec<usize> = added.iter().map(|var| var - part.dims).collect();
        part.settle_divs(&added, &mut simplex, budget)?;
        if simplex.is_empty() {
            return Ok(None);
        }
        let mut side = Self::with(part, simplex, Vec::new())?;
        for known in &self.points {
            let mut point = vec![T::zero(); side.part.cols() - 1];
            point[..side.part.dims].clone_from_slice(&known[..side.part.dims]);
            side.lift(&mut point)?;
            side.points.push(point);
        }
        Ok(Some(side))
    }
}

/// Builds the tableau of a disjunct; returns the first of its inequalities too.
fn tableau<T: Number>(part: &Basic, budget: &Budget) -> Result<(Simplex<T>, usize), Error> {
    let mut simplex = Simplex::new(part.cols() - 1);
    for row in part.system.eqs.rows() {
        simplex.add_equation(&narrowed(row)?, budget)?;
    }
    for row in part.bounds().ineqs.rows() {
        simplex.add_inequality(&narrowed(row)?, budget)?;
    }
    let first = simplex.next_id();
    for row in part.system.ineqs.rows() {
        simplex.add_inequality(&narrowed(row)?, budget)?;
    }
    Ok((simplex, first))
}

/// Finds a point, divisions included.
fn sample<T: Number>(part: &Basic, budget: &Budget) -> Result<Option<Vec<T>>, Error> {
    let point = feasible::point(&part.unfolded(), &part.floors(), budget)?;
    point.map(|point| narrowed(&point)).transpose()
}

fn remember<T: Number>(points: &mut Vec<Vec<T>>, simplex: &Simplex<T>) {
    if points.len() < POINTS {
        points.extend(simplex.integer_sample().filter(|point| !points.contains(point)));
    }
}
