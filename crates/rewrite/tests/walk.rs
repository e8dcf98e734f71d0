//! The walk driver: what it visits, and what it does not.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{Log, context, frozen, names, parse, rule};
use tangram_ir::{Attr, OpState, Point};
use tangram_rewrite::greedy::{Breach, Stop};
use tangram_rewrite::{
    FnPattern, Rewriter, Silent, WalkLimits, WalkReport, walk_and_apply, walk_within,
};

/// The operations visited, in order, with the report and the names that are left.
fn walk(
    source: &str,
    patterns: &[fn(&tangram_ir::Context) -> FnPattern],
) -> (String, WalkReport, String) {
    let context = context();
    let mut module = parse(&context, source);
    let set = frozen(patterns.iter().map(|make| make(&context)));
    let root = module.root();
    let mut log = Log::default();
    let report = walk_and_apply(&mut module, root, &set, &mut log);
    let visits = log.0.iter().filter_map(|line| line.strip_prefix("visit ")).collect::<Vec<_>>();
    (visits.join(" "), report, names(&module).join(" "))
}

fn make(rewriter: &mut Rewriter<'_>, point: Point, name: &str) {
    let context = rewriter.module().context_arc().clone();
    rewriter.create(point, OpState::new(context.name(name), tangram_ir::Loc::UNKNOWN));
}

#[test]
fn regions_come_first_and_the_root_never() {
    let source = r#"
"t.a"() : () -> ()
"t.if"() ({ "t.b"() : () -> () }, { "t.c"() : () -> () }) : () -> ()
"t.d"() : () -> ()"#;
    let (visits, report, _) = walk(source, &[]);
    assert_eq!(visits, "t.a t.b t.c t.if t.d");
    assert_eq!((report.visits, report.rewrites), (5, 0));
}

#[test]
fn what_is_modified_replaced_or_made_is_not_visited() {
    let modify: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "mark", "t.a", |rewriter, op| {
            let mark = rewriter.module().context().str("mark");
            rewriter.set_attr(op, mark, Some(Attr::UNIT));
            Ok(())
        })
    };
    let (visits, report, _) = walk(r#""t.a"() : () -> ()"#, &[modify]);
    assert_eq!((visits.as_str(), report.rewrites), ("t.a", 1));
    let replace: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "again", "t.a", |rewriter, op| {
            make(rewriter, Point::Before(op), "t.a");
            make(rewriter, Point::After(op), "t.a");
            rewriter.erase(op);
            Ok(())
        })
    };
    let (visits, report, left) = walk("\"t.a\"() : () -> ()\n\"t.b\"() : () -> ()", &[replace]);
    assert_eq!((visits.as_str(), report.rewrites), ("t.a t.b", 1));
    assert_eq!(left, "t.a t.a t.b");
}

#[test]
fn an_operation_moved_out_is_visited_once_and_one_moved_past_the_next_again() {
    let out: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "out", "t.in", |rewriter, op| {
            let Some(parent) = rewriter.module().parent(op) else {
                return Err(rewriter.no_match(|| "the root".to_owned()));
            };
            if rewriter.module().name_text(parent) != "t.if" {
                return Err(rewriter.no_match(|| "outside".to_owned()));
            }
            let after = rewriter.module().attr(op, "after").is_some();
            rewriter.move_to(op, if after { Point::After(parent) } else { Point::Before(parent) });
            Ok(())
        })
    };
    let before = r#""t.if"() ({ "t.in"() : () -> () }) : () -> ()"#;
    let (visits, _, left) = walk(before, &[out]);
    assert_eq!((visits.as_str(), left.as_str()), ("t.in t.if", "t.in t.if"));
    // The next of `t.if` was decided when `t.if` was entered, so this is not met again either.
    let after = r#""t.if"() ({ "t.in"() {after} : () -> () }) : () -> ()"#;
    let (visits, _, left) = walk(after, &[out]);
    assert_eq!((visits.as_str(), left.as_str()), ("t.in t.if", "t.if t.in"));
    let forward: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "forward", "t.m", |rewriter, op| {
            let Some(next) = rewriter.module().next(op) else {
                return Err(rewriter.no_match(|| "the last".to_owned()));
            };
            rewriter.move_to(op, Point::After(next));
            Ok(())
        })
    };
    let source = "\"t.m\"() : () -> ()\n\"t.a\"() : () -> ()\n\"t.b\"() : () -> ()";
    let (visits, _, left) = walk(source, &[forward]);
    assert_eq!((visits.as_str(), left.as_str()), ("t.m t.a t.m t.b t.m", "t.a t.b t.m"));
}

