//! The tree of loops, conditions and calls.

use std::collections::HashMap;

use super::{Expr, ExprKind};

/// A handle of a node; valid for the tree that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AstNode(u32);

/// What a node of generated code is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AstNodeKind {
    /// Runs `body` for `lower`, `lower + step`, .. up to and with `upper`, or without end.
    For {
        /// The dimension of the schedule; the iterator's name is `c` and this number.
        iterator: u32,
        /// First value.
        lower: Expr,
        /// No value is greater; nothing if the schedule sets no limit.
        upper: Option<Expr>,
        /// Greater than 0.
        step: i128,
        /// Whether iterations may run at the same time.
        coincident: bool,
        /// What runs for each value.
        body: AstNode,
    },
    /// Runs `then` if the condition holds, else `otherwise`.
    If {
        /// 0 if it does not hold.
        condition: Expr,
        /// What runs if it holds.
        then: AstNode,
        /// What runs if it does not.
        otherwise: Option<AstNode>,
    },
    /// Runs its parts one after the other.
    Block(Vec<AstNode>),
    /// Carries the name of a mark of the schedule tree.
    Mark {
        /// The mark's name.
        name: String,
        /// What the mark stands above.
        body: AstNode,
    },
    /// Runs one instance of a statement.
    Call {
        /// The statement's name.
        statement: String,
        /// The instance.
        arguments: Vec<Expr>,
    },
}

/// Generated code: nodes and expressions in flat arenas.
#[derive(Debug, Clone, Default)]
pub struct Ast {
    params: Vec<String>,
    nodes: Vec<AstNodeKind>,
    exprs: Vec<ExprKind>,
    known: HashMap<ExprKind, Expr>,
    root: Option<AstNode>,
}

impl Ast {
    pub(super) fn new(params: Vec<String>) -> Self {
        Self { params, ..Self::default() }
    }

    /// Returns the names of the parameters.
    pub fn params(&self) -> &[String] {
        &self.params
    }

    /// Returns the node that runs everything; nothing if there are no instances.
    pub fn root(&self) -> Option<AstNode> {
        self.root
    }

    /// Returns the code of `node` alone, with what is inside it.
    pub fn at(&self, node: AstNode) -> Self {
        Self { root: Some(node), ..self.clone() }
    }

    /// Returns what `node` is.
    pub fn node(&self, node: AstNode) -> &AstNodeKind {
        &self.nodes[node.0 as usize]
    }

    /// Returns what `expr` is.
    pub fn expr(&self, expr: Expr) -> &ExprKind {
        &self.exprs[expr.0 as usize]
    }

    /// Counts the operators of an expression; a part that is there twice counts twice.
    pub(super) fn operators(&self, expr: Expr) -> usize {
        let (mut count, mut open) = (0, vec![expr]);
        while let Some(expr) = open.pop() {
            let kind = self.expr(expr);
            count += match kind {
                ExprKind::Int(_) | ExprKind::Param(_) | ExprKind::Iterator(_) => 0,
                // A remainder and its comparison with 0.
                ExprKind::Multiple(..) => 2,
                kind => kind.operands().len().max(2) - 1,
            };
            open.extend(kind.operands());
        }
        count
    }

    /// Returns the direct parts of a node, in the order in which they run.
    pub fn children(&self, node: AstNode) -> Vec<AstNode> {
        match self.node(node) {
            AstNodeKind::For { body, .. } | AstNodeKind::Mark { body, .. } => vec![*body],
            AstNodeKind::If { then, otherwise, .. } => {
                [Some(*then), *otherwise].into_iter().flatten().collect()
            }
            AstNodeKind::Block(parts) => parts.clone(),
            AstNodeKind::Call { .. } => Vec::new(),
        }
    }

    /// Returns all nodes that run, each before its parts.
    pub fn nodes(&self) -> Vec<AstNode> {
        let mut open: Vec<AstNode> = self.root.into_iter().collect();
        let mut all = Vec::new();
        while let Some(node) = open.pop() {
            all.push(node);
            open.extend(self.children(node).into_iter().rev());
        }
        all
    }

    pub(super) fn set_root(&mut self, root: Option<AstNode>) {
        self.root = root;
    }

    pub(super) fn add(&mut self, kind: AstNodeKind) -> AstNode {
        self.nodes.push(kind);
        AstNode(self.nodes.len() as u32 - 1)
    }

    /// Puts another node in the place of a node.
    pub(super) fn put(&mut self, node: AstNode, kind: AstNodeKind) {
        self.nodes[node.0 as usize] = kind;
    }

    /// Adds an expression, or finds the same one.
    pub(super) fn intern(&mut self, kind: ExprKind) -> Expr {
        if let Some(expr) = self.known.get(&kind) {
            return *expr;
        }
        let expr = Expr(self.exprs.len() as u32);
        self.exprs.push(kind.clone());
        self.known.insert(kind, expr);
        expr
    }

    /// Makes one node of several; nothing of none.
    pub(super) fn block(&mut self, mut parts: Vec<AstNode>) -> Option<AstNode> {
        match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(self.add(AstNodeKind::Block(parts))),
        }
    }
}
