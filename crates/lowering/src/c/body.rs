//! Scalar bodies and indices as C.

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineMap, BinaryOp, Node};
use tangram_dialects::structured::{Binary, Body, Comparison, Number, Scalar, ScalarId, Unary};
use tangram_tensor::DType;

use super::half;
use super::{DIVISION, FAULTS, OUTSIDE};
use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::ranges::proven_reads;
use crate::scop::array;

/// The type of an element in memory; nothing for types that have none in C.
pub(crate) fn c_type(element: DType) -> &'static str {
    match element {
        DType::Bool | DType::U8 => "uint8_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::I64 => "int64_t",
        DType::U16 | DType::F16 | DType::BF16 => "uint16_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
        DType::F64 => "double",
        _ => "float",
    }
}

/// The type of a scalar: truth is that of C, which compilers make masks of vectors of.
fn scalar_type(element: DType) -> &'static str {
    if element == DType::Bool { "_Bool" } else { c_type(element) }
}

/// Whether elements of a type are computed with in C.
pub(crate) fn is_supported(element: DType) -> bool {
    !element.is_packed()
        && (element == DType::Bool
            || element.is_int()
            || half::is_half(element)
            || matches!(element, DType::F32 | DType::F64))
}

/// A number as C.
pub(super) fn literal(number: Number) -> String {
    match number {
        Number::Float(element, value) if half::is_half(element) => half::literal(element, value),
        Number::Float(element, value) => {
            let wide = element == DType::F64;
            let value = if wide { value } else { f64::from(value as f32) };
            if value.is_nan() {
                return if wide { "(double)NAN".into() } else { "NAN".into() };
            }
            if value.is_infinite() {
                let sign = if value > 0.0 { "" } else { "-" };
                return if wide {
                    format!("({sign}(double)INFINITY)")
                } else {
                    format!("({sign}INFINITY)")
                };
            }
            let text = match wide {
                true => format!("{value:e}"),
                false => format!("{:e}f", value as f32),
            };
            if value.is_sign_negative() { format!("({text})") } else { text }
        }
        Number::Int(DType::U64, value) => format!("UINT64_C({})", value as u64),
        Number::Int(_, i64::MIN) => "INT64_MIN".into(),
        Number::Int(element, value) => format!("(({})INT64_C({value}))", c_type(element)),
    }
}

/// The place of an element in its tensor's buffer, row-major.
pub(crate) fn index(
    map: &AffineMap,
    symbols: &[Expr],
    extents: &[Expr],
    parameters: &Parameters,
) -> String {
    let coordinates = coordinates(map, symbols, parameters);
    linear(&coordinates, extents, parameters)
}

/// Coordinates as one number.
pub(super) fn linear(coordinates: &[String], extents: &[Expr], parameters: &Parameters) -> String {
    let mut text = String::new();
    for (coordinate, extent) in coordinates.iter().zip(extents) {
        if text.is_empty() || text == "0" {
            text = coordinate.clone();
            continue;
        }
        let extent = parameters.text(extent);
        text = format!("({text}) * {extent} + {coordinate}");
    }
    if text.is_empty() { "0".into() } else { text }
}

/// The results of a map over iterators `i0`, `i1`...
pub(super) fn coordinates(
    map: &AffineMap,
    symbols: &[Expr],
    parameters: &Parameters,
) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for node in map.nodes() {
        texts.push(match *node {
            Node::Dim(at) => format!("i{at}"),
            Node::Symbol(at) => {
                let symbol = symbols.get(at as usize);
                symbol.map(|symbol| parameters.text(symbol)).unwrap_or_default()
            }
            Node::Constant(value) if value < 0 => format!("({value})"),
            Node::Constant(value) => value.to_string(),
            Node::Binary(op, a, b) => {
                let (a, b) = (&texts[a.index()], &texts[b.index()]);
                match op {
                    BinaryOp::Add => format!("({a} + {b})"),
                    BinaryOp::Mul => format!("({a} * {b})"),
                    BinaryOp::FloorDiv => format!("tg_floord({a}, {b})"),
                    BinaryOp::CeilDiv => format!("(-tg_floord(-{a}, {b}))"),
                    BinaryOp::Mod => format!("tg_mod({a}, {b})"),
                }
            }
        });
    }
    map.results().iter().map(|result| texts[result.index()].clone()).collect()
}

