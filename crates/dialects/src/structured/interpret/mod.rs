//! Running structured definitions on tensors: plain loops, the oracle for whatever compiles them.
//!
//! The points of a nest are taken in order, some thousands at a time; each scalar of the body is
//! computed for all of them by the reference kernel of that scalar, so that a body means what the
//! kernels mean, bit for bit. What a definition may get wrong is checked: every access is within
//! its tensor or has a value outside, every element of a tensor is written before it is read, and
//! once.

mod body;
mod memory;
mod points;

use tangram_affine::symbolic::Expr;
use tangram_tensor::{KernelError, Tensor, dispatch};

use super::{Access, Binary, Body, Generic, Reduction, Structured, Temporary, TensorId};
use crate::tg::Nest;
use body::Evaluation;
use memory::{Buffer, Memory};
use points::{Points, Space};

/// Why a definition could not be run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterpretError {
    /// An extent or symbol has no value, or none that loops can have.
    #[error("`{0}` has no value, or none that can be an extent")]
    Extent(String),
    /// A nest has more points than are run.
    #[error("a nest has {0} points or more")]
    TooLarge(u64),
    /// There is no such tensor.
    #[error("{0:?} is absent")]
    Absent(TensorId),
    /// An access leaves its tensor and says nothing of what is there.
    #[error("{place:?} of extents {extents:?} is accessed at {index:?}")]
    Outside {
        /// The tensor.
        place: TensorId,
        /// Its extents.
        extents: Vec<i64>,
        /// The index.
        index: Vec<i64>,
    },
    /// An element is read or returned that nothing wrote.
    #[error("an element of {0:?} is never written")]
    Unwritten(TensorId),
    /// An element is written twice.
    #[error("an element of {0:?} is written twice")]
    Twice(TensorId),
    /// The definition contradicts itself.
    #[error("{0}")]
    Malformed(&'static str),
    /// A scalar is not defined.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// What running gives.
type Result<T> = std::result::Result<T, InterpretError>;

/// Runs a definition: one tensor for each result.
///
/// `operands`: `None` for an absent one. `results`: their types. `symbols`: the values of the
/// symbols in extents.
///
/// # Errors
/// [`InterpretError`]; where the reference kernel gives a result, each one is a mistake in the
/// definition.
pub fn interpret(
    structured: &Structured,
    operands: &[Option<Tensor>],
    results: &[Temporary],
    symbols: &dyn Fn(&str) -> Option<i64>,
) -> Result<Vec<Tensor>> {
    match structured {
        Structured::Reshape { operand } => {
            let tensor = operands.get(*operand).and_then(Option::as_ref);
            let tensor = tensor.ok_or(InterpretError::Absent(TensorId::Operand(*operand)))?;
            let [result] = results else {
                return Err(InterpretError::Malformed("a reshape has one result"));
            };
            let shape = extents(&result.extents, symbols)?;
            let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
            Ok(vec![tensor.reshaped(shape)?])
        }
        Structured::Loops { temporaries, stages, recurrent } => {
            let mut memory = Memory::new(operands, results, temporaries, symbols)?;
            let mut next = 0;
            while next < stages.len() {
                let shared = recurrent.iter().find(|range| range.start == next);
                let Some(range) = shared.filter(|range| !range.is_empty()) else {
                    run(&stages[next], None, &mut memory, symbols)?;
                    next += 1;
                    continue;
                };
                let nests = stages.get(range.clone());
                let nests = nests.ok_or(InterpretError::Malformed("a range of no nests"))?;
                let first = nests[0].extents.first();
                let first = first.ok_or(InterpretError::Malformed("nests without a loop"))?;
                let steps = extents(std::slice::from_ref(first), symbols)?[0];
                for step in 0..steps {
                    for nest in nests {
                        run(nest, Some(step), &mut memory, symbols)?;
                    }
                }
                next = range.end;
            }
            memory.results()
        }
    }
}

/// The values of extents, none negative.
fn extents(list: &[Expr], symbols: &dyn Fn(&str) -> Option<i64>) -> Result<Vec<i64>> {
    let value = |expr: &Expr| {
        let value = expr.eval(symbols).filter(|&n| n >= 0);
        value.ok_or_else(|| InterpretError::Extent(expr.to_string()))
    };
    list.iter().map(value).collect()
}

/// Runs one nest; with `step` only that iteration of its first loop.
fn run(
    generic: &Generic,
    step: Option<i64>,
    memory: &mut Memory<'_>,
    symbols: &dyn Fn(&str) -> Option<i64>,
) -> Result<()> {
    let order: Vec<usize> = generic.reduced().collect();
    let rows: Vec<(usize, i64, i64)> = step.map(|step| (0, step, 1)).into_iter().collect();
    let way = Way { finish: None, order: &order, lanes: None, rows: &rows };
    run_nest(generic, &way, memory, symbols)
}

/// How the points of a nest become elements.
struct Way<'a> {
    /// What becomes of a combined element, which is the input behind all others.
    finish: Option<&'a Body>,
    /// The reduced loops, the last fastest.
    order: &'a [usize],
    /// A reduced loop, and how many lanes its iterations are combined in.
    lanes: Option<(usize, usize)>,
    /// Loops of which only some iterations are run: the first, and how many.
    rows: &'a [(usize, i64, i64)],
}

