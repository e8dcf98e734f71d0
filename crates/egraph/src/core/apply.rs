//! Applying: right-hand sides as straight-line programs run over rows of matches.

use super::hashcons::hash_words;
use super::job::Found;
use super::log::Why;
use super::nodes::Core;
use super::term::{Atom, Term};
use crate::Id;
use crate::id::to_u32;
use smallvec::SmallVec;

/// What an e-graph with analyses on top of a [`Core`] has to offer so that rules can change it.
pub trait Host {
    /// Returns the core.
    fn core(&self) -> &Core;
    /// Returns the core for changes that concern no analysis.
    fn core_mut(&mut self) -> &mut Core;
    /// Adds a node given as words, operator first, with canonical children.
    fn add_words(&mut self, words: &[u32]) -> Id;
    /// Adds a node that nothing in the e-graph equals, as `add_words` does.
    ///
    /// Only called if [`Host::is_plain`].
    fn add_new_words(&mut self, words: &[u32]) -> Id {
        self.add_words(words)
    }
    /// Tells whether adding a node does nothing else, so that nothing can be above a new one.
    fn is_plain(&self) -> bool {
        false
    }
    /// Unites two classes and says whether they were two.
    fn unite(&mut self, left: Id, right: Id, why: Why) -> bool;
}

#[derive(Clone, Copy, Debug)]
enum Arg {
    Var(u32),
    Node(u32),
}

/// One operator of a right-hand side.
#[derive(Clone, Copy, Debug)]
struct TemplateNode {
    op: u32,
    first: u32,
    end: u32,
    /// Whether the operator is the first of its kind, so that no earlier step made this node.
    first_of_op: bool,
}

/// A compiled right-hand side.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The operators in the order of the term's atoms.
    steps: SmallVec<[TemplateNode; 2]>,
    args: SmallVec<[Arg; 4]>,
    root: Option<Arg>,
}

/// How many words a node may have to be built without a list on the heap.
const SMALL: usize = 8;

/// From how many nodes on memory is slower than to ask for it early: what is smaller lies in the
/// cache.
const WARM_FROM: usize = 16_384;

/// How many rows ahead the hashcons is asked to load the places it will need.
const AHEAD: usize = 8;

impl Template {
    /// Compiles a term.
    pub fn new(term: &Term) -> Self {
        let mut template = Template::default();
        let mut place = Vec::with_capacity(term.atoms.len());
        for atom in &term.atoms {
            place.push(match atom {
                Atom::Var(var) => Arg::Var(*var),
                Atom::Node(op, kids) => {
                    let first = template.args.len() as u32;
                    template.args.extend(kids.iter().map(|&kid| place[kid as usize]));
                    let end = template.args.len() as u32;
                    let first_of_op = template.steps.iter().all(|step| step.op != op.0);
                    template.steps.push(TemplateNode { op: op.0, first, end, first_of_op });
                    Arg::Node(template.steps.len() as u32 - 1)
                }
            });
        }
        template.root = place.last().copied();
        template
    }

    /// Returns this with other operators and variables, by their numbers here.
    pub(crate) fn linked(&self, ops: &[u32], vars: &[u32]) -> Self {
        let mut linked = self.clone();
        for step in &mut linked.steps {
            step.op = ops[step.op as usize];
        }
        for arg in linked.args.iter_mut().chain(&mut linked.root) {
            if let Arg::Var(var) = arg {
                *var = vars[*var as usize];
            }
        }
        linked
    }

    /// Builds the term for bindings `vars`; the nodes built stay in `nodes`.
    #[inline]
    pub fn build(&self, host: &mut impl Host, vars: &[u32], nodes: &mut Vec<u32>) -> Option<Id> {
        nodes.clear();
        let args = self.args.as_slice();
        let plain = host.is_plain();
        let fresh = if plain { to_u32(host.core().number_of_ids(), "ids") } else { 0 };
        // Most nodes are small, and a list on the heap costs more than they do.
        let (mut small, mut large) = ([0; SMALL], Vec::new());
        for step in self.steps.as_slice() {
            let args = &args[step.first as usize..step.end as usize];
            let words = match small.get_mut(..args.len() + 1) {
                Some(words) => words,
                None => {
                    large.resize(args.len() + 1, 0);
                    &mut large[..]
                }
            };
            let id = Self::add(host, step, args, (vars, nodes), words, fresh);
            nodes.push(id.0);
        }
        self.root.map(|root| Id(Self::value(root, vars, nodes)))
    }

    /// Adds the node of one step; its arguments are canonical ids in `words` then.
    ///
    /// `fresh`: the first id that was made for this match, if no other rule can be above it.
    #[inline(always)]
    fn add(
        host: &mut impl Host,
        step: &TemplateNode,
        args: &[Arg],
        (vars, nodes): (&[u32], &[u32]),
        words: &mut [u32],
        fresh: u32,
    ) -> Id {
        let core = host.core_mut();
        let mut newest = 0;
        words[0] = step.op;
        for (word, arg) in words[1..].iter_mut().zip(args) {
            *word = core.root_mut(Self::value(*arg, vars, nodes));
            newest = newest.max(*word);
        }
        // A node over one that was made for this match is new: there is nothing to look up.
        match fresh > 0 && step.first_of_op && newest >= fresh {
            true => host.add_new_words(words),
            false => host.add_words(words),
        }
    }

