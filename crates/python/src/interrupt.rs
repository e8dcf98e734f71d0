//! Ctrl-C while native code works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often Python is asked whether someone pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own. Ctrl-C sets `cancel` and is raised when `work` has ended.
pub(crate) fn interruptibly<T: Send>(
    python: Python<'_>,
    cancel: &AtomicBool,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    interruptibly_telling(python, cancel, |_| Ok(()), work)
}

/// The same, calling `tell` now and then and once at the end; what it raises ends the work too.
pub(crate) fn interruptibly_telling<T: Send>(
    python: Python<'_>,
    cancel: &AtomicBool,
    tell: impl Fn(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    let (done, wait) = mpsc::sync_channel(1);
    // Only this thread takes it; the lock makes it fit to be used while Python runs elsewhere.
    let wait = Mutex::new(wait);
    let next = || wait.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE);
    std::thread::scope(|scope| {
        scope.spawn(move || done.send(work()));
        let mut interrupted = Ok(());
        loop {
            match python.detach(next) {
                Ok(outcome) => {
                    let outcome = interrupted.and(outcome)?;
                    return tell(python).map(|()| outcome);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the work ended without a result"));
                }
            }
            if interrupted.is_err() {
                continue;
            }
            if let Err(stop) = python.check_signals().and_then(|()| tell(python)) {
                cancel.store(true, Ordering::Relaxed);
                interrupted = Err(stop);
            }
        }
    })
}
