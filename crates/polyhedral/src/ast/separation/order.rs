//! Groups of items in an order in which no group has to run before an earlier one.
//!
//! The arrows of the graph are questions about sets, and dear: this asks each at most once, and
//! only if its answer matters. For graphs that are known there is Tarjan's algorithm in
//! `schedule/components.rs`, which would need all answers first.

use crate::Error;

/// Finds the strongly connected components of `after`, each after those it follows.
///
/// `after(i, j)`: something of item `i` has to run after something of item `j`.
/// Items that nothing orders stay in the order given. Each question is asked once, and only if
/// its answer matters: O(n) of them where all items follow each other, else at most n².
///
/// # Source
/// Kosaraju's algorithm on a graph that is found while it is walked.
pub(in crate::ast) fn components(
    n: usize,
    after: impl FnMut(usize, usize) -> Result<bool, Error>,
) -> Result<Vec<Vec<usize>>, Error> {
    if n <= 1 {
        return Ok((0..n).map(|i| vec![i]).collect());
    }
    let mut graph = Graph { n, known: vec![None; n * n], after };
    let finished = graph.finished()?;
    let groups = graph.groups(&finished)?;
    graph.arranged(groups)
}

/// The questions asked so far.
struct Graph<F> {
    n: usize,
    known: Vec<Option<bool>>,
    after: F,
}

impl<F: FnMut(usize, usize) -> Result<bool, Error>> Graph<F> {
    fn follows(&mut self, i: usize, j: usize) -> Result<bool, Error> {
        if let Some(known) = self.known[i * self.n + j] {
            return Ok(known);
        }
        let answer = (self.after)(i, j)?;
        self.known[i * self.n + j] = Some(answer);
        Ok(answer)
    }

    /// Returns the items in the order in which a walk to what they follow leaves them.
    fn finished(&mut self) -> Result<Vec<usize>, Error> {
        let mut seen = vec![false; self.n];
        let mut finished = Vec::with_capacity(self.n);
        for root in 0..self.n {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut open = vec![(root, 0)];
            while let Some((item, next)) = open.pop() {
                let mut found = None;
                for other in next..self.n {
                    if !seen[other] && self.follows(item, other)? {
                        found = Some(other);
                        break;
                    }
                }
                match found {
                    Some(other) => {
                        seen[other] = true;
                        open.extend([(item, other + 1), (other, 0)]);
                    }
                    None => finished.push(item),
                }
            }
        }
        Ok(finished)
    }

    /// Walks back, from what finished last; the groups are those of their least items.
    fn groups(&mut self, finished: &[usize]) -> Result<Vec<Vec<usize>>, Error> {
        let mut seen = vec![false; self.n];
        let mut groups = Vec::new();
        for &root in finished.iter().rev() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let (mut group, mut at) = (vec![root], 0);
            while let Some(&item) = group.get(at) {
                at += 1;
                for other in 0..self.n {
                    if !seen[other] && self.follows(other, item)? {
                        seen[other] = true;
                        group.push(other);
                    }
                }
            }
            group.sort_unstable();
            groups.push(group);
        }
        groups.sort_by_key(|group| group[0]);
        Ok(groups)
    }

    /// Puts the first group that follows no other one first, and so on with the rest.
    fn arranged(&mut self, groups: Vec<Vec<usize>>) -> Result<Vec<Vec<usize>>, Error> {
        let mut group_of = vec![0; self.n];
        for (index, group) in groups.iter().enumerate() {
            group.iter().for_each(|item| group_of[*item] = index);
        }
        let mut done = vec![false; groups.len()];
        // For each group, the pair of items to look at next: those before are no obstacle.
        let mut next = vec![0; groups.len()];
        let mut result = Vec::with_capacity(groups.len());
        while result.len() < groups.len() {
            let mut free = None;
            for index in (0..groups.len()).filter(|index| !done[*index]) {
                if self.is_free(index, &groups[index], &group_of, &done, &mut next[index])? {
                    free = Some(index);
                    break;
                }
            }
            // What follows itself through others is in one group: some group is free.
            let Some(index) = free else { break };
            done[index] = true;
            result.push(index);
        }
        let mut groups: Vec<Option<Vec<usize>>> = groups.into_iter().map(Some).collect();
        Ok(result.into_iter().filter_map(|index| groups[index].take()).collect())
    }

    fn is_free(
        &mut self,
        index: usize,
        group: &[usize],
        group_of: &[usize],
        done: &[bool],
        next: &mut usize,
    ) -> Result<bool, Error> {
        while *next < group.len() * self.n {
            let (item, other) = (group[*next / self.n], *next % self.n);
            let rest = group_of[other] != index && !done[group_of[other]];
            if rest && self.follows(item, other)? {
                return Ok(false);
            }
            *next += 1;
        }
        Ok(true)
    }
}
