//! Signed decomposition of simplicial cones into unimodular ones, after Barvinok.
//!
//! Cones are given by their facet normals `b_1 .. b_d`, that is, as generators of the
//! polar cone: cones of lower dimension there contain lines here and count nothing.
//! For a short vector `w = sum l_i b_i / D`, where `D` is the determinant, the cone is
//! the sum over all `l_i != 0` of the cone with `w` in place of `b_i`, with the sign of
//! `l_i`; its determinant is `l_i`, smaller than `D` in size.
//!
//! Where `D` is small all vectors of the lattice are tried, else a basis reduced by LLL.
//!
//! Source: A. Barvinok, "A polynomial time algorithm for counting integral points in
//! polyhedra when the dimension is fixed", 1994; M. Brion for the polar form.

use super::lll::reduce;
use crate::count::polytope::cone::{Row, reduced};
use crate::count::polytope::vertices::solved;
use crate::matrix::gcd;
use crate::{Budget, Error, Integer};

/// Normals with determinant 1 or -1.
#[derive(Debug, Clone)]
pub(crate) struct Unimodular {
    pub negative: bool,
    /// Facet normals, as rows.
    pub normals: Vec<Row>,
    /// The inverse: column `i` is the edge that leaves facet `i`.
    pub edges: Vec<Row>,
}

struct Simplicial {
    negative: bool,
    normals: Vec<Row>,
    /// `det` times the inverse.
    adjugate: Vec<Row>,
    det: Integer,
}

/// Determinants up to this size have their whole lattice searched.
const SMALL: i64 = 96;

/// Decomposes the cone with the facet normals `rays`, which need not be simplicial.
pub(crate) fn decompose(
    dims: usize,
    rays: Vec<Row>,
    budget: &Budget,
) -> Result<Vec<Unimodular>, Error> {
    let mut result = Vec::new();
    let rays: Vec<Row> = rays.into_iter().map(reduced).collect();
    let mut stack = triangulated(dims, rays, budget)?;
    while let Some(cone) = stack.pop() {
        // All cones are kept, two square matrices each: a budget bounds what they take.
        budget.spend(2 * dims * dims)?;
        if cone.det.abs() == Integer::ONE {
            let negative = cone.det.sign() < 0;
            let sign = |v: Integer| if negative { v.neg() } else { v };
            let edges = cone.adjugate.into_iter();
            let edges = edges.map(|row| row.into_iter().map(sign).collect()).collect();
            result.push(Unimodular { negative: cone.negative, normals: cone.normals, edges });
        } else {
            let shares = cone.short_vector();
            cone.split(&shares, &mut stack);
        }
    }
    Ok(result)
}

/// Lists integer vectors of which all integer points of the cone over `rays` are sums.
///
/// They are the edges of unimodular cones that cover it.
pub(crate) fn generators(dims: usize, rays: Vec<Row>, budget: &Budget) -> Result<Vec<Row>, Error> {
    let mut result = Vec::new();
    let rays: Vec<Row> = rays.into_iter().map(reduced).collect();
    let mut stack = triangulated(dims, rays, budget)?;
    while let Some(cone) = stack.pop() {
        budget.spend(dims)?;
        if cone.det.abs() == Integer::ONE {
            result.extend(cone.normals);
        } else {
            let shares = cone.inner_vector();
            cone.split(&shares, &mut stack);
        }
    }
    result.sort_unstable();
    result.dedup();
    Ok(result)
}

impl Simplicial {
    fn new(normals: Vec<Row>) -> Option<Self> {
        let dims = normals.len();
        let unit = |i: usize| (0..dims).map(move |j| Integer::from(i64::from(i == j)));
        let rows = normals.iter().enumerate();
        let rows = rows.map(|(i, row)| row.iter().cloned().chain(unit(i)).collect()).collect();
        let (det, adjugate) = solved(dims, rows)?;
        Some(Self { negative: false, normals, adjugate, det })
    }

