//! The generators of a polyhedron: vertices, rays and lines.
//!
//! An affine form is not negative on a polyhedron exactly if it is not negative on its
//! vertices and rays and vanishes on its lines. That turns "for all instances that depend
//! on each other" into finitely many rows over the coefficients of the form; it is Farkas'
//! lemma with the multipliers eliminated. Coordinates that the form does not speak of, such as
//! the integer divisions of a conjunction, are projected away: first where that takes no more
//! rows, then by leaving them out of the generators.
//!
//! Source: the double description method of Motzkin, Raiffa, Thompson and Thrall (1953),
//! with the adjacency test of N. Chernikova (1965).

use crate::Conjunction;
use tangram_presburger::Error;

use super::linear::{combined, dot, reduce};
use super::projection::Rational;

/// More than this many rays make a schedule problem too large to be worth solving.
const MOST_RAYS: usize = 4096;

/// Vectors `[1, dims..]` of a homogenised polyhedron.
#[derive(Debug, Clone, Default)]
pub(super) struct Generators {
    /// Vertices, with a positive first number, and rays, with zero there.
    pub rays: Vec<Vec<i128>>,
    pub lines: Vec<Vec<i128>>,
}

/// A ray, and the inequalities so far that vanish on it.
struct Ray {
    at: Vec<i128>,
    tight: Vec<u64>,
}

impl Generators {
    /// Finds the generators of a conjunction over `dims` dimensions; none if it is empty.
    pub fn of(conjunction: &Conjunction, dims: usize) -> Result<Self, Error> {
        Self::projected(Rational::of(conjunction, dims), (0..1 + dims).collect())
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
        let mut rows = Rational::of(conjunction, params + 2 * own);
        rows.take_from(from, to, own)?;
        let mut found = Self::projected(rows, (0..from).chain(to..to + own).collect())?;
        for vector in found.rays.iter_mut().chain(&mut found.lines) {
            vector.splice(from..from, std::iter::repeat_n(0, own));
        }
        Ok(found)
    }

    /// Finds the generators of the rows' projection on the columns that are kept.
    fn projected(mut rows: Rational, mut columns: Vec<usize>) -> Result<Self, Error> {
        let cols = columns.len();
        let others = (0..rows.cols).filter(|column| !columns.contains(column)).collect();
        columns.extend(rows.project(others)?);
        rows.keep(&columns);
        let mut cone = Cone::new(rows.cols, 1 + rows.inequalities.len());
        for row in &rows.equations {
            cone.cut(row, true)?;
        }
        let mut first = vec![0; rows.cols];
        first[0] = 1;
        cone.cut(&first, false)?;
        for row in &rows.inequalities {
            cone.cut(row, false)?;
        }
        Ok(cone.projected(cols))
    }
}

struct Cone {
    lines: Vec<Vec<i128>>,
    rays: Vec<Ray>,
    inequalities: usize,
    words: usize,
    /// No more than the number of dimensions that the rays span beside the lines.
    spanned: u32,
}

impl Cone {
    fn new(cols: usize, rows: usize) -> Self {
        let unit = |col| (0..cols).map(|other| i128::from(other == col)).collect();
        let lines = (0..cols).map(unit).collect();
        let words = rows.div_ceil(64);
        Self { lines, rays: Vec::new(), inequalities: 0, words, spanned: 0 }
    }

    /// Keeps what satisfies a row.
    fn cut(&mut self, row: &[i128], equation: bool) -> Result<(), Error> {
        let mut found = None;
        for (index, line) in self.lines.iter().enumerate() {
            let value = dot(row, line)?;
            if value != 0 {
                found = Some((index, value));
                break;
            }
        }
        match found {
            Some((index, value)) => self.spend_line(row, index, value, equation)?,
            None => self.split(row, equation)?,
        }
        self.inequalities += usize::from(!equation);
        Ok(())
    }

