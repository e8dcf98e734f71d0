//! Scalars of bodies as operations, and back: the table of which function is which.
//!
//! A function is an operation of `arith` or `math` where both mean the same for all operands, to the
//! bit. All others are [`tg.apply`](super::APPLY) and [`tg.cast`](super::CAST):
//!
//! | function | why upstream's is another one |
//! | --- | --- |
//! | `max`, `min` of floats | `arith.maximumf` orders zeros; nn gives the second of two |
//! | quotients, remainders, powers and shifts of integers | upstream's are undefined for some operands |
//! | floats to integers | `arith.fptosi` is undefined beyond the range |
//! | `sigmoid`, `sign`, `mod` | upstream has none, or of several operations |

mod read;
mod write;

use tangram_ir::{Attr, AttrData, Context, Type};
use tangram_tensor::DType;

pub(super) use read::Reader;
pub(super) use write::Writer;

use crate::dtype;
use crate::structured::{Binary, Comparison, Number, Unary};

/// Marks a result that stands for an integer without a sign.
const UNSIGNED: &str = "tg.unsigned";

/// A function of one number: its name, and the operation that it is for floats.
type UnaryRow = (Unary, &'static str, Option<&'static str>);

const UNARIES: &[UnaryRow] = &[
    (Unary::Neg, "neg", Some("arith.negf")),
    (Unary::Abs, "abs", Some("math.absf")),
    (Unary::Sqrt, "sqrt", Some("math.sqrt")),
    (Unary::Exp, "exp", Some("math.exp")),
    (Unary::Expm1, "expm1", Some("math.expm1")),
    (Unary::Log, "log", Some("math.log")),
    (Unary::Log1p, "log1p", Some("math.log1p")),
    (Unary::Erf, "erf", Some("math.erf")),
    (Unary::Sin, "sin", Some("math.sin")),
    (Unary::Cos, "cos", Some("math.cos")),
    (Unary::Tan, "tan", Some("math.tan")),
    (Unary::Asin, "asin", Some("math.asin")),
    (Unary::Acos, "acos", Some("math.acos")),
    (Unary::Atan, "atan", Some("math.atan")),
    (Unary::Sinh, "sinh", Some("math.sinh")),
    (Unary::Cosh, "cosh", Some("math.cosh")),
    (Unary::Tanh, "tanh", Some("math.tanh")),
    (Unary::Asinh, "asinh", Some("math.asinh")),
    (Unary::Acosh, "acosh", Some("math.acosh")),
    (Unary::Atanh, "atanh", Some("math.atanh")),
    (Unary::Floor, "floor", Some("math.floor")),
    (Unary::Ceil, "ceil", Some("math.ceil")),
    (Unary::Round, "round", Some("math.roundeven")),
    (Unary::Sigmoid, "sigmoid", None),
    (Unary::Sign, "sign", None),
    (Unary::Not, "not", None),
    (Unary::BitNot, "bit_not", None),
    (Unary::Nonzero, "nonzero", None),
];

/// A function of two numbers: its name, and the operations that it is for floats, for integers with
/// a sign, and for those without.
type BinaryRow = (Binary, &'static str, [Option<&'static str>; 3]);

