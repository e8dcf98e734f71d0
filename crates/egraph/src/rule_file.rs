//! Rules as text: what `tangram egraph --rules` reads.
//!
//! ```text
//! # A rule a line; indented lines go on with the rule before.
//! commute:   (+ ?a ?b) => (+ ?b ?a)
//! associate: (+ ?a (+ ?b ?c)) <=> (+ (+ ?a ?b) ?c)
//! cancel:    (/ ?a ?a) => 1  if (is-zero ?a) = false
//! merge:     ?p = (mul ?a ?b), ?q = (mul ?a ?c)
//!            => ?r = (mul ?a (cat ?b ?c)), ?p = (first ?r), ?q = (second ?r)
//! ```
//!
//! `<=>` makes two rules, the second with `-rev` behind its name. A condition holds if its two
//! patterns are in one class; several are joined by further `if`s.

use crate::{
    Applier, Condition, ConditionEqual, ConditionalApplier, EGraph, ENodeOrVar, Id, MultiPattern,
    Pattern, Rewrite, Searcher, Subst, SymbolLang, Var,
};
use std::str::FromStr;
use thiserror::Error;

/// A rule over [`SymbolLang`].
type Rule = Rewrite<SymbolLang, ()>;

/// Equations that all have to hold.
#[derive(Clone, Debug, Default)]
struct Equations(Vec<ConditionEqual<SymbolLang>>);

impl Condition<SymbolLang, ()> for Equations {
    fn check(&self, egraph: &mut EGraph<SymbolLang, ()>, class: Id, subst: &Subst) -> bool {
        self.0.iter().all(|equation| equation.check(egraph, class, subst))
    }

    fn vars(&self) -> Vec<Var> {
        self.0.iter().flat_map(Condition::<SymbolLang, ()>::vars).collect()
    }
}

/// What is wrong with a rule, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {kind}")]
#[non_exhaustive]
pub struct RuleFileError {
    /// The line that the rule starts at, from 1.
    pub line: usize,
    /// What is wrong.
    pub kind: RuleFileErrorKind,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleFileErrorKind {
    /// The rule has no name.
    #[error("expected `name: left => right`, found no name before a `:`")]
    Name,
    /// There is no arrow, or there are several.
    #[error("expected one `=>` or `<=>` between two sides, found {0}")]
    Arrows(usize),
    /// A pattern does not parse.
    #[error("cannot read the pattern `{text}`: {why}")]
    Pattern {
        /// The pattern.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A condition is no equation.
    #[error("expected a condition `pattern = pattern`, found `{0}`")]
    Condition(String),
    /// A clause is no equation.
    #[error("expected a clause `?variable = pattern`, found `{0}`")]
    Clause(String),
    /// The right side uses what the left side does not bind.
    #[error("the variable {0} is not bound by the left side")]
    Unbound(String),
    /// Several clauses cannot be read backwards.
    #[error("a rule with several clauses goes one way: write `=>`")]
    Backwards,
    /// The first clause of several has to start the match.
    #[error("the first clause is a variable alone, which would match everything")]
    Start,
}

/// Reads rules; `#` starts a comment.
///
/// ```
/// let rules = tangram_egraph::parse_rules("swap: (+ ?a ?b) <=> (+ ?b ?a)").unwrap();
/// assert_eq!(rules[1].name.as_str(), "swap-rev");
/// let error = tangram_egraph::parse_rules("\nbad: (f ?x) => ?y").unwrap_err();
/// assert_eq!(error.to_string(), "line 2: the variable ?y is not bound by the left side");
/// ```
///
/// # Errors
/// [`RuleFileError`] for the first rule that is wrong.
pub fn parse_rules(text: &str) -> Result<Vec<Rule>, RuleFileError> {
    let mut rules = Vec::new();
    for (line, text) in entries(text) {
        rule(&text, &mut rules).map_err(|kind| RuleFileError { line, kind })?;
    }
    Ok(rules)
}

/// Joins the lines of each rule, without comments.
fn entries(text: &str) -> Vec<(usize, String)> {
    let mut entries: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        if content.trim().is_empty() {
            continue;
        }
        match entries.last_mut() {
            Some((_, entry)) if line.starts_with(char::is_whitespace) => {
                entry.push('\n');
                entry.push_str(content);
            }
            _ => entries.push((number + 1, content.to_owned())),
        }
    }
    entries
}

fn rule(text: &str, rules: &mut Vec<Rule>) -> Result<(), RuleFileErrorKind> {
    let (name, body) = text.split_once(':').ok_or(RuleFileErrorKind::Name)?;
    let name = name.trim();
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '(') {
        return Err(RuleFileErrorKind::Name);
    }
    let mut parts = split(body, &["if"]).into_iter().map(|(_, part)| part);
    let sides = split(parts.next().unwrap_or_default(), &["=>", "<=>"]);
    let [(_, left), (arrow, right)] = sides[..] else {
        return Err(RuleFileErrorKind::Arrows(sides.len() - 1));
    };
    let equations = Equations(parts.map(condition).collect::<Result<_, _>>()?);
    let several = [left, right].into_iter().any(|side| split(side, &["="]).len() > 1);
    if several {
        if arrow == "<=>" {
            return Err(RuleFileErrorKind::Backwards);
        }
        rules.push(make(name, starting(clauses(left)?)?, clauses(right)?, equations)?);
        return Ok(());
    }
    let (left, right): (Pattern<_>, Pattern<_>) = (read(left)?, read(right)?);
    rules.push(make(name, left.clone(), right.clone(), equations.clone())?);
    if arrow == "<=>" {
        rules.push(make(&format!("{name}-rev"), right, left, equations)?);
    }
    Ok(())
}

