//! Types of operations with regions: what goes around a loop has every type that it takes.
//!
//! The arguments of a loop's body start from the operands' types. The body is inferred with them,
//! and what it yields is joined to what was assumed, until nothing changes: the least types that
//! hold in every step. Each join only forgets, so the rounds are few.

use tangram_affine::symbolic::{Expr, Truth};
use tangram_ir::{Block, Context, Dim, Module, Op, Type, TypeData, Value};

use super::container::{held_type, sequence_type};
use crate::attrs::Attrs;
use crate::infer::value_contents;
use crate::{constant, dims};

/// Loops nested deeper than this keep the types that they have: each level costs a factor.
const MAX_DEPTH: u32 = 4;
/// Rounds after which arguments that still change are left open.
const MAX_ROUNDS: u32 = 6;

/// Infers the types of the arguments of the regions of `op`, of all that is in them, and of its
/// results. Nothing but `nn.if`, `nn.loop`, `nn.scan` and `nn.sequence_map` is changed.
///
/// The types before have to hold whatever the operands are. Cost: linear in the regions but for
/// the rounds, a few for each level of nesting.
pub fn infer_regions(module: &mut Module, op: Op) {
    infer_nested(module, op, 0);
}

fn infer_nested(module: &mut Module, op: Op, depth: u32) {
    if depth >= MAX_DEPTH {
        return;
    }
    match module.name_text(op) {
        "nn.if" => infer_if(module, op, depth),
        "nn.loop" => infer_loop(module, op, depth),
        "nn.scan" => infer_scan(module, op, depth),
        "nn.sequence_map" => infer_map(module, op, depth),
        _ => {}
    }
}

fn body(module: &Module, op: Op, i: usize) -> Option<Block> {
    module.first_block(*module.regions(op).get(i)?)
}

/// The types that `block` yields.
fn yielded(module: &Module, block: Block) -> Vec<Type> {
    let Some(last) = module.last_op(block) else { return Vec::new() };
    module.operands(last).map(|value| module.value_type(value)).collect()
}

fn operand_types(module: &Module, op: Op) -> Vec<Type> {
    module.operands(op).map(|value| module.value_type(value)).collect()
}

fn set_results(module: &mut Module, op: Op, types: &[Type]) {
    let results: Vec<Value> = module.results(op).collect();
    for (value, &ty) in results.into_iter().zip(types) {
        module.set_value_type(value, ty);
    }
}

/// Infers the operations of `block` from the front.
fn infer_block(module: &mut Module, block: Block, depth: u32) {
    let ops: Vec<Op> = module.ops(block).collect();
    for op in ops {
        if !module.regions(op).is_empty() {
            infer_nested(module, op, depth + 1);
            continue;
        }
        let operands: Vec<Value> = module.operands(op).collect();
        let (name, attrs, count) = (module.name(op), module.attrs(op), module.result_count(op));
        let has_inference = module.context().def(name).is_some_and(|def| def.infer.is_some());
        if count == 0 || !has_inference {
            continue;
        }
        let results: Vec<Value> = module.results(op).collect();
        match module.infer(name, &operands, attrs, Some(count)) {
            Ok(inferred) => {
                for (i, &value) in results.iter().enumerate() {
                    if let Some(&ty) = inferred.types.get(i) {
                        module.set_value_type(value, ty);
                    }
                    module.set_contents(value, inferred.contents.get(i).copied().flatten());
                }
            }
            Err(_) => {
                for value in results {
                    let open = open(module.context(), module.value_type(value));
                    module.set_value_type(value, open);
                    module.set_contents(value, None);
                }
            }
        }
    }
}

fn infer_if(module: &mut Module, op: Op, depth: u32) {
    let (Some(yes), Some(no)) = (body(module, op, 0), body(module, op, 1)) else { return };
    infer_block(module, yes, depth);
    infer_block(module, no, depth);
    let types = either(module, op, [yes, no]);
    set_results(module, op, &types);
}

