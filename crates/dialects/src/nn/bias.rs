//! Where a bias is part of the operation before it, as ONNX's `Conv` and `Gemm` have one, and a
//! function of each element, as runtimes make one kernel of both.

use smallvec::{SmallVec, smallvec};
use tangram_ir::{Module, Op, Traits, Value};

/// Convolutions that a row of biases can follow, one for each channel.
const CONVOLUTIONS: &[&str] = &[
    "nn.conv",
    "nn.conv1d",
    "nn.conv2d",
    "nn.conv3d",
    "nn.conv_transpose",
    "nn.conv1d_transpose",
    "nn.conv2d_transpose",
    "nn.conv3d_transpose",
];

/// Returns whether operation `name` is a convolution that a bias can be part of.
pub fn is_convolution(name: &str) -> bool {
    CONVOLUTIONS.contains(&name)
}

/// Returns whether operation `name` is a convolution or a product that others may be part of.
pub fn is_product(name: &str) -> bool {
    is_convolution(name) || matches!(name, "nn.dense" | "nn.matmul")
}

/// Returns whether `product`, a convolution or a product of matrices, can have the bias that the
/// `nn.bias_add` `add` adds, if it adds it to the result of `product`.
pub fn can_have_bias(module: &Module, product: Op, add: Op) -> bool {
    if module.name_text(add) != "nn.bias_add" {
        return false;
    }
    let rank = |value: Value| {
        module.context().as_tensor(module.value_type(value)).map(|(dims, _)| dims.len())
    };
    let axis = module.attr(add, "axis").and_then(|axis| module.context().as_i64(axis)).unwrap_or(1);
    let fits = match module.name_text(product) {
        name if is_convolution(name) => axis == 1,
        "nn.dense" => axis == 1 || axis == -1,
        "nn.matmul" => {
            (axis == 1 || axis == -1) && module.operands(product).all(|v| rank(v) == Some(2))
        }
        _ => false,
    };
    fits && module.operands(add).nth(1).and_then(rank) == Some(1)
}

/// The convolution or product that nothing else uses and that can have the bias which `add` adds.
pub fn biased(module: &Module, add: Op) -> Option<Op> {
    let value = module.operands(add).next()?;
    let product = module.def_op(value)?;
    let alone = module.has_one_use(value) && module.block(product) == module.block(add);
    (alone && can_have_bias(module, product, add)).then_some(product)
}

/// Returns whether `op` is a function of each element of its only operand.
pub fn is_function(module: &Module, op: Op) -> bool {
    module.operand_count(op) == 1 && module.has_traits(op, Traits::ELEMENTWISE)
}

/// Returns whether runtimes compute a [function](is_function) in `product` as well, where it stands
/// behind it or behind its bias: in convolutions, and in products that are a Gemm.
pub fn can_have_function(module: &Module, product: Op) -> bool {
    let rank = |value: Value| {
        module.context().as_tensor(module.value_type(value)).map(|(dims, _)| dims.len())
    };
    match module.name_text(product) {
        name if is_convolution(name) => true,
        "nn.dense" | "nn.matmul" => module.operands(product).all(|v| rank(v) == Some(2)),
        _ => false,
    }
}

/// The operations that are one kernel which ends with `last`: a convolution or product, what may
/// follow it of a bias and a function of each element, and nothing that others use in between.
/// `last` alone, if it is computed by itself.
pub fn kernel(module: &Module, last: Op) -> SmallVec<[Op; 3]> {
    if let Some(product) = biased(module, last) {
        return smallvec![product, last];
    }
    let below = module.operands(last).next().filter(|value| module.has_one_use(*value));
    let below = below.and_then(|value| module.def_op(value));
    let below =
        below.filter(|op| is_function(module, last) && module.block(*op) == module.block(last));
    let Some(below) = below else { return smallvec![last] };
    match biased(module, below) {
        _ if can_have_function(module, below) => smallvec![below, last],
        Some(product) if can_have_function(module, product) => smallvec![product, below, last],
        _ => smallvec![last],
    }
}
