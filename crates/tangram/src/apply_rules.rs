//! Rules alone, applied to a program that need not come from a model.

use tangram_gsl::check::{check_rule, has_errors};
use tangram_gsl::rules::{self, CompiledRule};
use tangram_gsl::schema::NnSchema;
use tangram_ir::Module;
use tangram_rewrite::{GreedyConfig, PatternReport, PatternSet, Silent, greedy, walk_and_apply};

use crate::library::Library;
use crate::natives::natives;
use crate::optimise::{OptimiseError, Strategy};

/// How rules are applied to a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleSetOptions {
    /// The driver.
    pub strategy: Strategy,
}

/// Applies the rules of `library`, and nothing else, to every operation of `module`: greedily, or
/// in one walk if the strategy is [`Strategy::Walk`]. Returns what became of each rule.
///
/// # Errors
/// If a rule is wrong; the module is unchanged then.
pub fn apply_rules(
    module: &mut Module,
    library: &Library,
    options: &RuleSetOptions,
) -> Result<Vec<PatternReport>, OptimiseError> {
    let settings = rules::Options { natives: natives(), ..rules::Options::default() };
    let context = module.context_arc().clone();
    let schema = NnSchema::new(&context);
    let mut set = PatternSet::new();
    for located in &library.rules {
        let found = check_rule(located, &schema);
        if has_errors(&found) {
            return Err(OptimiseError::Rules(library.sources.render(&found)));
        }
        let rule = CompiledRule::checked(&located.rule, &context, &settings, &|_| true);
        let rule = rule.map_err(|error| OptimiseError::Rules(error.to_string()))?;
        set.add(Box::new(rule));
    }
    let set = set.freeze::<&str>(&[], &[]);
    let root = module.root();
    if options.strategy == Strategy::Walk {
        return Ok(walk_and_apply(module, root, &set, &mut Silent).patterns);
    }
    Ok(greedy::apply(module, root, &set, &GreedyConfig::default()).patterns)
}
