//! Pools over regions of interest: ONNX `RoiAlign` and `MaxRoiPool`.

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::resolve_index;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{floats, from_f64s};

/// A cell is sampled at no more points than this along one dimension.
const MAX_SAMPLES: f64 = 4096.0;

/// What becomes of the samples of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RoiMode {
    /// Their mean.
    #[default]
    Avg,
    /// The greatest of all weighted neighbours, as the standard's reference has it.
    Max,
}

/// How [`roi_align`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoiAlignParams {
    /// Cells of a region, down.
    pub output_height: usize,
    /// Cells of a region, across.
    pub output_width: usize,
    /// Samples of a cell along each dimension; 0 adapts to the size of the region.
    pub sampling_ratio: usize,
    /// From coordinates of regions to those of the data.
    pub spatial_scale: f64,
    /// What becomes of the samples.
    pub mode: RoiMode,
    /// Whether the centre of the first element is at 0.5, not at 0.
    pub half_pixel: bool,
}

/// Pools over regions, sampling between elements.
///
/// `x`: batch, channels, height, width. `rois`: regions by 4 (x1, y1, x2, y2). `batch_indices`:
/// one for each region. The result: regions, channels, output height, output width.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadDType`](crate::KernelError::BadDType),
/// [`IndexOutOfRange`](crate::KernelError::IndexOutOfRange),
/// [`TooLarge`](crate::KernelError::TooLarge); [`BadParameter`](crate::KernelError::BadParameter)
/// if a cell would take more than 4096 samples along a dimension.
pub fn roi_align(
    x: &Tensor,
    rois: &Tensor,
    batch_indices: &Tensor,
    params: &RoiAlignParams,
) -> Result<Tensor> {
    const NAME: &str = "roi_align";
    let image = Image::of(NAME, x)?;
    let regions = floats(NAME, rois)?;
    if rois.rank() != 2 || rois.shape()[1] != 4 || batch_indices.shape() != [rois.shape()[0]] {
        return Err(refuse::shape(NAME, "regions by 4, with a batch for each", rois));
    }
    let cells = [params.output_height, params.output_width];
    let shape = [rois.shape()[0], image.channels, cells[0], cells[1]];
    let mut out = Vec::with_capacity(checked_count(DType::F64, &shape)?);
    if shape.contains(&0) || image.size() == 0 {
        out.resize(out.capacity(), 0.0);
        return from_f64s(x.dtype(), &shape, out);
    }
    let data = floats(NAME, x)?;
    for (region, batch) in regions.chunks_exact(4).zip(batch_indices.i64s()?) {
        let batch = resolve_index(NAME, batch, x.shape()[0])?;
        let vertical = Cells::new([region[1], region[3]], cells[0], params)?;
        let horizontal = Cells::new([region[0], region[2]], cells[1], params)?;
        for channel in 0..image.channels {
            let data = image.channel(&data, batch, channel);
            for row in 0..cells[0] {
                for column in 0..cells[1] {
                    let points = (vertical.points(row), horizontal.points(column));
                    out.push(pool_cell(&image, data, points, params.mode));
                }
            }
        }
    }
    from_f64s(x.dtype(), &shape, out)
}

fn pool_cell(
    image: &Image,
    data: &[f64],
    (down, across): (Vec<f64>, Vec<f64>),
    mode: RoiMode,
) -> f64 {
    let count = (down.len() * across.len()).max(1) as f64;
    let (mut sum, mut greatest) = (0.0, f64::NEG_INFINITY);
    for &y in &down {
        for &x in &across {
            for (at, weight) in image.neighbours(y, x) {
                sum += weight * data[at];
                greatest = greatest.max(weight * data[at]);
            }
        }
    }
    match mode {
        RoiMode::Avg => sum / count,
        RoiMode::Max if down.is_empty() || across.is_empty() => 0.0,
        RoiMode::Max => greatest,
    }
}

/// The cells of a region along one dimension.
struct Cells {
    start: f64,
    size: f64,
    samples: usize,
}

impl Cells {
    fn new(ends: [f64; 2], count: usize, params: &RoiAlignParams) -> Result<Cells> {
        let offset = if params.half_pixel { 0.5 } else { 0.0 };
        let [start, end] = ends.map(|end| end * params.spatial_scale - offset);
        // Without half pixels, regions of less than an element count as one.
        let extent = if params.half_pixel { end - start } else { (end - start).max(1.0) };
        let size = extent / count as f64;
        let samples = match params.sampling_ratio {
            0 => size.ceil(),
            ratio => ratio as f64,
        };
        if samples.is_nan() || samples > MAX_SAMPLES {
            let expected = "regions of few samples";
            return Err(refuse::parameter("roi_align", "sampling_ratio", expected, samples));
        }
        Ok(Cells { start, size, samples: samples.max(0.0) as usize })
    }

