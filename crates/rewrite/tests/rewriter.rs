//! Each change of the rewriter: what it does, what a listener hears, and that it can be undone.

mod common;

use common::{Log, context, find, parse, show};
use tangram_ir::{Module, Op, OpState, Point, Value, text};
use tangram_rewrite::{Journal, Mapping, Rewriter};

const PROGRAM: &str = r#"
%a = "t.src"() : () -> i64
%b = "t.neg"(%a) : (i64) -> i64
"t.func"() ({
^bb0(%x: i64):
  %p = "t.neg"(%x) : (i64) -> i64
  "t.br"(%p)[^bb1] : (i64) -> ()
^bb1(%y: i64):
  %q = "t.neg"(%y) : (i64) -> i64
  "t.ret"(%q) : (i64) -> ()
}) : () -> ()
"t.use"(%b, %b) : (i64, i64) -> ()
"#;

/// Makes a change with a journal and without, checks that both give the same text and tell the
/// same, takes the one with the journal back, and returns text and events.
fn change(edit: impl Fn(&mut Rewriter<'_>)) -> (String, Vec<String>) {
    let context = context();
    let mut plain = parse(&context, PROGRAM);
    let mut log = Log::default();
    edit(&mut Rewriter::new(&mut plain, &mut log));
    let after = show(&plain);

    let mut journaled = parse(&context, PROGRAM);
    let before = text::print(&journaled);
    let mut journal = Journal::new();
    let mark = journal.mark();
    let mut again = Log::default();
    edit(&mut Rewriter::new(&mut journaled, &mut again).with_journal(&mut journal));
    assert_eq!(show(&journaled), after);
    assert_eq!(log.0, again.0);
    let copy = journaled.clone();
    journal.undo(&mut journaled, mark);
    assert_eq!(text::print(&journaled), before);
    drop(copy);

    let mut journal = Journal::new();
    edit(&mut Rewriter::new(&mut journaled, &mut Log::default()).with_journal(&mut journal));
    journal.commit(&mut journaled);
    assert_eq!(show(&journaled), after);
    (after, log.0)
}

fn first_operand(module: &Module, op: Op) -> Value {
    module.operand(op, 0)
}

fn state(module: &Module, name: &str, operands: &[Value], results: usize) -> OpState {
    let mut state = OpState::new(module.context().name(name), tangram_ir::Loc::UNKNOWN);
    state.operands.extend(operands.iter().copied());
    state.results.extend(std::iter::repeat_n(module.context().int_type(64), results));
    state
}

#[test]
fn replacing_tells_of_the_replacement_then_of_users_then_of_the_end() {
    let (after, heard) = change(|rewriter| {
        let op = find(rewriter.module(), "t.neg");
        let x = first_operand(rewriter.module(), op);
        rewriter.replace_with(op, state(rewriter.module(), "t.abs", &[x], 1)).expect("one result");
    });
    assert_eq!(heard, ["insert t.abs", "replace t.neg", "modify t.use", "erase t.neg"]);
    assert!(after.contains("%1 = \"t.abs\"(%0)"), "{after}");
}

#[test]
fn a_replacement_of_another_length_is_refused() {
    let context = context();
    let mut module = parse(&context, PROGRAM);
    let before = text::print(&module);
    let mut log = Log::default();
    let mut rewriter = Rewriter::new(&mut module, &mut log);
    let op = find(rewriter.module(), "t.neg");
    assert!(rewriter.replace(op, &[]).is_err());
    let none = state(rewriter.module(), "t.none", &[], 0);
    assert!(rewriter.replace_with(op, none).is_err());
    assert_eq!((text::print(&module), log.0.len()), (before, 0));
}

#[test]
fn modification_is_told_once_and_cancelling_tells_nothing() {
    let (after, heard) = change(|rewriter| {
        let op = find(rewriter.module(), "t.use");
        let a = first_operand(rewriter.module(), find(rewriter.module(), "t.neg"));
        let mark = rewriter.module().context().str("mark");
        rewriter.modify_in_place(op, |edit| {
            edit.set_operand(1, a);
            edit.set_attr(mark, Some(tangram_ir::Attr::UNIT));
        });
    });
    assert_eq!(heard, ["modify t.use"]);
    assert!(after.contains("\"t.use\"(%1, %0) {mark}"), "{after}");
    let (after, heard) = change(|rewriter| {
        let op = find(rewriter.module(), "t.use");
        let modification = rewriter.start_modification(op);
        rewriter.edit(&modification).set_operands(&[]);
        rewriter.cancel_modification(modification);
    });
    assert_eq!(heard, Vec::<String>::new());
    assert!(after.contains("\"t.use\"(%1, %1)"), "{after}");
}

#[test]
fn erasing_tells_of_what_is_inside_first_last_blocks_first() {
    let (_, heard) = change(|rewriter| {
        let op = find(rewriter.module(), "t.func");
        rewriter.erase(op);
    });
    let expected = [
        "erase t.ret",
        "erase t.neg",
        "erase t.br",
        "erase t.neg",
        "erase block of t.func",
        "erase block of t.func",
        "erase t.func",
    ];
    assert_eq!(heard, expected);
}

#[test]
fn splitting_and_merging_blocks() {
    let (after, heard) = change(|rewriter| {
        let op = find(rewriter.module(), "t.br");
        let new = rewriter.split_block(op).expect("a block");
        let end = state(rewriter.module(), "t.br", &[], 0);
        let old = rewriter.module().prev_block(new).expect("the first part");
        let end = OpState { successors: [new].into_iter().collect(), ..end };
        rewriter.create(Point::End(old), end);
    });
    assert_eq!(heard, ["insert block of t.func", "move t.br", "insert t.br"]);
    assert_eq!(after.matches("t.br").count(), 2);
    let (after, heard) = change(|rewriter| {
        let br = find(rewriter.module(), "t.br");
        let value = first_operand(rewriter.module(), br);
        let (to, from) = (rewriter.module().block(br), rewriter.module().successors(br)[0]);
        rewriter.erase(br);
        rewriter.merge_blocks(from, to.expect("attached"), &[value]).expect("one argument");
    });
    assert_eq!(
        heard,
        ["erase t.br", "modify t.neg", "move t.neg", "move t.ret", "erase block of t.func"]
    );
    assert!(!after.contains("^bb1"), "{after}");
}

#[test]
fn copies_have_their_own_values_and_blocks() {
    let (after, heard) = change(|rewriter| {
        let op = find(rewriter.module(), "t.func");
        rewriter.clone_op(op, Point::After(op), &mut Mapping::new());
    });
    assert_eq!(heard[..2], ["insert t.func", "insert block of t.func"]);
    assert_eq!(heard.iter().filter(|line| *line == "insert t.neg").count(), 2);
    let halves: Vec<&str> = after.split("}) : () -> ()").collect();
    assert_eq!(halves[1].matches("t.neg").count(), 2);
    let (after, _) = change(|rewriter| {
        let op = find(rewriter.module(), "t.func");
        let region = rewriter.module().region(op, 0);
        let new = rewriter.create(
            Point::After(op),
            OpState { regions: 1, ..state(rewriter.module(), "t.func", &[], 0) },
        );
        let to = rewriter.module().region(new, 0);
        rewriter.clone_region(region, to, None, &mut Mapping::new());
        rewriter.inline_region(to, to, None);
        rewriter.erase(op);
    });
    assert_eq!(after.matches("t.func").count(), 1);
}

#[test]
fn arguments_come_and_go() {
    let (after, heard) = change(|rewriter| {
        let br = find(rewriter.module(), "t.br");
        let target = rewriter.module().successors(br)[0];
        let ty = rewriter.module().context().int_type(64);
        let old = rewriter.module().args(target)[0];
        let new = rewriter.add_argument(target, ty);
        rewriter.replace_uses(old, new);
        rewriter.erase_argument(target, 0);
        let narrow = rewriter.module().context().int_type(64);
        rewriter.set_argument_type(target, 0, narrow);
    });
    assert_eq!(
        heard,
        [
            "arguments of block of t.func",
            "modify t.neg",
            "arguments of block of t.func",
            "arguments of block of t.func"
        ]
    );
    assert!(after.contains("^bb1(%4: i64)") || after.contains("^bb1("), "{after}");
}

#[test]
fn uses_are_replaced_where_wanted() {
    let (after, _) = change(|rewriter| {
        let neg = find(rewriter.module(), "t.neg");
        let (new, old) = (first_operand(rewriter.module(), neg), rewriter.module().result(neg, 0));
        assert!(!rewriter.replace_uses_if(old, new, |used| used.index == 1));
    });
    assert!(after.contains("\"t.use\"(%1, %0)"), "{after}");
    let (after, _) = change(|rewriter| {
        let neg = find(rewriter.module(), "t.neg");
        let new = first_operand(rewriter.module(), neg);
        rewriter.replace_uses_except(new, rewriter.module().result(neg, 0), &[neg]);
        rewriter.replace_op_uses(neg, &[new]);
    });
    assert!(after.contains("\"t.use\"(%0, %0)"), "{after}");
}

#[test]
fn results_and_folds() {
    let (after, _) = change(|rewriter| {
        let op = find(rewriter.module(), "t.use");
        let two = rewriter.create(Point::Before(op), state(rewriter.module(), "t.two", &[], 2));
        let second = rewriter.module().result(two, 1);
        rewriter.set_operands(op, &[second]);
        rewriter.erase_results(two, |i| i == 1);
    });
    assert!(after.contains("= \"t.two\"() : () -> i64"), "{after}");
    let (after, _) = change(|rewriter| {
        let op = find(rewriter.module(), "t.use");
        let context = rewriter.module().context_arc().clone();
        let constant = |rewriter: &mut Rewriter<'_>, n: i64| {
            let mut state = state(rewriter.module(), "t.const", &[], 1);
            state.attrs = context.dict([(context.str("value"), context.i64_attr(n))]);
            let made = rewriter.create(Point::Before(op), state);
            rewriter.module().result(made, 0)
        };
        let operands = [constant(rewriter, 2), constant(rewriter, 3)];
        let sum = state(rewriter.module(), "t.add", &operands, 1);
        let values = rewriter.create_or_fold(Point::Before(op), sum);
        rewriter.set_operands(op, &values);
    });
    assert!(after.contains("value = 5 : i64") && !after.contains("t.add"), "{after}");
}
