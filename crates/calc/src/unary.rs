//! Operators before one value.

use tangram_presburger::count::{self, PiecewiseQuasiPolynomial, Side};
use tangram_presburger::{Budget, Error, Inequalities, Relation, Union};

use crate::operators::Failure;
use crate::value::Value;

/// The operators and what they do.
pub const NAMES: [(&str, &str); 42] = [
    ("aff", "the smallest affine space around a union"),
    ("card", "the number of points, or of outputs of each input"),
    ("coalesce", "fewer disjuncts, the same points"),
    ("complement", "all points of the spaces that are not in the union"),
    ("deltas", "differences of related points"),
    ("deltas_map", "each pair of a relation to its difference"),
    ("dom", "inputs of a relation"),
    ("domain", "inputs of a relation"),
    ("domain_map", "each pair of a relation to its input"),
    ("fm", "of a pair (set, \"x\"): Fourier-Motzkin elimination of x, step by step"),
    ("identity", "each point to itself"),
    ("inverse", "inputs and outputs swapped"),
    ("is_bijective", "single-valued and injective"),
    ("is_empty", "no points for any parameters"),
    ("is_injective", "no output has two inputs"),
    ("is_single_valued", "no input has two outputs"),
    ("is_surjective", "of a pair (relation, set): every point of the set is an output"),
    ("lexmax", "the greatest output of each input"),
    ("lexmin", "the least output of each input"),
    ("loops", "of a pair (set, \"i, j\"): bounds of loops, outermost first"),
    ("params", "parameters for which there are points"),
    ("ran", "outputs of a relation"),
    ("range", "outputs of a relation"),
    ("range_map", "each pair of a relation to its output"),
    ("sample", "one point"),
    ("scan", "every point, listed"),
    ("simple_hull", "one conjunction of moved constraints around a union"),
    ("typeof", "the kind of a value"),
    ("universe", "all points of the spaces"),
    ("unwrap", "sets of pairs as relations"),
    ("wrap", "relations as sets of pairs"),
    ("zip", "pairs of pairs, regrouped"),
    ("closure", "of a relation: its transitive closure and whether that is exact, as `^+`"),
    ("disjoint", "disjuncts that share no point"),
    ("hull", "the convex hull of a union"),
    ("lb", "a lower bound of a quasi-polynomial on its domain"),
    ("poly", "the convex hull of a union, within its affine hull"),
    ("pow", "of a relation: any number of steps to the pairs they connect, and exactness"),
    ("sum", "the sum of a quasi-polynomial over the points of its domain"),
    ("ub", "an upper bound of a quasi-polynomial on its domain"),
    ("bounds", "least and greatest value of each dimension of a set"),
    ("count_disjuncts", "how many conjunctions a union has"),
];

/// Applies the operator `name`.
pub(crate) fn unary(name: &str, value: Value, budget: &Budget) -> Result<Value, Failure> {
    if name == "typeof" {
        return Ok(Value::Text(value.kind().to_owned()));
    }
    if name == "is_surjective" {
        return surjective(&value, budget);
    }
    if name == "fm" || name == "loops" {
        return rational(name, &value, budget);
    }
    if let Value::Counts(functions) = &value {
        return polynomial(name, functions, budget);
    }
    let Value::Union(union) = &value else {
        return Err(Failure::Kinds(format!("`{name}` does not work on a {}", value.kind())));
    };
    let answer = match name {
        "is_empty" => Some(union.is_empty(budget)?),
        "is_injective" => Some(union.is_injective(budget)?),
        "is_bijective" => Some(union.is_bijective(budget)?),
        "is_single_valued" => Some(union.is_single_valued(budget)?),
        _ => None,
    };
    if let Some(answer) = answer {
        return Ok(Value::Bool(answer));
    }
    let result = match name {
        "aff" => union.affine_hull(budget)?,
        "bounds" => return bounds(union, budget),
        "card" => return Ok(Value::Counts(union.card(budget)?)),
        "closure" => {
            let (closure, exact) = union.transitive_closure(budget)?;
            return Ok(Value::List(vec![Value::Union(closure), Value::Bool(exact)]));
        }
        "coalesce" => union.coalesce(budget)?,
        "complement" => union.universe()?.subtract(union, budget)?,
        "count_disjuncts" => {
            let disjuncts =
                union.relations().map(|piece| piece.conjunctions().len()).sum::<usize>();
            return Ok(Value::Int(disjuncts as i128));
        }
        "deltas" => union.deltas(budget)?,
        "deltas_map" => union.deltas_map(budget)?,
        "disjoint" => each(union, |piece| piece.make_disjoint(budget))?,
        "dom" | "domain" => union.domain(budget)?,
        "domain_map" => union.domain_map()?,
        "hull" => each(union, |piece| piece.convex_hull(budget))?,
        "identity" => union.identity(budget)?,
        "inverse" => union.inverse()?,
        "lexmax" => union.lexmax(budget)?,
        "lexmin" => union.lexmin(budget)?,
        "params" => union.params(budget)?,
        "poly" => each(union, |piece| piece.polyhedral_hull(budget))?,
        "pow" => {
            let (power, exact) = union.single()?.power(budget)?;
            return Ok(Value::List(vec![Value::Union(power.into()), Value::Bool(exact)]));
        }
        "ran" | "range" => union.range(budget)?,
        "range_map" => union.range_map()?,
        "sample" => union.sample(budget)?,
        "scan" => scan(union, budget)?,
        "simple_hull" => union.simple_hull(budget)?,
        "universe" => union.universe()?,
        "unwrap" => union.unwrap()?,
        "wrap" => union.wrap()?,
        "zip" => union.zip()?,
        _ => return Err(Failure::Kinds(format!("`{name}` is not available"))),
    };
    Ok(Value::Union(result))
}

