//! The engine against a naive congruence closure and a naive matcher, on random steps.

#[path = "support/cases.rs"]
mod cases;

use proptest::prelude::*;
use std::collections::BTreeSet;
use tangram_egraph::{
    Checkpoints, EGraph, ENodeOrVar, Id, Language, MultiPattern, Pattern, RecExpr, Searcher,
    SymbolLang, Var,
};

/// Terms as lists of nodes over earlier terms; equality by closing a table until nothing changes.
#[derive(Clone)]
struct Naive {
    terms: Vec<(String, Vec<usize>)>,
    class: Vec<usize>,
}

impl Naive {
    fn merge(&mut self, left: usize, right: usize) {
        let (into, from) = (self.class[left], self.class[right]);
        self.class.iter_mut().filter(|class| **class == from).for_each(|class| *class = into);
    }

    fn close(&mut self) {
        loop {
            let mut changed = false;
            for left in 0..self.terms.len() {
                for right in 0..left {
                    let (l, r) = (&self.terms[left], &self.terms[right]);
                    let same = l.0 == r.0
                        && l.1.len() == r.1.len()
                        && l.1.iter().zip(&r.1).all(|(l, r)| self.class[*l] == self.class[*r]);
                    if same && self.class[left] != self.class[right] {
                        self.merge(left, right);
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Matches a pattern against a class: all bindings, by brute force over terms.
    fn matches(
        &self,
        pattern: &RecExpr<ENodeOrVar<SymbolLang>>,
        at: Id,
        class: usize,
        bound: &[(Var, usize)],
    ) -> Vec<Vec<(Var, usize)>> {
        match &pattern[at] {
            ENodeOrVar::Var(var) => match bound.iter().find(|(name, _)| name == var) {
                Some((_, known)) if *known != class => vec![],
                Some(_) => vec![bound.to_vec()],
                None => vec![[bound, &[(*var, class)]].concat()],
            },
            ENodeOrVar::ENode(node) => {
                let mut all = vec![];
                for (term, own) in self.terms.iter().zip(&self.class) {
                    if *own != class || term.0 != node.op.as_str() || term.1.len() != node.len() {
                        continue;
                    }
                    let mut found = vec![bound.to_vec()];
                    for (kid, term) in node.children().iter().zip(&term.1) {
                        let next =
                            |bound: Vec<_>| self.matches(pattern, *kid, self.class[*term], &bound);
                        found = found.into_iter().flat_map(next).collect();
                    }
                    all.extend(found);
                }
                all
            }
        }
    }

    /// Matches all clauses of a multi-pattern, one after another.
    fn matches_all(&self, clauses: &[(Var, RecExpr<ENodeOrVar<SymbolLang>>)]) -> Vec<Binding> {
        let classes: BTreeSet<usize> = self.class.iter().copied().collect();
        let mut found = vec![vec![]];
        for (var, pattern) in clauses {
            let mut next = vec![];
            for bound in &found {
                for &class in &classes {
                    let named = bound.iter().find(|(name, _): &&(Var, usize)| name == var);
                    if named.is_some_and(|(_, known)| *known != class) {
                        continue;
                    }
                    let mut bound = bound.clone();
                    if named.is_none() {
                        bound.push((*var, class));
                    }
                    next.extend(self.matches(pattern, pattern.root(), class, &bound));
                }
            }
            found = next;
        }
        found
    }

    /// The class of the engine for a class of ours.
    fn id(&self, egraph: &EGraph<SymbolLang, ()>, ids: &[Id], class: usize) -> Id {
        let term = self.class.iter().position(|other| *other == class).unwrap();
        egraph.find(ids[term])
    }
}

type Binding = Vec<(Var, usize)>;

const PATTERNS: [&str; 8] = [
    "?x",
    "(f ?x)",
    "(g ?x ?x)",
    "(g ?x (f ?y))",
    "(g (f ?x) (f ?x))",
    "(g a ?x)",
    "(f (g ?x b))",
    "(g (g ?x ?y) ?x)",
];

const MULTIPATTERNS: [&str; 4] = [
    "?p = (f ?x), ?q = (g ?x ?y)",
    "?p = (g ?x ?y), ?q = (g ?y ?x)",
    "?p = (f ?q), ?q = (g ?x ?x)",
    "?p = (g ?x ?y) = (g ?y ?z)",
];

type Action = (u8, usize, usize);

/// Runs the steps in both; going back to a checkpoint takes both back.
fn apply(steps: &[Action], explain: bool) -> (EGraph<SymbolLang, ()>, Naive, Vec<Id>) {
    let mut egraph = EGraph::default();
    if explain {
        egraph = egraph.with_explanations_enabled();
    }
    let mut egraph = Checkpoints::new(egraph);
    let mut naive = Naive { terms: vec![], class: vec![] };
    let mut ids: Vec<Id> = vec![];
    let mut earlier = vec![];
    for &(kind, left, right) in steps {
        let count = ids.len();
        let (op, kids): (&str, Vec<usize>) = match kind {
            0..=2 => (["a", "b", "c"][kind as usize], vec![]),
            3 | 4 if count > 0 => ("f", vec![left % count]),
            5 | 6 if count > 0 => ("g", vec![left % count, right % count]),
            7 if count > 0 => {
                egraph.current.union_trusted(ids[left % count], ids[right % count], "given");
                naive.merge(left % count, right % count);
                continue;
            }
            8 => {
                egraph.current.rebuild();
                // What a search keeps for the next one must not outlive later changes.
                assert_eq!(searched(&egraph.current), class_by_class(&egraph.current));
                continue;
            }
            9 => {
                egraph.push();
                earlier.push((naive.clone(), ids.clone()));
                continue;
            }
            10 => {
                assert_eq!(egraph.pop(), !earlier.is_empty());
                if let Some(state) = earlier.pop() {
                    (naive, ids) = state;
                }
                continue;
            }
            _ => continue,
        };
        let children = kids.iter().map(|&kid| ids[kid]).collect();
        ids.push(egraph.current.add_uncanonical(SymbolLang::new(op, children)));
        naive.class.push(naive.terms.len());
        naive.terms.push((op.into(), kids));
    }
    egraph.current.rebuild();
    naive.close();
    (egraph.current, naive, ids)
}

/// Lists what each pattern finds, class by class in the order of their ids.
fn class_by_class(egraph: &EGraph<SymbolLang, ()>) -> Vec<String> {
    let mut classes: Vec<Id> = egraph.classes().map(|class| class.id).collect();
    classes.sort();
    let find = |text: &&str| {
        let pattern: Pattern<SymbolLang> = text.parse().unwrap();
        let found = classes.iter().filter_map(|&class| pattern.search_eclass(egraph, class));
        format!("{text}: {:?}", found.collect::<Vec<_>>())
    };
    PATTERNS.iter().map(find).collect()
}

/// The same by one search each.
fn searched(egraph: &EGraph<SymbolLang, ()>) -> Vec<String> {
    let find = |text: &&str| {
        let pattern: Pattern<SymbolLang> = text.parse().unwrap();
        format!("{text}: {:?}", pattern.search(egraph))
    };
    PATTERNS.iter().map(find).collect()
}

fn steps() -> impl Strategy<Value = Vec<Action>> {
    prop::collection::vec((0u8..11, 0usize..40, 0usize..40), 1..40)
}

proptest! {
    #![proptest_config(cases::cases(150))]
    #[test]
    fn closure_and_matches_agree(steps in steps(), explain: bool) {
        let (egraph, naive, ids) = apply(&steps, explain);
        prop_assert_eq!(searched(&egraph), class_by_class(&egraph));
        for left in 0..ids.len() {
            for right in 0..left {
                let equal = egraph.find(ids[left]) == egraph.find(ids[right]);
                prop_assert_eq!(equal, naive.class[left] == naive.class[right]);
            }
        }
        for text in PATTERNS {
            let pattern: Pattern<SymbolLang> = text.parse().unwrap();
            let mut ours = BTreeSet::new();
            for found in pattern.search(&egraph) {
                for subst in &found.substs {
                    let bound: Vec<Id> = Pattern::vars(&pattern).iter().map(|&var| egraph.find(subst[var])).collect();
                    prop_assert!(ours.insert((found.eclass, bound)), "{text} found twice");
                }
            }
            let mut theirs = BTreeSet::new();
            for (term, class) in naive.class.iter().enumerate() {
                for bound in naive.matches(&pattern.ast, pattern.ast.root(), *class, &[]) {
                    let id = |(_, class)| naive.id(&egraph, &ids, class);
                    let bound = bound.into_iter().map(id).collect();
                    theirs.insert((egraph.find(ids[term]), bound));
                }
            }
            prop_assert_eq!(&ours, &theirs, "{}", text);
        }
    }

    #[test]
    fn multi_patterns_agree(steps in steps()) {
        let (egraph, naive, ids) = apply(&steps, false);
        for text in MULTIPATTERNS {
            let pattern: MultiPattern<SymbolLang> = text.parse().unwrap();
            let vars = Searcher::<SymbolLang, ()>::vars(&pattern);
            let found = pattern.search(&egraph);
            let bound = |subst: &tangram_egraph::Subst| -> Vec<Id> {
                vars.iter().map(|&var| egraph.find(subst[var])).collect()
            };
            let ours: BTreeSet<Vec<Id>> = found.iter().flat_map(|m| m.substs.iter().map(bound)).collect();
            let id = |binding: &Binding, var: Var| {
                let (_, class) = binding.iter().find(|(name, _)| *name == var).unwrap();
                naive.id(&egraph, &ids, *class)
            };
            let theirs = naive.matches_all(pattern.clauses()).into_iter();
            let theirs: BTreeSet<Vec<Id>> =
                theirs.map(|binding| vars.iter().map(|&var| id(&binding, var)).collect()).collect();
            prop_assert_eq!(&ours, &theirs, "{}", text);
        }
    }

    /// Every proof starts and ends with the terms that were asked for, and replays.
    #[test]
    fn proofs_replay(steps in steps()) {
        let (mut egraph, _, ids) = apply(&steps, true);
        for pair in ids.windows(2).chain(ids.windows(5)) {
            let (left, right) = (pair[0], pair[pair.len() - 1]);
            if egraph.find(left) != egraph.find(right) {
                continue;
            }
            let ends = [egraph.id_to_expr(left), egraph.id_to_expr(right)].map(|expr| expr.to_string());
            let mut proof = egraph.explain_id_equivalence(left, right);
            let terms = proof.make_flat_explanation();
            prop_assert_eq!(terms[0].get_recexpr().to_string(), ends[0].clone());
            prop_assert_eq!(terms[terms.len() - 1].get_recexpr().to_string(), ends[1].clone());
            let rules: [tangram_egraph::Rewrite<SymbolLang, ()>; 0] = [];
            prop_assert_eq!(proof.replay(&rules), Ok(()));
        }
    }
}
