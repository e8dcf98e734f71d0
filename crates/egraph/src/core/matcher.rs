//! Matching: all left-hand sides of a rule set in one walk over a trie of their steps.
//!
//! Programs that begin alike share trie nodes, so eight rules over `(let ?v ?e (op ..))` read the
//! `let` nodes once. Each rule has its own switch, limit and generation: with `since`, matches
//! whose nodes all carry older stamps are left out, because the rule saw them before. A subtree
//! whose rules are all off, full, or interested in newer nodes only is not entered.

use super::classes::op_bit;
use super::gate::Gate;
use super::job::{Found, find_ground};
use super::nodes::Core;
use super::program::{Ground, Instruction, Program, Witness};
use super::spare::Lists;
use super::term::Term;
use crate::Id;
use crate::id::to_u32;

/// What one rule wants from a search.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Whether the rule takes part.
    pub active: bool,
    /// Rows are made only for matches with a node stamped at this generation or later.
    pub since: u32,
    /// Whether older matches have to be counted although they make no rows.
    pub count_all: bool,
    /// The search of this rule stops after so many matches.
    pub limit: usize,
}

impl Query {
    /// Asks for every match.
    pub const ALL: Query = Query { active: true, since: 0, count_all: false, limit: usize::MAX };
}

#[derive(Clone, Debug)]
struct TrieNode {
    step: Instruction,
    children: Vec<u32>,
    rules: Vec<u32>,
    parent: u32,
    /// Whether a step below can make the match newer: it branches, or looks a term up.
    deeper: bool,
    /// The number of branching steps above this one.
    depth: u32,
}

#[derive(Clone, Debug)]
struct Rule {
    end: u32,
    vars: Vec<u32>,
    witnesses: Vec<Witness>,
}

/// Compiled left-hand sides that are matched together.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    nodes: Vec<TrieNode>,
    roots: Vec<u32>,
    rules: Vec<Rule>,
    registers: usize,
    branches: usize,
    /// Whether rows name the matched nodes, which proofs need.
    witness: bool,
}

const ROOT: u32 = u32::MAX;

impl RuleSet {
    /// Makes an empty rule set; `witness` says whether rows name the nodes that were matched.
    pub fn new(witness: bool) -> Self {
        RuleSet { witness, ..Self::default() }
    }

    /// Adds a pattern and returns its number.
    pub fn push(&mut self, left: &Term) -> usize {
        self.push_program(super::program::compile(left))
    }

    /// Adds a conjunction of patterns that share variables and returns its number.
    ///
    /// Each clause may name the variable that stands for the class of its root.
    pub fn push_all(&mut self, clauses: &[(Option<u32>, &Term)]) -> usize {
        self.push_program(super::program::compile_all(clauses, Ground::LookUp))
    }

    pub(crate) fn push_program(&mut self, program: Program) -> usize {
        let rule = to_u32(self.rules.len(), "rules");
        let mut at = ROOT;
        let mut depth = 0;
        for step in program.steps {
            let branches = step.branches();
            at = self.child(at, step, depth);
            depth += u32::from(branches);
        }
        let mut above = at;
        let mut deeper = false;
        while above != ROOT {
            let node = &mut self.nodes[above as usize];
            node.deeper |= deeper;
            deeper |= node.step.branches() || matches!(node.step, Instruction::Ground { .. });
            above = node.parent;
        }
        if at != ROOT {
            self.nodes[at as usize].rules.push(rule);
        }
        self.registers = self.registers.max(program.registers as usize);
        self.branches = self.branches.max(depth as usize);
        self.rules.push(Rule { end: at, vars: program.vars, witnesses: program.witnesses });
        rule as usize
    }

