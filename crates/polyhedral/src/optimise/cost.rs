//! What an iteration of an innermost loop costs, in operations of a processor.
//!
//! An access that goes to the next element costs one operation, one that goes to a near one as
//! many as it goes elements further, one that jumps costs a line of the cache, one that stays costs nothing: the value is in a register. Iterations that
//! run side by side share what they have in common. Where each iteration adds to the same
//! element, it waits for the one before; sums side by side wait together. A loop without
//! that is run by vectors if no access jumps.

use std::collections::BTreeMap;

use super::rates::Rates;
use super::stride::AccessStride;

/// An access of a statement along a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Along {
    /// Position of the statement.
    pub statement: usize,
    pub write: bool,
    /// Whether it is of a variable, not of an element: compilers keep it in a register.
    pub scalar: bool,
    /// How far the next iteration goes; nothing if the statement has none.
    pub step: Option<AccessStride>,
}

/// Costs by position of the statement.
pub(super) type Costs = BTreeMap<usize, f64>;

/// Estimates what an instance of each statement costs.
///
/// `generated`: whether sums that stay are kept in registers, as generated loops keep them.
/// `jammed`: for each loop whose iterations run side by side, the accesses along it, how
/// many iterations, and whether they are free of each other.
pub(super) fn costs(
    rates: &Rates,
    inner: &[Along],
    vector: bool,
    jammed: &[(&[Along], i128, bool)],
    generated: bool,
) -> Costs {
    let mut costs = Costs::new();
    let iterated = |statement: usize| {
        inner.iter().any(|along| along.statement == statement && along.step.is_some())
    };
    for statement in inner.iter().map(|along| along.statement) {
        if costs.contains_key(&statement) || !iterated(statement) {
            continue;
        }
        let mut memory = 0.0;
        let (mut waits, mut kept, mut smooth) = (false, generated, true);
        for (at, along) in inner.iter().enumerate().filter(|(_, a)| a.statement == statement) {
            let own = match along.step {
                None | Some(AccessStride::Same) => 0.0,
                Some(AccessStride::Next) => 1.0,
                Some(AccessStride::Near(far)) => rates.jump.min(far as f64),
                Some(AccessStride::Far) => rates.jump,
            };
            let sums = along.write && along.step == Some(AccessStride::Same);
            waits |= sums;
            kept |= sums && along.scalar;
            smooth &= !matches!(along.step, Some(AccessStride::Near(_) | AccessStride::Far));
            let shared: f64 = jammed
                .iter()
                .filter(|(other, ..)| other[at].step == Some(AccessStride::Same))
                .map(|(_, factor, _)| *factor as f64)
                .product();
            memory += own / shared;
        }
        let chains: f64 =
            jammed.iter().filter(|(.., free)| *free).map(|(_, factor, _)| *factor as f64).product();
        let wait = if kept { rates.wait } else { rates.wait_in_memory };
        let waiting = if waits { wait / chains } else { 0.0 };
        let width = if vector && smooth && !waits { rates.vector } else { 1.0 };
        costs.insert(statement, (1.0 + memory + waiting) / width);
    }
    costs
}
