//! The double description method: from the constraints of a cone to its generators, and back.
//!
//! A cone is the set of the points where some rows are not negative and others are 0; it is also
//! the set of the sums of any multiples of *lines* and of multiples of *rays* that are not
//! negative. A polyhedron is the cone over it, with one more coordinate for the constant.
//!
//! Constraints are taken one after the other: a line that a constraint does not contain becomes
//! a ray, and each pair of adjacent rays on different sides gives one on the border. Two rays
//! are adjacent if no third one lies on all the constraints that both lie on.
//!
//! `i >= 0` and `j >= 0` give the rays `(1, 0)` and `(0, 1)`. Then `i - j >= 0` has one ray on
//! either side; they are adjacent, and `(1, 1)` takes the place of the second.
//!
//! This is the only such method: convex hulls, counting and schedules (through [`Cone`]) use it.
//!
//! Source: T. Motzkin, H. Raiffa, G. Thompson, R. Thrall, "The double description method",
//! 1953; N. Chernikova, 1965, and K. Fukuda, A. Prodon, "Double description method revisited",
//! 1996, on adjacency.

use smallvec::SmallVec;

use super::number::{Number, fit, opposites, reduce};
use crate::{Budget, Error};

/// A set of small numbers: constraints, rays or vertices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Bits(SmallVec<[u64; 2]>);

impl Bits {
    /// All numbers below `end`.
    pub fn below(end: usize) -> Self {
        let mut words: SmallVec<[u64; 2]> = SmallVec::from_elem(u64::MAX, end / 64);
        if !end.is_multiple_of(64) {
            words.push((1 << (end % 64)) - 1);
        }
        Self(words)
    }

    pub fn insert(&mut self, index: usize) {
        if self.0.len() <= index / 64 {
            self.0.resize(index / 64 + 1, 0);
        }
        self.0[index / 64] |= 1 << (index % 64);
    }

    pub fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// The words stay trimmed, so that equal sets compare equal.
    pub fn and(&self, other: &Self) -> Self {
        let mut words: SmallVec<[u64; 2]> =
            self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect();
        while words.last() == Some(&0) {
            words.pop();
        }
        Self(words)
    }

    pub fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().enumerate().all(|(i, word)| word & !self.0.get(i).copied().unwrap_or(0) == 0)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| i * 64 + bit)
        })
    }
}

/// A generated ray, and the constraints that it lies on.
#[derive(Debug, Clone)]
pub(crate) struct Ray<T> {
    pub coordinates: Vec<T>,
    pub on: Bits,
}

/// The sums of any multiples of lines and multiples of rays that are not negative.
#[derive(Debug, Clone)]
pub(crate) struct Generators<T> {
    pub lines: Vec<Vec<T>>,
    pub rays: Vec<Ray<T>>,
    constraints: usize,
}

impl<T: Number> Generators<T> {
    /// Makes the cone of all points with `dims` coordinates.
    pub fn new(dims: usize) -> Self {
        let unit = |i| (0..dims).map(|j| if j == i { T::one() } else { T::zero() }).collect();
        Self { lines: (0..dims).map(unit).collect(), rays: Vec::new(), constraints: 0 }
    }

    /// The rays.
    pub fn rays(&self) -> impl Iterator<Item = &[T]> {
        self.rays.iter().map(|ray| ray.coordinates.as_slice())
    }

    /// Keeps the points where `row` is not negative, or 0 for an equation.
    pub fn add(&mut self, row: &[T], equation: bool, budget: &Budget) -> Result<(), Error> {
        budget.spend(self.lines.len() + self.rays.len())?;
        let index = self.constraints;
        self.constraints += 1;
        for position in 0..self.lines.len() {
            let value = dot(row, &self.lines[position])?;
            if !value.is_zero() {
                let line = self.lines.swap_remove(position);
                return self.bend(line, value, row, equation, index);
            }
        }
        self.cut(row, equation, index, budget)
    }

    /// Moves everything along `line` onto the constraint; one half of the line stays.
    fn bend(
        &mut self,
        mut line: Vec<T>,
        mut value: T,
        row: &[T],
        equation: bool,
        index: usize,
    ) -> Result<(), Error> {
        if value.sign() < 0 {
            value = fit(value.opposite())?;
            line = opposites(&line)?;
        }
        for other in &mut self.lines {
            onto(other, &line, &value, row)?;
        }
        for ray in &mut self.rays {
            onto(&mut ray.coordinates, &line, &value, row)?;
            ray.on.insert(index);
        }
        if !equation {
            let on = Bits::below(index);
            self.rays.push(Ray { coordinates: line, on });
        }
        Ok(())
    }

