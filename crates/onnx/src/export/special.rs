//! Operations that are written by more than renaming and defaults.

use tangram_dialects::constant;
use tangram_dialects::nn::bias;
use tangram_ir::{AttrData, Op, Value};
use tangram_tensor::Tensor;

use super::Exporter;
use super::node::{float, int, ints, text, type_proto};
use crate::error::Result;
use crate::proto::{AttributeProto, NodeProto};
use crate::types;

/// The first operator set that can say nn operation `name`, for those without a row.
pub(super) fn since(name: &str) -> Option<i64> {
    Some(match name.strip_prefix("nn.")? {
        "conv" | "conv1d" | "conv2d" | "conv3d" | "conv_transpose" | "conv1d_transpose"
        | "conv2d_transpose" | "conv3d_transpose" | "dense" | "gemm" | "bias_add" | "max_pool"
        | "max_pool1d" | "max_pool2d" | "max_pool3d" | "avg_pool" | "avg_pool1d" | "avg_pool2d"
        | "avg_pool3d" | "lp_pool" | "batch_norm" | "split" | "strided_slice" | "batch_flatten"
        | "flatten" | "softmax" | "log_softmax" | "hardmax" | "add_n" | "mean_n" | "max_n"
        | "min_n" | "maximum" | "minimum" | "dropout" | "batch_matmul" | "constant" | "none" => 7,
        "resize" | "conv_integer" | "qlinear_conv" | "roi_align" => 10,
        "left_shift" | "right_shift" => 11,
        "dropout_training" => 12,
        "batch_norm_training" => 14,
        "optional" => 15,
        "grid_sample" => 16,
        _ => return None,
    })
}

