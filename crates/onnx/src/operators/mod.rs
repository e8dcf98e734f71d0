//! The correspondence between ONNX operators and nn operations that is plain data.
//!
//! A [`Row`] pairs an operator with an operation whose operands are the operator's inputs in the
//! same order. Both directions of the conversion read it. Operators that need more than renaming
//! and defaults (a bias that is split off, one operation for each rank...) are written out in
//! `import::special` and `export::special`.
//!
//! In IR attributes are in normal form: one that has a default in ONNX is always there. The
//! export leaves out what equals the default, as exporters do.

mod contrib;
mod learned;
mod standard;

use std::collections::HashMap;
use std::sync::OnceLock;

/// How the value of an attribute is written in IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An integer.
    Int,
    /// An integer that means false or true.
    Flag,
    /// A 32-bit float.
    Float,
    /// A text.
    Text,
    /// A list of integers.
    Ints,
    /// The number of an element type.
    DType,
    /// A tensor.
    Tensor,
}

/// What an absent attribute means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Default {
    /// Something that no value says.
    None,
    /// This integer or flag.
    Int(i64),
    /// This number.
    Float(f32),
    /// This text.
    Text(&'static str),
}

/// An attribute in both worlds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttrRow {
    /// The name in ONNX.
    pub onnx: &'static str,
    /// The name in IR.
    pub nn: &'static str,
    /// How it is written.
    pub kind: Kind,
    /// What its absence means.
    pub default: Default,
}

/// An input that is an attribute in IR when it is constant, and was one in older opsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absorbed {
    /// The number of the input.
    pub input: usize,
    /// The attribute in IR.
    pub nn: &'static str,
    /// `Int`, `Ints` or `Float`.
    pub kind: Kind,
    /// The attribute in opsets before `since`, if it was one.
    pub onnx: Option<&'static str>,
    /// The first opset in which it is an input.
    pub since: i64,
    /// What the absence of the attribute meant before, where that is not what the absence of the
    /// input means.
    pub before: Default,
    /// What the absence of the input means, where older opsets can say that.
    pub after: Default,
}

impl Absorbed {
    /// The same, where the absence of the attribute means one thing, that of the input another.
    const fn meaning(self, before: Default, after: Default) -> Absorbed {
        Absorbed { before, after, ..self }
    }
}

/// An operator and its operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The domain of the operator: `""` is ONNX's own.
    pub domain: &'static str,
    /// The operator.
    pub onnx: &'static str,
    /// The operation.
    pub nn: &'static str,
    /// The first opset that has the operator in the form that export writes.
    pub since: i64,
    /// Its attributes.
    pub attrs: &'static [AttrRow],
    /// Inputs that become attributes.
    pub absorbed: &'static [Absorbed],
}

const fn attr(onnx: &'static str, nn: &'static str, kind: Kind, default: Default) -> AttrRow {
    AttrRow { onnx, nn, kind, default }
}

const fn int(name: &'static str, default: i64) -> AttrRow {
    attr(name, name, Kind::Int, Default::Int(default))
}

const fn flag(name: &'static str, default: bool) -> AttrRow {
    attr(name, name, Kind::Flag, Default::Int(default as i64))
}

const fn float(name: &'static str, default: f32) -> AttrRow {
    attr(name, name, Kind::Float, Default::Float(default))
}

const fn text(name: &'static str, default: &'static str) -> AttrRow {
    attr(name, name, Kind::Text, Default::Text(default))
}

const fn bare(name: &'static str, kind: Kind) -> AttrRow {
    attr(name, name, kind, Default::None)
}

const fn takes(
    input: usize,
    nn: &'static str,
    kind: Kind,
    onnx: Option<&'static str>,
    since: i64,
) -> Absorbed {
    Absorbed { input, nn, kind, onnx, since, before: Default::None, after: Default::None }
}

const fn row(onnx: &'static str, nn: &'static str, since: i64, attrs: &'static [AttrRow]) -> Row {
    with(onnx, nn, since, attrs, &[])
}

const fn with(
    onnx: &'static str,
    nn: &'static str,
    since: i64,
    attrs: &'static [AttrRow],
    absorbed: &'static [Absorbed],
) -> Row {
    Row { domain: "", onnx, nn, since, attrs, absorbed }
}

/// Every row.
fn rows() -> impl Iterator<Item = &'static Row> {
    standard::ROWS.iter().chain(contrib::ROWS).chain(learned::ROWS)
}

/// The row of the operator `op_type` of `domain`, where ONNX's own is `""`.
pub(crate) fn by_onnx(domain: &str, op_type: &str) -> Option<&'static Row> {
    type Key = (&'static str, &'static str);
    static INDEX: OnceLock<HashMap<Key, &Row>> = OnceLock::new();
    let index = INDEX.get_or_init(|| rows().map(|row| ((row.domain, row.onnx), row)).collect());
    index.get(&(domain, op_type)).copied()
}

/// The row of an nn operation.
pub(crate) fn by_nn(name: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<HashMap<&str, &Row>> = OnceLock::new();
    INDEX.get_or_init(|| rows().map(|row| (row.nn, row)).collect()).get(name).copied()
}
