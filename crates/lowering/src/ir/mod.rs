//! Drafts as IR: nests over tensors, in the function that is lowered.
//!
//! ```text
//! buffers     tg.buffer, the destination of the first nest that writes it; what a nest gives is what
//!             later steps see of the buffer, in other extents by tg.view
//! Nest        tg.nest
//! Product     tg.nest, summed in the order of its panels, with the tile as plan
//! Winograd    tg.nest, with the algorithm as plan
//! Group       scf.for over blocks of rows, around nests whose rows are bound
//! Recurrent   the same over steps
//! Reference   tg.reference around the operation
//! ```
//!
//! The module is a copy of the one that is lowered, so that handles of its values stay right.

mod plan;
mod rows;

use rustc_hash::FxHashMap;
use tangram_dialects::interpret::values_read;
use tangram_dialects::structured::{Access, Generic, Scalar};
use tangram_dialects::tg::{self, NestOperands, Row, tensor_type};
use tangram_ir::{Attr, Loc, Module, Op, OpState, Order, Point, Type, Value, walk};

use crate::LowerError;
use crate::nest::{Nest, mapped};
use crate::program::Storage;
use crate::storage::{Draft, Planned};

/// Writes a draft of `function` as a module.
///
/// The time is linear in the number of operations of the module and of the nests.
///
/// # Errors
/// [`LowerError::Unwritten`]: our own mistake.
pub(crate) fn written(draft: &Draft<'_>, function: Op) -> Result<Module, LowerError> {
    let mut module = draft.module.clone();
    let region = module.regions(function).first().copied();
    let block = region.and_then(|region| module.first_block(region));
    let block = block.ok_or_else(|| LowerError::NoBody(module.name_text(function).to_owned()))?;
    let old: Vec<Op> = module.ops(block).collect();
    // The terminator moves behind whatever is written.
    let end = old.last().copied().filter(|&op| module.result_count(op) == 0);
    let (memory, values) = (FxHashMap::default(), FxHashMap::default());
    let mut writer =
        Writer { draft, module: &mut module, memory, values, point: Point::End(block) };
    writer.given(&old, block);
    for step in &draft.steps {
        writer.step(step)?;
    }
    if let Some(end) = end {
        writer.module.move_to(end, Point::End(block));
        let operands: Vec<Value> = writer.module.operands(end).collect();
        let results: Vec<Value> = operands.into_iter().map(|value| writer.value(value)).collect();
        writer.module.set_operands(end, &results);
        writer.module.move_to(end, Point::End(block));
    }
    settle(&mut module, function, (block, end));
    // What became nests is still there, and used by nothing.
    for op in old.into_iter().rev() {
        let stays = Some(op) == end || module.block(op) != Some(block);
        if !stays && !module.results(op).any(|value| module.has_uses(value)) {
            module.erase(op);
        }
    }
    Ok(module)
}

/// Lets the type of a function say what is taken of the extents of its arguments and results; a part
/// of a function that was made one of its own has no type before.
fn settle(module: &mut Module, function: Op, (block, end): (tangram_ir::Block, Option<Op>)) {
    let Some(end) = end.filter(|_| module.name_text(function) == "func.func") else { return };
    let name = module.context().str("function_type");
    let types = |values: Vec<Value>| -> Vec<Type> {
        values.into_iter().map(|value| module.value_type(value)).collect()
    };
    let (inputs, results) =
        (types(module.args(block).to_vec()), types(module.operands(end).collect()));
    let context = module.context();
    let attr = context.type_attr(context.function_type(&inputs, &results));
    module.set_attr(function, name, Some(attr));
}

/// A function whose steps become operations.
struct Writer<'a> {
    draft: &'a Draft<'a>,
    module: &'a mut Module,
    /// What was last written to each buffer.
    memory: FxHashMap<usize, Value>,
    /// What stands for a value that has no place in memory.
    values: FxHashMap<Value, Value>,
    /// Where operations go.
    point: Point,
}