    fn child(&mut self, parent: u32, step: Instruction, depth: u32) -> u32 {
        let siblings = match parent {
            ROOT => &self.roots,
            _ => &self.nodes[parent as usize].children,
        };
        let same = |&&node: &&u32| self.nodes[node as usize].step == step;
        if let Some(&node) = siblings.iter().find(same) {
            return node;
        }
        let node = to_u32(self.nodes.len(), "steps");
        self.nodes.push(TrieNode {
            step,
            children: Vec::new(),
            rules: Vec::new(),
            parent,
            deeper: false,
            depth,
        });
        match parent {
            ROOT => self.roots.push(node),
            _ => self.nodes[parent as usize].children.push(node),
        }
        node
    }

    /// Returns the number of patterns.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Tells whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Searches the whole e-graph, which has to be rebuilt, for all patterns at once.
    ///
    /// `queries`: one per pattern. `stop` is asked now and then; `None` if it said yes.
    pub fn search(
        &self,
        core: &Core,
        queries: &[Query],
        stop: impl FnMut() -> bool,
    ) -> Option<Vec<Found>> {
        self.search_into(core, queries, &mut Lists::default(), stop)
    }

    /// Does the same, with lists that are empty to write rows to.
    pub(crate) fn search_into(
        &self,
        core: &Core,
        queries: &[Query],
        lists: &mut Lists,
        mut stop: impl FnMut() -> bool,
    ) -> Option<Vec<Found>> {
        let mut walk = Walk::new(self, core, queries, lists);
        for &root in &self.roots {
            if stop() || !walk.run(root, None, &mut stop) {
                return None;
            }
        }
        Some(walk.found)
    }

    /// Searches one class for the only pattern of this set.
    pub fn search_class(&self, core: &Core, class: Id, limit: usize) -> Found {
        let query = Query { limit, ..Query::ALL };
        let queries = [query];
        let mut walk = Walk::new(self, core, &queries, &mut Lists::default());
        for &root in &self.roots {
            walk.run(root, Some(core.find(class).0), &mut || false);
        }
        walk.found.pop().unwrap_or_default()
    }
}

/// A branching step under way.
struct Frame {
    trie: u32,
    /// The next child of the trie node to enter for the current node.
    child: u32,
    /// The rest of the candidates.
    at: u32,
    end: u32,
    /// The latest stamp among the nodes bound above.
    above: u32,
    /// The same with the current node.
    stamp: u32,
}

struct Walk<'a> {
    set: &'a RuleSet,
    core: &'a Core,
    queries: &'a [Query],
    found: Vec<Found>,
    regs: Vec<u32>,
    bound: Vec<u32>,
    /// How many rules in the subtree of each trie node still want matches.
    wanting: Vec<u32>,
    /// The lowest generation that a rule in the subtree of each trie node asks for.
    since: Vec<u32>,
    /// What candidates of each trie node have to have.
    gates: Vec<Gate>,
    /// Classes and stamps of terms without variables, by trie node.
    ground: Vec<Option<(u32, u32)>>,
    witnesses: Vec<Vec<u32>>,
    frames: Vec<Frame>,
    only: Option<u32>,
    polls: u32,
}

impl<'a> Walk<'a> {
    fn new(set: &'a RuleSet, core: &'a Core, queries: &'a [Query], lists: &mut Lists) -> Self {
        let mut walk = Walk {
            set,
            core,
            queries,
            found: Vec::with_capacity(set.rules.len()),
            regs: vec![0; set.registers],
            bound: vec![0; set.branches],
            wanting: vec![0; set.nodes.len()],
            since: vec![u32::MAX; set.nodes.len()],
            gates: Vec::new(),
            ground: vec![None; set.nodes.len()],
            witnesses: vec![Vec::new(); set.rules.len()],
            frames: Vec::new(),
            only: None,
            polls: 0,
        };
        for (rule, query) in set.rules.iter().zip(queries) {
            walk.enlist(rule, query, lists);
        }
        for (at, node) in set.nodes.iter().enumerate() {
            if let (Instruction::Ground { term, .. }, true) = (&node.step, walk.wanting[at] > 0) {
                let found = find_ground(core, term, |op| op.0);
                walk.ground[at] = found.map(|(class, stamp, _)| (class, stamp));
            }
        }
        walk.gates = set.nodes.iter().map(|node| walk.gate(node)).collect();
        walk
    }

