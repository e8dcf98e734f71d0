//! Divisions whose value or remainder is known where the code runs.
//!
//! Where `0 <= t < 16` and `c = 2 q + 1`, `floor(t / 16)` is 0 and `2 floor(c / 2)` is `c - 1`.

use tangram_presburger::{Budget, Error, Relation, Relaxation};

use crate::ast::basic_set::{BasicSet, combine};
use crate::number::gcd;

/// Rows without the divisions that are known, over the columns of `cell`.
pub(in crate::ast) struct Settled {
    /// The divisions that are left; it has no rows.
    pub cell: BasicSet,
    /// Each column of before as a row over the columns of `cell`, and what to divide it by.
    columns: Vec<(Vec<i128>, i128)>,
}

impl Settled {
    /// Looks at the divisions of `cell` where `known` holds; nothing if none is known.
    ///
    /// A division may have the value of a form over columns that are `named`.
    pub fn of(
        cell: &BasicSet,
        known: &BasicSet,
        named: impl Fn(usize) -> bool,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        if cell.part.divisions.is_empty() {
            return Ok(None);
        }
        let mut context = BasicSet::universe(cell.vars);
        let to = context.import(&cell.part.divisions);
        context.join(&known.widened(cell.vars));
        let equations = Equations::of(&context)?;
        let mut relaxation: Option<Relaxation> = None;
        let unit = |col: usize| (0..=col).map(|c| i128::from(c == col)).collect::<Vec<_>>();
        let mut settled = Self {
            cell: BasicSet::universe(cell.vars),
            columns: (0..=cell.vars).map(|col| (unit(col), 1)).collect(),
        };
        let mut any = false;
        for division in &cell.part.divisions {
            let modulus = division.denominator;
            let mut form = vec![0; context.cols()];
            for (value, target) in division.numerator.iter().zip(&to) {
                form[*target] += value;
            }
            let (mut row, den) = settled.row(&division.numerator)?;
            let den = den.checked_mul(modulus).ok_or(Error::Overflow)?;
            let rest = equations.reduced(&form)?;
            let column = if rest[1..].iter().all(|v| v % modulus == 0) {
                // The numerator is known up to multiples: without the rest it divides exactly.
                row[0] -= rest[0].rem_euclid(modulus) * (den / modulus);
                lowest(row, den)
            } else {
                if relaxation.is_none() {
                    relaxation = Some(context.relaxation(budget)?);
                }
                let value = match &mut relaxation {
                    Some(all) => only_quotient(all, &form, modulus, budget)?,
                    None => None,
                };
                let value = match (value, &mut relaxation) {
                    (Some(value), _) => Some(vec![value]),
                    (None, Some(all)) => {
                        let found = quotient(all, &context, &form, modulus, budget)?;
                        found.filter(|row| (1..row.len()).all(|c| row[c] == 0 || named(c)))
                    }
                    (None, None) => None,
                };
                match value {
                    Some(value) => (value, 1),
                    None => {
                        let (row, den) = lowest(row, den);
                        (unit(settled.cell.division(&row, den)), 1)
                    }
                }
            };
            any |= column.1 != 1 || column.0.len() <= 1 + cell.vars;
            settled.columns.push(column);
        }
        Ok(any.then_some(settled))
    }

    /// Rewrites a row; the value is the row returned, divided by the number, without a rest.
    pub fn row(&self, row: &[i128]) -> Result<(Vec<i128>, i128), Error> {
        let (mut sum, mut den) = (vec![0; self.cell.cols()], 1);
        for (factor, (column, own)) in row.iter().zip(&self.columns).filter(|(f, _)| **f != 0) {
            let common = own / gcd(*own, den) * den;
            let factor = factor.checked_mul(common / own).ok_or(Error::Overflow)?;
            sum = combine(common / den, &sum, factor, column)?;
            den = common;
        }
        sum.resize(self.cell.cols(), 0);
        Ok(lowest(sum, den))
    }
}

/// Says of remainders what outer dimensions say, where `known` tells those of inner ones.
///
/// With `c2 = c0 + 2 q`, whether `c2 - c1` is even is whether `c0 - c1` is, which can be asked
/// before the loop over `c2`.
pub(in crate::ast) fn outermost(guard: &Relation, known: &BasicSet) -> Result<Relation, Error> {
    let equations = Equations::of(known)?;
    let mut cells = BasicSet::all_of(guard)?;
    if equations.rows.is_empty() || cells.iter().any(|cell| cell.vars != known.vars) {
        return Ok(guard.clone());
    }
    let mut changed = false;
    for cell in &mut cells {
        for index in 0..cell.part.equalities.len() {
            let Some((form, modulus)) = cell.remainder(index) else { continue };
            let mut outer = equations.reduced(&form)?;
            if outer[1 + cell.vars..].iter().any(|v| v % modulus != 0) {
                continue;
            }
            outer.truncate(1 + cell.vars);
            outer[1..].iter_mut().filter(|v| **v % modulus == 0).for_each(|v| *v = 0);
            let last = |row: &[i128]| row.iter().rposition(|v| *v != 0);
            if last(&outer) < last(&form) {
                let division = cell.division(&outer, modulus);
                outer.resize(cell.cols(), 0);
                outer[division] = -modulus;
                cell.part.equalities[index] = outer;
                changed = true;
            }
        }
    }
    if !changed {
        return Ok(guard.clone());
    }
    let parts: Vec<_> = cells.into_iter().map(|cell| cell.without_idle_divisions().part).collect();
    Relation::from_conjunctions(guard.space().clone(), &parts)
}

