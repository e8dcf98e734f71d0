//! Least points of systems without parameters.

use crate::solve::lexmin::{Query, lexmin};
use crate::{Budget, Error, Integer};

/// Finds the lexicographically least integer point whose coordinates are not negative.
///
/// Rows `[constant, variables..]` are not negative at it. It is the least point of a
/// [`Relation`](crate::Relation) without parameters, found without making one.
///
/// # Errors
/// [`Error::Row`] if a row does not have a number per column; and what stops the budget.
pub fn least_point<T: Into<Integer>>(
    vars: usize,
    rows: Vec<Vec<T>>,
    budget: &Budget,
) -> Result<Option<Vec<Integer>>, Error> {
    let expected = 1 + vars;
    if let Some(row) = rows.iter().find(|row| row.len() != expected) {
        return Err(Error::Row { expected, found: row.len() });
    }
    let whole = |row: Vec<T>| row.into_iter().map(T::into).collect();
    let rows = rows.into_iter().map(whole).collect();
    let query = Query { unknowns: vars, rows, natural: true, ..Query::default() };
    let pieces = lexmin(&query, budget)?;
    let minimum = pieces.into_iter().next().map(|piece| piece.values);
    Ok(minimum.map(|rows| rows.into_iter().map(|mut row| row.swap_remove(0)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conjunction, Relation, Space, Tuple};

    /// Compares with the least point of the set of all points.
    fn check(vars: usize, rows: Vec<Vec<i64>>) -> Option<Vec<Integer>> {
        let budget = Budget::unlimited();
        let unit = |v| (0..=vars).map(|col| i64::from(col == v)).collect();
        let inequalities = rows.iter().cloned().chain((1..=vars).map(unit)).collect();
        let part = Conjunction { inequalities, ..Conjunction::default() };
        let space = Space::set(Vec::new(), Tuple::anonymous(vars));
        let set = Relation::from_conjunctions(space, &[part]).expect("a set");
        let least = set.lexmin(&budget).and_then(|set| set.sample(&budget)).expect("a point");
        let found = least_point(vars, rows.clone(), &budget).expect("small");
        assert_eq!(found, least, "{rows:?}");
        found
    }

    #[test]
    fn fractions_are_cut_off() {
        assert_eq!(check(2, vec![vec![-7, 2, 4]]), Some(vec![0.into(), 2.into()]));
        assert_eq!(check(2, vec![vec![-7, 3, 5], vec![7, -3, -5]]), None);
        assert_eq!(check(1, vec![vec![-1, 2], vec![1, -2]]), None);
        assert_eq!(check(3, Vec::new()), Some(vec![Integer::ZERO; 3]));
    }

    #[test]
    fn random_systems_have_the_least_point_of_their_sets() {
        let mut state = 7_u64;
        let mut random = move |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % bound) as i64
        };
        let mut points = 0;
        for _ in 0..300 {
            let vars = 2 + random(3) as usize;
            let mut rows: Vec<Vec<i64>> = (0..2 + random(4))
                .map(|_| (0..=vars).map(|col| random(9) - if col == 0 { 7 } else { 3 }).collect())
                .collect();
            // A bound for all: infeasible systems without one may be cut forever.
            rows.push((0..=vars).map(|col| if col == 0 { 20 } else { -1 }).collect());
            points += usize::from(check(vars, rows).is_some());
        }
        assert!((50..250).contains(&points), "{points} systems have a point");
    }

    #[test]
    fn short_rows_are_refused() {
        let wrong = least_point(2, vec![vec![1, 1]], &Budget::unlimited());
        assert_eq!(wrong, Err(Error::Row { expected: 3, found: 2 }));
    }
}
