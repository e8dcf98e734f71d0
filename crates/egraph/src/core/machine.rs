//! Matching one left-hand side by itself.
//!
//! A [`RuleSet`](super::RuleSet) shares the work of many rules, and pays for that when it is made.
//! Here a [`Program`] runs as it is: nothing is made for an e-graph but the list of its operators,
//! the [`Link`], so that small e-graphs, single searches and searches of one class cost what they
//! find. An operator may stand for several of the e-graph's, all those that it matches.

use super::classes::op_bit;
use super::matcher::{Found, Query};
use super::nodes::{Core, Op};
use super::program::{Instruction, Program, Witness};
use super::term::{Atom, Term};
use crate::Id;
use smallvec::SmallVec;

/// The operators of one e-graph that those of a program stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// By the operator's number in the program.
    pub(crate) ops: SmallVec<[u32; 8]>,
    /// By number too, all that match; empty if each operator matches itself only.
    pub(crate) loose: Vec<Vec<u32>>,
}

/// What a search is about.
pub(crate) struct Job<'a> {
    pub(crate) core: &'a Core,
    pub(crate) program: &'a Program,
    pub(crate) link: &'a Link,
    pub(crate) query: Query,
    /// The class to search, if not all.
    pub(crate) only: Option<u32>,
    /// Whether rows name the matched nodes.
    pub(crate) witness: bool,
}

/// Registers and choices under way, kept from search to search.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    regs: Vec<u32>,
    bound: Vec<u32>,
    /// Class and stamp of the terms without variables, in the order of their steps.
    ground: SmallVec<[(u32, u32); 4]>,
    frames: Vec<Frame>,
    polls: u32,
}

/// A branching step under way.
#[derive(Clone, Copy, Debug)]
struct Frame {
    step: u32,
    at: u32,
    end: u32,
    /// The number of branching steps and of terms without variables before this one.
    depth: u32,
    grounds: u32,
    /// The latest stamp among the nodes bound before.
    above: u32,
}

/// Where a program stands.
struct Cursor {
    step: usize,
    depth: u32,
    grounds: u32,
    stamp: u32,
}

impl Job<'_> {
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

    fn is_loose(&self) -> bool {
        !self.link.loose.is_empty()
    }
}

impl Machine {
    /// Searches, and appends what is found; false if `stop` said so.
    pub(crate) fn run(
        &mut self,
        job: &Job<'_>,
        found: &mut Found,
        mut stop: impl FnMut() -> bool,
    ) -> bool {
        if !job.query.active || job.query.limit == 0 || !self.look_up(job) {
            return true;
        }
        self.regs.resize(job.program.registers as usize, 0);
        self.bound.resize(job.program.branches as usize, 0);
        self.frames.clear();
        let mut place = Cursor { step: 0, depth: 0, grounds: 0, stamp: 0 };
        loop {
            if self.descend(job, &mut place) {
                self.emit(job, found, place.stamp);
                if found.count >= job.query.limit {
                    return true;
                }
            }
            if !self.advance(job, &mut place) {
                return true;
            }
            self.polls = self.polls.wrapping_add(1);
            if self.polls & 0xffff == 0 && stop() {
                return false;
            }
        }
    }

    /// Finds the classes of all terms without variables; false if one is not there.
    fn look_up(&mut self, job: &Job<'_>) -> bool {
        self.ground.clear();
        for step in &job.program.steps {
            if let Instruction::Ground { term, .. } = step {
                match find_ground(job.core, term, |op| job.link.ops[op.0 as usize]) {
                    Some((class, stamp, _)) => self.ground.push((class, stamp)),
                    None => return false,
                }
            }
        }
        true
    }

    /// Runs checks up to the end, or up to a branching step, which gets a frame; tells whether all
    /// steps held.
    #[inline]
    fn descend(&mut self, job: &Job<'_>, place: &mut Cursor) -> bool {
        while let Some(step) = job.program.steps.get(place.step) {
            match step {
                Instruction::Same { left, right } => {
                    if self.regs[*left as usize] != self.regs[*right as usize] {
                        return false;
                    }
                }
                Instruction::Has { reg, op } => {
                    let mask = job.core.class[self.regs[*reg as usize] as usize].mask;
                    if !job.is_loose() && mask & op_bit(job.link.ops[*op as usize]) == 0 {
                        return false;
                    }
                }
                Instruction::Ground { reg, .. } => {
                    let (class, stamp) = self.ground[place.grounds as usize];
                    if self.regs[*reg as usize] != class {
                        return false;
                    }
                    place.grounds += 1;
                    place.stamp = place.stamp.max(stamp);
                }
                Instruction::Bind { .. } | Instruction::Scan { .. } | Instruction::Each { .. } => {
                    let (at, end) = self.candidates(job, step, place);
                    if at < end {
                        self.frames.push(Frame {
                            step: place.step as u32,
                            at,
                            end,
                            depth: place.depth,
                            grounds: place.grounds,
                            above: place.stamp,
                        });
                    }
                    return false;
                }
            }
            place.step += 1;
        }
        true
    }

