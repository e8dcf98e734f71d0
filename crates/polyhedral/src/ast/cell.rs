//! Conjunctions as rows that are rearranged: substitution, shared divisions, elimination.

use crate::{Conjunction, Division};
use tangram_presburger::{Budget, Error, Relation, Relaxation, Space};

/// One disjunct; rows are `[constant, variables.., divisions..]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    /// Parameters and dimensions.
    pub vars: usize,
    pub part: Conjunction,
}

/// An affine form over variables and divisions of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Linear {
    pub row: Vec<i128>,
    pub divisions: Vec<Division>,
}

/// Returns `a * x + b * y`; the shorter row counts as padded.
pub(super) fn combine(a: i128, x: &[i128], b: i128, y: &[i128]) -> Result<Vec<i128>, Error> {
    let at = |row: &[i128], index: usize| row.get(index).copied().unwrap_or(0);
    let one = |i: usize| {
        let left = a.checked_mul(at(x, i))?;
        left.checked_add(b.checked_mul(at(y, i))?).filter(|v| *v != i128::MIN)
    };
    (0..x.len().max(y.len())).map(|i| one(i).ok_or(Error::Overflow)).collect()
}

/// Returns the greatest common divisor, at least 0.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(0)
}

/// Divides an inequality by the factor that its coefficients share; tightens the constant.
pub(super) fn tightened(row: &mut [i128]) {
    let g = row[1..].iter().fold(0, |g, v| gcd(g, *v));
    if g > 1 {
        row[1..].iter_mut().for_each(|v| *v /= g);
        row[0] = row[0].div_euclid(g);
    }
}

pub(super) fn negated(row: &[i128]) -> Vec<i128> {
    row.iter().map(|v| v.wrapping_neg()).collect()
}

impl Cell {
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
    pub fn linear(&self, row: &[i128]) -> Linear {
        Linear { row: row.to_vec(), divisions: self.part.divisions.clone() }
    }

    /// Puts `value`, which does not use it, in the place of variable column `col`.
    pub fn substitute(&self, col: usize, value: &Linear) -> Result<Self, Error> {
        let mut result = Self::universe(self.vars);
        let value = result.row_of(value);
        let mut to: Vec<usize> = (0..=self.vars).collect();
        let replaced = |row: &[i128], to: &[usize], cols: usize| {
            let factor = row[col];
            let mut row = moved(row, to, cols);
            if factor != 0 {
                row[col] = 0;
                row = combine(1, &row, factor, &value)?;
            }
            Ok::<_, Error>(row)
        };
        for division in &self.part.divisions {
            let numerator = replaced(&division.numerator, &to, result.cols())?;
            to.push(result.division(&numerator, division.denominator));
        }
        let cols = result.cols();
        for row in &self.part.equalities {
            result.part.equalities.push(replaced(row, &to, cols)?);
        }
        for row in &self.part.inequalities {
            result.part.inequalities.push(replaced(row, &to, cols)?);
        }
        Ok(result)
    }

    /// Solves an equation for variable column `col`, if one says what it is.
    pub fn solved(&self, col: usize) -> Option<Linear> {
        let depends = self.dependent(col);
        let gives = |row: &&Vec<i128>| {
            row[col].abs() == 1
                && row.iter().zip(&depends).skip(1).filter(|(v, d)| **v != 0 && **d).count() == 1
        };
        let row = self.part.equalities.iter().find(gives)?;
        let sign = -row[col];
        let mut value: Vec<i128> = row.iter().map(|v| v * sign).collect();
        value[col] = 0;
        Some(self.linear(&value))
    }

    /// Adds combinations of equations without the divisions that use columns from `from` on.
    ///
    /// `x = 4 floor(i/4)` and `y = i - 4 floor(i/4)` give `i = x + y`.
    pub fn combine_equations(&mut self, from: usize) {
        let first = 1 + self.vars;
        let mut depends = vec![false; self.cols()];
        for col in from..first {
            depends.iter_mut().zip(self.dependent(col)).for_each(|(all, one)| *all |= one);
        }
        let mut rows = self.part.equalities.clone();
        for col in (first..self.cols()).filter(|col| depends[*col]) {
            let used = (0..rows.len()).filter(|i| rows[*i][col] != 0);
            let Some(pivot) = used.min_by_key(|i| rows[*i][col].unsigned_abs()) else { continue };
            let pivot = rows.swap_remove(pivot);
            let without = |row: &Vec<i128>| {
                let g = gcd(pivot[col], row[col]);
                let row = combine(pivot[col] / g, row, -row[col] / g, &pivot).ok()?;
                let g = row.iter().fold(0, |g, v| gcd(g, *v));
                (g != 0).then(|| row.iter().map(|v| v / g).collect())
            };
            rows = rows
                .iter()
                .filter_map(|row| if row[col] == 0 { Some(row.clone()) } else { without(row) })
                .collect();
        }
        for row in rows {
            if !self.part.equalities.contains(&row) {
                self.part.equalities.push(row);
            }
        }
    }

