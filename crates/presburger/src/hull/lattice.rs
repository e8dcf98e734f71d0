//! The smallest affine lattice that contains all integer points.
//!
//! Points `p + z B`, for a point `p`, a basis `B` in Hermite normal form and integers `z`. It
//! grows from points of the set: as long as some point is in none of the congruences that
//! describe it, that point joins it. `{ [4i + 1, 2i] }` and `{ [4i + 3, 2i + 1] }` together are
//! `{ [x, y] : x = 2y + 1 }`.

use crate::basic_map::{BasicMap, Div};
use crate::matrix::{combine, evaluate, negated};
use crate::solve::lattice::solutions;
use crate::solve::number::{Number, widening};
use crate::system::System;
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Returns the equations and congruences that all points satisfy, and nothing else.
    ///
    /// In a single conjunction, whose divisions are those of the congruences. Within
    /// [`Self::affine_hull`], which has equations alone.
    pub fn lattice_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let Some(lattice) = Lattice::around(&self.parts, budget)? else {
            return Ok(Self::empty((*self.space).clone()));
        };
        self.replaced(lattice.basic())
    }
}

/// Finds a point of a part at which a row is no multiple of the modulus.
fn beyond(
    part: &BasicMap,
    (row, modulus): &(Vec<Integer>, Integer),
    budget: &Budget,
) -> Result<Option<Vec<Integer>>, Error> {
    let tries = match modulus.is_zero() {
        // An equation: the row may be on either side of 0.
        true => [row.clone(), negated(row)].map(|row| above_zero(part.clone(), row)).to_vec(),
        false => vec![no_multiple(part, row, modulus)],
    };
    for part in tries {
        if let Some(point) = part.sample(budget)? {
            return Ok(Some(point));
        }
    }
    Ok(None)
}

/// The integer points that satisfy the equations of a conjunction, as dimensions over free numbers.
struct Solutions {
    /// For each dimension a constant, then a factor for each free number.
    rows: Vec<Vec<Integer>>,
}

impl Solutions {
    fn of(part: &BasicMap) -> Result<Option<Self>, Error> {
        let rows = widening!(T => {
            let rows = solutions::<T>(&part.system)?.unwrap_or_default();
            let wide = |row: &Vec<T>| row.iter().map(Number::integer).collect();
            Ok(rows[..part.dims.min(rows.len())].iter().map(wide).collect())
        })?;
        Ok(Some(Self { rows }).filter(|solutions: &Self| solutions.rows.len() == part.dims))
    }

    /// Returns the points of `part` one step from `point`.
    fn beside(&self, point: &[Integer], part: &BasicMap) -> Vec<Vec<Integer>> {
        let columns = self.rows.first().map_or(1, Vec::len);
        let mut found = Vec::new();
        for column in 1..columns {
            for sign in [Integer::ONE, Integer::MINUS_ONE] {
                let rows = self.rows.iter().zip(point);
                let near: Vec<_> = rows.map(|(row, x)| x.add_mul(&sign, &row[column])).collect();
                if part.contains(&near) {
                    found.push(near);
                    break;
                }
            }
        }
        found
    }

    /// Returns whether a row is a multiple of a modulus at all of them.
    fn keep_to(&self, (row, modulus): &(Vec<Integer>, Integer)) -> bool {
        let columns = self.rows.first().map_or(1, Vec::len);
        (0..columns).all(|column| {
            let constant = if column == 0 { row[0].clone() } else { Integer::ZERO };
            let pairs = row[1..].iter().zip(&self.rows);
            let value = pairs.fold(constant, |sum, (a, row)| sum.add_mul(a, &row[column]));
            if modulus.is_zero() { value.is_zero() } else { value.is_multiple_of(modulus) }
        })
    }
}

/// Adds that the row is positive.
fn above_zero(mut part: BasicMap, mut row: Vec<Integer>) -> BasicMap {
    row[0] += Integer::MINUS_ONE;
    part.system.ineqs.push(&row);
    part
}

