//! What the tables cannot say of the operations of this dialect.

use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrData, Module, Op, TypeData, Value};
use tangram_tensor::DType;

use super::nest::Nest;
use super::scalars::{binary_named, scalar_type, unary_named};
use crate::mlir::verify::{Checked, Site};
use crate::{dims, dtype};

/// A nest reads back, and its destination is one once.
pub(super) fn nest(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let read = Nest::read(module, op).map_err(|error| site.error("nest", error))?;
    let into = module.operand(op, read.generic.inputs.len() + read.generic.tables.len());
    if module.value_type(into) != module.value_type(module.result(op, 0)) {
        return Err(site.error("nest", "the result has another type than the destination"));
    }
    if destinations(module, into) != 1 {
        return Err(site.error("nest", "the destination is one of another nest too"));
    }
    if !read.generic.is_well_placed() {
        return Err(site.error("nest", "the body names a loop, read or table that there is not"));
    }
    Ok(())
}

/// How many nests have a value as their destination.
fn destinations(module: &Module, value: Value) -> usize {
    let into = |op: Op, number: usize| {
        let segments = module.attr(op, "operandSegmentSizes");
        let segments = segments.and_then(|attr| module.int_list(attr)).unwrap_or_default();
        let before: i64 = segments.iter().take(3).sum();
        module.name_text(op) == "tg.nest" && before == number as i64
    };
    module.uses(value).filter(|used| into(used.op, used.index as usize)).count()
}

/// The operation in the region is the only one, and gives the results.
pub(super) fn reference(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let block = site.body(0)?;
    site.arguments(block, &site.operands())?;
    site.same("the region to yield", &site.results(), &site.end(block, "tg.yield")?)
}

/// A view has the elements of its source, as far as extents are known.
pub(super) fn view(module: &Module, op: Op) -> Checked {
    let (site, context) = (Site::new(module, op), module.context());
    let of = |value: Value| {
        let (extents, element) = context.as_tensor(module.value_type(value))?;
        let count = extents
            .iter()
            .try_fold(Expr::int(1), |count, &extent| count.try_mul(&dims::expr(context, extent)?));
        Some((element, count))
    };
    let (from, to) = (of(module.operand(op, 0)), of(module.result(op, 0)));
    let (Some((a, from)), Some((b, to))) = (from, to) else {
        return Err(site.error("view", "expected tensors of known rank"));
    };
    let numbers = from.and_then(|n| n.as_int()).zip(to.and_then(|n| n.as_int()));
    if a == b && numbers.is_none_or(|(from, to)| from == to) {
        Ok(())
    } else {
        Err(site.error("view", "the result has other elements than the source"))
    }
}

/// The value is an expression, and the result an integer.
pub(super) fn size(module: &Module, op: Op) -> Checked {
    let (site, context) = (Site::new(module, op), module.context());
    let text = module.attr(op, "value").and_then(|attr| context.as_text(attr));
    if text.is_none_or(|text| text.parse::<Expr>().is_err()) {
        return Err(site.error("size", "expected an expression over symbols"));
    }
    let ty = module.value_type(module.result(op, 0));
    match *context.type_data(ty) {
        TypeData::Index | TypeData::Integer { width: 64, .. } => Ok(()),
        _ => Err(site.error("size", "expected a result of type `index` or `i64`")),
    }
}

/// What only a body can ask.
pub(super) fn within_nest(module: &Module, op: Op) -> Checked {
    Site::new(module, op).inside(&["tg.nest"])
}

fn element(module: &Module, op: Op, name: &str) -> Option<DType> {
    match module.context().attr_data(module.attr(op, name)?) {
        AttrData::Type(ty) => dtype::dtype_of(module.context(), *ty),
        _ => None,
    }
}

/// Operands and result have the type that the attribute says, and there are as many as the function takes.
pub(super) fn apply(module: &Module, op: Op) -> Checked {
    let (site, context) = (Site::new(module, op), module.context());
    let name = module.attr(op, "function").and_then(|attr| context.as_text(attr));
    let name = name.unwrap_or_default();
    let count =
        usize::from(unary_named(name).is_some()) + 2 * usize::from(binary_named(name).is_some());
    if module.operand_count(op) != count {
        return Err(site.error("apply", format_args!("`{name}` takes {count} operands")));
    }
    let ty = element(module, op, "element").map(|element| scalar_type(context, element));
    let ty = ty.ok_or_else(|| site.error("apply", "expected an element type of tensors"))?;
    site.same("operands", &vec![ty; count], &site.operands())?;
    site.same("results", &[ty], &site.results())
}

/// Operand and result have the types that the attributes say.
pub(super) fn cast(module: &Module, op: Op) -> Checked {
    let (site, context) = (Site::new(module, op), module.context());
    let ty = |name| element(module, op, name).map(|element| scalar_type(context, element));
    let (Some(from), Some(to)) = (ty("from"), ty("to")) else {
        return Err(site.error("cast", "expected element types of tensors"));
    };
    site.same("operands", &[from], &site.operands())?;
    site.same("results", &[to], &site.results())
}
