//! What a signal to end takes with it: files that are being written and have a name.
//!
//! SIGTERM and SIGHUP, and SIGINT where nobody handles it, end a process at once. A handler may
//! only do what is safe at any moment: it removes the files whose names stand in fixed places, and
//! ends the process as the signal would have.

/// A place that holds a name until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot(#[allow(dead_code, reason = "only read where there are signals")] usize);

#[cfg(unix)]
pub(crate) use unix::remove_when_ended;

#[cfg(not(unix))]
pub(crate) fn remove_when_ended(_: &std::path::Path) -> Option<Slot> {
    None
}

impl Drop for Slot {
    fn drop(&mut self) {
        #[cfg(unix)]
        unix::release(self.0);
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::Once;
    use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

    use super::Slot;

    const SLOTS: usize = 16;
    const LONGEST: usize = 4096;

    const FREE: u8 = 0;
    const FILLING: u8 = 1;
    const ARMED: u8 = 2;

    struct Place {
        state: AtomicU8,
        /// The process that the file is of: a child that was forked leaves it alone.
        process: AtomicU32,
        /// The path, ended by 0.
        path: [AtomicU8; LONGEST],
    }

    static PLACES: [Place; SLOTS] = [const {
        Place {
            state: AtomicU8::new(FREE),
            process: AtomicU32::new(0),
            path: [const { AtomicU8::new(0) }; LONGEST],
        }
    }; SLOTS];

    /// Has the file at `path` removed when a signal ends the process; `None` if there is no place.
    pub(crate) fn remove_when_ended(path: &Path) -> Option<Slot> {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        // The process may be in another folder by then.
        let path = std::path::absolute(path).ok()?;
        let bytes = path.as_os_str().as_bytes();
        if bytes.len() >= LONGEST || bytes.contains(&0) {
            return None;
        }
        let take = |place: &&Place| {
            let taken = (Ordering::Acquire, Ordering::Relaxed);
            place.state.compare_exchange(FREE, FILLING, taken.0, taken.1).is_ok()
        };
        let (at, place) = PLACES.iter().enumerate().find(|(_, place)| take(place))?;
        for (cell, &byte) in place.path.iter().zip(bytes.iter().chain([&0])) {
            cell.store(byte, Ordering::Relaxed);
        }
        place.process.store(std::process::id(), Ordering::Relaxed);
        place.state.store(ARMED, Ordering::Release);
        Some(Slot(at))
    }

    pub(super) fn release(at: usize) {
        PLACES[at].state.store(FREE, Ordering::Release);
    }

    fn install() {
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
            // SAFETY: both calls read and write plain structures of our own; the handler does
            // only what is safe in one.
            unsafe {
                let mut old: libc::sigaction = std::mem::zeroed();
                let known = libc::sigaction(signal, std::ptr::null(), &mut old) == 0;
                // Who handles a signal, or ignores it as `nohup` does, goes on doing so.
                if known && old.sa_sigaction == libc::SIG_DFL {
                    let mut new: libc::sigaction = std::mem::zeroed();
                    new.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
                    new.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
                    libc::sigaction(signal, &new, std::ptr::null_mut());
                }
            }
        }
    }

    extern "C" fn on_signal(signal: c_int) {
        // SAFETY: `getpid`, `unlink` and `raise` may be called in a handler. The paths lie in
        // memory that is always there and end in 0: a place is `ARMED` after its path is complete.
        unsafe {
            let own = libc::getpid() as u32;
            for place in &PLACES {
                let armed = place.state.load(Ordering::Acquire) == ARMED;
                if armed && place.process.load(Ordering::Relaxed) == own {
                    libc::unlink(place.path.as_ptr().cast());
                }
            }
            // The handler is reset: this ends the process as if there had been none.
            libc::raise(signal);
        }
    }
}
