//! Windows that slide over spatial dimensions.
//!
//! Along one dimension, window `o` covers the elements `o * stride - before + k * dilation` for
//! `k < kernel`; those outside the input are padding. The number of windows is
//! `floor((before + input + after - span) / stride) + 1` with `span = dilation * (kernel - 1) + 1`;
//! with `ceil` it is rounded up instead, less the windows that would start after `before + input`.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::Result;
use crate::refuse;

/// No extent, stride, dilation, padding or kernel exceeds this, so that sums and products of two
/// of them do not overflow.
const LIMIT: i64 = 1 << 31;

/// How padding is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AutoPad {
    /// As given.
    #[default]
    NotSet,
    /// None.
    Valid,
    /// So much that there are `ceil(input / stride)` windows; an odd element goes to the end.
    SameUpper,
    /// Likewise; an odd element goes to the beginning.
    SameLower,
}

impl AutoPad {
    /// Whether padding follows from the number of windows.
    pub fn is_same(self) -> bool {
        matches!(self, AutoPad::SameUpper | AutoPad::SameLower)
    }

    /// Splits an amount of padding into what goes before and what after.
    pub(crate) fn split(self, total: i64) -> (i64, i64) {
        let smaller = total / 2;
        match self {
            AutoPad::SameUpper => (smaller, total - smaller),
            _ => (total - smaller, smaller),
        }
    }
}

/// How windows move, one entry for each spatial dimension; empty lists mean the defaults.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WindowParams {
    /// Distance of neighbouring windows, at least 1; 1 by default.
    pub strides: Vec<i64>,
    /// Distance of neighbouring elements of a window, at least 1; 1 by default.
    pub dilations: Vec<i64>,
    /// Padding before each dimension, then after each (twice as many entries); 0 by default.
    /// Negative padding crops.
    pub pads: Vec<i64>,
    /// What to do instead of `pads`.
    pub auto_pad: AutoPad,
}

/// A window along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Extent of the input.
    pub input: i64,
    /// Number of elements of the window.
    pub kernel: i64,
    /// Distance of windows.
    pub stride: i64,
    /// Distance of elements of the window.
    pub dilation: i64,
    /// Padding at the beginning.
    pub before: i64,
    /// Padding at the end.
    pub after: i64,
    /// Number of windows.
    pub count: usize,
}

/// The windows over all spatial dimensions.
pub(crate) type Windows = SmallVec<[Window; 3]>;

impl Window {
    /// From the first to the last element of the window.
    pub(crate) fn span(&self) -> i64 {
        self.dilation * (self.kernel - 1) + 1
    }

    /// Input coordinate of the first element of window `o`.
    pub(crate) fn start(&self, o: usize) -> i64 {
        o as i64 * self.stride - self.before
    }

    /// The elements of window `o` that lie in `0..end`.
    pub(crate) fn taps(&self, o: usize, end: i64) -> Range<i64> {
        let start = self.start(o);
        let first =
            if start < 0 { (-start).unsigned_abs().div_ceil(self.dilation as u64) } else { 0 };
        let past = if start < end { (end - 1 - start) / self.dilation + 1 } else { 0 };
        let past = past.min(self.kernel);
        (first as i64).min(past)..past
    }

    /// Counts the windows; `None` if not even one fits, by more than a stride, or by a fraction of
    /// one: of a negative quotient engines take the floor or what lies nearer to zero.
    fn counted(self, ceil: bool) -> Option<Window> {
        let padded = self.before + self.input;
        let room = padded + self.after - self.span();
        if !ceil && room < 0 && room % self.stride != 0 {
            return None;
        }
        let count = if ceil {
            let starts = |extent: i64| {
                extent.div_euclid(self.stride) + i64::from(extent.rem_euclid(self.stride) != 0)
            };
            (starts(room) + 1).min(starts(padded))
        } else {
            room.div_euclid(self.stride) + 1
        };
        Some(Window { count: usize::try_from(count).ok()?, ..self })
    }
}

/// Reads one entry for each of `count` dimensions.
pub(crate) fn per_axis(
    kernel: &'static str,
    parameter: &'static str,
    list: &[i64],
    count: usize,
    least: i64,
) -> Result<SmallVec<[i64; 6]>> {
    if list.is_empty() {
        return Ok(SmallVec::from_elem(least.max(0), count));
    }
    if list.len() != count {
        return Err(refuse::parameter(kernel, parameter, "one entry for each dimension", list));
    }
    if !list.iter().all(|n| (least..=LIMIT).contains(n)) {
        return Err(refuse::parameter(
            kernel,
            parameter,
            "small numbers, none below the least",
            list,
        ));
    }
    Ok(list.into())
}

