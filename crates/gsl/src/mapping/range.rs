//! What a constant loses when it is computed ahead: `x * a * b` is finite where `a * b`, in half
//! precision, is infinite or nothing at all.
//!
//! A rule that computes on weights states that this is as good as computing at run time. Up to
//! rounding it is, within the range of the element type; outside of it the rewrite is refused. So
//! no finite result becomes infinite or NaN by a constant that a rule has made, and none becomes 0.
//! Nothing is multiplied ahead by what is infinite or NaN itself.
//! What rules make of data at run time is theirs to answer for: sums are taken to be made in 32
//! bits at least, as runtimes do.

use tangram_ir::{Module, Op};
use tangram_tensor::elementwise::{add, cast, divide, multiply, subtract};
use tangram_tensor::{DType, KernelError, Tensor};

/// Operations that multiply. An infinite factor behind a sum is none before it: `(x W) * inf` is
/// infinite, and `W * inf` is NaN where W is 0, and a sum of infinities of both signs is NaN.
const SCALES: &[&str] = &[
    "nn.multiply",
    "nn.divide",
    "nn.reciprocal",
    "nn.power",
    "nn.matmul",
    "nn.batch_matmul",
    "nn.dense",
    "nn.gemm",
    "nn.einsum",
];

/// Returns whether `results`, computed by `op` on constant `operands`, left the range of their type.
pub(super) fn leaves(
    module: &Module,
    op: Op,
    operands: &[Option<Tensor>],
    results: &[Tensor],
) -> bool {
    let given: Vec<&Tensor> = operands.iter().flatten().collect();
    let floats = |tensor: &&&Tensor| tensor.dtype().is_float();
    if !results.iter().any(|result| result.dtype().is_float()) {
        return false;
    }
    let name = module.name_text(op);
    if !given.iter().filter(floats).all(|tensor| is_finite(tensor)) {
        let nan = |tensor: &Tensor| tensor.f64s().is_ok_and(|list| list.iter().any(|x| x.is_nan()));
        return SCALES.contains(&name) || !given.iter().any(|&t| nan(t)) && results.iter().any(nan);
    }
    !results.iter().all(is_finite) || underflows(name, &given, results)
}

/// Whether no element is infinite or NaN: weights as a rule, which need not be aligned, where they lie.
pub(super) fn is_finite(tensor: &Tensor) -> bool {
    /// Whether the bits of an exponent are not all set, in any of the numbers.
    fn all<const N: usize>(bytes: &[u8], is_number: impl Fn([u8; N]) -> bool) -> bool {
        let numbers = bytes.as_chunks::<N>().0;
        numbers.iter().fold(true, |all, number| all & is_number(*number))
    }
    let halves = |exponent: u16| {
        all(tensor.bytes(), |number| u16::from_le_bytes(number) & exponent != exponent)
    };
    match tensor.dtype() {
        DType::F16 => halves(0x7c00),
        DType::BF16 => halves(0x7f80),
        DType::F32 => all(tensor.bytes(), |number| f32::from_le_bytes(number).is_finite()),
        DType::F64 => all(tensor.bytes(), |number| f64::from_le_bytes(number).is_finite()),
        dtype if !dtype.is_float() => true,
        _ => tensor.f64s().is_ok_and(|list| list.iter().all(|number| number.is_finite())),
    }
}

/// Where numbers of a type lose digits: powers of two.
struct Limits {
    /// Of the least normal number.
    least: i32,
    /// How far below the greatest number of a tensor another one does not count: twice as many binary
    /// digits as numbers have.
    share: i32,
    /// The part of a number that may be lost: some units of its last place.
    lost: i32,
}

fn limits(dtype: DType) -> Option<Limits> {
    let (least, share, lost) = match dtype {
        DType::F16 => (-14, -20, -8),
        DType::BF16 => (-126, -14, -6),
        DType::F32 => (-126, -46, -20),
        DType::F64 => (-1022, -104, -49),
        _ => return None,
    };
    Some(Limits { least, share, lost })
}

type Kernel = fn(&Tensor, &Tensor) -> Result<Tensor, KernelError>;

/// Returns whether a product or quotient other than 0 has lost digits by being too small, and is not
/// nothing beside the others: weights of 1e-40 among weights of 0.1 are remains of training.
fn underflows(name: &str, given: &[&Tensor], results: &[Tensor]) -> bool {
    // Logarithms of a product add up.
    let (kernel, of_logarithms): (Kernel, Kernel) = match name {
        "nn.multiply" => (multiply, add),
        "nn.divide" => (divide, subtract),
        _ => return false,
    };
    let (&[a, b], [result]) = (given, results) else { return false };
    let Some(limits) = limits(result.dtype()) else { return false };
    let least = 2f64.powi(limits.least);
    if let Ok(found) = result.view::<f32>()
        && found.iter().fold(true, |all, number| all & (number.abs() > least as f32))
    {
        return false;
    }
    if result.dtype() == DType::F64 {
        return vanishes(of_logarithms, (a, b), result, &limits).unwrap_or(true);
    }
    let wide = |tensor: &Tensor| cast(tensor, DType::F64);
    let exact = wide(a).and_then(|a| kernel(&a, &wide(b)?)).and_then(|product| product.f64s());
    let (Ok(exact), Ok(found)) = (exact, result.f64s()) else { return false };
    let counts = exact.iter().fold(0f64, |most, x| most.max(x.abs())) * 2f64.powi(limits.share);
    exact.iter().zip(&found).any(|(&exact, &found)| {
        let too_small = exact != 0.0 && exact.abs() < least && exact.abs() >= counts;
        too_small && (found - exact).abs() > exact.abs() * 2f64.powi(limits.lost)
    })
}

