//! Convolutions and pooling.

use tangram_ir::{Op, Value};

use crate::export::Exporter;
use crate::export::node::{int, ints, text};
use crate::proto::AttributeProto;

impl Exporter<'_> {
    /// `padding` as numbers or as a mode, where it says more than nothing.
    fn padding(&self, op: Op, attributes: &mut Vec<AttributeProto>) {
        if let Some(mode) = self.text_of(op, "padding") {
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
    pub(super) fn convolution(&mut self, op: Op, inner: Op, bias: Option<Value>, op_type: &str) {
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

    pub(super) fn pool(&mut self, op: Op, op_type: &str) {
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
}
