//! `scf.parallel` and `scf.forall` as a nest of `scf.for`, outermost counter first.
//!
//! A reduction is carried through the loops: its region stands at the end of the innermost body,
//! with the value so far and that of the iteration as its arguments.

use tangram_ir::{AttrData, Block, Loc, Module, Op, Point, TypeData, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Words, finish, malformed, state, take_end, types};

/// Bounds and steps of the counters, and initial values.
struct Nest {
    low: Vec<Value>,
    high: Vec<Value>,
    step: Vec<Value>,
    inits: Vec<Value>,
}

impl Nest {
    fn read(module: &Module, op: Op) -> Option<Nest> {
        let segments = module.attr(op, "operandSegmentSizes")?;
        let sizes = module.int_list(segments)?;
        let mut operands = module.operands(op);
        let mut part = |i: usize| -> Option<Vec<Value>> {
            let size = usize::try_from(*sizes.get(i)?).ok()?;
            Some(operands.by_ref().take(size).collect())
        };
        let nest = Nest { low: part(0)?, high: part(1)?, step: part(2)?, inits: part(3)? };
        let count = nest.low.len();
        (count > 0 && nest.high.len() == count && nest.step.len() == count).then_some(nest)
    }

    /// Bounds and steps of a `scf.forall`, of which some are numbers.
    fn read_mixed(words: &Words, rewriter: &mut Rewriter<'_>, op: Op) -> Option<Nest> {
        let module = rewriter.module();
        let context = module.context_arc().clone();
        let sizes = module.int_list(module.attr(op, "operandSegmentSizes")?)?;
        let mut operands = module.operands(op).collect::<Vec<_>>().into_iter();
        let names = ["staticLowerBound", "staticUpperBound", "staticStep"];
        let mut lists = Vec::new();
        for (name, &size) in names.into_iter().zip(&sizes) {
            let numbers = context.as_i64s(rewriter.module().attr(op, name)?)?;
            let mut dynamic = operands.by_ref().take(usize::try_from(size).ok()?);
            let mut list = Vec::new();
            for number in numbers {
                list.push(match number {
                    DYNAMIC => dynamic.next()?,
                    _ => number_before(words, rewriter, op, number),
                });
            }
            lists.push(list);
        }
        let [low, high, step] = <[Vec<Value>; 3]>::try_from(lists).ok()?;
        let fits = !low.is_empty() && high.len() == low.len() && step.len() == low.len();
        fits.then_some(Nest { low, high, step, inits: Vec::new() })
    }
}

/// Stands for a bound or step that an operand gives.
const DYNAMIC: i64 = i64::MIN;

fn number_before(words: &Words, rewriter: &mut Rewriter<'_>, op: Op, number: i64) -> Value {
    let module = rewriter.module();
    let context = module.context();
    let ty = context.ty(TypeData::Index);
    let value = context.attr(AttrData::Integer { value: number.into(), ty });
    let mut made = state(words.constant, &[], Some(ty), module.loc(op));
    made.attrs = context.dict([(context.str("value"), value)]);
    let made = rewriter.create(Point::Before(op), made);
    rewriter.module().result(made, 0)
}

/// A `scf.forall` without outputs; with outputs it writes to parts of tensors, which loops do not.
pub(super) fn convert_forall(words: &Words, rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let body = module.regions(op).first().and_then(|&region| module.first_block(region));
    let end = body.and_then(|body| module.last_op(body));
    let (Some(body), Some(end)) = (body, end) else { return Err(malformed(rewriter)) };
    let writes = module.regions(end).iter().filter_map(|&region| module.first_block(region));
    let silent = module.name(end) == words.in_parallel
        && writes.into_iter().all(|block| module.first_op(block).is_none());
    if !silent || module.result_count(op) > 0 {
        return Err(rewriter.no_match(|| "expected no outputs".to_owned()));
    }
    let nest = Nest::read_mixed(words, rewriter, op);
    let nest = nest.filter(|nest| rewriter.module().args(body).len() == nest.low.len());
    let Some(nest) = nest else { return Err(malformed(rewriter)) };
    rewriter.erase(end);
    make_loops(words, rewriter, op, (body, &nest), |_, _| Ok(Vec::new()))
}

pub(super) fn convert_parallel(words: &Words, rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let body = module.regions(op).first().and_then(|&region| module.first_block(region));
    let (Some(nest), Some(body)) = (Nest::read(module, op), body) else {
        return Err(malformed(rewriter));
    };
    if module.args(body).len() != nest.low.len() || module.result_count(op) != nest.inits.len() {
        return Err(malformed(rewriter));
    }
    make_loops(words, rewriter, op, (body, &nest), |rewriter, carried| {
        combine(words, rewriter, body, carried)
    })
}

