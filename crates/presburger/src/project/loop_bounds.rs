//! Bounds of loops over the points of a set, and the strides of the loops.
//!
//! Inside out, inner variables are projected away, strides kept; what is left bounds the next
//! variable by outer ones. Divisions that outer variables alone decide stand in bounds as they
//! are; others are eliminated over the rationals, and what they say of strides is said apart:
//!
//! ```text
//! { [i] : 0 <= i <= 9 and exists e : i = 3e + 1 }       for i in 1 ..= 7 where i mod 3 = 1
//! ```
//!
//! Outside in, bounds that the outer loops imply are dropped. The shadow over the rationals may
//! hold integer points without an inner iteration: an inner loop is then empty, never wrong. What
//! neither bounds nor strides say is the condition of the innermost loop.

use std::fmt;

use super::fourier_motzkin::Inequalities;
use crate::matrix::negated;
use crate::print::sum;
use crate::{Budget, Conjunction, Division, Error, Integer, Relation, Space, Tuple};

/// The bounds of one loop: rows in which its variable occurs, over outer variables alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopBounds {
    /// The variable of the loop.
    pub variable: String,
    /// The names of the columns behind the constant: symbols, loops, then [`Self::divisions`].
    pub names: Vec<String>,
    /// Divisions of symbols and outer loops that rows use, each over the names before it.
    pub divisions: Vec<Division>,
    /// The loop starts at the greatest of these, rounded up.
    pub lower: Vec<Vec<Integer>>,
    /// The loop ends at the least of these, rounded down.
    pub upper: Vec<Vec<Integer>>,
    /// The distance of the values of the variable, at least 1.
    pub stride: Integer,
    /// A row whose value all values of the variable have modulo the stride.
    pub offset: Vec<Integer>,
    /// What points have to satisfy beyond the bounds and strides of all loops, in the notation of
    /// sets; only of the innermost loop.
    pub condition: Option<String>,
}

impl Relation {
    /// Bounds loops over `order`, the outermost first, for each disjunct; others are symbols.
    ///
    /// A disjunct without points has none.
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such variable, or one comes twice.
    pub fn loop_bounds(
        &self,
        order: &[&str],
        budget: &Budget,
    ) -> Result<Vec<Vec<LoopBounds>>, Error> {
        let names = self.space().distinct_names();
        for (at, variable) in order.iter().enumerate() {
            if !names.iter().any(|name| name == variable) || order[..at].contains(variable) {
                let expected = format!("one of {}", names.join(", "));
                return Err(Error::Space { expected, found: (*variable).to_owned() });
            }
        }
        let inner = |name: &String| order.iter().position(|variable| variable == name);
        let symbols: Vec<String> =
            names.iter().filter(|name| inner(name).is_none()).cloned().collect();
        let place = |name: &String| match inner(name) {
            Some(at) => symbols.len() + at,
            None => symbols.iter().position(|symbol| symbol == name).unwrap_or(0),
        };
        let to: Vec<usize> = names.iter().map(place).collect();
        let space = Space::set(symbols.clone(), Tuple::new("", order.iter().copied()));
        let mut all = Vec::new();
        for part in self.conjunctions() {
            let part = Self::from_conjunctions(self.space().clone(), &[part])?;
            let set = part.placed(space.clone(), &to)?;
            if !set.is_empty(budget)? {
                all.push(Nest::new(set, order.len(), budget)?.bounds()?);
            }
        }
        Ok(all)
    }
}

/// The loops over one conjunction.
struct Nest<'a> {
    set: Relation,
    symbols: usize,
    loops: usize,
    names: Vec<String>,
    divisions: Vec<Division>,
    budget: &'a Budget,
}

impl<'a> Nest<'a> {
    fn new(set: Relation, loops: usize, budget: &'a Budget) -> Result<Self, Error> {
        let space = set.space();
        let names = [&space.params[..], &space.output.dims[..]].concat();
        let symbols = space.params.len();
        Ok(Self { set, symbols, loops, names, divisions: Vec::new(), budget })
    }