impl Exporter<'_> {
    /// Writes `op` if it is of this kind.
    pub(super) fn special(&mut self, op: Op) -> Result<bool> {
        let name = self.module.name_text(op);
        match name.strip_prefix("nn.").unwrap_or("") {
            "bias_add" => self.bias_add(op)?,
            "dense" => self.product(op, op, None)?,
            "batch_matmul" => self.batch_matmul(op),
            "gemm" => self.gemm(op),
            "max_pool" | "max_pool1d" | "max_pool2d" | "max_pool3d" => self.pool(op, "MaxPool"),
            "avg_pool" | "avg_pool1d" | "avg_pool2d" | "avg_pool3d" => self.pool(op, "AveragePool"),
            "lp_pool" => self.pool(op, "LpPool"),
            "batch_norm" => self.batch_norm(op),
            "split" => self.split(op)?,
            "strided_slice" => self.slice(op)?,
            "batch_flatten" => self.with_axis(op, "Flatten", 1),
            "flatten" => self.with_axis(op, "Flatten", self.int_of(op, "axis").unwrap_or(1)),
            "softmax" => self.softmax(op, "Softmax")?,
            "log_softmax" => self.softmax(op, "LogSoftmax")?,
            "hardmax" => self.softmax(op, "Hardmax")?,
            "add_n" => self.plain(op, "Sum"),
            "mean_n" => self.plain(op, "Mean"),
            "max_n" | "maximum" => self.plain(op, "Max"),
            "min_n" | "minimum" => self.plain(op, "Min"),
            "left_shift" => self.shift(op, "LEFT"),
            "right_shift" => self.shift(op, "RIGHT"),
            "dropout" => self.dropout(op),
            "dropout_training" => self.dropout_training(op),
            "batch_norm_training" => self.batch_norm(op),
            "resize" => self.resize(op)?,
            "roi_align" => self.roi_align(op),
            "grid_sample" => self.grid_sample(op),
            "optional" => self.optional(op),
            "conv_integer" => self.convolution(op, op, None, "ConvInteger"),
            "qlinear_conv" => self.convolution(op, op, None, "QLinearConv"),
            _ if bias::is_convolution(name) => self.convolution(op, op, None, conv_type(name)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn int_of(&self, op: Op, name: &str) -> Option<i64> {
        self.context.as_i64(self.module.attr(op, name)?)
    }

    fn ints_of(&self, op: Op, name: &str) -> Option<Vec<i64>> {
        self.context.as_i64s(self.module.attr(op, name)?)
    }

    fn text_of(&self, op: Op, name: &str) -> Option<&str> {
        self.context.as_text(self.module.attr(op, name)?)
    }

    fn flag_of(&self, op: Op, name: &str) -> bool {
        self.module.attr(op, name).and_then(|a| self.context.as_bool(a)).unwrap_or(false)
    }

    fn rank(&self, value: Value) -> Option<usize> {
        self.context.as_tensor(self.module.value_type(value)).map(|(dims, _)| dims.len())
    }

    fn plain(&mut self, op: Op, op_type: &str) {
        let inputs = self.inputs(op);
        self.write(op, op_type, inputs, Vec::new());
    }

    fn with_axis(&mut self, op: Op, op_type: &str, axis: i64) {
        let inputs = self.inputs(op);
        self.write(op, op_type, inputs, vec![int("axis", axis)]);
    }

    /// The operation whose node takes in the bias that `op` adds: a convolution or a product of
    /// matrices that nothing else uses.
    pub(super) fn fused(&self, op: Op) -> Option<Op> {
        bias::biased(self.module, op)
    }

    fn bias_add(&mut self, op: Op) -> Result<()> {
        let Some(inner) = self.fused(op).filter(|inner| self.covered.contains(inner)) else {
            return self.lone_bias(op);
        };
        let bias = self.module.operand(op, 1);
        match self.module.name_text(inner) {
            "nn.dense" | "nn.matmul" => self.product(op, inner, Some(bias)),
            name => {
                self.convolution(op, inner, Some(bias), conv_type(name));
                Ok(())
            }
        }
    }

    /// A bias that no other node takes in: an addition, of the bias in a shape that broadcasts.
    fn lone_bias(&mut self, op: Op) -> Result<()> {
        let (x, bias) = (self.module.operand(op, 0), self.module.operand(op, 1));
        let unknown = || self.inexpressible(op, "the rank is unknown");
        let rank = self.rank(x).ok_or_else(unknown)? as i64;
        let axis = self.int_of(op, "axis").unwrap_or(1);
        let axis = if axis < 0 { axis + rank } else { axis };
        let trailing = usize::try_from(rank - 1 - axis).map_err(|_| unknown())?;
        let x = self.input(x);
        let bias = if trailing == 0 {
            self.input(bias)
        } else if let Some(tensor) = constant::constant_tensor(self.module, bias) {
            let mut shape = tensor.shape().to_vec();
            shape.extend(std::iter::repeat_n(1, trailing));
            let shaped = tensor.reshaped(&shape);
            let shaped = shaped.map_err(|_| self.inexpressible(op, "the bias has no shape"))?;
            self.pooled(&shaped, "bias")
        } else {
            let mut shape = vec![-1];
            shape.extend(std::iter::repeat_n(1, trailing));
            let (bias, shape) = (self.input(bias), self.pooled(&Tensor::vector(shape), "shape"));
            self.helper("Reshape", vec![bias, shape], Vec::new(), "bias")
        };
        self.write(op, "Add", vec![x, bias], Vec::new());
        Ok(())
    }

    /// A node that no operation stands for; returns the name of its output.
    fn helper(
        &mut self,
        op_type: &str,
        input: Vec<String>,
        attribute: Vec<AttributeProto>,
        stem: &str,
    ) -> String {
        let name = self.fresh_name(stem);
        let name = self.context.text(name).to_owned();
        self.push(NodeProto {
            name: Some(name.clone()),
            op_type: Some(op_type.to_owned()),
            input,
            output: vec![name.clone()],
            attribute,
            ..NodeProto::default()
        });
        name
    }

    /// `dense` or `matmul`, with a bias: `Gemm` where that is needed.
    fn product(&mut self, op: Op, inner: Op, bias: Option<Value>) -> Result<()> {
        let dense = self.module.name_text(inner) == "nn.dense";
        let mut inputs = self.inputs(inner);
        if let Some(bias) = bias {
            inputs.push(self.input(bias));
        } else if self.opset < 11 {
            // Gemm needs its third input there.
            let transposed = vec![ints("perm", &[1, 0])];
            let w = self.helper("Transpose", vec![inputs[1].clone()], transposed, "weight");
            self.write(op, "MatMul", vec![inputs[0].clone(), w], Vec::new());
            return Ok(());
        }
        let attributes = if dense { vec![int("transB", 1)] } else { Vec::new() };
        self.write(op, "Gemm", inputs, attributes);
        Ok(())
    }

    fn batch_matmul(&mut self, op: Op) {
        let inputs = self.inputs(op);
        let perm = vec![ints("perm", &[0, 2, 1])];
        let y = self.helper("Transpose", vec![inputs[1].clone()], perm, "transposed");
        self.write(op, "MatMul", vec![inputs[0].clone(), y], Vec::new());
    }

    fn gemm(&mut self, op: Op) {
        let number = |name: &str| {
            self.module.attr(op, name).and_then(|a| self.context.as_f64(a)).unwrap_or(1.0)
        };
        let mut attributes = Vec::new();
        for name in ["alpha", "beta"] {
            if number(name) != 1.0 {
                attributes.push(float(name, number(name)));
            }
        }
        for (nn, onnx) in [("transpose_a", "transA"), ("transpose_b", "transB")] {
            if self.flag_of(op, nn) {
                attributes.push(int(onnx, 1));
            }
        }
        let inputs = self.inputs(op);
        self.write(op, "Gemm", inputs, attributes);
    }

    /// `padding` or `auto_pad`, where they say more than nothing.
    fn padding(&self, op: Op, attributes: &mut Vec<AttributeProto>) {
        if let Some(mode) = self.text_of(op, "auto_pad") {
            attributes.push(text("auto_pad", mode));
        }
        if let Some(pads) = self.ints_of(op, "padding").filter(|p| p.iter().any(|&n| n != 0)) {
            attributes.push(ints("pads", &pads));
        }
    }

    fn list_unless_one(&self, op: Op, nn: &str, onnx: &str, attributes: &mut Vec<AttributeProto>) {
        if let Some(list) = self.ints_of(op, nn).filter(|list| list.iter().any(|&n| n != 1)) {
            attributes.push(ints(onnx, &list));
        }
    }

    /// Writes convolution `inner`, with a bias, as the node of `op`.
    fn convolution(&mut self, op: Op, inner: Op, bias: Option<Value>, op_type: &str) {
        let mut inputs = self.inputs(inner);
        if let Some(bias) = bias {
            let bias = self.input(bias);
            inputs.push(bias);
        }
        let mut attributes = Vec::new();
        let weight = if op_type == "QLinearConv" { 3 } else { 1 };
        let w = self.module.operand(inner, weight);
        let shape = self.context.as_tensor(self.module.value_type(w)).map(|(dims, _)| dims);
        let kernel: Option<Vec<i64>> = shape
            .and_then(|d| d.get(2..))
            .map(|d| d.iter().filter_map(|n| n.as_static()).collect());
        if let (Some(kernel), Some(shape)) = (kernel, shape)
            && kernel.len() + 2 == shape.len()
        {
            attributes.push(ints("kernel_shape", &kernel));
        }
        self.list_unless_one(inner, "strides", "strides", &mut attributes);
        self.padding(inner, &mut attributes);
        self.list_unless_one(inner, "dilation", "dilations", &mut attributes);
        if let Some(groups) = self.int_of(inner, "groups").filter(|&n| n != 1) {
            attributes.push(int("group", groups));
        }
        for name in ["output_padding", "output_shape"] {
            if let Some(list) = self.ints_of(inner, name) {
                attributes.push(ints(name, &list));
            }
        }
        self.write(op, op_type, inputs, attributes);
    }

    fn pool(&mut self, op: Op, op_type: &str) {
        let mut attributes = Vec::new();
        if let Some(kernel) = self.ints_of(op, "pool_size") {
            attributes.push(ints("kernel_shape", &kernel));
        }
        self.list_unless_one(op, "strides", "strides", &mut attributes);
        self.padding(op, &mut attributes);
        self.list_unless_one(op, "dilation", "dilations", &mut attributes);
        for name in ["ceil_mode", "count_include_pad"] {
            if self.flag_of(op, name) {
                attributes.push(int(name, 1));
            }
        }
        for name in ["storage_order", "p"] {
            if let Some(value) = self.int_of(op, name).filter(|&n| n != 0) {
                attributes.push(int(name, value));
            }
        }
        let inputs = self.inputs(op);
        self.write(op, op_type, inputs, attributes);
    }

    fn batch_norm(&mut self, op: Op) {
        let epsilon = self.module.attr(op, "epsilon").and_then(|a| self.context.as_f64(a));
        let mut attributes: Vec<_> = epsilon.map(|e| float("epsilon", e)).into_iter().collect();
        if self.module.name_text(op) == "nn.batch_norm_training" {
            let momentum = self.module.attr(op, "momentum").and_then(|a| self.context.as_f64(a));
            attributes.extend(momentum.map(|m| float("momentum", m)));
            attributes.push(int("training_mode", 1));
        }
        let inputs = self.inputs(op);
        self.write(op, "BatchNormalization", inputs, attributes);
    }

    fn split(&mut self, op: Op) -> Result<()> {
        let mut inputs = self.inputs(op);
        let mut attributes = vec![int("axis", self.int_of(op, "axis").unwrap_or(0))];
        if inputs.len() == 1 {
            let sizes = self.split_sizes(op);
            match sizes {
                Some(sizes) if self.opset >= 13 => {
                    inputs.push(self.pooled(&Tensor::vector(sizes), "split"));
                }
                Some(sizes) => attributes.push(ints("split", &sizes)),
                None if self.opset >= 18 => {
                    attributes.push(int("num_outputs", self.module.result_count(op) as i64));
                }
                // Without sizes older sets split evenly, which is what is meant.
                None => {}
            }
        }
        let keep: Vec<Value> = self.module.results(op).collect();
        let outputs: Vec<String> = keep.into_iter().map(|v| self.name(v)).collect();
        self.push(NodeProto {
            name: outputs.first().cloned(),
            op_type: Some("Split".into()),
            input: inputs,
            output: outputs,
            attribute: attributes,
            ..NodeProto::default()
        });
        Ok(())
    }

    /// The extent of each part, where all are numbers.
    fn split_sizes(&self, op: Op) -> Option<Vec<i64>> {
        let axis = self.int_of(op, "axis").unwrap_or(0);
        self.module
            .results(op)
            .map(|value| {
                let (dims, _) = self.context.as_tensor(self.module.value_type(value))?;
                let at = if axis < 0 { axis + dims.len() as i64 } else { axis };
                dims.get(usize::try_from(at).ok()?)?.as_static()
            })
            .collect()
    }

    fn slice(&mut self, op: Op) -> Result<()> {
        let names = [("begin", "starts"), ("end", "ends"), ("axes", "axes"), ("strides", "steps")];
        let mut lists = names.map(|(nn, _)| self.ints_of(op, nn));
        // Steps of 1 are what an absent list means.
        lists[3].take_if(|steps| steps.iter().all(|&n| n == 1));
        if self.opset >= 10 {
            self.operands_or_lists(op, "Slice", &names.map(|(_, onnx)| onnx), &lists);
            return Ok(());
        }
        if lists[3].is_some() || self.module.operand_count(op) > 1 {
            return Err(self.inexpressible(op, "steps and computed places need operator set 10"));
        }
        let lists = lists.iter().zip(names);
        let attributes =
            lists.filter_map(|(list, (_, onnx))| Some(ints(onnx, list.as_ref()?))).collect();
        let inputs = self.inputs(op);
        self.write(op, "Slice", inputs, attributes);
        Ok(())
    }

    /// Writes a node whose inputs after the first are operands here, or lists among the attributes.
    fn operands_or_lists(
        &mut self,
        op: Op,
        op_type: &str,
        names: &[&str],
        lists: &[Option<Vec<i64>>],
    ) {
        let mut inputs = self.inputs(op);
        inputs.resize(1 + lists.len(), String::new());
        for (i, list) in lists.iter().enumerate() {
            if let Some(list) = list {
                inputs[1 + i] = self.pooled(&Tensor::vector(list.clone()), names[i]);
            }
        }
        while inputs.last().is_some_and(String::is_empty) {
            inputs.pop();
        }
        self.write(op, op_type, inputs, Vec::new());
    }

    fn softmax(&mut self, op: Op, op_type: &str) -> Result<()> {
        let axis = self.int_of(op, "axis").unwrap_or(-1);
        let flatten = self.flag_of(op, "flatten");
        let rank = self.rank(self.module.operand(op, 0)).map(|rank| rank as i64);
        let last = axis == -1 || rank.is_some_and(|rank| axis == rank - 1);
        let old = self.opset < 13;
        if !last && flatten != old {
            return Err(self.inexpressible(op, "softmax has another meaning there"));
        }
        // Old sets count axes from the front only.
        let axis = match (old, rank) {
            (true, Some(rank)) if axis < 0 && self.opset < 11 => axis + rank,
            _ => axis,
        };
        let inputs = self.inputs(op);
        self.write(op, op_type, inputs, vec![int("axis", axis)]);
        Ok(())
    }

    fn shift(&mut self, op: Op, direction: &str) {
        let inputs = self.inputs(op);
        self.write(op, "BitShift", inputs, vec![text("direction", direction)]);
    }

    fn dropout(&mut self, op: Op) {
        let rate = self.module.attr(op, "rate").and_then(|a| self.context.as_f64(a));
        let rate = rate.unwrap_or(0.5);
        let mut inputs = self.inputs(op);
        let mut attributes = Vec::new();
        if self.opset >= 12 {
            inputs.push(self.pooled(&Tensor::scalar(rate as f32), "ratio"));
        } else {
            attributes.push(float("ratio", rate));
        }
        self.write(op, "Dropout", inputs, attributes);
    }

    fn dropout_training(&mut self, op: Op) {
        let seed = self.int_of(op, "seed").map(|seed| int("seed", seed));
        let inputs = self.inputs(op);
        self.write(op, "Dropout", inputs, seed.into_iter().collect());
    }

    fn resize(&mut self, op: Op) -> Result<()> {
        if self.opset < 11 {
            return Err(self.inexpressible(op, "it needs operator set 11"));
        }
        let mut inputs = self.inputs(op);
        let mut attributes = Vec::new();
        for &(name, value) in self.context.entries(self.module.attrs(op)) {
            match self.context.text(name) {
                "scales" | "sizes" => {}
                name => attributes.extend(self.plain_attr(name, value)),
            }
        }
        // The region of interest stays an operand; scales and sizes may have become attributes.
        if inputs.get(1).is_none_or(String::is_empty) {
            inputs.truncate(1);
            inputs.push(self.empty_roi());
        }
        if let Some(scales) = self.module.attr(op, "scales") {
            let list = self.plain_attr("scales", scales).map(|proto| proto.floats);
            inputs.truncate(2);
            inputs.push(self.pooled(&Tensor::vector(list.unwrap_or_default()), "scales"));
        } else if let Some(sizes) = self.ints_of(op, "sizes") {
            inputs.truncate(2);
            inputs.push(self.empty_roi());
            inputs.push(self.pooled(&Tensor::vector(sizes), "sizes"));
        }
        while inputs.last().is_some_and(String::is_empty) {
            inputs.pop();
        }
        self.write(op, "Resize", inputs, attributes);
        Ok(())
    }

    /// The region of interest is optional from operator set 13 on, and empty before.
    fn empty_roi(&mut self) -> String {
        if self.opset >= 13 {
            return String::new();
        }
        self.pooled(&Tensor::vector(Vec::<f32>::new()), "roi")
    }

    fn grid_sample(&mut self, op: Op) {
        let mode = match (self.text_of(op, "mode").unwrap_or("linear"), self.opset >= 20) {
            ("linear", false) => "bilinear",
            ("cubic", false) => "bicubic",
            (mode, _) => mode,
        };
        let mut attributes = vec![text("mode", mode)];
        if let Some(border) = self.text_of(op, "padding_mode") {
            attributes.push(text("padding_mode", border));
        }
        if self.flag_of(op, "align_corners") {
            attributes.push(int("align_corners", 1));
        }
        let inputs = self.inputs(op);
        self.write(op, "GridSample", inputs, attributes);
    }

    fn optional(&mut self, op: Op) {
        let ty = self.module.attr(op, "type").and_then(|attr| match self.context.attr_data(attr) {
            AttrData::Type(ty) => types::export(self.context, *ty),
            _ => None,
        });
        let attributes = ty.map(|ty| type_proto("type", ty)).into_iter().collect();
        let inputs = self.inputs(op);
        self.write(op, "Optional", inputs, attributes);
    }

    fn roi_align(&mut self, op: Op) {
        let mut attributes = Vec::new();
        for &(name, value) in self.context.entries(self.module.attrs(op)) {
            let name = self.context.text(name);
            if name != "coordinate_transformation_mode" || self.opset >= 16 {
                attributes.extend(self.plain_attr(name, value));
            }
        }
        let inputs = self.inputs(op);
        self.write(op, "RoiAlign", inputs, attributes);
    }
}

fn conv_type(name: &str) -> &'static str {
    if name.ends_with("transpose") { "ConvTranspose" } else { "Conv" }
}
