//! Vertices of sets, for each value of the parameters, and the lattice width without any.

use super::cone::{Bits, Cone, Row};
use super::vertices::{Vertex, projection_rank, vertices};
use crate::basic_map::BasicMap;
use crate::{
    Aff, Budget, Conjunction, Error, Integer, MultiAff, PwMultiAff, Rational, Relation, Space,
    Tuple,
};

impl Relation {
    /// Returns the vertices of the convex hull, each a function of the parameters that is one.
    ///
    /// Rational: one of those of `{ [i, j] : i, j >= 0 and i + 2j <= n }` is `[0, n/2]`. Divisions
    /// are left out, and what has no vertex gives none. The cost grows with the number of faces.
    ///
    /// # Errors
    /// [`Error::Space`] for a relation.
    pub fn vertices(&self, budget: &Budget) -> Result<Vec<PwMultiAff>, Error> {
        if !self.is_set() {
            let found = self.space().to_string();
            return Err(Error::Space { expected: "a set".into(), found });
        }
        let mut result = Vec::new();
        let Some((rows, cone)) = self.hull_cone(budget)? else { return Ok(result) };
        for vertex in self.corners(&rows, &cone, budget)? {
            result.push(self.function(&vertex, budget)?);
        }
        Ok(result)
    }

    /// Returns the inequalities of the convex hull, and the cone over it; nothing for no points.
    ///
    /// Dimensions come first, then parameters, then the constant, as counting has them.
    fn hull_cone(&self, budget: &Budget) -> Result<Option<(Vec<Row>, Cone)>, Error> {
        let hull = self.convex_polyhedron(budget)?;
        let Some(part) = hull.parts.first() else { return Ok(None) };
        let (params, dims) = (self.space().params.len(), self.space().output.dims.len());
        let turned = |row: &[Integer]| -> Row {
            let (head, tail) = row.split_at(1 + params);
            tail.iter().chain(&head[1..]).chain(&head[..1]).cloned().collect()
        };
        let mut rows = Vec::new();
        for row in part.system.eqs.rows().map(turned) {
            rows.push(row.iter().map(Integer::neg).collect());
            rows.push(row);
        }
        rows.extend(part.system.ineqs.rows().map(turned));
        let mut positive = vec![Integer::ZERO; dims + params + 1];
        positive[dims + params] = Integer::ONE;
        let all = rows.iter().map(Vec::as_slice).chain([&positive[..]]);
        let cone = Cone::new(dims + params + 1, all, budget)?;
        Ok(Some((rows, cone)))
    }

    /// Finds the vertices of a convex hull.
    fn corners(&self, rows: &[Row], cone: &Cone, budget: &Budget) -> Result<Vec<Vertex>, Error> {
        let dims = self.space().output.dims.len();
        let mut rays = Bits::default();
        (0..cone.rays.len()).for_each(|ray| rays.insert(ray));
        // Equations between parameters leave fewer of them.
        let rank = projection_rank(dims, &rays, cone);
        let mut found = vertices(dims, rank.saturating_sub(1), rows, cone, budget)?;
        for vertex in &mut found {
            let fixed = vertex.tight.iter().map(|index| &rows[*index]);
            let fixed = fixed.filter(|row| row[..dims].iter().all(Integer::is_zero));
            vertex.domain.extend(fixed.map(|row| row[dims..].to_vec()));
        }
        Ok(found)
    }

    fn function(&self, vertex: &Vertex, budget: &Budget) -> Result<PwMultiAff, Error> {
        // A row over the parameters and the constant, with the constant first.
        let first = |row: &Row| {
            let mut row = row.clone();
            row.rotate_right(1);
            row
        };
        let space = Space::set(self.space().params.clone(), Tuple::default());
        let inequalities = vertex.domain.iter().map(first).collect();
        let part = Conjunction { inequalities, ..Conjunction::default() };
        let domain =
            Self::from_conjunctions(space.clone(), &[part])?.remove_redundancies(budget)?;
        let value = |row: &Row| Aff::from_coefficients(&space, &first(row), &vertex.den, &[]);
        let values = vertex.num.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let output = self.space().output.clone();
        let all = PwMultiAff::from(MultiAff::of(&space, output, &values)?);
        all.intersect_domain(&domain, budget)
    }

    /// Returns the lattice width of a set without parameters: an integer program over the vertices.
    pub(in crate::count) fn fixed_width(&self, budget: &Budget) -> Result<Rational, Error> {
        let Some((rows, cone)) = self.hull_cone(budget)? else { return Ok(Rational::ZERO) };
        let dims = self.space().output.dims.len();
        let directions = cone.rays.iter().map(|ray| &ray.row).filter(|row| row[dims].is_zero());
        if let Some(way) = cone.lines.iter().chain(directions).next() {
            let dim = way.iter().position(|value| !value.is_zero()).unwrap_or(0);
            return Err(Error::Unbounded { dim });
        }
        let corners = self.corners(&rows, &cone, budget)?;
        let mut common = Integer::ONE;
        for corner in &corners {
            common = (&common * &corner.den).div_exact(&common.gcd(&corner.den));
        }
        let points: Vec<Row> = corners.iter().map(|corner| scaled(corner, &common)).collect();
        if dims == 0 || differences(&points) < dims {
            return Ok(Rational::ZERO);
        }
        let width = narrowest(&points, dims, budget)?;
        Ok(Rational::new(width, common).unwrap_or(Rational::ZERO))
    }
}