fn make(
    name: &str,
    left: impl Searcher<SymbolLang, ()> + Send + Sync + 'static,
    right: impl Applier<SymbolLang, ()> + Send + Sync + 'static,
    equations: Equations,
) -> Result<Rule, RuleFileErrorKind> {
    let bound = left.vars();
    let used = right.vars().into_iter().chain(equations.vars());
    let unbound = used.into_iter().find(|var| !bound.contains(var));
    let unbound = unbound.map_or(String::new(), |var| var.to_string());
    let rule = match equations.0.is_empty() {
        true => Rewrite::new(name, left, right),
        false => {
            Rewrite::new(name, left, ConditionalApplier { condition: equations, applier: right })
        }
    };
    rule.map_err(|_| RuleFileErrorKind::Unbound(unbound))
}

fn condition(text: &str) -> Result<ConditionEqual<SymbolLang>, RuleFileErrorKind> {
    match split(text, &["="])[..] {
        [(_, left), (_, right)] => Ok(ConditionEqual::new(read(left)?, read(right)?)),
        _ => Err(RuleFileErrorKind::Condition(text.trim().to_owned())),
    }
}

/// Reads `?x = pattern = pattern, ?y = pattern`.
fn clauses(text: &str) -> Result<MultiPattern<SymbolLang>, RuleFileErrorKind> {
    let mut clauses = Vec::new();
    for clause in split(text, &[","]) {
        let mut parts = split(clause.1, &["="]).into_iter().map(|(_, part)| part);
        let var: Var = read(parts.next().unwrap_or_default())?;
        let before = clauses.len();
        for part in parts {
            let pattern: Pattern<SymbolLang> = read(part)?;
            clauses.push((var, pattern.ast));
        }
        if clauses.len() == before {
            return Err(RuleFileErrorKind::Clause(clause.1.trim().to_owned()));
        }
    }
    Ok(MultiPattern::new(clauses))
}

/// Checks that the first clause can start a match.
fn starting(
    clauses: MultiPattern<SymbolLang>,
) -> Result<MultiPattern<SymbolLang>, RuleFileErrorKind> {
    let first = clauses.clauses().first().and_then(|(_, ast)| ast.last());
    match first {
        Some(ENodeOrVar::ENode(_)) => Ok(clauses),
        _ => Err(RuleFileErrorKind::Start),
    }
}

fn read<P: FromStr>(text: &str) -> Result<P, RuleFileErrorKind>
where
    P::Err: std::fmt::Display,
{
    let text = text.trim();
    text.parse().map_err(|why: P::Err| RuleFileErrorKind::Pattern {
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        why: why.to_string(),
    })
}

