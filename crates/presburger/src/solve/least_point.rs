//! Least points of systems without parameters.

use std::sync::Arc;

use num_bigint::BigInt;

use crate::solve::least::Tableau;
use crate::solve::number::{Number, fit};
use crate::{Budget, Error, Integer};

/// A system over unknowns that are not negative, whose lexicographically least integer point is
/// asked for again and again as rows come in.
///
/// What was found stays: a further row costs the few pivots that bring the point to where the row
/// holds. A clone is a place to come back to. The point is that of a
/// [`Relation`](crate::Relation) without parameters, found without making one.
#[derive(Debug, Clone)]
pub struct LeastPoint {
    vars: usize,
    rows: Vec<Row>,
    /// How many rows the tableau has.
    entered: usize,
    tableau: Width,
}

#[derive(Debug, Clone)]
struct Row {
    form: Arc<[Integer]>,
    equation: bool,
}

/// The tableau in the narrowest integers that hold it.
#[derive(Debug, Clone)]
enum Width {
    Word(Tableau<i64>),
    Double(Tableau<i128>),
    Any(Tableau<BigInt>),
}

impl LeastPoint {
    /// Makes a system of `vars` unknowns without rows.
    pub fn new(vars: usize) -> Self {
        Self { vars, rows: Vec::new(), entered: 0, tableau: Width::Word(Tableau::new(vars)) }
    }

    /// Adds a row `[constant, unknowns..]` that is not negative at a point.
    ///
    /// # Errors
    /// [`Error::Row`] if it does not have a number per column.
    pub fn add_inequality(&mut self, row: Arc<[Integer]>) -> Result<(), Error> {
        self.add(row, false)
    }

    /// Adds a row `[constant, unknowns..]` that is 0 at a point.
    ///
    /// # Errors
    /// [`Error::Row`] if it does not have a number per column.
    pub fn add_equation(&mut self, row: Arc<[Integer]>) -> Result<(), Error> {
        self.add(row, true)
    }

    fn add(&mut self, form: Arc<[Integer]>, equation: bool) -> Result<(), Error> {
        let expected = 1 + self.vars;
        if form.len() != expected {
            return Err(Error::Row { expected, found: form.len() });
        }
        self.rows.push(Row { form, equation });
        Ok(())
    }

    /// Finds the least point; nothing if there is none, or with a `limit` none before it.
    ///
    /// # Errors
    /// What stops the budget. A system without a bound whose points are all fractions may be
    /// cut until then.
    pub fn find(
        &mut self,
        limit: Option<&[Integer]>,
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        self.solve(limit, true, budget)
    }

    /// As [`Self::find`], of points that need not be integer ones: `[denominator, numerators..]`.
    ///
    /// What rows come in because that point breaks them need not be cut out first.
    ///
    /// # Errors
    /// What stops the budget.
    pub fn find_relaxed(
        &mut self,
        limit: Option<&[Integer]>,
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        self.solve(limit, false, budget)
    }

    fn solve(
        &mut self,
        limit: Option<&[Integer]>,
        integer: bool,
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        loop {
            let rows = &self.rows[self.entered..];
            let found = match &mut self.tableau {
                Width::Word(tableau) => run(tableau, rows, limit, integer, budget),
                Width::Double(tableau) => run(tableau, rows, limit, integer, budget),
                Width::Any(tableau) => run(tableau, rows, limit, integer, budget),
            };
            if matches!(found, Err(Error::Overflow)) {
                // Stopped half way; there is nothing to go on from.
                self.entered = 0;
                self.tableau = match self.tableau {
                    Width::Word(_) => Width::Double(Tableau::new(self.vars)),
                    _ => Width::Any(Tableau::new(self.vars)),
                };
                continue;
            }
            self.entered = self.rows.len();
            return found;
        }
    }
}

