//! What a folder asks for, in short words.

use tangram_ir::{Fold, FoldCx};

use super::{Known, number};

/// Numbers among the operands, and results of one value.
pub(crate) trait Look<'a> {
    /// Interned names.
    fn known(&self) -> &'a Known;

    /// The integer that operand `i` is, in every element.
    fn int(&self, i: usize) -> Option<i128>;

    /// The float that operand `i` is, in every element.
    fn float(&self, i: usize) -> Option<f64>;

    /// The integer `value` in every element of the result.
    fn whole(&self, value: i128) -> Option<Fold>;

    /// Operand `i` as the result.
    fn give(&self, i: usize) -> Option<Fold>;
}

impl<'a> Look<'a> for FoldCx<'a> {
    fn known(&self) -> &'a Known {
        Known::of(self.context())
    }

    fn int(&self, i: usize) -> Option<i128> {
        number::as_int(self.context(), self.constant(i)?)
    }

    fn float(&self, i: usize) -> Option<f64> {
        number::as_float(self.context(), self.constant(i)?)
    }

    fn whole(&self, value: i128) -> Option<Fold> {
        number::int_attr(self.context(), self.ty(), value).map(Fold::attr)
    }

    fn give(&self, i: usize) -> Option<Fold> {
        Some(Fold::value(self.operand(i)))
    }
}