const BINARIES: &[BinaryRow] = &[
    (Binary::Add, "add", [Some("arith.addf"), Some("arith.addi"), Some("arith.addi")]),
    (Binary::Sub, "sub", [Some("arith.subf"), Some("arith.subi"), Some("arith.subi")]),
    (Binary::Mul, "mul", [Some("arith.mulf"), Some("arith.muli"), Some("arith.muli")]),
    (Binary::Div, "div", [Some("arith.divf"), None, None]),
    (Binary::Max, "max", [None, Some("arith.maxsi"), Some("arith.maxui")]),
    (Binary::Min, "min", [None, Some("arith.minsi"), Some("arith.minui")]),
    (Binary::Pow, "pow", [Some("math.powf"), None, None]),
    (Binary::Mod, "mod", [None, None, None]),
    (Binary::Rem, "rem", [Some("arith.remf"), None, None]),
    (Binary::And, "and", [None, None, Some("arith.andi")]),
    (Binary::Or, "or", [None, None, Some("arith.ori")]),
    (Binary::Xor, "xor", [None, None, Some("arith.xori")]),
    (Binary::BitAnd, "bit_and", [None, Some("arith.andi"), Some("arith.andi")]),
    (Binary::BitOr, "bit_or", [None, Some("arith.ori"), Some("arith.ori")]),
    (Binary::BitXor, "bit_xor", [None, Some("arith.xori"), Some("arith.xori")]),
    (Binary::ShiftLeft, "shift_left", [None, None, None]),
    (Binary::ShiftRight, "shift_right", [None, None, None]),
];

/// The names of [`tg.apply`](super::APPLY): those of both tables.
pub(super) const FUNCTIONS: &[&str] = &{
    let mut names = [""; UNARIES.len() + BINARIES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = match at.checked_sub(UNARIES.len()) {
            None => UNARIES[at].1,
            Some(at) => BINARIES[at].1,
        };
        at += 1;
    }
    names
};

/// What iterations of a reduced loop are combined by.
pub(super) const COMBINATIONS: &[&str] = &["add", "mul", "max", "min", "and", "or"];

/// The names of all functions of numbers.
pub fn functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().copied()
}

/// The name of a function of two numbers.
pub fn binary_name(function: Binary) -> &'static str {
    BINARIES.iter().find(|row| row.0 == function).map_or("", |row| row.1)
}

/// The function of two numbers of this name.
pub fn binary_named(name: &str) -> Option<Binary> {
    BINARIES.iter().find(|row| row.1 == name).map(|row| row.0)
}

/// The name of a function of one number.
pub fn unary_name(function: Unary) -> &'static str {
    UNARIES.iter().find(|row| row.0 == function).map_or("", |row| row.1)
}

/// The function of one number of this name.
pub fn unary_named(name: &str) -> Option<Unary> {
    UNARIES.iter().find(|row| row.1 == name).map(|row| row.0)
}

/// Whether numbers of a type have a sign; truth has none.
fn is_signed(element: DType) -> bool {
    element != DType::Bool && element.is_signed()
}

/// Which column of the table is for numbers of a type.
fn column(element: DType) -> usize {
    match (element.is_float(), is_signed(element)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    }
}

/// The operation of upstream's that is a function of one number of this type.
pub fn unary_operation(function: Unary, element: DType) -> Option<&'static str> {
    let row = UNARIES.iter().find(|row| row.0 == function)?;
    row.2.filter(|_| element.is_float())
}

/// The operation of upstream's that is a function of two numbers of this type.
pub fn binary_operation(function: Binary, element: DType) -> Option<&'static str> {
    // Truth is combined by functions of its own.
    let of_truth = matches!(function, Binary::And | Binary::Or | Binary::Xor);
    let on_bits = matches!(function, Binary::BitAnd | Binary::BitOr | Binary::BitXor);
    if (of_truth || on_bits) && of_truth != (element == DType::Bool) {
        return None;
    }
    let row = BINARIES.iter().find(|row| row.0 == function)?;
    row.2[column(element)]
}

/// The operation of upstream's that converts numbers as `nn.cast` does.
pub fn cast_operation(from: DType, to: DType) -> Option<&'static str> {
    let (width, wanted) = (from.size_bits(), to.size_bits());
    let half = |element| matches!(element, DType::F16 | DType::BF16);
    match (from.is_float(), to.is_float()) {
        _ if to == DType::Bool => None,
        (true, true) if width < wanted => Some("arith.extf"),
        (true, true) if width > wanted => Some("arith.truncf"),
        // Integers become halves through `f32`.
        (false, true) if half(to) => None,
        (false, true) if is_signed(from) => Some("arith.sitofp"),
        (false, true) => Some("arith.uitofp"),
        (true, _) => None,
        (false, false) if width > wanted => Some("arith.trunci"),
        (false, false) if width == wanted => Some("arith.bitcast"),
        (false, false) if is_signed(from) => Some("arith.extsi"),
        (false, false) => Some("arith.extui"),
    }
}

