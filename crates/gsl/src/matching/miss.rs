//! Why a rule did not match.

use tangram_ir::{Module, Op};

use crate::ast::PatId;
use crate::plan::MatchPlan;

/// The pattern that failed after most of a rule was matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The pattern.
    pub pattern: PatId,
    /// The operation that was tried, if there is one.
    pub at: Option<Op>,
    /// What the rule asks for.
    pub expected: String,
    /// What is there.
    pub found: String,
    /// How many things were bound before.
    pub progress: usize,
}

impl Miss {
    /// Writes it as one line.
    pub fn describe(&self, plan: &MatchPlan, module: &Module) -> String {
        let pattern = plan.rule().pattern(self.pattern);
        let name = pattern.name.as_deref().map(|name| format!("`{name}`"));
        let name = name.unwrap_or_else(|| format!("pattern {}", self.pattern.index()));
        let at = match self.at.filter(|op| module.is_live(*op)) {
            Some(op) => format!(" at {} ({op:?})", module.name_text(op)),
            None => String::new(),
        };
        format!("{name}{at}: expected {}, found {}", self.expected, self.found)
    }
}
