//! "Why not?": what keeps a rule from matching.

use tangram_gsl::rules::CompiledRule;
use tangram_ir::{Block, Module, Op};
use tangram_rewrite::{
    GreedyConfig, Journal, PatternSet, RewritePattern, Rewriter, Silent, greedy,
};

use crate::library::{Library, Selection};
use crate::optimise::OptimiseError;

/// How a rule fares at an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The rule.
    pub rule: String,
    /// The operation.
    pub operation: String,
    /// The names of its results.
    pub results: Vec<String>,
    /// Which pattern failed after most was matched, what it expects and what is there, or why a
    /// match is refused; empty where the rule is applied.
    pub reason: String,
    /// How much of the rule was matched before that.
    pub progress: usize,
}

/// Explains, for each rule of `library` and each operation at which it could be anchored, what comes
/// of it there; nearest misses first.
///
/// The program is prepared as it is for any driver, in which equal operations are one, and each rule
/// is tried by the code that applies it, which is then undone.
///
/// # Errors
/// A rule that is wrong, or calls what nobody has defined.
pub fn explain(module: &Module, library: &Library) -> Result<Vec<Miss>, OptimiseError> {
    let rules = library.compile(module.context(), &Selection::default())?.rules;
    let mut module = module.clone();
    let none = PatternSet::new().freeze();
    let config = GreedyConfig { fold: false, erase_dead: false, ..GreedyConfig::default() };
    let root = module.root();
    greedy::apply(&mut module, root, &none, &config);
    let ops = operations(&module);
    let mut out = Vec::new();
    for rule in &rules {
        let roots = rule.roots();
        for &op in &ops {
            if roots.accept(&module, op) {
                out.extend(miss_at(rule, &mut module, op));
            }
        }
    }
    out.sort_by_key(|miss| std::cmp::Reverse((miss.reason.is_empty(), miss.progress)));
    Ok(out)
}

/// Returns whether an operation of `module` makes a value of this name.
pub fn has_value(module: &Module, name: &str) -> bool {
    let named =
        |value| module.value_name(value).is_some_and(|found| module.context().text(found) == name);
    operations(module).into_iter().any(|op| module.results(op).any(named))
}

fn miss_at(rule: &CompiledRule, module: &mut Module, op: Op) -> Option<Miss> {
    let outcome = tried(rule, module, op);
    let mut solver = rule.matches(module, op).with_reasons(true);
    let matches = solver.next_match().is_some();
    while solver.next_match().is_some() {}
    let miss = solver.miss();
    // An operation of another kind is no near miss.
    if !matches && miss.is_none_or(|miss| miss.progress == 0) {
        return None;
    }
    let name = |v| module.value_name(v).map(|name| module.context().text(name).to_owned());
    Some(Miss {
        rule: rule.rule().name().to_owned(),
        operation: module.name_text(op).to_owned(),
        results: module.results(op).filter_map(name).collect(),
        reason: match (outcome, miss) {
            (Ok(()), _) => String::new(),
            (Err(reason), _) if matches => format!("it matches, and is refused: {reason}"),
            (Err(_), Some(miss)) => miss.describe(rule.plan(), module),
            (Err(reason), None) => reason,
        },
        progress: match matches {
            true => usize::MAX,
            false => miss.map_or(0, |miss| miss.progress),
        },
    })
}

/// Applies a rule at an operation, and undoes it. The error is why it is left as it is.
fn tried(rule: &CompiledRule, module: &mut Module, op: Op) -> Result<(), String> {
    let mut journal = Journal::new();
    let start = journal.mark();
    let mut listener = Silent;
    let outcome = Rewriter::new(module, &mut listener)
        .with_journal(&mut journal)
        .with_reasons(true)
        .attempt(rule, op);
    journal.undo(module, start);
    outcome.map_err(|why| why.reason.unwrap_or_default())
}

/// Every operation, those in regions included, in order.
fn operations(module: &Module) -> Vec<Op> {
    let mut out = Vec::new();
    let mut blocks: Vec<Block> = vec![module.body()];
    while let Some(block) = blocks.pop() {
        for op in module.ops(block) {
            out.push(op);
            for &region in module.regions(op) {
                blocks.extend(module.first_block(region));
            }
        }
    }
    out
}
