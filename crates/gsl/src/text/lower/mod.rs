//! Resolves the names of a written rule and builds its abstract syntax.

mod expression;
mod pattern;

use rustc_hash::FxHashMap;

use super::syntax::{Choice, Name, RuleItem, Statement, StatementKind};
use crate::ast::{ExprId, OpChoice, OpId, PatId, PatternKind, Real, Rule, RuleBuilder, SymId};
use crate::check::suggest;
use crate::diagnostic::{Diagnostic, Span};

/// Where the parts of a rule stand in its text.
#[derive(Clone, Debug, Default)]
pub struct RuleSpans {
    /// The whole rule.
    pub rule: Span,
    /// Its name.
    pub name: Span,
    pub(crate) patterns: FxHashMap<PatId, Span>,
    pub(crate) exprs: FxHashMap<ExprId, Span>,
    pub(crate) ops: FxHashMap<OpId, Span>,
    pub(crate) fields: FxHashMap<(PatId, String), Span>,
}

impl RuleSpans {
    /// Returns where a pattern stands, or the rule's name.
    pub fn pattern(&self, id: PatId) -> Span {
        self.patterns.get(&id).copied().unwrap_or(self.name)
    }

    /// Returns where an expression first stands, or the rule's name.
    pub fn expr(&self, id: ExprId) -> Span {
        self.exprs.get(&id).copied().unwrap_or(self.name)
    }

    /// Returns where an operator stands, or the rule's name.
    pub fn op(&self, id: OpId) -> Span {
        self.ops.get(&id).copied().unwrap_or(self.name)
    }

    /// Returns where an attribute of a pattern stands, or the pattern.
    pub fn field(&self, id: PatId, name: &str) -> Span {
        self.fields.get(&(id, name.to_owned())).copied().unwrap_or_else(|| self.pattern(id))
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Binding {
    Pattern(PatId),
    Expr(ExprId),
    Op(OpId),
    Symbol(SymId),
}

impl Binding {
    fn describe(self) -> &'static str {
        match self {
            Self::Pattern(_) => "a pattern",
            Self::Expr(_) => "an attribute expression",
            Self::Op(_) => "an operator",
            Self::Symbol(_) => "an index symbol",
        }
    }
}

/// An error that has been reported.
struct Stop;

type Lowered<T> = Result<T, Stop>;

struct Lower<'d> {
    builder: RuleBuilder,
    spans: RuleSpans,
    scope: FxHashMap<String, (Binding, Span)>,
    found: &'d mut Vec<Diagnostic>,
}

/// Builds the abstract syntax of a rule; none if a name or statement is wrong.
pub(crate) fn lower_rule(
    item: &RuleItem,
    found: &mut Vec<Diagnostic>,
) -> Option<(Rule, RuleSpans)> {
    let before = found.len();
    let mut builder = RuleBuilder::new(&item.name.text);
    builder.doc(item.doc.join("\n"));
    item.labels.iter().for_each(|label| _ = builder.label(&label.text));
    item.benefit.into_iter().for_each(|benefit| _ = builder.benefit(benefit));
    builder.priority(item.priority.unwrap_or(0));
    if item.alias {
        builder.may_alias();
    }
    item.exactness.into_iter().for_each(|exactness| _ = builder.exactness(exactness));
    item.tolerance.into_iter().for_each(|number| _ = builder.tolerance(Real::new(number)));
    let spans = RuleSpans { rule: item.span, name: item.name.span, ..RuleSpans::default() };
    let mut lower = Lower { builder, spans, scope: FxHashMap::default(), found };
    for statement in &item.statements {
        // An error in one statement still binds its name, so that it is reported once.
        if lower.statement(statement).is_err() {
            lower.bind_anyway(statement);
        }
    }
    let Lower { builder, spans, .. } = lower;
    if found.len() > before {
        return None;
    }
    match builder.finish() {
        Ok(rule) => Some((rule, spans)),
        Err(error) => {
            found.push(Diagnostic::error("malformed-rule", item.name.span, error.to_string()));
            None
        }
    }
}