/// The number of a comparison in `arith.cmpf` or `arith.cmpi`.
fn predicate(by: Comparison, element: DType) -> i64 {
    let order = |first: i64| match by {
        Comparison::Eq | Comparison::Lt => first,
        Comparison::Ne | Comparison::Le => first + 1,
        Comparison::Gt => first + 2,
        Comparison::Ge => first + 3,
    };
    match (element.is_float(), by) {
        (true, Comparison::Eq) => 1,
        (true, Comparison::Gt) => 2,
        (true, Comparison::Ge) => 3,
        (true, Comparison::Lt) => 4,
        (true, Comparison::Le) => 5,
        (true, Comparison::Ne) => 13,
        (false, Comparison::Eq | Comparison::Ne) => order(0),
        (false, _) if is_signed(element) => order(2),
        (false, _) => order(6),
    }
}

/// The comparison of a number in `arith.cmpf` or `arith.cmpi`, and the sign of what it compares.
fn comparison(number: i64, float: bool) -> Option<(Comparison, Option<bool>)> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let (by, signed) = match (float, number) {
        (true, 1) | (false, 0) => (Eq, None),
        (true, 13) | (false, 1) => (Ne, None),
        (true, 2) => (Gt, None),
        (true, 3) => (Ge, None),
        (true, 4) => (Lt, None),
        (true, 5) => (Le, None),
        (false, 2) => (Lt, Some(true)),
        (false, 3) => (Le, Some(true)),
        (false, 4) => (Gt, Some(true)),
        (false, 5) => (Ge, Some(true)),
        (false, 6) => (Lt, Some(false)),
        (false, 7) => (Le, Some(false)),
        (false, 8) => (Gt, Some(false)),
        (false, 9) => (Ge, Some(false)),
        _ => return None,
    };
    Some((by, signed))
}

/// The type of a scalar: integers have no sign.
pub fn scalar_type(context: &Context, element: DType) -> Type {
    if element.is_int() && !element.is_signed() {
        context.int_type(element.size_bits() as u32)
    } else {
        dtype::type_of(context, element)
    }
}

/// The attribute that is a number of this type, with its sign.
pub fn number_attr(context: &Context, number: Number) -> Attr {
    number_of_type(context, number, dtype::type_of(context, number.element()))
}

fn number_of_type(context: &Context, number: Number, ty: Type) -> Attr {
    context.attr(match number {
        Number::Float(DType::F32, value) => {
            AttrData::Float { bits: f64::from(value as f32).to_bits(), ty }
        }
        Number::Float(_, value) => AttrData::Float { bits: value.to_bits(), ty },
        Number::Int(DType::Bool, value) => AttrData::Bool(value != 0),
        Number::Int(element, value) => {
            let unused = 64 - element.size_bits() as u32;
            AttrData::Integer { value: (value << unused >> unused).into(), ty }
        }
    })
}

/// The number of type `element` that an attribute is.
pub fn attr_number(context: &Context, attr: Attr, element: DType) -> Option<Number> {
    match context.attr_data(attr) {
        AttrData::Float { bits, .. } if element.is_float() => {
            Some(Number::Float(element, f64::from_bits(*bits)))
        }
        AttrData::Bool(value) if element == DType::Bool => {
            Some(Number::Int(element, i64::from(*value)))
        }
        AttrData::Integer { value, .. } if element.is_int() => {
            let bits = element.size_bits() as u32;
            let value = *value as i64;
            // The bits of an unsigned number of fewer than 64 are the number.
            let value =
                if is_signed(element) || bits >= 64 { value } else { value & ((1i64 << bits) - 1) };
            Some(Number::Int(element, value))
        }
        _ => None,
    }
}
