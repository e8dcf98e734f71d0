//! Operators before one value.

use tangram_presburger::{Budget, Error, Inequalities, Integer, Relation, Union, plot};

use tangram_polyhedral::ScheduleTree;
use tangram_polyhedral::representation::Form;

use crate::functions;
use crate::operators::{Failure, Outcome};
use crate::value::Value;

/// The operators: name, what they take, what they give.
pub const NAMES: [(&str, &str, &str); 68] = [
    ("affine", "a schedule", "an affine function for each statement, without their order"),
    ("aff", "a set or map", "the smallest affine space around it"),
    ("bounds", "a set or map", "least and greatest value of each dimension"),
    ("box", "a set or map", "the smallest box of constant bounds around it"),
    ("card", "a set or map", "the number of points, or of outputs of each input"),
    ("closure", "a map", "its transitive closure and whether that is exact, as `^+`"),
    ("coalesce", "a set, map or function", "fewer disjuncts, the same points"),
    ("coefficients", "a set", "those of all constraints that hold on it"),
    ("complement", "a set or map", "all points of its spaces that are not in it"),
    ("count_disjuncts", "a set or map", "how many conjunctions it has"),
    ("curry", "a map", "`[a -> b] -> c` as `a -> [b -> c]`"),
    ("deltas", "a map", "differences of related points"),
    ("deltas_map", "a map", "each pair to its difference"),
    ("detect_equalities", "a set or map", "with the equations that hold on all its points"),
    ("disjoint", "a set or map", "disjuncts that share no point"),
    ("dom", "a map, function or schedule", "its inputs, or instances"),
    ("domain", "a map, function or schedule", "its inputs, or instances"),
    ("domain_map", "a map", "each pair to its input"),
    ("fm", "a pair (set, \"x\")", "Fourier-Motzkin elimination of x, step by step"),
    ("hull", "a set or map", "its convex hull"),
    ("identity", "a set", "each point to itself"),
    ("in_sequence", "schedules (S, T)", "one behind the other"),
    ("in_set", "schedules (S, T)", "side by side, in any order"),
    ("inverse", "a map", "inputs and outputs swapped, as `^-1`"),
    ("is_bijective", "a map", "whether it is single-valued and injective"),
    ("is_empty", "a set or map", "whether there is no point for any parameters"),
    ("is_injective", "a map", "whether no output has two inputs"),
    ("is_single_valued", "a map", "whether no input has two outputs"),
    ("is_surjective", "a pair (map, set)", "whether every point of the set is an output"),
    ("kelly", "a schedule", "Kelly's form: points of different lengths"),
    ("lattice_width", "a set", "its least width in any integer direction, by parameters"),
    ("lb", "a function", "a lower bound on its domain, and whether it is known to be reached"),
    ("lexmax", "a set or map", "its greatest point, or the greatest output of each input"),
    ("lexmin", "a set or map", "its least point, or the least output of each input"),
    ("lift", "a set", "its points with the values of the divisions that describe them"),
    ("lpoly", "a function", "polynomials that are nowhere above its values"),
    ("loops", "a pair (set, \"i, j\")", "bounds of loops, outermost first, by elimination"),
    ("map", "a schedule", "instances to points in time"),
    ("map_of_roots", "a schedule", "as `map`, with all points of an expanded instance"),
    ("params", "a set or map", "parameters for which there are points"),
    ("plot", "a set, map or schedule", "an SVG picture; `plot \"file\" X` writes it"),
    ("poly", "a set, map or function", "the polyhedral hull; polynomials near the values"),
    ("pow", "a map", "any number of steps to the pairs they connect, and exactness"),
    ("ran", "a map", "its outputs"),
    ("range", "a map", "its outputs"),
    ("range_map", "a map", "each pair to its output"),
    ("regular", "a schedule", "the 2d+1 form: a constant before and behind each iterator"),
    ("sample", "a set or map", "one point of each space"),
    ("scan", "a set or map", "every point, listed"),
    ("simple_hull", "a set or map", "one conjunction of moved constraints around it"),
    ("solutions", "a set of coefficients", "the points for which all their constraints hold"),
    ("strides", "a set or map", "the lattice that each dimension keeps to"),
    ("sum", "a function", "the sum over all points, or over the second points of pairs"),
    ("tree", "a map or set", "the schedule tree of points in time, or of instances in any order"),
    ("tree_of_affine", "a map", "the schedule tree of a function for each statement, in turn"),
    (
        "tree_of_kelly",
        "a map",
        "the schedule tree of Kelly's form or of 2d+1, filled up with zeros",
    ),
    ("tree_with_copies", "a map", "the schedule tree of a map with several points for an instance"),
    ("typeof", "any value", "its kind, in iscc's words"),
    ("ub", "a function", "an upper bound on its domain, and whether it is known to be reached"),
    ("upoly", "a function", "polynomials that are nowhere below its values"),
    ("uncurry", "a map", "`a -> [b -> c]` as `[a -> b] -> c`"),
    ("universe", "a set or map", "all points of its spaces"),
    ("unshifted_hull", "a set or map", "one conjunction of its own constraints around it"),
    ("unwrap", "a set", "pairs as a map"),
    ("vertices", "a set", "the vertices of its hull, each a function of the parameters"),
    ("wrap", "a map", "pairs as a set"),
    ("zip", "a map", "pairs of pairs, regrouped"),
    ("project_out", "a pair (set or map, \"x\")", "what is left without the outputs named"),
];

