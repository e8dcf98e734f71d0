//! Kernels that move, repeat and select elements without computing with them.

mod arrange;
mod concat;
mod create;
mod pad;
mod slice;

pub use arrange::DepthMode;
pub use arrange::{
    broadcast_to, depth_to_space, expand_dims, flatten, reshape, space_to_depth, squeeze, tile,
    transpose,
};
pub use concat::{compress, concatenate, reverse_sequence};
pub use create::{arange, eye_like, full, one_hot, shape_of, size_of, trilu};
pub use pad::{PadMode, pad};
pub use slice::{flip, split, split_equal, strided_slice};