/// Adds that the row has a remainder.
fn no_multiple(part: &BasicMap, row: &[Integer], modulus: &Integer) -> BasicMap {
    let mut num = row.to_vec();
    num.resize(part.cols(), Integer::ZERO);
    let mut remainder = num.clone();
    remainder.push(-modulus);
    let divs = [&part.divs[..], &[Div { num, den: modulus.clone() }]].concat();
    let to: Vec<Option<usize>> = (0..part.cols()).map(Some).collect();
    let system = part.system.remap(part.cols() + 1, &to);
    above_zero(BasicMap { dims: part.dims, divs: divs.into(), system }, remainder)
}

impl BasicMap {
    /// Returns all constraints, divisions as dimensions, moved inwards as far as the lattice of
    /// the points allows, and the equations that these satisfy; nothing if there are no points.
    ///
    /// `{ [i] : 0 <= i <= 4 and i mod 2 = 1 }` has `1 <= i <= 3`.
    pub(crate) fn tightened(&self, budget: &Budget) -> Result<Option<System>, Error> {
        let mut system = self.unfolded();
        let all = Self { dims: self.cols() - 1, divs: [].into(), system: system.clone() };
        let Some(lattice) = Lattice::around(&[all], budget)? else { return Ok(None) };
        for (row, _) in lattice.congruences().iter().filter(|(_, modulus)| modulus.is_zero()) {
            system.eqs.push(row);
        }
        for index in 0..system.ineqs.len() {
            let row = system.ineqs.row_mut(index);
            let along = |step: &Vec<Integer>| {
                let pairs = row[1..].iter().zip(step);
                pairs.fold(Integer::ZERO, |sum, (a, b)| sum.add_mul(a, b))
            };
            // On the lattice, the row has one remainder by what its steps have in common.
            let common = lattice.basis.iter().fold(Integer::ZERO, |g, step| g.gcd(&along(step)));
            let value = evaluate(row, &lattice.origin);
            row[0] -= if common.is_zero() { value } else { value.mod_floor(&common) };
        }
        Ok(Some(system))
    }
}

/// A point and all that integer combinations of basis vectors lead to from there.
pub(crate) struct Lattice {
    pub origin: Vec<Integer>,
    /// Rows in echelon form: each begins, with a positive number, behind where the one before it
    /// begins.
    pub basis: Vec<Vec<Integer>>,
}

impl Lattice {
    /// Returns the smallest lattice that holds the points of all parts, if there are any.
    pub fn around(parts: &[BasicMap], budget: &Budget) -> Result<Option<Self>, Error> {
        let mut known: Vec<(&BasicMap, Vec<Integer>)> = Vec::new();
        for part in parts {
            known.extend(part.sample(budget)?.map(|point| (part, point)));
        }
        Self::from_points(&known, budget)
    }

    /// As [`Self::around`], of parts with a point of each.
    pub fn from_points(
        parts: &[(&BasicMap, Vec<Integer>)],
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let Some((_, origin)) = parts.first() else { return Ok(None) };
        let mut lattice = Self { origin: origin.clone(), basis: Vec::new() };
        let mut free: Vec<Option<Solutions>> = Vec::new();
        for (part, point) in parts {
            let solutions = Solutions::of(part)?;
            lattice.join(point);
            for near in solutions.iter().flat_map(|solutions| solutions.beside(point, part)) {
                lattice.join(&near);
            }
            free.push(solutions);
        }
        loop {
            let facts = lattice.congruences();
            let mut outside = None;
            for ((part, _), free) in parts.iter().zip(&free) {
                let sure = |fact: &&_| free.as_ref().is_some_and(|free| free.keep_to(fact));
                for fact in facts.iter().filter(|fact| !sure(fact)) {
                    outside = beyond(part, fact, budget)?;
                    if outside.is_some() {
                        break;
                    }
                }
                if outside.is_some() {
                    break;
                }
            }
            match outside {
                Some(point) => lattice.join(&point),
                None => return Ok(Some(lattice)),
            }
        }
    }

