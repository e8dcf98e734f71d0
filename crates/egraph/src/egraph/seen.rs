//! What rules found and what of it was applied, where a scheduler of the client's own decides.
//!
//! Such a scheduler gets lists of all matches and hands over those that are to be applied. To apply
//! a match again changes nothing, but costs a lookup for each node that its rule builds. The
//! built-in schedulers search semi-naively: for matches with a node that is new. Here the search
//! has to list all, so the e-graph keeps them as rows with their stamps for as long as the
//! scheduler holds the lists. A match that is handed over is left out if it is the next of these
//! rows, and no newer than the last search of which all matches were applied. Whatever the
//! scheduler drops, adds or changes is not the next row: from there on every match is applied.

use super::EGraph;
use crate::core::Lists;
use crate::pattern::vars_of;
use crate::{Analysis, Id, Language, Pattern, PatternAst, Rewrite, SearchMatches, Subst, Var};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// The rules of a run, with what was found and applied in one e-graph.
pub(crate) struct Seen<L: Language, N: Analysis<L>> {
    rules: Vec<SeenRule<L, N>>,
    spare: Spare,
}

/// Empty lists that were in use before.
#[derive(Default)]
struct Spare {
    substs: Vec<Vec<Subst>>,
    rows: Lists,
}

/// Up to how many substitutions, and words of rows, a thread keeps room for from run to run.
const KEPT_SUBSTS: usize = 1 << 14;
const KEPT_WORDS: usize = 1 << 17;

thread_local! {
    static SPARE: Cell<Option<Spare>> = const { Cell::new(None) };
}

/// A rule from one pattern to another.
struct SeenRule<L: Language, N: Analysis<L>> {
    /// Held so that the patterns stay where they are, which is what they are told apart by.
    rule: Rewrite<L, N>,
    /// The generation of the last search of which all matches were applied.
    since: u32,
    found: FoundRows,
    /// Lists of the matches in a class that came back from the scheduler, empty, the first class
    /// last.
    lists: Vec<Vec<Subst>>,
}

/// Matches of a search: for each its class, what the variables are bound to, and its stamp.
#[derive(Default)]
pub(crate) struct FoundRows {
    pub(crate) words: Vec<u32>,
    /// The generation of the search.
    pub(crate) generation: u32,
    /// Whether there are no other matches.
    pub(crate) complete: bool,
}

/// The rows that a list of matches is compared with while it is applied.
pub(crate) struct Known {
    place: usize,
    vars: SmallVec<[Var; 8]>,
    rows: FoundRows,
    since: u32,
    /// Where the next row starts.
    next: usize,
    /// Whether all matches so far were those of the rows.
    same: bool,
}

impl<L: Language, N: Analysis<L>> Seen<L, N> {
    fn new(rules: &[&Rewrite<L, N>]) -> Self {
        let mut spare = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let seen = |rule: &Rewrite<L, N>| {
            let found = FoundRows { words: spare.rows.take(), ..FoundRows::default() };
            SeenRule { rule: rule.clone(), since: 0, found, lists: Vec::new() }
        };
        Seen { rules: between_patterns(rules).map(seen).collect(), spare }
    }

    /// Tells whether it is about these rules.
    fn is_about(&self, rules: &[&Rewrite<L, N>]) -> bool {
        let known = self.rules.iter().map(|seen| places(&seen.rule));
        known.eq(between_patterns(rules).map(places))
    }

    /// Keeps what is no longer needed for the next run of the thread.
    fn keep(mut self) {
        let Spare { mut substs, mut rows } = self.spare;
        for rule in &mut self.rules {
            rows.keep(std::mem::take(&mut rule.found.words), KEPT_WORDS);
            substs.append(&mut rule.lists);
        }
        let mut room = KEPT_SUBSTS;
        substs.retain(|list| {
            let fits = list.capacity() <= room;
            room -= if fits { list.capacity() } else { 0 };
            fits
        });
        // A thread that is ending keeps nothing.
        _ = SPARE.try_with(|spare| spare.set(Some(Spare { substs, rows })));
    }

    fn place(&self, is: impl Fn(&Rewrite<L, N>) -> bool) -> Option<usize> {
        self.rules.iter().position(|seen| is(&seen.rule))
    }
}

/// Returns the rules from one pattern to another.
fn between_patterns<'a, L: Language, N: Analysis<L>>(
    rules: &'a [&Rewrite<L, N>],
) -> impl Iterator<Item = &'a Rewrite<L, N>> {
    rules.iter().copied().filter(|rule| {
        let searcher = &rule.searcher;
        let is_pattern = searcher.__left().is_some() && searcher.get_pattern_ast().is_some();
        is_pattern && rule.applier.__is_pure()
    })
}

/// Returns what a rule is told apart by.
fn places<L, N>(rule: &Rewrite<L, N>) -> [*const (); 2] {
    [Arc::as_ptr(&rule.searcher).cast(), Arc::as_ptr(&rule.applier).cast()]
}

