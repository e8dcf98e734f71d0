//! Which tensors there are, and in which buffers.
//!
//! Tensors have no coordinates of extent one behind the second, so a result that is squeezed or
//! gains such coordinates is the same tensor, and whoever reads it may decide on its layout.

use std::cell::Cell;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{Generic, Structured, Temporary, TensorId, structured};
use tangram_dialects::{constant, dims, dtype};
use tangram_ir::{Block, Module, Op, Value};
use tangram_tensor::DType;

use crate::LowerError;
use crate::c::is_supported;
use crate::group::Group;
use crate::nest::{Nest, Tensor};
use crate::packing::Tiled;
use crate::program::{Buffer, Storage, Stored};
use crate::ranges::{of_constant, of_result};
use crate::reason::Reason;
use crate::scop::count;
use crate::unit_dims;
use crate::winograd::Winograd;

/// A step before its loops are ordered.
#[derive(Debug)]
pub(crate) enum Planned {
    /// A nest.
    Nest(Box<Nest>),
    /// Nests that share rows.
    Group(Box<Group>),
    /// A sum of products, and how it is tiled.
    Product(Box<Nest>, Box<Tiled>),
    /// A convolution by another algorithm.
    Winograd(Box<Winograd>),
    /// Nests that run one after the other for each value of their first iterator, as over the steps
    /// of a recurrent layer; products of sums among them are tiled later.
    Recurrent(Vec<Nest>),
    /// An operation for the reference kernels.
    Reference(Op),
}

impl Planned {
    /// The operations that it computes, or helps to compute.
    pub fn ops(&self) -> Vec<Op> {
        match self {
            Planned::Nest(nest) | Planned::Product(nest, _) => nest.ops.clone(),
            Planned::Winograd(plan) => plan.nest.ops.clone(),
            Planned::Group(group) => group.nests.iter().flat_map(|nest| nest.ops.clone()).collect(),
            Planned::Recurrent(nests) => nests.iter().flat_map(|nest| nest.ops.clone()).collect(),
            Planned::Reference(op) => vec![*op],
        }
    }
}

/// A function as nests over tensors.
pub(crate) struct Draft<'a> {
    pub module: &'a Module,
    pub tensors: Vec<Tensor>,
    pub buffers: Vec<Buffer>,
    /// The tensor of a value.
    pub values: FxHashMap<Value, usize>,
    pub steps: Vec<Planned>,
    /// Buffers that nests make of constants alone.
    pub fixed: FxHashSet<usize>,
    /// Why operations stay for the reference kernels.
    pub reasons: FxHashMap<Op, Reason>,
}

/// Operations of more operands and results are left to the reference kernels.
const MOST_OPERANDS: usize = 256;