impl Writer<'_> {
    /// Arguments and constants are in their buffers from the start.
    fn given(&mut self, ops: &[Op], block: tangram_ir::Block) {
        let module = &*self.module;
        let constants = ops.iter().filter(|op| module.name_text(**op) == "nn.constant");
        let values: Vec<Value> = module
            .args(block)
            .iter()
            .copied()
            .chain(constants.map(|&op| module.result(op, 0)))
            .collect();
        for value in values {
            if let Some(&tensor) = self.draft.values.get(&value) {
                self.memory.insert(self.draft.tensors[tensor].buffer, value);
            }
        }
    }

    fn op(
        &mut self,
        name: &str,
        operands: &[Value],
        results: &[Type],
        attrs: &[(&str, Attr)],
    ) -> Op {
        let state = OpState::of(self.module.context(), name, operands, results, attrs);
        self.module.create_at(self.point, state)
    }

    fn result(
        &mut self,
        name: &str,
        operands: &[Value],
        ty: Type,
        attrs: &[(&str, Attr)],
    ) -> Value {
        let op = self.op(name, operands, &[ty], attrs);
        self.module.result(op, 0)
    }

    fn ty(&self, tensor: usize) -> Type {
        let tensor = &self.draft.tensors[tensor];
        tensor_type(self.module.context(), tensor.element, &tensor.extents)
    }

    /// The elements of a value in the extents of a type.
    fn viewed(&mut self, value: Value, ty: Type) -> Value {
        if self.module.value_type(value) == ty {
            return value;
        }
        self.result("tg.view", &[value], ty, &[])
    }

    /// What is in the memory of a tensor.
    fn tensor(&mut self, tensor: usize) -> Value {
        let (buffer, ty) = (self.draft.tensors[tensor].buffer, self.ty(tensor));
        let value = match self.memory.get(&buffer) {
            Some(&value) => value,
            None => self.buffer(tensor),
        };
        self.viewed(value, ty)
    }

    /// Memory of which nothing is written.
    fn buffer(&mut self, tensor: usize) -> Value {
        let (number, ty) = (self.draft.tensors[tensor].buffer, self.ty(tensor));
        let buffer = &self.draft.buffers[number];
        let mut attrs = Vec::new();
        if let Storage::Output(_) = buffer.storage {
            attrs.push(("storage", self.module.context().str_attr("output")));
        }
        if buffer.per_part {
            attrs.push(("per_part", Attr::UNIT));
        }
        let value = self.result("tg.buffer", &[], ty, &attrs);
        self.memory.insert(number, value);
        value
    }

    /// What stands for a value of the function.
    fn value(&mut self, value: Value) -> Value {
        if let Some(&new) = self.values.get(&value) {
            return new;
        }
        let Some(&tensor) = self.draft.values.get(&value) else { return value };
        let ty = self.module.value_type(value);
        let buffer = self.draft.tensors[tensor].buffer;
        match self.memory.get(&buffer) {
            Some(&found) => self.viewed(found, ty),
            None => value,
        }
    }

    fn step(&mut self, step: &Planned) -> Result<(), LowerError> {
        match step {
            Planned::Nest(nest) => {
                let order = reduced(nest);
                self.nest(nest, (order, None), &[])
            }
            Planned::Product(nest, tiled) => {
                let plan = plan::product(self.module.context(), tiled);
                self.nest(nest, (plan::order(tiled), Some(plan)), &[])
            }
            Planned::Winograd(plan) => {
                let written = plan::winograd(self.module.context(), plan);
                self.nest(&plan.nest, (reduced(&plan.nest), Some(written)), &[])
            }
            Planned::Group(group) => self.group(group),
            Planned::Recurrent(nests) => self.steps(nests),
            Planned::Reference(op) => {
                self.reference(*op);
                Ok(())
            }
        }
    }

    /// Writes a nest, summed in `order`; `starts` are the rows that loops around it bind.
    fn nest(
        &mut self,
        nest: &Nest,
        (order, plan): (Vec<usize>, Option<Attr>),
        starts: &[(Row, Value)],
    ) -> Result<(), LowerError> {
        let (mut whole, tensors) = definition(nest);
        whole.order = order;
        whole.plan = plan;
        whole.rows = starts.iter().map(|(row, _)| *row).collect();
        let module = self.draft.module;
        whole.from = nest.ops.iter().map(|&op| module.name_text(op).to_owned()).collect();
        let inputs = tensors.iter().map(|&tensor| self.tensor(tensor)).collect();
        let tables = nest.tables.iter().map(|&tensor| self.tensor(tensor)).collect();
        let into = self.tensor(nest.output);
        let starts = starts.iter().map(|(_, value)| *value).collect();
        let operands = NestOperands { inputs, tables, into, starts };
        let locs: Vec<Loc> = nest.ops.iter().map(|&op| module.loc(op)).collect();
        let loc = module.context().fuse(locs);
        let op = whole.write(self.module, self.point, &operands, loc);
        let op = op.ok_or_else(|| LowerError::Unwritten(whole.from.join(", ")))?;
        let buffer = self.draft.tensors[nest.output].buffer;
        self.memory.insert(buffer, self.module.result(op, 0));
        Ok(())
    }

    /// Moves an operation into a `tg.reference`; one that only makes a value stays as it is.
    fn reference(&mut self, op: Op) {
        if matches!(self.module.name_text(op), "nn.constant" | "nn.none") {
            return;
        }
        let read = values_read(self.module, op);
        let operands: Vec<Value> = read.iter().map(|&value| self.value(value)).collect();
        let types: Vec<Type> =
            self.module.results(op).map(|value| self.module.value_type(value)).collect();
        let reason = self.draft.reasons.get(&op).map(ToString::to_string).unwrap_or_default();
        let reason = self.module.context().str_attr(&reason);
        let made = self.op("tg.reference", &operands, &types, &[("reason", reason)]);
        let region = self.module.add_region(made);
        let block = self.module.add_block(region);
        self.module.set_loc(made, self.module.loc(op));
        let inner: FxHashMap<Value, Value> = read
            .into_iter()
            .map(|value| {
                let ty = self.module.value_type(value);
                (value, self.module.add_arg(block, ty))
            })
            .collect();
        let results: Vec<Value> = self.module.results(op).collect();
        for (at, &old) in results.iter().enumerate() {
            let new = self.module.result(made, at);
            match self.draft.values.get(&old) {
                Some(&tensor) => {
                    self.memory.insert(self.draft.tensors[tensor].buffer, new);
                }
                None => {
                    self.values.insert(old, new);
                }
            }
        }
        for op in walk(self.module, op, Order::Pre) {
            let operands: Vec<Value> = self.module.operands(op).collect();
            for (at, value) in operands.into_iter().enumerate() {
                if let Some(&argument) = inner.get(&value) {
                    self.module.set_operand(op, at, argument);
                }
            }
        }
        self.module.move_to(op, Point::End(block));
        let mut state = OpState::new(self.module.context().name("tg.yield"), Loc::UNKNOWN);
        state.operands.extend(results);
        self.module.create_at(Point::End(block), state);
    }
}

