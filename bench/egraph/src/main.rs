//! Side by side with egg, and with egglog where it can say the same: the same rules, expressions
//! and limits, the same sizes asserted.
//!
//! `cargo run --release [-- FILTER [PAIRS]]` runs each workload in interleaved pairs and prints the
//! median of the ratios of processor time; then the peak memory of the large workloads, the
//! instructions of the small ones, and what extraction reaches. The first column of a section says
//! what it is about: `FILTER` selects rows by their names, `egglog`, `memory`,
//! `explanations`, `instructions` and `extraction` whole sections.
//!
//! `only ENGINE WORKLOAD [SIZE]` runs one workload once, for measuring from outside;
//! `scan WORKLOAD FROM TO` compares sizes only.

mod clients;
mod extraction;
#[path = "../../../crates/egraph/tests/support/faster_greedy_dag.rs"]
mod faster_greedy_dag;
mod kinds;
mod outside;
mod relational;
mod workloads;

workloads!(ours, tangram_egraph);
workloads!(peer, egg);
clients!(our_clients, tangram_egraph);
clients!(peer_clients, egg);
kinds!(our_kinds, tangram_egraph);
kinds!(peer_kinds, egg);

/// One run of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Seconds of processor time.
    seconds: f64,
    phases: (f64, f64, f64),
    nodes: usize,
    classes: usize,
    iterations: usize,
}

pub const MATH_RULES: [(&str, &str, &str); 24] = [
    ("comm-add", "(+ ?a ?b)", "(+ ?b ?a)"),
    ("comm-mul", "(* ?a ?b)", "(* ?b ?a)"),
    ("assoc-add", "(+ ?a (+ ?b ?c))", "(+ (+ ?a ?b) ?c)"),
    ("assoc-mul", "(* ?a (* ?b ?c))", "(* (* ?a ?b) ?c)"),
    ("sub-canon", "(- ?a ?b)", "(+ ?a (* -1 ?b))"),
    ("zero-add", "(+ ?a 0)", "?a"),
    ("zero-mul", "(* ?a 0)", "0"),
    ("one-mul", "(* ?a 1)", "?a"),
    ("cancel-sub", "(- ?a ?a)", "0"),
    ("distribute", "(* ?a (+ ?b ?c))", "(+ (* ?a ?b) (* ?a ?c))"),
    ("factor", "(+ (* ?a ?b) (* ?a ?c))", "(* ?a (+ ?b ?c))"),
    ("pow-mul", "(* (pow ?a ?b) (pow ?a ?c))", "(pow ?a (+ ?b ?c))"),
    ("pow1", "(pow ?x 1)", "?x"),
    ("pow2", "(pow ?x 2)", "(* ?x ?x)"),
    ("d-add", "(d ?x (+ ?a ?b))", "(+ (d ?x ?a) (d ?x ?b))"),
    ("d-mul", "(d ?x (* ?a ?b))", "(+ (* ?a (d ?x ?b)) (* ?b (d ?x ?a)))"),
    ("d-sin", "(d ?x (sin ?x))", "(cos ?x)"),
    ("d-cos", "(d ?x (cos ?x))", "(* -1 (sin ?x))"),
    ("i-one", "(i 1 ?x)", "?x"),
    ("i-cos", "(i (cos ?x) ?x)", "(sin ?x)"),
    ("i-sin", "(i (sin ?x) ?x)", "(* -1 (cos ?x))"),
    ("i-sum", "(i (+ ?f ?g) ?x)", "(+ (i ?f ?x) (i ?g ?x))"),
    ("i-dif", "(i (- ?f ?g) ?x)", "(- (i ?f ?x) (i ?g ?x))"),
    ("i-parts", "(i (* ?a ?b) ?x)", "(- (* ?a (i ?b ?x)) (i (* (d ?x ?a) (i ?b ?x)) ?x))"),
];

pub const MATH_EXPRS: [&str; 7] = [
    "(i (ln x) x)",
    "(i (+ x (cos x)) x)",
    "(i (* (cos x) x) x)",
    "(d x (+ 1 (* 2 x)))",
    "(d x (- (pow x 3) (* 7 (pow x 2))))",
    "(+ (* y (+ x y)) (- (+ x 2) (+ x x)))",
    "(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))",
];

