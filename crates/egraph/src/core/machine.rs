//! Matching one left-hand side by itself.
//!
//! A [`RuleSet`](super::RuleSet) shares the work of many rules, and pays for that when it is made.
//! Here a [`Program`] runs as it is: nothing is made for an e-graph but the list of its operators,
//! the [`Link`](super::Link), so that small e-graphs, single searches and searches of one class cost what they
//! find. An operator may stand for several of the e-graph's, all those that it matches.

use super::classes::op_bit;
use super::job::{Candidates, Found, Job, Match, find_ground};
use super::nodes::{Core, Op};
use super::program::Instruction;
use crate::Id;
use smallvec::SmallVec;

/// Registers and what is looked up before a search, kept from search to search.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    regs: SmallVec<[u32; 16]>,
    bound: SmallVec<[u32; 4]>,
    /// Class and stamp of the terms without variables, in the order of their steps.
    ground: SmallVec<[(u32, u32); 4]>,
    polls: u32,
}

/// A branching step under way.
struct Frame<'a> {
    candidates: Candidates<'a>,
    /// Where the program stands.
    place: Cursor,
}

/// Where a program stands.
#[derive(Clone, Copy)]
struct Cursor {
    step: usize,
    /// The number of branching steps and of terms without variables before this step.
    depth: usize,
    grounds: usize,
    /// The latest stamp among the nodes bound before.
    stamp: u32,
}

/// What becomes of a program that runs on from some place.
enum Outcome<'a> {
    /// A check failed, or there is nothing to try.
    Failed,
    /// All steps held.
    Matched(u32),
    /// A step branches.
    Branched(Frame<'a>),
}

impl Machine {
    /// Searches, and appends what is found; false if `stop` said so.
    pub(crate) fn run(
        &mut self,
        job: &Job<'_>,
        found: &mut Found,
        stop: impl FnMut() -> bool,
    ) -> bool {
        self.each(job, |at| job.emit(found, &at), stop)
    }

    /// Searches, and hands over each match as long as it is asked for more; false if `stop` said
    /// so.
    pub(crate) fn each(
        &mut self,
        job: &Job<'_>,
        found: impl FnMut(Match<'_>) -> bool,
        stop: impl FnMut() -> bool,
    ) -> bool {
        !self.prepare(job) || self.walk(job, found, stop)
    }

    /// Makes room, and looks up what a search needs; false if nothing can be found.
    pub(crate) fn prepare(&mut self, job: &Job<'_>) -> bool {
        if !job.query.active || job.query.limit == 0 || !self.look_up(job) {
            return false;
        }
        // What is longer than need be stays so: a search writes what it reads.
        let (registers, branches) = (job.program.registers as usize, job.program.branches as usize);
        if self.regs.len() < registers {
            self.regs.resize(registers, 0);
        }
        if self.bound.len() < branches {
            self.bound.resize(branches, 0);
        }
        true
    }

    /// Searches what was [prepared](Machine::prepare), all of it or one class.
    pub(crate) fn walk(
        &mut self,
        job: &Job<'_>,
        mut found: impl FnMut(Match<'_>) -> bool,
        mut stop: impl FnMut() -> bool,
    ) -> bool {
        let Machine { regs, bound, ground, polls } = self;
        let mut state = State { regs: &mut regs[..], bound: &mut bound[..], ground: &ground[..] };
        let mut frames: SmallVec<[Frame<'_>; 4]> = SmallVec::new();
        match state.descend(job, Cursor { step: 0, depth: 0, grounds: 0, stamp: 0 }) {
            Outcome::Failed => return true,
            Outcome::Branched(frame) if job.program.last[frame.place.step] => {
                state.finish(job, frame, &mut found);
                return true;
            }
            Outcome::Branched(frame) => frames.push(frame),
            Outcome::Matched(stamp) => {
                found(state.found(stamp));
                return true;
            }
        }
        while let Some(frame) = frames.last_mut() {
            *polls = polls.wrapping_add(1);
            if *polls & 0xfff == 0 && stop() {
                return false;
            }
            let Some(place) = state.advance(job, frame) else {
                frames.pop();
                continue;
            };
            match state.descend(job, place) {
                Outcome::Failed => {}
                Outcome::Branched(frame) if job.program.last[frame.place.step] => {
                    if !state.finish(job, frame, &mut found) {
                        return true;
                    }
                }
                Outcome::Branched(frame) => frames.push(frame),
                Outcome::Matched(stamp) => {
                    if !found(state.found(stamp)) {
                        return true;
                    }
                }
            }
        }
        true
    }

    /// Finds the classes of all terms without variables; false if one is not there.
    fn look_up(&mut self, job: &Job<'_>) -> bool {
        self.ground.clear();
        for &step in &job.program.grounds {
            if let Instruction::Ground { term, .. } = &job.program.steps[step] {
                match find_ground(job.core, term, |op| job.link.ops[op.0 as usize]) {
                    Some((class, stamp, _)) => self.ground.push((class, stamp)),
                    None => return false,
                }
            }
        }
        true
    }
}

/// What a search has bound so far.
struct State<'s> {
    regs: &'s mut [u32],
    bound: &'s mut [u32],
    ground: &'s [(u32, u32)],
}

impl State<'_> {
    fn found(&self, stamp: u32) -> Match<'_> {
        Match { regs: self.regs, bound: self.bound, stamp }
    }