/// Splits a text at words, or commas, outside of brackets and quotes; each part with the word before it.
fn split<'a>(text: &'a str, words: &[&str]) -> Vec<(&'a str, &'a str)> {
    let mut parts = Vec::new();
    let (mut depth, mut quoted) = (0usize, false);
    let (mut before, mut start) = ("", 0);
    let mut word = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let outside = !quoted && depth == 0;
        if outside && c == ',' && words.contains(&",") {
            parts.push((before, &text[start..at]));
            (before, start) = (",", at + 1);
        }
        if outside && !c.is_whitespace() && !matches!(c, '(' | ')' | ',' | '"') {
            word.get_or_insert(at);
        } else if let Some(from) = word.take()
            && words.contains(&&text[from..at])
        {
            parts.push((before, &text[start..from]));
            (before, start) = (&text[from..at], at);
        }
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    parts.push((before, &text[start..]));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AstSize, Extractor, Runner};

    fn simplify(rules: &str, term: &str) -> String {
        let rules = parse_rules(rules).unwrap();
        let runner = Runner::<SymbolLang, ()>::default().with_expr(&term.parse().unwrap());
        let runner = runner.run(&rules);
        Extractor::new(&runner.egraph, AstSize).find_best(runner.roots[0]).1.to_string()
    }

    #[test]
    fn rules_do_what_they_say() {
        let rules = "# sums
commute: (+ ?a ?b) => (+ ?b ?a)   # both ways anyway
associate: (+ ?a (+ ?b ?c)) <=>
    (+ (+ ?a ?b) ?c)

zero: (+ ?a 0) => ?a
";
        assert_eq!(parse_rules(rules).unwrap().len(), 4);
        assert_eq!(simplify(rules, "(+ 0 (+ x (+ 0 0)))"), "x");
        let arrows = "curry: (=> ?a (=> ?b ?c)) => (= ?a ?b ?c)";
        assert_eq!(simplify(arrows, "(=> a (=> b c))"), "(= a b c)");
    }

    #[test]
    fn conditions_and_clauses_hold() {
        let rules = "known: (zero x) => no
cancel: (/ ?a ?a) => 1 if (zero ?a) = no if (zero ?a) = (zero ?a)";
        assert_eq!(simplify(rules, "(f (/ x x) (zero x))"), "(f 1 no)");
        assert_eq!(simplify(rules, "(f (/ y y) (zero x))"), "(f (/ y y) no)");
        let merge = "merge: ?p = (long (mul ?a ?b)), ?q = (long (mul ?a ?c))
    => ?p = (p ?a), ?q = (p ?a)";
        assert_eq!(simplify(merge, "(f (long (mul x y)) (long (mul x z)))"), "(f (p x) (p x))");
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parse_rules(text).unwrap_err().to_string();
        assert_eq!(
            error("a: x => y\n\n(f ?x) => ?x"),
            "line 3: expected `name: left => right`, found no name before a `:`"
        );
        assert_eq!(
            error("a: (f (g ?x) => ?x"),
            "line 1: expected one `=>` or `<=>` between two sides, found 0"
        );
        assert_eq!(
            error("a: x => y => z"),
            "line 1: expected one `=>` or `<=>` between two sides, found 2"
        );
        assert_eq!(
            error("a: (f) g => y"),
            "line 1: cannot read the pattern `(f) g`: expected the end of the text, found `g`"
        );
        assert_eq!(
            error("a: ?p = (f ?x), ?q = ?x <=> ?p = ?q"),
            "line 1: a rule with several clauses goes one way: write `=>`"
        );
        assert_eq!(
            error("a: x => y if x"),
            "line 1: expected a condition `pattern = pattern`, found `x`"
        );
        assert_eq!(
            error("a: ?p = ?x, ?p = (f ?x) => ?p = x"),
            "line 1: the first clause is a variable alone, which would match everything"
        );
        assert_eq!(
            error("a: ?p = (f ?x), (g ?x) => ?p = x"),
            "line 1: cannot read the pattern `(g ?x)`: pattern variable `(g ?x)` has to start with a \
             question mark"
        );
        assert_eq!(
            error("a: (f ?x) <=> y"),
            "line 1: the variable ?x is not bound by the left side"
        );
    }
}