    /// A line that crosses the row becomes a ray, and shifts all others onto the row.
    fn spend_line(
        &mut self,
        row: &[i128],
        index: usize,
        value: i128,
        equation: bool,
    ) -> Result<(), Error> {
        let mut line = self.lines.swap_remove(index);
        if value < 0 {
            line.iter_mut().for_each(|v| *v = -*v);
        }
        let value = value.abs();
        for other in &mut self.lines {
            *other = combined(value, other, -dot(row, other)?, &line)?;
        }
        let bit = self.inequalities;
        for ray in &mut self.rays {
            ray.at = combined(value, &ray.at, -dot(row, &ray.at)?, &line)?;
            if !equation {
                ray.tight[bit / 64] |= 1 << (bit % 64);
            }
        }
        if !equation {
            let mut tight = vec![0; self.words];
            (0..bit).for_each(|bit| tight[bit / 64] |= 1 << (bit % 64));
            self.rays.push(Ray { at: line, tight });
            self.spanned += 1;
        }
        Ok(())
    }

    fn split(&mut self, row: &[i128], equation: bool) -> Result<(), Error> {
        let values: Vec<i128> =
            self.rays.iter().map(|ray| dot(row, &ray.at)).collect::<Result<_, _>>()?;
        let sides = |sign: i128| -> Vec<usize> {
            let on = |at: &usize| values[*at].signum() == sign;
            (0..values.len()).filter(on).collect()
        };
        let (above, below) = (sides(1), sides(-1));
        let mut new = Vec::new();
        for p in &above {
            for n in &below {
                if !self.adjacent(*p, *n) {
                    continue;
                }
                let (p, n) = (*p, *n);
                let at = combined(values[p], &self.rays[n].at, -values[n], &self.rays[p].at)?;
                let mut tight: Vec<u64> = self.common(p, n).collect();
                if !equation {
                    tight[self.inequalities / 64] |= 1 << (self.inequalities % 64);
                }
                new.push(Ray { at, tight });
            }
        }
        self.spanned = match (above.is_empty(), below.is_empty()) {
            (true, true) => self.spanned,
            (false, true) if !equation => self.spanned,
            (false, false) => self.spanned.saturating_sub(u32::from(equation)),
            // How many dimensions a face has would be a question of its own.
            _ => 0,
        };
        let mut kept = Vec::new();
        for (mut ray, value) in std::mem::take(&mut self.rays).into_iter().zip(values) {
            if value == 0 && !equation {
                ray.tight[self.inequalities / 64] |= 1 << (self.inequalities % 64);
            }
            if value == 0 || (value > 0 && !equation) {
                kept.push(ray);
            }
        }
        kept.extend(new);
        self.rays = kept;
        if self.rays.len() > MOST_RAYS { Err(Error::Overflow) } else { Ok(()) }
    }

    /// Returns what is tight on both rays.
    fn common(&self, p: usize, n: usize) -> impl Iterator<Item = u64> {
        self.rays[p].tight.iter().zip(&self.rays[n].tight).map(|(a, b)| a & b)
    }

    /// Returns whether two rays span a face of two dimensions: nothing between them is tight
    /// wherever both are. Such faces have two dimensions less than the cone, and as many rows
    /// that are tight; that keeps most pairs from being compared with all other rays.
    fn adjacent(&self, p: usize, n: usize) -> bool {
        let tight: u32 = self.common(p, n).map(u64::count_ones).sum();
        let between = |(index, ray): (usize, &Ray)| {
            index != p
                && index != n
                && self.common(p, n).zip(&ray.tight).all(|(common, own)| common & !own == 0)
        };
        tight + 2 >= self.spanned && !self.rays.iter().enumerate().any(between)
    }

    fn projected(self, cols: usize) -> Generators {
        if !self.rays.iter().any(|ray| ray.at[0] > 0) {
            return Generators::default();
        }
        let short = |mut vector: Vec<i128>| {
            vector.truncate(cols);
            reduce(&mut vector);
            vector
        };
        let clean = |vectors: Vec<Vec<i128>>| {
            let mut vectors: Vec<_> = vectors.into_iter().map(short).collect();
            vectors.retain(|vector| vector.iter().any(|v| *v != 0));
            vectors.sort_unstable();
            vectors.dedup();
            vectors
        };
        Generators {
            rays: clean(self.rays.into_iter().map(|ray| ray.at).collect()),
            lines: clean(self.lines),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tangram_presburger::{Budget, Union};

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
