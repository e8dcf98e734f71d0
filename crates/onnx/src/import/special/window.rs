//! Convolutions and pooling: what a window slides over, and the padding around it.

use tangram_ir::{Dim, Value};

use super::Attrs;
use crate::error::Result;
use crate::import::attributes::{int, ints, text};
use crate::import::node::{NodeCx, Opaque, Outputs};

impl NodeCx<'_> {
    /// Number of spatial dimensions of a convolution or pooling, from weights, kernel or input.
    fn spatial(&self, weights: Option<Value>) -> Option<usize> {
        weights
            .and_then(|w| self.rank(w))
            .or_else(|| self.need(0).ok().and_then(|x| self.rank(x)))
            .and_then(|rank| rank.checked_sub(2))
            .or_else(|| ints(self.node, "kernel_shape").map(|k| k.len()))
    }

    /// `padding`; the mode itself where the numbers depend on extents that are not known.
    fn padding(&self, n: usize, kernel: Option<&[i64]>, attrs: &mut Attrs) {
        let list = |name: &str, fill: i64| ints(self.node, name).unwrap_or_else(|| vec![fill; n]);
        let mode = text(self.node, "auto_pad").unwrap_or("NOTSET");
        let pads = match mode {
            "NOTSET" => Some(ints(self.node, "pads").unwrap_or_else(|| vec![0; 2 * n])),
            "VALID" => Some(vec![0; 2 * n]),
            _ if self.node.op_type() == "ConvTranspose" => None,
            _ => kernel.and_then(|kernel| {
                let x = self.need(0).ok()?;
                let ty = self.module().value_type(x);
                let (dims, _) = self.importer.context.as_tensor(ty)?;
                let lists = [kernel.to_vec(), list("strides", 1), list("dilations", 1)];
                same_padding(dims.get(2..)?, &lists, mode == "SAME_UPPER")
            }),
        };
        match pads {
            Some(pads) => attrs.push(("padding", self.ints_attr(&pads))),
            None => attrs.push(("padding", self.text_of(mode))),
        }
    }

    /// How the window of a convolution with weights `w` moves over `n` dimensions.
    fn sliding(&self, n: usize, w: Value) -> Attrs {
        let list = |name: &str| ints(self.node, name).unwrap_or_else(|| vec![1; n]);
        let kernel = self.static_shape(w).and_then(|shape| shape.get(2..).map(<[i64]>::to_vec));
        let mut attrs: Attrs = vec![
            ("strides", self.ints_attr(&list("strides"))),
            ("dilation", self.ints_attr(&list("dilations"))),
            ("groups", self.int_attr(int(self.node, "group").unwrap_or(1))),
        ];
        self.padding(n, kernel.as_deref(), &mut attrs);
        attrs
    }

    pub(super) fn conv(&mut self, stem: &str) -> Result<Outputs> {
        let (x, w) = (take!(self.need(0)), take!(self.need(1)));
        let n = self.spatial(Some(w));
        let transposed = stem == "conv_transpose";
        let name = match (n, transposed) {
            (Some(n @ 1..=3), false) => format!("nn.conv{n}d"),
            (Some(n @ 1..=3), true) => format!("nn.conv{n}d_transpose"),
            _ => format!("nn.{stem}"),
        };
        let Some(n) = n else { return Ok(Err(Opaque("the rank is unknown".into()))) };
        let extents = self.static_shape(w).and_then(|shape| shape.get(2..).map(<[i64]>::to_vec));
        if let (Some(said), Some(extents)) = (ints(self.node, "kernel_shape"), extents)
            && said != extents
        {
            let why = format!("`kernel_shape` is {said:?}, the weights have {extents:?}");
            return Ok(Err(Opaque(why)));
        }
        let mut attrs = self.sliding(n, w);
        if transposed {
            for name in ["output_padding", "output_shape"] {
                if let Some(list) = ints(self.node, name) {
                    attrs.push((name, self.ints_attr(&list)));
                }
            }
        }
        let out = take!(self.simple(&name, &[x, w], attrs));
        let Ok(bias) = self.need(2) else { return Ok(Ok(out)) };
        let axis = ("axis", self.int_attr(1));
        Ok(self.simple("nn.bias_add", &[out[0], bias], vec![axis]))
    }

    pub(super) fn integer_conv(&mut self) -> Result<Outputs> {
        let quantised = self.node.op_type() == "QLinearConv";
        let w = take!(self.need(if quantised { 3 } else { 1 }));
        let Some(n) = self.spatial(Some(w)) else {
            return Ok(Err(Opaque("the rank is unknown".into())));
        };
        let attrs = self.sliding(n, w);
        let name = if quantised { "nn.qlinear_conv" } else { "nn.conv_integer" };
        self.op_with(name, attrs, Vec::new(), 1)
    }

    pub(super) fn pool(&mut self, stem: &str) -> Result<Outputs> {
        let Some(kernel) = ints(self.node, "kernel_shape") else {
            return Ok(Err(Opaque("`kernel_shape` is absent".into())));
        };
        let n = kernel.len();
        let list = |name: &str| ints(self.node, name).unwrap_or_else(|| vec![1; n]);
        let flag = |name: &str| int(self.node, name).unwrap_or(0) != 0;
        let mut attrs: Attrs = vec![
            ("pool_size", self.ints_attr(&kernel)),
            ("strides", self.ints_attr(&list("strides"))),
            ("dilation", self.ints_attr(&list("dilations"))),
            ("ceil_mode", self.flag_attr(flag("ceil_mode"))),
        ];
        self.padding(n, Some(&kernel), &mut attrs);
        match stem {
            "avg_pool" => {
                attrs.push(("count_include_pad", self.flag_attr(flag("count_include_pad"))));
            }
            "lp_pool" => attrs.push(("p", self.int_attr(int(self.node, "p").unwrap_or(2)))),
            _ if int(self.node, "storage_order").unwrap_or(0) != 0 => {
                attrs.push(("storage_order", self.int_attr(1)));
            }
            _ => {}
        }
        let name = match (stem, n) {
            ("max_pool" | "avg_pool", 1..=3) => format!("nn.{stem}{n}d"),
            _ => format!("nn.{stem}"),
        };
        self.op_with(&name, attrs, Vec::new(), self.node.output.len())
    }
}

/// Begins, then ends, so that the output has `ceil(extent / stride)` elements; `None` unless
/// every extent is a number, or does not matter because the stride is 1.
fn same_padding(extents: &[Dim], lists: &[Vec<i64>; 3], upper: bool) -> Option<Vec<i64>> {
    let [kernel, strides, dilations] = lists;
    let n = kernel.len();
    if extents.len() != n || strides.len() != n || dilations.len() != n {
        return None;
    }
    let mut pads = vec![0; 2 * n];
    for i in 0..n {
        let window = kernel[i].checked_sub(1)?.checked_mul(dilations[i])?.checked_add(1)?;
        let total = match (extents[i].as_static(), strides[i]) {
            (_, 1) => window - 1,
            (Some(extent), stride) if stride > 1 => {
                let out = (extent + stride - 1).div_euclid(stride);
                (out - 1).checked_mul(stride)?.checked_add(window)?.checked_sub(extent)?.max(0)
            }
            _ => return None,
        };
        let small = total / 2;
        (pads[i], pads[n + i]) =
            if upper { (small, total - small) } else { (total - small, small) };
    }
    Some(pads)
}
