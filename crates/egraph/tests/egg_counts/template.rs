//! Sizes that egg's rules give with egg itself, after so many iterations.
//!
//! The conformance test puts the folder of egg's programs in place of `EGG_TESTS`.
#![allow(warnings)]

use egg::{Analysis, FromOp, Language, Rewrite, Runner, SimpleScheduler};

mod math {
    include!("EGG_TESTS/math.rs");
}

mod lambda {
    include!("EGG_TESTS/lambda.rs");

    #[test]
    fn sizes() {
        let exprs = [
            "(let zeroone (lam x (if (= (var x) 0) 0 1))
                (+ (app (var zeroone) 0) (app (var zeroone) 10)))",
            "(let compose (lam f (lam g (lam x (app (var f) (app (var g) (var x))))))
             (let repeat (fix repeat (lam fun (lam n (if (= (var n) 0) (lam i (var i))
                (app (app (var compose) (var fun)) (app (app (var repeat) (var fun)) (+ (var n) -1)))))))
             (let add1 (lam y (+ (var y) 1)) (app (app (var repeat) (var add1)) 2))))",
            "(let fib (fix fib (lam n (if (= (var n) 0) 0 (if (= (var n) 1) 1
                (+ (app (var fib) (+ (var n) -1)) (app (var fib) (+ (var n) -2)))))))
             (app (var fib) 4))",
        ];
        let run = |count, simple| super::size::<Lambda, LambdaAnalysis>(&exprs, &rules(), count, simple);
        assert_eq!(run(8, true), (615, 206));
        assert_eq!(run(10, true), (2924, 702));
        assert_eq!(run(30, false), (7439, 2645));
    }
}

fn size<L, N>(exprs: &[&str], rules: &[Rewrite<L, N>], count: usize, simple: bool) -> (usize, usize)
where
    L: Language + FromOp,
    N: Analysis<L> + Default,
{
    let mut runner = Runner::<L, N>::default()
        .with_iter_limit(count)
        .with_node_limit(usize::MAX)
        .with_time_limit(std::time::Duration::from_secs(600));
    if simple {
        runner = runner.with_scheduler(SimpleScheduler);
    }
    for expr in exprs {
        runner = runner.with_expr(&expr.parse().unwrap());
    }
    let egraph = runner.run(rules).egraph;
    (egraph.total_number_of_nodes(), egraph.number_of_classes())
}

#[test]
fn math_sizes() {
    let exprs = [
        "(i (ln x) x)",
        "(i (+ x (cos x)) x)",
        "(i (* (cos x) x) x)",
        "(d x (+ 1 (* 2 x)))",
        "(d x (- (pow x 3) (* 7 (pow x 2))))",
        "(+ (* y (+ x y)) (- (+ x 2) (+ x x)))",
        "(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))",
    ];
    let run = |count, simple| size::<math::Math, math::ConstantFold>(&exprs, &math::rules(), count, simple);
    assert_eq!(run(5, true), (3643, 1176));
    assert_eq!(run(6, true), (10397, 3939));
    assert_eq!(run(7, true), (52432, 20449));
    assert_eq!(run(12, false), (14846, 7576));
}
