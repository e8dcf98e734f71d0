//! Joining nests, so that values between them need no memory.
//!
//! A parallel nest is computed where its elements are read, if they are read once; a copy, such as
//! a transpose, wherever it is read. What follows a combination element by element finishes it.

use rustc_hash::FxHashMap;
use tangram_dialects::structured::Scalar;
use tangram_ir::Op;

use crate::contraction::{Product, factors};
use crate::layout::is_fixed;
use crate::nest::{Nest, Tensor};
use crate::program::Storage;
use crate::scop::loops_in;
use crate::storage::{Draft, Planned};

/// Functions of more inputs are not joined further: their pointers would fill the registers.
const MOST_INPUTS: usize = 12;
/// Bodies of more scalars are not joined further.
const MOST_SCALARS: usize = 96;

/// Joins the nests of a function.
pub(crate) fn fuse(draft: &mut Draft<'_>) {
    let steps = std::mem::take(&mut draft.steps);
    let mut made: Vec<Option<Planned>> = Vec::new();
    let mut users = Users::of(draft, &steps);
    // The step that writes a tensor, by its new number.
    let mut writer: FxHashMap<usize, usize> = FxHashMap::default();
    for step in steps {
        let Planned::Nest(mut nest) = step else {
            made.push(Some(step));
            continue;
        };
        while let Some((input, from)) = inlinable(&nest, draft, &users, &made, &writer) {
            let Some(Planned::Nest(producer)) = &made[from] else { break };
            let (producer, tensor) = (producer.clone(), nest.inputs[input]);
            if !nest.inline(input, &producer) {
                break;
            }
            // What the producer reads, the nest reads now.
            users.add(&producer);
            users.take(tensor);
            if users.count(tensor) == 0 {
                made[from] = None;
                users.take_all(&producer);
            }
            nest.merge_equal_inputs().into_iter().for_each(|gone| users.take(gone));
        }
        let joined = finished(&nest, draft, &users, &made, &writer);
        match joined.or_else(|| redirected(&nest, draft, &users, &made, &writer)) {
            Some((at, joined)) => {
                // It stays where the later of both stood: its inputs are computed by then.
                made[at] = None;
                writer.insert(joined.output, made.len());
                made.push(Some(Planned::Nest(joined)));
            }
            None => {
                writer.insert(nest.output, made.len());
                made.push(Some(Planned::Nest(nest)));
            }
        }
    }
    draft.steps = made.into_iter().flatten().collect();
    drop_unread(draft);
}

/// Who reads each tensor, as nests are joined.
struct Users {
    /// By how many accesses of nests.
    nests: FxHashMap<usize, usize>,
    /// Buffers that something else than one nest's accesses sees: reference kernels, the caller,
    /// other tensors in the same memory.
    pinned: Vec<bool>,
    /// How many steps write a buffer.
    writers: FxHashMap<usize, usize>,
}

impl Users {
    fn of(draft: &Draft<'_>, steps: &[Planned]) -> Users {
        let mut writers = FxHashMap::default();
        let mut pinned: Vec<bool> =
            draft.buffers.iter().map(|buffer| buffer.storage != Storage::Arena).collect();
        let mut tensors = vec![0; draft.buffers.len()];
        draft.tensors.iter().for_each(|tensor| tensors[tensor.buffer] += 1);
        pinned.iter_mut().zip(&tensors).for_each(|(pinned, count)| *pinned |= *count > 1);
        for step in steps {
            match step {
                Planned::Nest(nest) => {
                    *writers.entry(draft.tensors[nest.output].buffer).or_insert(0) += 1;
                }
                Planned::Reference(op) => pin(draft, *op, &mut pinned),
                // What one step reads another one writes: nothing is taken out or moved in.
                Planned::Recurrent(nests) => {
                    let (tensors, _) = crate::scop::arrays(nests);
                    tensors.iter().for_each(|at| pinned[draft.tensors[*at].buffer] = true);
                }
                Planned::Product(..) | Planned::Group(_) | Planned::Winograd(_) => {}
            }
        }
        let mut users = Users { nests: FxHashMap::default(), pinned, writers };
        for step in steps {
            if let Planned::Nest(nest) = step {
                users.add(nest);
            }
        }
        users
    }

