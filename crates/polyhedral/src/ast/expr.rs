//! Expressions of loop bounds, conditions and arguments.
//!
//! They are code: minima, conditions and calls are among them, and a division may round towards zero.
//! What they are made of are rows ([`Linear`](super::basic_set::Linear)).

/// A handle of an expression; valid for the tree that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expr(pub(super) u32);

/// How two integers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// The same value.
    Equal,
    /// Less or the same.
    LessOrEqual,
    /// Less.
    Less,
    /// Greater or the same.
    GreaterOrEqual,
}

impl Comparison {
    /// Returns whether it holds between two numbers.
    pub(super) fn holds(self, a: i128, b: i128) -> bool {
        match self {
            Self::Equal => a == b,
            Self::LessOrEqual => a <= b,
            Self::Less => a < b,
            Self::GreaterOrEqual => a >= b,
        }
    }
}

/// What an expression is; conditions are integers, 0 where they do not hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExprKind {
    /// A constant.
    Int(i128),
    /// The parameter at this position of [`super::Ast::params`].
    Param(u32),
    /// The iterator of the loop over this dimension of the schedule.
    Iterator(u32),
    /// The opposite.
    Neg(Expr),
    /// The sum.
    Add(Expr, Expr),
    /// The difference.
    Sub(Expr, Expr),
    /// The product with a constant.
    Mul(i128, Expr),
    /// The quotient by a positive constant, rounded down.
    FloorDiv(Expr, i128),
    /// The quotient of a value that is not negative here, or a multiple of the constant.
    Quotient(Expr, i128),
    /// The remainder of a value that is not negative here.
    Remainder(Expr, i128),
    /// Whether the value is a multiple of the constant.
    Multiple(Expr, i128),
    /// The least of one or more values.
    Min(Vec<Expr>),
    /// The greatest of one or more values.
    Max(Vec<Expr>),
    /// Whether all of one or more conditions hold.
    And(Vec<Expr>),
    /// Whether one of one or more conditions holds.
    Or(Vec<Expr>),
    /// Whether a comparison holds.
    Compare(Comparison, Expr, Expr),
}

impl ExprKind {
    /// Returns the direct parts, left to right.
    pub fn operands(&self) -> Vec<Expr> {
        match self {
            Self::Int(_) | Self::Param(_) | Self::Iterator(_) => Vec::new(),
            Self::Neg(a)
            | Self::Mul(_, a)
            | Self::FloorDiv(a, _)
            | Self::Quotient(a, _)
            | Self::Remainder(a, _)
            | Self::Multiple(a, _) => vec![*a],
            Self::Add(a, b) | Self::Sub(a, b) | Self::Compare(_, a, b) => vec![*a, *b],
            Self::Min(list) | Self::Max(list) | Self::And(list) | Self::Or(list) => list.clone(),
        }
    }
}
