//! Extraction against brute force over small choices.

#[path = "support/cases.rs"]
mod cases;

use proptest::prelude::*;
use std::time::Duration;
use tangram_egraph::choices::{Choices, Selection};
#[cfg(feature = "lp")]
use tangram_egraph::{AstSize, EGraph, LpExtractor, Runner, SymbolLang, rewrite};

/// Makes choices from `(class, cost, kids)`.
fn choices(classes: usize, nodes: &[(usize, u8, Vec<usize>)]) -> Choices {
    let mut made = Choices::new(classes);
    for (class, cost, kids) in nodes {
        made.push(class % classes, f64::from(*cost), kids.iter().map(|kid| kid % classes));
    }
    made
}

/// Tries every selection.
fn brute_force(choices: &Choices, roots: &[usize]) -> Option<f64> {
    let mut best = None;
    let mut picks = vec![0usize; choices.classes.len()];
    loop {
        let pick = |class: usize| choices.classes[class].get(picks[class]).copied();
        let chosen = (0..picks.len()).map(pick).collect();
        if let Some(cost) = choices.dag_cost(&Selection { chosen }, roots) {
            best = Some(best.map_or(cost, |known: f64| known.min(cost)));
        }
        let Some(class) =
            (0..picks.len()).find(|&class| picks[class] + 1 < choices.classes[class].len())
        else {
            return best;
        };
        picks[..class].fill(0);
        picks[class] += 1;
    }
}

proptest! {
    #![proptest_config(cases::cases(200))]
    #[test]
    fn exact_is_the_minimum(
        classes in 1usize..7,
        nodes in prop::collection::vec((0usize..7, 0u8..6, prop::collection::vec(0usize..7, 0..3)), 1..14),
        roots in prop::collection::vec(0usize..7, 1..3),
    ) {
        let choices = choices(classes, &nodes);
        let roots: Vec<usize> = roots.into_iter().map(|root| root % classes).collect();
        let best = brute_force(&choices, &roots);
        let greedy = choices.greedy();
        let greedy_cost = choices.dag_cost(&greedy, &roots);
        prop_assert_eq!(greedy_cost.is_some(), best.is_some());
        let improved = choices.improve(&greedy, &roots, 1000);
        if let (Some(best), Some(greedy_cost)) = (best, greedy_cost) {
            let improved_cost = choices.dag_cost(&improved, &roots).unwrap();
            prop_assert!(best <= improved_cost + 1e-9 && improved_cost <= greedy_cost + 1e-9);
            let exact = choices.exact(&improved, &roots, Duration::from_secs(20)).unwrap();
            prop_assert!(exact.optimal || cfg!(not(feature = "lp")));
            prop_assert!(!exact.optimal || (exact.cost - best).abs() < 1e-6, "{} is not {best}", exact.cost);
            prop_assert_eq!(choices.dag_cost(&exact.selection, &roots), Some(exact.cost));
        }
    }

    /// All trees, costs sorted, begin like the list of the cheapest: deeper trees are made until
    /// none is cheap enough to change the list, which takes as many rounds as a tree that goes
    /// round a cycle is deep. The nodes are read as they were given, so that a child that occurs
    /// twice is two children.
    #[test]
    fn cheapest_trees_come_in_order(
        nodes in prop::collection::vec((0usize..4, 1u8..6, prop::collection::vec(0usize..4, 0..4)), 1..9),
    ) {
        let choices = choices(4, &nodes);
        let mut all: Vec<Vec<f64>> = vec![Vec::new(); 4];
        loop {
            let mut next: Vec<Vec<f64>> = vec![Vec::new(); 4];
            for (class, cost, kids) in &nodes {
                let mut sums = vec![f64::from(*cost)];
                for &kid in kids {
                    sums = sums.iter().flat_map(|sum| all[kid].iter().map(move |cost| sum + cost)).collect();
                }
                next[*class].extend(sums);
            }
            for costs in &mut next {
                costs.sort_by(f64::total_cmp);
                costs.truncate(4);
            }
            if next == all {
                break;
            }
            all = next;
        }
        let found = choices.cheapest_of_each(0, 4);
        let costs: Vec<f64> = found[0].iter().map(|tree| tree.cost).collect();
        prop_assert_eq!(&costs, &all[0]);
        // What each listed tree costs, node by node, is what it says.
        for tree in &found[0] {
            let (_, cost, kids) = &nodes[tree.node];
            prop_assert_eq!(tree.ranks.len(), kids.len());
            let below = kids.iter().zip(&tree.ranks).map(|(&kid, &rank)| found[kid][rank].cost);
            prop_assert_eq!(tree.cost, f64::from(*cost) + below.sum::<f64>());
        }
        // The choice for trees costs as much, counted as a tree.
        let chosen = choices.cheapest_trees();
        prop_assert_eq!(chosen.chosen[0].is_some(), !all[0].is_empty());
        if let Some(node) = chosen.chosen[0] {
            prop_assert_eq!(tree_cost(&nodes, &chosen, node), all[0][0]);
        }
    }

    /// Nothing costs less than the bound, which is not 0 where everything costs something.
    #[test]
    fn the_bound_is_below_the_minimum(
        classes in 1usize..7,
        nodes in prop::collection::vec((0usize..7, 1u8..6, prop::collection::vec(0usize..7, 0..4)), 1..16),
        roots in prop::collection::vec(0usize..7, 1..3),
    ) {
        let choices = choices(classes, &nodes);
        let roots: Vec<usize> = roots.into_iter().map(|root| root % classes).collect();
        if let Some(minimum) = brute_force(&choices, &roots) {
            let found = choices.best(&roots, Duration::ZERO).unwrap();
            prop_assert!(found.bound > 0.0 && found.bound <= minimum + 1e-9, "{} of {minimum}", found.bound);
            prop_assert!(!found.optimal || (found.cost - minimum).abs() < 1e-6);
        }
    }
}

