//! What a listener hears, and in which order: as from `mlir-opt`, whose test passes are asked the
//! same where they are installed.
//!
//! The patterns are those that the test passes of `mlir-opt` are made for, by the same names; so
//! each case says what it does, and the list of events is what both have to tell.

#[path = "../common/mod.rs"]
mod common;
mod patterns;
#[path = "../../../ir/tests/peer/mod.rs"]
mod peer;

use common::{context, frozen, parse, rule};
use patterns::{has, mark, no, patterns};
use tangram_ir::{Block, Module, Op, Value};
use tangram_rewrite::greedy::{Seeding, Strictness, apply_with_listener};
use tangram_rewrite::{FrozenPatternSet, GreedyConfig, Listener, walk_and_apply};

/// Writes events as [`theirs`] does.
#[derive(Default)]
struct Events(Vec<String>);

impl Listener for Events {
    fn inserted(&mut self, module: &Module, op: Op) {
        self.0.push(format!("insert {}", module.name_text(op)));
    }
    fn moved(&mut self, module: &Module, op: Op) {
        self.0.push(format!("move {}", module.name_text(op)));
    }
    fn replaced(&mut self, module: &Module, op: Op, _: &[Value]) {
        self.0.push(format!("replace {}", module.name_text(op)));
    }
    fn erased(&mut self, module: &Module, op: Op) {
        self.0.push(format!("erase {}", module.name_text(op)));
    }
    fn block_inserted(&mut self, module: &Module, block: Block) {
        let parent = module.block_parent(block).expect("a region");
        self.0.push(format!("insert block into {}", module.name_text(parent)));
    }
    fn block_erased(&mut self, _: &Module, _: Block) {
        self.0.push("erase block".to_owned());
    }
}

/// What a test pass of `mlir-opt` tells of a function of these operations; `None` if it is absent.
fn theirs(body: &str, pass: &str) -> Option<Vec<String>> {
    let source = format!("func.func @f() {{\n{body}\nreturn\n}}\n");
    // Some of it is told on standard output, the rest on standard error.
    let script = format!("exec mlir-opt-22 -allow-unregistered-dialect {pass} 2>&1");
    peer::mlir_opt(&["--version"], "")?.ok()?;
    let told = peer::ask("sh", &["-c", &script], &source)?;
    let told = told.unwrap_or_else(|error| panic!("{error}\n{source}"));
    Some(told.lines().filter_map(event).collect())
}

/// One line of theirs. What is modified, ours tells more often.
fn event(line: &str) -> Option<String> {
    let (what, of) = line.strip_prefix("notify")?.split_once(' ').unwrap_or((&line[6..], ""));
    let name = of.split(',').next().unwrap_or(of);
    match what {
        "OperationInserted:" if of.ends_with("unlinked") => Some(format!("insert {name}")),
        "OperationInserted:" => Some(format!("move {name}")),
        "OperationReplaced:" => Some(format!("replace {name}")),
        "OperationErased:" => Some(format!("erase {name}")),
        "BlockInserted" => {
            Some(format!("insert block {}", of.split(':').next().unwrap_or_default()))
        }
        "BlockErased" => Some("erase block".to_owned()),
        _ => None,
    }
}

fn ours(body: &str, drive: impl Fn(&mut Module, &FrozenPatternSet, &mut Events)) -> Vec<String> {
    let context = context();
    let source =
        format!("\"func.func\"() ({{\n{body}\n\"func.return\"() : () -> ()\n}}) : () -> ()");
    let mut module = parse(&context, &source);
    let mut events = Events::default();
    drive(&mut module, &patterns(&context), &mut events);
    events.0
}

fn check(body: &str, expected: &[&str], found: Vec<String>, pass: &str) {
    assert_eq!(found, expected, "of\n{body}");
    match theirs(body, pass) {
        Some(theirs) => assert_eq!(theirs, expected, "`mlir-opt` of\n{body}"),
        None => println!("skipped: needs mlir-opt-22"),
    }
}

/// One walk.
fn walked(body: &str, expected: &[&str]) {
    let found = ours(body, |module, set, events| {
        let root = module.root();
        walk_and_apply(module, root, set, events);
    });
    check(body, expected, found, "--test-walk-pattern-rewrite-driver=dump-notifications=true");
}

