//! Disjoint pieces laid over others.

use crate::count::quasi_polynomial::guard::Guard;
use crate::{Budget, Error, Integer};

/// From how many pairs of pieces on it is worth to know first how far each piece reaches.
const PAIRS: usize = 32;

/// A part of a piece, and how far the variables reach in the piece.
struct Part<'a, T> {
    guard: Guard,
    reach: &'a Reach,
    value: &'a T,
}

/// The least and the greatest value of each variable, where there are any.
type Reach = Vec<(Option<Integer>, Option<Integer>)>;

/// Lays disjoint pieces over others; where both hold their values are joined.
pub(in crate::count) fn overlay<T: Clone>(
    left: &[(Guard, T)],
    right: &[(Guard, T)],
    join: impl Fn(&T, &T) -> Result<T, Error>,
    budget: &Budget,
) -> Result<Vec<(Guard, T)>, Error> {
    let known = left.len().saturating_mul(right.len()) >= PAIRS;
    let reach = |(guard, _): &(Guard, T)| reach(guard, known, budget);
    let reaches = right.iter().map(reach).collect::<Result<Vec<_>, _>>()?;
    let part = |((guard, value), reach)| Part { guard: Guard::clone(guard), reach, value };
    let mut rest: Vec<Part<T>> =
        right.iter().map(|(guard, value)| (guard, value)).zip(&reaches).map(part).collect();
    let mut result = Vec::new();
    for piece in left {
        let (guard, value) = piece;
        let far = reach(piece)?;
        let mut alone = vec![guard.clone()];
        let mut next = Vec::with_capacity(rest.len());
        let mut joined: Option<(&T, T)> = None;
        for part in rest {
            budget.spend(0)?;
            let both = match alone.is_empty() || apart(&far, part.reach) {
                true => None,
                false => Some(guard.and(&part.guard)),
            };
            let Some(both) = non_empty(both, budget)? else {
                next.push(part);
                continue;
            };
            // Parts of one piece have the same value.
            let sum = match joined.take() {
                Some((of, sum)) if std::ptr::eq(of, part.value) => sum,
                _ => join(value, part.value)?,
            };
            result.push((both.simplified(budget)?, sum.clone()));
            joined = Some((part.value, sum));
            alone = minus(alone, &part.guard, budget)?;
            for guard in part.guard.without(guard, budget)? {
                next.push(Part { guard, ..part });
            }
        }
        for guard in alone {
            result.push((guard.simplified(budget)?, value.clone()));
        }
        rest = next;
    }
    for part in rest {
        result.push((part.guard.simplified(budget)?, part.value.clone()));
    }
    Ok(result)
}

fn non_empty(guard: Option<Guard>, budget: &Budget) -> Result<Option<Guard>, Error> {
    Ok(match guard {
        Some(guard) if !guard.is_empty(budget)? => Some(guard),
        _ => None,
    })
}

/// Says how far the variables reach; nothing of it unless that is asked for.
fn reach(guard: &Guard, known: bool, budget: &Budget) -> Result<Reach, Error> {
    if !known {
        return Ok(Reach::new());
    }
    let part = guard.to_basic();
    let bounds = |dim| Ok(part.bounds_of(dim, budget)?.unwrap_or((None, None)));
    (0..guard.floors.vars).map(bounds).collect()
}

/// Returns whether a variable cannot have a value in both.
fn apart(a: &Reach, b: &Reach) -> bool {
    let below = |high: &Option<Integer>, low: &Option<Integer>| {
        high.as_ref().zip(low.as_ref()).is_some_and(|(high, low)| high < low)
    };
    a.iter().zip(b).any(|(a, b)| below(&a.1, &b.0) || below(&b.1, &a.0))
}

/// Takes what `cut` allows away from disjoint guards.
fn minus(guards: Vec<Guard>, cut: &Guard, budget: &Budget) -> Result<Vec<Guard>, Error> {
    let mut result = Vec::new();
    for guard in guards {
        if guard.and(cut).is_empty(budget)? {
            result.push(guard);
        } else {
            result.extend(guard.without(cut, budget)?);
        }
    }
    Ok(result)
}
