//! One run: steps in order, over memory of its own.
//!
//! A buffer is where its value is: in a block of memory (the arena, an output) if compiled code
//! wrote it, lent by a tensor if the caller, a constant or a reference step made it. A lent buffer
//! is copied only when compiled code is about to write to it; a buffer becomes a tensor only when a
//! reference step or the caller reads it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_dialects::interpret::{Datum, Interpreter};
use tangram_ir::{Module, Op, Value};
use tangram_lowering::{Call, Storage};
use tangram_tensor::Tensor;

use crate::bodies::Within;
use crate::error::SessionError;
use crate::library::{Argument, Fault, Function, INLINE};
use crate::memory::{Block, readable};
use crate::prepare::{Prepared, Work};
use crate::profile::{Profile, Timing};
use crate::recycled::Recycled;
use crate::shared::{Shared, Target};
use crate::sizes::Sizes;
use crate::team::Team;

/// Where the elements of a buffer are.
#[derive(Clone)]
enum BufferState {
    /// Nowhere yet, or no more.
    Empty,
    /// In a tensor.
    Lent(Tensor),
    /// From an offset on in a block.
    Block(usize, usize),
}

/// The state of a run.
pub(crate) struct Run<'a> {
    module: &'a Module,
    bodies: &'a Within<'a>,
    prepared: &'a Prepared,
    sizes: &'a Sizes,
    interpreter: Interpreter<'a>,
    /// The arena, then the outputs that compiled code writes.
    blocks: Vec<Block>,
    places: Vec<BufferState>,
    /// The block of each output buffer that compiled code has begun to write.
    begun: Vec<Option<usize>>,
    /// Where the caller wants some of these.
    wanted: FxHashMap<usize, Shared>,
    /// Where memory for the others comes from, and how many bytes came.
    recycled: (Recycled, usize),
    /// When it is set, no further step begins.
    stop: Option<&'a AtomicBool>,
    team: Team,
}

impl<'a> Run<'a> {
    /// Starts a run on `inputs`, with an arena at least as large as `sizes` says, and what gives memory
    /// to results; `targets`: where the caller wants these, by number.
    pub(crate) fn new(
        (module, bodies): (&'a Module, &'a Within<'a>),
        prepared: &'a Prepared,
        sizes: &'a Sizes,
        inputs: Vec<Datum>,
        (arena, recycled): (Block, Recycled),
        (targets, stop): (&[Option<Target>], Option<&'a AtomicBool>),
    ) -> Result<Run<'a>, SessionError> {
        let buffers = &prepared.program.buffers;
        let wanted = wanted(prepared, sizes, &inputs, targets);
        let mut places = Vec::with_capacity(buffers.len());
        for (buffer, filled) in buffers.iter().zip(&prepared.filled) {
            let input = match buffer.storage {
                Storage::Input(i) => inputs.get(i),
                _ => None,
            };
            places.push(match (filled, input) {
                (Some(tensor), _) => BufferState::Lent(tensor.clone()),
                (None, Some(Datum::Tensor(tensor))) => BufferState::Lent(lent(tensor)?),
                _ => BufferState::Empty,
            });
        }
        let mut interpreter =
            Interpreter::with_shared(module, &prepared.constants).with_bodies(bodies);
        for (&value, datum) in prepared.arguments.iter().zip(inputs) {
            if prepared.seen.contains(&value) {
                interpreter.set(value, datum);
            }
        }
        let (blocks, begun) = (vec![arena], vec![None; buffers.len()]);
        let team = Team::of(sizes.parts.iter().copied().max().unwrap_or(1));
        Ok(Run {
            module,
            bodies,
            prepared,
            sizes,
            interpreter,
            blocks,
            places,
            begun,
            wanted,
            recycled: (recycled, 0),
            stop,
            team,
        })
    }

    /// Runs all steps.
    pub(crate) fn steps(&mut self, mut profile: Option<&mut Profile>) -> Result<(), SessionError> {
        let mut calls = 0;
        for step in &self.prepared.steps {
            tangram_tensor::budget::check_time()?;
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(SessionError::Stopped);
            }
            let start = profile.is_some().then(Instant::now);
            match &step.work {
                Work::Call { call, function } => {
                    self.call(call, function, calls)?;
                    calls += 1;
                }
                Work::Reference { op, reads } => self.evaluate(*op, reads)?,
            }
            if let (Some(profile), Some(start)) = (profile.as_deref_mut(), start) {
                profile.steps.push(self.timing(&step.work, start));
            }
            for &value in &step.forgets {
                self.interpreter.take(value);
            }
            for &buffer in &step.releases {
                self.places[buffer] = BufferState::Empty;
            }
        }
        Ok(())
    }

