//! Boxes around sets and relations: of constant bounds, or of constant size at a place that
//! depends on parameters and inputs.

use std::ops::Range;

use crate::basic_map::BasicMap;
use crate::{Aff, Budget, Conjunction, Error, Integer, MultiAff, Relation, Space, Tuple};

/// A box of constant size: all points from `offset` on, `size` many in each dimension.
#[derive(Debug, Clone)]
pub struct FixedBox {
    /// The least corner, a function of the inputs; of a set, of the parameters.
    pub offset: MultiAff,
    /// The number of values of each output dimension.
    pub size: Vec<Integer>,
}

/// The least and the greatest value of a dimension, where there are any.
pub type Extent = (Option<Integer>, Option<Integer>);

impl Relation {
    /// Returns the least and the greatest value of each output dimension over all parameters and
    /// inputs, where there are any; none if there is no point.
    ///
    /// Exact: no smaller box of constant bounds holds all points. An integer program for each end
    /// of each dimension and disjunct.
    pub fn bounding_box(&self, budget: &Budget) -> Result<Option<Vec<Extent>>, Error> {
        let all = self.space.dims();
        self.extents(all - self.space.output.dims.len()..all, budget)
    }

    /// As [`Self::bounding_box`], of some dimensions, parameters and inputs among them.
    fn extents(&self, dims: Range<usize>, budget: &Budget) -> Result<Option<Vec<Extent>>, Error> {
        let mut all: Option<Vec<Extent>> = None;
        for part in self.parts.iter() {
            let Some(point) = part.sample(budget)? else { continue };
            let extents = dims.clone().map(|dim| part.ends(dim, &point[dim], budget));
            let extents = extents.collect::<Result<Vec<_>, _>>()?;
            all = Some(match all {
                None => extents,
                Some(known) => known.into_iter().zip(extents).map(|(a, b)| around(a, b)).collect(),
            });
        }
        Ok(all)
    }

    /// Finds a box of constant size around the outputs of each input, one dimension after the
    /// other; none if there is a dimension for which no constraint gives one.
    ///
    /// Holds all points, but need not be the smallest box: its least corner is taken from the
    /// constraints of the simple hull. Division-free lower bounds are tried, and of those the one
    /// with the smallest box stays.
    ///
    /// # Source
    /// isl `isl_map_get_range_simple_fixed_box_hull`.
    pub fn simple_fixed_box_hull(&self, budget: &Budget) -> Result<Option<FixedBox>, Error> {
        let dims = self.space().output.dims.len();
        let (mut members, mut size) = (Vec::new(), Vec::new());
        for dim in 0..dims {
            let line = self.project_out(dim + 1..dims, budget)?.project_out(0..dim, budget)?;
            let Some((offset, length)) = line.narrowest(budget)? else { return Ok(None) };
            members.push(offset);
            size.push(length);
        }
        let offset = MultiAff::of(&self.arguments(), self.space().output.clone(), &members)?;
        Ok(Some(FixedBox { offset, size }))
    }

    /// The space of what an output is a function of.
    pub(crate) fn arguments(&self) -> Space {
        let space = self.space();
        Space::set(space.params.clone(), space.input.clone().unwrap_or_default())
    }

    /// Finds, for a relation with one output dimension, the lower bound with the shortest line.
    fn narrowest(&self, budget: &Budget) -> Result<Option<(Aff, Integer)>, Error> {
        let hull = self.simple_hull(budget)?;
        let mut best: Option<(Aff, Integer)> = None;
        for part in hull.conjunctions() {
            let opposite = |row: &Vec<Integer>| row.iter().map(Integer::neg).collect::<Vec<_>>();
            let both = part.equalities.iter().flat_map(|row| [row.clone(), opposite(row)]);
            for row in both.chain(part.inequalities.iter().cloned()) {
                let Some(offset) = self.lower_bound(&row)? else { continue };
                let Some(greatest) = self.greatest_above(&offset, budget)? else { continue };
                let length = greatest.add(&Integer::ONE);
                if best.as_ref().is_none_or(|(_, known)| length < *known) {
                    best = Some((offset, length));
                }
            }
        }
        Ok(best)
    }

