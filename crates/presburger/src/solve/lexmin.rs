//! Parametric integer programming: lexicographic minima as functions of parameters.
//!
//! The tableau is kept lexicographically dual feasible. Each unknown `x` is stored as
//! `x' = x + M >= 0` for a parameter `M` that counts as larger than everything and
//! divisible by everything; unknowns that are known not to be negative are stored as they
//! are, which spares a row and a pivot for each. A row whose sign the context leaves open splits the
//! context; a row with a fractional value gets a cut, whose remainder is a new
//! division of the parameters if the value depends on them.
//!
//! Source: P. Feautrier, "Parametric integer programming", RAIRO 1988; the tableau of
//! S. Verdoolaege, "isl", 2010. Divergence: the context keeps an integer point, so no
//! piece is empty and no sign is decided twice.

use super::feasible;
use super::lattice::value;
use super::number::{Number, common, fit, opposites, reduce, widening};
use super::redundancy::narrowed;
use super::simplex::{Simplex, pivot_rows};
use crate::{Budget, Error, Integer};

/// A definition `floor(row / den)` over `[constant, parameters.., earlier divisions..]`.
pub(crate) type Floor<T = Integer> = (Vec<T>, T);

/// A system over `[constant, parameters.., unknowns..]`.
#[derive(Debug, Default)]
pub(crate) struct Query {
    pub params: usize,
    pub unknowns: usize,
    /// Rows over the parameters alone, not negative.
    pub context: Vec<Vec<Integer>>,
    /// Parameters that are divisions of others, as column and definition.
    pub floors: Vec<(usize, Floor)>,
    /// Rows that are not negative.
    pub rows: Vec<Vec<Integer>>,
    /// No unknown is negative; `rows` need not say so.
    pub natural: bool,
}

/// The minimum on one part of the context; parts are disjoint.
#[derive(Debug)]
pub(crate) struct Piece<T = Integer> {
    /// New divisions: columns after the parameters.
    pub floors: Vec<Floor<T>>,
    /// What holds beside the context of the query, over parameters and new divisions.
    pub context: Vec<Vec<T>>,
    /// A row for each unknown, or nothing where one decreases without bound.
    pub minimum: Option<Vec<Vec<T>>>,
}

/// Solves `query`; parameter values without a piece have no solution.
pub(crate) fn lexmin(query: &Query, budget: &Budget) -> Result<Vec<Piece>, Error> {
    widening!(T => {
        let pieces = solve::<T>(query, budget)?;
        Ok(pieces.iter().map(Piece::exact).collect())
    })
}

impl<T: Number> Piece<T> {
    fn exact(&self) -> Piece {
        let row = |row: &Vec<T>| row.iter().map(Number::integer).collect::<Vec<_>>();
        let rows = |rows: &[Vec<T>]| rows.iter().map(row).collect::<Vec<_>>();
        Piece {
            floors: self.floors.iter().map(|(num, den)| (row(num), den.integer())).collect(),
            context: rows(&self.context),
            minimum: self.minimum.as_deref().map(rows),
        }
    }
}

/// What is known about the parameters; holds at least one integer point.
#[derive(Debug, Clone)]
struct Context<T> {
    simplex: Simplex<T>,
    /// All rows; the flag marks those that were added and are part of the answer.
    rows: Vec<Vec<T>>,
    added: Vec<bool>,
    point: Vec<T>,
    floors: Vec<(usize, Floor<T>)>,
    new_floors: usize,
}

impl<T: Number> Context<T> {
    /// Returns nothing if no integer point satisfies the context.
    fn of(query: &Query, budget: &Budget) -> Result<Option<Self>, Error> {
        let floors = query
            .floors
            .iter()
            .map(|(col, (row, den))| Ok((*col, (narrowed(row)?, fit(T::of(den))?))));
        let mut context = Self {
            simplex: Simplex::new(query.params),
            rows: Vec::new(),
            added: vec![false; query.context.len()],
            point: vec![T::zero(); query.params],
            floors: floors.collect::<Result<_, Error>>()?,
            new_floors: 0,
        };
        for row in &query.context {
            let row: Vec<T> = narrowed(row)?;
            context.simplex.add_inequality(&row, budget)?;
            context.rows.push(row);
        }
        let Some(point) = feasible::point_of(&context.rows, query.params, &context.floors, budget)?
        else {
            return Ok(None);
        };
        context.point = point;
        Ok(Some(context))
    }

