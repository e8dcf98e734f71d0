//! What programs written for egg rely on beside its documented interface, with egg beside it.

#[path = "support/cases.rs"]
mod cases;

use proptest::prelude::*;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use tangram_egraph::{
    EGraph, Id, Language, Pattern, RecExpr, Rewrite, Runner, Searcher, SymbolLang, rewrite,
};

type Plain = EGraph<SymbolLang, ()>;

/// A step of a random history; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Action {
    Leaf(u8),
    Node(u8, Vec<usize>),
    Union(usize, usize),
    Rebuild,
}

fn steps(len: usize) -> impl Strategy<Value = Vec<Action>> {
    let step = prop_oneof![
        3 => (0u8..9).prop_map(Action::Leaf),
        4 => (0u8..3, prop::collection::vec(any::<usize>(), 1..4)).prop_map(|(op, kids)| Action::Node(op, kids)),
        3 => (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Action::Union(a, b)),
        1 => Just(Action::Rebuild),
    ];
    prop::collection::vec(step, 1..len)
}

/// Plays a history in one engine; returns the ids that adding gave, and for each its class.
macro_rules! play {
    ($engine:ident, $steps:expr) => {{
        let mut egraph = $engine::EGraph::<$engine::SymbolLang, ()>::default();
        let mut ids: Vec<$engine::Id> = Vec::new();
        for step in $steps {
            let pick = |at: &usize| ids[at % ids.len()];
            match step {
                Action::Leaf(op) => {
                    ids.push(egraph.add($engine::SymbolLang::leaf(format!("x{op}"))))
                }
                _ if ids.is_empty() => {}
                Action::Node(op, kids) => {
                    let kids = kids.iter().map(pick).collect();
                    ids.push(egraph.add($engine::SymbolLang::new(format!("f{op}"), kids)));
                }
                Action::Union(left, right) => _ = egraph.union(pick(left), pick(right)),
                Action::Rebuild => _ = egraph.rebuild(),
            }
        }
        egraph.rebuild();
        let classes = ids.iter().map(|&id| usize::from(egraph.find(id))).collect::<Vec<_>>();
        let ids = ids.into_iter().map(usize::from).collect::<Vec<_>>();
        (egraph, ids, classes)
    }};
}

/// Numbers values in the order of their first places.
fn partition(classes: &[usize]) -> Vec<usize> {
    let first = |class: &usize| classes.iter().position(|other| other == class);
    classes.iter().filter_map(first).collect()
}

proptest! {
    #![proptest_config(cases::cases(200))]

    #[test]
    fn the_same_things_are_equal(steps in steps(40)) {
        let (ours, _, our_classes) = play!(tangram_egraph, &steps);
        let (theirs, _, their_classes) = play!(egg, &steps);
        prop_assert_eq!(partition(&our_classes), partition(&their_classes));
        prop_assert_eq!(ours.number_of_classes(), theirs.number_of_classes());
        prop_assert_eq!(ours.total_number_of_nodes(), theirs.total_number_of_nodes());
    }

    /// Without congruence, so that only the order of arguments and what is above a class decide.
    #[test]
    fn the_same_ids_stay_canonical(
        parents in prop::collection::vec(0usize..12, 0..12),
        unions in prop::collection::vec((0usize..12, 0usize..12), 1..20),
    ) {
        let mut steps: Vec<Action> = Vec::new();
        for (at, &parent) in parents.iter().enumerate() {
            steps.push(Action::Leaf(at as u8 % 9));
            steps.push(Action::Node(at as u8 % 3, vec![parent]));
        }
        steps.extend((0..9).map(Action::Leaf));
        let mut ours = play!(tangram_egraph, &steps);
        let mut theirs = play!(egg, &steps);
        prop_assert_eq!(&ours.1, &theirs.1);
        for (left, right) in unions {
            let at = |at: usize| ours.1[at % ours.1.len()];
            let (left, right) = (at(left), at(right));
            let united = ours.0.union(left.into(), right.into());
            prop_assert_eq!(united, theirs.0.union(left.into(), right.into()));
            for &id in &ours.1 {
                let (mine, its) = (ours.0.find(id.into()), theirs.0.find(id.into()));
                prop_assert_eq!(usize::from(mine), usize::from(its));
            }
        }
    }
}

