//! Operations of micro-kernels: what `vector`, `memref` and `scf` do not say of the innermost loops.
//!
//! ```text
//! %b, %s = scf.for %p = %0 to %depth step %1 iter_args(%view = %b, %sum = %zero) {
//!   %x = vector.load %view[%0]            // eight pairs of integers
//!   %k = tg.keep %x                       // stays in a register
//!   %t = tg.dot %sum, %a, %k              // sums of two products each
//!   %n = tg.advance %view, %8             // the view walks
//!   scf.yield %n, %t
//! }
//! ```

use tangram_ir::{Context, Module, Op, OpDef, Traits, Type, TypeData};

use super::{one_result, value};
use crate::mlir::verify::{Checked, Site};

/// `tg.advance`: a view that walks.
pub static ADVANCE: OpDef = OpDef {
    operands: &[
        value("view", "a buffer of one dimension"),
        value("by", "how many elements further, an `index`"),
    ],
    results: &[one_result("the same elements; that at `by` is the first")],
    traits: Traits::PURE,
    verify: Some(advance),
    ..OpDef::new(
        "tg.advance",
        "the view moved on along its buffer, as far as to its end or beyond, where nothing is read",
    )
};

/// `tg.keep`: a value that is to stay in a register.
pub static KEEP: OpDef = OpDef {
    operands: &[value("operand", "a number or vector")],
    results: &[one_result("the same")],
    traits: Traits::PURE.union(Traits::SAME_TYPE),
    ..OpDef::new("tg.keep", "the value, which compilers are told not to load again at each use")
};

/// `tg.dot`: sums of products of pairs.
pub static DOT: OpDef = OpDef {
    operands: &[
        value("sum", "numbers of 32 bits"),
        value("left", "numbers of 32 bits, each two integers of 16 bits with a sign"),
        value("right", "likewise"),
    ],
    results: &[one_result("the sum and both products of each pair; it wraps around")],
    traits: Traits::PURE.union(Traits::SAME_TYPE),
    verify: Some(dot),
    ..OpDef::new("tg.dot", "`sum + low(left) * low(right) + high(left) * high(right)`")
};

/// `tg.widen_load`: pairs of bytes from memory.
pub static WIDEN_LOAD: OpDef = OpDef {
    operands: &[
        value("base", "a buffer of numbers of 16 bits, each two bytes with a sign"),
        value("index", "where the first of them is"),
    ],
    results: &[one_result("numbers of 32 bits, each two integers of 16 bits with a sign")],
    verify: Some(widen_load),
    ..OpDef::new("tg.widen_load", "neighbouring pairs of bytes as pairs of integers of 16 bits")
};

/// The element type of a buffer of one dimension whose elements lie one after the other.
fn line(context: &Context, ty: Type) -> Option<Type> {
    match context.type_data(ty) {
        TypeData::MemRef { dims, element, layout: None, .. } if dims.len() == 1 => Some(*element),
        _ => None,
    }
}

/// How many bits a number has, or those of a vector of one dimension.
fn bits(context: &Context, ty: Type) -> Option<u32> {
    match context.type_data(ty) {
        TypeData::Integer { width, .. } => Some(*width),
        TypeData::Vector { dims, element, .. } if dims.len() == 1 => {
            match context.type_data(*element) {
                TypeData::Integer { width, .. } => Some(*width),
                _ => None,
            }
        }
        _ => None,
    }
}

fn advance(module: &Module, op: Op) -> Checked {
    let (site, context) = (Site::new(module, op), module.context());
    let view = module.value_type(module.operand(op, 0));
    if line(context, view).is_none() {
        return Err(site.error("advance", "expected a buffer of one dimension without a layout"));
    }
    site.same("operands", &[view, site.index()], &site.operands())?;
    site.same("results", &[view], &site.results())
}

fn dot(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    match bits(module.context(), module.value_type(module.operand(op, 0))) {
        Some(32) => Ok(()),
        _ => Err(site.error("dot", "expected integers of 32 bits, or vectors of them")),
    }
}

fn widen_load(module: &Module, op: Op) -> Checked {
    let (site, context) = (Site::new(module, op), module.context());
    let base = module.value_type(module.operand(op, 0));
    let from = line(context, base).and_then(|element| bits(context, element));
    let to = bits(context, module.value_type(module.result(op, 0)));
    if from != Some(16) || to != Some(32) {
        let wanted =
            "expected a buffer of one dimension of integers of 16 bits, and one or more of 32";
        return Err(site.error("widen_load", wanted));
    }
    site.same("operands", &[base, site.index()], &site.operands())
}
