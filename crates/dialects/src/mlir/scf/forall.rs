//! Canonicalisation of `scf.forall`: numbers in the place of constant bounds, counters with one
//! value, loops that never run or run once, and outputs that need not be.

use tangram_ir::{AttrData, Block, Op, OpState, Point, TypeData, Use, Value};

use crate::mlir::extents::in_bounds;
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed, OFFSETS, SIZES, STRIDES};
use crate::mlir::tensor::{cast_to, says_more};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("forall-by-numbers", &["scf.forall"], by_numbers),
    ("forall-known-trips", &["scf.forall"], known_trips),
    ("forall-unneeded-outputs", &["scf.forall"], unneeded_outputs),
    ("forall-output-past-cast", &["scf.forall"], output_past_cast),
    ("dim-of-forall", &["tensor.dim"], dim_of_result),
];

/// The lists of bounds.
const LOW: usize = 0;
const HIGH: usize = 1;
const STEP: usize = 2;

/// A loop, taken apart.
struct Forall {
    /// Bounds and steps, and behind them the outputs.
    mixed: Mixed,
    body: Block,
    counters: Vec<Value>,
    /// What the body sees of each output.
    args: Vec<Value>,
    end: Op,
    inserts: Vec<Op>,
}

impl Forall {
    fn of(cx: &Cx<'_, '_>) -> Option<Forall> {
        let module = cx.module();
        let mixed = Mixed::of(module, cx.op)?;
        let body = cx.only_block(0)?;
        let end = module.last_op(body)?;
        let count = mixed.lists[LOW].len();
        let all = module.args(body);
        let fits = module.name_text(end) == "scf.forall.in_parallel"
            && [mixed.lists[HIGH].len(), mixed.lists[STEP].len()] == [count; 2]
            && all.len() == count + mixed.rest.len()
            && module.result_count(cx.op) == mixed.rest.len();
        let (counters, args) = all.split_at_checked(count).filter(|_| fits)?;
        let region = *module.regions(end).first()?;
        let inserts: Vec<Op> =
            module.first_block(region).map_or_else(Vec::new, |block| module.ops(block).collect());
        let known = |&op: &Op| {
            module.name_text(op) == "tensor.parallel_insert_slice"
                && args.contains(&module.operand(op, 1))
        };
        let (counters, args) = (counters.to_vec(), args.to_vec());
        let known = inserts.iter().all(known);
        known.then_some(Forall { mixed, body, counters, args, end, inserts })
    }

    /// How often counter `i` counts: 0, 1, or 2 for more than once.
    fn trips(&self, i: usize) -> Option<u8> {
        let [low, high, step] = [LOW, HIGH, STEP].map(|list| self.mixed.lists[list][i]);
        if low == high {
            return Some(0);
        }
        let span = i128::from(high.number()?) - i128::from(low.number()?);
        let step = step.number();
        // A step of 0 has no meaning.
        if span <= 0 || step == Some(0) {
            return Some(0);
        }
        let step = step.filter(|&step| step > 0)?;
        Some(if span <= step.into() { 1 } else { 2 })
    }

    /// Which output `insert` writes to.
    fn output(&self, cx: &Cx<'_, '_>, insert: Op) -> Option<usize> {
        let target = cx.module().operand(insert, 1);
        self.args.iter().position(|&arg| arg == target)
    }
}

/// Gives `op` the bounds and outputs of `mixed`.
fn set_bounds(cx: &mut Cx<'_, '_>, op: Op, mixed: &Mixed) {
    let attrs = mixed.attrs(cx, cx.module().attrs(op));
    let operands = mixed.operands();
    cx.rewriter.modify_in_place(op, |edit| {
        edit.set_operands(&operands);
        edit.set_attrs(attrs);
    });
}

fn by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    if !mixed.fix(cx, |list, _, n| list != STEP || n > 0) {
        return None;
    }
    set_bounds(cx, cx.op, &mixed);
    Some(())
}

/// A bound as a value.
fn value(cx: &mut Cx<'_, '_>, entry: Entry, counter: Value) -> Option<Value> {
    match entry {
        Entry::Value(value) => Some(value),
        Entry::Number(n) => cx.int_constant(n.into(), cx.type_of(counter)),
    }
}

