//! Word of what is done while a session is made: a first start takes seconds.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tangram_lowering::Texts;

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Functions that were written.
    pub written: usize,
    /// Files that were built.
    pub built: usize,
    /// Files that are to be built; 0 while functions are written.
    pub files: usize,
}

/// Who is told. Two are equal if they are one.
#[derive(Clone)]
pub struct Notice(Arc<dyn Fn(Progress) + Send + Sync>);

impl Notice {
    /// Tells `hear`, from whatever thread something is done on.
    pub fn new(hear: impl Fn(Progress) + Send + Sync + 'static) -> Notice {
        Notice(Arc::new(hear))
    }

    pub(crate) fn tell(&self, progress: Progress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notice")
    }
}

impl PartialEq for Notice {
    fn eq(&self, other: &Notice) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Notice {}

/// Texts of functions as `inner` keeps them; who listens hears of each that was written.
#[derive(Debug)]
pub(crate) struct Telling<T> {
    pub inner: T,
    pub notice: Notice,
    pub written: AtomicUsize,
}

impl<T: Texts> Texts for Telling<T> {
    fn find(&self, key: &str) -> Option<String> {
        self.inner.find(key)
    }

    fn keep(&self, key: &str, text: &str) {
        self.inner.keep(key, text);
        let written = 1 + self.written.fetch_add(1, Ordering::Relaxed);
        self.notice.tell(Progress { written, ..Progress::default() });
    }
}
