//! "Why not?": what keeps a rule from matching.

use tangram_gsl::rules::{CompileError, CompiledRule, Options};
use tangram_gsl::schema::NnSchema;
use tangram_ir::{Block, Module, Op};

use crate::library::Library;
use crate::natives::natives;

/// How a rule fares at an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The rule.
    pub rule: String,
    /// The operation.
    pub operation: String,
    /// The names of its results.
    pub results: Vec<String>,
    /// Which pattern failed after most was matched, what it expects and what is there; empty
    /// where the rule matches.
    pub reason: String,
    /// How much of the rule was matched before that.
    pub progress: usize,
}

/// Explains, for each rule of `library` and each operation at which it could be anchored, why it
/// does not match there; nearest misses first.
///
/// # Errors
/// A rule that cannot be compiled.
pub fn explain(module: &Module, library: &Library) -> Result<Vec<Miss>, CompileError> {
    let context = module.context();
    let schema = NnSchema::new(context);
    let options = Options { natives: natives(), ..Options::default() };
    let mut out = Vec::new();
    for located in &library.rules {
        let rule = CompiledRule::new(&located.rule, context, &schema, &options, &|_| true)?;
        for op in operations(module) {
            out.extend(miss_at(&rule, module, op));
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

fn miss_at(rule: &CompiledRule, module: &Module, op: Op) -> Option<Miss> {
    let matches = rule.matches(module, op).next_match().is_some();
    let mut solver = rule.matches(module, op).with_reasons(true);
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
        reason: match (matches, miss) {
            (false, Some(miss)) => miss.describe(rule.plan(), module),
            _ => String::new(),
        },
        progress: miss.map_or(0, |miss| miss.progress),
    })
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