    #[inline]
    fn value(arg: Arg, vars: &[u32], nodes: &[u32]) -> u32 {
        match arg {
            Arg::Var(var) => vars[var as usize],
            Arg::Node(step) => nodes[step as usize],
        }
    }

    /// Loads the hashcons place of the first step, as far as it depends on variables only.
    #[inline]
    fn touch(&self, core: &Core, vars: &[u32]) -> u64 {
        let Some(&TemplateNode { op, first, end, .. }) = self.steps.first() else {
            return 0;
        };
        let mut words = [op, 0, 0, 0, 0];
        let count = (end - first) as usize;
        if count > 4 {
            return 0;
        }
        for (at, arg) in self.args[first as usize..end as usize].iter().enumerate() {
            let Arg::Var(var) = arg else { return 0 };
            words[at + 1] = core.root(vars[*var as usize]);
        }
        core.memo.touch(hash_words(&words[..count + 1]))
    }

    /// Loads what the next rows will look up: hashcons places, then the nodes stored there.
    ///
    /// The loads of different rows do not wait for each other, as those of one row do.
    fn warm_up(&self, core: &Core, found: &Found, at: usize) -> u64 {
        if core.memo.len() < WARM_FROM {
            return 0;
        }
        let mut places = [0; AHEAD];
        let rows = found.rows[at * found.width..].chunks_exact(found.width);
        for (place, row) in places.iter_mut().zip(rows) {
            *place = self.touch(core, &row[1..1 + found.vars]);
        }
        let node = |place: u64| (place as u32).wrapping_sub(1) as usize;
        let starts = places.map(|place| core.starts.get(node(place)).copied().unwrap_or(0));
        let words = starts.map(|start| core.words.get(start as usize).copied().unwrap_or(0));
        words.iter().fold(0, |sum, &word| sum ^ u64::from(word))
    }

    /// Builds the term for each match and unites it with the match's root; counts the unions.
    ///
    /// `rule` is the number of the rule in the proof log. `stop` is asked between rows.
    pub fn apply(
        &self,
        host: &mut impl Host,
        found: &Found,
        rule: Option<u32>,
        mut stop: impl FnMut(&Core) -> bool,
    ) -> usize {
        let mut nodes = std::mem::take(&mut host.core_mut().scratch);
        let mut unions = 0;
        let mut warm = 0;
        for (at, row) in found.iter().enumerate() {
            if at % AHEAD == 0 {
                warm ^= self.warm_up(host.core(), found, at);
                if at > 0 && at % (AHEAD * 8) == 0 && stop(host.core()) {
                    break;
                }
            }
            unions += usize::from(self.step(host, row, rule, &mut nodes));
        }
        host.core_mut().scratch = nodes;
        std::hint::black_box(warm);
        unions
    }

    /// Builds the term for each row, and hands it over with the number of the row.
    pub(crate) fn build_each<H: Host>(
        &self,
        host: &mut H,
        found: &Found,
        mut each: impl FnMut(&mut H, usize, Id),
    ) {
        let (mut nodes, mut warm) = (std::mem::take(&mut host.core_mut().scratch), 0);
        for (at, row) in found.iter().enumerate() {
            if at % AHEAD == 0 {
                warm ^= self.warm_up(host.core(), found, at);
            }
            if let Some(made) = self.build(host, &row[1..], &mut nodes) {
                each(host, at, made);
            }
        }
        host.core_mut().scratch = nodes;
        std::hint::black_box(warm);
    }

    /// Builds the term for one match and unites it with the match's root.
    pub fn apply_row(&self, host: &mut impl Host, row: &[u32], rule: Option<u32>) -> bool {
        let mut nodes = std::mem::take(&mut host.core_mut().scratch);
        let united = self.step(host, row, rule, &mut nodes);
        host.core_mut().scratch = nodes;
        united
    }

    #[inline]
    fn step(
        &self,
        host: &mut impl Host,
        row: &[u32],
        rule: Option<u32>,
        nodes: &mut Vec<u32>,
    ) -> bool {
        match self.build(host, &row[1..], nodes) {
            Some(right) => unite(host, row, right, rule, nodes),
            None => false,
        }
    }
}

/// Unites the root of a match with what its rule built, and logs the match if that says something.
#[inline]
fn unite(host: &mut impl Host, row: &[u32], right: Id, rule: Option<u32>, nodes: &[u32]) -> bool {
    let left = Id(row[0]);
    let core = host.core_mut();
    let Some(rule) = rule.filter(|_| core.log.is_some()) else {
        return host.unite(right, left, Why::Congruence);
    };
    if core.root(left.0) == core.root(right.0) {
        return false;
    }
    let mut left = left;
    let why = match &mut core.log {
        Some(log) => {
            left = Id(log.rules[rule as usize].matched_root(row));
            let at = to_u32(log.rows.len(), "words of matches");
            log.rows.push(rule);
            log.rows.extend_from_slice(&row[1..]);
            log.rows.extend_from_slice(nodes);
            Why::Match(at)
        }
        None => Why::Congruence,
    };
    host.unite(left, right, why)
}
