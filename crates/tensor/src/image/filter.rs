//! Interpolation along one dimension: which elements, with which weights.
//!
//! A coordinate `x` lies in `(base, base + 1]`, with `base = ceil(x) - 1` and `ratio = x - base`.
//! A filter reads the elements `base + i` for `i` in `first..first + count` and weighs each by a
//! function of `i - ratio`. Beyond the ends the end elements repeat.

/// How elements between two others are made.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum ResizeMode {
    /// The nearest element.
    #[default]
    Nearest,
    /// Straight lines between neighbours.
    Linear,
    /// Cubic convolution (Keys 1981) over four neighbours, with the coefficient `a`.
    Cubic {
        /// Usually -0.75 or -0.5.
        a: f64,
    },
}

/// Which element is the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NearestMode {
    /// The nearest; the lower of two equally near.
    #[default]
    RoundPreferFloor,
    /// The nearest; the higher of two equally near.
    RoundPreferCeil,
    /// The one before.
    Floor,
    /// The one after.
    Ceil,
}

impl NearestMode {
    /// Rounds a coordinate to that of an element, possibly outside.
    pub(super) fn round(self, x: f64) -> f64 {
        match self {
            NearestMode::RoundPreferFloor => (x - 0.5).ceil(),
            NearestMode::RoundPreferCeil => (x + 0.5).floor(),
            NearestMode::Floor => x.floor(),
            NearestMode::Ceil => x.ceil(),
        }
    }
}

/// Weights of neighbours as a function of distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    mode: ResizeMode,
    /// At most 1: distances shrink by it, so that the filter stretches.
    squeeze: f64,
    /// The first neighbour, relative to the one before.
    pub first: i64,
    /// The number of neighbours.
    pub count: usize,
}

impl Filter {
    /// The filter of a mode. `scale`: output by input; below 1 an antialiasing filter stretches.
    pub(super) fn new(mode: ResizeMode, antialias: bool, scale: f64) -> Filter {
        let squeeze = if antialias { scale.min(1.0) } else { 1.0 };
        let reach = if matches!(mode, ResizeMode::Cubic { .. }) { 2.0 } else { 1.0 };
        let first = (-reach / squeeze).floor() as i64 + 1;
        Filter { mode, squeeze, first, count: (2 - 2 * first).unsigned_abs() as usize }
    }

    /// Appends the weights of all neighbours; their sum is 1.
    pub(super) fn weigh(&self, ratio: f64, weights: &mut Vec<f64>) {
        let start = weights.len();
        for i in 0..self.count {
            let distance = ((self.first + i as i64) as f64 - ratio).abs() * self.squeeze;
            weights.push(self.weight(distance));
        }
        // Without stretching the sum is 1 but for rounding.
        if self.squeeze < 1.0 {
            normalise(&mut weights[start..]);
        }
    }

    fn weight(&self, d: f64) -> f64 {
        match self.mode {
            ResizeMode::Cubic { a } if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
            ResizeMode::Cubic { a } if d < 2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
            ResizeMode::Cubic { .. } => 0.0,
            _ => (1.0 - d).clamp(0.0, 1.0),
        }
    }
}

/// Divides by the sum, unless it is 0.
pub(super) fn normalise(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    if sum != 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}
