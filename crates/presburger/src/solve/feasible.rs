//! Integer points of polyhedra.
//!
//! Equations are solved over the integers, then inequalities that allow a single
//! integer value become equations in turn. What is left is full-dimensional. Linear
//! forms that are bounded on it span a sublattice; the polyhedron has an integer point
//! exactly if its image there has one, and the image is bounded: it is searched along
//! a reduced basis.
//!
//! Source: A. Lenstra, H. Lenstra, L. Lovász; W. Cook, T. Rutherford, H. Scarf,
//! D. Shallcross, "An implementation of the generalized basis reduction algorithm for
//! integer programming", 1993.
//!
//! The Omega test of `tangram_affine` (`symbolic/omega`) answers the same question below sets, in 64
//! bits, within a small budget after which it claims nothing.

use super::lattice::{Problem, value};
use super::number::{Number, fit, widening};
use super::reduction::{Found, search};
use super::simplex::{Optimum, Simplex};
use crate::div::Div;
use crate::system::System;
use crate::{Budget, Error, Integer};

/// Columns that are floors of others, as position among the variables and definition.
pub(crate) type Floors<T> = [(usize, Div<T>)];

/// Returns whether a system has no integer solution.
///
/// Its columns `floors` are known to be what they say: that helps to find a point.
pub(crate) fn is_empty(
    system: &System,
    floors: &Floors<Integer>,
    budget: &Budget,
) -> Result<bool, Error> {
    widening!(T => Ok(point_in::<T>(system, floors, false, budget)?.is_none()))
}

/// Finds an integer solution.
pub(crate) fn point(
    system: &System,
    floors: &Floors<Integer>,
    budget: &Budget,
) -> Result<Option<Vec<Integer>>, Error> {
    widening!(T => {
        let found = point_in::<T>(system, floors, true, budget)?;
        Ok(found.map(|point| point.iter().map(Number::integer).collect()))
    })
}

/// Finds an integer solution; without `full`, coordinates that always exist are left out.
fn point_in<T: Number>(
    system: &System,
    floors: &Floors<Integer>,
    full: bool,
    budget: &Budget,
) -> Result<Option<Vec<T>>, Error> {
    let narrow = |(col, floor): &(usize, Div)| Ok((*col, floor.narrowed()?));
    let floors: Vec<(usize, Div<T>)> = floors.iter().map(narrow).collect::<Result<_, Error>>()?;
    solve(Problem::of(system)?, &floors, full, budget)
}

fn exact<T: Number>(row: &[T]) -> Vec<Integer> {
    row.iter().map(Number::integer).collect()
}

/// Finds an integer point of `rows >= 0` with `vars` coordinates.
pub(super) fn point_of<T: Number>(
    rows: &[Vec<T>],
    vars: usize,
    floors: &Floors<T>,
    budget: &Budget,
) -> Result<Option<Vec<T>>, Error> {
    if T::COST == 1 {
        return solve(Problem::new(vars, Vec::new(), rows.to_vec()), floors, true, budget);
    }
    // What has become long elsewhere may be short here.
    let mut system = System::new(vars);
    rows.iter().for_each(|row| system.ineqs.push(&exact(row)));
    let floors: Vec<(usize, Div)> =
        floors.iter().map(|(col, floor)| (*col, floor.exact())).collect();
    let found = point(&system, &floors, budget)?;
    found.map(|point| point.iter().map(|v| fit(T::of(v))).collect()).transpose()
}

fn solve<T: Number>(
    mut problem: Problem<T>,
    floors: &Floors<T>,
    full: bool,
    budget: &Budget,
) -> Result<Option<Vec<T>>, Error> {
    let given = (!floors.is_empty()).then(|| (problem.eqs.clone(), problem.ineqs.clone()));
    loop {
        budget.spend(problem.ineqs.len() + problem.eqs.len())?;
        if !problem.solve_equations()? || !problem.tighten()? {
            return Ok(None);
        }
        if !problem.eqs.is_empty() {
            continue;
        }
        let mut simplex = problem.simplex(budget)?;
        if simplex.is_empty() {
            return Ok(None);
        }
        if let Some(y) = rounded(&simplex, &problem.ineqs)? {
            return problem.original(&y).map(Some);
        }
        if let Some((eqs, ineqs)) = &given
            && let Some(point) = repaired(&problem, &simplex, floors, (eqs, ineqs))?
        {
            return Ok(Some(point));
        }
        if let Some(y) = roomy(&problem, budget)? {
            return problem.original(&y).map(Some);
        }
        if !narrow_rows(&mut problem, &mut simplex, budget)? {
            break;
        }
    }
    let bounded = bounded_rows(&problem, budget)?;
    let given_basis = problem.clone();
    let dims = problem.triangulate(&bounded)?;
    if dims == given_basis.vars {
        // Every direction is bounded. Others than the given ones have longer numbers, and are
        // wider: a search that ends at once among a dozen divisions took seconds along them.
        problem = given_basis;
    }
    let rows = bounded.iter().map(|i| problem.ineqs[*i][..=dims].to_vec()).collect();
    let guess = |simplex: &Simplex<T>| match &given {
        Some((eqs, ineqs)) => repaired(&problem, simplex, floors, (eqs, ineqs)),
        None => Ok(None),
    };
    let mut y = match search(rows, dims, guess, budget)? {
        None => return Ok(None),
        Some(Found::Guess(x)) => return Ok(Some(x)),
        Some(Found::Point(y)) => y,
    };
    if full {
        extend(&problem, &bounded, &mut y, budget)?;
    }
    y.resize(problem.vars, T::zero());
    problem.original(&y).map(Some)
}

