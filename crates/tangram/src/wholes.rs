//! Compositions that stay whole: what a runtime recognises is not taken apart.
//!
//! A rule with the label [`WHOLE`] gives a composition the name that the operator set has for it.
//! Where the operator set has none, runtimes recognise the composition all the same, as long as it
//! is complete. So every other rule waits: a match that would take away one of its operations and
//! not all of them is refused, at the place where it stands.
//!
//! ```text
//! matmul(x * (erf(x / 1.41421) + 1) * 0.5, w)      gelu, which opset 17 has no operator for
//! matmul(x * (erf(x / 1.41421) + 1), w * 0.5)      one product less, and no runtime sees the gelu
//! ```

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tangram_gsl::matching::Match;
use tangram_gsl::rules::CompiledRule;
use tangram_ir::{Module, Op};
use tangram_rewrite::{NoMatch, RewritePattern, Rewriter, Roots};

/// The label of rules whose source runtimes recognise.
pub const WHOLE: &str = "whole";

/// How many operations behind one are looked at for the end of a composition.
const MOST: usize = 64;

/// A rule that leaves compositions whole.
pub(crate) struct Waiting {
    pub(crate) rule: CompiledRule,
    /// The rules that name compositions.
    pub(crate) wholes: Arc<[CompiledRule]>,
}

impl Waiting {
    /// The composition that a match would take apart.
    fn broken(&self, module: &Module, root: Op, found: &Match) -> Option<&str> {
        let matched: FxHashSet<Op> = found.ops().iter().copied().collect();
        let gone = |op: &Op| *op == root || self.is_dead_without(module, *op, &matched);
        let mut names = found.ops().iter().filter(|op| gone(op)).filter_map(|&op| {
            let parts = |rule: &&CompiledRule| {
                behind(module, op, rule.depth()).into_iter().any(|end| {
                    let whole = rule.find(module, end);
                    whole.is_some_and(|whole| {
                        let mut ops = whole.ops().iter();
                        whole.ops().contains(&op) && ops.any(|other| !matched.contains(other))
                    })
                })
            };
            self.wholes.iter().find(parts)
        });
        names.next().map(|rule| rule.rule().name())
    }

    /// Returns whether only matched operations read what `op` makes.
    fn is_dead_without(&self, module: &Module, op: Op, matched: &FxHashSet<Op>) -> bool {
        let mut results = module.results(op);
        results.all(|value| module.uses(value).all(|used| matched.contains(&used.op)))
    }
}

/// `op` and what reads it, up to `depth` operations in a row.
fn behind(module: &Module, op: Op, depth: u32) -> Vec<Op> {
    let mut found = vec![op];
    let mut last = 0..1;
    for _ in 1..depth {
        let next: Vec<Op> = found[last.clone()]
            .iter()
            .flat_map(|&op| module.results(op))
            .flat_map(|value| module.uses(value).map(|used| used.op).collect::<Vec<_>>())
            .take(MOST)
            .collect();
        last = found.len()..found.len() + next.len();
        found.extend(next);
        if found.len() > MOST {
            break;
        }
    }
    found
}

impl RewritePattern for Waiting {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn labels(&self) -> &[String] {
        self.rule.labels()
    }

    fn roots(&self) -> Roots {
        self.rule.roots()
    }

    fn benefit(&self) -> u16 {
        self.rule.benefit()
    }

    fn depth(&self) -> u32 {
        self.rule.depth()
    }

    fn looks_sideways(&self) -> bool {
        self.rule.looks_sideways()
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        self.rule.match_and_rewrite_unless(rewriter, op, |module, found| {
            let whole = self.broken(module, op, found)?;
            Some(NoMatch::because(format!("`{whole}` is taken apart, which runtimes know")))
        })
    }
}