/// Returns the padding that `auto_pad` stands for: before each dimension, then after each.
///
/// One entry for each spatial dimension in `input`, `kernel`, `strides` and `dilations`; missing
/// strides and dilations are 1. [`AutoPad::NotSet`] and [`AutoPad::Valid`] give zeros.
pub fn resolve_auto_pad(
    auto_pad: AutoPad,
    input: &[usize],
    kernel: &[usize],
    strides: &[i64],
    dilations: &[i64],
) -> Vec<i64> {
    let rank = input.len().min(kernel.len());
    let mut pads = vec![0; 2 * rank];
    for axis in 0..if auto_pad.is_same() { rank } else { 0 } {
        let one = |list: &[i64]| list.get(axis).map_or(1, |&n| n.clamp(1, LIMIT));
        let (stride, dilation) = (one(strides), one(dilations));
        let size = |n: usize| i64::try_from(n).map_or(LIMIT, |n| n.min(LIMIT));
        let (input, kernel) = (size(input[axis]), size(kernel[axis]));
        let count = input.unsigned_abs().div_ceil(stride as u64) as i64;
        let needed = (count - 1) * stride + dilation * (kernel - 1) + 1 - input;
        (pads[axis], pads[rank + axis]) = auto_pad.split(needed.max(0));
    }
    pads
}

/// Lays the windows out over the spatial dimensions `input`.
///
/// # Errors
/// [`BadParameter`](crate::KernelError::BadParameter) for lists of wrong length, strides or
/// dilations below 1, numbers beyond 2^31, or windows that do not fit.
pub(crate) fn windows(
    name: &'static str,
    input: &[usize],
    kernel: &[usize],
    params: &WindowParams,
    ceil: bool,
) -> Result<Windows> {
    let rank = input.len();
    let fits = |&n: &usize| n <= LIMIT as usize;
    if kernel.len() != rank || kernel.contains(&0) || !kernel.iter().chain(input).all(fits) {
        let expected = "one extent of 1 to 2^31 for each spatial dimension";
        return Err(refuse::parameter(name, "kernel_shape", expected, kernel));
    }
    let strides = per_axis(name, "strides", &params.strides, rank, 1)?;
    let dilations = per_axis(name, "dilations", &params.dilations, rank, 1)?;
    let pads = match params.auto_pad {
        AutoPad::NotSet => per_axis(name, "pads", &params.pads, 2 * rank, -LIMIT)?.to_vec(),
        auto => resolve_auto_pad(auto, input, kernel, &strides, &dilations),
    };
    let window = |axis: usize| Window {
        input: input[axis] as i64,
        kernel: kernel[axis] as i64,
        stride: strides[axis],
        dilation: dilations[axis],
        before: pads[axis],
        after: pads[rank + axis],
        count: 0,
    };
    let fitted = (0..rank).map(|axis| window(axis).counted(ceil)).collect::<Option<Windows>>();
    fitted.ok_or_else(|| {
        refuse::parameter(name, "kernel_shape", "a window that fits the padded input", kernel)
    })
}

/// Where each element of each window lies.
///
/// Entry `tap * positions.len() + p` is the offset, in the row-major input, of element `tap` of
/// the window `positions.start + p` (both row-major), or -1 in the padding.
pub(crate) fn offsets(windows: &[Window], positions: Range<usize>) -> Vec<isize> {
    let axes = axis_offsets(windows);
    let taps: usize = windows.iter().map(|w| w.kernel as usize).product();
    let mut out = vec![0isize; taps * positions.len()];
    let mut coordinates = Vec::with_capacity(positions.len() * windows.len());
    for position in positions.clone() {
        coordinates.extend(unravel(position, windows.iter().map(|w| w.count)));
    }
    for (tap, row) in out.chunks_exact_mut(positions.len().max(1)).enumerate() {
        let tap: SmallVec<[usize; 4]> = unravel(tap, windows.iter().map(|w| w.kernel as usize));
        for (p, entry) in row.iter_mut().enumerate() {
            for (axis, window) in windows.iter().enumerate() {
                let o = coordinates[p * windows.len() + axis];
                match axes[axis][tap[axis] * window.count + o] {
                    -1 => {
                        *entry = -1;
                        break;
                    }
                    offset => *entry += offset,
                }
            }
        }
    }
    out
}

