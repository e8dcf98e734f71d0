//! The lattice width of sets with parameters.
//!
//! The width along `c` is the greatest value of `c . x` less the least one. On a chamber of the
//! parameters, where the set has the vertices `v_1 .. v_n`, the directions for which `v_i` is the
//! greatest and `v_j` the least are a cone: that of the normals at `v_i`, intersected with the
//! opposite of that at `v_j`. On it the width is `c . (v_i - v_j)`, linear in `c`, and the least
//! one is that of a generator of the cone's integer points. So finitely many directions are
//! enough, for all values of the parameters in the chamber.
//!
//! With `{ [i, j] : 0 <= i <= 10 and 0 <= j <= n - 2i }` these are `i`, `j` and `i + j`, of the
//! widths `min(10, n/2)`, `n` and more: the width is `n/2` up to `n = 20`, then 10.
//!
//! Source: F. Eisenbrand and G. Shmonin, "Parametric integer programming in fixed dimension",
//! 2008. Divergence: generators come from unimodular pieces of each cone, by putting short
//! integer vectors inside of them.

use super::chambers::{Chamber, chambers};
use super::cone::{Cone, Row, crossed};
use super::equalities::{Affine, Reduced};
use super::vertices::{Vertex, extended, vertices};
use crate::count::barvinok::polyhedron::{Back, Polyhedron, check_bounded};
use crate::count::barvinok::unimodular::generators;
use crate::count::piecewise::Pieces;
use crate::count::piecewise::pw_qpolynomial::PwQPolynomial;
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::floors::{Floors, substituted};
use crate::count::quasi_polynomial::guard::{Guard, constant_first, units};
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Returns the least difference of the greatest and the least value of `c . x`, over all
    /// integer directions `c` other than 0: how thin the convex hull is, by parameters.
    ///
    /// 0 where the hull is empty or lies in a plane. Of several disjuncts, the hull is one over
    /// parameters and dimensions together. Exact; an integer program over the vertices
    /// without parameters, else the cost grows with pairs of vertices and their directions.
    ///
    /// # Errors
    /// [`Error::Space`] for a relation; [`Error::Unbounded`] if the hull is.
    ///
    /// # Source
    /// barvinok `isl_basic_set_lattice_width`.
    pub fn lattice_width(&self, budget: &Budget) -> Result<PwQPolynomial, Error> {
        if !self.is_set() {
            let found = self.space().to_string();
            return Err(Error::Space { expected: "a set".into(), found });
        }
        let params = self.space().params.clone();
        let mut pieces = Pieces::zero(params.len());
        if params.is_empty() {
            let value = QPolynomial::constant(0, self.fixed_width(budget)?);
            pieces.push(Guard::new(0), value);
        } else if let Some(hull) = self.hull(budget)? {
            for (guard, widths) in widths(&hull, budget)? {
                least(&guard, widths, &mut pieces, budget)?;
            }
        }
        Ok(PwQPolynomial::new(params, None, pieces.merged(budget)?))
    }

    /// Returns the convex hull; nothing for no points.
    fn hull(&self, budget: &Budget) -> Result<Option<Polyhedron>, Error> {
        let hull = self.convex_polyhedron(budget)?;
        let Some(part) = hull.parts.first() else { return Ok(None) };
        let (params, dims) = (self.space().params.len(), self.space().output.dims.len());
        let mut result = Polyhedron::new(dims, params);
        let turned = |row: &[Integer]| -> Row {
            let (head, tail) = row.split_at(1 + params);
            tail.iter().chain(&head[1..]).chain(&head[..1]).cloned().collect()
        };
        part.system.eqs.rows().for_each(|row| result.push(turned(row), true));
        part.system.ineqs.rows().for_each(|row| result.push(turned(row), false));
        Ok(Some(result))
    }
}

