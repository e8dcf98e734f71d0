//! Strongly connected components of directed graphs, without recursion.
//!
//! For graphs whose arrows are known. Generation of code, which finds an arrow by a question about
//! sets, has an algorithm that asks as few as it can (`ast/separation/order.rs`).
//! Transitive closures (`closure` in `tangram-presburger`) compare all pairs of a few disjuncts.

/// Finds the strongly connected components, sources first; members ascend.
///
/// Source: R. Tarjan, "Depth-first search and linear graph algorithms" (1972). O(V + E).
pub(super) fn strong(vertices: usize, arrows: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); vertices];
    for (from, to) in arrows {
        next[*from].push(*to);
    }
    let mut search = Search {
        order: vec![None; vertices],
        low: vec![0; vertices],
        open: Vec::new(),
        is_open: vec![false; vertices],
        count: 0,
        found: Vec::new(),
    };
    for root in 0..vertices {
        if search.order[root].is_none() {
            search.run(root, &next);
        }
    }
    search.found.reverse();
    search.found
}

struct Search {
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    open: Vec<usize>,
    is_open: Vec<bool>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Search {
    fn run(&mut self, root: usize, next: &[Vec<usize>]) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((vertex, done)) = path.last_mut() {
            let vertex = *vertex;
            if let Some(to) = next[vertex].get(*done).copied() {
                *done += 1;
                match self.order[to] {
                    None => {
                        self.enter(to);
                        path.push((to, 0));
                    }
                    Some(order) if self.is_open[to] => {
                        self.low[vertex] = self.low[vertex].min(order);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[vertex]);
            }
            if Some(self.low[vertex]) == self.order[vertex] {
                self.close(vertex);
            }
        }
    }

    fn enter(&mut self, vertex: usize) {
        self.order[vertex] = Some(self.count);
        self.low[vertex] = self.count;
        self.count += 1;
        self.open.push(vertex);
        self.is_open[vertex] = true;
    }

    fn close(&mut self, vertex: usize) {
        let at = self.open.iter().rposition(|open| *open == vertex).unwrap_or(0);
        let mut members = self.open.split_off(at);
        members.iter().for_each(|member| self.is_open[*member] = false);
        members.sort_unstable();
        self.found.push(members);
    }
}

/// Orders strongly connected components so that each comes after its sources, and by their
/// first members where that leaves a choice.
pub(crate) fn ordered(vertices: usize, arrows: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let components = strong(vertices, arrows);
    let mut of = vec![0; vertices];
    for (index, members) in components.iter().enumerate() {
        members.iter().for_each(|member| of[*member] = index);
    }
    let mut waits = vec![0; components.len()];
    let mut next = vec![Vec::new(); components.len()];
    for (from, to) in arrows.iter().map(|(from, to)| (of[*from], of[*to])) {
        if from != to {
            waits[to] += 1;
            next[from].push(to);
        }
    }
    let ready = (0..components.len()).filter(|c| waits[*c] == 0);
    let mut heap: std::collections::BTreeSet<(usize, usize)> =
        ready.map(|c| (components[c][0], c)).collect();
    let mut order = Vec::new();
    while let Some((_, component)) = heap.pop_first() {
        order.push(components[component].clone());
        for to in &next[component] {
            waits[*to] -= 1;
            if waits[*to] == 0 {
                heap.insert((components[*to][0], *to));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_components_and_sources_come_first() {
        let arrows = [(3, 4), (4, 3), (4, 0), (0, 1), (2, 1)];
        let found = ordered(5, &arrows);
        assert_eq!(found, [vec![2], vec![3, 4], vec![0], vec![1]]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let arrows: Vec<_> = (1..200_000).map(|to| (to, to - 1)).collect();
        let found = strong(200_000, &arrows);
        assert_eq!((found.len(), found[0][0]), (200_000, 199_999));
    }
}
