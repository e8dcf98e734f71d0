//! Operators that take tensors apart: splits and slices.

use tangram_dialects::constant;
use tangram_ir::{Dim, Value};

use super::Attrs;
use crate::error::Result;
use crate::import::attributes::{int, ints};
use crate::import::node::{NodeCx, Outputs};

impl NodeCx<'_> {
    pub(super) fn split(&mut self) -> Result<Outputs> {
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

    /// Returns whether parts of these sizes are what a split into equal parts gives.
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

    pub(super) fn slice(&mut self) -> Result<Outputs> {
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
}
