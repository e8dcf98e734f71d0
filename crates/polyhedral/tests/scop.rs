//! Dependences of a whole program against a run of it, instance by instance.

use std::collections::BTreeSet;

use tangram_polyhedral::ScheduleTree;
use tangram_polyhedral::schedule::Options;
use tangram_polyhedral::scop::{Basis, Dependence, Kind, Scop, Statement};
use tangram_presburger::{Budget, Tuple, Union};

fn budget() -> Budget {
    Budget::steps(500_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// `for i: { Z: t = a[i]; for j <= i: S: t += b[j]; b[i] = t (W) }`, up to `SIDE`.
fn program() -> Scop {
    let domain = "{ Z[i] : 0 <= i < 4; S[i, j] : 0 <= j <= i < 4; W[i] : 0 <= i < 4 }";
    let tree = format!(
        "domain: \"{domain}\"
child:
  schedule: \"[{{ Z[i] -> [i]; S[i, j] -> [i]; W[i] -> [i] }}]\"
  child:
    sequence:
    - filter: \"{{ Z[i] }}\"
    - filter: \"{{ S[i, j] }}\"
      child: {{ schedule: \"[{{ S[i, j] -> [j] }}]\" }}
    - filter: \"{{ W[i] }}\"
"
    );
    let restricted =
        |text: &str| union(text).intersect_domain(&union(domain), &budget()).expect("small");
    let writes = restricted("{ Z[i] -> t[]; S[i, j] -> t[]; W[i] -> b[i] }");
    Scop {
        context: None,
        statements: union(domain)
            .relations()
            .map(|set| Statement {
                name: set.space().output.name.clone(),
                domain: set.clone(),
                update: None,
            })
            .collect(),
        arrays: Vec::new(),
        reads: restricted("{ Z[i] -> a[i]; S[i, j] -> t[]; S[i, j] -> b[j]; W[i] -> t[] }"),
        may_writes: writes.clone(),
        must_writes: writes,
        kills: Union::empty(),
        schedule: ScheduleTree::parse(&tree, &budget()).expect("a tree"),
    }
}

/// An instance, and a cell, as text.
type Access = (String, String);

/// Every access in order: the instance, the cell, and whether it writes.
fn run() -> Vec<(Access, bool)> {
    let mut steps = Vec::new();
    let mut step = |instance: String, reads: &[String], write: String| {
        for cell in reads {
            steps.push(((instance.clone(), cell.clone()), false));
        }
        steps.push(((instance, write), true));
    };
    for i in 0..4 {
        step(format!("Z[{i}]"), &[format!("a[{i}]")], "t[]".into());
        for j in 0..=i {
            step(format!("S[{i}, {j}]"), &["t[]".into(), format!("b[{j}]")], "t[]".into());
        }
        step(format!("W[{i}]"), &["t[]".into()], format!("b[{i}]"));
    }
    steps
}

/// Sources, sinks and cells of a kind, by their definition.
fn pairs(kind: Kind, basis: Basis) -> BTreeSet<[String; 3]> {
    let steps = run();
    let (first, second) = match kind {
        Kind::Flow => (true, false),
        Kind::Anti => (false, true),
        Kind::Output => (true, true),
        Kind::Input => (false, false),
    };
    let mut pairs = BTreeSet::new();
    for (from, ((source, cell), writes)) in steps.iter().enumerate() {
        for (to, ((sink, other), wrote)) in steps.iter().enumerate().skip(from + 1) {
            let fits = *writes == first && *wrote == second && cell == other && source != sink;
            let between = steps[from + 1..to].iter().any(|((_, c), write)| *write && c == cell);
            if fits && (basis == Basis::Memory || !between) {
                pairs.insert([source.clone(), sink.clone(), cell.clone()]);
            }
        }
    }
    pairs
}

fn expected(kind: Kind, basis: Basis) -> Union {
    let text = |[source, sink, cell]: [String; 3]| format!("{source} -> [{sink} -> {cell}]");
    let pairs: Vec<String> = pairs(kind, basis).into_iter().map(text).collect();
    union(&format!("{{ {} }}", pairs.join("; ")))
}

#[test]
fn all_kinds_of_dependences_are_those_of_a_run() {
    let scop = program();
    scop.check(&budget()).expect("fits together");
    for basis in [Basis::Memory, Basis::Value] {
        for kind in Kind::ALL {
            let found = scop.dependences(kind, basis, &budget()).expect("found").tagged;
            let expected = expected(kind, basis);
            assert!(!expected.is_empty(&budget()).expect("decided"), "{kind:?} {basis:?}");
            let same = found.is_equal(&expected, &budget()).expect("decided");
            assert!(same, "{kind:?} {basis:?}\n{found}\n{expected}");
        }
    }
}

#[test]
fn ends_of_dependences_are_counted() {
    let scop = program();
    for kind in Kind::ALL {
        let found = scop.dependences(kind, Basis::Value, &budget()).expect("found");
        for (end, count) in found.ends(&budget()).expect("counted").into_iter().enumerate() {
            let all = pairs(kind, Basis::Value);
            let distinct: BTreeSet<&String> = all.iter().map(|pair| &pair[end]).collect();
            let count = count.expect("some").constant_value().expect("no parameters");
            assert_eq!(count.to_string(), distinct.len().to_string(), "{kind:?} {end}");
        }
    }
    let empty = Dependence { kind: Kind::Flow, tagged: Union::empty() };
    assert_eq!(empty.ends(&budget()), Ok([None, None]));
}

#[test]
fn executions_are_counted_where_instances_run_again() {
    let text = "domain: \"{ A[i] : 0 <= i < 5; C[] }\"
child:
  contraction: \"{ B[i, k] -> A[i]; C[] -> C[] }\"
  expansion: \"{ A[i] -> B[i, k] : 0 <= k <= i and k < 3; C[] -> C[] }\"
  child:
    schedule: \"[{ B[i, k] -> [k]; C[] -> [7] }]\"
";
    let tree = ScheduleTree::parse(text, &budget()).expect("a tree");
    let runs = tree.executions(&budget()).expect("counted");
    let of = |name: &str| {
        let named = |tuple: &Tuple| tuple.name == name;
        runs.functions().iter().find(|runs| runs.domain().is_some_and(named)).expect("a function")
    };
    for i in 0..5_i64 {
        let count = of("A").evaluate(&[i]).expect("a point");
        assert_eq!(count.to_string(), (i + 1).min(3).to_string(), "A[{i}]");
    }
    assert_eq!(of("C").constant_value().expect("a point").to_string(), "1");
}

#[test]
fn live_values_are_those_that_cross_the_border() {
    let scop = program();
    let same = |found: Union, text: &str| {
        assert!(found.is_equal(&union(text), &budget()).expect("decided"), "{found}");
    };
    same(
        scop.live_in(&budget()).expect("found"),
        "{ Z[i] -> a[i] : 0 <= i < 4; S[i, i] -> b[i] : 0 <= i < 4 }",
    );
    same(scop.live_out(&budget()).expect("found"), "{ S[3, 3] -> t[]; W[i] -> b[i] : 0 <= i < 4 }");
}

#[test]
fn its_schedule_keeps_all_dependences() {
    let scop = program();
    let constraints = scop.constraints(&budget()).expect("found");
    constraints.check(&scop.schedule, &budget()).expect("the source keeps its own order");
    let scheduled = constraints.schedule(&Options::default(), None, &budget()).expect("found");
    // Memory-based pairs follow from value-based ones.
    for kind in [Kind::Flow, Kind::Anti, Kind::Output] {
        let all = scop.dependences(kind, Basis::Memory, &budget()).expect("found");
        let pairs = all.pairs(&budget()).expect("found");
        tangram_polyhedral::legality::check(&scheduled.tree, &pairs, &Union::empty(), &budget())
            .expect("kept");
    }
}

#[test]
fn a_statement_that_is_not_scheduled_is_found() {
    let mut scop = program();
    scop.statements.pop();
    assert!(scop.check(&budget()).is_err());
}
