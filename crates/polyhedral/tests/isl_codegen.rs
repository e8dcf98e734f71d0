//! isl's own inputs of code generation: what our code runs, in which order, how large it is.

mod peer;

use std::path::{Path, PathBuf};

use tangram_polyhedral::ast::{Ast, AstNodeKind, AstOptions, MapInput};
use tangram_polyhedral::{Error, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Integer, Relation, Space, Tuple, Union, narrow};

/// An input as a map and what generation made of it.
struct Case {
    ast: Ast,
    schedule: Union,
    context: Relation,
    /// Whether some order is left open.
    loose: bool,
}

fn budget() -> Budget {
    Budget::steps(3_000_000)
}

fn build(path: &Path, limit: &Budget) -> Result<Case, Error> {
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

/// Compares a run with the schedule; says what is wrong.
fn compare(case: &Case, values: &[i128]) -> Result<usize, String> {
    let params = case.ast.params();
    let point = fixed(params, values);
    let schedule = case.schedule.intersect_params(&point, &budget()).map_err(|e| e.to_string())?;
    let mut expected = Vec::new();
    for map in schedule.relations() {
        let space = map.space().clone();
        let inputs = space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
        let name = space.input.as_ref().map_or(String::new(), |tuple| tuple.name.clone());
        for point in map.points(&budget()).map_err(|e| e.to_string())? {
            let point = &point[space.params.len()..];
            expected.push((point[inputs..].to_vec(), name.clone(), point[..inputs].to_vec()));
        }
    }
    if case.loose {
        expected.iter_mut().for_each(|instance| instance.0.clear());
    }
    expected.sort();
    let trace = case.ast.run(values, 4_000_000).map_err(|e| e.to_string())?;
    if trace.len() != expected.len() {
        return Err(format!("{values:?}: {} calls, not {}", trace.len(), expected.len()));
    }
    // Instances at one point may run in any order.
    let mut start = 0;
    while start < expected.len() {
        let end = start + expected[start..].iter().take_while(|e| e.0 == expected[start].0).count();
        let mut run: Vec<_> =
            trace[start..end].iter().map(|i| (i.statement.clone(), i.point.clone())).collect();
        run.sort();
        for (got, want) in run.iter().zip(&expected[start..end]) {
            if got.0 != want.1
                || !got.1.iter().map(|v| Integer::from(*v)).eq(want.2.iter().cloned())
            {
                return Err(format!("{values:?}: ran {got:?} where {want:?} is due"));
            }
        }
        start = end;
    }
    Ok(expected.len())
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

/// Loops and conditions of C text.
fn counted(text: &str) -> (usize, usize) {
    (text.matches("for (").count(), text.matches("if (").count())
}

fn counted_in(ast: &Ast) -> (usize, usize) {
    let nodes = ast.nodes();
    let loops = nodes.iter().filter(|n| matches!(ast.node(**n), AstNodeKind::For { .. })).count();
    let tests = nodes.iter().filter(|n| matches!(ast.node(**n), AstNodeKind::If { .. })).count();
    (loops, tests)
}

/// Runs all inputs; says what is wrong, what was not read, and what was given up.
fn judge(steps: u64, count: usize) -> Option<(Vec<String>, usize, usize)> {
    let inputs = peer::inputs("codegen")?;
    // One input, with its code: TANGRAM_ONLY=gemm.st
    let only = std::env::var("TANGRAM_ONLY").ok();
    let wanted = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "st" || end == "in")
            && only.as_ref().is_none_or(|only| path.to_string_lossy().contains(only))
    };
    let (mut ours, mut theirs) = ((0, 0), (0, 0));
    let (mut wrong, mut unread, mut given_up, mut instances) = (Vec::new(), 0, 0, 0);
    for path in inputs.iter().filter(|path| wanted(path)) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let began = std::time::Instant::now();
        let case = match build(path, &Budget::steps(steps)) {
            Ok(case) => case,
            Err(error) => {
                println!("{name}: {error}");
                match error {
                    Error::Notation { .. } => unread += 1,
                    _ => given_up += 1,
                }
                continue;
            }
        };
        let took = began.elapsed();
        if only.is_some() {
            println!("{}", case.ast);
        }
        let loops = counted_in(&case.ast);
        let reference = std::fs::read_to_string(path.with_extension("c")).unwrap_or_default();
        let reference = counted(&reference);
        (ours.0, ours.1) = (ours.0 + loops.0, ours.1 + loops.1);
        (theirs.0, theirs.1) = (theirs.0 + reference.0, theirs.1 + reference.1);
        println!("{name}: {loops:?}, isl {reference:?}, {took:?}");
        for values in samples(&case, count) {
            match compare(&case, &values) {
                Ok(count) => instances += count,
                // Too many points to list; the other samples are smaller.
                Err(text) if text.contains("steps") => {}
                Err(text) => wrong.push(format!("{name}: {text}")),
            }
        }
    }
    println!("ran {instances} instances; loops and conditions: {ours:?}, isl {theirs:?}");
    Some((wrong, unread, given_up))
}

#[test]
fn code_runs_what_the_schedule_says() {
    let Some((wrong, _, _)) = judge(100_000, 3) else { return };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "takes a minute"]
fn every_input_is_generated() {
    let Some((wrong, unread, given_up)) = judge(50_000_000, 6) else { return };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A loop without end is refused.
    assert!(given_up <= 1, "{given_up} inputs were given up");
    println!("{unread} inputs hold sets that cannot be read");
}
