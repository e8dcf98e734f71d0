//! Scalar formulas that several operations share, as the reference kernels compute them.

use tangram_tensor::DType;

use super::{Binary, Comparison, Number, ScalarId, Stage, Unary};

/// `x` where not negative, else 0.
pub(crate) fn relu(s: &mut Stage, x: ScalarId) -> ScalarId {
    let zero = s.number(x, 0.0);
    let negative = s.compare(Comparison::Lt, x, zero);
    s.select(negative, zero, x)
}

/// `x` where not negative, else `x * slope`.
pub(crate) fn prelu(s: &mut Stage, x: ScalarId, slope: ScalarId) -> ScalarId {
    let zero = s.number(x, 0.0);
    let negative = s.compare(Comparison::Lt, x, zero);
    let scaled = s.mul(x, slope);
    s.select(negative, scaled, x)
}

/// [`prelu`] with a number.
pub(crate) fn leaky_relu(s: &mut Stage, x: ScalarId, alpha: f64) -> ScalarId {
    let alpha = s.number(x, alpha);
    prelu(s, x, alpha)
}

/// `x` where not negative, else `alpha * (e^x - 1)`.
pub(crate) fn elu(s: &mut Stage, x: ScalarId, alpha: f64) -> ScalarId {
    let (zero, alpha) = (s.number(x, 0.0), s.number(x, alpha));
    let negative = s.compare(Comparison::Lt, x, zero);
    let power = s.unary(Unary::Expm1, x);
    let scaled = s.mul(alpha, power);
    s.select(negative, scaled, x)
}

/// `gamma * x` where positive, else `gamma * alpha * (e^x - 1)`.
pub(crate) fn selu(s: &mut Stage, x: ScalarId, alpha: f64, gamma: f64) -> ScalarId {
    let (zero, alpha, gamma) = (s.number(x, 0.0), s.number(x, alpha), s.number(x, gamma));
    let positive = s.compare(Comparison::Gt, x, zero);
    let (above, factor) = (s.mul(gamma, x), s.mul(gamma, alpha));
    let power = s.unary(Unary::Expm1, x);
    let below = s.mul(factor, power);
    s.select(positive, above, below)
}

/// `max(0, x) + min(0, alpha * (e^(x / alpha) - 1))`.
pub(crate) fn celu(s: &mut Stage, x: ScalarId, alpha: f64) -> ScalarId {
    let (zero, alpha) = (s.number(x, 0.0), s.number(x, alpha));
    let scaled = s.div(x, alpha);
    let power = s.unary(Unary::Expm1, scaled);
    let below = s.mul(alpha, power);
    let (above, below) = (s.binary(Binary::Max, zero, x), s.binary(Binary::Min, zero, below));
    s.add(above, below)
}

/// `x` where above `alpha`, else 0.
pub(crate) fn thresholded_relu(s: &mut Stage, x: ScalarId, alpha: f64) -> ScalarId {
    let (zero, alpha) = (s.number(x, 0.0), s.number(x, alpha));
    let above = s.compare(Comparison::Gt, x, alpha);
    s.select(above, x, zero)
}

/// `alpha * x + beta` between 0 and 1.
pub(crate) fn hard_sigmoid(s: &mut Stage, x: ScalarId, alpha: f64, beta: f64) -> ScalarId {
    let (alpha, beta) = (s.number(x, alpha), s.number(x, beta));
    let product = s.mul(alpha, x);
    let line = s.add(product, beta);
    within_unit(s, line)
}

fn within_unit(s: &mut Stage, x: ScalarId) -> ScalarId {
    let (zero, one) = (s.number(x, 0.0), s.number(x, 1.0));
    let low = s.binary(Binary::Max, x, zero);
    s.binary(Binary::Min, low, one)
}

/// `x * min(max(x / 6 + 1/2, 0), 1)`.
pub(crate) fn hard_swish(s: &mut Stage, x: ScalarId) -> ScalarId {
    let (one, six, half) = (s.number(x, 1.0), s.number(x, 6.0), s.number(x, 0.5));
    let slope = s.div(one, six);
    let product = s.mul(slope, x);
    let line = s.add(product, half);
    let gate = within_unit(s, line);
    s.mul(x, gate)
}

