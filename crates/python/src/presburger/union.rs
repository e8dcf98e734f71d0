//! Unions of sets or relations.

use pyo3::prelude::*;
use tangram::presburger::{
    Conjunction, Error, Extent, Integer, Order, Relation, Space, Tuple, Union, plot,
};

use super::elimination::{self, BoundsForm, Named, StepForm};
use super::spaces::{Form, Rows, conjunction, form, input, rows, space};
use super::{Count, Counts, PyPwMultiAff, failed, run, unknown};
use crate::integer::Number;

/// The name of a tuple, and its coordinates.
type Point = (String, Vec<Number>);
/// A point or a pair: the values of the parameters, the input if there is one, the output.
type Item = (Vec<Number>, Option<Point>, Point);
/// Least and greatest value, where there are any.
type Range = (Option<Number>, Option<Number>);

/// A union of sets or relations over any spaces.
#[pyclass(frozen, name = "Union", module = "tangram._native")]
pub(crate) struct PyUnion(pub(crate) Union);

fn place(tuple: &Tuple, coordinates: &[Integer]) -> Point {
    (tuple.shown_name().to_owned(), coordinates.iter().cloned().map(Number).collect())
}

#[pymethods]
impl PyUnion {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| Union::parse(text, budget)).map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    /// Parameters, input and output tuple of each space.
    fn spaces(&self) -> Vec<Form> {
        self.0.relations().map(|piece| form(piece.space())).collect()
    }

    /// All points of a space.
    #[staticmethod]
    fn full(of: Form) -> Self {
        Self(Relation::universe(space(of)).into())
    }

    /// The points of a space that one of some conjunctions allows.
    #[staticmethod]
    fn of_rows(python: Python<'_>, of: Form, parts: Vec<Rows>) -> PyResult<Self> {
        let parts: Vec<Conjunction> = parts.into_iter().map(conjunction).collect();
        let space = space(of);
        run(python, |_| Relation::from_conjunctions(space.clone(), &parts))
            .map(|relation| Self(relation.into()))
    }

    /// The conjunctions of the only space.
    fn rows(&self) -> PyResult<Vec<Rows>> {
        let relation = self.0.single().map_err(failed)?;
        Ok(relation.conjunctions().into_iter().map(rows).collect())
    }

    /// The same constraints in another space, coordinate `i` as coordinate `to[i]`.
    fn placed(&self, python: Python<'_>, of: Form, to: Vec<usize>) -> PyResult<Self> {
        let space = space(of);
        run(python, |_| self.0.single()?.placed(space.clone(), &to))
            .map(|relation| Self(relation.into()))
    }

    /// Names of the parameters.
    fn params(&self) -> Vec<String> {
        self.0.parameters()
    }

    /// The parts over one space each.
    fn pieces(&self) -> PyResult<Vec<Self>> {
        Ok(self.0.relations().map(|piece| Self(piece.clone().into())).collect())
    }

    /// Eliminates variables one after the other, over the rationals, from each disjunct.
    fn eliminations(
        &self,
        python: Python<'_>,
        variables: Vec<String>,
    ) -> PyResult<Vec<Named<StepForm>>> {
        run(python, |budget| elimination::steps(self.0.single()?, &variables, budget))
    }

    /// Bounds of loops over some variables, the outermost first, for each disjunct.
    fn loop_bounds(
        &self,
        python: Python<'_>,
        order: Vec<String>,
    ) -> PyResult<Vec<Named<BoundsForm>>> {
        run(python, |budget| elimination::loops(self.0.single()?, &order, budget))
    }

    /// Applies an operation of one operand.
    fn unary(&self, python: Python<'_>, name: &str) -> PyResult<Self> {
        let union = &self.0;
        run(python, |budget| match name {
            "domain" => union.domain(budget),
            "range" => union.range(budget),
            "params" => union.params(budget),
            "inverse" => union.inverse(),
            "wrap" => union.wrap(),
            "unwrap" => union.unwrap(),
            "zip" => union.zip(),
            "domain_map" => union.domain_map(),
            "range_map" => union.range_map(),
            "identity" => union.identity(budget),
            "deltas" => union.deltas(budget),
            "deltas_map" => union.deltas_map(budget),
            "lexmin" => union.total_lexmin(budget),
            "lexmax" => union.total_lexmax(budget),
            "coalesce" => union.coalesce(budget),
            "simple_hull" => union.simple_hull(budget),
            "affine_hull" => union.affine_hull(budget),
            "detect_equalities" => union.detect_equalities(budget),
            "convex_hull" => each(union, |piece| piece.convex_hull(budget)),
            "polyhedral_hull" => each(union, |piece| piece.polyhedral_hull(budget)),
            "unshifted_simple_hull" => each(union, |piece| piece.unshifted_simple_hull(budget)),
            "remove_redundancies" => each(union, |piece| piece.remove_redundancies(budget)),
            "make_disjoint" => each(union, |piece| piece.make_disjoint(budget)),
            "curry" => union.curry(),
            "uncurry" => union.uncurry(),
            "coefficients" => each(union, |piece| piece.coefficients(budget)),
            "solutions" => each(union, |piece| piece.solutions(budget)),
            "lift" => each(union, |piece| piece.lift(budget)),
            "sample" => union.sample(budget),
            "universe" => union.universe(),
            "complement" => union.universe()?.subtract(union, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Applies an operation of two operands.
    fn binary(&self, python: Python<'_>, name: &str, other: &Self) -> PyResult<Self> {
        let (union, other) = (&self.0, &other.0);
        run(python, |budget| match name {
            "union" => union.union(other),
            "intersect" => union.intersect(other, budget),
            "subtract" => union.subtract(other, budget),
            "gist" => union.gist(other, budget),
            "gist_domain" => union.gist_domain(other, budget),
            "gist_range" => union.gist_range(other, budget),
            "apply_range" => union.apply_range(other, budget),
            "apply_domain" => union.apply_domain(other, budget),
            "intersect_domain" => union.intersect_domain(other, budget),
            "intersect_range" => union.intersect_range(other, budget),
            "subtract_domain" => union.subtract_domain(other, budget),
            "subtract_range" => union.subtract_range(other, budget),
            "intersect_params" => union.intersect_params(other.single()?, budget),
            "product" => union.product(other, budget),
            "range_product" => union.range_product(other, budget),
            "domain_product" => union.domain_product(other, budget),
            "flat_range_product" => union.flat_range_product(other, budget),
            "cross" => union.cross(other, budget),
            "lex_lt" => union.ordered(other, Order::Less, budget),
            "lex_le" => union.ordered(other, Order::LessOrEqual, budget),
            "lex_gt" => union.ordered(other, Order::Greater, budget),
            "lex_ge" => union.ordered(other, Order::GreaterOrEqual, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Decides a property, of both operands where there are two.
    #[pyo3(signature = (name, other = None))]
    fn test(&self, python: Python<'_>, name: &str, other: Option<&Self>) -> PyResult<bool> {
        let union = &self.0;
        run(python, |budget| match (name, other.map(|other| &other.0)) {
            ("is_empty", None) => union.is_empty(budget),
            ("is_single_valued", None) => union.is_single_valued(budget),
            ("is_injective", None) => union.is_injective(budget),
            ("is_bijective", None) => union.is_bijective(budget),
            ("is_equal", Some(other)) => union.is_equal(other, budget),
            ("is_subset", Some(other)) => union.is_subset(other, budget),
            ("is_strict_subset", Some(other)) => union.is_strict_subset(other, budget),
            ("is_disjoint", Some(other)) => union.is_disjoint(other, budget),
            ("is_surjective_onto", Some(other)) => union.is_surjective_onto(other, budget),
            _ => unknown(name),
        })
    }

    /// The parts of one conjunction each.
    fn disjuncts(&self, python: Python<'_>) -> PyResult<Vec<Self>> {
        run(python, |_| {
            let mut all = Vec::new();
            for piece in self.0.relations() {
                for part in piece.conjunctions() {
                    let single = Relation::from_conjunctions(piece.space().clone(), &[part])?;
                    all.push(Self(single.into()));
                }
            }
            Ok(all)
        })
    }

    /// The vertices of the hull of the only space.
    fn vertices(&self, python: Python<'_>) -> PyResult<Vec<PyPwMultiAff>> {
        let found = run(python, |budget| self.0.single()?.vertices(budget))?;
        Ok(found.into_iter().map(PyPwMultiAff).collect())
    }

    /// The least width of the only space in any integer direction, by parameters.
    fn lattice_width(&self, python: Python<'_>) -> PyResult<Count> {
        run(python, |budget| self.0.single()?.lattice_width(budget)).map(Count)
    }

    /// The transitive closure, and whether it is exact.
    fn closure(&self, python: Python<'_>) -> PyResult<(Self, bool)> {
        run(python, |budget| self.0.transitive_closure(budget))
            .map(|(closure, exact)| (Self(closure), exact))
    }

    /// Pairs by numbers of steps, and whether it is exact.
    fn power(&self, python: Python<'_>) -> PyResult<(Self, bool)> {
        run(python, |budget| self.0.single()?.power(budget))
            .map(|(power, exact)| (Self(power.into()), exact))
    }

    /// Least and greatest value of each dimension of the only space; none without points.
    fn bounding_box(&self, python: Python<'_>) -> PyResult<Option<Vec<Range>>> {
        let found = run(python, |budget| self.0.single()?.bounding_box(budget))?;
        let range = |(least, greatest): Extent| (least.map(Number), greatest.map(Number));
        Ok(found.map(|all| all.into_iter().map(range).collect()))
    }

    /// The stride of a dimension, and the values of its offset as a set or relation.
    fn stride(&self, python: Python<'_>, dim: usize) -> PyResult<(Number, Self)> {
        run(python, |budget| {
            let stride = self.0.single()?.stride(dim, budget)?;
            let offset = stride.offset.neg()?.neg()?;
            let domain = Space::set(offset.space().params.clone(), input(offset.space()));
            let name = Tuple::new("", ["offset"]);
            let graph = tangram::presburger::MultiAff::of(&domain, name, &[offset])?;
            Ok((Number(stride.stride), Self(graph.to_relation()?.into())))
        })
    }

    /// Names the parameters in an order; those that are new are free.
    fn project_params(&self, python: Python<'_>, names: Vec<String>) -> PyResult<Self> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        run(python, |budget| each(&self.0, |piece| piece.project_params(&names, budget))).map(Self)
    }

    /// Projects the dimensions from `first` on away, which are `count`, inputs before outputs.
    fn project_out(&self, python: Python<'_>, first: usize, count: usize) -> PyResult<Self> {
        let end = first.saturating_add(count);
        run(python, |budget| self.0.single()?.project_out(first..end, budget))
            .map(|relation| Self(relation.into()))
    }

    /// Gives parameters their values, after which they are gone.
    fn bind(&self, python: Python<'_>, values: Vec<(String, Number)>) -> PyResult<Self> {
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        let space =
            Space::set(names.iter().map(|n| (*n).to_owned()).collect(), Tuple::anonymous(0));
        let values: Vec<Integer> = values.iter().map(|(_, value)| value.0.clone()).collect();
        run(python, |budget| {
            let point = Relation::point(space.clone(), &values)?;
            let bound = self.0.intersect_params(&point, budget)?;
            let pieces = bound.relations().map(|piece| piece.project_params(&names, budget));
            Union::collect(pieces.collect::<Result<Vec<_>, _>>()?)
        })
        .map(Self)
    }

    /// All points: values of the parameters, input where there is one, output.
    fn points(&self, python: Python<'_>) -> PyResult<Vec<Item>> {
        run(python, |budget| {
            let mut all = Vec::new();
            for piece in self.0.relations() {
                let Space { params, input, output } = piece.space();
                for point in piece.points(budget)? {
                    let (values, tuples) = point.split_at(params.len());
                    let inputs = input.as_ref().map_or(0, |tuple| tuple.dims.len());
                    let (from, to) = tuples.split_at(inputs);
                    let from = input.as_ref().map(|tuple| place(tuple, from));
                    all.push((
                        values.iter().cloned().map(Number).collect(),
                        from,
                        place(output, to),
                    ));
                }
            }
            Ok(all)
        })
    }

    /// Counts the points of sets, or the outputs of each input: a function for each domain.
    fn card(&self, python: Python<'_>) -> PyResult<Counts> {
        run(python, |budget| self.0.card(budget)).map(Counts)
    }

    /// A picture of the points.
    fn svg(&self, python: Python<'_>) -> PyResult<String> {
        run(python, |budget| plot::svg(&self.0, budget))
    }
}

fn each(union: &Union, f: impl Fn(&Relation) -> Result<Relation, Error>) -> Result<Union, Error> {
    Union::collect(union.relations().map(f).collect::<Result<Vec<_>, _>>()?)
}
