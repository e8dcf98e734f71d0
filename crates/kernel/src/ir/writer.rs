//! The body of a kernel: what is loaded, computed and carried.

use rustc_hash::FxHashMap;
use tangram_ir::Value;

use super::maker::{Maker, Types};
use crate::body::{Op as Arithmetic, Role};
use crate::program::{Inst, Program, Register};
use crate::steps::StepError;
use crate::tile::Element;

/// Bytes in a line of cache, or fewer.
const LINE: usize = 64;

/// Where an operand is read.
#[derive(Clone, Debug)]
enum Operand {
    /// From the first iteration of a run on; for each row, how far it lies from there.
    Row { view: Value, offsets: Vec<Value> },
    /// From an iteration on.
    Column { view: Value },
    /// As it is.
    Scalar { value: Value },
}

pub(super) struct Writer<'a> {
    program: &'a Program,
    element: Element,
    /// The columns of a panel.
    panel: usize,
    types: Types,
    maker: Maker<'a>,
    values: FxHashMap<Register, Value>,
    /// Products of pairs, which only sums take.
    products: FxHashMap<Register, [Value; 2]>,
    operands: Vec<Operand>,
    /// How far a panel lies from the next.
    apart: Option<Value>,
    /// Whether vectors of columns are kept in registers for all rows.
    keeps: bool,
}

impl<'a> Writer<'a> {
    pub fn new(
        program: &'a Program,
        element: Element,
        panel: usize,
        types: Types,
        maker: Maker<'a>,
    ) -> Self {
        Writer {
            program,
            element,
            panel,
            types,
            maker,
            values: FxHashMap::default(),
            products: FxHashMap::default(),
            operands: Vec::new(),
            apart: None,
            keeps: false,
        }
    }

    /// From packed panels to rows that a table has.
    pub fn packed(&mut self, arguments: &[Value]) -> Result<(), StepError> {
        let &[depth, ref operands @ .., tile] = arguments else { return Err(StepError::Memory) };
        let offsets: Vec<Value> = (0..self.program.rows).map(|row| self.maker.index(row)).collect();
        let roles = self.program.body.roles().iter().zip(operands);
        self.operands = roles
            .map(|(role, &given)| match role {
                Role::Row => Operand::Row { view: given, offsets: offsets.clone() },
                Role::Column => Operand::Column { view: given },
                Role::Scalar => Operand::Scalar { value: given },
            })
            .collect();
        let sums = self.before(Some(tile))?;

        let rows = self.rows();
        let walking = [self.views(&rows), self.columns(), self.sums(&sums)?].concat();
        let (iterations, _, carried) = self.maker.open_loop(depth, &walking, "p");
        self.take_carried(&rows, &carried, &sums);
        for inst in &self.program.step {
            self.write(inst)?;
        }
        let step = self.maker.index(self.program.rows);
        self.advance(step);
        let walked = [self.views(&rows), self.columns(), self.sums(&sums)?].concat();
        let results = self.maker.close_loop(iterations, &walked);
        self.take_carried(&rows, &results, &sums);
        for inst in &self.program.after {
            self.store(inst, |writer, row, column| writer.place(tile, row, column))?;
        }
        self.maker.op("func.return", &[], &[], &[]);
        Ok(())
    }

    /// An element of a tile whose rows a table has.
    fn place(&mut self, tile: Value, row: usize, column: usize) -> [Value; 2] {
        let row = self.maker.index(row);
        let column = self.maker.index(column);
        [self.maker.value("memref.load", &[tile, row], self.types.rows), column]
    }

    /// To a tile in one piece, of rows where they lie.
    pub fn in_place(&mut self, arguments: &[Value]) -> Result<(), StepError> {
        self.keeps = self.program.width > 1 && self.program.rows > 1;
        let arguments = match self.panel < self.program.columns {
            true => {
                self.apart = Some(arguments[0]);
                &arguments[1..]
            }
            false => arguments,
        };
        let &[segments, segment, depth, step, ref operands @ .., next, tile] = arguments else {
            return Err(StepError::Memory);
        };
        self.read_operands(operands);
        let sums = self.before(None)?;

        let walking = [vec![next], self.columns(), self.sums(&sums)?].concat();
        let (runs, q, carried) = self.maker.open_loop(segments, &walking, "q");
        self.take_carried(&[], &carried[1..], &sums);
        let starts = self.runs(segment, q);

        let walking = [vec![carried[0]], starts, self.columns(), self.sums(&sums)?].concat();
        let (iterations, _, carried) = self.maker.open_loop(depth, &walking, "p");
        let rows = self.rows();
        self.take_carried(&rows, &carried[1..], &sums);
        let next = self.prefetch(carried[0]);
        for inst in &self.program.step {
            self.write(inst)?;
        }
        self.advance(step);
        let walked = [vec![next], self.views(&rows), self.columns(), self.sums(&sums)?].concat();
        let results = self.maker.close_loop(iterations, &walked);

        // Rows begin anew in the next run.
        let walked = [&results[..1], &results[1 + rows.len()..]].concat();
        let results = self.maker.close_loop(runs, &walked);
        self.take_carried(&[], &results[1..], &sums);
        let columns = self.program.columns;
        for inst in &self.program.after {
            self.store(inst, |writer, row, column| {
                [tile, writer.maker.index(row * columns + column)]
            })?;
        }
        self.maker.op("func.return", &[], &[], &[]);
        Ok(())
    }