/// 400,000 leaves united from the last to the first: each is moved once, not once for each union.
#[test]
fn unions_may_come_in_any_order() {
    for reversed in [false, true] {
        let mut egraph = Plain::default();
        let ids: Vec<Id> =
            (0..400_000).map(|at| egraph.add(SymbolLang::leaf(format!("x{at}")))).collect();
        egraph.rebuild();
        for pair in ids.windows(2).rev() {
            match reversed {
                false => egraph.union(pair[0], pair[1]),
                true => egraph.union(pair[1], pair[0]),
            };
        }
        egraph.rebuild();
        assert_eq!(egraph.number_of_classes(), 1);
    }
}

/// New matches through a class that was taken in are found, also where the other was taken in
/// before, and where what makes them was pruned.
#[test]
fn matches_of_united_classes_are_new() {
    let rules: [Rewrite<SymbolLang, ()>; 1] = [rewrite!("found"; "(f (g a))" => "found")];
    let mut egraph = Plain::default();
    let start = egraph.add_expr(&"(f x)".parse().unwrap());
    let target = egraph.add_expr(&"(g a)".parse().unwrap());
    let [x, y] = ["x", "y"].map(|leaf| egraph.add(SymbolLang::leaf(leaf)));
    egraph.add_expr(&"(h x x x)".parse().unwrap());
    egraph.rebuild();
    let mut runner = Runner::<SymbolLang, ()>::default().with_egraph(egraph).with_iter_limit(9);
    let mut count = 0;
    runner = runner.with_hook(move |runner| {
        count += 1;
        match count {
            3 => _ = runner.egraph.union(y, target),
            4 => runner.egraph[target].nodes.clear(),
            5 => _ = runner.egraph.union(x, y),
            _ => {}
        }
        runner.egraph.rebuild();
        Ok(())
    });
    // Hooks that change something keep the run from being saturated, those that do not end it.
    let keep = |runner: &mut Runner<SymbolLang, ()>| {
        let fresh = format!("fresh{}", runner.iterations.len());
        runner.egraph.add(SymbolLang::leaf(fresh));
        runner.egraph.rebuild();
        Ok(())
    };
    let runner = runner.with_hook(keep).run(&rules);
    let found = runner.egraph.lookup(SymbolLang::leaf("found"));
    assert_eq!(found, Some(runner.egraph.find(start)));
}

#[test]
fn classes_list_what_is_above_them() {
    let mut egraph = Plain::default();
    let [fx, gx] = ["(f x x)", "(g x)"].map(|text| egraph.add_expr(&text.parse().unwrap()));
    egraph.rebuild();
    let x = egraph.lookup(SymbolLang::leaf("x")).unwrap();
    let mut above: Vec<Id> = egraph[x].parents().collect();
    above.sort_unstable();
    assert_eq!(above, [fx, gx]);
    let hx = egraph.add_expr(&"(h x)".parse().unwrap());
    egraph.rebuild();
    assert_eq!(egraph[x].parents().len(), 3);
    assert!(egraph.classes().any(|class| class.id == x && class.parents().any(|id| id == hx)));
}

/// What a copy of a class says does not depend on the e-graph that it came from.
#[test]
fn copies_of_classes_keep_their_nodes() {
    let mut egraph = Plain::default();
    let fx = egraph.add_expr(&"(f x)".parse().unwrap());
    egraph.rebuild();
    let (class, nodes) = (egraph[fx].clone(), egraph[fx].nodes.clone());
    let other = egraph.clone();
    let taken = std::mem::take(&mut egraph[fx].nodes.to_vec());
    drop(egraph);
    assert_eq!((class.nodes.len(), nodes.len(), taken.len()), (1, 1, 1));
    assert_eq!(nodes[0].op.as_str(), "f");
    let moved = Box::new(other);
    assert_eq!(moved[fx].nodes[0].op.as_str(), "f");
    assert_eq!(moved[fx].parents().len(), 0);
}

