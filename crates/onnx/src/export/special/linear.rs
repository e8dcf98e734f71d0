//! Products of matrices and biases: alone, or in the node of what they follow.

use tangram_dialects::nn::bias;
use tangram_dialects::{constant, dtype};
use tangram_ir::{Op, Value};
use tangram_tensor::Tensor;
use tangram_tensor::elementwise::cast;

use super::conv_type;
use crate::error::Result;
use crate::export::Exporter;
use crate::export::node::{float, int, ints};

impl Exporter<'_> {
    /// The operation whose node takes in the bias that `op` adds: a convolution or a product of
    /// matrices that nothing else uses.
    pub(in crate::export) fn fused(&self, op: Op) -> Option<Op> {
        bias::biased(self.module, op)
    }

    pub(super) fn bias_add(&mut self, op: Op) -> Result<()> {
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
            let mut shape = vec![-1i64];
            shape.extend(std::iter::repeat_n(1, trailing));
            let (bias, shape) = (self.input(bias), self.pooled(&Tensor::vector(shape), "shape"));
            self.helper("Reshape", vec![bias, shape], Vec::new(), "bias")
        };
        self.write(op, "Add", vec![x, bias], Vec::new());
        Ok(())
    }

    /// `dense` or `matmul`, with a bias: `Gemm` where that is needed.
    pub(super) fn product(&mut self, op: Op, inner: Op, bias: Option<Value>) -> Result<()> {
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

    pub(super) fn batch_matmul(&mut self, op: Op) {
        let inputs = self.inputs(op);
        let perm = vec![ints("perm", &[0, 2, 1])];
        let y = self.helper("Transpose", vec![inputs[1].clone()], perm, "transposed");
        self.write(op, "MatMul", vec![inputs[0].clone(), y], Vec::new());
    }

    pub(super) fn gemm(&mut self, op: Op) {
        let mut inputs = self.inputs(op);
        let number = |name: &str| {
            self.module.attr(op, name).and_then(|a| self.context.as_f64(a)).unwrap_or(1.0)
        };
        let has_bias = inputs.get(2).is_some_and(|name| !name.is_empty());
        let mut attributes = Vec::new();
        for name in ["alpha", "beta"] {
            if number(name) != 1.0 && (has_bias || name == "alpha") {
                attributes.push(float(name, number(name)));
            }
        }
        for (nn, onnx) in [("transpose_a", "transA"), ("transpose_b", "transB")] {
            if self.flag_of(op, nn) {
                attributes.push(int(onnx, 1));
            }
        }
        if !has_bias && self.opset < 11 {
            // Gemm needs its third input there.
            let zero = self.zero(self.module.operand(op, 0));
            inputs.truncate(2);
            inputs.extend(zero);
        }
        self.write(op, "Gemm", inputs, attributes);
    }

    /// A zero of the element type of `value`.
    fn zero(&mut self, value: Value) -> Option<String> {
        let element = self.context.element_type(self.module.value_type(value))?;
        let zero = cast(&Tensor::scalar(0i64), dtype::dtype_of(self.context, element)?).ok()?;
        Some(self.pooled(&zero, "zero"))
    }

    pub(super) fn batch_norm(&mut self, op: Op) {
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
}