    fn add(&mut self, nest: &Nest) {
        nest.reads().for_each(|tensor| *self.nests.entry(tensor).or_insert(0) += 1);
    }

    fn take(&mut self, tensor: usize) {
        if let Some(count) = self.nests.get_mut(&tensor) {
            *count = count.saturating_sub(1);
        }
    }

    fn take_all(&mut self, nest: &Nest) {
        nest.reads().for_each(|tensor| self.take(tensor));
    }

    fn count(&self, tensor: usize) -> usize {
        self.nests.get(&tensor).copied().unwrap_or(0)
    }

    /// Whether a tensor is written by one nest and read by nests alone.
    fn is_free(&self, tensor: usize, tensors: &[Tensor]) -> bool {
        let buffer = tensors[tensor].buffer;
        !self.pinned[buffer] && self.writers.get(&buffer) == Some(&1)
    }
}

/// Buffers whose contents others see: the caller, reference kernels, tables, other shapes.
pub(crate) fn pinned(draft: &Draft<'_>) -> Vec<bool> {
    pinned_by(draft, &draft.steps)
}

/// The same where these are the steps.
pub(crate) fn pinned_by(draft: &Draft<'_>, steps: &[Planned]) -> Vec<bool> {
    let mut pinned = Users::of(draft, steps).pinned;
    for step in steps {
        if let Planned::Nest(nest) = step {
            nest.tables.iter().for_each(|table| pinned[draft.tensors[*table].buffer] = true);
        }
    }
    pinned
}

/// Marks what an operation, and the regions in it, use.
fn pin(draft: &Draft<'_>, op: Op, pinned: &mut [bool]) {
    let mut open = vec![op];
    while let Some(op) = open.pop() {
        for value in draft.module.operands(op) {
            if let Some(tensor) = draft.values.get(&value) {
                pinned[draft.tensors[*tensor].buffer] = true;
            }
        }
        for &region in draft.module.regions(op) {
            for block in draft.module.blocks(region) {
                open.extend(draft.module.ops(block));
            }
        }
    }
}

/// Finds an input whose producer the nest can compute itself.
fn inlinable(
    nest: &Nest,
    draft: &Draft<'_>,
    users: &Users,
    made: &[Option<Planned>],
    writer: &FxHashMap<usize, usize>,
) -> Option<(usize, usize)> {
    (0..nest.inputs.len()).find_map(|input| {
        let tensor = nest.inputs[input];
        let from = *writer.get(&tensor)?;
        let Some(Planned::Nest(producer)) = made.get(from)?.as_ref() else { return None };
        let fits = users.is_free(tensor, &draft.tensors)
            && nest.inputs.len() + producer.inputs.len() <= MOST_INPUTS
            && nest.generic.body.scalars().len() + producer.generic.body.scalars().len()
                <= MOST_SCALARS
            && producer.is_parallel()
            && stays(producer, draft, made, from)
            && worthwhile(nest, input, producer, users);
        // What cannot be inlined would be found again and again.
        (fits && nest.clone().inline(input, producer)).then_some((input, from))
    })
}

/// Whether nothing writes what a nest reads between its step and the end of the list.
fn stays(nest: &Nest, draft: &Draft<'_>, made: &[Option<Planned>], from: usize) -> bool {
    let read: Vec<usize> = nest.reads().map(|tensor| draft.tensors[tensor].buffer).collect();
    made[from + 1..].iter().flatten().all(|step| match step {
        Planned::Nest(other) => !read.contains(&draft.tensors[other.output].buffer),
        Planned::Recurrent(nests) => {
            nests.iter().all(|other| !read.contains(&draft.tensors[other.output].buffer))
        }
        Planned::Product(..) | Planned::Group(_) | Planned::Winograd(_) | Planned::Reference(_) => {
            true
        }
    })
}

/// Whether a nest should compute what it reads itself.
fn worthwhile(nest: &Nest, input: usize, producer: &Nest, users: &Users) -> bool {
    let is_product = factors(nest).is_some();
    if producer.is_copy() {
        // Tiles of products read along both operands.
        return !is_product || users.count(nest.inputs[input]) == 1;
    }
    if is_product || users.count(nest.inputs[input]) > 1 {
        return false;
    }
    // Each element is read once if every iterator is in the subscript.
    loops_in(&nest.generic, input).len() == nest.generic.extents.len() || is_cheap(producer)
}

