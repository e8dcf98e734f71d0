//! The greedy driver: folding, strictness, scope, order, regions, limits and contracts.

mod common;

use common::{context, find, frozen, names, parse, rule, show};
use tangram_ir::{Attr, Context, Module, Op, OpState, Order, Point, walk};
use tangram_rewrite::greedy::{Breach, Simplify, Stop, Strictness, apply, apply_to_ops};
use tangram_rewrite::{
    FnPattern, FrozenPatternSet, GreedyConfig, NoMatch, Report, Rewriter, Silent,
};

fn run(source: &str, config: &GreedyConfig) -> (Module, Report) {
    let context = context();
    let mut module = parse(&context, source);
    let root = module.root();
    let report = apply(&mut module, root, &frozen([]), config);
    (module, report)
}

#[test]
fn constants_are_folded_made_once_and_put_first() {
    let source = r#"
"t.func"() ({
^bb0(%x: i64):
  %1 = "t.const"() {value = 1 : i64} : () -> i64
  %2 = "t.add"(%1, %1) : (i64, i64) -> i64
  %3 = "t.add"(%2, %1) : (i64, i64) -> i64
  %4 = "t.if"() ({
    %c = "t.add"(%1, %2) : (i64, i64) -> i64
    "t.use"(%c) : (i64) -> ()
  }) : () -> i64
  %5 = "t.add"(%3, %x) : (i64, i64) -> i64
  "t.ret"(%5, %3, %4) : (i64, i64, i64) -> ()
}) : () -> ()"#;
    let (module, report) = run(source, &GreedyConfig::default());
    let text = show(&module);
    assert_eq!(text.matches("t.const").count(), 1, "{text}");
    assert_eq!(text.matches("value = 3 : i64").count(), 1);
    assert!(text.contains("\"t.add\"(%arg0, ") || text.contains("\"t.add\"(%"), "{text}");
    assert_eq!(report.stopped_by, None);
    let add = find(&module, "t.add");
    assert!(module.def_op(module.operand(add, 0)).is_none(), "constants stand to the right");
}

/// `t.new` is made of each `t.old`, and each `t.new` and `t.hit` is marked.
fn strict_set(context: &Context) -> FrozenPatternSet {
    let mark = |rewriter: &mut Rewriter<'_>, op: Op| {
        let mark = rewriter.module().context().str("mark");
        if rewriter.module().attr_by(op, mark).is_some() {
            return Err(rewriter.no_match(|| "marked".to_owned()));
        }
        rewriter.set_attr(op, mark, Some(Attr::UNIT));
        Ok(())
    };
    frozen([
        rule(context, "renew", "t.old", |rewriter, op| {
            let name = rewriter.module().context().name("t.new");
            rewriter.create(Point::Before(op), OpState::new(name, tangram_ir::Loc::UNKNOWN));
            rewriter.erase(op);
            Ok(())
        }),
        rule(context, "mark-new", "t.new", mark),
        rule(context, "mark-use", "t.use", mark),
    ])
}

