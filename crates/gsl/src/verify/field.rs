//! Running a program over the field of integers modulo a prime.
//!
//! Two polynomials (or quotients of polynomials) of degree at most d that are not the same agree
//! at a random point of the field with probability at most d / p: Schwartz and Zippel. Functions
//! without polynomials (`exp`, `relu`) are replaced by random functions of the field, one for each
//! operation and its attributes: what is equal for these is equal for all functions. So equality
//! here is equality; a difference is only a reason to look at real numbers.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

use tangram_dialects::attrs::Attrs;
use tangram_dialects::{constant, dtype, eval};
use tangram_ir::{Module, Op, Traits, Value};
use tangram_tensor::elementwise::{add, subtract};
use tangram_tensor::reduce::{Reduce, reduce as reduce_axes};
use tangram_tensor::shape::{broadcast_to, reshape};
use tangram_tensor::{DType, Tensor};

use super::prime;

/// A tensor of field elements, or of integers and truth values as they are.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) tensor: Tensor,
    /// The degree as a polynomial in the inputs, or of numerator and denominator together.
    pub(super) degree: u32,
    /// The numbers themselves, where they are no inputs but fixed.
    fixed: Option<Tensor>,
}

impl Element {
    /// Random elements: an input.
    pub(super) fn random(shape: &[usize], rng: &mut fastrand::Rng) -> Option<Element> {
        let count = tangram_tensor::element_count(shape)?;
        let elements = (0..count).map(|_| rng.u64(0..prime::P) as f64).collect();
        Some(Element { tensor: Tensor::from_vec(shape, elements).ok()?, degree: 1, fixed: None })
    }

    /// The elements that stand for fixed numbers; integers stay what they are.
    pub(super) fn fixed(tensor: &Tensor) -> Option<Element> {
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
pub(super) fn run(module: &Module, given: &FxHashMap<Value, Element>) -> Option<Vec<Element>> {
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
    if module.name_text(op) == "nn.none" {
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
    let cx = Evaluation { module, op, given: &given };
    match (field_in, numbers.iter().any(|number| *number)) {
        (_, false) if !field_in || reads_extents(module.name_text(op)) => cx.concrete(),
        (true, true) => cx.symbolic(),
        // What makes numbers of integers makes fixed numbers.
        (false, true) => {
            let made = cx.kernel(&cx.fixed()?)?;
            made.iter().map(Element::fixed).collect()
        }
        _ => None,
    }
}

fn reads_extents(name: &str) -> bool {
    matches!(name, "nn.shape_of" | "nn.ndarray_size")
}

/// What only moves elements about: any element type will do.
const MOVES: &[&str] = &[
    "identity",
    "reshape",
    "batch_flatten",
    "flatten",
    "transpose",
    "squeeze",
    "expand_dims",
    "concatenate",
    "split",
    "strided_slice",
    "broadcast_to",
    "tile",
    "depth_to_space",
    "space_to_depth",
    "reverse_sequence",
    "take",
    "gather_elements",
    "gather_nd",
    "where",
    "trilu",
    "cast_like",
    "cast",
    "eye_like",
];

/// What adds up elements, each at most a few thousand times.
const SUMS: &[&str] =
    &["add", "subtract", "negative", "add_n", "bias_add", "sum", "collapse_sum_like", "cumsum"];

/// What divides a sum by a number of elements.
const MEANS: &[&str] =
    &["mean", "mean_n", "global_avg_pool", "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d"];

/// What is linear in each of two operands.
const PRODUCTS: &[&str] = &[
    "dense",
    "matmul",
    "batch_matmul",
    "einsum",
    "conv",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose",
    "conv1d_transpose",
    "conv2d_transpose",
    "conv3d_transpose",
];

struct Evaluation<'a> {
    module: &'a Module,
    op: Op,
    given: &'a [Option<&'a Element>],
}

impl Evaluation<'_> {
    fn kernel(&self, operands: &[Option<Tensor>]) -> Option<Vec<Tensor>> {
        eval::evaluate(self.module, self.op, operands).ok()
    }

