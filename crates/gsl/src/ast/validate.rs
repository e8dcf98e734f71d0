//! What every finished rule keeps to: handles in range, no cycles, bounded depth, names.

use std::collections::{HashMap, HashSet};

use super::rule::RuleData;
use super::templates::{default_templates, dependent_templates};
use super::{Expr, ExprKind, PatternKind, Reference};
use super::{ExprId, PatId, Pattern, Real, Template};

/// The greatest depth of a rule: patterns and the expressions inside them, counted together.
pub const MAX_DEPTH: usize = 128;

/// The most operands that a tuple stands for, with those of the tuples in it.
const MAX_SPREAD: usize = 100_000;

/// Unnamed expressions that occur twice are written out twice up to this many nodes.
const MAX_REPEATED: usize = 32;

/// Why the parts of a rule do not make a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// A handle refers to nothing.
    #[error("{what} refers to {kind} {index}, but there are {count}")]
    OutOfRange {
        /// Who refers.
        what: String,
        /// To what kind of node.
        kind: &'static str,
        /// Its number.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A node refers to itself, directly or through others.
    #[error("{0} refers to itself")]
    Cycle(String),
    /// The rule is nested too deeply.
    #[error("the rule is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// Tuples stand for too many operands.
    #[error("a tuple stands for more than {MAX_SPREAD} operands, those of tuples in it counted")]
    TooWide,
    /// A name that the text form cannot write.
    #[error("`{0}` is not a name: expected a letter or `_`, then letters, digits or `_`")]
    BadName(String),
    /// A rule or label name that is not kebab-case.
    #[error(
        "`{0}` is not a rule name or label: expected words of letters and digits joined by `-`"
    )]
    BadRuleName(String),
    /// A tolerance that is none.
    #[error("a rule holds within a number between 0 and 1, this is {0}")]
    BadTolerance(String),
    /// The JSON form is malformed.
    #[error("malformed rule: {0}")]
    Json(String),
}

/// Returns whether `text` can name a pattern, expression, operator or symbol.
pub fn is_identifier(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    starts && word && text != "_" && !RESERVED.contains(&text)
}

/// Returns whether `text` can name a rule, a label or a registered function.
pub fn is_rule_name(text: &str) -> bool {
    let word = |w: &str| !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.split('-').all(word)
}

/// The words of the language, which name nothing else.
pub(crate) const RESERVED: &[&str] = &[
    "alias",
    "as",
    "associative",
    "attr",
    "case",
    "ceildiv",
    "commutative",
    "const",
    "else",
    "false",
    "floordiv",
    "for",
    "if",
    "in",
    "index",
    "inf",
    "let",
    "match",
    "mod",
    "nan",
    "native",
    "not",
    "only",
    "op",
    "rewrite",
    "rule",
    "then",
    "true",
    "use",
    "variable",
    "variadic",
    "where",
];

/// What depends on the index of a variadic pattern is one of its templates, named or not.
fn complete_templates(data: &mut RuleData) {
    for i in 0..data.patterns.len() {
        let PatternKind::Variadic { field, templates, index: Some(index), .. } =
            &data.patterns[i].kind
        else {
            continue;
        };
        let all = dependent_templates(&data.patterns, &data.exprs, *field, *index);
        if all.iter().all(|id| templates.iter().any(|given| given.pattern == *id)) {
            continue;
        }
        let given = |id: &PatId| templates.iter().find(|given| given.pattern == *id).copied();
        let first =
            all.iter().map(|id| given(id).unwrap_or(Template { pattern: *id, first: None }));
        let others = templates.iter().filter(|given| !all.contains(&given.pattern)).copied();
        let complete = first.chain(others).collect();
        if let PatternKind::Variadic { templates, .. } = &mut data.patterns[i].kind {
            *templates = complete;
        }
    }
}

/// Checks the parts of a rule and names what it shares.
pub(super) fn finish(mut data: RuleData) -> Result<RuleData, SyntaxError> {
    let lists = References::of(&data);
    check_names(&data)?;
    check_tolerance(&data)?;
    check_ranges(&data, &lists)?;
    check_acyclic(&data, &lists)?;
    check_spread(&data)?;
    complete_templates(&mut data);
    let lists = References::of(&data);
    name_shared(&mut data, &lists);
    Ok(data)
}

