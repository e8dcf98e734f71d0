//! Scalars of bodies as operations of `arith` and `math`.

use tangram_ir::{Attr, AttrData, Value};
use tangram_tensor::DType;

use super::builder::{Builder, scalar_type};
use crate::structured::{Binary, Comparison, Number, Unary};

// The numbers that MLIR gives to comparisons.
const EQ: i64 = 0;
const NE: i64 = 1;
const SLT: i64 = 2;
const ULT: i64 = 6;
const OGT: i64 = 2;
const UNE: i64 = 13;
const OEQ: i64 = 1;

impl Builder {
    fn same(&mut self, name: &str, operands: &[Value]) -> Value {
        let ty = self.module.value_type(operands[0]);
        self.value(name, operands, ty)
    }

    fn predicate(&mut self, name: &str, number: i64, x: Value, y: Value) -> Value {
        let attrs = self.dict([("predicate", self.context.i64_attr(number))]);
        let boolean = self.context.int_type(1);
        self.value_with(name, &[x, y], boolean, attrs)
    }

    pub(super) fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        let ty = self.module.value_type(x);
        self.value("arith.select", &[condition, x, y], ty)
    }

    fn int(&mut self, element: DType, value: i64) -> Value {
        self.constant(Number::Int(element, value))
    }

    fn float(&mut self, element: DType, value: f64) -> Value {
        self.constant(Number::Float(element, value))
    }

    /// A comparison of numbers of type `element`.
    pub(super) fn compare(&mut self, by: Comparison, element: DType, x: Value, y: Value) -> Value {
        if element.is_float() {
            let number = match by {
                Comparison::Eq => OEQ,
                Comparison::Ne => UNE,
                Comparison::Gt => OGT,
                Comparison::Ge => OGT + 1,
                Comparison::Lt => OGT + 2,
                Comparison::Le => OGT + 3,
            };
            return self.predicate("arith.cmpf", number, x, y);
        }
        let less = if element.is_signed() && element != DType::Bool { SLT } else { ULT };
        let number = match by {
            Comparison::Eq => EQ,
            Comparison::Ne => NE,
            Comparison::Lt => less,
            Comparison::Le => less + 1,
            Comparison::Gt => less + 2,
            Comparison::Ge => less + 3,
        };
        self.predicate("arith.cmpi", number, x, y)
    }

    /// A function of a number of type `element`.
    pub(super) fn unary(&mut self, function: Unary, element: DType, x: Value) -> Option<Value> {
        if !element.is_float() {
            return self.unary_of_int(function, element, x);
        }
        Some(match function {
            Unary::Neg => self.same("arith.negf", &[x]),
            Unary::Sigmoid => self.sigmoid(element, x),
            Unary::Sign => {
                let (zero, one) = (self.float(element, 0.0), self.float(element, 1.0));
                let minus = self.float(element, -1.0);
                let below = self.compare(Comparison::Lt, element, x, zero);
                let above = self.compare(Comparison::Gt, element, x, zero);
                let rest = self.select(below, minus, x);
                self.select(above, one, rest)
            }
            other => self.same(math_name(other)?, &[x]),
        })
    }

    /// `1 / (1 + e^-x)`, without an overflow: both signs by `e^-|x|`.
    fn sigmoid(&mut self, element: DType, x: Value) -> Value {
        let (zero, one) = (self.float(element, 0.0), self.float(element, 1.0));
        let size = self.same("math.absf", &[x]);
        let minus = self.same("arith.negf", &[size]);
        let power = self.same("math.exp", &[minus]);
        let sum = self.same("arith.addf", &[one, power]);
        let negative = self.compare(Comparison::Lt, element, x, zero);
        let above = self.select(negative, power, one);
        self.same("arith.divf", &[above, sum])
    }

    fn unary_of_int(&mut self, function: Unary, element: DType, x: Value) -> Option<Value> {
        let signed = element.is_signed();
        Some(match function {
            // No operation of MLIR's ends a run: a quotient by 0 is 0 there.
            Unary::Floor | Unary::Ceil | Unary::Round | Unary::Nonzero => x,
            Unary::Abs if !signed => x,
            Unary::Abs => self.same("math.absi", &[x]),
            Unary::Neg => {
                let zero = self.int(element, 0);
                self.same("arith.subi", &[zero, x])
            }
            Unary::Not => {
                let yes = self.int(DType::Bool, 1);
                self.same("arith.xori", &[x, yes])
            }
            Unary::BitNot => {
                let ones = self.int(element, -1);
                self.same("arith.xori", &[x, ones])
            }
            Unary::Sign => {
                let (most, least) = (self.int(element, 1), self.int(element, -1));
                if signed {
                    let low = self.same("arith.maxsi", &[x, least]);
                    self.same("arith.minsi", &[low, most])
                } else {
                    self.same("arith.minui", &[x, most])
                }
            }
            _ => return None,
        })
    }

    /// A function of two numbers of type `element`.
    pub(super) fn two(
        &mut self,
        function: Binary,
        element: DType,
        x: Value,
        y: Value,
    ) -> Option<Value> {
        if element.is_float() {
            self.two_floats(function, element, x, y)
        } else {
            self.two_ints(function, element, x, y)
        }
    }

    fn two_floats(
        &mut self,
        function: Binary,
        element: DType,
        x: Value,
        y: Value,
    ) -> Option<Value> {
        let name = match function {
            Binary::Add => "arith.addf",
            Binary::Sub => "arith.subf",
            Binary::Mul => "arith.mulf",
            Binary::Div => "arith.divf",
            Binary::Max => "arith.maximumf",
            Binary::Min => "arith.minimumf",
            Binary::Pow => "math.powf",
            Binary::Rem => "arith.remf",
            Binary::Mod => return Some(self.float_modulo(element, x, y)),
            _ => return None,
        };
        Some(self.same(name, &[x, y]))
    }

    /// The remainder with the sign of the divisor.
    fn float_modulo(&mut self, element: DType, x: Value, y: Value) -> Value {
        let rest = self.same("arith.remf", &[x, y]);
        let zero = self.float(element, 0.0);
        let there = self.compare(Comparison::Ne, element, rest, zero);
        let below = self.compare(Comparison::Lt, element, rest, zero);
        let divisor = self.compare(Comparison::Lt, element, y, zero);
        let other = self.same("arith.xori", &[below, divisor]);
        let moved = self.same("arith.andi", &[there, other]);
        let sum = self.same("arith.addf", &[rest, y]);
        self.select(moved, sum, rest)
    }

    fn two_ints(&mut self, function: Binary, element: DType, x: Value, y: Value) -> Option<Value> {
        let signed = element.is_signed() && element != DType::Bool;
        let name = match function {
            Binary::Add => "arith.addi",
            Binary::Sub => "arith.subi",
            Binary::Mul => "arith.muli",
            Binary::And | Binary::BitAnd => "arith.andi",
            Binary::Or | Binary::BitOr => "arith.ori",
            Binary::Xor | Binary::BitXor => "arith.xori",
            Binary::Max if signed => "arith.maxsi",
            Binary::Max => "arith.maxui",
            Binary::Min if signed => "arith.minsi",
            Binary::Min => "arith.minui",
            Binary::Pow if signed => "math.ipowi",
            Binary::Pow => return None,
            Binary::Div | Binary::Rem | Binary::Mod => {
                return Some(self.divided(function, element, x, y));
            }
            Binary::ShiftLeft | Binary::ShiftRight => {
                return Some(self.shifted(function, element, x, y));
            }
        };
        Some(self.same(name, &[x, y]))
    }

    /// Quotients and remainders: 0 where the divisor is 0, and no division that overflows.
    fn divided(&mut self, function: Binary, element: DType, x: Value, y: Value) -> Value {
        let (zero, one) = (self.int(element, 0), self.int(element, 1));
        let none = self.compare(Comparison::Eq, element, y, zero);
        if !element.is_signed() {
            let divisor = self.select(none, one, y);
            let name = if function == Binary::Div { "arith.divui" } else { "arith.remui" };
            let value = self.same(name, &[x, divisor]);
            return self.select(none, zero, value);
        }
        let ones = self.int(element, -1);
        let minus = self.compare(Comparison::Eq, element, y, ones);
        let special = self.same("arith.ori", &[none, minus]);
        let divisor = self.select(special, one, y);
        if function == Binary::Div {
            let value = self.same("arith.divsi", &[x, divisor]);
            let turned = self.same("arith.subi", &[zero, x]);
            let value = self.select(minus, turned, value);
            return self.select(none, zero, value);
        }
        // By 1 it is 0 as well.
        let rest = self.same("arith.remsi", &[x, divisor]);
        if function == Binary::Rem {
            return rest;
        }
        let there = self.compare(Comparison::Ne, element, rest, zero);
        let below = self.compare(Comparison::Lt, element, rest, zero);
        let negative = self.compare(Comparison::Lt, element, divisor, zero);
        let other = self.same("arith.xori", &[below, negative]);
        let moved = self.same("arith.andi", &[there, other]);
        let sum = self.same("arith.addi", &[rest, divisor]);
        self.select(moved, sum, rest)
    }

    /// Shifts by any number: by the width or more, all bits leave.
    fn shifted(&mut self, function: Binary, element: DType, x: Value, y: Value) -> Value {
        let last = self.int(element, element.size_bits() as i64 - 1);
        let beyond = self.predicate("arith.cmpi", ULT + 2, y, last);
        let near = self.select(beyond, last, y);
        let signed = element.is_signed();
        let name = match function {
            Binary::ShiftLeft => "arith.shli",
            _ if signed => "arith.shrsi",
            _ => "arith.shrui",
        };
        let value = self.same(name, &[x, near]);
        if function == Binary::ShiftRight && signed {
            return value;
        }
        let zero = self.int(element, 0);
        self.select(beyond, zero, value)
    }

    /// A number converted as `nn.cast` does it.
    pub(super) fn cast(&mut self, from: DType, to: DType, x: Value) -> Option<Value> {
        let ty = scalar_type(&self.context, to);
        if from == to {
            return Some(x);
        }
        if to == DType::Bool {
            return Some(if from.is_float() {
                let zero = self.float(from, 0.0);
                self.predicate("arith.cmpf", UNE, x, zero)
            } else {
                let zero = self.int(from, 0);
                self.predicate("arith.cmpi", NE, x, zero)
            });
        }
        let (width, wanted) = (from.size_bits(), to.size_bits());
        let signed = from.is_signed() && from != DType::Bool;
        let name = match (from.is_float(), to.is_float()) {
            (true, true) if width == wanted => {
                let wide = self.cast(from, DType::F32, x)?;
                return self.cast(DType::F32, to, wide);
            }
            (true, true) if width < wanted => "arith.extf",
            (true, true) => "arith.truncf",
            (true, false) if to.is_signed() => "arith.fptosi",
            (true, false) => "arith.fptoui",
            (false, true) if signed => "arith.sitofp",
            (false, true) => "arith.uitofp",
            (false, false) if from != DType::Bool && width == wanted => return Some(x),
            (false, false) if from != DType::Bool && width > wanted => "arith.trunci",
            (false, false) if signed => "arith.extsi",
            (false, false) => "arith.extui",
        };
        Some(self.value(name, &[x], ty))
    }

    /// A number of type `i64` from one of type `index`.
    pub(super) fn index_as_integer(&mut self, x: Value) -> Value {
        let ty = self.context.int_type(64);
        self.value("arith.index_cast", &[x], ty)
    }

    /// A number of type `index` from one of type `i64`.
    pub(super) fn integer_as_index(&mut self, x: Value) -> Value {
        self.value("arith.index_cast", &[x], self.index)
    }

    /// Whether two integers are equal.
    pub(super) fn is_equal(&mut self, x: Value, y: Value) -> Value {
        self.predicate("arith.cmpi", EQ, x, y)
    }

    /// Whether an index is within an extent.
    pub(super) fn is_within(&mut self, index: Value, extent: Value) -> Value {
        // As numbers without a sign, those below 0 are the greatest.
        self.predicate("arith.cmpi", ULT, index, extent)
    }

    /// The conjunction of truth values; `None` for none.
    pub(super) fn all(&mut self, values: &[Value]) -> Option<Value> {
        let (&first, more) = values.split_first()?;
        Some(more.iter().fold(first, |all, &value| self.same("arith.andi", &[all, value])))
    }

    /// An attribute that a dialect writes in its own way.
    pub(super) fn opaque(&self, text: &str) -> Attr {
        self.context.attr(AttrData::Opaque(self.context.str(text)))
    }
}

fn math_name(function: Unary) -> Option<&'static str> {
    Some(match function {
        Unary::Abs => "math.absf",
        Unary::Sqrt => "math.sqrt",
        Unary::Exp => "math.exp",
        Unary::Expm1 => "math.expm1",
        Unary::Log => "math.log",
        Unary::Log1p => "math.log1p",
        Unary::Erf => "math.erf",
        Unary::Sin => "math.sin",
        Unary::Cos => "math.cos",
        Unary::Tan => "math.tan",
        Unary::Asin => "math.asin",
        Unary::Acos => "math.acos",
        Unary::Atan => "math.atan",
        Unary::Sinh => "math.sinh",
        Unary::Cosh => "math.cosh",
        Unary::Tanh => "math.tanh",
        Unary::Asinh => "math.asinh",
        Unary::Acosh => "math.acosh",
        Unary::Atanh => "math.atanh",
        Unary::Floor => "math.floor",
        Unary::Ceil => "math.ceil",
        Unary::Round => "math.roundeven",
        Unary::Neg | Unary::Sigmoid | Unary::Sign | Unary::Not | Unary::BitNot | Unary::Nonzero => {
            return None;
        }
    })
}
