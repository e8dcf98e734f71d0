//! Programs in `float64`: the same operations on wider numbers.

use fastrand::Rng;
use rustc_hash::FxHashMap;
use tangram_dialects::eval::evaluate;
use tangram_dialects::nn::numbers::mantissa;
use tangram_dialects::{constant, dtype};
use tangram_ir::{Attr, AttrData, Dim, FloatKind, Loc, Module, Op, OpState, Point, Value};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor, within};

use super::real::MAX_BYTES;

/// The same program with every floating-point input and constant in `float64`; none where some
/// operation does not take them, or has regions.
pub(super) fn module(module: &Module) -> Option<Module> {
    build(module, &mut |_, x| x)
}

/// The same, with constants and attributes that are numbers which are rounded to those that are there:
/// nearly the least or the greatest of them, so that a few runs show how far any are apart. What fills less
/// than half of the digits of its type is taken for exact.
pub(super) fn unrounded(module: &Module, rng: &mut Rng) -> Option<Module> {
    /// The next number of a type is none of those that are rounded to this one.
    const WITHIN: f64 = 0.999;
    build(module, &mut |dtype, x| {
        let digits = mantissa(dtype);
        let zeros = (x.to_bits() | 1 << 52).trailing_zeros() as i32 - (52 - digits);
        let exact = dtype == DType::F64 || !x.is_finite() || 2 * zeros > digits;
        let by = if rng.bool() { WITHIN } else { -WITHIN };
        if exact { x } else { x + by * half_unit(x, dtype) }
    })
}

/// Half of the distance from a number of a type to the next one.
fn half_unit(x: f64, dtype: DType) -> f64 {
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let least = match dtype {
        DType::F16 => -14,
        DType::BF16 | DType::F32 => -126,
        _ => exponent,
    };
    2f64.powi(exponent.max(least) - mantissa(dtype) - 1)
}

/// Changes a number of a type.
type Change<'a> = &'a mut dyn FnMut(DType, f64) -> f64;

fn build(module: &Module, change: Change<'_>) -> Option<Module> {
    let context = module.context_arc().clone();
    let mut out = Module::new(context.clone());
    let mut made: FxHashMap<Value, Value> = FxHashMap::default();
    for &arg in module.args(module.body()) {
        let (dtype, shape) = constant::static_tensor(&context, module.value_type(arg))?;
        let dims: Vec<Dim> = shape.iter().map(|&n| Dim::fixed(n as i64)).collect();
        let ty = context.tensor_type(&dims, dtype::type_of(&context, wide(dtype)));
        let body = out.body();
        made.insert(arg, out.add_arg(body, ty));
    }
    let last = module.last_op(module.body());
    for op in module.ops(module.body()) {
        let end = Point::End(out.body());
        let operands: Option<Vec<Value>> =
            module.operands(op).map(|v| made.get(&v).copied()).collect();
        let new = if Some(op) == last {
            let mut state = OpState::new(module.name(op), Loc::UNKNOWN);
            state.operands.extend(operands?);
            out.create_at(end, state);
            continue;
        } else if constant::is_constant(module, op) {
            let tensor = constant::constant_tensor(module, module.result(op, 0))?;
            let tensor = changed(tensor, change)?;
            constant::build(&mut out, end, &tensor, "c", Loc::UNKNOWN)
        } else {
            let count = module.result_count(op);
            let (name, attrs) = (module.name(op), attributes(module, op, change));
            out.build(end, name, &operands?, attrs, Some(count), Loc::UNKNOWN).ok()?
        };
        let results: Vec<Value> = out.results(new).collect();
        made.extend(module.results(op).zip(results));
    }
    Some(out)
}

/// A constant in `float64`, changed; other types as they are.
fn changed(tensor: Tensor, change: Change<'_>) -> Option<Tensor> {
    let dtype = tensor.dtype();
    if !dtype.is_float() {
        return Some(tensor);
    }
    let numbers = tensor.f64s().ok()?.into_iter().map(|x| change(dtype, x));
    Tensor::from_vec(tensor.shape(), numbers.collect::<Vec<f64>>()).ok()
}

/// The attributes of an operation, numbers of `float32` among them changed.
fn attributes(module: &Module, op: Op, change: Change<'_>) -> Attr {
    let context = module.context();
    let entries = context.entries(module.attrs(op)).iter().map(|(name, attr)| {
        let changed = match context.attr_data(*attr) {
            AttrData::Float { bits, .. } => {
                let (old, new) = (f64::from_bits(*bits), change(DType::F32, f64::from_bits(*bits)));
                if old == new { *attr } else { context.float_attr(new, FloatKind::F64) }
            }
            _ => *attr,
        };
        (*name, changed)
    });
    context.dict(entries.collect::<Vec<_>>())
}

/// What an operation gives on numbers of any type in `float64`; none where it does not take them.
pub(super) fn results(module: &Module, op: Op, operands: &[Option<Tensor>]) -> Option<Vec<Tensor>> {
    let context = module.context_arc().clone();
    let mut out = Module::new(context.clone());
    let wide = |t: &Tensor| match t.dtype() {
        DType::Bool => Some(t.clone()),
        _ => cast(t, DType::F64).ok(),
    };
    let operands: Vec<Option<Tensor>> =
        operands.iter().map(|t| wide(t.as_ref()?).map(Some)).collect::<Option<_>>()?;
    let argument = |t: &Tensor| {
        let dims: Vec<Dim> = t.shape().iter().map(|&n| Dim::fixed(n as i64)).collect();
        let ty = context.tensor_type(&dims, dtype::type_of(&context, t.dtype()));
        let body = out.body();
        out.add_arg(body, ty)
    };
    let values: Vec<Value> = operands.iter().flatten().map(argument).collect();
    let (end, count) = (Point::End(out.body()), module.result_count(op));
    let (name, attrs) = (module.name(op), module.attrs(op));
    let made = out.build(end, name, &values, attrs, Some(count), Loc::UNKNOWN).ok()?;
    within(MAX_BYTES, || evaluate(&out, made, &operands)).ok()
}

fn wide(dtype: DType) -> DType {
    if dtype.is_float() { DType::F64 } else { dtype }
}
