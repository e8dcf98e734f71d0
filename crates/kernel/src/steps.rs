//! The steps from straight scalar code to vector code. Each computes the same bits.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_target::PrintError;
use thiserror::Error;

use crate::body::Role;
use crate::program::{Inst, Program, Register};

/// Why a step cannot be taken.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The loop does not load and store each element of the target as one update.
    #[error("element ({row}, {column}) of the target is not one update of an iteration")]
    Target {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// Rows are no whole number of vectors.
    #[error("{columns} columns are no whole number of vectors of {width}")]
    Width {
        /// Elements in a row.
        columns: usize,
        /// Elements in a vector.
        width: usize,
    },
    /// Elements of a vector are not computed alike.
    #[error("instruction {0} has no like in the first lane of its vector")]
    Lanes(usize),
    /// Sums are in memory during the loop.
    #[error("sums are not kept in registers during the loop")]
    Memory,
    /// Pairs of integers have no such operation.
    #[error("pairs of integers are multiplied and added, and nothing else")]
    Pairs,
    /// The IR of a program has no text in C.
    #[error(transparent)]
    Text(#[from] PrintError),
}

impl Program {
    /// Keeps elements of the target in registers during the loop, and loads each operand once in
    /// an iteration.
    ///
    /// # Errors
    /// [`StepError::Target`] if the loop is not one update of each element.
    pub fn scalar_replaced(&self) -> Result<Self, StepError> {
        let mut new = Self { step: Vec::new(), ..self.clone() };
        // The register that holds an element, and those that stand for another one.
        let mut elements: FxHashMap<(usize, usize), Register> = FxHashMap::default();
        let mut loaded: FxHashMap<(usize, usize), Register> = FxHashMap::default();
        let mut same: FxHashMap<Register, Register> = FxHashMap::default();
        for inst in &self.step {
            match *inst {
                Inst::LoadTarget { to, row, column } => {
                    if elements.insert((row, column), to).is_some() {
                        return Err(StepError::Target { row, column });
                    }
                    new.before.push(*inst);
                }
                Inst::StoreTarget { from, row, column } => {
                    let element =
                        *elements.get(&(row, column)).ok_or(StepError::Target { row, column })?;
                    let Some(Inst::Binary { to, left, .. }) = new.step.last_mut() else {
                        return Err(StepError::Target { row, column });
                    };
                    if *to != from || *left != element {
                        return Err(StepError::Target { row, column });
                    }
                    *to = element;
                    new.after.push(Inst::StoreTarget { from: element, row, column });
                }
                Inst::Load { to, operand, at } => match loaded.get(&(operand, at)) {
                    Some(first) => {
                        same.insert(to, *first);
                    }
                    None => {
                        loaded.insert((operand, at), to);
                        new.step.push(*inst);
                    }
                },
                inst => {
                    new.step.push(inst.renamed(|name| same.get(&name).copied().unwrap_or(name)));
                }
            }
        }
        new.hoist_scalars();
        Ok(new)
    }

    /// Loads what does not vary in front of the loop.
    fn hoist_scalars(&mut self) {
        let roles = self.body.roles().to_vec();
        let is_scalar = |inst: &Inst| matches!(inst, Inst::Load { operand, .. } if roles[*operand] == Role::Scalar);
        let (scalars, rest): (Vec<Inst>, Vec<Inst>) =
            self.step.iter().copied().partition(is_scalar);
        self.before.extend(scalars);
        self.step = rest;
    }

    /// Makes vectors of `width` elements that are side by side in a row.
    ///
    /// # Errors
    /// [`StepError::Width`] if rows are no whole number of vectors, [`StepError::Lanes`] if
    /// elements of one vector are computed in different ways.
    pub fn vectorised(&self, width: usize) -> Result<Self, StepError> {
        if width == 0 || !self.columns.is_multiple_of(width) {
            return Err(StepError::Width { columns: self.columns, width });
        }
        let mut lanes = Lanes {
            roles: self.body.roles(),
            width,
            first: FxHashMap::default(),
            later: FxHashSet::default(),
            kept: FxHashMap::default(),
            at: 0,
        };
        let mut new = self.clone();
        new.width = width;
        for part in [&mut new.before, &mut new.step, &mut new.after] {
            let old = std::mem::take(part);
            for inst in old {
                part.extend(lanes.merged(inst)?);
            }
            lanes.kept.clear();
        }
        Ok(new)
    }
}

/// Which register of the first lane stands for one of another lane.
struct Lanes<'a> {
    roles: &'a [Role],
    width: usize,
    /// What stands for a register: the like in the first lane, or an equal one.
    first: FxHashMap<Register, Register>,
    /// The registers of other lanes.
    later: FxHashSet<Register>,
    /// What the first lanes compute: instructions, as if they wrote register 0.
    kept: FxHashMap<Inst, Register>,
    at: usize,
}

impl Lanes<'_> {
    /// Returns an instruction of the first lane; one of another lane needs its like there.
    fn merged(&mut self, inst: Inst) -> Result<Option<Inst>, StepError> {
        let at = self.at;
        self.at += 1;
        let column = |column: usize| column - column % self.width;
        let (inst, is_first) = match inst {
            Inst::LoadTarget { to, row, column: c } => {
                (Inst::LoadTarget { to, row, column: column(c) }, c == column(c))
            }
            Inst::StoreTarget { from, row, column: c } => {
                (Inst::StoreTarget { from, row, column: column(c) }, c == column(c))
            }
            Inst::Load { to, operand, at } if self.roles[operand] == Role::Column => {
                (Inst::Load { to, operand, at: column(at) }, at == column(at))
            }
            Inst::Load { .. } => (inst, true),
            // Where all operands are of first lanes, so is the result.
            other => (other, other.sources().all(|source| !self.later.contains(&source))),
        };
        let Some(to) = inst.target() else {
            return Ok(is_first.then_some(inst));
        };
        let leader = |name: Register| self.first.get(&name).copied().unwrap_or(name);
        let updates = inst.sources().any(|source| source == to);
        let key = inst.renamed(|name| match name == to && !updates {
            true => Register(u32::MAX),
            false => leader(name),
        });
        // What does not vary with the column is the same for all lanes.
        if is_first && (updates || !self.kept.contains_key(&key)) {
            self.kept.insert(key, to);
            return Ok(Some(inst.renamed(leader)));
        }
        let like = self.kept.get(&key).copied().ok_or(StepError::Lanes(at))?;
        if !is_first {
            self.later.insert(to);
        }
        self.first.insert(to, like);
        Ok(None)
    }
}