/// Writes bodies over the tensors of a nest.
pub(super) struct Scalars<'a> {
    pub nest: &'a Nest,
    pub tensors: &'a [Tensor],
    pub parameters: &'a Parameters,
    pub order: &'a [usize],
    /// What stands in the place of inputs.
    pub known: Vec<(usize, String)>,
}

impl Scalars<'_> {
    /// Declarations, and the value.
    pub fn body(&self, body: &Body) -> (Vec<String>, String) {
        let lines = self.declarations(body).into_iter().map(|(_, line)| line).collect();
        (lines, body.value().map_or_else(|| "0".into(), |value| format!("t{}", value.0)))
    }

    /// Declarations, each with the scalar that it is for.
    pub fn declarations(&self, body: &Body) -> Vec<(usize, String)> {
        let needed = needed(body);
        let types = self.types(body);
        let proven = proven_reads(self.nest, body, self.tensors);
        let mut lines = Vec::new();
        for (at, scalar) in body.scalars().iter().enumerate().filter(|(at, _)| needed[*at]) {
            let mut ty = scalar_type(types[at]);
            let value = match scalar {
                Scalar::Lookup(table, place) if !proven[at] => {
                    let within = self.within_table(body, *table, place);
                    lines.push((at, format!("const _Bool within{at} = {within};")));
                    lines.push((at, format!("{FAULTS} |= within{at} ? 0 : {OUTSIDE};")));
                    format!("within{at} ? {} : 0", self.scalar(scalar, &types))
                }
                Scalar::Unary(Unary::Nonzero, x) => {
                    if !is_other_than_zero(body, *x) {
                        lines.push((at, format!("{FAULTS} |= t{} == 0 ? {DIVISION} : 0;", x.0)));
                    }
                    format!("t{}", x.0)
                }
                // Short integers are values of `int` in C anyway: vectors of them have a lane each.
                Scalar::Cast(to, from) if is_within(body, *from, *to) => {
                    ty = "int32_t";
                    format!("(int32_t)t{}", from.0)
                }
                Scalar::Input(input) if is_short(types[at]) && self.is_known(*input) => {
                    ty = "int32_t";
                    self.scalar(scalar, &types)
                }
                _ => self.scalar(scalar, &types),
            };
            lines.push((at, format!("const {ty} t{at} = {value};")));
        }
        lines
    }

    /// The type of each scalar.
    pub fn types(&self, body: &Body) -> Vec<DType> {
        let mut types = Vec::new();
        for scalar in body.scalars() {
            let ty = self.element(scalar, &types);
            types.push(ty);
        }
        types
    }

    fn is_known(&self, input: usize) -> bool {
        self.known.iter().any(|(at, _)| *at == input)
    }

    /// The lines that store an element whose iterations are combined, with what follows them.
    pub fn stored(mut self, combined: String) -> Vec<String> {
        let nest = self.nest;
        let (mut lines, value) = match &nest.finish {
            None => (Vec::new(), combined),
            Some(finish) => {
                self.known.push((finish.combined, combined));
                self.body(&finish.body)
            }
        };
        lines.push(format!("{} = {value};", self.target()));
        lines
    }

    /// The element that is written, as C has it.
    pub fn target(&self) -> String {
        let (generic, out) = (&self.nest.generic, &self.tensors[self.nest.output]);
        let at = index(&generic.output.map, &generic.symbols, &out.extents, self.parameters);
        format!("{}[{at}]", array(self.nest.output, self.order))
    }

    /// An element that is read, as C has it.
    pub fn source(&self, input: usize) -> String {
        let (tensor, generic) = (self.nest.inputs[input], &self.nest.generic);
        let (map, extents) = (&generic.inputs[input].map, &self.tensors[tensor].extents);
        let place = index(map, &generic.symbols, extents, self.parameters);
        format!("{}[{place}]", array(tensor, self.order))
    }

    fn element(&self, scalar: &Scalar, types: &[DType]) -> DType {
        match scalar {
            Scalar::Input(at) if self.nest.finish.as_ref().is_some_and(|f| f.combined == *at) => {
                self.combined()
            }
            Scalar::Input(at) => self.tensors[self.nest.inputs[*at]].element,
            Scalar::Index(_) | Scalar::Symbol(_) => DType::I64,
            Scalar::Constant(number) => number.element(),
            Scalar::Unary(_, a) | Scalar::Binary(_, a, _) | Scalar::Select(_, a, _) => {
                types[a.0 as usize]
            }
            Scalar::Inside(_) | Scalar::Compare(..) => DType::Bool,
            Scalar::Cast(ty, _) => *ty,
            Scalar::Lookup(table, _) => self.tensors[self.nest.tables[*table]].element,
        }
    }

    /// The type of a combined element. A tile of integers has it in a type of its own; elsewhere it
    /// is in the memory of the result.
    fn combined(&self) -> DType {
        match self.nest.generic.reduction.map(|reduction| reduction.initial) {
            Some(Number::Int(DType::I32, _)) => DType::I32,
            _ => self.tensors[self.nest.output].element,
        }
    }

    /// Whether an input is inside of its tensor.
    pub fn inside(&self, input: usize) -> String {
        let access = &self.nest.generic.inputs[input];
        let extents = &self.tensors[self.nest.inputs[input]].extents;
        let coordinates = coordinates(&access.map, &self.nest.generic.symbols, self.parameters);
        let mut tests = Vec::new();
        for (at, (coordinate, extent)) in coordinates.iter().zip(extents).enumerate() {
            // An iterator over all of a coordinate never leaves it.
            let iterator = access.map.as_operand(at);
            if iterator.and_then(|own| self.nest.generic.extents.get(own)) == Some(extent) {
                continue;
            }
            let extent = self.parameters.text(extent);
            // One unsigned comparison for both ends.
            tests.push(format!("(uint64_t)({coordinate}) < (uint64_t){extent}"));
        }
        if tests.is_empty() { "(1)".into() } else { format!("({})", tests.join(" && ")) }
    }

    /// Whether computed coordinates are within a table.
    fn within_table(&self, body: &Body, table: usize, place: &[ScalarId]) -> String {
        let extents = &self.tensors[self.nest.tables[table]].extents;
        let loops = &self.nest.generic.extents;
        let mut tests = Vec::new();
        for (id, extent) in place.iter().zip(extents) {
            // An iterator over all of a coordinate never leaves it.
            if matches!(body.scalars()[id.0 as usize], Scalar::Index(own) if loops.get(own) == Some(extent))
            {
                continue;
            }
            let extent = self.parameters.text(extent);
            tests.push(format!("(uint64_t)t{} < (uint64_t){extent}", id.0));
        }
        if tests.is_empty() { "1".into() } else { tests.join(" && ") }
    }

    fn scalar(&self, scalar: &Scalar, types: &[DType]) -> String {
        let generic = &self.nest.generic;
        let name = |id: &ScalarId| format!("t{}", id.0);
        let ty = |id: &ScalarId| types[id.0 as usize];
        let wide = |id: &ScalarId| half::widened(ty(id), &name(id));
        match scalar {
            Scalar::Input(at) => {
                if let Some((_, text)) = self.known.iter().find(|own| own.0 == *at) {
                    return text.clone();
                }
                let element = self.source(*at);
                match generic.inputs[*at].outside {
                    None => element,
                    Some(outside) => {
                        format!("{} ? {element} : {}", self.inside(*at), literal(outside))
                    }
                }
            }
            Scalar::Inside(at) => self.inside(*at),
            Scalar::Index(at) => format!("i{at}"),
            Scalar::Symbol(at) => self.parameters.text(&generic.symbols[*at]),
            Scalar::Constant(number) => literal(*number),
            Scalar::Unary(function, a) => {
                half::rounded(ty(a), call(*function, half::arithmetic(ty(a)), &wide(a)))
            }
            Scalar::Binary(function, a, b) => half::rounded(
                ty(a),
                operator(*function, half::arithmetic(ty(a)), &wide(a), &wide(b)),
            ),
            Scalar::Compare(comparison, a, b) => {
                let sign = match comparison {
                    Comparison::Eq => "==",
                    Comparison::Ne => "!=",
                    Comparison::Lt => "<",
                    Comparison::Le => "<=",
                    Comparison::Gt => ">",
                    Comparison::Ge => ">=",
                };
                format!("{} {sign} {}", wide(a), wide(b))
            }
            Scalar::Select(c, a, b) => format!("{} ? {} : {}", name(c), name(a), name(b)),
            Scalar::Cast(to, a) => cast(*to, ty(a), &name(a)),
            Scalar::Lookup(table, at) => {
                let tensor = self.nest.tables[*table];
                let coordinates: Vec<String> = at.iter().map(name).collect();
                let place = linear(&coordinates, &self.tensors[tensor].extents, self.parameters);
                format!("{}[{place}]", array(tensor, self.order))
            }
        }
    }
}

