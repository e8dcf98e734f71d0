//! What the elements of a constant are like.

use serde::Serialize;
use tangram_tensor::Tensor;

/// The most elements that are looked at: those of larger constants would take the page's reader
/// longer than the graph does.
const MAX_ELEMENTS: usize = 1 << 24;
/// The bars of a histogram.
const BARS: usize = 24;
/// Up to so many elements are shown themselves.
const SHOWN: usize = 8;

/// Statistics over finite elements, and how many are not.
#[derive(Debug, Serialize)]
pub(super) struct Statistics {
    least: f64,
    greatest: f64,
    mean: f64,
    /// The standard deviation.
    deviation: f64,
    /// How many elements are zero.
    zeros: usize,
    /// How many are infinite or no number.
    not_finite: usize,
    /// How many elements lie in each of equal parts from the least to the greatest.
    histogram: Vec<usize>,
    /// The elements, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elements: Vec<String>,
}

impl Statistics {
    /// Looks at a tensor of numbers; `None` for others, for none and for very many.
    pub(super) fn of(tensor: &Tensor) -> Option<Statistics> {
        if tensor.is_empty() || tensor.len() > MAX_ELEMENTS {
            return None;
        }
        let all = tensor.f64s().ok()?;
        let elements = match all.len() {
            0..=SHOWN => all.iter().map(f64::to_string).collect(),
            _ => Vec::new(),
        };
        let finite: Vec<f64> = all.iter().copied().filter(|x| x.is_finite()).collect();
        let count = finite.len().max(1) as f64;
        let (least, greatest) = finite
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
        // Divided before they are added: a sum of the largest numbers would be infinite.
        let mean: f64 = finite.iter().map(|x| x / count).sum();
        let variance: f64 = finite.iter().map(|x| (x - mean).powi(2) / count).sum();
        Some(Statistics {
            least: if finite.is_empty() { 0.0 } else { least },
            greatest: if finite.is_empty() { 0.0 } else { greatest },
            mean,
            deviation: variance.sqrt(),
            zeros: finite.iter().filter(|&&x| x == 0.0).count(),
            not_finite: all.len() - finite.len(),
            histogram: histogram(&finite, least, greatest),
            elements,
        })
    }
}

fn histogram(finite: &[f64], least: f64, greatest: f64) -> Vec<usize> {
    let mut bars = vec![0; BARS];
    // Halves do not overflow where the difference would.
    let width = greatest / 2.0 - least / 2.0;
    if finite.is_empty() || width <= 0.0 {
        return Vec::new();
    }
    for x in finite {
        let part = (x / 2.0 - least / 2.0) / width;
        bars[((part * BARS as f64) as usize).min(BARS - 1)] += 1;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_counted_apart() {
        let all = vec![0.0f32, 1.0, 3.0, f32::NAN, f32::INFINITY];
        let found = Statistics::of(&Tensor::vector(all)).expect("numbers");
        assert_eq!((found.least, found.greatest, found.zeros, found.not_finite), (0.0, 3.0, 1, 2));
        assert!((found.mean - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(found.histogram.iter().sum::<usize>(), 3);
        assert_eq!(found.elements, ["0", "1", "3", "NaN", "inf"]);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let found = Statistics::of(&Tensor::vector(vec![f64::MAX, -f64::MAX])).expect("numbers");
        assert_eq!(found.mean, 0.0);
        assert_eq!((found.histogram[0], found.histogram[BARS - 1]), (1, 1));
        assert!(Statistics::of(&Tensor::vector(Vec::<f32>::new())).is_none());
        let none = Statistics::of(&Tensor::vector(vec![f32::NAN])).expect("a number");
        assert_eq!((none.least, none.not_finite, none.histogram.len()), (0.0, 1, 0));
    }
}