/// Whether a body is a conversion or a few sums.
fn is_cheap(nest: &Nest) -> bool {
    let scalars = nest.generic.body.scalars();
    let is_call = |scalar: &Scalar| matches!(scalar, Scalar::Unary(..) | Scalar::Lookup(..));
    scalars.len() <= 5 && !scalars.iter().any(is_call)
}

/// Makes one nest of a combination and of what follows it.
fn finished(
    nest: &Nest,
    draft: &Draft<'_>,
    users: &Users,
    made: &[Option<Planned>],
    writer: &FxHashMap<usize, usize>,
) -> Option<(usize, Box<Nest>)> {
    nest.inputs.iter().find_map(|tensor| {
        let from = *writer.get(tensor)?;
        let Some(Planned::Nest(producer)) = made.get(from)?.as_ref() else { return None };
        let same = draft.tensors[*tensor].element == draft.tensors[nest.output].element;
        if !same
            || users.count(*tensor) != 1
            || !users.is_free(*tensor, &draft.tensors)
            || users.writers.get(&draft.tensors[nest.output].buffer) != Some(&1)
            || !stays(producer, draft, made, from)
            || producer.inputs.len() + nest.inputs.len() > MOST_INPUTS
            || producer.finish.as_ref().map_or(0, |finish| finish.body.scalars().len())
                + nest.generic.body.scalars().len()
                > MOST_SCALARS
        {
            return None;
        }
        // What reads or writes another order of coordinates is the reorder.
        if Product::wants_channels_last(producer, draft) && is_fixed(nest, draft, &users.pinned) {
            return None;
        }
        let mut joined = producer.clone();
        joined.finish_with(nest).then_some((from, joined))
    })
}

/// Lets the nest that makes what a copy reads write where the copy does: into its part of a
/// concatenation.
fn redirected(
    nest: &Nest,
    draft: &Draft<'_>,
    users: &Users,
    made: &[Option<Planned>],
    writer: &FxHashMap<usize, usize>,
) -> Option<(usize, Box<Nest>)> {
    let [tensor] = nest.inputs[..] else { return None };
    let from = *writer.get(&tensor)?;
    let Some(Planned::Nest(producer)) = made.get(from)?.as_ref() else { return None };
    let extents = (0..nest.generic.inputs[0].map.results().len())
        .filter_map(|at| nest.generic.extents.get(nest.generic.inputs[0].map.as_operand(at)?));
    let fits = nest.is_copy()
        && nest.tables.is_empty()
        && draft.tensors[tensor].element == draft.tensors[nest.output].element
        && extents.eq(draft.tensors[tensor].extents.iter())
        && users.count(tensor) == 1
        && users.is_free(tensor, &draft.tensors)
        && stays(producer, draft, made, from);
    let mut joined = producer.clone();
    (fits && joined.redirect(nest)).then_some((from, joined))
}

/// Takes nests away whose tensor nobody reads.
fn drop_unread(draft: &mut Draft<'_>) {
    let mut wanted: Vec<bool> =
        draft.buffers.iter().map(|buffer| matches!(buffer.storage, Storage::Output(_))).collect();
    for step in &draft.steps {
        match step {
            Planned::Reference(op) => pin(draft, *op, &mut wanted),
            Planned::Recurrent(nests) => {
                let reads = nests.iter().flat_map(Nest::reads);
                reads.for_each(|tensor| wanted[draft.tensors[tensor].buffer] = true);
            }
            _ => {}
        }
    }
    let mut kept = Vec::new();
    for step in std::mem::take(&mut draft.steps).into_iter().rev() {
        if let Planned::Nest(nest) = &step {
            if !wanted[draft.tensors[nest.output].buffer] {
                continue;
            }
            nest.reads().for_each(|tensor| wanted[draft.tensors[tensor].buffer] = true);
        }
        kept.push(step);
    }
    kept.reverse();
    draft.steps = kept;
}
