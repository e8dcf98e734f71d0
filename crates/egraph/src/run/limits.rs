//! What may stop a run.

use crate::{Analysis, EGraph, Language};
use std::time::{Duration, Instant};

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize))]
pub enum StopReason {
    /// No rule changes anything any more.
    Saturated,
    /// So many iterations are over.
    IterationLimit(usize),
    /// There are so many nodes.
    NodeLimit(usize),
    /// So many seconds went by.
    TimeLimit(f64),
    /// A hook said so, or the e-graph holds too many bytes.
    Other(String),
}

/// A result, or the reason to stop.
pub type RunnerResult<T> = Result<T, StopReason>;

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct RunnerLimits {
    pub(crate) iterations: usize,
    pub(crate) nodes: usize,
    pub(crate) time: Duration,
    pub(crate) bytes: usize,
    pub(crate) start: Option<Instant>,
}

impl Default for RunnerLimits {
    fn default() -> Self {
        RunnerLimits {
            iterations: 30,
            nodes: 10_000,
            time: Duration::from_secs(5),
            bytes: usize::MAX,
            start: None,
        }
    }
}

impl RunnerLimits {
    /// Checks all limits.
    ///
    /// # Errors
    /// With the limit that is reached.
    pub fn check_limits<L: Language, N: Analysis<L>>(
        &self,
        iteration: usize,
        egraph: &EGraph<L, N>,
    ) -> RunnerResult<()> {
        let elapsed = self.start.map_or(Duration::ZERO, |start| start.elapsed());
        if elapsed > self.time {
            return Err(StopReason::TimeLimit(elapsed.as_secs_f64()));
        }
        let nodes = egraph.total_number_of_nodes();
        if nodes > self.nodes {
            return Err(StopReason::NodeLimit(nodes));
        }
        if self.bytes != usize::MAX && egraph.core().bytes() > self.bytes {
            return Err(StopReason::Other(format!("more than {} bytes", self.bytes)));
        }
        if iteration >= self.iterations {
            return Err(StopReason::IterationLimit(iteration));
        }
        Ok(())
    }

    /// Returns when the time is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.start?.checked_add(self.time)
    }
}
