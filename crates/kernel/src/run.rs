//! Running programs: what each instruction means, as an oracle for the steps and for C.
//!
//! Registers, vectors and the order of their operations are the point, which neither
//! `structured/interpret/body` nor `mlir/run/scalar` of `tangram-dialects` know.

use rustc_hash::FxHashMap;

use crate::body::{Op, Role};
use crate::program::{Inst, Program, Register};

/// The operands of a tile, each packed in the order in which it is read.
///
/// A row operand has, for each iteration, an element for each row; a column operand one for each
/// column; a scalar one element in all.
#[derive(Clone, PartialEq, Debug)]
pub struct Panels {
    /// Reduced iterations.
    pub depth: usize,
    /// Elements of each operand.
    pub operands: Vec<Vec<f64>>,
}

impl Program {
    /// Updates a tile, row by row in `target`, each operation rounded to 64 bits by itself.
    ///
    /// # Panics
    /// If a panel or the target has too few elements.
    pub fn run(&self, panels: &Panels, target: &mut [f64]) {
        let mut registers: FxHashMap<Register, Vec<f64>> = FxHashMap::default();
        for inst in &self.before {
            self.execute(inst, 0, panels, target, &mut registers);
        }
        for iteration in 0..panels.depth {
            for inst in &self.step {
                self.execute(inst, iteration, panels, target, &mut registers);
            }
        }
        for inst in &self.after {
            self.execute(inst, 0, panels, target, &mut registers);
        }
    }

    fn execute(
        &self,
        inst: &Inst,
        iteration: usize,
        panels: &Panels,
        target: &mut [f64],
        registers: &mut FxHashMap<Register, Vec<f64>>,
    ) {
        let width = self.width;
        match *inst {
            Inst::LoadTarget { to, row, column } => {
                let from = row * self.columns + column;
                registers.insert(to, target[from..from + width].to_vec());
            }
            Inst::StoreTarget { from, row, column } => {
                let at = row * self.columns + column;
                target[at..at + width].copy_from_slice(&registers[&from]);
            }
            Inst::Load { to, operand, at } => {
                let panel = &panels.operands[operand];
                let value = match self.body.roles()[operand] {
                    Role::Row => vec![panel[iteration * self.rows + at]; width],
                    Role::Scalar => vec![panel[0]; width],
                    Role::Column => {
                        let from = iteration * self.columns + at;
                        panel[from..from + width].to_vec()
                    }
                };
                registers.insert(to, value);
            }
            Inst::Binary { to, op, left, right } => {
                let pairs = registers[&left].iter().zip(&registers[&right]);
                let value = pairs.map(|(a, b)| computed(op, *a, *b)).collect();
                registers.insert(to, value);
            }
            Inst::Negate { to, of } => {
                let value = registers[&of].iter().map(|a| -a).collect();
                registers.insert(to, value);
            }
        }
    }
}

fn computed(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::Add | Op::Operand(_) | Op::Neg => a + b,
    }
}