/// Proofs of terms far deeper than the stack, which take time for what they list only.
#[test]
fn proofs_may_be_deep() {
    const DEPTH: usize = 50_000;
    let tower = |leaf: &str| "(f ".repeat(DEPTH) + leaf + &")".repeat(DEPTH);
    let [from, to] = ["a", "b"].map(|leaf| tower(leaf).parse().unwrap());
    let rules: [Rewrite<SymbolLang, ()>; 1] = [rewrite!("leaf"; "a" => "b")];
    let runner = Runner::<SymbolLang, ()>::default().with_explanations_enabled();
    let runner = runner.with_node_limit(usize::MAX).with_expr(&from).with_expr(&to);
    let mut runner = runner.with_iter_limit(3).run(&rules);
    let mut proof = runner.explain_equivalence(&from, &to);
    proof.check_proof(&rules);
    let steps = proof.get_flat_strings();
    assert_eq!(steps[0], tower("a"));
    assert_eq!(steps[1..], [tower("(Rewrite=> leaf b)")]);
    assert!(proof.get_string().contains("(Rewrite=> leaf b)"));
    let flat = proof.make_flat_explanation();
    assert_eq!(flat[1].get_recexpr(), to);
    assert_eq!(flat[0].clone(), flat[0].remove_rewrites());
}

#[test]
fn arms_of_the_rule_macro_are_those_of_egg() {
    let searcher: Pattern<SymbolLang> = tangram_egraph::__rewrite!(@parse Pattern "(f ?x)");
    let left = searcher.clone();
    let applier: Pattern<SymbolLang> = tangram_egraph::__rewrite!(@parse Pattern searcher);
    let never = |_: &mut Plain, _: Id, _: &tangram_egraph::Subst| false;
    let applier = tangram_egraph::__rewrite!(@applier applier; never, never,);
    assert!(Rewrite::<SymbolLang, ()>::new("rule", left, applier).is_ok());
}

#[test]
fn patterns_have_equal_parts_once() {
    let mut ast = tangram_egraph::PatternAst::<SymbolLang>::default();
    let var = |name: &str| tangram_egraph::ENodeOrVar::Var(name.parse().unwrap());
    let [x, y] = [ast.add(var("?x")), ast.add(var("?x"))];
    ast.add(tangram_egraph::ENodeOrVar::ENode(SymbolLang::new("f", vec![x, y])));
    let pattern = Pattern::new(ast);
    assert_eq!((pattern.ast.len(), pattern.to_string()), (2, "(f ?x ?x)".into()));
    let parsed: Pattern<SymbolLang> = "(f (g ?x) (g ?x))".parse().unwrap();
    let theirs: egg::Pattern<egg::SymbolLang> = "(f (g ?x) (g ?x))".parse().unwrap();
    assert_eq!(parsed.ast.len(), theirs.ast.len());
}

#[test]
fn a_new_e_graph_is_not_rebuilt() {
    let (ours, theirs) = (Plain::default(), egg::EGraph::<egg::SymbolLang, ()>::default());
    assert_eq!(ours.clean, theirs.clean);
    let pattern: Pattern<SymbolLang> = "(f ?x)".parse().unwrap();
    assert!(pattern.search(&ours).is_empty());
}

#[test]
#[should_panic(expected = "has to be rebuilt before it is searched")]
fn a_changed_e_graph_is_not_searched() {
    let mut egraph = Plain::default();
    egraph.add_expr(&"(f x)".parse().unwrap());
    "(f ?x)".parse::<Pattern<SymbolLang>>().unwrap().search(&egraph);
}

