//! Threads that make the calls of a run together.
//!
//! To wake a thread takes longer than most calls do, so helpers are woken once for a run, and watch
//! for calls while it lasts; between runs they sleep. The caller never waits for a helper that has
//! not come yet: parts of a call belong to whoever takes them first, the caller as well, and it
//! waits only for parts that a helper has begun. Where all threads of the pool are busy with other
//! sessions, a run is that of one thread. A helper that wakes on the caller's processor goes to another.
//!
//! ```text
//! caller   publish ─ take part 0 ─ take part 2 ─ none left ─ wait ─ publish ...
//! helper   ... watch ── take part 1 ──────────── done ─ watch ────── take ...
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::processor;

/// What each part of a call does.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// The threads of one run: the caller, and helpers from the pool that the caller is of, or that all
/// of the process share.
pub(crate) struct Team(Option<Arc<State>>);

impl Team {
    /// The caller and up to `threads - 1` helpers.
    pub(crate) fn of(threads: usize) -> Team {
        if threads < 2 {
            return Team::alone();
        }
        let state = Arc::new(State { caller: processor::current(), ..State::default() });
        for _ in 1..threads {
            let state = state.clone();
            rayon::spawn(move || state.help());
        }
        Team(Some(state))
    }

    /// The caller.
    pub(crate) fn alone() -> Team {
        Team(None)
    }

    /// Does each of `parts` parts of `work` once, and returns when all are done. `work` does not
    /// panic.
    pub(crate) fn run(&mut self, parts: usize, work: &Work<'_>) {
        match &self.0 {
            Some(state) if (2..=MOST_PARTS).contains(&parts) => state.run(parts, work),
            _ => (0..parts).for_each(work),
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if let Some(state) = &self.0 {
            state.over.store(true, Ordering::Release);
        }
    }
}

/// A call has at most that many parts: the number of one fits into its field of a turn.
const MOST_PARTS: usize = u16::MAX as usize;

/// What the threads of a run see.
#[derive(Default)]
struct State {
    /// The number of the call, how many parts it has, and which one is next, in 32, 16 and 16 bits:
    /// who replaces it with the same but for the next part has taken a part.
    turn: AtomicU64,
    /// How many parts of the call are done.
    done: AtomicUsize,
    /// What the parts of the call do, as long as not all are done.
    work: AtomicPtr<&'static Work<'static>>,
    over: AtomicBool,
    /// The processor that the caller is on as the run begins.
    caller: Option<usize>,
}

impl State {
    fn run(&self, parts: usize, work: &Work<'_>) {
        let call = (self.turn.load(Ordering::Relaxed) >> 32).wrapping_add(1);
        self.done.store(0, Ordering::Relaxed);
        let pointer: *const &Work<'_> = &raw const work;
        self.work.store(pointer.cast_mut().cast(), Ordering::Relaxed);
        self.turn.store(call << 32 | (parts as u64) << 16, Ordering::Release);
        let _all = All { done: &self.done, parts };
        while let Some(part) = self.take() {
            let _done = Done(&self.done);
            work(part);
        }
    }

    /// Takes a part of the call, if there is one left.
    fn take(&self) -> Option<usize> {
        let mut turn = self.turn.load(Ordering::Acquire);
        loop {
            let (parts, next) = (turn >> 16 & 0xffff, turn & 0xffff);
            if next >= parts {
                return None;
            }
            let taken = self.turn.compare_exchange_weak(
                turn,
                turn + 1,
                Ordering::Acquire,
                Ordering::Acquire,
            );
            match taken {
                Ok(_) => return Some(next as usize),
                Err(now) => turn = now,
            }
        }
    }

    /// Does parts of calls until the run is over.
    fn help(&self) {
        if !self.over.load(Ordering::Acquire) {
            processor::leave(self.caller);
        }
        let mut patience = Patience::default();
        while !self.over.load(Ordering::Acquire) {
            let Some(part) = self.take() else {
                patience.wait();
                continue;
            };
            // SAFETY: `run` stored the pointer before the turn that the part was taken from, and
            // ends, and with it what it points to, only when all parts are done: not before `done`
            // goes. No turn comes twice, so the part is of the call that the pointer is of.
            let work = unsafe { *self.work.load(Ordering::Relaxed) };
            let done = Done(&self.done);
            work(part);
            drop(done);
            patience = Patience::default();
        }
    }
}

/// A part that is done when this goes, also if it panics.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// A call that ends, also if one of its parts panics, when all of its parts are done.
struct All<'a> {
    done: &'a AtomicUsize,
    parts: usize,
}

impl Drop for All<'_> {
    fn drop(&mut self) {
        // Parts that nobody took are not done: the caller takes all that are left, or panics.
        let mut patience = Patience::default();
        while self.done.load(Ordering::Acquire) < self.parts {
            patience.wait();
        }
    }
}

/// Waits for something that comes soon as a rule: without giving the processor away at first, then
/// letting others run, at last asleep.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    /// About 100 microseconds; Miri runs one thread at a time.
    const SPINS: u32 = if cfg!(miri) { 0 } else { 50_000 };
    /// Hypervisors take many pauses that follow each other for a lock held by somebody who sleeps,
    /// and give the processor away for some 20 microseconds.
    const BETWEEN_PAUSES: u32 = 64;
    /// About a millisecond where nothing else wants to run.
    const YIELDS: u32 = if cfg!(miri) { 20 } else { 2_000 };
    const NAP: Duration = Duration::from_micros(50);

    fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 {
            count if count <= Self::SPINS => {
                if count.is_multiple_of(Self::BETWEEN_PAUSES) {
                    std::hint::spin_loop();
                }
            }
            count if count <= Self::SPINS + Self::YIELDS => std::thread::yield_now(),
            _ => std::thread::sleep(Self::NAP),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Team;

    /// How often to try: Miri runs a thousand times slower.
    const fn times(usual: usize) -> usize {
        if cfg!(miri) { usual.div_ceil(100) } else { usual }
    }

    /// Each part of each call is done once, before the next call begins.
    #[test]
    fn every_part_is_done_once() {
        for threads in [1, 2, 3, 8] {
            let mut team = Team::of(threads);
            for call in 0..times(2_000) {
                let parts = 1 + call % 9;
                let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
                team.run(parts, &|part| {
                    counts[part].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        }
    }

    /// Teams that want the same threads do not wait for each other.
    #[test]
    fn teams_beside_each_other_end() {
        let total = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..times(50) {
                        let mut team = Team::of(4);
                        (0..20).for_each(|_| {
                            team.run(5, &|part| {
                                total.fetch_add(part, Ordering::Relaxed);
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(total.load(Ordering::Relaxed), 6 * times(50) * 20 * 10);
    }

    /// A run within a pool of its own, all of whose threads are taken.
    #[test]
    fn a_full_pool_leaves_the_caller_alone() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let sum = AtomicUsize::new(0);
        pool.install(|| {
            let mut team = Team::of(2);
            team.run(4, &|part| {
                sum.fetch_add(part + 1, Ordering::Relaxed);
            });
        });
        assert_eq!(sum.load(Ordering::Relaxed), 10);
    }
}