/// Returns whether counters stand for processors.
fn is_mapped(cx: &Cx<'_, '_>) -> bool {
    cx.module().attr(cx.op, "mapping").is_some_and(|attr| match cx.context.attr_data(attr) {
        AttrData::Array(items) => !items.is_empty(),
        AttrData::I64s(items) => !items.is_empty(),
        _ => true,
    })
}

/// A loop that does not run gives its outputs as they were; a counter with one value is that
/// value, unless it stands for a processor.
fn known_trips(cx: &mut Cx<'_, '_>) -> Option<()> {
    let parts = Forall::of(cx)?;
    if is_mapped(cx) {
        return one_value_of_processors(cx, &parts);
    }
    let mut trips: Vec<Option<u8>> = (0..parts.counters.len()).map(|i| parts.trips(i)).collect();
    for (i, step) in parts.mixed.lists[STEP].iter().enumerate() {
        if matches!(*step, Entry::Value(value) if cx.int(value) == Some(0)) {
            trips[i] = Some(0);
        }
    }
    if trips.contains(&Some(0)) {
        return leave(cx, &parts.mixed.rest);
    }
    if trips.iter().all(|&trips| trips == Some(1)) {
        return run_once(cx, &parts);
    }
    let mut mixed = parts.mixed.clone();
    let once: Vec<usize> = (0..trips.len()).filter(|&i| trips[i] == Some(1)).collect();
    for &i in once.iter().rev() {
        let low = value(cx, mixed.lists[LOW][i], parts.counters[i])?;
        cx.rewriter.replace_uses(parts.counters[i], low);
        cx.rewriter.erase_argument(parts.body, i);
        for list in &mut mixed.lists {
            list.remove(i);
        }
    }
    (!once.is_empty()).then(|| set_bounds(cx, cx.op, &mixed))
}

/// Counters that stand for processors stay, but one that has one value is that value.
fn one_value_of_processors(cx: &mut Cx<'_, '_>, parts: &Forall) -> Option<()> {
    let mut changed = None;
    for (i, &counter) in parts.counters.iter().enumerate() {
        if parts.trips(i) == Some(1) && cx.module().has_uses(counter) {
            let low = value(cx, parts.mixed.lists[LOW][i], counter)?;
            cx.rewriter.replace_uses(counter, low);
            changed = Some(());
        }
    }
    changed
}

/// Replaces the loop by `values`, of which there may be none.
fn leave(cx: &mut Cx<'_, '_>, values: &[Value]) -> Option<()> {
    if values.is_empty() {
        cx.rewriter.erase(cx.op);
        return Some(());
    }
    cx.replace(values)
}

/// The body in the place of the loop: what it inserts is inserted one after the other.
fn run_once(cx: &mut Cx<'_, '_>, parts: &Forall) -> Option<()> {
    let mut inputs = Vec::with_capacity(parts.counters.len());
    for (&low, &counter) in parts.mixed.lists[LOW].iter().zip(&parts.counters) {
        inputs.push(value(cx, low, counter)?);
    }
    inputs.extend_from_slice(&parts.mixed.rest);
    let mut results = parts.args.clone();
    for &insert in &parts.inserts {
        let at = parts.output(cx, insert)?;
        let module = cx.module();
        let mut state = OpState::new(cx.context.name("tensor.insert_slice"), module.loc(insert));
        state.operands.extend(module.operands(insert));
        state.operands[1] = results[at];
        state.attrs = module.attrs(insert);
        state.results.push(cx.type_of(results[at]));
        let made = cx.rewriter.create(Point::Before(parts.end), state);
        results[at] = cx.module().result(made, 0);
    }
    cx.rewriter.erase(parts.end);
    for (i, result) in results.iter_mut().enumerate().filter(|(i, r)| **r == parts.args[*i]) {
        *result = parts.mixed.rest[i];
    }
    cx.rewriter.inline_block(parts.body, Point::Before(cx.op), &inputs).ok()?;
    leave(cx, &results)
}

