//! Sizes of e-graphs that are known from elsewhere, iteration by iteration.
//!
//! The sequence of the `math` rules is the one that egg, egglog and Oatlog's thesis report; the
//! sizes for associativity and commutativity have a closed form.

use tangram_egraph::{
    BackoffScheduler, Rewrite, Runner, SimpleScheduler, SymbolLang, rewrite as rw,
};

type Rules = Vec<Rewrite<SymbolLang, ()>>;

/// The rules of egglog's math microbenchmark.
fn math() -> Rules {
    vec![
        rw!("comm-add"; "(+ ?a ?b)" => "(+ ?b ?a)"),
        rw!("comm-mul"; "(* ?a ?b)" => "(* ?b ?a)"),
        rw!("assoc-add"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
        rw!("assoc-mul"; "(* ?a (* ?b ?c))" => "(* (* ?a ?b) ?c)"),
        rw!("sub-canon"; "(- ?a ?b)" => "(+ ?a (* -1 ?b))"),
        rw!("zero-add"; "(+ ?a 0)" => "?a"),
        rw!("zero-mul"; "(* ?a 0)" => "0"),
        rw!("one-mul"; "(* ?a 1)" => "?a"),
        rw!("cancel-sub"; "(- ?a ?a)" => "0"),
        rw!("distribute"; "(* ?a (+ ?b ?c))" => "(+ (* ?a ?b) (* ?a ?c))"),
        rw!("factor"; "(+ (* ?a ?b) (* ?a ?c))" => "(* ?a (+ ?b ?c))"),
        rw!("pow-mul"; "(* (pow ?a ?b) (pow ?a ?c))" => "(pow ?a (+ ?b ?c))"),
        rw!("pow1"; "(pow ?x 1)" => "?x"),
        rw!("pow2"; "(pow ?x 2)" => "(* ?x ?x)"),
        rw!("d-add"; "(d ?x (+ ?a ?b))" => "(+ (d ?x ?a) (d ?x ?b))"),
        rw!("d-mul"; "(d ?x (* ?a ?b))" => "(+ (* ?a (d ?x ?b)) (* ?b (d ?x ?a)))"),
        rw!("d-sin"; "(d ?x (sin ?x))" => "(cos ?x)"),
        rw!("d-cos"; "(d ?x (cos ?x))" => "(* -1 (sin ?x))"),
        rw!("i-one"; "(i 1 ?x)" => "?x"),
        rw!("i-cos"; "(i (cos ?x) ?x)" => "(sin ?x)"),
        rw!("i-sin"; "(i (sin ?x) ?x)" => "(* -1 (cos ?x))"),
        rw!("i-sum"; "(i (+ ?f ?g) ?x)" => "(+ (i ?f ?x) (i ?g ?x))"),
        rw!("i-dif"; "(i (- ?f ?g) ?x)" => "(- (i ?f ?x) (i ?g ?x))"),
        rw!("i-parts"; "(i (* ?a ?b) ?x)" =>
            "(- (* ?a (i ?b ?x)) (i (* (d ?x ?a) (i ?b ?x)) ?x))"),
    ]
}

const MATH: [&str; 7] = [
    "(i (ln x) x)",
    "(i (+ x (cos x)) x)",
    "(i (* (cos x) x) x)",
    "(d x (+ 1 (* 2 x)))",
    "(d x (- (pow x 3) (* 7 (pow x 2))))",
    "(+ (* y (+ x y)) (- (+ x 2) (+ x x)))",
    "(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))",
];

fn runner(iterations: usize, exprs: &[&str]) -> Runner<SymbolLang, ()> {
    let runner = Runner::default()
        .with_iter_limit(iterations)
        .with_node_limit(usize::MAX)
        .with_time_limit(std::time::Duration::from_secs(600));
    let parse = |text: &&str| text.parse().unwrap();
    exprs.iter().map(parse).fold(runner, |runner, expr| runner.with_expr(&expr))
}

fn size(runner: &Runner<SymbolLang, ()>) -> (usize, usize) {
    (runner.egraph.total_number_of_nodes(), runner.egraph.number_of_classes())
}

#[test]
fn math_grows_as_everywhere() {
    let known = [35, 69, 118, 208, 389, 784, 1576, 3160, 8113, 28303];
    let mut explained = runner(0, &[]).with_explanations_enabled().with_scheduler(SimpleScheduler);
    explained = explained.with_iter_limit(9);
    for text in MATH {
        explained = explained.with_expr(&text.parse().unwrap());
    }
    for (iterations, nodes) in known.into_iter().enumerate() {
        let run = runner(iterations, &MATH).with_scheduler(SimpleScheduler).run(&math());
        assert_eq!(size(&run).0, nodes, "after {iterations} iterations");
    }
    assert_eq!(size(&explained.run(&math())), (28303, 12445));
    let run = runner(8, &MATH).with_scheduler(SimpleScheduler).run(&math());
    assert_eq!(size(&run), (8113, 3576));
}

#[test]
fn associativity_has_the_closed_form() {
    let rules: Rules = vec![
        rw!("comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
        rw!("assoc"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
    ];
    for n in 2..=9usize {
        let leaf = |at: usize| format!("x{at}");
        let sum = (1..n).fold(leaf(0), |sum, at| format!("(+ {} {sum})", leaf(at)));
        let run = runner(50, &[&sum]).with_scheduler(SimpleScheduler).run(&rules);
        let classes = (1 << n) - 1;
        let nodes = n + 3usize.pow(n as u32) + 1 - (1 << (n + 1));
        assert_eq!(size(&run), (nodes, classes), "{n} terms");
    }
}

#[test]
fn rule_order_does_not_matter() {
    let mut rules = math();
    let mut sizes = Vec::new();
    for turn in [0, 7, 11] {
        rules.rotate_left(turn);
        let simple = runner(8, &MATH).with_scheduler(SimpleScheduler).run(&rules);
        let backoff = runner(12, &MATH).with_scheduler(BackoffScheduler::default()).run(&rules);
        sizes.push((size(&simple), size(&backoff)));
    }
    assert_eq!(sizes[0], sizes[1]);
    assert_eq!(sizes[0], sizes[2]);
}
