//! Patterns over operators that are only known at run time.
//!
//! Where a [`Term`](super::Term) names exact operators, a flexible pattern may select by index
//! key and leave attributes open, bind the operator itself to a variable, take any number of
//! children into a *rest variable*, match children in any order, and have several roots. For
//! "two matrix products that share their left operand", over key `matmul`:
//!
//! ```text
//! 0: ?x    1: ?y    2: ?z    3: matmul@p(0, 1)    4: matmul@q(0, 2)    roots 3, 4
//! ```
//!
//! The first root is enumerated through the operator index; a further root that shares a child
//! variable with what is bound is found through the nodes above that child.

use super::nodes::{Core, Op};
use crate::Id;

/// Which operators an atom matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// This one.
    Op(Op),
    /// All with this index key.
    Code(u32),
}

/// One atom of a flexible pattern; children are earlier atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlexAtom {
    /// A variable for a class, by number.
    Var(u32),
    /// An operator.
    Node {
        /// Which operators match.
        select: Selector,
        /// A variable for the operator, by number.
        bind: Option<u32>,
        /// The atoms of the first children.
        first: Vec<u32>,
        /// A variable for all children between the first and the last, by number.
        rest: Option<u32>,
        /// The atoms of the last children.
        last: Vec<u32>,
        /// Whether children match in any order; the rest keeps the order of the node.
        commutative: bool,
    },
}

/// A flexible pattern: atoms, and the ones that are roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlexPattern {
    /// The atoms, children before parents.
    pub atoms: Vec<FlexAtom>,
    /// The roots, at least one of them an operator at the first place.
    pub roots: Vec<u32>,
}

/// A match of a flexible pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The class of each class variable.
    pub vars: Vec<Option<Id>>,
    /// The operator of each operator variable.
    pub ops: Vec<Option<Op>>,
    /// The classes of each rest variable.
    pub rests: Vec<Option<Vec<Id>>>,
    /// The matched node of each atom; `None` for variables.
    pub nodes: Vec<Option<Id>>,
}

/// A match under way: what is bound, and what is to be matched against which class.
#[derive(Clone, Debug)]
struct State {
    binding: Binding,
    todo: Vec<(Id, u32)>,
    /// The number of roots that are matched.
    roots: usize,
}

impl FlexPattern {
    /// Finds all matches in a rebuilt e-graph, up to a limit.
    ///
    /// `accept` is asked for each operator that an atom may match, by atom.
    pub fn search(
        &self,
        core: &Core,
        limit: usize,
        mut accept: impl FnMut(u32, Op) -> bool,
    ) -> Vec<Binding> {
        let mut found = Vec::new();
        let empty = Binding { nodes: vec![None; self.atoms.len()], ..Binding::default() };
        let mut stack = vec![State { binding: empty, todo: Vec::new(), roots: 0 }];
        while let Some(mut state) = stack.pop() {
            if found.len() >= limit {
                break;
            }
            match state.todo.pop() {
                Some((class, atom)) => {
                    let candidates = self.in_class(core, class, atom);
                    self.branch(core, &state, class, atom, candidates, &mut accept, &mut stack);
                }
                None => match self.roots.get(state.roots).copied() {
                    None => found.push(state.binding),
                    Some(root) => {
                        state.roots += 1;
                        self.start(core, &state, root, &mut accept, &mut stack);
                    }
                },
            }
        }
        found
    }

    /// Matches a root against all nodes that it may match.
    fn start(
        &self,
        core: &Core,
        state: &State,
        root: u32,
        accept: &mut impl FnMut(u32, Op) -> bool,
        stack: &mut Vec<State>,
    ) {
        if let Some(FlexAtom::Var(_)) = self.atoms.get(root as usize) {
            let classes = core.class_ids();
            classes
                .for_each(|class| self.branch(core, state, class, root, Vec::new(), accept, stack));
            return;
        }
        for node in self.candidates(core, state, root) {
            let class = core.find(node);
            self.branch(core, state, class, root, vec![node], accept, stack);
        }
    }

    /// Lists the nodes that a root may match: those above a bound child, or all by operator.
    fn candidates(&self, core: &Core, state: &State, root: u32) -> Vec<Id> {
        let Some(FlexAtom::Node { select, first, last, .. }) = self.atoms.get(root as usize) else {
            return Vec::new();
        };
        let bound =
            first.iter().chain(last).find_map(|&kid| match self.atoms.get(kid as usize)? {
                FlexAtom::Var(var) => *state.binding.vars.get(*var as usize)?,
                FlexAtom::Node { .. } => {
                    state.binding.nodes[kid as usize].map(|node| core.find(node))
                }
            });
        let fits = |op: Op| match *select {
            Selector::Op(wanted) => op == wanted,
            Selector::Code(code) => core.code(op) == code,
        };
        if let Some(class) = bound {
            let above = core.uses_of(class);
            let mut nodes: Vec<Id> =
                above.filter(|&node| core.is_visible(node.0) && fits(core.op(node))).collect();
            nodes.sort_unstable();
            nodes.dedup();
            return nodes;
        }
        let ops = match select {
            Selector::Op(op) => std::slice::from_ref(op),
            Selector::Code(code) => core.ops_of_code(*code),
        };
        ops.iter().flat_map(|&op| core.nodes_of_op(op)).map(|&node| Id(node)).collect()
    }

