//! `join-transposes`: transposes that meet behind operations that they can pass become one.
//!
//! ```text
//! add(multiply(a, a), multiply(b, b))       a = transpose(x) { axes = p }, b = transpose(y) { axes = p }
//! transpose(add(multiply(x, x), multiply(y, y))) { axes = p }
//!
//! transpose(relu(a)) { axes = q }           is   transpose(relu(x)) { axes = q ∘ p }
//! ```
//!
//! The region in between is made again on what is transposed: operations of one element, those that
//! broadcast, and those that speak of axes, with the axes of the data ([`moved`]): paddings, slices,
//! concatenations, reductions, dimensions that come and go. Nobody outside reads their results. What
//! else they take is the same in every order: it has no dimensions, or only dimensions of extent 1,
//! or it is a constant, which is transposed back here. It pays where fewer transposes are left than
//! there were, so that it ends; one transpose is never moved for its own sake.

mod moved;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Attr, Context, Dim, InferError, Module, Op, Point, Value};
use tangram_rewrite::{Exchange, Made, NoMatch, Rewriter, Roots};
use tangram_tensor::Tensor;
use tangram_tensor::shape::transpose;

use super::{Matched, Native, key_for, make_constant, present, refused};
use crate::attrs::Attrs;
use crate::{constant, nn};
use moved::{is_pointwise, may_move, moved};

/// The most operations of a region.
const MOST: usize = 64;
/// The most elements of a constant that is transposed back.
const CONSTANT: usize = 4096;

