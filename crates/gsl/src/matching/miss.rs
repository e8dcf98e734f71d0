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

/// The name of what `op` makes, in brackets, where it has one.
fn made_by(module: &Module, op: Op) -> String {
    let named = module.results(op).find_map(|value| module.value_name(value));
    named.map(|name| format!(" ({})", module.context().text(name))).unwrap_or_default()
}

impl Miss {
    /// Writes it as one line.
    pub fn describe(&self, plan: &MatchPlan, module: &Module) -> String {
        let pattern = plan.rule().pattern(self.pattern);
        let name = pattern.name.as_deref().map(|name| format!("`{name}`"));
        let name = name.unwrap_or_else(|| format!("pattern {}", self.pattern.index()));
        let at = match self.at.filter(|op| module.is_live(*op)) {
            Some(op) => format!(" at {}{}", module.name_text(op), made_by(module, op)),
            None => String::new(),
        };
        format!("{name}{at}: expected {}, found {}", self.expected, self.found)
    }
}