    /// Adds `row >= 0`; false if no integer point is left.
    fn add(&mut self, row: Vec<T>, budget: &Budget) -> Result<bool, Error> {
        self.simplex.add_inequality(&row, budget)?;
        if self.simplex.is_empty() {
            return Ok(false);
        }
        let holds = value(&row, &self.point)?.sign() >= 0;
        self.rows.push(row);
        self.added.push(true);
        if !holds {
            match feasible::point_of(&self.rows, self.point.len(), &self.floors, budget)? {
                Some(point) => self.point = point,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns the column of `floor(row / den)`, new if there is none yet.
    fn floor(&mut self, mut row: Vec<T>, den: T, budget: &Budget) -> Result<(usize, bool), Error> {
        let g = common(&row[1..]).gcd(&den);
        let den = den.floor_div(&g);
        row.iter_mut().for_each(|v| *v = v.floor_div(&g));
        let same = |old: &[T]| {
            let n = old.len().min(row.len());
            old[..n] == row[..n] && old[n..].iter().chain(&row[n..]).all(Number::is_zero)
        };
        let found = self.floors.iter().find(|(_, (old, d))| *d == den && same(old));
        if let Some((col, _)) = found {
            return Ok((*col, false));
        }
        let col = self.point.len();
        self.simplex.add_variable();
        self.rows.iter_mut().for_each(|row| row.push(T::zero()));
        let q = value(&row, &self.point)?.floor_div(&den);
        self.point.push(q);
        let mut low = row.clone();
        low.resize(col + 1, T::zero());
        low.push(fit(den.opposite())?);
        let mut high = opposites(&low)?;
        high[0] = fit(fit(high[0].plus(&den))?.minus(&T::one()))?;
        for bound in [low, high] {
            // The point satisfies both bounds by its definition.
            self.simplex.add_inequality(&bound, budget)?;
            self.rows.push(bound);
            self.added.push(false);
        }
        self.floors.push((col, (row, den)));
        self.new_floors += 1;
        Ok((col, true))
    }

    fn added(&self) -> Vec<Vec<T>> {
        let rows = self.rows.iter().zip(&self.added);
        rows.filter(|(_, added)| **added).map(|(row, _)| row.clone()).collect()
    }

    fn added_floors(&self) -> Vec<Floor<T>> {
        let first = self.floors.len() - self.new_floors;
        self.floors[first..].iter().map(|(_, floor)| floor.clone()).collect()
    }
}

const BIG: usize = 2;
const FIRST: usize = 3;
const CONSTRAINT: usize = usize::MAX;

#[derive(Debug, Clone, Copy)]
struct Place {
    in_row: bool,
    pos: usize,
}

/// Columns: denominator, constant, `M`, column unknowns, parameters.
#[derive(Debug, Clone)]
struct Tableau<T> {
    data: Vec<T>,
    cols: usize,
    natural: bool,
    places: Vec<Place>,
    row_of: Vec<usize>,
    col_of: Vec<usize>,
}

impl<T: Number> Tableau<T> {
    fn of(query: &Query) -> Result<Self, Error> {
        let (n, p) = (query.unknowns, query.params);
        let mut tableau = Self {
            data: Vec::new(),
            cols: FIRST + n + p,
            natural: query.natural,
            places: (0..n).map(|i| Place { in_row: false, pos: FIRST + i }).collect(),
            row_of: Vec::new(),
            col_of: (0..n).collect(),
        };
        for row in &query.rows {
            let row: Vec<T> = narrowed(row)?;
            let mut big = T::zero();
            for value in row[1 + p..].iter().filter(|_| !query.natural) {
                big = fit(big.minus(value))?;
            }
            let mut new = vec![T::one(), row[0].clone(), big];
            new.extend_from_slice(&row[1 + p..]);
            new.extend_from_slice(&row[1..=p]);
            tableau.push(new);
        }
        Ok(tableau)
    }

    fn push(&mut self, row: Vec<T>) {
        self.data.extend(row);
        self.row_of.push(CONSTRAINT);
    }

    fn rows(&self) -> usize {
        self.row_of.len()
    }

    fn row(&self, row: usize) -> &[T] {
        &self.data[row * self.cols..][..self.cols]
    }

    fn params_from(&self) -> usize {
        FIRST + self.places.len()
    }

    fn add_param(&mut self) {
        let mut data = Vec::with_capacity(self.data.len() + self.rows());
        for row in self.data.chunks_exact(self.cols) {
            data.extend_from_slice(row);
            data.push(T::zero());
        }
        self.data = data;
        self.cols += 1;
    }

    /// Makes row `row` 0 by a pivot; false if that is impossible.
    fn lift(&mut self, row: usize, budget: &Budget) -> Result<bool, Error> {
        let mut best: Option<usize> = None;
        for col in FIRST..self.params_from() {
            if self.row(row)[col].sign() > 0
                && best.map_or(Ok(true), |old| self.precedes(row, col, old))?
            {
                best = Some(col);
            }
        }
        let Some(col) = best else { return Ok(false) };
        budget.spend(self.data.len() / 16)?;
        let (r, c) = (self.row_of[row], self.col_of[col - FIRST]);
        self.row_of[row] = c;
        self.col_of[col - FIRST] = r;
        if r != CONSTRAINT {
            self.places[r] = Place { in_row: false, pos: col };
        }
        if c != CONSTRAINT {
            self.places[c] = Place { in_row: true, pos: row };
        }
        pivot_rows(&mut self.data, self.cols, row, col)?;
        Ok(true)
    }

    /// Says whether a pivot on column `a` gives a lesser sample point than one on `b`.
    fn precedes(&self, row: usize, a: usize, b: usize) -> Result<bool, Error> {
        let (pa, pb) = (&self.row(row)[a], &self.row(row)[b]);
        for place in &self.places {
            if !place.in_row {
                if place.pos == a {
                    return Ok(false);
                }
                if place.pos == b {
                    return Ok(true);
                }
                continue;
            }
            let unknown = self.row(place.pos);
            let (left, right) = (fit(unknown[a].times(pb))?, fit(unknown[b].times(pa))?);
            if left != right {
                return Ok(left < right);
            }
        }
        Ok(false)
    }

    /// Returns the sample value of a row over the parameters, up to its denominator.
    fn form(&self, row: usize) -> Vec<T> {
        let row = self.row(row);
        let mut form = vec![row[1].clone()];
        form.extend_from_slice(&row[self.params_from()..]);
        let g = common(&form[1..]);
        if g.sign() > 0 {
            form.iter_mut().for_each(|v| *v = v.floor_div(&g));
        }
        form
    }

    /// Finds an unknown, the first in order, whose value is a fraction.
    fn fraction(&self) -> Result<Option<usize>, Error> {
        for place in self.places.iter().filter(|place| place.in_row) {
            let row = self.row(place.pos);
            let params = &row[self.params_from()..];
            if row[0] != T::one() {
                for value in std::iter::once(&row[1]).chain(params) {
                    if !fit(value.modulo(&row[0]))?.is_zero() {
                        return Ok(Some(place.pos));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the values of the unknowns, if none of them depends on `M`.
    fn values(&self) -> Option<Vec<Vec<T>>> {
        let value = |place: &Place| {
            if !place.in_row {
                let params = self.cols - self.params_from();
                return self.natural.then(|| vec![T::zero(); 1 + params]);
            }
            let row = self.row(place.pos);
            if !self.natural && row[BIG] != row[0] {
                return None;
            }
            let numbers = std::iter::once(&row[1]).chain(&row[self.params_from()..]);
            Some(numbers.map(|v| v.floor_div(&row[0])).collect())
        };
        self.places.iter().map(value).collect()
    }
}

/// One part of the context, and the row to make 0 on entry.
struct Branch<T> {
    tableau: Tableau<T>,
    context: Context<T>,
    lift: Option<usize>,
}

enum Next {
    Lift(usize),
    Split(usize),
    Cut(usize),
    Done,
}

fn solve<T: Number>(query: &Query, budget: &Budget) -> Result<Vec<Piece<T>>, Error> {
    let Some(context) = Context::of(query, budget)? else { return Ok(Vec::new()) };
    let mut stack = vec![Branch { tableau: Tableau::of(query)?, context, lift: None }];
    let mut pieces = Vec::new();
    while let Some(mut branch) = stack.pop() {
        if branch.run(&mut stack, budget)? {
            pieces.push(Piece {
                floors: branch.context.added_floors(),
                context: branch.context.added(),
                minimum: branch.tableau.values(),
            });
        }
    }
    Ok(pieces)
}

impl<T: Number> Branch<T> {
    /// Works until the minimum is found, or there is none; other parts go on the stack.
    fn run(&mut self, stack: &mut Vec<Self>, budget: &Budget) -> Result<bool, Error> {
        if let Some(row) = self.lift.take()
            && !self.tableau.lift(row, budget)?
        {
            return Ok(false);
        }
        loop {
            match self.next(budget)? {
                Next::Done => return Ok(true),
                Next::Lift(row) => {
                    if !self.tableau.lift(row, budget)? {
                        return Ok(false);
                    }
                }
                Next::Cut(row) => {
                    if !self.cut(row, budget)? {
                        return Ok(false);
                    }
                }
                Next::Split(row) => {
                    let form = self.tableau.form(row);
                    let mut opposite = opposites(&form)?;
                    opposite[0] = fit(opposite[0].minus(&T::one()))?;
                    let mut context = self.context.clone();
                    if context.add(opposite, budget)? {
                        let tableau = self.tableau.clone();
                        stack.push(Self { tableau, context, lift: Some(row) });
                    }
                    if !self.context.add(form, budget)? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    fn next(&mut self, budget: &Budget) -> Result<Next, Error> {
        let big = (0..self.tableau.rows()).find(|row| self.tableau.row(*row)[BIG].sign() < 0);
        if let Some(row) = big {
            return Ok(Next::Lift(row));
        }
        let mut split = None;
        for row in 0..self.tableau.rows() {
            if self.tableau.row(row)[BIG].sign() > 0 {
                continue;
            }
            let values = self.tableau.row(row);
            if values[self.tableau.params_from()..].iter().all(Number::is_zero) {
                if values[1].sign() < 0 {
                    return Ok(Next::Lift(row));
                }
                continue;
            }
            let form = self.tableau.form(row);
            let here = value(&form, &self.context.point)?.sign() >= 0;
            if here {
                if split.is_none() && !self.context.simplex.implies(&form, budget)? {
                    split = Some(row);
                }
            } else if self.context.simplex.excludes(&form, budget)? {
                return Ok(Next::Lift(row));
            } else if split.is_none() {
                split = Some(row);
            }
        }
        if let Some(row) = split {
            return Ok(Next::Split(row));
        }
        Ok(self.tableau.fraction()?.map_or(Next::Done, Next::Cut))
    }

    /// Cuts off the fractional value of a row; false if nothing is left.
    fn cut(&mut self, row: usize, budget: &Budget) -> Result<bool, Error> {
        let source = self.tableau.row(row).to_vec();
        let (den, from) = (source[0].clone(), self.tableau.params_from());
        let rest = |v: &T| -> Result<T, Error> { fit(fit(v.opposite())?.modulo(&den)) };
        let mut floor = vec![rest(&source[1])?];
        for value in &source[from..] {
            floor.push(rest(value)?);
        }
        let mut cut = vec![T::zero(); self.tableau.cols];
        cut[0] = den.clone();
        cut[1] = fit(floor[0].opposite())?;
        for col in FIRST..from {
            cut[col] = fit(source[col].modulo(&den))?;
        }
        if floor[1..].iter().any(|v| !v.is_zero()) {
            for (col, value) in floor[1..].iter().enumerate() {
                cut[from + col] = fit(value.opposite())?;
            }
            let (col, new) = self.context.floor(floor, den.clone(), budget)?;
            if new {
                self.tableau.add_param();
                cut.push(T::zero());
            }
            cut[from + col] = fit(cut[from + col].plus(&den))?;
        }
        reduce(&mut cut);
        let index = self.tableau.rows();
        self.tableau.push(cut);
        self.tableau.lift(index, budget)
    }
}