    /// Lists the nodes of a class that an atom may match.
    fn in_class(&self, core: &Core, class: Id, atom: u32) -> Vec<Id> {
        let Some(FlexAtom::Node { select, .. }) = self.atoms.get(atom as usize) else {
            return Vec::new();
        };
        let fits = |op: u32| match *select {
            Selector::Op(wanted) => op == wanted.0,
            Selector::Code(code) => core.code(Op(op)) == code,
        };
        let rows = core.rows(core.find(class)).iter();
        rows.filter(|row| fits(row.op)).map(|row| Id(row.node)).collect()
    }

    /// Pushes the states that follow from matching an atom against a class.
    #[allow(clippy::too_many_arguments)]
    fn branch(
        &self,
        core: &Core,
        state: &State,
        class: Id,
        atom: u32,
        candidates: Vec<Id>,
        accept: &mut impl FnMut(u32, Op) -> bool,
        stack: &mut Vec<State>,
    ) {
        match self.atoms.get(atom as usize) {
            None => {}
            Some(FlexAtom::Var(var)) => {
                let mut state = state.clone();
                if bind(&mut state.binding.vars, *var, core.find(class)) {
                    stack.push(state);
                }
            }
            Some(FlexAtom::Node { bind: op_var, .. }) => {
                // A shared atom that is matched already only has to be in the same class.
                if let Some(node) = state.binding.nodes[atom as usize] {
                    if core.find(node) == core.find(class) {
                        stack.push(state.clone());
                    }
                    return;
                }
                for node in candidates.into_iter().rev() {
                    let op = core.op(node);
                    let mut state = state.clone();
                    let agrees = op_var.is_none_or(|var| bind(&mut state.binding.ops, var, op));
                    if agrees && accept(atom, op) {
                        state.binding.nodes[atom as usize] = Some(node);
                        self.children(core, state, node, atom, stack);
                    }
                }
            }
        }
    }

    /// Pushes a state for each way to hand the children of a node to an atom's children.
    fn children(&self, core: &Core, state: State, node: Id, atom: u32, stack: &mut Vec<State>) {
        let Some(FlexAtom::Node { first, rest, last, commutative, .. }) =
            self.atoms.get(atom as usize)
        else {
            return;
        };
        let kids: Vec<Id> = core.kids(node).iter().map(|&kid| core.find(Id(kid))).collect();
        let wanted: Vec<u32> = first.iter().chain(last).copied().collect();
        let spare = kids.len().checked_sub(wanted.len());
        let Some(spare) = spare.filter(|&spare| spare == 0 || rest.is_some()) else {
            return;
        };
        let ways = match commutative {
            true => arrangements(kids.len(), wanted.len()),
            false => {
                let tail = kids.len() - last.len()..kids.len();
                vec![(0..first.len()).chain(tail).collect()]
            }
        };
        for way in ways.into_iter().rev() {
            let mut state = state.clone();
            let left = (0..kids.len()).filter(|place| !way.contains(place));
            let left: Vec<Id> = left.map(|place| kids[place]).collect();
            debug_assert_eq!(left.len(), spare);
            if rest.is_none_or(|rest| bind(&mut state.binding.rests, rest, left)) {
                let pairs = wanted.iter().zip(&way).rev();
                state.todo.extend(pairs.map(|(&atom, &place)| (kids[place], atom)));
                stack.push(state);
            }
        }
    }
}

/// Binds a variable, or says whether it is bound to the same.
fn bind<T: PartialEq>(values: &mut Vec<Option<T>>, var: u32, value: T) -> bool {
    let at = var as usize;
    if values.len() <= at {
        values.resize_with(at + 1, || None);
    }
    match &values[at] {
        Some(known) => *known == value,
        None => {
            values[at] = Some(value);
            true
        }
    }
}

/// Lists the ways to pick `count` of `places` in order.
fn arrangements(places: usize, count: usize) -> Vec<Vec<usize>> {
    let mut ways = vec![Vec::new()];
    for _ in 0..count {
        let longer = |way: Vec<usize>| {
            let free: Vec<usize> = (0..places).filter(|place| !way.contains(place)).collect();
            free.into_iter().map(move |place| {
                let mut way = way.clone();
                way.push(place);
                way
            })
        };
        ways = ways.into_iter().flat_map(longer).collect();
    }
    ways
}

