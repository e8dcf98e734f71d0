//! Operators on images: scaling, regions, sampling.

use tangram_dialects::constant;
use tangram_ir::{Attr, FloatKind};
use tangram_tensor::Tensor;

use super::Attrs;
use crate::error::Result;
use crate::import::attributes::{find, int, text};
use crate::import::node::{NodeCx, Opaque, Outputs};

impl NodeCx<'_> {
    pub(super) fn resize(&mut self) -> Result<Outputs> {
        let upsample = self.node.op_type() == "Upsample";
        let old = upsample || self.version < 11;
        let mode = text(self.node, "mode").unwrap_or("nearest").to_owned();
        let mut attrs: Attrs = vec![("mode", self.text_of(&mode))];
        if old {
            // One scales input, and coordinates without any shift.
            attrs.push(("coordinate_transformation_mode", self.text_of("asymmetric")));
            let scales = self.inputs.get(1).copied().flatten();
            self.inputs.truncate(1);
            let constant = scales.and_then(|value| constant::constant_tensor(self.module(), value));
            let known = match constant.and_then(|t| t.view::<f32>().map(|v| v.into_owned()).ok()) {
                Some(list) => Some(list),
                None => find(self.node, "scales").map(|a| a.floats.clone()),
            };
            if !upsample && mode == "nearest" {
                return self.resize_nearest_10(attrs, known);
            }
            attrs.push(("nearest_mode", self.text_of("floor")));
            match (known, scales) {
                (Some(list), _) => attrs.push(("scales", self.floats_attr(&list))),
                (None, Some(scales)) => self.inputs.extend([None, Some(scales)]),
                (None, None) => return Ok(Err(Opaque("`scales` are absent".into()))),
            }
        }
        let mut known = vec!["mode", "scales"];
        let defaults = [
            ("coordinate_transformation_mode", "half_pixel"),
            ("nearest_mode", "round_prefer_floor"),
            ("keep_aspect_ratio_policy", "stretch"),
        ];
        for (name, default) in defaults {
            known.push(name);
            if !attrs.iter().any(|entry| entry.0 == name) {
                let given = text(self.node, name).unwrap_or(default).to_owned();
                attrs.push((name, self.text_of(&given)));
            }
        }
        for name in ["antialias", "exclude_outside"] {
            known.push(name);
            if let Some(flag) = int(self.node, name) {
                attrs.push((name, self.flag_attr(flag != 0)));
            }
        }
        let others = self.others_but(&known)?;
        self.absorb_sizes(&mut attrs);
        self.op_with("nn.resize", attrs, others, 1)
    }

    /// `Resize` of operator set 10 takes the lower of two pixels along an axis that grows, the upper
    /// along one that shrinks: two steps, where there are both.
    fn resize_nearest_10(&mut self, attrs: Attrs, scales: Option<Vec<f32>>) -> Result<Outputs> {
        let Some(scales) = scales else {
            let why = "which of two pixels is the nearest depends on scales that are computed";
            return Ok(Err(Opaque(why.into())));
        };
        let bounded = |bound: fn(f32, f32) -> f32| -> Vec<f32> {
            scales.iter().map(|&scale| bound(scale, 1.0)).collect()
        };
        let mut outputs = vec![take!(self.need(0))];
        for (list, nearest) in [(bounded(f32::max), "floor"), (bounded(f32::min), "ceil")] {
            // One step at least: a node is one operation or more.
            let idle = list.iter().all(|&scale| scale == 1.0);
            if idle && (nearest == "floor" || scales.iter().any(|&scale| scale > 1.0)) {
                continue;
            }
            let mut step = attrs.clone();
            step.push(("nearest_mode", self.text_of(nearest)));
            step.push(("scales", self.floats_attr(&list)));
            outputs = take!(self.simple("nn.resize", &[outputs[0]], step));
        }
        Ok(Ok(outputs))
    }

    fn floats_attr(&self, floats: &[f32]) -> Attr {
        let context = &self.importer.context;
        let item = |&f: &f32| context.float_attr(f64::from(f), FloatKind::F32);
        context.array_attr(&floats.iter().map(item).collect::<Vec<_>>())
    }

    /// Constant scales or sizes become attributes, where no region of interest is in the way.
    fn absorb_sizes(&mut self, attrs: &mut Attrs) {
        let tensor = |cx: &Self, i: usize| {
            cx.inputs.get(i).copied().flatten().map(|v| constant::constant_tensor(cx.module(), v))
        };
        let empty = |found: &Option<Option<Tensor>>| match found {
            None => true,
            Some(Some(tensor)) => tensor.is_empty(),
            Some(None) => false,
        };
        let (roi, scales, sizes) = (tensor(self, 1), tensor(self, 2), tensor(self, 3));
        if !empty(&roi) {
            return;
        }
        let float = |t: &Tensor| t.view::<f32>().map(|v| v.into_owned()).ok();
        if let (Some(Some(scales)), true) = (&scales, empty(&sizes)) {
            if let Some(floats) = float(scales) {
                attrs.push(("scales", self.floats_attr(&floats)));
                self.inputs.truncate(1);
            }
        } else if let (Some(Some(sizes)), true) = (&sizes, empty(&scales))
            && let Ok(list) = sizes.i64s()
        {
            attrs.push(("sizes", self.ints_attr(&list)));
            self.inputs.truncate(1);
        }
    }

    /// The interpolations of images had names of their own before opset 20.
    pub(super) fn grid_sample(&mut self) -> Result<Outputs> {
        let mode = match text(self.node, "mode").unwrap_or("linear") {
            "bilinear" => "linear",
            "bicubic" => "cubic",
            mode => mode,
        };
        let border = text(self.node, "padding_mode").unwrap_or("zeros");
        let attrs = vec![
            ("mode", self.text_of(mode)),
            ("padding_mode", self.text_of(border)),
            ("align_corners", self.flag_attr(int(self.node, "align_corners").unwrap_or(0) != 0)),
        ];
        self.op_with("nn.grid_sample", attrs, Vec::new(), 1)
    }

    pub(super) fn roi_align(&mut self) -> Result<Outputs> {
        let old = self.version < 16;
        let shift = if old { "output_half_pixel" } else { "half_pixel" };
        let given = text(self.node, "coordinate_transformation_mode").unwrap_or(shift).to_owned();
        let attrs = vec![("coordinate_transformation_mode", self.text_of(&given))];
        let others = self.others_but(&["coordinate_transformation_mode"])?;
        self.op_with("nn.roi_align", attrs, others, 1)
    }
}