impl BasicSet {
    /// Reads an equation `f - m floor(f / m) = 0`, where `f` has no divisions.
    fn remainder(&self, index: usize) -> Option<(Vec<i128>, i128)> {
        let (row, first) = (&self.part.equalities[index], 1 + self.vars);
        let mut used = (first..row.len()).filter(|col| row[*col] != 0);
        let (Some(col), None) = (used.next(), used.next()) else { return None };
        let division = &self.part.divisions[col - first];
        let sign = -row[col].signum();
        let form: Vec<i128> = row[..first].iter().map(|v| v * sign).collect();
        let alone = division.numerator[first..].iter().all(|v| *v == 0);
        (alone && row[col].abs() == division.denominator && form[..] == division.numerator[..first])
            .then_some((form, division.denominator))
    }
}

/// Divides a row and a number by what they share.
fn lowest(mut row: Vec<i128>, den: i128) -> (Vec<i128>, i128) {
    let g = row.iter().fold(den, |g, v| gcd(g, *v)).max(1);
    row.iter_mut().for_each(|v| *v /= g);
    (row, den / g)
}

/// Returns the only value of `floor(form / modulus)`, if there is one.
fn only_quotient(
    relaxation: &mut Relaxation,
    form: &[i128],
    modulus: i128,
    budget: &Budget,
) -> Result<Option<i128>, Error> {
    if relaxation.is_empty() {
        return Ok(None);
    }
    let (Some(least), Some(most)) = relaxation.range(form, budget)? else { return Ok(None) };
    let ends = least.to_i128().zip(most.to_i128());
    let ends = ends.map(|(a, b)| (a.div_euclid(modulus), b.div_euclid(modulus)));
    Ok(ends.filter(|(a, b)| a == b).map(|(a, _)| a))
}

/// Returns the form that is `floor(form / modulus)`, if two bounds `modulus` apart say so.
///
/// Where `32 a <= x <= 32 a + 31`, `floor(x / 32)` is `a`.
fn quotient(
    relaxation: &mut Relaxation,
    context: &BasicSet,
    form: &[i128],
    modulus: i128,
    budget: &Budget,
) -> Result<Option<Vec<i128>>, Error> {
    if relaxation.is_empty() {
        return Ok(None);
    }
    for row in &context.part.inequalities {
        // form - row is a multiple of the modulus, up to a constant of the row.
        let rest = combine(1, form, -1, row)?;
        if rest[1..].iter().any(|v| v % modulus != 0)
            || rest[1 + context.vars..].iter().any(|v| *v != 0)
            || rest[1..].iter().all(|v| *v == 0)
        {
            continue;
        }
        let mut value: Vec<i128> = rest[..=context.vars].iter().map(|v| v / modulus).collect();
        value[0] = rest[0].div_euclid(modulus);
        let low = combine(1, form, -modulus, &value)?;
        let mut high = combine(-1, &low, 0, &low)?;
        high[0] += modulus - 1;
        if relaxation.implies(&low, budget)? && relaxation.implies(&high, budget)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Equations, each solved for a column that no later one has.
struct Equations {
    rows: Vec<(usize, Vec<i128>)>,
}

impl Equations {
    fn of(cell: &BasicSet) -> Result<Self, Error> {
        let mut result = Self { rows: Vec::new() };
        for row in &cell.part.equalities {
            let row = result.reduced(row)?;
            if let Some(col) = (1..=cell.vars).rev().find(|col| row[*col].abs() == 1) {
                result.rows.push((col, row));
            }
        }
        Ok(result)
    }

    /// Puts in for columns what the equations say they are.
    fn reduced(&self, row: &[i128]) -> Result<Vec<i128>, Error> {
        let mut row = row.to_vec();
        for (col, equation) in &self.rows {
            if row[*col] != 0 {
                row = combine(1, &row, -row[*col] * equation[*col], equation)?;
            }
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conjunction, Division};
    use tangram_presburger::{Space, Tuple};

    /// `[c0, c1, c2]` where the equation `row = 0` over a division holds.
    fn divided(numerator: [i128; 4], row: [i128; 5]) -> BasicSet {
        let divisions = vec![Division { numerator: numerator.to_vec(), denominator: 2 }];
        let equalities = vec![row.to_vec()];
        BasicSet { vars: 3, part: Conjunction { divisions, equalities, ..Conjunction::default() } }
    }

    #[test]
    fn a_remainder_of_an_inner_loop_is_one_of_an_outer_loop() {
        // c2 = c0 + 2 q is known; c2 - c1 is asked to be even.
        let known = divided([0, -1, 0, 1], [0, -1, 0, 1, -2]);
        let guard = divided([0, 0, -1, 1], [0, 0, -1, 1, -2]);
        let space = Space::set(Vec::new(), Tuple::anonymous(3));
        let guard = guard.relation(space.clone()).expect("a set");
        let outer = outermost(&guard, &known).expect("small");
        let mut cells = BasicSet::all_of(&outer).expect("small");
        let cell = cells.pop().expect("a disjunct");
        assert_eq!(cell.part.equalities[0][3], 0, "the innermost loop is asked: {outer}");
        // Both conditions say the same where it is known.
        let budget = Budget::unlimited();
        let here = known.relation(space).expect("a set");
        let [a, b] = [guard, outer].map(|set| set.intersect(&here, &budget).expect("small"));
        assert!(a.is_equal(&b, &budget).expect("small"));
        assert!(!a.is_equal(&here, &budget).expect("small"), "it asks for something");
    }
}
