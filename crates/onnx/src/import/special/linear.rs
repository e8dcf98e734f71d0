//! Products of matrices, and normalisation of batches.

use tangram_ir::{FloatKind, Value};

use crate::error::Result;
use crate::import::attributes::{find, int};
use crate::import::node::{NodeCx, Opaque, Outputs};
use crate::operators::{AttrRow, Default, Kind};

impl NodeCx<'_> {
    pub(super) fn gemm(&mut self) -> Result<Outputs> {
        let (a, b) = (take!(self.need(0)), take!(self.need(1)));
        let float = |name: &str| find(self.node, name).map_or(1.0, |a| a.f());
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

    /// Returns whether `bias` has rank 1 and an element for each column of the matrix `out`.
    fn is_row_bias(&self, out: Value, bias: Value) -> bool {
        let context = &self.importer.context;
        let dims = |v: Value| context.as_tensor(self.module().value_type(v)).map(|t| t.0);
        match (dims(out), dims(bias)) {
            (Some([_, columns]), Some([n])) => {
                use tangram_affine::symbolic::Truth;
                tangram_dialects::dims::equal(context, *columns, *n) == Truth::True
            }
            _ => false,
        }
    }

    pub(super) fn batch_norm(&mut self) -> Result<Outputs> {
        let training = int(self.node, "training_mode").unwrap_or(0) != 0;
        if training && self.version >= 14 {
            let momentum = find(self.node, "momentum").map_or(0.9, |a| a.f());
            let context = &self.importer.context;
            let number = |f: f32| context.float_attr(f64::from(f), FloatKind::F32);
            let epsilon = find(self.node, "epsilon").map_or(1e-5, |a| a.f());
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
}
