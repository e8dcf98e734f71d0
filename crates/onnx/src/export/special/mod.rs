//! Operations that are written by more than renaming and defaults.

use tangram_dialects::nn::bias;
use tangram_ir::{AttrData, Op, Value};
use tangram_tensor::Tensor;

use super::Exporter;
use super::node::{int, text, type_proto};
use super::tensor::to_proto;
use crate::error::Result;
use crate::proto::{AttributeProto, AttributeType, NodeProto};
use crate::types;

mod image;
mod linear;
mod older;
mod parts;
mod window;

/// The first operator set that can say nn operation `name`, for those without a row.
pub(super) fn since(name: &str) -> Option<i64> {
    Some(match name.strip_prefix("nn.")? {
        "conv" | "conv1d" | "conv2d" | "conv3d" | "conv_transpose" | "conv1d_transpose"
        | "conv2d_transpose" | "conv3d_transpose" | "dense" | "gemm" | "bias_add" | "max_pool"
        | "max_pool1d" | "max_pool2d" | "max_pool3d" | "avg_pool" | "avg_pool1d" | "avg_pool2d"
        | "avg_pool3d" | "lp_pool" | "batch_norm" | "split" | "strided_slice" | "batch_flatten"
        | "flatten" | "softmax" | "log_softmax" | "hardmax" | "dropout" | "batch_matmul"
        | "constant" | "none" => 7,
        // Operands of several shapes; before, they have one.
        "add_n" | "mean_n" | "max_n" | "min_n" | "maximum" | "minimum" => 8,
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
            "max_pool" | "max_pool1d" | "max_pool2d" | "max_pool3d" => self.pool(op, "MaxPool")?,
            "avg_pool" | "avg_pool1d" | "avg_pool2d" | "avg_pool3d" => {
                self.pool(op, "AveragePool")?
            }
            "lp_pool" => self.pool(op, "LpPool")?,
            "batch_norm" => self.batch_norm(op),
            "split" => self.split(op)?,
            "strided_slice" => self.slice(op)?,
            "batch_flatten" => self.with_axis(op, "Flatten", 1),
            "flatten" => self.with_axis(op, "Flatten", self.int_of(op, "axis").unwrap_or(1)),
            "softmax" => self.softmax(op, "Softmax")?,
            "log_softmax" => self.softmax(op, "LogSoftmax")?,
            "hardmax" => self.softmax(op, "Hardmax")?,
            "add_n" => self.of_one_shape(op, "Sum")?,
            "mean_n" => self.of_one_shape(op, "Mean")?,
            "max_n" | "maximum" => self.of_one_shape(op, "Max")?,
            "min_n" | "minimum" => self.of_one_shape(op, "Min")?,
            "left_shift" => self.shift(op, "LEFT"),
            "right_shift" => self.shift(op, "RIGHT"),
            "dropout" => self.dropout(op)?,
            "dropout_training" => self.dropout_training(op),
            "batch_norm_training" => self.batch_norm(op),
            "resize" => self.resize(op)?,
            "roi_align" => self.roi_align(op)?,
            "grid_sample" => self.grid_sample(op),
            "optional" => self.optional(op),
            _ if name == "onnx.GroupNormalization" => self.group_norm_18(op)?,
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

    fn with_axis(&mut self, op: Op, op_type: &str, axis: i64) {
        let inputs = self.inputs(op);
        self.write(op, op_type, inputs, vec![int("axis", axis)]);
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
        self.named(op_type, input, attribute, name.clone());
        name
    }

    /// A node that makes the value `output`.
    fn named(
        &mut self,
        op_type: &str,
        input: Vec<String>,
        attribute: Vec<AttributeProto>,
        output: String,
    ) {
        let name = self.node_name(Some(&output));
        self.push(NodeProto {
            name,
            op_type: Some(op_type.to_owned()),
            input,
            output: vec![output],
            attribute,
            ..NodeProto::default()
        });
    }

    /// An attribute that holds `tensor`.
    fn tensor_attr(&self, name: &str, tensor: &Tensor) -> AttributeProto {
        AttributeProto {
            name: Some(name.to_owned()),
            r#type: Some(AttributeType::Tensor as i32),
            t: Some(Box::new(to_proto(tensor, ""))),
            ..AttributeProto::default()
        }
    }

    fn shift(&mut self, op: Op, direction: &str) {
        let inputs = self.inputs(op);
        self.write(op, "BitShift", inputs, vec![text("direction", direction)]);
    }

    fn dropout_training(&mut self, op: Op) {
        let seed = self.int_of(op, "seed").map(|seed| int("seed", seed));
        let inputs = self.inputs(op);
        self.write(op, "Dropout", inputs, seed.into_iter().collect());
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
}

fn conv_type(name: &str) -> &'static str {
    if name.ends_with("transpose") { "ConvTranspose" } else { "Conv" }
}