    /// Says what the steps after a node ask for, as far as a rule there wants matches.
    fn gate(&self, node: &TrieNode) -> Gate {
        let wanted = node.children.iter().filter(|&&child| self.wanting[child as usize] > 0);
        wanted.fold(Gate::Closed, |gate, &child| {
            let next = &self.set.nodes[child as usize];
            let last = matches!(next.step, Instruction::Bind { .. }) && !next.deeper;
            gate.with(&next.step, if last { self.since[child as usize] } else { 0 })
        })
    }

    fn enlist(&mut self, rule: &Rule, query: &Query, lists: &mut Lists) {
        let number = self.found.len();
        let extra = if self.set.witness { rule.witnesses.len() } else { 0 };
        let takes_part = query.active && query.limit > 0;
        self.found.push(Found {
            rows: if takes_part { lists.take() } else { Vec::new() },
            width: 1 + rule.vars.len() + extra,
            vars: rule.vars.len(),
            count: 0,
        });
        if !takes_part {
            return;
        }
        if self.set.witness {
            let node = |witness: &Witness| match witness {
                Witness::Bound(_) => 0,
                Witness::Ground(term) => {
                    find_ground(self.core, term, |op| op.0).map_or(0, |found| found.2)
                }
            };
            self.witnesses[number] = rule.witnesses.iter().map(node).collect();
        }
        let since = if query.count_all { 0 } else { query.since };
        let mut at = rule.end;
        while at != ROOT {
            self.wanting[at as usize] += 1;
            self.since[at as usize] = self.since[at as usize].min(since);
            at = self.set.nodes[at as usize].parent;
        }
    }

    /// Walks one tree of the trie; false if `stop` said so.
    fn run(&mut self, root: u32, only: Option<u32>, stop: &mut impl FnMut() -> bool) -> bool {
        self.only = only;
        self.frames.clear();
        self.enter(root, 0);
        while let Some(frame) = self.frames.last_mut() {
            let node = &self.set.nodes[frame.trie as usize];
            if let Some(&child) = node.children.get(frame.child as usize) {
                frame.child += 1;
                let stamp = frame.stamp;
                self.enter(child, stamp);
            } else if !self.advance() {
                self.frames.pop();
            }
            self.polls = self.polls.wrapping_add(1);
            if self.polls & 0xffff == 0 && stop() {
                return false;
            }
        }
        true
    }

    /// Runs the steps from `trie` on up to the next one that branches, which gets a frame.
    #[inline]
    fn enter(&mut self, mut trie: u32, mut stamp: u32) {
        let set = self.set;
        while self.wanting[trie as usize] > 0 {
            let node = &set.nodes[trie as usize];
            if node.step.branches() {
                let (at, end) = self.candidates(trie, node, stamp);
                if at < end {
                    let child = node.children.len() as u32;
                    self.push_frame(trie, child, (at, end), stamp);
                }
                return;
            }
            let Some(newer) = self.check(trie, &node.step, stamp) else {
                return;
            };
            stamp = newer;
            for &rule in &node.rules {
                self.emit(rule, stamp);
            }
            match node.children.as_slice() {
                [] => return,
                [child] => trie = *child,
                _ => {
                    self.push_frame(trie, 0, (0, 0), stamp);
                    return;
                }
            }
        }
    }

    #[inline]
    fn push_frame(&mut self, trie: u32, child: u32, (at, end): (u32, u32), stamp: u32) {
        self.frames.push(Frame { trie, child, at, end, above: stamp, stamp });
    }

