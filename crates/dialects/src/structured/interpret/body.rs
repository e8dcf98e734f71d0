//! Scalars of a body, each at many points at a time.
//!
//! By the reference kernels, so that a definition means what the kernels mean. Scalars of MLIR's
//! dialects (`mlir/run/scalar`) are one at a time and of any width; micro-kernels (`run` in
//! `tangram-kernel`) have `f64` and registers.

use tangram_tensor::elementwise::{self as kernels, ShiftDirection, map1, map2};
use tangram_tensor::{DType, Tensor};

use super::memory::Memory;
use super::points::Points;
use super::{InterpretError, Result};
use crate::structured::{Binary, Body, Comparison, Generic, Number, Scalar, ScalarId, Unary};

/// `count` times a number.
pub(super) fn number(number: Number, count: usize) -> Result<Tensor> {
    Ok(match number {
        Number::Float(element, value) => {
            kernels::cast(&Tensor::vector(vec![value; count]), element)?
        }
        Number::Int(element, value) => kernels::cast(&Tensor::vector(vec![value; count]), element)?,
    })
}

/// A body at some points.
pub(super) struct Evaluation<'a> {
    generic: &'a Generic,
    points: &'a Points<'a>,
    memory: &'a Memory<'a>,
    /// What the input behind all others is.
    combined: Option<Tensor>,
    values: Vec<Tensor>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(
        generic: &'a Generic,
        points: &'a Points<'a>,
        memory: &'a Memory<'a>,
    ) -> Evaluation<'a> {
        Evaluation { generic, points, memory, combined: None, values: Vec::new() }
    }

    /// The same, with combined elements at the points.
    pub(super) fn finishing(self, combined: Tensor) -> Evaluation<'a> {
        Evaluation { combined: Some(combined), ..self }
    }

    /// The value of a body at each point.
    pub(super) fn value(mut self, body: &Body) -> Result<Tensor> {
        for scalar in body.scalars() {
            let value = self.scalar(scalar)?;
            self.values.push(value);
        }
        let value = body.value();
        let value = value.ok_or(InterpretError::Malformed("a body has no value"))?;
        self.get(value).cloned()
    }

    fn get(&self, scalar: ScalarId) -> Result<&Tensor> {
        let value = self.values.get(scalar.0 as usize);
        value.ok_or(InterpretError::Malformed("a scalar comes before its operand"))
    }

    fn scalar(&self, scalar: &Scalar) -> Result<Tensor> {
        let count = self.points.len();
        Ok(match scalar {
            Scalar::Input(input) => match &self.combined {
                Some(combined) if *input == self.generic.inputs.len() => combined.clone(),
                _ => self.input(*input)?,
            },
            Scalar::Inside(input) => {
                let inside = self.places(*input)?.iter().map(Option::is_some).collect();
                Tensor::vector::<bool>(inside)
            }
            Scalar::Index(i) => Tensor::vector(self.points.iterator(*i)?.to_vec()),
            Scalar::Symbol(i) => Tensor::vector(vec![self.points.symbol(*i)?; count]),
            Scalar::Constant(constant) => number(*constant, count)?,
            Scalar::Unary(function, x) => unary(*function, self.get(*x)?)?,
            Scalar::Binary(function, x, y) => binary(*function, self.get(*x)?, self.get(*y)?)?,
            Scalar::Compare(by, x, y) => compare(*by, self.get(*x)?, self.get(*y)?)?,
            Scalar::Select(condition, x, y) => {
                kernels::select(self.get(*condition)?, self.get(*x)?, self.get(*y)?)?
            }
            Scalar::Cast(element, x) => kernels::cast(self.get(*x)?, *element)?,
            Scalar::Lookup(table, at) => self.lookup(*table, at)?,
        })
    }

    fn places(&self, input: usize) -> Result<Vec<Option<usize>>> {
        let access = self.generic.inputs.get(input);
        let access = access.ok_or(InterpretError::Malformed("there is no such input"))?;
        let (_, extents) = self.memory.ty(access.place)?;
        self.points.places(access, &extents)
    }

    fn input(&self, input: usize) -> Result<Tensor> {
        let places = self.places(input)?;
        let access = &self.generic.inputs[input];
        let (element, extents) = self.memory.ty(access.place)?;
        let outside = match access.outside {
            Some(outside) if outside.element() == element => number(outside, 1)?,
            Some(_) => {
                return Err(InterpretError::Malformed("the value outside has another type"));
            }
            None => match places.iter().position(Option::is_none) {
                Some(i) => {
                    let index = self.points.index(access, i);
                    return Err(InterpretError::Outside { place: access.place, extents, index });
                }
                None => number(Number::zero(element), 1)?,
            },
        };
        self.memory.gather(access.place, &places, outside.bytes())
    }

    fn lookup(&self, table: usize, at: &[ScalarId]) -> Result<Tensor> {
        let place = self.generic.tables.get(table).copied();
        let place = place.ok_or(InterpretError::Malformed("there is no such table"))?;
        let (_, extents) = self.memory.ty(place)?;
        if at.len() != extents.len() {
            return Err(InterpretError::Malformed("a place does not fit its table"));
        }
        let at = at.iter().map(|&at| Ok(self.get(at)?.i64s()?)).collect::<Result<Vec<_>>>()?;
        let mut places = Vec::with_capacity(self.points.len());
        for point in 0..self.points.len() {
            let index: Vec<i64> = at.iter().map(|values| values[point]).collect();
            let row_major = |place: usize, (&at, &extent): (&i64, &i64)| {
                let inside = (0..extent).contains(&at);
                inside.then(|| place * extent as usize + at as usize)
            };
            let found = index.iter().zip(&extents).try_fold(0, row_major);
            if found.is_none() {
                return Err(InterpretError::Outside { place, extents, index });
            }
            places.push(found);
        }
        self.memory.gather(place, &places, &[])
    }
}

