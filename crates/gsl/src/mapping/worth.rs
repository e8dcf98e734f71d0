//! Whether a rewrite pays: what is made takes no more than what goes.
//!
//! The label [`PAYS`] asks it of every rewrite of a rule, [`BREAKS_EVEN`] a little less. Both sides
//! are counted from the structured definitions ([`work`]): scalar operations, bytes read and written,
//! operations that run. Counted as gone is what nobody uses any more once the outputs are replaced; what others still read stays,
//! so that nothing is computed twice at a loss. Constants that were folded take nothing, and what
//! was not folded, because the constant would be too large, takes what it takes.
//!
//! ```text
//! strided_slice(matmul(x, w))   x: 128x64  w: 64x32  last row      2·128·64·32 operations
//! matmul(strided_slice(x), w)                                      2·1·64·32
//! ```
//!
//! A rewrite pays if it takes no more of either operations or bytes, and less of one, or fewer
//! operations that start. That holds whatever a machine's arithmetic costs beside its memory. Where
//! extents are not known it takes no more at any of [`SIZES`], and less at one.
//!
//! What the operation beside it [absorbs](super::absorbed) takes nothing.

use rustc_hash::FxHashSet;
use tangram_dialects::structured::{Structured, work};
use tangram_dialects::{constant, dims, dtype};
use tangram_ir::{Diagnostic, Module, Op, Traits, Value};

use super::absorbed::Side;
use super::build::Builder;
use crate::matching::Match;

/// The label of rules whose rewrites have to pay.
pub const PAYS: &str = "pays";

/// The label of rules whose rewrites must not take more, and need not save anything by themselves:
/// others come within reach.
pub const BREAKS_EVEN: &str = "breaks-even";

/// What extents that are not known are taken to be: a few, and many.
const SIZES: [i64; 2] = [8, 128];

/// How much less of something is no difference: sums of counts are rounded.
const SAME: f64 = 1e-6;

/// What operations take together.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Takes {
    operations: f64,
    bytes: f64,
    starts: usize,
}

impl Takes {
    fn of(side: Side<'_>, ops: &[Op], size: i64) -> Self {
        let mut sum = Self::default();
        for &op in ops.iter().filter(|op| !side.is_absorbed(**op)) {
            let one = Self::one(side.module, op, size);
            sum.operations += one.operations;
            sum.bytes += one.bytes;
            sum.starts += one.starts;
        }
        sum
    }

    fn one(module: &Module, op: Op, size: i64) -> Self {
        match work(module, op, size) {
            Some((Structured::Reshape { .. }, _)) => Self::default(),
            Some((_, work)) => Self { operations: work.operations, bytes: work.bytes(), starts: 1 },
            // Without a definition: one operation for each element.
            None => {
                let values = || module.operands(op).chain(module.results(op));
                let elements = |value: Value| elements(module, value, size);
                let bytes = |value: Value| elements(value) * width(module, value);
                Self {
                    operations: values().map(elements).fold(0.0, f64::max),
                    bytes: values().map(bytes).sum(),
                    starts: 1,
                }
            }
        }
    }

    /// Whether this is more of anything than `other`.
    fn exceeds(&self, other: &Self) -> bool {
        let more = |one: f64, other: f64| one > other * (1.0 + SAME);
        more(self.operations, other.operations) || more(self.bytes, other.bytes)
    }

    /// Whether something is saved in going from `before` to this, where nothing is added.
    fn saves(&self, before: &Self) -> bool {
        before.exceeds(self) || self.starts < before.starts
    }
}

impl Builder<'_, '_> {
    /// Refuses a rewrite of a rule that has to pay, if it does not.
    pub(super) fn pays(&self, found: &Match, new: &[Value]) -> Result<(), Diagnostic> {
        let is_labelled = |name| self.plan.rule().labels().iter().any(|label| label == name);
        let (saves, breaks_even) = (is_labelled(PAYS), is_labelled(BREAKS_EVEN));
        if !self.settings.guarded || !(saves || breaks_even) {
            return Ok(());
        }
        let module = self.module();
        let gone = gone(module, found, self.made());
        let made = needed(module, self.made(), new);
        let made = made.into_iter().filter(|op| !constant::is_constant(module, *op));
        let (old, new) = (gone.iter().copied().collect(), self.made().iter().copied().collect());
        let (old, new) = (Side { module, without: &new }, Side { module, without: &old });
        let made: Vec<Op> = made.filter(|op| !new.is_taken_up(*op)).collect();
        let (before, after) = (|n| Takes::of(old, &gone, n), |n| Takes::of(new, &made, n));
        let takes = SIZES.map(|size| (before(size), after(size)));
        let pays = takes.iter().all(|(before, after)| !after.exceeds(before))
            && (breaks_even || takes.iter().any(|(before, after)| after.saves(before)));
        if pays {
            Ok(())
        } else {
            Err(self.refuse("cost", "the target does not take less than what it replaces"))
        }
    }
}

/// The matched operations that nobody uses once the outputs are replaced. What the target reads of
/// them stays.
pub(super) fn gone(module: &Module, found: &Match, made: &[Op]) -> Vec<Op> {
    let outputs: FxHashSet<Value> = found.outputs().iter().copied().collect();
    let readers: FxHashSet<Op> = found.ops().iter().chain(made).copied().collect();
    let mut gone: FxHashSet<Op> = FxHashSet::default();
    loop {
        let is_unused = |value: Value| {
            let redirected = |user: &Op| outputs.contains(&value) && !readers.contains(user);
            module.uses(value).all(|used| gone.contains(&used.op) || redirected(&used.op))
        };
        let next = found.ops().iter().copied().find(|op| {
            !gone.contains(op)
                && !constant::is_constant(module, *op)
                && (module.results(*op).any(|value| outputs.contains(&value))
                    || module.has_traits(*op, Traits::PURE))
                && module.results(*op).all(is_unused)
        });
        match next {
            Some(op) => gone.insert(op),
            None => break,
        };
    }
    found.ops().iter().copied().filter(|op| gone.contains(op)).collect()
}

/// The new operations that `outputs` need, the last first.
pub(super) fn needed(module: &Module, made: &[Op], outputs: &[Value]) -> Vec<Op> {
    let mut needed: FxHashSet<Value> = outputs.iter().copied().collect();
    let mut ops = Vec::new();
    for &op in made.iter().rev() {
        if module.results(op).any(|value| needed.contains(&value)) {
            needed.extend(module.operands(op));
            ops.push(op);
        }
    }
    ops
}

/// The number of elements of `value`; 1 if nothing is known.
fn elements(module: &Module, value: Value, size: i64) -> f64 {
    let Some((list, _)) = module.context().as_tensor(module.value_type(value)) else { return 1.0 };
    let extent = |dim| {
        let known = dims::expr(module.context(), dim).and_then(|expr| expr.eval(&|_| Some(size)));
        known.unwrap_or(size).max(0) as f64
    };
    list.iter().map(|&dim| extent(dim)).product()
}

/// The bytes of one element; none of what is no tensor.
fn width(module: &Module, value: Value) -> f64 {
    let element = module.context().element_type(module.value_type(value));
    let dtype = element.and_then(|element| dtype::dtype_of(module.context(), element));
    dtype.map_or(0.0, |dtype| dtype.size_bits() as f64 / 8.0)
}
