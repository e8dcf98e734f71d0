//! Kernels that read and write by index: gather, scatter, search, sort, accumulate.

mod accumulate;
mod gather;
mod scatter;
mod search;
mod sort;

pub use accumulate::{cumprod, cumsum};
pub use gather::{gather_elements, gather_nd, take};
pub use scatter::{Reduction, scatter_elements, scatter_nd, tensor_scatter};
pub use search::{argmax, argmin, nonzero};
pub use sort::{Unique, topk, unique};
