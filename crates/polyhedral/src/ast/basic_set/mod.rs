//! Basic sets as rows that are rearranged: substitution, shared divisions, elimination.
//!
//! A [`Relation`] is a value that never changes; code generation takes its disjuncts apart, adds
//! rows, puts values in and throws columns away, hundreds of times for a loop. So a [`BasicSet`] is
//! one disjunct on machine numbers with public rows. [`BasicSet::all_of`] is the way in,
//! [`BasicSet::relation`] the way back; what needs exact operations on sets goes back first.
//!
//! A [`Linear`] is a row like those; what becomes code is a sum of expressions (`expression/affine_form`).

mod rows;
mod solve;

use crate::{Conjunction, Division};
use tangram_presburger::{Budget, Error, Relation, Relaxation, Space};

use rows::moved;
pub(super) use rows::{combine, negated, tightened};
pub(super) use solve::essential;

/// One disjunct; rows are `[constant, variables.., divisions..]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BasicSet {
    /// Parameters and dimensions.
    pub vars: usize,
    pub part: Conjunction,
}

/// An affine form over variables and divisions of its own, with a number for each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Linear {
    pub row: Vec<i128>,
    pub divisions: Vec<Division>,
}

impl BasicSet {
    pub fn all_of(set: &Relation) -> Result<Vec<Self>, Error> {
        let space = set.space();
        let inputs = space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
        let vars = space.params.len() + inputs + space.output.dims.len();
        // Equal divisions become one.
        let make = |part: Conjunction| {
            if part.divisions.len() < 2 {
                return Self { vars, part };
            }
            let mut cell = Self::universe(vars);
            cell.join(&Self { vars, part });
            cell
        };
        Ok(set.narrow_conjunctions()?.into_iter().map(make).collect())
    }

    pub fn universe(vars: usize) -> Self {
        Self { vars, part: Conjunction::default() }
    }

    pub fn relation(&self, space: Space) -> Result<Relation, Error> {
        Relation::from_conjunctions(space, std::slice::from_ref(&self.part))
    }

    pub fn cols(&self) -> usize {
        1 + self.vars + self.part.divisions.len()
    }

    pub fn relaxation(&self, budget: &Budget) -> Result<Relaxation, Error> {
        Relaxation::of(&self.part, self.vars, budget)
    }

    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut Vec<i128>> {
        self.part.equalities.iter_mut().chain(&mut self.part.inequalities)
    }

    /// Returns the inequalities that differ from `row` in their constants at most.
    pub fn parallel<'a>(&'a self, row: &'a [i128]) -> impl Iterator<Item = &'a Vec<i128>> {
        self.part.inequalities.iter().filter(|own| own[1..] == row[1..])
    }

    /// Says for each column whether it is `col` or a division that uses it.
    pub fn dependent(&self, col: usize) -> Vec<bool> {
        let mut result = vec![false; self.cols()];
        result[col] = true;
        for (index, division) in self.part.divisions.iter().enumerate() {
            let uses = division.numerator.iter().zip(&result).any(|(v, d)| *v != 0 && *d);
            result[1 + self.vars + index] = uses;
        }
        result
    }

    /// Adds variables at the end.
    pub fn widened(&self, vars: usize) -> Self {
        let at = 1 + self.vars;
        let grow = |row: &Vec<i128>| {
            let mut row = row.clone();
            row.splice(at..at, std::iter::repeat_n(0, vars - self.vars));
            row
        };
        let part = Conjunction {
            divisions: self
                .part
                .divisions
                .iter()
                .map(|d| Division { numerator: grow(&d.numerator), denominator: d.denominator })
                .collect(),
            equalities: self.part.equalities.iter().map(grow).collect(),
            inequalities: self.part.inequalities.iter().map(grow).collect(),
        };
        Self { vars, part }
    }

    /// Moves variable `i` to `to[i]` among `vars` variables.
    pub fn placed(&self, vars: usize, to: &[usize]) -> Self {
        let mut result = Self::universe(vars);
        let mut cols: Vec<usize> = std::iter::once(0).chain(to.iter().map(|i| 1 + i)).collect();
        for division in &self.part.divisions {
            let numerator = moved(&division.numerator, &cols, result.cols());
            cols.push(result.division(&numerator, division.denominator));
        }
        let all = |rows: &[Vec<i128>]| {
            rows.iter().map(|row| moved(row, &cols, result.cols())).collect::<Vec<_>>()
        };
        (result.part.equalities, result.part.inequalities) =
            (all(&self.part.equalities), all(&self.part.inequalities));
        result
    }