/// Outputs that no iteration writes to are what they were; those whose results nobody uses need
/// not be written.
fn unneeded_outputs(cx: &mut Cx<'_, '_>) -> Option<()> {
    let parts = Forall::of(cx)?;
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    let written: Vec<Option<usize>> =
        parts.inserts.iter().map(|&insert| parts.output(cx, insert)).collect();
    let needed = |i: usize| cx.module().has_uses(results[i]) && written.contains(&Some(i));
    let keep: Vec<bool> = (0..results.len()).map(needed).collect();
    if !keep.contains(&false) {
        return None;
    }
    for (&insert, at) in parts.inserts.iter().zip(&written) {
        if at.is_some_and(|at| !keep[at]) {
            cx.rewriter.erase(insert);
        }
    }
    let (mut mixed, first) = (parts.mixed, parts.counters.len());
    for i in (0..keep.len()).rev().filter(|&i| !keep[i]) {
        let output = mixed.rest.remove(i);
        cx.rewriter.replace_uses(parts.args[i], output);
        cx.rewriter.replace_uses(results[i], output);
        cx.rewriter.erase_argument(parts.body, first + i);
    }
    let new = cx.rewriter.erase_results(cx.op, |i| keep[i]);
    set_bounds(cx, new, &mixed);
    Some(())
}

/// Returns whether what `insert` writes is not known to lie outside of a tensor like `whole`.
fn fits(cx: &Cx<'_, '_>, insert: Op, whole: Value) -> Option<bool> {
    let mixed = Mixed::of(cx.module(), insert)?;
    let TypeData::Tensor(whole) = cx.context.type_data(cx.type_of(whole)) else { return None };
    Some(in_bounds(&whole.dims, &mixed.held(OFFSETS), &mixed.held(SIZES), &mixed.held(STRIDES)))
}

/// An output may be of the type that says more.
fn output_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let parts = Forall::of(cx)?;
    let cast = cx.context.name("tensor.cast");
    let before = |&output: &Value| {
        let source = cx.module().operand(cx.def_of(output, cast)?, 0);
        says_more(cx, cx.type_of(source), cx.type_of(output)).then_some(source)
    };
    let outputs = parts.mixed.rest.iter().map(before);
    let (at, source) = outputs.enumerate().find_map(|(at, source)| Some((at, source?)))?;
    let written: Vec<Op> = parts.inserts.clone();
    for &insert in written.iter().filter(|&&insert| parts.output(cx, insert) == Some(at)) {
        if !fits(cx, insert, source)? {
            return None;
        }
    }
    let (ty, arg) = (cx.type_of(source), parts.args[at]);
    let old = cx.type_of(arg);
    let mut mixed = parts.mixed;
    mixed.rest[at] = source;
    let module = cx.module();
    let mut state = OpState::new(module.name(cx.op), cx.loc());
    state.operands = mixed.operands().into();
    state.attrs = module.attrs(cx.op);
    state.results.extend(module.results(cx.op).map(|result| module.value_type(result)));
    state.results[at] = ty;
    state.regions = 1;
    let made = cx.rewriter.create(Point::Before(cx.op), state);
    let (from, to) = (cx.module().region(cx.op, 0), cx.module().region(made, 0));
    cx.rewriter.inline_region(from, to, None);
    cx.rewriter.set_argument_type(parts.body, parts.counters.len() + at, ty);
    let arg = cx.module().args(parts.body)[parts.counters.len() + at];
    let reads: Vec<Use> = cx.module().uses(arg).collect();
    let is_target = |used: &Use| written.contains(&used.op) && used.index == 1;
    if !reads.iter().all(is_target) {
        let mut state = OpState::new(cast, cx.loc());
        state.operands.push(arg);
        state.results.push(old);
        let seen = cx.rewriter.create(Point::Start(parts.body), state);
        let value = cx.module().result(seen, 0);
        cx.rewriter.replace_uses_if(arg, value, |used| !is_target(&used) && used.op != seen);
    }
    let mut results: Vec<Value> = cx.module().results(made).collect();
    results[at] = cast_to(cx, results[at], old);
    cx.replace(&results)
}

/// An extent of an output stays what it was.
fn dim_of_result(cx: &mut Cx<'_, '_>) -> Option<()> {
    let value = cx.operand(0);
    let module = cx.module();
    let def = cx.def(0, cx.context.name("scf.forall"))?;
    let at = module.results(def).position(|result| result == value)?;
    let output = *Mixed::of(module, def)?.rest.get(at)?;
    cx.rewriter.set_operand(cx.op, 0, output);
    Some(())
}
