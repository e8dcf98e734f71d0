//! Operations on images: scaling, regions, sampling.

use tangram_ir::Op;
use tangram_tensor::Tensor;

use crate::error::Result;
use crate::export::Exporter;
use crate::export::node::{floats, int, text};

/// Attributes that `Resize` has since operator set 18.
const SINCE_18: &[&str] = &["antialias", "axes", "keep_aspect_ratio_policy"];

impl Exporter<'_> {
    pub(super) fn resize(&mut self, op: Op) -> Result<()> {
        if self.opset < 11 {
            return self.resize_10(op);
        }
        let mut inputs = self.inputs(op);
        let mut attributes = Vec::new();
        for &(name, value) in self.context.entries(self.module.attrs(op)) {
            match self.context.text(name) {
                "scales" | "sizes" => {}
                name if self.opset < 18 && SINCE_18.contains(&name) => {
                    // What was not there yet is done as by default.
                    if self.context.as_text(value) != Some("stretch")
                        && self.context.as_bool(value) != Some(false)
                    {
                        return Err(self.inexpressible(op, "it needs operator set 18"));
                    }
                }
                name => attributes.extend(self.plain_attr(name, value)),
            }
        }
        // The region of interest stays an operand; scales and sizes may have become attributes.
        if inputs.get(1).is_none_or(String::is_empty) {
            inputs.truncate(1);
            inputs.push(self.empty_roi());
        }
        if let Some(scales) = self.module.attr(op, "scales") {
            let list = self.plain_attr("scales", scales).map(|proto| proto.floats);
            inputs.truncate(2);
            inputs.push(self.pooled(&Tensor::vector(list.unwrap_or_default()), "scales"));
        } else if let Some(sizes) = self.ints_of(op, "sizes") {
            inputs.truncate(2);
            inputs.push(self.empty_roi());
            inputs.push(self.pooled(&Tensor::vector(sizes), "sizes"));
        }
        while inputs.last().is_some_and(String::is_empty) {
            inputs.pop();
        }
        self.write(op, "Resize", inputs, attributes);
        Ok(())
    }

    /// Before operator set 11 there are scales only, and coordinates are not shifted. Of the nearest
    /// the lower is taken where the axis grows, the upper where it shrinks.
    fn resize_10(&mut self, op: Op) -> Result<()> {
        let scales = self.module.attr(op, "scales").and_then(|a| self.plain_attr("scales", a));
        let Some(scales) = scales.map(|proto| proto.floats) else {
            return Err(self.inexpressible(op, "sizes and computed scales need operator set 11"));
        };
        let grows = scales.iter().all(|&scale| scale >= 1.0);
        let shrinks = scales.iter().all(|&scale| scale <= 1.0);
        let nearest = match self.text_of(op, "nearest_mode").unwrap_or("round_prefer_floor") {
            "floor" => grows,
            "ceil" => shrinks,
            _ => false,
        };
        let mode = self.text_of(op, "mode").unwrap_or("nearest").to_owned();
        let same = match &*mode {
            "nearest" => nearest,
            mode => mode == "linear" && !self.flag_of(op, "antialias"),
        };
        let asymmetric = self.text_of(op, "coordinate_transformation_mode") == Some("asymmetric");
        let whole = !self.flag_of(op, "exclude_outside") && self.module.attr(op, "axes").is_none();
        if !(same && asymmetric && whole && (self.opset == 10 || grows)) {
            return Err(self.inexpressible(op, "it needs operator set 11"));
        }
        let mut inputs = vec![self.input(self.module.operand(op, 0))];
        let mut attributes = vec![text("mode", &mode)];
        if self.opset < 9 {
            attributes.push(floats("scales", scales));
        } else {
            inputs.push(self.pooled(&Tensor::vector(scales), "scales"));
        }
        self.write(op, if self.opset < 10 { "Upsample" } else { "Resize" }, inputs, attributes);
        Ok(())
    }

    /// The region of interest is optional from operator set 13 on, and empty before.
    fn empty_roi(&mut self) -> String {
        if self.opset >= 13 {
            return String::new();
        }
        self.pooled(&Tensor::vector(Vec::<f32>::new()), "roi")
    }

    pub(super) fn grid_sample(&mut self, op: Op) {
        let mode = match (self.text_of(op, "mode").unwrap_or("linear"), self.opset >= 20) {
            ("linear", false) => "bilinear",
            ("cubic", false) => "bicubic",
            (mode, _) => mode,
        };
        let mut attributes = vec![text("mode", mode)];
        if let Some(border) = self.text_of(op, "padding_mode") {
            attributes.push(text("padding_mode", border));
        }
        if self.flag_of(op, "align_corners") {
            attributes.push(int("align_corners", 1));
        }
        let inputs = self.inputs(op);
        self.write(op, "GridSample", inputs, attributes);
    }

    pub(super) fn roi_align(&mut self, op: Op) -> Result<()> {
        const MODE: &str = "coordinate_transformation_mode";
        // Regions were not shifted by half a pixel, and at least one pixel large.
        if self.opset < 16 && self.text_of(op, MODE) != Some("output_half_pixel") {
            return Err(self.inexpressible(op, "half a pixel of shift needs operator set 16"));
        }
        let mut attributes = Vec::new();
        for &(name, value) in self.context.entries(self.module.attrs(op)) {
            let name = self.context.text(name);
            if name != MODE || self.opset >= 16 {
                attributes.extend(self.plain_attr(name, value));
            }
        }
        let inputs = self.inputs(op);
        self.write(op, "RoiAlign", inputs, attributes);
        Ok(())
    }
}
