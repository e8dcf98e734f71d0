//! Canonicalisation of `scf.parallel`: counters with one value, loops that never run, and loops
//! directly inside each other.

use tangram_ir::{Block, Op, Point, Value};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("parallel-known-trips", &["scf.parallel"], known_trips),
    ("parallel-in-parallel", &["scf.parallel"], nested),
];

/// A parallel loop, taken apart.
struct Parallel {
    low: Vec<Value>,
    high: Vec<Value>,
    step: Vec<Value>,
    inits: Vec<Value>,
    body: Block,
    counters: Vec<Value>,
    end: Op,
}

impl Parallel {
    fn of(cx: &Cx<'_, '_>, op: Op) -> Option<Parallel> {
        let module = cx.module();
        let sizes = module.int_list(module.attr_by(op, cx.known.segments)?)?;
        let mut operands = module.operands(op);
        let mut part = |i: usize| -> Option<Vec<Value>> {
            Some(operands.by_ref().take(usize::try_from(*sizes.get(i)?).ok()?).collect())
        };
        let (low, high, step, inits) = (part(0)?, part(1)?, part(2)?, part(3)?);
        let body = module.first_block(*module.regions(op).first()?)?;
        let end = module.last_op(body)?;
        let counters = module.args(body).to_vec();
        let count = low.len();
        let fits = count > 0
            && [high.len(), step.len(), counters.len()] == [count; 3]
            && module.name_text(end) == "scf.reduce"
            && module.operand_count(end) == inits.len()
            && module.regions(end).len() == inits.len();
        fits.then_some(Parallel { low, high, step, inits, body, counters, end })
    }

    /// How often counter `i` counts: 0, 1, or 2 for more than once.
    fn trips(&self, cx: &Cx<'_, '_>, i: usize) -> Option<u8> {
        if self.low[i] == self.high[i] {
            return Some(0);
        }
        let span = cx.int(self.high[i])? - cx.int(self.low[i])?;
        if span <= 0 {
            return Some(0);
        }
        let step = cx.int(self.step[i])?;
        (step > 0).then_some(if span <= step { 1 } else { 2 })
    }
}

/// A loop without iterations gives what it started with; a counter with one value is that value.
fn known_trips(cx: &mut Cx<'_, '_>) -> Option<()> {
    let parts = Parallel::of(cx, cx.op)?;
    let trips: Vec<Option<u8>> = (0..parts.low.len()).map(|i| parts.trips(cx, i)).collect();
    if trips.contains(&Some(0)) {
        return if parts.inits.is_empty() {
            cx.rewriter.erase(cx.op);
            Some(())
        } else {
            cx.replace(&parts.inits)
        };
    }
    let once: Vec<usize> = (0..trips.len()).filter(|&i| trips[i] == Some(1)).collect();
    if once.is_empty() {
        return None;
    }
    if once.len() == trips.len() {
        return run_once(cx, &parts);
    }
    let kept = |values: &[Value]| -> Vec<Value> {
        let all = values.iter().enumerate();
        all.filter(|(i, _)| !once.contains(i)).map(|(_, &value)| value).collect()
    };
    let (low, high, step) = (kept(&parts.low), kept(&parts.high), kept(&parts.step));
    let count = low.len();
    for &i in once.iter().rev() {
        cx.rewriter.replace_uses(parts.counters[i], parts.low[i]);
        cx.rewriter.erase_argument(parts.body, i);
    }
    let sizes = cx.module().i32s_attr([count, count, count, parts.inits.len()]);
    cx.rewriter.set_operands(cx.op, &[low, high, step, parts.inits].concat());
    cx.set_attr(cx.known.segments, Some(sizes));
    Some(())
}

/// The body in the place of the loop: each reduction combines two values.
fn run_once(cx: &mut Cx<'_, '_>, parts: &Parallel) -> Option<()> {
    let module = cx.module();
    let given: Vec<Value> = module.operands(parts.end).collect();
    let regions = module.regions(parts.end).to_vec();
    let blocks: Option<Vec<Block>> =
        regions.iter().map(|&region| module.first_block(region)).collect();
    let blocks = blocks?;
    let fits = |&block: &Block| {
        let end = module.last_op(block);
        module.args(block).len() == 2 && end.is_some_and(|end| module.operand_count(end) == 1)
    };
    if !blocks.iter().all(fits) {
        return None;
    }
    let mut results = Vec::new();
    for (i, &block) in blocks.iter().enumerate() {
        let end = cx.module().last_op(block)?;
        let args = [parts.inits[i], given[i]];
        cx.rewriter.inline_block(block, Point::Before(parts.end), &args).ok()?;
        results.push(cx.module().operand(end, 0));
        cx.rewriter.erase(end);
    }
    cx.rewriter.erase(parts.end);
    // What a reduction yields may be a counter.
    let results: Vec<Value> = results
        .into_iter()
        .map(|value| match parts.counters.iter().position(|&counter| counter == value) {
            Some(i) => parts.low[i],
            None => value,
        })
        .collect();
    cx.rewriter.inline_block(parts.body, Point::Before(cx.op), &parts.low).ok()?;
    cx.rewriter.replace(cx.op, &results).ok()
}

/// A loop that holds nothing but a loop whose bounds it does not make, both without reductions.
fn nested(cx: &mut Cx<'_, '_>) -> Option<()> {
    let outer = Parallel::of(cx, cx.op)?;
    let module = cx.module();
    let inner = module.first_op(outer.body)?;
    let alone = module.name(inner) == module.name(cx.op) && module.next(inner) == Some(outer.end);
    if !alone || !outer.inits.is_empty() {
        return None;
    }
    let parts = Parallel::of(cx, inner)?;
    let bounds = [&parts.low[..], &parts.high[..], &parts.step[..]].concat();
    if !parts.inits.is_empty() || bounds.iter().any(|&value| !cx.is_outside(value)) {
        return None;
    }
    let index = cx.type_of(outer.counters[0]);
    let mut counters = Vec::new();
    for _ in &parts.counters {
        counters.push(cx.rewriter.add_argument(outer.body, index));
    }
    cx.rewriter.erase(parts.end);
    cx.rewriter.inline_block(parts.body, Point::Before(inner), &counters).ok()?;
    cx.rewriter.erase(inner);
    let count = outer.low.len() + parts.low.len();
    let operands = [outer.low, parts.low, outer.high, parts.high, outer.step, parts.step].concat();
    let sizes = cx.module().i32s_attr([count, count, count, 0]);
    cx.rewriter.set_operands(cx.op, &operands);
    cx.set_attr(cx.known.segments, Some(sizes));
    Some(())
}
