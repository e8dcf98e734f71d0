//! Canonicalisation of `cf`: branches whose way is known, and blocks that only branch on.

use smallvec::SmallVec;
use tangram_ir::{Block, Module, Op, OpState, Use, Value};

use crate::mlir::fold::{Cx, Rewrite, number};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("assert-what-holds", &["cf.assert"], assert_what_holds),
    ("branch-to-the-next-block", &["cf.br"], next_block),
    ("branch-past-branch", BRANCHES, past_branch),
    ("branch-known-condition", &["cf.cond_br"], known_condition),
    ("branch-both-ways-alike", &["cf.cond_br"], both_alike),
    ("branch-condition-beyond", &["cf.cond_br"], condition_beyond),
    ("branch-never-taken", &["cf.cond_br"], never_taken),
    ("switch-known-flag", &["cf.switch"], known_flag),
    ("switch-cases-like-default", &["cf.switch"], cases_like_default),
];

const BRANCHES: &[&str] = &["cf.br", "cf.cond_br", "cf.switch"];

fn assert_what_holds(cx: &mut Cx<'_, '_>) -> Option<()> {
    (cx.int(cx.operand(0))? != 0).then_some(())?;
    cx.rewriter.erase(cx.op);
    Some(())
}

/// What each successor is given.
fn given(module: &Module, op: Op) -> Option<Vec<Vec<Value>>> {
    let operands: SmallVec<[Value; 8]> = module.operands(op).collect();
    let ranges = module.successor_operands(op)?;
    ranges.into_iter().map(|range| Some(operands.get(range)?.to_vec())).collect()
}

/// Makes the branch go to `targets` with these values.
fn retarget(cx: &mut Cx<'_, '_>, targets: &[Block], lists: &[Vec<Value>]) -> Option<()> {
    let (operands, attrs) = cx.module().with_successor_operands(cx.op, lists)?;
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attrs(attrs);
        edit.set_successors(targets);
    });
    Some(())
}

/// Puts `cf.br` in the place of the branch.
fn go_to(cx: &mut Cx<'_, '_>, target: Block, values: &[Value]) -> Option<()> {
    let mut state = OpState::new(cx.context.name("cf.br"), cx.loc());
    state.operands.extend_from_slice(values);
    state.successors.push(target);
    cx.rewriter.replace_with(cx.op, state).ok().map(drop)
}

/// Where control goes from `block`, if that only branches on: the target and what it is given,
/// when `values` are given to the block.
fn beyond(module: &Module, block: Block, values: &[Value]) -> Option<(Block, Vec<Value>)> {
    let end = module.first_op(block)?;
    let &[target] = module.successors(end) else { return None };
    if module.name_text(end) != "cf.br" || target == block {
        return None;
    }
    let args = module.args(block);
    let only_here = |&arg: &Value| module.uses(arg).all(|used| used.op == end);
    if args.len() != values.len() || !args.iter().all(only_here) {
        return None;
    }
    let through = |value: Value| match args.iter().position(|&arg| arg == value) {
        Some(i) => values[i],
        None => value,
    };
    Some((target, module.operands(end).map(through).collect()))
}

/// The most blocks that are looked at for the end of a chain of branches.
const MOST_BLOCKS: usize = 64;

/// Returns whether branches from `first` to `next` and on end in something else than a cycle, in
/// which one could go on for ever.
fn leads_out(module: &Module, first: Block, next: Block) -> bool {
    let mut seen: SmallVec<[Block; MOST_BLOCKS]> = SmallVec::from_slice(&[first]);
    let mut at = next;
    while seen.len() < MOST_BLOCKS {
        if seen.contains(&at) {
            return false;
        }
        seen.push(at);
        let end = module.last_op(at).filter(|&end| module.name_text(end) == "cf.br");
        match end.map(|end| module.successors(end)) {
            Some(&[target]) => at = target,
            _ => return true,
        }
    }
    false
}

/// A branch to a block that only branches goes to where that goes.
fn past_branch(cx: &mut Cx<'_, '_>) -> Option<()> {
    let home = cx.module().block(cx.op)?;
    let mut targets = cx.module().successors(cx.op).to_vec();
    let mut lists = given(cx.module(), cx.op)?;
    let mut changed = false;
    for (target, list) in targets.iter_mut().zip(&mut lists) {
        if let Some((next, values)) = beyond(cx.module(), *target, list)
            && *target != home
            && leads_out(cx.module(), *target, next)
        {
            (*target, *list, changed) = (next, values, true);
        }
    }
    changed.then(|| retarget(cx, &targets, &lists))?
}