pub(super) fn pattern(context: &Context) -> Native {
    let joining = nn::ops().filter(|op| is_pointwise(op.def.traits) && op.def.operands.len() > 1);
    let names = joining.map(|op| op.def.name).chain(["nn.concatenate", "nn.transpose"]);
    let roots = Roots::Names(names.map(|name| context.name(name)).collect());
    Native::new("join-transposes", "simplify", roots, 200, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, root: Op) -> Matched {
    let module = rewriter.module();
    let outer = match module.name_text(root) {
        "nn.transpose" => Some(order(module, root).ok_or(NoMatch::SILENT)?),
        _ => None,
    };
    // Two transposes with nothing between are another matter.
    let first = present(module, root, 0).ok_or(NoMatch::SILENT)?;
    let behind = module.def_op(first).filter(|op| module.name_text(*op) != "nn.transpose");
    if outer.is_some() && behind.is_none() {
        return Err(NoMatch::SILENT);
    }
    let region = Region::around(module, root, outer.is_none()).ok_or(NoMatch::SILENT)?;
    let steps = region.steps(module).ok_or(NoMatch::SILENT)?;
    let last = steps.last().map(|step| step.after.clone()).ok_or(NoMatch::SILENT)?;
    let after: Vec<i64> = match &outer {
        Some(outer) => outer.iter().map(|&axis| last[axis as usize]).collect(),
        None => last,
    };
    let left = usize::from(!is_identity(&after));
    if region.dying(module) + usize::from(outer.is_some()) <= left {
        return Err(NoMatch::SILENT);
    }
    region.rebuild(rewriter, root, &steps, &after)
}

/// The order of a transpose, each axis from the front.
fn order(module: &Module, op: Op) -> Option<Vec<i64>> {
    let axes = Attrs::new(module.context(), module.attrs(op)).ints("axes")?;
    let rank = axes.len() as i64;
    let axes: Vec<i64> = axes.iter().map(|&a| if a < 0 { a + rank } else { a }).collect();
    axes.iter().all(|axis| (0..rank).contains(axis)).then_some(axes)
}

fn is_identity(order: &[i64]) -> bool {
    (0..).zip(order).all(|(i, &axis)| axis == i)
}

/// An operation of a region as it is made again.
struct Step {
    op: Op,
    /// The order in which its operands were transposed.
    before: Vec<i64>,
    /// The order in which its result has to be.
    after: Vec<i64>,
    attrs: Attr,
}

/// Operations between transposes and the root.
struct Region {
    /// Operations, in the order of the program.
    ops: Vec<Op>,
    /// The transposes.
    leaves: FxHashSet<Op>,
    /// Constants that have to be transposed back.
    constants: Vec<Value>,
}

impl Region {
    /// The region behind the operands of `root`, with the root if that is one of its operations.
    fn around(module: &Module, root: Op, with_root: bool) -> Option<Region> {
        let mut region =
            Region { ops: Vec::new(), leaves: FxHashSet::default(), constants: Vec::new() };
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        let mut open: Vec<Value> = module.operands(root).collect();
        seen.insert(root);
        while let Some(value) = open.pop() {
            if is_same_in_every_order(module, value) || region.constants.contains(&value) {
                continue;
            }
            let op = module.def_op(value)?;
            if module.name_text(op) == "nn.transpose" {
                region.leaves.insert(op);
            } else if constant::is_constant(module, op) {
                region.constants.push(value);
            } else if seen.insert(op) {
                let fits = region.ops.len() < MOST
                    && module.block(op) == module.block(root)
                    && may_move(module, op)
                    && module.result_count(op) == 1;
                if !fits {
                    return None;
                }
                region.ops.push(op);
                open.extend(module.operands(op));
            }
        }
        if with_root {
            region.ops.push(root);
        }
        region.ops.sort_by(|&a, &b| match (a == b, module.is_before(a, b)) {
            (true, _) => std::cmp::Ordering::Equal,
            (_, true) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        });
        region.is_closed(module, &seen, root).then_some(region)
    }

    /// Whether nobody outside reads what is made inside, and there is something to gain.
    fn is_closed(&self, module: &Module, inside: &FxHashSet<Op>, root: Op) -> bool {
        let mut inner = self.ops.iter().filter(|op| **op != root);
        let closed = |op: &Op| module.uses(module.result(*op, 0)).all(|u| inside.contains(&u.op));
        !self.leaves.is_empty() && inner.all(closed)
    }

    /// What becomes of each operation; `None` if one of them is no other operation before a
    /// transpose, or reads values that are transposed in different orders.
    fn steps(&self, module: &Module) -> Option<Vec<Step>> {
        let mut orders: FxHashMap<Value, Vec<i64>> = FxHashMap::default();
        for &leaf in &self.leaves {
            orders.insert(module.result(leaf, 0), order(module, leaf)?);
        }
        let mut steps = Vec::with_capacity(self.ops.len());
        for &op in &self.ops {
            let mut read = module.operands(op).filter_map(|value| orders.get(&value));
            let before = read.next()?.clone();
            let result = module.result(op, 0);
            let (dims, _) = module.context().as_tensor(module.value_type(result))?;
            let moved =
                moved(module, op, &before).filter(|_| read.all(|other| *other == before))?;
            // A number may be stretched to more dimensions than are transposed.
            (dims.len() == moved.order.len()).then_some(())?;
            orders.insert(result, moved.order.clone());
            steps.push(Step { op, before, after: moved.order, attrs: moved.attrs });
        }
        Some(steps)
    }

    /// How many transposes nobody reads any more afterwards.
    fn dying(&self, module: &Module) -> usize {
        let inside: FxHashSet<Op> = self.ops.iter().copied().collect();
        let dies = |op: &&Op| module.uses(module.result(**op, 0)).all(|u| inside.contains(&u.op));
        self.leaves.iter().filter(dies).count()
    }

    /// Makes the region again before `root`, and transposes its result by `after`.
    fn rebuild(
        &self,
        rewriter: &mut Rewriter<'_>,
        root: Op,
        steps: &[Step],
        after: &[i64],
    ) -> Matched {
        let mut new: FxHashMap<Value, Value> = FxHashMap::default();
        let mut made: Vec<Op> = Vec::new();
        for &leaf in &self.leaves {
            let module = rewriter.module();
            new.insert(module.result(leaf, 0), module.operand(leaf, 0));
        }
        let mut last = rewriter.module().operand(root, 0);
        for step in steps {
            let operands = self
                .operands(rewriter, root, step, &new, &mut made)
                .ok_or_else(|| abandon(rewriter, &made))?;
            let module = rewriter.module();
            let (name, loc) = (module.name(step.op), module.loc(step.op));
            let point = Point::Before(root);
            let built = rewriter.build(point, name, &operands, step.attrs, Some(1), loc);
            let built = built.map_err(|_| abandon(rewriter, &made))?;
            made.push(built);
            last = rewriter.module().result(step.op, 0);
            new.insert(last, rewriter.module().result(built, 0));
        }
        let inner = *new.get(&last).unwrap_or(&last);
        let value = if is_identity(after) {
            inner
        } else {
            let op =
                transposed(rewriter, root, inner, after).map_err(|_| abandon(rewriter, &made))?;
            made.push(op);
            rewriter.module().result(op, 0)
        };
        let result = rewriter.module().result(root, 0);
        if let Some(objection) = rewriter.objection(result, value) {
            abandon(rewriter, &made);
            return refused(&objection);
        }
        let copies = "a transposed copy of a constant that others use";
        if !self.admits(rewriter, root, &made) {
            abandon(rewriter, &made);
            return Err(NoMatch::refused("copies", copies));
        }
        rewriter.replace(root, &[value]).map_err(|error| NoMatch::because(error.message))
    }

    /// Whether there is room for the constants among `made`.
    fn admits(&self, rewriter: &mut Rewriter<'_>, root: Op, made: &[Op]) -> bool {
        let read = self.constants.iter().copied().collect();
        let gone = self.ops.iter().copied().chain([root]).collect();
        let made = Made::of(rewriter.module(), made.iter().copied());
        rewriter.admits_made(&Exchange { made, read: &read, gone: &gone })
    }

    /// What a step reads when it is made again; constants are transposed back.
    fn operands(
        &self,
        rewriter: &mut Rewriter<'_>,
        root: Op,
        step: &Step,
        new: &FxHashMap<Value, Value>,
        made: &mut Vec<Op>,
    ) -> Option<Vec<Value>> {
        let values: Vec<Value> = rewriter.module().operands(step.op).collect();
        let mut operands = Vec::with_capacity(values.len());
        for value in values {
            let operand = match new.get(&value) {
                Some(&value) => value,
                None if self.constants.contains(&value) => {
                    let tensor = constant::constant_tensor(rewriter.module(), value)?;
                    let turned = turned(&tensor, &step.before)?;
                    let key = key_for(rewriter.module(), value);
                    let turned = make_constant(rewriter, root, &turned, &key);
                    made.extend(rewriter.module().def_op(turned));
                    turned
                }
                None => value,
            };
            operands.push(operand);
        }
        Some(operands)
    }
}

/// A constant such that broadcasting it and transposing by `order` gives what broadcasting it gave.
fn turned(tensor: &Tensor, order: &[i64]) -> Option<Tensor> {
    let (rank, shape) = (order.len(), tensor.shape());
    let lead = rank.checked_sub(shape.len()).filter(|_| tensor.len() <= CONSTANT)?;
    let full: Vec<usize> = std::iter::repeat_n(1, lead).chain(shape.iter().copied()).collect();
    let mut back = vec![0i64; rank];
    for (i, &axis) in order.iter().enumerate() {
        back[axis as usize] = i as i64;
    }
    transpose(&tensor.reshaped(&full).ok()?, Some(&back)).ok()
}

/// Erases what was made.
fn abandon(rewriter: &mut Rewriter<'_>, made: &[Op]) -> NoMatch {
    for &op in made.iter().rev() {
        rewriter.erase(op);
    }
    NoMatch::SILENT
}

fn transposed(
    rewriter: &mut Rewriter<'_>,
    root: Op,
    value: Value,
    order: &[i64],
) -> Result<Op, InferError> {
    let module = rewriter.module();
    let (context, loc) = (module.context(), module.loc(root));
    let attrs = context.dict([(context.str("axes"), context.i64s_attr(order))]);
    let name = context.name("nn.transpose");
    rewriter.build(Point::Before(root), name, &[value], attrs, Some(1), loc)
}

/// Whether a value is the same however dimensions are exchanged.
fn is_same_in_every_order(module: &Module, value: Value) -> bool {
    let (context, ty) = (module.context(), module.value_type(value));
    let ones = |dims: &[Dim]| dims.iter().all(|dim| dim.as_static() == Some(1));
    constant::is_none_type(context, ty) || context.as_tensor(ty).is_some_and(|(dims, _)| ones(dims))
}