pub const FIB: &str = "(let fib (fix fib (lam n (if (= (var n) 0) 0 (if (= (var n) 1) 1
    (+ (app (var fib) (+ (var n) -1)) (app (var fib) (+ (var n) -2))))))) (app (var fib) 4))";

pub const REPEAT: &str = "(let compose (lam f (lam g (lam x (app (var f) (app (var g) (var x))))))
    (let repeat (fix repeat (lam fun (lam n (if (= (var n) 0) (lam i (var i))
        (app (app (var compose) (var fun)) (app (app (var repeat) (var fun)) (+ (var n) -1)))))))
    (let add1 (lam y (+ (var y) 1)) (app (app (var repeat) (var add1)) 2))))";

/// Small terms of egg's tests.
pub const SMALL: [(&str, &str); 8] = [
    ("diff-power-harder", "(d x (- (pow x 3) (* 7 (pow x 2))))"),
    ("simplify-root", "(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))"),
    ("simplify-factor", "(* (+ x 3) (+ x 1))"),
    ("simplify-add", "(+ x (+ x (+ x x)))"),
    ("diff-simple", "(d x (+ 1 (* y x)))"),
    ("integ-one", "(i 1 x)"),
    ("integ-part1", "(i (* x (cos x)) x)"),
    ("integ-part3", "(i (ln x) x)"),
];

type Workload = (&'static str, fn(usize) -> Run, fn(usize) -> Run, usize, usize);

/// What programs that depend on egg do: with analyses first, then without.
const CLIENTS: [Workload; 27] = {
    use {our_clients as ours, peer_clients as peer};
    [
        ("analysis fold-7", ours::fold, peer::fold, 7, 7),
        ("analysis fold-30-backoff", ours::fold_backoff, peer::fold_backoff, 30, 5),
        ("analysis sizes-math-9", ours::sizes_math, peer::sizes_math, 9, 5),
        ("analysis sizes-math-10", ours::sizes_math, peer::sizes_math, 10, 3),
        ("analysis sizes-sums-9", ours::sizes_sums, peer::sizes_sums, 9, 5),
        ("analysis shapes-7", ours::shapes, peer::shapes, 7, 5),
        ("analysis fib-30", self::ours::fib, self::peer::fib, 30, 5),
        ("analysis fib-57", self::ours::fib, self::peer::fib, 57, 3),
        ("analysis repeat-59", self::ours::repeat, self::peer::repeat, 59, 3),
        ("analysis small", ours::small_fold, peer::small_fold, 700, 5),
        ("analysis tiny-5", ours::tiny_5_fold, peer::tiny_5_fold, 20_000, 5),
        ("analysis tiny-24", ours::tiny_24_fold, peer::tiny_24_fold, 20_000, 5),
        ("analysis own-fold-7", ours::own_fold, peer::own_fold, 7, 5),
        ("tiny-5", ours::tiny_5, peer::tiny_5, 100_000, 3),
        ("tiny-24", ours::tiny_24, peer::tiny_24, 100_000, 3),
        ("own-math-10", ours::own_math, peer::own_math, 10, 5),
        ("own-sums-9", ours::own_sums, peer::own_sums, 9, 5),
        ("unions-forward", ours::unions_forward, peer::unions_forward, 400_000, 5),
        ("unions-back", ours::unions_back, peer::unions_back, 400_000, 5),
        ("unions-shuffled", ours::unions_shuffled, peer::unions_shuffled, 400_000, 5),
        ("unions-halves", ours::unions_halves, peer::unions_halves, 400_000, 5),
        ("unions-back-above", ours::unions_back_above, peer::unions_back_above, 100_000, 5),
        ("unions-shuffled-above", ours::unions_shuffled_above, peer::unions_shuffled_above, 100_000, 5),
        ("unions-back-sizes", ours::unions_back_sizes, peer::unions_back_sizes, 100_000, 5),
        ("unions-shuffled-sizes", ours::unions_shuffled_sizes, peer::unions_shuffled_sizes, 200_000, 5),
        ("prove-deep", ours::prove_deep, peer::prove_deep, 300, 3),
        ("prove-sum", ours::prove_sum, peer::prove_sum, 300, 3),
    ]
};

/// Programs of other kinds than those that the engine was made faster with.
const KINDS: [Workload; 4] = {
    use {our_kinds as ours, peer_kinds as peer};
    [
        ("analysis intervals-7", ours::intervals, peer::intervals, 7, 5),
        ("analysis strings-8", ours::strings, peer::strings, 8, 5),
        ("analysis bits-5", ours::bits, peer::bits, 5, 5),
        ("analysis own-intervals-10", ours::own_intervals, peer::own_intervals, 10, 5),
    ]
};

/// Name, both engines, size, and how many pairs to run.
const WORKLOADS: [Workload; 17] = [
    ("small", ours::small, peer::small, 0, 21),
    ("math-6", ours::math, peer::math, 6, 21),
    ("math-8", ours::math, peer::math, 8, 21),
    ("math-9", ours::math, peer::math, 9, 11),
    ("math-10", ours::math, peer::math, 10, 7),
    ("math-11", ours::math, peer::math, 11, 3),
    ("math-symbols-10", ours::math_symbols, peer::math_symbols, 10, 5),
    ("math-dynamic-10", ours::math_dynamic, peer::math_dynamic, 10, 5),
    ("math-dynamic-11", ours::math_dynamic, peer::math_dynamic, 11, 3),
    ("math-explained-9", ours::math_explained, peer::math_explained, 9, 5),
    ("sums-7", ours::sums, peer::sums, 7, 21),
    ("sums-10", ours::sums, peer::sums, 10, 7),
    ("sums-11", ours::sums, peer::sums, 11, 3),
    ("sums-explained-9", ours::sums_explained, peer::sums_explained, 9, 3),
    ("fib-30", ours::fib, peer::fib, 30, 7),
    ("fib-57", ours::fib, peer::fib, 57, 5),
    ("repeat-59", ours::repeat, peer::repeat, 59, 5),
];

/// How much stack egg gets, whose proofs recurse with the depth of terms.
const STACK: usize = 4 << 30;

fn main() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(measure);
    run.expect("a thread can be made").join().expect("every workload runs");
}

