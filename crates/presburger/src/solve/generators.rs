//! Lines and rays that generate a polyhedral cone, and back.
//!
//! Constraints are taken one after the other: a line that a constraint does not contain becomes
//! a ray, and each pair of adjacent rays on different sides gives one on the border. Two rays
//! are adjacent if no third one lies on all the constraints that both lie on.
//!
//! Source: T. Motzkin, H. Raiffa, G. Thompson, R. Thrall, "The double description method",
//! 1953; K. Fukuda, A. Prodon, "Double description method revisited", 1996.

use super::number::{Number, fit, opposites, reduce};
use crate::{Budget, Error};

/// A generated ray, and a bit for each constraint that it lies on.
#[derive(Debug, Clone)]
struct Ray<T> {
    coordinates: Vec<T>,
    on: Vec<u64>,
}

/// The sums of any multiples of lines and multiples of rays that are not negative.
#[derive(Debug, Clone)]
pub(crate) struct Cone<T> {
    pub lines: Vec<Vec<T>>,
    rays: Vec<Ray<T>>,
    constraints: usize,
}

impl<T: Number> Cone<T> {
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
        for ray in &mut self.rays {
            ray.on.resize(self.constraints.div_ceil(64), 0);
        }
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
            ray.on[index / 64] |= 1 << (index % 64);
        }
        if !equation {
            let mut on = vec![u64::MAX; index / 64 + 1];
            on[index / 64] = (1 << (index % 64)) - 1;
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
        for (p, m) in above.iter().flat_map(|p| below.iter().map(move |m| (*p, *m))) {
            budget.spend(self.rays.len() / 8)?;
            let (plus, minus) = (&self.rays[p], &self.rays[m]);
            let both: Vec<u64> = plus.on.iter().zip(&minus.on).map(|(a, b)| a & b).collect();
            let between = |i: usize| {
                i != p && i != m && both.iter().zip(&self.rays[i].on).all(|(a, b)| a & !b == 0)
            };
            if (0..values.len()).any(between) {
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
                ray.on[index / 64] |= 1 << (index % 64);
            }
            side == 0 || side > 0 && !equation
        });
        for mut ray in border {
            ray.on[index / 64] |= 1 << (index % 64);
            self.rays.push(ray);
        }
        Ok(())
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
