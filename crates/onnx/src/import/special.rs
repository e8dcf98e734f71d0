//! Operators whose conversion is more than renaming and defaults.

use tangram_dialects::constant;
use tangram_ir::{Attr, Dim, Value};

use super::attributes::{int, ints, text};
use super::node::{NodeCx, Opaque, Outputs};
use crate::error::Result;
use crate::operators::{self, AttrRow, Default, Kind};
use crate::types;

type Attrs = Vec<(&'static str, Attr)>;

/// Takes the value out of an `Outputs`, or returns why there is none.
macro_rules! take {
    ($outputs:expr) => {
        match $outputs {
            Ok(values) => values,
            Err(opaque) => return Ok(Err(opaque)),
        }
    };
}

impl NodeCx<'_> {
    /// Converts the operators that have no row, or need more than their row; `None` for others.
    pub(super) fn special(&mut self) -> Result<Option<Outputs>> {
        let outputs = match self.node.op_type() {
            "Conv" => self.conv("conv")?,
            "ConvTranspose" => self.conv("conv_transpose")?,
            "ConvInteger" | "QLinearConv" => self.integer_conv()?,
            "Gemm" => self.gemm()?,
            "MaxPool" => self.pool("max_pool")?,
            "AveragePool" => self.pool("avg_pool")?,
            "LpPool" => self.pool("lp_pool")?,
            "BatchNormalization" => self.batch_norm()?,
            "GroupNormalization" if self.version < 21 => Err(Opaque(String::new())),
            "Split" => self.split()?,
            "Slice" => self.slice()?,
            "Flatten" => self.flatten()?,
            "Softmax" => self.softmax("nn.softmax")?,
            "LogSoftmax" => self.softmax("nn.log_softmax")?,
            "Hardmax" => self.softmax("nn.hardmax")?,
            "Sum" => self.n_ary("nn.add", "nn.add_n")?,
            "Max" => self.n_ary("nn.maximum", "nn.max_n")?,
            "Min" => self.n_ary("nn.minimum", "nn.min_n")?,
            "Mean" => self.n_ary("", "nn.mean_n")?,
            "BitShift" => self.bit_shift(),
            "Dropout" => self.dropout()?,
            "Scatter" => self.by_name("ScatterElements")?,
            "Resize" | "Upsample" => self.resize()?,
            "RoiAlign" => self.roi_align()?,
            "GridSample" => self.grid_sample()?,
            "Optional" => self.optional()?,
            _ => return Ok(None),
        };
        Ok(Some(outputs))
    }

    fn by_name(&mut self, op_type: &str) -> Result<Outputs> {
        match operators::by_onnx("", op_type) {
            Some(row) => self.by_row(row),
            None => Ok(Err(Opaque(String::new()))),
        }
    }

    fn ints_attr(&self, values: &[i64]) -> Attr {
        self.importer.context.i64s_attr(values)
    }

    fn int_attr(&self, value: i64) -> Attr {
        self.importer.context.i64_attr(value)
    }

    fn flag_attr(&self, value: bool) -> Attr {
        self.importer.context.bool_attr(value)
    }

    fn text_of(&self, text: &str) -> Attr {
        self.importer.context.str_attr(text)
    }

    /// Number of spatial dimensions of a convolution or pooling, from weights, kernel or input.
    fn spatial(&self, weights: Option<Value>) -> Option<usize> {
        weights
            .and_then(|w| self.rank(w))
            .or_else(|| self.need(0).ok().and_then(|x| self.rank(x)))
            .and_then(|rank| rank.checked_sub(2))
            .or_else(|| ints(self.node, "kernel_shape").map(|k| k.len()))
    }

    /// `padding`, or `auto_pad` where it cannot be resolved without the extents.
    fn padding(&self, n: usize, kernel: Option<&[i64]>, attrs: &mut Attrs) {
        let list = |name: &str, fill: i64| ints(self.node, name).unwrap_or_else(|| vec![fill; n]);
        let mode = text(self.node, "auto_pad").unwrap_or("NOTSET");
        let pads = match mode {
            "NOTSET" => Some(ints(self.node, "pads").unwrap_or_else(|| vec![0; 2 * n])),
            "VALID" => Some(vec![0; 2 * n]),
            _ if self.node.op_type() == "ConvTranspose" => None,
            _ => kernel.and_then(|kernel| {
                let x = self.need(0).ok()?;
                let ty = self.module().value_type(x);
                let (dims, _) = self.importer.context.as_tensor(ty)?;
                let lists = [kernel.to_vec(), list("strides", 1), list("dilations", 1)];
                same_padding(dims.get(2..)?, &lists, mode == "SAME_UPPER")
            }),
        };
        match pads {
            Some(pads) => attrs.push(("padding", self.ints_attr(&pads))),
            None => attrs.push(("auto_pad", self.text_of(mode))),
        }
    }

    fn conv(&mut self, stem: &str) -> Result<Outputs> {
        let (x, w) = (take!(self.need(0)), take!(self.need(1)));
        let n = self.spatial(Some(w));
        let transposed = stem == "conv_transpose";
        let name = match (n, transposed) {
            (Some(n @ 1..=3), false) => format!("nn.conv{n}d"),
            (Some(n @ 1..=3), true) => format!("nn.conv{n}d_transpose"),
            _ => format!("nn.{stem}"),
        };
        let Some(n) = n else { return Ok(Err(Opaque("the rank is unknown".into()))) };
        let list = |name: &str| ints(self.node, name).unwrap_or_else(|| vec![1; n]);
        let kernel = self.static_shape(w).and_then(|shape| shape.get(2..).map(<[i64]>::to_vec));
        let mut attrs: Attrs = vec![
            ("strides", self.ints_attr(&list("strides"))),
            ("dilation", self.ints_attr(&list("dilations"))),
            ("groups", self.int_attr(int(self.node, "group").unwrap_or(1))),
        ];
        self.padding(n, kernel.as_deref(), &mut attrs);
        if transposed {
            for name in ["output_padding", "output_shape"] {
                if let Some(list) = ints(self.node, name) {
                    attrs.push((name, self.ints_attr(&list)));
                }
            }
        }
        let out = take!(self.simple(&name, &[x, w], attrs));
        let Ok(bias) = self.need(2) else { return Ok(Ok(out)) };
        let axis = ("axis", self.int_attr(1));
        Ok(self.simple("nn.bias_add", &[out[0], bias], vec![axis]))
    }

    fn integer_conv(&mut self) -> Result<Outputs> {
        let quantised = self.node.op_type() == "QLinearConv";
        let w = take!(self.need(if quantised { 3 } else { 1 }));
        let Some(n) = self.spatial(Some(w)) else {
            return Ok(Err(Opaque("the rank is unknown".into())));
        };
        let list = |name: &str| ints(self.node, name).unwrap_or_else(|| vec![1; n]);
        let kernel = self.static_shape(w).and_then(|shape| shape.get(2..).map(<[i64]>::to_vec));
        let mut attrs: Attrs = vec![
            ("strides", self.ints_attr(&list("strides"))),
            ("dilation", self.ints_attr(&list("dilations"))),
            ("groups", self.int_attr(int(self.node, "group").unwrap_or(1))),
        ];
        self.padding(n, kernel.as_deref(), &mut attrs);
        let name = if quantised { "nn.qlinear_conv" } else { "nn.conv_integer" };
        self.op_with(name, attrs, Vec::new(), 1)
    }

    fn gemm(&mut self) -> Result<Outputs> {
        let (a, b) = (take!(self.need(0)), take!(self.need(1)));
        let float = |name: &str| super::attributes::find(self.node, name).map_or(1.0, |a| a.f());
        let flag = |name: &str| int(self.node, name).unwrap_or(0) != 0;
        let bias = self.need(2).ok();
        let plain = float("alpha") == 1.0
            && (bias.is_none() || float("beta") == 1.0)
            && !flag("transA")
            && self.rank(a) == Some(2)
            && self.rank(b) == Some(2);
        if !plain {
            let rows = [
                AttrRow {
                    onnx: "alpha",
                    nn: "alpha",
                    kind: Kind::Float,
                    default: Default::Float(1.0),
                },
                AttrRow {
                    onnx: "beta",
                    nn: "beta",
                    kind: Kind::Float,
                    default: Default::Float(1.0),
                },
                AttrRow {
                    onnx: "transA",
                    nn: "transpose_a",
                    kind: Kind::Flag,
                    default: Default::Int(0),
                },
                AttrRow {
                    onnx: "transB",
                    nn: "transpose_b",
                    kind: Kind::Flag,
                    default: Default::Int(0),
                },
            ];
            let attrs = self.attrs_by(&rows)?;
            return self.op_with("nn.gemm", attrs, Vec::new(), 1);
        }
        let name = if flag("transB") { "nn.dense" } else { "nn.matmul" };
        let out = take!(self.simple(name, &[a, b], Vec::new()));
        let Some(bias) = bias else { return Ok(Ok(out)) };
        if self.is_row_bias(out[0], bias) {
            let axis = ("axis", self.int_attr(1));
            return Ok(self.simple("nn.bias_add", &[out[0], bias], vec![axis]));
        }
        Ok(self.simple("nn.add", &[out[0], bias], Vec::new()))
    }

    /// Says whether `bias` has rank 1 and an element for each column of the matrix `out`.
    fn is_row_bias(&self, out: Value, bias: Value) -> bool {
        let context = &self.importer.context;
        let dims = |v: Value| context.as_tensor(self.module().value_type(v)).map(|t| t.0);
        match (dims(out), dims(bias)) {
            (Some([_, columns]), Some([n])) => {
                use tangram_presburger::symbolic::Truth;
                tangram_dialects::dims::equal(context, *columns, *n) == Truth::True
            }
            _ => false,
        }
    }

    fn pool(&mut self, stem: &str) -> Result<Outputs> {
        let Some(kernel) = ints(self.node, "kernel_shape") else {
            return Ok(Err(Opaque("`kernel_shape` is absent".into())));
        };
        let n = kernel.len();
        let list = |name: &str| ints(self.node, name).unwrap_or_else(|| vec![1; n]);
        let flag = |name: &str| int(self.node, name).unwrap_or(0) != 0;
        let mut attrs: Attrs = vec![
            ("pool_size", self.ints_attr(&kernel)),
            ("strides", self.ints_attr(&list("strides"))),
            ("dilation", self.ints_attr(&list("dilations"))),
            ("ceil_mode", self.flag_attr(flag("ceil_mode"))),
        ];
        self.padding(n, Some(&kernel), &mut attrs);
        match stem {
            "avg_pool" => {
                attrs.push(("count_include_pad", self.flag_attr(flag("count_include_pad"))));
            }
            "lp_pool" => attrs.push(("p", self.int_attr(int(self.node, "p").unwrap_or(2)))),
            _ if int(self.node, "storage_order").unwrap_or(0) != 0 => {
                attrs.push(("storage_order", self.int_attr(1)));
            }
            _ => {}
        }
        let name = match (stem, n) {
            ("max_pool" | "avg_pool", 1..=3) => format!("nn.{stem}{n}d"),
            _ => format!("nn.{stem}"),
        };
        self.op_with(&name, attrs, Vec::new(), self.node.output.len())
    }

    fn batch_norm(&mut self) -> Result<Outputs> {
        let training = int(self.node, "training_mode").unwrap_or(0) != 0;
        if training && self.version >= 14 {
            let momentum = super::attributes::find(self.node, "momentum").map_or(0.9, |a| a.f());
            let context = &self.importer.context;
            let number = |f: f32| context.float_attr(f64::from(f), tangram_ir::FloatKind::F32);
            let epsilon = super::attributes::find(self.node, "epsilon").map_or(1e-5, |a| a.f());
            let attrs = vec![("epsilon", number(epsilon)), ("momentum", number(momentum))];
            let count = self.node.output.len();
            return self.op_with("nn.batch_norm_training", attrs, Vec::new(), count);
        }
        // Older sets say it by the number of outputs, and have a mode without channels.
        if training
            || int(self.node, "spatial").unwrap_or(1) == 0
            || self.node.output.iter().skip(1).any(|name| !name.is_empty())
        {
            return Ok(Err(Opaque(String::new())));
        }
        let row = AttrRow {
            onnx: "epsilon",
            nn: "epsilon",
            kind: Kind::Float,
            default: Default::Float(1e-5),
        };
        let attrs = self.attrs_by(&[row])?;
        self.op_with("nn.batch_norm", attrs, Vec::new(), 1)
    }

    fn split(&mut self) -> Result<Outputs> {
        let axis = int(self.node, "axis").unwrap_or(0);
        let mut attrs: Attrs = vec![("axis", self.int_attr(axis))];
        let count = self.node.output.len();
        let data = take!(self.need(0));
        let sizes = match ints(self.node, "split") {
            Some(sizes) => Some(sizes),
            None => match self.need(1) {
                Ok(split) => match constant::constant_tensor(self.module(), split) {
                    Some(tensor) => tensor.i64s().ok(),
                    None => {
                        return self.op_with("nn.split", attrs, Vec::new(), count);
                    }
                },
                Err(_) => None,
            },
        };
        self.inputs.truncate(1);
        attrs.push((
            "indices_or_sections",
            match &sizes {
                None => self.int_attr(count as i64),
                Some(sizes) if self.is_even(data, axis, sizes) => self.int_attr(count as i64),
                Some(sizes) => {
                    let mut start = 0i64;
                    let starts: Vec<i64> = sizes[..sizes.len().saturating_sub(1)]
                        .iter()
                        .map(|&n| {
                            start = start.saturating_add(n);
                            start
                        })
                        .collect();
                    self.ints_attr(&starts)
                }
            },
        ));
        self.op_with("nn.split", attrs, Vec::new(), count)
    }

    /// Says whether parts of these sizes are what a split into equal parts gives.
    fn is_even(&self, data: Value, axis: i64, sizes: &[i64]) -> bool {
        let Some((first, rest)) = sizes.split_first() else { return false };
        let ty = self.module().value_type(data);
        let total: i64 = sizes.iter().fold(0, |a, &b| a.saturating_add(b));
        let whole = self.importer.context.as_tensor(ty).is_some_and(|(dims, _)| {
            let at = if axis < 0 { axis + dims.len() as i64 } else { axis };
            usize::try_from(at).ok().and_then(|at| dims.get(at)) == Some(&Dim::fixed(total))
        });
        whole && rest.iter().all(|n| n == first)
    }

    fn slice(&mut self) -> Result<Outputs> {
        let lists = if self.version < 10 {
            [ints(self.node, "starts"), ints(self.node, "ends"), ints(self.node, "axes"), None]
        } else {
            let constant = |cx: &Self, i: usize| {
                let value = cx.inputs.get(i).copied().flatten()?;
                constant::constant_tensor(cx.module(), value)?.i64s().ok()
            };
            [1, 2, 3, 4].map(|i| constant(self, i))
        };
        let given = |cx: &Self, i: usize| cx.inputs.get(i).copied().flatten().is_some();
        let open = self.version >= 10 && (1..5).any(|i| given(self, i) && lists[i - 1].is_none());
        let [Some(begin), Some(end), axes, steps] = lists else {
            return self.op_with("nn.strided_slice", Vec::new(), Vec::new(), 1);
        };
        if open {
            return self.op_with("nn.strided_slice", Vec::new(), Vec::new(), 1);
        }
        self.inputs.truncate(1);
        let n = begin.len();
        let axes = axes.unwrap_or_else(|| (0..n as i64).collect());
        let steps = steps.unwrap_or_else(|| vec![1; n]);
        let attrs = vec![
            ("begin", self.ints_attr(&begin)),
            ("end", self.ints_attr(&end)),
            ("axes", self.ints_attr(&axes)),
            ("strides", self.ints_attr(&steps)),
        ];
        self.op_with("nn.strided_slice", attrs, Vec::new(), 1)
    }

    fn flatten(&mut self) -> Result<Outputs> {
        let x = take!(self.need(0));
        match int(self.node, "axis").unwrap_or(1) {
            1 => Ok(self.simple("nn.batch_flatten", &[x], Vec::new())),
            axis => {
                let attrs = vec![("axis", self.int_attr(axis))];
                Ok(self.simple("nn.flatten", &[x], attrs))
            }
        }
    }

    fn softmax(&mut self, name: &str) -> Result<Outputs> {
        let x = take!(self.need(0));
        let old = self.version < 13;
        let axis = int(self.node, "axis").unwrap_or(if old { 1 } else { -1 });
        let rank = self.rank(x).map(|rank| rank as i64);
        let last = axis == -1 || rank.is_some_and(|rank| axis == rank - 1);
        let mut attrs = vec![("axis", self.int_attr(if last { -1 } else { axis }))];
        if old && !last {
            attrs.push(("flatten", self.flag_attr(true)));
        }
        Ok(self.simple(name, &[x], attrs))
    }

    fn n_ary(&mut self, two: &str, many: &str) -> Result<Outputs> {
        let name = if self.inputs.len() == 2 && !two.is_empty() { two } else { many };
        self.op_with(name, Vec::new(), Vec::new(), 1)
    }

    fn bit_shift(&mut self) -> Outputs {
        let (a, b) = (self.need(0)?, self.need(1)?);
        match text(self.node, "direction") {
            Some("LEFT") => self.simple("nn.left_shift", &[a, b], Vec::new()),
            Some("RIGHT") => self.simple("nn.right_shift", &[a, b], Vec::new()),
            _ => Err(Opaque("the direction is neither LEFT nor RIGHT".into())),
        }
    }

    fn dropout(&mut self) -> Result<Outputs> {
        let constant = |cx: &Self, i: usize| {
            let value = cx.inputs.get(i).copied().flatten();
            value.map(|value| constant::constant_tensor(cx.module(), value))
        };
        // Before opset 7 a flag said so; from 12 on an input does, and its absence means inference.
        let training = match constant(self, 2) {
            None => false,
            Some(Some(tensor)) => !matches!(tensor.view::<bool>().ok().as_deref(), Some([false])),
            Some(None) => true,
        };
        if training {
            let others = self.others_but(&[])?;
            return self.op_with("nn.dropout_training", Vec::new(), others, self.node.output.len());
        }
        let rate = match constant(self, 1) {
            None => super::attributes::find(self.node, "ratio").map_or(0.5, |a| f64::from(a.f())),
            Some(Some(tensor)) => {
                tensor.f64s().ok().and_then(|f| f.first().copied()).unwrap_or(0.5)
            }
            Some(None) => return Ok(Err(Opaque(String::new()))),
        };
        self.inputs.truncate(1);
        let rate = self.importer.context.float_attr(rate, tangram_ir::FloatKind::F32);
        let count = self.node.output.len();
        self.op_with("nn.dropout", vec![("rate", rate)], Vec::new(), count)
    }

    fn resize(&mut self) -> Result<Outputs> {
        let upsample = self.node.op_type() == "Upsample";
        let old = upsample || self.version < 11;
        let mode = text(self.node, "mode").unwrap_or("nearest").to_owned();
        let mut attrs: Attrs = vec![("mode", self.text_of(&mode))];
        if old {
            // One scales input, and coordinates without any shift.
            attrs.push(("coordinate_transformation_mode", self.text_of("asymmetric")));
            attrs.push(("nearest_mode", self.text_of("floor")));
            let scales = self.inputs.get(1).copied().flatten();
            self.inputs.truncate(1);
            let attribute = super::attributes::find(self.node, "scales").map(|a| a.floats.clone());
            match (scales, attribute) {
                (Some(scales), _) => self.inputs.extend([None, Some(scales)]),
                (None, Some(floats)) => attrs.push(("scales", self.floats_attr(&floats))),
                (None, None) => return Ok(Err(Opaque("`scales` are absent".into()))),
            }
        }
        let mut known = vec!["mode", "scales"];
        let defaults = [
            ("coordinate_transformation_mode", "half_pixel"),
            ("nearest_mode", "round_prefer_floor"),
            ("keep_aspect_ratio_policy", "stretch"),
        ];
        for (name, default) in defaults {
            known.push(name);
            if !attrs.iter().any(|entry| entry.0 == name) {
                let given = text(self.node, name).unwrap_or(default).to_owned();
                attrs.push((name, self.text_of(&given)));
            }
        }
        for name in ["antialias", "exclude_outside"] {
            known.push(name);
            if let Some(flag) = int(self.node, name) {
                attrs.push((name, self.flag_attr(flag != 0)));
            }
        }
        let others = self.others_but(&known)?;
        self.absorb_sizes(&mut attrs);
        self.op_with("nn.resize", attrs, others, 1)
    }

    fn floats_attr(&self, floats: &[f32]) -> Attr {
        let context = &self.importer.context;
        let item = |&f: &f32| context.float_attr(f64::from(f), tangram_ir::FloatKind::F32);
        context.array_attr(&floats.iter().map(item).collect::<Vec<_>>())
    }

    /// Constant scales or sizes become attributes, where no region of interest is in the way.
    fn absorb_sizes(&mut self, attrs: &mut Attrs) {
        let tensor = |cx: &Self, i: usize| {
            cx.inputs.get(i).copied().flatten().map(|v| constant::constant_tensor(cx.module(), v))
        };
        let empty = |found: &Option<Option<tangram_tensor::Tensor>>| match found {
            None => true,
            Some(Some(tensor)) => tensor.is_empty(),
            Some(None) => false,
        };
        let (roi, scales, sizes) = (tensor(self, 1), tensor(self, 2), tensor(self, 3));
        if !empty(&roi) {
            return;
        }
        let float = |t: &tangram_tensor::Tensor| t.view::<f32>().map(|v| v.into_owned()).ok();
        if let (Some(Some(scales)), true) = (&scales, empty(&sizes)) {
            if let Some(floats) = float(scales) {
                attrs.push(("scales", self.floats_attr(&floats)));
                self.inputs.truncate(1);
            }
        } else if let (Some(Some(sizes)), true) = (&sizes, empty(&scales))
            && let Ok(list) = sizes.i64s()
        {
            attrs.push(("sizes", self.ints_attr(&list)));
            self.inputs.truncate(1);
        }
    }

    /// The interpolations of images had names of their own before opset 20.
    fn grid_sample(&mut self) -> Result<Outputs> {
        let mode = match text(self.node, "mode").unwrap_or("linear") {
            "bilinear" => "linear",
            "bicubic" => "cubic",
            mode => mode,
        };
        let border = text(self.node, "padding_mode").unwrap_or("zeros");
        let attrs = vec![
            ("mode", self.text_of(mode)),
            ("padding_mode", self.text_of(border)),
            ("align_corners", self.flag_attr(int(self.node, "align_corners").unwrap_or(0) != 0)),
        ];
        self.op_with("nn.grid_sample", attrs, Vec::new(), 1)
    }

    fn optional(&mut self) -> Result<Outputs> {
        let mut attrs: Attrs = Vec::new();
        let given = super::attributes::find(self.node, "type").and_then(|a| a.tp.as_deref());
        if let Some(given) = given {
            let ty = types::import(&self.importer.context, Some(given));
            attrs.push(("type", self.importer.context.type_attr(ty)));
        }
        self.op_with("nn.optional", attrs, Vec::new(), 1)
    }

    fn roi_align(&mut self) -> Result<Outputs> {
        let old = self.version < 16;
        let shift = if old { "output_half_pixel" } else { "half_pixel" };
        let given = text(self.node, "coordinate_transformation_mode").unwrap_or(shift).to_owned();
        let attrs = vec![("coordinate_transformation_mode", self.text_of(&given))];
        let others = self.others_but(&["coordinate_transformation_mode"])?;
        self.op_with("nn.roi_align", attrs, others, 1)
    }
}

/// Begins, then ends, so that the output has `ceil(extent / stride)` elements; `None` unless
/// every extent is a number, or does not matter because the stride is 1.
fn same_padding(extents: &[Dim], lists: &[Vec<i64>; 3], upper: bool) -> Option<Vec<i64>> {
    let [kernel, strides, dilations] = lists;
    let n = kernel.len();
    if extents.len() != n || strides.len() != n || dilations.len() != n {
        return None;
    }
    let mut pads = vec![0; 2 * n];
    for i in 0..n {
        let window = kernel[i].checked_sub(1)?.checked_mul(dilations[i])?.checked_add(1)?;
        let total = match (extents[i].as_static(), strides[i]) {
            (_, 1) => window - 1,
            (Some(extent), stride) if stride > 1 => {
                let out = (extent + stride - 1).div_euclid(stride);
                (out - 1).checked_mul(stride)?.checked_add(window)?.checked_sub(extent)?.max(0)
            }
            _ => return None,
        };
        let small = total / 2;
        (pads[i], pads[n + i]) =
            if upper { (small, total - small) } else { (total - small, small) };
    }
    Some(pads)
}
