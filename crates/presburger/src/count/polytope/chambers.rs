//! Chambers: where in the space of the parameters which vertices are there.
//!
//! The domains of the vertices overlap; on a chamber the set of active ones is
//! constant, and so is the quasi-polynomial. The closure of a chamber is the
//! intersection of the domains of its active vertices. From a first chamber the
//! others are reached across facets.
//!
//! Chambers meet in their facets, where both quasi-polynomials agree. A facet goes to
//! the chamber on the side of one point in general position inside of the whole
//! domain: every integer point is then in exactly one chamber.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cone::{Bits, Cone, Row, crossed, dot, reduced};
use super::vertices::Vertex;
use crate::matrix::gcd;
use crate::{Budget, Error, Integer};

/// Inequalities over `(t, 1)`, and the vertices that are active where they hold.
#[derive(Debug, Clone)]
pub(crate) struct Chamber {
    pub ineqs: Vec<Row>,
    pub active: Vec<usize>,
}

/// How often a point in general position is looked for.
const TRIES: i64 = 64;

/// Lists the chambers; `shadow` holds the generators of the domain of all parameters.
pub(crate) fn chambers(
    params: usize,
    vertices: &[Vertex],
    shadow: &[Row],
    budget: &Budget,
) -> Result<Vec<Chamber>, Error> {
    if params == 0 {
        let active = (0..vertices.len()).collect();
        return Ok(vec![Chamber { ineqs: Vec::new(), active }]);
    }
    let walls = Walls::new(vertices);
    let Some((center, first)) = walls.center(shadow) else { return Ok(Vec::new()) };
    let mut seen = FxHashSet::default();
    seen.insert(first.clone());
    let mut open = vec![first];
    let mut result = Vec::new();
    while let Some(active) = open.pop() {
        budget.spend(walls.rows.len())?;
        let mut ineqs = Vec::new();
        for (facet, around) in walls.facets(params, &active, budget)? {
            if let Some(next) = walls.beyond(&facet, &around)
                && next.len() > 0
                && seen.insert(next.clone())
            {
                open.push(next);
            }
            ineqs.push(half_open(facet, &center));
        }
        result.push(Chamber { ineqs, active: active.iter().collect() });
    }
    Ok(result)
}

/// Leaves the facet to the side on which `center` is; integers make `> 0` into `>= 1`.
fn half_open(mut facet: Row, center: &[Integer]) -> Row {
    let constant = facet.len() - 1;
    if dot(&facet, center).sign() < 0 {
        facet[constant] = facet[constant].sub(&Integer::ONE);
    }
    let g = gcd(&facet[..constant]);
    if g > Integer::ONE {
        facet.iter_mut().for_each(|v| *v = v.div_floor(&g));
    }
    facet
}

/// All bounds of all domains, each stored once.
struct Walls {
    rows: Vec<Row>,
    /// For each vertex, the bounds of its domain.
    of: Vec<Vec<usize>>,
}

impl Walls {
    fn new(vertices: &[Vertex]) -> Self {
        let mut index = FxHashMap::default();
        let mut rows: Vec<Row> = Vec::new();
        let mut number = |row: &Row| {
            *index.entry(row.clone()).or_insert_with(|| {
                rows.push(row.clone());
                rows.len() - 1
            })
        };
        let of = vertices.iter().map(|v| v.domain.iter().map(&mut number).collect()).collect();
        Self { rows, of }
    }

    /// Returns the vertices whose bounds all satisfy `inside`, by number of the bound.
    fn active(&self, inside: impl Fn(usize) -> bool) -> Bits {
        let mut result = Bits::default();
        for (vertex, bounds) in self.of.iter().enumerate() {
            if bounds.iter().all(|bound| inside(*bound)) {
                result.insert(vertex);
            }
        }
        result
    }

