//! The weights of a program in one file: each content once, whoever needs it.
//!
//! Layers that share weights pack them alike, and so do constants that an exporter wrote several
//! times. Content decides, not names: equal bytes lie in one place.

use bytes::Bytes;
use rustc_hash::FxHashMap;
use tangram_tensor::Tensor;
use twox_hash::XxHash3_128;

use crate::memory::ALIGNMENT;

/// Contents below this are not worth a search.
const LEAST: usize = 64;

/// Bytes by their content.
#[derive(Default)]
pub(crate) struct Pool {
    known: FxHashMap<u128, Bytes>,
}

impl Pool {
    /// `tensor` with the bytes of an equal one that was here before, if there was one.
    pub(crate) fn only(&mut self, tensor: Tensor) -> Tensor {
        let bytes = tensor.bytes();
        if bytes.len() < LEAST {
            return tensor;
        }
        let known = self.known.entry(XxHash3_128::oneshot(bytes)).or_insert_with(|| bytes.clone());
        if known != bytes || known.as_ptr() == bytes.as_ptr() {
            return tensor;
        }
        let shared = Tensor::from_bytes(tensor.dtype(), tensor.shape(), known.clone());
        shared.unwrap_or(tensor)
    }
}

/// Where in a file of weights the elements of each buffer are.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// For each buffer where its elements begin, if it has some.
    pub starts: Vec<Option<usize>>,
    /// The buffers whose elements are written, in order; those of others are equal.
    written: Vec<usize>,
    /// The bytes of the file.
    pub len: usize,
}

impl Places {
    /// Finds places for the tensors that `wanted` chooses.
    pub(crate) fn of(filled: &[Option<Tensor>], wanted: impl Fn(usize) -> bool) -> Places {
        let mut places = Places::default();
        let mut known: FxHashMap<(u128, usize), usize> = FxHashMap::default();
        for (buffer, tensor) in filled.iter().enumerate() {
            let Some(tensor) = tensor.as_ref().filter(|_| wanted(buffer)) else {
                places.starts.push(None);
                continue;
            };
            let bytes = tensor.bytes();
            let end = places.len;
            let start =
                *known.entry((XxHash3_128::oneshot(bytes), bytes.len())).or_insert_with(|| {
                    places.written.push(buffer);
                    places.len += bytes.len().next_multiple_of(ALIGNMENT);
                    end
                });
            places.starts.push(Some(start));
        }
        places
    }

    /// The parts of the file, each with what fills it up to a multiple of [`ALIGNMENT`].
    pub(crate) fn parts<'a>(
        &'a self,
        filled: &'a [Option<Tensor>],
    ) -> impl Iterator<Item = &'a [u8]> {
        const NOTHING: [u8; ALIGNMENT] = [0; ALIGNMENT];
        self.written.iter().filter_map(|&buffer| filled.get(buffer)?.as_ref()).flat_map(|tensor| {
            let len = tensor.byte_len();
            [&tensor.bytes()[..], &NOTHING[..len.next_multiple_of(ALIGNMENT) - len]]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> Option<Tensor> {
        Some(Tensor::vector(values.to_vec()))
    }

    #[test]
    fn equal_contents_have_one_place_and_the_file_has_each_once() {
        let long: Vec<f32> = (0..40).map(|n| n as f32).collect();
        let filled =
            [tensor(&long), None, tensor(&[1.0]), tensor(&long), tensor(&[1.0]), tensor(&[2.0])];
        let places = Places::of(&filled, |buffer| buffer != 5);
        let starts = &places.starts;
        assert_eq!((starts[0], starts[2]), (starts[3], starts[4]));
        assert_ne!(starts[0], starts[2]);
        assert_eq!((starts[1], starts[5]), (None, None));
        let file: Vec<u8> = places.parts(&filled).flatten().copied().collect();
        assert_eq!(file.len(), places.len);
        assert_eq!(places.len, 160usize.next_multiple_of(ALIGNMENT) + ALIGNMENT);
        for (start, tensor) in places.starts.iter().zip(&filled) {
            if let (Some(start), Some(tensor)) = (start, tensor) {
                assert_eq!(&file[*start..*start + tensor.byte_len()], &tensor.bytes()[..]);
            }
        }
    }

    #[test]
    fn a_pool_gives_equal_tensors_the_same_bytes() {
        let mut pool = Pool::default();
        let values: Vec<f32> = (0..40).map(|n| n as f32).collect();
        let first = pool.only(Tensor::vector(values.clone()));
        let again = pool.only(Tensor::from_vec([4, 10], values).expect("fits"));
        assert_eq!(first.bytes().as_ptr(), again.bytes().as_ptr());
        assert_eq!(again.shape(), [4, 10]);
        let other = pool.only(Tensor::vector(vec![1.0f32; 40]));
        assert_ne!(first.bytes().as_ptr(), other.bytes().as_ptr());
    }
}