#[test]
fn operations_that_pass_each_other_for_ever_are_stopped() {
    let pass: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "pass", "t.m", |rewriter, op| {
            let Some(next) = rewriter.module().next(op) else {
                make(rewriter, Point::After(op), "t.m");
                return Ok(());
            };
            rewriter.move_to(op, Point::After(next));
            Ok(())
        })
    };
    let (_, report, _) = walk("\"t.m\"() : () -> ()\n\"t.m\"() : () -> ()", &[pass]);
    assert!(report.stopped_by.is_some());
}

#[test]
fn blocks_inside_may_be_erased_and_what_is_outside_may_not() {
    let clear: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "clear", "t.if", |rewriter, op| {
            let region = rewriter.module().region(op, 0);
            let Some(block) = rewriter.module().first_block(region) else {
                return Err(rewriter.no_match(|| "empty".to_owned()));
            };
            rewriter.erase_block(block);
            Ok(())
        })
    };
    let source = "\"t.if\"() ({ \"t.a\"() : () -> () }) : () -> ()\n\"t.b\"() : () -> ()";
    let (visits, report, _) = walk(source, &[clear]);
    assert_eq!((visits.as_str(), report.breaches.len()), ("t.a t.if t.b", 0));
    let next: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "erase-next", "t.a", |rewriter, op| {
            let Some(next) = rewriter.module().next(op) else {
                return Err(rewriter.no_match(|| "the last".to_owned()));
            };
            rewriter.erase(next);
            Ok(())
        })
    };
    let source = "\"t.a\"() : () -> ()\n\"t.b\"() : () -> ()\n\"t.c\"() : () -> ()";
    let (visits, report, _) = walk(source, &[next]);
    assert_eq!(visits, "t.a t.c");
    assert_eq!(report.breaches, [Breach::ErasedOutside("erase-next".to_owned())]);
}

#[test]
fn a_walk_ends_at_its_limits_and_keeps_what_is_done() {
    let walked = |limits: WalkLimits| {
        let context = context();
        let source = "\"t.a\"() : () -> ()\n\"t.a\"() : () -> ()\n\"t.a\"() : () -> ()";
        let mut module = parse(&context, source);
        let erase = rule(&context, "erase", "t.a", |rewriter, op| {
            rewriter.erase(op);
            Ok(())
        });
        let set = frozen([erase]);
        let root = module.root();
        let report = walk_within(&mut module, root, &set, &limits, &mut Silent);
        (module.ops(module.body()).count(), report.stopped_by)
    };
    assert_eq!(walked(WalkLimits::default()), (0, None));
    let two = WalkLimits { max_rewrites: Some(2), ..WalkLimits::default() };
    assert_eq!(walked(two), (1, Some(Stop::Rewrites(2))));
    let over = WalkLimits { deadline: Some(Instant::now()), ..WalkLimits::default() };
    assert_eq!(walked(over), (3, Some(Stop::Deadline)));
    let cancelled = WalkLimits { cancel: Some(Arc::new(true.into())), ..WalkLimits::default() };
    assert_eq!(walked(cancelled), (3, Some(Stop::Cancelled)));
}

#[test]
fn nothing_is_folded_or_removed() {
    let source = r#"
%0 = "t.const"() {value = 1 : i64} : () -> i64
%1 = "t.add"(%0, %0) : (i64, i64) -> i64"#;
    let (_, report, left) = walk(source, &[]);
    assert_eq!((report.rewrites, left.as_str()), (0, "t.const t.add"));
}

#[test]
fn a_parent_erased_from_inside_ends_the_walk_of_it() {
    let parent: fn(&tangram_ir::Context) -> FnPattern = |context| {
        rule(context, "erase-parent", "t.in", |rewriter, op| {
            let parent = rewriter.module().parent(op).expect("inside");
            rewriter.erase(parent);
            Ok(())
        })
    };
    let source = "\"t.if\"() ({ \"t.in\"() : () -> () }) : () -> ()\n\"t.b\"() : () -> ()";
    let (visits, report, left) = walk(source, &[parent]);
    assert_eq!((visits.as_str(), left.as_str()), ("t.in t.b", "t.b"));
    assert_eq!(report.breaches, [Breach::ErasedOutside("erase-parent".to_owned())]);
}