/// Lists, for each chamber, the widths of which one is the least, over the given parameters.
fn widths(hull: &Polyhedron, budget: &Budget) -> Result<Vec<(Guard, Vec<Affine>)>, Error> {
    let Some((reduced, cone)) = hull.full_dimensional(budget)? else { return Ok(Vec::new()) };
    check_bounded(&reduced, budget)?;
    // In a plane, or a single point.
    if reduced.dims < hull.dims() {
        return Ok(Vec::new());
    }
    let (left, given) = (reduced.params.len(), hull.params());
    let corners = vertices(reduced.dims, left, &reduced.ineqs, &cone, budget)?;
    let edges = corners.iter().map(|corner| edges(corner, &reduced, budget));
    let edges = edges.collect::<Result<Vec<_>, _>>()?;
    let rows = cone.rays.iter().map(|ray| &ray.row).chain(&cone.lines);
    let shadow: Vec<Row> = rows.map(|row| row[reduced.dims..].to_vec()).collect();
    let back = Back::new(&reduced, given);
    let mut all = Vec::new();
    for chamber in chambers(left, &corners, &shadow, budget)? {
        let guard = back.guard(&chamber).simplified(budget)?;
        if guard.never {
            continue;
        }
        let mut found: Vec<Affine> = Vec::new();
        for width in along_pairs(&chamber, &corners, &edges, budget)? {
            let width = Affine::combination(&width.num, &reduced.params, given).divided(&width.den);
            if !found.contains(&width) {
                found.push(width);
            }
        }
        all.push((guard, found));
    }
    Ok(all)
}

/// The edges that leave a vertex.
fn edges(corner: &Vertex, reduced: &Reduced, budget: &Budget) -> Result<Vec<Row>, Error> {
    let rows = corner.tight.iter().map(|index| &reduced.ineqs[*index][..reduced.dims]);
    let cone = Cone::new(reduced.dims, rows, budget)?;
    Ok(cone.rays.into_iter().map(|ray| ray.row).collect())
}

/// Finds the widths along all directions that matter, over the parameters that are left.
fn along_pairs(
    chamber: &Chamber,
    corners: &[Vertex],
    edges: &[Vec<Row>],
    budget: &Budget,
) -> Result<Vec<Affine>, Error> {
    let mut result = Vec::new();
    for (at, low) in chamber.active.iter().enumerate() {
        // The opposite of a direction has the same width.
        for high in &chamber.active[..at] {
            for way in directions(&edges[*low], &edges[*high], budget)? {
                let width = width(&way, &corners[*low], &corners[*high]);
                if !result.contains(&width) {
                    result.push(width);
                }
            }
        }
    }
    Ok(result)
}

/// Generates the integer directions that are least at one vertex and greatest at another; none
/// if they do not fill the space, as others do then.
fn directions(low: &[Row], high: &[Row], budget: &Budget) -> Result<Vec<Row>, Error> {
    let Some(dims) = low.first().map(Vec::len) else { return Ok(Vec::new()) };
    let down: Vec<Row> = high.iter().map(|row| row.iter().map(Integer::neg).collect()).collect();
    let cone = Cone::new(dims, low.iter().chain(&down).map(Vec::as_slice), budget)?;
    let rays: Vec<Row> = cone.rays.into_iter().map(|ray| ray.row).collect();
    let mut basis = Vec::new();
    for ray in &rays {
        basis = extended(&basis, ray).unwrap_or(basis);
    }
    if basis.len() < dims || !cone.lines.is_empty() {
        return Ok(Vec::new());
    }
    generators(dims, rays, budget)
}

/// Returns `way . (high - low)`.
fn width(way: &Row, low: &Vertex, high: &Vertex) -> Affine {
    let at = |corner: &Vertex| {
        let columns = corner.num.first().map_or(0, Vec::len);
        let mut sum = vec![Integer::ZERO; columns];
        for (factor, row) in way.iter().zip(&corner.num) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum = sum.add_mul(factor, value);
            }
        }
        sum
    };
    let num = crossed(&low.den, &at(high), &high.den, &at(low));
    Affine { num, den: low.den.mul(&high.den) }.reduced()
}

