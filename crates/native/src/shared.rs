//! Memory that a session and its caller both see.
//!
//! A caller binds an array once, fills it again before each run, and finds results in another: so
//! inputs are read where they lie, and outputs are written to where the caller will read them.
//! Nothing here keeps the two apart in time: who shares memory with a session leaves it alone while
//! a run lasts.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use tangram_dialects::interpret::Datum;
use tangram_tensor::{DType, KernelError, Shape, Tensor};

use crate::memory::Block;

/// Bytes that lie where they are for as long as someone has a handle to them.
#[derive(Clone)]
pub struct Shared(Arc<Region>);

struct Region {
    start: *mut u8,
    len: usize,
    /// Whose the memory is.
    _owner: Option<Box<dyn Any + Send + Sync>>,
}

// SAFETY: the memory lives as long as its owner, which is `Send` and `Sync`; that nobody writes to
// it while another reads it is what `Shared::of` asks of its caller.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Shared {
    /// Allocates `len` bytes of zero, on a line of cache; `None` where there are not as many.
    pub fn zeroed(len: usize) -> Option<Shared> {
        Shared::of_block(len, Block::zeroed(len)?, |block| Box::new(block))
    }

    /// The first `len` bytes of `block`, which belongs to what `owner` makes of it; `None` where it has
    /// fewer.
    pub(crate) fn of_block(
        len: usize,
        mut block: Block,
        owner: impl FnOnce(Block) -> Box<dyn Any + Send + Sync>,
    ) -> Option<Shared> {
        // A block has its bytes elsewhere: they stay where they are when it moves.
        let start = block.bytes_mut().get_mut(..len)?.as_mut_ptr();
        Some(Shared(Arc::new(Region { start, len, _owner: Some(owner(block)) })))
    }

    /// Copies bytes; `None` where there is no memory for them.
    pub fn copied(bytes: &[u8]) -> Option<Shared> {
        let copy = Shared::zeroed(bytes.len())?;
        copy.write(bytes);
        Some(copy)
    }

    /// Shares `len` bytes from `start` on with whoever they belong to.
    ///
    /// # Safety
    /// `start` is that of as many bytes, which may be read, and written if this is ever written to, for
    /// as long as `owner` lives (for as long as a handle to them does, if there is none). Nobody
    /// writes to them while a run has them, and nobody reads them while a run writes to them. The owner is
    /// no `Box` of the bytes themselves: whoever moves one says that nobody else has a pointer to them.
    pub unsafe fn of(
        start: *mut u8,
        len: usize,
        owner: Option<Box<dyn Any + Send + Sync>>,
    ) -> Shared {
        // Of nothing there may be no address.
        let start = if len == 0 { std::ptr::NonNull::dangling().as_ptr() } else { start };
        Shared(Arc::new(Region { start, len, _owner: owner }))
    }

    /// Where the bytes begin.
    pub fn start(&self) -> *mut u8 {
        self.0.start
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "a number of bytes, not of items")]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Lends the bytes without copying them. To Rust they are as they were lent: after a write, lend again.
    pub fn bytes(&self) -> Bytes {
        if self.len() == 0 { Bytes::new() } else { Bytes::from_owner(Reading(self.clone())) }
    }

    /// Copies `bytes` here, as many as there is room for; they may be a part of what is here.
    pub fn write(&self, bytes: &[u8]) {
        let len = bytes.len().min(self.len());
        // SAFETY: both are of as many bytes; that nobody else writes or reads is the promise of `of`.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.start(), len) }
    }

    /// The tensor of these bytes.
    ///
    /// # Errors
    /// [`KernelError`]: they are not as many as such a tensor has.
    pub fn tensor(&self, element: DType, shape: &[usize]) -> Result<Tensor, KernelError> {
        Tensor::from_bytes(element, shape, self.bytes())
    }

    /// Whether one of `bytes` is here.
    pub(crate) fn overlaps(&self, bytes: &[u8]) -> bool {
        let (ours, theirs) = (self.start().addr(), bytes.as_ptr().addr());
        ours < theirs + bytes.len() && theirs < ours + self.len()
    }

    /// Whether these are `bytes`.
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        self.len() == bytes.len() && std::ptr::eq(self.start(), bytes.as_ptr())
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the bytes are there for as long as the handle is: the promise of `of`.
        unsafe { std::slice::from_raw_parts(self.start(), self.len()) }
    }

    /// The bytes, to be written by a run that has them for itself.
    pub(crate) fn as_slice_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; that a run which writes has them for itself is the promise of `of`.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len()) }
    }
}

struct Reading(Shared);

impl AsRef<[u8]> for Reading {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Where a caller wants an output.
#[derive(Clone)]
pub struct Target {
    /// The memory, of as many bytes as the tensor has.
    pub memory: Shared,
    /// The type of its elements.
    pub element: DType,
    /// Its extents.
    pub shape: Shape,
}

/// An output of a run.
pub struct Output {
    /// Its value.
    pub datum: Datum,
    /// Its memory, where that is all of a tensor, and nobody else's.
    pub memory: Option<Shared>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_seen_by_both_and_outlives_its_first_handle() {
        let mut owned = vec![1u8, 2, 3, 4];
        let start = owned.as_mut_ptr();
        // SAFETY: the vector is the owner, and nobody else has it.
        let shared = unsafe { Shared::of(start, 4, Some(Box::new(owned))) };
        let tensor = shared.tensor(DType::U8, &[4]).expect("four bytes");
        assert!(shared.is(tensor.bytes()) && shared.overlaps(&tensor.bytes()[1..2]));
        drop(tensor);
        shared.write(&[9, 8]);
        let again = shared.tensor(DType::U8, &[4]).expect("four bytes");
        assert_eq!(again.bytes()[..], [9, 8, 3, 4]);
        drop(shared);
        assert_eq!(again.bytes()[..], [9, 8, 3, 4]);
        assert!(Shared::zeroed(3).expect("memory").tensor(DType::U8, &[4]).is_err());
    }

    #[test]
    fn nothing_has_no_address_and_overlaps_nothing() {
        // SAFETY: of no bytes.
        let nothing = unsafe { Shared::of(std::ptr::null_mut(), 0, None) };
        let other = Shared::copied(&[1, 2]).expect("memory");
        assert!(nothing.bytes().is_empty() && nothing.as_slice().is_empty());
        assert!(!nothing.overlaps(other.as_slice()) && !other.overlaps(nothing.as_slice()));
        assert!(!other.overlaps(&[1, 2]));
    }
}
