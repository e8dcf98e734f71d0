//! A source as several files, which compilers take at the same time.
//!
//! Where a source is cut depends on its text alone, so that code is the same bits on machines with
//! more or fewer processors: what a compiler inlines depends on what stands in a file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tangram_lowering::FUNCTION_START;

use crate::error::CompileError;

/// Functions of about so many bytes share a file: compilers take a second for them, and a twentieth
/// for what stands in front.
const SIZE: usize = 64 * 1024;

/// Cuts a source between functions; each part has what stands before the first of them.
pub(crate) fn of(source: &str) -> Vec<String> {
    let starts: Vec<usize> = source.match_indices(FUNCTION_START).map(|(at, _)| at).collect();
    let Some(&first) = starts.first() else { return vec![source.to_owned()] };
    let (head, mut cuts) = (&source[..first], vec![first]);
    let ends = starts[1..].iter().copied().chain([source.len()]);
    for (start, end) in starts.iter().zip(ends) {
        let since = cuts.last().copied().unwrap_or(first);
        if *start > since && end - since > SIZE {
            cuts.push(*start);
        }
    }
    let ends = cuts[1..].iter().copied().chain([source.len()]);
    cuts.iter().zip(ends).map(|(start, end)| format!("{head}{}", &source[*start..end])).collect()
}

/// Calls `make` for each number below `count`, on as many threads as there are processors.
///
/// # Errors
/// The first error that there was.
pub(crate) fn each(
    count: usize,
    make: impl Fn(usize) -> Result<PathBuf, CompileError> + Sync,
) -> Result<Vec<PathBuf>, CompileError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let one = make(at);
            if one.is_err() {
                // The others need not begin.
                next.store(count, Ordering::Relaxed);
            }
            made.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::{FUNCTION_START, SIZE, of};

    #[test]
    fn parts_are_whole_functions_and_all_of_them() {
        let function =
            |at: usize, size: usize| format!("{FUNCTION_START}f{at} {}", "x".repeat(size));
        let sizes = [10, SIZE / 2, SIZE / 3, SIZE / 3, 3 * SIZE, 20, SIZE, 5];
        let functions: Vec<String> =
            sizes.iter().enumerate().map(|(at, size)| function(at, *size)).collect();
        let parts = of(&format!("head{}", functions.concat()));
        assert!(parts.len() > 3, "{}", parts.len());
        let bodies: Vec<&str> = parts.iter().map(|part| &part["head".len()..]).collect();
        assert_eq!(bodies.concat(), functions.concat());
        assert!(parts.iter().all(|part| part.starts_with(&format!("head{FUNCTION_START}"))));
        // Only a function that is too long by itself makes a part longer.
        for body in bodies.iter().filter(|body| body.len() > SIZE) {
            assert_eq!(body.matches(FUNCTION_START).count(), 1);
        }
    }

    #[test]
    fn short_sources_stay_whole() {
        for source in ["", "int x;\n", "head\nTANGRAM_HOT int f(void)\n{\n}\n"] {
            assert_eq!(of(source), [source]);
        }
    }
}
