//! Extraction against brute force over small choices.

#[path = "support/cases.rs"]
mod cases;

use proptest::prelude::*;
use std::time::Duration;
use tangram_egraph::choices::{Choices, Selection};
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
            prop_assert!(exact.optimal);
            prop_assert!((exact.cost - best).abs() < 1e-6, "{} is not {best}", exact.cost);
            prop_assert_eq!(choices.dag_cost(&exact.selection, &roots), Some(exact.cost));
        }
    }

    /// All trees up to a depth, costs sorted, begin like the list of the cheapest.
    #[test]
    fn cheapest_trees_come_in_order(
        nodes in prop::collection::vec((0usize..4, 1u8..6, prop::collection::vec(0usize..4, 0..3)), 1..9),
    ) {
        let choices = choices(4, &nodes);
        let mut all: Vec<Vec<f64>> = vec![Vec::new(); 4];
        for _ in 0..12 {
            let mut next: Vec<Vec<f64>> = vec![Vec::new(); 4];
            for node in &choices.nodes {
                let mut sums = vec![node.cost];
                for &kid in &node.kids {
                    sums = sums.iter().flat_map(|sum| all[kid].iter().map(move |cost| sum + cost)).collect();
                }
                next[node.class].extend(sums);
            }
            for costs in &mut next {
                costs.sort_by(f64::total_cmp);
                costs.truncate(4);
            }
            all = next;
        }
        let found = choices.cheapest_of_each(0, 4);
        let costs: Vec<f64> = found[0].iter().map(|tree| tree.cost).collect();
        prop_assert_eq!(&costs, &all[0]);
    }
}

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