    /// Drops the last variables, which nothing uses.
    pub fn shortened(mut self, vars: usize) -> Self {
        let (from, to) = (1 + vars, 1 + self.vars);
        for division in &mut self.part.divisions {
            division.numerator.drain(from..to);
        }
        for row in self.rows_mut() {
            row.drain(from..to);
        }
        self.vars = vars;
        self
    }

    /// Returns the column of a division, adding it if it is new.
    ///
    /// `numerator` ranges over the columns up to the divisions it uses.
    pub fn division(&mut self, numerator: &[i128], denominator: i128) -> usize {
        let first = 1 + self.vars;
        let same = |old: &Division| {
            let len = old.numerator.len().max(numerator.len());
            let at = |row: &[i128], i: usize| row.get(i).copied().unwrap_or(0);
            old.denominator == denominator
                && (0..len).all(|i| at(&old.numerator, i) == at(numerator, i))
        };
        if let Some(index) = self.part.divisions.iter().position(same) {
            return first + index;
        }
        let col = self.cols();
        let mut numerator = numerator.to_vec();
        numerator.resize(col, 0);
        self.part.divisions.push(Division { numerator, denominator });
        self.rows_mut().for_each(|row| row.push(0));
        col
    }

    /// Adds divisions of another system over the same variables; says where they are.
    pub fn import(&mut self, divisions: &[Division]) -> Vec<usize> {
        let mut to: Vec<usize> = (0..=self.vars).collect();
        for division in divisions {
            let numerator = moved(&division.numerator, &to, self.cols());
            to.push(self.division(&numerator, division.denominator));
        }
        to
    }

    /// Adds all rows of `other`, over the same variables.
    pub fn join(&mut self, other: &Self) {
        let to = self.import(&other.part.divisions);
        let cols = self.cols();
        let all = |rows: &[Vec<i128>]| -> Vec<Vec<i128>> {
            rows.iter().map(|row| moved(row, &to, cols)).collect()
        };
        self.part.equalities.extend(all(&other.part.equalities));
        self.part.inequalities.extend(all(&other.part.inequalities));
    }

    /// Returns `form` as a row over the columns here.
    pub fn row_of(&mut self, form: &Linear) -> Vec<i128> {
        let to = self.import(&form.divisions);
        moved(&form.row, &to, self.cols())
    }

    /// Returns `row` with the divisions it needs.
    ///
    /// A row that was read before divisions were added here does not use those.
    pub fn linear(&self, row: &[i128]) -> Linear {
        let mut row = row.to_vec();
        row.resize(self.cols(), 0);
        Linear { row, divisions: self.part.divisions.clone() }
    }

    /// Drops divisions that no row uses.
    pub fn without_idle_divisions(self) -> Self {
        let first = 1 + self.vars;
        let mut used = vec![false; self.part.divisions.len()];
        let all = self.part.equalities.iter().chain(&self.part.inequalities);
        for row in all {
            for (index, used) in used.iter_mut().enumerate() {
                *used |= row[first + index] != 0;
            }
        }
        for index in (0..used.len()).rev() {
            if used[index] {
                for (inner, v) in self.part.divisions[index].numerator[first..].iter().enumerate() {
                    used[inner] |= *v != 0;
                }
            }
        }
        if !used.contains(&false) {
            return self;
        }
        let mut result = Self::universe(self.vars);
        let mut to: Vec<usize> = (0..first).collect();
        for (division, used) in self.part.divisions.iter().zip(&used) {
            if *used {
                let numerator = moved(&division.numerator, &to, result.cols());
                to.push(result.division(&numerator, division.denominator));
            } else {
                to.push(0);
            }
        }
        let cols = result.cols();
        let all = |rows: &[Vec<i128>]| rows.iter().map(|row| moved(row, &to, cols)).collect();
        result.part.equalities = all(&self.part.equalities);
        result.part.inequalities = all(&self.part.inequalities);
        result
    }
}

/// Rewrites cells over the same divisions.
pub(super) fn share_divisions(cells: &mut [BasicSet]) {
    let Some(vars) = cells.first().map(|cell| cell.vars) else { return };
    let mut all = BasicSet::universe(vars);
    for cell in cells.iter() {
        all.import(&cell.part.divisions);
    }
    for cell in cells.iter_mut() {
        let mut shared = BasicSet::universe(vars);
        shared.import(&all.part.divisions);
        shared.join(cell);
        *cell = shared;
    }
}