#[test]
#[should_panic(expected = "expected fewer than 4294967295 ids, found 4294967296")]
fn ids_that_do_not_fit_are_refused() {
    let _ = Id::from(1usize << 32);
}

/// A language made by hand: any number of a pattern matches any other, and notes are no part of
/// what is equal.
#[derive(Clone, Debug)]
enum Noted {
    Number(i32),
    Call(&'static str, &'static str, Vec<Id>),
}

impl Noted {
    fn key(&self) -> (u8, i32, &str, &[Id]) {
        match self {
            Noted::Number(number) => (0, *number, "", &[]),
            Noted::Call(name, _, kids) => (1, 0, name, kids),
        }
    }
}

impl PartialEq for Noted {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Noted {}
impl PartialOrd for Noted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Noted {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
impl Hash for Noted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Language for Noted {
    type Discriminant = u8;

    fn discriminant(&self) -> u8 {
        self.key().0
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Noted::Number(_), Noted::Number(_)) => true,
            (Noted::Call(left, _, kids), Noted::Call(right, _, others)) => {
                (*left == "any" || left == right) && kids.len() == others.len()
            }
            _ => false,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            Noted::Number(_) => &[],
            Noted::Call(_, _, kids) => kids,
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Noted::Number(_) => &mut [],
            Noted::Call(_, _, kids) => kids,
        }
    }
}

fn noted() -> (EGraph<Noted, ()>, [Id; 3]) {
    let mut egraph = EGraph::default();
    let [one, two] = [1, 2].map(|number| egraph.add(Noted::Number(number)));
    let f = egraph.add(Noted::Call("f", "first", vec![one]));
    let g = egraph.add(Noted::Call("g", "second", vec![two]));
    let ff = egraph.add(Noted::Call("f", "third", vec![g]));
    egraph.rebuild();
    (egraph, [f, g, ff])
}

#[test]
fn nodes_match_what_their_language_says() {
    use tangram_egraph::ENodeOrVar::{ENode, Var};
    let (egraph, [f, g, ff]) = noted();
    let classes = |pattern: &Pattern<Noted>| -> Vec<Id> {
        pattern.search(&egraph).iter().map(|found| found.eclass).collect()
    };
    let child = |node| Pattern::new(vec![ENode(Noted::Number(7)), node].into());
    let any = ENode(Noted::Call("any", "", vec![Id::from(0)]));
    assert_eq!(classes(&child(any.clone())), [f, g]);
    assert_eq!(classes(&child(ENode(Noted::Call("f", "", vec![Id::from(0)])))), [f]);
    let nested = ENode(Noted::Call("any", "", vec![Id::from(1)]));
    let open = Pattern::new(vec![Var("?x".parse().unwrap()), any, nested].into());
    assert_eq!(classes(&open), [ff]);
}

#[test]
fn operators_that_rules_add_are_matched_too() {
    use tangram_egraph::ENodeOrVar::{ENode, Var};
    let (egraph, [f, ..]) = noted();
    let var = || Var("?x".parse().unwrap());
    let call = |name| ENode(Noted::Call(name, "", vec![Id::from(0)]));
    let pattern = |name| Pattern::new(vec![var(), call(name)].into());
    let rules = [
        Rewrite::new("make", pattern("f"), pattern("made")).unwrap(),
        Rewrite::new("any", pattern("any"), pattern("seen")).unwrap(),
    ];
    let runner = Runner::<Noted, ()>::new(()).with_egraph(egraph).with_iter_limit(3).run(&rules);
    let seen = runner.egraph.lookup(Noted::Call("seen", "", vec![Id::from(0)]));
    assert_eq!(seen, Some(runner.egraph.find(f)));
}

#[test]
fn nodes_keep_data_that_equality_leaves_out() {
    let (egraph, [f, _, ff]) = noted();
    let note = |id: Id| match &egraph[id].nodes[0] {
        Noted::Call(_, note, _) => *note,
        Noted::Number(_) => "",
    };
    assert_eq!((note(f), note(ff)), ("first", "third"));
    assert!(matches!(egraph.id_to_node(ff), Noted::Call(_, "third", _)));
}