    /// Reads `row >= 0` as a lower bound of the output, if it is one and has no divisions.
    fn lower_bound(&self, row: &[Integer]) -> Result<Option<Aff>, Error> {
        let arguments = self.arguments();
        let count = arguments.params.len() + arguments.output.dims.len();
        let factor = &row[1 + count];
        if factor.sign() <= 0 || row[2 + count..].iter().any(|v| !v.is_zero()) {
            return Ok(None);
        }
        // `factor * x + rest >= 0` is `x >= ceil(-rest / factor)`.
        let mut bound = Aff::constant(&arguments, 0, 1)?;
        for (dim, value) in row[1..=count].iter().enumerate().filter(|(_, v)| !v.is_zero()) {
            bound = bound.sub(&Aff::coordinate(&arguments, dim)?.scale(value, factor)?)?;
        }
        Ok(Some(bound.add(&Aff::constant(&arguments, row[0].neg(), factor)?)?.ceil()?))
    }

    /// Returns the greatest distance of an output from `offset` over all inputs, if there is one.
    fn greatest_above(&self, offset: &Aff, budget: &Budget) -> Result<Option<Integer>, Error> {
        let arguments = self.arguments();
        let count = arguments.params.len() + arguments.output.dims.len();
        // `[arguments] -> [x]` as a set over all of them, and the distance behind.
        let (row, den, divisions) = offset.coefficients();
        if den != Integer::ONE {
            return Ok(None);
        }
        let placed = |row: &[Integer]| {
            let mut wide = row.to_vec();
            wide.splice(1 + count..1 + count, [Integer::ZERO, Integer::ZERO]);
            wide
        };
        let mut equality = placed(&row);
        (equality[1 + count], equality[2 + count]) = (Integer::MINUS_ONE, Integer::ONE);
        let division = |division: &crate::Division| crate::Division {
            numerator: placed(&division.numerator),
            denominator: division.denominator.clone(),
        };
        let distance = Conjunction {
            divisions: divisions.iter().map(division).collect(),
            equalities: vec![equality],
            inequalities: Vec::new(),
        };
        let all = arguments.params.iter().chain(&arguments.output.dims).cloned();
        let inner: Vec<String> = all.chain(["x".to_owned()]).collect();
        let outer: Vec<String> = inner.iter().cloned().chain(["t".to_owned()]).collect();
        let points = self.respaced(Space::set(Vec::new(), Tuple::new("", inner)));
        let ignored = Relation::universe(Space::set(Vec::new(), Tuple::new("", ["t"])));
        let points = points.product(&ignored, budget)?.cast(None, Tuple::new("", outer.clone()))?;
        let space = Space::set(Vec::new(), Tuple::new("", outer));
        let placed = points.intersect(&Self::from_conjunctions(space, &[distance])?, budget)?;
        Ok(match placed.extents(count + 1..count + 2, budget)? {
            None => Some(Integer::MINUS_ONE),
            Some(mut extents) => extents.pop().and_then(|(_, greatest)| greatest),
        })
    }
}

impl BasicMap {
    /// Returns the least and the greatest value of a dimension, of which `value` is one.
    fn ends(&self, dim: usize, value: &Integer, budget: &Budget) -> Result<Extent, Error> {
        let Some((low, high)) = self.bounds_of(dim, budget)? else { return Ok((None, None)) };
        let end = |sign: i64, relaxed: Option<Integer>| {
            let end = |relaxed| self.end(dim, &sign.into(), value, &relaxed, budget);
            relaxed.map(end).transpose()
        };
        Ok((end(-1, low)?, end(1, high)?))
    }

    /// Returns the least or, for a `sign` of 1, the greatest value of a dimension; `value` is one,
    /// and `relaxed` the end of the rational ones.
    fn end(
        &self,
        dim: usize,
        sign: &Integer,
        value: &Integer,
        relaxed: &Integer,
        budget: &Budget,
    ) -> Result<Integer, Error> {
        // The values times the sign are at most `most`, and one is `known`.
        let (mut known, mut most) = (sign * value, sign * relaxed);
        // Most often the end is that of the rational points.
        let mut guess = most.clone();
        while known < most {
            let mut beyond = self.clone();
            let mut row = vec![Integer::ZERO; self.cols()];
            (row[0], row[1 + dim]) = (-&guess, sign.clone());
            beyond.system.ineqs.push(&row);
            match beyond.sample(budget)? {
                Some(point) => known = sign * &point[dim],
                None => most = &guess - 1,
            }
            guess = &known + (&most - &known + 1).div_floor(&Integer::from(2));
        }
        Ok(sign * &known)
    }
}

/// Returns what holds both extents.
fn around(a: Extent, b: Extent) -> Extent {
    (a.0.zip(b.0).map(|(a, b)| a.min(b)), a.1.zip(b.1).map(|(a, b)| a.max(b)))
}
