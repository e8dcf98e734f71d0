//! Attributes of the standard as parameters of kernels.

use tangram_tensor::attention::{AttentionMask, AttentionParams, ScoreStage, Windows};
use tangram_tensor::image::*;
use tangram_tensor::linear::{AutoPad, PoolParams, StorageOrder, WindowParams};
use tangram_tensor::loss::Reduction;
use tangram_tensor::quant::QuantizeParams;
use tangram_tensor::recurrent::{Activation, Direction, LstmOperands, Operands, RecurrentParams};
use tangram_tensor::{DType, Result, Tensor};

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

/// The element types by the standard's numbers.
pub fn dtype_attr(case: &Case, name: &str) -> Option<DType> {
    Some(match case.int(name, 0) {
        0 => return None,
        1 => DType::F32,
        2 => DType::U8,
        3 => DType::I8,
        4 => DType::U16,
        5 => DType::I16,
        10 => DType::F16,
        11 => DType::F64,
        16 => DType::BF16,
        17 => DType::F8E4M3FN,
        18 => DType::F8E4M3FNUZ,
        19 => DType::F8E5M2,
        20 => DType::F8E5M2FNUZ,
        21 => DType::U4,
        22 => DType::I4,
        23 => DType::F4E2M1,
        25 => DType::U2,
        26 => DType::I2,
        other => panic!("element type {other}"),
    })
}

pub fn quantize(case: &Case) -> QuantizeParams {
    QuantizeParams {
        axis: case.int("axis", 1),
        block_size: case.int("block_size", 0) as usize,
        saturate: case.int("saturate", 1) != 0,
        output: dtype_attr(case, "output_dtype"),
        precision: dtype_attr(case, "precision"),
    }
}

pub fn layer(case: &Case) -> Operands<'_> {
    Operands {
        x: case.input(0),
        w: case.input(1),
        r: case.input(2),
        bias: case.get(3),
        sequence_lens: case.get(4),
        initial_h: case.get(5),
    }
}

pub fn lstm_operands(case: &Case) -> LstmOperands<'_> {
    LstmOperands {
        initial_c: case.get(6),
        peepholes: case.get(7),
        input_forget: case.flag("input_forget"),
    }
}

pub fn recurrence(case: &Case) -> RecurrentParams {
    let names = case.texts("activations");
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let (alphas, betas) = (case.floats("activation_alpha"), case.floats("activation_beta"));
    RecurrentParams {
        direction: match case.text("direction", "forward") {
            "forward" => Direction::Forward,
            "reverse" => Direction::Reverse,
            "bidirectional" => Direction::Bidirectional,
            other => panic!("direction {other}"),
        },
        activations: Activation::parse_list(&names, &alphas, &betas).unwrap(),
        clip: case.has("clip").then(|| case.float("clip", 0.0)),
        batch_first: case.flag("layout"),
    }
}

pub fn resizing(case: &Case) -> ResizeParams {
    ResizeParams {
        mode: match case.text("mode", "nearest") {
            "nearest" => ResizeMode::Nearest,
            "linear" => ResizeMode::Linear,
            "cubic" => ResizeMode::Cubic { a: case.float("cubic_coeff_a", -0.75) },
            other => panic!("mode {other}"),
        },
        nearest: match case.text("nearest_mode", "round_prefer_floor") {
            "round_prefer_floor" => NearestMode::RoundPreferFloor,
            "round_prefer_ceil" => NearestMode::RoundPreferCeil,
            "floor" => NearestMode::Floor,
            "ceil" => NearestMode::Ceil,
            other => panic!("nearest_mode {other}"),
        },
        transform: match case.text("coordinate_transformation_mode", "half_pixel") {
            "half_pixel" => CoordinateTransform::HalfPixel,
            "half_pixel_symmetric" => CoordinateTransform::HalfPixelSymmetric,
            "pytorch_half_pixel" => CoordinateTransform::PytorchHalfPixel,
            "align_corners" => CoordinateTransform::AlignCorners,
            "asymmetric" => CoordinateTransform::Asymmetric,
            "tf_crop_and_resize" => CoordinateTransform::TfCropAndResize,
            other => panic!("coordinate_transformation_mode {other}"),
        },
        policy: match case.text("keep_aspect_ratio_policy", "stretch") {
            "stretch" => AspectPolicy::Stretch,
            "not_larger" => AspectPolicy::NotLarger,
            "not_smaller" => AspectPolicy::NotSmaller,
            other => panic!("keep_aspect_ratio_policy {other}"),
        },
        axes: case.has("axes").then(|| case.ints("axes")),
        roi: case.get(1).map(|roi| roi.f64s().unwrap()).unwrap_or_default(),
        antialias: case.flag("antialias"),
        exclude_outside: case.flag("exclude_outside"),
        extrapolation_value: case.float("extrapolation_value", 0.0),
    }
}