/// Adds a piece for each width where it is the least, the first one of equal ones.
fn least(
    guard: &Guard,
    widths: Vec<Affine>,
    pieces: &mut Pieces,
    budget: &Budget,
) -> Result<(), Error> {
    let vars = pieces.vars();
    let form = |affine: &Affine| substituted(&constant_first(&affine.num), &units(vars));
    for (at, width) in widths.iter().enumerate() {
        let mut here = guard.clone();
        for (other, more) in widths.iter().enumerate().filter(|(other, _)| *other != at) {
            let mut gap = crossed(&width.den, &more.num, &more.den, &width.num);
            if other < at {
                gap[vars] = gap[vars].sub(&Integer::ONE);
            }
            here.at_least_zero(&form(&Affine { num: gap, den: Integer::ONE }));
        }
        if !here.is_empty(budget)? {
            let value = QPolynomial::from_linear(Floors::new(vars), &form(width), &width.den);
            pieces.push(here.simplified(budget)?, value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::count::PwQPolynomial;
    use crate::{Budget, Rational, Relation};

    fn set(text: &str) -> Relation {
        Relation::parse(text, &Budget::unlimited()).unwrap()
    }

    #[test]
    fn widths_are_the_least_over_all_directions() {
        let budget = Budget::unlimited();
        for (text, width) in [
            ("{ [i, j] : 0 <= i <= 9 and 0 <= j <= 4 }", (4, 1)),
            // Corners at 2 and at 4/3.
            ("{ [i, j] : i, j >= 0 and 2i + 3j <= 4 }", (4, 3)),
            // Long along 2i = 3j, thin across.
            ("{ [i, j] : 0 <= 2i - 3j <= 5 and 0 <= i <= 40 }", (5, 1)),
            ("{ [i, j] : i = 3j and 0 <= j <= 4 }", (0, 1)),
            ("{ [i] : i > 4 and i < 4 }", (0, 1)),
        ] {
            let width = Rational::new(i64::into(width.0), i64::into(width.1)).unwrap();
            let found = set(text).lattice_width(&budget).unwrap();
            assert_eq!(found.constant_value().unwrap(), width, "{text}");
        }
        assert!(set("{ [i, j] : i >= 0 }").lattice_width(&budget).is_err());
        assert!(set("[n] -> { [i] : 0 <= i }").lattice_width(&budget).is_err());
        assert!(set("{ [i] -> [j] : 0 <= i, j <= 3 }").lattice_width(&budget).is_err());
    }

    /// Every value of the parameters alone, by the integer program, is the oracle.
    #[test]
    fn widths_with_parameters_are_those_of_their_values() {
        let budget = Budget::unlimited();
        for text in [
            "[n, m] -> { [x, y] : x, y >= 0 and x <= 10 and 2x + y <= n }",
            "[n, m] -> { [x, y] : x, y >= 0 and 2x + y <= n and 3x + 4y <= m }",
            "[n, m] -> { [x, y] : x, y >= 0 and x <= n and x - 2y + 2 >= 0 }",
            "[n, m] -> { [x, y] : 0 <= 5x - 3y <= n and 0 <= x <= m }",
            "[n, m] -> { [x, y] : 0 <= 7x - 4y <= n and 0 <= 3x + 5y <= m }",
            "[n, m] -> { [x, y, z] : 0 <= x, y, z and x + y <= n and 2y + 3z <= m }",
            "[n, m] -> { [x] : 0 <= x <= n and n = 2m }",
            "[n, m] -> { [x, y] : x = 2y and 0 <= x <= n }",
        ] {
            let width = set(text).lattice_width(&budget).unwrap();
            for n in -2..15 {
                for m in -1..12 {
                    let fixed = format!("{text}[n, m] -> {{ [] : n = {n} and m = {m} }}");
                    let (set_text, params) = fixed.split_at(text.len());
                    let params = Relation::parse(params, &budget).unwrap();
                    let one = set(set_text).intersect_params(&params, &budget).unwrap();
                    let one = one.project_params(&["n", "m"], &budget).unwrap();
                    let expected = one.lattice_width(&budget).unwrap();
                    let expected = expected.constant_value().unwrap();
                    let found = width.evaluate(&[n, m]).unwrap();
                    assert_eq!(found, expected, "{text} for {n}, {m}");
                }
            }
        }
    }

    #[test]
    fn widths_are_pieces_with_few_terms() {
        let budget = Budget::unlimited();
        let text = "[n] -> { [x, y] : x, y >= 0 and x <= 10 and 2x + y <= n }";
        let width = set(text).lattice_width(&budget).unwrap();
        let expected = "[n] -> { 10 : n >= 21; 1/2 * n : 0 <= n <= 20 }";
        let expected = PwQPolynomial::parse(expected, &budget).unwrap();
        assert!(width.is_equal(&expected, &budget).unwrap(), "{width}");
        assert!(width.parts().unwrap().len() <= 3, "{width}");
    }
}