/// For each axis and each tap and window along it: the offset, or -1.
fn axis_offsets(windows: &[Window]) -> Vec<Vec<isize>> {
    let mut stride = 1isize;
    let mut axes: Vec<Vec<isize>> = Vec::with_capacity(windows.len());
    for window in windows.iter().rev() {
        let mut table = Vec::with_capacity(window.kernel as usize * window.count);
        for tap in 0..window.kernel {
            for o in 0..window.count {
                let at = window.start(o) + tap * window.dilation;
                let inside = (0..window.input).contains(&at);
                table.push(if inside { at as isize * stride } else { -1 });
            }
        }
        stride *= window.input as isize;
        axes.push(table);
    }
    axes.reverse();
    axes
}

/// Splits a row-major index into coordinates.
pub(crate) fn unravel(
    mut index: usize,
    sizes: impl DoubleEndedIterator<Item = usize>,
) -> SmallVec<[usize; 4]> {
    let mut coordinates: SmallVec<[usize; 4]> = sizes
        .rev()
        .map(|size| {
            let size = size.max(1);
            let coordinate = index % size;
            index /= size;
            coordinate
        })
        .collect();
    coordinates.reverse();
    coordinates
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn count(
        input: usize,
        kernel: usize,
        stride: i64,
        dilation: i64,
        pads: [i64; 2],
        ceil: bool,
    ) -> Option<usize> {
        let params = WindowParams {
            strides: vec![stride],
            dilations: vec![dilation],
            pads: pads.to_vec(),
            auto_pad: AutoPad::NotSet,
        };
        Some(windows("k", &[input], &[kernel], &params, ceil).ok()?[0].count)
    }

    #[test]
    fn windows_are_counted() {
        assert_eq!(count(5, 3, 1, 1, [0, 0], false), Some(3));
        assert_eq!(count(5, 3, 2, 1, [1, 1], false), Some(3));
        assert_eq!(count(6, 3, 2, 1, [0, 0], false), Some(2));
        assert_eq!(count(6, 3, 2, 1, [0, 0], true), Some(3));
        assert_eq!(count(7, 3, 1, 3, [0, 0], false), Some(1));
        assert_eq!(count(2, 3, 1, 1, [0, 0], false), Some(0));
        assert_eq!(count(2, 5, 1, 1, [0, 0], false), None);
        assert_eq!(count(5, 3, 1, 1, [-1, 0], false), Some(2));
        // The third window would start at 1 + 4 = 5, in the padding after the input of 4.
        assert_eq!(count(4, 2, 3, 1, [1, 1], true), Some(2));
        assert_eq!(count(5, 0x7fff_ffff, 1, 0x7fff_ffff, [0, 0], false), None);
    }

    #[test]
    fn same_padding_keeps_the_odd_element_apart() {
        let pads = |auto| resolve_auto_pad(auto, &[5, 6], &[2, 3], &[1, 2], &[]);
        assert_eq!(pads(AutoPad::SameUpper), [0, 0, 1, 1]);
        assert_eq!(pads(AutoPad::SameLower), [1, 1, 0, 0]);
        assert_eq!(pads(AutoPad::Valid), [0; 4]);
    }

    #[test]
    fn taps_are_those_inside() {
        let params =
            WindowParams { pads: vec![3, 3], dilations: vec![2], ..WindowParams::default() };
        let window = windows("k", &[4], &[3], &params, false).unwrap()[0];
        assert_eq!(window.count, 6);
        let taps: Vec<_> = (0..6).map(|o| window.taps(o, window.input)).collect();
        assert_eq!(taps, [2..3, 1..3, 1..3, 0..2, 0..2, 0..1]);
        for o in 0..6 {
            let slow = (0..3).filter(|k| (0..4).contains(&(window.start(o) + 2 * k)));
            assert!(slow.eq(window.taps(o, 4)), "{o}");
        }
    }

    #[test]
    fn offsets_find_elements_and_padding() {
        let params = WindowParams { pads: vec![0, 1, 0, 0], ..WindowParams::default() };
        let windows = windows("k", &[2, 2], &[1, 2], &params, false).unwrap();
        assert_eq!(offsets(&windows, 0..4), [-1, 0, -1, 2, 0, 1, 2, 3]);
        assert_eq!(offsets(&windows, 1..3), [0, -1, 1, 2]);
    }
}
