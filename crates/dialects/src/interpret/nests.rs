//! Nests: operations of `tg`, and the loops around them.
//!
//! A destination begins without elements. Which of them are written is known beside its value, so
//! that whoever reads another one, or returns it, is refused.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_ir::{Module, Op, Type, Value};
use tangram_tensor::{Tensor, checked_count};

use super::{Datum, InterpretError, Interpreter, Result, malformed};
use crate::structured::{self, interpret_nest};
use crate::tg::Nest;
use crate::{dims, dtype};

/// What is known of symbols and destinations while nests run.
#[derive(Default)]
pub(super) struct Nests {
    /// The values of symbols, by the extents of tensors that were seen.
    symbols: FxHashMap<String, i64>,
    /// Which elements of a value are written, where some are not.
    partial: FxHashMap<Value, Rc<[bool]>>,
    /// Nests that were read: those in loops run often.
    read: FxHashMap<Op, Rc<Nest>>,
}

impl Nests {
    /// Takes the values of symbols from the extents of a tensor.
    pub(super) fn bind(&mut self, module: &Module, ty: Type, datum: &Datum) {
        let context = module.context();
        let (Some((extents, _)), Datum::Tensor(tensor)) = (context.as_tensor(ty), datum) else {
            return;
        };
        for (&extent, &found) in extents.iter().zip(tensor.shape()) {
            let expr = dims::expr(context, extent);
            let Some(name) = expr.as_ref().and_then(Expr::as_symbol) else { continue };
            if !self.symbols.contains_key(name) {
                self.symbols.insert(name.to_owned(), found as i64);
            }
        }
    }

    fn value(&self, expr: &Expr) -> Option<i64> {
        expr.eval(&|name| self.symbols.get(name).copied())
    }

    /// Whether every element of a value is written.
    pub(super) fn is_whole(&self, value: Value) -> bool {
        !self.partial.contains_key(&value)
    }

    /// States which elements of a value are written.
    fn state(&mut self, value: Value, written: Rc<[bool]>) {
        if written.iter().all(|&written| written) {
            self.partial.remove(&value)
        } else {
            self.partial.insert(value, written)
        };
    }
}

