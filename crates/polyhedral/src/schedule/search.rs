//! The search for the least schedule row, from where another one has come.

use std::rc::Rc;
use std::sync::Arc;

use tangram_presburger::{Budget, Integer, LeastPoint, narrow};

use super::Error;
use super::linear::dot;
use super::program::{Program, Solution};

/// So few rows are looked at at once.
const FEW: usize = 64;

/// A program of which some rows have been looked at.
///
/// Dependences have a row for each vertex, of which few matter: rows enter when the least
/// point of those so far breaks them. A point that breaks none is the least of all. A clone is a
/// branch: what it adds is its own, and what has been worked out so far is not worked out again.
#[derive(Debug, Clone)]
pub(super) struct Search<'a> {
    pub program: Rc<Program<'a>>,
    least: LeastPoint,
    /// Places of the rows that have not entered, ascending.
    waiting: Vec<usize>,
}

impl<'a> Search<'a> {
    pub fn new(program: Rc<Program<'a>>) -> Result<Self, Error> {
        let waiting = (0..program.held.len()).collect();
        let mut search = Self { least: LeastPoint::new(program.vars), program, waiting };
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
        if self.waiting.len() == other.waiting.len() {
            return Ok(());
        }
        self.enter(|at| other.waiting.binary_search(&at).is_err())
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

    /// The row changes along none of the directions backwards, and along one of them.
    pub fn advance_some(
        &mut self,
        statement: usize,
        directions: &[Vec<i128>],
    ) -> Result<(), Error> {
        let mut sum = vec![0; 1 + self.program.vars];
        sum[0] = -1;
        for direction in directions {
            let form = self.program.change(statement, direction);
            sum.iter_mut().zip(&form).for_each(|(total, value)| *total += value);
            self.add(&form, false)?;
        }
        self.add(&sum, false)
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
            if broken.is_empty() {
                return Ok(Some(Solution { values: point[1..].to_vec() }));
            }
            self.enter(|at| broken.binary_search(&at).is_ok())?;
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