/// Rounds the sample point, if that satisfies all rows.
pub(super) fn rounded<T: Number>(
    simplex: &Simplex<T>,
    rows: &[Vec<T>],
) -> Result<Option<Vec<T>>, Error> {
    let sample = simplex.sample();
    let y: Vec<T> = sample.iter().map(|(num, den)| num.floor_div(den)).collect();
    for row in rows {
        if value(row, &y)?.sign() < 0 {
            return Ok(None);
        }
    }
    Ok(Some(y))
}

/// Rounds the sample point and sets the floors to what they are there, if that satisfies all.
fn repaired<T: Number>(
    problem: &Problem<T>,
    simplex: &Simplex<T>,
    floors: &Floors<T>,
    (eqs, ineqs): (&[Vec<T>], &[Vec<T>]),
) -> Result<Option<Vec<T>>, Error> {
    let mut sample = simplex.sample();
    sample.resize(problem.vars, (T::zero(), T::one()));
    for up in [false, true] {
        let mut y: Vec<T> = sample.iter().map(|(num, den)| num.floor_div(den)).collect();
        if up {
            y = ceilings(&sample)?;
        }
        let mut x = problem.original(&y)?;
        for (col, floor) in floors {
            x[*col] = value(&floor.num, &x)?.floor_div(&floor.den);
        }
        let holds = |row: &Vec<T>, equation: bool| {
            let sign = value(row, &x)?.sign();
            Ok::<_, Error>(sign == 0 || sign > 0 && !equation)
        };
        let mut all = true;
        for (row, equation) in
            eqs.iter().map(|row| (row, true)).chain(ineqs.iter().map(|row| (row, false)))
        {
            if !holds(row, equation)? {
                all = false;
                break;
            }
        }
        if all {
            return Ok(Some(x));
        }
    }
    Ok(None)
}

fn ceilings<T: Number>(sample: &[(T, T)]) -> Result<Vec<T>, Error> {
    let above = |(num, den): &(T, T)| fit(fit(num.opposite())?.floor_div(den).opposite());
    sample.iter().map(above).collect()
}

/// Finds a point where every constraint holds on a whole unit box, rounded up.
///
/// Nothing if there is none, which says nothing about other points.
fn roomy<T: Number>(problem: &Problem<T>, budget: &Budget) -> Result<Option<Vec<T>>, Error> {
    let mut simplex = Simplex::new(problem.vars);
    for row in &problem.ineqs {
        let mut row = row.clone();
        for index in 1..row.len() {
            if row[index].sign() < 0 {
                row[0] = fit(row[0].plus(&row[index]))?;
            }
        }
        simplex.add_inequality(&row, budget)?;
        if simplex.is_empty() {
            return Ok(None);
        }
    }
    ceilings(&simplex.sample()).map(Some)
}

/// Turns inequalities that stay below 1 into equations; says whether there were any.
fn narrow_rows<T: Number>(
    problem: &mut Problem<T>,
    simplex: &mut Simplex<T>,
    budget: &Budget,
) -> Result<bool, Error> {
    let mut narrow = Vec::new();
    for (index, row) in problem.ineqs.iter().enumerate() {
        if let Optimum::Value(num, den) = simplex.optimum(row, 1, budget)?
            && num < den
        {
            narrow.push(index);
        }
    }
    for index in narrow.iter().rev() {
        let row = problem.ineqs.swap_remove(*index);
        problem.eqs.push(row);
    }
    Ok(!narrow.is_empty())
}

/// Returns the inequalities that are bounded above on the polyhedron.
fn bounded_rows<T: Number>(problem: &Problem<T>, budget: &Budget) -> Result<Vec<usize>, Error> {
    let mut cone = Simplex::new(problem.vars);
    let homogeneous = |row: &Vec<T>| {
        let mut row = row.clone();
        row[0] = T::zero();
        row
    };
    for row in &problem.ineqs {
        cone.add_inequality(&homogeneous(row), budget)?;
    }
    let mut bounded = Vec::new();
    for (index, row) in problem.ineqs.iter().enumerate() {
        if cone.optimum(&homogeneous(row), 1, budget)? != Optimum::Unbounded {
            bounded.push(index);
        }
    }
    Ok(bounded)
}

/// Extends a point of the bounded image: the fibre over it contains arbitrarily large boxes.
fn extend<T: Number>(
    problem: &Problem<T>,
    bounded: &[usize],
    y: &mut Vec<T>,
    budget: &Budget,
) -> Result<(), Error> {
    let dims = y.len();
    let mut simplex = Simplex::new(problem.vars - dims);
    for (_, row) in problem.ineqs.iter().enumerate().filter(|(i, _)| !bounded.contains(i)) {
        let mut constant = value(&row[..=dims], y)?;
        for coefficient in row[1 + dims..].iter().filter(|v| v.sign() < 0) {
            constant = fit(constant.plus(coefficient))?;
        }
        let mut rest = vec![constant];
        rest.extend_from_slice(&row[1 + dims..]);
        simplex.add_inequality(&rest, budget)?;
    }
    for (num, den) in simplex.sample() {
        let floor = num.floor_div(&den);
        let whole = fit(floor.times(&den))? == num;
        y.push(if whole { floor } else { fit(floor.plus(&T::one()))? });
    }
    Ok(())
}
