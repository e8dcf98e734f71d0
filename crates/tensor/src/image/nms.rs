//! Choice among overlapping boxes: ONNX `NonMaxSuppression`.

use crate::budget;
use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::Tensor;
use crate::wide::one_float;

/// How [`non_max_suppression`] chooses.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct NmsParams {
    /// The most boxes chosen for one class of one batch.
    pub max_boxes_per_class: usize,
    /// A box that overlaps a chosen one by more than this share of their union is dropped.
    pub iou_threshold: f64,
    /// Boxes with this score or a lower one are dropped.
    pub score_threshold: Option<f64>,
    /// Whether boxes are centre and extents (x, y, width, height), not corners (y, x, y, x).
    pub center_point_box: bool,
}

/// Chooses boxes by descending score, and drops those that overlap a chosen one too much.
///
/// `boxes`: batch, boxes, 4; corners in any order. `scores`: batch, classes, boxes. Returns one
/// row (`int64`) for each chosen box: batch, class, box; by batch, then class, then score. Of two
/// boxes with one score, the first comes first.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadDType`](crate::KernelError::BadDType),
/// [`MixedDTypes`](crate::KernelError::MixedDTypes).
pub fn non_max_suppression(boxes: &Tensor, scores: &Tensor, params: &NmsParams) -> Result<Tensor> {
    const NAME: &str = "non_max_suppression";
    one_float(NAME, &[boxes, scores])?;
    let (batches, count) = match *boxes.shape() {
        [batches, count, 4] => (batches, count),
        _ => return Err(refuse::shape(NAME, "batch, boxes, 4", boxes)),
    };
    let classes = match *scores.shape() {
        [b, classes, n] if b == batches && n == count => classes,
        _ => return Err(refuse::shape(NAME, format!("[{batches}, classes, {count}]"), scores)),
    };
    crate::tensor::checked_count(DType::I64, &[batches, classes])?;
    let (corners, scores) = (boxes.f64s()?, scores.f64s()?);
    let areas: Vec<Area> =
        corners.chunks_exact(4).map(|corners| Area::new(corners, params)).collect();
    let mut rows: Vec<i64> = Vec::new();
    let classes_in_all = if count == 0 { 0 } else { batches * classes };
    for class in 0..classes_in_all {
        let batch = class / classes;
        let areas = &areas[batch * count..][..count];
        for chosen in choose(areas, &scores[class * count..][..count], params)? {
            rows.extend([batch as i64, (class % classes) as i64, chosen as i64]);
        }
    }
    Tensor::from_vec([rows.len() / 3, 3], rows)
}

fn choose(areas: &[Area], scores: &[f64], params: &NmsParams) -> Result<Vec<usize>> {
    let above = |&at: &usize| params.score_threshold.is_none_or(|least| scores[at] > least);
    let mut candidates: Vec<usize> = (0..areas.len()).filter(above).collect();
    // A stable sort: equal scores stay in order.
    candidates.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut chosen: Vec<usize> = Vec::new();
    for at in candidates {
        // Each is compared with all that are chosen.
        budget::check_time()?;
        if chosen.len() >= params.max_boxes_per_class {
            break;
        }
        if !chosen.iter().any(|&c| areas[at].overlap(&areas[c]) > params.iou_threshold) {
            chosen.push(at);
        }
    }
    Ok(chosen)
}

/// A box by its lower and its upper corner.
struct Area {
    low: [f64; 2],
    high: [f64; 2],
}

impl Area {
    fn new(corners: &[f64], params: &NmsParams) -> Area {
        let [a, b, c, d] = [corners[0], corners[1], corners[2], corners[3]];
        if params.center_point_box {
            return Area { low: [a - c / 2.0, b - d / 2.0], high: [a + c / 2.0, b + d / 2.0] };
        }
        Area { low: [a.min(c), b.min(d)], high: [a.max(c), b.max(d)] }
    }

    fn size(&self) -> f64 {
        (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])
    }

    /// The intersection by the union; 0 if a box is empty.
    fn overlap(&self, other: &Area) -> f64 {
        let side = |k: usize| self.high[k].min(other.high[k]) - self.low[k].max(other.low[k]);
        let (height, width) = (side(0), side(1));
        if height <= 0.0 || width <= 0.0 || self.size() <= 0.0 || other.size() <= 0.0 {
            return 0.0;
        }
        let both = height * width;
        both / (self.size() + other.size() - both)
    }
}