/// Whether a type has integers of 8 or 16 bits.
pub(super) fn is_short(element: DType) -> bool {
    element.is_int() && element.size_bits() <= 16
}

/// Whether a float is known to be in the range of a short integer type, as what was quantised is:
/// not less than a number, which a NaN becomes, and not greater than another. Then C converts it as
/// it is, and compilers make vectors of that.
pub(super) fn is_within(body: &Body, float: ScalarId, to: DType) -> bool {
    let scalar = |id: ScalarId| &body.scalars()[id.0 as usize];
    let number = |id: ScalarId| match scalar(id) {
        Scalar::Constant(Number::Float(_, value)) => Some(*value),
        _ => None,
    };
    let (Number::Int(_, least), Number::Int(_, greatest)) =
        (Number::lowest(to), Number::highest(to))
    else {
        return false;
    };
    let Scalar::Binary(Binary::Min, below, high) = scalar(float) else { return false };
    let Scalar::Select(test, value, low) = scalar(*below) else { return false };
    let is_test = matches!(scalar(*test),
        Scalar::Compare(Comparison::Ge, a, b) if (a, b) == (value, low));
    is_short(to)
        && is_test
        && number(*low).is_some_and(|low| low >= least as f64)
        && number(*high).is_some_and(|high| high <= greatest as f64)
}

