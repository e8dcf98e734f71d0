//! The greedy driver: patterns are applied until none matches any more.
//!
//! Operations wait on a worklist. Each that is taken is erased if it is dead, merged if an equal
//! one is known at its place, and otherwise given to the patterns for its name, greatest benefit
//! first, until one rewrites. What a rewrite touched, and what may match because of it, goes back
//! on the list. When the list is empty a sweep over all operations confirms that nothing matches;
//! if it finds something, the work goes on.
//!
//! What stands outside of the scope is not touched on the driver's own account: it never comes onto
//! the list, and constants are made inside. A pattern may still change it from inside.
//!
//! The same module, patterns and limits give the same result; only a deadline or a cancellation
//! can make a difference, and the report says so.

mod acting;
mod check;
mod constants;
mod driver;
mod history;
mod limits;
mod merge;
mod report;
mod scope;
mod simplify;
mod tally;
mod tracker;
mod worklist;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tangram_ir::{Module, Name, Op};

pub use history::{Cycle, CycleStep};
pub use report::{Breach, Report, Stop};

use crate::listener::Listener;
use crate::set::FrozenPatternSet;

/// The order in which operations are first looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Seeding {
    /// As they stand, those around before those in their regions: definitions before users.
    #[default]
    TopDown,
    /// From the last to the first, those in regions before those around.
    BottomUp,
}

/// How to apply patterns, and when to stop.
#[derive(Clone, Debug)]
pub struct GreedyConfig {
    /// The most rewrites; if absent, a number that grows with the size of the module and that
    /// only patterns that undo each other reach. It is reported only if one more would follow.
    pub max_rewrites: Option<u64>,
    /// How many times as many operations may be added as there are at the start, beside some
    /// thousands that always may; any number if absent.
    pub max_growth: Option<u32>,
    /// How many bytes constants may take in all before rewrites are refused that copy some of
    /// them; any number if absent. See [`most_constant_bytes`](crate::most_constant_bytes).
    pub max_constant_bytes: Option<u64>,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Stops the work when it becomes true.
    pub cancel: Option<Arc<AtomicBool>>,
    /// The order of the first round.
    pub seeding: Seeding,
    /// Whether unused operations without effects are erased.
    pub erase_dead: bool,
    /// Whether equal operations are merged.
    pub merge_equal: bool,
    /// How many bytes are compared at most to find constants whose resources hold the same under
    /// different keys; 0 for never. Two buffers are compared only if they agree in length and in
    /// a few samples.
    pub merge_equal_bytes: u64,
    /// Names of operations that may be erased when unused although their definition does not say
    /// so, or although they have none.
    pub erasable: Vec<Name>,
    /// Whether the report has the reason of each pattern's last failure.
    pub reasons: bool,
    /// Whether operations whose definition has a folder are folded. Constants that this makes
    /// stand at the start of the entry block of the nearest isolated region, each once.
    pub fold: bool,
    /// Whether all constants are moved to the start of the entry block of the nearest isolated
    /// region, each once.
    pub unique_constants: bool,
    /// Which operations may come onto the list.
    pub strictness: Strictness,
    /// Operations outside of this one's regions are not given to patterns, folded, merged or
    /// erased; if absent, outside of the operation that the driver is started on. Where it stands
    /// around that operation, those outside of the latter come onto the list only when a change
    /// reaches them.
    pub scope: Option<Op>,
    /// The most rounds: sweeps over all operations after which something had changed. It is
    /// reported only if one more round would change something.
    pub max_iterations: Option<u32>,
    /// Takes the operations of a round from the list in an order that follows from this number,
    /// to find pattern sets whose result depends on the order.
    pub shuffle: Option<u64>,
    /// What is done with blocks between rounds.
    pub regions: Simplify,
    /// Whether rewrites go on that make operations behind them impossible; see
    /// [`Rewriter::objection`](crate::Rewriter::objection).
    pub unguarded: bool,
    /// Whether the verifier runs after each rewrite, and operations are compared with what they
    /// were. Costs O(module) for each attempt.
    pub check: bool,
}

/// Which operations may come onto the list, besides those that it starts with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strictness {
    /// Any operation in the scope.
    #[default]
    AnyOp,
    /// Those that it starts with, and new ones.
    ExistingAndNewOps,
    /// Only those that it starts with.
    ExistingOps,
}

/// What is done with the blocks of regions between rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Simplify {
    /// Nothing.
    #[default]
    Disabled,
    /// Blocks that are never reached go, and arguments that nobody uses.
    Normal,
    /// Besides, equal blocks become one, and arguments that are always the same value go.
    Aggressive,
}

impl Default for GreedyConfig {
    fn default() -> Self {
        Self {
            max_rewrites: None,
            max_growth: None,
            max_constant_bytes: None,
            deadline: None,
            cancel: None,
            seeding: Seeding::default(),
            erase_dead: true,
            merge_equal: true,
            merge_equal_bytes: 0,
            erasable: Vec::new(),
            reasons: false,
            fold: true,
            unique_constants: false,
            strictness: Strictness::default(),
            scope: None,
            max_iterations: None,
            shuffle: None,
            regions: Simplify::default(),
            unguarded: false,
            check: false,
        }
    }
}

/// Applies `set` to all operations below `root` until nothing matches or a limit is reached.
pub fn apply(
    module: &mut Module,
    root: Op,
    set: &FrozenPatternSet,
    config: &GreedyConfig,
) -> Report {
    driver::Driver::new(module, root, None, set, config, None).run()
}

/// As [`apply`]; `listener` hears of every change.
pub fn apply_with_listener(
    module: &mut Module,
    root: Op,
    set: &FrozenPatternSet,
    config: &GreedyConfig,
    listener: &mut dyn Listener,
) -> Report {
    driver::Driver::new(module, root, None, set, config, Some(listener)).run()
}

/// Applies `set` to the operations `ops`, and to others as [`GreedyConfig::strictness`] allows,
/// until nothing matches or a limit is reached.
///
/// The scope is [`GreedyConfig::scope`], or the whole module. Sweeps go through `ops` and what came
/// onto the list since, which all operations around a change do up to the scope; so none of these
/// matches in the end. Regions are not simplified.
pub fn apply_to_ops(
    module: &mut Module,
    ops: &[Op],
    set: &FrozenPatternSet,
    config: &GreedyConfig,
    listener: &mut dyn Listener,
) -> Report {
    let root = config.scope.unwrap_or(module.root());
    driver::Driver::new(module, root, Some(ops), set, config, Some(listener)).run()
}

#[cfg(test)]
mod tests;
