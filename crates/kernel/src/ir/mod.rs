//! Programs as functions in IR: loops of `scf` that carry sums and walking views, vectors of `vector`,
//! and the operations that `tg` has for micro-kernels.
//!
//! ```text
//! %t:4 = scf.for %p = %0 to %depth step %1 iter_args(%a = .., %b = .., %next = .., %s = ..) {
//!   memref.prefetch %next[%0], read, locality<2>, data
//!   %n = tg.advance %next, %16
//!   %x = memref.load %a[%o]                       // an element of a row, where it lies
//!   %r = vector.broadcast %x
//!   %v = vector.load %b[%0]                       // elements of a panel
//!   %k = tg.keep %v                               // with which all rows are updated
//!   %m = arith.mulf %r, %k
//!   %u = arith.addf %s, %m
//!   %c = tg.advance %a, %step
//!   %d = tg.advance %b, %8
//!   scf.yield %c, %d, %n, %u
//! }
//! ```

mod maker;

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Op, Value};

use crate::body::{Op as Arithmetic, Role};
use crate::program::{Inst, Program, Register};
use crate::steps::StepError;
use crate::tile::Element;
use maker::{Maker, Parameter, Types};

/// Bytes in a line of cache, or fewer.
const LINE: usize = 64;

impl Program {
    /// Adds a function to a module that computes a tile from zeros, with row operands where they lie in
    /// memory.
    ///
    /// ```text
    /// func.func @name(%segments: index, %segment: memref<?xindex>, %depth: index, %step: index,
    ///                 %x: memref<?xT>, %row: memref<?xindex>, .., %b: memref<?xT>, ..,
    ///                 %next: memref<?xT>, %c: memref<?xT>)
    /// ```
    ///
    /// Reduced iterations come in `segments` runs of `depth`: in iteration `p` of run `q`, row `r`
    /// of a row operand is `x[segment[q] + row[r] + p * step]`, while panels of column operands
    /// are packed without gaps, and `c` is the tile, row by row, aligned for vectors. Rows that
    /// are not wanted may have the offset of another one. Each iteration asks for one more line of
    /// cache from `next` on.
    ///
    /// A tile of more columns than a panel has, `panel`, takes one more argument in front of the
    /// others, `%apart: index`: how many elements lie from a panel to the next.
    ///
    /// # Errors
    /// [`StepError::Memory`] if sums are not kept in registers; [`StepError::Pairs`] if pairs are to be
    /// more than multiplied and added.
    pub fn to_ir(
        &self,
        module: &mut Module,
        name: &str,
        element: Element,
        panel: usize,
    ) -> Result<Op, StepError> {
        let types = Types::of(module.context(), element, self.width);
        let parameters = self.parameters(&types, panel);
        let (maker, function, arguments) = Maker::function(module, name, &parameters);
        let mut writer = Writer {
            program: self,
            element,
            panel,
            types,
            maker,
            values: FxHashMap::default(),
            products: FxHashMap::default(),
            operands: Vec::new(),
            apart: None,
        };
        writer.body(&arguments)?;
        Ok(function)
    }

    fn parameters(&self, types: &Types, panel: usize) -> Vec<Parameter> {
        let (index, places) = (types.index, types.places);
        let mut all = Vec::new();
        if panel < self.columns {
            all.push(Parameter::new("apart", index));
        }
        all.push(Parameter::new("segments", index));
        all.push(Parameter::new("segment", places));
        all.push(Parameter::new("depth", index));
        all.push(Parameter::new("step", index));
        for (at, role) in self.body.roles().iter().enumerate() {
            match role {
                Role::Row => {
                    all.push(Parameter::new(&format!("x{at}"), types.rows).alone());
                    all.push(Parameter::new(&format!("row{at}"), places).alone());
                }
                Role::Column => {
                    all.push(Parameter::new(&format!("b{at}"), types.columns).alone());
                }
                Role::Scalar => all.push(Parameter::new(&format!("s{at}"), types.element)),
            }
        }
        all.push(Parameter::new("next", types.columns));
        all.push(Parameter::new("c", types.rows).alone());
        all
    }
}

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

struct Writer<'a> {
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
}

impl Writer<'_> {
    fn body(&mut self, arguments: &[Value]) -> Result<(), StepError> {
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
        let sums = self.before()?;

        let walking = [self.columns(), vec![next], self.sums(&sums)?].concat();
        let (runs, q, carried) = self.maker.open_loop(segments, &walking, "q");
        let next = self.take_carried(&[], &carried, &sums);
        let starts = self.runs(segment, q);

        let walking = [starts, self.columns(), vec![next], self.sums(&sums)?].concat();
        let (iterations, _, carried) = self.maker.open_loop(depth, &walking, "p");
        let rows = self.rows();
        let next = self.take_carried(&rows, &carried, &sums);
        let next = self.prefetch(next);
        for inst in &self.program.step {
            self.write(inst)?;
        }
        self.advance(step);
        let walked = [self.views(&rows), self.columns(), vec![next], self.sums(&sums)?].concat();
        let results = self.maker.close_loop(iterations, &walked);

        let results = self.maker.close_loop(runs, &results[rows.len()..]);
        self.take_carried(&[], &results, &sums);
        for inst in &self.program.after {
            self.store(inst, tile)?;
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

    /// What stands before the loops: sums are zero, scalars are in all lanes. Returns the sums.
    fn before(&mut self) -> Result<Vec<Register>, StepError> {
        let mut sums = Vec::new();
        for inst in &self.program.before {
            match *inst {
                Inst::LoadTarget { to, .. } => {
                    let zero = self.maker.zero(self.types.vector);
                    self.values.insert(to, zero);
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

    /// Goes on with what a loop carries: views of `rows` and of columns, the line that is fetched next, which
    /// is returned, and sums.
    fn take_carried(&mut self, rows: &[usize], carried: &[Value], sums: &[Register]) -> Value {
        let views = [rows, &self.column_operands()].concat();
        let (given, rest) = carried.split_at(views.len());
        for (at, &value) in views.into_iter().zip(given) {
            match &mut self.operands[at] {
                Operand::Row { view, .. } | Operand::Column { view } => *view = value,
                Operand::Scalar { .. } => {}
            }
        }
        for (sum, &value) in sums.iter().zip(&rest[1..]) {
            self.maker.named(value, &format!("r{}", sum.0));
            self.values.insert(*sum, value);
        }
        rest[0]
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

    /// Whether what is loaded is a vector that several rows are updated with.
    fn is_shared(&self, inst: &Inst) -> bool {
        let Inst::Load { operand, .. } = *inst else { return false };
        let is_column = self.program.body.roles()[operand] == Role::Column;
        is_column && self.program.width > 1 && self.program.rows > 1
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

    fn store(&mut self, inst: &Inst, tile: Value) -> Result<(), StepError> {
        let Inst::StoreTarget { from, row, column } = *inst else { return Err(StepError::Memory) };
        let at = self.maker.index(row * self.program.columns + column);
        let name = if self.program.width == 1 { "memref.store" } else { "vector.store" };
        let from = self.read(from)?;
        self.maker.op(name, &[from, tile, at], &[], &[]);
        Ok(())
    }
}
