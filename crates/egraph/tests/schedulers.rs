//! Searching only for what is new, all rules in one walk, against searching everything each time.

#[path = "support/cases.rs"]
mod cases;

use proptest::prelude::*;
use tangram_egraph::{
    BackoffScheduler, EGraph, Id, Pattern, RecExpr, Rewrite, RewriteScheduler, Runner,
    SearchMatches, SimpleScheduler, SymbolLang,
};

/// A scheduler of the user's: rule by rule, every match every time.
struct Plain;

impl RewriteScheduler<SymbolLang, ()> for Plain {}

/// Backs off rule by rule, every match counted every time.
struct Counting(BackoffScheduler);

impl RewriteScheduler<SymbolLang, ()> for Counting {
    fn can_stop(&mut self, iteration: usize) -> bool {
        RewriteScheduler::<SymbolLang, ()>::can_stop(&mut self.0, iteration)
    }

    fn search_rewrite<'a>(
        &mut self,
        iteration: usize,
        egraph: &EGraph<SymbolLang, ()>,
        rewrite: &'a Rewrite<SymbolLang, ()>,
    ) -> Vec<SearchMatches<'a, SymbolLang>> {
        self.0.search_rewrite(iteration, egraph, rewrite)
    }
}

/// Drops, doubles, turns around or mixes up what is found, in a way that depends on the seed.
struct Meddler {
    seed: usize,
    asked: usize,
}

impl RewriteScheduler<SymbolLang, ()> for Meddler {
    fn search_rewrite<'a>(
        &mut self,
        _: usize,
        egraph: &EGraph<SymbolLang, ()>,
        rewrite: &'a Rewrite<SymbolLang, ()>,
    ) -> Vec<SearchMatches<'a, SymbolLang>> {
        let mut matches = rewrite.search(egraph);
        self.asked += 1;
        match (self.seed >> (self.asked % 16)) % 16 {
            0 => matches.reverse(),
            1 => matches.iter_mut().for_each(|found| found.substs.reverse()),
            2 => matches.truncate(matches.len() / 2),
            3 => drop(matches.drain(..matches.len() / 2)),
            4 => matches.retain(|found| usize::from(found.eclass) % 2 == 0),
            5 => {
                let doubled: Vec<_> =
                    matches.iter().flat_map(|found| [found.clone(), found.clone()]).collect();
                matches = doubled;
            }
            6 => {
                // As many matches as there were, but not the same.
                if let [first, .., last] = &mut matches[..] {
                    *last = first.clone();
                }
            }
            7 => {
                if let [first, .., last] = &mut matches[..] {
                    std::mem::swap(&mut first.eclass, &mut last.eclass);
                }
            }
            _ => {}
        }
        matches
    }

    /// Applies as the runner does, and without what it knows of earlier matches: a copy knows
    /// nothing. Once congruence is restored, both say the same.
    fn apply_rewrite(
        &mut self,
        _: usize,
        egraph: &mut EGraph<SymbolLang, ()>,
        rewrite: &Rewrite<SymbolLang, ()>,
        matches: Vec<SearchMatches<'_, SymbolLang>>,
    ) -> usize {
        let (ids, mut slow) = (egraph.nodes().len(), egraph.clone());
        rewrite.apply(&mut slow, &matches);
        let changed = rewrite.apply(egraph, &matches).len();
        let mut quick = egraph.clone();
        slow.rebuild();
        quick.rebuild();
        assert_eq!(quick.number_of_classes(), slow.number_of_classes());
        assert_eq!(quick.total_number_of_nodes(), slow.total_number_of_nodes());
        for id in (0..ids).map(Id::from) {
            for other in (0..usize::from(id)).map(Id::from) {
                let (in_quick, in_slow) =
                    (quick.find(id) == quick.find(other), slow.find(id) == slow.find(other));
                assert_eq!(in_quick, in_slow);
            }
        }
        changed
    }
}

const TERMS: [&str; 12] = [
    "?x",
    "?y",
    "a",
    "(f ?x)",
    "(f ?y)",
    "(g ?x ?y)",
    "(g ?y ?x)",
    "(g ?x ?x)",
    "(f (g ?x ?y))",
    "(g (f ?x) ?y)",
    "(g a (f ?x))",
    "(g (g ?x ?y) (f ?x))",
];

/// Makes a rule of two terms if the right one needs no more than the left one binds.
fn rule(number: usize, left: usize, right: usize) -> Option<Rewrite<SymbolLang, ()>> {
    let pattern = |at: usize| TERMS[at % TERMS.len()].parse::<Pattern<SymbolLang>>().unwrap();
    Rewrite::new(format!("rule-{number}"), pattern(left), pattern(right)).ok()
}

