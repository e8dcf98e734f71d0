//! The untyped core on its own: rules over operators made at run time, facts, proofs.

use tangram_egraph::Id;
use tangram_egraph::core::{Atom, Core, Facts, Graph, Host, Op, Query, RuleSet, Template, Term};

/// The sum of the sizes of a class's smallest term; operators over unequal sizes are no matter.
struct Size;

impl Facts for Size {
    type Fact = usize;

    fn make(graph: &Graph<Self>, _: Op, kids: &[Id]) -> usize {
        1 + kids.iter().map(|&kid| graph.fact(kid).copied().unwrap_or(0)).sum::<usize>()
    }

    fn join(&mut self, into: &mut usize, from: usize) -> (bool, bool) {
        let old = *into;
        *into = old.min(from);
        (*into != old, *into != from)
    }
}

fn node(op: Op, kids: &[u32]) -> Atom {
    Atom::Node(op, kids.into())
}

/// `?a + ?b` to `?b + ?a`, and `?a + (?b + ?c)` to `(?a + ?b) + ?c`.
fn rules(plus: Op) -> [(Term, Term); 2] {
    let vars = |count: u32| (0..count).map(Atom::Var).collect::<Vec<_>>();
    let term = |vars: Vec<Atom>, rest: &[Atom]| Term { atoms: [&vars[..], rest].concat() };
    [
        (term(vars(2), &[node(plus, &[0, 1])]), term(vars(2), &[node(plus, &[1, 0])])),
        (
            term(vars(3), &[node(plus, &[1, 2]), node(plus, &[0, 3])]),
            term(vars(3), &[node(plus, &[0, 1]), node(plus, &[3, 2])]),
        ),
    ]
}

fn saturate(graph: &mut Graph<Size>, rules: &[(Term, Term)]) {
    let mut set = RuleSet::new(graph.core().keeps_proofs());
    rules.iter().for_each(|(left, _)| _ = set.push(left));
    let named = ["comm".into(), "assoc".into()].into_iter().zip(rules);
    let numbers: Vec<Option<u32>> = named
        .map(|(name, (left, right))| graph.core_mut().log_rule(name, left.clone(), right.clone()))
        .collect();
    let mut since = 0;
    loop {
        let queries = vec![Query { since, ..Query::ALL }; rules.len()];
        let found = set.search(graph.core(), &queries, || false).unwrap();
        since = graph.core().generation();
        let mut changed = 0;
        for ((found, (_, right)), number) in found.iter().zip(rules).zip(&numbers) {
            changed += Template::new(right).apply(graph, found, *number, |_| false);
        }
        graph.rebuild();
        if changed == 0 {
            return;
        }
    }
}

/// Builds `x0 + (x1 + (...))` and returns it with the reversed sum.
fn sums(graph: &mut Graph<Size>, plus: Op, count: usize) -> (Id, Id) {
    let leaves: Vec<Id> = (0..count)
        .map(|_| {
            let op = graph.new_op(1, 0);
            graph.add(op, &[])
        })
        .collect();
    let sum = |graph: &mut Graph<Size>, leaves: Vec<Id>| {
        leaves.into_iter().reduce(|sum, leaf| graph.add(plus, &[leaf, sum])).unwrap()
    };
    (sum(graph, leaves.iter().rev().copied().collect()), sum(graph, leaves))
}

#[test]
fn rules_facts_and_proofs() {
    let mut graph = Graph::new(Size);
    assert!(graph.core_mut().keep_proofs());
    let plus = graph.new_op(0, 2);
    let (sum, reversed) = sums(&mut graph, plus, 6);
    graph.rebuild();
    assert_ne!(graph.core().find(sum), graph.core().find(reversed));
    assert!(graph.core().prove(sum, reversed).is_none());
    saturate(&mut graph, &rules(plus));
    // 2^n - 1 classes and n + 3^n - 2^(n+1) + 1 nodes.
    assert_eq!(graph.core().number_of_classes(), 63);
    assert_eq!(graph.core().number_of_nodes(), 608);
    assert_eq!(graph.fact(sum), Some(&11));
    let proof = graph.core().prove(sum, reversed).unwrap();
    let names: Vec<&str> =
        proof.chains.iter().flatten().filter_map(|step| Some(step.rule?.0.as_str())).collect();
    assert!(names.contains(&"comm") && names.contains(&"assoc"), "{names:?}");
}

#[test]
fn facts_follow_unions() {
    let mut graph = Graph::new(Size);
    let [f, a, g] = [1, 0, 1].map(|arity| graph.new_op(0, arity));
    let a = graph.add(a, &[]);
    let ga = graph.add(g, &[a]);
    let gga = graph.add(g, &[ga]);
    let top = graph.add(f, &[gga]);
    assert_eq!(graph.fact(top), Some(&4));
    graph.union(gga, a, tangram_egraph::core::Why::Given("said".into()));
    graph.rebuild();
    assert_eq!(graph.fact(top), Some(&2));
}

#[test]
fn pruned_nodes_are_not_found_but_known() {
    let mut core = Core::new();
    let [f, a, b] = [1, 0, 0].map(|arity| core.new_op(0, arity));
    let (a, _) = core.add(a, &[]);
    let (b, _) = core.add(b, &[]);
    let (fa, _) = core.add(f, &[a]);
    core.settle();
    core.hide(fa);
    core.settle();
    assert_eq!((core.nodes_of_op(f), core.number_of_nodes()), (&[][..], 2));
    assert_eq!(core.lookup(f, &[a]), Some(fa));
    // A congruent copy that is visible brings the node back.
    let (fb, _) = core.add(f, &[b]);
    core.union(a, b, tangram_egraph::core::Why::Congruence);
    while let Some((left, right)) = core.next_congruence() {
        core.union(left, right, tangram_egraph::core::Why::Congruence);
    }
    core.settle();
    assert_eq!(core.find(fa), core.find(fb));
    assert_eq!((core.nodes_of_op(f).len(), core.rows(core.find(fa)).len()), (1, 1));
}