/// The same for numbers that no type holds the product of: their logarithms say how small it is.
fn vanishes(
    combine: Kernel,
    (a, b): (&Tensor, &Tensor),
    result: &Tensor,
    limits: &Limits,
) -> Result<bool, KernelError> {
    let found = result.f64s()?;
    if found.iter().all(|number| number.abs() >= 2f64.powi(limits.least)) {
        return Ok(false);
    }
    let logarithms = |tensor: &Tensor| {
        let all = tensor.f64s()?.iter().map(|number| number.abs().log2()).collect();
        Tensor::from_vec(tensor.shape(), all)
    };
    let sizes = combine(&logarithms(a)?, &logarithms(b)?)?.f64s()?;
    let most = sizes.iter().copied().filter(|size| size.is_finite()).fold(f64::MIN, f64::max);
    // Numbers below the least normal one have the digits of one unit, 52 digits below it.
    let exact_from = f64::from(limits.least - 52 - limits.lost - 1);
    Ok(sizes.iter().any(|&size| {
        size.is_finite() && size < exact_from && size >= most + f64::from(limits.share)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tangram_ir::{Loc, OpState, Point};
    use tangram_tensor::f16;

    #[test]
    fn numbers_are_told_from_what_is_none() {
        for (x, finite) in [
            (0.0, true),
            (-65504.0, true),
            (6e-8, true),
            (f64::NAN, false),
            (f64::INFINITY, false),
            (f64::NEG_INFINITY, false),
        ] {
            let wide = Tensor::from_vec([2], vec![1.0, x]).expect("two numbers");
            for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
                assert_eq!(
                    is_finite(&cast(&wide, dtype).expect("a cast")),
                    finite,
                    "{x} {dtype:?}"
                );
            }
        }
    }

    #[test]
    fn products_out_of_range_are_seen() {
        let context = tangram_dialects::context();
        let mut module = Module::new(context.clone());
        let state = OpState::new(context.name("nn.multiply"), Loc::UNKNOWN);
        let body = module.body();
        let op = module.create_at(Point::Start(body), state);
        let half = |x: f64| Tensor::scalar(f16::from_f64(x));
        let judged = |a: f64, b: f64| {
            let (a, b) = (half(a), half(b));
            let product = multiply(&a, &b).expect("a product");
            leaves(&module, op, &[Some(a), Some(b)], &[product])
        };
        assert!(judged(1000.0, 100.0));
        assert!(judged(1e-5, 1e-4));
        assert!(!judged(1000.0, 1e-4));
        assert!(!judged(0.0, 1e-4));
        assert!(judged(f64::INFINITY, 2.0) && judged(0.0, f64::NAN));
        let sum = OpState::new(context.name("nn.add"), Loc::UNKNOWN);
        let sum = module.create_at(Point::Start(body), sum);
        let added = |a: f64, b: f64| {
            let (a, b) = (half(a), half(b));
            let total = add(&a, &b).expect("a sum");
            leaves(&module, sum, &[Some(a), Some(b)], &[total])
        };
        assert!(!added(f64::NEG_INFINITY, 2.0), "what was infinite before may stay so");
        assert!(added(f64::NEG_INFINITY, f64::INFINITY));
        let beside = |greatest: f64| {
            let weights: Vec<f16> = [greatest, 6e-8].map(f16::from_f64).into();
            let weights = Tensor::from_vec([2], weights).expect("weights");
            let product = multiply(&weights, &half(0.5)).expect("a product");
            leaves(&module, op, &[Some(weights), Some(half(0.5))], &[product])
        };
        assert!(!beside(1.0), "beside 1 it is nothing");
        assert!(beside(1e-3), "beside 0.001 it counts");
        let double = |a: f64, b: f64| {
            let (a, b) = (Tensor::scalar(a), Tensor::scalar(b));
            let product = multiply(&a, &b).expect("a product");
            leaves(&module, op, &[Some(a), Some(b)], &[product])
        };
        assert!(double(1e-200, 1e-200) && double(0.5, 5e-324) && double(1e-160, 1e-160));
        assert!(!double(1e-150, 1e-150) && !double(0.0, 1e-200) && !double(1e300, 1e-320));
    }
}
