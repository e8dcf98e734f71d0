//! How large the tensors may be that kernels make.
//!
//! A few bytes can ask for any amount of memory: `ConstantOfShape([2^16, 2^16])`. No kernel makes
//! more than [`MAX_BYTES`]; whoever evaluates on a budget sets less for as long as that lasts.

use std::cell::Cell;

/// No kernel makes a tensor of more bytes than this: 16 GiB.
pub const MAX_BYTES: usize = 1 << 34;

thread_local! {
    static LIMIT: Cell<usize> = const { Cell::new(MAX_BYTES) };
}

/// The most bytes of a tensor that a kernel may make now, on this thread.
pub(crate) fn limit() -> usize {
    LIMIT.get()
}

/// Gives the old limit back, also when the work panics.
struct Restore(usize);

impl Drop for Restore {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Runs `work`; kernels on this thread make no tensor of more than `bytes` in it.
pub fn within<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(LIMIT.replace(bytes.min(limit())));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, checked_count};

    #[test]
    fn a_limit_lasts_as_long_as_the_work() {
        let fits = || checked_count(DType::F32, &[256]).is_ok();
        assert!(fits());
        assert!(!within(1023, fits));
        assert!(within(1024, fits));
        assert!(!within(1000, || within(1 << 30, fits)), "an inner limit is no way out");
        assert!(fits());
    }
}
