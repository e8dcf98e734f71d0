//! What a saturation did, in numbers.

use serde::Serialize;

use crate::proof::Proof;

/// What a saturation did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether the function was changed.
    pub changed: bool,
    /// Why the search ended.
    pub stop: Stop,
    /// Rounds of searching all rules.
    pub rounds: usize,
    /// E-nodes at the end.
    pub nodes: usize,
    /// Classes at the end.
    pub classes: usize,
    /// What the ways of choosing a program reach.
    pub cost: Extraction,
    /// Seconds by phase.
    pub seconds: Seconds,
    /// Every rule, in the order given.
    pub rules: Vec<RuleReport>,
    /// Why the result equals the function, if that was asked for and it changed.
    pub proof: Option<Proof>,
}

/// Why the search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// No rule finds anything new.
    #[default]
    Saturated,
    /// The most rounds were made.
    Rounds,
    /// The most e-nodes were made.
    Nodes,
    /// The e-graph takes the most bytes.
    Memory,
    /// The time is over.
    Time,
    /// Someone asked to stop.
    Cancelled,
}

/// Estimated seconds of one run of the program, by how it was chosen.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Extraction {
    /// The function as it was.
    pub before: f64,
    /// Greedy extraction from the e-graph.
    pub greedy: f64,
    /// After local search.
    pub local: f64,
    /// After exact extraction, or what local search reached if that was left out.
    pub best: f64,
    /// No program in the e-graph costs less, as far as that was shown.
    pub bound: Option<f64>,
}

/// Seconds by phase.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading the function, searching and applying.
    pub search: f64,
    /// Choosing a program.
    pub extract: f64,
}

/// What one rule did.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RuleReport {
    /// The rule.
    pub name: String,
    /// Matches that were found, each once.
    pub matches: usize,
    /// Matches whose target was built.
    pub applied: usize,
    /// Matches whose target was refused, for instance because it would be ill-typed.
    pub refused: usize,
    /// Classes that were united by it.
    pub unions: usize,
    /// Seconds spent in it.
    pub seconds: f64,
}
