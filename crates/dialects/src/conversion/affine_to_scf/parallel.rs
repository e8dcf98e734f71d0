//! `affine.parallel` becomes `scf.parallel`: a counter starts at the greatest of its lower bounds
//! and stays below the least of its upper ones; a reduction starts at its neutral element.

use tangram_affine::AffineMap;
use tangram_ir::{
    Attr, AttrData, Block, Context, Module, Op, OpState, Point, Signedness, Type, TypeData, Value,
};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Maker, finish, malformed, map};
use crate::conversion::Matched;
use crate::mlir::integers;

/// What starts a reduction.
#[derive(Clone, Copy)]
enum Neutral {
    Zero,
    One,
    AllOnes,
    Least,
    Greatest,
    NotANumber,
}

/// By MLIR's number of the reduction: the operation that combines two values, and its neutral
/// element. Of an assignment there is none.
const REDUCTIONS: [Option<(&str, Neutral)>; 16] = [
    Some(("arith.addf", Neutral::Zero)),
    Some(("arith.addi", Neutral::Zero)),
    Some(("arith.andi", Neutral::AllOnes)),
    None,
    Some(("arith.maximumf", Neutral::Least)),
    Some(("arith.maxnumf", Neutral::NotANumber)),
    Some(("arith.maxsi", Neutral::Least)),
    Some(("arith.maxui", Neutral::Zero)),
    Some(("arith.minimumf", Neutral::Greatest)),
    Some(("arith.minnumf", Neutral::NotANumber)),
    Some(("arith.minsi", Neutral::Greatest)),
    Some(("arith.minui", Neutral::AllOnes)),
    Some(("arith.mulf", Neutral::One)),
    Some(("arith.muli", Neutral::One)),
    Some(("arith.ori", Neutral::Zero)),
    Some(("arith.xori", Neutral::Zero)),
];

/// Bounds of all counters: a map whose results come in groups, one group for each counter.
struct Bounds {
    map: AffineMap,
    groups: Vec<usize>,
    operands: Vec<Value>,
}

impl Bounds {
    fn read(
        rewriter: &Rewriter<'_>,
        op: Op,
        [map_name, groups_name]: [&str; 2],
        operands: &[Value],
        counters: usize,
    ) -> Result<Bounds, NoMatch> {
        let map = map(rewriter, op, map_name, operands.len())?;
        let module = rewriter.module();
        let groups = module.attr(op, groups_name);
        let groups = groups.and_then(|attr| integers(module.context(), attr, counters));
        let groups: Option<Vec<usize>> =
            groups.and_then(|g| g.into_iter().map(|n| usize::try_from(n).ok()).collect());
        let fits = |groups: &Vec<usize>| {
            groups.iter().all(|&n| n > 0) && groups.iter().sum::<usize>() == map.results().len()
        };
        let groups = groups.filter(fits).ok_or_else(|| malformed(rewriter))?;
        Ok(Bounds { map, groups, operands: operands.to_vec() })
    }

    /// One value for each counter.
    fn make(&self, maker: &mut Maker<'_, '_>, join: &str) -> Vec<Value> {
        let mut all = maker.results(&self.map, &self.operands).into_iter();
        let mut bounds = Vec::new();
        for &size in &self.groups {
            let group: Vec<Value> = all.by_ref().take(size).collect();
            bounds.extend(group.into_iter().reduce(|a, b| maker.binary(join, a, b)));
        }
        bounds
    }
}

pub(super) fn convert_parallel(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let context = module.context_arc().clone();
    let operands: Vec<Value> = module.operands(op).collect();
    let steps = module.attr(op, "steps").and_then(|attr| context.as_i64s(attr));
    let inputs = module.attr(op, "lowerBoundsMap").and_then(|attr| context.as_affine_map(attr));
    let parts = inputs.and_then(|map| operands.split_at_checked(map.inputs()));
    let reductions = reductions(module, op);
    let (Some(steps), Some((low, high)), Some(reductions)) = (steps, parts, reductions) else {
        return Err(malformed(rewriter));
    };
    let results: Vec<Type> = module.results(op).map(|value| module.value_type(value)).collect();
    let body = module.regions(op).first().and_then(|&region| module.first_block(region));
    let Some(body) = body.filter(|_| reductions.len() == results.len()) else {
        return Err(malformed(rewriter));
    };
    let read = |names, part: &[Value]| Bounds::read(rewriter, op, names, part, steps.len());
    let lower = read(["lowerBoundsMap", "lowerBoundsGroups"], low)?;
    let upper = read(["upperBoundsMap", "upperBoundsGroups"], high)?;
    let neutral: Option<Vec<Attr>> =
        reductions.iter().zip(&results).map(|(&(_, n), &ty)| neutral(&context, n, ty)).collect();
    let Some(neutral) = neutral else { return Err(malformed(rewriter)) };
    let mut maker = Maker::new(rewriter, op);
    let first = lower.make(&mut maker, "arith.maxsi");
    let last = upper.make(&mut maker, "arith.minsi");
    let steps: Vec<Value> = steps.into_iter().map(|step| maker.number(step)).collect();
    let inits: Vec<Value> = neutral
        .into_iter()
        .zip(&results)
        .map(|(attr, &ty)| {
            let attrs = context.dict([(context.str("value"), attr)]);
            maker.make("arith.constant", &[], attrs, ty)
        })
        .collect();
    let module = rewriter.module();
    let mut state = OpState::new(context.name("scf.parallel"), module.loc(op));
    let sizes = [first.len(), last.len(), steps.len(), inits.len()];
    let segments = module.i32s_attr(sizes);
    state.attrs = context.dict([(context.str("operandSegmentSizes"), segments)]);
    state.operands.extend([first, last, steps, inits].concat());
    state.results.extend(results.iter().copied());
    state.regions = 1;
    let new = rewriter.create(Point::Before(op), state);
    let (from, to) = (rewriter.module().region(op, 0), rewriter.module().region(new, 0));
    rewriter.inline_region(from, to, None);
    let names: Vec<&str> = reductions.iter().map(|&(name, _)| name).collect();
    reduce(rewriter, body, &names)?;
    let values: Vec<Value> = rewriter.module().results(new).collect();
    finish(rewriter, op, &values)
}

