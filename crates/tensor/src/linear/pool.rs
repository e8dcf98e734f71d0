//! Pools: one number for each window of each channel.

use crate::dispatch;
use crate::dtype::DType;
use crate::element::Number;
use crate::error::Result;
use crate::layout::Nest;
use crate::linear::window::{Window, WindowParams, Windows, unravel, windows};
use crate::reduce::{Reduce, reduce};
use crate::refuse;
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::{floats, from_f64s};

/// The windows of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PoolParams {
    /// Extent of the window along each spatial dimension.
    pub kernel: Vec<usize>,
    /// How it moves.
    pub window: WindowParams,
    /// Whether a last window may reach over the end.
    pub ceil_mode: bool,
}

/// How the positions of maxima are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StorageOrder {
    /// The last spatial dimension varies fastest.
    #[default]
    RowMajor,
    /// The first spatial dimension varies fastest; batch and channels stay outermost.
    ColumnMajor,
}

/// Takes the greatest element of each window, and where it is: ONNX `MaxPool`.
///
/// `x`: batch, channels, then spatial extents; integers of 8 to 64 bits, or floats of 16 to 64.
/// Returns the maxima, and for each the index (`int64`) of the first such element in the flattened
/// `x`. Padding never wins; a window with nothing but padding gives the least value, and -1. A
/// window with a NaN gives the first NaN.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`BadDType`](crate::KernelError::BadDType), [`TooLarge`](crate::KernelError::TooLarge).
pub fn max_pool(x: &Tensor, params: &PoolParams, order: StorageOrder) -> Result<(Tensor, Tensor)> {
    dispatch!(number, "max_pool", x.dtype(), T => max_pool_of::<T>(x, params, order))
}

fn max_pool_of<T: Number>(
    x: &Tensor,
    params: &PoolParams,
    order: StorageOrder,
) -> Result<(Tensor, Tensor)> {
    let pool = Pool::new("max_pool", x, params)?;
    let len = checked_count(DType::I64, &pool.shape)?;
    let data = x.view::<T>()?;
    let (mut maxima, mut indices) = (vec![T::LOWEST; len], vec![-1i64; len]);
    pool.walk(len, |position, taps| {
        for channel in 0..pool.channels {
            let base = channel * pool.spatial;
            let better = |best: &usize, tap: &usize| {
                let (old, new) = (data[base + best], data[base + tap]);
                !old.is_not_a_number() && (new > old || new.is_not_a_number())
            };
            let best = taps.iter().reduce(|best, tap| if better(best, tap) { tap } else { best });
            if let Some(&best) = best {
                let out = channel * pool.positions + position;
                maxima[out] = data[base + best];
                indices[out] = (base + pool.ordered(best, order)) as i64;
            }
        }
    });
    Ok((Tensor::from_vec(&pool.shape, maxima)?, Tensor::from_vec(&pool.shape, indices)?))
}

/// Takes the mean of each window: ONNX `AveragePool`.
///
/// `x`: batch, channels, then spatial extents, floats. With `count_include_pad`, padding counts as
/// zeros; what a window covers beyond the padding (with `ceil_mode`) never counts. The mean of
/// nothing is 0. Sums run in `f64` and round once.
///
/// # Errors
/// As [`max_pool`].
pub fn avg_pool(x: &Tensor, params: &PoolParams, count_include_pad: bool) -> Result<Tensor> {
    let pool = Pool::new("avg_pool", x, params)?;
    let counts = |position: usize, inside: usize| {
        if count_include_pad { pool.padded_taps(position) } else { inside }
    };
    fold_floats(
        "avg_pool",
        x,
        &pool,
        |x| x,
        |sum, position, inside| {
            if inside == 0 { 0.0 } else { sum / counts(position, inside) as f64 }
        },
    )
}

/// Takes the `p`-norm of each window: ONNX `LpPool`. Padding counts as zeros.
///
/// # Errors
/// As [`max_pool`]; [`BadParameter`](crate::KernelError::BadParameter) unless `p` is at least 1.
pub fn lp_pool(x: &Tensor, params: &PoolParams, p: i64) -> Result<Tensor> {
    let pool = Pool::new("lp_pool", x, params)?;
    let p = checked_p("lp_pool", p)?;
    fold_floats("lp_pool", x, &pool, |x| x.abs().powi(p), |sum, _, _| root(sum, p))
}

/// Takes the mean over all spatial dimensions, which stay with extent 1.
///
/// # Errors
/// As [`max_pool`].
pub fn global_avg_pool(x: &Tensor) -> Result<Tensor> {
    global("global_avg_pool", Reduce::Mean, x)
}

/// Takes the maximum over all spatial dimensions, which stay with extent 1.
///
/// # Errors
/// As [`max_pool`].
pub fn global_max_pool(x: &Tensor) -> Result<Tensor> {
    global("global_max_pool", Reduce::Max, x)
}

fn global(name: &'static str, kind: Reduce, x: &Tensor) -> Result<Tensor> {
    if x.rank() < 2 {
        return Err(refuse::shape(name, "batch, channels and spatial extents", x));
    }
    let spatial: Vec<i64> = (2..x.rank() as i64).collect();
    reduce(kind, x, &spatial, true, true)
}

