//! How far an optimisation is, for whoever watches from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tangram_saturate as saturate;

/// Counters that grow while a driver works; reading them costs nothing and stops nothing.
#[derive(Debug, Default)]
pub struct Progress {
    operations: AtomicU64,
    visits: AtomicU64,
    rewrites: AtomicU64,
    pub(crate) saturation: Arc<saturate::Progress>,
}

impl Progress {
    /// The operations that the program had at the start; 0 until that is known.
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// How often an operation was looked at. At the end at least the number of operations: each
    /// is looked at once, and again when something changed around it.
    pub fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }

    /// How many rewrites there were.
    pub fn rewrites(&self) -> u64 {
        self.rewrites.load(Ordering::Relaxed)
    }

    /// How far the saturation is, if there is one.
    pub fn saturation(&self) -> &saturate::Progress {
        &self.saturation
    }

    pub(crate) fn start(&self, operations: u64) {
        self.operations.store(operations, Ordering::Relaxed);
    }

    pub(crate) fn visit(&self) {
        self.visits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rewrite(&self) {
        self.rewrites.fetch_add(1, Ordering::Relaxed);
    }
}