    /// Adds a point, and all that follow from it.
    fn join(&mut self, point: &[Integer]) {
        let mut row: Vec<Integer> =
            point.iter().zip(&self.origin).map(|(value, start)| value - start).collect();
        let mut index = 0;
        while let Some(lead) = row.iter().position(|value| !value.is_zero()) {
            while index < self.basis.len() && leading(&self.basis[index]) < lead {
                index += 1;
            }
            if index == self.basis.len() || leading(&self.basis[index]) > lead {
                if row[lead].sign() < 0 {
                    row = negated(&row);
                }
                self.basis.insert(index, row);
                return;
            }
            // Euclid's algorithm on the two leading numbers.
            let base = &mut self.basis[index];
            while !row[lead].is_zero() {
                let quotient = base[lead].div_floor(&row[lead]);
                let rest = combine(&Integer::ONE, base, &-quotient, &row);
                *base = std::mem::replace(&mut row, rest);
            }
            if base[lead].sign() < 0 {
                *base = negated(base);
            }
        }
    }

    /// Returns rows that are multiples of their modulus on the lattice and nowhere else; those
    /// with the modulus 0 are 0 there.
    ///
    /// A point is in the lattice if the number that each step of elimination has to add of a basis
    /// row is an integer, and nothing is left at the end. All rows are multiplied so that they
    /// stay integers.
    pub fn congruences(&self) -> Vec<(Vec<Integer>, Integer)> {
        let dims = self.origin.len();
        // What is left of each coordinate, over (1, coordinates), times `scale`.
        let mut scale = Integer::ONE;
        let mut left: Vec<Vec<Integer>> = (0..dims)
            .map(|dim| {
                let mut row = vec![Integer::ZERO; 1 + dims];
                (row[0], row[1 + dim]) = (-&self.origin[dim], Integer::ONE);
                row
            })
            .collect();
        let mut facts = Vec::new();
        for base in &self.basis {
            let lead = leading(base);
            let share = left[lead].clone();
            facts.push((share.clone(), &scale * &base[lead]));
            scale *= &base[lead];
            let unscaled = base[lead] == Integer::ONE;
            for (row, value) in left.iter_mut().zip(base) {
                if unscaled && value.is_zero() {
                    continue;
                }
                *row = combine(&base[lead], row, &-value, &share);
            }
        }
        facts.extend(left.into_iter().map(|row| (row, Integer::ZERO)));
        facts.retain_mut(|(row, modulus)| {
            let g = crate::matrix::gcd(&row[1..]).gcd(&row[0]).gcd(modulus);
            if !g.is_zero() {
                crate::matrix::divide(row, &g);
                *modulus = modulus.div_exact(&g);
            }
            *modulus != Integer::ONE && row.iter().any(|value| !value.is_zero())
        });
        facts
    }

    /// Returns the conjunction that describes the lattice.
    pub fn basic(&self) -> Option<BasicMap> {
        let facts = self.congruences();
        let dims = self.origin.len();
        let mut divs: Vec<Div> = Vec::new();
        let strides = facts.iter().filter(|(_, modulus)| !modulus.is_zero());
        for (row, modulus) in strides.clone() {
            // Inside of a division, remainders say the same as the numbers themselves.
            let mut num: Vec<Integer> = row.iter().map(|v| v.mod_floor(modulus)).collect();
            num.resize(1 + dims + divs.len(), Integer::ZERO);
            divs.push(Div { num, den: modulus.clone() });
        }
        let mut part = BasicMap::with_divs(dims, divs.clone());
        for (row, _) in facts.iter().filter(|(_, modulus)| modulus.is_zero()) {
            part.system.eqs.push(row);
        }
        for (index, div) in divs.iter().enumerate() {
            let mut row = div.num.clone();
            row.resize(part.cols(), Integer::ZERO);
            row[1 + dims + index] = -&div.den;
            part.system.eqs.push(&row);
        }
        debug_assert!(
            part.contains(&self.origin)
                && facts.iter().all(|(row, modulus)| {
                    let value = evaluate(row, &self.origin);
                    if modulus.is_zero() { value.is_zero() } else { value.is_multiple_of(modulus) }
                })
        );
        part.tidied()
    }
}

fn leading(row: &[Integer]) -> usize {
    row.iter().position(|value| !value.is_zero()).unwrap_or(row.len())
}
