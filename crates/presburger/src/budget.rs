//! Limits that travel with a call: steps, a deadline, a flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::Error;

/// Counts elementary steps and stops an operation that takes too many.
///
/// One step is one row touched, so the count is the same in every run.
#[derive(Debug, Default)]
pub struct Budget {
    used: AtomicU64,
    limit: Option<u64>,
    /// The limit of the budget that this one is a share of: what a user can raise.
    whole: Option<u64>,
    deadline: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
}

/// The steps of an operation where nobody has set a limit: some seconds.
pub const USUAL_STEPS: u64 = 20_000_000;

impl Budget {
    /// Makes a budget without limits.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Makes a budget of `limit` steps.
    pub fn steps(limit: u64) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// Adds a time after which operations stop.
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Adds a flag that stops operations once it is true.
    pub fn with_cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Returns the steps taken so far.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Makes a budget of so many hundredths of what is left of this one, with its other limits.
    ///
    /// What it takes is not taken off this one: [`Self::spend`] does that. Where it ends, the error
    /// names the limit of this one.
    pub fn share(&self, hundredths: u64) -> Self {
        let left = self.limit.map(|limit| limit.saturating_sub(self.used()));
        Self {
            used: AtomicU64::new(0),
            limit: left.map(|left| (left / 100).saturating_mul(hundredths)),
            whole: self.whole.or(self.limit),
            deadline: self.deadline,
            cancel: self.cancel.clone(),
        }
    }

    /// Runs a part of an operation that may give up after `steps`; nothing if it does.
    ///
    /// What the part takes is taken off this budget, whose own limits still end it.
    pub(crate) fn attempt<T>(
        &self,
        steps: u64,
        part: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        // What is left of this budget may be less.
        let left = self.limit.map_or(steps, |limit| limit.saturating_sub(self.used()));
        let inner = Self {
            used: AtomicU64::new(0),
            limit: Some(steps.min(left)),
            whole: self.whole.or(self.limit),
            deadline: self.deadline,
            cancel: self.cancel.clone(),
        };
        let result = part(&inner);
        self.spend(inner.used() as usize)?;
        match result {
            Err(Error::Steps { .. }) => Ok(None),
            result => result.map(Some),
        }
    }

    /// Takes `steps` off the budget, and one more for looking.
    ///
    /// # Errors
    /// [`Error::Steps`], [`Error::Cancelled`] or [`Error::Deadline`] once a limit is reached.
    pub fn spend(&self, steps: usize) -> Result<(), Error> {
        let steps = steps as u64 + 1;
        let used = self.used.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        if let Some(limit) = self.limit.filter(|limit| used > *limit) {
            return Err(Error::Steps { limit: self.whole.unwrap_or(limit) });
        }
        if self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Error::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::Deadline);
        }
        Ok(())
    }
}
