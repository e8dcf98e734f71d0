//! Programs of micro-kernels: straight code around and inside one loop over the reduced iterations.

use crate::body::{Body, Op, Role};
use crate::steps::StepError;
use crate::tile::RegisterTile;

/// A virtual register: one element, or a vector of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Register(pub(crate) u32);

/// An instruction. `row` and `column` are places in the tile; a vector starts at its column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Inst {
    /// Reads an element of the target.
    LoadTarget {
        /// Where to.
        to: Register,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// Writes an element of the target.
    StoreTarget {
        /// What is written.
        from: Register,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// Reads an operand at the current iteration; all lanes get the element of a row operand.
    Load {
        /// Where to.
        to: Register,
        /// The operand's position.
        operand: usize,
        /// The row or column; 0 for a scalar.
        at: usize,
    },
    /// Computes `left op right`.
    Binary {
        /// Where to.
        to: Register,
        /// `Add`, `Sub`, `Mul` or `Div`.
        op: Op,
        /// The first operand.
        left: Register,
        /// The second operand.
        right: Register,
    },
    /// Computes `-of`.
    Negate {
        /// Where to.
        to: Register,
        /// The operand.
        of: Register,
    },
}

impl Inst {
    /// Returns the register that it writes.
    pub fn target(&self) -> Option<Register> {
        match *self {
            Self::LoadTarget { to, .. }
            | Self::Load { to, .. }
            | Self::Binary { to, .. }
            | Self::Negate { to, .. } => Some(to),
            Self::StoreTarget { .. } => None,
        }
    }

    /// Lists the registers that it reads.
    pub fn sources(&self) -> impl Iterator<Item = Register> {
        let (a, b) = match *self {
            Self::LoadTarget { .. } | Self::Load { .. } => (None, None),
            Self::StoreTarget { from, .. } => (Some(from), None),
            Self::Binary { left, right, .. } => (Some(left), Some(right)),
            Self::Negate { of, .. } => (Some(of), None),
        };
        a.into_iter().chain(b)
    }

    /// Returns the same instruction over other registers.
    pub(crate) fn renamed(self, mut name: impl FnMut(Register) -> Register) -> Self {
        match self {
            Self::LoadTarget { to, row, column } => Self::LoadTarget { to: name(to), row, column },
            Self::StoreTarget { from, row, column } => {
                Self::StoreTarget { from: name(from), row, column }
            }
            Self::Load { to, operand, at } => Self::Load { to: name(to), operand, at },
            Self::Binary { to, op, left, right } => {
                Self::Binary { op, left: name(left), right: name(right), to: name(to) }
            }
            Self::Negate { to, of } => Self::Negate { of: name(of), to: name(to) },
        }
    }
}

/// `before; for each reduced iteration: step; after`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub(crate) body: Body,
    /// Rows of the tile.
    pub rows: usize,
    /// Columns of the tile.
    pub columns: usize,
    /// Elements in a register.
    pub width: usize,
    /// What runs once, in front of the loop.
    pub before: Vec<Inst>,
    /// One iteration.
    pub step: Vec<Inst>,
    /// What runs once, behind the loop.
    pub after: Vec<Inst>,
    /// How many names of registers are taken.
    pub(crate) names: u32,
}

impl Program {
    /// Makes the program of a register tile, by all steps.
    ///
    /// # Errors
    /// [`StepError`] of the step that cannot be taken.
    pub fn for_tile(body: &Body, tile: &RegisterTile) -> Result<Self, StepError> {
        let unrolled = Self::unrolled(body, tile.rows, tile.columns());
        unrolled.scalar_replaced()?.vectorised(tile.width)
    }

    /// Makes straight code of an iteration: each element of the tile is loaded, updated, stored.
    pub fn unrolled(body: &Body, rows: usize, columns: usize) -> Self {
        let mut program = Self {
            body: body.clone(),
            rows,
            columns,
            width: 1,
            before: Vec::new(),
            step: Vec::new(),
            after: Vec::new(),
            names: 0,
        };
        for row in 0..rows {
            for column in 0..columns {
                program.update(row, column);
            }
        }
        program
    }

    /// Returns how many registers are in use at once, at most, if no operations are fused.
    pub fn registers(&self) -> usize {
        let mut last = vec![0_usize; self.names as usize];
        let mut first = vec![usize::MAX; self.names as usize];
        let all: Vec<&Inst> = self.before.iter().chain(&self.step).chain(&self.after).collect();
        let (start, end) = (self.before.len(), self.before.len() + self.step.len());
        for (at, inst) in all.iter().enumerate() {
            for register in inst.sources().chain(inst.target()) {
                let name = register.0 as usize;
                first[name] = first[name].min(at);
                last[name] = last[name].max(at);
            }
        }
        // What is there before the loop and used in it lives throughout.
        for (first, last) in first.iter().zip(&mut last) {
            if *first < start && *last >= start {
                *last = (*last).max(end);
            }
        }
        let live =
            |at: usize| first.iter().zip(&last).filter(|(f, l)| **f <= at && at < **l).count();
        (0..all.len()).map(live).max().unwrap_or(0)
    }

    pub(crate) fn fresh(&mut self) -> Register {
        self.names += 1;
        Register(self.names - 1)
    }

    fn update(&mut self, row: usize, column: usize) {
        let mut stack: Vec<Register> = Vec::new();
        for op in self.body.ops().to_vec() {
            let to = self.fresh();
            let inst = match op {
                Op::Operand(operand) => {
                    let at = match self.body.roles()[operand] {
                        Role::Row => row,
                        Role::Column => column,
                        Role::Scalar => 0,
                    };
                    Inst::Load { to, operand, at }
                }
                Op::Neg => Inst::Negate { to, of: popped(&mut stack) },
                op => {
                    let right = popped(&mut stack);
                    Inst::Binary { to, op, left: popped(&mut stack), right }
                }
            };
            self.step.push(inst);
            stack.push(to);
        }
        let (old, new, value) = (self.fresh(), self.fresh(), popped(&mut stack));
        let op = if self.body.subtracts() { Op::Sub } else { Op::Add };
        self.step.extend([
            Inst::LoadTarget { to: old, row, column },
            Inst::Binary { to: new, op, left: old, right: value },
            Inst::StoreTarget { from: new, row, column },
        ]);
    }
}

/// A body is balanced, so that there always is a value.
fn popped(stack: &mut Vec<Register>) -> Register {
    stack.pop().unwrap_or(Register(0))
}