impl Interpreter<'_> {
    /// The results of an operation of `tg`, or of a loop around nests; `None` for any other one.
    pub(super) fn run_nests(&mut self, op: Op, operands: &[Datum]) -> Result<Option<Vec<Datum>>> {
        let results = match self.module.name_text(op) {
            "tg.nest" => vec![self.nest(op, operands)?],
            "tg.buffer" => vec![self.buffer(op)?],
            "tg.view" => vec![self.view(op, operands)?],
            "tg.size" => vec![number(self.size(op)?)],
            "tg.reference" => self.reference(op, operands)?,
            "arith.constant" => {
                let value = self.module.attr(op, "value");
                let value = value.and_then(|attr| self.module.context().as_i64(attr));
                vec![number(value.ok_or_else(|| malformed(self.module, op, "integer"))?)]
            }
            "scf.for" => self.counted_loop(op, operands)?,
            _ => return Ok(None),
        };
        Ok(Some(results))
    }

    fn wrong(&self, op: Op, source: structured::InterpretError) -> InterpretError {
        let context = self.module.context();
        let names = |attr| match context.attr_data(attr) {
            tangram_ir::AttrData::Array(items) => {
                let names: Vec<&str> =
                    items.iter().filter_map(|&item| context.as_text(item)).collect();
                names.join(", ")
            }
            _ => String::new(),
        };
        let from = self.module.attr(op, "from").map(names).unwrap_or_default();
        InterpretError::Nest { from, source }
    }

    fn nest(&mut self, op: Op, operands: &[Datum]) -> Result<Datum> {
        let module = self.module;
        let nest = match self.nests.read.get(&op) {
            Some(nest) => Rc::clone(nest),
            None => {
                let nest = Nest::read(module, op);
                let nest = Rc::new(nest.map_err(|_| malformed(module, op, "well-formed nest"))?);
                self.nests.read.insert(op, Rc::clone(&nest));
                nest
            }
        };
        let count = nest.generic.inputs.len() + nest.generic.tables.len();
        let values: Vec<Value> = module.operands(op).collect();
        let mut tensors = Vec::with_capacity(count);
        for datum in &operands[..count] {
            let Datum::Tensor(tensor) = datum else { return Err(malformed(module, op, "tensor")) };
            tensors.push(Some(tensor.clone()));
        }
        let Datum::Tensor(into) = &operands[count] else {
            return Err(malformed(module, op, "tensor"));
        };
        let starts: Option<Vec<i64>> = operands[count + 1..].iter().map(as_number).collect();
        let starts = starts.ok_or_else(|| malformed(module, op, "index"))?;
        let filled = match self.nests.partial.get(&values[count]) {
            Some(written) => written.to_vec(),
            // What a nest writes over may only be what nothing wrote.
            None => vec![true; into.len()],
        };
        let written: Vec<Option<&[bool]>> =
            values[..count].iter().map(|v| self.nests.partial.get(v).map(|w| &**w)).collect();
        let symbols = |name: &str| self.nests.symbols.get(name).copied();
        let into = (into.clone(), filled);
        let run = interpret_nest(&nest, &tensors, &written, into, &starts, &symbols);
        let (tensor, written) = run.map_err(|source| self.wrong(op, source))?;
        self.nests.state(module.result(op, 0), written.into());
        Ok(Datum::Tensor(tensor))
    }

    /// The extents of the result.
    fn shape(&self, op: Op) -> Result<(tangram_tensor::DType, Vec<usize>)> {
        let (module, context) = (self.module, self.module.context());
        let unknown = || malformed(module, op, "known extent");
        let tensor = context.as_tensor(module.value_type(module.result(op, 0)));
        let (extents, element) = tensor.ok_or_else(unknown)?;
        let extent = |&dim| {
            let value = self.nests.value(&dims::expr(context, dim)?)?;
            usize::try_from(value).ok()
        };
        let shape: Option<Vec<usize>> = extents.iter().map(extent).collect();
        let element = dtype::dtype_of(context, element).ok_or_else(unknown)?;
        Ok((element, shape.ok_or_else(unknown)?))
    }

    fn buffer(&mut self, op: Op) -> Result<Datum> {
        let (element, shape) = self.shape(op)?;
        let count = checked_count(element, &shape)?;
        let bytes = vec![0; count * element.size_bits().div_ceil(8)];
        self.nests.state(self.module.result(op, 0), vec![false; count].into());
        Ok(Datum::Tensor(Tensor::from_bytes(element, shape, bytes)?))
    }

    fn view(&mut self, op: Op, operands: &[Datum]) -> Result<Datum> {
        let module = self.module;
        let [Datum::Tensor(tensor)] = operands else { return Err(malformed(module, op, "tensor")) };
        let (_, shape) = self.shape(op)?;
        self.hand_over(&[module.operand(op, 0)], &[module.result(op, 0)]);
        Ok(Datum::Tensor(tensor.reshaped(shape)?))
    }

    fn size(&self, op: Op) -> Result<i64> {
        let text = self.module.attr(op, "value");
        let text = text.and_then(|attr| self.module.context().as_text(attr));
        let expr = text.and_then(|text| text.parse::<Expr>().ok());
        let value = expr.and_then(|expr| self.nests.value(&expr));
        value.ok_or_else(|| malformed(self.module, op, "value of its symbols"))
    }

    fn reference(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let module = self.module;
        if !module.operands(op).all(|value| self.nests.is_whole(value)) {
            return Err(malformed(module, op, "operand whose elements are all written"));
        }
        let block = self.body(op, 0)?;
        let results = self.run(block, operands.to_vec())?;
        for (value, datum) in module.results(op).zip(&results) {
            self.nests.bind(module, module.value_type(value), datum);
        }
        Ok(results)
    }

    /// A loop that carries destinations.
    fn counted_loop(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let module = self.module;
        let bounds: Option<Vec<i64>> = operands.iter().take(3).map(as_number).collect();
        let bounds = bounds.filter(|bounds| bounds.len() == 3 && bounds[2] > 0);
        let bounds = bounds.ok_or_else(|| malformed(module, op, "bounds"))?;
        let block = self.body(op, 0)?;
        let mut carried = operands[3..].to_vec();
        let mut from: Vec<Value> = module.operands(op).skip(3).collect();
        let end = module.last_op(block).ok_or_else(|| malformed(module, op, "body"))?;
        let mut at = bounds[0];
        while at < bounds[1] {
            self.hand_over(&from, &module.args(block)[1..]);
            let arguments = [number(at)].into_iter().chain(carried).collect();
            carried = self.run(block, arguments)?;
            from = module.operands(end).collect();
            let Some(next) = at.checked_add(bounds[2]) else { break };
            at = next;
        }
        let results: Vec<Value> = module.results(op).collect();
        self.hand_over(&from, &results);
        Ok(carried)
    }

    /// Lets values `to` be written as far as values `from` are.
    fn hand_over(&mut self, from: &[Value], to: &[Value]) {
        let known: Vec<Option<Rc<[bool]>>> =
            from.iter().map(|value| self.nests.partial.get(value).cloned()).collect();
        for (&value, written) in to.iter().zip(known) {
            match written {
                Some(written) => self.nests.partial.insert(value, written),
                None => self.nests.partial.remove(&value),
            };
        }
    }
}

fn number(value: i64) -> Datum {
    Datum::Tensor(Tensor::scalar(value))
}

fn as_number(datum: &Datum) -> Option<i64> {
    match datum {
        Datum::Tensor(tensor) => tensor.i64s().ok()?.first().copied(),
        _ => None,
    }
}

/// Whether an operation may see a destination of which not all is written.
pub(super) fn takes_partial(name: &str) -> bool {
    name.starts_with("tg.") || name.starts_with("scf.")
}