    /// Keeps the rays on the right side of the constraint and adds those on its border.
    fn cut(
        &mut self,
        row: &[T],
        equation: bool,
        index: usize,
        budget: &Budget,
    ) -> Result<(), Error> {
        let values: Vec<T> =
            self.rays.iter().map(|ray| dot(row, &ray.coordinates)).collect::<Result<_, _>>()?;
        let side = |sign: i32| -> Vec<usize> {
            (0..values.len()).filter(|i| values[*i].sign() == sign).collect()
        };
        let (above, below) = (side(1), side(-1));
        let mut border = Vec::new();
        // Adjacent rays share a face of two dimensions more than the lines have: as many
        // constraints hold there with equality, at least.
        let least = row.len().saturating_sub(self.lines.len() + 2);
        for (p, m) in above.iter().flat_map(|p| below.iter().map(move |m| (*p, *m))) {
            let (plus, minus) = (&self.rays[p], &self.rays[m]);
            let both = plus.on.and(&minus.on);
            if both.len() < least {
                budget.spend(0)?;
                continue;
            }
            let between = |i: &usize| *i != p && *i != m && self.rays[*i].on.contains_all(&both);
            let found = (0..values.len()).find(between);
            budget.spend(found.unwrap_or(values.len()) / 16)?;
            if found.is_some() {
                continue;
            }
            let mut coordinates = plus.coordinates.clone();
            let scale = fit(values[m].opposite())?;
            if !T::combine(&mut coordinates, &scale, &minus.coordinates, &values[p]) {
                return Err(Error::Overflow);
            }
            reduce(&mut coordinates);
            border.push(Ray { coordinates, on: both });
        }
        let mut sides = values.iter().map(Number::sign);
        self.rays.retain_mut(|ray| {
            let side = sides.next().unwrap_or(0);
            if side == 0 {
                ray.on.insert(index);
            }
            side == 0 || side > 0 && !equation
        });
        for mut ray in border {
            ray.on.insert(index);
            self.rays.push(ray);
        }
        Ok(())
    }
}

/// A cone over machine numbers, by its generators.
///
/// ```
/// use tangram_presburger::{Budget, Cone};
///
/// let mut cone = Cone::new(2);
/// cone.keep(&[1, 0], false, &Budget::unlimited())?; // x >= 0
/// cone.keep(&[1, -1], false, &Budget::unlimited())?; // x >= y
/// assert_eq!(cone.rays().collect::<Vec<_>>(), [[1, 1], [0, -1]]);
/// assert!(cone.lines().is_empty());
/// # Ok::<(), tangram_presburger::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cone(Generators<i128>);

impl Cone {
    /// Makes the cone of all points with `dims` coordinates.
    pub fn new(dims: usize) -> Self {
        Self(Generators::new(dims))
    }

    /// Keeps the points where `row` is not negative, or 0 for an equation.
    ///
    /// The number of rays can double with each row.
    ///
    /// # Errors
    /// [`Error::Overflow`] beyond 128 bits; [`Error::Steps`] if the budget ends.
    pub fn keep(&mut self, row: &[i128], equation: bool, budget: &Budget) -> Result<(), Error> {
        self.0.add(row, equation, budget)
    }

    /// Vectors of which any multiples are in the cone.
    pub fn lines(&self) -> &[Vec<i128>] {
        &self.0.lines
    }

    /// Vectors of which the multiples that are not negative are in the cone.
    pub fn rays(&self) -> impl Iterator<Item = &[i128]> {
        self.0.rays()
    }

    /// The number of rays.
    pub fn ray_count(&self) -> usize {
        self.0.rays.len()
    }
}

/// Moves a point along `line`, where `row` is `value`, to where `row` is 0.
fn onto<T: Number>(point: &mut [T], line: &[T], value: &T, row: &[T]) -> Result<(), Error> {
    let here = dot(row, point)?;
    if here.is_zero() {
        return Ok(());
    }
    if !T::combine(point, value, line, &fit(here.opposite())?) {
        return Err(Error::Overflow);
    }
    reduce(point);
    Ok(())
}

fn dot<T: Number>(row: &[T], point: &[T]) -> Result<T, Error> {
    let mut sum = T::zero();
    for (a, b) in row.iter().zip(point) {
        if !a.is_zero() && !b.is_zero() {
            sum = fit(sum.plus(&fit(a.times(b))?))?;
        }
    }
    Ok(sum)
}