/// Puts a nest of loops around what `body` does, in the place of `op`. `combine` says what an
/// iteration hands on of what it carries.
fn make_loops(
    words: &Words,
    rewriter: &mut Rewriter<'_>,
    op: Op,
    (body, nest): (Block, &Nest),
    combine: impl FnOnce(&mut Rewriter<'_>, &[Value]) -> Result<Vec<Value>, NoMatch>,
) -> Matched {
    let loc = rewriter.module().loc(op);
    let (mut point, mut carried) = (Point::Before(op), nest.inits.clone());
    let (mut counters, mut loops) = (Vec::new(), Vec::new());
    for i in 0..nest.low.len() {
        let operands = [&[nest.low[i], nest.high[i], nest.step[i]], &carried[..]].concat();
        let (made, inside) = counted_loop(words, rewriter, point, &operands, loc);
        let args = rewriter.module().args(inside).to_vec();
        counters.push(args[0]);
        carried = args[1..].to_vec();
        loops.push((made, inside));
        point = Point::End(inside);
    }
    let Some(&(_, innermost)) = loops.last() else { return Err(malformed(rewriter)) };
    // First, since what is reduced may be a counter.
    for (&old, &new) in rewriter.module().args(body).to_vec().iter().zip(&counters) {
        rewriter.replace_uses(old, new);
    }
    let combined = combine(rewriter, &carried)?;
    for inner in rewriter.module().ops(body).collect::<Vec<_>>() {
        rewriter.move_to(inner, Point::End(innermost));
    }
    let mut given = combined;
    for &(made, inside) in loops.iter().rev() {
        rewriter.create(Point::End(inside), state(words.yields, &given, None, loc));
        given = rewriter.module().results(made).collect();
    }
    finish(rewriter, op, &given)
}

/// An empty loop that carries the operands behind the first three; and its body.
fn counted_loop(
    words: &Words,
    rewriter: &mut Rewriter<'_>,
    point: Point,
    operands: &[Value],
    loc: Loc,
) -> (Op, Block) {
    let module = rewriter.module();
    let carried = types(module, operands[3..].iter().copied());
    let counter = module.value_type(operands[0]);
    let mut made = state(words.counted_loop, operands, None, loc);
    made.results.extend(carried.iter().copied());
    made.regions = 1;
    let made = rewriter.create(point, made);
    let region = rewriter.module().region(made, 0);
    let args = [&[counter], &carried[..]].concat();
    (made, rewriter.create_block(region, None, &args))
}

/// Puts the regions of the reduction that ends `body` at its end; gives the combined values.
fn combine(
    words: &Words,
    rewriter: &mut Rewriter<'_>,
    body: Block,
    carried: &[Value],
) -> Result<Vec<Value>, NoMatch> {
    let module = rewriter.module();
    let Some(end) = module.last_op(body).filter(|&end| module.name(end) == words.reduce) else {
        return Err(malformed(rewriter));
    };
    let operands: Vec<Value> = module.operands(end).collect();
    let blocks: Option<Vec<Block>> =
        module.regions(end).iter().map(|&region| module.first_block(region)).collect();
    let blocks = blocks.filter(|blocks| {
        let binary = |&block: &Block| module.args(block).len() == 2;
        blocks.len() == carried.len()
            && operands.len() == carried.len()
            && blocks.iter().all(binary)
    });
    let Some(blocks) = blocks else { return Err(malformed(rewriter)) };
    let mut combined = Vec::new();
    for ((block, &so_far), &new) in blocks.into_iter().zip(carried).zip(&operands) {
        let given = take_end(rewriter, block, words.reduce_return)?;
        let args = rewriter.module().args(block).to_vec();
        // What a region gives may be one of its arguments.
        let value = |value: Value| match args.iter().position(|&arg| arg == value) {
            Some(0) => so_far,
            Some(_) => new,
            None => value,
        };
        combined.extend(given.iter().copied().map(value));
        rewriter.replace_uses(args[0], so_far);
        rewriter.replace_uses(args[1], new);
        for inner in rewriter.module().ops(block).collect::<Vec<_>>() {
            rewriter.move_to(inner, Point::Before(end));
        }
    }
    rewriter.erase(end);
    Ok(combined)
}
