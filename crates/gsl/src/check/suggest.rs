//! "Did you mean": the nearest of several names.

/// Longer names, in characters, are not mistyped by hand, and comparing two takes the product of
/// their lengths.
const LONGEST: usize = 100;

/// After so many errors nobody reads hints, and each takes a comparison with all names.
const MOST: usize = 100;

/// Returns the name nearest to `wrong`, if one is near; none after many errors were `found`.
pub(crate) fn nearest<'n>(
    wrong: &str,
    found: usize,
    names: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let length = wrong.chars().take(LONGEST + 1).count();
    if length > LONGEST || found >= MOST {
        return None;
    }
    let most = length.div_ceil(3);
    // As many characters are inserted or deleted at least as the lengths differ by.
    let near = |name: &&str| name.chars().take(LONGEST + 1).count().abs_diff(length) <= most;
    let near = names.filter(near).filter(|name| name.chars().nth(LONGEST).is_none());
    let scored = near.map(|name| (distance(wrong, name), name));
    scored.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// Counts the insertions, deletions, changes and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swapped = if swap { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                (rows[i - 1][j] + 1)
                    .min(rows[i][j - 1] + 1)
                    .min(rows[i - 1][j - 1] + change)
                    .min(swapped)
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested() {
        let names = || ["relu", "add", "transpose"].into_iter();
        assert_eq!(nearest("transpoes", 0, names()), Some("transpose"));
        assert_eq!(nearest("reul", 0, names()), Some("relu"));
        assert_eq!(nearest("softmax", 0, names()), None);
        assert_eq!(nearest("reul", MOST, names()), None);
    }

    /// A table of distances would have 10^12 places.
    #[test]
    fn names_of_any_length_are_told_apart() {
        let long = "q".repeat(1_000_000);
        assert_eq!(nearest(&long, 0, [long.as_str(), "q"].into_iter()), None);
        assert_eq!(nearest("q", 0, [long.as_str(), "qq"].into_iter()), Some("qq"));
    }
}
