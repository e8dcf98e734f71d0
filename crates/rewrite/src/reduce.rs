//! Finding the rewrite that breaks a program: fewer patterns, then fewer rewrites.

use tangram_ir::{Module, Op};

use crate::greedy::{self, GreedyConfig};
use crate::set::FrozenPatternSet;

/// What is left of a failing run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduced {
    /// The patterns that are needed, by name, in the order of the set.
    pub patterns: Vec<String>,
    /// The number of the first rewrite after which the program is bad.
    pub rewrites: u64,
    /// The program just before that rewrite.
    pub before: String,
}

/// Shrinks a run of the greedy driver on `root` that leaves a bad program.
///
/// `set` makes the set of patterns without those named. First patterns are left out one by one
/// while the result stays bad, then the number of rewrites is halved between a good and a bad one.
/// Folding, merging and the removal of dead operations go on as `config` says.
///
/// Returns `None` if the result of all patterns is not bad. O(patterns + log rewrites) runs.
pub fn reduce(
    module: &Module,
    root: Op,
    set: &dyn Fn(&[String]) -> FrozenPatternSet,
    config: &GreedyConfig,
    bad: &mut dyn FnMut(&Module) -> bool,
) -> Option<Reduced> {
    let run = |disabled: &[String], most: Option<u64>| {
        let mut copy = module.clone();
        let config = GreedyConfig { max_rewrites: most.or(config.max_rewrites), ..config.clone() };
        let report = greedy::apply(&mut copy, root, &set(disabled), &config);
        (copy, report.rewrites)
    };
    if !bad(&run(&[], None).0) {
        return None;
    }
    let names: Vec<String> = set(&[]).iter().map(|pattern| pattern.name().to_owned()).collect();
    let mut disabled: Vec<String> = Vec::new();
    for name in &names {
        disabled.push(name.clone());
        if !bad(&run(&disabled, None).0) {
            disabled.pop();
        }
    }
    // After `high` rewrites it is bad; after `low` it is not, unless that is none.
    let (mut low, mut high) = (0, run(&disabled, None).1);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if bad(&run(&disabled, Some(middle)).0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let patterns = names.into_iter().filter(|name| !disabled.contains(name)).collect();
    let before = tangram_ir::text::print(&run(&disabled, Some(low)).0);
    Some(Reduced { patterns, rewrites: high, before })
}
