//! The generators of a polyhedron: vertices, rays and lines.
//!
//! An affine form is not negative on a polyhedron exactly if it is not negative on its
//! vertices and rays and vanishes on its lines. That turns "for all instances that depend
//! on each other" into finitely many rows over the coefficients of the form; it is Farkas'
//! lemma with the multipliers eliminated. Coordinates that the form does not speak of, such as
//! the integer divisions of a conjunction, are projected away: first where that takes no more
//! rows, then by leaving them out of the generators.
//!
//! The double description method itself is [`tangram_presburger::Cone`].

use crate::Conjunction;
use tangram_presburger::{Budget, Cone, Error};

use super::linear::reduce;
use super::projection::RationalPolyhedron;

/// More than this many rays make a schedule problem too large to be worth solving.
const MOST_RAYS: usize = 4096;

/// Vectors `[1, dims..]` of a homogenised polyhedron.
#[derive(Debug, Clone, Default)]
pub(super) struct Generators {
    /// Vertices, with a positive first number, and rays, with zero there.
    pub rays: Vec<Vec<i128>>,
    pub lines: Vec<Vec<i128>>,
}

impl Generators {
    /// Finds the generators of a conjunction over `dims` dimensions; none if it is empty.
    pub fn of(conjunction: &Conjunction, dims: usize) -> Result<Self, Error> {
        Self::projected(RationalPolyhedron::of(conjunction, dims), (0..1 + dims).collect())
    }

    /// Finds generators of pairs of `own` coordinates each that suffice for distances.
    ///
    /// The difference of a form between both ends of a pair says nothing about where the pair
    /// is, so that all pairs are moved to where the first end is 0. A loop nest whose
    /// iterations need their neighbours has one such pair, not one for each of its corners.
    pub fn of_distances(
        conjunction: &Conjunction,
        params: usize,
        own: usize,
    ) -> Result<Self, Error> {
        let (from, to) = (1 + params, 1 + params + own);
        let mut rows = RationalPolyhedron::of(conjunction, params + 2 * own);
        rows.take_from(from, to, own)?;
        let mut found = Self::projected(rows, (0..from).chain(to..to + own).collect())?;
        for vector in found.rays.iter_mut().chain(&mut found.lines) {
            vector.splice(from..from, std::iter::repeat_n(0, own));
        }
        Ok(found)
    }

    /// Finds the generators of the rows' projection on the columns that are kept.
    fn projected(mut rows: RationalPolyhedron, mut columns: Vec<usize>) -> Result<Self, Error> {
        let cols = columns.len();
        let others = (0..rows.cols).filter(|column| !columns.contains(column)).collect();
        columns.extend(rows.project(others)?);
        rows.keep(&columns);
        let mut cone = Cone::new(rows.cols);
        let mut first = vec![0; rows.cols];
        first[0] = 1;
        let equations = rows.equations.iter().map(|row| (row, true));
        let inequalities = [&first].into_iter().chain(&rows.inequalities).map(|row| (row, false));
        for (row, equation) in equations.chain(inequalities) {
            cone.keep(row, equation, &Budget::unlimited())?;
            if cone.ray_count() > MOST_RAYS {
                return Err(Error::Overflow);
            }
        }
        Ok(projected(&cone, cols))
    }
}

