//! Search of a bounded polyhedron along a reduced basis.
//!
//! The width of a polyhedron `P` along `b` is the greatest `b (x - y)` for `x`, `y` in
//! `P`. Reduction makes the early basis vectors directions in which `P` is thin, as
//! far as that is possible: there are few values to branch on.
//!
//! The strip `0 <= 100 x - 99 y <= 1` with `0 <= x <= 300` has 301 values of `x`. Along
//! `b = (1, -1)` its width is less than 4: after the change to `u = x - y` few values of `u` are
//! looked at, and each leaves an interval.
//!
//! Source: L. Lovász, H. Scarf, "The generalized basis reduction algorithm", 1992; W. Cook,
//! T. Rutherford, H. Scarf, D. Shallcross, 1993.

use super::feasible::rounded;
use super::number::{Number, fit, opposites};
use super::simplex::{Optimum, Simplex};
use crate::{Budget, Error};

/// After so many directions, and again after as many more, the search stops taking the basis as
/// it is: a reduction costs as much as dozens of directions.
const PATIENCE: usize = 48;

/// After so many directions, and again after twice as many, the search starts anew with a basis
/// reduced as a whole: what was fixed early is then thin as well. That costs as much as hundreds
/// of directions, and leaves few of the ten thousands that some searches would try.
const RESTART: usize = 1024;

/// One fixed direction of the search.
struct Level<T> {
    simplex: Simplex<T>,
    next: T,
    last: T,
}

/// What a search ends with.
pub(super) enum Found<T> {
    /// An integer point of the polyhedron.
    Point(Vec<T>),
    /// What the caller made of a rational point.
    Guess(Vec<T>),
}

/// Finds an integer point of the bounded polyhedron `rows >= 0`.
///
/// At each rational point on the way, `guess` may find one nearby that the caller takes as well.
pub(super) fn search<T: Number>(
    rows: Vec<Vec<T>>,
    dims: usize,
    guess: impl Fn(&Simplex<T>) -> Result<Option<Vec<T>>, Error>,
    budget: &Budget,
) -> Result<Option<Found<T>>, Error> {
    let mut simplex = Simplex::new(dims);
    for row in &rows {
        simplex.add_inequality(row, budget)?;
    }
    if simplex.is_empty() {
        return Ok(None);
    }
    let unit = |i| (0..=dims).map(|j| if j == i + 1 { T::one() } else { T::zero() }).collect();
    let mut basis: Vec<Vec<T>> = (0..dims).map(unit).collect();
    let mut levels: Vec<Level<T>> = Vec::new();
    let root = simplex.clone();
    let mut current = Some(simplex);
    let mut opened: usize = 0;
    let mut restart = RESTART;
    loop {
        if let Some(simplex) = current.take() {
            if let Some(point) = guess(&simplex)? {
                return Ok(Some(Found::Guess(point)));
            }
            if let Some(point) = rounded(&simplex, &rows)? {
                return Ok(Some(Found::Point(point)));
            }
            // With all directions fixed, the sample point is the only point.
            if levels.len() < dims {
                opened += 1;
                if opened == restart {
                    restart *= 2;
                    reduce_basis(&mut basis, 0, &rows, budget)?;
                    levels.clear();
                    current = Some(root.clone());
                    continue;
                }
                let rows = opened.is_multiple_of(PATIENCE).then_some(&rows[..]);
                levels.push(open(simplex, &mut basis, rows, levels.len(), budget)?);
            }
        }
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { return Ok(None) };
        if level.next > level.last {
            levels.pop();
            continue;
        }
        let mut fixed = basis[depth - 1].clone();
        fixed[0] = fit(level.next.opposite())?;
        level.next = fit(level.next.plus(&T::one()))?;
        let mut simplex = level.simplex.clone();
        simplex.add_equation(&fixed, budget)?;
        current = (!simplex.is_empty()).then_some(simplex);
    }
}

/// Bounds the direction of the fewest values, after a reduction by `rows` if there are many.
fn open<T: Number>(
    mut simplex: Simplex<T>,
    basis: &mut [Vec<T>],
    rows: Option<&[Vec<T>]>,
    depth: usize,
    budget: &Budget,
) -> Result<Level<T>, Error> {
    let two = fit(T::one().plus(&T::one()))?;
    let (mut next, mut last) = narrowest(&mut simplex, basis, depth, budget)?;
    if let Some(rows) = rows
        && fit(last.minus(&next))? >= two
        && depth + 1 < basis.len()
    {
        reduce_basis(basis, depth, rows, budget)?;
        (next, last) = bounds(&mut simplex, &basis[depth], budget)?;
    }
    Ok(Level { simplex, next, last })
}

/// Moves the direction of the fewest values to `depth`; returns its bounds.
fn narrowest<T: Number>(
    simplex: &mut Simplex<T>,
    basis: &mut [Vec<T>],
    depth: usize,
    budget: &Budget,
) -> Result<(T, T), Error> {
    let mut best = bounds(simplex, &basis[depth], budget)?;
    let mut width = fit(best.1.minus(&best.0))?;
    for index in depth + 1..basis.len() {
        if width.sign() <= 0 {
            break;
        }
        let found = bounds(simplex, &basis[index], budget)?;
        let other = fit(found.1.minus(&found.0))?;
        if other < width {
            basis.swap(depth, index);
            (best, width) = (found, other);
        }
    }
    Ok(best)
}

