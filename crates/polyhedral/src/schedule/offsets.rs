//! The constants of statements that share coefficients.
//!
//! Once the coefficients of a schedule row are chosen, each pair asks only for the constant of
//! its sink to be some number more than that of its source. The least constants are lengths of
//! longest paths. Around a cycle that adds up to more than 0 there are none, and the forms of its
//! pairs, added up without the constants, are a row that the coefficients break.
//!
//! # Source
//! R. Bellman, "On a routing problem" (1958); cuts from cycles as in J. Benders, "Partitioning
//! procedures for solving mixed-variables programming problems" (1962).

use tangram_presburger::Budget;

use super::Error;
use super::linear::{dot, reduce};
use crate::number::gcd;

/// `form` plus `scale` times the constant of `to` less that of `from` is not negative.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    from: usize,
    to: usize,
    form: Vec<i128>,
    /// More than 0.
    scale: i128,
}

/// What a point leaves of the constants.
pub(super) enum Offsets {
    /// The least ones, none negative.
    Least(Vec<i128>),
    /// There are none: forms that would have to be not negative.
    Cycles(Vec<Vec<i128>>),
}

/// A pair that asks for its sink's constant to be at least `length` more than its source's.
struct Arrow {
    from: usize,
    to: usize,
    length: i128,
}

impl Difference {
    /// `scale` is not 0.
    pub fn new(form: Vec<i128>, from: usize, to: usize, scale: i128) -> Self {
        let (from, to) = if scale < 0 { (to, from) } else { (from, to) };
        Self { from, to, form, scale: scale.abs() }
    }
}

/// Finds the least constants of `statements` for a point `[1, values..]` of the unknowns.
///
/// At most as many steps as statements times differences; a few for each difference where those
/// come in the order of the statements.
pub(super) fn potentials(
    differences: &[Difference],
    statements: usize,
    point: &[i128],
    budget: &Budget,
) -> Result<Offsets, Error> {
    if differences.is_empty() {
        return Ok(Offsets::Least(Vec::new()));
    }
    let mut arrows = Vec::with_capacity(differences.len());
    for difference in differences {
        let value = dot(&difference.form, point)?;
        let length = -value.div_euclid(difference.scale);
        arrows.push(Arrow { from: difference.from, to: difference.to, length });
    }
    let mut least = vec![0_i128; statements];
    let mut by = vec![None; statements];
    loop {
        budget.spend(arrows.len())?;
        let mut changed = false;
        for (index, arrow) in arrows.iter().enumerate() {
            let reached = least[arrow.from].checked_add(arrow.length);
            let reached = reached.ok_or(tangram_presburger::Error::Overflow)?;
            if reached > least[arrow.to] {
                least[arrow.to] = reached;
                by[arrow.to] = Some(index);
                changed = true;
            }
        }
        if !changed {
            return Ok(Offsets::Least(least));
        }
        let cycles = cycles(&arrows, &by);
        if !cycles.is_empty() {
            let sums = cycles.iter().map(|cycle| sum(differences, cycle));
            return Ok(Offsets::Cycles(sums.collect::<Result<_, _>>()?));
        }
    }
}

/// Finds the cycles of arrows by which statements were last reached.
fn cycles(arrows: &[Arrow], by: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut walk = vec![0; by.len()];
    let mut found = Vec::new();
    for start in 0..by.len() {
        let mut at = start;
        while walk[at] == 0 {
            walk[at] = start + 1;
            let Some(index) = by[at] else { break };
            at = arrows[index].from;
        }
        // A walk that ends where it has been itself has gone around.
        if walk[at] == start + 1
            && let Some(first) = by[at]
        {
            let mut cycle = vec![first];
            let mut next = arrows[first].from;
            while next != at {
                let Some(index) = by[next] else { break };
                cycle.push(index);
                next = arrows[index].from;
            }
            found.push(cycle);
        }
    }
    found
}

/// Adds up the forms of a cycle, scaled so that the constants go away.
fn sum(differences: &[Difference], cycle: &[usize]) -> Result<Vec<i128>, Error> {
    let overflow = tangram_presburger::Error::Overflow;
    let mut common = 1_i128;
    for index in cycle {
        let scale = differences[*index].scale;
        common = common.checked_mul(scale / gcd(common, scale)).ok_or(overflow.clone())?;
    }
    let mut total = vec![0_i128; cycle.first().map_or(0, |i| differences[*i].form.len())];
    for index in cycle {
        let Difference { form, scale, .. } = &differences[*index];
        for (total, value) in total.iter_mut().zip(form) {
            let term = value.checked_mul(common / scale).and_then(|term| total.checked_add(term));
            *total = term.ok_or(overflow.clone())?;
        }
    }
    reduce(&mut total);
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x + c(to) - c(from) + add >= 0` over one unknown `x`.
    fn difference(from: usize, to: usize, add: i128, times: i128) -> Difference {
        Difference::new(vec![add, times], from, to, 1)
    }

    #[test]
    fn constants_are_the_lengths_of_longest_paths() {
        let all = [difference(0, 1, -2, 0), difference(1, 2, -3, 0), difference(0, 2, -4, 0)];
        let Ok(Offsets::Least(found)) = potentials(&all, 3, &[1, 0], &Budget::unlimited()) else {
            panic!("there are constants")
        };
        assert_eq!(found, [0, 2, 5]);
    }

    #[test]
    fn a_cycle_that_cannot_be_closed_asks_for_more() {
        // Two steps of 3 and back by x: x must be at least 6.
        let all = [difference(0, 1, -3, 0), difference(1, 2, -3, 0), difference(2, 0, 0, 1)];
        let Ok(Offsets::Cycles(found)) = potentials(&all, 3, &[1, 5], &Budget::unlimited()) else {
            panic!("there are none")
        };
        assert_eq!(found, [vec![-6, 1]]);
        let enough = potentials(&all, 3, &[1, 6], &Budget::unlimited());
        assert!(matches!(enough, Ok(Offsets::Least(least)) if least == [0, 3, 6]));
    }
}
