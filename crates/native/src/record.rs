//! A session's program as text.
//!
//! Values, types and names of operations go through the text of the IR: a function with the
//! arguments and results of the model, in which an operation without operands stands for each one
//! that the code computes, so that profiles and coverage say the same. All else is a list of
//! numbers, and sizes in their own notation.

use bytes::Bytes;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tangram_affine::symbolic::Expr;
use tangram_ir::{Context, Loc, Module, Op, OpState, Point, Value, text};
use tangram_lowering::{Buffer, Call, Program, ProgramStep, Storage, Stored};
use tangram_tensor::{DType, Tensor};

use crate::outline;
use crate::prepare::{Prepared, Ready, Work};
use crate::weights::Places;

/// What a session is made of besides code and weights.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    module: String,
    /// Where values are that are not arguments: the buffer, and the extents.
    values: Vec<(usize, Vec<String>)>,
    buffers: Vec<Memory>,
    calls: Vec<Step>,
    assumed: Vec<[String; 2]>,
    excluded: Vec<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
struct Memory {
    element: String,
    size: String,
    per_part: bool,
    whose: Whose,
}

#[derive(Serialize, Deserialize)]
enum Whose {
    Input(usize),
    Output(usize),
    Arena,
    /// The weights, from this byte on.
    Weights(usize),
    /// A constant that nothing needs any more.
    Nobody,
}

#[derive(Serialize, Deserialize)]
struct Step {
    function: String,
    arguments: Vec<String>,
    buffers: Vec<usize>,
    writes: Vec<usize>,
    work: Vec<(String, i64)>,
    /// How many operations it computes.
    ops: usize,
}

/// A program that can be made ready without the model it was lowered from.
pub(crate) struct Restored {
    pub module: Module,
    pub function: Op,
    pub program: Program,
    pub filled: Vec<Option<Tensor>>,
}

impl Record {
    /// Records what `prepared` is made of; `None` if something of it is not compiled, or cannot be
    /// written down. Its weights lie at `places`.
    pub(crate) fn of_prepared(
        module: &Module,
        prepared: &Prepared,
        places: &Places,
    ) -> Option<Record> {
        let is_call = |step: &Ready| matches!(step.work, Work::Call { .. });
        if !prepared.constants.is_empty() || !prepared.steps.iter().all(is_call) {
            return None;
        }
        let Prepared { program, arguments, results, .. } = prepared;
        Record::of(module, program, (arguments, results), &places.starts)
    }

    /// Records a program all whose steps are calls, apart from constants; `starts`: where in the
    /// weights the elements of each buffer begin that a constant fills.
    pub(crate) fn of(
        module: &Module,
        program: &Program,
        (arguments, results): (&[Value], &[Value]),
        starts: &[Option<usize>],
    ) -> Option<Record> {
        let calls: Vec<&Call> = program.steps.iter().filter_map(called).collect();
        let (mut made, mut values) = (Vec::new(), Vec::new());
        for &value in results {
            if !arguments.contains(&value) && !made.contains(&value) {
                let Stored { buffer, extents } = program.values.get(&value)?;
                made.push(value);
                values.push((*buffer, texts(extents)?));
            }
        }
        let buffers = program.buffers.iter().zip(starts);
        let buffers = buffers.map(|(buffer, start)| memory(buffer, *start));
        let pair = |[a, b]: &[Expr; 2]| Some([written(a)?, written(b)?]);
        Some(Record {
            module: text::print(&outlined(module, (arguments, &made, results), &calls)?),
            values,
            buffers: buffers.collect::<Option<_>>()?,
            calls: calls.into_iter().map(step).collect::<Option<_>>()?,
            assumed: program.assumed.iter().map(pair).collect::<Option<_>>()?,
            excluded: program.excluded.iter().map(|all| texts(all)).collect::<Option<_>>()?,
        })
    }

    /// The program again, whose types are those of `context`, and whose weights lie in `weights`.
    pub(crate) fn restore(
        self,
        context: &std::sync::Arc<Context>,
        weights: &Bytes,
    ) -> Option<Restored> {
        let module = text::parse(&self.module, "session", context.clone()).ok()?;
        let function = module.first_op(module.body())?;
        let block = outline::block(&module, function)?;
        let mut ops = module.ops(block);
        let made = module.results(ops.next()?);
        let mut program = Program::default();
        let mut filled = Vec::with_capacity(self.buffers.len());
        for memory in self.buffers {
            let (buffer, tensor) = memory.restore(weights)?;
            program.buffers.push(buffer);
            filled.push(tensor);
        }
        for (value, (buffer, extents)) in made.zip(self.values) {
            program.values.insert(value, Stored { buffer, extents: read(&extents)? });
        }
        for step in self.calls {
            let computed = ops.by_ref().take(step.ops).collect();
            program.steps.push(ProgramStep::Call(step.restore(computed)?));
        }
        for [a, b] in self.assumed {
            program.assumed.push([a.parse().ok()?, b.parse().ok()?]);
        }
        program.excluded = self.excluded.iter().map(|all| read(all)).collect::<Option<_>>()?;
        drop(ops);
        Some(Restored { module, function, program, filled })
    }
}

