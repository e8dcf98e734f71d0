//! Operations that take nothing, for what stands beside them computes them as well.
//!
//! - A bias, a function of each element or an addition behind a convolution: runtimes compute these
//!   in the convolution, if nothing else reads what is between. So nothing comes between the two
//!   unless that pays for both.
//! - What is made to join the channels of convolutions that are alike: they become one convolution,
//!   in groups or of one value, and the joining moves up to where the paths part.

use rustc_hash::FxHashSet;
use tangram_dialects::nn::bias::is_convolution;
use tangram_ir::{Attr, Module, Name, Op, Traits, Value};

/// How many operations behind a convolution it computes.
const BEHIND: usize = 3;

/// A program of which some operations are not there: as it was, or as it will be.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) module: &'a Module,
    /// The operations of the other side.
    pub(super) without: &'a FxHashSet<Op>,
}

impl Side<'_> {
    /// Whether the convolution before `op` computes it as well.
    pub(super) fn is_absorbed(&self, op: Op) -> bool {
        let Some(count) = behind(self.module, op) else { return false };
        self.module.operands(op).take(count).any(|value| self.convolution(value).is_some())
    }

    /// The convolution that makes `value`, by itself or with what stands behind it, and the names of
    /// that.
    fn convolution(&self, mut value: Value) -> Option<(Op, Vec<Name>)> {
        let (module, mut names) = (self.module, Vec::new());
        for _ in 0..BEHIND {
            let op = module.def_op(value).filter(|_| self.has_one_use(value))?;
            if is_convolution(module.name_text(op)) {
                return Some((op, names));
            }
            behind(module, op).filter(|count| *count == 1)?;
            names.push(module.name(op));
            value = module.operands(op).next()?;
        }
        None
    }

    fn has_one_use(&self, value: Value) -> bool {
        self.module.uses(value).filter(|used| !self.without.contains(&used.op)).count() == 1
    }

    /// Whether `op` joins the channels of convolutions that are alike.
    pub(super) fn is_taken_up(&self, op: Op) -> bool {
        let module = self.module;
        let axis = module.attr(op, "axis").and_then(|attr| module.context().as_i64(attr));
        if module.name_text(op) != "nn.concatenate" || axis != Some(1) {
            return false;
        }
        let path = |value| self.path(value);
        let Some(paths) = module.operands(op).map(path).collect::<Option<Vec<Path>>>() else {
            return false;
        };
        paths.iter().all(|path| path.is_like(&paths[0]))
    }

    /// What makes `value`, if that is a convolution and what stands behind it.
    fn path(&self, value: Value) -> Option<Path> {
        let (op, behind) = self.convolution(value)?;
        let module = self.module;
        let groups = module.attr(op, "groups").and_then(|attr| module.context().as_i64(attr));
        let groups = groups.unwrap_or(1).max(1);
        let mut operands = module.operands(op);
        let (data, weights) = (operands.next()?, operands.next()?);
        let (weights, _) = module.context().as_tensor(module.value_type(weights))?;
        let weights: Vec<i64> = weights.iter().map(|dim| dim.as_static()).collect::<Option<_>>()?;
        let (filters, window) = weights.split_first()?;
        let steps = ["strides", "padding", "dilation"].map(|name| module.attr(op, name));
        let name = module.name(op);
        let kind = (name, behind, steps, window.to_vec());
        Some(Path { kind, whole: (groups == 1).then_some(data), each: filters / groups })
    }
}

/// A convolution with what stands behind it.
struct Path {
    kind: (Name, Vec<Name>, [Option<Attr>; 3], Vec<i64>),
    /// What it convolves, if that is in one group.
    whole: Option<Value>,
    /// The filters of each group.
    each: i64,
}

impl Path {
    /// Whether both are one convolution: of one value, or in groups.
    fn is_like(&self, other: &Self) -> bool {
        let of_one_value = self.whole.is_some() && self.whole == other.whole;
        self.kind == other.kind && (of_one_value || self.each == other.each)
    }
}

/// How many operands of `op`, the first ones, may be what a convolution makes that computes `op` as
/// well; none if there is no such convolution.
fn behind(module: &Module, op: Op) -> Option<usize> {
    match module.name_text(op) {
        "nn.bias_add" => Some(1),
        "nn.add" => Some(2),
        _ => (module.operand_count(op) == 1 && module.has_traits(op, Traits::ELEMENTWISE))
            .then_some(1),
    }
}
