//! Building rules node by node: what the text front end and the Python objects call.

use rustc_hash::FxHashMap;

use super::rule::{RuleData, Symbol};
use super::validate::SyntaxError;
use super::{BinaryOp, Exactness, Expr, ExprId, ExprKind, Field, OpChoice, OpId, OpPattern};
use super::{PatId, Pattern, PatternKind, Real, Rule, SymId, Template, TensorFields};

/// A rule under construction.
///
/// Handles come from the same builder; [`RuleBuilder::finish`] refuses foreign ones that are out of
/// range, and everything else that is not a rule.
#[derive(Debug, Default)]
pub struct RuleBuilder {
    data: RuleData,
    consed: FxHashMap<ExprKind, ExprId>,
    /// The operators that are no choice and have no name of their own.
    plain_ops: FxHashMap<String, OpId>,
}

/// The parts of a variadic pattern beside its field.
#[derive(Clone, Debug, Default)]
pub struct VariadicSpec {
    /// What is instantiated anew for each branch.
    pub templates: Vec<Template>,
    /// Bound to the index of the branch.
    pub index: Option<SymId>,
    /// The number of branches.
    pub length: Option<ExprId>,
    /// The least number of branches.
    pub min_len: Option<u32>,
}

impl RuleBuilder {
    /// Starts a rule named in kebab-case.
    pub fn new(name: impl Into<String>) -> Self {
        let data = RuleData { name: name.into(), ..RuleData::default() };
        Self { data, ..Self::default() }
    }

    /// Sets the doc comment.
    pub fn doc(&mut self, text: impl Into<String>) -> &mut Self {
        self.data.doc = text.into();
        self
    }

    /// Adds a label.
    pub fn label(&mut self, label: impl Into<String>) -> &mut Self {
        self.data.labels.push(label.into());
        self
    }

    /// Sets the benefit.
    pub fn benefit(&mut self, benefit: u32) -> &mut Self {
        self.data.benefit = Some(benefit);
        self
    }

    /// Sets the priority.
    pub fn priority(&mut self, priority: i32) -> &mut Self {
        self.data.priority = priority;
        self
    }

    /// Lets any two patterns of the rule match one value.
    pub fn may_alias(&mut self) -> &mut Self {
        self.data.may_alias = true;
        self
    }

    /// States what the rule promises of its results.
    pub fn exactness(&mut self, exactness: Exactness) -> &mut Self {
        self.data.exactness = Some(exactness);
        self
    }

    /// States how far results may be apart beside rounding.
    pub fn tolerance(&mut self, tolerance: Real) -> &mut Self {
        self.data.tolerance = Some(tolerance);
        self
    }

    /// Adds an output to match.
    pub fn source(&mut self, pattern: PatId) -> &mut Self {
        self.data.sources.push(pattern);
        self
    }

    /// Adds an output that replaces the source output of the same number.
    pub fn target(&mut self, pattern: PatId) -> &mut Self {
        self.data.targets.push(pattern);
        self
    }

    /// Adds a condition.
    pub fn condition(&mut self, expr: ExprId) -> &mut Self {
        self.data.conditions.push(expr);
        self
    }

    /// Adds a pattern of any form.
    pub fn pattern(&mut self, kind: PatternKind) -> PatId {
        self.data.patterns.push(Pattern { kind, name: None, only: false, may_alias: false });
        PatId::new(self.data.patterns.len() - 1)
    }

    /// Changes a pattern: its name, its flags.
    ///
    /// # Panics
    /// When `id` is of another builder and out of range here.
    pub fn pattern_mut(&mut self, id: PatId) -> &mut Pattern {
        &mut self.data.patterns[id.index()]
    }

    /// Returns a pattern, if it is one of this builder.
    pub fn pattern_data(&self, id: PatId) -> Option<&Pattern> {
        self.data.patterns.get(id.index())
    }

    /// Returns an expression, if it is one of this builder.
    pub fn expr_data(&self, id: ExprId) -> Option<&Expr> {
        self.data.exprs.get(id.index())
    }

    /// Adds a wildcard.
    pub fn wildcard(&mut self) -> PatId {
        self.pattern(PatternKind::Wildcard)
    }

    /// Adds a constant of any value, or of the given one.
    pub fn constant(&mut self, value: Option<ExprId>) -> PatId {
        let tensor = TensorFields::default();
        self.pattern(PatternKind::Const { value, splat: false, tensor })
    }

