//! Remainders that few values are excluded from: all points less those with one of these.
//!
//! `i mod 7 != 0` is a floor and a bound on it. Counted as it stands, the floor is a further
//! dimension of the polytope, whose corners have cones of great index; without the bound it is
//! gone, and where `i mod 7 = 0` an equation takes a dimension away. A count of the points that
//! several such conditions leave is a sum over the sets of conditions that are broken.

use crate::count::piecewise::Pieces;
use crate::count::quasi_polynomial::guard::Guard;
use crate::{Budget, Error, Integer};

/// Fewer of these conditions are no trouble as they stand.
const FEW: usize = 3;

/// The most sums in the place of one.
const SUMS: usize = 2048;

/// A condition that excludes `values` of `numerator - divisor * floor`, which a row holds.
struct Excluded {
    row: usize,
    /// The row of the remainder, over variables and floors.
    remainder: Vec<Integer>,
    values: Vec<Integer>,
}

/// Splits the points of a guard by conditions on remainders; a summand with `true` is subtracted.
///
/// Nothing if there are few such conditions, or they exclude many values.
pub(in crate::count) fn without_exclusions(
    guard: &Guard,
    budget: &Budget,
) -> Result<Option<Vec<(Guard, bool)>>, Error> {
    let mut all: Vec<Excluded> = Vec::new();
    for floor in 0..guard.floors.all.len() {
        all.extend(excluded(guard, floor));
    }
    let ways = all.iter().fold(1_usize, |ways, one| ways.saturating_mul(1 + one.values.len()));
    if all.len() <= FEW || ways > SUMS {
        return Ok(None);
    }
    let mut base = guard.clone();
    let rows: Vec<usize> = all.iter().map(|one| one.row).collect();
    let left = guard.ineqs.iter().enumerate().filter(|(at, _)| !rows.contains(at));
    base.ineqs = left.map(|(_, row)| row.clone()).collect();
    let mut sums = vec![(base, false)];
    for Excluded { remainder, values, .. } in &all {
        for at in 0..sums.len() {
            for value in values {
                budget.spend(guard.ineqs.len() + guard.floors.all.len())?;
                let (mut broken, subtracted) = sums[at].clone();
                let mut row = remainder.clone();
                row[0] = row[0].sub(value);
                broken.zero_row(row);
                if !broken.never {
                    sums.push((broken, !subtracted));
                }
            }
        }
    }
    Ok(Some(sums.into_iter().map(|(guard, minus)| (guard.tidied(), minus)).collect()))
}

/// Finds the row that is all that uses a floor, if it excludes few values of the remainder.
fn excluded(guard: &Guard, floor: usize) -> Option<Excluded> {
    let column = 1 + guard.floors.vars + floor;
    let uses = |row: &[Integer]| row.get(column).is_some_and(|value| !value.is_zero());
    let div = &guard.floors.all[floor];
    let inner = guard.floors.all[floor + 1..].iter().any(|other| uses(&other.num));
    if inner || guard.eqs.iter().any(|row| uses(row)) {
        return None;
    }
    let mut rows = guard.ineqs.iter().enumerate().filter(|(_, row)| uses(row));
    let (Some((at, row)), None) = (rows.next(), rows.next()) else { return None };
    let mut remainder = div.num.clone();
    remainder.resize(column, Integer::ZERO);
    remainder.push(div.den.neg());
    let same = row.len() == remainder.len() && row[1..] == remainder[1..];
    let opposite = row.len() == remainder.len()
        && row.iter().zip(&remainder).skip(1).all(|(a, b)| *a == b.neg());
    // The row is the remainder, or its opposite, and a number.
    let excluded = match (same, opposite) {
        (true, _) => Integer::ZERO..remainder[0].sub(&row[0]),
        (_, true) => row[0].add(&remainder[0]).add(&Integer::ONE)..div.den.clone(),
        _ => return None,
    };
    let count =
        excluded.end.sub(&excluded.start).to_i64().filter(|count| (1..=4).contains(count))?;
    if div.den <= count + count {
        return None;
    }
    let values = (0..count).map(|by| excluded.start.add(&Integer::from(by))).collect();
    Some(Excluded { row: at, remainder, values })
}

/// Gives each summand its sign.
pub(in crate::count) fn signed(pieces: Pieces, subtracted: bool) -> Pieces {
    match subtracted {
        true => pieces.scale(&crate::Rational::from(-1)),
        false => pieces,
    }
}