    fn bounds(mut self) -> Result<Vec<LoopBounds>, Error> {
        // What is known of symbols comes first.
        let mut known = self.rows_of(0)?;
        let (mut nest, mut strides) = (Vec::new(), Vec::new());
        for at in 0..self.loops {
            let rows = self.rows_of(at + 1)?;
            let column = 1 + self.symbols + at;
            let own = rows.into_iter().filter(|row| !row[column].is_zero()).collect();
            let own = self.padded(own);
            let system = Inequalities::new(self.names.clone(), own)?;
            let system = system.essential_given(&self.padded(known.clone()), self.budget)?;
            let [lower, upper, _] = system.split(column);
            known.extend(system.rows().iter().cloned());
            let stride = self.stride(at)?;
            let (mut offset, ..) = stride.offset.coefficients();
            strides.push(stride.points(self.prefix(at)?.space(), 0)?);
            offset.resize(1 + self.names.len(), Integer::ZERO);
            nest.push(LoopBounds {
                variable: self.names[self.symbols + at].clone(),
                names: Vec::new(),
                divisions: Vec::new(),
                lower: tightened(lower, column, &stride.stride, &offset),
                upper: tightened(upper, column, &stride.stride, &offset),
                stride: stride.stride,
                offset,
                condition: None,
            });
        }
        for bounds in &mut nest {
            bounds.lower = self.padded(std::mem::take(&mut bounds.lower));
            bounds.upper = self.padded(std::mem::take(&mut bounds.upper));
            bounds.offset.resize(1 + self.names.len(), Integer::ZERO);
            (bounds.names, bounds.divisions) = (self.names.clone(), self.divisions.clone());
        }
        let condition = self.condition(&nest, &strides)?;
        if let Some(last) = nest.last_mut() {
            last.condition = condition;
        }
        Ok(nest)
    }

    /// Fills rows up with zeros for divisions that came later.
    fn padded(&self, mut rows: Vec<Vec<Integer>>) -> Vec<Vec<Integer>> {
        rows.iter_mut().for_each(|row| row.resize(1 + self.names.len(), Integer::ZERO));
        rows
    }

    /// Relates the loops outside of one to its variable, inner ones projected away.
    fn prefix(&self, at: usize) -> Result<Relation, Error> {
        let shadow = self.set.real_shadow(at + 1..self.loops, self.budget)?;
        let space = shadow.space();
        let (outer, own) = space.output.dims.split_at(at);
        let map = Space::map(space.params.clone(), Tuple::new("", outer), Tuple::new("", own));
        shadow.placed(map, &(0..self.symbols + at + 1).collect::<Vec<_>>())
    }

    fn stride(&self, at: usize) -> Result<crate::Stride, Error> {
        self.prefix(at)?.stride(0, self.budget)
    }

    /// Returns what the symbols and the first loops have to satisfy, as inequalities.
    fn rows_of(&mut self, loops: usize) -> Result<Vec<Vec<Integer>>, Error> {
        let shadow = self.set.real_shadow(loops..self.loops, self.budget)?;
        // Of several disjuncts, what bounds all of them.
        match shadow.simple_hull(self.budget)?.plain().conjunctions().pop() {
            Some(part) => self.without_inner_divisions(&part, self.symbols + loops),
            None => Ok(vec![]),
        }
    }