pub fn with_target(
    case: &Case,
    body: impl FnOnce(ResizeTarget<'_>) -> Result<Tensor>,
) -> Result<Tensor> {
    match case.get(2).filter(|scales| !scales.is_empty()) {
        Some(scales) => body(ResizeTarget::Scales(&scales.to_vec::<f32>().unwrap())),
        None => {
            let sizes = case.input(3).i64s().unwrap();
            body(ResizeTarget::Sizes(&sizes.iter().map(|&n| n as usize).collect::<Vec<_>>()))
        }
    }
}

pub fn grid(case: &Case) -> GridParams {
    GridParams {
        mode: match case.text("mode", "linear") {
            "linear" | "bilinear" => GridMode::Linear,
            "nearest" => GridMode::Nearest,
            "cubic" | "bicubic" => GridMode::Cubic,
            other => panic!("mode {other}"),
        },
        padding: match case.text("padding_mode", "zeros") {
            "zeros" => GridPadding::Zeros,
            "border" => GridPadding::Border,
            "reflection" => GridPadding::Reflection,
            other => panic!("padding_mode {other}"),
        },
        align_corners: case.flag("align_corners"),
    }
}

pub fn roi(case: &Case) -> RoiAlignParams {
    RoiAlignParams {
        output_height: case.int("output_height", 1) as usize,
        output_width: case.int("output_width", 1) as usize,
        sampling_ratio: case.int("sampling_ratio", 0) as usize,
        spatial_scale: case.float("spatial_scale", 1.0),
        mode: if case.text("mode", "avg") == "max" { RoiMode::Max } else { RoiMode::Avg },
        half_pixel: case.text("coordinate_transformation_mode", "half_pixel") == "half_pixel",
    }
}

pub fn nms(case: &Case) -> NmsParams {
    let number = |index: usize| case.get(index).and_then(|t| t.f64s().unwrap().first().copied());
    NmsParams {
        max_boxes_per_class: case.scalar(2).unwrap_or(0).max(0) as usize,
        iou_threshold: number(3).unwrap_or(0.0),
        score_threshold: number(4),
        center_point_box: case.flag("center_point_box"),
    }
}

pub fn mask(case: &Case) -> AttentionMask<'_> {
    let window = |name: &str| usize::try_from(case.int(name, -1)).ok();
    AttentionMask {
        mask: case.get(3),
        causal: case.flag("is_causal"),
        windows: Windows { left: window("left_window_size"), right: window("right_window_size") },
        valid_keys: case.get(6),
    }
}

pub fn attending(case: &Case) -> AttentionParams {
    let heads = |name: &str| case.has(name).then(|| case.int(name, 0) as usize);
    AttentionParams {
        scale: case.has("scale").then(|| case.float("scale", 1.0)),
        softcap: case.float("softcap", 0.0),
        q_heads: heads("q_num_heads"),
        kv_heads: heads("kv_num_heads"),
        stage: match case.int("qk_matmul_output_mode", 0) {
            0 => ScoreStage::Raw,
            1 => ScoreStage::Capped,
            2 => ScoreStage::Masked,
            3 => ScoreStage::Softmax,
            other => panic!("qk_matmul_output_mode {other}"),
        },
    }
}

pub fn reduction(case: &Case) -> Reduction {
    match case.text("reduction", "mean") {
        "none" => Reduction::None,
        "mean" => Reduction::Mean,
        "sum" => Reduction::Sum,
        other => panic!("reduction {other}"),
    }
}