fn bounds<T: Number>(
    simplex: &mut Simplex<T>,
    form: &[T],
    budget: &Budget,
) -> Result<(T, T), Error> {
    let unbounded = || Error::Unbounded { dim: 0 };
    let Optimum::Value(num, den) = simplex.optimum(form, -1, budget)? else {
        return Err(unbounded());
    };
    let low = fit(fit(num.opposite())?.floor_div(&den).opposite())?;
    let Optimum::Value(num, den) = simplex.optimum(form, 1, budget)? else {
        return Err(unbounded());
    };
    Ok((low, num.floor_div(&den)))
}

/// The polyhedron of pairs `(x, y)` of points, with `b (x - y) = 0` for fixed `b`.
struct Pairs<T> {
    simplex: Simplex<T>,
    /// The first of the two constraints of the equation added last.
    equation: usize,
}

fn spread<T: Number>(form: &[T]) -> Result<Vec<T>, Error> {
    let mut result = form.to_vec();
    result[0] = T::zero();
    for value in &form[1..] {
        result.push(fit(value.opposite())?);
    }
    Ok(result)
}

impl<T: Number> Pairs<T> {
    fn new(rows: &[Vec<T>], dims: usize, budget: &Budget) -> Result<Self, Error> {
        let mut simplex = Simplex::new(2 * dims);
        for row in rows {
            let mut shifted = vec![T::zero(); 1 + 2 * dims];
            shifted[0] = row[0].clone();
            shifted[1 + dims..].clone_from_slice(&row[1..]);
            simplex.add_inequality(row, budget)?;
            simplex.add_inequality(&shifted, budget)?;
        }
        Ok(Self { simplex, equation: 0 })
    }

    fn fix(&self, form: &[T], budget: &Budget) -> Result<Self, Error> {
        let mut simplex = self.simplex.clone();
        let equation = simplex.next_id();
        let spread = spread(form)?;
        simplex.add_inequality(&spread, budget)?;
        simplex.add_inequality(&opposites(&spread)?, budget)?;
        Ok(Self { simplex, equation })
    }

    fn width(&mut self, form: &[T], budget: &Budget) -> Result<(T, T), Error> {
        match self.simplex.optimum(&spread(form)?, 1, budget)? {
            Optimum::Value(num, den) => Ok((num, den)),
            Optimum::Unbounded => Err(Error::Unbounded { dim: 0 }),
        }
    }

    /// Returns the rational multiple of the direction fixed last that, added to `form`,
    /// gives it the width it has here without the fixed direction.
    fn dual(&mut self, form: &[T], budget: &Budget) -> Result<(T, T), Error> {
        let ids = [self.equation, self.equation + 1];
        let duals = self.simplex.duals(&spread(form)?, &ids, budget)?;
        Ok((fit(duals[1].0.minus(&duals[0].0))?, duals[0].1.clone()))
    }
}

fn less<T: Number>(a: &(T, T), b: &(T, T)) -> Result<bool, Error> {
    Ok(fit(a.0.times(&b.1))? < fit(b.0.times(&a.1))?)
}

/// Reduces the basis vectors from `first` on, with those before it fixed.
fn reduce_basis<T: Number>(
    basis: &mut [Vec<T>],
    first: usize,
    rows: &[Vec<T>],
    budget: &Budget,
) -> Result<(), Error> {
    let mut pairs = Pairs::new(rows, basis.len(), budget)?;
    for direction in &basis[..first] {
        pairs = pairs.fix(direction, budget)?;
    }
    // The pairs with all directions before each index fixed.
    let mut stack = vec![pairs];
    let mut i = first;
    let (three, four) = (fit(T::of(&3.into()))?, fit(T::of(&4.into()))?);
    while i + 1 < basis.len() {
        budget.spend(1)?;
        let depth = i - first;
        stack.truncate(depth + 1);
        let mut fixed = stack[depth].fix(&basis[i], budget)?;
        let (num, den) = fixed.dual(&basis[i + 1], budget)?;
        let low = num.floor_div(&den);
        let width = stack[depth].width(&basis[i], budget)?;
        let mut best: Option<(Vec<T>, (T, T))> = None;
        for factor in [low.clone(), fit(low.plus(&T::one()))?] {
            let mut candidate = basis[i + 1].clone();
            if !T::combine(&mut candidate, &T::one(), &basis[i], &factor) {
                return Err(Error::Overflow);
            }
            let other = stack[depth].width(&candidate, budget)?;
            if best.as_ref().map_or(Ok(true), |best| less(&other, &best.1))? {
                best = Some((candidate, other));
            }
        }
        let Some((candidate, other)) = best else { break };
        basis[i + 1] = candidate;
        let limit = (fit(width.0.times(&three))?, fit(width.1.times(&four))?);
        if less(&other, &limit)? {
            basis.swap(i, i + 1);
            i = i.saturating_sub(1).max(first);
        } else {
            stack.push(fixed);
            i += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip without points, thin along `577x - 408y` and a million values wide along both axes.
    #[test]
    fn a_search_that_began_along_wide_directions_starts_anew() {
        let rows: Vec<Vec<i64>> = vec![
            vec![-1, 3 * 577, -3 * 408],
            vec![2, -3 * 577, 3 * 408],
            vec![0, 1, 0],
            vec![1_000_000, -1, 0],
        ];
        let budget = Budget::steps(20_000);
        let found = search(rows, 2, |_| Ok(None), &budget);
        assert!(matches!(found, Ok(None)), "{} steps", budget.used());
    }
}