#[test]
fn strictness_keeps_new_or_other_operations_off_the_list() {
    let marked = |strictness: Strictness, names: &[&str]| {
        let context = context();
        let source = "%0 = \"t.old\"() : () -> i64\n\"t.use\"(%0) : (i64) -> ()";
        let source = source.replace("%0 = ", "").replace("-> i64", "-> ()");
        let source = source.replace("\"t.use\"(%0) : (i64)", "\"t.use\"() : ()");
        let mut module = parse(&context, &source);
        let ops: Vec<Op> = names.iter().map(|name| find(&module, name)).collect();
        let config = GreedyConfig { strictness, ..GreedyConfig::default() };
        let set = strict_set(&context);
        apply_to_ops(&mut module, &ops, &set, &config, &mut Silent);
        let all = walk(&module, module.root(), Order::Pre);
        let has = |op: &&Op| module.attr(**op, "mark").is_some();
        all.iter().filter(has).map(|&op| module.name_text(op).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marked(Strictness::AnyOp, &["t.old"]), ["t.new"]);
    assert_eq!(marked(Strictness::ExistingAndNewOps, &["t.old"]), ["t.new"]);
    assert_eq!(marked(Strictness::ExistingOps, &["t.old"]), Vec::<String>::new());
    assert_eq!(marked(Strictness::ExistingOps, &["t.old", "t.use"]), ["t.use"]);
}

#[test]
fn only_any_op_wakes_users_that_were_not_listed() {
    let woken = |strictness: Strictness| {
        let context = context();
        let source = "%0 = \"t.old\"() : () -> i64\n\"t.use\"(%0) : (i64) -> ()";
        let mut module = parse(&context, source);
        let old = find(&module, "t.old");
        let set = frozen([
            rule(&context, "touch", "t.old", |rewriter, op| {
                let mark = rewriter.module().context().str("mark");
                if rewriter.module().attr_by(op, mark).is_some() {
                    return Err(rewriter.no_match(|| "marked".to_owned()));
                }
                rewriter.set_attr(op, mark, Some(Attr::UNIT));
                Ok(())
            }),
            rule(&context, "use", "t.use", |rewriter, op| {
                rewriter.erase(op);
                Ok(())
            }),
        ]);
        let config = GreedyConfig { strictness, ..GreedyConfig::default() };
        apply_to_ops(&mut module, &[old], &set, &config, &mut Silent);
        names(&module).len() == 1
    };
    assert!(woken(Strictness::AnyOp));
    assert!(!woken(Strictness::ExistingAndNewOps));
    assert!(!woken(Strictness::ExistingOps));
}

#[test]
fn what_is_outside_of_the_scope_stays() {
    let context = context();
    let source = r#"
"t.old"() : () -> ()
"t.if"() ({ "t.old"() : () -> () }) : () -> ()"#;
    let mut module = parse(&context, source);
    let scope = Some(find(&module, "t.if"));
    let root = module.root();
    let config = GreedyConfig { scope, ..GreedyConfig::default() };
    apply(&mut module, root, &strict_set(&context), &config);
    assert_eq!(names(&module), ["t.old", "t.if"]);
    assert_eq!(show(&module).matches("t.new").count(), 1);
}

#[test]
fn a_shuffled_list_gives_the_same_normal_form_and_one_result_for_one_number() {
    let source: String = std::iter::once("%0 = \"t.src\"() : () -> i64\n".to_owned())
        .chain((1..40).map(|i| format!("%{i} = \"t.const\"() {{value = {i} : i64}} : () -> i64\n")))
        .chain((1..40).map(|i| {
            let (a, b) = (100 + i - 1, i);
            let a = if i == 1 { 1 } else { a };
            format!("%{} = \"t.add\"(%{a}, %{b}) : (i64, i64) -> i64\n", 100 + i)
        }))
        .chain(["\"t.use\"(%139) : (i64) -> ()".to_owned()])
        .collect();
    let source = source.as_str();
    let shuffled = |n| {
        let config = GreedyConfig { shuffle: Some(n), ..GreedyConfig::default() };
        show(&run(source, &config).0)
    };
    let plain = show(&run(source, &GreedyConfig::default()).0);
    assert!(plain.contains("value = 781 : i64"), "{plain}");
    for n in 0..8 {
        assert_eq!(shuffled(n), shuffled(n));
        assert_eq!(shuffled(n), plain);
    }
}

const BLOCKS: &str = r#"
"t.func"() ({
^bb0(%f: i1, %x: i64, %z: i64):
  "t.cond_br"(%f, %x, %z, %x)[^bb1, ^bb2] {operandSegmentSizes = array<i32: 1, 2, 1>}
    : (i1, i64, i64, i64) -> ()
^bb1(%a: i64, %unused: i64):
  "t.ret"(%a) : (i64) -> ()
^bb2(%b: i64):
  "t.ret"(%b) : (i64) -> ()
^bb3(%c: i64):
  %d = "t.neg"(%e) : (i64) -> i64
  %e = "t.neg"(%d) : (i64) -> i64
  "t.br"(%e)[^bb4] : (i64) -> ()
^bb4(%g: i64):
  "t.br"(%g)[^bb3] : (i64) -> ()
}) : () -> ()"#;

#[test]
fn regions_are_simplified_in_three_levels() {
    let blocks = |regions: Simplify| {
        let (module, report) = run(BLOCKS, &GreedyConfig { regions, ..GreedyConfig::default() });
        let region = module.region(find(&module, "t.func"), 0);
        let args = module.blocks(region).map(|block| module.args(block).len()).collect::<Vec<_>>();
        (show(&module), args, report.stopped_by)
    };
    assert_eq!(blocks(Simplify::Disabled).1, [3, 2, 1, 1, 1]);
    let (text, args, _) = blocks(Simplify::Normal);
    assert_eq!(args, [3, 1, 1]);
    assert!(text.contains("array<i32: 1, 1, 1>"), "{text}");
    // Both blocks return the same value, so they are one.
    let (text, args, stop) = blocks(Simplify::Aggressive);
    assert_eq!((args, stop), (vec![3, 0], None));
    assert!(text.contains("array<i32: 1, 0, 0>"), "{text}");
}

#[test]
fn blocks_are_equal_once_their_targets_are() {
    let source = r#"
"t.func"() ({
^bb0(%f: i1, %x: i64):
  "t.cond_br"(%f)[^bb1, ^bb5] {operandSegmentSizes = array<i32: 1, 0, 0>} : (i1) -> ()
^bb1:
  "t.br"()[^bb2] : () -> ()
^bb2:
  "t.br"()[^bb3] : () -> ()
^bb3:
  "t.ret"(%x) : (i64) -> ()
^bb4:
  "t.br"()[^bb6] : () -> ()
^bb5:
  "t.br"()[^bb4] : () -> ()
^bb6:
  "t.ret"(%x) : (i64) -> ()
}) : () -> ()"#;
    let config = GreedyConfig { regions: Simplify::Aggressive, ..GreedyConfig::default() };
    let (module, _) = run(source, &config);
    let text = show(&module);
    assert!(text.contains("[^bb1, ^bb1]"), "{text}");
    assert_eq!((text.matches("t.br").count(), text.matches("t.ret").count()), (2, 1), "{text}");
}

#[test]
fn blocks_that_loop_onto_themselves_terminate() {
    let source = r#"
"t.func"() ({
^bb0:
  "t.br"()[^bb1] : () -> ()
^bb1:
  "t.br"()[^bb1] : () -> ()
^bb2:
  %0 = "t.neg"(%0) : (i64) -> i64
  "t.br"()[^bb2] : () -> ()
}) : () -> ()"#;
    for regions in [Simplify::Normal, Simplify::Aggressive] {
        let (module, report) = run(source, &GreedyConfig { regions, ..GreedyConfig::default() });
        assert_eq!(report.stopped_by, None);
        assert_eq!(show(&module).matches("t.br").count(), 2);
    }
}

#[test]
fn the_limit_of_iterations_is_named_where_something_still_matches() {
    let source = "%0 = \"t.const\"() {value = 1 : i64} : () -> i64\n\
                  %1 = \"t.add\"(%0, %0) : (i64, i64) -> i64\n\"t.use\"(%1) : (i64) -> ()";
    let config = GreedyConfig { max_iterations: Some(1), ..GreedyConfig::default() };
    assert_eq!(run(source, &config).1.stopped_by, None);
    // The one pattern looks for something that no rule says it looks for.
    let context = context();
    let set = frozen([
        rule(&context, "old", "t.old", |rewriter, op| {
            rewriter.erase(op);
            Ok(())
        }),
        rule(&context, "last", "t.use", |rewriter, op| {
            let module = rewriter.module();
            if names(module).iter().any(|name| name == "t.old") {
                return Err(NoMatch::SILENT);
            }
            rewriter.erase(op);
            Ok(())
        }),
    ]);
    for (most, stop, left) in [(1, Some(Stop::Iterations(1)), 1), (2, None, 0)] {
        let source = "\"t.use\"() : () -> ()\n\"t.old\"() : () -> ()";
        let mut module = parse(&context, source);
        let root = module.root();
        let config = GreedyConfig { max_iterations: Some(most), ..GreedyConfig::default() };
        assert_eq!(apply(&mut module, root, &set, &config).stopped_by, stop);
        assert_eq!(names(&module).len(), left);
    }
}

/// A nest that holds three operations at most, however deep, is marked.
fn few(context: &Context) -> FnPattern {
    rule(context, "few", "t.if", |rewriter, op| {
        let module = rewriter.module();
        let mark = module.context().str("mark");
        if walk(module, op, Order::Pre).len() > 4 || module.attr_by(op, mark).is_some() {
            return Err(NoMatch::SILENT);
        }
        rewriter.set_attr(op, mark, Some(Attr::UNIT));
        Ok(())
    })
}

#[test]
fn all_operations_around_a_change_are_looked_at_again_up_to_the_scope() {
    let source = r#"
"t.if"() ({ "t.if"() ({ "t.if"() ({
  "t.if"() ({ "t.old"() : () -> () }) : () -> ()
}) : () -> () }) : () -> () }) : () -> ()"#;
    for (scoped, marked) in [(false, 4), (true, 3)] {
        let context = context();
        let mut module = parse(&context, source);
        let old = find(&module, "t.old");
        let scope = scoped.then(|| find(&module, "t.if"));
        let erase = rule(&context, "erase", "t.old", |rewriter, op| {
            rewriter.erase(op);
            Ok(())
        });
        let few = few(&context);
        let config = GreedyConfig { scope, ..GreedyConfig::default() };
        apply_to_ops(&mut module, &[old], &frozen([erase, few]), &config, &mut Silent);
        assert_eq!(show(&module).matches("mark").count(), marked, "{}", show(&module));
    }
}

fn checked(pattern: impl Fn(&Context) -> FnPattern) -> Vec<Breach> {
    let context = context();
    let source = "%0 = \"t.src\"() : () -> i64\n\"t.use\"(%0) : (i64) -> ()";
    let mut module = parse(&context, source);
    let root = module.root();
    let config = GreedyConfig { check: true, max_rewrites: Some(3), ..GreedyConfig::default() };
    apply(&mut module, root, &frozen([pattern(&context)]), &config).breaches
}

#[test]
fn the_checker_names_the_pattern_and_what_it_did() {
    let unheard = checked(|context| {
        rule(context, "sly", "t.use", |rewriter, op| {
            let mark = rewriter.module().context().str("mark");
            if rewriter.module().attr_by(op, mark).is_some() {
                return Err(rewriter.no_match(|| "marked".to_owned()));
            }
            rewriter.module_mut_unheard().set_attr(op, mark, Some(Attr::UNIT));
            Ok(())
        })
    });
    assert_eq!(unheard[0], Breach::UnheardChange("sly".to_owned()));
    let idle = checked(|context| rule(context, "idle", "t.use", |_, _| Ok(())));
    assert_eq!(idle, [Breach::SuccessWithoutChange("idle".to_owned())]);
    let root = checked(|context| {
        rule(context, "elsewhere", "t.use", |rewriter, op| {
            let def = rewriter.module().def_op(rewriter.module().operand(op, 0));
            let mark = rewriter.module().context().str("mark");
            rewriter.set_attr(def.expect("a result"), mark, Some(Attr::UNIT));
            Ok(())
        })
    });
    assert!(root.contains(&Breach::RootUntouched("elsewhere".to_owned())), "{root:?}");
    let invalid = checked(|context| {
        rule(context, "break", "t.use", |rewriter, op| {
            rewriter.move_to(op, Point::Start(rewriter.module().body()));
            let name = rewriter.module().context().name("t.ret");
            let end = OpState::new(name, tangram_ir::Loc::UNKNOWN);
            rewriter.create(Point::Before(op), end);
            Ok(())
        })
    });
    assert!(matches!(&invalid[0], Breach::InvalidIr(name, _) if name == "break"), "{invalid:?}");
}

#[test]
fn constants_with_equal_bytes_under_other_keys_merge_if_asked() {
    let merged = |merge_equal_bytes: u64, second: &[u8]| {
        let context = context();
        let source = r#"
%0 = "t.const"() {value = dense_resource<a> : tensor<300xi8>} : () -> tensor<300xi8>
%1 = "t.const"() {value = dense_resource<b> : tensor<300xi8>} : () -> tensor<300xi8>
"t.use"(%0, %1) : (tensor<300xi8>, tensor<300xi8>) -> ()"#;
        let mut module = parse(&context, source);
        for (key, bytes) in [("a", &[7; 300][..]), ("b", second)] {
            let key = context.str(key);
            module.resources_mut().insert(key, bytes.to_vec().into());
        }
        let root = module.root();
        let config = GreedyConfig { merge_equal_bytes, ..GreedyConfig::default() };
        apply(&mut module, root, &frozen([]), &config).merged
    };
    let mut other = [7; 300];
    other[299] = 8;
    assert_eq!(merged(300, &[7; 300]), 1);
    assert_eq!(merged(300, &other), 0);
    assert_eq!(merged(299, &[7; 300]), 0, "the budget is too small");
    assert_eq!(merged(0, &[7; 300]), 0);
}
