//! The shared plan of a rule set, for the drivers.

use tangram_ir::{Module, Op};
use tangram_rewrite::Discriminator;

use super::CompiledRule;
use crate::plan::SharedPlan;

/// Tells the drivers which rules of a set may match at an operation.
#[derive(Clone, Debug)]
pub struct RuleDiscriminator {
    names: Vec<String>,
    plan: SharedPlan,
}

impl RuleDiscriminator {
    /// Merges the plans of rules.
    pub fn new<'r>(rules: impl IntoIterator<Item = &'r CompiledRule>) -> Self {
        let rules: Vec<&CompiledRule> = rules.into_iter().collect();
        Self {
            names: rules.iter().map(|rule| rule.rule().name().to_owned()).collect(),
            plan: SharedPlan::new(rules.iter().map(|rule| rule.plan())),
        }
    }

    /// Returns the merged plan; rules are numbered in the order in which they were given.
    pub fn plan(&self) -> &SharedPlan {
        &self.plan
    }
}

impl Discriminator for RuleDiscriminator {
    fn patterns(&self) -> &[String] {
        &self.names
    }

    fn admit(&self, module: &Module, op: Op, admitted: &mut Vec<u64>) {
        self.plan.admit(module, op, admitted);
    }
}
