//! Integer sets and relations for Python: one class for unions over spaces.
//!
//! The package `python/tangram/presburger` puts `Set`, `Map` and the operators of the language on top.

mod count_unions;
mod counts;
mod elimination;
mod functions;
mod spaces;
mod union;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tangram::presburger::{Budget, Error, Rational, USUAL_STEPS};

pub(crate) use self::count_unions::{Bounds, Counts};
pub(crate) use self::counts::{Bound, Count};
pub(crate) use self::functions::{
    PyMultiUnionPwAff, PyPwAff, PyPwMultiAff, PyUnionPwAff, PyUnionPwMultiAff,
};
pub(crate) use self::union::PyUnion;
use crate::PresburgerError;
use crate::integer::Number;
use crate::interrupt::interruptibly;

/// Steps and seconds that one call may take.
type Limits = (Option<u64>, Option<f64>);

/// Steps after which an operation goes to a thread of its own, so that Ctrl-C can end it.
///
/// Most operations end long before, and a thread for each would cost more than they do.
const SHORT: u64 = 100_000;

/// The steps of the first try; tests set it to see that every call is begun anew.
static FIRST_TRY: AtomicU64 = AtomicU64::new(SHORT);

/// Sets the steps of the first try of each call; returns those before.
#[pyfunction]
pub(crate) fn set_first_try(steps: u64) -> u64 {
    FIRST_TRY.swap(steps, Ordering::Relaxed)
}

thread_local! {
    static LIMITS: Cell<Option<Limits>> = const { Cell::new(None) };
}

/// What to do where a limit ended an operation.
pub(crate) const HIGHER: &str = "raise it with tangram.presburger.limits(...)";

/// Sets the limits of calls from this thread, or the usual ones; returns those before.
#[pyfunction]
#[pyo3(signature = (limits))]
pub(crate) fn set_limits(limits: Option<Limits>) -> Option<Limits> {
    LIMITS.replace(limits)
}

/// An error of an operation within a budget.
pub(crate) trait Failure: Send {
    /// Whether the limit on steps ended the operation.
    fn is_limit(&self) -> bool;

    /// What Python is told.
    fn exception(self) -> PyErr;
}

impl Failure for Error {
    fn is_limit(&self) -> bool {
        matches!(self, Self::Steps { .. })
    }

    fn exception(self) -> PyErr {
        let hint = match self {
            Self::Steps { .. } | Self::Deadline => {
                return PresburgerError::new_err(format!("{self}; {HIGHER}"));
            }
            Self::NoOptimum { .. } => "; intersect with a set that bounds it",
            Self::Unbounded { .. } => "; bind parameters with bind(N=...), or intersect with a box",
            Self::UnboundedParameter { .. } => "; bind(...) gives it one",
            _ => "",
        };
        PresburgerError::new_err(format!("{self}{hint}"))
    }
}

fn failed(error: Error) -> PyErr {
    error.exception()
}

/// Runs `work` within the limits, while other threads of Python go on and Ctrl-C is heard.
fn run<T: Send>(
    python: Python<'_>,
    work: impl Fn(&Budget) -> Result<T, Error> + Send + Sync,
) -> PyResult<T> {
    within(LIMITS.get().unwrap_or((Some(USUAL_STEPS), None)), python, work)
}

/// Runs `work` as [`run`] does, whatever its errors are; without limits unless they are set.
pub(crate) fn run_any<T: Send, E: Failure>(
    python: Python<'_>,
    work: impl Fn(&Budget) -> Result<T, E> + Send + Sync,
) -> PyResult<T> {
    within(LIMITS.get().unwrap_or((None, None)), python, work)
}

/// Runs `work` within limits.
///
/// What does not end soon is begun anew on a thread of its own.
fn within<T: Send, E: Failure>(
    (steps, seconds): Limits,
    python: Python<'_>,
    work: impl Fn(&Budget) -> Result<T, E> + Send + Sync,
) -> PyResult<T> {
    let end = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
    let end = end.and_then(|length| Instant::now().checked_add(length));
    let within = |budget: Budget| match end {
        Some(end) => budget.with_deadline(end),
        None => budget,
    };
    let first = FIRST_TRY.load(Ordering::Relaxed);
    let short = steps.map_or(first, |steps| steps.min(first));
    let first = python.detach(|| work(&within(Budget::steps(short))));
    let unfinished = matches!(&first, Err(error) if error.is_limit());
    if !unfinished || steps == Some(short) {
        return first.map_err(E::exception);
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let budget = within(steps.map_or_else(Budget::unlimited, Budget::steps));
    let budget = budget.with_cancel(cancel.clone());
    interruptibly(python, &cancel, || Ok(work(&budget)))?.map_err(E::exception)
}

/// Makes a number of its numerator and denominator.
fn number(numerator: Number, denominator: Number) -> PyResult<Rational> {
    Rational::new(numerator.0, denominator.0)
        .ok_or_else(|| PresburgerError::new_err("a number cannot be divided by 0"))
}

/// Names reach this module from our own Python code alone.
fn unknown<T>(name: &str) -> Result<T, Error> {
    Err(Error::Space { expected: "an operation".to_owned(), found: name.to_owned() })
}