    fn tensors(&self) -> Vec<Option<Tensor>> {
        self.given.iter().map(|element| element.map(|e| e.tensor.clone())).collect()
    }

    fn fixed(&self) -> Option<Vec<Option<Tensor>>> {
        let fixed = |element: &Option<&Element>| match element {
            Some(element) => Some(Some(element.fixed.clone()?)),
            None => Some(None),
        };
        self.given.iter().map(fixed).collect()
    }

    fn attrs(&self) -> Attrs<'_> {
        Attrs::new(self.module.context(), self.module.attrs(self.op))
    }

    fn operand(&self, i: usize) -> Option<&Tensor> {
        self.given.get(i).copied().flatten().map(|element| &element.tensor)
    }

    /// Integers and truth values: by the reference kernel.
    fn concrete(&self) -> Option<Vec<Element>> {
        let made = self.kernel(&self.tensors())?;
        made.iter().map(Element::fixed).collect()
    }

    fn degree(&self) -> (u32, u32) {
        let degrees = self.given.iter().flatten().map(|e| e.degree);
        degrees.fold((0, 0), |(most, sum), d| (most.max(d), sum.saturating_add(d)))
    }

    fn symbolic(&self) -> Option<Vec<Element>> {
        let name = self.module.name_text(self.op).trim_start_matches("nn.");
        let (most, sum) = self.degree();
        let (made, degree) = match name {
            _ if MOVES.contains(&name) => (self.kernel(&self.tensors())?, most),
            "pad" => (self.pad()?, most),
            _ if SUMS.contains(&name) => {
                let made = self.kernel(&self.tensors())?;
                let made = made.iter().map(|t| prime::map(t, prime::reduce).ok());
                (made.collect::<Option<_>>()?, most)
            }
            _ if MEANS.contains(&name) => (self.mean()?, most),
            _ if PRODUCTS.contains(&name) && self.given.len() == 2 => {
                let kernel = |a, b| {
                    let made = eval::evaluate(self.module, self.op, &[Some(a), Some(b)])?;
                    Ok::<_, eval::EvalError>(made.into_iter().next().unwrap_or(Tensor::scalar(0.0)))
                };
                let made = prime::bilinear(self.operand(0)?, self.operand(1)?, kernel).ok()?;
                (vec![made], sum)
            }
            _ => (vec![self.scalar(name)?], sum.saturating_mul(degree_factor(name))),
        };
        let fixed = match degree {
            0 => self.fixed().and_then(|fixed| self.kernel(&fixed)),
            _ => None,
        };
        let element = |(i, tensor)| {
            let fixed = fixed.as_ref().and_then(|fixed| fixed.get(i).cloned());
            Element { tensor, degree, fixed }
        };
        Some(made.into_iter().enumerate().map(element).collect())
    }

    /// Padding with a number that the field has.
    fn pad(&self) -> Option<Vec<Tensor>> {
        let value = self.attrs().float("pad_value").unwrap_or(0.0);
        let plain = (0.0..prime::P as f64).contains(&value) && value.fract() == 0.0;
        if plain { self.kernel(&self.tensors()) } else { None }
    }

    /// Quotients by counts: of the elements times a multiple of all counts, so that the kernel
    /// divides without remainder; its rounding errors are far below a half.
    fn mean(&self) -> Option<Vec<Tensor>> {
        let multiple = match self.module.name_text(self.op) {
            "nn.mean" | "nn.global_avg_pool" => self.operand(0)?.len() as f64,
            "nn.mean_n" => self.given.len() as f64,
            // Windows have up to 9 elements here.
            _ => 2520.0,
        };
        let scaled = self.tensors().into_iter().map(|t| match t {
            Some(t) => prime::map(&t, |x| x * multiple).ok().map(Some),
            None => Some(None),
        });
        let made = self.kernel(&scaled.collect::<Option<Vec<_>>>()?)?;
        let back = prime::inverse(multiple);
        let whole = |x: f64| prime::times(prime::reduce(x.round()), back);
        made.iter().map(|t| prime::map(t, whole).ok()).collect()
    }

    fn scalar(&self, name: &str) -> Option<Tensor> {
        let x = self.operand(0)?;
        Some(match name {
            "multiply" => prime::multiply(x, self.operand(1)?).ok()?,
            "divide" => {
                prime::multiply(x, &prime::map(self.operand(1)?, prime::inverse).ok()?).ok()?
            }
            "reciprocal" => prime::map(x, prime::inverse).ok()?,
            "sqrt" => prime::map(x, prime::root).ok()?,
            "power" => self.power(x)?,
            "batch_norm" => self.batch_norm()?,
            "layer_norm" | "rms_norm" => self.layer_norm(x, name)?,
            "instance_norm" => self.instance_norm(x)?,
            "group_norm" => self.group_norm(x)?,
            "lp_norm" => self.lp_norm(x)?,
            "clip" if self.given.len() > 1 => return None,
            "maximum" | "minimum" => {
                let salt = self.salt();
                let ordered = |a: f64, b: f64| prime::opaque(salt, [a.min(b), a.max(b)]);
                prime::zip(x, self.operand(1)?, ordered).ok()?
            }
            _ => self.opaque(x)?,
        })
    }

    /// A function of each element of which nothing is known.
    fn opaque(&self, x: &Tensor) -> Option<Tensor> {
        if !self.module.has_traits(self.op, Traits::ELEMENTWISE) {
            return None;
        }
        let salt = self.salt();
        match self.given.len() {
            1 => prime::map(x, |a| prime::opaque(salt, [a, 0.0])).ok(),
            2 => prime::zip(x, self.operand(1)?, |a, b| prime::opaque(salt, [a, b])).ok(),
            _ => None,
        }
    }

    fn salt(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.module.name(self.op), self.module.attrs(self.op)).hash(&mut hasher);
        hasher.finish()
    }

    fn power(&self, x: &Tensor) -> Option<Tensor> {
        let Some(exponent) = self.given.get(1).copied().flatten()?.fixed.as_ref() else {
            return self.opaque(x);
        };
        match exponent.f64s().ok()?.as_slice() {
            [n] if (0.0..=8.0).contains(n) && n.fract() == 0.0 && exponent.rank() <= x.rank() => {
                let n = *n as u64;
                prime::map(x, |base| prime::power(base, n)).ok()
            }
            [0.5] if exponent.rank() <= x.rank() => prime::map(x, prime::root).ok(),
            _ => self.opaque(x),
        }
    }

    fn epsilon(&self) -> Option<f64> {
        prime::from_real(self.attrs().float("epsilon").unwrap_or(1e-5))
    }

    /// One over the root of a variance plus epsilon.
    fn scale_of(&self, variance: &Tensor) -> Option<Tensor> {
        let epsilon = self.epsilon()?;
        let scale = |v: f64| prime::inverse(prime::root(prime::reduce(v + epsilon)));
        prime::map(variance, scale).ok()
    }

    fn batch_norm(&self) -> Option<Tensor> {
        let x = self.operand(0)?;
        let mut column = vec![1i64; x.rank()];
        *column.get_mut(1)? = -1;
        let per_channel = |i: usize| reshape(self.operand(i)?, &column, false).ok();
        let centred = minus(x, &per_channel(3)?)?;
        let normal = prime::multiply(&centred, &self.scale_of(&per_channel(4)?)?).ok()?;
        plus(&prime::multiply(&normal, &per_channel(1)?).ok()?, &per_channel(2)?)
    }

    /// `x` with mean 0 and variance 1 over `axes`; only divided by the root of the mean square
    /// where `centre` is false.
    fn normalised(&self, x: &Tensor, axes: &[i64], centre: bool) -> Option<Tensor> {
        let centred = if centre { minus(x, &mean_over(x, axes)?)? } else { x.clone() };
        let variance = mean_over(&prime::multiply(&centred, &centred).ok()?, axes)?;
        prime::multiply(&centred, &self.scale_of(&variance)?).ok()
    }

    fn layer_norm(&self, x: &Tensor, name: &str) -> Option<Tensor> {
        if self.module.result_count(self.op) != 1 {
            return None;
        }
        let rank = x.rank() as i64;
        let axis = self.attrs().int("axis").unwrap_or(-1);
        let first = if axis < 0 { axis + rank } else { axis };
        let axes: Vec<i64> = (first..rank).collect();
        let normal = self.normalised(x, &axes, name == "layer_norm")?;
        let scaled = prime::multiply(&normal, self.operand(1)?).ok()?;
        match self.operand(2) {
            Some(beta) => plus(&scaled, beta),
            None => Some(scaled),
        }
    }

    fn affine_by_channel(&self, normal: &Tensor) -> Option<Tensor> {
        let mut column = vec![1i64; normal.rank()];
        *column.get_mut(1)? = -1;
        let [gamma, beta] = [1, 2].map(|i| reshape(self.operand(i)?, &column, false).ok());
        plus(&prime::multiply(normal, &gamma?).ok()?, &beta?)
    }

    fn instance_norm(&self, x: &Tensor) -> Option<Tensor> {
        let axes: Vec<i64> = (2..x.rank() as i64).collect();
        self.affine_by_channel(&self.normalised(x, &axes, true)?)
    }

    fn group_norm(&self, x: &Tensor) -> Option<Tensor> {
        let groups = self.attrs().int("num_groups")?;
        let batch = *x.shape().first()? as i64;
        let grouped = reshape(x, &[batch, groups, -1], false).ok()?;
        let normal = self.normalised(&grouped, &[2], true)?;
        let back: Vec<i64> = x.shape().iter().map(|&n| n as i64).collect();
        self.affine_by_channel(&reshape(&normal, &back, false).ok()?)
    }

    fn lp_norm(&self, x: &Tensor) -> Option<Tensor> {
        if self.attrs().int("p").unwrap_or(2) != 2 {
            return None;
        }
        let axis = self.attrs().int("axis").unwrap_or(-1);
        let squares = sum_over(&prime::multiply(x, x).ok()?, &[axis])?;
        let scale = prime::map(&squares, |s| prime::inverse(prime::root(s))).ok()?;
        prime::multiply(x, &scale).ok()
    }
}