/// Whether a scalar is a number other than zero.
fn is_other_than_zero(body: &Body, x: ScalarId) -> bool {
    matches!(body.scalars()[x.0 as usize], Scalar::Constant(Number::Int(_, value)) if value != 0)
}

/// Which scalars the value is made of.
fn needed(body: &Body) -> Vec<bool> {
    let mut needed = vec![false; body.scalars().len()];
    if let Some(value) = body.value() {
        needed[value.0 as usize] = true;
    }
    for (at, scalar) in body.scalars().iter().enumerate().rev() {
        if !needed[at] {
            continue;
        }
        scalar.operands().iter().for_each(|id| needed[id.0 as usize] = true);
    }
    needed
}

/// Converts a number.
fn cast(to: DType, from: DType, x: &str) -> String {
    if half::is_half(from) {
        let bits = to == from;
        return if bits { x.to_owned() } else { cast(to, DType::F32, &half::widened(from, x)) };
    }
    match (to, from) {
        (to, from) if half::is_half(to) => half::of_float(to, from, x),
        (DType::Bool, DType::Bool) => x.to_owned(),
        (DType::Bool, _) => format!("{x} != 0"),
        (to, from) if from.is_float() && to.is_int() => {
            format!("tg_{}_of_{}({x})", short(to), short(from))
        }
        _ => format!("({}){x}", c_type(to)),
    }
}

fn short(element: DType) -> String {
    let c = c_type(element);
    c.trim_end_matches("_t").to_owned()
}

fn is_wide(element: DType) -> bool {
    element == DType::F64
}

fn call(function: Unary, element: DType, x: &str) -> String {
    let float = element.is_float();
    let suffix = if is_wide(element) { "" } else { "f" };
    let of_library = |name: &str| format!("{name}{suffix}({x})");
    let own = |name: &str| match is_wide(element) {
        true => format!("{name}({x})"),
        false => format!("tg_{name}f({x})"),
    };
    match function {
        Unary::Neg => negative(element, x),
        Unary::Abs if float => of_library("__builtin_fabs"),
        Unary::Abs => format!("{x} < 0 ? {} : {x}", negative(element, x)),
        Unary::Sqrt => of_library("__builtin_sqrt"),
        Unary::Exp => own("exp"),
        Unary::Log => own("log"),
        Unary::Erf => own("erf"),
        Unary::Tanh => own("tanh"),
        Unary::Sigmoid => format!("tg_sigmoid{suffix}({x})"),
        Unary::Expm1 => of_library("expm1"),
        Unary::Log1p => of_library("log1p"),
        Unary::Sin => of_library("sin"),
        Unary::Cos => of_library("cos"),
        Unary::Tan => of_library("tan"),
        Unary::Asin => of_library("asin"),
        Unary::Acos => of_library("acos"),
        Unary::Atan => of_library("atan"),
        Unary::Sinh => of_library("sinh"),
        Unary::Cosh => of_library("cosh"),
        Unary::Asinh => of_library("asinh"),
        Unary::Acosh => of_library("acosh"),
        Unary::Atanh => of_library("atanh"),
        Unary::Floor if float => of_library("__builtin_floor"),
        Unary::Ceil if float => of_library("__builtin_ceil"),
        Unary::Round if float => of_library("__builtin_rint"),
        Unary::Floor | Unary::Ceil | Unary::Round => x.to_owned(),
        Unary::Sign if float => format!("{x} != {x} ? {x} : ({x} > 0) - ({x} < 0)"),
        Unary::Sign => format!("({x} > 0) - ({x} < 0)"),
        Unary::Not => format!("!{x}"),
        Unary::BitNot => format!("~{x}"),
        Unary::Nonzero => x.to_owned(),
    }
}

