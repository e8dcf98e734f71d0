//! What the runner does beyond egg: limits inside an iteration, statistics, proofs everywhere.

use tangram_egraph::{
    ConditionEqual, EGraph, Id, Rewrite, RewriteScheduler, Runner, SimpleScheduler, StopReason,
    Subst, SymbolLang, multi_rewrite, rewrite,
};

type Rules = Vec<Rewrite<SymbolLang, ()>>;

fn sums() -> Rules {
    vec![
        rewrite!("comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
        rewrite!("assoc"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
    ]
}

fn long_sum() -> tangram_egraph::RecExpr<SymbolLang> {
    let text = (1..12).fold("0".to_string(), |sum, term| format!("(+ {term} {sum})"));
    text.parse().unwrap()
}

#[test]
fn node_limit_holds_within_an_iteration() {
    let runner = Runner::<SymbolLang, ()>::default()
        .with_scheduler(SimpleScheduler)
        .with_node_limit(5000)
        .with_expr(&long_sum())
        .run(&sums());
    let nodes = runner.egraph.total_number_of_nodes();
    assert!(matches!(runner.stop_reason, Some(StopReason::NodeLimit(_))));
    // 64 matches between checks, each of which adds at most two nodes.
    assert!(nodes <= 5128, "{nodes} nodes");
}

/// What was found in one e-graph says nothing of the next.
#[test]
fn a_hook_may_put_another_egraph_in_place() {
    let other = || {
        let mut egraph = EGraph::<SymbolLang, ()>::default();
        egraph.add_expr(&"(* y (+ x (+ z 1)))".parse().unwrap());
        egraph.add_expr(&"(+ 1 (+ 2 3))".parse().unwrap());
        egraph.rebuild();
        egraph
    };
    struct Plain;
    impl RewriteScheduler<SymbolLang, ()> for Plain {}
    for own in [false, true] {
        let mut rounds = 0;
        let runner = Runner::<SymbolLang, ()>::default().with_hook(move |runner| {
            rounds += 1;
            if rounds == 4 {
                runner.egraph = other();
            }
            Ok(())
        });
        let runner = match own {
            true => runner.with_scheduler(Plain),
            false => runner,
        };
        let swapped = runner.with_expr(&"(+ a (+ b (+ c (+ d e))))".parse().unwrap()).run(&sums());
        let fresh = Runner::<SymbolLang, ()>::default().with_egraph(other()).run(&sums());
        let size = |runner: &Runner<SymbolLang, ()>| {
            (runner.egraph.total_number_of_nodes(), runner.egraph.number_of_classes())
        };
        assert_eq!(size(&swapped), size(&fresh));
    }
}

#[test]
fn memory_limit_stops() {
    let runner = Runner::<SymbolLang, ()>::default()
        .with_scheduler(SimpleScheduler)
        .with_node_limit(usize::MAX)
        .with_memory_limit(1 << 20)
        .with_expr(&long_sum())
        .run(&sums());
    assert_eq!(runner.stop_reason, Some(StopReason::Other("more than 1048576 bytes".into())));
}

#[test]
fn statistics_find_the_rule_that_runs_away() {
    let mut rules = sums();
    rules.push(rewrite!("grow"; "(f ?x)" => "(f (g ?x))"));
    let start = "(+ (f x) (+ y z))".parse().unwrap();
    let mut runner = Runner::<SymbolLang, ()>::default().with_iter_limit(300).with_expr(&start);
    runner = runner.run(&rules);
    let total = runner.egraph.total_number_of_nodes();
    let names: Vec<&str> = runner
        .statistics
        .iter()
        .filter(|rule| rule.is_runaway(total))
        .filter_map(|rule| Some(rule.name?.as_str()))
        .collect();
    assert_eq!(names, ["grow"]);
}

#[test]
fn a_run_can_go_on() {
    let first =
        Runner::<SymbolLang, ()>::default().with_iter_limit(2).with_expr(&long_sum()).run(&sums());
    let size = first.egraph.total_number_of_nodes();
    let second = first.with_iter_limit(4).run(&sums());
    assert_eq!(second.iterations.len(), 4);
    assert!(second.egraph.total_number_of_nodes() > size);
}

#[test]
fn conditional_rules_are_in_proofs() {
    let known = |_: &mut EGraph<SymbolLang, ()>, _: Id, subst: &Subst| {
        subst.get("?x".parse().unwrap()).is_some()
    };
    let rules: Rules = vec![
        rewrite!("unwrap"; "(id ?x)" => "?x" if known),
        rewrite!("same"; "(if ?c ?t ?e)" => "?t" if ConditionEqual::parse("?t", "?e")),
    ];
    let (start, end) = ("(if c (id a) a)".parse().unwrap(), "a".parse().unwrap());
    let mut runner = Runner::<SymbolLang, ()>::default()
        .with_explanations_enabled()
        .with_expr(&start)
        .run(&rules);
    let mut proof = runner.explain_equivalence(&start, &end);
    assert_eq!(
        proof.get_flat_strings(),
        ["(if c (id a) a)", "(Rewrite=> same (id a))", "(Rewrite=> unwrap a)"],
    );
    assert_eq!(proof.replay(&rules), Ok(()));
}

#[test]
fn multi_pattern_rules_are_in_proofs_and_saturate() {
    let rules: Rules = vec![multi_rewrite!(
        "both"; "?p = (mul ?a ?b), ?q = (mul ?a ?c)" => "?r = (mul ?a (cat ?b ?c)), ?p = (fst ?r), ?q = (snd ?r)"
    )];
    let (left, right) = ("(mul x y)".parse().unwrap(), "(mul x z)".parse().unwrap());
    let mut runner = Runner::<SymbolLang, ()>::default()
        .with_explanations_enabled()
        .with_iter_limit(1)
        .with_expr(&left)
        .with_expr(&right)
        .run(&rules);
    let end = "(snd (mul x (cat y z)))".parse().unwrap();
    let steps = runner.explain_equivalence(&right, &end).get_flat_strings();
    assert_eq!(steps, ["(mul x z)", "(Rewrite=> both (snd (mul x (cat y z))))"]);

    let path: Rules = vec![
        multi_rewrite!("base"; "?t = true = (edge ?a ?b)" => "?t = (path ?a ?b)"),
        multi_rewrite!("step"; "?t = true = (path ?a ?b) = (edge ?b ?c)" => "?t = (path ?a ?c)"),
    ];
    let mut egraph = EGraph::<SymbolLang, ()>::default();
    let yes = egraph.add_expr(&"true".parse().unwrap());
    for edge in ["(edge 1 2)", "(edge 2 3)", "(edge 3 1)"] {
        let edge = egraph.add_expr(&edge.parse().unwrap());
        egraph.union(yes, edge);
    }
    let runner = Runner::<SymbolLang, ()>::default().with_egraph(egraph).run(&path);
    assert_eq!(runner.stop_reason, Some(StopReason::Saturated));
    let known = |text: &str| runner.egraph.lookup_expr(&text.parse().unwrap());
    assert_eq!(known("(path 1 1)"), Some(runner.egraph.find(yes)));
}