    /// Puts the vector of these shares in the place of each normal that has a share.
    fn split(self, shares: &[Integer], stack: &mut Vec<Self>) {
        let dims = self.normals.len();
        let mut w = vec![Integer::ZERO; dims];
        for (share, normal) in shares.iter().zip(&self.normals).filter(|(s, _)| !s.is_zero()) {
            for (sum, value) in w.iter_mut().zip(normal) {
                *sum = sum.add_mul(share, value);
            }
        }
        w.iter_mut().for_each(|v| *v = v.div_exact(&self.det));
        for (at, share) in shares.iter().enumerate().filter(|(_, share)| !share.is_zero()) {
            stack.push(self.replaced(at, share, shares, &w));
        }
    }

    /// Puts `w` in place of normal `at`; the inverse follows by one column operation.
    fn replaced(&self, at: usize, share: &Integer, shares: &[Integer], w: &Row) -> Self {
        let mut normals = self.normals.clone();
        normals[at] = w.clone();
        let column = |row: &Row| -> Row {
            let of = |(col, value): (usize, &Integer)| {
                if col == at {
                    return value.clone();
                }
                Integer::cross(share, value, &shares[col], &row[at]).div_exact(&self.det)
            };
            row.iter().enumerate().map(of).collect()
        };
        Self {
            negative: self.negative != (share.sign() != self.det.sign()),
            normals,
            adjugate: self.adjugate.iter().map(column).collect(),
            det: share.clone(),
        }
    }

    /// Returns `l` such that `sum l_i b_i / det` is an integer vector in the cone, and
    /// `|l_i| < |det|`; the determinant is not 1 or -1.
    fn inner_vector(&self) -> Row {
        let (size, sign) = (self.det.abs(), Integer::from(i64::from(self.det.sign())));
        let wrapped = |row: &Row| -> Row {
            row.iter().map(|value| value.mul(&sign).mod_floor(&size)).collect()
        };
        let rows = self.adjugate.iter().map(wrapped).filter(|row| !gcd(row).is_zero());
        // Among the first multiples, that whose largest share is the least.
        let multiples = rows.flat_map(|row| {
            let size = size.clone();
            (1..=SMALL).map(move |times| -> Row {
                let times = Integer::from(times);
                row.iter().map(|value| value.mul(&times).mod_floor(&size)).collect()
            })
        });
        let inner = multiples.filter(|row| !gcd(row).is_zero());
        let best = inner.min_by_key(|row| row.iter().max().cloned()).unwrap_or_default();
        best.iter().map(|share| share.mul(&sign)).collect()
    }

    /// Returns `l` such that `sum l_i b_i / det` is an integer vector and `|l_i| < |det|`.
    fn short_vector(&self) -> Row {
        let size = self.det.abs();
        let mut best = match size.to_i64() {
            Some(det) if det <= SMALL => self.shortest_of_all(det),
            _ => shortest(&size, reduce(self.adjugate.clone())),
        };
        let det_sign = self.det.sign();
        // Were all shares negative, the cones would cover the space with the given one.
        if best.iter().all(|share| share.sign() * det_sign <= 0) {
            best.iter_mut().for_each(|share| *share = share.neg());
        }
        best
    }

    /// Tries all multiples of all generators of the lattice, modulo the normals.
    fn shortest_of_all(&self, det: i64) -> Row {
        let mut best: Option<(i64, i64, Vec<i64>)> = None;
        let det_integer = Integer::from(det);
        for row in &self.adjugate {
            let step: Vec<i64> =
                row.iter().map(|v| v.mod_floor(&det_integer).to_i64().unwrap_or(0)).collect();
            let mut sum = step.clone();
            while sum.iter().any(|v| *v != 0) {
                let centered = sum.iter().map(|v| if 2 * v > det { v - det } else { *v });
                let (mut most, mut total) = (0, 0);
                centered.clone().for_each(|v| {
                    most = most.max(v.abs());
                    total += v.abs();
                });
                if best.as_ref().is_none_or(|(m, t, _)| (most, total) < (*m, *t)) {
                    best = Some((most, total, centered.collect()));
                }
                for (value, step) in sum.iter_mut().zip(&step) {
                    *value = (*value + step) % det;
                }
            }
        }
        best.map_or_else(Vec::new, |(_, _, row)| row.into_iter().map(Integer::from).collect())
    }
}

