//! Canonicalisation of `scf.if` and `scf.index_switch`.

use tangram_ir::{Op, Use, Value};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("if-known-condition", &["scf.if"], known_condition),
    ("choice-unused-results", &["scf.if", "scf.index_switch"], unused_results),
    ("switch-same-everywhere", &["scf.index_switch"], same_everywhere),
    ("if-to-select", &["scf.if"], to_select),
    ("if-condition-inside", &["scf.if"], condition_inside),
    ("if-yields-condition", &["scf.if"], yields_condition),
    ("if-after-if", &["scf.if"], after_if),
    ("if-empty-else", &["scf.if"], |cx| cx.drop_empty_region(1)),
    ("switch-known-index", &["scf.index_switch"], known_index),
];

fn known_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let holds = cx.int(cx.operand(0))? != 0;
    if !holds && cx.module().first_block(*cx.module().regions(cx.op).get(1)?).is_none() {
        return cx.replace(&[]);
    }
    cx.take_region(usize::from(!holds), &[])
}

fn unused_results(cx: &mut Cx<'_, '_>) -> Option<()> {
    let keep: Vec<bool> =
        cx.module().results(cx.op).map(|value| cx.module().has_uses(value)).collect();
    if keep.iter().all(|&keep| keep) {
        return None;
    }
    let regions: Vec<usize> = (0..cx.module().regions(cx.op).len()).collect();
    cx.drop_results(&regions, &keep).map(|_| ())
}

/// What every region gives from outside needs no choice.
fn same_everywhere(cx: &mut Cx<'_, '_>) -> Option<()> {
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    let regions = 0..cx.module().regions(cx.op).len();
    let yields: Option<Vec<Vec<Value>>> = regions
        .map(|i| cx.yields(cx.only_block(i)?).filter(|y| y.len() == results.len()))
        .collect();
    let (yields, mut changed) = (yields?, None);
    for (i, &result) in results.iter().enumerate() {
        let value = yields.first()?[i];
        let same = yields.iter().all(|yields| yields[i] == value);
        if same && cx.is_outside(value) && cx.module().has_uses(result) {
            cx.rewriter.replace_uses(result, value);
            changed = Some(());
        }
    }
    changed
}

/// The results of an `if` both of whose values come from outside are choices.
fn to_select(cx: &mut Cx<'_, '_>) -> Option<()> {
    if cx.module().result_count(cx.op) == 0 {
        return None;
    }
    let (yes, no) = (cx.yields(cx.only_block(0)?)?, cx.yields(cx.only_block(1)?)?);
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    if yes.len() != results.len() || no.len() != results.len() {
        return None;
    }
    let condition = cx.operand(0);
    let chosen = |i: usize| cx.is_outside(yes[i]) && cx.is_outside(no[i]);
    let keep: Vec<bool> = (0..results.len()).map(|i| !chosen(i)).collect();
    if keep.iter().all(|&keep| keep) {
        return None;
    }
    for i in (0..results.len()).filter(|&i| !keep[i]) {
        let value = if yes[i] == no[i] {
            yes[i]
        } else {
            let ty = cx.type_of(yes[i]);
            cx.value(cx.known.select, &[condition, yes[i], no[i]], ty)
        };
        cx.rewriter.replace_uses(results[i], value);
    }
    cx.drop_results(&[0, 1], &keep).map(|_| ())
}

