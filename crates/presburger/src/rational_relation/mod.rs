//! Sets and relations of rational points.
//!
//! A rational point `x` is all integer points `(d, d x)` with `d >= 1`: a scale, and what it makes
//! of the coordinates. A constraint `a x + c >= 0` is `a X + c d >= 0` on them, a strict one
//! `a X + c d >= 1`; it holds at all pairs of a point or at none. So unions, intersections,
//! differences, complements, inclusion and emptiness of these cones, over the integers, are those
//! of the rational sets. Only projection is not: a rational value is enough there, which is
//! elimination by Fourier and Motzkin. `{ rat: [i] : 2i = 1 }` is `{ (d, X) : d >= 1, 2X = d }`.
//!
//! Source: the notation is isl's (`isl_set_set_rational`). Divergence: `i > 0` is strict, where
//! isl reads `i >= 1`; differences are exact; there are no divisions, where isl allows some.

mod eliminate;
mod hull;
mod print;

use std::str::FromStr;

use crate::basic_map::BasicMap;
use crate::matrix::remap;
use crate::parse::rational_relations;
use crate::{Budget, Error, Integer, Rational, Relation, Space};

/// The name of the scale, the first parameter of all cones; no text can have it.
pub(crate) const SCALE: &str = "/";

/// An immutable set or relation of rational points, and of integer ones.
///
/// `{ rat: [i] : 0 <= 2i <= 1; [i] : 5 <= i <= 9 }`: disjuncts marked `rat:` hold all rational
/// points, parameters included, the others integer points alone.
#[derive(Debug, Clone)]
pub struct RationalRelation {
    /// Integer points `(d, d x)` for all rational points `x`.
    cones: Relation,
    /// Integer points.
    integers: Relation,
}

impl From<Relation> for RationalRelation {
    /// Holds the same integer points.
    fn from(integers: Relation) -> Self {
        let cones = Relation::empty(cone_space(integers.space()));
        Self { cones, integers }
    }
}

impl FromStr for RationalRelation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl RationalRelation {
    /// Parses disjuncts of one space; those that start with `rat:` are rational.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column, also for a division in a rational disjunct;
    /// [`Error::Space`] if disjuncts differ in their tuples.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let none =
            || Error::Syntax { column: 1, expected: "a tuple".into(), found: text.to_owned() };
        let mut all: Option<Self> = None;
        for part in rational_relations(text, budget)? {
            let part = Self::of_parsed(part);
            all = Some(match all {
                Some(all) => all.union(&part)?,
                None => part,
            });
        }
        all.ok_or_else(none)
    }

    fn of_parsed(part: Relation) -> Self {
        if part.space().params.first().is_none_or(|name| name != SCALE) {
            return part.into();
        }
        let mut space = part.space().clone();
        space.params.remove(0);
        Self { cones: part, integers: Relation::empty(space) }
    }

    /// Makes the relation of all rational points of `space`.
    pub fn universe(space: Space) -> Self {
        let part = universe(1 + space.dims());
        let cones = Relation::new(cone_space(&space), vec![part]);
        Self { cones, integers: Relation::empty(space) }
    }

    /// Returns the space of all points.
    pub fn space(&self) -> &Space {
        self.integers.space()
    }

    /// Returns the points all of whose coordinates are integers.
    pub fn integer_points(&self, budget: &Budget) -> Result<Relation, Error> {
        self.integers.union(&self.whole())?.coalesce(budget)
    }

    /// Returns the integer points among the rational ones.
    fn whole(&self) -> Relation {
        let parts = self.cones.parts.iter().filter_map(at_scale_one).collect();
        Relation::new(self.space().clone(), parts)
    }

    fn same_space(&self, other: &Self) -> Result<(), Error> {
        match self.space().same_tuples(other.space()) {
            true => Ok(()),
            false => Err(self.space().mismatch(other.space())),
        }
    }

    /// Unites two relations of one space.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn union(&self, other: &Self) -> Result<Self, Error> {
        self.same_space(other)?;
        let cones = self.cones.union(&other.cones)?;
        Ok(Self { cones, integers: self.integers.union(&other.integers)? })
    }

    /// Intersects two relations of one space.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn intersect(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.same_space(other)?;
        let cones = self.cones.intersect(&other.cones, budget)?;
        let all = other.integers.union(&other.whole())?;
        let ours = self.integers.intersect(&all, budget)?;
        let integers = ours.union(&self.whole().intersect(&other.integers, budget)?)?;
        Ok(Self { cones, integers })
    }

    /// Returns the points of `self` that are not in `other`.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ; [`Error::Unbounded`] if infinitely many integer
    /// points were to be taken out of rational ones.
    pub fn subtract(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.same_space(other)?;
        let (left, right) = self.integers.pair(&other.integers.union(&other.whole())?)?;
        let integers = left.subtract(&right, budget)?;
        let rest = self.cones.subtract(&other.cones, budget)?;
        let rest = Self { cones: rest, integers: Relation::empty(integers.space().clone()) };
        let holes = rest.whole().intersect(&other.integers, budget)?.points(budget)?;
        let params = &rest.cones.space().params;
        let space = Space { params: params.clone(), ..rest.cones.space().clone() };
        let points = holes.iter().map(|point| ray(&Integer::ONE, point)).collect();
        let cones = rest.cones.subtract(&Relation::new(space, points), budget)?;
        Ok(Self { cones, integers })
    }

    /// Returns the rational points of the space that are not in `self`.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if `self` has infinitely many integer points that it has alone.
    pub fn complement(&self, budget: &Budget) -> Result<Self, Error> {
        Self::universe(self.space().clone()).subtract(self, budget)
    }

    /// Returns whether there is no point.
    pub fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.cones.is_empty(budget)? && self.integers.is_empty(budget)?)
    }

    /// Returns whether every point of `self` is in `other`.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn is_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.same_space(other)?;
        let all = other.integers.union(&other.whole())?;
        if !self.integers.is_subset(&all, budget)? {
            return Ok(false);
        }
        let rest = self.cones.subtract(&other.cones, budget)?;
        // A convex set of integer points is one point.
        for part in rest.parts.iter() {
            let Some(sample) = part.sample(budget)? else { continue };
            let (scale, point) = (&sample[0], &sample[1..]);
            if point.iter().any(|value| !value.is_multiple_of(scale)) {
                return Ok(false);
            }
            let point: Vec<Integer> = point.iter().map(|value| value.div_exact(scale)).collect();
            let space = Space { params: rest.space().params[1..].to_vec(), ..self.space().clone() };
            let inside = Relation::point(space, &point)?.is_subset(&other.integers, budget)?;
            let alone = Relation::new(rest.space().clone(), vec![part.clone()]).is_subset(
                &Relation::new(rest.space().clone(), vec![ray(&Integer::ONE, &point)]),
                budget,
            )?;
            if !inside || !alone {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether both hold the same points.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && other.is_subset(self, budget)?)
    }

    /// Returns whether no point is in both.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn is_disjoint(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.intersect(other, budget)?.is_empty(budget)
    }

    /// Returns whether the point, parameters first, then input, then output, is in `self`.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of the space.
    pub fn contains(&self, point: &[Rational]) -> Result<bool, Error> {
        let expected = self.space().dims();
        if point.len() != expected {
            return Err(Error::Row { expected, found: point.len() });
        }
        let mut scale = Integer::ONE;
        for value in point {
            scale = &scale * value.denom().div_exact(&scale.gcd(value.denom()));
        }
        let scaled = point.iter().map(|value| value.numer() * scale.div_exact(value.denom()));
        let mut all: Vec<Integer> = vec![scale.clone()];
        all.extend(scaled);
        let rational = self.cones.parts.iter().any(|part| part.contains(&all));
        Ok(rational || scale == Integer::ONE && self.integers.contains(&all[1..])?)
    }

    /// Finds a point: parameters first, then input, then output.
    pub fn sample(&self, budget: &Budget) -> Result<Option<Vec<Rational>>, Error> {
        if let Some(point) = self.integers.sample(budget)? {
            return Ok(Some(point.into_iter().map(Rational::from).collect()));
        }
        let point = self.cones.sample(budget)?;
        Ok(point.map(|point| {
            let rational = |value: &Integer| Rational::reduced(value.clone(), point[0].clone());
            point[1..].iter().map(rational).collect()
        }))
    }

    /// Merges disjuncts where a single one holds exactly their points.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        let mut cones = self.cones.coalesce(budget)?;
        cones.parts = cones.parts.iter().map(marked).collect();
        Ok(Self { cones, integers: self.integers.coalesce(budget)? })
    }

    /// The number of disjuncts.
    pub fn disjuncts(&self) -> usize {
        self.cones.parts.len() + self.integers.parts.len()
    }

    /// Swaps input and output.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn inverse(&self) -> Result<Self, Error> {
        Ok(Self { cones: self.cones.inverse()?, integers: self.integers.inverse()? })
    }
}