/// What each node refers to, listed once: names may change after that, references do not.
struct References {
    patterns: Vec<Vec<Reference>>,
    exprs: Vec<Vec<Reference>>,
}

impl References {
    fn of(data: &RuleData) -> Self {
        Self {
            patterns: data.patterns.iter().map(Pattern::references).collect(),
            exprs: data.exprs.iter().map(Expr::references).collect(),
        }
    }
}

fn check_names(data: &RuleData) -> Result<(), SyntaxError> {
    for name in std::iter::once(&data.name).chain(&data.labels) {
        if !is_rule_name(name) {
            return Err(SyntaxError::BadRuleName(name.clone()));
        }
    }
    let patterns = data.patterns.iter().filter_map(|p| p.name.as_ref());
    let exprs = data.exprs.iter().filter_map(|e| e.name.as_ref());
    let ops = data.ops.iter().filter_map(|o| o.name.as_ref());
    let symbols = data.symbols.iter().map(|s| &s.name);
    match patterns.chain(exprs).chain(ops).chain(symbols).find(|name| !is_identifier(name)) {
        Some(name) => Err(SyntaxError::BadName(name.clone())),
        None => Ok(()),
    }
}

/// A tolerance is a number between 0 and 1, neither included.
fn check_tolerance(data: &RuleData) -> Result<(), SyntaxError> {
    match data.tolerance.map(Real::get) {
        Some(number) if !(number > 0.0 && number < 1.0) => {
            Err(SyntaxError::BadTolerance(number.to_string()))
        }
        _ => Ok(()),
    }
}

fn check_ranges(data: &RuleData, lists: &References) -> Result<(), SyntaxError> {
    for (i, references) in lists.patterns.iter().enumerate() {
        for &reference in references {
            check_range(data, reference, || format!("pattern {i}"))?;
        }
    }
    for (i, references) in lists.exprs.iter().enumerate() {
        for &reference in references {
            check_range(data, reference, || format!("expression {i}"))?;
        }
    }
    for id in data.sources.iter().chain(&data.targets) {
        check_range(data, Reference::Part(*id), || "an output".into())?;
    }
    for id in &data.conditions {
        check_range(data, Reference::Expr(*id), || "a condition".into())?;
    }
    Ok(())
}

fn check_range(
    data: &RuleData,
    reference: Reference,
    what: impl Fn() -> String,
) -> Result<(), SyntaxError> {
    let (kind, index, count) = match reference {
        Reference::Part(id) | Reference::Mention(id) => {
            ("pattern", id.index(), data.patterns.len())
        }
        Reference::Expr(id) => ("expression", id.index(), data.exprs.len()),
        Reference::Op(id) => ("operator", id.index(), data.ops.len()),
        Reference::Symbol(id) | Reference::Binder(id) => ("symbol", id.index(), data.symbols.len()),
    };
    if index < count {
        Ok(())
    } else {
        Err(SyntaxError::OutOfRange { what: what(), kind, index, count })
    }
}

/// A vertex of the reference graph.
#[derive(Clone, Copy)]
enum Node {
    Pattern(PatId),
    Expr(ExprId),
}

impl Node {
    fn slot(self, data: &RuleData) -> usize {
        match self {
            Self::Pattern(id) => id.index(),
            Self::Expr(id) => data.patterns.len() + id.index(),
        }
    }

    fn successors(self, lists: &References) -> impl Iterator<Item = Self> {
        let references = match self {
            Self::Pattern(id) => &lists.patterns[id.index()],
            Self::Expr(id) => &lists.exprs[id.index()],
        };
        references.iter().filter_map(|reference| match *reference {
            Reference::Part(id) | Reference::Mention(id) => Some(Self::Pattern(id)),
            Reference::Expr(id) => Some(Self::Expr(id)),
            _ => None,
        })
    }

    fn describe(self) -> String {
        match self {
            Self::Pattern(id) => format!("pattern {}", id.index()),
            Self::Expr(id) => format!("expression {}", id.index()),
        }
    }
}