#[test]
fn schedulers_of_ones_own_change_as_much_as_egg() {
    let texts = [("comm", "(+ ?a ?b)", "(+ ?b ?a)"), ("zero", "(+ ?a 0)", "?a")];
    macro_rules! changes {
        ($engine:ident) => {{
            let mut egraph = $engine::EGraph::<$engine::SymbolLang, ()>::default();
            egraph.add_expr(&"(+ (+ a 0) (+ 0 b))".parse().unwrap());
            egraph.rebuild();
            let mut counts = Vec::new();
            for (name, left, right) in texts {
                let pattern = |text: &str| text.parse::<$engine::Pattern<_>>().unwrap();
                let rule =
                    $engine::Rewrite::<_, ()>::new(name, pattern(left), pattern(right)).unwrap();
                let found = rule.search(&egraph);
                let mut ids: Vec<usize> =
                    rule.apply(&mut egraph, &found).into_iter().map(usize::from).collect();
                ids.sort_unstable();
                egraph.rebuild();
                counts.push(ids);
            }
            counts
        }};
    }
    assert_eq!(changes!(tangram_egraph), changes!(egg));
}

#[test]
fn terms_pass_through_text() {
    let term: RecExpr<SymbolLang> = "(f (g x) y)".parse().unwrap();
    assert_eq!(term.to_string().parse::<RecExpr<SymbolLang>>().unwrap(), term);
}

#[cfg(feature = "serde-1")]
mod stored {
    use super::*;

    #[test]
    fn e_graphs_go_on_where_they_were_stored() {
        let rules: [Rewrite<SymbolLang, ()>; 2] = [
            rewrite!("comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
            rewrite!("assoc"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
        ];
        let start = "(+ a (+ b (+ c (+ d e))))".parse().unwrap();
        let runner = Runner::<SymbolLang, ()>::default().with_explanations_enabled();
        let runner = runner.with_expr(&start).with_iter_limit(2).run(&rules);
        let text = serde_json::to_string(&runner.egraph).unwrap();
        let read: Plain = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let finish =
            |egraph: Plain| Runner::<SymbolLang, ()>::default().with_egraph(egraph).run(&rules);
        let mut again = finish(read);
        let other = finish(runner.egraph);
        assert_eq!(again.egraph.total_number_of_nodes(), other.egraph.total_number_of_nodes());
        let end = "(+ (+ e d) (+ (+ c b) a))".parse().unwrap();
        again.explain_equivalence(&start, &end).check_proof(&rules);
    }

    #[test]
    fn terms_are_their_text() {
        let term: RecExpr<SymbolLang> = "(f (g x) y)".parse().unwrap();
        let text = serde_json::to_string(&term).unwrap();
        assert_eq!(text, r#""(f (g x) y)""#);
        assert_eq!(serde_json::from_str::<RecExpr<SymbolLang>>(&text).unwrap(), term);
    }

    /// No number in a stored e-graph, replaced by another one, makes reading or using it panic.
    #[test]
    fn broken_storage_is_refused() {
        let mut egraph = Plain::default();
        egraph.add_expr(&"(f (g x) (g y))".parse().unwrap());
        egraph.rebuild();
        let text = serde_json::to_string(&egraph).unwrap();
        let digits: Vec<usize> =
            text.match_indices(|c: char| c.is_ascii_digit()).map(|found| found.0).collect();
        let mut refused = 0;
        for at in digits {
            for other in ["9", "77"] {
                let broken = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                match serde_json::from_str::<Plain>(&broken) {
                    Err(_) => refused += 1,
                    Ok(mut read) => {
                        read.classes().for_each(|class| assert!(class.len() < 100));
                        read.add_expr(&"(h (g x))".parse().unwrap());
                    }
                }
            }
        }
        assert!(refused > 50, "{refused}");
    }
}
