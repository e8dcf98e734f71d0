//! Many left-hand sides matched in one walk, against brute force over all nodes.
//!
//! A match that is no image of one of an earlier generation has to be found by a search for what
//! is new since then; what such a search finds has to be a match.

#[path = "support/cases.rs"]
mod cases;

use proptest::prelude::*;
use std::collections::BTreeSet;
use tangram_egraph::Id;
use tangram_egraph::core::{Atom, Core, Graph, Op, Query, RuleSet, Term, Why};

/// The arities of the operators: `f`, `g`, and the leaves `a`, `b` and `c`.
const ARITIES: [usize; 5] = [1, 2, 0, 0, 0];
const F: u32 = 0;
const G: u32 = 1;
const A: u32 = 2;
const B: u32 = 3;

fn var(number: u32) -> Atom {
    Atom::Var(number)
}

fn node(op: u32, kids: &[u32]) -> Atom {
    Atom::Node(Op(op), kids.into())
}

/// Left-hand sides that begin alike and go on with different operators, at one child or another.
fn terms() -> Vec<Term> {
    let (x, y, z) = (var(0), var(1), var(2));
    let atoms = vec![
        vec![x.clone(), node(F, &[0])],
        vec![x.clone(), y.clone(), node(G, &[0, 1])],
        vec![x.clone(), node(G, &[0, 0])],
        vec![x.clone(), node(F, &[0]), node(F, &[1])],
        vec![x.clone(), y.clone(), node(G, &[0, 1]), node(F, &[2])],
        vec![node(A, &[]), node(F, &[0])],
        vec![x.clone(), y.clone(), node(F, &[1]), node(G, &[0, 2])],
        vec![x.clone(), y.clone(), z.clone(), node(G, &[1, 2]), node(G, &[0, 3])],
        vec![x.clone(), node(B, &[]), node(G, &[0, 1])],
        vec![x.clone(), y.clone(), node(F, &[0]), node(F, &[1]), node(G, &[2, 3])],
        vec![x.clone(), node(F, &[0]), node(F, &[1]), node(G, &[0, 2])],
        vec![x.clone(), y, z, node(F, &[0]), node(G, &[3, 1]), node(G, &[2, 4])],
        vec![x, node(A, &[]), node(G, &[0, 1]), node(F, &[2])],
    ];
    atoms.into_iter().map(|atoms| Term { atoms }).collect()
}

type Step = (u8, usize, usize);

fn play(graph: &mut Graph<()>, ids: &mut Vec<Id>, steps: &[Step]) {
    for &(kind, left, right) in steps {
        let pick = |at: usize| ids[at % ids.len()];
        match kind {
            0..=2 => ids.push(graph.add(Op(A + u32::from(kind)), &[])),
            _ if ids.is_empty() => {}
            3 | 4 => ids.push(graph.add(Op(F), &[pick(left)])),
            5 | 6 => ids.push(graph.add(Op(G), &[pick(left), pick(right)])),
            _ => _ = graph.union(pick(left), pick(right), Why::Congruence),
        }
    }
    graph.rebuild();
}

/// A match: its class, then what the variables are bound to.
type Row = Vec<u32>;

/// Extends bindings in all ways in which an atom matches a class.
fn matches(
    core: &Core,
    term: &Term,
    atom: usize,
    class: Id,
    bound: &[Option<u32>],
) -> Vec<Vec<Option<u32>>> {
    match &term.atoms[atom] {
        Atom::Var(var) => {
            let mut bound = bound.to_vec();
            let place = &mut bound[*var as usize];
            match *place.get_or_insert(usize::from(class) as u32) == usize::from(class) as u32 {
                true => vec![bound],
                false => vec![],
            }
        }
        Atom::Node(op, kids) => {
            let mut all = Vec::new();
            for node in core.nodes_of(class).filter(|&node| core.op(node) == *op) {
                let mut found = vec![bound.to_vec()];
                for (&kid, &below) in kids.iter().zip(core.kids(node)) {
                    let below = core.find(Id::from(below as usize));
                    let next = |bound: Vec<_>| matches(core, term, kid as usize, below, &bound);
                    found = found.into_iter().flat_map(next).collect();
                }
                all.extend(found);
            }
            all
        }
    }
}

fn brute_force(core: &Core, term: &Term) -> BTreeSet<Row> {
    let mut rows = BTreeSet::new();
    for class in core.class_ids() {
        let free = vec![None; term.var_count()];
        for bound in matches(core, term, term.atoms.len() - 1, class, &free) {
            rows.insert(
                [usize::from(class) as u32]
                    .into_iter()
                    .chain(bound.into_iter().flatten())
                    .collect(),
            );
        }
    }
    rows
}

fn search(core: &Core, set: &RuleSet, queries: &[Query]) -> Vec<BTreeSet<Row>> {
    let found = set.search(core, queries, || false).unwrap();
    found.iter().map(|found| found.iter().map(<[u32]>::to_vec).collect()).collect()
}

/// Returns rows with the classes of today.
fn today(core: &Core, rows: &BTreeSet<Row>) -> BTreeSet<Row> {
    let find = |&id: &u32| usize::from(core.find(Id::from(id as usize))) as u32;
    rows.iter().map(|row| row.iter().map(find).collect()).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0u8..9, 0usize..40, 0usize..40), 1..30)
}

proptest! {
    #![proptest_config(cases::cases(200))]
    #[test]
    fn what_is_new_is_found(
        first in steps(),
        second in steps(),
        chosen in any::<u16>(),
        old in any::<u16>(),
    ) {
        let mut graph = Graph::new(());
        for arity in ARITIES {
            graph.new_op(arity as u32, arity);
        }
        // With all of them at once hardly any candidate could be left out early.
        let some = |at: &usize| chosen >> at & 1 == 1;
        let terms: Vec<Term> =
            terms().into_iter().enumerate().filter(|(at, _)| some(at)).map(|(_, term)| term).collect();
        let mut set = RuleSet::new(false);
        terms.iter().for_each(|term| _ = set.push(term));
        let mut ids = Vec::new();
        play(&mut graph, &mut ids, &first);
        let before: Vec<BTreeSet<Row>> = terms.iter().map(|term| brute_force(graph.core(), term)).collect();
        prop_assert_eq!(&search(graph.core(), &set, &vec![Query::ALL; set.len()]), &before);
        let since = graph.core().generation();
        play(&mut graph, &mut ids, &second);
        let core = graph.core();
        let all = search(core, &set, &vec![Query::ALL; set.len()]);
        // Some rules of the walk ask for old matches too.
        let asks = |at: usize| if old >> at & 1 == 1 { 0 } else { since };
        let queries: Vec<Query> =
            (0..set.len()).map(|at| Query { since: asks(at), ..Query::ALL }).collect();
        let fresh = search(core, &set, &queries);
        let pairs = terms.iter().zip(&before).zip(all.iter().zip(&fresh)).enumerate();
        for (at, ((term, before), (all, fresh))) in pairs {
            prop_assert_eq!(all, &brute_force(core, term), "{:?}", term);
            prop_assert!(fresh.is_subset(all), "{:?}", term);
            let known = if asks(at) == 0 { BTreeSet::new() } else { today(core, before) };
            let missed: Vec<_> = all.difference(fresh).filter(|row| !known.contains(*row)).collect();
            prop_assert!(missed.is_empty(), "{:?} misses {:?}", term, missed);
        }
    }
}
