//! isl's own inputs of code generation: what our code runs, in which order, how large it is.

mod peer;

use std::path::{Path, PathBuf};

use tangram_polyhedral::ast::{Ast, AstOptions, MapInput};
use tangram_polyhedral::{Error, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Relation, Space, Tuple, Union, narrow};

/// An input as a map and what generation made of it.
struct Case {
    ast: Ast,
    schedule: Union,
    context: Relation,
    /// Whether some order is left open.
    loose: bool,
}

/// Enough for every input.
fn budget() -> Budget {
    Budget::steps(20_000_000)
}

fn build(path: &Path) -> Result<Case, Error> {
    let limit = &budget();
    let text = std::fs::read_to_string(path).expect("readable");
    let options = AstOptions::default();
    if path.extension().is_some_and(|end| end == "in") {
        let input = MapInput::parse(&text, &budget())?;
        let ast = input.generate(&options, limit)?;
        return Ok(Case { ast, schedule: input.schedule, context: input.context, loose: false });
    }
    let tree = ScheduleTree::parse(&text, &budget())?;
    let ast = Ast::of_tree(&tree, None, &options, limit)?;
    let mut context = Relation::universe(Space::set(Vec::new(), Tuple::anonymous(0)));
    for node in tree.nodes() {
        if let NodeKind::Context(set) = tree.kind(node)
            && set.space().output.dims.is_empty()
        {
            context = context.intersect(&set.cast(None, Tuple::anonymous(0))?, &budget())?;
        }
    }
    let mut schedule = tree.to_map(&budget())?;
    let expands = tree.nodes().any(|node| matches!(tree.kind(node), NodeKind::Expansion { .. }));
    if let (NodeKind::Domain(domain), false) = (tree.kind(tree.root()), expands) {
        schedule = schedule.intersect_domain(domain, &budget())?;
    }
    let loose = tree.nodes().any(|node| matches!(tree.kind(node), NodeKind::Set));
    Ok(Case { ast, schedule, context, loose })
}

/// A set of no dimensions where each parameter has its value.
fn fixed(params: &[String], values: &[i128]) -> Relation {
    let space = Space::set(params.to_vec(), Tuple::anonymous(0));
    Relation::point(space, values).expect("as many values")
}

/// Calls in one array: the schedule's point if it is known, the statement's number, the instance.
#[derive(Default)]
struct Calls {
    values: Vec<i128>,
    /// Where each call's point, its statement and its instance start.
    starts: Vec<[usize; 2]>,
}

impl Calls {
    fn push(&mut self, at: &[i128], statement: usize, instance: &[i128]) {
        let start = self.values.len();
        self.values.extend_from_slice(at);
        self.starts.push([start, self.values.len()]);
        self.values.push(statement as i128);
        self.values.extend_from_slice(instance);
    }

    fn end(&self, index: usize) -> usize {
        self.starts.get(index + 1).map_or(self.values.len(), |next| next[0])
    }

    fn at(&self, index: usize) -> &[i128] {
        &self.values[self.starts[index][0]..self.starts[index][1]]
    }

    fn instance(&self, index: usize) -> &[i128] {
        &self.values[self.starts[index][1]..self.end(index)]
    }

    /// Returns the calls by their points, then by statement and instance.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.starts.len()).collect();
        order.sort_by_key(|index| (self.at(*index), self.instance(*index)));
        order
    }
}

/// Lists the calls that a schedule asks for.
fn due(case: &Case, values: &[i128], names: &mut Vec<String>, limit: u64) -> Result<Calls, Error> {
    let limit = Budget::steps(limit);
    let point = fixed(case.ast.params(), values);
    let schedule = case.schedule.intersect_params(&point, &budget())?;
    let mut calls = Calls::default();
    for map in schedule.relations() {
        let space = map.space();
        let inputs = space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
        let name = space.input.as_ref().map_or("", |tuple| &tuple.name);
        let statement = number(names, name);
        for point in map.points(&limit)? {
            let point = narrow(&point)?;
            let (instance, at) = point[space.params.len()..].split_at(inputs);
            calls.push(if case.loose { &[] } else { at }, statement, instance);
        }
    }
    Ok(calls)
}

