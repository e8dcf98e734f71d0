//! Values of attributes that are proposed where an entry says nothing else: by name where names mean
//! the same everywhere, else by kind.

use fastrand::Rng;
use tangram_ir::{AttrDef, AttrKind, OpDef};
use tangram_tensor::DType;

use super::Extents;

/// What the value of an attribute may depend on.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The operation.
    pub def: &'static OpDef,
    /// The extents of its operands.
    pub shapes: &'a [Extents],
    /// What the result should be, if somebody asked.
    pub want: Option<&'a Extents>,
    /// How many results are wanted.
    pub results: usize,
    /// The same for all attributes of a call: which special case they make together, if any.
    pub style: u8,
    /// The element type of data.
    pub base: DType,
}

impl Call<'_> {
    /// The extents of the first operand.
    pub fn x(&self) -> &[usize] {
        self.shapes.first().map_or(&[], Vec::as_slice)
    }
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Str(String),
    /// A list.
    List(Vec<Value>),
    /// A tensor of one element of the data's type.
    Element,
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(text.to_owned())
    }
}

/// What is tried for an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Tried {
    /// What is usual for attributes of its name and kind.
    Usual,
    /// It is absent.
    Absent,
    /// This value.
    Value(Value),
}

impl From<Value> for Tried {
    fn from(value: Value) -> Tried {
        Tried::Value(value)
    }
}

impl From<Option<Value>> for Tried {
    fn from(value: Option<Value>) -> Tried {
        value.map_or(Tried::Absent, Tried::Value)
    }
}

/// A list of integers.
pub(in crate::nn) fn ints(list: impl IntoIterator<Item = i64>) -> Tried {
    Tried::Value(Value::List(list.into_iter().map(Value::Int).collect()))
}

/// One of these texts.
pub(in crate::nn) fn any_of(texts: &[&str], rng: &mut Rng) -> Tried {
    rng.choice(texts).map(|text| Value::from(*text)).into()
}

/// One of these numbers.
pub(in crate::nn) fn number(numbers: &[f64], rng: &mut Rng) -> Tried {
    rng.choice(numbers).map(|number| Value::Float(*number)).into()
}

/// What is tried for an attribute of which its entry says nothing.
pub(super) fn usual(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    let rank = call.x().len();
    match attr.name {
        "axes" => {
            let mut axes: Vec<i64> = (0..rank as i64).collect();
            rng.shuffle(&mut axes);
            ints(axes)
        }
        "axis" if attr.kind == AttrKind::Int => {
            let favoured = rng.bool();
            let favourite = super::of(call.def).axis.filter(|_| favoured);
            Value::Int(favourite.unwrap_or_else(|| axis(rank as i64, rng))).into()
        }
        "axis" => axis_among((0..rank as i64).collect(), rank as i64, rng),
        "epsilon" => number(&[0.5, 0.25, 1.0], rng),
        // A number may matter only where it is as large as an extent: `k` of a triangle.
        _ if attr.kind == AttrKind::Int && rng.u8(0..3) == 0 => {
            let most = call.shapes.iter().flatten().max().map_or(1, |&n| n as i64);
            Value::Int(rng.i64(-most..=most)).into()
        }
        // Of an operator of the caller's nobody says what an attribute is: most are numbers.
        _ if attr.kind == AttrKind::Any && super::entry(call.def.name).is_none() => {
            by_kind(*rng.choice(&[AttrKind::Float, AttrKind::Int]).unwrap_or(&attr.kind), rng)
        }
        _ => by_kind(attr.kind, rng),
    }
}

/// A dimension of so many, now and then counted from the end.
fn axis(rank: i64, rng: &mut Rng) -> i64 {
    let at = rng.i64(0..rank.max(1));
    if rng.u8(0..4) == 0 { at - rank.max(1) } else { at }
}

/// One or two of these dimensions, now and then counted from the end of `rank`.
pub(in crate::nn) fn axis_among(mut candidates: Vec<i64>, rank: i64, rng: &mut Rng) -> Tried {
    let count = if rng.u8(0..4) == 0 { 2 } else { 1 };
    if candidates.is_empty() {
        return Tried::Absent;
    }
    rng.shuffle(&mut candidates);
    candidates.truncate(count);
    let negative = rng.u8(0..5) == 0;
    ints(candidates.into_iter().map(|a| if negative { a - rank } else { a }))
}

/// The name of an element type: most of the time one that models are made of.
fn element_type(rng: &mut Rng) -> Tried {
    const USUAL: [&str; 9] =
        ["float64", "float32", "int64", "int32", "bool", "float16", "int8", "uint8", "bfloat16"];
    if rng.u8(0..3) > 0 {
        return any_of(&USUAL, rng);
    }
    let real = |dtype: &DType| dtype.is_float() || dtype.is_int();
    let others = DType::ALL.iter().filter(|d| real(d)).map(|d| d.name());
    let others: Vec<&str> = others.filter(|name| !USUAL.contains(name)).collect();
    any_of(&others, rng)
}

fn by_kind(kind: AttrKind, rng: &mut Rng) -> Tried {
    match kind {
        AttrKind::Int => Value::Int(rng.i64(-2..=3)).into(),
        AttrKind::Bool => Value::Bool(rng.bool()).into(),
        AttrKind::Float => number(&[0.5, 1.0, 2.0, -1.0, 0.0, 0.1], rng),
        AttrKind::Enum(names) => any_of(names, rng),
        AttrKind::DType => element_type(rng),
        AttrKind::Ints | AttrKind::IntsOr(_) => {
            ints((0..rng.usize(1..=3)).map(|_| rng.i64(0..=2)).collect::<Vec<_>>())
        }
        AttrKind::Floats => {
            let one = |_| rng.choice(&[0.5, 1.0, 2.0, 0.0]).map(|x| Value::Float(*x));
            Value::List((0..3).filter_map(one).collect()).into()
        }
        _ => Tried::Absent,
    }
}