/// The greedy driver on the listed operations, which are those that a pattern starts at.
fn greedy(strictness: Strictness, body: &str, expected: &[&str]) {
    let found = ours(body, |module, set, events| {
        let config = GreedyConfig {
            strictness,
            seeding: Seeding::BottomUp,
            max_iterations: Some(1),
            merge_equal: false,
            ..GreedyConfig::default()
        };
        let root = module.root();
        apply_with_listener(module, root, set, &config, events);
    });
    check(
        body,
        expected,
        found,
        &format!("--test-strict-pattern-driver=strictness={strictness:?}"),
    );
}

#[test]
fn moving_is_told_once_and_what_is_moved_is_visited_once() {
    walked(
        r#""test.p"() ({ "test.move_before_parent_op"() : () -> () }) : () -> ()"#,
        &["move test.move_before_parent_op"],
    );
    walked(
        r#""test.p"() ({ "test.move_after_parent_op"() : () -> () }) : () -> ()"#,
        &["move test.move_after_parent_op"],
    );
    walked(
        r#""test.p"() ({ "test.move_after_parent_op"() {advance = 1 : i32} : () -> () }) : () -> ()
           "test.a"() : () -> ()
           "test.b"() : () -> ()"#,
        &["move test.move_after_parent_op"],
    );
}

#[test]
fn a_copy_is_told_from_the_outside_in_and_not_visited() {
    walked(
        r#""test.clone_me"() ({ "test.a"() ({ "test.b"() : () -> () }) : () -> () }) : () -> ()"#,
        &[
            "insert test.clone_me",
            "insert block into test.clone_me",
            "insert test.a",
            "insert block into test.a",
            "insert test.b",
        ],
    );
}

#[test]
fn a_walk_replaces_once_and_erases_blocks_inside() {
    walked(
        r#""test.replace_with_new_op"() {create_erase_op} : () -> ()"#,
        &[
            "insert test.erase_op",
            "replace test.replace_with_new_op",
            "erase test.replace_with_new_op",
        ],
    );
    walked(
        r#""test.erase_first_block"() ({ "test.a"() : () -> () "test.b"() : () -> () }) : () -> ()"#,
        &["erase test.b", "erase test.a", "erase block"],
    );
}

#[test]
fn inlining_moves_operations_and_erases_the_block() {
    greedy(
        Strictness::AnyOp,
        r#""test.inline_blocks_into_parent"() ({
             "test.a"() : () -> ()
             "test.b"() ({ "test.c"() : () -> () }) : () -> ()
           }) : () -> ()"#,
        &["move test.a", "move test.b", "erase block"],
    );
}

#[test]
fn splitting_makes_a_block_and_moves_operations_from_the_last() {
    greedy(
        Strictness::AnyOp,
        r#""test.a"() : () -> ()
           "test.split_block_here"() : () -> ()
           "test.b"() : () -> ()"#,
        &[
            "insert block into func.func",
            "move func.return",
            "move test.b",
            "move test.split_block_here",
            "insert test.new_op",
            "replace test.split_block_here",
            "erase test.split_block_here",
        ],
    );
}

#[test]
fn a_copied_region_is_told_block_by_block() {
    greedy(
        Strictness::AnyOp,
        r#""test.clone_region_before"() ({
             "test.a"() ({ "test.b"() : () -> () }) : () -> ()
             "test.c"() ({ "test.d"() : () -> () }) : () -> ()
             "test.br"()[^bb1] : () -> ()
           ^bb1:
             "test.e"() : () -> ()
           }) : () -> ()"#,
        &[
            "insert block into func.func",
            "insert test.a",
            "insert block into test.a",
            "insert test.b",
            "insert test.c",
            "insert block into test.c",
            "insert test.d",
            "insert test.br",
            "insert block into func.func",
            "insert test.e",
        ],
    );
}

const STRICT: &str = r#""test.insert_same_op"() {skip} : () -> ()
"test.replace_with_new_op"() {create_erase_op} : () -> ()
"test.insert_same_op"() : () -> ()
"test.erase_op"() : () -> ()
"test.replace_with_new_op"() : () -> ()"#;

#[test]
fn strict_modes_differ_in_whether_new_operations_are_looked_at() {
    let all = [
        "insert test.new_op",
        "replace test.replace_with_new_op",
        "erase test.replace_with_new_op",
        "erase test.erase_op",
        "insert test.insert_same_op",
        "insert test.erase_op",
        "replace test.replace_with_new_op",
        "erase test.replace_with_new_op",
        "erase test.erase_op",
    ];
    greedy(Strictness::AnyOp, STRICT, &all);
    greedy(Strictness::ExistingAndNewOps, STRICT, &all);
    // The `test.erase_op` that was made stays.
    greedy(Strictness::ExistingOps, STRICT, &all[..8]);
}

