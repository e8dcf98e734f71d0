//! Kernels that compute each element on its own, with numpy's broadcasting.

mod activation;
mod apply;
mod arithmetic;
mod bits;
mod cast;
mod compare;
mod nary;
mod select;
mod text;
mod unary;

pub use activation::{
    GeluApproximation, celu, elu, gelu, hard_sigmoid, hard_swish, leaky_relu, mish, prelu, relu,
    selu, shrink, sigmoid, softplus, softsign, swish, thresholded_relu,
};
pub use apply::{map1, map2};
pub use arithmetic::{add, divide, maximum, minimum, modulo, multiply, power, subtract};
pub use bits::{
    ShiftDirection, bit_shift, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, logical_and,
    logical_not, logical_or, logical_xor,
};
pub(crate) use cast::int_of;
pub use cast::{CastOptions, cast, cast_with};
pub use compare::{equal, greater, greater_equal, isinf, isnan, less, less_equal};
pub use nary::{max, mean, min, sum};
pub use select::{clip, select};
pub use unary::{
    abs, acos, acosh, asin, asinh, atan, atanh, ceil, cos, cosh, erf, exp, floor, log, negative,
    reciprocal, round, sign, sin, sinh, sqrt, tan, tanh,
};
