//! What the [`test_fn!`](crate::test_fn) macro runs: proofs of goals, and timed searches.

use crate::{
    Analysis, EGraph, FromOp, Language, Pattern, RecExpr, Rewrite, Runner, Searcher,
    SimpleScheduler,
};
use num_traits::Zero;
use std::fmt::{Debug, Display};
use std::hint::black_box;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Reads a setting from the environment; an empty one counts as missing.
///
/// # Panics
/// If it does not parse.
pub fn env_var<T>(name: &str) -> Option<T>
where
    T: FromStr,
    T::Err: Debug,
{
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    match value.parse() {
        Ok(value) => Some(value),
        Err(error) => panic!("cannot read the environment variable {name}={value}: {error:?}"),
    }
}

/// Runs rules on an expression until it matches all goals.
///
/// # Panics
/// If it never does, or if a proof does not hold.
#[allow(clippy::type_complexity)]
pub fn test_runner<L, A>(
    name: &str,
    runner: Option<Runner<L, A, ()>>,
    rules: &[Rewrite<L, A>],
    start: RecExpr<L>,
    goals: &[Pattern<L>],
    check_fn: Option<fn(Runner<L, A, ()>)>,
    should_check: bool,
) where
    L: Language + Display + FromOp + 'static,
    A: Analysis<L> + Default,
{
    let mut runner = with_env_limits(runner.unwrap_or_default());
    if cfg!(feature = "test-explanations") {
        runner = runner.with_explanations_enabled();
    }
    runner = runner.with_expr(&start);
    let root = runner.egraph.find(runner.roots[runner.roots.len() - 1]);
    if check_fn.is_none() {
        let goals = goals.to_vec();
        runner = runner.with_hook(move |runner| {
            let proved = |goal: &Pattern<L>| goal.search_eclass(&runner.egraph, root).is_some();
            match goals.iter().all(proved) {
                true => Err("Proved all goals".into()),
                false => Ok(()),
            }
        });
    }
    let mut runner = runner.run(rules);
    if should_check {
        println!("{name}\n{}", runner.report());
        runner.egraph.check_goals(root, goals);
        if runner.egraph.are_explanations_enabled() {
            for goal in goals {
                runner = check_proofs(runner, rules, &start, goal, root);
            }
        }
        if let Some(check) = check_fn {
            check(runner);
        }
    }
}

fn with_env_limits<L: Language, A: Analysis<L>>(mut runner: Runner<L, A, ()>) -> Runner<L, A, ()> {
    if let Some(limit) = env_var("EGG_NODE_LIMIT") {
        runner = runner.with_node_limit(limit);
    }
    if let Some(limit) = env_var("EGG_ITER_LIMIT") {
        runner = runner.with_iter_limit(limit);
    }
    if let Some(limit) = env_var("EGG_TIME_LIMIT") {
        runner = runner.with_time_limit(Duration::from_secs(limit));
    }
    runner
}

fn check_proofs<L, A>(
    runner: Runner<L, A, ()>,
    rules: &[Rewrite<L, A>],
    start: &RecExpr<L>,
    goal: &Pattern<L>,
    root: crate::Id,
) -> Runner<L, A, ()>
where
    L: Language + Display + FromOp,
    A: Analysis<L>,
{
    let found = goal.search_eclass(&runner.egraph, root);
    let subst = found.map(|found| found.substs[0].clone()).expect("the goal was proved");
    let mut runner = runner.without_explanation_length_optimization();
    let mut full = runner.explain_matches(start, &goal.ast, &subst);
    let length = full.make_flat_explanation().len();
    full.get_string_with_let();
    full.check_proof(rules);
    assert!(!full.get_tree_size().is_zero());

    let mut runner = runner.with_explanation_length_optimization();
    let mut short = runner.explain_matches(start, &goal.ast, &subst);
    short.get_string_with_let();
    assert!(short.get_flat_strings().len() <= length);
    assert!(!short.get_tree_size().is_zero());
    short.check_proof(rules);
    runner
}

/// Grows an e-graph and times the search for each pattern of the rules in it.
pub fn bench_egraph<L, N>(
    name: &str,
    rules: Vec<Rewrite<L, N>>,
    exprs: &[&str],
    extra_patterns: &[&str],
) -> EGraph<L, N>
where
    L: Language + FromOp + 'static + Display,
    N: Analysis<L> + Default + 'static,
{
    let mut patterns: Vec<Pattern<L>> = Vec::new();
    for rule in &rules {
        let sides = [rule.searcher.get_pattern_ast(), rule.applier.get_pattern_ast()];
        patterns.extend(sides.into_iter().flatten().map(|ast| ast.alpha_rename().into()));
    }
    let parse = |text: &&str| text.parse::<Pattern<L>>().expect("the pattern has to parse");
    patterns.extend(extra_patterns.iter().map(|text| parse(text).ast.alpha_rename().into()));
    patterns.retain(|pattern| pattern.ast.len() > 1);
    patterns.sort_by_key(|pattern| (pattern.ast.len(), pattern.to_string()));
    patterns.dedup();

    let mut runner = Runner::default()
        .with_scheduler(SimpleScheduler)
        .with_iter_limit(env_var("EGG_ITER_LIMIT").unwrap_or(1))
        .with_node_limit(env_var("EGG_NODE_LIMIT").unwrap_or(1_000_000))
        .with_time_limit(Duration::from_secs(env_var("EGG_TIME_LIMIT").unwrap_or(1000)));
    for expr in exprs {
        runner = runner.with_expr(&expr.parse().expect("the expression has to parse"));
    }
    let egraph = runner.run(&rules).egraph;
    for pattern in &patterns {
        let nanoseconds = median_search(pattern, &egraph);
        println!("{name}: {nanoseconds:>10} ns  {pattern}");
    }
    egraph
}

fn median_search<L: Language, N: Analysis<L>>(pattern: &Pattern<L>, egraph: &EGraph<L, N>) -> u128 {
    let samples = env_var("EGG_SAMPLES").unwrap_or(100usize).max(1);
    let time = |_| {
        let start = Instant::now();
        black_box(pattern.search(egraph));
        start.elapsed().as_nanos()
    };
    let mut times: Vec<u128> = (0..samples).map(time).collect();
    times.sort_unstable();
    times[samples / 2]
}

/// Makes a test that proves goals from an expression by rules.
///
/// After the name and the rules there may be `runner = ...`; after the goals,
/// `@check |runner| ...`.
#[macro_export]
macro_rules! test_fn {
    (
        $(#[$meta:meta])* $name:ident, $rules:expr,
        $(runner = $runner:expr,)?
        $start:literal => $($goal:literal),+ $(,)?
        $(@check $check:expr)?
    ) => {
        $(#[$meta])*
        #[test]
        pub fn $name() {
            $crate::test::test_runner(
                stringify!($name),
                None $(.or(Some($runner)))?,
                &$rules,
                $start.parse().unwrap(),
                &[$($goal.parse().unwrap()),+],
                None $(.or(Some($check)))?,
                true,
            )
        }
    };
}
