//! Variables that are digits of what is known.
//!
//! Where `a = x + 4 y + 16 z` with `0 <= x, y <= 3`, the value of `a` decides all three: `y + 4 z` is
//! `floor(a / 4)`, as what is left of `a` is less than 4, so that `z` is `floor(a / 16)`, `y` is
//! `floor(a / 4) - 4 floor(a / 16)`, and `x` is the rest. Elimination would take `x` away first and
//! round bounds of the others, cuts would find the same divisions one after the other; as equations
//! they leave nothing to search. Positions in memory and in the slots of a vector look like this.
//!
//! In general, a row `k + g v + r` from 0 to `w`, with `k` known and `r` from `low` to `high`, has
//! `v = -floor((k + high) / g)` where `w + high - low < g`. A remainder and a quotient of one sum give
//! such a row together: `s - p - 8 q = 0` and `0 <= p - 8 r <= 7` say `0 <= s - 8 (q + r) <= 7`.

use std::ops::Range;

use crate::basic_map::{BasicMap, Div};
use crate::matrix::{gcd, zeros};
use crate::system::opposite;
use crate::{Budget, Error, Integer};

/// The most divisions that are added.
const MOST: usize = 16;
/// The most rows that are taken apart.
const ROUNDS: usize = 64;

/// The least and the greatest value of a column, if there are numbers for them.
type Interval = (Option<Integer>, Option<Integer>);

/// A row over all columns that is at least 0, and at most `most`.
struct Narrow {
    row: Vec<Integer>,
    most: Integer,
}

/// What a row says of the columns whose coefficients `step` divides.
struct Digit {
    step: Integer,
    /// The greatest value of the other unknown columns.
    high: Integer,
}

/// A conjunction that gets more divisions, and what is known of its columns.
struct Told {
    part: BasicMap,
    unknown: Vec<bool>,
    intervals: Vec<Interval>,
    /// What may still say something.
    open: Vec<Narrow>,
}

impl BasicMap {
    /// Adds equations, and divisions of known columns, that say what unknown columns are; nothing if
    /// there are none. The points stay the same.
    pub(super) fn with_digits(
        &self,
        unknown: &[bool],
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let open = self.narrow_rows(unknown);
        if !open.iter().any(|narrow| narrow.could_tell(unknown)) {
            return Ok(None);
        }
        let (unknown, intervals) = (unknown.to_vec(), self.intervals());
        let mut told = Told { part: self.clone(), unknown, intervals, open };
        let before = self.divs.len();
        for _ in 0..ROUNDS {
            budget.spend(told.part.system.size() + told.open.len())?;
            told.settle();
            let is_full = told.part.divs.len() >= before + MOST;
            if is_full || (!told.split_some() && !told.combine_some()) {
                break;
            }
        }
        let is_new = told.part.system.eqs.len() > self.system.eqs.len();
        Ok(is_new.then_some(told.part))
    }

    /// Returns the columns of the dimensions in `range` and of divisions of them.
    pub(super) fn unknown(&self, range: &Range<usize>) -> Vec<bool> {
        let mut unknown = vec![false; self.cols()];
        unknown[1 + range.start..1 + range.end].fill(true);
        for (index, div) in self.divs.iter().enumerate() {
            unknown[1 + self.dims + index] =
                div.num.iter().zip(&unknown).any(|(v, unknown)| *unknown && !v.is_zero());
        }
        unknown
    }

    /// Returns equations, pairs of opposite rows and definitions of unknown divisions.
    fn narrow_rows(&self, unknown: &[bool]) -> Vec<Narrow> {
        let equation = |row: &[Integer]| Narrow { row: row.to_vec(), most: Integer::ZERO };
        let mut rows: Vec<Narrow> = self.system.eqs.rows().map(equation).collect();
        let uses =
            |row: &&[Integer]| row.iter().zip(unknown).any(|(v, unknown)| *unknown && !v.is_zero());
        let bounds: Vec<&[Integer]> = self.system.ineqs.rows().filter(uses).collect();
        for (index, row) in bounds.iter().enumerate() {
            let other = bounds[index + 1..].iter().find(|other| opposite(row, other));
            rows.extend(other.map(|other| Narrow { row: row.to_vec(), most: &row[0] + &other[0] }));
        }
        for (index, div) in self.divs.iter().enumerate() {
            let col = 1 + self.dims + index;
            if unknown[col] {
                let mut row = zeros(self.cols());
                row[..div.num.len()].clone_from_slice(&div.num);
                row[col] = -&div.den;
                rows.push(Narrow { row, most: &div.den - 1 });
            }
        }
        rows
    }

