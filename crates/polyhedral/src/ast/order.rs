//! Groups of items in an order in which no group has to run before an earlier one.

use tangram_presburger::Error;

/// Finds the strongly connected components of `after`, each after those it follows.
///
/// `after(i, j)`: something of item `i` has to run after something of item `j`.
/// Items that nothing orders stay in the order given. O(n²) questions.
pub(super) fn components(
    n: usize,
    mut after: impl FnMut(usize, usize) -> Result<bool, Error>,
) -> Result<Vec<Vec<usize>>, Error> {
    if n <= 1 {
        return Ok((0..n).map(|i| vec![i]).collect());
    }
    let mut follows = vec![vec![false; n]; n];
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            follows[i][j] = after(i, j)?;
        }
    }
    for k in 0..n {
        for i in 0..n {
            if follows[i][k] {
                let through = follows[k].clone();
                follows[i].iter_mut().zip(through).for_each(|(old, new)| *old |= new);
            }
        }
    }
    let mut left: Vec<usize> = (0..n).collect();
    let mut result = Vec::new();
    while !left.is_empty() {
        // The closure has no cycle between components: some item follows only its own.
        let first = left
            .iter()
            .copied()
            .find(|&i| left.iter().all(|&j| j == i || !follows[i][j] || follows[j][i]));
        let Some(first) = first else { break };
        let together = |j: &usize| *j == first || follows[first][*j] && follows[*j][first];
        let (group, rest): (Vec<usize>, Vec<usize>) = left.iter().copied().partition(together);
        result.push(group);
        left = rest;
    }
    Ok(result)
}
