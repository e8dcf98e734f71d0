//! Kinds of attribute expressions, where they are visible without a graph.

use super::Checker;
use crate::ast::{BinaryOp, ExprId, ExprKind, Reduction, UnaryOp};
use crate::diagnostic::Diagnostic;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Float,
    Bool,
    Str,
    Tuple(Option<usize>),
    Unknown,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Int => "an integer",
            Self::Float => "a float",
            Self::Bool => "a truth value",
            Self::Str => "a string",
            Self::Tuple(_) => "a tuple",
            Self::Unknown => "unknown",
        }
    }

    fn numeric(self) -> bool {
        matches!(self, Self::Int | Self::Float | Self::Unknown)
    }

    fn may_be(self, other: Self) -> bool {
        self == Self::Unknown || self == other
    }

    fn may_be_tuple(self) -> bool {
        matches!(self, Self::Tuple(_) | Self::Unknown)
    }
}

impl Checker<'_> {
    pub(super) fn types(&mut self) {
        for (id, expr) in self.rule.exprs() {
            self.operands(id, &expr.kind);
        }
        for &id in self.rule.conditions() {
            self.expect(id, "a condition", "a truth value", |kind| kind.may_be(Kind::Bool));
        }
    }

    fn expect(&mut self, id: ExprId, what: &str, expected: &str, fits: impl Fn(Kind) -> bool) {
        let kind = self.kind(id);
        if !fits(kind) {
            let message = format!("{what} must be {expected}, this is {}", kind.name());
            self.found.push(Diagnostic::error("type-mismatch", self.spans.expr(id), message));
        }
    }

    fn operands(&mut self, id: ExprId, kind: &ExprKind) {
        let int = |kind: Kind| kind.may_be(Kind::Int);
        let boolean = |kind: Kind| kind.may_be(Kind::Bool);
        match kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.expect(*operand, "the operand of `!`", "a truth value", boolean);
            }
            ExprKind::Unary { operand, .. } => {
                self.expect(*operand, "the operand of `-`", "a number", Kind::numeric);
            }
            ExprKind::Binary { op, lhs, rhs } => self.binary(id, *op, *lhs, *rhs),
            ExprKind::Proj { tuple, index } => self.projection(id, *tuple, *index),
            ExprKind::Slice { tuple, .. }
            | ExprKind::Len(tuple)
            | ExprKind::Reverse(tuple)
            | ExprKind::In { tuple, .. }
            | ExprKind::Map { tuple, .. }
            | ExprKind::ReduceTuple { tuple, .. } => {
                self.expect(*tuple, "the operand", "a tuple", Kind::may_be_tuple);
            }
            ExprKind::Var { length, .. } | ExprKind::ReduceRange { length, .. } => {
                self.expect(*length, "the bound", "an integer", int);
            }
            ExprKind::Cond { condition, .. } => {
                self.expect(*condition, "a condition", "a truth value", boolean);
            }
            ExprKind::Call { args, .. } => {
                for arg in args {
                    self.expect(*arg, "the argument", "a number", Kind::numeric);
                }
            }
            _ => {}
        }
    }

    fn binary(&mut self, id: ExprId, op: BinaryOp, lhs: ExprId, rhs: ExprId) {
        let (left, right) = (self.kind(lhs), self.kind(rhs));
        let fits = match op {
            BinaryOp::And | BinaryOp::Or => left.may_be(Kind::Bool) && right.may_be(Kind::Bool),
            BinaryOp::Add => {
                (left.numeric() && right.numeric()) || (left.may_be_tuple() && right.may_be_tuple())
            }
            BinaryOp::FloorDiv | BinaryOp::CeilDiv | BinaryOp::Mod => {
                left.may_be(Kind::Int) && right.may_be(Kind::Int)
            }
            BinaryOp::Eq | BinaryOp::Ne => comparable(left, right),
            _ => left.numeric() && right.numeric(),
        };
        if !fits {
            let message =
                format!("`{}` does not apply to {} and {}", op.text(), left.name(), right.name());
            self.found.push(Diagnostic::error("type-mismatch", self.spans.expr(id), message));
        }
    }

    fn projection(&mut self, id: ExprId, tuple: ExprId, index: ExprId) {
        self.expect(tuple, "what is indexed", "a tuple", Kind::may_be_tuple);
        self.expect(index, "an index", "an integer", |kind| kind.may_be(Kind::Int));
        let ExprKind::Int(at) = self.rule.expr(index).kind else { return };
        let length = match self.kind(tuple) {
            Kind::Tuple(length) => length,
            _ => None,
        };
        if at < 0 {
            let message = format!("index {at} is negative, and fields count from 0");
            let hint = "count from the end with `t[len(t) - 1]`";
            self.error("index-range", self.spans.expr(id), message, hint);
        } else if length.is_some_and(|length| at >= length as i64) {
            let message = format!("index {at} is out of range, fields count from 0");
            let hint = "use a smaller index";
            self.error("index-range", self.spans.expr(id), message, hint);
        }
    }

    /// Finds the kind of an expression, once: what an `attr` names may be part of many others.
    fn kind(&self, id: ExprId) -> Kind {
        if let Some(&known) = self.kinds.borrow().get(&id) {
            return known;
        }
        let kind = self.kind_of(id);
        self.kinds.borrow_mut().insert(id, kind);
        kind
    }

    /// Recursion is bounded by the depth of a rule.
    fn kind_of(&self, id: ExprId) -> Kind {
        match &self.rule.expr(id).kind {
            ExprKind::Int(_) | ExprKind::Symbol(_) if !self.is_field(id) => Kind::Int,
            ExprKind::Len(_) => Kind::Int,
            ExprKind::Bool(_) | ExprKind::In { .. } => Kind::Bool,
            ExprKind::Float(_) => Kind::Float,
            ExprKind::Str(_) => Kind::Str,
            ExprKind::Tuple(fields) => Kind::Tuple(Some(fields.len())),
            ExprKind::Range { .. } | ExprKind::Zip(_) | ExprKind::Map { .. } => Kind::Tuple(None),
            ExprKind::Var { .. } | ExprKind::Slice { .. } => Kind::Tuple(None),
            ExprKind::Reverse(_) | ExprKind::Remap { .. } => Kind::Tuple(None),
            ExprKind::Access { attribute, .. } => match attribute.as_str() {
                "shape" => Kind::Tuple(None),
                "dtype" => Kind::Str,
                "ndim" | "length" => Kind::Int,
                _ => Kind::Unknown,
            },
            ExprKind::Unary { op: UnaryOp::Not, .. } => Kind::Bool,
            ExprKind::Unary { operand, .. } => self.kind(*operand),
            ExprKind::Binary { op, lhs, rhs } => self.binary_kind(*op, *lhs, *rhs),
            ExprKind::ReduceRange { op: Reduction::All | Reduction::Any, .. } => Kind::Bool,
            ExprKind::ReduceTuple { op: Reduction::All | Reduction::Any, .. } => Kind::Bool,
            _ => Kind::Unknown,
        }
    }

    /// Returns whether this reads a symbol that a map binds to fields of any kind.
    fn is_field(&self, id: ExprId) -> bool {
        let ExprKind::Symbol(read) = self.rule.expr(id).kind else { return false };
        self.rule
            .exprs()
            .any(|(_, expr)| matches!(expr.kind, ExprKind::Map { symbol, .. } if symbol == read))
    }

    fn binary_kind(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> Kind {
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Eq | BinaryOp::Ne => Kind::Bool,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Kind::Bool,
            BinaryOp::FloorDiv | BinaryOp::CeilDiv | BinaryOp::Mod => Kind::Int,
            BinaryOp::Div => Kind::Float,
            _ => match (self.kind(lhs), self.kind(rhs)) {
                (Kind::Tuple(a), Kind::Tuple(b)) => {
                    Kind::Tuple(a.zip(b).map(|(a, b)| a.saturating_add(b)))
                }
                (a, b) if a == b => a,
                (Kind::Float, Kind::Int) | (Kind::Int, Kind::Float) => Kind::Float,
                _ => Kind::Unknown,
            },
        }
    }
}

fn comparable(a: Kind, b: Kind) -> bool {
    let tuples = a.may_be_tuple() && b.may_be_tuple();
    tuples || (a.numeric() && b.numeric()) || a.may_be(b) || b == Kind::Unknown
}