impl Lower<'_> {
    fn statement(&mut self, statement: &Statement) -> Lowered<()> {
        match &statement.kind {
            StatementKind::Let(name, pat) => {
                let id = self.pattern(pat)?;
                self.name_pattern(id, name)?;
            }
            StatementKind::Attr(name, exp) => {
                let kind = self.expression_kind(exp)?;
                let id = self.builder.named_expr(kind, &name.text);
                self.spans.exprs.insert(id, exp.span);
                self.bind(name, Binding::Expr(id))?;
            }
            StatementKind::Op(name, choice) => {
                let id = self.builder.op_choice(op_choice(choice), Some(name.text.clone()));
                self.spans.ops.insert(id, statement.span);
                self.bind(name, Binding::Op(id))?;
            }
            StatementKind::Index(names) => {
                for name in names {
                    let id = self.builder.named_symbol(&name.text);
                    self.bind(name, Binding::Symbol(id))?;
                }
            }
            StatementKind::Match(pats) => {
                for pat in pats {
                    let id = self.pattern(pat)?;
                    self.builder.source(id);
                }
            }
            StatementKind::Where(exps) => {
                for exp in exps {
                    let id = self.expression(exp)?;
                    self.builder.condition(id);
                }
            }
            StatementKind::Rewrite(pats) => {
                for pat in pats {
                    let id = self.pattern(pat)?;
                    self.builder.target(id);
                }
            }
        }
        Ok(())
    }

    /// Binds the name of a statement that failed to something harmless.
    fn bind_anyway(&mut self, statement: &Statement) {
        if let StatementKind::Let(name, _) | StatementKind::Attr(name, _) = &statement.kind
            && !self.scope.contains_key(&name.text)
        {
            let binding = match statement.kind {
                StatementKind::Let(..) => Binding::Pattern(self.builder.wildcard()),
                _ => Binding::Expr(self.builder.int(0)),
            };
            self.scope.insert(name.text.clone(), (binding, name.span));
        }
    }

    fn bind(&mut self, name: &Name, binding: Binding) -> Lowered<()> {
        if let Some((_, first)) = self.scope.get(&name.text) {
            let message = format!("`{}` is defined twice", name.text);
            let error = Diagnostic::error("duplicate-name", name.span, message)
                .label(*first, "first defined here")
                .hint("give one of the two another name");
            return Err(self.report(error));
        }
        self.scope.insert(name.text.clone(), (binding, name.span));
        Ok(())
    }

    /// Names a pattern; a second name for the same vertex becomes another name for it in the text.
    fn name_pattern(&mut self, id: PatId, name: &Name) -> Lowered<()> {
        self.bind(name, Binding::Pattern(id))?;
        self.builder.pattern_mut(id).name.get_or_insert_with(|| name.text.clone());
        Ok(())
    }

    fn resolve(&mut self, name: &Name) -> Lowered<Binding> {
        if let Some((binding, _)) = self.scope.get(&name.text) {
            return Ok(*binding);
        }
        let message = format!("`{}` is not defined", name.text);
        let near =
            suggest::nearest(&name.text, self.found.len(), self.scope.keys().map(String::as_str));
        let hint = near.map_or_else(
            || "define it with `let`, `attr`, `op` or `index` above this line".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        Err(self.report(Diagnostic::error("unknown-name", name.span, message).hint(hint)))
    }

    fn resolve_pattern(&mut self, name: &Name) -> Lowered<PatId> {
        match self.resolve(name)? {
            Binding::Pattern(id) => Ok(id),
            other => Err(self.mismatch(name, other, "a pattern")),
        }
    }

    fn mismatch(&mut self, name: &Name, found: Binding, expected: &str) -> Stop {
        let message = format!("expected {expected}, `{}` is {}", name.text, found.describe());
        self.report(Diagnostic::error("wrong-name", name.span, message))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Stop {
        self.found.push(diagnostic);
        Stop
    }

    /// Runs `body` with a symbol in scope: the declared one of that name, or a new one.
    fn with_symbol<T>(
        &mut self,
        name: &Name,
        body: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<(SymId, T)> {
        if let Some((Binding::Symbol(id), _)) = self.scope.get(&name.text).copied() {
            return Ok((id, body(self)?));
        }
        let id = self.builder.named_symbol(&name.text);
        self.bind(name, Binding::Symbol(id))?;
        let result = body(self);
        self.scope.remove(&name.text);
        Ok((id, result?))
    }

    /// Orders the arms of a case as the options of its subject.
    fn arms<T: Clone>(&mut self, subject: &Name, arms: &[(Name, T)]) -> Lowered<(PatId, Vec<T>)> {
        let alternative = self.resolve_pattern(subject)?;
        let kind = self.builder.pattern_data(alternative).map(|p| p.kind.clone());
        let Some(PatternKind::Alt(options)) = kind else {
            let message = format!("`{}` is not an alternative", subject.text);
            let error = Diagnostic::error("wrong-name", subject.span, message)
                .hint("a case is made on a pattern of the form `let y = a | b;`");
            return Err(self.report(error));
        };
        let mut places: FxHashMap<PatId, usize> = FxHashMap::default();
        for (i, option) in options.iter().enumerate() {
            places.entry(*option).or_insert(i);
        }
        let mut ordered: Vec<Option<T>> = vec![None; options.len()];
        for (name, arm) in arms {
            let option = self.resolve_pattern(name)?;
            match places.get(&option).and_then(|i| ordered.get_mut(*i)) {
                Some(slot) if slot.is_none() => *slot = Some(arm.clone()),
                _ => {
                    let message = format!("`{}` is no further option here", name.text);
                    let error = Diagnostic::error("case-arms", name.span, message)
                        .hint("write each option of the alternative once, by its name");
                    return Err(self.report(error));
                }
            }
        }
        let complete: Option<Vec<T>> = ordered.into_iter().collect();
        match complete {
            Some(arms) => Ok((alternative, arms)),
            None => {
                let message = format!("not every option of `{}` has an arm", subject.text);
                Err(self.report(Diagnostic::error("case-arms", subject.span, message)))
            }
        }
    }
}

fn op_choice(choice: &Choice) -> OpChoice {
    match choice {
        Choice::Trait(name) => OpChoice::Trait(name.text.clone()),
        Choice::OneOf(names) => OpChoice::OneOf(names.iter().map(|n| n.text.clone()).collect()),
    }
}
