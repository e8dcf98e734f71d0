//! The sums of differences that paths of a number of steps make.

use crate::basic_map::BasicMap;
use crate::relation::intersect_parts;
use crate::{Budget, Error, Integer, Relation, Space, Tuple};

impl Relation {
    /// Relates `x` to `(y, k)` for at least all paths of `k` steps from `x` to `y`.
    pub(super) fn counted(&self, budget: &Budget) -> Result<Self, Error> {
        let n = self.endo()?.dims.len();
        let p = self.space().params.len();
        let mut steps = Vec::new();
        for part in self.parts.iter() {
            let one = Self::new(self.space().clone(), vec![part.clone()]);
            let moves = one.deltas(budget)?;
            let hull = moves.simple_hull(budget)?.intersect(&moves.affine_hull(budget)?, budget)?;
            steps.extend(hull.parts.iter().cloned());
        }
        let first = p + 2 * n + 1;
        // Columns: x, y, k; then for each disjunct its share of the steps, and of the way.
        let all = first + steps.len() * (1 + n);
        let mut sum = BasicMap::universe(all);
        let mut ways = vec![vec![Integer::ZERO; 1 + all]; n];
        let mut total = vec![Integer::ZERO; 1 + all];
        total[first] = Integer::MINUS_ONE;
        for (i, way) in ways.iter_mut().enumerate() {
            (way[1 + p + i], way[1 + p + n + i]) = (Integer::ONE, Integer::MINUS_ONE);
        }
        for (index, step) in steps.iter().enumerate() {
            let count = first + index * (1 + n);
            total[1 + count] = Integer::ONE;
            let mut unit = vec![Integer::ZERO; 1 + all];
            unit[1 + count] = Integer::ONE;
            sum.system.ineqs.push(&unit);
            for (i, way) in ways.iter_mut().enumerate() {
                way[2 + count + i] = Integer::ONE;
            }
            for (rows, equation) in [(&step.system.eqs, true), (&step.system.ineqs, false)] {
                for row in rows.rows() {
                    let (given, divs) = (&row[1..=p], &row[1 + p + n..]);
                    if given.iter().chain(divs).any(|v| *v != 0) {
                        continue;
                    }
                    let mut scaled = vec![Integer::ZERO; 1 + all];
                    scaled[1 + count] = row[0].clone();
                    scaled[2 + count..2 + count + n].clone_from_slice(&row[1 + p..1 + p + n]);
                    let rows = match equation {
                        true => &mut sum.system.eqs,
                        false => &mut sum.system.ineqs,
                    };
                    rows.push(&scaled);
                }
            }
        }
        ways.iter().for_each(|way| sum.system.eqs.push(way));
        sum.system.eqs.push(&total);
        let mut positive = vec![Integer::ZERO; 1 + all];
        (positive[0], positive[first]) = (Integer::MINUS_ONE, Integer::ONE);
        sum.system.ineqs.push(&positive);
        let mut parts = Vec::new();
        if let Some(sum) = sum.tidied() {
            parts = sum.project(first..all, budget)?;
        }
        let ends = self.ends(budget)?;
        let space = Space { output: counted_tuple(&self.space().output), ..self.space().clone() };
        Ok(Self::new(space, intersect_parts(&parts, &ends, budget)?))
    }

    /// Returns all `x`, `y` and `k` where `x` is an input and `y` an output.
    fn ends(&self, budget: &Budget) -> Result<Vec<BasicMap>, Error> {
        let (p, n) = (self.space().params.len(), self.space().inputs());
        let dims = p + 2 * n + 1;
        let place = |set: &Self, shift: usize| -> Vec<BasicMap> {
            let to: Vec<usize> = (0..p).chain((0..n).map(|i| p + shift + i)).collect();
            set.parts.iter().map(|part| part.place(dims, &to)).collect()
        };
        let (domain, range) = (self.domain(budget)?, self.range(budget)?);
        intersect_parts(
            &place(&domain.coalesce(budget)?, 0),
            &place(&range.coalesce(budget)?, n),
            budget,
        )
    }

    /// Returns whether `counted` holds no more than the paths.
    pub(super) fn counts(&self, counted: &Self, budget: &Budget) -> Result<bool, Error> {
        let (p, n) = (self.space().params.len(), self.space().inputs());
        let dims = counted.space().dims();
        let slice = |row: Vec<Integer>, equation: bool| {
            let mut part = BasicMap::universe(dims);
            let rows = if equation { &mut part.system.eqs } else { &mut part.system.ineqs };
            rows.push(&row);
            intersect_parts(&counted.parts, &[part], budget)
        };
        let mut row = vec![Integer::ZERO; 1 + dims];
        (row[0], row[dims]) = (Integer::MINUS_ONE, Integer::ONE);
        let single = Self::new(counted.space().clone(), slice(row.clone(), true)?);
        let single = single.project_out(n..n + 1, budget)?;
        let single = single.cast(self.space().input.clone(), self.space().output.clone())?;
        if !single.is_subset(self, budget)? {
            return Ok(false);
        }
        row[0] = Integer::from(-2);
        let more = Self::new(counted.space().clone(), slice(row, false)?);
        let next = self.apply_range(counted, budget)?;
        let mut succ = BasicMap::universe(p + 2 * n + 2);
        for i in 0..=n {
            let mut row = vec![Integer::ZERO; 1 + succ.dims];
            (row[1 + p + i], row[1 + p + n + 1 + i]) = (Integer::ONE, Integer::MINUS_ONE);
            row[0] = Integer::from(i == n);
            succ.system.eqs.push(&row);
        }
        let output = counted.space().output.clone();
        let space = Space::map(self.space().params.clone(), output.clone(), output);
        let next = next.apply_range(&Self::new(space, vec![succ]), budget)?;
        more.is_subset(&next, budget)
    }
}

/// Appends the number of steps to a tuple.
pub(super) fn counted_tuple(tuple: &Tuple) -> Tuple {
    Tuple::new("", tuple.dims.iter().cloned().chain(["k".to_owned()]))
}
