//! How much memory and time evaluation may take.
//!
//! What a file asks for has no end of its own: `Relu` of `float[2^63 - 1]`, a loop that doubles
//! its value. A failed allocation would end the process, so kernels and the interpreter ask first,
//! and are refused with an error. The memory is that of the process, and what the machine, the
//! control group and the limits of the process leave; the time is that of the work on this thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::error::{KernelError, Result};

/// Amounts below this are added up before the system is asked what is left.
const LOOK: usize = 1 << 24;
/// What is always left for everything but tensors.
const RESERVE: u64 = 1 << 25;

/// The most bytes of the process; 0 for the usual share of what is free.
static MOST: AtomicUsize = AtomicUsize::new(0);
/// The bytes that were asked for since the system was.
static ASKED: AtomicUsize = AtomicUsize::new(0);
/// What was found to be the most, by the usual share.
static USUAL: AtomicUsize = AtomicUsize::new(0);

/// Whether somebody wants evaluation to end.
static STOPPED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static DEADLINE: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

/// States how many bytes the process may take; without this, three quarters of what is free when
/// it first matters.
pub fn set_max_memory(bytes: usize) {
    MOST.store(bytes.max(1), Ordering::Relaxed);
    ASKED.store(LOOK, Ordering::Relaxed);
}

/// Asks for `bytes` more, which are about to be allocated.
///
/// # Errors
/// [`KernelError::OutOfMemory`]: there is not so much.
pub fn ask(bytes: usize) -> Result<()> {
    if ASKED.fetch_add(bytes.min(LOOK), Ordering::Relaxed).saturating_add(bytes) < LOOK {
        return Ok(());
    }
    ASKED.store(0, Ordering::Relaxed);
    match left() {
        Some(left) if bytes as u64 > left => {
            // The next one looks again.
            ASKED.store(LOOK, Ordering::Relaxed);
            Err(KernelError::OutOfMemory { asked: bytes as u64, left })
        }
        _ => Ok(()),
    }
}

/// How many bytes are left; `None` where the system does not say.
pub fn left() -> Option<u64> {
    let used = system::used()?;
    let free = system::free()?;
    let most = match MOST.load(Ordering::Relaxed) {
        0 => usual(used, free),
        most => most as u64,
    };
    Some(most.saturating_sub(used).min(free.saturating_sub(RESERVE)))
}

/// Three quarters of what was free at first.
fn usual(used: u64, free: u64) -> u64 {
    let now = used.saturating_add(free / 4 * 3);
    let first = USUAL.compare_exchange(0, now as usize, Ordering::Relaxed, Ordering::Relaxed);
    first.map_or_else(|found| found as u64, |_| now)
}

/// Gives the old deadline back, also when the work panics.
struct Restore(Option<(Instant, Duration)>);

impl Drop for Restore {
    fn drop(&mut self) {
        DEADLINE.set(self.0);
    }
}

/// Runs `work`; evaluation on this thread is refused once `most` has gone by, if it is given. A
/// deadline that is set already stays, if it is earlier.
pub fn within_time<T>(most: Option<Duration>, work: impl FnOnce() -> T) -> T {
    let Some(most) = most else { return work() };
    let end = Instant::now().checked_add(most).map(|end| (end, most));
    let earlier = match (DEADLINE.get(), end) {
        (Some(old), Some(new)) => Some(if old.0 < new.0 { old } else { new }),
        (old, new) => old.or(new),
    };
    let _restore = Restore(DEADLINE.replace(earlier));
    work()
}

/// Refuses all evaluation in the process from now on, as after Ctrl-C. May be called in a handler of
/// signals.
pub fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// Says whether the time is up, or evaluation is to end.
///
/// # Errors
/// [`KernelError::OutOfTime`], [`KernelError::Stopped`].
pub fn check_time() -> Result<()> {
    if STOPPED.load(Ordering::Relaxed) {
        return Err(KernelError::Stopped);
    }
    match DEADLINE.get() {
        Some((end, most)) if Instant::now() >= end => Err(KernelError::OutOfTime { most }),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::read_to_string;

    /// A number in kibibytes behind `name` in one of the kernel's lists.
    fn kib(text: &str, name: &str) -> Option<u64> {
        let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(rest.split_whitespace().next()?.parse::<u64>().ok()?.saturating_mul(1024))
    }

    /// The memory that only this process has.
    pub(super) fn used() -> Option<u64> {
        kib(&read_to_string("/proc/self/status").ok()?, "RssAnon:")
    }

    /// What could still be allocated.
    pub(super) fn free() -> Option<u64> {
        let machine = kib(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
        let limits = [group(), addresses()];
        Some(limits.into_iter().flatten().fold(machine, u64::min))
    }

    /// What the control group leaves, in either version of its files.
    fn group() -> Option<u64> {
        let number = |path: &str| read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let v2 = || {
            let root = "/sys/fs/cgroup";
            let (most, now) = (
                number(&format!("{root}/memory.max"))?,
                number(&format!("{root}/memory.current"))?,
            );
            Some((most, now, read_to_string(format!("{root}/memory.stat")).ok()?))
        };
        let v1 = || {
            let root = "/sys/fs/cgroup/memory/memory";
            let most = number(&format!("{root}.limit_in_bytes"))?;
            let now = number(&format!("{root}.usage_in_bytes"))?;
            Some((most, now, read_to_string(format!("{root}.stat")).ok()?))
        };
        let (most, now, stat) = v2().or_else(v1)?;
        let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
        let cached = cached.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        Some(most.saturating_sub(now.saturating_sub(cached)))
    }

    /// What the limit on the address space leaves.
    fn addresses() -> Option<u64> {
        let limits = read_to_string("/proc/self/limits").ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let most: u64 = line.split_whitespace().next()?.parse().ok()?;
        let now = kib(&read_to_string("/proc/self/status").ok()?, "VmSize:")?;
        Some(most.saturating_sub(now))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn used() -> Option<u64> {
        None
    }

    pub(super) fn free() -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_up_when_it_is_and_an_inner_deadline_is_no_way_out() {
        assert!(check_time().is_ok());
        within_time(Some(Duration::ZERO), || {
            assert!(check_time().is_err());
            within_time(Some(Duration::from_secs(100)), || assert!(check_time().is_err()));
        });
        within_time(Some(Duration::from_secs(100)), || assert!(check_time().is_ok()));
        assert!(check_time().is_ok());
    }

    #[test]
    fn more_than_there_is_is_refused() {
        let Some(left) = left() else { return println!("skipped: the system does not say") };
        assert!(left > 0);
        assert!(ask(1 << 10).is_ok());
        let error = ask(usize::MAX / 2).expect_err("no machine has half of the address space");
        assert!(matches!(error, KernelError::OutOfMemory { .. }), "{error}");
        assert!(ask(LOOK).is_ok(), "one refusal is not the end");
    }
}