fn run<T: Number>(
    tableau: &mut Tableau<T>,
    rows: &[Row],
    limit: Option<&[Integer]>,
    integer: bool,
    budget: &Budget,
) -> Result<Option<Vec<Integer>>, Error> {
    for row in rows {
        tableau.add(&row.form, row.equation, budget)?;
    }
    let narrow = |limit: &[Integer]| -> Result<Vec<T>, Error> {
        limit.iter().map(|value| fit(T::of(value))).collect()
    };
    let limit = limit.map(narrow).transpose()?;
    let limit = limit.as_deref();
    if integer { tableau.least(limit, budget) } else { tableau.relaxed(limit, budget) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conjunction, Relation, Space, Tuple};

    fn row(numbers: &[i64]) -> Arc<[Integer]> {
        numbers.iter().map(|v| Integer::from(*v)).collect()
    }

    /// Compares with the least point of the set of all points, in two halves of the rows.
    fn check(vars: usize, rows: &[Vec<i64>], equations: &[Vec<i64>]) -> Option<Vec<Integer>> {
        let budget = Budget::unlimited();
        let unit = |v| (0..=vars).map(|col| i64::from(col == v)).collect();
        let inequalities = rows.iter().cloned().chain((1..=vars).map(unit)).collect();
        let equalities = equations.to_vec();
        let part = Conjunction { inequalities, equalities, ..Conjunction::default() };
        let space = Space::set(Vec::new(), Tuple::anonymous(vars));
        let set = Relation::from_conjunctions(space, &[part]).expect("a set");
        let least = set.lexmin(&budget).and_then(|set| set.sample(&budget)).expect("a point");
        let mut system = LeastPoint::new(vars);
        let (first, second) = rows.split_at(rows.len() / 2);
        for numbers in first {
            system.add_inequality(row(numbers)).expect("as long");
        }
        let mut early = system.clone();
        let before = early.find(None, &budget).expect("small");
        for system in [&mut system, &mut early] {
            equations.iter().for_each(|e| system.add_equation(row(e)).expect("as long"));
            second.iter().for_each(|r| system.add_inequality(row(r)).expect("as long"));
            let found = system.clone().find(None, &budget).expect("small");
            assert_eq!(found, least, "{rows:?} {equations:?}");
            if let Some(point) = &least {
                assert!(before.as_ref().is_some_and(|before| before <= point));
                let found = system.clone().find(Some(point), &budget).expect("small");
                assert_eq!(found, None, "no point is before the least one");
                let mut behind = point.clone();
                behind[vars - 1] = behind[vars - 1].add(&Integer::ONE);
                let found = system.find(Some(&behind), &budget).expect("small");
                assert_eq!(found, least);
            }
        }
        least
    }

    #[test]
    fn fractions_are_cut_off() {
        let least = check(2, &[vec![-7, 2, 4]], &[]);
        assert_eq!(least, Some(vec![0.into(), 2.into()]));
        assert_eq!(check(2, &[vec![-7, 3, 5], vec![7, -3, -5]], &[]), None);
        assert_eq!(check(2, &[], &[vec![-11, 3, 5]]), Some(vec![2.into(), 1.into()]));
        assert_eq!(check(1, &[vec![-1, 2], vec![1, -2]], &[]), None);
        assert_eq!(check(3, &[], &[]), Some(vec![Integer::ZERO; 3]));
    }

    #[test]
    fn random_systems_have_the_least_point_of_their_sets() {
        let mut state = 7_u64;
        let mut random = move |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % bound) as i64
        };
        let mut points = 0;
        for turn in 0..300 {
            let vars = 2 + random(3) as usize;
            let mut some = |count: i64, constant: i64| -> Vec<Vec<i64>> {
                let number = |col| random(9) - if col == 0 { constant } else { 3 };
                let row = |number: &mut dyn FnMut(usize) -> i64| (0..=vars).map(number).collect();
                let mut number = number;
                (0..count).map(|_| row(&mut number)).collect()
            };
            let equations = some(i64::from(turn % 3 == 0), 4);
            let mut rows = some(2 + turn % 4, 7);
            // A bound for all: infeasible systems without one may be cut forever.
            rows.push((0..=vars).map(|col| if col == 0 { 20 } else { -1 }).collect());
            points += usize::from(check(vars, &rows, &equations).is_some());
        }
        assert!((50..250).contains(&points), "{points} systems have a point");
    }

    #[test]
    fn large_numbers_are_exact() {
        let large = i64::MAX / 3;
        let mut system = LeastPoint::new(3);
        for numbers in [[-large, 2, -large, 5], [-7, 1, large, -3], [-1, -large, 5, large]] {
            system.add_inequality(row(&numbers)).expect("as long");
        }
        let found = system.find(None, &Budget::steps(1_000_000)).expect("few pivots");
        let values = found.expect("a point");
        for numbers in [[-large, 2, -large, 5], [-7, 1, large, -3], [-1, -large, 5, large]] {
            let terms = numbers[1..].iter().zip(&values);
            let sum = terms.fold(Integer::from(numbers[0]), |sum, (factor, value)| {
                sum.add(&Integer::from(*factor).mul(value))
            });
            assert!(sum >= Integer::ZERO, "{numbers:?} at {values:?}");
        }
    }

    #[test]
    fn short_rows_are_refused() {
        let wrong = LeastPoint::new(2).add_inequality(row(&[1, 1]));
        assert_eq!(wrong, Err(Error::Row { expected: 3, found: 2 }));
    }
}
