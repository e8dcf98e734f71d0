//! Whether what a rule refers to has a value where it is referred to.

use rustc_hash::FxHashSet;

use super::{Checker, surely_matched};
use crate::ast::{ExprId, ExprKind, PatId, PatternKind, Reference, SymId};
use crate::diagnostic::Span;

/// A node from which references start.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Pattern(PatId),
    Expr(ExprId),
}

impl Checker<'_> {
    pub(super) fn references(&mut self) {
        self.matched_in_source();
        self.matched_in_target();
        self.templates_from_outside();
        self.symbols_in_scope();
    }

    fn node_references(&self, node: Node) -> Vec<Reference> {
        match node {
            Node::Pattern(id) => self.rule.pattern(id).references(),
            Node::Expr(id) => self.rule.expr(id).references(),
        }
    }

    /// Expressions of the source and conditions look only at what the source matches.
    fn matched_in_source(&mut self) {
        let mut seen = FxHashSet::default();
        let sources = self.rule.sources().iter().map(|id| Node::Pattern(*id));
        let conditions = self.rule.conditions().iter().map(|id| Node::Expr(*id));
        let mut stack: Vec<_> = sources.chain(conditions).collect();
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            for reference in self.node_references(node) {
                match reference {
                    Reference::Part(id) => stack.push(Node::Pattern(id)),
                    Reference::Expr(id) => stack.push(Node::Expr(id)),
                    Reference::Mention(id) => {
                        if self.is_instance(id) {
                            stack.push(Node::Pattern(id));
                        } else if !self.source.contains(&id) && !self.enumerates(node) {
                            self.not_matched(id, node);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Templates have their own check.
    fn enumerates(&self, node: Node) -> bool {
        match node {
            Node::Pattern(id) => {
                matches!(self.rule.pattern(id).kind, PatternKind::Variadic { .. })
            }
            Node::Expr(_) => false,
        }
    }

    fn is_instance(&self, id: PatId) -> bool {
        matches!(self.rule.pattern(id).kind, PatternKind::Inst { .. })
    }

    fn not_matched(&mut self, id: PatId, at: Node) {
        let span = self.span_of(at);
        let message = format!("{} is not matched by the source", self.describe(id));
        let hint = "make it part of what `match` lists";
        self.error("not-matched", span, message, hint);
    }

    fn span_of(&self, node: Node) -> Span {
        match node {
            Node::Pattern(id) => self.spans.pattern(id),
            Node::Expr(id) => self.spans.expr(id),
        }
    }

    /// The target uses what is surely matched, and in an arm of a case what its option matched.
    fn matched_in_target(&mut self) {
        let mut stack: Vec<(Node, FxHashSet<PatId>)> = Vec::new();
        for &id in self.rule.targets() {
            stack.push((Node::Pattern(id), self.sure.clone()));
        }
        let mut seen = FxHashSet::default();
        while let Some((node, known)) = stack.pop() {
            if !seen.insert((node, known.len())) {
                continue;
            }
            if let Node::Pattern(id) = node
                && self.source.contains(&id)
            {
                if !known.contains(&id) {
                    self.maybe_unmatched(id);
                }
                continue;
            }
            let (subject, arms) = self.case_arms(node);
            for reference in self.node_references(node) {
                let next = match reference {
                    Reference::Part(id) => Node::Pattern(id),
                    Reference::Expr(id) => Node::Expr(id),
                    Reference::Mention(id) => {
                        self.target_mention(id, node, &known, &mut stack);
                        continue;
                    }
                    _ => continue,
                };
                let mut known = known.clone();
                let option = arms.iter().position(|arm| *arm == next);
                if let Some(option) = option.and_then(|i| subject.get(i)) {
                    known.extend(surely_matched(self.rule, &[*option]));
                }
                stack.push((next, known));
            }
        }
    }

    fn target_mention(
        &mut self,
        id: PatId,
        node: Node,
        known: &FxHashSet<PatId>,
        stack: &mut Vec<(Node, FxHashSet<PatId>)>,
    ) {
        // Templates and instances of new variadic patterns need not be matched.
        let structural = match node {
            Node::Pattern(at) => matches!(
                self.rule.pattern(at).kind,
                PatternKind::Variadic { .. } | PatternKind::Inst { .. }
            ),
            Node::Expr(_) => false,
        };
        if self.is_instance(id) {
            stack.push((Node::Pattern(id), known.clone()));
        } else if structural || known.contains(&id) {
        } else if self.source.contains(&id) {
            self.maybe_unmatched(id);
        } else {
            self.not_matched(id, node);
        }
    }

    fn maybe_unmatched(&mut self, id: PatId) {
        let message = format!("{} has no value in every match", self.describe(id));
        let hint = "use it in the arm of a `case` on its alternative";
        self.error("maybe-unmatched", self.spans.pattern(id), message, hint);
    }

    /// Returns the options and the arms of a case.
    fn case_arms(&self, node: Node) -> (Vec<PatId>, Vec<Node>) {
        let (subject, arms): (_, Vec<Node>) = match node {
            Node::Pattern(id) => match &self.rule.pattern(id).kind {
                PatternKind::Case { subject, arms } => {
                    (*subject, arms.iter().map(|id| Node::Pattern(*id)).collect())
                }
                _ => return Default::default(),
            },
            Node::Expr(id) => match &self.rule.expr(id).kind {
                ExprKind::Case { subject, arms } => {
                    (*subject, arms.iter().map(|id| Node::Expr(*id)).collect())
                }
                _ => return Default::default(),
            },
        };
        match &self.rule.pattern(subject).kind {
            PatternKind::Alt(options) => (options.clone(), arms),
            _ => Default::default(),
        }
    }

    /// From outside its variadic a template has many values: one is chosen by an instance.
    fn templates_from_outside(&mut self) {
        let mut templates = FxHashSet::default();
        for (id, pattern) in self.rule.patterns().filter(|(id, _)| self.source.contains(id)) {
            if let PatternKind::Variadic { templates: own, .. } = &pattern.kind {
                templates.extend(own.iter().map(|template| (template.pattern, id)));
            }
        }
        for id in self.built() {
            for part in self.rule.pattern(id).parts() {
                self.outside(part, self.spans.pattern(id), &templates);
            }
        }
        let roots = self.rule.conditions().to_vec();
        let mut stack = roots;
        for id in self.built() {
            let exprs = self.rule.pattern(id).references().into_iter();
            stack.extend(
                exprs.filter_map(|r| if let Reference::Expr(e) = r { Some(e) } else { None }),
            );
        }
        let mut seen = FxHashSet::default();
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            for reference in self.rule.expr(id).references() {
                match reference {
                    Reference::Expr(inner) => stack.push(inner),
                    Reference::Mention(pattern) => {
                        self.outside(pattern, self.spans.expr(id), &templates);
                    }
                    _ => {}
                }
            }
        }
    }

    fn outside(&mut self, id: PatId, span: Span, templates: &FxHashSet<(PatId, PatId)>) {
        if templates.iter().any(|(template, _)| *template == id) {
            let message = format!("{} is a template and has many values", self.describe(id));
            let hint = "choose one: `src[template, i]`";
            self.error("template-outside", span, message, hint);
        }
    }

    /// A symbol is read only inside what binds it.
    fn symbols_in_scope(&mut self) {
        for (symbol, data) in self.rule.symbols() {
            for node in self.read_outside(symbol) {
                let message = format!("`{}` is not bound here", data.name);
                let hint = "bind it with `variadic ... for i`, or compute with `[... for i < n]`";
                self.error("symbol-scope", self.span_of(node), message, hint);
            }
        }
    }

    /// Lists where `symbol` is read on a path from an output that does not pass its binder.
    fn read_outside(&self, symbol: SymId) -> Vec<Node> {
        let outputs = self.rule.sources().iter().chain(self.rule.targets());
        let conditions = self.rule.conditions().iter().map(|id| Node::Expr(*id));
        let mut stack: Vec<_> = outputs.map(|id| Node::Pattern(*id)).chain(conditions).collect();
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let references = self.node_references(node);
            if references.contains(&Reference::Symbol(symbol)) {
                found.push(node);
            }
            let scope = self.scope_of(node, symbol);
            for reference in references {
                let next = match reference {
                    Reference::Part(id) => Node::Pattern(id),
                    Reference::Mention(id) if self.is_instance(id) && !self.enumerates(node) => {
                        Node::Pattern(id)
                    }
                    Reference::Expr(id) => Node::Expr(id),
                    _ => continue,
                };
                if scope != Some(next) {
                    stack.push(next);
                }
            }
        }
        found
    }

    /// Returns where the symbol is bound, if this node binds it.
    fn scope_of(&self, node: Node, symbol: SymId) -> Option<Node> {
        match node {
            Node::Pattern(id) => match self.rule.pattern(id).kind {
                PatternKind::Variadic { field, index: Some(bound), .. } if bound == symbol => {
                    Some(Node::Pattern(field))
                }
                _ => None,
            },
            Node::Expr(id) => match self.rule.expr(id).kind {
                ExprKind::Map { symbol: bound, body, .. }
                | ExprKind::Var { symbol: bound, body, .. }
                | ExprKind::ReduceRange { symbol: bound, body, .. }
                    if bound == symbol =>
                {
                    Some(Node::Expr(body))
                }
                _ => None,
            },
        }
    }
}