/// Returns the coordinates of a vertex without parameters, times `common`.
fn scaled(corner: &Vertex, common: &Integer) -> Row {
    let factor = common.div_exact(&corner.den);
    corner.num.iter().map(|row| &row[0] * &factor).collect()
}

/// The number of dimensions of the smallest plane through points.
fn differences(points: &[Row]) -> usize {
    let Some((first, others)) = points.split_first() else { return 0 };
    let mut basis = Vec::new();
    for point in others {
        let way: Row = point.iter().zip(first).map(|(a, b)| a - b).collect();
        if let Some(longer) = super::vertices::extended(&basis, &way) {
            basis = longer;
        }
    }
    basis.len()
}

/// The least width of points, by bisection: whether there is a direction of a width at most so
/// much is a question for an integer point, which basis reduction answers soon however long the
/// direction is.
fn narrowest(points: &[Row], dims: usize, budget: &Budget) -> Result<Integer, Error> {
    let unit = |dim: usize| (0..dims).map(|at| Integer::from(i64::from(at == dim))).collect();
    let widths = (0..dims).map(|dim| width_along(points, &unit(dim)));
    // No direction is narrower than `low`, and some has the width `high`.
    let (mut low, mut high) = (Integer::ZERO, widths.min().unwrap_or(Integer::ZERO));
    while low < high {
        let middle = (&low + &high).div_floor(&Integer::from(2));
        match at_most(points, dims, &middle, budget)? {
            Some(way) => high = width_along(points, &way),
            None => low = &middle + &Integer::ONE,
        }
    }
    Ok(high)
}

/// The greatest difference of what a direction makes of points.
fn width_along(points: &[Row], way: &Row) -> Integer {
    let along =
        |point: &Row| point.iter().zip(way).fold(Integer::ZERO, |sum, (a, b)| sum.add_mul(a, b));
    let least = points.iter().map(along).min().unwrap_or(Integer::ZERO);
    points.iter().map(along).max().map_or(Integer::ZERO, |greatest| &greatest - &least)
}

/// Finds a direction, with its first coordinate that is not 0 above it, of a width at most `most`.
fn at_most(
    points: &[Row],
    dims: usize,
    most: &Integer,
    budget: &Budget,
) -> Result<Option<Row>, Error> {
    let mut within = BasicMap::universe(dims);
    for (index, point) in points.iter().enumerate() {
        for other in &points[..index] {
            for sign in [Integer::ONE, Integer::MINUS_ONE] {
                let mut row = vec![most.clone()];
                row.extend(point.iter().zip(other).map(|(a, b)| (a - b) * &sign));
                within.system.ineqs.push(&row);
            }
        }
    }
    for lead in 0..dims {
        let mut part = within.clone();
        let mut row = vec![Integer::ZERO; 1 + dims];
        (row[0], row[1 + lead]) = (Integer::MINUS_ONE, Integer::ONE);
        part.system.ineqs.push(&row);
        if let Some(way) = part.sample(budget)? {
            return Ok(Some(way));
        }
        (row[0], row[1 + lead]) = (Integer::ZERO, Integer::ONE);
        within.system.eqs.push(&row);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use crate::{Budget, Rational, Relation};

    fn set(text: &str) -> Relation {
        Relation::parse(text, &Budget::unlimited()).unwrap()
    }

    #[test]
    fn vertices_are_functions_of_the_parameters() {
        let budget = Budget::unlimited();
        let values = |text: &str, point: &[i64]| -> Vec<Vec<Rational>> {
            let all = set(text).vertices(&budget).unwrap();
            let mut found: Vec<_> = all.iter().filter_map(|f| f.eval(point).unwrap()).collect();
            found.sort();
            found.dedup();
            found
        };
        let half = |n: i64| Rational::new(n.into(), 2.into()).unwrap();
        let triangle = "[n] -> { [i, j] : 0 <= i and 0 <= j and i + 2j <= n and i <= 3 }";
        let (zero, three) = (Rational::from(0), Rational::from(3));
        // The corner at i = 3 is there once n is 3.
        assert_eq!(
            values(triangle, &[2]),
            [[zero.clone(), zero.clone()], [zero.clone(), half(2)], [half(4), zero.clone()]]
        );
        assert_eq!(
            values(triangle, &[4]),
            [
                [zero.clone(), zero.clone()],
                [zero.clone(), half(4)],
                [three.clone(), zero.clone()],
                [three, half(1)]
            ]
        );
        assert!(values(triangle, &[-1]).is_empty());
        // A segment in a plane, and equations between parameters.
        assert_eq!(values("{ [i, j] : i = 2j and 0 <= j <= 4 }", &[]).len(), 2);
        let bound = "[n, m] -> { [i] : 0 <= i <= n and n = 2m }";
        assert_eq!(values(bound, &[4, 2]), [[Rational::from(0)], [Rational::from(4)]]);
        assert!(values(bound, &[4, 3]).is_empty());
        assert!(set("{ [i, j] : i >= 0 }").vertices(&budget).unwrap().is_empty());
        assert!(set("{ [i] -> [j] }").vertices(&budget).is_err());
    }
}