fn measure() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [only, engine, name, rest @ ..] = args.as_slice()
        && only == "only"
    {
        let given = rest.first().and_then(|size| size.parse().ok());
        let all = CLIENTS.iter().chain(&KINDS).chain(&WORKLOADS);
        for (_, ours, peer, size, _) in all.filter(|workload| workload.0 == name) {
            let size = given.unwrap_or(*size);
            let run = if engine == "egg" { peer(size) } else { ours(size) };
            println!("{run:?}");
            if let Some(peak) = outside::peak_memory() {
                println!("peak KiB: {peak}");
            }
        }
        return;
    }
    if let [scan, name, from, to] = args.as_slice()
        && scan == "scan"
    {
        let (from, to) = (from.parse().unwrap_or(0), to.parse().unwrap_or(0));
        let all = KINDS.iter().chain(&WORKLOADS);
        for (_, ours, peer, ..) in all.filter(|workload| workload.0 == name) {
            scan_sizes(*ours, *peer, from, to);
        }
        return;
    }
    let filter = args.first().map_or("", String::as_str);
    let pairs = args.get(1).and_then(|text| text.parse().ok());
    println!("{:<26} {:>9} {:>9} {:>10} {:>10} {:>7}", "time", "nodes", "classes", "ours ms", "egg ms", "ratio");
    let (mut logarithms, mut slowest) = (Vec::new(), f64::INFINITY);
    for (name, ours, peer, size, count) in CLIENTS.into_iter().chain(KINDS).chain(WORKLOADS) {
        if name.contains(filter) {
            let ratio = compare(name, || ours(size), || peer(size), pairs.unwrap_or(count));
            slowest = slowest.min(ratio);
            if name.starts_with("analysis") {
                logarithms.push(ratio.ln());
            }
        }
    }
    if !logarithms.is_empty() {
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        println!("with an analysis {mean:.2} times in the geometric mean; at least {slowest:.2} times anywhere");
    }
    if "egglog".contains(filter) {
        compare_relational();
    }
    if "memory".contains(filter) {
        outside::memory();
    }
    if "explanations".contains(filter) {
        outside::explanations();
    }
    if "instructions".contains(filter) {
        outside::instructions();
    }
    if "extraction".contains(filter) {
        extraction::compare();
    }
}

