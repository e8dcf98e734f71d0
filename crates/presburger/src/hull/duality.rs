//! The constraints that all points of a set satisfy, as a set of their coefficients, and back.
//!
//! Points `x` and constraints `c0 + c . x >= 0` are dual: the vertices and rays of one side are
//! the constraints of the other. Everything is rational, as in Farkas' lemma.

use crate::basic_map::BasicMap;
use crate::hull::generators;
use crate::solve::number::{Number, widening};
use crate::{Budget, Error, Integer, Relation, Space, Tuple};

impl Relation {
    /// Returns the coefficients of all constraints that hold on the rational relaxation of each
    /// disjunct: the constant and those of parameters, then those of dimensions.
    ///
    /// `{ [i] : 0 <= i <= 10 }` gives `{ coefficients[[c_cst] -> [c_i]] : c_cst >= 0 and
    /// 10 c_i + c_cst >= 0 }`. The cost grows with the number of vertices.
    ///
    /// # Errors
    /// [`Error::Space`] for a relation.
    pub fn coefficients(&self, budget: &Budget) -> Result<Self, Error> {
        if !self.is_set() {
            let found = self.space().to_string();
            return Err(Error::Space { expected: "a set".into(), found });
        }
        let name = |name: &String| format!("c_{name}");
        let constants = ["c_cst".to_owned()].into_iter();
        let first = constants.chain(self.space().params.iter().map(name));
        let second = self.space().output.dims.iter().map(name);
        let pair = Tuple::wrapping(Tuple::new("", first), Tuple::new("", second));
        let space = Space::set(Vec::new(), Tuple { name: "coefficients".into(), ..pair });
        let dims = self.space().dims();
        let mut result = BasicMap::universe(1 + dims);
        for part in self.parts.iter() {
            if part.is_empty(budget)? {
                continue;
            }
            // The coordinates of a generator are what it multiplies the coefficients with.
            let (lines, rays) = widening!(T => points_and_ways::<T>(part, dims, budget))?;
            let row = |point: Vec<Integer>| [vec![Integer::ZERO], point].concat();
            lines.into_iter().for_each(|line| result.system.eqs.push(&row(line)));
            rays.into_iter().for_each(|ray| result.system.ineqs.push(&row(ray)));
        }
        Self::new(space, result.tidied().into_iter().collect()).remove_redundancies(budget)
    }

    /// Returns the points that satisfy all constraints whose coefficients are in the set, as
    /// [`Self::coefficients`] writes them.
    ///
    /// # Errors
    /// [`Error::Space`] unless the points are pairs of at least one coordinate, the constant, and
    /// others.
    pub fn solutions(&self, budget: &Budget) -> Result<Self, Error> {
        let sides = self.space().output.sides().filter(|_| self.is_set());
        let sides = sides.filter(|(first, _)| !first.dims.is_empty());
        let Some((first, second)) = sides.filter(|_| self.space().params.is_empty()) else {
            let expected = "coefficients[[c_cst] -> [..]]".to_owned();
            return Err(Error::Space { expected, found: self.space().to_string() });
        };
        let plain = |name: &String| name.strip_prefix("c_").unwrap_or(name).to_owned();
        let params: Vec<String> = first.dims[1..].iter().map(plain).collect();
        let output = Tuple::new("", second.dims.iter().map(plain));
        let space = Space::set(params, output);
        let dims = self.space().dims();
        let mut result = BasicMap::universe(dims - 1);
        for part in self.parts.iter() {
            if part.is_empty(budget)? {
                continue;
            }
            let (lines, rays) = widening!(T => points_and_ways::<T>(part, dims, budget))?;
            // The first coordinate tells points from directions; both are constraints alike.
            lines.into_iter().for_each(|line| result.system.eqs.push(&line[1..]));
            rays.into_iter().for_each(|ray| result.system.ineqs.push(&ray[1..]));
        }
        Self::new(space, result.tidied().into_iter().collect()).remove_redundancies(budget)
    }
}

type Rows = Vec<Vec<Integer>>;

/// Returns lines and rays over `[1, dimensions..]`; rays whose first coordinate is not 0 are points.
fn points_and_ways<T: Number>(
    part: &BasicMap,
    dims: usize,
    budget: &Budget,
) -> Result<(Rows, Rows), Error> {
    let cone = generators::<T>(&part.unfolded(), budget)?;
    let wide = |row: &[T]| row[..=dims].iter().map(Number::integer).collect();
    Ok((cone.lines.iter().map(|row| wide(row)).collect(), cone.rays().map(wide).collect()))
}

#[cfg(test)]
mod tests {
    use crate::{Budget, Relation};

    fn set(text: &str) -> Relation {
        Relation::parse(text, &Budget::unlimited()).unwrap()
    }

    #[test]
    fn coefficients_are_those_of_constraints_that_hold() {
        let budget = Budget::unlimited();
        for (points, coefficients) in [
            // Least and greatest point must satisfy a constraint.
            ("{ [i] : 0 <= i <= 10 }", "{ coefficients[[a] -> [b]] : a >= 0 and a + 10b >= 0 }"),
            (
                "{ [i, j] : i = 2j and j >= 1 }",
                "{ coefficients[[a] -> [b, c]] : a + 2b + c >= 0 and 2b + c >= 0 }",
            ),
            (
                "[n] -> { [i] : 0 <= i <= n }",
                "{ coefficients[[a, b] -> [c]] : a >= 0 and b >= 0 and b + c >= 0 }",
            ),
            ("{ [i] }", "{ coefficients[[a] -> [b]] : b = 0 and a >= 0 }"),
            ("{ [i] : i > 3 and i < 3 }", "{ coefficients[[a] -> [b]] }"),
        ] {
            let found = set(points).coefficients(&budget).unwrap();
            assert!(found.is_equal(&set(coefficients), &budget).unwrap(), "{points}: {found}");
        }
        assert!(set("{ [i] -> [j] }").coefficients(&budget).is_err());
    }

    #[test]
    fn solutions_of_coefficients_are_the_hull() {
        let budget = Budget::unlimited();
        for text in [
            "{ [i, j] : 0 <= i <= 7 and 2i <= 3j <= 20 + i }",
            "[n] -> { [i] : 0 <= i <= n; [i] : i = 2n and n >= 5 }",
            "{ [i, j] : i = 2j and j >= 1 }",
            "{ [i] }",
        ] {
            let hull = set(text).convex_hull(&budget).unwrap();
            let back = set(text).coefficients(&budget).unwrap().solutions(&budget).unwrap();
            assert!(back.is_equal(&hull, &budget).unwrap(), "{text}: {back}");
        }
        for wrong in ["{ [i] }", "{ [[] -> [i]] }", "[n] -> { [[i] -> [j]] }"] {
            assert!(set(wrong).solutions(&budget).is_err(), "{wrong}");
        }
    }
}