/// Reads the generators off a cone, without the columns behind `cols`.
fn projected(cone: &Cone, cols: usize) -> Generators {
    if !cone.rays().any(|ray| ray[0] > 0) {
        return Generators::default();
    }
    let clean = |vectors: &mut dyn Iterator<Item = &[i128]>| {
        let mut vectors: Vec<Vec<i128>> = vectors.map(|vector| vector[..cols].to_vec()).collect();
        vectors.iter_mut().for_each(|vector| reduce(vector));
        vectors.retain(|vector| vector.iter().any(|v| *v != 0));
        vectors.sort_unstable();
        vectors.dedup();
        vectors
    };
    Generators {
        rays: clean(&mut cone.rays()),
        lines: clean(&mut cone.lines().iter().map(Vec::as_slice)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::linear::dot;
    use tangram_presburger::Union;

    fn generators(text: &str) -> Generators {
        let set = Union::parse(text, &Budget::unlimited()).expect("a set");
        let set = set.single().expect("one set");
        let space = set.space();
        let dims = space.params.len() + space.output.dims.len();
        Generators::of(&set.narrow_conjunctions().expect("small")[0], dims).expect("small")
    }

    #[test]
    fn a_square_has_four_vertices() {
        let found = generators("{ [i, j] : 0 <= i <= 3 and 0 <= j <= 5 }");
        let corners = [[1, 0, 0], [1, 0, 5], [1, 3, 0], [1, 3, 5]].map(|c| c.to_vec());
        assert_eq!(found.rays, corners);
        assert!(found.lines.is_empty());
    }

    #[test]
    fn a_cube_keeps_to_its_corners() {
        let found = generators("{ [i, j, k, l] : 0 <= i, j, k, l <= 7 }");
        assert_eq!(found.rays.len(), 16);
    }

    #[test]
    fn a_triangle_with_a_parameter_has_rays() {
        let found = generators("[N] -> { [i] : 0 <= i <= N }");
        assert_eq!(found.rays, [vec![0, 1, 0], vec![0, 1, 1], vec![1, 0, 0]]);
    }

    #[test]
    fn equations_leave_lines() {
        let found = generators("{ [i, j] : i = j + 1 }");
        assert_eq!((found.lines.len(), found.rays.len()), (1, 1));
        assert_eq!(found.lines[0][1], found.lines[0][2]);
    }

    #[test]
    fn divisions_are_projected() {
        let found = generators("{ [i] : 0 <= i <= 9 and i mod 2 = 0 }");
        assert!(found.rays.iter().any(|ray| ray[0] > 0 && ray[1] == 0), "{found:?}");
        let highest = found.rays.iter().map(|ray| ray[1] / ray[0].max(1)).max();
        assert!(highest >= Some(8), "{found:?}");
    }

    #[test]
    fn distances_say_what_all_corners_do() {
        let cases = [
            "[n] -> { [i, j] -> [i + 1, j] : 0 <= i < n - 1 and 0 <= j < n }",
            "[n] -> { [i, j] -> [k, j + 2] : 0 <= i < k < n and 0 <= j < n - 2 and i <= j }",
            "[n] -> { [i, j] -> [j, i] : 0 <= i < j < n }",
            "[n] -> { [i, j] -> [k, l] : 0 <= i, j, k, l < n and i + j < k + l }",
            "[n] -> { [i, j] -> [k, l] : 2i <= k <= 3j and i <= l <= n and j <= 4 and k >= l }",
            "[n] -> { [i, j] -> [2i, k] : 0 <= i <= 9 and i mod 3 = 1 and j < k < n and 2j > k }",
            "[n] -> { [i, j] -> [k, j] : k > i }",
        ];
        for text in cases {
            let relation = Union::parse(text, &Budget::unlimited()).expect("a relation");
            let part = &relation.single().expect("one").narrow_conjunctions().expect("small")[0];
            let all = Generators::of(part, 5).expect("small");
            let found = Generators::of_distances(part, 1, 2).expect("small");
            let mut kept = 0;
            for number in 0..5_i128.pow(4) {
                let [a, b, c, d] = [1, 5, 25, 125].map(|scale| number / scale % 5 - 2);
                let form = [a, b, -c, -d, c, d];
                let value = |vector: &Vec<i128>| dot(&form, vector).expect("small");
                let holds = |on: &Generators| {
                    on.rays.iter().all(|ray| value(ray) >= 0)
                        && on.lines.iter().all(|line| value(line) == 0)
                };
                assert_eq!(holds(&all), holds(&found), "{form:?} on {text}");
                kept += usize::from(holds(&found));
            }
            assert!((2..600).contains(&kept), "{kept} forms on {text}");
        }
    }

    #[test]
    fn neighbours_in_a_box_have_one_distance() {
        let text = "[n] -> { [i, j, k] -> [i, j, k + 1] : 0 <= i, j, k, k + 1 < n }";
        let relation = Union::parse(text, &Budget::unlimited()).expect("a relation");
        let part = &relation.single().expect("one").narrow_conjunctions().expect("small")[0];
        let found = Generators::of_distances(part, 1, 3).expect("small");
        let distance = vec![1, 2, 0, 0, 0, 0, 0, 1];
        assert_eq!(found.rays, [vec![0, 1, 0, 0, 0, 0, 0, 0], distance]);
        assert!(found.lines.is_empty());
    }

    #[test]
    fn a_contradiction_has_none() {
        let mut row =
            Conjunction { inequalities: vec![vec![-1, 1], vec![0, -1]], ..Default::default() };
        assert!(Generators::of(&row, 1).expect("small").rays.is_empty());
        row.inequalities.pop();
        assert_eq!(Generators::of(&row, 1).expect("small").rays.len(), 2);
    }
}
