//! Proofs from the log: why two ids are equal, term by term.
//!
//! The edges of the [log](super::log) form a forest over ids, and each id is a *term*: its words
//! as they were added, with terms for children. The path between two ids, edge by edge, is a
//! chain of rewriting steps between their terms. A congruence edge becomes chains between the
//! children. A match edge stands for three steps, because a rule rewrites its instantiated left
//! side, not the node it matched: from the matched node to the instance (congruence again), to
//! the instance of the right side (the rule), to the node that was built (congruence). The
//! instances are *vertices* that exist only here; each hangs on the node that witnesses it.
//!
//! Everything a step needs was true when its edge was made, and the path between ids that were
//! equal at some time uses only edges from before. So the recursion is founded, and nothing had
//! to be instantiated while rewriting ran.

use super::log::Why;
use super::nodes::{Core, Op};
use super::term::{Atom, Term};
use crate::id::to_u32;
use crate::{Id, Symbol};
use rustc_hash::FxHashMap;

/// A term of a proof: an id, or an instance that only the proof knows.
pub type Vertex = u32;

/// One term in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofStep {
    /// The operator of the term.
    pub op: Op,
    /// For each child a chain, by number: from its first term to its last.
    pub kids: Vec<u32>,
    /// The rule that leads from the last term to this one, and whether it was read forward.
    pub rule: Option<(Symbol, bool)>,
}

/// Chains of rewriting steps that refer to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// The chains; each has at least one step, whose first term is where it starts.
    pub chains: Vec<Vec<ProofStep>>,
    /// The number of the chain that proves what was asked.
    pub root: u32,
}

const NONE: u32 = u32::MAX;

/// The forest of a log, rooted for path queries.
pub(crate) struct Proofs<'a> {
    core: &'a Core,
    /// For each id the edge towards its root.
    above: Vec<u32>,
    depth: Vec<u32>,
    /// Words and witness of the vertices beyond the ids.
    instances: Vec<(Vec<u32>, u32)>,
    /// The instances of both sides of each match edge.
    sides: FxHashMap<u32, (Vertex, Vertex)>,
    /// Numbers of terms, equal for equal terms.
    shapes: FxHashMap<Vertex, u32>,
    terms: FxHashMap<Vec<u32>, u32>,
    chains: FxHashMap<(Vertex, Vertex), u32>,
    proof: Proof,
    todo: Vec<(u32, Vertex, Vertex)>,
    shorten: bool,
}

/// One move along a path.
enum Move {
    Congruent(Vertex),
    Rule(Vertex, Symbol, bool),
}

impl<'a> Proofs<'a> {
    /// Roots the forest, in O(ids); `None` if there is no log.
    pub(crate) fn new(core: &'a Core, shorten: bool) -> Option<Self> {
        core.log.as_ref()?;
        let count = core.number_of_ids();
        let mut proofs = Proofs {
            core,
            above: vec![NONE; count],
            depth: vec![NONE; count],
            instances: Vec::new(),
            sides: FxHashMap::default(),
            shapes: FxHashMap::default(),
            terms: FxHashMap::default(),
            chains: FxHashMap::default(),
            proof: Proof::default(),
            todo: Vec::new(),
            shorten,
        };
        proofs.root_forest();
        Some(proofs)
    }

