//! Which processor a thread is on.
//!
//! Systems like to wake a thread on the processor of whoever wakes it, who will soon sleep as a
//! rule. The caller of a team does not: it takes the first part, and a helper that was woken beside
//! it would wait for its turn, for milliseconds, while another processor has nothing to do.

/// The number of the processor that this thread is on, where the system says it.
pub(crate) fn current() -> Option<usize> {
    // Miri knows no processors.
    #[cfg(all(target_os = "linux", not(miri)))]
    return Some(rustix::thread::sched_getcpu());
    #[cfg(any(not(target_os = "linux"), miri))]
    None
}

/// Goes to another processor if this thread is on `busy` and may run elsewhere; from there on it
/// may run wherever it might before.
pub(crate) fn leave(busy: Option<usize>) {
    #[cfg(target_os = "linux")]
    if let Some(busy) = busy.filter(|&busy| current() == Some(busy)) {
        use rustix::thread::{sched_getaffinity, sched_setaffinity};
        let Ok(allowed) = sched_getaffinity(None) else { return };
        let mut others = allowed;
        others.unset(busy);
        // A thread that stays where it is only waits.
        if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
            let _ = sched_setaffinity(None, &allowed);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = busy;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_leaves_a_processor_and_may_come_back() {
        let allowed = || rustix::thread::sched_getaffinity(None).expect("a set");
        let before = allowed();
        leave(current());
        assert_eq!(allowed(), before);
        leave(None);
        assert_eq!(allowed(), before);
    }
}