fn surjective(value: &Value, budget: &Budget) -> Result<Value, Failure> {
    if let Value::List(items) = value
        && let [Value::Union(map), Value::Union(set)] = &items[..]
    {
        return Ok(Value::Bool(map.is_surjective_onto(set, budget)?));
    }
    Err(Failure::Kinds("`is_surjective` needs a pair (relation, set)".to_owned()))
}

fn each(union: &Union, f: impl Fn(&Relation) -> Result<Relation, Error>) -> Result<Union, Error> {
    Union::collect(union.relations().map(f).collect::<Result<Vec<_>, _>>()?)
}

/// Sums or bounds quasi-polynomials.
fn polynomial(
    name: &str,
    functions: &[PiecewiseQuasiPolynomial],
    budget: &Budget,
) -> Result<Value, Failure> {
    let side = match name {
        "sum" => {
            let sums = functions.iter().map(|f| f.sum(budget)).collect::<Result<Vec<_>, _>>()?;
            return Ok(Value::Counts(count::collect(sums, budget)?));
        }
        "lb" => Side::Lower,
        "ub" => Side::Upper,
        _ => return Err(Failure::Kinds(format!("`{name}` does not work on a pwqp"))),
    };
    let bounds: Result<Vec<_>, _> = functions.iter().map(|f| f.bound(side, budget)).collect();
    Ok(Value::Bounds(bounds?))
}

/// Fourier-Motzkin on each disjunct of a set, named by the dimensions of its space.
fn rational(name: &str, value: &Value, budget: &Budget) -> Result<Value, Failure> {
    let Value::List(items) = value else { return Err(needs_pair(name)) };
    let [Value::Union(union), Value::Text(variables)] = &items[..] else {
        return Err(needs_pair(name));
    };
    let order: Vec<&str> = variables.split(',').map(str::trim).collect();
    let mut text = String::new();
    for system in union.relations().map(Inequalities::of).collect::<Result<Vec<_>, _>>()?.concat() {
        if name == "loops" {
            let loops = system.loop_bounds(&order, budget)?;
            text.extend(loops.iter().map(|bounds| format!("{bounds}\n")));
            continue;
        }
        let mut system = system;
        for variable in &order {
            let step = system.eliminate(variable, budget)?;
            text.push_str(&step.to_string());
            system = step.result;
        }
    }
    Ok(Value::Text(text.trim_end().to_owned()))
}

fn needs_pair(name: &str) -> Failure {
    Failure::Kinds(format!("`{name}` needs a pair (set, \"names\")"))
}

fn scan(union: &Union, budget: &Budget) -> Result<Union, Error> {
    let mut points = Vec::new();
    for piece in union.relations() {
        for point in piece.points(budget)? {
            points.push(Relation::point(piece.space().clone(), &point)?);
        }
    }
    Union::collect(points)
}

/// Lists, for each space, what values its dimensions take.
fn bounds(union: &Union, budget: &Budget) -> Result<Value, Failure> {
    let mut items = Vec::new();
    for piece in union.relations() {
        for dim in 0..piece.space().output.dims.len() {
            let mut single = piece.clone();
            let dims = piece.space().output.dims.len();
            single = single.project_out(dim + 1..dims, budget)?.project_out(0..dim, budget)?;
            items.push(Value::List(vec![
                Value::Union(single.lexmin(budget)?.into()),
                Value::Union(single.lexmax(budget)?.into()),
            ]));
        }
    }
    Ok(Value::List(items))
}