    /// Returns what single rows say of each column, and definitions of divisions.
    fn intervals(&self) -> Vec<Interval> {
        let mut intervals: Vec<Interval> = vec![(None, None); self.cols()];
        for row in self.system.half_spaces() {
            let mut used = (1..row.len()).filter(|col| !row[*col].is_zero());
            if let (Some(col), None) = (used.next(), used.next()) {
                // The row is `a x + c >= 0`.
                let found = match row[col].sign() {
                    1 => (Some(-row[0].div_floor(&row[col])), None),
                    _ => (None, Some(row[0].div_floor(&-&row[col]))),
                };
                narrow(&mut intervals[col], found);
            }
        }
        for (index, div) in self.divs.iter().enumerate() {
            let found = quotient(div, &intervals);
            narrow(&mut intervals[1 + self.dims + index], found);
        }
        intervals
    }
}

impl Narrow {
    /// Returns whether some coefficient of an unknown column is large enough to tell a digit.
    fn could_tell(&self, unknown: &[bool]) -> bool {
        // One unknown alone is what elimination takes away best.
        let used: Vec<&Integer> = self.unknown_values(unknown).map(|(_, v)| v).collect();
        used.len() > 1 && used.iter().any(|v| v.abs() > self.most && !v.is_unit())
    }

    fn unknown_values<'a>(
        &'a self,
        unknown: &'a [bool],
    ) -> impl Iterator<Item = (usize, &'a Integer)> {
        let used = self.row.iter().enumerate().zip(unknown);
        used.filter(|((_, v), unknown)| **unknown && !v.is_zero()).map(|(used, _)| used)
    }

    /// Returns the only unknown column of an equation, if its coefficient is 1 or -1.
    fn says(&self, unknown: &[bool]) -> Option<usize> {
        let mut used = self.unknown_values(unknown);
        let (col, value) = used.next()?;
        (self.most.is_zero() && value.is_unit() && used.next().is_none()).then_some(col)
    }

    /// Returns whether the sum of a row and an equation of several unknown columns lacks one that
    /// both have, and has no more than the row.
    fn is_without_some(&self, row: &Self, equation: &Self, unknown: &[bool]) -> bool {
        let count = |narrow: &Self| narrow.unknown_values(unknown).count();
        let mut both = row.unknown_values(unknown).filter(|(col, _)| equation.has(*col));
        both.any(|(col, _)| !self.has(col)) && count(equation) > 1 && count(self) <= count(row)
    }

    fn has(&self, col: usize) -> bool {
        self.row.get(col).is_some_and(|value| !value.is_zero())
    }

    /// Adds `factor` times an equation.
    fn add(&mut self, factor: &Integer, equation: &[Integer]) {
        if self.row.len() < equation.len() {
            self.row.resize(equation.len(), Integer::ZERO);
        }
        for (value, share) in self.row.iter_mut().zip(equation) {
            *value = value.add_mul(factor, share);
        }
    }
}

impl Told {
    /// Puts what equations say of single unknown columns into the other rows.
    fn settle(&mut self) {
        while let Some(index) = self.open.iter().position(|row| row.says(&self.unknown).is_some()) {
            let equation = self.open.swap_remove(index);
            let Some(col) = equation.says(&self.unknown) else { continue };
            let turned = equation.row[col].sign() > 0;
            for other in &mut self.open {
                let Some(factor) = other.row.get(col).filter(|v| !v.is_zero()) else { continue };
                let factor = if turned { -factor } else { factor.clone() };
                other.add(&factor, &equation.row);
            }
        }
        let unknown = &self.unknown;
        self.open.retain(|row| row.unknown_values(unknown).next().is_some());
    }

    /// Takes a row apart; false if there is none.
    fn split_some(&mut self) -> bool {
        let found = self.open.iter().enumerate().find_map(|(i, row)| Some((i, self.digit(row)?)));
        let Some((index, digit)) = found else { return false };
        let narrow = self.open.swap_remove(index);
        let pieces = self.split(narrow, &digit);
        self.open.extend(pieces);
        true
    }

    /// Adds or subtracts an equation where a row can be taken apart then: a remainder of a sum, and a
    /// quotient of the same sum. False if there is none.
    fn combine_some(&mut self) -> bool {
        let rows = self.open.iter().enumerate().filter(|(_, row)| !row.most.is_zero());
        let found = rows.flat_map(|(index, row)| {
            let equations = self.open.iter().filter(|row| row.most.is_zero());
            equations.flat_map(move |equation| {
                [Integer::ONE, Integer::MINUS_ONE].map(|factor| (index, row, factor, equation))
            })
        });
        let found = found.into_iter().find_map(|(index, row, factor, equation)| {
            let mut sum = Narrow { row: row.row.clone(), most: row.most.clone() };
            sum.add(&factor, &equation.row);
            if !sum.is_without_some(row, equation, &self.unknown) {
                return None;
            }
            let digit = self.digit(&sum)?;
            Some((index, sum, digit))
        });
        let Some((index, sum, digit)) = found else { return false };
        self.open.swap_remove(index);
        let pieces = self.split(sum, &digit);
        self.open.extend(pieces);
        true
    }

