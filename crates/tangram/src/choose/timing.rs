//! Timing of candidates in rounds.

use std::sync::atomic::Ordering;
use std::time::Instant;

use fastrand::Rng;

use super::candidates::Candidate;
use super::database::Standing;
use super::{Measuring, Running};
use crate::check::Reason;
use crate::optimise::Options;

/// Fewer rounds say nothing.
const LEAST_ROUNDS: usize = 7;
/// More rounds say nothing new.
const MOST_ROUNDS: usize = 300;
/// What is measured at once takes about as long, in seconds: more runs of what takes less.
const SAMPLE: f64 = 1e-3;
/// Less than this share is never believed.
const LEAST_NOISE: f64 = 0.01;
/// The share of the budget that may be spent before all are loaded.
const LOADING: f64 = 0.6;

/// Times the candidates that are to be measured and are not known, of which the last is the model as
/// it came: that one is loaded in `running` already. Returns what a second copy of it seems to gain;
/// nothing where no candidate runs.
pub(super) fn time(
    running: &mut dyn Running,
    all: &mut [Candidate],
    (deadline, options): (Instant, &Options),
    measuring: &Measuring,
) -> Result<Option<f64>, Reason> {
    let loaded = load(running, all, deadline, measuring)?;
    if loaded.is_empty() {
        return Ok(None);
    }
    // The model as it came, the same again, and the candidates.
    let numbers = [0, 1].into_iter().chain(loaded.iter().map(|(number, _)| *number));
    let samples = rounds(running, &numbers.collect::<Vec<usize>>(), deadline, options)?;
    let control = gain(&samples[0], &samples[1]);
    for (own, (_, at)) in samples[2..].iter().zip(loaded) {
        let (found, spread) = gain(&samples[0], own);
        all[at].standing = Some(Standing {
            gain: found,
            noise: spread.max((control.0 - 1.0).abs()).max(LEAST_NOISE),
            rounds: samples[0].len(),
            seconds: median(own.clone()),
            base_seconds: median(samples[0].clone()),
            known: false,
        });
    }
    Ok(Some(control.0))
}

/// Loads the copy of the model as it came, then candidates while there is time. Returns those that
/// run: their numbers in `running`, and their places.
fn load(
    running: &mut dyn Running,
    all: &mut [Candidate],
    deadline: Instant,
    measuring: &Measuring,
) -> Result<Vec<(usize, usize)>, Reason> {
    let (last, mut loaded) = (all.len() - 1, Vec::new());
    running.load(&all[last].model)?;
    let (mut number, mut late) = (2, false);
    for (at, candidate) in all.iter_mut().enumerate().take(last) {
        if !candidate.is_open() || candidate.standing.is_some() {
            continue;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.as_secs_f64() < (1.0 - LOADING) * measuring.budget.as_secs_f64() {
            candidate.left_out = "not measured: no time was left to load it".to_owned();
            late = true;
            continue;
        }
        if let Err(why) = running.load(&candidate.model) {
            candidate.refuse(format!("it does not load: {why}"));
            continue;
        }
        match running.run(number, 1) {
            Ok(_) => loaded.push((number, at)),
            Err(why) => candidate.refuse(format!("it does not run: {why}")),
        }
        number += 1;
    }
    match loaded.is_empty() && late {
        true => Err("the budget was spent before one candidate was loaded".to_owned()),
        false => Ok(loaded),
    }
}

/// Runs the models of these numbers in rounds, each round in an order of its own; the seconds of
/// each, by round.
fn rounds(
    running: &mut dyn Running,
    numbers: &[usize],
    deadline: Instant,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Reason> {
    let count = numbers.len();
    let mut times = vec![1; count];
    for (&number, times) in numbers.iter().zip(&mut times) {
        let first = running.run(number, 1)?.min(running.run(number, 1)?);
        *times = ((SAMPLE / first.max(1e-9)) as usize).clamp(1, 1000);
    }
    let (mut order, mut rng) = ((0..count).collect::<Vec<usize>>(), Rng::with_seed(0));
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); count];
    while samples[0].len() < MOST_ROUNDS && Instant::now() < deadline {
        if options.cancel.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        rng.shuffle(&mut order);
        for &model in &order {
            samples[model].push(running.run(numbers[model], times[model])?);
        }
    }
    match samples[0].len() {
        done if done < LEAST_ROUNDS => {
            Err(format!("the budget ended after {done} rounds, and {LEAST_ROUNDS} are needed"))
        }
        _ => Ok(samples),
    }
}

/// How many times as fast as `base` something is, by the median over the rounds, and how far from
/// the true median that is likely to be: twice the standard error, from the absolute deviations.
fn gain(base: &[f64], other: &[f64]) -> (f64, f64) {
    let ratios: Vec<f64> = base.iter().zip(other).map(|(a, b)| a / b.max(1e-12)).collect();
    let middle = median(ratios.clone());
    let deviation = median(ratios.iter().map(|ratio| (ratio - middle).abs()).collect());
    // A normal distribution's deviation is 1.48 of these, its median's error 1.25 of its mean's.
    let error = 1.4826 * 1.2533 * deviation / (ratios.len().max(1) as f64).sqrt();
    (middle, 2.0 * error)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    match all.len() {
        0 => 0.0,
        n if n % 2 == 1 => all[n / 2],
        n => (all[n / 2 - 1] + all[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Running, gain, rounds};
    use crate::check::Reason;
    use crate::optimise::Options;
    use tangram_onnx::Model;

    /// Models that take so many seconds, on a machine that is three times as slow now and then.
    struct Clock {
        seconds: Vec<f64>,
        calls: usize,
        order: Vec<usize>,
    }

    impl Running for Clock {
        fn version(&self) -> String {
            "clock".to_owned()
        }

        fn load(&mut self, _: &Model) -> Result<(), Reason> {
            Ok(())
        }

        fn run(&mut self, model: usize, _: usize) -> Result<f64, Reason> {
            self.calls += 1;
            self.order.push(model);
            let slow = if self.calls.is_multiple_of(7) { 3.0 } else { 1.0 };
            Ok(self.seconds[model] * slow)
        }
    }

    fn clock(seconds: &[f64]) -> Clock {
        Clock { seconds: seconds.to_vec(), calls: 0, order: Vec::new() }
    }

    #[test]
    fn medians_are_not_moved_by_what_happens_now_and_then() {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut clock = clock(&[2.0, 2.0, 1.0]);
        let found = rounds(&mut clock, &[0, 1, 2], deadline, &Options::default()).unwrap();
        assert_eq!(gain(&found[0], &found[1]).0, 1.0);
        assert_eq!(gain(&found[0], &found[2]).0, 2.0);
        let orders: Vec<&[usize]> = clock.order[6..].chunks(3).collect();
        assert!(orders.windows(2).any(|pair| pair[0] != pair[1]), "{orders:?}");
    }

    #[test]
    fn a_budget_that_is_spent_says_so() {
        let found = rounds(&mut clock(&[1.0, 1.0]), &[0, 1], Instant::now(), &Options::default());
        assert!(found.unwrap_err().contains("after 0 rounds"));
    }
}