    /// Finds operands among the arguments, and loads the offsets of rows.
    fn read_operands(&mut self, arguments: &[Value]) {
        let mut given = arguments.iter().copied();
        for (at, role) in self.program.body.roles().iter().enumerate() {
            let Some(first) = given.next() else { return };
            self.operands.push(match role {
                Role::Row => {
                    let Some(places) = given.next() else { return };
                    let offset = |row: usize| {
                        let row_at = self.maker.index(row);
                        let offset =
                            self.maker.value("memref.load", &[places, row_at], self.types.index);
                        self.maker.named(offset, &format!("o{at}_{row}"))
                    };
                    let offsets = (0..self.program.rows).map(offset).collect();
                    Operand::Row { view: first, offsets }
                }
                Role::Column => Operand::Column { view: first },
                Role::Scalar => Operand::Scalar { value: first },
            });
        }
    }

    /// What stands before the loops: sums are the rows of a tile or zero, scalars are in all lanes. Returns
    /// the sums.
    fn before(&mut self, tile: Option<Value>) -> Result<Vec<Register>, StepError> {
        let mut sums = Vec::new();
        for inst in &self.program.before {
            match *inst {
                Inst::LoadTarget { to, row, column } => {
                    let first = match tile {
                        None => self.maker.zero(self.types.vector),
                        Some(tile) => {
                            let place = self.place(tile, row, column);
                            let name =
                                if self.program.width == 1 { "memref.load" } else { "vector.load" };
                            let value = self.maker.value(name, &place, self.types.vector);
                            self.maker.named(value, &format!("r{}", to.0))
                        }
                    };
                    self.values.insert(to, first);
                    sums.push(to);
                }
                _ => self.write(inst)?,
            }
        }
        Ok(sums)
    }

    fn rows(&self) -> Vec<usize> {
        let is_row = |at: &usize| matches!(self.operands[*at], Operand::Row { .. });
        (0..self.operands.len()).filter(is_row).collect()
    }

    /// The views of operands that have one.
    fn views(&self, operands: &[usize]) -> Vec<Value> {
        let view = |at: &usize| match self.operands[*at] {
            Operand::Row { view, .. } | Operand::Column { view } => Some(view),
            Operand::Scalar { .. } => None,
        };
        operands.iter().filter_map(view).collect()
    }

    fn column_operands(&self) -> Vec<usize> {
        let is_column = |at: &usize| matches!(self.operands[*at], Operand::Column { .. });
        (0..self.operands.len()).filter(is_column).collect()
    }

    fn columns(&self) -> Vec<Value> {
        self.views(&self.column_operands())
    }

    fn sums(&self, sums: &[Register]) -> Result<Vec<Value>, StepError> {
        sums.iter().map(|sum| self.read(*sum)).collect()
    }

    fn read(&self, register: Register) -> Result<Value, StepError> {
        self.values.get(&register).copied().ok_or(StepError::Memory)
    }

    /// Goes on with what a loop carries: views of `rows` and of columns, and sums.
    fn take_carried(&mut self, rows: &[usize], carried: &[Value], sums: &[Register]) {
        let views = [rows, &self.column_operands()].concat();
        let (given, rest) = carried.split_at(views.len());
        for (at, &value) in views.into_iter().zip(given) {
            match &mut self.operands[at] {
                Operand::Row { view, .. } | Operand::Column { view } => *view = value,
                Operand::Scalar { .. } => {}
            }
        }
        for (sum, &value) in sums.iter().zip(rest) {
            self.maker.named(value, &format!("r{}", sum.0));
            self.values.insert(*sum, value);
        }
    }

    /// Where rows begin in a run.
    fn runs(&mut self, segment: Value, run: Value) -> Vec<Value> {
        let mut starts = Vec::new();
        for at in self.rows() {
            let [whole] = self.views(&[at])[..] else { continue };
            let from = self.maker.value("memref.load", &[segment, run], self.types.index);
            let view = self.maker.value("tg.advance", &[whole, from], self.types.rows);
            starts.push(self.maker.named(view, &format!("a{at}")));
        }
        starts
    }

    /// Asks for a line of cache, and returns where the one behind it is.
    fn prefetch(&mut self, next: Value) -> Value {
        let zero = self.maker.index(0);
        self.maker.prefetch(next, zero);
        let line = self.maker.index(LINE / self.element.column_bytes());
        self.maker.value("tg.advance", &[next, line], self.types.columns)
    }