    /// Finds the least step that leaves room for the rest.
    fn digit(&self, narrow: &Narrow) -> Option<Digit> {
        if !narrow.could_tell(&self.unknown) {
            return None;
        }
        let mut steps: Vec<Integer> =
            narrow.unknown_values(&self.unknown).map(|(_, v)| v.abs()).collect();
        steps.sort_unstable();
        steps.dedup();
        steps.into_iter().filter(|step| *step > 1).find_map(|step| {
            let is_rest = |col: usize| self.unknown[col] && !narrow.row[col].is_multiple_of(&step);
            let mut rest = narrow.row.clone();
            rest[0] = Integer::ZERO;
            let (low, high) = range(&rest, &self.intervals, is_rest);
            let (low, high) = (low?, high?);
            let has_rest = (1..rest.len()).any(|col| is_rest(col) && !rest[col].is_zero());
            let fits = &narrow.most + &high - &low < step;
            (fits && (has_rest || !narrow.most.is_zero())).then_some(Digit { step, high })
        })
    }

    /// Adds what a digit says; returns that, and what is left of the row.
    fn split(&mut self, narrow: Narrow, Digit { step, high }: &Digit) -> [Narrow; 2] {
        let mut known = narrow.row.clone();
        known.resize(self.part.cols(), Integer::ZERO);
        let (mut upper, mut rest) = (zeros(known.len()), known.clone());
        for col in (1..known.len()).filter(|col| self.unknown[*col]) {
            let value = std::mem::take(&mut known[col]);
            if value.is_multiple_of(step) {
                upper[col] = value.div_exact(step);
                rest[col] = Integer::ZERO;
            }
        }
        known[0] += high;
        let value = self.floor(known, step);
        upper.resize(self.part.cols(), Integer::ZERO);
        rest.resize(self.part.cols(), Integer::ZERO);
        for (col, value) in value.iter().enumerate() {
            upper[col] += value;
            rest[col] -= value * step;
        }
        self.part.system.eqs.push(&upper);
        [Narrow { row: rest, most: narrow.most }, Narrow { row: upper, most: Integer::ZERO }]
    }

    /// Returns a row whose value is `floor(num / den)`; it may need a division.
    fn floor(&mut self, mut num: Vec<Integer>, den: &Integer) -> Vec<Integer> {
        let common = gcd(&num[1..]).gcd(den);
        num.iter_mut().for_each(|v| *v = v.div_floor(&common));
        if common == *den {
            return num;
        }
        let div = Div { num, den: den.div_exact(&common) };
        let same = |old: &Div| {
            let (short, rest) = div.num.split_at(old.num.len());
            old.den == div.den && short == old.num && rest.iter().all(Integer::is_zero)
        };
        let found = self.part.divs.iter().position(same);
        let place = 1 + self.part.dims + found.unwrap_or(self.part.divs.len());
        if found.is_none() {
            self.intervals.push(quotient(&div, &self.intervals));
            self.unknown.push(false);
            let all: Vec<Option<usize>> = (0..place).map(Some).collect();
            self.part.system = self.part.system.remap(place + 1, &all);
            self.part.divs = self.part.divs.iter().cloned().chain([div]).collect();
        }
        let mut row = zeros(self.part.cols());
        row[place] = Integer::ONE;
        row
    }
}

/// Keeps what is known and what is found.
fn narrow(known: &mut Interval, found: Interval) {
    known.0 = known.0.take().max(found.0);
    known.1 = match (known.1.take(), found.1) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}

/// Bounds a division by what is known of its columns.
fn quotient(div: &Div, intervals: &[Interval]) -> Interval {
    let (low, high) = range(&div.num, intervals, |_| true);
    let floor = |bound: Option<Integer>| bound.map(|bound| bound.div_floor(&div.den));
    (floor(low), floor(high))
}

/// Bounds the sum of a constant and those columns of a row that `counts` names.
fn range(row: &[Integer], intervals: &[Interval], counts: impl Fn(usize) -> bool) -> Interval {
    let (mut low, mut high) = (Some(row[0].clone()), Some(row[0].clone()));
    for (col, factor) in row.iter().enumerate().skip(1) {
        if factor.is_zero() || !counts(col) {
            continue;
        }
        let (least, greatest) = &intervals[col];
        let (down, up) = if factor.sign() > 0 { (least, greatest) } else { (greatest, least) };
        let grown = |sum: Option<Integer>, bound: &Option<Integer>| {
            Some(sum?.add_mul(factor, bound.as_ref()?))
        };
        (low, high) = (grown(low, down), grown(high, up));
    }
    (low, high)
}