impl Binding {
    /// Returns the class of the match's first root.
    pub fn root(&self, core: &Core, pattern: &FlexPattern) -> Option<Id> {
        let root = *pattern.roots.first()? as usize;
        match pattern.atoms.get(root)? {
            FlexAtom::Var(var) => *self.vars.get(*var as usize)?,
            FlexAtom::Node { .. } => self.nodes[root].map(|node| core.find(node)),
        }
    }

    /// Returns the latest generation in which a matched node changed.
    pub fn generation(&self, core: &Core) -> u32 {
        let nodes = self.nodes.iter().flatten();
        nodes.map(|node| core.stamp[node.0 as usize]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Graph, Why};

    const SUM: u32 = 1;
    const LEAF: u32 = 2;

    fn node(
        code: u32,
        first: &[u32],
        rest: Option<u32>,
        last: &[u32],
        commutative: bool,
    ) -> FlexAtom {
        FlexAtom::Node {
            select: Selector::Code(code),
            bind: Some(0),
            first: first.to_vec(),
            rest,
            last: last.to_vec(),
            commutative,
        }
    }

    /// A sum of three leaves, a sum of two of them, and the leaves.
    fn graph() -> (Graph<()>, [Id; 3], [Id; 2]) {
        let mut graph = Graph::new(());
        let leaves = [0; 3].map(|_| graph.new_op(LEAF, 0)).map(|op| graph.add(op, &[]));
        let (three, two) = (graph.new_op(SUM, 3), graph.new_op(SUM, 2));
        let three = graph.add(three, &leaves);
        let two = graph.add(two, &leaves[..2]);
        graph.rebuild();
        (graph, leaves, [three, two])
    }

    #[test]
    fn rest_takes_what_is_left() {
        let (graph, [a, b, c], [three, two]) = graph();
        let pattern = FlexPattern {
            atoms: vec![FlexAtom::Var(0), FlexAtom::Var(1), node(SUM, &[0], Some(0), &[1], false)],
            roots: vec![2],
        };
        let found = pattern.search(graph.core(), 10, |_, _| true);
        let seen: Vec<_> =
            found.iter().map(|m| (m.root(graph.core(), &pattern), m.rests[0].clone())).collect();
        assert!(seen.contains(&(Some(three), Some(vec![b]))));
        assert!(seen.contains(&(Some(two), Some(vec![]))));
        assert_eq!(seen.len(), 2);
        assert_eq!(found.iter().filter(|m| m.vars == [Some(a), Some(c)]).count(), 1);
    }

    #[test]
    fn commutative_children_come_in_any_order() {
        let (graph, leaves, [_, two]) = graph();
        let pattern = FlexPattern {
            atoms: vec![FlexAtom::Var(0), node(SUM, &[0], Some(0), &[], true)],
            roots: vec![1],
        };
        let found = pattern.search(graph.core(), 10, |_, op| graph.core().arity(op) == 2);
        let mut vars: Vec<_> = found.iter().map(|m| (m.vars[0], m.rests[0].clone())).collect();
        vars.sort();
        assert_eq!(
            vars,
            [(Some(leaves[0]), Some(vec![leaves[1]])), (Some(leaves[1]), Some(vec![leaves[0]]))]
        );
        assert!(found.iter().all(|m| m.root(graph.core(), &pattern) == Some(two)));
    }

    #[test]
    fn roots_join_over_what_they_share() {
        let (mut graph, [a, ..], [three, two]) = graph();
        let pattern = FlexPattern {
            atoms: vec![
                FlexAtom::Var(0),
                FlexAtom::Node {
                    select: Selector::Code(SUM),
                    bind: Some(0),
                    first: vec![0],
                    rest: Some(0),
                    last: vec![],
                    commutative: false,
                },
                FlexAtom::Node {
                    select: Selector::Code(SUM),
                    bind: Some(1),
                    first: vec![0],
                    rest: Some(1),
                    last: vec![],
                    commutative: false,
                },
            ],
            roots: vec![1, 2],
        };
        let found = pattern.search(graph.core(), 10, |_, _| true);
        let mut pairs: Vec<_> = found.iter().map(|m| (m.nodes[1], m.nodes[2])).collect();
        pairs.sort();
        let (three, two) = (Some(three), Some(two));
        assert_eq!(pairs, [(three, three), (three, two), (two, three), (two, two)]);
        assert!(found.iter().all(|m| m.vars[0] == Some(a)));
        graph.union(three.unwrap_or(a), two.unwrap_or(a), Why::Congruence);
        graph.rebuild();
        assert_eq!(pattern.search(graph.core(), 3, |_, _| true).len(), 3);
    }
}
