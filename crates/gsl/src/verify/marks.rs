//! The numbers that programs have for themselves: constants, bounds, slopes.
//!
//! `x == 6` and `clip(x, 0, 20)` change what they do at one number, which random inputs miss. Some
//! inputs are therefore these numbers, and those next to them.

use fastrand::Rng;
use tangram_dialects::constant;
use tangram_dialects::nn::numbers::mantissa;
use tangram_ir::Module;
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

use crate::eval::AttrValue;
use crate::matching::from_attr;

/// The most elements of a constant of which each is a number by itself.
const FEW: usize = 4;

/// The finite numbers of small constants and of attributes, each once, and what lies between two of
/// them.
pub(super) fn of(modules: [&Module; 2]) -> Vec<f64> {
    let mut marks = Vec::new();
    for module in modules {
        for op in module.ops(module.body()) {
            if constant::is_constant(module, op) {
                let tensor = constant::constant_tensor(module, module.result(op, 0));
                let few = tensor.filter(|t| t.len() <= FEW).and_then(|t| t.f64s().ok());
                marks.extend(few.into_iter().flatten());
                continue;
            }
            let entries = module.context().entries(module.attrs(op)).iter();
            marks.extend(entries.filter_map(|(_, attr)| match from_attr(module, *attr)? {
                AttrValue::Float(x) | AttrValue::Single(x) => Some(x),
                _ => None,
            }));
        }
    }
    marks.retain(|x| x.is_finite());
    marks.sort_unstable_by(f64::total_cmp);
    marks.dedup();
    let between: Vec<f64> = marks.windows(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0).collect();
    marks.extend(between);
    marks
}

/// Puts these numbers, and those next to them, in place of one element in four.
pub(super) fn mark(tensor: Tensor, marks: &[f64], rng: &mut Rng) -> Option<Tensor> {
    let dtype = tensor.dtype();
    if marks.is_empty() || dtype == DType::Bool {
        return Some(tensor);
    }
    let Ok(mut numbers) = tensor.f64s() else { return Some(tensor) };
    for x in &mut numbers {
        let Some(&mark) = rng.choice(marks).filter(|_| rng.u8(0..4) == 0) else { continue };
        let step = if dtype.is_float() { ulp(dtype, mark) } else { 1.0 };
        *x = mark + step * f64::from(rng.i8(-1..=1));
    }
    cast(&Tensor::from_vec(tensor.shape(), numbers).ok()?, dtype).ok()
}

/// The distance of a number of the type to the next one.
pub(super) fn ulp(dtype: DType, x: f64) -> f64 {
    let exponent = x.abs().max(f64::MIN_POSITIVE).log2().floor() as i32;
    2f64.powi(exponent - mantissa(dtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_neighbours_are_among_the_elements() {
        let mut rng = Rng::with_seed(5);
        let zeros = Tensor::from_vec([64], vec![0f32; 64]).expect("a tensor");
        let marked = mark(zeros, &[6.0], &mut rng).expect("a tensor").f64s().expect("numbers");
        let is_in = |expected: f64| marked.iter().any(|x| (x - expected).abs() < 1e-9);
        assert!(is_in(0.0) && is_in(6.0) && is_in(f64::from(6f32.next_up())), "{marked:?}");
        let integers = Tensor::from_vec([64], vec![0i64; 64]).expect("a tensor");
        let marked = mark(integers, &[200.0], &mut rng).expect("a tensor").i64s().expect("numbers");
        assert!([199, 200, 201].iter().all(|n| marked.contains(n)));
    }
}
