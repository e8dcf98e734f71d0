//! Rules alone, applied to a program that need not come from a model.

use tangram_gsl::rules::RuleDiscriminator;
use tangram_ir::Module;
use tangram_rewrite::{
    GreedyConfig, Listener, PatternReport, PatternSet, Silent, greedy, walk_and_apply,
};

use crate::library::{Library, Selection};
use crate::optimise::{OptimiseError, Strategy};

/// How rules are applied to a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleSetOptions {
    /// The driver; not [`Strategy::Saturate`], which is for models.
    pub strategy: Strategy,
}

/// Applies the rules of `library`, and nothing else, to every operation of `module`: greedily, or
/// in one walk if the strategy is [`Strategy::Walk`]. Returns what became of each rule.
///
/// # Errors
/// If a rule is wrong, or the strategy is not for programs; the module is unchanged then.
pub fn apply_rules(
    module: &mut Module,
    library: &Library,
    options: &RuleSetOptions,
) -> Result<Vec<PatternReport>, OptimiseError> {
    apply_rules_with_listener(module, library, options, &mut Silent)
}

/// As [`apply_rules`]; `listener` hears of every change.
///
/// # Errors
/// As [`apply_rules`].
pub fn apply_rules_with_listener(
    module: &mut Module,
    library: &Library,
    options: &RuleSetOptions,
    listener: &mut dyn Listener,
) -> Result<Vec<PatternReport>, OptimiseError> {
    let rules = library.compile(module.context(), &Selection::default())?.rules;
    let mut set = PatternSet::new();
    set.add_discriminator(RuleDiscriminator::new(&rules));
    for rule in rules {
        set.add(rule);
    }
    let set = set.freeze();
    let root = module.root();
    match options.strategy {
        Strategy::Greedy => {
            let config = GreedyConfig::default();
            Ok(greedy::apply_with_listener(module, root, &set, &config, listener).patterns)
        }
        Strategy::Walk => Ok(walk_and_apply(module, root, &set, listener).patterns),
        Strategy::Saturate => Err(OptimiseError::NoModel),
    }
}