    /// Runs checks up to the end, or up to a branching step, which gets a frame.
    #[inline]
    fn descend<'a>(&self, job: &Job<'a>, mut place: Cursor) -> Outcome<'a> {
        while let Some(step) = job.program.steps.get(place.step) {
            match step {
                Instruction::Ground { reg, .. } => {
                    let (class, stamp) = self.ground[place.grounds];
                    if self.regs[*reg as usize] != class {
                        return Outcome::Failed;
                    }
                    place.grounds += 1;
                    place.stamp = place.stamp.max(stamp);
                }
                Instruction::Bind { .. } | Instruction::Scan { .. } | Instruction::Each { .. } => {
                    return match self.candidates(job, step, &place) {
                        Some(candidates) => Outcome::Branched(Frame { candidates, place }),
                        None => Outcome::Failed,
                    };
                }
                Instruction::Same { .. } | Instruction::Has { .. } => {
                    if !self.holds(job, step) {
                        return Outcome::Failed;
                    }
                }
            }
            place.step += 1;
        }
        Outcome::Matched(place.stamp)
    }

    /// Tells whether a check holds that needs registers only.
    #[inline]
    fn holds(&self, job: &Job<'_>, step: &Instruction) -> bool {
        match step {
            Instruction::Same { left, right } => {
                self.regs[*left as usize] == self.regs[*right as usize]
            }
            Instruction::Has { reg, op } => {
                let mask = job.core.class[self.regs[*reg as usize] as usize].mask;
                job.is_loose() || mask & op_bit(job.link.ops[*op as usize]) != 0
            }
            _ => true,
        }
    }

    /// Returns the rows, nodes or classes that a branching step has to try, if there are any.
    #[inline]
    fn candidates<'a>(
        &self,
        job: &Job<'a>,
        step: &Instruction,
        place: &Cursor,
    ) -> Option<Candidates<'a>> {
        let core = job.core;
        let only = job.only.filter(|_| place.depth == 0);
        let (op, class) = match step {
            Instruction::Bind { op, reg, .. } => (*op, Some(self.regs[*reg as usize])),
            Instruction::Scan { op, .. } => (*op, only),
            _ => {
                let ids = only.map_or(0..core.find.len() as u32, |class| class..class + 1);
                return Some(Candidates::Ids(ids));
            }
        };
        let Some(class) = class else {
            return Some(match job.is_loose() {
                true => Candidates::Ids(0..core.find.len() as u32),
                false => {
                    let all = || core.nodes_of_op(Op(job.link.ops[op as usize]));
                    let listed = job.listed.filter(|_| place.depth == 0);
                    Candidates::Nodes(listed.unwrap_or_else(all).iter())
                }
            });
        };
        if job.is_loose() {
            return Some(Candidates::Rows(core.rows(Id(class)).iter()));
        }
        let op = job.link.ops[op as usize];
        let info = &core.class[class as usize];
        if info.mask & op_bit(op) == 0 {
            return None;
        }
        let since = job.since();
        if place.stamp < since && !job.program.deeper[place.step] && core.heading(class).1 < since {
            return None;
        }
        let (start, end) = core.rows_with(class, op);
        let rows = &core.rows[start as usize..end as usize];
        (!rows.is_empty()).then(|| Candidates::Rows(rows.iter()))
    }

    /// Binds the next candidate of a frame that may lead somewhere, and returns where the program
    /// goes on.
    #[inline]
    fn advance<'a>(&mut self, job: &Job<'a>, frame: &mut Frame<'a>) -> Option<Cursor> {
        let (core, place) = (job.core, frame.place);
        let step = &job.program.steps[place.step];
        let gate = job.gate(place.step + 1);
        let ahead = gate.reg().and_then(|reg| word_of(step, reg));
        loop {
            let (node, fresh) = match &mut frame.candidates {
                Candidates::Nodes(nodes) => {
                    let node = *nodes.next()?;
                    (node, core.stamp[node as usize])
                }
                candidates => job.next(step, candidates)?,
            };
            let stamp = place.stamp.max(fresh);
            // Most candidates lead nowhere, and one look at a child tells.
            if let Some(word) = ahead
                && !gate.is_open_at(core, word_at(core, node, word), stamp)
            {
                continue;
            }
            bind(core, step, node, self.regs);
            if ahead.is_none() && !gate.is_open(core, self.regs, stamp) {
                continue;
            }
            self.bound[place.depth] = node;
            return Some(Cursor {
                step: place.step + 1,
                depth: place.depth + 1,
                grounds: place.grounds,
                stamp,
            });
        }
    }

    /// Tries all candidates of the last branching step, behind which only checks come; false if
    /// no more matches are asked for.
    #[inline]
    fn finish<'a>(
        &mut self,
        job: &Job<'a>,
        mut frame: Frame<'a>,
        found: &mut impl FnMut(Match<'_>) -> bool,
    ) -> bool {
        let (step, checks) = match job.program.steps[frame.place.step..].split_first() {
            Some(split) => split,
            None => return true,
        };
        let place = frame.place;
        match &mut frame.candidates {
            Candidates::Nodes(nodes) => {
                let stamped = nodes.map(|&node| (node, job.core.stamp[node as usize]));
                self.finish_over(stamped, job, (step, checks), place, found)
            }
            candidates => {
                let all = std::iter::from_fn(|| job.next(step, candidates));
                self.finish_over(all, job, (step, checks), place, found)
            }
        }
    }

    /// Does so for candidates that come with their stamps.
    #[inline(always)]
    fn finish_over(
        &mut self,
        candidates: impl Iterator<Item = (u32, u32)>,
        job: &Job<'_>,
        (step, checks): (&Instruction, &[Instruction]),
        place: Cursor,
        found: &mut impl FnMut(Match<'_>) -> bool,
    ) -> bool {
        // A term that is looked up may be newer than all nodes that were bound.
        let since = job.since();
        let early = if job.program.deeper[place.step] { 0 } else { since };
        let ahead = match checks.first() {
            Some(Instruction::Ground { reg, .. }) => {
                word_of(step, *reg).map(|word| (word, self.ground[place.grounds].0))
            }
            _ => None,
        };
        for (node, fresh) in candidates {
            let mut stamp = place.stamp.max(fresh);
            if stamp < early
                || ahead.is_some_and(|(word, class)| word_at(job.core, node, word) != class)
            {
                continue;
            }
            bind(job.core, step, node, self.regs);
            let mut grounds = place.grounds;
            let holds = checks.iter().all(|check| match check {
                Instruction::Ground { reg, .. } => {
                    let (class, newest) = self.ground[grounds];
                    grounds += 1;
                    stamp = stamp.max(newest);
                    self.regs[*reg as usize] == class
                }
                check => self.holds(job, check),
            });
            if !holds || stamp < since {
                continue;
            }
            self.bound[place.depth] = node;
            if !found(self.found(stamp)) {
                return false;
            }
        }
        true
    }
}

/// Returns which word of a node goes to a register, if a branching step writes it.
fn word_of(step: &Instruction, reg: u32) -> Option<u32> {
    match step {
        Instruction::Scan { out, .. } => reg.checked_sub(*out).filter(|&word| word > 0),
        Instruction::Bind { out, .. } => reg.checked_sub(*out).map(|child| child + 1),
        _ => None,
    }
}

#[inline]
fn word_at(core: &Core, node: u32, word: u32) -> u32 {
    core.words[(core.starts[node as usize] + word) as usize]
}

/// Writes what a branching step binds into the registers.
#[inline(always)]
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