impl<'a> Draft<'a> {
    /// Reads a block; `refused` operations stay for the reference kernels.
    pub fn of(module: &'a Module, block: Block, refused: &FxHashMap<Op, LowerError>) -> Draft<'a> {
        let (tensors, buffers, values, steps) =
            (Vec::new(), Vec::new(), FxHashMap::default(), Vec::new());
        let (fixed, reasons) = (FxHashSet::default(), FxHashMap::default());
        let mut draft = Draft { module, tensors, buffers, values, steps, fixed, reasons };
        for (at, &argument) in module.args(block).iter().enumerate() {
            draft.store(argument, Storage::Input(at));
        }
        for op in module.ops(block) {
            if Some(op) == module.last_op(block) && module.result_count(op) == 0 {
                draft.end(op);
            } else if module.name_text(op) == "nn.constant" {
                let value = module.result(op, 0);
                match draft.store(value, Storage::Constant(value)) {
                    Some(tensor) => {
                        let elements = constant::constant_tensor(module, value);
                        draft.tensors[tensor].range = elements.as_ref().and_then(of_constant);
                    }
                    None => draft.steps.push(Planned::Reference(op)),
                }
            } else if let Err(reason) = draft.loops_of(op, refused) {
                draft.reasons.insert(op, reason);
                for value in module.results(op) {
                    draft.store(value, Storage::Arena);
                }
                draft.steps.push(Planned::Reference(op));
            }
        }
        draft
    }

    /// The element type and the extents of a value, if all are known.
    fn shape(&self, value: Value) -> Option<(DType, Vec<Expr>)> {
        let context = self.module.context();
        let (extents, element) = context.as_tensor(self.module.value_type(value))?;
        let element = dtype::dtype_of(context, element)?;
        let extents: Option<Vec<Expr>> =
            extents.iter().map(|&extent| dims::expr(context, extent)).collect();
        Some((element, extents?))
    }

    /// Gives a value a tensor in a buffer of its own; nothing if its shape is not known.
    fn store(&mut self, value: Value, storage: Storage) -> Option<usize> {
        let (element, extents) = self.shape(value)?;
        let tensor = self.tensor(element, extents, storage)?;
        self.values.insert(value, tensor);
        Some(tensor)
    }

    fn tensor(&mut self, element: DType, extents: Vec<Expr>, storage: Storage) -> Option<usize> {
        if element == DType::String || element.is_packed() {
            return None;
        }
        self.buffered(element, unit_dims::without(&extents), storage)
    }

    /// Adds a tensor between steps.
    pub fn between(&mut self, element: DType, extents: Vec<Expr>) -> Option<usize> {
        self.buffered(element, extents, Storage::Arena)
    }

    fn buffered(&mut self, element: DType, extents: Vec<Expr>, storage: Storage) -> Option<usize> {
        let size = count(&extents)?;
        self.buffers.push(Buffer { element, size, storage, per_part: false });
        let buffer = self.buffers.len() - 1;
        self.tensors.push(Tensor { element, extents, buffer, scratch: false, range: None });
        Some(self.tensors.len() - 1)
    }

    /// Whether the elements of a tensor are the same in every run.
    pub fn is_constant(&self, tensor: usize) -> bool {
        let buffer = self.tensors[tensor].buffer;
        matches!(self.buffers[buffer].storage, Storage::Constant(_)) || self.fixed.contains(&buffer)
    }

    /// Finds what is made of constants alone, as weights are that are converted.
    pub fn find_constants(&mut self) {
        for step in std::mem::take(&mut self.steps) {
            if let Planned::Nest(nest) = &step
                && nest.is_parallel()
                && nest.reads().all(|tensor| self.is_constant(tensor))
                && nest.generic.extents.iter().all(|extent| extent.as_int().is_some())
            {
                self.fixed.insert(self.tensors[nest.output].buffer);
            }
            self.steps.push(step);
        }
    }

    /// Sees the memory of a tensor in other extents.
    fn view(&mut self, tensor: usize, extents: Vec<Expr>) -> usize {
        let view = Tensor { extents, ..self.tensors[tensor].clone() };
        self.tensors.push(view);
        self.tensors.len() - 1
    }

    /// The extents of a place of an operation, units included.
    fn extents(&self, op: Op, temporaries: &[Temporary], place: TensorId) -> Option<Vec<Expr>> {
        let value = match place {
            TensorId::Operand(at) => self.module.operands(op).nth(at)?,
            TensorId::Result(at) => self.module.result(op, at),
            TensorId::Temporary(at) => return Some(temporaries.get(at)?.extents.clone()),
        };
        self.shape(value).map(|(_, extents)| extents)
    }

    /// Lets a nest, whose accesses have coordinates for units, access tensors that have none.
    fn drop_units(&mut self, nest: &mut Nest, op: Op, temporaries: &[Temporary]) -> Option<()> {
        for (at, place) in nest.generic.tables.clone().into_iter().enumerate() {
            let extents = self.extents(op, temporaries, place)?;
            if extents != self.tensors[nest.tables[at]].extents {
                nest.tables[at] = self.view(nest.tables[at], extents);
            }
        }
        let Generic { extents: loops, inputs, output, .. } = &mut nest.generic;
        let own = nest.inputs.iter_mut().chain([&mut nest.output]);
        for (access, tensor) in inputs.iter_mut().chain([output]).zip(own) {
            let extents = self.extents(op, temporaries, access.place)?;
            if !unit_dims::drop(access, &extents, loops) {
                *tensor = self.view(*tensor, extents);
            }
        }
        Some(())
    }

    /// Makes nests of an operation, unless it is refused.
    fn loops_of(&mut self, op: Op, refused: &FxHashMap<Op, LowerError>) -> Result<(), Reason> {
        match refused.get(&op) {
            Some(error) => Err(Reason::Order(error.clone())),
            None => self.nests(op),
        }
    }

    /// Makes nests of an operation.
    ///
    /// # Errors
    /// Why it has none; nothing is done then.
    fn nests(&mut self, op: Op) -> Result<(), Reason> {
        let module = self.module;
        for (at, value) in module.results(op).enumerate() {
            let (element, _) = self.shape(value).ok_or(Reason::Result(at))?;
            supported(element)?;
        }
        // Each operand is a pointer of a function, or a function of its own: a compiler of C takes
        // longer than anybody waits for what has thousands of them.
        let ends = module.operand_count(op) + module.result_count(op);
        if ends > MOST_OPERANDS {
            return Err(Reason::TooMany(ends));
        }
        let operands: Vec<Option<usize>> =
            module.operands(op).map(|value| self.values.get(&value).copied()).collect();
        let definition =
            structured(module, op).ok_or_else(|| Reason::without_definition(module, op))?;
        match definition {
            Structured::Reshape { operand } => self.reshape(op, operand, &operands),
            Structured::Loops { temporaries, stages, recurrent } => {
                let kept = (self.tensors.len(), self.buffers.len());
                let made = self.loops(op, &operands, temporaries, stages, &recurrent);
                if made.is_err() {
                    self.tensors.truncate(kept.0);
                    self.buffers.truncate(kept.1);
                    module.results(op).for_each(|value| {
                        self.values.remove(&value);
                    });
                }
                made
            }
        }
    }

    /// Lets the result of an operation be the memory of an operand.
    fn reshape(
        &mut self,
        op: Op,
        operand: usize,
        operands: &[Option<usize>],
    ) -> Result<(), Reason> {
        let from = operands.get(operand).copied().flatten().ok_or(Reason::Operand(operand))?;
        let result = self.module.result(op, 0);
        let (element, extents) = self.shape(result).ok_or(Reason::Result(0))?;
        if self.tensors[from].element != element {
            return Err(Reason::NoLoops);
        }
        let extents = unit_dims::without(&extents);
        let tensor = match extents == self.tensors[from].extents {
            true => from,
            false => self.view(from, extents),
        };
        self.values.insert(result, tensor);
        Ok(())
    }

    fn loops(
        &mut self,
        op: Op,
        operands: &[Option<usize>],
        temporaries: Vec<Temporary>,
        stages: Vec<Generic>,
        recurrent: &[Range<usize>],
    ) -> Result<(), Reason> {
        let module = self.module;
        let mut results = Vec::new();
        for (at, value) in module.results(op).enumerate() {
            results.push(self.store(value, Storage::Arena).ok_or(Reason::Result(at))?);
        }
        let mut between = Vec::new();
        for Temporary { element, extents, .. } in &temporaries {
            supported(*element)?;
            let tensor = self.tensor(*element, extents.clone(), Storage::Arena);
            between.push(tensor.ok_or(Reason::OpenExtents)?);
        }
        let mut nests = Vec::new();
        for (number, stage) in stages.into_iter().enumerate() {
            let absent = Cell::new(Reason::NoLoops);
            let mut nest = Nest::new(op, stage, |place| match place {
                TensorId::Operand(at) => operands.get(at).copied().flatten().or_else(|| {
                    absent.set(Reason::Operand(at));
                    None
                }),
                TensorId::Result(at) => results.get(at).copied(),
                TensorId::Temporary(at) => between.get(at).copied(),
            })
            .ok_or_else(|| absent.take())?;
            for tensor in nest.inputs.iter().chain(&nest.tables) {
                supported(self.tensors[*tensor].element)?;
            }
            self.drop_units(&mut nest, op, &temporaries).ok_or(Reason::OpenExtents)?;
            match recurrent.iter().find(|range| range.contains(&number)) {
                Some(range) if range.start == number => nests.push(Planned::Recurrent(vec![nest])),
                Some(_) => {
                    let Some(Planned::Recurrent(others)) = nests.last_mut() else {
                        return Err(Reason::NoLoops);
                    };
                    others.push(nest);
                }
                None => {
                    crate::collapse::without_unit_loops(&mut nest, false);
                    nests.push(Planned::Nest(Box::new(nest)));
                }
            }
        }
        // One nest writes all of its result.
        if let [Planned::Nest(nest)] = &nests[..] {
            let range = of_result(nest, &self.tensors);
            self.tensors[nest.output].range = range;
            results.iter().for_each(|&result| self.tensors[result].range = range);
        }
        self.steps.extend(nests);
        Ok(())
    }

    /// Lets outputs be written where the caller wants them.
    fn end(&mut self, terminator: Op) {
        for (at, value) in self.module.operands(terminator).enumerate() {
            if let Some(tensor) = self.values.get(&value) {
                let buffer = &mut self.buffers[self.tensors[*tensor].buffer];
                if buffer.storage == Storage::Arena {
                    buffer.storage = Storage::Output(at);
                }
            }
        }
    }

    /// Where values are.
    pub fn stored(&self) -> FxHashMap<Value, Stored> {
        let stored = self.values.iter().filter_map(|(value, tensor)| {
            let (_, extents) = self.shape(*value)?;
            Some((*value, Stored { buffer: self.tensors[*tensor].buffer, extents }))
        });
        stored.collect()
    }
}

/// Whether code has elements of this type.
fn supported(element: DType) -> Result<(), Reason> {
    if is_supported(element) { Ok(()) } else { Err(Reason::Element(element)) }
}
