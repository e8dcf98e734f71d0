//! The allocator of the command: the system's, which tells of memory that it does not give.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. What it does not give is noted, so that an end for lack of memory is told
/// from a defect.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

fn noted(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        tangram_files::memory_ended();
    }
    pointer
}

// SAFETY: everything is the system's allocator; a note beside it allocates nothing.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of the system's allocator; so in all of these.
        noted(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        noted(unsafe { System.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
