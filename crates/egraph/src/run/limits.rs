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
        self.check_at(Instant::now(), iteration, egraph)
    }

    /// Checks all limits at a time that was read before.
    pub(crate) fn check_at<L: Language, N: Analysis<L>>(
        &self,
        now: Instant,
        iteration: usize,
        egraph: &EGraph<L, N>,
    ) -> RunnerResult<()> {
        // To compare times costs less than to take their difference.
        if let (Some(start), Some(deadline)) = (self.start, self.deadline())
            && now > deadline
        {
            let elapsed = now.saturating_duration_since(start);
            return Err(StopReason::TimeLimit(elapsed.as_secs_f64()));
        }
        self.check_size(egraph)?;
        if iteration >= self.iterations {
            return Err(StopReason::IterationLimit(iteration));
        }
        Ok(())
    }

    /// Checks the limits on what the e-graph holds.
    pub(crate) fn check_size<L: Language, N: Analysis<L>>(
        &self,
        egraph: &EGraph<L, N>,
    ) -> RunnerResult<()> {
        let nodes = egraph.total_number_of_nodes();
        if nodes > self.nodes {
            return Err(StopReason::NodeLimit(nodes));
        }
        if self.bytes != usize::MAX && egraph.core().bytes() > self.bytes {
            return Err(StopReason::Other(format!("more than {} bytes", self.bytes)));
        }
        Ok(())
    }

    /// Returns when the time is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.start?.checked_add(self.time)
    }
}

/// Reads the clock once for the end of one phase and the start of the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laps {
    pub(crate) start: Instant,
    pub(crate) last: Instant,
}

impl Laps {
    pub(crate) fn from(start: Instant) -> Self {
        Laps { start, last: start }
    }

    /// Returns the seconds since the last reading.
    pub(crate) fn lap(&mut self) -> f64 {
        let before = std::mem::replace(&mut self.last, Instant::now());
        self.last.saturating_duration_since(before).as_secs_f64()
    }

    /// Returns the seconds from the first reading to the last.
    pub(crate) fn total(&self) -> f64 {
        self.last.saturating_duration_since(self.start).as_secs_f64()
    }
}