    fn points(&self, cell: usize) -> Vec<f64> {
        let first = self.start + cell as f64 * self.size;
        let point = |i: usize| first + (i as f64 + 0.5) * self.size / self.samples as f64;
        (0..self.samples).map(point).collect()
    }
}

/// The extents of an image.
struct Image {
    channels: usize,
    height: usize,
    width: usize,
}

impl Image {
    fn of(name: &'static str, x: &Tensor) -> Result<Image> {
        match *x.shape() {
            [_, channels, height, width] => Ok(Image { channels, height, width }),
            _ => Err(refuse::shape(name, "batch, channels, height, width", x)),
        }
    }

    fn size(&self) -> usize {
        self.height * self.width
    }

    fn channel<'d>(&self, data: &'d [f64], batch: usize, channel: usize) -> &'d [f64] {
        &data[(batch * self.channels + channel) * self.size()..][..self.size()]
    }

    /// The four elements around a point, and their weights: all 0 outside, by more than 1.
    fn neighbours(&self, y: f64, x: f64) -> [(usize, f64); 4] {
        let inside = |at: f64, size: usize| (-1.0..=size as f64).contains(&at);
        if !inside(y, self.height) || !inside(x, self.width) {
            return [(0, 0.0); 4];
        }
        let split = |at: f64, size: usize| {
            let (at, last) = (at.max(0.0), size - 1);
            match at as usize {
                low if low >= last => (last, last, 0.0),
                low => (low, low + 1, at - low as f64),
            }
        };
        let ((top, bottom, v), (left, right, h)) = (split(y, self.height), split(x, self.width));
        [
            (top * self.width + left, (1.0 - v) * (1.0 - h)),
            (top * self.width + right, (1.0 - v) * h),
            (bottom * self.width + left, v * (1.0 - h)),
            (bottom * self.width + right, v * h),
        ]
    }
}

/// Takes the maximum of each cell of regions.
///
/// `x`: batch, channels, height, width. `rois`: regions by 5 (batch, x1, y1, x2, y2); corners
/// times `spatial_scale` round to elements, both included. `pooled`: cells down and across. The
/// result: regions, channels, then `pooled`; 0 for a cell outside the image.
///
/// # Errors
/// As [`roi_align`].
pub fn max_roi_pool(
    x: &Tensor,
    rois: &Tensor,
    pooled: [usize; 2],
    spatial_scale: f64,
) -> Result<Tensor> {
    const NAME: &str = "max_roi_pool";
    let image = Image::of(NAME, x)?;
    let regions = floats(NAME, rois)?;
    if rois.rank() != 2 || rois.shape()[1] != 5 {
        return Err(refuse::shape(NAME, "regions by 5", rois));
    }
    let shape = [rois.shape()[0], image.channels, pooled[0], pooled[1]];
    let mut out = Vec::with_capacity(checked_count(DType::F64, &shape)?);
    if shape.contains(&0) {
        return from_f64s(x.dtype(), &shape, out);
    }
    let data = floats(NAME, x)?;
    for region in regions.chunks_exact(5) {
        let batch = resolve_index(NAME, region[0] as i64, x.shape()[0])?;
        let at = |k: usize| (region[k] * spatial_scale).round();
        let cell = |cell: usize, count: usize, (start, end): (f64, f64), size: usize| {
            let extent = (end - start + 1.0).max(1.0) / count as f64;
            let low = (cell as f64 * extent).floor() + start;
            let high = ((cell + 1) as f64 * extent).ceil() + start;
            (low.clamp(0.0, size as f64) as usize, high.clamp(0.0, size as f64) as usize)
        };
        for channel in 0..image.channels {
            let data = image.channel(&data, batch, channel);
            for place in 0..pooled[0] * pooled[1] {
                let rows = cell(place / pooled[1], pooled[0], (at(2), at(4)), image.height);
                let columns = cell(place % pooled[1], pooled[1], (at(1), at(3)), image.width);
                out.push(greatest(data, image.width, rows, columns));
            }
        }
    }
    from_f64s(x.dtype(), &shape, out)
}

/// The greatest element of a rectangle, 0 if it is empty.
fn greatest(data: &[f64], width: usize, rows: (usize, usize), columns: (usize, usize)) -> f64 {
    if rows.0 >= rows.1 || columns.0 >= columns.1 {
        return 0.0;
    }
    let row = |row: usize| &data[row * width + columns.0..row * width + columns.1];
    (rows.0..rows.1).flat_map(row).fold(f64::NEG_INFINITY, |a, &b| a.max(b))
}