    /// Moves operands on to the next iteration.
    fn advance(&mut self, step: Value) {
        let panel = self.maker.index(self.panel);
        for is_row in [true, false] {
            for operand in &mut self.operands {
                let (view, by, ty) = match operand {
                    Operand::Row { view, .. } if is_row => (view, step, self.types.rows),
                    Operand::Column { view } if !is_row => (view, panel, self.types.columns),
                    _ => continue,
                };
                *view = self.maker.value("tg.advance", &[*view, by], ty);
            }
        }
    }

    /// Writes an instruction that computes or loads.
    fn write(&mut self, inst: &Inst) -> Result<(), StepError> {
        let (to, value) = match *inst {
            Inst::Load { to, operand, at } => (to, self.load(operand, at)),
            Inst::Negate { to, of } if !self.element.is_pair() => {
                let of = self.read(of)?;
                (to, self.maker.value("arith.negf", &[of], self.types.vector))
            }
            Inst::Binary { to, op: Arithmetic::Mul, left, right } if self.element.is_pair() => {
                self.products.insert(to, [self.read(left)?, self.read(right)?]);
                return Ok(());
            }
            Inst::Binary { to, op, left, right } => (to, self.binary(op, left, right)?),
            Inst::Negate { .. } => return Err(StepError::Pairs),
            Inst::LoadTarget { .. } | Inst::StoreTarget { .. } => return Err(StepError::Memory),
        };
        self.values.insert(to, value);
        if matches!(inst, Inst::Load { .. }) {
            self.maker.named(value, &format!("r{}", to.0));
            if self.is_shared(inst) {
                let kept = self.maker.value("tg.keep", &[value], self.types.vector);
                self.values.insert(to, kept);
            }
        }
        Ok(())
    }

    fn binary(
        &mut self,
        op: Arithmetic,
        left: Register,
        right: Register,
    ) -> Result<Value, StepError> {
        if self.element.is_pair() {
            let product = self.products.get(&right).copied();
            let (Arithmetic::Add, Some([a, b])) = (op, product) else {
                return Err(StepError::Pairs);
            };
            let sum = self.read(left)?;
            return Ok(self.maker.value("tg.dot", &[sum, a, b], self.types.vector));
        }
        let name = match op {
            Arithmetic::Sub => "arith.subf",
            Arithmetic::Mul => "arith.mulf",
            Arithmetic::Div => "arith.divf",
            Arithmetic::Add | Arithmetic::Operand(_) | Arithmetic::Neg => "arith.addf",
        };
        let operands = [self.read(left)?, self.read(right)?];
        Ok(self.maker.value(name, &operands, self.types.vector))
    }

    /// Whether what is loaded is a vector that several rows are updated with, and kept.
    fn is_shared(&self, inst: &Inst) -> bool {
        let Inst::Load { operand, .. } = *inst else { return false };
        self.keeps && self.program.body.roles()[operand] == Role::Column
    }

    /// An operand at the current iteration, in all lanes or in as many as there are.
    fn load(&mut self, operand: usize, at: usize) -> Value {
        let (element, vector) = (self.types.element, self.types.vector);
        let scalar = match &self.operands[operand] {
            Operand::Column { view } => return self.load_column(*view, at),
            Operand::Row { view, offsets } => {
                self.maker.value("memref.load", &[*view, offsets[at]], element)
            }
            Operand::Scalar { value } => *value,
        };
        match self.program.width {
            1 => scalar,
            _ => self.maker.value("vector.broadcast", &[scalar], vector),
        }
    }

    fn load_column(&mut self, view: Value, at: usize) -> Value {
        let within = self.maker.index(at % self.panel);
        let place = match self.apart {
            Some(apart) if at >= self.panel => {
                let panel = self.maker.index(at / self.panel);
                let whole = self.maker.value("arith.muli", &[panel, apart], self.types.index);
                self.maker.value("arith.addi", &[whole, within], self.types.index)
            }
            _ => self.maker.index(at),
        };
        let name = match (self.element, self.program.width) {
            (Element::PairsOfBytes, _) => "tg.widen_load",
            (_, 1) => "memref.load",
            _ => "vector.load",
        };
        self.maker.value(name, &[view, place], self.types.vector)
    }

    /// Writes a sum to its place in the tile.
    fn store(
        &mut self,
        inst: &Inst,
        place: impl Fn(&mut Self, usize, usize) -> [Value; 2],
    ) -> Result<(), StepError> {
        let Inst::StoreTarget { from, row, column } = *inst else { return Err(StepError::Memory) };
        let name = if self.program.width == 1 { "memref.store" } else { "vector.store" };
        let from = self.read(from)?;
        let [view, at] = place(self, row, column);
        self.maker.op(name, &[from, view, at], &[], &[]);
        Ok(())
    }
}