/// The types of the results of an `nn.if`, whichever of its two blocks runs. A result that is known
/// to have the rank that only one of them yields is what that one yields.
fn either(module: &Module, op: Op, [yes, no]: [Block; 2]) -> Vec<Type> {
    let context = module.context();
    let rank = |ty| context.as_tensor(ty).map(|(dims, _)| dims.len());
    let known = module.results(op).map(|value| rank(module.value_type(value)));
    let pairs = yielded(module, yes).into_iter().zip(yielded(module, no));
    let types = known.zip(pairs).map(|(known, (a, b))| match (known, rank(a), rank(b)) {
        (Some(known), Some(yes), Some(no)) if yes != no && known == yes => a,
        (Some(known), Some(yes), Some(no)) if yes != no && known == no => b,
        _ => join(context, a, b),
    });
    types.collect()
}

/// Infers `block`, some of whose arguments are carried from step to step; returns their types.
///
/// `carried`: for each carried value the number of its argument, its first type, and the place in
/// what the block yields.
fn fixpoint(
    module: &mut Module,
    block: Block,
    carried: &[(usize, Type, usize)],
    depth: u32,
) -> Vec<Type> {
    let args: Vec<Value> = module.args(block).to_vec();
    let mut types: Vec<Type> = carried.iter().map(|entry| entry.1).collect();
    for round in 0..=MAX_ROUNDS {
        if round == MAX_ROUNDS {
            types.iter_mut().for_each(|ty| *ty = open(module.context(), *ty));
        }
        for (&(arg, ..), &ty) in carried.iter().zip(&types) {
            if let Some(&value) = args.get(arg) {
                module.set_value_type(value, ty);
                module.set_contents(value, None);
            }
        }
        infer_block(module, block, depth);
        let yields = yielded(module, block);
        let joined: Vec<Type> = carried
            .iter()
            .zip(&types)
            .map(|(entry, &ty)| match yields.get(entry.2) {
                Some(&yielded) => join(module.context(), ty, yielded),
                None => open(module.context(), ty),
            })
            .collect();
        if joined == types || round == MAX_ROUNDS {
            break;
        }
        types = joined;
    }
    types
}

fn infer_loop(module: &mut Module, op: Op, depth: u32) {
    let Some(block) = body(module, op, 0) else { return };
    let initial: Vec<Type> = operand_types(module, op).into_iter().skip(2).collect();
    let carried: Vec<(usize, Type, usize)> =
        initial.iter().enumerate().map(|(i, &ty)| (2 + i, ty, 1 + i)).collect();
    let types = fixpoint(module, block, &carried, depth);
    let results = loop_results(module, op, block, types);
    set_results(module, op, &results);
}

/// The types of the results of a loop whose carried values have `types` at last.
fn loop_results(module: &Module, op: Op, block: Block, types: Vec<Type>) -> Vec<Type> {
    let steps = steps(module, op, block);
    let collected = yielded(module, block).into_iter().skip(1 + types.len());
    let stacked = collected.map(|ty| stacked(module.context(), ty, 0, steps));
    types.into_iter().chain(stacked).collect()
}

/// The number of steps of a loop that no condition ends.
fn steps(module: &Module, op: Op, block: Block) -> Dim {
    let context = module.context();
    let mut operands = module.operands(op);
    let (Some(limit), Some(first)) = (operands.next(), operands.next()) else {
        return Dim::UNKNOWN;
    };
    let is_true = |value: Value| {
        let tensor = constant::constant_tensor(module, value);
        tensor.is_some_and(|t| t.view::<bool>().is_ok_and(|flags| flags[..] == [true]))
    };
    let starts = constant::is_none_type(context, module.value_type(first)) || is_true(first);
    let mut goes_on = module.last_op(block).and_then(|last| module.operands(last).next());
    while let Some(inner) = goes_on.and_then(|value| module.def_op(value)) {
        if module.name_text(inner) != "nn.identity" {
            break;
        }
        goes_on = Some(module.operand(inner, 0));
    }
    let unchanged = goes_on.is_some_and(|v| Some(&v) == module.args(block).get(1) || is_true(v));
    let count = value_contents(module, limit).and_then(|list| list.into_iter().next().flatten());
    match count {
        Some(count) if starts && unchanged => {
            let natural = dims::facts(context).less_equal(&Expr::int(0), &count) == Truth::True;
            if natural { dims::dim(context, &count) } else { Dim::UNKNOWN }
        }
        _ => Dim::UNKNOWN,
    }
}