/// Applies the operator `name`.
pub(crate) fn unary(name: &str, value: Value, budget: &Budget) -> Outcome {
    match name {
        "typeof" => return Ok(Value::Text(value.type_name().to_owned())),
        "is_surjective" => return surjective(value, budget),
        "fm" | "loops" | "project_out" => return with_names(name, &value, budget),
        "in_sequence" | "in_set" => return joined(name, value, budget),
        _ => (),
    }
    let value = value.result();
    let given = value.kind();
    let outcome = match (name, value) {
        ("plot", Value::Union(union)) => Some(plot::svg(&union, budget).map(Value::Text)),
        ("plot", Value::Schedule(tree)) => Some(Ok(Value::Text(tree.to_svg()))),
        ("dom" | "domain", Value::Schedule(tree)) => {
            return Ok(Value::Union(tree.to_map(budget)?.domain(budget)?));
        }
        ("tree", Value::Schedule(tree)) => Some(Ok(Value::Schedule(tree))),
        ("tree", Value::Union(set)) if set.relations().all(Relation::is_set) => {
            return Ok(Value::Schedule(Box::new(ScheduleTree::from_domain(set))));
        }
        ("tree" | "tree_of_affine" | "tree_of_kelly" | "tree_with_copies", Value::Union(map)) => {
            let form = match name {
                "tree" => Form::Map,
                "tree_of_affine" => Form::Affine,
                "tree_of_kelly" => Form::Kelly,
                _ => Form::ManyValued,
            };
            return Ok(Value::Schedule(Box::new(form.to_tree(&map, budget)?)));
        }
        ("affine" | "kelly" | "map_of_roots" | "regular", Value::Schedule(tree)) => {
            let form = match name {
                "affine" => Form::Affine,
                "kelly" => Form::Kelly,
                "regular" => Form::Regular,
                _ => Form::ManyValued,
            };
            return Ok(Value::Union(form.of_tree(&tree, budget)?));
        }
        (name, Value::Schedule(tree)) => {
            let map = tree.to_map(budget)?;
            if name == "map" { Some(Ok(Value::Union(map))) } else { of_union(name, &map, budget) }
        }
        (name, Value::Functions(functions)) => {
            return functions::unary(name, &functions, budget)
                .unwrap_or_else(|| Err(wrong(name, given)));
        }
        ("dom" | "domain", Value::Bound(bound)) => Some(bound.support().map(Value::Union)),
        ("coalesce", Value::Bound(bound)) => Some(Ok(Value::Bound(bound))),
        (name, Value::Union(union)) => of_union(name, &union, budget),
        _ => None,
    };
    outcome.map_or_else(|| Err(wrong(name, given)), |outcome| Ok(outcome?))
}

/// The operator does not take a value of the kind.
fn wrong(name: &str, kind: &str) -> Failure {
    let takes = NAMES.iter().find(|(known, ..)| *known == name).map_or("", |(_, takes, _)| takes);
    Failure::Kinds(format!("`{name}` does not work on a {kind}; it takes {takes}"))
}

fn of_union(name: &str, union: &Union, budget: &Budget) -> Option<Result<Value, Error>> {
    let answer = match name {
        "is_empty" => union.is_empty(budget),
        "is_injective" => union.is_injective(budget),
        "is_bijective" => union.is_bijective(budget),
        "is_single_valued" => union.is_single_valued(budget),
        _ => return simplified(name, union, budget),
    };
    Some(answer.map(Value::Bool))
}

