//! What is tried for an operation where programs with it are made at random: extents and element
//! types of operands, values of attributes.
//!
//! What is proposed is only a proposal: inference decides. A part of the proposals is meant to be
//! unusual (extents of 1, other ranks, operands that broadcast), because that is where rules whose
//! conditions are too weak go wrong. What holds for most operations is said here; an entry says
//! what its own operands have to do with each other ([`Sample`]).

mod attributes;
mod extents;

use fastrand::Rng;
use tangram_ir::{Module, Op, OpDef, Traits};
use tangram_tensor::DType;

use super::entry;
use crate::attrs::Attrs;

pub use attributes::{Call, Tried, Value};
pub(super) use attributes::{any_of, axis_among, ints, number};
pub use extents::{Extents, Wanted, extent, free};
pub(super) use extents::{broadcasting, place};

/// The rank that operand `index` has to have, where the definition fixes it.
pub type RankFn = fn(def: &OpDef, index: usize) -> Option<usize>;

/// Proposes extents of an operand; `None`: as usual.
pub type ExtentsFn = fn(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents>;

/// The elements of an operand that lists extents, by those of the first operand. Such an operand is a
/// constant: of others the type of the result says nothing.
pub type ListedFn = fn(first: &[usize], index: usize, rng: &mut Rng) -> Option<Vec<i64>>;

/// Proposes a value of an attribute.
pub type AttrFn = fn(call: &Call<'_>, attr: &tangram_ir::AttrDef, rng: &mut Rng) -> Tried;

/// Returns whether operands of these extents are meant, of those that inference takes.
pub type MeantFn = fn(operands: &[Extents], attrs: &Attrs<'_>) -> bool;

/// What an operand is for, where it is not data: its element type follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Data.
    Data,
    /// Truth values.
    Truth,
    /// Places along a dimension.
    Places,
    /// How long each member of a batch is.
    Lengths,
    /// Numbers that are no integers.
    Real,
    /// Scales of quantised numbers, with the element type of [`Role::Real`].
    RealScale,
    /// Scales of quantised numbers, `f32`.
    Scale,
    /// Quantised numbers, or a zero point of theirs, of any type that there is for them.
    Quantised,
    /// Quantised numbers of eight bits.
    Bytes,
    /// A zero point of quantised numbers of eight bits.
    BytesZero,
}

impl Role {
    /// Returns whether operands are positive numbers with which quantised ones are multiplied.
    pub fn is_scale(self) -> bool {
        matches!(self, Role::Scale | Role::RealScale)
    }
}

/// What an entry says of the programs that are tried with its operation.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The ranks of operands.
    pub rank: RankFn,
    /// The extents of operands.
    pub extents: Option<ExtentsFn>,
    /// The elements of operands that list extents.
    pub listed: Option<ListedFn>,
    /// What operands are for, in their order; data from there on.
    pub roles: &'static [Role],
    /// The values of attributes.
    pub attr: Option<AttrFn>,
    /// The dimension that the attribute `axis` names most of the time.
    pub axis: Option<i64>,
    /// Two attributes of which one is there.
    pub one_of: Option<[&'static str; 2]>,
    /// Attributes that may be absent, and are not where nothing else says the same.
    pub kept: &'static [&'static str],
    /// Whether operands are meant that inference takes.
    pub meant: Option<MeantFn>,
}

impl Sample {
    /// Nothing but what is usual.
    pub const USUAL: Sample = Sample {
        rank: |_, _| None,
        extents: None,
        listed: None,
        roles: &[],
        attr: None,
        axis: None,
        one_of: None,
        kept: &[],
        meant: None,
    };
}

/// What is tried for the operation that `def` defines.
pub fn of(def: &OpDef) -> &'static Sample {
    entry(def.name).map_or(&Sample::USUAL, |entry| &entry.sample)
}