/// Adds up a tree whose nodes are chosen, each child by itself.
fn tree_cost(nodes: &[(usize, u8, Vec<usize>)], chosen: &Selection, node: usize) -> f64 {
    let (_, cost, kids) = &nodes[node];
    let below = kids.iter().filter_map(|&kid| chosen.chosen[kid]);
    f64::from(*cost) + below.map(|kid| tree_cost(nodes, chosen, kid)).sum::<f64>()
}

#[test]
fn a_child_that_occurs_twice_is_paid_twice() {
    let mut choices = Choices::new(2);
    choices.push(0, 1.0, [1, 1]);
    choices.push(1, 1.0, []);
    choices.push(1, 5.0, []);
    let trees = choices.cheapest_of_each(0, 9);
    let costs: Vec<f64> = trees[0].iter().map(|tree| tree.cost).collect();
    assert_eq!(costs, [3.0, 7.0, 7.0, 11.0]);
}

/// Two classes that need each other hold each other up at no cost in the linear program.
#[test]
fn circles_do_not_take_the_bound_to_zero() {
    let mut choices = Choices::new(3);
    choices.push(0, 0.0, [1]);
    choices.push(1, 0.0, [2]);
    choices.push(2, 0.0, [1]);
    choices.push(2, 5.0, []);
    let found = choices.best(&[0], Duration::ZERO).unwrap();
    assert!((found.bound - 5.0).abs() < 1e-6 && found.cost == 5.0 && found.optimal, "{found:?}");
}

#[cfg(feature = "lp")]
#[test]
fn answers_say_whether_they_are_proved() {
    let mut egraph = EGraph::<SymbolLang, ()>::default();
    let root = egraph.add_expr(&"(f (g a) (g a))".parse().unwrap());
    egraph.rebuild();
    let mut extractor = LpExtractor::new(&egraph, AstSize);
    assert!(extractor.outcome().is_none());
    for (seconds, proved) in [(f64::INFINITY, true), (1e300, true), (1e19, true), (60.0, true)] {
        assert_eq!(extractor.solve_with_timeout(root, seconds).len(), 3);
        assert_eq!(extractor.outcome().map(|found| found.optimal), Some(proved), "{seconds}");
    }
    // No time is left, but nothing costs less than what the bound says.
    for seconds in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(extractor.solve_with_timeout(root, seconds).len(), 3);
        let outcome = extractor.outcome().unwrap();
        assert!(outcome.bound <= outcome.cost && outcome.cost == 3.0, "{seconds}");
    }
    let term = extractor.timeout(f64::INFINITY).solve(root);
    assert_eq!(term.to_string(), "(f (g a) (g a))");
}

#[cfg(feature = "lp")]
#[test]
fn sharing_beats_size() {
    let mut egraph = EGraph::<SymbolLang, ()>::default();
    // As trees 9 and 7; as graphs the first is smaller, since (g (h a)) is there once.
    let shared = egraph.add_expr(&"(f (g (h a)) (g (h a)) (g (h a)))".parse().unwrap());
    let other = egraph.add_expr(&"(f (k b) (k c) (k d))".parse().unwrap());
    egraph.union(shared, other);
    egraph.rebuild();
    let mut extractor = LpExtractor::new(&egraph, AstSize);
    assert_eq!(extractor.solve(shared).to_string(), "(f (g (h a)) (g (h a)) (g (h a)))");
    let both = extractor.run(&[shared, other], Duration::from_secs(5)).unwrap();
    assert_eq!((both.cost, both.optimal), (4.0, true));
}

#[cfg(feature = "lp")]
#[test]
fn saturated_graphs_are_solved_exactly() {
    let rules = [
        rewrite!("comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
        rewrite!("assoc"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
        rewrite!("zero"; "?a" => "(+ ?a 0)"),
    ];
    let start = "(+ (+ x y) (+ (+ x y) (+ x (+ y z))))".parse().unwrap();
    let runner =
        Runner::<SymbolLang, ()>::default().with_iter_limit(4).with_expr(&start).run(&rules);
    let best = LpExtractor::new(&runner.egraph, AstSize)
        .run(&runner.roots, Duration::from_secs(10))
        .unwrap();
    // x, y, z, s = x + y, t = s + s, u = s + z, t + u.
    assert_eq!((best.cost, best.optimal), (7.0, true));
}
