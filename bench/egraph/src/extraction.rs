//! Extraction with shared costs: ours beside extraction-gym's faster-greedy-dag and the optimum.
//!
//! The e-graphs are those of egg's tests, grown by egg and brought over as JSON, and others that
//! are made for sharing: products that can be expanded and factored in many ways.

use crate::faster_greedy_dag::faster_greedy_dag;
use crate::{MATH_EXPRS, MATH_RULES, median, peer};
use egg::{Language, Runner, SimpleScheduler};
use std::time::{Duration, Instant};
use tangram_egraph::choices::{Choices, Selection};
use tangram_egraph::{SerializedEGraph, SerializedNode};

/// How long a proof that nothing is better may take.
const EXACT_TIME: Duration = Duration::from_secs(20);
/// How often each way is timed.
const TIMES: usize = 3;

/// Prints the table; fails if ours is ever worse.
pub fn compare() {
    println!(
        "\n{:<22} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>8}   {:>9} {:>9} {:>9}",
        "extraction", "nodes", "classes", "trees", "fgd", "ours", "bound", "gap %", "fgd ms", "ours ms", "exact ms"
    );
    let mut worse = Vec::new();
    for (name, egraph) in egraphs() {
        let (choices, roots) = egraph.choices();
        let cost = |selection: &Selection| choices.dag_cost(selection, &roots).unwrap_or(f64::INFINITY);
        let trees = cost(&choices.cheapest_trees());
        let (their_ms, theirs) = timed(|| cost(&faster_greedy_dag(&choices)));
        let (our_ms, ours) = timed(|| local(&choices, &roots));
        let start = Instant::now();
        let exact = choices.best(&roots, EXACT_TIME).expect("every root has a finite term");
        let exact_ms = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "{name:<22} {:>8} {:>8} {trees:>10.1} {theirs:>10.1} {ours:>10.1} {:>10.1} {:>8.2}   \
             {their_ms:>9.2} {our_ms:>9.2} {exact_ms:>9.1} {}",
            choices.nodes.len(),
            choices.classes.len(),
            exact.bound,
            100.0 * (ours - exact.bound).max(0.0) / ours,
            if exact.optimal { format!("optimum {:.1}", exact.cost) } else { format!("best {:.1}", exact.cost) },
        );
        if ours > theirs * (1.0 + 1e-9) {
            worse.push(name);
        }
    }
    assert!(worse.is_empty(), "faster-greedy-dag is cheaper on {worse:?}");
}

fn local(choices: &Choices, roots: &[usize]) -> f64 {
    let found = choices.best(roots, Duration::ZERO).expect("every root has a finite term");
    found.cost
}

fn timed<T>(run: impl Fn() -> T) -> (f64, T) {
    let mut times = Vec::new();
    loop {
        let start = Instant::now();
        let result = run();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if times.len() == TIMES {
            return (median(&mut times), result);
        }
    }
}

/// Products and sums that share factors.
const SHARED: [(&str, &str); 3] = [
    ("factors", "(+ (* a (+ b c)) (+ (* d (+ b c)) (+ (* a e) (* d e))))"),
    ("powers", "(* (* (+ x y) (+ x y)) (* (+ x y) (+ y x)))"),
    ("horner", "(+ a (+ (* b x) (+ (* c (* x x)) (* d (* x (* x x))))))"),
];

fn egraphs() -> Vec<(String, SerializedEGraph)> {
    let mut egraphs = Vec::new();
    let mut add = |name: String, exprs: &[&str], iterations: usize| {
        let (unit, weighted) = grow(exprs, iterations);
        egraphs.push((name.clone(), unit));
        egraphs.push((name + " weighted", weighted));
    };
    for iterations in [4, 6, 7, 8, 9] {
        add(format!("math {iterations}"), &MATH_EXPRS, iterations);
    }
    for (name, term) in SHARED {
        for iterations in [3, 5] {
            add(format!("{name} {iterations}"), &[term], iterations);
        }
    }
    for (name, text, iterations) in [("fib", crate::FIB, 20), ("repeat", crate::REPEAT, 12)] {
        let egraph = peer::lambda_egraph(text, iterations);
        let roots = [egraph.find(egg::Id::from(0))];
        let root = egraph.lookup_expr(&text.parse().unwrap()).unwrap_or(roots[0]);
        egraphs.push((format!("lambda {name}"), read(&egraph, &[root], |_| 1.0)));
    }
    egraphs
}

/// Grows an e-graph with egg, and reads it with equal costs and with costs by operator.
fn grow(exprs: &[&str], iterations: usize) -> (SerializedEGraph, SerializedEGraph) {
    let rules: Vec<egg::Rewrite<egg::SymbolLang, ()>> = MATH_RULES
        .iter()
        .map(|&(name, left, right)| {
            let pattern = |text: &str| text.parse::<egg::Pattern<_>>().unwrap();
            egg::Rewrite::new(name, pattern(left), pattern(right)).unwrap()
        })
        .collect();
    let mut runner = Runner::default()
        .with_scheduler(SimpleScheduler)
        .with_iter_limit(iterations)
        .with_node_limit(usize::MAX);
    for text in exprs {
        runner = runner.with_expr(&text.parse().unwrap());
    }
    let runner = runner.run(&rules);
    let weigh = |node: &egg::SymbolLang| match node.op.as_str() {
        "d" | "i" => 40.0,
        "pow" | "sin" | "cos" | "ln" | "sqrt" | "/" => 12.0,
        "*" => 4.0,
        _ => 1.0,
    };
    (read(&runner.egraph, &runner.roots, |_| 1.0), read(&runner.egraph, &runner.roots, weigh))
}

/// Serialises an e-graph of egg's and reads the text.
fn read<L, N>(egraph: &egg::EGraph<L, N>, roots: &[egg::Id], cost: impl Fn(&L) -> f64) -> SerializedEGraph
where
    L: Language + std::fmt::Display,
    N: egg::Analysis<L>,
{
    let mut serialized = SerializedEGraph::default();
    for class in egraph.classes() {
        for (at, node) in class.nodes.iter().enumerate() {
            let first = |id: &egg::Id| format!("{}.0", egraph.find(*id));
            let entry = SerializedNode {
                op: node.to_string(),
                children: node.children().iter().map(first).collect(),
                eclass: class.id.to_string(),
                cost: cost(node),
                subsumed: false,
            };
            serialized.nodes.insert(format!("{}.{at}", class.id), entry);
        }
    }
    // egg's order of classes differs from run to run.
    serialized.nodes.sort_keys();
    serialized.root_eclasses = roots.iter().map(|&root| egraph.find(root).to_string()).collect();
    let text = serialized.to_json().expect("costs are finite");
    SerializedEGraph::from_json(&text).expect("the text is what it says")
}
