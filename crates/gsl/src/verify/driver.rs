//! Whether a rule fires where models are rewritten.

use tangram_ir::Module;
use tangram_rewrite::{GreedyConfig, PatternSet, greedy};

use crate::rules::CompiledRule;

/// Whether a rule fires on a program as the greedy driver sees it: equal operations, constants among
/// them, are one value there, and what nobody uses is gone.
pub(super) fn fires(rule: &CompiledRule, module: &Module) -> bool {
    let mut module = module.clone();
    let root = module.root();
    let config = GreedyConfig { max_rewrites: Some(1), fold: false, ..GreedyConfig::default() };
    greedy::apply(&mut module, root, &PatternSet::new().freeze(), &config);
    let mut set = PatternSet::new();
    set.add(rule.clone());
    greedy::apply(&mut module, root, &set.freeze(), &config).rewrites > 0
}
