//! How much memory a program takes, as the allocator sees it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tangram_ir::{Context, text};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does everything; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Functions of `each` sums of two values, `count` operations in all.
fn program(count: usize, each: usize) -> String {
    let mut source = String::new();
    for f in 0..count / each {
        source += &format!(
            "\"func.func\"() <{{sym_name = \"f{f}\", function_type = (i32) -> ()}}> ({{\n^bb0(%v0: \
             i32):\n"
        );
        for i in 1..each - 1 {
            let (a, b) = (i - 1, i / 2);
            source += &format!("  %v{i} = \"arith.addi\"(%v{a}, %v{b}) : (i32, i32) -> i32\n");
        }
        source += "  \"func.return\"() : () -> ()\n}) : () -> ()\n";
    }
    source
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn an_operation_takes_at_most_a_hundred_bytes() {
    for each in [50_000, 100] {
        let count = 100_000;
        let source = program(count, each);
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let module = text::parse(&source, "x", Context::new()).expect("a program");
        let (live, peak) = (LIVE.load(Relaxed) - before, PEAK.load(Relaxed) - before);
        let bytes = module.statistics().bytes as f64;
        let [live, peak, bytes] = [live as f64, peak as f64, bytes].map(|n| n / count as f64);
        println!("of {each}: {live:.0} bytes live, {peak:.0} at the peak, {bytes:.0} in use");
        assert!(bytes <= 100.0, "{bytes} bytes an operation are in use");
        // Arenas grow by doubling, so up to a half of them may wait to be filled.
        assert!(live <= 200.0, "{live} bytes an operation");
    }
}
