//! Operators that mean something else in another operator set: what says the same there.
//!
//! ```text
//! 12: y = Softmax(x) {axis = 1}     13: f = Flatten(x) {axis = 1}; s = Softmax(f) {axis = -1}
//!                                       y = Reshape(s, Shape(x))
//! 18: scale of GroupNormalization   21: for each channel: Reshape, Expand, Reshape
//!     for each group
//! ```

use tangram_ir::{Op, Value};
use tangram_tensor::Tensor;

use crate::error::Result;
use crate::export::Exporter;
use crate::export::node::{float, int, ints};

impl Exporter<'_> {
    /// Before operator set 13 all dimensions from `axis` on are one.
    pub(super) fn softmax(&mut self, op: Op, op_type: &str) -> Result<()> {
        let axis = self.int_of(op, "axis").unwrap_or(-1);
        let flatten = self.flag_of(op, "flatten");
        let rank = self.rank(self.module.operand(op, 0)).map(|rank| rank as i64);
        let last = axis == -1 || rank.is_some_and(|rank| axis == rank - 1);
        if last || flatten == (self.opset < 13) {
            let inputs = self.inputs(op);
            self.write(op, op_type, inputs, vec![int("axis", axis)]);
            return Ok(());
        }
        if flatten {
            self.flattened(op, op_type, axis);
            return Ok(());
        }
        let Some(rank) = rank else {
            return Err(self.inexpressible(op, "the rank is unknown, and the axis not the last"));
        };
        self.transposed(op, op_type, if axis < 0 { axis + rank } else { axis }, rank);
        Ok(())
    }

    /// Operators whose operands have one shape before operator set 8, and broadcast from there on.
    pub(super) fn of_one_shape(&mut self, op: Op, op_type: &str) -> Result<()> {
        let mut inputs = self.inputs(op);
        if self.opset < 8 && !self.same_opset && !self.is_of_one_shape(op) {
            let shapes: Option<Vec<Vec<i64>>> =
                self.module.operands(op).map(|operand| self.static_shape(operand)).collect();
            let whole = self.static_shape(self.module.result(op, 0));
            // In a shape for `Reshape` 0 copies an extent.
            let (Some(shapes), Some(whole)) = (shapes, whole.filter(|dims| !dims.contains(&0)))
            else {
                return Err(
                    self.inexpressible(op, "operands of several shapes need operator set 8")
                );
            };
            for (input, shape) in inputs.iter_mut().zip(shapes) {
                *input = self.tiled(std::mem::take(input), shape, &whole);
            }
        }
        self.write(op, op_type, inputs, Vec::new());
        Ok(())
    }

    fn is_of_one_shape(&self, op: Op) -> bool {
        let dims = |value| self.context.as_tensor(self.module.value_type(value));
        let mut all = self.module.operands(op).map(dims);
        let Some(Some((first, _))) = all.next() else { return false };
        first.iter().all(|dim| !dim.is_unknown())
            && all.all(|other| other.is_some_and(|(dims, _)| dims == first))
    }

    fn static_shape(&self, value: Value) -> Option<Vec<i64>> {
        let (dims, _) = self.context.as_tensor(self.module.value_type(value))?;
        dims.iter().map(|dim| dim.as_static()).collect()
    }

    /// `input`, of extents `shape`, broadcast to `whole` without `Expand`, which operator set 8 brings.
    fn tiled(&mut self, mut input: String, shape: Vec<i64>, whole: &[i64]) -> String {
        if shape == whole {
            return input;
        }
        let mut tall = vec![1; whole.len().saturating_sub(shape.len())];
        tall.extend(&shape);
        if tall != shape {
            let to = self.pooled(&Tensor::vector(tall.clone()), "shape");
            input = self.helper("Reshape", vec![input, to], Vec::new(), "tall");
        }
        let times: Vec<i64> =
            tall.iter().zip(whole).map(|(&from, &to)| if from == to { 1 } else { to }).collect();
        if times.iter().all(|&times| times == 1) {
            return input;
        }
        let times = self.pooled(&Tensor::vector(times), "repeats");
        self.helper("Tile", vec![input, times], Vec::new(), "whole")
    }

    fn flattened(&mut self, op: Op, op_type: &str, axis: i64) {
        let x = self.input(self.module.operand(op, 0));
        let flat = self.helper("Flatten", vec![x.clone()], vec![int("axis", axis)], "flat");
        let made = self.helper(op_type, vec![flat], vec![int("axis", -1)], "softmax");
        let shape = self.helper("Shape", vec![x], Vec::new(), "shape");
        // An extent of 0 is one, not that of the flat matrix.
        let zeros = (self.opset >= 14).then(|| int("allowzero", 1));
        self.write(op, "Reshape", vec![made, shape], zeros.into_iter().collect());
    }

    fn transposed(&mut self, op: Op, op_type: &str, axis: i64, rank: i64) {
        let mut perm: Vec<i64> = (0..rank).collect();
        perm.swap(axis as usize, rank as usize - 1);
        let x = self.input(self.module.operand(op, 0));
        let last = self.helper("Transpose", vec![x], vec![ints("perm", &perm)], "transposed");
        let made = self.helper(op_type, vec![last], vec![int("axis", rank - 1)], "softmax");
        self.write(op, "Transpose", vec![made], vec![ints("perm", &perm)]);
    }

    /// The mask of a dropout that drops nothing is all true since operator set 12; before, nobody
    /// says what it is, so that it is written apart.
    pub(super) fn dropout(&mut self, op: Op) -> Result<()> {
        let rate = self.module.attr(op, "rate").and_then(|a| self.context.as_f64(a));
        let rate = rate.unwrap_or(0.5);
        let mut inputs = self.inputs(op);
        if self.opset >= 12 {
            inputs.push(self.pooled(&Tensor::scalar(rate as f32), "ratio"));
            self.write(op, "Dropout", inputs, Vec::new());
            return Ok(());
        }
        let results: Vec<Value> = self.module.results(op).collect();
        let attributes = vec![float("ratio", rate)];
        let Some(&mask) = results.get(1).filter(|&&mask| self.module.has_uses(mask)) else {
            self.write(op, "Dropout", inputs, attributes);
            return Ok(());
        };
        if self.opset < 9 {
            return Err(self.inexpressible(op, "a mask of truth values needs operator set 9"));
        }
        let shape = self.helper("Shape", inputs.clone(), Vec::new(), "shape");
        let (y, mask) = (self.name(results[0]), self.name(mask));
        self.named("Dropout", inputs, attributes, y);
        let value = self.tensor_attr("value", &Tensor::vector(vec![true]));
        self.named("ConstantOfShape", vec![shape], vec![value], mask);
        Ok(())
    }

    /// `GroupNormalization` of operator sets 18 to 20 has a scale and a bias for each group.
    pub(super) fn group_norm_18(&mut self, op: Op) -> Result<()> {
        let groups = self.int_of(op, "num_groups");
        let x = self.context.as_tensor(self.module.value_type(self.module.operand(op, 0)));
        let channels = x.and_then(|(dims, _)| dims.get(1)?.as_static());
        let (Some(groups), Some(channels)) = (groups.filter(|&n| n > 0), channels) else {
            let reason = "it scales groups, not channels, and the number of channels is unknown";
            return Err(self.inexpressible(op, reason));
        };
        if self.opset < 21 {
            return Err(self.inexpressible(op, "it needs operator set 18"));
        }
        let mut inputs = self.inputs(op);
        let column = self.pooled(&Tensor::vector(vec![groups, 1]), "groups");
        let spread = self.pooled(&Tensor::vector(vec![groups, channels / groups]), "channels");
        let row = self.pooled(&Tensor::vector(vec![-1_i64]), "row");
        for (input, stem) in inputs.iter_mut().skip(1).zip(["scale", "bias"]) {
            let tall =
                self.helper("Reshape", vec![input.clone(), column.clone()], Vec::new(), stem);
            let wide = self.helper("Expand", vec![tall, spread.clone()], Vec::new(), stem);
            *input = self.helper("Reshape", vec![wide, row.clone()], Vec::new(), stem);
        }
        let epsilon = self.module.attr(op, "epsilon").and_then(|a| self.context.as_f64(a));
        let mut attributes = vec![int("num_groups", groups)];
        attributes.extend(epsilon.map(|e| float("epsilon", e)));
        self.write(op, "GroupNormalization", inputs, attributes);
        Ok(())
    }
}