/// Prints the sizes after each number of iterations, to find the first that differs.
fn scan_sizes(ours: fn(usize) -> Run, peer: fn(usize) -> Run, from: usize, to: usize) {
    for size in from..=to {
        let (run, other) = (ours(size), peer(size));
        let same = (run.nodes, run.classes) == (other.nodes, other.classes);
        println!("{size:>3} {:?} {:?} {same}", (run.nodes, run.classes), (other.nodes, other.classes));
    }
}

fn compare(name: &str, ours: impl Fn() -> Run, peer: impl Fn() -> Run, pairs: usize) -> f64 {
    let mut ratios = Vec::new();
    let (mut times, mut peer_times) = (Vec::new(), Vec::new());
    let (mut run, mut other) = (ours(), peer());
    for turn in 0..pairs {
        if turn % 2 == 0 {
            (run, other) = (ours(), peer());
        } else {
            other = peer();
            run = ours();
        }
        ratios.push(other.seconds / run.seconds);
        times.push(run.seconds * 1e3);
        peer_times.push(other.seconds * 1e3);
    }
    let same = (run.nodes, run.classes) == (other.nodes, other.classes);
    let (ours, peer) = (median(&mut times), median(&mut peer_times));
    let ratio = median(&mut ratios);
    println!(
        "{name:<26} {:>9} {:>9} {ours:>10.3} {peer:>10.3} {ratio:>7.2}   {}",
        run.nodes,
        run.classes,
        phases(&run, &other),
    );
    assert!(same, "{name}: sizes differ: {run:?} and {other:?}");
    ratio
}

/// A workload, ours and egglog's, its size, and how many pairs to run.
type Relational = (&'static str, fn(usize) -> Run, fn(usize) -> relational::Run, usize, usize);

const RELATIONAL: [Relational; 6] = [
    ("math-8", ours::math, relational::math, 8, 7),
    ("math-9", ours::math, relational::math, 9, 7),
    ("math-10", ours::math, relational::math, 10, 5),
    ("math-11", ours::math, relational::math, 11, 3),
    ("sums-10", ours::sums, relational::sums, 10, 5),
    ("sums-11", ours::sums, relational::sums, 11, 3),
];

/// Compares with egglog, which tells numbers of nodes only.
fn compare_relational() {
    println!("\n{:<18} {:>9} {:>10} {:>10} {:>7}", "egglog", "nodes", "ours ms", "egglog ms", "ratio");
    for (name, ours, peer, size, pairs) in RELATIONAL {
        let (mut times, mut peer_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..pairs {
            let (run, other) = (ours(size), peer(size));
            assert_eq!(run.nodes, other.nodes, "{name}: sizes differ");
            times.push(run.seconds * 1e3);
            peer_times.push(other.seconds * 1e3);
            ratios.push(other.seconds / run.seconds);
        }
        let (nodes, ratio) = (ours(size).nodes, median(&mut ratios));
        let (ours, peer) = (median(&mut times), median(&mut peer_times));
        println!("{name:<18} {nodes:>9} {ours:>10.3} {peer:>10.3} {ratio:>7.2}");
    }
}

fn phases(run: &Run, other: &Run) -> String {
    let show = |run: &Run| {
        let (search, apply, rebuild) = run.phases;
        format!("{:.1}/{:.1}/{:.1}", search * 1e3, apply * 1e3, rebuild * 1e3)
    };
    format!("{} vs {} ({} iterations)", show(run), show(other), run.iterations)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
