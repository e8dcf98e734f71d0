//! Writes abstract syntax as a syntax tree: the way back from [`super::lower`].

mod expression;
mod pattern;

use std::collections::{BTreeSet, HashSet};

use super::syntax::{Choice, Exp, ExpSyntax, Modifier, Name, Pat, PatSyntax};
use super::syntax::{RuleItem, Statement, StatementKind};
use crate::ast::{ExprId, OpChoice, OpId, PatId, PatternKind, Reference, Rule, SymId};
use crate::diagnostic::Span;

/// Writes a rule as a tree. Recursion is bounded by the depth of a finished rule.
pub(crate) fn raise(rule: &Rule) -> RuleItem {
    let mut raise = Raise::new(rule);
    rule.sources().iter().for_each(|id| raise.define(Node::Pattern(*id)));
    raise.outputs(rule.sources(), StatementKind::Match);
    for &condition in rule.conditions() {
        raise.define(Node::Expr(condition));
        let exp = raise.expression(condition);
        raise.statement(StatementKind::Where(vec![exp]));
    }
    rule.targets().iter().for_each(|id| raise.define(Node::Pattern(*id)));
    for (id, _) in rule.patterns().filter(|(_, p)| p.name.is_some()) {
        raise.define(Node::Pattern(id));
    }
    for (id, _) in rule.exprs().filter(|(_, e)| e.name.is_some()) {
        raise.define(Node::Expr(id));
    }
    raise.outputs(rule.targets(), StatementKind::Rewrite);
    raise.declare_symbols();
    let doc = if rule.doc().is_empty() {
        Vec::new()
    } else {
        rule.doc().split('\n').map(str::to_owned).collect()
    };
    RuleItem {
        doc,
        name: name(rule.name()),
        labels: rule.labels().iter().map(|label| name(label)).collect(),
        benefit: rule.benefit(),
        priority: Some(rule.priority()).filter(|priority| *priority != 0),
        alias: rule.may_alias(),
        exactness: rule.exactness(),
        tolerance: Some(rule.tolerance()).filter(|number| *number > 0.0),
        statements: raise.statements,
        ..RuleItem::default()
    }
}

fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: Span::default() }
}

fn pat(kind: PatSyntax) -> Pat {
    Pat::new(kind, Span::default())
}

fn exp(kind: ExpSyntax) -> Exp {
    Exp::new(kind, Span::default())
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Pattern(PatId),
    Expr(ExprId),
    Op(OpId),
}

struct Raise<'r> {
    rule: &'r Rule,
    done: HashSet<Node>,
    /// Symbols whose binder encloses what is being written.
    bound: Vec<SymId>,
    /// Symbols read outside the text of their binder.
    free: BTreeSet<SymId>,
    statements: Vec<Statement>,
}

impl<'r> Raise<'r> {
    fn new(rule: &'r Rule) -> Self {
        // A symbol with two binders is one symbol only if it is declared.
        let patterns = rule.patterns().flat_map(|(_, p)| p.references());
        let exprs = rule.exprs().flat_map(|(_, e)| e.references());
        let mut once = BTreeSet::new();
        let mut free = BTreeSet::new();
        for reference in patterns.chain(exprs) {
            if let Reference::Binder(id) = reference
                && !once.insert(id)
            {
                free.insert(id);
            }
        }
        Self { rule, done: HashSet::new(), bound: Vec::new(), free, statements: Vec::new() }
    }

    fn statement(&mut self, kind: StatementKind) {
        self.statements.push(Statement { span: Span::default(), kind });
    }

    fn outputs(&mut self, ids: &[PatId], kind: impl FnOnce(Vec<Pat>) -> StatementKind) {
        if !ids.is_empty() {
            let pats = ids.iter().map(|id| self.pattern(*id)).collect();
            self.statement(kind(pats));
        }
    }

    /// Writes the named nodes that `node` needs, each once, before it.
    fn define(&mut self, node: Node) {
        if !self.done.insert(node) {
            return;
        }
        let references = match node {
            Node::Pattern(id) => self.rule.pattern(id).references(),
            Node::Expr(id) => self.rule.expr(id).references(),
            Node::Op(_) => Vec::new(),
        };
        for reference in references {
            match reference {
                Reference::Part(id) | Reference::Mention(id) => self.define(Node::Pattern(id)),
                Reference::Expr(id) => self.define(Node::Expr(id)),
                Reference::Op(id) => self.define(Node::Op(id)),
                Reference::Symbol(_) | Reference::Binder(_) => {}
            }
        }
        match node {
            Node::Pattern(id) => {
                if let Some(text) = &self.rule.pattern(id).name {
                    let form = self.pattern_form(id);
                    self.statement(StatementKind::Let(name(text), form));
                }
            }
            Node::Expr(id) => {
                if let Some(text) = &self.rule.expr(id).name {
                    let form = exp(self.expression_form(id));
                    self.statement(StatementKind::Attr(name(text), form));
                }
            }
            Node::Op(id) => self.define_op(id),
        }
    }

    fn define_op(&mut self, id: OpId) {
        let op = self.rule.op(id);
        if let Some(text) = &op.name {
            let choice = match &op.choice {
                OpChoice::Name(op) => Choice::OneOf(vec![name(op)]),
                OpChoice::Trait(op) => Choice::Trait(name(op)),
                OpChoice::OneOf(ops) => Choice::OneOf(ops.iter().map(|op| name(op)).collect()),
            };
            self.statement(StatementKind::Op(name(text), choice));
        }
    }

    fn declare_symbols(&mut self) {
        let names =
            self.free.iter().map(|id| name(&self.rule.symbol(*id).name)).collect::<Vec<_>>();
        if !names.is_empty() {
            let kind = StatementKind::Index(names);
            self.statements.insert(0, Statement { span: Span::default(), kind });
        }
    }

    fn pattern(&mut self, id: PatId) -> Pat {
        match &self.rule.pattern(id).name {
            Some(text) => pat(PatSyntax::Name(name(text))),
            None => self.pattern_form(id),
        }
    }

    fn patterns(&mut self, ids: &[PatId]) -> Vec<Pat> {
        ids.iter().map(|id| self.pattern(*id)).collect()
    }

    /// Returns the name of a pattern that is looked at; every such pattern has one.
    fn pattern_name(&self, id: PatId) -> Name {
        name(self.rule.pattern(id).name.as_deref().unwrap_or_default())
    }

    fn pattern_form(&mut self, id: PatId) -> Pat {
        let pattern = self.rule.pattern(id);
        let mut modifiers = Vec::new();
        modifiers.extend(pattern.only.then_some(Modifier::Only));
        modifiers.extend(pattern.may_alias.then_some(Modifier::Alias));
        if let PatternKind::Call { commutative, associative, .. } = pattern.kind {
            modifiers.extend(commutative.then_some(Modifier::Commutative));
            modifiers.extend(associative.then_some(Modifier::Associative));
        }
        let form = pat(self.pattern_syntax(&pattern.kind));
        if modifiers.is_empty() { form } else { pat(PatSyntax::Modified(modifiers, form)) }
    }

    fn expression(&mut self, id: ExprId) -> Exp {
        match &self.rule.expr(id).name {
            Some(text) => exp(ExpSyntax::Name(name(text))),
            None => exp(self.expression_form(id)),
        }
    }

    fn expressions(&mut self, ids: &[ExprId]) -> Vec<Exp> {
        ids.iter().map(|id| self.expression(*id)).collect()
    }
}
