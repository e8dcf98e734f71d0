//! Activation functions of neural networks.

use num_traits::{One, Zero};

use crate::dispatch;
use crate::element::{Number, Real};
use crate::elementwise::apply::{map_float, map1, map2, same_dtype};
use crate::error::Result;
use crate::tensor::Tensor;

/// Defines kernels over floats, each by a formula in the type of arithmetic `R`.
macro_rules! activations {
    ($($(#[$doc:meta])* $name:ident($x:ident $(, $p:ident)*) = |$r:ident| $formula:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`BadDType`](crate::KernelError::BadDType) unless the elements are floats of 16 to 64
        /// bits.
        pub fn $name(tensor: &Tensor $(, $p: f64)*) -> Result<Tensor> {
            dispatch!(float, stringify!($name), tensor.dtype(), T => {
                type $r = <T as Number>::Wide;
                $(let $p = $r::constant($p);)*
                map_float::<T>(tensor, |$x| $formula)
            })
        }
    )*};
}

activations! {
    /// Computes `1 / (1 + e^-x)`.
    sigmoid(x) = |R| sigmoid_of::<R>(x);
    /// Keeps positive elements and scales the others by `alpha`.
    leaky_relu(x, alpha) = |R| if x < R::zero() { alpha * x } else { x };
    /// Keeps positive elements; the others become `alpha * (e^x - 1)`.
    elu(x, alpha) = |R| if x < R::zero() { alpha * x.exp_m1() } else { x };
    /// Computes `gamma * x` for positive elements and `gamma * alpha * (e^x - 1)` for the others.
    selu(x, alpha, gamma) = |R| if x > R::zero() { gamma * x } else { gamma * alpha * x.exp_m1() };
    /// Computes `max(0, x) + min(0, alpha * (e^(x / alpha) - 1))`.
    celu(x, alpha) = |R| {
        R::zero().larger(x) + R::zero().smaller(alpha * (x / alpha).exp_m1())
    };
    /// Keeps elements above `alpha`; the others become 0.
    thresholded_relu(x, alpha) = |R| if x > alpha { x } else { R::zero() };
    /// Clamps `alpha * x + beta` to 0..1.
    hard_sigmoid(x, alpha, beta) = |R| (alpha * x + beta).larger(R::zero()).smaller(R::one());
    /// Computes `x * hard_sigmoid(x, 1/6, 1/2)`.
    hard_swish(x) = |R| {
        let slope = R::one() / R::constant(6.0);
        x * (slope * x + R::constant(0.5)).larger(R::zero()).smaller(R::one())
    };
    /// Computes `ln(1 + e^x)`.
    softplus(x) = |R| softplus_of::<R>(x);
    /// Computes `x / (1 + |x|)`.
    softsign(x) = |R| x / (R::one() + x.abs());
    /// Computes `x * tanh(softplus(x))`.
    mish(x) = |R| x * softplus_of::<R>(x).tanh();
    /// Computes `x * sigmoid(alpha * x)`.
    swish(x, alpha) = |R| x * sigmoid_of::<R>(alpha * x);
}

/// Without overflow on either side.
fn sigmoid_of<R: Real>(x: R) -> R {
    let small = (-x.abs()).exp();
    let upper = R::one() / (R::one() + small);
    if x < R::zero() { small * upper } else { upper }
}

/// Without overflow on either side.
fn softplus_of<R: Real>(x: R) -> R {
    R::zero().larger(x) + (-x.abs()).exp().ln_1p()
}

/// How [`gelu`] computes the normal distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GeluApproximation {
    /// By the error function.
    #[default]
    None,
    /// By the hyperbolic tangent of a cubic.
    Tanh,
}

/// Weights each element by the normal distribution function at it.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) unless the elements are floats of 16 to 64 bits.
pub fn gelu(tensor: &Tensor, approximation: GeluApproximation) -> Result<Tensor> {
    dispatch!(float, "gelu", tensor.dtype(), T => {
        type R = <T as Number>::Wide;
        let (half, one) = (R::constant(0.5), R::one());
        match approximation {
            GeluApproximation::None => {
                let scale = R::constant(std::f64::consts::FRAC_1_SQRT_2);
                map_float::<T>(tensor, |x| half * x * (one + Real::erf(x * scale)))
            }
            GeluApproximation::Tanh => {
                // The function that defines the operator has both numbers in single precision.
                let scale = R::constant(f64::from(std::f32::consts::FRAC_2_PI).sqrt());
                let cubic = R::constant(f64::from(0.044715_f32));
                map_float::<T>(tensor, |x| {
                    half * x * (one + (scale * (x + cubic * x * x * x)).tanh())
                })
            }
        }
    })
}

/// Replaces negative elements by 0; NaN stays.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) for no numbers.
pub fn relu(tensor: &Tensor) -> Result<Tensor> {
    dispatch!(number, "relu", tensor.dtype(), T => {
        map1(tensor, |x: T| if x < T::default() { T::default() } else { x })
    })
}

/// Moves elements beyond `lambd` towards 0 by `bias`, and makes those within 0.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) for no numbers.
pub fn shrink(tensor: &Tensor, bias: f64, lambd: f64) -> Result<Tensor> {
    dispatch!(number, "shrink", tensor.dtype(), T => {
        map1(tensor, |x: T| {
            let value = x.to_f64();
            if value < -lambd {
                T::from_f64(value + bias)
            } else if value > lambd {
                T::from_f64(value - bias)
            } else {
                T::default()
            }
        })
    })
}

/// Scales negative elements by a slope that broadcasts.
///
/// # Errors
/// [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`BadDType`](crate::KernelError::BadDType) for no numbers,
/// [`Broadcast`](crate::KernelError::Broadcast).
pub fn prelu(tensor: &Tensor, slope: &Tensor) -> Result<Tensor> {
    same_dtype("prelu", tensor, slope)?;
    dispatch!(number, "prelu", tensor.dtype(), T => {
        map2("prelu", tensor, slope, |x: T, slope: T| {
            if x < T::default() { x.times(slope) } else { x }
        })
    })
}
