//! What a search is about, what it tries, and what it finds.

use super::classes::{Row, op_bit};
use super::gate::Gate;
use super::matcher::Query;
use super::nodes::{Core, Op};
use super::program::{Instruction, Program, Witness};
use super::term::{Atom, Term};
use smallvec::SmallVec;
use std::ops::Range;

/// The operators of one e-graph that those of a program stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// By the operator's number in the program.
    pub(crate) ops: SmallVec<[u32; 8]>,
    /// By number too, all that match; empty if each operator matches itself only.
    pub(crate) loose: Vec<Vec<u32>>,
}

/// What one rule found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// One row per match: root class, bindings by variable number, then the matched nodes.
    pub rows: Vec<u32>,
    /// The length of a row.
    pub width: usize,
    /// The number of variables.
    pub vars: usize,
    /// The number of matches, those without a row included.
    pub count: usize,
}

impl Found {
    /// Iterates over the rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.rows.chunks_exact(self.width.max(1))
    }

    /// Returns the number of rows.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Most lists of small e-graphs are empty, and a division takes long.
        if self.rows.is_empty() { 0 } else { self.rows.len() / self.width.max(1) }
    }
}

/// What a search is about.
pub(crate) struct Job<'a> {
    pub(crate) core: &'a Core,
    pub(crate) program: &'a Program,
    pub(crate) link: &'a Link,
    pub(crate) query: Query,
    /// The class to search, if not all.
    pub(crate) only: Option<u32>,
    /// The nodes with the first operator, if not in the order of their creation.
    pub(crate) listed: Option<&'a [u32]>,
    /// Whether rows name the matched nodes.
    pub(crate) witness: bool,
}

/// The candidates of a branching step that were not tried yet.
pub(super) enum Candidates<'a> {
    /// Nodes with one operator.
    Nodes(std::slice::Iter<'a, u32>),
    /// Nodes of one class.
    Rows(std::slice::Iter<'a, Row>),
    /// Classes, or nodes of whatever operator.
    Ids(Range<u32>),
}

/// A match: registers, the nodes that were bound, and the latest stamp.
pub(crate) struct Match<'a> {
    pub(super) regs: &'a [u32],
    pub(super) bound: &'a [u32],
    pub(super) stamp: u32,
}

impl<'a> Job<'a> {
    /// Makes an empty list of matches.
    pub(crate) fn found(&self) -> Found {
        let vars = self.program.vars.len();
        let extra = if self.witness { self.program.witnesses.len() } else { 0 };
        Found { rows: Vec::new(), width: 1 + vars + extra, vars, count: 0 }
    }

    /// Tells whether an operator of the program matches that of a node.
    #[inline]
    fn fits(&self, op: u32, found: u32) -> bool {
        match self.link.loose.get(op as usize) {
            None => self.link.ops[op as usize] == found,
            Some(all) => all.contains(&found),
        }
    }

    pub(super) fn is_loose(&self) -> bool {
        !self.link.loose.is_empty()
    }

    /// Says what a step asks for, as far as a look at the class that it starts from tells.
    #[inline]
    pub(super) fn gate(&self, at: usize) -> Gate {
        let step = match self.program.steps.get(at) {
            Some(step) if !self.is_loose() => step,
            _ => return Gate::Open,
        };
        let (Instruction::Bind { reg, op, .. } | Instruction::Has { reg, op }) = *step else {
            return Gate::Open;
        };
        let last = matches!(step, Instruction::Bind { .. }) && !self.program.deeper[at];
        let since = if last { self.since() } else { 0 };
        Gate::Class { reg, mask: op_bit(self.link.ops[op as usize]), since }
    }

    /// Returns the generation that the last node of a match has to come from.
    pub(super) fn since(&self) -> u32 {
        if self.query.count_all { 0 } else { self.query.since }
    }