fn cone_space(space: &Space) -> Space {
    let params = std::iter::once(SCALE.to_owned()).chain(space.params.iter().cloned());
    Space { params: params.collect(), ..space.clone() }
}

/// Returns the cone of all points, over so many dimensions, the scale one of them.
pub(crate) fn universe(dims: usize) -> BasicMap {
    let mut part = BasicMap::universe(dims);
    part.system.ineqs.push(&[Integer::MINUS_ONE, Integer::ONE]);
    part
}

/// Returns the cone of the point `coordinates / scale`.
fn ray(scale: &Integer, coordinates: &[Integer]) -> BasicMap {
    let mut part = universe(1 + coordinates.len());
    for (index, value) in coordinates.iter().enumerate() {
        let mut row = vec![Integer::ZERO; part.cols()];
        (row[1], row[2 + index]) = (-value, scale.clone());
        part.system.eqs.push(&row);
    }
    part
}

/// Makes cones of conjunctions without divisions: the constant becomes the scale's factor.
pub(crate) fn cone(part: &BasicMap) -> BasicMap {
    let to: Vec<usize> = (1..=part.dims).collect();
    let mut part = part.place(1 + part.dims, &to);
    for row in part.system.rows_mut() {
        row[1] = std::mem::take(&mut row[0]);
    }
    part.system.ineqs.push(&[Integer::MINUS_ONE, Integer::ONE]);
    part
}

/// Returns the points of a cone where the scale is 1.
fn at_scale_one(part: &BasicMap) -> Option<BasicMap> {
    let mut to = vec![Some(0), Some(0)];
    to.extend((1..part.cols() - 1).map(Some));
    let cols = part.cols() - 1;
    let divs = part.divs.iter().map(|div| crate::basic_map::Div {
        num: remap(&div.num, div.num.len() - 1, &to),
        den: div.den.clone(),
    });
    let (dims, divs) = (part.dims - 1, divs.collect());
    BasicMap { dims, divs, system: part.system.remap(cols, &to) }.tidied()
}

/// Writes strict rows of a cone with the constant -1, and others with 0.
///
/// Rows that come out of merging may have other constants; at all multiples of a point, they say
/// the same.
fn marked(part: &BasicMap) -> BasicMap {
    let mut part = part.clone();
    for row in part.system.ineqs.rows_mut() {
        row[0] = if row[0].sign() < 0 { Integer::MINUS_ONE } else { Integer::ZERO };
    }
    part
}