/// What operand `index` is for. Beside zero points, names say it: `x`, `x_scale`, `x_zero_point`.
pub fn role(def: &OpDef, index: usize) -> Role {
    let roles = of(def).roles;
    if !roles.is_empty() {
        return roles.get(index).copied().unwrap_or(Role::Data);
    }
    let zero = |name: &str| name.strip_suffix("_zero_point").map(str::len);
    let is_zero = |name: &str| name == "zero_point" || zero(name).is_some();
    let Some(operand) = def.operands.get(index) else { return Role::Data };
    if !def.operands.iter().any(|operand| is_zero(operand.name)) {
        return Role::Data;
    }
    let quantised = |zero: &str| zero.strip_suffix("_zero_point") == Some(operand.name);
    match operand.name {
        name if name.ends_with("scale") => Role::Scale,
        name if is_zero(name) => Role::BytesZero,
        _ if def.operands.iter().any(|other| quantised(other.name)) => Role::Bytes,
        _ => Role::Data,
    }
}

/// Returns whether operands of an operation, or its results, have a scale.
pub fn is_quantised(def: &OpDef) -> bool {
    let scale = |name: &str| name.ends_with("scale");
    (0..def.operands.len()).any(|i| role(def, i).is_scale())
        || def.results.iter().any(|result| scale(result.name))
}

/// The element type of operand `index`; `None` for that of the data.
///
/// `base`: the element type of the program's data. `quantised`: the one of what is quantised. One
/// type of bytes for all operands, whose extents are at most `cap`.
pub fn dtype(
    def: &OpDef,
    index: usize,
    (base, quantised): (DType, DType),
    cap: usize,
) -> Option<DType> {
    match role(def, index) {
        Role::Data => None,
        Role::Truth => Some(DType::Bool),
        Role::Places => Some(DType::I64),
        Role::Lengths => Some(DType::I32),
        Role::Real | Role::RealScale => (!base.is_float()).then_some(DType::F32),
        Role::Scale => Some(DType::F32),
        Role::Quantised => Some(quantised),
        Role::Bytes | Role::BytesZero if cap.is_multiple_of(2) => Some(DType::U8),
        Role::Bytes | Role::BytesZero => Some(DType::I8),
    }
}

/// The values of `module` that are scales of what is quantised.
pub fn scales(module: &Module, op: Op) -> impl Iterator<Item = tangram_ir::Value> {
    let def = module.context().def(module.name(op));
    let is_scale = move |i: usize| def.is_some_and(|def| role(def, i).is_scale());
    module.operands(op).enumerate().filter(move |(i, _)| is_scale(*i)).map(|(_, value)| value)
}

/// Proposes extents for an operand.
pub fn extents(wanted: &Wanted<'_>, rng: &mut Rng) -> Extents {
    let sample = of(wanted.def);
    let own = sample.extents.and_then(|extents| extents(wanted, rng));
    let role = role(wanted.def, wanted.index);
    if sample.extents.is_none() && matches!(role, Role::Scale | Role::BytesZero) {
        return Extents::new();
    }
    own.unwrap_or_else(|| {
        if wanted.def.traits.contains(Traits::BROADCASTING) {
            wanted.broadcast(rng)
        } else {
            wanted.related(rng)
        }
    })
}

/// The elements of an operand that lists extents.
pub fn listed(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Vec<i64>> {
    of(wanted.def).listed?(wanted.of(0)?, wanted.index, rng)
}

/// Proposes the value of an attribute.
pub fn attribute(call: &Call<'_>, attr: &tangram_ir::AttrDef, rng: &mut Rng) -> Tried {
    let own = of(call.def).attr.map_or(Tried::Usual, |tried| tried(call, attr, rng));
    if let Tried::Usual = own { attributes::usual(call, attr, rng) } else { own }
}

/// Returns whether an operand says what attribute `attr` would say, where there are `count` of them.
pub fn is_operand(def: &OpDef, attr: &str, count: usize) -> bool {
    let either = entry(def.name).map_or(&[][..], |entry| entry.either);
    either.iter().any(|either| either.attr == attr && either.operand < count)
}

/// Returns whether one of the attributes that are `given` says what `attr` would say, in another way.
pub fn is_excluded(def: &OpDef, attr: &str, given: impl Fn(&str) -> bool) -> bool {
    let Some([one, other]) = of(def).one_of else { return false };
    attr == one && given(other) || attr == other && given(one)
}
