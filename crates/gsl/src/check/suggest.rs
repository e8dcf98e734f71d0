//! "Did you mean": the nearest of several names.

/// Returns the name nearest to `wrong`, if one is near.
pub(crate) fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = wrong.chars().count().div_ceil(3);
    let scored = names.map(|name| (distance(wrong, name), name));
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