#[test]
fn regions_are_erased_from_the_last_block_that_control_reaches() {
    let erased = |body: &str, expected: &[&str]| greedy(Strictness::AnyOp, body, expected);
    // A cycle, and values across blocks.
    erased(
        r#""test.erase_op"() ({
             %x = "test.a"() : () -> (i1)
             "test.br"(%x)[^bb1] : (i1) -> ()
           ^bb1(%p: i1):
             %y = "test.b"(%p) : (i1) -> (i1)
             "test.br"(%y)[^bb2] : (i1) -> ()
           ^bb2(%q: i1):
             %z = "test.c"(%q) : (i1) -> (i1)
             "test.br"(%z)[^bb1] : (i1) -> ()
           }) : () -> ()"#,
        &[
            "erase test.br",
            "erase test.c",
            "erase test.br",
            "erase test.b",
            "erase test.br",
            "erase test.a",
            "erase block",
            "erase block",
            "erase block",
            "erase test.erase_op",
        ],
    );
    // A diamond.
    erased(
        r#""test.erase_op"() ({
             "test.cond"()[^bb1, ^bb2] : () -> ()
           ^bb1:
             "test.left"()[^bb3] : () -> ()
           ^bb2:
             "test.right"()[^bb3] : () -> ()
           ^bb3:
             "test.join"() : () -> ()
           }) : () -> ()"#,
        &[
            "erase test.join",
            "erase test.left",
            "erase test.right",
            "erase test.cond",
            "erase block",
            "erase block",
            "erase block",
            "erase block",
            "erase test.erase_op",
        ],
    );
    // Blocks that nothing reaches, which use each other's values.
    erased(
        r#""test.erase_op"() ({
             "test.done"() : () -> ()
           ^bb1:
             %z = "test.u"(%w) : (i1) -> (i1)
             "test.br"()[^bb2] : () -> ()
           ^bb2:
             %w = "test.v"(%z) : (i1) -> (i1)
             "test.br"()[^bb1] : () -> ()
           }) : () -> ()"#,
        &[
            "erase test.done",
            "erase block",
            "erase test.br",
            "erase test.v",
            "erase test.br",
            "erase test.u",
            "erase block",
            "erase block",
            "erase test.erase_op",
        ],
    );
    // A graph, and what is nested.
    erased(
        r#""test.erase_op"() ({
             "test.graph_region"() ({
               %0 = "test.g"(%1) : (i1) -> (i1)
               %1 = "test.h"(%0) : (i1) -> (i1)
             }) : () -> ()
           }, {
             "test.second"() : () -> ()
           }) : () -> ()"#,
        &[
            "erase test.second",
            "erase block",
            "erase test.h",
            "erase test.g",
            "erase block",
            "erase test.graph_region",
            "erase block",
            "erase test.erase_op",
        ],
    );
}

#[test]
fn a_change_of_the_uses_of_a_block_wakes_its_other_users_under_any_op() {
    let woken = |strictness: Strictness| {
        let context = context();
        let source = r#""t.func"() ({
  "test.change"()[^bb1, ^bb2] : () -> ()
^bb1:
  "t.ret"() : () -> ()
^bb2:
  "t.ret"() : () -> ()
^bb3:
  "test.user"()[^bb1] : () -> ()
}) : () -> ()"#;
        let mut module = parse(&context, source);
        let change = common::find(&module, "test.change");
        let set = frozen([
            rule(&context, "change", "test.change", |rewriter, op| {
                let &[a, b] = rewriter.module().successors(op) else { return no(rewriter) };
                if a == b {
                    return no(rewriter);
                }
                rewriter.replace_block_uses(a, b);
                Ok(())
            }),
            rule(&context, "see", "test.user", |rewriter, op| {
                if has(rewriter.module(), op, "seen") {
                    return no(rewriter);
                }
                mark(rewriter, op, "seen");
                Ok(())
            }),
        ]);
        let config = GreedyConfig { strictness, ..GreedyConfig::default() };
        let mut silent = tangram_rewrite::Silent;
        tangram_rewrite::greedy::apply_to_ops(&mut module, &[change], &set, &config, &mut silent);
        has(&module, common::find(&module, "test.user"), "seen")
    };
    assert!(woken(Strictness::AnyOp));
    assert!(!woken(Strictness::ExistingAndNewOps));
    assert!(!woken(Strictness::ExistingOps));
}
