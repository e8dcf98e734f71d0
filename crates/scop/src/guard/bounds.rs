//! Bounds of one dimension of sets, as C over their parameters.

use tangram_presburger::{Budget, Conjunction, Relation};

use crate::contraction::affine;

pub(super) fn params_of(sets: &[Relation]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in sets.iter().flat_map(|set| &set.space().params) {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}

/// A bound: a row over `[constant, parameters..]`, and what it is divided by.
pub(super) type Bound = (Vec<i128>, i128);

/// Lists the lower and the upper bounds of dimension `dim` of each set.
pub(super) fn bounds(
    sets: &[Relation],
    dim: usize,
    names: &[String],
    budget: &Budget,
) -> Option<[Vec<Vec<Bound>>; 2]> {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let at = 1 + names.len();
    for set in sets {
        let set = set.align_params(names).ok()?;
        let rank = set.space().output.dims.len();
        let inner = dim + 1..rank;
        let set = if inner.is_empty() { set } else { set.real_shadow(inner, budget).ok()? };
        let first = if dim > 0 { set.real_shadow(0..dim, budget).ok()? } else { set };
        // Of `20 j + i` for every third `j`, all that lies between the ends.
        let divides = |part: &Conjunction<i128>| !part.divisions.is_empty();
        let first = match first.narrow_conjunctions().ok()?.iter().any(divides) {
            true => first.rational(budget).and_then(|all| all.integer_points(budget)).ok()?,
            false => first,
        };
        for part in first.narrow_conjunctions().ok()? {
            let opposite = |row: &Vec<i128>| row.iter().map(|value| -value).collect::<Vec<_>>();
            let equalities = part.equalities.iter();
            let rows = equalities.flat_map(|row| [row.clone(), opposite(row)]);
            let rows = rows.chain(part.inequalities.iter().cloned());
            // Of a stride, the bounds alone count.
            let rows: Vec<Vec<i128>> =
                rows.filter(|row| row[at + 1..].iter().all(|value| *value == 0)).collect();
            let side = |sign: i128| -> Vec<Bound> {
                rows.iter().filter(|row| row[at] * sign > 0).map(|row| bound(row, at)).collect()
            };
            starts.push(strongest(side(1), true));
            ends.push(strongest(side(-1), false));
        }
    }
    Some([starts, ends])
}

/// Writes the `outer` of the `inner` of the bounds of each set.
pub(super) fn combined(
    all: Vec<Vec<Bound>>,
    (params, prefix): (&[String], &str),
    inner: &str,
    outer: &str,
) -> Option<String> {
    let all = match all.iter().all(|one| one.len() == 1) {
        true => strongest(all.into_iter().flatten().collect(), outer == "max")
            .into_iter()
            .map(|one| vec![one])
            .collect(),
        false => all,
    };
    let mut texts = Vec::new();
    for bounds in all {
        let list = bounds.iter().map(|own| written(own, params, prefix)).collect();
        texts.push(joined(&format!("{prefix}{inner}"), list)?);
    }
    texts.sort();
    texts.dedup();
    joined(&format!("{prefix}{outer}"), texts)
}

/// Leaves out bounds that differ from another one by a number alone; `greatest`: the greatest one
/// counts, else the least one.
fn strongest(all: Vec<Bound>, greatest: bool) -> Vec<Bound> {
    let mut found: Vec<Bound> = Vec::new();
    for (row, size) in all {
        let same = |(own, by): &&mut Bound| own[1..] == row[1..] && *by == size;
        match found.iter_mut().find(same) {
            Some((own, _)) if greatest => own[0] = own[0].max(row[0]),
            Some((own, _)) => own[0] = own[0].min(row[0]),
            None => found.push((row, size)),
        }
    }
    found
}

/// Reads what a row says of the variable at `at`: the least value, or one more than the greatest.
fn bound(row: &[i128], at: usize) -> Bound {
    let factor = row[at];
    let (size, mut rest) = (factor.abs(), row[..at].to_vec());
    if factor > 0 {
        rest.iter_mut().for_each(|value| *value = -*value);
        // Rounded up.
        rest[0] += size - 1;
    } else {
        rest[0] += size;
    }
    (rest, size)
}

fn written((row, size): &Bound, params: &[String], prefix: &str) -> String {
    match size {
        1 => affine(row, params),
        size => format!("{prefix}floord({}, {size})", affine(row, params)),
    }
}

fn joined(name: &str, list: Vec<String>) -> Option<String> {
    let (numbers, mut rest): (Vec<String>, Vec<String>) =
        list.into_iter().partition(|text| text.parse::<i128>().is_ok());
    let numbers = numbers.iter().filter_map(|text| text.parse::<i128>().ok());
    let one = if name.ends_with("min") { numbers.min() } else { numbers.max() };
    rest.extend(one.map(|one| one.to_string()));
    rest.into_iter().reduce(|a, b| format!("{name}({a}, {b})"))
}