fn infer_scan(module: &mut Module, op: Op, depth: u32) {
    let Some(block) = body(module, op, 0) else { return };
    let Some((states, slices, steps)) = scan_operands(module, op) else { return };
    let args: Vec<Value> = module.args(block).to_vec();
    for (&arg, slice) in args.iter().skip(states.len()).zip(slices) {
        module.set_value_type(arg, slice);
        module.set_contents(arg, None);
    }
    let carried: Vec<(usize, Type, usize)> =
        states.iter().enumerate().map(|(i, &ty)| (i, ty, i)).collect();
    let types = fixpoint(module, block, &carried, depth);
    let results = scan_results(module, op, block, types, steps);
    set_results(module, op, &results);
}

/// The types of the states that go into a scan, those of the slices, and the number of steps.
fn scan_operands(module: &Module, op: Op) -> Option<(Vec<Type>, Vec<Type>, Dim)> {
    let mut operands = operand_types(module, op);
    let attrs = Attrs::new(module.context(), module.attrs(op));
    let axes = attrs.ints("scan_input_axes").unwrap_or_default();
    let scanned = attrs.int("num_scan_inputs").and_then(|n| usize::try_from(n).ok())?;
    let scanned = operands.split_off(operands.len().checked_sub(scanned)?);
    let mut steps = Dim::UNKNOWN;
    let slice = |(i, ty): (usize, Type)| {
        let (slice, extent) = sliced(module.context(), ty, axes.get(i).copied().unwrap_or(0));
        if steps.as_static().is_none() && !extent.is_unknown() {
            steps = extent;
        }
        slice
    };
    let slices = scanned.into_iter().enumerate().map(slice).collect();
    Some((operands, slices, steps))
}

/// The types of the results of a scan of `steps` steps whose states have `types` at last.
fn scan_results(module: &Module, op: Op, block: Block, types: Vec<Type>, steps: Dim) -> Vec<Type> {
    let axes = Attrs::new(module.context(), module.attrs(op)).ints("scan_output_axes");
    let axis = |i: usize| axes.as_ref().and_then(|axes| axes.get(i)).copied().unwrap_or(0);
    let collected = yielded(module, block).into_iter().skip(types.len()).enumerate();
    let stacked = collected.map(|(i, ty)| stacked(module.context(), ty, axis(i), steps));
    types.into_iter().chain(stacked).collect()
}

fn infer_map(module: &mut Module, op: Op, depth: u32) {
    let Some(block) = body(module, op, 0) else { return };
    let operands = operand_types(module, op);
    for (arg, ty) in module.args(block).to_vec().into_iter().zip(operands) {
        let element = held_type(module.context(), ty, "nn.sequence").unwrap_or(ty);
        module.set_value_type(arg, element);
    }
    infer_block(module, block, depth);
    let yields = yielded(module, block);
    let types: Vec<Type> =
        yields.into_iter().map(|ty| sequence_type(module.context(), ty)).collect();
    set_results(module, op, &types);
}

/// What comes out of the branches of an `nn.if`, as they are.
pub(super) fn if_flow(module: &Module, op: Op) -> Vec<(Value, Type)> {
    let (Some(yes), Some(no)) = (body(module, op, 0), body(module, op, 1)) else {
        return Vec::new();
    };
    tensors(module, module.results(op), either(module, op, [yes, no]))
}

