//! Functions of the gates.

use crate::error::Result;
use crate::recurrent::RecurrentParams;
use crate::refuse;

/// A function that a gate applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// `max(0, x)`.
    Relu,
    /// `tanh(x)`.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// `alpha * x + beta`.
    Affine {
        /// Factor.
        alpha: f64,
        /// Summand.
        beta: f64,
    },
    /// `x` or `alpha * x` if negative.
    LeakyRelu {
        /// Factor of negative numbers.
        alpha: f64,
    },
    /// `x` if greater than `alpha`, else 0.
    ThresholdedRelu {
        /// Threshold.
        alpha: f64,
    },
    /// `alpha * tanh(beta * x)`.
    ScaledTanh {
        /// Factor of the result.
        alpha: f64,
        /// Factor of the argument.
        beta: f64,
    },
    /// `alpha * x + beta`, at least 0 and at most 1.
    HardSigmoid {
        /// Factor.
        alpha: f64,
        /// Summand.
        beta: f64,
    },
    /// `x` or `alpha * (exp(x) - 1)` if negative.
    Elu {
        /// Factor of negative results.
        alpha: f64,
    },
    /// `x / (1 + |x|)`.
    Softsign,
    /// `log(1 + exp(x))`.
    Softplus,
}

impl Activation {
    /// Reads a list of names as the standard has it.
    ///
    /// Each function takes its `alpha` and `beta`, if it has any, from the front of the lists;
    /// where a list has ended, the default of the operator of that name: a `float`, as the attribute
    /// is, in layers of `double` as well. Case does not matter.
    ///
    /// # Errors
    /// [`BadParameter`](crate::KernelError::BadParameter) for an unknown name.
    pub fn parse_list(names: &[&str], alphas: &[f64], betas: &[f64]) -> Result<Vec<Activation>> {
        let (mut alphas, mut betas) = (alphas.iter().copied(), betas.iter().copied());
        let mut parse = |&name: &&str| {
            let mut a = |default: f32| alphas.next().unwrap_or(f64::from(default));
            let mut b = |default: f32| betas.next().unwrap_or(f64::from(default));
            Ok(match name.to_ascii_lowercase().as_str() {
                "relu" => Activation::Relu,
                "tanh" => Activation::Tanh,
                "sigmoid" => Activation::Sigmoid,
                "affine" => Activation::Affine { alpha: a(1.0), beta: b(0.0) },
                "leakyrelu" => Activation::LeakyRelu { alpha: a(0.01) },
                "thresholdedrelu" => Activation::ThresholdedRelu { alpha: a(1.0) },
                "scaledtanh" => Activation::ScaledTanh { alpha: a(1.0), beta: b(1.0) },
                "hardsigmoid" => Activation::HardSigmoid { alpha: a(0.2), beta: b(0.5) },
                "elu" => Activation::Elu { alpha: a(1.0) },
                "softsign" => Activation::Softsign,
                "softplus" => Activation::Softplus,
                _ => {
                    let expected = "a function that the standard names";
                    return Err(refuse::parameter("recurrent", "activations", expected, name));
                }
            })
        };
        names.iter().map(&mut parse).collect()
    }

    /// Applies the function.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Activation::Relu => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Activation::Affine { alpha, beta } => alpha * x + beta,
            Activation::LeakyRelu { alpha } => {
                if x < 0.0 {
                    alpha * x
                } else {
                    x
                }
            }
            Activation::ThresholdedRelu { alpha } => {
                if x > alpha {
                    x
                } else {
                    0.0
                }
            }
            Activation::ScaledTanh { alpha, beta } => alpha * (beta * x).tanh(),
            Activation::HardSigmoid { alpha, beta } => (alpha * x + beta).clamp(0.0, 1.0),
            Activation::Elu { alpha } => {
                if x < 0.0 {
                    alpha * x.exp_m1()
                } else {
                    x
                }
            }
            Activation::Softsign => x / (1.0 + x.abs()),
            Activation::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
        }
    }
}

/// A function together with the bound of its argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    activation: Activation,
    clip: f64,
}

impl Gate {
    pub(super) fn apply(self, x: f64) -> f64 {
        // Not `clamp`, which panics on a bound that is NaN; and `max` would lose an `x` that is.
        let bounded = if x.is_nan() { x } else { x.max(-self.clip).min(self.clip) };
        self.activation.apply(bounded)
    }

    /// The function without the bound, for values that are no sums of gates.
    pub(super) fn apply_unclipped(self, x: f64) -> f64 {
        self.activation.apply(x)
    }
}

/// The functions of each direction, `usual` if none are given.
pub(super) fn gates<const N: usize>(
    name: &'static str,
    params: &RecurrentParams,
    usual: [Activation; N],
) -> Result<Vec<[Gate; N]>> {
    let directions = params.direction.count();
    let given = &params.activations;
    if !given.is_empty() && given.len() != N * directions {
        let expected = "one function for each kind of gate and each direction";
        return Err(refuse::parameter(name, "activations", expected, given));
    }
    let clip = params.clip.filter(|&clip| clip > 0.0).unwrap_or(f64::INFINITY);
    let gate = |direction: usize, index: usize| {
        let activation = given.get(direction * N + index).copied().unwrap_or(usual[index]);
        Gate { activation, clip }
    };
    Ok((0..directions).map(|d| std::array::from_fn(|index| gate(d, index))).collect())
}
