//! The search for the least schedule row, from where another one has come.
//!
//! A dependence has a row for each vertex of its polyhedron, and few of them matter. So rows are
//! generated lazily: the least point of those so far is put to all others, the rows that it breaks
//! most enter, and the least point is found again from where it was. A band's second row is a
//! branch of the search for its first, with one more row that makes it independent.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use tangram_presburger::{Budget, Integer, LeastPoint, narrow};

use super::Error;
use super::integer_program::{Program, Solution};
use super::linear::dot;
use super::offsets::{Offsets, potentials};

/// So few rows are looked at at once.
const FEW: usize = 64;

/// A program of which some rows have been looked at.
///
/// Dependences have a row for each vertex, of which few matter: rows enter when the least
/// point of those so far breaks them. A point that breaks none is the least of all. A clone is a
/// branch: what it adds is its own, and what has been worked out so far is not worked out again.
/// Where statements share coefficients, a point also has to leave room for their constants; where
/// it does not, a cycle of statements says so, and what it asks of the coefficients is a row.
#[derive(Debug, Clone)]
pub(super) struct Search<'a> {
    pub program: Rc<Program<'a>>,
    least: LeastPoint,
    /// Places of the rows that have not entered, ascending.
    waiting: Vec<usize>,
    /// What cycles of statements have asked for.
    cycles: Vec<Vec<i128>>,
}

impl<'a> Search<'a> {
    pub fn new(program: Rc<Program<'a>>) -> Result<Self, Error> {
        let waiting = (0..program.held.len()).collect();
        let mut search =
            Self { least: LeastPoint::new(program.vars), program, waiting, cycles: Vec::new() };
        let program = Rc::clone(&search.program);
        program.definite.iter().try_for_each(|form| search.add(form, false))?;
        if program.held.len() <= FEW {
            search.enter(|_| true)?;
        }
        Ok(search)
    }

    /// Adds a row that is not negative, or is 0 for an equation.
    fn add(&mut self, form: &[i128], equation: bool) -> Result<(), Error> {
        let form: Arc<[Integer]> = form.iter().map(|v| Integer::from(*v)).collect();
        let least = &mut self.least;
        Ok(if equation { least.add_equation(form) } else { least.add_inequality(form) }?)
    }

    /// Adds some of the rows that wait.
    fn enter(&mut self, chosen: impl Fn(usize) -> bool) -> Result<(), Error> {
        let program = Rc::clone(&self.program);
        let (entering, waiting) = self.waiting.iter().partition(|at| chosen(**at));
        self.waiting = waiting;
        let entering: Vec<usize> = entering;
        entering.into_iter().try_for_each(|at| {
            let held = &program.held[at];
            self.add(&held.form, held.equation)
        })
    }

    /// Lets the rows enter that have entered another search of the program.
    pub fn learn(&mut self, other: &Self) -> Result<(), Error> {
        for cycle in &other.cycles {
            self.add_cycle(cycle)?;
        }
        if self.waiting.len() == other.waiting.len() {
            return Ok(());
        }
        self.enter(|at| other.waiting.binary_search(&at).is_err())
    }

    /// Adds what a cycle asks for; false if it is known.
    fn add_cycle(&mut self, form: &[i128]) -> Result<bool, Error> {
        if self.cycles.iter().any(|known| known == form) {
            return Ok(false);
        }
        self.cycles.push(form.to_vec());
        self.add(form, false).map(|()| true)
    }

    /// The row changes along a direction by at least `sign`, or does not for 0.
    pub fn advance(
        &mut self,
        statement: usize,
        direction: &[i128],
        sign: i128,
    ) -> Result<(), Error> {
        let mut form = self.program.change(statement, direction);
        if sign < 0 {
            form.iter_mut().for_each(|v| *v = -*v);
        }
        form[0] = -sign.abs();
        self.add(&form, sign == 0)
    }

    /// The rows of all statements change along none of their directions backwards, and along one
    /// of them. What statements ask for together enters once.
    pub fn advance_some(
        &mut self,
        statements: &[usize],
        open: &[Vec<Vec<i128>>],
    ) -> Result<(), Error> {
        let mut forms = BTreeSet::new();
        let program = Rc::clone(&self.program);
        let open = statements.iter().zip(open);
        for (statement, directions) in open.filter(|(_, directions)| !directions.is_empty()) {
            let mut sum = vec![0; 1 + program.vars];
            sum[0] = -1;
            for direction in directions {
                let form = program.change(*statement, direction);
                sum.iter_mut().zip(&form).for_each(|(total, value)| *total += value);
                if forms.insert(form.clone()) {
                    self.add(&form, false)?;
                }
            }
            if forms.insert(sum.clone()) {
                self.add(&sum, false)?;
            }
        }
        Ok(())
    }

    /// Finds the least solution; nothing if there is none, or with a `limit` none before it.
    pub fn solve(
        &mut self,
        limit: Option<&Solution>,
        budget: &Budget,
    ) -> Result<Option<Solution>, Error> {
        let limit: Option<Vec<Integer>> =
            limit.map(|limit| limit.values.iter().map(|v| Integer::from(*v)).collect());
        loop {
            // Rows that a fraction breaks already need not wait for it to be cut off.
            let Some(point) = self.least.find_relaxed(limit.as_deref(), budget)? else {
                return Ok(None);
            };
            // A fraction with a common denominator that is too large says nothing.
            let known = narrow(&point).map(|point| self.broken(&point));
            if let Ok(Ok(broken)) = known
                && !broken.is_empty()
            {
                self.enter(|at| broken.binary_search(&at).is_ok())?;
                continue;
            }
            let Some(values) = self.least.find(limit.as_deref(), budget)? else {
                return Ok(None);
            };
            let point: Vec<i128> = [1].into_iter().chain(narrow(&values)?).collect();
            let broken = self.broken(&point)?;
            if !broken.is_empty() {
                self.enter(|at| broken.binary_search(&at).is_ok())?;
                continue;
            }
            match potentials(&self.program.differences, self.program.statements(), &point, budget)?
            {
                Offsets::Least(offsets) => {
                    return Ok(Some(Solution { values: point[1..].to_vec(), offsets }));
                }
                Offsets::Cycles(cycles) => {
                    let mut is_new = false;
                    for cycle in &cycles {
                        is_new |= self.add_cycle(cycle)?;
                    }
                    // Rounding alone has closed the cycle: no row rules the point out.
                    if !is_new {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Finds the rows that a point `[denominator, numerators..]` breaks most, ascending.
    fn broken(&self, point: &[i128]) -> Result<Vec<usize>, Error> {
        let mut broken = Vec::new();
        for at in &self.waiting {
            let held = &self.program.held[*at];
            let value = dot(&held.form, point)?;
            if value < 0 || (held.equation && value > 0) {
                broken.push((-value.abs(), *at));
            }
        }
        broken.sort_unstable();
        broken.truncate(self.program.vars);
        let mut chosen: Vec<usize> = broken.into_iter().map(|(_, at)| at).collect();
        chosen.sort_unstable();
        Ok(chosen)
    }
}
