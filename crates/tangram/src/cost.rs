//! An estimate of what a program costs to run.
//!
//! For each operation: floating-point operations, and bytes read and written. Symbolic extents
//! are given one size. It serves comparison before and after; it predicts no time.

use serde::Serialize;
use tangram_dialects::{dims, dtype};
use tangram_ir::{Dim, Module, Op, Order, Value, walk};

/// What symbols are taken to be.
pub const SYMBOL_SIZE: i64 = 16;

/// An estimate.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Cost {
    /// Floating-point (or integer) operations.
    pub flops: f64,
    /// Bytes read and written.
    pub bytes: f64,
    /// Operations that start a kernel of their own.
    pub launches: usize,
}

/// The estimated cost of all operations of `module`.
pub fn estimate(module: &Module) -> Cost {
    let mut total = Cost::default();
    for op in walk(module, module.root(), Order::Pre) {
        let name = module.name_text(op);
        let silent = matches!(name, "nn.constant" | "nn.none" | "nn.yield");
        if silent || name.starts_with("func.") || name.starts_with("builtin.") {
            continue;
        }
        total.launches += 1;
        total.flops += flops(module, op);
        total.bytes +=
            module.operands(op).chain(module.results(op)).map(|v| bytes(module, v)).sum::<f64>();
    }
    total
}

/// The number of elements of `value`; 1 if nothing is known.
fn elements(module: &Module, value: Value) -> f64 {
    let context = module.context();
    let Some((list, _)) = context.as_tensor(module.value_type(value)) else { return 1.0 };
    list.iter().map(|&d| size(module, d)).product()
}

fn size(module: &Module, dim: Dim) -> f64 {
    let known = dims::expr(module.context(), dim).and_then(|e| e.eval(&|_| Some(SYMBOL_SIZE)));
    known.unwrap_or(SYMBOL_SIZE).max(0) as f64
}

fn bytes(module: &Module, value: Value) -> f64 {
    let context = module.context();
    let element = context.element_type(module.value_type(value));
    let dtype = element.and_then(|element| dtype::dtype_of(context, element));
    dtype.map_or(0.0, |dtype| elements(module, value) * dtype.size_bits() as f64 / 8.0)
}

fn flops(module: &Module, op: Op) -> f64 {
    let out: f64 = module.results(op).map(|v| elements(module, v)).sum();
    let extent = |operand: usize, from_end: usize| {
        let value = module.operands(op).nth(operand)?;
        let (list, _) = module.context().as_tensor(module.value_type(value))?;
        let at = list.len().checked_sub(from_end)?;
        Some(size(module, *list.get(at)?))
    };
    match module.name_text(op) {
        "nn.conv1d" | "nn.conv2d" | "nn.conv3d" | "nn.conv" => {
            let Some(weight) = module.operands(op).nth(1) else { return out };
            let first = module
                .context()
                .as_tensor(module.value_type(weight))
                .and_then(|(list, _)| list.first().map(|&d| size(module, d)));
            // Each output element sums over the weights of its output channel.
            2.0 * out * elements(module, weight) / first.unwrap_or(1.0).max(1.0)
        }
        "nn.dense" | "nn.matmul" | "nn.batch_matmul" | "nn.gemm" => {
            2.0 * out * extent(0, 1).unwrap_or(1.0)
        }
        "nn.reshape" | "nn.squeeze" | "nn.expand_dims" | "nn.batch_flatten" | "nn.flatten"
        | "nn.shape_of" | "nn.identity" => 0.0,
        _ => out,
    }
}