    /// Returns the range of nodes or classes that a branching step has to try.
    #[inline]
    fn candidates(&self, trie: u32, node: &TrieNode, stamp: u32) -> (u32, u32) {
        match &node.step {
            Instruction::Bind { reg, op, .. } => {
                let class = self.regs[*reg as usize];
                let info = &self.core.class[class as usize];
                if info.mask & op_bit(*op) == 0 {
                    return (0, 0);
                }
                let since = self.since[trie as usize];
                if stamp < since && !node.deeper && self.core.heading(class).1 < since {
                    return (0, 0);
                }
                self.core.rows_with(class, *op)
            }
            Instruction::Scan { op, .. } => match self.root_class() {
                Some(class) => self.core.rows_with(class, *op),
                None => (0, self.core.ops[*op as usize].nodes.len() as u32),
            },
            _ => match self.root_class() {
                Some(class) => (class, class + 1),
                None => (0, to_u32(self.core.find.len(), "ids")),
            },
        }
    }

    /// Returns the class that the first step is confined to, if any.
    fn root_class(&self) -> Option<u32> {
        self.only.filter(|_| self.frames.is_empty())
    }

    /// Runs a step that succeeds at most once; returns the latest stamp of the match so far.
    #[inline]
    fn check(&self, trie: u32, step: &Instruction, stamp: u32) -> Option<u32> {
        match step {
            Instruction::Same { left, right } => {
                let same = self.regs[*left as usize] == self.regs[*right as usize];
                same.then_some(stamp)
            }
            Instruction::Ground { reg, .. } => {
                let (class, newest) = self.ground[trie as usize]?;
                (self.regs[*reg as usize] == class).then_some(stamp.max(newest))
            }
            Instruction::Has { reg, op } => {
                let info = &self.core.class[self.regs[*reg as usize] as usize];
                (info.mask & op_bit(*op) != 0).then_some(stamp)
            }
            _ => None,
        }
    }

    /// Binds the next candidate of the topmost frame that may lead somewhere.
    ///
    /// Those after which there is nothing to enter are done with here.
    fn advance(&mut self) -> bool {
        let (set, core) = (self.set, self.core);
        let Some(top) = self.frames.len().checked_sub(1) else {
            return false;
        };
        let Frame { trie, mut at, end, above, .. } = self.frames[top];
        let node = &set.nodes[trie as usize];
        if let (Instruction::Bind { .. } | Instruction::Scan { .. }, [rule], []) =
            (&node.step, &node.rules[..], &node.children[..])
            && self.only.is_none()
        {
            self.finish(node, *rule, (at, end, above));
            return false;
        }
        let (since, gate) = (self.since[trie as usize], self.gates[trie as usize]);
        let only = self.only.filter(|_| node.depth == 0);
        while at < end && self.wanting[trie as usize] > 0 {
            let place = at as usize;
            at += 1;
            let Some((bound, class, out, fresh)) = candidate(core, &node.step, place, only) else {
                continue;
            };
            let stamp = above.max(fresh);
            if stamp < since && !node.deeper {
                continue;
            }
            self.bound[node.depth as usize] = bound;
            let out = match class {
                Some(class) => {
                    self.regs[out] = class;
                    out + 1
                }
                None => out,
            };
            if !matches!(node.step, Instruction::Each { .. }) {
                for (reg, &kid) in self.regs[out..].iter_mut().zip(core.kids(Id(bound))) {
                    *reg = kid;
                }
            }
            for &rule in &node.rules {
                self.emit(rule, stamp);
            }
            if gate.is_open(core, &self.regs, stamp) {
                let frame = &mut self.frames[top];
                (frame.at, frame.child, frame.stamp) = (at, 0, stamp);
                return true;
            }
        }
        false
    }

