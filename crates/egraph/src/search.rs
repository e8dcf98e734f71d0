//! Searching for one left-hand side, class by class, as [`Searcher`](crate::Searcher) does.

use crate::code::LeftCode;
use crate::core::{Job, Link, Machine, Match, Op, Query};
use crate::egraph::FoundRows;
use crate::{Analysis, EGraph, Id, Language, PatternAst, SearchMatches, Subst};
use std::borrow::Cow;
use std::cell::Cell;

/// Up to how many words a list of matches is kept for the next search of the thread.
const SPARE_WORDS: usize = 1 << 14;

thread_local! {
    static SPARE: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Lists matches by class, classes in ascending order.
///
/// # Panics
/// If there is something to find in an e-graph that was changed since its last rebuild.
pub(crate) fn search_all<'a, L: Language, N: Analysis<L>>(
    left: &'a LeftCode<L>,
    egraph: &EGraph<L, N>,
    limit: usize,
    ast: Option<&'a PatternAst<L>>,
) -> Vec<SearchMatches<'a, L>> {
    let mut all = Vec::new();
    let Some(link) = linked(left, egraph) else { return all };
    let mut job = job(left, egraph, &link, limit);
    let mut machine = Machine::default();
    if !machine.prepare(&job) {
        return all;
    }
    let watched = ast.and_then(|ast| egraph.start_list(ast));
    let is_watched = watched.is_some();
    let (words, mut lists) = watched.unwrap_or_default();
    let mut rows = if is_watched { Rows { words, ..Rows::default() } } else { Rows::new() };
    match job.program.scanned() {
        Some(_) if !link.loose.is_empty() => {
            for class in egraph.core().class_ids() {
                if rows.count >= limit {
                    break;
                }
                job.only = Some(class.0);
                rows.fill(&job, &mut machine, limit);
            }
        }
        op => {
            if let Some(op) = op {
                job.listed = Some(job.core.nodes_by_class(Op(link.ops[op as usize])));
            }
            rows.fill(&job, &mut machine, limit);
        }
    }
    let width = left.vars.len() + 2;
    all.reserve_exact(rows.classes);
    for rows in split(&rows.words, width) {
        let mut substs = lists.pop().unwrap_or_default();
        substs.reserve_exact(rows.len() / width);
        substs.extend(rows.chunks_exact(width).map(|row| subst(left, row)));
        all.push(SearchMatches { eclass: Id(rows[0]), substs, ast: ast.map(Cow::Borrowed) });
    }
    match ast.filter(|_| is_watched) {
        Some(ast) => {
            let (generation, complete) = (egraph.core().generation(), rows.count < limit);
            let rows = FoundRows { words: rows.words, generation, complete };
            egraph.keep_list(ast, rows, lists);
        }
        None => rows.keep(),
    }
    all
}

/// Lists the matches in one class; `None` if there are none.
///
/// # Panics
/// If there is something to find in an e-graph that was changed since its last rebuild.
pub(crate) fn search_one<'a, L: Language, N: Analysis<L>>(
    left: &'a LeftCode<L>,
    egraph: &EGraph<L, N>,
    class: Id,
    limit: usize,
    ast: Option<&'a PatternAst<L>>,
) -> Option<SearchMatches<'a, L>> {
    let link = linked(left, egraph)?;
    let (mut job, mut rows) = (job(left, egraph, &link, limit), Rows::new());
    job.only = Some(egraph.find(class).0);
    let mut machine = Machine::default();
    if machine.prepare(&job) {
        rows.fill(&job, &mut machine, limit);
    }
    let words = rows.words.chunks_exact(left.vars.len() + 2);
    let substs: Vec<Subst> = words.map(|row| subst(left, row)).collect();
    rows.keep();
    let ast = ast.map(Cow::Borrowed);
    (!substs.is_empty()).then_some(SearchMatches { eclass: class, substs, ast })
}

/// Returns the operators of a left-hand side; `None` if there is nothing to find.
fn linked<L: Language, N: Analysis<L>>(left: &LeftCode<L>, egraph: &EGraph<L, N>) -> Option<Link> {
    let link = egraph.link(left)?;
    if egraph.is_empty() {
        return None;
    }
    assert!(egraph.clean, "the e-graph has to be rebuilt before it is searched");
    Some(link)
}

fn job<'a, L: Language, N: Analysis<L>>(
    left: &'a LeftCode<L>,
    egraph: &'a EGraph<L, N>,
    link: &'a Link,
    limit: usize,
) -> Job<'a> {
    Job {
        core: egraph.core(),
        program: left.program(link),
        link,
        query: Query { limit, ..Query::ALL },
        only: None,
        listed: None,
        witness: false,
    }
}

/// Matches as words: for each its class, what the variables are bound to, and its stamp.
///
/// So each list of substitutions is made once, as long as it has to be.
#[derive(Default)]
struct Rows {
    words: Vec<u32>,
    count: usize,
    /// How often the class changes from a match to the next, the first included.
    classes: usize,
    /// The class of the last match.
    last: Option<u32>,
}

impl Rows {
    fn new() -> Self {
        Rows { words: SPARE.try_with(Cell::take).unwrap_or_default(), ..Rows::default() }
    }

    /// Keeps the list for the next search.
    fn keep(self) {
        let mut words = self.words;
        if words.capacity() <= SPARE_WORDS {
            words.clear();
            // A thread that is ending keeps nothing.
            _ = SPARE.try_with(|spare| spare.set(words));
        }
    }

    /// Appends what is found, up to `limit` matches in all.
    fn fill(&mut self, job: &Job<'_>, machine: &mut Machine, limit: usize) {
        let found = |at: Match<'_>| {
            self.classes += usize::from(self.last != Some(at.class()));
            self.last = Some(at.class());
            self.words.push(at.class());
            self.words.extend(job.program.vars.iter().map(|&reg| at.reg(reg)));
            self.words.push(at.stamp());
            self.count += 1;
            self.count < limit
        };
        machine.walk(job, found, || false);
    }
}

/// Splits rows where their classes differ.
fn split(mut rows: &[u32], width: usize) -> impl Iterator<Item = &[u32]> {
    std::iter::from_fn(move || {
        let class = *rows.first()?;
        let same = rows.chunks_exact(width).take_while(|row| row[0] == class).count();
        let (chunk, others) = rows.split_at(same * width);
        rows = others;
        Some(chunk)
    })
}

fn subst<L: Language>(left: &LeftCode<L>, row: &[u32]) -> Subst {
    let mut subst = Subst::with_capacity(left.vars.len());
    for (&var, &id) in left.vars.iter().zip(&row[1..]) {
        subst.push(var, Id(id));
    }
    subst
}