proptest! {
    #![proptest_config(cases::cases(120))]
    #[test]
    fn both_reach_the_same(
        rules in prop::collection::vec((0usize..12, 0usize..12), 1..6),
        iterations in 1usize..6,
    ) {
        let rules: Vec<_> =
            rules.into_iter().enumerate().filter_map(|(at, (left, right))| rule(at, left, right)).collect();
        let start: RecExpr<SymbolLang> = "(g (f (g a b)) (g (f a) (g b (f a))))".parse().unwrap();
        let runner = || {
            let runner = Runner::<SymbolLang, ()>::default().with_iter_limit(iterations);
            runner.with_node_limit(3000).with_expr(&start)
        };
        let quick = runner().with_scheduler(SimpleScheduler).run(&rules);
        let plain = runner().with_scheduler(Plain).run(&rules);
        let proved = runner().with_explanations_enabled().with_scheduler(SimpleScheduler).run(&rules);
        prop_assume!(quick.egraph.total_number_of_nodes() < 1000);
        for other in [&plain, &proved] {
            prop_assert_eq!(quick.egraph.total_number_of_nodes(), other.egraph.total_number_of_nodes());
            prop_assert_eq!(quick.egraph.number_of_classes(), other.egraph.number_of_classes());
            prop_assert_eq!(quick.iterations.len(), other.iterations.len());
        }
    }

    /// What was applied before is left out only where that changes nothing.
    #[test]
    fn schedulers_may_hand_over_what_they_like(
        rules in prop::collection::vec((0usize..12, 0usize..12), 1..6),
        seed in any::<usize>(),
    ) {
        let rules: Vec<_> =
            rules.into_iter().enumerate().filter_map(|(at, (left, right))| rule(at, left, right)).collect();
        let start: RecExpr<SymbolLang> = "(g (f (g a b)) (g (f a) (g b (f a))))".parse().unwrap();
        let runner = Runner::<SymbolLang, ()>::default().with_iter_limit(9).with_node_limit(300);
        runner.with_expr(&start).with_scheduler(Meddler { seed, asked: 0 }).run(&rules);
    }

    /// Counting only near the limits bans the same rules at the same times.
    #[test]
    fn bans_are_those_of_full_counts(
        rules in prop::collection::vec((0usize..12, 0usize..12), 1..6),
        limit in 1usize..20,
        length in 1usize..4,
    ) {
        let rules: Vec<_> =
            rules.into_iter().enumerate().filter_map(|(at, (left, right))| rule(at, left, right)).collect();
        let start: RecExpr<SymbolLang> = "(g (f (g a b)) (g (f a) (g b (f a))))".parse().unwrap();
        let backoff = || BackoffScheduler::default().with_initial_match_limit(limit).with_ban_length(length);
        let runner = |scheduler: bool| {
            let runner = Runner::<SymbolLang, ()>::default().with_iter_limit(12).with_expr(&start);
            let runner = runner.with_node_limit(4000);
            match scheduler {
                true => runner.with_scheduler(backoff()).run(&rules),
                false => runner.with_scheduler(Counting(backoff())).run(&rules),
            }
        };
        let (quick, counted) = (runner(true), runner(false));
        prop_assume!(counted.egraph.total_number_of_nodes() < 3000);
        prop_assert_eq!(quick.iterations.len(), counted.iterations.len());
        for (left, right) in quick.iterations.iter().zip(&counted.iterations) {
            prop_assert_eq!(left.egraph_nodes, right.egraph_nodes);
            prop_assert_eq!(left.egraph_classes, right.egraph_classes);
        }
    }

    /// What a run makes equal it can prove, with each step a use of a rule.
    #[test]
    fn what_is_equal_is_proved(rules in prop::collection::vec((0usize..12, 0usize..12), 1..6)) {
        let rules: Vec<_> =
            rules.into_iter().enumerate().filter_map(|(at, (left, right))| rule(at, left, right)).collect();
        let start: RecExpr<SymbolLang> = "(g (f (g a b)) (g (f a) (g b (f a))))".parse().unwrap();
        let runner = Runner::<SymbolLang, ()>::default().with_explanations_enabled().with_iter_limit(3);
        let mut runner = runner.with_node_limit(300).with_expr(&start).run(&rules);
        let count = runner.egraph.nodes().len();
        for at in (0..count).step_by(7) {
            let class = runner.egraph.find(at.into());
            for other in (0..count).step_by(5).map(Into::into) {
                if runner.egraph.find(other) == class {
                    let mut proof = runner.egraph.explain_id_equivalence(at.into(), other);
                    prop_assert_eq!(proof.replay(&rules), Ok(()));
                }
            }
        }
    }
}
