//! One operation over the field: what entries compute their results with.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use tangram_ir::{Module, Op, Traits};
use tangram_tensor::Tensor;
use tangram_tensor::elementwise::{add, subtract};
use tangram_tensor::reduce::{Reduce, reduce as reduce_axes};

use super::{Element, prime};
use crate::attrs::Attrs;
use crate::eval;

/// What an operation gives over the field.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The results.
    pub tensors: Vec<Tensor>,
    /// Their degree as polynomials in the inputs.
    pub degree: u32,
}

/// What the evaluation of an operation may look at.
pub struct Evaluation<'a> {
    module: &'a Module,
    op: Op,
    given: &'a [Option<&'a Element>],
}

/// What only moves elements about: any element type will do.
pub fn moved(cx: &Evaluation<'_>) -> Option<Evaluated> {
    Some(cx.linear(cx.kernel(&cx.tensors())?))
}

/// What adds up elements, each at most a few thousand times.
pub fn summed(cx: &Evaluation<'_>) -> Option<Evaluated> {
    let made = cx.kernel(&cx.tensors())?;
    let made = made.iter().map(|t| prime::map(t, prime::reduce).ok());
    Some(cx.linear(made.collect::<Option<_>>()?))
}

/// What is linear in each of two operands; a function of none where there are more.
pub fn bilinear(cx: &Evaluation<'_>) -> Option<Evaluated> {
    let [Some(a), Some(b)] = cx.given else { return None };
    let kernel = |a, b| {
        let made = eval::evaluate(cx.module, cx.op, &[Some(a), Some(b)])?;
        Ok::<_, eval::EvalError>(made.into_iter().next().unwrap_or(Tensor::scalar(0.0)))
    };
    Some(cx.polynomial(prime::bilinear(&a.tensor, &b.tensor, kernel).ok()?, 1))
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(module: &'a Module, op: Op, given: &'a [Option<&'a Element>]) -> Self {
        Self { module, op, given }
    }

    pub(super) fn name(&self) -> &'a str {
        self.module.name_text(self.op)
    }

    pub(super) fn has_traits(&self, traits: Traits) -> bool {
        self.module.has_traits(self.op, traits)
    }

    /// The reference kernel.
    pub(super) fn kernel(&self, operands: &[Option<Tensor>]) -> Option<Vec<Tensor>> {
        eval::evaluate(self.module, self.op, operands).ok()
    }

    fn tensors(&self) -> Vec<Option<Tensor>> {
        self.given.iter().map(|element| element.map(|e| e.tensor.clone())).collect()
    }

    /// The operands as numbers, where all of them are fixed.
    pub(super) fn fixed(&self) -> Option<Vec<Option<Tensor>>> {
        let fixed = |element: &Option<&Element>| match element {
            Some(element) => Some(Some(element.fixed.clone()?)),
            None => Some(None),
        };
        self.given.iter().map(fixed).collect()
    }

    /// Integers and truth values: by the reference kernel.
    pub(super) fn concrete(&self) -> Option<Vec<Element>> {
        let made = self.kernel(&self.tensors())?;
        made.iter().map(Element::fixed).collect()
    }

    /// The attributes.
    pub fn attrs(&self) -> Attrs<'_> {
        Attrs::new(self.module.context(), self.module.attrs(self.op))
    }

    /// How many results are asked for.
    pub fn result_count(&self) -> usize {
        self.module.result_count(self.op)
    }

    /// How many operands there are.
    pub fn operand_count(&self) -> usize {
        self.given.len()
    }

    /// Operand `i`, if it is there.
    pub fn operand(&self, i: usize) -> Option<&'a Tensor> {
        self.given.get(i).copied().flatten().map(|element| &element.tensor)
    }

    /// The numbers of operand `i`, if they are fixed.
    pub fn number(&self, i: usize) -> Option<&'a Tensor> {
        self.given.get(i).copied().flatten()?.fixed.as_ref()
    }

    /// Results of the degree of the operands.
    pub fn linear(&self, tensors: Vec<Tensor>) -> Evaluated {
        let degrees = self.given.iter().flatten().map(|e| e.degree);
        Evaluated { tensors, degree: degrees.max().unwrap_or(0) }
    }

    /// A result of at most `factor` times the degree of all operands together.
    pub fn polynomial(&self, tensor: Tensor, factor: u32) -> Evaluated {
        let degrees = self.given.iter().flatten().map(|e| e.degree);
        let degree = degrees.fold(0, u32::saturating_add).saturating_mul(factor);
        Evaluated { tensors: vec![tensor], degree }
    }

    /// By the reference kernel, where `value` is a number that it brings in and the field has.
    pub fn moved_with(&self, value: f64) -> Option<Evaluated> {
        let plain = (0.0..prime::P as f64).contains(&value) && value.fract() == 0.0;
        if plain { moved(self) } else { None }
    }

    /// Quotients by counts that divide `multiple`: of the elements times that, so that the kernel
    /// divides without remainder; its rounding errors are far below a half.
    pub fn mean(&self, multiple: f64) -> Option<Evaluated> {
        let scaled = self.tensors().into_iter().map(|t| match t {
            Some(t) => prime::map(&t, |x| x * multiple).ok().map(Some),
            None => Some(None),
        });
        let made = self.kernel(&scaled.collect::<Option<Vec<_>>>()?)?;
        let back = prime::inverse(multiple);
        let whole = |x: f64| prime::times(prime::reduce(x.round()), back);
        Some(self.linear(made.iter().map(|t| prime::map(t, whole).ok()).collect::<Option<_>>()?))
    }

    /// A function of each element of which nothing is known.
    pub fn opaque(&self) -> Option<Tensor> {
        let (x, salt) = (self.operand(0)?, self.salt());
        match self.given.len() {
            1 => prime::map(x, |a| prime::opaque(salt, [a, 0.0])).ok(),
            2 => prime::zip(x, self.operand(1)?, |a, b| prime::opaque(salt, [a, b])).ok(),
            _ => None,
        }
    }

    /// A function of two elements of which it is known only that their order does not matter.
    pub fn symmetric(&self) -> Option<Tensor> {
        let (x, salt) = (self.operand(0)?, self.salt());
        let ordered = |a: f64, b: f64| prime::opaque(salt, [a.min(b), a.max(b)]);
        prime::zip(x, self.operand(1)?, ordered).ok()
    }

    fn salt(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.module.name(self.op), self.module.attrs(self.op)).hash(&mut hasher);
        hasher.finish()
    }

    /// One over the root of a variance plus `epsilon`.
    pub fn scale(&self, variance: &Tensor, epsilon: f64) -> Option<Tensor> {
        let epsilon = prime::from_real(epsilon)?;
        let scale = |v: f64| prime::inverse(prime::root(prime::reduce(v + epsilon)));
        prime::map(variance, scale).ok()
    }

    /// `x` with mean 0 and variance 1 over `axes`; only divided by the root of the mean square
    /// where `centre` is false.
    pub fn normalised(
        &self,
        x: &Tensor,
        axes: &[i64],
        (centre, epsilon): (bool, f64),
    ) -> Option<Tensor> {
        let centred = if centre { minus(x, &mean_over(x, axes)?)? } else { x.clone() };
        let variance = mean_over(&prime::multiply(&centred, &centred).ok()?, axes)?;
        prime::multiply(&centred, &self.scale(&variance, epsilon)?).ok()
    }
}

/// The sum, broadcast.
pub fn plus(a: &Tensor, b: &Tensor) -> Option<Tensor> {
    prime::map(&add(a, b).ok()?, prime::reduce).ok()
}

/// The difference, broadcast.
pub fn minus(a: &Tensor, b: &Tensor) -> Option<Tensor> {
    prime::map(&subtract(a, b).ok()?, prime::reduce).ok()
}

/// The sum over dimensions, which stay with extent 1.
pub fn sum_over(x: &Tensor, axes: &[i64]) -> Option<Tensor> {
    let sums = reduce_axes(Reduce::Sum, x, axes, true, true).ok()?;
    prime::map(&sums, prime::reduce).ok()
}

fn mean_over(x: &Tensor, axes: &[i64]) -> Option<Tensor> {
    let sums = sum_over(x, axes)?;
    let count = x.len().checked_div(sums.len())?;
    let share = prime::inverse(count as f64);
    prime::map(&sums, |s| prime::times(s, share)).ok()
}