    /// Adds `col = value`.
    pub fn fix(&mut self, col: usize, value: &Linear) {
        let mut row = negated(&self.row_of(value));
        row[col] = 1;
        self.part.equalities.push(row);
    }

    /// Eliminates columns over the rationals; their divisions must be unfolded before.
    pub fn eliminate(&mut self, cols: &[usize], budget: &Budget) -> Result<(), Error> {
        for &col in cols {
            let eqs = &self.part.equalities;
            let pivot =
                (0..eqs.len()).filter(|i| eqs[*i][col] != 0).min_by_key(|i| eqs[*i][col].abs());
            if let Some(pivot) = pivot {
                let eq = self.part.equalities.swap_remove(pivot);
                let eq = if eq[col] < 0 { negated(&eq) } else { eq };
                for row in self.rows_mut().filter(|row| row[col] != 0) {
                    *row = combine(eq[col], row, -row[col], &eq)?;
                }
                for row in &mut self.part.inequalities {
                    tightened(row);
                }
                continue;
            }
            let rows = std::mem::take(&mut self.part.inequalities);
            let (used, mut kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(|r| r[col] != 0);
            let (lower, upper): (Vec<_>, Vec<_>) = used.into_iter().partition(|r| r[col] > 0);
            for (l, u) in lower.iter().flat_map(|l| upper.iter().map(move |u| (l, u))) {
                let mut row = combine(-u[col], l, l[col], u)?;
                tightened(&mut row);
                if row[1..].iter().any(|v| *v != 0) && !kept.contains(&row) {
                    kept.push(row);
                }
            }
            if kept.len() > 40 {
                let fixed = Relaxation::new(self.cols() - 1);
                kept = essential(&kept, fixed, budget)?;
            }
            self.part.inequalities = kept;
        }
        Ok(())
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

/// Takes the entries of a row to other columns; unused entries may share one.
fn moved(row: &[i128], to: &[usize], cols: usize) -> Vec<i128> {
    let mut result = vec![0_i128; cols];
    for (value, target) in row.iter().zip(to) {
        if *value != 0 {
            result[*target] = result[*target].wrapping_add(*value);
        }
    }
    result
}

/// Rewrites cells over the same divisions.
pub(super) fn share_divisions(cells: &mut [Cell]) {
    let Some(vars) = cells.first().map(|cell| cell.vars) else { return };
    let mut all = Cell::universe(vars);
    for cell in cells.iter() {
        all.import(&cell.part.divisions);
    }
    for cell in cells.iter_mut() {
        let mut shared = Cell::universe(vars);
        shared.import(&all.part.divisions);
        shared.join(cell);
        *cell = shared;
    }
}

/// Returns the rows that `fixed` and the rows kept do not imply; earlier rows go first.
pub(super) fn essential(
    rows: &[Vec<i128>],
    mut fixed: Relaxation,
    budget: &Budget,
) -> Result<Vec<Vec<i128>>, Error> {
    if fixed.is_empty() {
        return Ok(rows.to_vec());
    }
    // Mostly few are left of those that outer loops do not make sure of already.
    let mut open: Vec<&Vec<i128>> = Vec::new();
    for row in rows {
        if !fixed.implies(row, budget)? {
            open.push(row);
        }
    }
    let mut suffix = vec![fixed];
    for row in open.iter().rev() {
        let mut next = suffix[suffix.len() - 1].clone();
        next.add(row, budget)?;
        suffix.push(next);
    }
    if suffix[open.len()].is_empty() {
        return Ok(rows.to_vec());
    }
    let mut kept: Vec<Vec<i128>> = Vec::new();
    suffix.pop();
    for row in open {
        let Some(mut others) = suffix.pop() else { break };
        for row in &kept {
            others.add(row, budget)?;
        }
        if !others.implies(row, budget)? {
            kept.push(row.clone());
        }
    }
    Ok(kept)
}
