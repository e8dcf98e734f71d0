//! Kernels over images: resizing, sampling, regions, patches, boxes.
//!
//! The layout is `NCHW`: batch, channels, then the spatial dimensions. Coordinates and weights
//! are computed in `f64`, and results round once.

mod col2im;
mod crop_pad;
mod filter;
mod grid_sample;
mod nms;
mod resize;
mod roi;
mod unpool;

pub use col2im::col2im;
pub use crop_pad::center_crop_pad;
pub use filter::{NearestMode, ResizeMode};
pub use grid_sample::{GridMode, GridPadding, GridParams, affine_grid, grid_sample};
pub use nms::{NmsParams, non_max_suppression};
pub use resize::{AspectPolicy, CoordinateTransform, ResizeParams, ResizeTarget, resize, upsample};
pub use roi::{RoiAlignParams, RoiMode, max_roi_pool, roi_align};
pub use unpool::max_unpool;