    fn root_forest(&mut self) {
        let Some(log) = &self.core.log else { return };
        let count = self.depth.len();
        let mut starts = vec![0u32; count + 1];
        for edge in &log.edges {
            starts[edge.left as usize + 1] += 1;
            starts[edge.right as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut near = vec![0u32; log.edges.len() * 2];
        for (number, edge) in log.edges.iter().enumerate() {
            for end in [edge.left, edge.right] {
                near[next[end as usize] as usize] = number as u32;
                next[end as usize] += 1;
            }
        }
        let mut stack = Vec::new();
        for root in 0..to_u32(count, "ids") {
            if self.depth[root as usize] != NONE {
                continue;
            }
            self.depth[root as usize] = 0;
            stack.push(root);
            while let Some(id) = stack.pop() {
                let range = starts[id as usize] as usize..starts[id as usize + 1] as usize;
                for &number in &near[range] {
                    let edge = &log.edges[number as usize];
                    let other = edge.left ^ edge.right ^ id;
                    if self.depth[other as usize] == NONE {
                        self.depth[other as usize] = self.depth[id as usize] + 1;
                        self.above[other as usize] = number;
                        stack.push(other);
                    }
                }
            }
        }
    }

    /// Proves that two ids of one class are equal.
    pub(crate) fn prove(mut self, left: Id, right: Id) -> Proof {
        self.proof.root = self.chain(left.0, right.0);
        while let Some((chain, left, right)) = self.todo.pop() {
            self.proof.chains[chain as usize] = self.steps(left, right);
        }
        self.proof
    }

    /// Returns the number of the chain between two vertices, to be filled in later.
    fn chain(&mut self, left: Vertex, right: Vertex) -> u32 {
        let right = if self.shape(left) == self.shape(right) { left } else { right };
        if let Some(&chain) = self.chains.get(&(left, right)) {
            return chain;
        }
        let chain = to_u32(self.proof.chains.len(), "chains");
        self.proof.chains.push(Vec::new());
        self.chains.insert((left, right), chain);
        self.todo.push((chain, left, right));
        chain
    }

    fn steps(&mut self, left: Vertex, right: Vertex) -> Vec<ProofStep> {
        let mut steps = Vec::new();
        // The step under way: where it starts, where it ends, and the rule that leads to its start.
        let (mut start, mut end, mut rule) = (left, left, None);
        let moves = if left == right { Vec::new() } else { self.moves(left, right) };
        for step in moves {
            match step {
                Move::Congruent(to) => {
                    if start != end {
                        steps.push(self.step(start, end, rule.take()));
                        start = end;
                    }
                    if self.shape(end) == self.shape(to) {
                        start = to;
                    }
                    end = to;
                }
                Move::Rule(to, name, forward) => {
                    steps.push(self.step(start, end, rule));
                    (start, end, rule) = (to, to, Some((name, forward)));
                }
            }
        }
        steps.push(self.step(start, end, rule));
        steps
    }

    /// Makes the step whose children change from those of one vertex to those of another.
    fn step(&mut self, from: Vertex, to: Vertex, rule: Option<(Symbol, bool)>) -> ProofStep {
        let (from, to) = (self.words(from), self.words(to));
        let kids = from[1..].iter().zip(&to[1..]);
        ProofStep {
            op: Op(from[0]),
            kids: kids.map(|(&from, &to)| self.chain(from, to)).collect(),
            rule,
        }
    }

    /// Lists the moves between two vertices, without detours through the same term if wanted.
    fn moves(&mut self, left: Vertex, right: Vertex) -> Vec<Move> {
        let mut moves = Vec::new();
        let (from, to) = (self.witness(left), self.witness(right));
        if from != left {
            moves.push(Move::Congruent(from));
        }
        self.follow(from, to, &mut moves);
        if to != right {
            moves.push(Move::Congruent(right));
        }
        if !self.shorten {
            return moves;
        }
        let mut seen: FxHashMap<u32, usize> = FxHashMap::default();
        let mut short: Vec<Move> = Vec::new();
        seen.insert(self.shape(left), 0);
        for step in moves {
            let (Move::Congruent(to) | Move::Rule(to, ..)) = step;
            short.push(step);
            let shape = self.shape(to);
            match seen.get(&shape) {
                Some(&length) => {
                    // The term was reached before: what lies between is a detour. A move to an
                    // equal term stays, so that the walk goes on from the right vertex.
                    short.truncate(length);
                    short.push(Move::Congruent(to));
                    seen.retain(|_, place| *place <= length);
                }
                None => _ = seen.insert(shape, short.len()),
            }
        }
        short
    }

    /// Walks the forest from one id to another.
    fn follow(&mut self, mut left: u32, mut right: u32, moves: &mut Vec<Move>) {
        let Some(log) = &self.core.log else { return };
        let (mut up, mut down) = (Vec::new(), Vec::new());
        while left != right {
            let side = self.depth[left as usize] >= self.depth[right as usize];
            let (id, list) = if side { (&mut left, &mut up) } else { (&mut right, &mut down) };
            let number = self.above[*id as usize];
            let Some(edge) = log.edges.get(number as usize) else {
                return;
            };
            let other = edge.left ^ edge.right ^ *id;
            // Each entry goes from `from` to the other end.
            list.push((number, if side { *id } else { other }));
            *id = other;
        }
        for (number, from) in up.into_iter().chain(down.into_iter().rev()) {
            self.cross(number, from, moves);
        }
    }

    /// Adds the moves of one edge, starting at `from`.
    fn cross(&mut self, number: u32, from: u32, moves: &mut Vec<Move>) {
        let Some(log) = &self.core.log else { return };
        let edge = log.edges[number as usize];
        let forward = edge.left == from;
        let to = edge.left ^ edge.right ^ from;
        match edge.why {
            Why::Congruence => moves.push(Move::Congruent(to)),
            Why::Given(name) => moves.push(Move::Rule(to, name, forward)),
            Why::Match(row) => {
                let (left, right) = self.sides_of(row);
                let name = log.rules[log.rows[row as usize] as usize].name;
                let (first, second) = if forward { (left, right) } else { (right, left) };
                if first != from {
                    moves.push(Move::Congruent(first));
                }
                moves.push(Move::Rule(second, name, forward));
                if second != to {
                    moves.push(Move::Congruent(to));
                }
            }
        }
    }

    /// Returns the instances of both sides of the rule of a match row.
    fn sides_of(&mut self, row: u32) -> (Vertex, Vertex) {
        if let Some(&sides) = self.sides.get(&row) {
            return sides;
        }
        let Some(log) = &self.core.log else {
            return (NONE, NONE);
        };
        let rule = &log.rules[log.rows[row as usize] as usize];
        let rest = &log.rows[row as usize + 1..];
        let vars = rule.left.var_count();
        let lefts = rule.left.node_count();
        let left = self.instance(&rule.left, rest, &rest[vars..]);
        let right = self.instance(&rule.right, rest, &rest[vars + lefts..]);
        self.sides.insert(row, (left, right));
        (left, right)
    }

    /// Makes the vertices of an instantiated term; `nodes` witness its operators in order.
    fn instance(&mut self, term: &Term, vars: &[u32], nodes: &[u32]) -> Vertex {
        let mut nodes = nodes.iter();
        let mut made: Vec<Vertex> = Vec::with_capacity(term.atoms.len());
        for atom in &term.atoms {
            made.push(match atom {
                Atom::Var(var) => vars[*var as usize],
                Atom::Node(op, kids) => {
                    let witness = nodes.next().copied().unwrap_or(NONE);
                    // An operator may have matched another one than itself.
                    let known = self.core.starts.get(witness as usize);
                    let mut words = vec![known.map_or(op.0, |&at| self.core.words[at as usize])];
                    words.extend(kids.iter().map(|&kid| made[kid as usize]));
                    self.instances.push((words, witness));
                    to_u32(self.depth.len() + self.instances.len() - 1, "terms")
                }
            });
        }
        made.last().copied().unwrap_or(NONE)
    }

    fn witness(&self, vertex: Vertex) -> u32 {
        match (vertex as usize).checked_sub(self.depth.len()) {
            None => vertex,
            Some(instance) => self.instances[instance].1,
        }
    }

    fn words(&self, vertex: Vertex) -> Vec<u32> {
        match (vertex as usize).checked_sub(self.depth.len()) {
            None => self.core.spelling(vertex).to_vec(),
            Some(instance) => self.instances[instance].0.clone(),
        }
    }

    /// Returns the number of a vertex's term.
    fn shape(&mut self, vertex: Vertex) -> u32 {
        let mut stack = vec![vertex];
        while let Some(&top) = stack.last() {
            if self.shapes.contains_key(&top) {
                stack.pop();
                continue;
            }
            let mut words = self.words(top);
            let before = stack.len();
            let unknown = words[1..].iter().filter(|kid| !self.shapes.contains_key(kid));
            stack.extend(unknown);
            if stack.len() == before {
                for word in &mut words[1..] {
                    *word = self.shapes[word];
                }
                let next = to_u32(self.terms.len(), "terms");
                let shape = *self.terms.entry(words).or_insert(next);
                self.shapes.insert(top, shape);
                stack.pop();
            }
        }
        self.shapes[&vertex]
    }
}
