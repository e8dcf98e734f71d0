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
    /// Whether it is of an array that stands for a variable of the source.
    pub of_variable: bool,
    /// Whether it is of integers: these are added up in any order.
    pub integer: bool,
    /// How far the next iteration goes; nothing if the statement has none.
    pub step: Option<AccessStride>,
}

/// Loads that a store costs: a processor does one of these beside two loads.
const STORE: f64 = 2.0;
/// The same for one of several streams of stores: each has lines of its own on their way.
const STREAM: f64 = 3.0;
/// Operations that starting and ending a loop costs.
const START: f64 = 4.0;

/// Returns by how much an iteration costs more in a loop of so few: vectors are not filled, and the loop
/// starts and ends for little.
pub(super) fn shortness(rates: &Rates, iterations: Option<i128>, vector: bool) -> f64 {
    let Some(iterations) = iterations.filter(|iterations| *iterations > 0) else { return 1.0 };
    let (iterations, width) = (iterations as f64, if vector { rates.vector } else { 1.0 });
    ((iterations / width).ceil() * width + START) / iterations
}

/// Costs by position of the statement.
pub(super) type Costs = BTreeMap<usize, f64>;

/// A loop whose iterations run side by side: the accesses along it, how many iterations, and whether
/// they are free of each other.
pub(super) type Jam<'a> = (&'a [Along], i128, bool);

/// Where the loops are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The text of the source: variables are registers, sums in elements are not.
    Source,
    /// The source, with loops inside that compilers unroll: as [`Form::Source`], and loads of near
    /// elements are shuffled into vectors, while there is something to compute.
    Unrolled,
    /// New loops, in which sums that stay are kept in registers.
    Generated,
}

/// Estimates what an instance of each statement costs.
///
/// `jammed`: loops whose iterations run side by side in the one that `inner` goes along.
pub(super) fn costs(
    rates: &Rates,
    inner: &[Along],
    vector: bool,
    jammed: &[Jam<'_>],
    form: Form,
) -> Costs {
    let goes_on = |at: usize| {
        jammed.iter().any(|(other, ..)| {
            matches!(other[at].step, Some(AccessStride::Next | AccessStride::Near(_)))
        })
    };
    let is_register = |along: &Along| along.of_variable && form != Form::Generated;
    let mut costs = Costs::new();
    let iterated = |statement: usize| {
        inner.iter().any(|along| along.statement == statement && along.step.is_some())
    };
    for statement in inner.iter().map(|along| along.statement) {
        if costs.contains_key(&statement) || !iterated(statement) {
            continue;
        }
        let mut memory = 0.0;
        let (mut waits, mut kept, mut smooth) = (false, form == Form::Generated, true);
        for (at, along) in inner.iter().enumerate().filter(|(_, a)| a.statement == statement) {
            if form == Form::Unrolled && (is_register(along) || along.scalar) {
                continue;
            }
            let own = match along.step {
                None | Some(AccessStride::Same) => 0.0,
                Some(AccessStride::Next) => 1.0,
                Some(AccessStride::Near(far)) => rates.jump.min(far as f64),
                // Iterations that are unrolled go through a line of the cache that the next ones jump from.
                Some(AccessStride::Far) if form == Form::Unrolled && goes_on(at) => 1.0,
                Some(AccessStride::Far) => rates.jump,
            };
            let sums = along.write && along.step == Some(AccessStride::Same) && !along.integer;
            waits |= sums;
            kept |= sums && (along.scalar || is_register(along));
            smooth &= match along.step {
                Some(AccessStride::Near(_)) => form == Form::Unrolled,
                step => step != Some(AccessStride::Far),
            };
            let shared: f64 = jammed
                .iter()
                .filter(|(other, ..)| other[at].step == Some(AccessStride::Same))
                .map(|(_, factor, _)| *factor as f64)
                .product();
            // Iterations side by side that write elsewhere keep a stream of stores each.
            let store = match along.write {
                true if shared == 1.0 && !jammed.is_empty() && form == Form::Generated => STREAM,
                true => STORE,
                false => 1.0,
            };
            memory += store * own / shared;
        }
        let chains: f64 =
            jammed.iter().filter(|(.., free)| *free).map(|(_, factor, _)| *factor as f64).product();
        let wait = if kept { rates.wait } else { rates.wait_in_memory };
        let waiting = if waits { wait / chains } else { 0.0 };
        let width = if vector && smooth && !waits { rates.vector } else { 1.0 };
        let integer = inner.iter().any(|a| a.statement == statement && a.write && a.integer);
        let own = if integer { rates.integer } else { 1.0 };
        let work = match form {
            // Loads run beside the operations on registers.
            Form::Unrolled => memory.max(own),
            Form::Source | Form::Generated => own + memory,
        };
        costs.insert(statement, (work + waiting) / width);
    }
    costs
}
