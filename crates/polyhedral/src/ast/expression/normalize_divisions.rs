//! Divisions in their shortest form, so that equal conditions look alike.

use tangram_presburger::Error;

use crate::ast::basic_set::{BasicSet, combine, negated, tightened};

impl BasicSet {
    /// Writes divisions with the least numerators: `floor((2 i + j + 3) / 2)` is
    /// `i + 1 + floor((j + 1) / 2)`, and a remainder of at most 0 is an equation.
    pub fn reduced(&self) -> Result<Self, Error> {
        let first = 1 + self.vars;
        let mut result = Self::universe(self.vars);
        // Each old division as a row over the new columns.
        let mut values: Vec<Vec<i128>> = Vec::new();
        let rewritten = |row: &[i128], values: &[Vec<i128>]| {
            let mut sum = row[..first].to_vec();
            for (factor, value) in row[first..].iter().zip(values).filter(|(f, _)| **f != 0) {
                sum = combine(1, &sum, *factor, value)?;
            }
            Ok::<_, Error>(sum)
        };
        for division in &self.part.divisions {
            let mut numerator = rewritten(&division.numerator, &values)?;
            let modulus = division.denominator;
            let mut whole = vec![0; numerator.len()];
            for (col, (value, whole)) in numerator.iter_mut().zip(&mut whole).enumerate() {
                if col == 0 || *value % modulus == 0 {
                    (*whole, *value) = (value.div_euclid(modulus), value.rem_euclid(modulus));
                }
            }
            if numerator[1..].iter().any(|v| *v != 0) {
                let col = result.division(&numerator, modulus);
                whole.resize(result.cols(), 0);
                whole[col] += 1;
            }
            values.push(whole);
        }
        let cols = result.cols();
        for row in &self.part.equalities {
            let mut row = rewritten(row, &values)?;
            row.resize(cols, 0);
            if row.iter().any(|v| *v != 0) && !result.part.equalities.contains(&row) {
                result.part.equalities.push(row);
            }
        }
        for row in &self.part.inequalities {
            let mut row = rewritten(row, &values)?;
            row.resize(cols, 0);
            tightened(&mut row);
            let is_remainder = result.part.divisions.iter().enumerate().any(|(index, division)| {
                let at = |col: usize| division.numerator.get(col).copied().unwrap_or(0);
                let fits = |col: usize| match col == first + index {
                    true => row[col] == division.denominator,
                    false => row[col] == -at(col),
                };
                (0..cols).all(fits)
            });
            let list = match is_remainder {
                true => &mut result.part.equalities,
                false => &mut result.part.inequalities,
            };
            let says = row[0] < 0 || row[1..].iter().any(|v| *v != 0);
            if says && !list.contains(&row) {
                list.push(row);
            }
        }
        Ok(result)
    }

    /// Multiplies `row >= 0` by the denominator of a division that stands in it once: `x` is at
    /// most `floor(y / 4)` where `4 x` is at most `y`.
    pub fn multiplied(&self, row: &[i128], index: usize) -> Result<Option<Vec<i128>>, Error> {
        let col = 1 + self.vars + index;
        if row[col].abs() != 1 {
            return Ok(None);
        }
        let division = &self.part.divisions[index];
        let mut numerator = division.numerator.clone();
        if row[col] < 0 {
            numerator = negated(&numerator);
            numerator[0] += division.denominator - 1;
        }
        let mut rest = row.to_vec();
        rest[col] = 0;
        let mut result = combine(division.denominator, &rest, 1, &numerator)?;
        tightened(&mut result);
        Ok(Some(result))
    }
}
