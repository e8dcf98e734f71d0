//! Operators whose conversion is more than renaming and defaults.

use tangram_dialects::constant;
use tangram_ir::{Attr, FloatKind};

use super::attributes::{find, int, text};
use super::node::{NodeCx, Opaque, Outputs};
use crate::error::Result;
use crate::operators;
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

mod image;
mod linear;
mod parts;
mod window;

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
        // What the mask holds in inference is said since operator set 12.
        let masked = self.node.output.get(1).is_some_and(|mask| !mask.is_empty());
        if masked && self.version < 12 {
            return Ok(Err(Opaque(String::new())));
        }
        let rate = match constant(self, 1) {
            None => find(self.node, "ratio").map_or(0.5, |a| f64::from(a.f())),
            Some(Some(tensor)) => {
                tensor.f64s().ok().and_then(|f| f.first().copied()).unwrap_or(0.5)
            }
            Some(None) => return Ok(Err(Opaque(String::new()))),
        };
        self.inputs.truncate(1);
        let rate = self.importer.context.float_attr(rate, FloatKind::F32);
        let count = self.node.output.len();
        self.op_with("nn.dropout", vec![("rate", rate)], Vec::new(), count)
    }

    fn optional(&mut self) -> Result<Outputs> {
        let mut attrs: Attrs = Vec::new();
        let given = find(self.node, "type").and_then(|a| a.tp.as_deref());
        if let Some(given) = given {
            let ty = types::import(&self.importer.context, Some(given));
            attrs.push(("type", self.importer.context.type_attr(ty)));
        }
        self.op_with("nn.optional", attrs, Vec::new(), 1)
    }
}