/// The reduced loops of a nest, in order.
fn reduced(nest: &Nest) -> Vec<usize> {
    nest.generic.reduced().collect()
}

/// The nest as the dialect has it, and the tensor of each of its inputs: those of the body, then those
/// of the finish, without the one that stands for the combined element.
fn definition(nest: &Nest) -> (tg::Nest, Vec<usize>) {
    let generic = &nest.generic;
    let combined = nest.finish.as_ref().map(|finish| finish.combined);
    let reads = |body: &tangram_dialects::structured::Body, input: usize| {
        body.scalars()
            .iter()
            .any(|scalar| matches!(scalar, Scalar::Input(at) | Scalar::Inside(at) if *at == input))
    };
    let in_finish =
        |input: &usize| nest.finish.as_ref().is_some_and(|finish| reads(&finish.body, *input));
    let inputs = || (0..generic.inputs.len()).filter(|at| Some(*at) != combined);
    let own: Vec<usize> =
        inputs().filter(|at| reads(&generic.body, *at) || !in_finish(at)).collect();
    let later: Vec<usize> = inputs().filter(in_finish).collect();
    let all: Vec<usize> = own.iter().chain(&later).copied().collect();
    let count = all.len();
    let number = |list: &[usize], first: usize, input: usize| {
        list.iter().position(|at| *at == input).map_or(count, |at| first + at)
    };
    let renumbered = |list: &[usize], first: usize, scalar: &Scalar| match scalar {
        Scalar::Input(at) => Scalar::Input(number(list, first, *at)),
        Scalar::Inside(at) => Scalar::Inside(number(list, first, *at)),
        other => other.clone(),
    };
    let access = |at: &usize| Access { ..generic.inputs[*at].clone() };
    let body = mapped(&generic.body, |scalar| renumbered(&own, 0, scalar));
    let finish = nest.finish.as_ref();
    let finish =
        finish.map(|finish| mapped(&finish.body, |scalar| renumbered(&later, own.len(), scalar)));
    let whole = Generic { inputs: all.iter().map(access).collect(), body, ..generic.clone() };
    let tensors = all.iter().map(|&at| nest.inputs[at]).collect();
    let whole = tg::Nest { reads: own.len(), finish, ..tg::Nest::of(whole) };
    (whole, tensors)
}
