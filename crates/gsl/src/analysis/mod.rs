//! What the rules of a set do to each other.
//!
//! Each rule is tried on instances of its own source, the small programs that also verify it
//! ([`crate::verify`]), together with all other rules of the set:
//!
//! - two rules **overlap** where both match and share an operation: which one comes first decides;
//! - a rule is **shadowed** if on every instance a rule that is tried earlier matches at the same
//!   operation, so that it never gets its turn there;
//! - a rule is **subsumed** if another one makes the same of every instance: it adds nothing;
//! - rules **loop** if rewriting by the set comes back to a program that was there before.
//!
//! Every finding comes with the program that shows it, or the number of instances behind it. What
//! is found on no instance is not reported: this finds what is wrong, and proves nothing right.

mod instance;
mod program;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use tangram_ir::Context;
use tangram_rewrite::RewritePattern;

use crate::plan::SharedPlan;
use crate::rules::{CompiledRule, Natives};
use crate::verify::{Effort, Sampler};
use instance::Trial;

/// How many instances of a rule are looked at.
const INSTANCES: usize = 32;
/// How many agree before a rule is said to be shadowed or subsumed.
const ENOUGH: usize = 4;
/// How many programs are made of each rule in search of one that matches.
const ATTEMPTS: usize = 600;

/// Something about the rules of a set, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Both rules match in `program` and share an operation.
    Overlap {
        /// The rule that is tried first.
        first: String,
        /// The other.
        second: String,
        /// A program, one operation a line.
        program: Vec<String>,
    },
    /// `by` is tried earlier and matches wherever `rule` does.
    Shadowed {
        /// The rule that gets no turn.
        rule: String,
        /// The rule before it.
        by: String,
        /// On how many instances.
        instances: usize,
    },
    /// `by` makes the same of whatever `rule` matches.
    Subsumed {
        /// The rule that adds nothing.
        rule: String,
        /// The rule that does the same.
        by: String,
        /// On how many instances.
        instances: usize,
    },
    /// Rewriting `program` comes back to a program that was there before.
    Loop {
        /// The rules on the way round, in order.
        rules: Vec<String>,
        /// A program, one operation a line.
        program: Vec<String>,
    },
    /// Rewriting `program` does not end within a limit that is far above its size.
    Endless {
        /// The rules that were applied last.
        rules: Vec<String>,
        /// A program, one operation a line.
        program: Vec<String>,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |f: &mut fmt::Formatter<'_>, program: &[String]| {
            program.iter().try_for_each(|line| write!(f, "\n    {line}"))
        };
        match self {
            Self::Overlap { first, second, program } => {
                write!(f, "overlap: `{first}`, tried first, and `{second}` share an operation in")?;
                show(f, program)
            }
            Self::Shadowed { rule, by, instances } => write!(
                f,
                "shadowed: `{by}` is tried before `{rule}` and matches in all of its {instances} \
                 instances"
            ),
            Self::Subsumed { rule, by, instances } => write!(
                f,
                "subsumed: `{by}` makes the same as `{rule}` of all of its {instances} instances"
            ),
            Self::Loop { rules, program } => {
                write!(f, "loop: {} undo each other in", rules.join(", then "))?;
                show(f, program)
            }
            Self::Endless { rules, program } => {
                write!(f, "endless: {} are applied again and again in", rules.join(", "))?;
                show(f, program)
            }
        }
    }
}

impl Finding {
    /// Returns whether the set needs a change: everything but an overlap.
    pub fn is_defect(&self) -> bool {
        !matches!(self, Self::Overlap { .. })
    }
}

/// Finds out what the rules of a set do to each other. Rules are tried in order of benefit, equal
/// ones in the order of `rules`. Deterministic; a rule takes some tens of milliseconds.
pub fn analyse(
    rules: &[CompiledRule],
    context: &Arc<Context>,
    natives: &Natives,
    seed: u64,
) -> Vec<Finding> {
    let mut ordered: Vec<&CompiledRule> = rules.iter().collect();
    ordered.sort_by_key(|rule| std::cmp::Reverse(rule.benefit()));
    let plan = SharedPlan::new(ordered.iter().map(|rule| rule.plan()));
    let effort =
        Effort { instances: INSTANCES, attempts: ATTEMPTS, covering: 0, seed, ..Effort::default() };
    let mut known = Known::default();
    for number in 0..ordered.len() {
        let mut sampler = Sampler::new(ordered[number], natives, &effort);
        let mut seen = Seen::default();
        while seen.instances < INSTANCES
            && let Some(twins) = sampler.twins(context)
        {
            let trial = Trial { rules: &ordered, plan: &plan, number };
            trial.run(twins, &mut seen, &mut known);
        }
        seen.conclude(number, &ordered, &mut known);
    }
    known.findings
}

/// What was found so far, each thing once.
#[derive(Default)]
struct Known {
    findings: Vec<Finding>,
    overlaps: BTreeSet<(usize, usize)>,
    loops: BTreeSet<Vec<usize>>,
}

/// What the instances of one rule have in common.
#[derive(Default)]
struct Seen {
    instances: usize,
    /// The other rules that matched at the root of every instance.
    everywhere: Option<BTreeSet<usize>>,
    /// Those of them that made the same.
    alike: Option<BTreeSet<usize>>,
}

impl Seen {
    fn add(&mut self, matching: BTreeSet<usize>, alike: BTreeSet<usize>) {
        let meet = |known: &mut Option<BTreeSet<usize>>, now: BTreeSet<usize>| {
            *known = Some(known.take().map_or(now.clone(), |known| &known & &now));
        };
        self.instances += 1;
        meet(&mut self.everywhere, matching);
        meet(&mut self.alike, alike);
    }

    fn conclude(self, number: usize, rules: &[&CompiledRule], known: &mut Known) {
        if self.instances < ENOUGH {
            return;
        }
        let name = |number: usize| rules[number].rule().name().to_owned();
        let (rule, instances) = (name(number), self.instances);
        let alike = self.alike.unwrap_or_default();
        if let Some(&by) = alike.first() {
            known.findings.push(Finding::Subsumed { rule, by: name(by), instances });
        } else if let Some(&by) =
            self.everywhere.unwrap_or_default().first().filter(|b| **b < number)
        {
            known.findings.push(Finding::Shadowed { rule, by: name(by), instances });
        }
    }
}
