//! Folds constants with an analysis, and refuses to divide by what may be zero.
//!
//! `cargo run -p tangram-egraph --example analysis`

use tangram_egraph::{
    Analysis, AstSize, DidMerge, EGraph, Extractor, Id, Rewrite, Runner, Subst, Symbol,
    define_language, merge_option, rewrite,
};

define_language! {
    enum Math {
        Num(i64),
        "+" = Add([Id; 2]),
        "*" = Mul([Id; 2]),
        "/" = Div([Id; 2]),
        Name(Symbol),
    }
}

/// The value of each class, if it is known.
#[derive(Default)]
struct Fold;

impl Analysis<Math> for Fold {
    type Data = Option<i64>;

    fn make(egraph: &mut EGraph<Math, Self>, node: &Math, _: Id) -> Option<i64> {
        let value = |id: &Id| *egraph.data(*id);
        match node {
            Math::Num(number) => Some(*number),
            Math::Add([a, b]) => value(a)?.checked_add(value(b)?),
            Math::Mul([a, b]) => value(a)?.checked_mul(value(b)?),
            Math::Div(_) | Math::Name(_) => None,
        }
    }

    fn merge(&mut self, to: &mut Option<i64>, from: Option<i64>) -> DidMerge {
        merge_option(to, from, |_, _| DidMerge(false, false))
    }

    fn modify(egraph: &mut EGraph<Math, Self>, id: Id) {
        if let Some(value) = *egraph.data(id) {
            let number = egraph.add(Math::Num(value));
            egraph.union(id, number);
        }
    }
}

fn is_not_zero(var: &str) -> impl Fn(&mut EGraph<Math, Fold>, Id, &Subst) -> bool + use<> {
    let var = var.parse().expect("the name of a variable");
    move |egraph, _, subst| egraph.data(subst[var]).is_some_and(|value| value != 0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rules: [Rewrite<Math, Fold>; 4] = [
        rewrite!("one"; "(* ?a 1)" => "?a"),
        rewrite!("commute"; "(* ?a ?b)" => "(* ?b ?a)"),
        rewrite!("into"; "(/ (* ?a ?b) ?c)" => "(* ?a (/ ?b ?c))"),
        rewrite!("cancel"; "(/ ?a ?a)" => "1" if is_not_zero("?a")),
    ];
    for text in ["(/ (* x (+ 1 2)) 3)", "(/ (* x y) y)"] {
        let runner = Runner::<Math, Fold>::default().with_expr(&text.parse()?).run(&rules);
        let best = Extractor::new(&runner.egraph, AstSize).find_best(runner.roots[0]).1;
        println!("{text} is {best}");
    }
    Ok(())
}
