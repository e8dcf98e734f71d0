//! Generated code: loops, conditions, calls, and their expressions.

use std::sync::Arc;

use pyo3::prelude::*;
use tangram_polyhedral::ast::{AstNode, AstNodeKind, Comparison, Expr, ExprKind};
use tangram_polyhedral::{Ast, AstOptions};

use super::{PyTree, run};
use crate::integer::Number;
use crate::presburger::PyUnion;

/// Generated code.
#[pyclass(frozen, name = "Ast", module = "tangram._native")]
pub(crate) struct PyAst(Arc<Ast>);

#[pymethods]
impl PyAst {
    /// Code for a schedule tree; the context is a set of parameters.
    #[staticmethod]
    fn of_tree(python: Python<'_>, tree: &PyTree, context: Option<&PyUnion>) -> PyResult<Self> {
        let options = AstOptions::default();
        run(python, |budget| {
            let context = context.map(|set| set.0.single()).transpose()?;
            Ast::of_tree(&tree.0, context, &options, budget)
        })
        .map(|ast| Self(Arc::new(ast)))
    }

    /// Code for a map of instances to points in time.
    #[staticmethod]
    fn of_map(
        python: Python<'_>,
        map: &PyUnion,
        context: Option<&PyUnion>,
        choices: &PyUnion,
    ) -> PyResult<Self> {
        let options = AstOptions::default();
        run(python, |budget| {
            let context = context.map(|set| set.0.single()).transpose()?;
            Ast::of_map(&map.0, context, &choices.0, &options, budget)
        })
        .map(|ast| Self(Arc::new(ast)))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    /// The node that runs everything; none if there is nothing to run.
    fn root(&self) -> Option<PyNode> {
        self.0.root().map(|node| PyNode { ast: self.0.clone(), node })
    }

    /// Definitions of what the text may use.
    #[staticmethod]
    fn macros() -> &'static str {
        Ast::macros()
    }
}

/// A node of generated code.
#[pyclass(frozen, name = "AstNode", module = "tangram._native")]
pub(crate) struct PyNode {
    ast: Arc<Ast>,
    node: AstNode,
}

#[pymethods]
impl PyNode {
    fn __str__(&self) -> String {
        self.ast.at(self.node).to_string()
    }

    fn kind(&self) -> &'static str {
        match self.ast.node(self.node) {
            AstNodeKind::For { .. } => "for",
            AstNodeKind::If { .. } => "if",
            AstNodeKind::Block(_) => "block",
            AstNodeKind::Mark { .. } => "mark",
            AstNodeKind::Call { .. } => "user",
            _ => "other",
        }
    }

    fn children(&self) -> Vec<Self> {
        let part = |node| Self { ast: self.ast.clone(), node };
        self.ast.children(self.node).into_iter().map(part).collect()
    }

    /// Lower bound, upper bound if there is one; a condition; arguments.
    fn expressions(&self) -> Vec<PyExpr> {
        let all = match self.ast.node(self.node) {
            AstNodeKind::For { lower, upper, .. } => [Some(*lower), *upper].to_vec(),
            AstNodeKind::If { condition, .. } => vec![Some(*condition)],
            AstNodeKind::Call { arguments, .. } => arguments.iter().copied().map(Some).collect(),
            _ => Vec::new(),
        };
        let part = |expr| PyExpr { ast: self.ast.clone(), expr };
        all.into_iter().flatten().map(part).collect()
    }

    /// The name of an iterator, a mark or a statement.
    fn name(&self) -> Option<String> {
        match self.ast.node(self.node) {
            AstNodeKind::For { iterator, .. } => Some(self.ast.iterator(*iterator)),
            AstNodeKind::Mark { name, .. } => Some(name.clone()),
            AstNodeKind::Call { statement, .. } => Some(statement.clone()),
            _ => None,
        }
    }

    /// The step of a loop, and whether its iterations may run at the same time.
    fn step(&self) -> Option<(Number, bool)> {
        match self.ast.node(self.node) {
            AstNodeKind::For { step, coincident, .. } => {
                Some((Number((*step).into()), *coincident))
            }
            _ => None,
        }
    }
}

/// An expression of generated code.
#[pyclass(frozen, name = "AstExpr", module = "tangram._native")]
pub(crate) struct PyExpr {
    ast: Arc<Ast>,
    expr: Expr,
}

#[pymethods]
impl PyExpr {
    fn __str__(&self) -> String {
        self.ast.text(self.expr)
    }

    /// What it is, in isl's words; a test for multiples is `multiple`.
    fn kind(&self) -> &'static str {
        match self.ast.expr(self.expr) {
            ExprKind::Int(_) => "int",
            ExprKind::Param(_) | ExprKind::Iterator(_) => "id",
            ExprKind::Neg(_) => "minus",
            ExprKind::Add(..) => "add",
            ExprKind::Sub(..) => "sub",
            ExprKind::Mul(..) => "mul",
            ExprKind::FloorDiv(..) => "fdiv_q",
            ExprKind::Quotient(..) => "pdiv_q",
            ExprKind::Remainder(..) => "pdiv_r",
            ExprKind::Multiple(..) => "multiple",
            ExprKind::Min(_) => "min",
            ExprKind::Max(_) => "max",
            ExprKind::And(_) => "and_",
            ExprKind::Or(_) => "or_",
            ExprKind::Compare(comparison, ..) => match comparison {
                Comparison::Equal => "eq",
                Comparison::LessOrEqual => "le",
                Comparison::Less => "lt",
                Comparison::GreaterOrEqual => "ge",
            },
            _ => "other",
        }
    }

    fn operands(&self) -> Vec<Self> {
        let part = |expr| Self { ast: self.ast.clone(), expr };
        self.ast.expr(self.expr).operands().into_iter().map(part).collect()
    }

    /// The number that it is, or that it multiplies with or divides by.
    fn number(&self) -> Option<Number> {
        match self.ast.expr(self.expr) {
            ExprKind::Int(value)
            | ExprKind::Mul(value, _)
            | ExprKind::FloorDiv(_, value)
            | ExprKind::Quotient(_, value)
            | ExprKind::Remainder(_, value)
            | ExprKind::Multiple(_, value) => Some(Number((*value).into())),
            _ => None,
        }
    }
}
