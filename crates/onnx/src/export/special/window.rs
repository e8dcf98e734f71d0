//! Convolutions and pooling.

use tangram_ir::{Op, Value};

use crate::error::Result;
use crate::export::Exporter;
use crate::export::node::{int, ints, text};
use crate::proto::AttributeProto;

/// The first operator set in which inference leaves out a last window behind the data.
const INNER_WINDOWS: i64 = 22;

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

    pub(super) fn pool(&mut self, op: Op, op_type: &str) -> Result<()> {
        let mut attributes = Vec::new();
        if let Some(kernel) = self.ints_of(op, "pool_size") {
            attributes.push(ints("kernel_shape", &kernel));
        }
        self.list_unless_one(op, "strides", "strides", &mut attributes);
        let inner = self.inner_windows(op)?;
        match &inner {
            Some(inner) => attributes.push(ints("pads", &inner.pads)),
            None => self.padding(op, &mut attributes),
        }
        self.list_unless_one(op, "dilation", "dilations", &mut attributes);
        let rounds_down = inner.is_some_and(|inner| inner.rounds_down);
        for name in ["ceil_mode", "count_include_pad"] {
            if self.flag_of(op, name) && (name != "ceil_mode" || !rounds_down) {
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
        Ok(())
    }

    /// The padding with which a pool that rounds up has no window that begins behind the data:
    /// nobody computes it, and before operator set 22 inference counts it.
    ///
    /// Either the padding ends with the last window that stays, or as many windows come of another
    /// padding when their number is rounded down.
    fn inner_windows(&self, op: Op) -> Result<Option<InnerWindows>> {
        if self.opset >= INNER_WINDOWS || !self.flag_of(op, "ceil_mode") {
            return Ok(None);
        }
        let Some(windows) = self.windows(op) else { return Ok(None) };
        if !windows.iter().any(Windows::leave_one_out) {
            return Ok(None);
        }
        let begins = windows.iter().map(|w| w.before);
        let padded = |ends: Vec<i128>, rounds_down: bool| {
            let pads = begins.clone().chain(ends).map(i64::try_from);
            let pads = pads.collect::<std::result::Result<_, _>>().ok();
            Ok(pads.map(|pads| InnerWindows { pads, rounds_down }))
        };
        let cut = |w: &Windows| if w.leave_one_out() { w.rest() } else { w.after };
        if windows.iter().all(|w| cut(w) >= 0) {
            return padded(windows.iter().map(cut).collect(), false);
        }
        let reach = |w: &Windows| w.end() > w.after;
        if self.flag_of(op, "count_include_pad") && windows.iter().any(reach) {
            let reason = "a window would reach over padding that counts";
            return Err(self.inexpressible(op, reason));
        }
        if windows.iter().any(|w| w.end() >= w.kernel) {
            return Err(self.inexpressible(op, "its padding would be as long as a window"));
        }
        padded(windows.iter().map(Windows::end).collect(), true)
    }

    /// The windows of a pool along each dimension, if all extents are numbers.
    fn windows(&self, op: Op) -> Option<Vec<Windows>> {
        let extents = |value: Value| -> Option<Vec<i64>> {
            let (dims, _) = self.context.as_tensor(self.module.value_type(value))?;
            dims.get(2..)?.iter().map(|dim| dim.as_static()).collect()
        };
        let inputs = extents(self.module.operand(op, 0))?;
        let counts = extents(self.module.result(op, 0))?;
        let kernel = self.ints_of(op, "pool_size")?;
        if self.text_of(op, "padding").is_some() || kernel.len() != inputs.len() {
            return None;
        }
        let at = |name: &str, i: usize, usual: i64| -> i128 {
            self.ints_of(op, name).and_then(|list| list.get(i).copied()).unwrap_or(usual).into()
        };
        let rank = kernel.len();
        let along = |i: usize| Windows {
            input: inputs[i].into(),
            count: counts[i].into(),
            kernel: kernel[i].into(),
            span: at("dilation", i, 1) * (i128::from(kernel[i]) - 1) + 1,
            stride: at("strides", i, 1),
            before: at("padding", i, 0),
            after: at("padding", rank + i, 0),
        };
        (counts.len() == rank).then(|| (0..rank).map(along).collect())
    }
}

/// How a pool is written without a window behind the data.
struct InnerWindows {
    pads: Vec<i64>,
    rounds_down: bool,
}

/// The windows of a pool along one dimension.
struct Windows {
    input: i128,
    count: i128,
    kernel: i128,
    span: i128,
    stride: i128,
    before: i128,
    after: i128,
}

impl Windows {
    /// Whether one more would be counted, which begins behind the data.
    fn leave_one_out(&self) -> bool {
        let room = self.before + self.input + self.after - self.span;
        self.count > 0
            && room > (self.count - 1) * self.stride
            && self.count * self.stride >= self.before + self.input
    }

    /// How far the windows reach over the data at the end, less than 0 where they end before.
    fn rest(&self) -> i128 {
        (self.count - 1) * self.stride + self.span - self.input - self.before
    }

    /// The padding at the end that the windows reach over.
    fn end(&self) -> i128 {
        self.rest().max(0)
    }
}
