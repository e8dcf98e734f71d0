//! Scalar bodies: straight code that makes one element.
//!
//! A [`Number`] has an element type of tensors. Constants of MLIR's dialects (`mlir/fold/number`) have
//! widths that no tensor has.

use tangram_tensor::DType;

/// A number of a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// Of a floating-point type; converted to it by rounding.
    Float(DType, f64),
    /// Of an integer type, or a boolean as 0 or 1; the bits of an unsigned 64-bit number.
    Int(DType, i64),
}

impl Number {
    /// The zero of a type.
    pub fn zero(element: DType) -> Number {
        if element.is_float() { Number::Float(element, 0.0) } else { Number::Int(element, 0) }
    }

    /// The one of a type.
    pub fn one(element: DType) -> Number {
        if element.is_float() { Number::Float(element, 1.0) } else { Number::Int(element, 1) }
    }

    /// The least number of a type, minus infinity for floats.
    pub fn lowest(element: DType) -> Number {
        let bits = element.size_bits() as u32;
        match element.is_float() {
            true => Number::Float(element, f64::NEG_INFINITY),
            false if element.is_signed() && element.is_int() => {
                Number::Int(element, i64::MIN >> (64 - bits.clamp(1, 64)))
            }
            false => Number::Int(element, 0),
        }
    }

    /// The greatest number of a type, infinity for floats.
    pub fn highest(element: DType) -> Number {
        let bits = element.size_bits() as u32;
        match element.is_float() {
            true => Number::Float(element, f64::INFINITY),
            false if element == DType::Bool => Number::Int(element, 1),
            false if element.is_signed() => {
                Number::Int(element, i64::MAX >> (64 - bits.clamp(1, 64)))
            }
            false if bits >= 64 => Number::Int(element, -1),
            false => Number::Int(element, (1 << bits) - 1),
        }
    }

    /// Its type.
    pub fn element(&self) -> DType {
        match self {
            Number::Float(element, _) | Number::Int(element, _) => *element,
        }
    }
}

/// A scalar of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScalarId(pub u32);

/// Functions of one number, in its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The names are those of the operations of nn.
pub enum Unary {
    Neg,
    Abs,
    Sqrt,
    Exp,
    /// `e^x - 1`, exact near 0.
    Expm1,
    Log,
    /// `log(1 + x)`, exact near 0.
    Log1p,
    Erf,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    /// `1 / (1 + e^-x)`, computed from `e^-|x|`.
    Sigmoid,
    Floor,
    Ceil,
    /// To the nearest integer, ties to even.
    Round,
    /// -1, 0 or 1; a NaN and a zero of either sign stay.
    Sign,
    Not,
    BitNot,
    /// Itself, an integer that something is divided by: a zero ends the run with an error.
    Nonzero,
}

/// Functions of two numbers of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The names are those of the operations of nn.
pub enum Binary {
    Add,
    Sub,
    Mul,
    /// Of integers towards zero; by zero, 0. [`Unary::Nonzero`] makes that an error.
    Div,
    /// A NaN if either is one; the second of two zeros.
    Max,
    /// A NaN if either is one; the second of two zeros.
    Min,
    /// Of integers, wrapping; a negative exponent gives 0, but 1 or -1 of 1 or -1.
    Pow,
    /// With the sign of the divisor, as Python's `%`; of integers by zero, 0.
    Mod,
    /// With the sign of the dividend, as C's `fmod`; of integers by zero, 0.
    Rem,
    And,
    Or,
    Xor,
    BitAnd,
    BitOr,
    BitXor,
    /// By the width or more, 0.
    ShiftLeft,
    /// By the width or more, 0, or -1 of a negative number.
    ShiftRight,
}

/// Comparisons of two numbers of one type; with a NaN only `Ne` holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What a scalar is; operands are earlier scalars.
#[derive(Clone, PartialEq, Debug)]
pub enum Scalar {
    /// An element that the nest reads.
    Input(usize),
    /// Whether that element is inside of its tensor.
    Inside(usize),
    /// The value of an iterator, as `int64`.
    Index(usize),
    /// The value of a symbol of the nest, as `int64`.
    Symbol(usize),
    /// A number.
    Constant(Number),
    /// A function of one.
    Unary(Unary, ScalarId),
    /// A function of two.
    Binary(Binary, ScalarId, ScalarId),
    /// A comparison, a boolean.
    Compare(Comparison, ScalarId, ScalarId),
    /// The second where the first, a boolean, holds, else the third.
    Select(ScalarId, ScalarId, ScalarId),
    /// Converted as `nn.cast` does.
    Cast(DType, ScalarId),
    /// The element of a table at computed places, each an `int64`. What is outside of the table is
    /// refused, or clamped to it: it never reads elsewhere.
    Lookup(usize, Vec<ScalarId>),
}

impl Scalar {
    /// The scalars that it is made of.
    pub fn operands(&self) -> Vec<ScalarId> {
        match self {
            Scalar::Unary(_, a) | Scalar::Cast(_, a) => vec![*a],
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => vec![*a, *b],
            Scalar::Select(test, a, b) => vec![*test, *a, *b],
            Scalar::Lookup(_, at) => at.clone(),
            _ => Vec::new(),
        }
    }

    /// The same function of others.
    pub fn with_operands(&self, other: impl Fn(ScalarId) -> ScalarId) -> Scalar {
        match self {
            Scalar::Unary(f, a) => Scalar::Unary(*f, other(*a)),
            Scalar::Binary(f, a, b) => Scalar::Binary(*f, other(*a), other(*b)),
            Scalar::Compare(f, a, b) => Scalar::Compare(*f, other(*a), other(*b)),
            Scalar::Select(test, a, b) => Scalar::Select(other(*test), other(*a), other(*b)),
            Scalar::Cast(ty, a) => Scalar::Cast(*ty, other(*a)),
            Scalar::Lookup(table, at) => {
                Scalar::Lookup(*table, at.iter().copied().map(other).collect())
            }
            leaf => leaf.clone(),
        }
    }
}

/// Straight code: scalars in order; the result is named.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Body {
    scalars: Vec<Scalar>,
    result: Option<ScalarId>,
}

impl Body {
    /// The scalars, each after its operands.
    pub fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }

    /// The scalar that the nest writes, or combines.
    pub fn value(&self) -> Option<ScalarId> {
        self.result
    }

    /// Adds a scalar.
    pub fn push(&mut self, scalar: Scalar) -> ScalarId {
        self.scalars.push(scalar);
        ScalarId(self.scalars.len() as u32 - 1)
    }

    /// An element that the nest reads.
    pub fn input(&mut self, input: usize) -> ScalarId {
        self.push(Scalar::Input(input))
    }

    /// A number.
    pub fn constant(&mut self, number: Number) -> ScalarId {
        self.push(Scalar::Constant(number))
    }

    /// A function of one.
    pub fn unary(&mut self, function: Unary, x: ScalarId) -> ScalarId {
        self.push(Scalar::Unary(function, x))
    }

    /// A function of two.
    pub fn binary(&mut self, function: Binary, x: ScalarId, y: ScalarId) -> ScalarId {
        self.push(Scalar::Binary(function, x, y))
    }

    /// Names the result.
    pub fn result(&mut self, value: ScalarId) {
        self.result = Some(value);
    }
}