impl Memory {
    fn restore(self, weights: &Bytes) -> Option<(Buffer, Option<Tensor>)> {
        let element: DType = self.element.parse().ok()?;
        let size: Expr = self.size.parse().ok()?;
        let mut filled = None;
        let storage = match self.whose {
            Whose::Input(at) => Storage::Input(at),
            Whose::Output(at) => Storage::Output(at),
            Whose::Arena => Storage::Arena,
            Whose::Nobody => Storage::Prepared,
            Whose::Weights(start) => {
                let len = usize::try_from(size.as_int()?).ok()?;
                let end = start.checked_add(element.byte_len(len)?)?;
                let bytes = (end <= weights.len()).then(|| weights.slice(start..end))?;
                filled = Some(Tensor::from_bytes(element, [len], bytes).ok()?);
                Storage::Prepared
            }
        };
        Some((Buffer { element, size, storage, per_part: self.per_part }, filled))
    }
}

impl Step {
    fn restore(self, ops: Vec<Op>) -> Option<Call> {
        let work = self.work.into_iter().map(|(count, each)| Some((count.parse().ok()?, each)));
        Some(Call {
            function: self.function,
            arguments: read(&self.arguments)?,
            buffers: self.buffers,
            ops,
            writes: self.writes,
            work: work.collect::<Option<_>>()?,
        })
    }
}

/// A function of these arguments and results, with an operation that gives what is `made`, and one
/// for each that a call computes.
fn outlined(
    module: &Module,
    (arguments, made, results): (&[Value], &[Value], &[Value]),
    calls: &[&Call],
) -> Option<Module> {
    let context = module.context_arc();
    let mut copy = Module::new(context.clone());
    let mut state = OpState::new(context.name("func.func"), Loc::UNKNOWN);
    state.regions = 1;
    let function = copy.create_at(Point::End(copy.body()), state);
    let region = copy.region(function, 0);
    let block = copy.add_block(region);
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    for &value in arguments {
        values.insert(value, copy.add_arg(block, module.value_type(value)));
    }
    let mut state = OpState::new(context.name("native.results"), Loc::UNKNOWN);
    state.results = made.iter().map(|&value| module.value_type(value)).collect();
    let maker = copy.create_at(Point::End(block), state);
    values.extend(made.iter().copied().zip(copy.results(maker).collect::<Vec<_>>()));
    for &op in calls.iter().flat_map(|call| &call.ops) {
        copy.create_at(Point::End(block), OpState::new(module.name(op), Loc::UNKNOWN));
    }
    let mut end = OpState::new(context.name("func.return"), Loc::UNKNOWN);
    end.operands = results.iter().map(|value| values.get(value).copied()).collect::<Option<_>>()?;
    copy.create_at(Point::End(block), end);
    Some(copy)
}

/// The call that a step is.
fn called(step: &ProgramStep) -> Option<&Call> {
    match step {
        ProgramStep::Call(call) => Some(call),
        ProgramStep::Reference(_) => None,
    }
}

fn memory(buffer: &Buffer, start: Option<usize>) -> Option<Memory> {
    let Buffer { element, size, storage, per_part } = buffer;
    let whose = match (*storage, start) {
        (Storage::Input(at), _) => Whose::Input(at),
        (Storage::Output(at), _) => Whose::Output(at),
        (Storage::Arena, _) => Whose::Arena,
        (Storage::Constant(_) | Storage::Prepared, None) => Whose::Nobody,
        (Storage::Constant(_) | Storage::Prepared, Some(start)) => Whose::Weights(start),
    };
    let (element, size) = (element.name().to_owned(), written(size)?);
    Some(Memory { element, size, per_part: *per_part, whose })
}

fn step(call: &Call) -> Option<Step> {
    let work = call.work.iter().map(|(count, each)| Some((written(count)?, *each)));
    Some(Step {
        function: call.function.clone(),
        arguments: texts(&call.arguments)?,
        buffers: call.buffers.clone(),
        writes: call.writes.clone(),
        work: work.collect::<Option<_>>()?,
        ops: call.ops.len(),
    })
}

fn texts(exprs: &[Expr]) -> Option<Vec<String>> {
    exprs.iter().map(written).collect()
}

/// The text of an expression, if it is read as the same one: a model may call an extent anything.
fn written(expr: &Expr) -> Option<String> {
    let text = expr.to_string();
    (text.parse::<Expr>().as_ref() == Ok(expr)).then_some(text)
}

fn read(texts: &[String]) -> Option<Vec<Expr>> {
    texts.iter().map(|text| text.parse().ok()).collect()
}
