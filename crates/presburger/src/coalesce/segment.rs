//! Integer points between two disjuncts that neither has.
//!
//! Divisions are among the coordinates: a conjunction over them that holds two points holds all
//! integer points between them.

use super::side::Side;
use crate::solve::lattice::value;
use crate::solve::number::{Number, fit};
use crate::{Error, Integer};

/// How many points of one side are tried with those of the other.
const ENDS: usize = 6;
/// How far a point is moved along a dimension.
const MOVES: i64 = 8;
/// The greatest period of divisions that points are moved by.
const PERIOD: i64 = 1 << 16;

/// Returns whether a point between known points of `a` and of `b` is in neither.
pub(super) fn leaves_both<T: Number>(a: &Side<T>, b: &Side<T>, moved: bool) -> Result<bool, Error> {
    let from = ends(a, b, moved)?;
    if from.is_empty() {
        return Ok(false);
    }
    let to = ends(b, a, moved)?;
    for p in &from {
        for q in &to {
            if gap(a, p, b, q)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns points of `side` that `other` does not have; some are moved ones, if wanted.
fn ends<T: Number>(side: &Side<T>, other: &Side<T>, moved: bool) -> Result<Vec<Vec<T>>, Error> {
    let mut ends = Vec::new();
    for point in &side.points {
        if !other.has(point)? {
            ends.push(point.clone());
        }
    }
    let Some(period) = side.period().filter(|_| moved) else { return Ok(ends) };
    for point in &side.points {
        for dim in 0..side.part.dims {
            for step in [period, -period] {
                if ends.len() >= ENDS {
                    return Ok(ends);
                }
                if let Some(end) = far(side, point, dim, step)?
                    && !other.has(&end)?
                {
                    ends.push(end);
                }
            }
        }
    }
    Ok(ends)
}

/// Moves a point by `step` along a dimension as often as its side has it.
fn far<T: Number>(
    side: &Side<T>,
    point: &[T],
    dim: usize,
    step: i64,
) -> Result<Option<Vec<T>>, Error> {
    let mut next = point.to_vec();
    next[dim] = fit(next[dim].plus(&small(step)?))?;
    side.lift(&mut next)?;
    let limit: T = small(MOVES)?;
    let mut count = limit;
    for row in side.rows.rows() {
        let (here, there) = (value(row, point)?, value(row, &next)?);
        if there < here {
            count = count.min(here.floor_div(&fit(here.minus(&there))?));
        }
    }
    if count.is_zero() {
        return Ok(None);
    }
    let mut end = point.to_vec();
    end[dim] = fit(end[dim].plus(&fit(count.times(&small(step)?))?))?;
    side.lift(&mut end)?;
    Ok(side.has(&end)?.then_some(end))
}

/// Returns whether a point between `p` of `a` and `q` of `b`, or points near them, is in neither.
fn gap<T: Number>(a: &Side<T>, p: &[T], b: &Side<T>, q: &[T]) -> Result<bool, Error> {
    let steps = distance(p, q)?;
    if steps != T::one() {
        return leaves(a, p, b, q, &steps);
    }
    if let Some(near) = even(b, q, p)? {
        return leaves(a, p, b, &near, &distance(p, &near)?);
    }
    match even(a, p, q)? {
        Some(near) => leaves(a, &near, b, q, &distance(&near, q)?),
        None => Ok(false),
    }
}

/// Returns how many steps between integer points lead from `p` to `q`.
fn distance<T: Number>(p: &[T], q: &[T]) -> Result<T, Error> {
    let mut steps = T::zero();
    for (p, q) in p.iter().zip(q) {
        if p != q {
            steps = fit(q.minus(p))?.gcd(&steps);
            if steps == T::one() {
                break;
            }
        }
    }
    Ok(steps)
}

/// Moves `p` of `side` a little towards `q`, an even distance away; nothing if that fails.
fn even<T: Number>(side: &Side<T>, p: &[T], q: &[T]) -> Result<Option<Vec<T>>, Error> {
    let two = small(2)?;
    let mut near = p.to_vec();
    for (p, q) in near.iter_mut().zip(q).take(side.part.dims) {
        if !fit(fit(q.minus(p))?.modulo(&two))?.is_zero() {
            let one = small(if *p < *q { 1 } else { -1 })?;
            *p = fit(p.plus(&one))?;
        }
    }
    side.lift(&mut near)?;
    for (p, q) in near.iter().zip(q).skip(side.part.dims) {
        if !fit(fit(q.minus(p))?.modulo(&two))?.is_zero() {
            return Ok(None);
        }
    }
    Ok(side.has(&near)?.then_some(near))
}

/// Returns whether one of the points that cut the way from `p` to `q` into steps is in neither side.
fn leaves<T: Number>(a: &Side<T>, p: &[T], b: &Side<T>, q: &[T], steps: &T) -> Result<bool, Error> {
    // Both stay in their disjunct for so many steps towards each other.
    let (from, to) = (reach(a, p, q, steps)?, reach(b, q, p, steps)?);
    Ok(fit(fit(from.plus(&to))?.plus(&T::one()))? < *steps)
}

/// Returns how many of `steps` steps from `p`, a point of `side`, to `q` stay in `side`.
fn reach<T: Number>(side: &Side<T>, p: &[T], q: &[T], steps: &T) -> Result<T, Error> {
    let mut reach = steps.clone();
    for row in side.rows.rows() {
        let end = value(row, q)?;
        if end.sign() < 0 {
            let start = value(row, p)?;
            let here = fit(start.times(steps))?.floor_div(&fit(start.minus(&end))?);
            reach = reach.min(here);
        }
    }
    Ok(reach)
}

impl<T: Number> Side<T> {
    /// Returns whether a point, divisions included, is in the disjunct.
    pub fn has(&self, point: &[T]) -> Result<bool, Error> {
        for row in self.rows.rows() {
            if value(row, point)?.sign() < 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sets the divisions of a point to what they are there.
    pub fn lift(&self, point: &mut [T]) -> Result<(), Error> {
        for (index, div) in self.part.divs.iter().enumerate() {
            let mut sum = fit(T::of(&div.num[0]))?;
            for (coefficient, value) in div.num[1..].iter().zip(point.iter()) {
                if !coefficient.is_zero() {
                    let share = fit(T::of(coefficient))?.times(value);
                    sum = fit(sum.plus(&fit(share)?))?;
                }
            }
            point[self.part.dims + index] = sum.floor_div(&fit(T::of(&div.den))?);
        }
        Ok(())
    }

    /// Returns a number of steps along a dimension that moves divisions by whole numbers.
    fn period(&self) -> Option<i64> {
        let mut periods: Vec<Integer> = Vec::new();
        for div in self.part.divs.iter() {
            let inner = div.num[1 + self.part.dims..].iter().zip(&periods);
            let inner = inner.filter(|(v, _)| !v.is_zero()).map(|(_, period)| period);
            let period = &div.den * inner.fold(Integer::ONE, |all, one| all.lcm(one));
            if period > PERIOD {
                return None;
            }
            periods.push(period);
        }
        let all = periods.iter().fold(Integer::ONE, |all, one| match all.lcm(one) {
            all if all > PERIOD => Integer::from(PERIOD + 1),
            all => all,
        });
        all.to_i64().filter(|all| *all <= PERIOD)
    }
}

fn small<T: Number>(value: i64) -> Result<T, Error> {
    fit(T::of(&value.into()))
}