fn unary(function: Unary, x: &Tensor) -> tangram_tensor::Result<Tensor> {
    match function {
        Unary::Neg if x.dtype().is_float() => kernels::negative(x),
        Unary::Neg => kernels::subtract(&kernels::subtract(x, x)?, x),
        Unary::Abs => kernels::abs(x),
        Unary::Sqrt => kernels::sqrt(x),
        Unary::Exp => kernels::exp(x),
        Unary::Expm1 => real(x, f32::exp_m1, f64::exp_m1),
        Unary::Log => kernels::log(x),
        Unary::Log1p => real(x, f32::ln_1p, f64::ln_1p),
        Unary::Erf => kernels::erf(x),
        Unary::Sin => kernels::sin(x),
        Unary::Cos => kernels::cos(x),
        Unary::Tan => kernels::tan(x),
        Unary::Asin => kernels::asin(x),
        Unary::Acos => kernels::acos(x),
        Unary::Atan => kernels::atan(x),
        Unary::Sinh => kernels::sinh(x),
        Unary::Cosh => kernels::cosh(x),
        Unary::Tanh => kernels::tanh(x),
        Unary::Asinh => kernels::asinh(x),
        Unary::Acosh => kernels::acosh(x),
        Unary::Atanh => kernels::atanh(x),
        Unary::Sigmoid => kernels::sigmoid(x),
        Unary::Floor => kernels::floor(x),
        Unary::Ceil => kernels::ceil(x),
        Unary::Round => kernels::round(x),
        Unary::Sign => kernels::sign(x),
        Unary::Not => kernels::logical_not(x),
        Unary::BitNot => kernels::bitwise_not(x),
        // What is divided by itself is refused where it is a zero.
        Unary::Nonzero => kernels::divide(x, x).map(|_| x.clone()),
    }
}

/// A function of `f32` or `f64`; floats of 16 bits go through `f32`.
fn real(x: &Tensor, f: fn(f32) -> f32, g: fn(f64) -> f64) -> tangram_tensor::Result<Tensor> {
    match x.dtype() {
        DType::F64 => map1(x, g),
        DType::F32 => map1(x, f),
        other => kernels::cast(&map1(&kernels::cast(x, DType::F32)?, f)?, other),
    }
}

fn binary(function: Binary, x: &Tensor, y: &Tensor) -> tangram_tensor::Result<Tensor> {
    match function {
        Binary::Add => kernels::add(x, y),
        Binary::Sub => kernels::subtract(x, y),
        Binary::Mul => kernels::multiply(x, y),
        Binary::Div => by_nonzero(x, y, kernels::divide),
        Binary::Max => kernels::maximum(x, y),
        Binary::Min => kernels::minimum(x, y),
        Binary::Pow => power(x, y),
        Binary::Mod => by_nonzero(x, y, |x, y| kernels::modulo(x, y, false)),
        Binary::Rem => by_nonzero(x, y, |x, y| kernels::modulo(x, y, true)),
        Binary::And => kernels::logical_and(x, y),
        Binary::Or => kernels::logical_or(x, y),
        Binary::Xor => kernels::logical_xor(x, y),
        Binary::BitAnd => kernels::bitwise_and(x, y),
        Binary::BitOr => kernels::bitwise_or(x, y),
        Binary::BitXor => kernels::bitwise_xor(x, y),
        Binary::ShiftLeft => kernels::bit_shift(x, y, ShiftDirection::Left),
        Binary::ShiftRight => kernels::bit_shift(x, y, ShiftDirection::Right),
    }
}

/// A division; of integers by 0 it gives 0.
fn by_nonzero(
    x: &Tensor,
    y: &Tensor,
    divide: impl Fn(&Tensor, &Tensor) -> tangram_tensor::Result<Tensor>,
) -> tangram_tensor::Result<Tensor> {
    if y.dtype().is_float() {
        return divide(x, y);
    }
    let zero = kernels::cast(&Tensor::scalar(0i64), y.dtype())?;
    let one = kernels::cast(&Tensor::scalar(1i64), y.dtype())?;
    let none = kernels::equal(y, &zero)?;
    let quotient = divide(x, &kernels::select(&none, &one, y)?)?;
    kernels::select(&none, &zero, &quotient)
}

fn power(x: &Tensor, y: &Tensor) -> tangram_tensor::Result<Tensor> {
    match x.dtype() {
        // The kernel multiplies where the exponent is one element of 2 or 3.
        DType::F32 => map2("power", x, y, f32::powf),
        DType::F64 => map2("power", x, y, f64::powf),
        element if element.is_float() => kernels::power(x, y),
        element => {
            // 0 to a negative power: as 2 to it.
            let zero = kernels::cast(&Tensor::scalar(0i64), element)?;
            let two = kernels::cast(&Tensor::scalar(2i64), element)?;
            let negative = kernels::less(y, &zero)?;
            let base = kernels::logical_and(&negative, &kernels::equal(x, &zero)?)?;
            kernels::power(&kernels::select(&base, &two, x)?, y)
        }
    }
}

fn compare(by: Comparison, x: &Tensor, y: &Tensor) -> tangram_tensor::Result<Tensor> {
    match by {
        Comparison::Eq => kernels::equal(x, y),
        Comparison::Ne => kernels::logical_not(&kernels::equal(x, y)?),
        Comparison::Lt => kernels::less(x, y),
        Comparison::Le => kernels::less_equal(x, y),
        Comparison::Gt => kernels::greater(x, y),
        Comparison::Ge => kernels::greater_equal(x, y),
    }
}