/// Returns the row with the smallest entries modulo `det`; not all are 0 modulo `det`.
fn shortest(det: &Integer, mut rows: Vec<Row>) -> Row {
    let two = Integer::from(2);
    for value in rows.iter_mut().flatten() {
        let rest = value.mod_floor(det);
        *value = if rest.mul(&two) > *det { rest.sub(det) } else { rest };
    }
    let largest = |row: &Row| row.iter().map(Integer::abs).max().unwrap_or(Integer::ZERO);
    let nonzero = rows.into_iter().filter(|row| !gcd(row).is_zero());
    nonzero.min_by_key(largest).unwrap_or_default()
}

/// Triangulates by lifting the rays to heights in general position: the faces seen from
/// below are the simplices. This is the polytope with its constraints moved a little.
fn triangulated(dims: usize, rays: Vec<Row>, budget: &Budget) -> Result<Vec<Simplicial>, Error> {
    if rays.len() <= dims {
        return Ok(Simplicial::new(rays).into_iter().collect());
    }
    let mut seed = 1;
    loop {
        if let Some(simplices) = lifted(dims, &rays, seed, budget)? {
            return Ok(simplices);
        }
        seed += 1;
    }
}

/// Returns `None` if the heights are not in general position.
fn lifted(
    dims: usize,
    rays: &[Row],
    seed: u64,
    budget: &Budget,
) -> Result<Option<Vec<Simplicial>>, Error> {
    let mut state = seed;
    let heights: Vec<Integer> = (0..rays.len())
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            Integer::from((state >> 44) as i64)
        })
        .collect();
    let mut result = Vec::new();
    let mut choice: Vec<usize> = (0..dims).collect();
    loop {
        budget.spend(rays.len())?;
        if let Some(simplex) = Simplicial::new(choice.iter().map(|i| rays[*i].clone()).collect()) {
            match is_lowest(&simplex, &choice, rays, &heights) {
                None => return Ok(None),
                Some(true) => result.push(simplex),
                Some(false) => {}
            }
        }
        if !advance(&mut choice, rays.len()) {
            return Ok(Some(result));
        }
    }
}

/// Returns whether all other rays lie above the hyperplane through the chosen ones.
fn is_lowest(
    simplex: &Simplicial,
    choice: &[usize],
    rays: &[Row],
    heights: &[Integer],
) -> Option<bool> {
    // The linear function with the chosen heights, times the determinant.
    let slope: Row = simplex
        .adjugate
        .iter()
        .map(|row| {
            let terms = row.iter().zip(choice);
            terms.fold(Integer::ZERO, |sum, (v, i)| sum.add_mul(v, &heights[*i]))
        })
        .collect();
    for other in (0..rays.len()).filter(|i| !choice.contains(i)) {
        let level = crate::count::polytope::cone::dot(&slope, &rays[other]);
        let gap = heights[other].mul(&simplex.det).sub(&level).sign() * simplex.det.sign();
        match gap {
            0 => return None,
            1 => {}
            _ => return Some(false),
        }
    }
    Some(true)
}

/// Moves to the next choice out of `count`, in lexicographic order.
fn advance(choice: &mut [usize], count: usize) -> bool {
    let dims = choice.len();
    let Some(at) = (0..dims).rev().find(|i| choice[*i] < count - dims + i) else { return false };
    choice[at] += 1;
    for i in at + 1..dims {
        choice[i] = choice[i - 1] + 1;
    }
    true
}
