//! A finished rule.

use serde::{Deserialize, Serialize};

use super::validate::{SyntaxError, finish};
use super::{Exactness, Expr, ExprId, OpId, OpPattern, PatId, Pattern, Real, SymId};

/// A substitution rule: source outputs are replaced by target outputs where the conditions hold.
///
/// Two rules are equal when they differ at most in the order of their arenas.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "RuleData", into = "RuleData")]
pub struct Rule {
    data: RuleData,
}

/// The parts of a rule before they are known to fit together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleData {
    pub name: String,
    #[serde(default)]
    pub doc: String,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default)]
    pub benefit: Option<u32>,
    #[serde(default)]
    pub priority: i32,
    #[serde(default)]
    pub may_alias: bool,
    #[serde(default)]
    pub exactness: Option<Exactness>,
    #[serde(default)]
    pub tolerance: Option<Real>,
    pub patterns: Vec<Pattern>,
    #[serde(default)]
    pub exprs: Vec<Expr>,
    #[serde(default)]
    pub ops: Vec<OpPattern>,
    #[serde(default)]
    pub symbols: Vec<Symbol>,
    pub sources: Vec<PatId>,
    pub targets: Vec<PatId>,
    #[serde(default)]
    pub conditions: Vec<ExprId>,
}

/// An index symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name in the text form.
    pub name: String,
}

impl TryFrom<RuleData> for Rule {
    type Error = SyntaxError;

    fn try_from(data: RuleData) -> Result<Self, SyntaxError> {
        Ok(Self { data: finish(data)? })
    }
}

impl From<Rule> for RuleData {
    fn from(rule: Rule) -> Self {
        rule.data
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        super::canonical::canonical(&self.data) == super::canonical::canonical(&other.data)
    }
}

impl Eq for Rule {}

impl Rule {
    /// Returns its kebab-case name.
    pub fn name(&self) -> &str {
        &self.data.name
    }

    /// Returns its doc comment, lines joined by `\n`.
    pub fn doc(&self) -> &str {
        &self.data.doc
    }

    /// Returns the labels by which it is switched on and off.
    pub fn labels(&self) -> &[String] {
        &self.data.labels
    }

    /// Returns its declared benefit.
    pub fn benefit(&self) -> Option<u32> {
        self.data.benefit
    }

    /// Returns its priority: of two rules that match, the higher is tried first; 0 by default.
    pub fn priority(&self) -> i32 {
        self.data.priority
    }

    /// Returns whether any two of its patterns may match one value.
    pub fn may_alias(&self) -> bool {
        self.data.may_alias
    }

    /// Returns what it promises of its results, if it says so; [`Exactness::Reassociates`] is
    /// meant where it does not.
    pub fn exactness(&self) -> Option<Exactness> {
        self.data.exactness
    }

    /// Returns how far its results may be apart beside rounding, relative to themselves and to the
    /// greatest number on the way; 0 where the rule states nothing.
    pub fn tolerance(&self) -> f64 {
        self.data.tolerance.map_or(0.0, Real::get)
    }

    /// Returns the pattern outputs that are matched.
    pub fn sources(&self) -> &[PatId] {
        &self.data.sources
    }

    /// Returns what replaces them.
    pub fn targets(&self) -> &[PatId] {
        &self.data.targets
    }

    /// Returns its `where` conditions, which all must hold.
    pub fn conditions(&self) -> &[ExprId] {
        &self.data.conditions
    }

    /// Returns a pattern.
    pub fn pattern(&self, id: PatId) -> &Pattern {
        &self.data.patterns[id.index()]
    }

    /// Returns an attribute expression.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.data.exprs[id.index()]
    }

    /// Returns an operator.
    pub fn op(&self, id: OpId) -> &OpPattern {
        &self.data.ops[id.index()]
    }

    /// Returns a symbol.
    pub fn symbol(&self, id: SymId) -> &Symbol {
        &self.data.symbols[id.index()]
    }

    /// Lists its patterns in order of definition.
    pub fn patterns(&self) -> impl DoubleEndedIterator<Item = (PatId, &Pattern)> {
        self.data.patterns.iter().enumerate().map(|(i, pattern)| (PatId::new(i), pattern))
    }

    /// Lists its attribute expressions.
    pub fn exprs(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        self.data.exprs.iter().enumerate().map(|(i, expr)| (ExprId::new(i), expr))
    }

    /// Lists its operators.
    pub fn ops(&self) -> impl Iterator<Item = (OpId, &OpPattern)> {
        self.data.ops.iter().enumerate().map(|(i, op)| (OpId::new(i), op))
    }

    /// Lists its symbols.
    pub fn symbols(&self) -> impl Iterator<Item = (SymId, &Symbol)> {
        self.data.symbols.iter().enumerate().map(|(i, symbol)| (SymId::new(i), symbol))
    }

    pub(crate) fn data(&self) -> &RuleData {
        &self.data
    }

    /// Writes it as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.data).expect("rules have string keys only")
    }

    /// Reads what [`Rule::to_json`] wrote.
    ///
    /// # Errors
    /// Malformed JSON, handles out of range, cycles, bad names, or a rule that is too deep.
    pub fn from_json(text: &str) -> Result<Self, SyntaxError> {
        let data: RuleData =
            serde_json::from_str(text).map_err(|e| SyntaxError::Json(e.to_string()))?;
        Self::try_from(data)
    }
}