/// What comes out of the body of an `nn.loop`, as it is. What goes into it may have other extents
/// in each step.
pub(super) fn loop_flow(module: &Module, op: Op) -> Vec<(Value, Type)> {
    let Some(block) = body(module, op, 0) else { return Vec::new() };
    let initial = operand_types(module, op).into_iter().skip(2);
    let last = initial.zip(yielded(module, block).into_iter().skip(1));
    let types = last.map(|(first, last)| join(module.context(), first, last)).collect();
    tensors(module, module.results(op), loop_results(module, op, block, types))
}

/// What goes into the body of an `nn.scan` and comes out of it, as it is. A state has the same
/// extents in each step.
pub(super) fn scan_flow(module: &Module, op: Op) -> Vec<(Value, Type)> {
    let (Some(block), Some((states, slices, steps))) =
        (body(module, op, 0), scan_operands(module, op))
    else {
        return Vec::new();
    };
    let results = scan_results(module, op, block, states.clone(), steps);
    let given = states.into_iter().chain(slices).collect();
    let mut known = tensors(module, module.args(block).iter().copied(), given);
    known.extend(tensors(module, module.results(op), results));
    known
}

/// Those of `values` whose `types` are of tensors with a known rank.
fn tensors(
    module: &Module,
    values: impl Iterator<Item = Value>,
    types: Vec<Type>,
) -> Vec<(Value, Type)> {
    let known = |(_, ty): &(Value, Type)| module.context().as_tensor(*ty).is_some();
    values.zip(types).filter(known).collect()
}

/// The type of the slices of `ty` along `axis`, and the number of them.
fn sliced(context: &Context, ty: Type, axis: i64) -> (Type, Dim) {
    let Some((dims, element)) = context.as_tensor(ty) else {
        return (open(context, ty), Dim::UNKNOWN);
    };
    let at = if axis < 0 { axis + dims.len() as i64 } else { axis };
    match usize::try_from(at).ok().filter(|&at| at < dims.len()) {
        Some(at) => {
            let mut rest = dims.to_vec();
            let extent = rest.remove(at);
            (context.tensor_type(&rest, element), extent)
        }
        None => (open(context, ty), Dim::UNKNOWN),
    }
}

/// The type of `steps` values of type `ty`, stacked along a new dimension `axis`.
fn stacked(context: &Context, ty: Type, axis: i64, steps: Dim) -> Type {
    let Some((dims, element)) = context.as_tensor(ty) else { return open(context, ty) };
    let at = if axis < 0 { axis + dims.len() as i64 + 1 } else { axis };
    match usize::try_from(at).ok().filter(|&at| at <= dims.len()) {
        Some(at) => {
            let mut all = dims.to_vec();
            all.insert(at, steps);
            context.tensor_type(&all, element)
        }
        None => open(context, ty),
    }
}

/// A tensor type without extents; any other type as it is.
fn open(context: &Context, ty: Type) -> Type {
    match context.element_type(ty) {
        Some(element) => context.ty(TypeData::UnrankedTensor(element)),
        None => ty,
    }
}

/// The type that says what `a` and `b` both say.
pub fn join(context: &Context, a: Type, b: Type) -> Type {
    if a == b {
        return a;
    }
    for wrapper in ["nn.sequence", "nn.optional"] {
        let held = |ty| held_type(context, ty, wrapper);
        if let (Some(a), Some(b)) = (held(a), held(b)) {
            return super::container::wrap(context, wrapper, join(context, a, b));
        }
    }
    match (context.as_tensor(a), context.as_tensor(b)) {
        (Some((da, ea)), Some((db, eb))) if ea == eb && da.len() == db.len() => {
            let both = |(&a, &b): (&Dim, &Dim)| match dims::equal(context, a, b) {
                Truth::True => a,
                _ => Dim::UNKNOWN,
            };
            let dims: Vec<Dim> = da.iter().zip(db).map(both).collect();
            context.tensor_type(&dims, ea)
        }
        _ => open(context, a),
    }
}
