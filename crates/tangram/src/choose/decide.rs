//! Which candidate is taken.

use super::candidates::Candidate;
use super::{Basis, Choice, Objective};

/// Of estimates of time that are closer nobody knows which is right.
const CLOSE: f64 = 0.05;

/// Chooses a candidate, and says of each why it is taken or not.
///
/// One that is worse than the model as it came, beyond noise, is never taken. Of the others the best
/// is, or the first that is as good, as far as can be told: what was asked for comes first, the
/// model as it came last.
pub(super) fn pick(all: &mut [Candidate], choice: &Choice) -> usize {
    let last = all.len() - 1;
    let scores: Vec<Option<(f64, f64)>> =
        all.iter().enumerate().map(|(i, one)| score(one, all, i == last, choice)).collect();
    let taken = best(&scores);
    for (i, candidate) in all.iter_mut().enumerate() {
        candidate.why = match scores[i] {
            None => candidate.left_out.clone(),
            Some(_) if i == taken => reason(&scores, taken),
            Some((gain, noise)) if gain + noise < 1.0 => {
                "worse than the model as it came".to_owned()
            }
            Some((gain, noise)) => match scores[taken] {
                Some((most, other)) if is_close((gain, noise), (most, other)) => {
                    "as good as what was taken, within noise".to_owned()
                }
                _ => "less good than what was taken".to_owned(),
            },
        };
    }
    taken
}

/// The gain of a candidate, and how far from 1 it has to be to mean something; none where it was not
/// measured while others were.
fn score(one: &Candidate, all: &[Candidate], is_base: bool, choice: &Choice) -> Option<(f64, f64)> {
    match (choice.basis, &one.standing) {
        _ if is_base => Some((1.0, 0.0)),
        _ if one.broken => None,
        (Basis::Predicted | Basis::Alone, _) => {
            let noise = if choice.objective == Objective::Size { 0.0 } else { CLOSE };
            Some((one.predicted_gain(all), noise))
        }
        (_, Some(standing)) => Some((standing.gain, standing.noise)),
        (_, None) => None,
    }
}

/// The first candidate that is as good as the best, as far as can be told, and not worse than the
/// model as it came.
fn best(scores: &[Option<(f64, f64)>]) -> usize {
    let fits = |(gain, noise): (f64, f64)| gain + noise >= 1.0;
    let fitting = scores.iter().flatten().copied().filter(|score| fits(*score));
    let Some(most) = fitting.max_by(|a, b| a.0.total_cmp(&b.0)) else { return scores.len() - 1 };
    let as_good = |score: &Option<(f64, f64)>| score.is_some_and(|s| fits(s) && is_close(s, most));
    scores.iter().position(as_good).unwrap_or(scores.len() - 1)
}

/// Whether noise may be all that is between two gains.
fn is_close((gain, noise): (f64, f64), (most, other): (f64, f64)) -> bool {
    gain >= most || most / gain.max(f64::MIN_POSITIVE) - 1.0 <= noise.max(other)
}

fn reason(scores: &[Option<(f64, f64)>], taken: usize) -> String {
    let gain = |i: usize| scores[i].map_or(0.0, |(gain, _)| gain);
    let better = (0..scores.len()).any(|i| scores[i].is_some() && gain(i) > gain(taken));
    match (taken + 1 == scores.len(), better) {
        (true, _) => "no other is better".to_owned(),
        (false, true) => "as good as the best, within noise, and preferred".to_owned(),
        (false, false) if is_close((1.0, 0.0), scores[taken].unwrap_or((1.0, 0.0))) => {
            "as good as the model as it came, within noise, and preferred".to_owned()
        }
        (false, false) => "the best".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn what_is_slower_is_never_taken() {
        // Greedy is slower, saturation faster by less than noise: the model as it came is as good,
        // and comes last.
        assert_eq!(best(&[Some((0.9, 0.02)), Some((1.01, 0.02)), Some((1.0, 0.0))]), 1);
        assert_eq!(best(&[Some((0.9, 0.02)), Some((0.95, 0.02)), Some((1.0, 0.0))]), 2);
    }

    #[test]
    fn of_two_that_are_as_fast_the_first_is_taken() {
        assert_eq!(best(&[Some((1.49, 0.02)), Some((1.5, 0.02)), Some((1.0, 0.0))]), 0);
        assert_eq!(best(&[Some((1.2, 0.02)), Some((1.5, 0.02)), Some((1.0, 0.0))]), 1);
        assert_eq!(best(&[None, Some((1.5, 0.02)), Some((1.0, 0.0))]), 1);
    }

    #[test]
    fn noise_above_a_loss_does_not_hide_a_gain() {
        // The first may be as good as the model as it came, and not as the second.
        assert_eq!(best(&[Some((0.97, 0.05)), Some((1.3, 0.05)), Some((1.0, 0.0))]), 1);
    }
}