    /// Returns the range of rows, nodes or classes that a branching step has to try.
    #[inline]
    fn candidates(&self, job: &Job<'_>, step: &Instruction, place: &Cursor) -> (u32, u32) {
        let core = job.core;
        let only = job.only.filter(|_| place.depth == 0);
        let op = match step {
            Instruction::Bind { op, .. } | Instruction::Scan { op, .. } => *op,
            _ => {
                return only.map_or((0, core.find.len() as u32), |class| (class, class + 1));
            }
        };
        let class = match step {
            Instruction::Bind { reg, .. } => Some(self.regs[*reg as usize]),
            _ => only,
        };
        let Some(class) = class else {
            return match job.is_loose() {
                true => (0, core.find.len() as u32),
                false => (0, core.ops[job.link.ops[op as usize] as usize].nodes.len() as u32),
            };
        };
        let last = !job.program.deeper[place.step];
        let since = if job.query.count_all { 0 } else { job.query.since };
        if last && place.stamp < since && core.heading(class).1 < since {
            return (0, 0);
        }
        if job.is_loose() {
            let start = core.class[class as usize].start;
            return (start, start + core.heading(class).0);
        }
        core.rows_with(class, job.link.ops[op as usize])
    }

    /// Binds the next candidate of the last frame that has one; false if none has.
    #[inline]
    fn advance(&mut self, job: &Job<'_>, place: &mut Cursor) -> bool {
        let since = if job.query.count_all { 0 } else { job.query.since };
        while let Some(frame) = self.frames.last_mut() {
            let step = &job.program.steps[frame.step as usize];
            let last = !job.program.deeper[frame.step as usize];
            while frame.at < frame.end {
                let at = frame.at as usize;
                frame.at += 1;
                let listed = job.only.is_some() && frame.depth == 0;
                let Some((node, fresh)) = candidate(job, step, at, listed) else { continue };
                let stamp = frame.above.max(fresh);
                if last && stamp < since {
                    continue;
                }
                *place = Cursor {
                    step: frame.step as usize + 1,
                    depth: frame.depth + 1,
                    grounds: frame.grounds,
                    stamp,
                };
                self.bound[frame.depth as usize] = node;
                bind(job.core, step, node, &mut self.regs);
                return true;
            }
            self.frames.pop();
        }
        false
    }

    /// Counts a match and writes its row if it is new enough.
    #[inline]
    fn emit(&self, job: &Job<'_>, found: &mut Found, stamp: u32) {
        let fresh = stamp >= job.query.since;
        if !fresh && !job.query.count_all {
            return;
        }
        found.count += 1;
        if !fresh {
            return;
        }
        found.rows.push(self.regs[0]);
        found.rows.extend(job.program.vars.iter().map(|&reg| self.regs[reg as usize]));
        if job.witness {
            for witness in &job.program.witnesses {
                let ground = |term| find_ground(job.core, term, |op| job.link.ops[op.0 as usize]);
                found.rows.push(match witness {
                    Witness::Bound(at) => self.bound[*at as usize],
                    Witness::Ground(term) => ground(term).map_or(0, |found| found.2),
                });
            }
        }
    }
}

/// Returns the n-th candidate of a branching step, a node or a class, and its stamp.
#[inline]
fn candidate(job: &Job<'_>, step: &Instruction, at: usize, listed: bool) -> Option<(u32, u32)> {
    let core = job.core;
    let node = match step {
        Instruction::Scan { op, .. } if !listed => match job.is_loose() {
            false => core.ops[job.link.ops[*op as usize] as usize].nodes[at],
            true => {
                let node = at as u32;
                let op_of = core.words[core.starts[at] as usize];
                (core.is_visible(node) && job.fits(*op, op_of)).then_some(node)?
            }
        },
        Instruction::Scan { op, .. } | Instruction::Bind { op, .. } => {
            let row = core.rows[at];
            if job.is_loose() && !job.fits(*op, row.op) {
                return None;
            }
            row.node
        }
        _ => {
            let class = at as u32;
            return (core.find[at] == class).then(|| (class, core.born(class)));
        }
    };
    Some((node, core.stamp[node as usize]))
}

/// Writes what a branching step binds into the registers.
#[inline]
fn bind(core: &Core, step: &Instruction, node: u32, regs: &mut [u32]) {
    let kids = match step {
        Instruction::Each { out } => {
            regs[*out as usize] = node;
            return;
        }
        Instruction::Scan { out, .. } => {
            regs[*out as usize] = core.find[node as usize];
            *out + 1
        }
        Instruction::Bind { out, .. } => *out,
        _ => return,
    };
    for (reg, &kid) in regs[kids as usize..].iter_mut().zip(core.kids(Id(node))) {
        *reg = kid;
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
        let node = core.lookup_key(&key)?;
        // A pruned node keeps no stamp of its own; its class has one that is at least as late.
        let class = core.root(node);
        stamp = stamp.max(core.stamp[node as usize]).max(core.heading(class).1);
        nodes.push(node);
    }
    let node = *nodes.last()?;
    Some((core.root(node), stamp, node))
}