/// `log(1 + e^x)`.
pub(crate) fn softplus(s: &mut Stage, x: ScalarId) -> ScalarId {
    let zero = s.number(x, 0.0);
    let above = s.binary(Binary::Max, zero, x);
    let magnitude = s.unary(Unary::Abs, x);
    let exponent = s.unary(Unary::Neg, magnitude);
    let power = s.unary(Unary::Exp, exponent);
    let rest = s.unary(Unary::Log1p, power);
    s.add(above, rest)
}

/// `x / (1 + |x|)`.
pub(crate) fn softsign(s: &mut Stage, x: ScalarId) -> ScalarId {
    let one = s.number(x, 1.0);
    let magnitude = s.unary(Unary::Abs, x);
    let below = s.add(one, magnitude);
    s.div(x, below)
}

/// `x * tanh(softplus(x))`.
pub(crate) fn mish(s: &mut Stage, x: ScalarId) -> ScalarId {
    let gate = softplus(s, x);
    let gate = s.unary(Unary::Tanh, gate);
    s.mul(x, gate)
}

/// `x * sigmoid(alpha * x)`.
pub(crate) fn swish(s: &mut Stage, x: ScalarId, alpha: f64) -> ScalarId {
    let scaled = match alpha {
        1.0 => x,
        _ => {
            let alpha = s.number(x, alpha);
            s.mul(alpha, x)
        }
    };
    let gate = s.unary(Unary::Sigmoid, scaled);
    s.mul(x, gate)
}

/// `x` times the normal distribution function at `x`, by the error function.
pub(crate) fn gelu(s: &mut Stage, x: ScalarId) -> ScalarId {
    let (half, one) = (s.number(x, 0.5), s.number(x, 1.0));
    let scale = s.number(x, std::f64::consts::FRAC_1_SQRT_2);
    let scaled = s.mul(x, scale);
    let erf = s.unary(Unary::Erf, scaled);
    let (halved, twice) = (s.mul(half, x), s.add(one, erf));
    s.mul(halved, twice)
}

/// The same by the hyperbolic tangent of a cubic.
pub(crate) fn gelu_tanh(s: &mut Stage, x: ScalarId) -> ScalarId {
    let (half, one) = (s.number(x, 0.5), s.number(x, 1.0));
    // The function that defines the operator has both numbers in single precision.
    let scale = s.number(x, f64::from(std::f32::consts::FRAC_2_PI).sqrt());
    let cubic = s.number(x, f64::from(0.044715_f32));
    let product = s.mul(cubic, x);
    let square = s.mul(product, x);
    let cube = s.mul(square, x);
    let sum = s.add(x, cube);
    let scaled = s.mul(scale, sum);
    let tanh = s.unary(Unary::Tanh, scaled);
    let (halved, twice) = (s.mul(half, x), s.add(one, tanh));
    s.mul(halved, twice)
}

/// `1 / x`.
pub(crate) fn reciprocal(s: &mut Stage, x: ScalarId) -> ScalarId {
    let one = s.number(x, 1.0);
    s.div(one, x)
}

/// `x` at least `low`, then at most `high`; a NaN stays.
pub(crate) fn clip(
    s: &mut Stage,
    x: ScalarId,
    low: Option<ScalarId>,
    high: Option<ScalarId>,
) -> ScalarId {
    let x = low.map_or(x, |low| {
        let below = s.compare(Comparison::Lt, x, low);
        s.select(below, low, x)
    });
    high.map_or(x, |high| {
        let above = s.compare(Comparison::Gt, x, high);
        s.select(above, high, x)
    })
}

/// An `f64` as an integer of type `to`: truncated, the nearest one where it does not fit.
pub(crate) fn saturated(s: &mut Stage, x: ScalarId, to: DType) -> ScalarId {
    let (least, greatest) = (Number::lowest(to), Number::highest(to));
    let (least, greatest) = (s.constant(least), s.constant(greatest));
    // The greatest numbers of 64 bits are rounded up: what is below them fits.
    let (low, high) = (s.cast(DType::F64, least), s.cast(DType::F64, greatest));
    let (below, above) = (s.compare(Comparison::Le, x, low), s.compare(Comparison::Ge, x, high));
    let value = s.cast(to, x);
    let value = s.select(above, greatest, value);
    s.select(below, least, value)
}
