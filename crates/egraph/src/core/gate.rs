//! What to look at before the steps after a candidate are tried.

use super::classes::op_bit;
use super::nodes::Core;
use super::program::Instruction;

/// What a candidate has to have so that any step after it may hold.
///
/// Rules that begin alike often go on at the same child with different operators: one look at the
/// operators of its class then stands for one look each.
#[derive(Clone, Copy)]
pub(super) enum Gate {
    /// Nothing is known.
    Open,
    /// No step comes after it.
    Closed,
    /// The class in a register has one of some operators, and where the match is not new so far,
    /// a node that is.
    Class { reg: u32, mask: u32, since: u32 },
}

impl Gate {
    #[inline]
    pub(super) fn is_open(self, core: &Core, regs: &[u32], stamp: u32) -> bool {
        match self {
            Gate::Open => true,
            Gate::Closed => false,
            Gate::Class { reg, .. } => self.is_open_at(core, regs[reg as usize], stamp),
        }
    }

    /// Returns the register that it looks at, if any.
    #[inline]
    pub(super) fn reg(self) -> Option<u32> {
        match self {
            Gate::Open | Gate::Closed => None,
            Gate::Class { reg, .. } => Some(reg),
        }
    }

    /// Does the same for the class that the register will hold.
    #[inline]
    pub(super) fn is_open_at(self, core: &Core, class: u32, stamp: u32) -> bool {
        match self {
            Gate::Open => true,
            Gate::Closed => false,
            Gate::Class { mask, since, .. } => {
                core.class[class as usize].mask & mask != 0
                    && (stamp >= since || core.heading(class).1 >= since)
            }
        }
    }

    /// Adds what one more step asks for.
    pub(super) fn with(self, step: &Instruction, since: u32) -> Gate {
        let (Instruction::Bind { reg, op, .. } | Instruction::Has { reg, op }) = *step else {
            return Gate::Open;
        };
        match self {
            Gate::Closed => Gate::Class { reg, mask: op_bit(op), since },
            Gate::Class { reg: known, mask, since: before } if known == reg => {
                Gate::Class { reg, mask: mask | op_bit(op), since: before.min(since) }
            }
            _ => Gate::Open,
        }
    }
}