/// Hulls, points and numbers.
fn simplified(name: &str, union: &Union, budget: &Budget) -> Option<Result<Value, Error>> {
    let result = match name {
        "aff" => union.affine_hull(budget),
        "bounds" => return Some(bounds(union, budget)),
        "box" => each(union, |piece| around(piece, budget)),
        "card" => return Some(union.card(budget).map(Value::Functions)),
        "closure" => return Some(union.transitive_closure(budget).map(exact)),
        "coalesce" => union.coalesce(budget),
        "coefficients" => each(union, |piece| piece.coefficients(budget)),
        "count_disjuncts" => {
            let disjuncts = union.relations().map(|piece| piece.conjunctions().len() as i64);
            return Some(Ok(Value::Number(disjuncts.sum::<i64>().into())));
        }
        "detect_equalities" => union.detect_equalities(budget),
        "disjoint" => each(union, |piece| piece.make_disjoint(budget)),
        "hull" => each(union, |piece| piece.convex_hull(budget)),
        "lattice_width" => {
            let width = union.single().and_then(|piece| piece.lattice_width(budget));
            return Some(width.map(|width| Value::Functions(width.into())));
        }
        "lexmax" => union.total_lexmax(budget),
        "lexmin" => union.total_lexmin(budget),
        "lift" => each(union, |piece| piece.lift(budget)),
        "poly" => each(union, |piece| piece.polyhedral_hull(budget)),
        "pow" => {
            let power = union.single().and_then(|piece| piece.power(budget));
            return Some(power.map(|(power, is_exact)| exact((power.into(), is_exact))));
        }
        "sample" => union.sample(budget),
        "scan" => union.scan(budget),
        "simple_hull" => union.simple_hull(budget),
        "solutions" => each(union, |piece| piece.solutions(budget)),
        "strides" => each(union, |piece| lattice(piece, budget)),
        "unshifted_hull" => each(union, |piece| piece.unshifted_simple_hull(budget)),
        "vertices" => return Some(vertices(union, budget)),
        _ => return rearranged(name, union, budget).map(|union| union.map(Value::Union)),
    };
    Some(result.map(Value::Union))
}

/// Other spaces for the same points.
fn rearranged(name: &str, union: &Union, budget: &Budget) -> Option<Result<Union, Error>> {
    Some(match name {
        "complement" => union.universe().and_then(|all| all.subtract(union, budget)),
        "curry" => union.curry(),
        "deltas" => union.deltas(budget),
        "deltas_map" => union.deltas_map(budget),
        "dom" | "domain" => union.domain(budget),
        "domain_map" => union.domain_map(),
        "identity" => union.identity(budget),
        "inverse" => union.inverse(),
        "params" => union.params(budget),
        "ran" | "range" => union.range(budget),
        "range_map" => union.range_map(),
        "uncurry" => union.uncurry(),
        "universe" => union.universe(),
        "unwrap" => union.unwrap(),
        "wrap" => union.wrap(),
        "zip" => union.zip(),
        _ => return None,
    })
}

/// A pair of a result and whether it is exact.
fn exact((union, exact): (Union, bool)) -> Value {
    Value::List(vec![Value::Union(union), Value::Bool(exact)])
}

/// Lists the vertices of each space.
fn vertices(union: &Union, budget: &Budget) -> Result<Value, Error> {
    let mut items = Vec::new();
    for piece in union.relations() {
        let found = piece.vertices(budget)?;
        items.extend(found.iter().map(|vertex| Value::Text(vertex.to_string())));
    }
    Ok(Value::List(items))
}

/// Puts schedules of different instances under one node.
fn joined(name: &str, value: Value, budget: &Budget) -> Outcome {
    let needs = || Failure::Kinds(format!("`{name}` takes schedules (S, T)"));
    let Value::List(items) = value else { return Err(needs()) };
    let tree = |item| match item {
        Value::Schedule(tree) => Some(*tree),
        _ => None,
    };
    let trees: Vec<ScheduleTree> =
        items.into_iter().map(tree).collect::<Option<_>>().ok_or_else(needs)?;
    let tree = match name {
        "in_sequence" => ScheduleTree::in_sequence(&trees, budget)?,
        _ => ScheduleTree::in_set(&trees, budget)?,
    };
    Ok(Value::Schedule(Box::new(tree)))
}

fn surjective(value: Value, budget: &Budget) -> Outcome {
    if let Value::List(items) = value
        && let [Value::Union(map), Value::Union(set)] = &items[..]
    {
        return Ok(Value::Bool(map.is_surjective_onto(set, budget)?));
    }
    Err(Failure::Kinds("`is_surjective` takes a pair (map, set)".to_owned()))
}

fn each(union: &Union, f: impl Fn(&Relation) -> Result<Relation, Error>) -> Result<Union, Error> {
    Union::collect(union.relations().map(f).collect::<Result<Vec<_>, _>>()?)
}

