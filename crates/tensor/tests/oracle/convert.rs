//! Attributes of the standard as parameters of kernels.

use tangram_tensor::linear::{AutoPad, PoolParams, StorageOrder, WindowParams};

use crate::case::Case;

pub fn window(case: &Case) -> WindowParams {
    WindowParams {
        strides: case.ints("strides"),
        dilations: case.ints("dilations"),
        pads: case.ints("pads"),
        auto_pad: match case.text("auto_pad", "NOTSET") {
            "NOTSET" => AutoPad::NotSet,
            "VALID" => AutoPad::Valid,
            "SAME_UPPER" => AutoPad::SameUpper,
            "SAME_LOWER" => AutoPad::SameLower,
            other => panic!("auto_pad {other}"),
        },
    }
}

pub fn pool(case: &Case) -> PoolParams {
    PoolParams {
        kernel: case.sizes("kernel_shape"),
        window: window(case),
        ceil_mode: case.flag("ceil_mode"),
    }
}

pub fn storage_order(case: &Case) -> StorageOrder {
    if case.flag("storage_order") { StorageOrder::ColumnMajor } else { StorageOrder::RowMajor }
}
