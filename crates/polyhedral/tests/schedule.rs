//! The scheduler on programs whose best schedule is known.

use tangram_polyhedral::schedule::{Algorithm, Constraints, Fusion, Options};
use tangram_polyhedral::{Band, Error, NodeKind, ScheduleTree, Violation, legality};
use tangram_presburger::{Budget, Union};

fn budget() -> Budget {
    Budget::steps(500_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Constraints in which everything that depends on each other should also be near.
fn constraints(domain: &str, dependences: &str) -> Constraints {
    let pairs = union(dependences);
    Constraints {
        domain: union(domain),
        validity: pairs.clone(),
        coincidence: pairs.clone(),
        proximity: pairs,
        ..Constraints::default()
    }
}

fn schedule(constraints: &Constraints, options: &Options) -> ScheduleTree {
    let scheduled = constraints.schedule(options, None, &budget()).expect("a schedule");
    scheduled.tree.check(&budget()).expect("well-formed");
    scheduled.tree
}

fn bands(tree: &ScheduleTree) -> Vec<&Band> {
    let band = |node| match tree.kind(node) {
        NodeKind::Band(band) => Some(band),
        _ => None,
    };
    tree.nodes().filter_map(band).collect()
}

fn coincident(band: &Band) -> Vec<bool> {
    band.members.iter().map(|member| member.coincident).collect()
}

const MATMUL: [&str; 2] = [
    "[N] -> { S[i, j, k] : 0 <= i, j, k < N }",
    "[N] -> { S[i, j, k] -> S[i, j, k + 1] : 0 <= i, j, k < N }",
];
const JACOBI: [&str; 2] = [
    "[T, N] -> { S[t, i] : 0 <= t < T and 0 < i < N }",
    "[T, N] -> { S[t, i] -> S[t + 1, j] : i - 1 <= j <= i + 1 }",
];

#[test]
fn matrix_multiplication_is_one_band_with_two_parallel_loops() {
    let tree = schedule(&constraints(MATMUL[0], MATMUL[1]), &Options::default());
    let bands = bands(&tree);
    assert_eq!(bands.len(), 1, "{tree}");
    assert!(bands[0].permutable);
    assert_eq!(coincident(bands[0]), [true, true, false]);
    let expected = union("{ S[i, j, k] -> [i] }");
    assert!(bands[0].members[0].schedule.is_equal(&expected, &budget()).expect("decided"));
}

#[test]
fn a_stencil_is_skewed_until_it_can_be_tiled() {
    let tree = schedule(&constraints(JACOBI[0], JACOBI[1]), &Options::default());
    let bands = bands(&tree);
    assert_eq!((bands.len(), bands[0].members.len()), (1, 2), "{tree}");
    assert!(bands[0].permutable);
    let skewed = union("{ S[t, i] -> [t + i] }");
    assert!(bands[0].members[1].schedule.is_equal(&skewed, &budget()).expect("decided"), "{tree}");
}

#[test]
fn feautrier_leaves_the_inner_loop_of_a_stencil_parallel() {
    let options = Options { algorithm: Algorithm::Feautrier, ..Options::default() };
    let tree = schedule(&constraints(JACOBI[0], JACOBI[1]), &options);
    let bands = bands(&tree);
    assert_eq!(bands.iter().map(|band| band.members.len()).collect::<Vec<_>>(), [1, 1], "{tree}");
    assert_eq!([coincident(bands[0]), coincident(bands[1])], [[false], [true]]);
}

#[test]
fn outer_coincidence_carries_first() {
    let options = Options { outer_coincidence: true, ..Options::default() };
    let tree = schedule(&constraints(JACOBI[0], JACOBI[1]), &options);
    let bands = bands(&tree);
    assert_eq!(bands.len(), 2, "{tree}");
    assert_eq!([coincident(bands[0]), coincident(bands[1])], [[false], [true]]);
}

/// A producer and a consumer of the same shape.
const PIPE: [&str; 2] = [
    "[N] -> { P[i, j] : 0 <= i, j < N; C[i, j] : 0 <= i, j < N }",
    "[N] -> { P[i, j] -> C[i, j] }",
];

#[test]
fn fusion_strategies_differ_where_they_should() {
    let count = |fusion, pair: [&str; 2]| {
        let tree =
            schedule(&constraints(pair[0], pair[1]), &Options { fusion, ..Options::default() });
        bands(&tree).len()
    };
    assert_eq!(count(Fusion::Max, PIPE), 1);
    assert_eq!(count(Fusion::Smart, PIPE), 1);
    assert_eq!(count(Fusion::None, PIPE), 2);
    // A transposed consumer that is summed over: fusing would lose a parallel loop.
    let sums = [
        "[N] -> { P[i, j] : 0 <= i, j < N; C[i, j] : 0 <= i, j < N }",
        "[N] -> { P[i, j] -> P[i, j + 1]; P[i, j] -> C[j, i]; C[i, j] -> C[i, j + 1] }",
    ];
    assert_eq!(count(Fusion::Smart, sums), 2);
}

#[test]
fn a_reversed_consumer_is_still_fused() {
    let pairs = "[N] -> { P[i] -> C[N - 1 - i] : 0 <= i < N }";
    let domain = "[N] -> { P[i] : 0 <= i < N; C[i] : 0 <= i < N }";
    let tree = schedule(&constraints(domain, pairs), &Options::default());
    let bands = bands(&tree);
    assert!(bands.iter().all(|band| band.members[0].coincident), "{tree}");
}

#[test]
fn statements_without_pairs_are_a_set() {
    let domain = "[N] -> { A[i] : 0 <= i < N; B[i, j] : 0 <= i, j < N }";
    let tree = schedule(&constraints(domain, "{ }"), &Options::default());
    assert!(tree.nodes().any(|node| matches!(tree.kind(node), NodeKind::Set)), "{tree}");
    assert_eq!(bands(&tree).len(), 2);
}

#[test]
fn the_same_constraints_give_the_same_bytes() {
    let once = || schedule(&constraints(JACOBI[0], JACOBI[1]), &Options::default()).to_string();
    assert_eq!(once(), once());
}

#[test]
fn a_spent_budget_falls_back_to_the_original_schedule() {
    let problem = constraints(MATMUL[0], MATMUL[1]);
    let original = format!(
        "domain: \"{}\"\nchild:\n  schedule: \"[{{ S[i, j, k] -> [i] }}, {{ S[i, j, k] -> [j] }}, {{ S[i, j, k] -> [k] }}]\"\n",
        MATMUL[0]
    );
    let original = ScheduleTree::parse(&original, &budget()).expect("a tree");
    let small = Budget::steps(200);
    let scheduled = problem.schedule(&Options::default(), Some(&original), &small).expect("a tree");
    assert!(scheduled.fallback.is_some());
    assert_eq!(scheduled.tree.to_string(), original.to_string());
    let alone = problem.schedule(&Options::default(), None, &Budget::steps(200));
    assert!(matches!(alone, Err(Error::Presburger(_))));
}

#[test]
fn cyclic_constraints_are_unschedulable() {
    let problem = constraints("{ A[]; B[] }", "{ A[] -> B[]; B[] -> A[] }");
    let outcome = problem.schedule(&Options::default(), None, &budget());
    assert!(matches!(outcome, Err(Error::Unschedulable)), "{outcome:?}");
}

/// What the check says of a tree below the domain of [`PIPE`].
fn violation(below: &str) -> Option<Violation> {
    let text = format!("domain: \"{}\"\nchild:\n{below}", PIPE[0]);
    let tree = ScheduleTree::parse(&text, &budget()).expect("a tree");
    let pairs = union("[N] -> { P[i, j] -> C[i, j]; P[i, j] -> P[i + 1, j - 1] }");
    match legality::check(&tree, &pairs, &pairs, &budget()) {
        Ok(()) => None,
        Err(Error::Illegal { violation, .. }) => Some(violation),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn each_violation_has_a_tree_that_commits_it() {
    let both = |i: &str, j: &str| {
        format!(
            "schedule: \"[{{ P[i, j] -> [{i}]; C[i, j] -> [i] }}, {{ P[i, j] -> [{j}]; C[i, j] -> [j] }}]\""
        )
    };
    let order = "child: { sequence: [ { filter: \"{ P[i, j] }\" }, { filter: \"{ C[i, j] }\" } ] }";
    let wrong = "child: { sequence: [ { filter: \"{ C[i, j] }\" }, { filter: \"{ P[i, j] }\" } ] }";
    let set = "child: { set: [ { filter: \"{ C[i, j] }\" }, { filter: \"{ P[i, j] }\" } ] }";
    let case = |band: String, rest: &str| violation(&format!("  {band}\n  {rest}\n"));
    assert_eq!(case(both("i", "j"), order), None);
    assert_eq!(case(both("i", "j"), wrong), Some(Violation::Backwards { member: 0 }));
    assert_eq!(case(both("i", "j"), set), Some(Violation::Unordered));
    assert_eq!(case(both("-i", "j"), order), Some(Violation::Backwards { member: 0 }));
    assert_eq!(case(both("i", "j"), ""), Some(Violation::Together));
    let flags = format!("permutable: 1\n  {order}");
    assert_eq!(case(both("i", "j"), &flags), Some(Violation::Permutable { member: 1 }));
    let flags = format!("coincident: [ 1, 0 ]\n  {order}");
    assert_eq!(case(both("i", "j"), &flags), Some(Violation::Coincident { member: 0 }));
    let flags = format!("coincident: [ 0, 1 ]\n  {order}");
    assert_eq!(case(both("i", "j"), &flags), None);
}

/// A chain of loops, each of which reads what the one before wrote `behind` elements ahead.
fn chain(statements: usize, behind: i128) -> Constraints {
    let domain: Vec<String> =
        (0..statements).map(|s| format!("S{s}[i, j] : 0 <= i, j < N")).collect();
    let pair = |s: usize| {
        format!("S{s}[i, j] -> S{}[i - {behind}, j] : {behind} <= i < N and 0 <= j < N", s + 1)
    };
    let pairs: Vec<String> = (0..statements - 1).map(pair).collect();
    constraints(
        &format!("[N] -> {{ {} }}", domain.join("; ")),
        &format!("[N] -> {{ {} }}", pairs.join("; ")),
    )
}

#[test]
fn chains_become_one_parallel_band_with_shifts() {
    let tree = schedule(&chain(5, 2), &Options::default());
    let bands = bands(&tree);
    assert_eq!(bands.len(), 1, "{tree}");
    assert_eq!(coincident(bands[0]), [true, true], "{tree}");
    // Each reads two rows further, so it runs its rows two later than the one before.
    let row = |s: usize| format!("S{s}[i, j] -> [(i + {})]", 2 * s);
    assert!(tree.to_string().contains(&row(4)), "{tree}");
}

#[test]
fn long_chains_take_steps_in_proportion_to_their_length() {
    let steps = |statements: usize| {
        let budget = budget();
        let found = chain(statements, 1).schedule(&Options::default(), None, &budget);
        assert!(found.expect("a schedule").fallback.is_none());
        budget.used()
    };
    let (short, long) = (steps(8), steps(32));
    // Four times as many statements; a program over all of them takes 16 times the steps.
    assert!(long < 8 * short, "{short} and {long} steps");
}

/// A nest in which each iteration needs its neighbour before in each dimension.
fn neighbours(depth: usize) -> Constraints {
    let names: Vec<String> = ('a'..).take(depth).map(String::from).collect();
    let all = names.join(", ");
    let pair = |name: &String| {
        let next = all.replace(name, &format!("{name} + 1"));
        format!("S[{all}] -> S[{next}] : 0 <= {all} < N and {name} + 1 < N")
    };
    let pairs: Vec<String> = names.iter().map(pair).collect();
    constraints(
        &format!("[N] -> {{ S[{all}] : 0 <= {all} < N }}"),
        &format!("[N] -> {{ {} }}", pairs.join("; ")),
    )
}

#[test]
fn deep_nests_take_steps_like_a_small_power_of_their_depth() {
    let steps = |depth: usize| {
        let budget = budget();
        let found = neighbours(depth).schedule(&Options::default(), None, &budget);
        assert!(found.expect("a schedule").fallback.is_none());
        budget.used()
    };
    let (shallow, deep) = (steps(4), steps(12));
    // Thrice as many programs with thrice as many pairs and unknowns; corners are 256 times as
    // many.
    assert!(deep < 81 * shallow, "{shallow} and {deep} steps");
}

#[test]
fn deep_nests_are_scheduled() {
    // Its iterations have 16,384 corners; what neighbours ask for is the same in each.
    let tree = schedule(&neighbours(14), &Options::default());
    let bands = bands(&tree);
    assert_eq!((bands.len(), bands[0].members.len()), (1, 14), "{tree}");
    assert!(bands[0].permutable, "{tree}");
}

/// A cycle through statements, each of which reads three neighbours of the one before; `step` is
/// how the dimensions of one are named in the next.
fn cycle(statements: usize, step: &str) -> Constraints {
    let sets = (0..statements).map(|at| format!("S{at}[i, j] : 0 <= i, j < n"));
    let inside = "0 <= i, j, k, l < n and k = i and j - 1 <= l <= j + 1";
    let next = (1..statements).map(|at| format!("S{}[i, j] -> S{at}[{step}] : {inside}", at - 1));
    let last = format!("S{}[i, j] -> S0[i + 1, j] : 0 <= i, j, i + 1 < n", statements - 1);
    let pairs: Vec<String> = next.chain([last]).collect();
    let domain = format!("[n] -> {{ {} }}", sets.collect::<Vec<_>>().join("; "));
    constraints(&domain, &format!("[n] -> {{ {} }}", pairs.join("; ")))
}

#[test]
fn long_cycles_take_steps_in_proportion_to_their_length() {
    let steps = |statements: usize| {
        let budget = budget();
        let found = cycle(statements, "k, l").schedule(&Options::default(), None, &budget);
        assert!(found.expect("a schedule").fallback.is_none());
        budget.used()
    };
    let (short, long) = (steps(20), steps(100));
    // Five times as many statements; one program over all of them takes over 100 times the steps.
    assert!(long < 20 * short, "{short} and {long} steps");
}

#[test]
fn statements_of_a_cycle_share_coefficients_under_their_own_dimensions() {
    // Every second statement has its dimensions the other way around.
    let sets = (0..40).map(|at| format!("S{at}[i, j] : 0 <= i, j < n"));
    let next = (1..40).map(|at| format!("S{}[i, j] -> S{at}[j, i]", at - 1));
    let last = "S39[i, j] -> S0[j + 1, i + 1]".to_owned();
    let pairs: Vec<String> = next.chain([last]).collect();
    let domain = format!("[n] -> {{ {} }}", sets.collect::<Vec<_>>().join("; "));
    let problem = constraints(&domain, &format!("{{ {} }}", pairs.join("; ")));
    let budget = budget();
    let tree = problem.schedule(&Options::default(), None, &budget).expect("a schedule").tree;
    assert!(budget.used() < 1_000_000, "{} steps", budget.used());
    let [band] = bands(&tree)[..] else { panic!("{tree}") };
    assert_eq!((band.members.len(), band.permutable), (2, true), "{tree}");
}

#[test]
fn statements_of_fewer_dimensions_share_those_they_have() {
    let dims = |at: usize| if at % 3 == 1 { "i" } else { "i, j" };
    let sets = (0..30).map(|at| match dims(at) {
        "i" => format!("S{at}[i] : 0 <= i < n"),
        two => format!("S{at}[{two}] : 0 <= i, j < n"),
    });
    let all: Vec<String> = sets.collect();
    let pair = |at: usize| format!("S{}[{}] -> S{at}[{}]", at - 1, dims(at - 1), dims(at));
    let last = format!("S29[{}] -> S0[i + 1, j]", dims(29));
    let pairs: Vec<String> = (1..30).map(pair).chain([last]).collect();
    let domain = format!("[n] -> {{ {} }}", all.join("; "));
    let problem = constraints(&domain, &format!("[n] -> {{ {} }}", pairs.join("; ")));
    let budget = budget();
    let tree = problem.schedule(&Options::default(), None, &budget).expect("a schedule").tree;
    assert!(budget.used() < 1_000_000, "{} steps", budget.used());
    let outer = bands(&tree)[0];
    assert!(outer.members[0].schedule.relations().count() == 30, "{tree}");
}

/// As many statements as make the fractions on the way to a schedule larger than any integer here.
#[test]
fn long_cycles_are_scheduled() {
    let count = 100;
    let sets = (0..count).map(|at| format!("S{at}[i, j] : 0 <= i, j < n"));
    let next = (1..count).map(|at| format!("S{}[i, j] -> S{at}[i, j]", at - 1));
    let last = format!("S{}[i, j] -> S0[i + 1, j]", count - 1);
    let pairs: Vec<String> = next.chain([last]).collect();
    let domain = format!("[n] -> {{ {} }}", sets.collect::<Vec<_>>().join("; "));
    let problem = constraints(&domain, &format!("{{ {} }}", pairs.join("; ")));
    let tree = schedule(&problem, &Options::default());
    let [band] = bands(&tree)[..] else { panic!("{tree}") };
    assert_eq!((band.members.len(), band.permutable), (2, true));
}