/// For each result, how its values are combined.
fn reductions(module: &Module, op: Op) -> Option<Vec<(&'static str, Neutral)>> {
    let context = module.context();
    let numbers = context.as_i64s(module.attr(op, "reductions")?)?;
    let known = |number: i64| *REDUCTIONS.get(usize::try_from(number).ok()?)?;
    numbers.into_iter().map(known).collect()
}

/// `scf.reduce` in the place of the yield that ends `body`, with a region for each reduction.
fn reduce(rewriter: &mut Rewriter<'_>, body: Block, names: &[&str]) -> Matched {
    let module = rewriter.module();
    let context = module.context_arc().clone();
    let Some(end) = module.last_op(body).filter(|&end| module.operand_count(end) == names.len())
    else {
        return Err(malformed(rewriter));
    };
    let loc = module.loc(end);
    let mut state = OpState::new(context.name("scf.reduce"), loc);
    state.operands.extend(module.operands(end));
    state.regions = names.len() as u32;
    let types: Vec<Type> = module.operands(end).map(|value| module.value_type(value)).collect();
    let made = rewriter.create(Point::Before(end), state);
    rewriter.erase(end);
    for (i, (name, ty)) in names.iter().zip(types).enumerate() {
        let region = rewriter.module().region(made, i);
        let block = rewriter.create_block(region, None, &[ty, ty]);
        let mut state = OpState::new(context.name(name), loc);
        state.operands.extend_from_slice(rewriter.module().args(block));
        state.results.push(ty);
        let combined = rewriter.create(Point::End(block), state);
        let mut state = OpState::new(context.name("scf.reduce.return"), loc);
        state.operands.push(rewriter.module().result(combined, 0));
        rewriter.create(Point::End(block), state);
    }
    Ok(())
}

fn neutral(context: &Context, neutral: Neutral, ty: Type) -> Option<Attr> {
    match *context.type_data(ty) {
        // Arithmetic is on integers without a sign.
        TypeData::Integer { width, sign: Signedness::Signless } => {
            let value = match neutral {
                Neutral::Zero => 0,
                Neutral::One => 1,
                Neutral::AllOnes => -1,
                Neutral::Least => i128::MIN >> 128u32.checked_sub(width)?,
                Neutral::Greatest => i128::MAX >> 128u32.checked_sub(width)?,
                Neutral::NotANumber => return None,
            };
            Some(whole(context, value, width, ty))
        }
        TypeData::Index => match neutral {
            Neutral::Zero => Some(whole(context, 0, 64, ty)),
            Neutral::One => Some(whole(context, 1, 64, ty)),
            Neutral::AllOnes => Some(whole(context, -1, 64, ty)),
            Neutral::Least => Some(whole(context, i64::MIN.into(), 64, ty)),
            Neutral::Greatest => Some(whole(context, i64::MAX.into(), 64, ty)),
            Neutral::NotANumber => None,
        },
        TypeData::Float(_) => {
            let value = match neutral {
                Neutral::Zero => 0.0,
                Neutral::One => 1.0,
                Neutral::Least => f64::NEG_INFINITY,
                Neutral::Greatest => f64::INFINITY,
                Neutral::NotANumber => f64::NAN,
                Neutral::AllOnes => return None,
            };
            Some(context.attr(AttrData::Float { bits: value.to_bits(), ty }))
        }
        _ => None,
    }
}

fn whole(context: &Context, value: i128, width: u32, ty: Type) -> Attr {
    match width {
        1 => context.bool_attr(value != 0),
        _ => context.attr(AttrData::Integer { value, ty }),
    }
}