fn searches<L: Language, N: Analysis<L>>(rule: &Rewrite<L, N>, ast: &PatternAst<L>) -> bool {
    rule.searcher.get_pattern_ast().is_some_and(|own| std::ptr::eq(own, ast))
}

fn applies<L: Language, N: Analysis<L>>(rule: &Rewrite<L, N>, right: &Pattern<L>) -> bool {
    Arc::as_ptr(&rule.applier).cast::<()>() == std::ptr::from_ref(right).cast()
}

impl<L: Language, N: Analysis<L>> EGraph<L, N> {
    /// Remembers what these rules find from here on, unless proofs need every match.
    pub(crate) fn watch(&mut self, rules: &[&Rewrite<L, N>]) {
        if self.are_explanations_enabled() || !L::__matches_equal() {
            return self.unwatch();
        }
        if let Ok(seen) = self.seen.get_mut()
            && !seen.as_ref().is_some_and(|seen| seen.is_about(rules))
        {
            *seen = Some(Box::new(Seen::new(rules)));
        }
    }

    /// Forgets what rules found.
    pub(crate) fn unwatch(&mut self) {
        if let Ok(seen) = self.seen.get_mut()
            && let Some(seen) = seen.take()
        {
            seen.keep();
        }
    }

    /// Returns an empty list of rows, and lists of substitutions to be filled, if the pattern is
    /// watched.
    pub(crate) fn start_list(&self, ast: &PatternAst<L>) -> Option<(Vec<u32>, Vec<Vec<Subst>>)> {
        let mut seen = self.seen.lock().ok()?;
        let seen = seen.as_mut()?;
        let place = seen.place(|rule| searches(rule, ast))?;
        let SeenRule { found, lists, .. } = &mut seen.rules[place];
        let mut words = std::mem::take(&mut found.words);
        words.clear();
        if lists.is_empty() {
            std::mem::swap(lists, &mut seen.spare.substs);
        }
        Some((words, std::mem::take(lists)))
    }

    /// Keeps what a watched pattern found, and the lists that are left.
    pub(crate) fn keep_list(&self, ast: &PatternAst<L>, rows: FoundRows, lists: Vec<Vec<Subst>>) {
        if let Ok(mut seen) = self.seen.lock()
            && let Some(seen) = seen.as_mut()
            && let Some(place) = seen.place(|rule| searches(rule, ast))
        {
            seen.rules[place].found = rows;
            seen.spare.substs.extend(lists);
        }
    }

    /// Takes the lists of matches that were applied, to fill them again.
    pub(crate) fn recycle(&mut self, matches: Vec<SearchMatches<'_, L>>) {
        let Ok(Some(seen)) = self.seen.get_mut() else { return };
        let ast = matches.first().and_then(|found| found.ast.as_deref());
        let place = ast.and_then(|ast| seen.place(|rule| searches(rule, ast)));
        let lists = match place {
            Some(place) => &mut seen.rules[place].lists,
            None => &mut seen.spare.substs,
        };
        lists.extend(matches.into_iter().rev().map(|found| {
            let mut list = found.substs;
            list.clear();
            list
        }));
    }

    /// Takes the rows that matches for a right-hand side may be those of.
    pub(crate) fn known(
        &mut self,
        right: &Pattern<L>,
        matches: &[SearchMatches<'_, L>],
    ) -> Option<Known> {
        let seen = self.seen.get_mut().ok()?.as_mut()?;
        let ast = matches.first()?.ast.as_deref()?;
        let place = seen.place(|rule| searches(rule, ast) && applies(rule, right))?;
        let SeenRule { since, found, .. } = &mut seen.rules[place];
        let vars = vars_of(ast).into_iter().collect();
        let rows = std::mem::take(found);
        Some(Known { place, vars, rows, since: *since, next: 0, same: true })
    }

    /// Remembers that matches were applied: all, if they were those of the rows.
    pub(crate) fn applied(&mut self, known: Known) {
        if let Ok(Some(seen)) = self.seen.get_mut()
            && let Some(rule) = seen.rules.get_mut(known.place)
        {
            if known.next == known.rows.words.len() && known.rows.complete {
                rule.since = known.rows.generation;
            }
            rule.found.words = known.rows.words;
            rule.found.words.clear();
        }
    }
}

impl Known {
    /// Tells whether a match is the next of the rows, and was applied before.
    #[inline]
    pub(crate) fn was_applied(&mut self, class: Id, subst: &Subst) -> bool {
        if !self.same {
            return false;
        }
        let end = self.next + self.vars.len() + 2;
        match self.rows.words.get(self.next..end) {
            Some([root, ids @ .., stamp]) if *root == class.0 && subst.is(&self.vars, ids) => {
                self.next = end;
                *stamp < self.since
            }
            _ => {
                self.same = false;
                false
            }
        }
    }
}