/// Inside of a region the condition is known.
fn condition_inside(cx: &mut Cx<'_, '_>) -> Option<()> {
    let condition = cx.operand(0);
    // A constant is known anyway, and its uses are many.
    if cx.is_constant(condition) || cx.module().has_one_use(condition) {
        return None;
    }
    let uses: Vec<Use> = cx.module().uses(condition).collect();
    let mut changed = None;
    for (region, value) in [(0, -1), (1, 0)] {
        let inside = cx.uses_in_region(&uses, region);
        if inside.is_empty() {
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

/// `if c { yield 1 } else { yield 0 }` gives `c`; with the numbers exchanged, `not c`.
fn yields_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (yes, no) = (cx.yields(cx.only_block(0)?)?, cx.yields(cx.only_block(1)?)?);
    let condition = cx.operand(0);
    let boolean = cx.type_of(condition);
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    let mut changed = None;
    for ((&yes, &no), &result) in yes.iter().zip(&no).zip(&results) {
        if cx.type_of(result) != boolean || !cx.module().has_uses(result) {
            continue;
        }
        let value = match (cx.int(yes), cx.int(no)) {
            (Some(-1), Some(0)) => condition,
            (Some(0), Some(-1)) => {
                let ones = cx.int_constant(-1, boolean)?;
                cx.value(cx.known.xori, &[condition, ones], boolean)
            }
            _ => continue,
        };
        cx.rewriter.replace_uses(result, value);
        changed = Some(());
    }
    changed
}

/// How many operations between two are looked at.
const MOST_BETWEEN: usize = 16;

/// The `if` before this one, and what stands between and may run in front of both.
fn if_before(cx: &Cx<'_, '_>) -> Option<(Op, Vec<Op>)> {
    let module = cx.module();
    let (mut at, mut between) = (module.prev(cx.op)?, Vec::new());
    while module.name(at) != module.name(cx.op) {
        let moves = module.has_traits(at, tangram_ir::Traits::PURE)
            && module.regions(at).is_empty()
            && !crate::mlir::may_trap(module, at);
        if !moves || between.len() == MOST_BETWEEN {
            return None;
        }
        between.push(at);
        at = module.prev(at)?;
    }
    let depends = |&op: &Op| module.operands(op).any(|value| module.def_op(value) == Some(at));
    (!between.iter().any(depends)).then_some((at, between))
}

/// Two in a row with one condition, or with one and its negation, become one.
fn after_if(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (first, between) = if_before(cx)?;
    let (a, b) = (cx.module().operand(first, 0), cx.operand(0));
    let swapped = if a == b {
        false
    } else if is_not(cx, a, b) || is_not(cx, b, a) {
        true
    } else {
        return None;
    };
    // Regions of the later one, in the order of the earlier one's.
    let order = if swapped { [1, 0] } else { [0, 1] };
    let (earlier, mut later) = (Sides::of(cx, first)?, Sides::of(cx, cx.op)?);
    let results: Vec<Value> = cx.module().results(first).collect();
    for &op in between.iter().rev() {
        cx.rewriter.move_to(op, tangram_ir::Point::Before(first));
    }
    // Inside, a result of the first is what the region yields.
    for (side, &from) in order.iter().enumerate() {
        let given = earlier.yields[side].clone();
        for (i, &result) in results.iter().enumerate() {
            let uses: Vec<Use> = cx.module().uses(result).collect();
            for used in cx.uses_in_region(&uses, from) {
                cx.rewriter.set_operand(used.op, used.index as usize, *given.get(i)?);
            }
            // What it yields was listed before.
            for value in later.yields[from].iter_mut().filter(|value| **value == result) {
                *value = *given.get(i)?;
            }
        }
    }
    join(cx, first, &earlier, &later, order)
}

/// The blocks of both regions and what they yield; no block for an empty `else`.
struct Sides {
    blocks: [Option<tangram_ir::Block>; 2],
    yields: [Vec<Value>; 2],
}

impl Sides {
    fn of(cx: &Cx<'_, '_>, op: Op) -> Option<Sides> {
        let module = cx.module();
        let blocks = [0, 1].map(|i| module.regions(op).get(i).and_then(|&r| module.first_block(r)));
        let yields = blocks.map(|block| {
            let end = block.and_then(|block| module.last_op(block));
            end.map_or(Vec::new(), |end| module.operands(end).collect())
        });
        let whole = yields.iter().zip(&blocks);
        let count = module.result_count(op);
        let fits = whole.clone().all(|(yields, block)| block.is_none() || yields.len() == count);
        (fits && blocks[0].is_some()).then_some(Sides { blocks, yields })
    }
}

/// Makes one operation of `first` and the one after it.
fn join(
    cx: &mut Cx<'_, '_>,
    first: Op,
    earlier: &Sides,
    later: &Sides,
    order: [usize; 2],
) -> Option<()> {
    use tangram_ir::{OpState, Point};
    let module = cx.module();
    let old: Vec<Value> = module.results(first).chain(module.results(cx.op)).collect();
    let mut state = OpState::new(module.name(cx.op), cx.loc());
    state.operands.push(module.operand(first, 0));
    state.results.extend(old.iter().map(|&value| module.value_type(value)));
    state.regions = 2;
    let new = cx.rewriter.create(Point::Before(cx.op), state);
    for (side, &from) in order.iter().enumerate() {
        let parts = [earlier.blocks[side], later.blocks[from]];
        if parts == [None, None] {
            continue;
        }
        let region = cx.module().region(new, side);
        let block = cx.rewriter.create_block(region, None, &[]);
        for part in parts.into_iter().flatten() {
            if let Some(end) = cx.module().last_op(part) {
                cx.rewriter.erase(end);
            }
            cx.rewriter.merge_blocks(part, block, &[]).ok()?;
        }
        let values = [&earlier.yields[side][..], &later.yields[from][..]].concat();
        let mut end = OpState::new(cx.context.name("scf.yield"), cx.loc());
        end.operands.extend_from_slice(&values);
        cx.rewriter.create(Point::End(block), end);
    }
    for (i, &old) in old.iter().enumerate() {
        let value = cx.module().result(new, i);
        cx.rewriter.replace_uses(old, value);
    }
    cx.rewriter.erase(cx.op);
    cx.rewriter.erase(first);
    Some(())
}

/// Returns whether `not` is the negation of `value`.
fn is_not(cx: &Cx<'_, '_>, not: Value, value: Value) -> bool {
    cx.def_of(not, cx.known.xori).is_some_and(|def| {
        let (a, ones) = (cx.module().operand(def, 0), cx.module().operand(def, 1));
        a == value && cx.int(ones) == Some(-1)
    })
}

fn known_index(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cases = cx.context.as_i64s(cx.module().attr(cx.op, "cases")?)?;
    if cases.is_empty() {
        return cx.take_region(0, &[]);
    }
    let index = cx.int(cx.operand(0))?;
    let at = cases.iter().position(|&case| i128::from(case) == index);
    cx.take_region(at.map_or(0, |i| i + 1), &[])
}
