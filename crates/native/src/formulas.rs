//! The sizes of a program, each different one once.
//!
//! Every step of a token loop is a new size. Layers are alike, so of the thousands of expressions that
//! a program's sizes are there are a few dozen different ones: these are evaluated for a run's
//! symbols, and all else is a look at a list.

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_ir::Value;
use tangram_lowering::{Call, Program};

use crate::error::SessionError;
use crate::port::Dims;

/// Which of the different expressions a size is.
type At = usize;

/// The expressions of a program.
#[derive(Default)]
pub(crate) struct Formulas {
    all: Vec<Expr>,
    /// The number of elements of each buffer.
    pub buffers: Vec<At>,
    /// The numbers that each call takes.
    pub arguments: Vec<Vec<At>>,
    /// What each call takes: numbers of iterations, each with the cycles of 1,024 of them.
    pub work: Vec<Vec<(At, i64)>>,
    /// The extents of stored values.
    pub extents: Vec<(Value, Vec<At>)>,
}

/// Their values for the sizes of one run.
pub(crate) struct Values<'a> {
    formulas: &'a Formulas,
    values: Vec<Option<i64>>,
}

impl Formulas {
    /// Those of `program`, whose calls are `calls`, and of the extents of the values in `seen`.
    pub(crate) fn of<'a>(
        program: &Program,
        calls: impl Iterator<Item = &'a Call>,
        seen: impl Iterator<Item = Value>,
    ) -> Formulas {
        let mut known: FxHashMap<Expr, At> = FxHashMap::default();
        let mut formulas = Formulas::default();
        let all = &mut formulas.all;
        let mut at = |expr: &Expr| match known.get(expr) {
            Some(&at) => at,
            None => {
                all.push(expr.clone());
                known.insert(expr.clone(), all.len() - 1);
                all.len() - 1
            }
        };
        formulas.buffers = program.buffers.iter().map(|buffer| at(&buffer.size)).collect();
        for call in calls {
            formulas.arguments.push(call.arguments.iter().map(&mut at).collect());
            let work = call.work.iter().map(|(count, each)| (at(count), *each));
            formulas.work.push(work.collect());
        }
        for value in seen {
            if let Some(stored) = program.values.get(&value) {
                formulas.extents.push((value, stored.extents.iter().map(&mut at).collect()));
            }
        }
        formulas
    }

    /// The values of all for the symbols `dims`.
    pub(crate) fn evaluate(&self, dims: &Dims) -> Values<'_> {
        Values { formulas: self, values: self.all.iter().map(|expr| dims.eval(expr)).collect() }
    }
}

impl Values<'_> {
    /// A number that a call takes.
    pub(crate) fn number(&self, at: At) -> Result<i64, SessionError> {
        self.values[at].ok_or_else(|| SessionError::Size(self.formulas.all[at].to_string()))
    }

    /// A number of elements.
    pub(crate) fn size(&self, at: At) -> Result<usize, SessionError> {
        let size = self.values[at].and_then(|value| usize::try_from(value).ok());
        size.ok_or_else(|| SessionError::Size(self.formulas.all[at].to_string()))
    }

    /// About how many cycles a call takes, as [`Call::cycles`] has it.
    pub(crate) fn cycles(&self, work: &[(At, i64)]) -> i64 {
        let parts = work
            .iter()
            .filter_map(|&(at, each)| Some(self.values[at]?.max(0).saturating_mul(each) / 1024));
        parts.fold(0, i64::saturating_add)
    }
}
