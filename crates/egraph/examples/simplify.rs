//! Simplifies a sum by rules, and says why the result equals it.
//!
//! `cargo run -p tangram-egraph --example simplify`

use tangram_egraph::{
    AstSize, Extractor, Pattern, RecExpr, Runner, Searcher, SymbolLang, parse_rules,
};

const RULES: &str = "
commute-add:  (+ ?a ?b) => (+ ?b ?a)
associate:    (+ ?a (+ ?b ?c)) <=> (+ (+ ?a ?b) ?c)
zero:         (+ ?a 0) => ?a
commute-mul:  (* ?a ?b) => (* ?b ?a)
factor:       (+ (* ?a ?b) (* ?a ?c)) => (* ?a (+ ?b ?c))
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start: RecExpr<SymbolLang> = "(+ (* x y) (+ 0 (* z x)))".parse()?;
    let mut runner = Runner::<SymbolLang, ()>::default()
        .with_explanations_enabled()
        .with_expr(&start)
        .run(&parse_rules(RULES)?);
    let (cost, best) = Extractor::new(&runner.egraph, AstSize).find_best(runner.roots[0]);
    println!("{best} of {cost} operators, because");
    for step in runner.explain_equivalence(&start, &best).get_flat_strings() {
        println!("  {step}");
    }

    runner.egraph.rebuild();
    let pattern: Pattern<SymbolLang> = "(* ?a (+ ?b ?c))".parse()?;
    for found in pattern.search(&runner.egraph) {
        println!("{pattern} is found in class {}: {:?}", found.eclass, found.substs);
    }
    Ok(())
}