/// Depth-first search with an explicit stack: the input may be as deep as it likes.
fn check_acyclic(data: &RuleData, lists: &References) -> Result<(), SyntaxError> {
    const ACTIVE: usize = usize::MAX;
    let mut depth = vec![0; data.patterns.len() + data.exprs.len()];
    let patterns = (0..data.patterns.len()).map(|i| Node::Pattern(PatId::new(i)));
    let exprs = (0..data.exprs.len()).map(|i| Node::Expr(ExprId::new(i)));
    for root in patterns.chain(exprs) {
        let mut stack = vec![(root, false)];
        while let Some((node, left)) = stack.pop() {
            let slot = node.slot(data);
            if left {
                let below = node.successors(lists).map(|n| depth[n.slot(data)]).max();
                depth[slot] = 1 + below.unwrap_or(0);
                if depth[slot] > MAX_DEPTH {
                    return Err(SyntaxError::TooDeep);
                }
            } else if depth[slot] == ACTIVE {
                return Err(SyntaxError::Cycle(node.describe()));
            } else if depth[slot] == 0 {
                depth[slot] = ACTIVE;
                stack.push((node, true));
                let waiting =
                    node.successors(lists).filter(|n| !(1..ACTIVE).contains(&depth[n.slot(data)]));
                stack.extend(waiting.map(|n| (n, false)));
            }
        }
    }
    Ok(())
}

/// Tuples within tuples are written out as operands, and one that is shared each time.
fn check_spread(data: &RuleData) -> Result<(), SyntaxError> {
    let mut widths: Vec<Option<usize>> = vec![None; data.patterns.len()];
    for root in 0..data.patterns.len() {
        if spread(data, root, &mut widths) > MAX_SPREAD {
            return Err(SyntaxError::TooWide);
        }
    }
    Ok(())
}

/// Counts the operands that a pattern stands for. Recursion is bounded by [`MAX_DEPTH`].
fn spread(data: &RuleData, at: usize, widths: &mut Vec<Option<usize>>) -> usize {
    if let Some(width) = widths[at] {
        return width;
    }
    let width = match &data.patterns[at].kind {
        PatternKind::Tuple(fields) => fields
            .iter()
            .map(|field| spread(data, field.index(), widths))
            .fold(0, usize::saturating_add),
        _ => 1,
    };
    widths[at] = Some(width);
    width
}

/// Names handed out so far.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// The number at which the search for a free name starts: what is below is taken.
    next: HashMap<String, usize>,
}

impl Names {
    fn claim(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        self.numbered(name, 1)
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.numbered(prefix, 0)
    }

