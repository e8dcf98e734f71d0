//! Kernels that are linear in their data: convolutions, products, contractions; and pools, which
//! share the windows of convolutions.
//!
//! The layout of everything with windows is `NCHW`: batch, channels, then the spatial dimensions,
//! any number of them.

pub(crate) mod conv;
pub(crate) mod conv_transpose;
mod deform_conv;
mod det;
mod einsum;
mod gemm;
pub(crate) mod matmul;
mod pool;
pub(crate) mod product;
pub(crate) mod window;

pub use conv::conv;
pub use conv_transpose::{TransposeParams, conv_transpose};
pub use deform_conv::{DeformOperands, deform_conv};
pub use det::det;
pub use einsum::einsum;
pub use gemm::{GemmParams, gemm};
pub use matmul::matmul;
pub use pool::{
    PoolParams, StorageOrder, avg_pool, global_avg_pool, global_lp_pool, global_max_pool, lp_pool,
    max_pool,
};
pub use window::{AutoPad, WindowParams, resolve_auto_pad};