/// Makes the set of all points between the bounds of each dimension.
fn around(piece: &Relation, budget: &Budget) -> Result<Relation, Error> {
    let all = Relation::universe(piece.space().clone());
    let sides = match piece.is_set() {
        true => vec![(piece.clone(), piece.space().params.len())],
        false => {
            let first = piece.space().params.len();
            let domain = piece.domain(budget)?;
            let outputs = first + domain.space().output.dims.len();
            vec![(domain, first), (piece.range(budget)?, outputs)]
        }
    };
    let mut rows = Vec::new();
    for (side, first) in sides {
        let Some(bounds) = side.bounding_box(budget)? else {
            return Ok(Relation::empty(piece.space().clone()));
        };
        for (dim, (least, greatest)) in bounds.into_iter().enumerate() {
            rows.extend(least.map(|bound| (first + dim, Integer::ONE, bound.neg())));
            rows.extend(greatest.map(|bound| (first + dim, Integer::MINUS_ONE, bound)));
        }
    }
    let [part] = &all.conjunctions()[..] else { return Ok(all) };
    let mut part = part.clone();
    let space = piece.space();
    let inputs = space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
    let columns = 1 + space.params.len() + inputs + space.output.dims.len();
    for (dim, sign, constant) in rows {
        let mut row = vec![Integer::ZERO; columns];
        (row[0], row[1 + dim]) = (constant, sign);
        part.inequalities.push(row);
    }
    Relation::from_conjunctions(space.clone(), &[part])
}

/// Makes the set of all points whose dimensions keep to the strides of a set.
fn lattice(piece: &Relation, budget: &Budget) -> Result<Relation, Error> {
    let mut all = Relation::universe(piece.space().clone());
    for (dim, stride) in piece.lattice_tile(budget)?.into_iter().enumerate() {
        if stride.stride > Integer::ONE {
            all = all.intersect(&stride.points(piece.space(), dim)?, budget)?;
        }
    }
    Ok(all)
}

/// Operators on a pair of a union and names of its dimensions.
fn with_names(name: &str, value: &Value, budget: &Budget) -> Outcome {
    let takes = NAMES.iter().find(|(known, ..)| *known == name).map_or("", |(_, takes, _)| takes);
    let needs = || Failure::Kinds(format!("`{name}` takes {takes}"));
    let Value::List(items) = value else { return Err(needs()) };
    let [Value::Union(union), Value::Text(variables)] = &items[..] else {
        return Err(needs());
    };
    let names: Vec<&str> = variables.split(',').map(str::trim).collect();
    if name == "project_out" {
        return project_out(union, &names, budget);
    }
    rational(name, union, &names, budget)
}

/// Fourier-Motzkin on each disjunct of a set, named by the dimensions of its space.
fn rational(name: &str, union: &Union, order: &[&str], budget: &Budget) -> Outcome {
    let mut text = String::new();
    if name == "loops" {
        for relation in union.relations() {
            let nests = relation.loop_bounds(order, budget)?;
            text.extend(nests.concat().iter().map(|bounds| format!("{bounds}\n")));
        }
        return Ok(Value::Text(text.trim_end().to_owned()));
    }
    for system in union.relations().map(Inequalities::of).collect::<Result<Vec<_>, _>>()?.concat() {
        let mut system = system;
        for variable in order {
            let step = system.eliminate(variable, budget)?;
            text.push_str(&step.to_string());
            system = step.result;
        }
    }
    Ok(Value::Text(text.trim_end().to_owned()))
}

/// Projects outputs away, exactly; each name must be one of a dimension.
fn project_out(union: &Union, names: &[&str], budget: &Budget) -> Outcome {
    let mut pieces = Vec::new();
    for piece in union.relations() {
        let mut piece = piece.clone();
        for name in names {
            let dims = &piece.space().output.dims;
            let Some(dim) = dims.iter().position(|known| known == name) else {
                let (known, space) = (dims.join(", "), piece.space());
                let message = format!("no output `{name}` in `{space}`; there are {known}");
                return Err(Failure::Kinds(message));
            };
            piece = piece.project_out(dim..dim + 1, budget)?;
        }
        pieces.push(piece);
    }
    Ok(Value::Union(Union::collect(pieces)?))
}

/// Lists, for each space, what values its dimensions take.
fn bounds(union: &Union, budget: &Budget) -> Result<Value, Error> {
    let mut items = Vec::new();
    for piece in union.relations() {
        let dims = piece.space().output.dims.len();
        for dim in 0..dims {
            let single = piece.project_out(dim + 1..dims, budget)?.project_out(0..dim, budget)?;
            items.push(Value::List(vec![
                Value::Union(single.lexmin(budget)?.into()),
                Value::Union(single.lexmax(budget)?.into()),
            ]));
        }
    }
    Ok(Value::List(items))
}
