//! Operations that take tensors apart: splits and slices.

use tangram_ir::{Op, Value};
use tangram_tensor::Tensor;

use crate::error::Result;
use crate::export::Exporter;
use crate::export::node::{int, ints};
use crate::proto::NodeProto;

impl Exporter<'_> {
    pub(super) fn split(&mut self, op: Op) -> Result<()> {
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
        let name = self.node_name(outputs.first());
        self.push(NodeProto {
            name,
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

    pub(super) fn slice(&mut self, op: Op) -> Result<()> {
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
}
