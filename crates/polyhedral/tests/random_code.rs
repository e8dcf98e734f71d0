//! Code of random schedules: it calls each instance as often as the schedule says, in its order.

mod random;

use random::maps::RandomMap;
use random::trees::RandomTree;
use random::{Dice, Instance, Timed, compare};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::{Error, ScheduleTree};
use tangram_presburger::{Budget, Union};

/// Values of the parameter.
const VALUES: [i128; 3] = [0, 2, 3];

/// Enough for every one of these schedules.
fn budget() -> Budget {
    Budget::steps(200_000_000)
}

fn ran(ast: &Ast, parameter: i128) -> Result<Vec<Instance>, Error> {
    let values: Vec<i128> = ast.params().iter().map(|_| parameter).collect();
    let calls = ast.run(&values, 1_000_000)?;
    Ok(calls.into_iter().map(|call| (call.statement, call.point)).collect())
}

/// Compares code with what is due; a number of calls, or what is wrong.
fn judge(
    ast: &Ast,
    due: impl Fn(i128) -> Vec<Timed>,
    any_order: bool,
    rename: impl Fn(Instance) -> Instance,
) -> Result<usize, String> {
    let mut count = 0;
    for parameter in VALUES {
        let calls = ran(ast, parameter).map_err(|error| format!("N = {parameter}: {error}"))?;
        let calls: Vec<Instance> = calls.into_iter().map(&rename).collect();
        compare(&calls, &due(parameter), any_order)
            .map_err(|error| format!("N = {parameter}: {error}\n{ast}"))?;
        count += calls.len();
    }
    Ok(count)
}

/// Compares the number of pairs of a schedule with what is due.
fn counted(map: &Union, due: impl Fn(i128) -> Vec<Timed>) -> Result<(), String> {
    for parameter in VALUES {
        let budget = budget();
        let point = Union::parse(&format!("[N] -> {{ [] : N = {parameter} }}"), &budget);
        let fixed = point.and_then(|point| map.intersect_params(point.single()?, &budget));
        let mut found = 0;
        for relation in fixed.map_err(|error| error.to_string())?.relations() {
            found += relation.points(&budget).map_err(|error| error.to_string())?.len();
        }
        let due = due(parameter).len();
        if found != due {
            return Err(format!("N = {parameter}: the map has {found} pairs of {due}"));
        }
    }
    Ok(())
}

fn tree(seed: u64) -> Result<usize, String> {
    let random = RandomTree::new(&mut Dice::new(seed));
    let text = random.text();
    let wrong = |error: Error| format!("{error}\n{text}");
    let tree = ScheduleTree::parse(&text, &budget()).map_err(wrong)?;
    tree.check(&budget()).map_err(wrong)?;
    let ast = Ast::of_tree(&tree, None, &AstOptions::default(), &budget()).map_err(wrong)?;
    let due = |parameter| random.due(parameter);
    if !random.has_guard() {
        counted(&tree.to_map(&budget()).map_err(wrong)?, due)
            .map_err(|error| format!("{error}\n{text}"))?;
    }
    judge(&ast, due, random.has_set(), |call| call).map_err(|error| format!("{error}\n{text}"))
}

fn map(seed: u64) -> Result<usize, String> {
    let mut dice = Dice::new(seed);
    let random = RandomMap::new(&mut dice, seed.is_multiple_of(3));
    let options = match dice.roll(6) {
        0 => "{ [a, b] -> separate[x]; [a] -> separate[x] }",
        1 => "{ [a, b] -> unroll[x]; [a] -> unroll[x] }",
        2 => "{ [a, b] -> atomic[x]; [a] -> atomic[x] }",
        _ => "{ }",
    };
    let text = random.text();
    let wrong = |error: Error| format!("{error}\n{text} {options}");
    let map = Union::parse(&text, &budget()).map_err(|error| wrong(error.into()))?;
    let choices = Union::parse(options, &budget()).map_err(|error| wrong(error.into()))?;
    let ast = Ast::of_map(&map, None, &choices, &AstOptions::default(), &budget());
    let due = |parameter| random.due(parameter);
    let mut count = judge(&ast.map_err(wrong)?, due, false, |call| call)
        .map_err(|error| format!("{error}\n{text} {options}"))?;
    // The same by way of a tree, with copies where an instance has several points.
    let tree = ScheduleTree::from_map_with_copies(&map, &budget()).map_err(wrong)?;
    let ast = Ast::of_tree(&tree, None, &AstOptions::default(), &budget()).map_err(wrong)?;
    let original = |(name, mut point): Instance| {
        let origin = name.split('_').next().unwrap_or_default().to_owned();
        let statement = origin[1..].parse().expect("a number");
        point.truncate(random.dims_of(statement));
        (origin, point)
    };
    count += judge(&ast, due, false, original)
        .map_err(|error| format!("with copies: {error}\n{text}"))?;
    Ok(count)
}

/// Judges schedules from seed 0 on; others: `TANGRAM_SEED=12`, or as many as `TANGRAM_SEEDS` says
/// from there on.
fn all(count: u64, one: impl Fn(u64) -> Result<usize, String>) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (mut wrong, mut calls) = (Vec::new(), 0);
    let seeds = match number("TANGRAM_SEED") {
        Some(first) => first..first + number("TANGRAM_SEEDS").unwrap_or(1),
        None => 0..count,
    };
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match one(seed) {
            Ok(more) => calls += more,
            Err(error) => wrong.push(format!("seed {seed}: {error}")),
        }
    }
    println!("{calls} calls");
    let first: Vec<&String> = wrong.iter().take(5).collect();
    assert!(wrong.is_empty(), "{} of {count} are wrong, {first:#?}", wrong.len());
}

#[test]
fn random_maps_run_what_they_say() {
    all(100, map);
}

#[test]
fn random_trees_run_what_they_say() {
    all(150, tree);
}

/// Disjuncts of these have the same value of a dimension, and different divisions beside it.
#[test]
fn values_that_disjuncts_share_stay_what_they_are() {
    for seed in [462, 1045, 2176, 2860, 4741] {
        map(seed).unwrap_or_else(|error| panic!("map {seed}: {error}"));
    }
    for seed in [336, 474, 924] {
        tree(seed).unwrap_or_else(|error| panic!("tree {seed}: {error}"));
    }
}

/// What a band isolates is more than one piece, and so is the rest beside it.
#[test]
fn pieces_stay_within_what_is_isolated() {
    tree(773).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
#[ignore = "takes minutes"]
fn many_random_maps_run_what_they_say() {
    all(5_000, map);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_trees_run_what_they_say() {
    all(5_000, tree);
}