    fn timing(&self, work: &Work, start: Instant) -> Timing {
        let time = start.elapsed();
        let name = |op: &Op| self.module.name_text(*op).to_owned();
        match work {
            Work::Call { call, .. } => Timing {
                name: call.function.clone(),
                operations: call.ops.iter().map(name).collect(),
                compiled: true,
                time,
            },
            Work::Reference { op, .. } => {
                let compiled = self.bodies.have(*op);
                Timing { name: name(op), operations: vec![name(op)], compiled, time }
            }
        }
    }

    /// Returns the values of the function, the memory of those that compiled code wrote, and the
    /// arena.
    pub(crate) fn finish(mut self) -> Result<(Vec<Datum>, Vec<Shared>, Block), SessionError> {
        let prepared = self.prepared;
        self.recycled.0.make_room(self.recycled.1);
        let memory = self.blocks.iter().filter_map(|block| block.as_shared().cloned()).collect();
        let mut owned: Vec<Option<bytes::Bytes>> = vec![None; self.blocks.len()];
        let mut results = Vec::with_capacity(prepared.results.len());
        for &value in &prepared.results {
            if let Some(datum) = self.interpreter.find(value) {
                results.push(datum.clone());
                continue;
            }
            let stored = self.stored(value)?;
            results.push(Datum::Tensor(match self.places[stored] {
                BufferState::Block(block, 0) if block > 0 => {
                    // What the caller gets is not copied: the block itself goes.
                    let empty = Block::zeroed(0).ok_or(SessionError::Memory(0))?;
                    let bytes = owned[block].get_or_insert_with(|| {
                        std::mem::replace(&mut self.blocks[block], empty).into_bytes()
                    });
                    let element = prepared.program.buffers[stored].element;
                    Tensor::from_bytes(element, &self.sizes.extents[&value], bytes.clone())?
                }
                _ => self.load(value)?,
            }));
        }
        Ok((results, memory, self.blocks.swap_remove(0)))
    }

    /// The buffer of a value that the interpreter does not know.
    fn stored(&self, value: Value) -> Result<usize, SessionError> {
        let stored = self.prepared.program.values.get(&value);
        let lost = || SessionError::Broken("a value that no step made is read".to_owned());
        stored.map(|stored| stored.buffer).ok_or_else(lost)
    }

    /// The tensor of a stored value.
    fn load(&self, value: Value) -> Result<Tensor, SessionError> {
        let buffer = self.stored(value)?;
        let extents = &self.sizes.extents[&value];
        match &self.places[buffer] {
            BufferState::Lent(tensor) => Ok(tensor.reshaped(extents)?),
            BufferState::Block(block, offset) => {
                let len = self.sizes.bytes[buffer];
                let from = self.blocks[*block].bytes().get(*offset..offset + len);
                let from = from.ok_or_else(|| outside(buffer))?;
                let mut copy = Block::zeroed(len).ok_or(SessionError::Memory(len))?;
                copy.bytes_mut().copy_from_slice(from);
                let element = self.prepared.program.buffers[buffer].element;
                Ok(Tensor::from_bytes(element, extents, copy.into_bytes())?)
            }
            // No step writes what has no elements.
            BufferState::Empty if self.sizes.bytes[buffer] == 0 => {
                let element = self.prepared.program.buffers[buffer].element;
                Ok(Tensor::from_bytes(element, extents, bytes::Bytes::new())?)
            }
            BufferState::Empty => {
                Err(SessionError::Broken(format!("buffer {buffer} is read before it is written")))
            }
        }
    }

    /// Evaluates an operation by the reference kernels.
    fn evaluate(&mut self, op: Op, reads: &[Value]) -> Result<(), SessionError> {
        for &value in reads {
            if self.interpreter.find(value).is_none() {
                let tensor = self.load(value)?;
                self.interpreter.set(value, Datum::Tensor(tensor));
            }
        }
        self.interpreter.step(op)?;
        for value in self.module.results(op) {
            let Some(stored) = self.prepared.program.values.get(&value) else { continue };
            let buffer = stored.buffer;
            let element = self.prepared.program.buffers[buffer].element;
            let extents = &self.sizes.extents[&value];
            let found = match self.interpreter.find(value) {
                Some(Datum::Tensor(tensor)) => tensor.clone(),
                _ => return Err(SessionError::Broken("a stored value is no tensor".to_owned())),
            };
            // A loop without a step knows no extents of what it would have collected.
            let found = match found.is_empty() && extents.contains(&0) {
                true => found.reshaped(extents)?,
                false => found,
            };
            if found.dtype() != element || found.shape() != extents.as_slice() {
                return Err(SessionError::Extents {
                    operation: self.module.name_text(op).to_owned(),
                    expected: format!("{element}{extents:?}"),
                    found: format!("{}{:?}", found.dtype(), found.shape()),
                });
            }
            self.interpreter.set(value, Datum::Tensor(found.clone()));
            self.places[buffer] = BufferState::Lent(lent(&found)?);
        }
        Ok(())
    }