    /// Finds a point of the domain that is on no wall, and the vertices that it has.
    fn center(&self, shadow: &[Row]) -> Option<(Row, Bits)> {
        (1..TRIES).find_map(|seed| {
            let point = mixed(shadow.iter(), seed)?;
            let signs: Vec<i32> = self.rows.iter().map(|row| dot(row, &point).sign()).collect();
            let plain = |row: &Row| row.iter().rev().skip(1).all(Integer::is_zero);
            let general = signs.iter().zip(&self.rows).all(|(sign, row)| *sign != 0 || plain(row));
            general.then(|| (point, self.active(|bound| signs[bound] >= 0)))
        })
    }

    /// Lists the facets of a chamber, each with the rays on it.
    fn facets(
        &self,
        params: usize,
        active: &Bits,
        budget: &Budget,
    ) -> Result<Vec<(Row, Vec<Row>)>, Error> {
        let mut bounds: Vec<usize> = active.iter().flat_map(|v| self.of[v].clone()).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut positive = vec![Integer::ZERO; params + 1];
        positive[params] = Integer::ONE;
        let rows = bounds.iter().map(|b| &self.rows[*b][..]).chain([&positive[..]]);
        let cone = Cone::new(params + 1, rows, budget)?;
        let mut result = Vec::new();
        let mut taken = FxHashSet::default();
        for (index, bound) in bounds.iter().enumerate() {
            let on = cone.rays.iter().filter(|ray| ray.tight.contains(index));
            let mut rows: Vec<Row> = on.map(|ray| ray.row.clone()).collect();
            if rows.len() + cone.lines.len() < params {
                continue;
            }
            for line in &cone.lines {
                rows.push(line.clone());
                rows.push(line.iter().map(Integer::neg).collect());
            }
            // A bound that does not depend on the parameters cuts nothing off.
            let finite = rows.iter().any(|row| !row[params].is_zero());
            if finite && rank(&rows) == params && taken.insert(self.rows[*bound].clone()) {
                result.push((self.rows[*bound].clone(), rows));
            }
        }
        Ok(result)
    }

    /// Returns the vertices on the other side of a facet, or `None` if it stays hidden.
    fn beyond(&self, facet: &Row, around: &[Row]) -> Option<Bits> {
        (1..TRIES).find_map(|seed| {
            let point = mixed(around.iter(), seed)?;
            let sides: Option<Vec<bool>> = self
                .rows
                .iter()
                .map(|row| match dot(row, &point).sign() {
                    0 => side_across(row, facet),
                    sign => Some(sign > 0),
                })
                .collect();
            sides.map(|inside| self.active(|bound| inside[bound]))
        })
    }
}

/// Returns whether `row`, zero on the facet, grows beyond it; `None` if it is zero by chance.
fn side_across(row: &Row, facet: &Row) -> Option<bool> {
    let Some(lead) = facet.iter().position(|v| !v.is_zero()) else { return Some(true) };
    if row.iter().all(Integer::is_zero) {
        return Some(true);
    }
    let parallel = crossed(&facet[lead], row, &row[lead], facet).iter().all(Integer::is_zero);
    parallel.then(|| row[lead].sign() != facet[lead].sign())
}

/// Adds up `rows` with weights that depend on `seed`; all weights are positive.
fn mixed<'a>(rows: impl Iterator<Item = &'a Row>, seed: i64) -> Option<Row> {
    let mut state = seed as u64;
    rows.map(|row| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let weight = Integer::from((state >> 54) as i64 + 1);
        row.iter().map(|v| v.mul(&weight)).collect::<Row>()
    })
    .reduce(|a, b| a.iter().zip(&b).map(|(x, y)| x.add(y)).collect())
    .map(reduced)
}

fn rank(rows: &[Row]) -> usize {
    let mut basis: Vec<Row> = Vec::new();
    for row in rows {
        let mut rest = row.clone();
        for old in &basis {
            let lead = old.iter().position(|v| !v.is_zero()).unwrap_or(0);
            if !rest[lead].is_zero() {
                rest = reduced(crossed(&old[lead], &rest, &rest[lead], old));
            }
        }
        if rest.iter().any(|v| !v.is_zero()) {
            basis.push(rest);
        }
    }
    basis.len()
}