fn number(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

/// Compares a run with the schedule; says what is wrong.
///
/// Where the schedule has no end, the run must have none.
fn compare(case: &Case, values: &[i128], limit: u64) -> Result<usize, String> {
    let mut names = Vec::new();
    let expected = match due(case, values, &mut names, limit) {
        // Too many points to list; the other samples are smaller.
        Err(Error::Presburger(tangram_presburger::Error::Steps { .. })) => return Ok(0),
        Err(Error::Presburger(tangram_presburger::Error::Unbounded { .. })) => {
            let end = case.ast.run_with(values, 10_000, |_, _| {});
            return if end.is_err() { Ok(0) } else { Err(format!("{values:?}: the run ends")) };
        }
        expected => expected.map_err(|error| error.to_string())?,
    };
    let mut run = Calls::default();
    let outcome = case.ast.run_with(values, 4_000_000, |statement, instance| {
        run.push(&[], number(&mut names, statement), instance);
    });
    outcome.map_err(|error| error.to_string())?;
    if run.starts.len() != expected.starts.len() {
        let (ran, due) = (run.starts.len(), expected.starts.len());
        return Err(format!("{values:?}: {ran} calls, not {due}"));
    }
    let order = expected.order();
    let mut start = 0;
    while start < order.len() {
        // Instances at one point may run in any order.
        let at = expected.at(order[start]);
        let end = start + order[start..].iter().take_while(|i| expected.at(**i) == at).count();
        let mut ran: Vec<&[i128]> = (start..end).map(|index| run.instance(index)).collect();
        ran.sort();
        for (got, want) in ran.iter().zip(&order[start..end]) {
            let want = expected.instance(*want);
            if *got != want {
                let name = |call: &[i128]| format!("{}{:?}", names[call[0] as usize], &call[1..]);
                return Err(format!("{values:?}: ran {} where {} is due", name(got), name(want)));
            }
        }
        start = end;
    }
    Ok(order.len())
}

/// Small values of the parameters that the context allows; boxes first, then any.
fn samples(case: &Case, count: usize) -> Vec<Vec<i128>> {
    let params = case.ast.params();
    let context =
        case.context.align_params(params).unwrap_or_else(|_| fixed(params, &vec![0; params.len()]));
    let mut result: Vec<Vec<i128>> = Vec::new();
    let mut seed = 7_u64;
    for round in 0..400 {
        let values: Vec<i128> = params
            .iter()
            .map(|_| {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let span = [3, 6, 9, 14][round % 4];
                i128::from((seed >> 33) as u32 % span) - i128::from(round % 7 == 0)
            })
            .collect();
        if context.contains(&values).unwrap_or(false) && !result.contains(&values) {
            result.push(values);
        }
        if result.len() == count {
            break;
        }
    }
    if result.is_empty() {
        let point = context.sample(&budget()).ok().flatten();
        result.extend(point.and_then(|point| narrow(&point).ok()));
    }
    result
}

/// Loops, conditions, and operators in expressions.
type Size = [usize; 3];

fn counted(text: &str) -> Size {
    let operators = text.lines().flat_map(|line| {
        // What every loop has says nothing: its step, and the comparison with its last value.
        let line = line
            .split_once("for (")
            .map_or(line, |(_, line)| line.rsplit_once(';').map_or(line, |(bounds, _)| bounds));
        let binary = [" + ", " - ", " * ", " / ", " % ", " && ", " || ", "max(", "min(", "floord("];
        let compared = [" >= ", " <= ", " == ", " < ", " > ", " != "];
        binary.into_iter().chain(compared).map(|sign| line.matches(sign).count())
    });
    let loops = text.matches("for (").count();
    [loops, text.matches("if (").count(), operators.sum::<usize>().saturating_sub(loops)]
}

/// Builds all inputs and runs each for `count` values of the parameters, as far as `limit` steps
/// list what is due; says what is wrong.
fn judge(count: usize, limit: u64) -> Option<Vec<String>> {
    let inputs = peer::inputs("codegen")?;
    // One input, with its code: TANGRAM_ONLY=gemm.st
    let only = std::env::var("TANGRAM_ONLY").ok();
    let wanted = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "st" || end == "in")
            && only.as_ref().is_none_or(|only| path.to_string_lossy().contains(only))
    };
    let (mut ours, mut theirs) = ([0; 3], [0; 3]);
    let (mut wrong, mut instances) = (Vec::new(), 0);
    for path in inputs.iter().filter(|path| wanted(path)) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let began = std::time::Instant::now();
        let case = match build(path) {
            Ok(case) => case,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        let took = began.elapsed();
        if only.is_some() {
            println!("{}", case.ast);
        }
        let size = counted(&case.ast.to_string());
        let reference = std::fs::read_to_string(path.with_extension("c")).unwrap_or_default();
        let reference = counted(&reference);
        ours.iter_mut().zip(size).for_each(|(sum, count)| *sum += count);
        theirs.iter_mut().zip(reference).for_each(|(sum, count)| *sum += count);
        println!("{name}: {size:?}, isl {reference:?}, {took:?}");
        for values in samples(&case, count) {
            match compare(&case, &values, limit) {
                Ok(count) => instances += count,
                Err(text) => wrong.push(format!("{name}: {text}")),
            }
        }
    }
    println!("ran {instances} instances; loops, conditions, operators: {ours:?}, isl {theirs:?}");
    Some(wrong)
}

#[test]
fn every_input_builds_and_runs_what_the_schedule_says() {
    let Some(wrong) = judge(3, 20_000) else { return };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "takes minutes"]
fn many_values_of_the_parameters_run_what_the_schedule_says() {
    let Some(wrong) = judge(6, 3_000_000) else { return };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
