//! What one iteration of a reduced loop adds to an element of the target.

use thiserror::Error;

/// How an operand varies within a tile of the target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// With the row, and along the reduced loops.
    Row,
    /// With the column, and along the reduced loops.
    Column,
    /// Not at all.
    Scalar,
}

/// A step of an expression in postfix notation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Pushes the operand at a position.
    Operand(usize),
    /// Pops `b`, then `a`; pushes `a + b`.
    Add,
    /// Pushes `a - b`.
    Sub,
    /// Pushes `a * b`.
    Mul,
    /// Pushes `a / b`.
    Div,
    /// Pops `a`; pushes `-a`.
    Neg,
}

/// Why operations are no body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// An operation has nothing to work on, or values are left.
    #[error("an expression leaves one value, and no operation lacks an operand")]
    Unbalanced,
    /// An operand that does not exist.
    #[error("there is no operand {0}")]
    Operand(usize),
}

/// `target += expression`, or `-=`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    roles: Vec<Role>,
    ops: Vec<Op>,
    subtracts: bool,
}

impl Body {
    /// Makes `target += ops`, or `target -= ops` if it `subtracts`.
    ///
    /// # Errors
    /// [`BodyError`] if `ops` are no expression over the operands.
    pub fn new(roles: Vec<Role>, ops: Vec<Op>, subtracts: bool) -> Result<Self, BodyError> {
        let mut depth = 0_usize;
        for op in &ops {
            let takes = match op {
                Op::Operand(at) if *at >= roles.len() => return Err(BodyError::Operand(*at)),
                Op::Operand(_) => 0,
                Op::Neg => 1,
                Op::Add | Op::Sub | Op::Mul | Op::Div => 2,
            };
            depth = depth.checked_sub(takes).ok_or(BodyError::Unbalanced)? + 1;
        }
        if depth != 1 {
            return Err(BodyError::Unbalanced);
        }
        Ok(Self { roles, ops, subtracts })
    }

    /// Makes the body of a matrix product: `target += row * column`.
    pub fn product() -> Self {
        let ops = vec![Op::Operand(0), Op::Operand(1), Op::Mul];
        Self { roles: vec![Role::Row, Role::Column], ops, subtracts: false }
    }

    /// Returns how each operand varies.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Returns the expression in postfix notation.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns whether the expression is subtracted.
    pub fn subtracts(&self) -> bool {
        self.subtracts
    }

    /// Counts the operands that vary in one way.
    pub fn count(&self, role: Role) -> usize {
        self.roles.iter().filter(|other| **other == role).count()
    }
}