    /// Adds a variable.
    pub fn variable(&mut self, fields: TensorFields) -> PatId {
        self.pattern(PatternKind::Variable(fields))
    }

    /// Adds a call.
    pub fn call(&mut self, op: OpId, args: Vec<PatId>, attrs: Vec<(&str, ExprId)>) -> PatId {
        let field = |(name, value): (&str, ExprId)| Field { name: name.to_owned(), value };
        self.pattern(PatternKind::Call {
            op,
            args,
            attrs: attrs.into_iter().map(field).collect(),
            rest: None,
            commutative: false,
            associative: false,
        })
    }

    /// Adds a variadic pattern.
    pub fn variadic(&mut self, field: PatId, spec: VariadicSpec) -> PatId {
        let VariadicSpec { templates, index, length, min_len } = spec;
        self.pattern(PatternKind::Variadic { field, templates, index, length, min_len })
    }

    /// Adds an instance access.
    pub fn inst(&mut self, variadic: PatId, template: PatId, index: ExprId) -> PatId {
        self.pattern(PatternKind::Inst { variadic, template, index })
    }

    /// Returns the operator `name`; the same each time.
    pub fn op(&mut self, name: &str) -> OpId {
        match self.plain_ops.get(name) {
            Some(id) => *id,
            None => self.op_choice(OpChoice::Name(name.to_owned()), None),
        }
    }

    /// Adds a choice of operators; calls that share it match the same operator.
    pub fn op_choice(&mut self, choice: OpChoice, name: Option<String>) -> OpId {
        let id = OpId::new(self.data.ops.len());
        if let (OpChoice::Name(plain), None) = (&choice, &name) {
            self.plain_ops.entry(plain.clone()).or_insert(id);
        }
        self.data.ops.push(OpPattern { choice, name });
        id
    }

    /// Adds a symbol that shares its name with no other.
    pub fn symbol(&mut self) -> SymId {
        let short = ["i", "j", "k", "l", "m", "n"].map(str::to_owned);
        let long = (0..).map(|i| format!("i{i}"));
        let taken = |name: &str| self.data.symbols.iter().any(|symbol| symbol.name == name);
        let name = short.into_iter().chain(long).find(|name| !taken(name));
        self.named_symbol(name.expect("the candidates never end"))
    }

    /// Adds a symbol of this name, which no other symbol in an enclosing scope may have.
    pub fn named_symbol(&mut self, name: impl Into<String>) -> SymId {
        self.data.symbols.push(Symbol { name: name.into() });
        SymId::new(self.data.symbols.len() - 1)
    }

    /// Returns the expression of this form; the same each time.
    pub fn expr(&mut self, kind: ExprKind) -> ExprId {
        if let Some(&id) = self.consed.get(&kind) {
            return id;
        }
        let id = ExprId::new(self.data.exprs.len());
        self.consed.insert(kind.clone(), id);
        self.data.exprs.push(Expr { kind, name: None });
        id
    }

    /// Adds an expression under a name.
    pub fn named_expr(&mut self, kind: ExprKind, name: impl Into<String>) -> ExprId {
        self.data.exprs.push(Expr { kind, name: Some(name.into()) });
        ExprId::new(self.data.exprs.len() - 1)
    }

    /// Returns an integer.
    pub fn int(&mut self, value: i64) -> ExprId {
        self.expr(ExprKind::Int(value))
    }

    /// Returns a float.
    pub fn float(&mut self, value: f64) -> ExprId {
        self.expr(ExprKind::Float(Real::new(value)))
    }

    /// Returns a string.
    pub fn str(&mut self, value: &str) -> ExprId {
        self.expr(ExprKind::Str(value.to_owned()))
    }

    /// Returns an attribute access.
    pub fn access(&mut self, pattern: PatId, attribute: &str) -> ExprId {
        self.expr(ExprKind::Access { pattern, attribute: attribute.to_owned() })
    }

    /// Returns a binary operation.
    pub fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.expr(ExprKind::Binary { op, lhs, rhs })
    }

    pub(crate) fn data(&self) -> &RuleData {
        &self.data
    }

    /// Finishes the rule: checks that its parts fit together and names what it shares.
    ///
    /// # Errors
    /// Handles out of range, cycles, names that cannot be written, too great a depth.
    pub fn finish(self) -> Result<Rule, SyntaxError> {
        Rule::try_from(self.data)
    }
}
