//! Evaluation of programs over the field of integers modulo a prime.
//!
//! Two polynomials (or quotients of polynomials) of degree at most d that are not the same agree
//! at a random point of the field with probability at most d / p: Schwartz and Zippel. Functions
//! without polynomials (`exp`, `relu`) are replaced by random functions of the field, one for each
//! operation and its attributes: what is equal for these is equal for all functions. So equality
//! here is equality; a difference is only a reason to look at real numbers.
//!
//! How an operation is evaluated is said by its entry ([`NnOp::over_field`](crate::nn::NnOp)), with
//! the functions of this module: [`moved`], [`summed`], [`bilinear`] for most, arithmetic of
//! [`Evaluation`] for others.

mod evaluation;
pub mod prime;

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Op, Traits, Value};
use tangram_tensor::shape::broadcast_to;
use tangram_tensor::{DType, Tensor};

use crate::nn::{self, Numbers};
use crate::{constant, dtype};

pub use evaluation::{Evaluated, Evaluation, bilinear, minus, moved, plus, sum_over, summed};

/// Evaluates an operation over the field.
pub type FieldFn = fn(&Evaluation<'_>) -> Option<Evaluated>;

/// A tensor of field elements, or of integers and truth values as they are.
#[derive(Clone, Debug)]
pub struct Element {
    /// The elements.
    pub tensor: Tensor,
    /// The degree as a polynomial in the inputs, or of numerator and denominator together.
    pub degree: u32,
    /// The numbers themselves, where they are no inputs but fixed.
    fixed: Option<Tensor>,
}

impl Element {
    /// Elements of an input, drawn by `random` from 0 to below the argument.
    pub fn random(shape: &[usize], mut random: impl FnMut(u64) -> u64) -> Option<Element> {
        let count = tangram_tensor::element_count(shape)?;
        let elements = (0..count).map(|_| random(prime::P) as f64).collect();
        Some(Element { tensor: Tensor::from_vec(shape, elements).ok()?, degree: 1, fixed: None })
    }

    /// The elements that stand for fixed numbers; integers stay what they are.
    pub fn fixed(tensor: &Tensor) -> Option<Element> {
        let fixed = Some(tensor.clone());
        if tensor.dtype() != DType::F64 {
            return Some(Element { tensor: tensor.clone(), degree: 0, fixed });
        }
        let elements = tensor.f64s().ok()?.into_iter().map(prime::from_real);
        let elements: Vec<f64> = elements.collect::<Option<_>>()?;
        let tensor = Tensor::from_vec(tensor.shape(), elements).ok()?;
        Some(Element { tensor, degree: 0, fixed })
    }

    fn is_field(&self) -> bool {
        self.tensor.dtype() == DType::F64
    }
}

/// The operands that `return` has, for these values of inputs and constants; none where an
/// operation is neither polynomial nor a function of each element.
pub fn run(module: &Module, given: &FxHashMap<Value, Element>) -> Option<Vec<Element>> {
    let mut values = given.clone();
    for op in module.ops(module.body()) {
        if Some(op) == module.last_op(module.body()) {
            return module.operands(op).map(|v| values.get(&v).cloned()).collect();
        }
        let results = match module.result_count(op) {
            1 if values.contains_key(&module.result(op, 0)) => continue,
            1 if constant::is_constant(module, op) => {
                let tensor = constant::constant_tensor(module, module.result(op, 0))?;
                vec![Element::fixed(&tensor)?]
            }
            _ => step(module, op, &values)?,
        };
        values.extend(module.results(op).zip(results));
    }
    None
}

fn step(module: &Module, op: Op, values: &FxHashMap<Value, Element>) -> Option<Vec<Element>> {
    let none = |v: Value| constant::is_none_type(module.context(), module.value_type(v));
    if module.result_count(op) == 1 && none(module.result(op, 0)) {
        return Some(Vec::new());
    }
    let given: Vec<Option<&Element>> = module.operands(op).map(|v| values.get(&v)).collect();
    if module.operands(op).zip(&given).any(|(v, found)| found.is_none() && !none(v)) {
        return None;
    }
    let results = module.results(op).map(|v| {
        let element = module.context().element_type(module.value_type(v))?;
        dtype::dtype_of(module.context(), element)
    });
    let numbers = results.map(|dtype| Some(dtype? == DType::F64)).collect::<Option<Vec<_>>>()?;
    let field_in = given.iter().flatten().any(|element| element.is_field());
    let cx = Evaluation::new(module, op, &given);
    match (field_in, numbers.iter().any(|number| *number)) {
        (_, false) if !field_in || nn::numbers(module, op).contains(Numbers::OF_EXTENTS) => {
            cx.concrete()
        }
        (true, true) => symbolic(&cx),
        // What makes numbers of integers makes fixed numbers.
        (false, true) => {
            let made = cx.kernel(&cx.fixed()?)?;
            made.iter().map(Element::fixed).collect()
        }
        _ => None,
    }
}

/// By the entry of the operation; a function of each element, of which nothing is known, without.
fn symbolic(cx: &Evaluation<'_>) -> Option<Vec<Element>> {
    let function = nn::entry(cx.name()).and_then(|entry| entry.over_field);
    let Evaluated { tensors, degree } = match function {
        Some(function) => function(cx)?,
        None if cx.has_traits(Traits::ELEMENTWISE) => cx.polynomial(cx.opaque()?, 1),
        None => return None,
    };
    // What follows may need the numbers, as the exponent of a power.
    let fixed = if degree == 0 { cx.fixed().and_then(|fixed| cx.kernel(&fixed)) } else { None };
    let element = |(i, tensor)| {
        let fixed = fixed.as_ref().and_then(|fixed| fixed.get(i).cloned());
        Element { tensor, degree, fixed }
    };
    Some(tensors.into_iter().enumerate().map(element).collect())
}

/// Returns whether two results of one type are the same, extents included; `None` where it cannot
/// be said.
pub fn same(a: &Element, b: &Element) -> Option<bool> {
    let (x, y) = (&a.tensor, &b.tensor);
    if x.shape() != y.shape() || x.dtype() != y.dtype() {
        return Some(false);
    }
    // Broadcasting to its own shape gives a dense copy.
    let dense = |t: &Tensor| broadcast_to(t, t.shape()).ok();
    Some(dense(x)?.bytes() == dense(y)?.bytes())
}
