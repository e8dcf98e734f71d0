//! Programs: steps over buffers.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::symbolic::Expr;
use tangram_ir::{Op, Value};
use tangram_tensor::DType;

use crate::c::RETURNED;
use crate::reason::Reason;

/// What each function in [`Program::source`] begins with. What stands in front of the first of them is
/// for all.
pub const FUNCTION_START: &str = "\nTANGRAM_HOT ";

/// A function as steps.
///
/// The functions of [`Program::source`] are those of its [`Call`]s:
///
/// ```c
/// int NAME(const int64_t *arguments, void *const *buffers, int64_t part, int64_t parts);
/// ```
///
/// They return 0, or bits of what went wrong: [`OUTSIDE`](crate::OUTSIDE) if an index that they
/// computed from data is outside of the tensor that it is for; [`DIVISION`](crate::DIVISION) if an
/// integer was divided by zero. What there is in its place is 0.
///
/// They allocate nothing, keep nothing, and may run at the same time on other buffers. A call may
/// be made in any number of parts, which may run at the same time, each once: together they do what
/// the only part of one does, to the same bits.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// What is stored.
    pub buffers: Vec<Buffer>,
    /// Where values are; one that is absent lives between reference steps only.
    pub values: FxHashMap<Value, Stored>,
    /// What runs once, before the first run of the steps: copies of constants as the steps want
    /// them. Only these write buffers of storage [`Storage::Prepared`].
    pub setup: Vec<Call>,
    /// What runs, in order.
    pub steps: Vec<ProgramStep>,
    /// The functions, in C.
    pub source: String,
    /// Extents that all of this relies on to be equal in a run, in pairs.
    pub assumed: Vec<[Expr; 2]>,
    /// Sizes that the functions are not for, since an access might leave its tensor: those for
    /// which all expressions of one of these are at least 0. For all others it is proven that none
    /// does.
    pub excluded: Vec<Vec<Expr>>,
    /// Why each operation of a [`ProgramStep::Reference`] is not compiled; constants need no reason.
    pub reasons: FxHashMap<Op, Reason>,
}

impl Program {
    /// The text of a function, from its head to its closing brace.
    pub fn text_of(&self, function: &str) -> Option<&str> {
        let head = self.source.find(&format!("{RETURNED} {function}("))?;
        let start = self.source[..head].rfind('\n').map_or(0, |end| end + 1);
        let text = &self.source[start..];
        let end = text.find("\n}\n").map_or(text.len(), |end| end + 2);
        Some(&text[..end])
    }

    /// A source with the functions that the set-up calls and no other, for whoever only packs weights.
    pub fn setup_source(&self) -> String {
        let first = self.source.find(FUNCTION_START).unwrap_or(self.source.len());
        let mut source = self.source[..first].to_owned();
        let mut written = FxHashSet::default();
        for call in self.setup.iter().filter(|call| written.insert(&call.function)) {
            let text = self.text_of(&call.function).unwrap_or_default();
            source.extend(["\n", text, "\n"]);
        }
        source
    }
}

/// A range of memory that holds the elements of a tensor, row by row without gaps.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// The type of an element.
    pub element: DType,
    /// How many elements it has, over the symbols of the function's argument types.
    pub size: Expr,
    /// Whose memory it is.
    pub storage: Storage,
    /// Whether each part of a call has a range of its own: `size` elements, rounded up to 64 bytes,
    /// part after part.
    pub per_part: bool,
}

/// Whose memory a buffer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// An argument of the function.
    Input(usize),
    /// An operand of its terminator.
    Output(usize),
    /// The value of a constant.
    Constant(Value),
    /// Made by [`Program::setup`] of constants, and never changed again.
    Prepared,
    /// Scratch memory, needed from the first step that has it to the last.
    Arena,
}

/// Where a value is.
#[derive(Clone, PartialEq, Debug)]
pub struct Stored {
    /// The buffer, by number; several values may share one as a reshape does.
    pub buffer: usize,
    /// The extents of the value.
    pub extents: Vec<Expr>,
}

/// A step.
#[derive(Clone, PartialEq, Debug)]
pub enum ProgramStep {
    /// Compiled code.
    Call(Call),
    /// An operation for the reference kernels.
    Reference(Op),
}

/// A call of a compiled function.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Its name; calls with equal code share one.
    pub function: String,
    /// Numbers that it takes.
    pub arguments: Vec<Expr>,
    /// Buffers that it takes, by number.
    pub buffers: Vec<usize>,
    /// The operations that it computes.
    pub ops: Vec<Op>,
    /// Which of `buffers` it writes, by place in that list.
    pub writes: Vec<usize>,
    /// About what it takes: numbers of iterations, each with the cycles of 1,024 of them.
    pub work: Vec<(Expr, i64)>,
}

impl Call {
    /// About how many cycles the call takes, for these values of the symbols.
    pub fn cycles(&self, value: &dyn Fn(&Expr) -> Option<i64>) -> i64 {
        let parts = self
            .work
            .iter()
            .filter_map(|(count, each)| Some(value(count)?.max(0).saturating_mul(*each) / 1024));
        parts.fold(0, i64::saturating_add)
    }
}
