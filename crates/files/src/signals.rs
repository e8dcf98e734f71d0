//! What a signal to end takes with it: files that are being written and have a name.
//!
//! SIGTERM and SIGHUP, and SIGINT where nobody handles it, end a process at once. A handler may
//! only do what is safe at any moment: it removes the files whose names stand in fixed places, and
//! ends the process as the signal would have.
//!
//! SIGABRT is what the standard library ends a process with that gets no more memory. A command whose
//! allocator says so ([`memory_ended`]) may have that end as any other error: [`end_without_memory`].

use std::sync::atomic::{AtomicBool, Ordering};

/// A place that holds a name until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot(#[allow(dead_code, reason = "only read where there are signals")] usize);

#[cfg(unix)]
pub(crate) use unix::remove_when_ended;

/// From now on, a process that aborts after [`memory_ended`] says `message` on standard error and exits
/// with `status`, in place of a core dump; files that were being written go. Other aborts stay what
/// they are.
///
/// For a process that is a command: one that carries other work decides for itself. Only the first
/// call counts. Nothing happens where there are no signals.
pub fn end_without_memory(message: &'static str, status: u8) {
    #[cfg(unix)]
    unix::end_without_memory(message, status);
    #[cfg(not(unix))]
    let _ = (message, status);
}

/// From now on, a file that would be larger than the process may write is an error like a full disk. Without
/// this, a signal ends the process, which then cannot say so.
pub fn fail_on_large_files() {
    #[cfg(unix)]
    // SAFETY: no code of ours runs in a handler.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Notes that the system gave no memory, as an allocator sees it: nobody may be able to go on.
pub fn memory_ended() {
    MEMORY_ENDED.store(true, Ordering::Relaxed);
}

static MEMORY_ENDED: AtomicBool = AtomicBool::new(false);

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
    use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
    use std::sync::{Once, OnceLock};

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
            handle(signal, on_signal);
        }
    }

    /// Has a signal handled that nobody handles: who does, or ignores it as `nohup` does, goes on
    /// doing so.
    fn handle(signal: c_int, handler: extern "C" fn(c_int)) {
        // SAFETY: both calls read and write plain structures of our own; the handlers do only what
        // is safe in one.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, std::ptr::null(), &mut old) == 0;
            if known && old.sa_sigaction == libc::SIG_DFL {
                let mut new: libc::sigaction = std::mem::zeroed();
                new.sa_sigaction = handler as usize;
                new.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
                libc::sigaction(signal, &new, std::ptr::null_mut());
            }
        }
    }

    /// What is said where memory ends, and the exit status.
    static LAST_WORDS: OnceLock<(&str, u8)> = OnceLock::new();

    pub(super) fn end_without_memory(message: &'static str, status: u8) {
        if LAST_WORDS.set((message, status)).is_ok() {
            handle(libc::SIGABRT, on_abort);
        }
    }

    extern "C" fn on_abort(_: c_int) {
        remove_files();
        // Set before the handler was, and never again: this is a load. The handler is reset, so that
        // any other abort goes on as if there had been none.
        let lacking = super::MEMORY_ENDED.load(Ordering::Relaxed);
        if let Some((message, status)) = LAST_WORDS.get().filter(|_| lacking) {
            // SAFETY: `write` and `_exit` may be called in a handler; the text is always there.
            unsafe {
                libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
                libc::_exit(i32::from(*status));
            }
        }
    }

    extern "C" fn on_signal(signal: c_int) {
        remove_files();
        // SAFETY: `raise` may be called in a handler, which is reset: this ends the process as if
        // there had been none.
        unsafe { libc::raise(signal) };
    }

    fn remove_files() {
        // SAFETY: `getpid` and `unlink` may be called in a handler. The paths lie in memory that is
        // always there and end in 0: a place is `ARMED` after its path is complete.
        unsafe {
            let own = libc::getpid() as u32;
            for place in &PLACES {
                let armed = place.state.load(Ordering::Acquire) == ARMED;
                if armed && place.process.load(Ordering::Relaxed) == own {
                    libc::unlink(place.path.as_ptr().cast());
                }
            }
        }
    }
}