/// A destination: its elements, and which of them are written.
pub(crate) type Destination = (Tensor, Vec<bool>);

/// Runs a nest on its operands; `starts` are the first values of its rows.
///
/// `written` says which elements of an operand are; all where it says nothing.
pub(crate) fn interpret_nest(
    nest: &Nest,
    operands: &[Option<Tensor>],
    written: &[Option<&[bool]>],
    (into, filled): Destination,
    starts: &[i64],
    symbols: &dyn Fn(&str) -> Option<i64>,
) -> Result<Destination> {
    let mut memory = Memory::of_nest(operands, written, Buffer::partial(&into, filled));
    let rows = nest.rows.iter().zip(starts).map(|(row, &start)| (row.iterator, start, row.block));
    let rows: Vec<(usize, i64, i64)> = rows.collect();
    let way =
        Way { finish: nest.finish.as_ref(), order: &nest.order, lanes: nest.lanes, rows: &rows };
    run_nest(&nest.generic, &way, &mut memory, symbols)?;
    memory.take(TensorId::Result(0))?.parts()
}

fn run_nest(
    generic: &Generic,
    way: &Way<'_>,
    memory: &mut Memory<'_>,
    symbols: &dyn Fn(&str) -> Option<i64>,
) -> Result<()> {
    let well_formed = generic.kinds.len() == generic.extents.len()
        && generic.reduced().next().is_some() <= generic.reduction.is_some();
    if !well_formed {
        return Err(InterpretError::Malformed("kinds, extents and reduction do not fit"));
    }
    let value =
        |expr: &Expr| expr.eval(symbols).ok_or_else(|| InterpretError::Extent(expr.to_string()));
    let symbols_of_maps = generic.symbols.iter().map(value).collect::<Result<Vec<i64>>>()?;
    let mut space = Space::new(&extents(&generic.extents, symbols)?, symbols_of_maps)?;
    for &(iterator, start, block) in way.rows {
        space = space.within(iterator, start, block)?;
    }
    let mut out = memory.take(generic.output.place)?;
    let done = match generic.reduction {
        None => write(generic, &space, memory, &mut out),
        Some(reduction) => {
            let space = space.ending_with(way.order);
            reduce((generic, way), &space, memory, &mut out, reduction)
        }
    };
    memory.put(generic.output.place, out);
    done
}

/// The elements that the output's map names, none of which is outside.
fn written(access: &Access, points: &Points<'_>, out: &Buffer) -> Result<Vec<usize>> {
    let found = points.places(access, &out.extents)?;
    let index = |i: usize| points.index(access, i);
    found
        .into_iter()
        .enumerate()
        .map(|(i, place)| {
            place.ok_or_else(|| InterpretError::Outside {
                place: access.place,
                extents: out.extents.clone(),
                index: index(i),
            })
        })
        .collect()
}

fn write(generic: &Generic, space: &Space, memory: &Memory<'_>, out: &mut Buffer) -> Result<()> {
    for points in space.chunks() {
        let value = Evaluation::new(generic, &points, memory).value(&generic.body)?;
        let places = written(&generic.output, &points, out)?;
        out.write(generic.output.place, &places, &value)?;
    }
    Ok(())
}