/// In which type sums and products wrap around as the reference kernels' do: in C, a signed one has
/// no meaning where it overflows, and short ones are computed in `int`.
fn wrapping_type(element: DType) -> Option<&'static str> {
    match element {
        DType::I32 | DType::U16 => Some("uint32_t"),
        DType::I64 => Some("uint64_t"),
        _ => None,
    }
}

fn negative(element: DType, x: &str) -> String {
    match wrapping_type(element) {
        Some(ty) => format!("({})(0 - ({ty}){x})", c_type(element)),
        None => format!("-{x}"),
    }
}

/// A function of two operands as C.
pub(super) fn operator(function: Binary, element: DType, a: &str, b: &str) -> String {
    let float = element.is_float();
    let suffix = if is_wide(element) { "" } else { "f" };
    let infix = |sign: &str| format!("{a} {sign} {b}");
    let wrapping = |sign: &str| match wrapping_type(element) {
        Some(ty) => format!("({})(({ty}){a} {sign} ({ty}){b})", c_type(element)),
        None => infix(sign),
    };
    match function {
        Binary::Add => wrapping("+"),
        Binary::Sub => wrapping("-"),
        Binary::Mul => wrapping("*"),
        Binary::Div if float => infix("/"),
        Binary::Div if element.is_signed() => {
            format!("{b} == 0 ? 0 : {b} == -1 ? {} : {a} / {b}", negative(element, a))
        }
        Binary::Div => format!("{b} == 0 ? 0 : {a} / {b}"),
        // A comparison with a NaN fails; of two zeros the second is taken. Both tests are always
        // made, as vectors make them.
        Binary::Max if float => format!("(({a} > {b}) | ({a} != {a})) ? {a} : {b}"),
        Binary::Min if float => format!("(({a} < {b}) | ({a} != {a})) ? {a} : {b}"),
        Binary::Max => format!("{a} > {b} ? {a} : {b}"),
        Binary::Min => format!("{a} < {b} ? {a} : {b}"),
        Binary::Pow if float => format!("pow{suffix}({a}, {b})"),
        Binary::Pow => format!("tg_ipow({a}, {b})"),
        Binary::Rem if float => format!("fmod{suffix}({a}, {b})"),
        Binary::Rem if element.is_signed() => {
            format!("({b} == 0 || {b} == -1) ? 0 : {a} % {b}")
        }
        Binary::Rem => format!("{b} == 0 ? 0 : {a} % {b}"),
        Binary::Mod if float => format!("tg_fmod{suffix}({a}, {b})"),
        Binary::Mod if element.is_signed() => format!("tg_imod({a}, {b})"),
        Binary::Mod => format!("{b} == 0 ? 0 : {a} % {b}"),
        Binary::And => infix("&&"),
        Binary::Or => infix("||"),
        Binary::Xor => format!("!{a} != !{b}"),
        Binary::BitAnd => infix("&"),
        Binary::BitOr => infix("|"),
        Binary::BitXor => infix("^"),
        Binary::ShiftLeft => {
            let bits = element.size_bits();
            format!("(uint64_t){b} < {bits} ? ({})((uint64_t){a} << {b}) : 0", c_type(element))
        }
        Binary::ShiftRight => {
            let bits = element.size_bits();
            match element.is_signed() {
                // By the width or more, only the sign is left.
                true => format!("{a} >> ((uint64_t){b} < {bits} ? {b} : {})", bits - 1),
                false => format!("(uint64_t){b} < {bits} ? {a} >> {b} : 0"),
            }
        }
    }
}
