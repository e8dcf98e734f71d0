//! What a run tells about itself.

use super::StopReason;
use crate::Symbol;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::fmt;

/// One iteration of a run; times in seconds.
///
/// Where an e-graph has only a few nodes, to search and to apply is counted with the rebuild: it
/// takes less time than to read the clock.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize))]
pub struct Iteration<IterData> {
    /// The number of nodes before.
    pub egraph_nodes: usize,
    /// The number of classes before.
    pub egraph_classes: usize,
    /// How often each rule changed something.
    pub applied: IndexMap<Symbol, usize, FxBuildHasher>,
    /// Time in hooks.
    pub hook_time: f64,
    /// Time to search.
    pub search_time: f64,
    /// Time to apply.
    pub apply_time: f64,
    /// Time to rebuild.
    pub rebuild_time: f64,
    /// All time.
    pub total_time: f64,
    /// What the user keeps.
    pub data: IterData,
    /// The number of unions that rebuilding made.
    pub n_rebuilds: usize,
    /// Why the run stopped here, if it did.
    pub stop_reason: Option<StopReason>,
}

/// A summary of a run; times in seconds.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize))]
pub struct Report {
    /// The number of iterations.
    pub iterations: usize,
    /// Why the run stopped.
    pub stop_reason: StopReason,
    /// The number of nodes.
    pub egraph_nodes: usize,
    /// The number of classes.
    pub egraph_classes: usize,
    /// The number of entries of the hashcons.
    pub memo_size: usize,
    /// The number of unions that rebuilding made.
    pub rebuilds: usize,
    /// All time.
    pub total_time: f64,
    /// Time to search.
    pub search_time: f64,
    /// Time to apply.
    pub apply_time: f64,
    /// Time to rebuild.
    pub rebuild_time: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |time: f64| 100.0 * time / self.total_time.max(f64::MIN_POSITIVE);
        writeln!(f, "stopped:    {:?} after {} iterations", self.stop_reason, self.iterations)?;
        writeln!(f, "size:       {} nodes in {} classes", self.egraph_nodes, self.egraph_classes)?;
        writeln!(f, "rebuilding: {} unions", self.rebuilds)?;
        writeln!(f, "time:       {:.6} s", self.total_time)?;
        let parts = [
            ("search", self.search_time),
            ("apply", self.apply_time),
            ("rebuild", self.rebuild_time),
        ];
        for (name, time) in parts {
            writeln!(f, "  {name:<9} {time:.6} s, {:.0} %", share(time))?;
        }
        Ok(())
    }
}

/// What one rule did over a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize))]
pub struct RuleStatistics {
    /// The name of the rule; `None` only in a default value.
    pub name: Option<Symbol>,
    /// How many matches were found, those of searches cut short included.
    pub matches: usize,
    /// How many of them were new enough to be applied.
    pub applied: usize,
    /// How many of those changed something.
    pub changed: usize,
    /// How many nodes were added.
    pub nodes: usize,
    /// How often the scheduler held the rule back after a search.
    pub held_back: usize,
    /// The seconds spent applying.
    pub apply_time: f64,
}

impl RuleStatistics {
    /// Tells whether the rule made more than half of `total` nodes: a sign that it runs away.
    pub fn is_runaway(&self, total: usize) -> bool {
        self.nodes > 100 && self.nodes > total / 2
    }
}
