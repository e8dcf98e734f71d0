//! The sizes of a program for one choice of its symbols.

use rustc_hash::FxHashMap;
use tangram_ir::Value;
use tangram_tensor::Shape;

use crate::arena::{Slot, plan};
use crate::error::SessionError;
use crate::memory::ALIGNMENT;
use crate::port::Dims;
use crate::prepare::Prepared;

/// All that a run needs to know besides data.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// The bytes of each buffer.
    pub bytes: Vec<usize>,
    /// Where in the arena each buffer lies that compiled code writes.
    pub offsets: Vec<Option<usize>>,
    /// The bytes of the arena.
    pub arena: usize,
    /// The numbers that each call takes.
    pub arguments: Vec<Vec<i64>>,
    /// In how many parts each call runs.
    pub parts: Vec<usize>,
    /// The extents of stored values that reference steps or the caller see.
    pub extents: FxHashMap<Value, Shape>,
}

impl Sizes {
    /// Computes the sizes for the symbols `dims`, and as many threads, each woken for
    /// `grain` cycles at least.
    pub(crate) fn of(
        prepared: &Prepared,
        dims: &Dims,
        threads: usize,
        grain: i64,
    ) -> Result<Sizes, SessionError> {
        let (program, formulas) = (&prepared.program, &prepared.formulas);
        let values = formulas.evaluate(dims);
        let mut bytes = Vec::with_capacity(program.buffers.len());
        for (buffer, &at) in program.buffers.iter().zip(&formulas.buffers) {
            let len = buffer.element.byte_len(values.size(at)?);
            let len = match buffer.per_part {
                true => len.and_then(|len| {
                    len.checked_next_multiple_of(ALIGNMENT)?.checked_mul(threads.max(1))
                }),
                false => len,
            };
            bytes.push(len.ok_or_else(|| SessionError::Size(buffer.size.to_string()))?);
        }
        let (mut arguments, mut parts) = (Vec::new(), Vec::new());
        for (numbers, work) in formulas.arguments.iter().zip(&formulas.work) {
            let cycles = values.cycles(work);
            parts.push(threads.min(1 + usize::try_from(cycles / grain).unwrap_or(0)));
            let numbers = numbers.iter().map(|&at| values.number(at));
            arguments.push(numbers.collect::<Result<_, _>>()?);
        }
        let mut extents = FxHashMap::default();
        for (value, of) in &formulas.extents {
            let of = of.iter().map(|&at| values.size(at));
            extents.insert(*value, of.collect::<Result<_, _>>()?);
        }
        let (offsets, arena) = place(prepared, &bytes)?;
        Ok(Sizes { bytes, offsets, arena, arguments, parts, extents })
    }
}

/// Plans the arena for buffers of these sizes.
fn place(
    prepared: &Prepared,
    bytes: &[usize],
) -> Result<(Vec<Option<usize>>, usize), SessionError> {
    let (mut slots, mut places) = (Vec::new(), Vec::new());
    for (buffer, life) in prepared.lives.iter().enumerate() {
        let Some((first, last)) = *life else { continue };
        slots.push(Slot { bytes: bytes[buffer], first, last });
        places.push(buffer);
    }
    let total = || bytes.iter().fold(0usize, |sum, &n| sum.saturating_add(n));
    let (found, arena) = plan(&slots).ok_or_else(|| SessionError::Memory(total()))?;
    let mut offsets = vec![None; bytes.len()];
    for (buffer, offset) in places.into_iter().zip(found) {
        offsets[buffer] = Some(offset);
    }
    Ok((offsets, arena))
}