    /// Tries all candidates of a step that is the last one of a single rule.
    fn finish(&mut self, node: &TrieNode, rule: u32, (at, end, above): (u32, u32, u32)) {
        let (core, query) = (self.core, &self.queries[rule as usize]);
        let rule_data = &self.set.rules[rule as usize];
        let ground = self.set.witness.then(|| &self.witnesses[rule as usize][..]);
        let old = if query.count_all { 0 } else { query.since };
        let found = &mut self.found[rule as usize];
        let (nodes, class, out) = match node.step {
            Instruction::Scan { op, out } => (core.ops[op as usize].nodes.as_slice(), true, out),
            Instruction::Bind { out, .. } => (&[][..], false, out),
            _ => return,
        };
        for at in at as usize..end as usize {
            let bound = if class { nodes[at] } else { core.rows[at].node };
            let stamp = above.max(core.stamp[bound as usize]);
            if stamp < old {
                continue;
            }
            if found.count >= query.limit {
                break;
            }
            found.count += 1;
            if stamp < query.since {
                continue;
            }
            let mut regs = self.regs[out as usize..].iter_mut();
            if class && let Some(reg) = regs.next() {
                *reg = core.find[bound as usize];
            }
            for (reg, &kid) in regs.zip(core.kids(Id(bound))) {
                *reg = kid;
            }
            self.bound[node.depth as usize] = bound;
            push_row(found, rule_data, &self.regs, ground.map(|ground| (&self.bound[..], ground)));
        }
        if found.count >= query.limit {
            self.retire(rule_data.end);
        }
    }

    /// Takes a rule that has its matches from the steps that lead to it.
    fn retire(&mut self, end: u32) {
        let mut at = end;
        while at != ROOT {
            self.wanting[at as usize] -= 1;
            at = self.set.nodes[at as usize].parent;
        }
    }

    /// Counts a match of `rule` and writes its row if it is new enough.
    #[inline]
    fn emit(&mut self, rule: u32, stamp: u32) {
        let set = self.set;
        let query = &self.queries[rule as usize];
        let found = &mut self.found[rule as usize];
        if !query.active || found.count >= query.limit {
            return;
        }
        let fresh = stamp >= query.since;
        if !fresh && !query.count_all {
            return;
        }
        found.count += 1;
        let rule_data = &set.rules[rule as usize];
        if fresh {
            let ground = set.witness.then(|| &self.witnesses[rule as usize][..]);
            push_row(found, rule_data, &self.regs, ground.map(|ground| (&self.bound[..], ground)));
        }
        if found.count >= query.limit {
            self.retire(rule_data.end);
        }
    }
}

/// Appends a row: the class, the variables, and the nodes if they are asked for.
#[inline(always)]
fn push_row(found: &mut Found, rule: &Rule, regs: &[u32], nodes: Option<(&[u32], &[u32])>) {
    found.rows.reserve(found.width);
    found.rows.push(regs[0]);
    found.rows.extend(rule.vars.iter().map(|&reg| regs[reg as usize]));
    let Some((bound, ground)) = nodes else { return };
    for (witness, &node) in rule.witnesses.iter().zip(ground) {
        found.rows.push(match witness {
            Witness::Bound(at) => bound[*at as usize],
            Witness::Ground(_) => node,
        });
    }
}

/// Returns the n-th candidate of a branching step: the node, its class if the step binds that,
/// the register to start from, and the stamp.
#[inline(always)]
fn candidate(
    core: &Core,
    step: &Instruction,
    at: usize,
    only: Option<u32>,
) -> Option<(u32, Option<u32>, usize, u32)> {
    match step {
        Instruction::Bind { out, .. } => {
            let bound = core.rows[at].node;
            Some((bound, None, *out as usize, core.stamp[bound as usize]))
        }
        Instruction::Scan { op, out } => {
            let bound = match only {
                Some(_) => core.rows[at].node,
                None => core.ops[*op as usize].nodes[at],
            };
            let class = core.find[bound as usize];
            Some((bound, Some(class), *out as usize, core.stamp[bound as usize]))
        }
        Instruction::Each { out } => {
            let class = at as u32;
            let canonical = core.find[at] == class;
            canonical.then(|| (class, Some(class), *out as usize, core.born(class)))
        }
        _ => None,
    }
}
