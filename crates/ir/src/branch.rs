//! Which operands of a terminator become the arguments of which successor.

use std::ops::Range;

use smallvec::SmallVec;

use crate::attributes::{Attr, AttrData};
use crate::module::{Module, Op, Value};

/// How the operands of a terminator are divided among its successors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Branch {
    /// It has no successors.
    #[default]
    None,
    /// It has any number of successors, and what they get is not known.
    Unknown,
    /// All operands go to the only successor.
    Operands,
    /// `operandSegmentSizes` divides them: successor `k` gets segment `k + .0`.
    Segments(usize),
    /// `operandSegmentSizes` divides them: segment 1 goes to successor 0, segment 2 to the others,
    /// divided by `case_operand_segments`.
    Cases,
}

impl Branch {
    /// How many successors a terminator of so many operand groups has: at least, and at most.
    pub(crate) fn successors(self, groups: usize) -> (usize, usize) {
        match self {
            Branch::None => (0, 0),
            Branch::Unknown => (0, usize::MAX),
            Branch::Operands => (1, 1),
            Branch::Segments(skip) => (groups.saturating_sub(skip), groups.saturating_sub(skip)),
            Branch::Cases => (1, usize::MAX),
        }
    }
}

impl Module {
    /// The integers of `array<i32: ...>` or another list of integers.
    pub fn int_list(&self, attr: Attr) -> Option<Vec<i64>> {
        match self.context().attr_data(attr) {
            AttrData::DenseArray { bytes, .. } => {
                let word = |b: &[u8]| i64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                Some(bytes.chunks_exact(4).map(word).collect())
            }
            _ => self.context().as_i64s(attr),
        }
    }

    /// `array<i32: ...>`.
    pub fn i32s_attr(&self, values: impl IntoIterator<Item = usize>) -> Attr {
        let context = self.context();
        let bytes = values.into_iter().flat_map(|n| (n as i32).to_le_bytes()).collect();
        context.attr(AttrData::DenseArray { element: context.int_type(32), bytes })
    }

    fn sizes(&self, op: Op, name: &str) -> Option<Vec<usize>> {
        let sizes = self.int_list(self.attr(op, name)?)?;
        sizes.into_iter().map(|n| usize::try_from(n).ok()).collect()
    }

    /// For each successor of `op`, the operands that become its arguments; `None` if that is not
    /// known.
    pub fn successor_operands(&self, op: Op) -> Option<SmallVec<[Range<usize>; 2]>> {
        let count = self.successors(op).len();
        let total = self.operand_count(op);
        let sizes: Vec<usize> = match self.def(op)?.branch {
            Branch::None | Branch::Unknown => return None,
            Branch::Operands => vec![0, total],
            Branch::Segments(skip) => {
                let sizes = self.sizes(op, "operandSegmentSizes")?;
                let before = sizes.iter().take(skip).sum();
                std::iter::once(before).chain(sizes.into_iter().skip(skip)).collect()
            }
            Branch::Cases => {
                let sizes = self.sizes(op, "operandSegmentSizes")?;
                let (&flag, &default) = (sizes.first()?, sizes.get(1)?);
                let cases = self.sizes(op, "case_operand_segments")?;
                [flag, default].into_iter().chain(cases).collect()
            }
        };
        let mut at = *sizes.first()?;
        let mut ranges: SmallVec<[Range<usize>; 2]> = SmallVec::new();
        for &size in &sizes[1..] {
            let end = at.checked_add(size)?;
            ranges.push(at..end);
            at = end;
        }
        (ranges.len() == count && at <= total).then_some(ranges)
    }

    /// The operands and attributes of `op` if its successors were given `arguments`, one list for
    /// each; `None` as for [`Module::successor_operands`].
    pub fn with_successor_operands(
        &self,
        op: Op,
        arguments: &[Vec<Value>],
    ) -> Option<(Vec<Value>, Attr)> {
        let first = self.successor_operands(op)?.first()?.start;
        let mut operands: Vec<Value> = self.operands(op).take(first).collect();
        operands.extend(arguments.iter().flatten());
        let context = self.context();
        let sizes: Vec<usize> = arguments.iter().map(Vec::len).collect();
        let mut entries = context.entries(self.attrs(op)).to_vec();
        match self.def(op)?.branch {
            Branch::None | Branch::Unknown => return None,
            Branch::Operands => {}
            Branch::Segments(skip) => {
                let old = self.sizes(op, "operandSegmentSizes")?;
                let new = self.i32s_attr(old.into_iter().take(skip).chain(sizes));
                entries.push((context.str("operandSegmentSizes"), new));
            }
            Branch::Cases => {
                let flag = *self.sizes(op, "operandSegmentSizes")?.first()?;
                let cases = sizes.iter().skip(1).sum();
                let segments = self.i32s_attr([flag, sizes[0], cases]);
                let cases = self.i32s_attr(sizes.into_iter().skip(1));
                entries.push((context.str("operandSegmentSizes"), segments));
                entries.push((context.str("case_operand_segments"), cases));
            }
        }
        Some((operands, context.dict(entries)))
    }
}