    /// The first free name of `prefix` and a number from `least` on.
    fn numbered(&mut self, prefix: &str, least: usize) -> String {
        let next = self.next.entry(prefix.to_owned()).or_insert(least);
        loop {
            let name = format!("{prefix}{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Makes names unique and names what is used in more than one place.
fn name_shared(data: &mut RuleData, lists: &References) {
    let mut names = Names::default();
    let patterns = data.patterns.iter_mut().filter_map(|p| p.name.as_mut());
    let exprs = data.exprs.iter_mut().filter_map(|e| e.name.as_mut());
    let ops = data.ops.iter_mut().filter_map(|o| o.name.as_mut());
    for name in patterns.chain(exprs).chain(ops) {
        *name = names.claim(name);
    }
    let taken = names.taken.clone();
    for symbol in &mut data.symbols {
        if taken.contains(&symbol.name) {
            symbol.name = names.claim(&symbol.name);
        }
        names.taken.insert(symbol.name.clone());
    }
    name_patterns(data, lists, &mut names);
    name_exprs(data, lists, &mut names);
    for op in &mut data.ops {
        if op.name.is_none() && !matches!(op.choice, super::OpChoice::Name(_)) {
            op.name = Some(names.fresh("f"));
        }
    }
}

fn name_patterns(data: &mut RuleData, lists: &References, names: &mut Names) {
    let mut uses = vec![0; data.patterns.len()];
    for (pattern, references) in data.patterns.iter().zip(&lists.patterns) {
        let silent = silent_mentions(data, pattern);
        for &reference in references {
            match reference {
                Reference::Part(id) => uses[id.index()] += 1,
                Reference::Mention(id) if !silent && !is_outer(data, pattern, id) => {
                    uses[id.index()] += 2
                }
                _ => {}
            }
        }
    }
    for &reference in lists.exprs.iter().flatten() {
        if let Reference::Mention(id) = reference
            && !is_instance(data, id)
        {
            uses[id.index()] += 2;
        }
    }
    // An instance is the same value wherever it is written out.
    let needed = named_instances(data, lists);
    for (i, uses) in uses.iter_mut().enumerate() {
        if *uses > 1 && is_instance(data, PatId::new(i)) {
            *uses = if needed.contains(&PatId::new(i)) { 2 } else { 0 };
        }
    }
    for id in data.sources.iter().chain(&data.targets) {
        uses[id.index()] += 1;
    }
    for subject in cases(data) {
        if let PatternKind::Alt(options) = &data.patterns[subject.index()].kind {
            options.iter().for_each(|option| uses[option.index()] += 2);
        }
    }
    for (pattern, uses) in data.patterns.iter_mut().zip(uses) {
        if pattern.name.is_none() && uses > 1 {
            pattern.name = Some(names.fresh("p"));
        }
    }
}

/// The instances that patterns refer to where only a name can stand.
fn named_instances(data: &RuleData, lists: &References) -> HashSet<PatId> {
    let mut found = HashSet::new();
    for (pattern, references) in data.patterns.iter().zip(&lists.patterns) {
        let mentioned = references.iter().filter_map(|reference| match *reference {
            Reference::Mention(id) if is_instance(data, id) => Some(id),
            _ => None,
        });
        let mut mentioned = mentioned.filter(|id| !is_outer(data, pattern, *id)).peekable();
        if mentioned.peek().is_some() && !silent_mentions(data, pattern) {
            found.extend(mentioned);
        }
    }
    found
}

fn is_instance(data: &RuleData, id: PatId) -> bool {
    matches!(data.patterns[id.index()].kind, PatternKind::Inst { .. })
}

/// Returns whether `id` is an instance in which `pattern` is one: the two are written together.
fn is_outer(data: &RuleData, pattern: &Pattern, id: PatId) -> bool {
    is_instance(data, id)
        && matches!(pattern.kind, PatternKind::Inst { variadic, .. } if variadic == id)
}

/// Returns whether this is a variadic pattern whose templates need not be written.
fn silent_mentions(data: &RuleData, pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Variadic { field, templates, index, .. } => {
            let default = default_templates(&data.patterns, &data.exprs, *field, *index);
            templates.iter().all(|template| template.first.is_none())
                && templates.iter().map(|template| template.pattern).eq(default)
        }
        _ => false,
    }
}

/// Lists the alternatives on which a case is made: their options are referred to by name.
fn cases(data: &RuleData) -> Vec<PatId> {
    let patterns = data.patterns.iter().filter_map(|p| match p.kind {
        PatternKind::Case { subject, .. } => Some(subject),
        _ => None,
    });
    let exprs = data.exprs.iter().filter_map(|e| match e.kind {
        ExprKind::Case { subject, .. } => Some(subject),
        _ => None,
    });
    patterns.chain(exprs).collect()
}

/// Names large shared expressions, whose text would otherwise double with each level.
fn name_exprs(data: &mut RuleData, lists: &References, names: &mut Names) {
    let mut uses = vec![0; data.exprs.len()];
    for &reference in lists.patterns.iter().chain(&lists.exprs).flatten() {
        if let Reference::Expr(id) = reference {
            uses[id.index()] += 1;
        }
    }
    data.conditions.iter().for_each(|id| uses[id.index()] += 1);
    for i in 0..data.exprs.len() {
        let shared = uses[i] > 1 && data.exprs[i].name.is_none();
        if shared && written_size(data, lists, i, MAX_REPEATED + 1) > MAX_REPEATED {
            data.exprs[i].name = Some(names.fresh("a"));
        }
    }
}

/// Counts the nodes of expression `root` as it is written, up to `limit`.
fn written_size(data: &RuleData, lists: &References, root: usize, limit: usize) -> usize {
    let mut size = 0;
    let mut stack = vec![root];
    while let Some(i) = stack.pop() {
        size += 1;
        if size >= limit {
            break;
        }
        let inner = lists.exprs[i].iter().filter_map(|reference| match reference {
            Reference::Expr(id) => Some(id.index()),
            _ => None,
        });
        stack.extend(inner.filter(|inner| data.exprs[*inner].name.is_none()));
    }
    size
}
