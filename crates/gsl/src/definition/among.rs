//! What definitions are to each other: two of one operator, and some that come back to themselves.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{call, is_definition};
use crate::ast::{OpChoice, PatternKind, Rule, subexpressions};
use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::text::LocatedRule;

/// Finds what is wrong among the definitions of `rules`: an operator that two of them define, and not
/// alike, so that nobody can tell which is meant; and definitions that come back to themselves by
/// way of what they name, so that none of them says what is computed.
pub fn conflicts<'r>(
    rules: impl IntoIterator<Item = &'r LocatedRule>,
    sources: &Sources,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut first_of: FxHashMap<&str, usize> = FxHashMap::default();
    let mut all: Vec<&LocatedRule> = Vec::new();
    for located in rules.into_iter().filter(|located| is_definition(&located.rule)) {
        let Some((_, operator, _)) = call(&located.rule) else { continue };
        let first = *first_of.entry(operator).or_insert(all.len());
        match all.get(first) {
            None => all.push(located),
            Some(first) if first.rule != located.rule => {
                let message = format!("two rules define `{operator}`");
                let error = Diagnostic::error("defined-twice", located.spans.name, message);
                found.push(error.label(first.spans.name, "the first one"));
            }
            Some(_) => {}
        }
    }
    let named = |located: &&LocatedRule| {
        let known = |(name, span): (&str, Span)| Some((*first_of.get(name)?, span));
        named(located).into_iter().filter_map(known).collect()
    };
    let graph = Graph { rules: &all, named: all.iter().map(named).collect() };
    found.extend(graph.cycles().iter().map(|cycle| graph.told(cycle, sources)));
    found
}

/// The operators that a definition's target is made of, each with the place that names it first.
fn named(located: &LocatedRule) -> Vec<(&str, Span)> {
    let rule: &Rule = &located.rule;
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    for id in subexpressions(rule, rule.targets()) {
        let PatternKind::Call { op, .. } = &rule.pattern(id).kind else { continue };
        if let OpChoice::Name(name) = &rule.op(*op).choice
            && seen.insert(name.as_str())
        {
            found.push((name.as_str(), located.spans.pattern(id)));
        }
    }
    found
}

/// Definitions, each with those that it names and where.
struct Graph<'r> {
    rules: &'r [&'r LocatedRule],
    named: Vec<Vec<(usize, Span)>>,
}

/// Definitions that name each other in a ring, each with the place that names the next.
type Cycle = Vec<(usize, Span)>;

impl Graph<'_> {
    /// Cycles that have no definition in common: at least one of those that there are.
    fn cycles(&self) -> Vec<Cycle> {
        let mut found = Vec::new();
        // A definition is open while those that it names are looked at.
        let (mut seen, mut open) = (vec![false; self.rules.len()], vec![false; self.rules.len()]);
        let mut told = vec![false; self.rules.len()];
        for start in 0..self.rules.len() {
            if seen[start] {
                continue;
            }
            (seen[start], open[start]) = (true, true);
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            while let Some((at, next)) = path.last_mut() {
                let Some(&(to, _)) = self.named[*at].get(*next) else {
                    open[*at] = false;
                    path.pop();
                    continue;
                };
                *next += 1;
                if open[to] && !told[to] {
                    let from = path.iter().position(|(at, _)| *at == to).unwrap_or_default();
                    let ring = &path[from..];
                    if ring.iter().all(|(at, _)| !told[*at]) {
                        ring.iter().for_each(|(at, _)| told[*at] = true);
                        let step = |&(at, next): &(usize, usize)| (at, self.named[at][next - 1].1);
                        found.push(ring.iter().map(step).collect());
                    }
                } else if !seen[to] {
                    (seen[to], open[to]) = (true, true);
                    path.push((to, 0));
                }
            }
        }
        found
    }

    fn operator(&self, at: usize) -> &str {
        call(&self.rules[at].rule).map_or("", |(_, operator, _)| operator)
    }

    fn told(&self, cycle: &Cycle, sources: &Sources) -> Diagnostic {
        let next = |i: usize| self.operator(cycle[(i + 1) % cycle.len()].0);
        let first = cycle.first().map_or("", |(at, _)| self.operator(*at));
        let span = cycle.first().map(|(_, span)| *span).unwrap_or_default();
        let message = format!("the definition of `{first}` comes back to itself");
        let mut error = Diagnostic::error("definition-cycle", span, message);
        for (i, &(at, span)) in cycle.iter().enumerate() {
            let ((line, column), name) = (sources.line_column(span), sources.name(span.file));
            let (operator, name) = (self.operator(at), name.unwrap_or_default());
            error = match i {
                0 => error,
                _ => error.label(span, format!("and `{operator}` is made of `{}`", next(i))),
            };
            let place = format!("{name}:{line}:{column}");
            error = error.note(format!("{place}: `{operator}` is made of `{}`", next(i)));
        }
        error.hint("a definition is made of operations that are known in the end")
    }
}