    /// Calls a compiled function.
    fn call(
        &mut self,
        call: &Call,
        function: &Function,
        number: usize,
    ) -> Result<(), SessionError> {
        let (arguments, parts) = (&self.sizes.arguments[number], self.sizes.parts[number]);
        for &place in &call.writes {
            self.begin(call.buffers[place])?;
        }
        let argument = |&buffer: &usize| match &self.places[buffer] {
            BufferState::Lent(tensor) if tensor.byte_len() != self.sizes.bytes[buffer] => {
                let (found, expected) = (tensor.byte_len(), self.sizes.bytes[buffer]);
                let what = format!("buffer {buffer} has {found} bytes, expected {expected}");
                Err(SessionError::Broken(what))
            }
            BufferState::Lent(tensor) => Ok(Argument::Shared(tensor.bytes())),
            BufferState::Block(block, offset) => Ok(Argument::Block(*block, *offset)),
            BufferState::Empty if self.sizes.bytes[buffer] == 0 => Ok(Argument::Shared(&[])),
            BufferState::Empty => {
                let name = &call.function;
                Err(SessionError::Broken(format!("`{name}` reads buffer {buffer}, which is empty")))
            }
        };
        let buffers = call.buffers.iter().map(argument);
        let buffers: SmallVec<[Argument<'_>; INLINE]> = buffers.collect::<Result<_, _>>()?;
        let team = (&mut self.team, parts);
        function.call(arguments, &mut self.blocks, &buffers, team).map_err(|fault| match fault {
            Fault::Buffer => outside(call.buffers[0]),
            Fault::Index => SessionError::Index,
            Fault::Division => SessionError::Division,
        })
    }

    /// Gives `buffer` memory that can be written, with the elements that it has.
    fn begin(&mut self, buffer: usize) -> Result<(), SessionError> {
        let lent = match &self.places[buffer] {
            BufferState::Block(..) => return Ok(()),
            BufferState::Lent(tensor) => Some(tensor.bytes().clone()),
            BufferState::Empty => None,
        };
        let (block, offset) = match (self.sizes.offsets[buffer], self.begun[buffer]) {
            (Some(offset), _) => (0, offset),
            (None, Some(block)) => (block, 0),
            (None, None) => {
                let len = self.sizes.bytes[buffer];
                let memory = self.wanted.remove(&buffer).or_else(|| {
                    self.recycled.1 += len;
                    self.recycled.0.output(len)
                });
                self.blocks.push(Block::shared(memory.ok_or(SessionError::Memory(len))?));
                (self.blocks.len() - 1, 0)
            }
        };
        if let Some(bytes) = lent {
            let to = self.blocks[block].bytes_mut().get_mut(offset..offset + bytes.len());
            to.ok_or_else(|| outside(buffer))?.copy_from_slice(&bytes);
        }
        if block > 0 {
            self.begun[buffer] = Some(block);
        }
        self.places[buffer] = BufferState::Block(block, offset);
        Ok(())
    }
}

/// The buffers that compiled code can write where the caller wants them: those of results of the same
/// type and extents, in memory of which no input has a part, as code relies on that.
fn wanted(
    prepared: &Prepared,
    sizes: &Sizes,
    inputs: &[Datum],
    targets: &[Option<Target>],
) -> FxHashMap<usize, Shared> {
    let mut wanted = FxHashMap::default();
    for (value, target) in prepared.results.iter().zip(targets) {
        let Some(target) = target else { continue };
        let Some(stored) = prepared.program.values.get(value) else { continue };
        let buffer = &prepared.program.buffers[stored.buffer];
        let size = (target.element.size_bits() / 8).clamp(1, 8);
        let fits = matches!(buffer.storage, Storage::Output(_))
            && buffer.element == target.element
            && sizes.extents.get(value) == Some(&target.shape)
            && sizes.bytes[stored.buffer] == target.memory.len()
            && target.memory.start().addr().is_multiple_of(size);
        let is_read = |input: &Datum| match input {
            Datum::Tensor(tensor) => target.memory.overlaps(tensor.bytes()),
            _ => false,
        };
        let is_written = |other: &Shared| other.overlaps(target.memory.as_slice());
        if fits && !inputs.iter().any(is_read) && !wanted.values().any(is_written) {
            wanted.insert(stored.buffer, target.memory.clone());
        }
    }
    wanted
}

fn outside(buffer: usize) -> SessionError {
    SessionError::Broken(format!("buffer {buffer} lies outside its memory"))
}

/// `tensor` as compiled code can read it.
fn lent(tensor: &Tensor) -> Result<Tensor, SessionError> {
    readable(tensor).ok_or_else(|| SessionError::Memory(tensor.byte_len()))
}