/// Takes the `p`-norm over all spatial dimensions, which stay with extent 1.
///
/// # Errors
/// As [`lp_pool`].
pub fn global_lp_pool(x: &Tensor, p: i64) -> Result<Tensor> {
    let kernel = x.shape().iter().skip(2).map(|&size| size.max(1)).collect();
    // A window over nothing still gives one number.
    let pads: Vec<i64> = x.shape().iter().skip(2).map(|&size| i64::from(size == 0)).collect();
    let pads = pads.iter().map(|_| 0).chain(pads.iter().copied()).collect();
    let window = WindowParams { pads, ..WindowParams::default() };
    lp_pool(x, &PoolParams { kernel, window, ceil_mode: false }, p)
}

fn checked_p(name: &'static str, p: i64) -> Result<i32> {
    let small = i32::try_from(p).ok().filter(|&p| p > 0);
    small.ok_or_else(|| refuse::parameter(name, "p", "a number from 1 to 2^31 - 1", p))
}

fn root(sum: f64, p: i32) -> f64 {
    match p {
        1 => sum,
        2 => sum.sqrt(),
        _ => sum.powf(1.0 / f64::from(p)),
    }
}

/// Sums what `lift` makes of the elements; `finish` sees sum, position and number of elements.
fn fold_floats(
    name: &'static str,
    x: &Tensor,
    pool: &Pool,
    lift: impl Fn(f64) -> f64,
    finish: impl Fn(f64, usize, usize) -> f64,
) -> Result<Tensor> {
    let data = floats(name, x)?;
    let len = checked_count(DType::F64, &pool.shape)?;
    let mut out = vec![0.0; len];
    pool.walk(len, |position, taps| {
        for channel in 0..pool.channels {
            let channel_data = &data[channel * pool.spatial..][..pool.spatial];
            let sum = taps.iter().map(|&tap| lift(channel_data[tap])).sum();
            out[channel * pool.positions + position] = finish(sum, position, taps.len());
        }
    });
    from_f64s(x.dtype(), &pool.shape, out)
}

/// The extents of a pool, checked.
struct Pool {
    /// Batches times channels.
    channels: usize,
    spatial: usize,
    positions: usize,
    shape: Shape,
    windows: Windows,
}

impl Pool {
    fn new(name: &'static str, x: &Tensor, params: &PoolParams) -> Result<Pool> {
        if x.rank() < 2 {
            return Err(refuse::shape(name, "batch, channels and spatial extents", x));
        }
        let (leading, input) = x.shape().split_at(2);
        let windows = windows(name, input, &params.kernel, &params.window, params.ceil_mode)?;
        let counts: Shape = windows.iter().map(|window| window.count).collect();
        Ok(Pool {
            channels: leading.iter().product(),
            spatial: input.iter().product(),
            positions: checked_count(DType::U8, &counts)?,
            shape: leading.iter().copied().chain(counts).collect(),
            windows,
        })
    }

    /// Calls `visit` for each window with its position and the offsets of its elements in a
    /// channel, in row-major order. Of an empty result nothing is visited.
    fn walk(&self, len: usize, mut visit: impl FnMut(usize, &[usize])) {
        let strides = crate::layout::row_major(
            &self.windows.iter().map(|window| window.input as usize).collect::<Shape>(),
        );
        let mut taps = Vec::new();
        for position in 0..if len == 0 { 0 } else { self.positions } {
            let at = unravel(position, self.windows.iter().map(|window| window.count));
            let (mut sizes, mut steps, mut base) = (Shape::new(), crate::layout::Strides::new(), 0);
            for (axis, window) in self.windows.iter().enumerate() {
                let inside = window.taps(at[axis], window.input);
                let first = window.start(at[axis]) + inside.start * window.dilation;
                base += first as isize * strides[axis];
                sizes.push((inside.end - inside.start) as usize);
                steps.push(window.dilation as isize * strides[axis]);
            }
            taps.clear();
            Nest::new(&sizes, [&steps]).walk([base], |[offset]| taps.push(offset as usize));
            visit(position, &taps);
        }
    }

    /// The number of elements of a window, those in the padding included.
    fn padded_taps(&self, position: usize) -> usize {
        let at = unravel(position, self.windows.iter().map(|window| window.count));
        let along = |(axis, window): (usize, &Window)| {
            // From the beginning of the padding on, not of the input.
            let past = window.input + window.after + window.before;
            let shifted = Window { before: 0, ..*window };
            shifted.taps(at[axis], past).count()
        };
        self.windows.iter().enumerate().map(along).product()
    }

    /// The index of an element of a channel, given its row-major offset.
    fn ordered(&self, offset: usize, order: StorageOrder) -> usize {
        if order == StorageOrder::RowMajor {
            return offset;
        }
        let at = unravel(offset, self.windows.iter().map(|window| window.input as usize));
        let sizes = self.windows.iter().map(|window| window.input as usize);
        let along = |(index, stride): (usize, usize), (at, size): (usize, usize)| {
            (index + at * stride, stride * size)
        };
        at.into_iter().zip(sizes).fold((0, 1), along).0
    }
}
