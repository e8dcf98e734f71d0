//! The convex hull of the rational relaxations.
//!
//! A point of the hull of `P` and `Q` is `y + z` with `y` in `t P` and `z` in `(1 - t) Q`,
//! where a constraint `a x + c >= 0` of `P` becomes `a y + c t >= 0`. Fourier-Motzkin
//! takes `y` and `t` away again.
//!
//! Source: E. Balas, "Disjunctive programming", 1979.

use crate::basic::Basic;
use crate::{Budget, Error, Inequalities, Relation};

impl Relation {
    /// Returns the smallest convex polyhedron around the rational relaxations of all disjuncts.
    ///
    /// A superset of the points, without divisions; closed, so that the hull of a point and a
    /// ray holds the parallel ray too. The cost grows fast with the number of dimensions.
    pub fn convex_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let mut hull: Option<Inequalities> = None;
        for part in self.parts.iter() {
            if part.is_empty(budget)? {
                continue;
            }
            let next = relaxed(part, budget)?;
            hull = Some(match hull {
                None => next,
                Some(hull) => joined(&hull, &next, budget)?,
            });
        }
        let Some(hull) = hull else { return Ok(Self::empty(self.space().clone())) };
        let mut part = Basic::universe(self.space().dims());
        for row in hull.rows() {
            part.system.ineqs.push(row);
        }
        self.replaced(part.tidied()?)
    }

    /// Returns the convex hull cut down to the affine hull of the integer points.
    ///
    /// A superset of the points.
    pub fn polyhedral_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.convex_hull(budget)?.intersect(&self.affine_hull(budget)?, budget)
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| i.to_string()).collect()
}

/// Drops the divisions of a conjunction over the rationals.
fn relaxed(part: &Basic, budget: &Budget) -> Result<Inequalities, Error> {
    let system = part.unfolded()?;
    let vars = system.cols() - 1;
    let mut rows: Vec<Vec<i128>> = system.ineqs.rows().map(<[i128]>::to_vec).collect();
    for row in system.eqs.rows() {
        rows.push(row.to_vec());
        rows.push(crate::matrix::negated(row)?);
    }
    let all = Inequalities::new(names(vars), rows)?;
    without(all, part.dims..vars, budget)
}

/// Eliminates the variables of `range`, which are the last ones.
fn without(
    mut all: Inequalities,
    range: std::ops::Range<usize>,
    budget: &Budget,
) -> Result<Inequalities, Error> {
    let mut open: Vec<usize> = range.clone().collect();
    while !open.is_empty() {
        // The variable with the fewest combinations goes first.
        let cost = |var: &usize| {
            let side =
                |sign: i128| all.rows().iter().filter(|r| r[1 + var].signum() == sign).count();
            side(1) * side(-1)
        };
        let Some(index) = (0..open.len()).min_by_key(|index| cost(&open[*index])) else { break };
        let var = open.swap_remove(index);
        all = all.eliminate(&var.to_string(), budget)?.result;
    }
    let rows = all.rows().iter().map(|row| row[..1 + range.start].to_vec()).collect();
    Inequalities::new(names(range.start), rows)
}

/// Returns the convex hull of two polyhedra that are not empty.
fn joined(a: &Inequalities, b: &Inequalities, budget: &Budget) -> Result<Inequalities, Error> {
    let n = a.names().len();
    // Columns: the point, its share of `a`, the weight of `a`.
    let all = 2 * n + 1;
    let weight = all;
    let mut rows = Vec::new();
    for row in a.rows() {
        let mut wide = vec![0; 1 + all];
        wide[1 + n..=2 * n].copy_from_slice(&row[1..]);
        wide[weight] = row[0];
        rows.push(wide);
    }
    for row in b.rows() {
        let mut wide = vec![0; 1 + all];
        wide[..=n].copy_from_slice(row);
        let opposite = crate::matrix::negated(row)?;
        wide[1 + n..=2 * n].copy_from_slice(&opposite[1..]);
        wide[weight] = opposite[0];
        rows.push(wide);
    }
    let (mut low, mut high) = (vec![0; 1 + all], vec![0; 1 + all]);
    low[weight] = 1;
    (high[0], high[weight]) = (1, -1);
    rows.extend([low, high]);
    without(Inequalities::new(names(all), rows)?, n..all, budget)
}