    /// Returns the next candidate, a node or a class, and its stamp.
    #[inline(always)]
    pub(super) fn next(
        &self,
        step: &Instruction,
        candidates: &mut Candidates<'a>,
    ) -> Option<(u32, u32)> {
        let core = self.core;
        loop {
            let node = match (&mut *candidates, step) {
                (Candidates::Nodes(nodes), _) => *nodes.next()?,
                (
                    Candidates::Rows(rows),
                    Instruction::Scan { op, .. } | Instruction::Bind { op, .. },
                ) => {
                    let row = rows.next()?;
                    if self.is_loose() && !self.fits(*op, row.op) {
                        continue;
                    }
                    row.node
                }
                (Candidates::Ids(ids), Instruction::Scan { op, .. }) => {
                    let node = ids.next()?;
                    let op_of = core.words[core.starts[node as usize] as usize];
                    if !core.is_visible(node) || !self.fits(*op, op_of) {
                        continue;
                    }
                    node
                }
                (Candidates::Ids(ids), _) => {
                    let class = ids.next()?;
                    if core.find[class as usize] != class {
                        continue;
                    }
                    return Some((class, core.born(class)));
                }
                (Candidates::Rows(_), _) => return None,
            };
            return Some((node, core.stamp[node as usize]));
        }
    }

    /// Appends a match as a row, if it is new enough; tells whether more may be found.
    #[inline]
    pub(crate) fn emit(&self, found: &mut Found, at: &Match<'_>) -> bool {
        let fresh = at.stamp >= self.query.since;
        if !fresh && !self.query.count_all {
            return true;
        }
        found.count += 1;
        if fresh {
            found.rows.reserve(found.width);
            found.rows.push(at.regs[0]);
            found.rows.extend(self.program.vars.iter().map(|&reg| at.regs[reg as usize]));
            if self.witness {
                self.emit_witnesses(found, at.bound);
            }
        }
        found.count < self.query.limit
    }

    fn emit_witnesses(&self, found: &mut Found, bound: &[u32]) {
        for witness in &self.program.witnesses {
            let ground = |term| find_ground(self.core, term, |op| self.link.ops[op.0 as usize]);
            found.rows.push(match witness {
                Witness::Bound(at) => bound[*at as usize],
                Witness::Ground(term) => ground(term).map_or(0, |found| found.2),
            });
        }
    }
}

impl Match<'_> {
    /// Returns the class of the match.
    #[inline]
    pub(crate) fn class(&self) -> u32 {
        self.regs[0]
    }

    /// Returns the generation of the newest of its nodes.
    #[inline]
    pub(crate) fn stamp(&self) -> u32 {
        self.stamp
    }

    /// Returns the class in a register.
    #[inline]
    pub(crate) fn reg(&self, reg: u32) -> u32 {
        self.regs[reg as usize]
    }
}

/// Finds a term without variables through the hashcons: its class, its latest stamp, its node.
///
/// `op_of` gives the e-graph's operator for one of the term.
pub(crate) fn find_ground(
    core: &Core,
    term: &Term,
    op_of: impl Fn(Op) -> u32,
) -> Option<(u32, u32, u32)> {
    if let [Atom::Node(op, kids)] = term.atoms.as_slice()
        && kids.is_empty()
    {
        return found_node(core, &[op_of(*op)]);
    }
    let mut nodes: SmallVec<[u32; 8]> = SmallVec::new();
    let mut key: SmallVec<[u32; 8]> = SmallVec::new();
    let mut stamp = 0;
    for atom in &term.atoms {
        let Atom::Node(op, kids) = atom else {
            return None;
        };
        key.clear();
        key.push(op_of(*op));
        key.extend(kids.iter().map(|&kid| core.root(nodes[kid as usize])));
        let (_, newest, node) = found_node(core, &key)?;
        stamp = stamp.max(newest);
        nodes.push(node);
    }
    let node = *nodes.last()?;
    Some((core.root(node), stamp, node))
}

/// Finds a node through the hashcons: its class, the latest stamp of the two, itself.
fn found_node(core: &Core, key: &[u32]) -> Option<(u32, u32, u32)> {
    let node = core.lookup_key(key)?;
    // A pruned node keeps no stamp of its own; its class has one that is at least as late.
    let class = core.root(node);
    Some((class, core.stamp[node as usize].max(core.heading(class).1), node))
}