    /// Eliminates divisions that depend on the last of `dims` columns, over the rationals, and
    /// gives names to the others.
    fn without_inner_divisions(
        &mut self,
        part: &Conjunction,
        dims: usize,
    ) -> Result<Vec<Vec<Integer>>, Error> {
        // The last loop, which bounds are for; among symbols alone, none is.
        let last = if dims > self.symbols { dims } else { 0 };
        // Where each column of the part is: one of all, or one to eliminate.
        let mut columns: Vec<Option<usize>> = (0..dims).map(Some).collect();
        let mut gone = Vec::new();
        for (index, division) in part.divisions.iter().enumerate() {
            let uses = |(at, value): (usize, &Integer)| !value.is_zero() && (at + 1 == last);
            let numerator = &division.numerator[1..];
            let inner = numerator[..dims].iter().enumerate().any(uses)
                || gone.iter().any(|at: &usize| {
                    numerator.get(dims + *at).is_some_and(|value| !value.is_zero())
                });
            match inner {
                true => {
                    gone.push(index);
                    columns.push(None);
                }
                false => {
                    let place = self.named_division(division, &columns);
                    columns.push(Some(place));
                }
            }
        }
        let base = self.names.len();
        let mut names = self.names.clone();
        // No text can name a variable so.
        names.extend((0..gone.len()).map(|at| format!("#{at}")));
        let mut next = base;
        let to: Vec<usize> = columns
            .iter()
            .map(|place| {
                place.unwrap_or_else(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let mut rows = Vec::new();
        for row in &part.equalities {
            let row = moved(row, &to, names.len());
            rows.extend([negated(&row), row]);
        }
        rows.extend(part.inequalities.iter().map(|row| moved(row, &to, names.len())));
        for index in &gone {
            let Division { numerator, denominator } = &part.divisions[*index];
            let mut low = moved(numerator, &to, names.len());
            let column = 1 + to[dims + index];
            low[column] = low[column].sub(denominator);
            let mut high = negated(&low);
            high[0] = high[0].add(&denominator.sub(&Integer::ONE));
            rows.extend([low, high]);
        }
        let mut system = Inequalities::new(names.clone(), rows)?;
        for name in names[base..].iter().rev() {
            system = system.eliminate(name, self.budget)?.result;
        }
        let cut = |row: &Vec<Integer>| row[..=base].to_vec();
        Ok(system.rows().iter().map(cut).collect())
    }

    /// Returns the column of a division of outer variables, a new one where there is none yet.
    fn named_division(&mut self, division: &Division, columns: &[Option<usize>]) -> usize {
        let to: Vec<usize> = columns.iter().map(|place| place.unwrap_or(0)).collect();
        let width = self.names.len();
        let mut numerator = moved(&division.numerator, &to, width);
        while numerator.last().is_some_and(Integer::is_zero) {
            numerator.pop();
        }
        let first = self.symbols + self.loops;
        let denominator = division.denominator.clone();
        let new = Division { numerator, denominator };
        if let Some(at) = self.divisions.iter().position(|known| *known == new) {
            return first + at;
        }
        let text = sum(&new.numerator, &self.names);
        let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '\'');
        self.names.push(match simple {
            true => format!("floor({text}/{})", new.denominator),
            false => format!("floor(({text})/{})", new.denominator),
        });
        self.divisions.push(new);
        width
    }

    /// Returns what bounds and strides do not say; nothing if they say all.
    fn condition(
        &self,
        nest: &[LoopBounds],
        strides: &[Relation],
    ) -> Result<Option<String>, Error> {
        let mut part = Conjunction { divisions: Vec::new(), ..Conjunction::default() };
        let width = 1 + self.symbols + self.loops;
        for (at, division) in self.divisions.iter().enumerate() {
            let mut numerator = division.numerator.clone();
            numerator.resize(width + at, Integer::ZERO);
            part.divisions.push(Division { numerator, ..division.clone() });
        }
        for bounds in nest {
            part.inequalities.extend(bounds.lower.iter().chain(&bounds.upper).cloned());
        }
        let mut said = Self::one(self.set.space(), part)?;
        for (at, stride) in strides.iter().enumerate() {
            let to: Vec<usize> = (0..=self.symbols + at).collect();
            said = said.intersect(&stride.placed(self.set.space().clone(), &to)?, self.budget)?;
        }
        if said.is_subset(&self.set, self.budget)? {
            return Ok(None);
        }
        let text = self.set.gist(&said, self.budget)?.to_string();
        Ok(match (text.matches("; ").count(), text.split_once(" : ")) {
            (0, Some((_, formula))) => Some(formula.trim_end_matches(" }").to_owned()),
            _ => Some(format!("in {text}")),
        })
    }

    fn one(space: &Space, part: Conjunction) -> Result<Relation, Error> {
        Relation::from_conjunctions(space.clone(), &[part])
    }
}

/// Moves the columns of a row: column `1 + i` becomes `1 + to[i]` of as many as there are names.
fn moved(row: &[Integer], to: &[usize], names: usize) -> Vec<Integer> {
    let mut result = vec![Integer::ZERO; 1 + names];
    result[0] = row[0].clone();
    for (value, to) in row[1..].iter().zip(to) {
        result[1 + to] = result[1 + to].add(value);
    }
    result
}

/// Moves a bound that is a number to the nearest value of the stride inside.
fn tightened(
    mut rows: Vec<Vec<Integer>>,
    column: usize,
    stride: &Integer,
    offset: &[Integer],
) -> Vec<Vec<Integer>> {
    let constant = |row: &[Integer], but: usize| {
        row.iter().enumerate().skip(1).all(|(at, value)| at == but || value.is_zero())
    };
    if *stride == Integer::ONE || !constant(offset, 0) {
        return rows;
    }
    for row in rows.iter_mut().filter(|row| constant(row, column)) {
        // The row is `c + f x >= 0`.
        let (constant, factor) = (row[0].clone(), row[column].clone());
        row[column] = Integer::from(i64::from(factor.sign()));
        row[0] = match factor.sign() > 0 {
            true => {
                let least = constant.neg().add(&factor).sub(&Integer::ONE).div_floor(&factor);
                least.add(&offset[0].sub(&least).mod_floor(stride)).neg()
            }
            false => {
                let greatest = constant.div_floor(&factor.neg());
                greatest.sub(&greatest.sub(&offset[0]).mod_floor(stride))
            }
        };
    }
    rows
}

impl LoopBounds {
    /// Writes what the stride says of the variable; nothing if that is 1.
    fn congruence(&self) -> Option<String> {
        if self.stride == Integer::ONE {
            return None;
        }
        let (variable, stride) = (&self.variable, &self.stride);
        if self.offset[1..].iter().all(Integer::is_zero) {
            return Some(format!("{variable} mod {stride} = {}", self.offset[0]));
        }
        let mut row = negated(&self.offset);
        let column = self.names.iter().position(|name| name == variable).unwrap_or(0);
        row[1 + column] = row[1 + column].add(&Integer::ONE);
        Some(format!("({}) mod {stride} = 0", sum(&row, &self.names)))
    }
}

impl fmt::Display for LoopBounds {
    /// Writes the loop as `for x in max(..) ..= min(..) where x mod .. = ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let col = self.names.iter().position(|name| *name == self.variable).unwrap_or(0);
        let side = |rows: &[Vec<Integer>], round: &str, pick: &str| {
            let one = |row: &Vec<Integer>| {
                let factor = &row[1 + col];
                let mut row = if factor.sign() > 0 { negated(row) } else { row.clone() };
                row[1 + col] = Integer::ZERO;
                let text = sum(&row, &self.names);
                match factor.is_unit() {
                    true => text,
                    false => format!("{round}(({text})/{})", factor.abs()),
                }
            };
            let texts: Vec<String> = rows.iter().map(one).collect();
            match &texts[..] {
                [] => "?".to_owned(),
                [single] => single.clone(),
                _ => format!("{pick}({})", texts.join(", ")),
            }
        };
        let low = side(&self.lower, "ceil", "max");
        let high = side(&self.upper, "floor", "min");
        write!(f, "for {} in {low} ..= {high}", self.variable)?;
        let facts: Vec<String> =
            self.congruence().into_iter().chain(self.condition.clone()).collect();
        match facts.is_empty() {
            true => Ok(()),
            false => write!(f, " where {}", facts.join(" and ")),
        }
    }
}