/// Combines the points in order; an element that none reaches keeps the initial value.
fn reduce(
    (generic, way): (&Generic, &Way<'_>),
    space: &Space,
    memory: &Memory<'_>,
    out: &mut Buffer,
    reduction: Reduction,
) -> Result<()> {
    let element = reduction.initial.element();
    if way.finish.is_none() && element != out.element {
        return Err(InterpretError::Malformed("a sum has another type than where it is kept"));
    }
    let kept = space.without(&generic.reduced().collect::<Vec<_>>());
    let lanes = way.lanes.map_or(1, |(_, count)| count);
    let count = usize::try_from(kept.count()).ok().and_then(|n| n.checked_mul(lanes));
    let count = count.ok_or(InterpretError::TooLarge(kept.count()))?;
    let size = element.size_bits().div_ceil(8);
    let mut sums = body::number(reduction.initial, count)?.bytes().to_vec();
    for points in space.chunks() {
        let value = Evaluation::new(generic, &points, memory).value(&generic.body)?;
        let mut places = kept.numbers(&points);
        if let Some((iterator, lanes)) = way.lanes {
            for (place, &at) in places.iter_mut().zip(points.iterator(iterator)?) {
                *place = *place * lanes + at.rem_euclid(lanes as i64) as usize;
            }
        }
        // What these points are combined with lies together.
        let (Some(&first), Some(&last)) = (places.iter().min(), places.iter().max()) else {
            continue;
        };
        places.iter_mut().for_each(|place| *place -= first);
        let own = &mut sums[first * size..(last + 1) * size];
        let before = Tensor::from_bytes(element, [last + 1 - first], own.to_vec())?;
        own.copy_from_slice(combine(reduction.combine, &before, &value, &places)?.bytes());
    }
    let sums = Tensor::from_bytes(element, [count], sums)?;
    let sums = joined(reduction.combine, sums, lanes)?;
    let mut done = 0;
    for points in kept.chunks() {
        let own: Vec<usize> = (done..done + points.len()).collect();
        done += points.len();
        let mut value = pick(&sums, &own)?;
        if let Some(finish) = way.finish {
            value = Evaluation::new(generic, &points, memory).finishing(value).value(finish)?;
        }
        let places = written(&generic.output, &points, out)?;
        out.write(generic.output.place, &places, &value)?;
    }
    Ok(())
}

/// Combines the lanes of each element: lane `l` with `l + half`, for each half of them.
fn joined(by: Binary, mut sums: Tensor, lanes: usize) -> Result<Tensor> {
    let mut half = lanes / 2;
    while half > 0 {
        let elements = sums.len() / (2 * half);
        let lane = |from: usize| -> Vec<usize> {
            (0..elements).flat_map(|e| (0..half).map(move |l| 2 * half * e + from + l)).collect()
        };
        let (lower, upper) = (pick(&sums, &lane(0))?, pick(&sums, &lane(half))?);
        let all: Vec<usize> = (0..lower.len()).collect();
        sums = combine(by, &lower, &upper, &all)?;
        half /= 2;
    }
    Ok(sums)
}

/// The elements of a vector at some places.
fn pick(tensor: &Tensor, places: &[usize]) -> Result<Tensor> {
    let size = tensor.dtype().size_bits().div_ceil(8);
    let bytes = tensor.bytes();
    let picked: Vec<u8> =
        places.iter().flat_map(|&at| bytes[at * size..][..size].iter().copied()).collect();
    Ok(Tensor::from_bytes(tensor.dtype(), [places.len()], picked)?)
}

/// Adds `values` one after the other to the elements of `sums` at `places`.
fn combine(by: Binary, sums: &Tensor, values: &Tensor, places: &[usize]) -> Result<Tensor> {
    use tangram_tensor::{DType, elementwise::cast};
    if sums.dtype() == DType::Bool {
        let by = match by {
            Binary::Or => Binary::Max,
            Binary::And => Binary::Min,
            _ => return Err(InterpretError::Malformed("booleans are combined by and, or or")),
        };
        let bytes = |tensor: &Tensor| cast(tensor, DType::U8);
        return Ok(cast(&combine(by, &bytes(sums)?, &bytes(values)?, places)?, DType::Bool)?);
    }
    combine_numbers(by, sums, values, places)?
        .ok_or(InterpretError::Malformed("no sum is made with this function"))
}

fn combine_numbers(
    by: Binary,
    sums: &Tensor,
    values: &Tensor,
    places: &[usize],
) -> tangram_tensor::Result<Option<Tensor>> {
    use tangram_tensor::Number;
    dispatch!(number, "structured", sums.dtype(), T => {
        let join = match by {
            Binary::Add => <T as Number>::plus,
            Binary::Mul => <T as Number>::times,
            Binary::Max => <T as Number>::larger,
            Binary::Min => <T as Number>::smaller,
            _ => return Ok(None),
        };
        let mut made = sums.to_vec::<T>()?;
        for (&place, &value) in places.iter().zip(values.view::<T>()?.iter()) {
            made[place] = join(made[place], value);
        }
        Tensor::from_vec(sums.shape(), made).map(Some)
    })
}
