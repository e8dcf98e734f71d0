//! Parametric vertices: the faces on which the parameters decide the dimensions.
//!
//! In the cone over `{ (x, t, 1) }`, with `d` dimensions and `m` parameters, a vertex
//! `v(t)` is a face of dimension `m + 1` on which the tight constraints determine `x`.
//! It is a vertex of the polytope at `t` wherever the other constraints hold in `v(t)`.
//!
//! Source: V. Loechner and D. Wilde, "Parameterized polyhedra and their vertices", 1997.

use rustc_hash::FxHashSet;

use super::cone::{Bits, Cone, Row, reduced};
use crate::{Budget, Error, Integer};

/// `x_i = num[i] . (t, 1) / den` where all of `domain` is at least 0.
#[derive(Debug, Clone)]
pub(crate) struct Vertex {
    pub num: Vec<Row>,
    pub den: Integer,
    /// The inequalities that hold with equality.
    pub tight: Vec<usize>,
    pub domain: Vec<Row>,
}

/// Finds the vertices of `{ x : ineqs . (x, t, 1) >= 0 }` for all `t` in general position.
///
/// `cone` is the cone over the set, whose constraints are `ineqs` and then `last >= 0`.
pub(crate) fn vertices(
    dims: usize,
    params: usize,
    ineqs: &[Row],
    cone: &Cone,
    budget: &Budget,
) -> Result<Vec<Vertex>, Error> {
    let mut result = Vec::new();
    for face in faces(dims, params, ineqs, cone, budget)? {
        budget.spend(ineqs.len() * dims)?;
        let tight = tight_on(&face, ineqs.len(), cone);
        if let Some(vertex) = vertex(dims, ineqs, tight) {
            result.push(vertex);
        }
    }
    Ok(result)
}

/// Lists the candidates, as sets of rays: intersections of `dims` independent constraints.
fn faces(
    dims: usize,
    params: usize,
    ineqs: &[Row],
    cone: &Cone,
    budget: &Budget,
) -> Result<Vec<Bits>, Error> {
    let mut all = Bits::default();
    (0..cone.rays.len()).for_each(|ray| all.insert(ray));
    let on: Vec<Bits> = (0..ineqs.len())
        .map(|i| {
            let mut rays = Bits::default();
            (0..cone.rays.len())
                .filter(|r| cone.rays[*r].tight.contains(i))
                .for_each(|r| rays.insert(r));
            rays
        })
        .collect();
    let mut found = FxHashSet::default();
    let mut result = Vec::new();
    let mut stack = vec![(0, Vec::<Row>::new(), all)];
    while let Some((next, basis, rays)) = stack.pop() {
        budget.spend(1)?;
        if basis.len() == dims {
            if projection_rank(dims, &rays, cone) == params + 1 && found.insert(rays.clone()) {
                result.push(rays);
            }
            continue;
        }
        if next == ineqs.len() {
            continue;
        }
        let inside = rays.and(&on[next]);
        if inside.len() + cone.lines.len() > params
            && let Some(longer) = extended(&basis, &ineqs[next][..dims])
        {
            stack.push((next + 1, basis, rays));
            stack.push((next + 1, longer, inside));
        } else {
            stack.push((next + 1, basis, rays));
        }
    }
    Ok(result)
}

/// Adds `row` to an echelon basis, or returns `None` if it depends on it.
pub(crate) fn extended(basis: &[Row], row: &[Integer]) -> Option<Vec<Row>> {
    let mut rest = row.to_vec();
    for old in basis {
        let lead = old.iter().position(|v| !v.is_zero()).unwrap_or(0);
        if !rest[lead].is_zero() {
            rest = reduced(super::cone::crossed(&old[lead], &rest, &rest[lead], old));
        }
    }
    rest.iter().any(|v| !v.is_zero()).then(|| {
        let mut longer = basis.to_vec();
        longer.push(rest);
        longer
    })
}

/// Returns the dimension of the face's shadow in the space of the parameters.
pub(crate) fn projection_rank(dims: usize, rays: &Bits, cone: &Cone) -> usize {
    let mut basis = Vec::new();
    let rows = rays.iter().map(|ray| &cone.rays[ray].row).chain(&cone.lines);
    for row in rows {
        if let Some(longer) = extended(&basis, &row[dims..]) {
            basis = longer;
        }
    }
    basis.len()
}

fn tight_on(face: &Bits, ineqs: usize, cone: &Cone) -> Vec<usize> {
    (0..ineqs).filter(|i| face.iter().all(|ray| cone.rays[ray].tight.contains(*i))).collect()
}

fn vertex(dims: usize, ineqs: &[Row], tight: Vec<usize>) -> Option<Vertex> {
    let mut basis = Vec::new();
    let mut rows = Vec::new();
    for i in &tight {
        if let Some(longer) = extended(&basis, &ineqs[*i][..dims]) {
            basis = longer;
            rows.push(ineqs[*i].clone());
        }
    }
    let (den, mut num) = solved(dims, rows)?;
    num.iter_mut().flatten().for_each(|v| *v = v.neg());
    let others = (0..ineqs.len()).filter(|i| !tight.contains(i));
    let domain = others.map(|i| reduced(at_vertex(dims, &ineqs[i], &num, &den))).collect();
    Some(Vertex { num, den, tight, domain })
}

/// Returns `den` times the value of `row` in the vertex, as a row over `(t, 1)`.
fn at_vertex(dims: usize, row: &[Integer], num: &[Row], den: &Integer) -> Row {
    let mut value: Row = row[dims..].iter().map(|v| v.mul(den)).collect();
    for (factor, coordinate) in row[..dims].iter().zip(num).filter(|(f, _)| !f.is_zero()) {
        for (sum, part) in value.iter_mut().zip(coordinate) {
            *sum = sum.add_mul(factor, part);
        }
    }
    value
}

/// Brings `[A | R]` to `[den I | num]` with `den > 0`, without fractions; `None` if singular.
pub(crate) fn solved(dims: usize, mut rows: Vec<Row>) -> Option<(Integer, Vec<Row>)> {
    if rows.len() != dims {
        return None;
    }
    let mut previous = Integer::ONE;
    for col in 0..dims {
        let pivot = (col..dims).find(|r| !rows[*r][col].is_zero())?;
        rows.swap(col, pivot);
        let lead = std::mem::take(&mut rows[col]);
        for row in rows.iter_mut().filter(|row| !row.is_empty()) {
            let factor = row[col].clone();
            for (value, other) in row.iter_mut().zip(&lead) {
                *value = Integer::cross(&lead[col], value, &factor, other).div_exact(&previous);
            }
        }
        previous = lead[col].clone();
        rows[col] = lead;
    }
    let negative = previous.sign() < 0;
    let tail = |row: Row| -> Row {
        row.into_iter().skip(dims).map(|v| if negative { v.neg() } else { v }).collect()
    };
    Some((previous.abs(), rows.into_iter().map(tail).collect()))
}
