//! One disjunct as its pairs see it: constraints, a tableau and some of its points.

use crate::basic_map::{BasicMap, Div};
use crate::matrix::Matrix;
use crate::solve::feasible;
use crate::solve::number::{Number, fit};
use crate::solve::redundancy::{narrowed, refill};
use crate::solve::simplex::Simplex;
use crate::system::{System, hash};
use crate::{Budget, Error, Integer};

/// How many points are kept.
const POINTS: usize = 6;

#[derive(Debug)]
pub(crate) struct Side<T> {
    pub part: BasicMap,
    /// Its constraints as inequalities, without the bounds of divisions.
    pub rows: Matrix<T>,
    /// Of the coefficients of each row.
    pub hashes: Vec<u64>,
    /// Its rational points.
    pub simplex: Simplex<T>,
    /// Integer points, divisions included.
    pub points: Vec<Vec<T>>,
}

impl<T: Number> Side<T> {
    /// Makes the side of a disjunct.
    pub fn of(part: &BasicMap, budget: &Budget) -> Result<Self, Error> {
        let (simplex, _) = tableau(part, budget)?;
        Self::with(part.clone(), simplex, Vec::new())
    }

    /// Drops redundant constraints; nothing is left of a disjunct without points.
    pub fn minimal(
        part: &BasicMap,
        inhabited: bool,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let (mut simplex, first) = tableau(part, budget)?;
        if simplex.is_empty() {
            return Ok(None);
        }
        let mut points: Vec<Vec<T>> = simplex.integer_sample().into_iter().collect();
        if points.is_empty() && !inhabited {
            let Some(point) = sample(part, budget)? else { return Ok(None) };
            points.push(point);
        }
        let mut kept = vec![true; part.system.ineqs.len()];
        let mut pivots = simplex.pivots();
        for (index, kept) in kept.iter_mut().enumerate() {
            if simplex.drop_implied(first + index, true, budget)? {
                simplex.forget(first + index);
                *kept = false;
            } else if simplex.pivots() != pivots {
                remember(&mut points, &simplex);
                pivots = simplex.pivots();
            }
        }
        let mut part = part.clone();
        if kept.contains(&false) {
            part.system.ineqs.retain(&kept);
        }
        Self::with(part, simplex, points).map(Some)
    }

    fn with(part: BasicMap, simplex: Simplex<T>, points: Vec<Vec<T>>) -> Result<Self, Error> {
        let system = &part.system;
        let count = system.ineqs.len() + 2 * system.eqs.len();
        let mut rows = Matrix::new(part.cols());
        rows.reserve(count);
        let mut hashes = Vec::with_capacity(count);
        let mut narrow: Vec<T> = Vec::with_capacity(part.cols());
        for row in system.ineqs.rows() {
            refill(&mut narrow, row)?;
            rows.push(&narrow);
            hashes.push(hash(&row[1..]));
        }
        for row in system.eqs.rows() {
            refill(&mut narrow, row)?;
            rows.push(&narrow);
            for value in &mut narrow {
                *value = fit(value.opposite())?;
            }
            rows.push(&narrow);
            let hash = hash(&row[1..]);
            hashes.extend([hash, hash.wrapping_neg()]);
        }
        Ok(Self { part, rows, hashes, simplex, points })
    }

    /// Returns the rows with the coefficients of `row`, whose hash is given.
    pub fn parallel<'a>(&'a self, row: &'a [T], hash: u64) -> impl Iterator<Item = &'a [T]> + 'a {
        let rows = self.rows.rows().zip(&self.hashes);
        rows.filter(move |(other, h)| **h == hash && other[1..] == row[1..]).map(|(row, _)| row)
    }

    /// Returns whether constraints of both, without divisions, are parallel.
    pub fn shares_a_normal(&self, other: &Self) -> bool {
        let opposite = |hash: &u64| hash.wrapping_neg();
        self.hashes.iter().any(|h| other.hashes.contains(h) || other.hashes.contains(&opposite(h)))
    }

    /// Adds the sample point of the tableau to the points.
    pub fn remember_sample(&mut self) {
        remember(&mut self.points, &self.simplex);
    }

    /// Adds a point, divisions included.
    pub fn remember(&mut self, point: Vec<T>) {
        if self.points.len() < POINTS && !self.points.contains(&point) {
            self.points.push(point);
        }
    }

    /// Returns a point one step along a dimension from another one, if there is one.
    pub fn beside(&self, point: &[T], dim: usize) -> Result<Option<Vec<T>>, Error> {
        for step in [T::one(), fit(T::one().opposite())?] {
            let mut near = point.to_vec();
            near[dim] = fit(near[dim].plus(&step))?;
            self.lift(&mut near)?;
            if self.has(&near)? {
                return Ok(Some(near));
            }
        }
        Ok(None)
    }

    /// Rewrites over more divisions; column `i` goes to `to[i]`. Nothing if there is no point.
    pub fn over(
        &self,
        divs: &[Div],
        to: &[Option<usize>],
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let mut part = BasicMap::with_divs(self.part.dims, divs.to_vec());
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
        let mut side = Self::with(part, simplex, Vec::new())?;
        for known in &self.points {
            let mut point = vec![T::zero(); side.part.cols() - 1];
            point[..side.part.dims].clone_from_slice(&known[..side.part.dims]);
            side.lift(&mut point)?;
            side.points.push(point);
        }
        let added: Vec<usize> = added.iter().map(|var| var - side.part.dims).collect();
        side.settle_divs(&added, budget)?;
        Ok(Some(side).filter(|side| !side.simplex.is_empty()))
    }

    /// Adds an equation, here and in the tableau.
    pub fn settle(&mut self, row: &[Integer], budget: &Budget) -> Result<(), Error> {
        let mut narrow: Vec<T> = narrowed(row)?;
        self.simplex.add_equation(&narrow, budget)?;
        self.part.system.eqs.push(row);
        let hash = hash(&row[1..]);
        self.hashes.extend([hash, hash.wrapping_neg()]);
        self.rows.push(&narrow);
        for value in &mut narrow {
            *value = fit(value.opposite())?;
        }
        self.rows.push(&narrow);
        Ok(())
    }
}

/// Builds the tableau of a disjunct; returns the first of its inequalities too.
fn tableau<T: Number>(part: &BasicMap, budget: &Budget) -> Result<(Simplex<T>, usize), Error> {
    let bounds = part.bounds();
    let mut simplex = Simplex::new(part.cols() - 1);
    simplex.reserve(part.system.size() + bounds.size());
    let mut narrow: Vec<T> = Vec::with_capacity(part.cols());
    for row in part.system.eqs.rows() {
        refill(&mut narrow, row)?;
        simplex.add_equation(&narrow, budget)?;
    }
    for row in bounds.ineqs.rows() {
        refill(&mut narrow, row)?;
        simplex.add_inequality(&narrow, budget)?;
    }
    let first = simplex.next_id();
    for row in part.system.ineqs.rows() {
        refill(&mut narrow, row)?;
        simplex.add_inequality(&narrow, budget)?;
    }
    Ok((simplex, first))
}

/// Finds a point, divisions included.
pub(crate) fn sample<T: Number>(part: &BasicMap, budget: &Budget) -> Result<Option<Vec<T>>, Error> {
    let point = feasible::point(&part.unfolded(), &part.floors(), budget)?;
    point.map(|point| narrowed(&point)).transpose()
}

fn remember<T: Number>(points: &mut Vec<Vec<T>>, simplex: &Simplex<T>) {
    if points.len() < POINTS {
        points.extend(simplex.integer_sample().filter(|point| !points.contains(point)));
    }
}
