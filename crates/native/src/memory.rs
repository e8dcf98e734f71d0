//! Memory that starts on a line of cache.

use bytemuck::{Pod, Zeroable};
use bytes::Bytes;
use memmap2::MmapMut;
use tangram_tensor::{Tensor, budget};

use crate::shared::Shared;

/// What every block of memory is aligned to, in bytes: a line of cache, and the widest vector.
pub(crate) const ALIGNMENT: usize = 64;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; ALIGNMENT]);

/// Blocks from here on are pages of their own: the system's are zero when they are touched first, and
/// may be large ones, which take one fault for what small ones take 512 for.
const PAGES: usize = 2 << 20;

/// A block of aligned memory, zero at first.
pub(crate) struct Block {
    memory: Memory,
    len: usize,
}

enum Memory {
    Lines(Vec<Line>),
    Pages(MmapMut),
    /// Of a caller as well.
    Shared(Shared),
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Memory::Lines(lines) => bytemuck::cast_slice(lines),
            Memory::Pages(pages) => pages,
            Memory::Shared(shared) => shared.as_slice(),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Lines(lines) => bytemuck::cast_slice_mut(lines),
            Memory::Pages(pages) => pages,
            Memory::Shared(shared) => shared.as_slice_mut(),
        }
    }
}

impl Block {
    /// Allocates `len` bytes; `None` where there are not as many.
    pub(crate) fn zeroed(len: usize) -> Option<Block> {
        budget::ask(len).ok()?;
        if len >= PAGES {
            let pages = MmapMut::map_anon(len).ok()?;
            // Where there are no large pages, small ones do; Miri takes no advice.
            #[cfg(all(target_os = "linux", not(miri)))]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Some(Block { memory: Memory::Pages(pages), len });
        }
        let lines = bytemuck::allocation::try_zeroed_slice_box(len.div_ceil(ALIGNMENT)).ok()?;
        Some(Block { memory: Memory::Lines(lines.into_vec()), len })
    }

    /// A block that a caller sees as well.
    pub(crate) fn shared(shared: Shared) -> Block {
        Block { len: shared.len(), memory: Memory::Shared(shared) }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory.bytes()[..self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory.bytes_mut()[..self.len]
    }

    /// Lends the bytes without copying them.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.memory {
            Memory::Shared(shared) => shared.bytes(),
            _ if self.len == 0 => Bytes::new(),
            _ => Bytes::from_owner(self),
        }
    }

    /// The memory that a caller sees as well, if it is such.
    pub(crate) fn as_shared(&self) -> Option<&Shared> {
        match &self.memory {
            Memory::Shared(shared) => Some(shared),
            _ => None,
        }
    }
}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Appends the bytes of `tensor` to bytes of others, and fills them up to a multiple of [`ALIGNMENT`].
pub(crate) fn append(bytes: &mut Vec<u8>, tensor: &Tensor) {
    bytes.extend_from_slice(tensor.bytes());
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

/// `tensor` with its bytes at a multiple of `alignment`: itself, or a copy where it lies otherwise.
/// `None` without memory for the copy. Text stays as it is.
pub(crate) fn aligned(tensor: &Tensor, alignment: usize) -> Option<Tensor> {
    let bytes = tensor.bytes();
    if bytes.is_empty() || bytes.as_ptr().addr().is_multiple_of(alignment) {
        return Some(tensor.clone());
    }
    let mut block = Block::zeroed(bytes.len())?;
    block.bytes_mut().copy_from_slice(bytes);
    Tensor::from_bytes(tensor.dtype(), tensor.shape(), block.into_bytes()).ok()
}

/// `tensor` with its elements aligned as C wants them; `None` without memory for a copy.
pub(crate) fn readable(tensor: &Tensor) -> Option<Tensor> {
    // A complex number is two of its parts.
    let size = tensor.dtype().size_bits() / 8;
    aligned(tensor, size.clamp(1, 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_start_on_a_line_and_copies_keep_their_bytes() {
        for len in [0, 1, 63, 64, 65, 1000, PAGES, PAGES + 1] {
            let mut block = Block::zeroed(len).expect("little memory");
            assert_eq!((block.len(), block.bytes().len()), (len, len));
            assert!(block.bytes_mut() == vec![0; len]);
            assert!(block.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
        }
        let bytes = Bytes::from((0..41u8).collect::<Vec<u8>>());
        for start in 0..9 {
            let odd = bytes.slice(start..start + 32);
            let tensor = Tensor::from_bytes(tangram_tensor::DType::F32, [8], odd).expect("fits");
            let even = aligned(&tensor, ALIGNMENT).expect("little memory");
            assert!(even.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
            assert_eq!(even, tensor);
        }
    }
}
