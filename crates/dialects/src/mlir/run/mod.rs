//! Running functions of MLIR's dialects: what programs mean, for tests of rewrites.
//!
//! Integers are held sign-extended from their width, `index` has 64 bits, floats are rounded to
//! their format after each operation. What has no meaning (a division by zero, a shift by the
//! width, an access outside of a buffer) ends the run with [`Trap::Undefined`].

mod control;
mod digits;
mod memory;
mod micro;
mod nests;
mod scalar;
mod slices;
mod structured;
mod uninterpreted;
mod vectors;
mod views;

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Op, Value};
pub use views::View;

/// The deepest nesting of regions and calls.
const MAX_NESTING: u32 = 64;

/// What a value is at run time.
#[derive(Clone, Debug)]
pub enum Datum {
    /// An integer or index, sign-extended.
    Int(i128),
    /// A float of any format.
    Float(f64),
    /// A buffer; copies are the same buffer.
    Buffer(Rc<RefCell<Elements>>),
    /// A part of a buffer, or the whole in another shape.
    View(Rc<View>),
    /// A tensor or vector.
    Tensor(Rc<Elements>),
}

/// Elements in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct Elements {
    /// The extents.
    pub extents: Vec<i64>,
    /// The elements, none of which is a buffer or tensor.
    pub data: Vec<Datum>,
}

impl PartialEq for Datum {
    /// Buffers are equal when their extents and elements are. Floats are equal when their bits are, or when both are NaN.
    fn eq(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Int(a), Datum::Int(b)) => a == b,
            (Datum::Float(a), Datum::Float(b)) => {
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
            }
            (Datum::Tensor(a), Datum::Tensor(b)) => a == b,
            (Datum::Buffer(_) | Datum::View(_), Datum::Buffer(_) | Datum::View(_)) => {
                let (a, b) = (View::of(self), View::of(other));
                a.and_then(|a| a.elements()) == b.and_then(|b| b.elements())
            }
            _ => false,
        }
    }
}

/// Why a run ended early.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Trap {
    /// The program has no meaning here.
    #[error("`{0}` is undefined for its operands")]
    Undefined(String),
    /// An assertion failed.
    #[error("assertion failed: {0}")]
    Assertion(String),
    /// More operations than were allowed.
    #[error("the run took more than {0} operations")]
    Budget(u64),
    /// Regions or calls are nested too deep.
    #[error("regions and calls are nested deeper than {MAX_NESTING}")]
    Nesting,
    /// An operation, type or attribute that is not interpreted.
    #[error("`{0}` cannot be run")]
    Unsupported(String),
}

type Result<T> = std::result::Result<T, Trap>;

/// Runs `function` on `args`, at most `budget` operations of it; returns what it returns.
/// Buffers among `args` are changed.
///
/// # Errors
/// [`Trap`].
pub fn run(module: &Module, function: Op, args: &[Datum], budget: u64) -> Result<Vec<Datum>> {
    Machine::new(module, budget).call(function, args.to_vec())
}

/// As [`run`]; operations of unknown dialects are uninterpreted functions with a state. Returns
/// that state as well: programs with equal ones did the same there, in the same order.
///
/// What such an operation gives depends on its name, attributes and operands, and on all that ran
/// before it; it runs each of its regions at most twice.
///
/// # Errors
/// [`Trap`].
pub fn run_uninterpreted(
    module: &Module,
    function: Op,
    args: &[Datum],
    budget: u64,
) -> Result<(Vec<Datum>, u64)> {
    let mut machine = Machine::new(module, budget);
    machine.state = Some(0);
    let results = machine.call(function, args.to_vec())?;
    Ok((results, machine.state.unwrap_or_default()))
}

struct Machine<'a> {
    module: &'a Module,
    values: FxHashMap<Value, Datum>,
    nesting: u32,
    budget: u64,
    left: u64,
    /// What uninterpreted operations have done; they trap where it is absent.
    state: Option<u64>,
    /// Where structured operations are in their iteration spaces, the innermost last.
    points: Vec<Vec<i64>>,
    /// The global buffers that were asked for.
    globals: FxHashMap<Op, Datum>,
}

impl<'a> Machine<'a> {
    fn new(module: &'a Module, budget: u64) -> Machine<'a> {
        let values = FxHashMap::default();
        Machine {
            module,
            values,
            nesting: 0,
            budget,
            left: budget,
            state: None,
            points: Vec::new(),
            globals: FxHashMap::default(),
        }
    }

    fn unsupported(&self, op: Op) -> Trap {
        Trap::Unsupported(self.module.name_text(op).to_owned())
    }

    fn undefined(&self, op: Op) -> Trap {
        Trap::Undefined(self.module.name_text(op).to_owned())
    }

    fn get(&self, op: Op, value: Value) -> Result<Datum> {
        self.values.get(&value).cloned().ok_or_else(|| self.unsupported(op))
    }

    fn operands(&self, op: Op) -> Result<Vec<Datum>> {
        self.module.operands(op).map(|value| self.get(op, value)).collect()
    }

    /// The integers among `data`, which are all of them.
    fn ints(&self, op: Op, data: &[Datum]) -> Result<Vec<i64>> {
        let int = |datum: &Datum| match datum {
            Datum::Int(value) => i64::try_from(*value).ok(),
            _ => None,
        };
        data.iter().map(|datum| int(datum).ok_or_else(|| self.unsupported(op))).collect()
    }

    /// Runs an operation that is no terminator.
    fn step(&mut self, op: Op) -> Result<()> {
        self.left = self.left.checked_sub(1).ok_or(Trap::Budget(self.budget))?;
        let operands = self.operands(op)?;
        let name = self.module.name_text(op);
        let (dialect, _) = name.split_once('.').unwrap_or((name, ""));
        let results = match dialect {
            _ if self.module.def(op).is_none() => self.uninterpreted(op, &operands)?,
            "arith" | "math" => self.scalar(op, &operands)?,
            "tensor" if name == "tensor.concat" => self.concat(op, &operands)?,
            "memref" => self.buffers(op, &operands)?,
            "vector" => self.vectors(op, &operands)?,
            "tg" => self.micro(op, &operands)?,
            "tensor" => self.memory(op, &operands)?,
            "linalg" => self.structured(op, &operands)?,
            "affine" if self.module.regions(op).is_empty() => self.affine(op, &operands)?,
            "scf" | "affine" | "func" => self.control(op, operands)?,
            "cf" if name == "cf.assert" => match operands.first() {
                Some(Datum::Int(0)) => {
                    let text = self.module.attr(op, "msg");
                    let text = text.and_then(|attr| self.module.context().as_text(attr));
                    return Err(Trap::Assertion(text.unwrap_or_default().to_owned()));
                }
                _ => Vec::new(),
            },
            _ => return Err(self.unsupported(op)),
        };
        if results.len() != self.module.result_count(op) {
            return Err(self.unsupported(op));
        }
        self.values.extend(self.module.results(op).zip(results));
        Ok(())
    }
}