fn degree_factor(name: &str) -> u32 {
    match name {
        "power" => 8,
        "batch_norm" | "layer_norm" | "rms_norm" | "instance_norm" | "group_norm" | "lp_norm" => 8,
        _ => 1,
    }
}

fn plus(a: &Tensor, b: &Tensor) -> Option<Tensor> {
    prime::map(&add(a, b).ok()?, prime::reduce).ok()
}

fn minus(a: &Tensor, b: &Tensor) -> Option<Tensor> {
    prime::map(&subtract(a, b).ok()?, prime::reduce).ok()
}

fn sum_over(x: &Tensor, axes: &[i64]) -> Option<Tensor> {
    let sums = reduce_axes(Reduce::Sum, x, axes, true, true).ok()?;
    prime::map(&sums, prime::reduce).ok()
}

fn mean_over(x: &Tensor, axes: &[i64]) -> Option<Tensor> {
    let sums = sum_over(x, axes)?;
    let count = x.len().checked_div(sums.len())?;
    let share = prime::inverse(count as f64);
    prime::map(&sums, |s| prime::times(s, share)).ok()
}

/// Whether two results of one type are the same, extents included.
pub(super) fn same(a: &Element, b: &Element) -> Option<bool> {
    let (x, y) = (&a.tensor, &b.tensor);
    if x.shape() != y.shape() || x.dtype() != y.dtype() {
        return Some(false);
    }
    // Broadcasting to its own shape gives a dense copy.
    let dense = |t: &Tensor| broadcast_to(t, t.shape()).ok();
    Some(dense(x)?.bytes() == dense(y)?.bytes())
}
