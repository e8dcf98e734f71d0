//! Numbers of points of random parametric polytopes, against enumeration.

use tangram_presburger::Budget;
use tangram_presburger::count::{Integer, Pieces, Polyhedron, Rational};

/// A small generator: the same inputs in every run.
struct Source(u64);

impl Source {
    fn next(&mut self, low: i64, high: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }
}

/// Rows over dimensions, parameters and 1, inside of a box of dimensions.
#[derive(Debug, Clone)]
struct Case {
    dims: usize,
    params: usize,
    /// The box, for all parameters of the grid.
    low: i64,
    high: i64,
    equal: Vec<Vec<i64>>,
    at_least: Vec<Vec<i64>>,
}

impl Case {
    /// Makes a polytope of `dims` dimensions whose box may grow with the parameters.
    fn random(source: &mut Source, dims: usize, params: usize, size: i64, rows: i64) -> Self {
        let cols = dims + params + 1;
        let mut case = Self { dims, params, low: -1, high: size, equal: vec![], at_least: vec![] };
        for dim in 0..dims {
            let mut low = vec![0; cols];
            (low[dim], low[cols - 1]) = (1, source.next(0, 1));
            case.at_least.push(low);
            let mut high = vec![0; cols];
            (high[dim], high[cols - 1]) = (-1, size);
            case.at_least.push(high.clone());
            if params > 0 && source.next(0, 1) == 0 {
                let param = dims + source.next(0, params as i64 - 1) as usize;
                high[param] = 1;
                high[cols - 1] = source.next(0, 1);
                case.at_least.push(high);
            }
        }
        for _ in 0..source.next(1, rows) {
            let row = (0..cols).map(|col| {
                let reach = if col + 1 == cols { 6 } else { 3 };
                source.next(-reach, reach)
            });
            case.at_least.push(row.collect());
        }
        if source.next(0, 3) == 0 {
            let mut row: Vec<i64> = (0..cols).map(|_| source.next(-1, 1)).collect();
            row[source.next(0, dims as i64 - 1) as usize] = source.next(1, 3);
            case.equal.push(row);
        }
        case
    }

    fn polyhedron(&self) -> Polyhedron {
        let mut result = Polyhedron::new(self.dims, self.params);
        for row in &self.equal {
            result.equal_zero(row.iter().copied());
        }
        for row in &self.at_least {
            result.at_least_zero(row.iter().copied());
        }
        result
    }

    fn holds(&self, point: &[i64]) -> bool {
        let value = |row: &[i64]| -> i64 {
            let last = row.len() - 1;
            row[last] + row[..last].iter().zip(point).map(|(a, b)| a * b).sum::<i64>()
        };
        self.at_least.iter().all(|row| value(row) >= 0)
            && self.equal.iter().all(|row| value(row) == 0)
    }

    fn enumerate(&self, params: &[i64]) -> i64 {
        let mut point = vec![self.low; self.dims];
        point.extend(params);
        let mut count = 0;
        loop {
            count += i64::from(self.holds(&point));
            let Some(at) = (0..self.dims).find(|i| point[*i] < self.high) else { return count };
            point[..at].fill(self.low);
            point[at] += 1;
        }
    }

    /// Compares with enumeration on the grid; returns how many values were not 0.
    fn check(&self, grid: std::ops::RangeInclusive<i64>) -> usize {
        let pieces = self
            .polyhedron()
            .card(&Budget::steps(100_000_000))
            .unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let mut params = vec![*grid.start(); self.params];
        let mut nonzero = 0;
        loop {
            let expected = self.enumerate(&params);
            assert_eq!(at(&pieces, &params), Rational::from(expected), "{self:?} at {params:?}");
            nonzero += usize::from(expected != 0);
            let Some(at) = (0..self.params).find(|i| params[*i] < *grid.end()) else {
                return nonzero;
            };
            params[..at].fill(*grid.start());
            params[at] += 1;
        }
    }
}

fn at(pieces: &Pieces, params: &[i64]) -> Rational {
    let point: Vec<Integer> = params.iter().map(|v| Integer::from(*v)).collect();
    pieces.evaluate(&point)
}

fn sweep(seed: u64, cases: usize, dims: usize, params: usize, size: i64) {
    let mut source = Source(seed);
    let nonzero: usize =
        (0..cases).map(|_| Case::random(&mut source, dims, params, size, 3).check(-3..=7)).sum();
    println!("{dims} dimensions, {params} parameters: {cases} cases, {nonzero} values not 0");
    assert!(nonzero >= cases / 4, "too few cases have points");
}

#[test]
fn without_parameters_counts_are_those_of_enumeration() {
    sweep(1, 200, 1, 0, 9);
    sweep(2, 200, 2, 0, 9);
    sweep(3, 150, 3, 0, 7);
    sweep(4, 60, 4, 0, 5);
    sweep(5, 20, 5, 0, 3);
}

#[test]
fn with_one_parameter_counts_are_those_of_enumeration() {
    sweep(11, 100, 1, 1, 9);
    sweep(12, 100, 2, 1, 7);
    sweep(13, 50, 3, 1, 5);
    sweep(14, 12, 4, 1, 3);
}

#[test]
fn with_two_parameters_counts_are_those_of_enumeration() {
    sweep(21, 60, 1, 2, 9);
    sweep(22, 60, 2, 2, 7);
    sweep(23, 20, 3, 2, 4);
}

#[test]
#[ignore = "thousands of polytopes: for long runs"]
fn thousands_of_counts_are_those_of_enumeration() {
    for (seed, cases, dims, params, size) in [
        (101, 2000, 2, 0, 9),
        (102, 1000, 3, 0, 7),
        (103, 300, 4, 0, 5),
        (104, 100, 5, 0, 3),
        (105, 1000, 2, 1, 7),
        (106, 300, 3, 1, 5),
        (107, 60, 4, 1, 3),
        (108, 400, 2, 2, 7),
        (109, 80, 3, 2, 4),
    ] {
        sweep(seed, cases, dims, params, size);
    }
}