/// A block that only this branch leads to goes on where the branch stands.
fn next_block(cx: &mut Cx<'_, '_>) -> Option<()> {
    let home = cx.module().block(cx.op)?;
    let &[target] = cx.module().successors(cx.op) else { return None };
    if target == home || cx.module().single_predecessor(target) != Some(home) {
        return None;
    }
    let values: Vec<Value> = cx.module().operands(cx.op).collect();
    if cx.module().args(target).len() != values.len()
        || cx.module().args(target).iter().any(|arg| values.contains(arg))
    {
        return None;
    }
    cx.rewriter.erase(cx.op);
    cx.rewriter.merge_blocks(target, home, &values).ok()
}

fn known_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let taken = usize::from(cx.int(cx.operand(0))? == 0);
    let values = given(cx.module(), cx.op)?.swap_remove(taken);
    let target = cx.module().successors(cx.op)[taken];
    go_to(cx, target, &values)
}

/// Both ways lead to one block: what it is given is chosen.
fn both_alike(cx: &mut Cx<'_, '_>) -> Option<()> {
    let &[yes, no] = cx.module().successors(cx.op) else { return None };
    if yes != no {
        return None;
    }
    let lists = given(cx.module(), cx.op)?;
    let [a, b] = &lists[..] else { return None };
    if a != b && cx.module().single_predecessor(yes) != cx.module().block(cx.op) {
        return None;
    }
    let condition = cx.operand(0);
    let mut values = Vec::new();
    for (&a, &b) in a.iter().zip(b) {
        let ty = cx.type_of(a);
        values.push(if a == b { a } else { cx.value(cx.known.select, &[condition, a, b], ty) });
    }
    go_to(cx, yes, &values)
}

/// A way that is never taken needs no branch.
fn never_taken(cx: &mut Cx<'_, '_>) -> Option<()> {
    let targets = cx.module().successors(cx.op).to_vec();
    let never = |&target: &Block| {
        let first = cx.module().first_op(target);
        first.is_some_and(|op| cx.module().name_text(op) == "ub.unreachable")
    };
    let other = 1 - targets.iter().position(never)?;
    let values = given(cx.module(), cx.op)?.swap_remove(other);
    go_to(cx, *targets.get(other)?, &values)
}

/// In a block that only one way of the branch leads to, the condition is known.
fn condition_beyond(cx: &mut Cx<'_, '_>) -> Option<()> {
    let condition = cx.operand(0);
    if cx.is_constant(condition) || cx.module().has_one_use(condition) {
        return None;
    }
    let &[yes, no] = cx.module().successors(cx.op) else { return None };
    let home = cx.module().block(cx.op);
    let uses: Vec<Use> = cx.module().uses(condition).collect();
    let mut changed = None;
    for (target, other, value) in [(yes, no, -1), (no, yes, 0)] {
        let inside = |used: &&Use| cx.module().block(used.op) == Some(target) && used.op != cx.op;
        let inside: Vec<Use> = uses.iter().filter(inside).copied().collect();
        let reached =
            target != other && !inside.is_empty() && cx.module().single_predecessor(target) == home;
        if !reached {
            continue;
        }
        let constant = cx.int_constant(value, cx.type_of(condition))?;
        for used in inside {
            cx.rewriter.set_operand(used.op, used.index as usize, constant);
        }
        changed = Some(());
    }
    changed
}

/// The numbers of the cases.
fn cases(cx: &Cx<'_, '_>) -> Option<Vec<i128>> {
    match cx.module().attr(cx.op, "case_values") {
        None => Some(Vec::new()),
        Some(attr) => {
            let count = cx.module().successors(cx.op).len().checked_sub(1)?;
            number::integers(cx.context, attr, count)
        }
    }
}

fn known_flag(cx: &mut Cx<'_, '_>) -> Option<()> {
    let flag = cx.int(cx.operand(0))?;
    let at = cases(cx)?.iter().position(|&case| case == flag).map_or(0, |i| i + 1);
    let target = *cx.module().successors(cx.op).get(at)?;
    let values = given(cx.module(), cx.op)?.swap_remove(at);
    go_to(cx, target, &values)
}

/// A switch all of whose cases do what the default does.
fn cases_like_default(cx: &mut Cx<'_, '_>) -> Option<()> {
    let targets = cx.module().successors(cx.op).to_vec();
    let lists = given(cx.module(), cx.op)?;
    let same = targets.iter().zip(&lists).all(|pair| pair == (&targets[0], &lists[0]));
    if !same {
        return None;
    }
    go_to(cx, targets[0], &lists[0])
}
