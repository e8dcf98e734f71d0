//! The reducer on a run with one wrong pattern among right ones.

mod common;

use common::{context, parse, rule};
use tangram_ir::{Context, Module, OpState, Order, walk};
use tangram_rewrite::{FnPattern, FrozenPatternSet, GreedyConfig, PatternSet, reduce};

fn rename(context: &Context, from: &str, to: &'static str) -> FnPattern {
    rule(context, &format!("{from}-to-{to}"), from, move |rewriter, op| {
        let module = rewriter.module();
        let state = OpState::new(module.context().name(to), module.loc(op));
        rewriter.replace_with(op, state).expect("no results");
        Ok(())
    })
}

#[test]
fn the_needed_patterns_and_the_first_bad_rewrite_are_found() {
    let context = context();
    let source = "\"x.good\"() : () -> ()\n".repeat(20) + "\"x.a\"() : () -> ()";
    let module = parse(&context, &source);
    let make = |disabled: &[String]| -> FrozenPatternSet {
        let mut set = PatternSet::new();
        for (from, to) in [("x.good", "x.fine"), ("x.a", "x.b"), ("x.b", "x.bad")] {
            set.add(rename(&context, from, to));
        }
        set.freeze_filtered(disabled, &[])
    };
    let has = |module: &Module, name: &str| {
        walk(module, module.root(), Order::Pre).iter().any(|&op| module.name_text(op) == name)
    };
    let config = GreedyConfig::default();
    let found = reduce(&module, module.root(), &make, &config, &mut |module| has(module, "x.bad"))
        .expect("a bad program");
    assert_eq!(found.patterns, ["x.a-to-x.b", "x.b-to-x.bad"]);
    assert_eq!(found.rewrites, 2);
    assert!(found.before.contains("x.b\"") && !found.before.contains("x.bad"));
    assert_eq!(reduce(&module, module.root(), &make, &config, &mut |_| false), None);
}
