//! What a compiled model is made of: groups of operations, their code, memory and time.

use std::time::Duration;

use tangram_dialects::interpret::Datum;
use tangram_ir::{Module, Op, Value};
use tangram_lowering::Storage;

use crate::error::SessionError;
use crate::port::{Dims, Port};
use crate::prepare::{Prepared, Work};
use crate::profile::Profile;
use crate::session::Session;
use crate::sizes::Sizes;

/// A compiled model, for sizes of one run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// What runs, in order.
    pub groups: Vec<Group>,
    /// The memory that groups read and write.
    pub buffers: Vec<Memory>,
    /// The bytes of the arena.
    pub arena: usize,
    /// The fastest run, with what is between the groups.
    pub total: Duration,
    /// The sizes of the open extents, by name.
    pub sizes: Vec<(String, i64)>,
}

/// Operations that one function computes, or one operation on the reference kernels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// The function, or the operation.
    pub name: String,
    /// Whether it is compiled.
    pub compiled: bool,
    /// Its operations.
    pub operations: Vec<Computed>,
    /// The buffers that it reads or writes, by number, and whether it writes them.
    pub buffers: Vec<(usize, bool)>,
    /// About how many cycles it takes, by the cost model; 0 for reference kernels.
    pub cycles: i64,
    /// In how many parts it may run at once.
    pub parts: usize,
    /// What it took in the fastest of the measured runs of it.
    pub time: Duration,
    /// The function in C; nothing for reference kernels.
    pub code: String,
    /// Why it is not compiled; nothing where it is.
    pub reason: String,
}

/// An operation and what it gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Computed {
    /// Its name, as `nn.conv2d`.
    pub name: String,
    /// Its results, with names where the model has them: `y: float32[n, 8]`.
    pub results: Vec<String>,
}

/// A range of memory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Memory {
    /// Whose it is: `input`, `output`, `constant`, `packed` or `arena`.
    pub storage: &'static str,
    /// The type of its elements.
    pub element: String,
    /// How many bytes it has.
    pub bytes: usize,
    /// Where it lies in the arena.
    pub offset: Option<usize>,
    /// The first and the last group that need it, for what lies in the arena.
    pub life: Option<(usize, usize)>,
}

impl Session {
    /// Runs the model `runs` times on `inputs`, and says what it is made of and what it took.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn report(
        &self,
        inputs: &[(&str, Datum)],
        runs: usize,
    ) -> Result<(Vec<Datum>, Report), SessionError> {
        let session = self.whole()?;
        let (outputs, mut trace) = session.traced(inputs)?;
        let mut best = trace.profile.take().unwrap_or_default();
        for _ in 1..runs {
            let (_, again) = session.profile(inputs)?;
            best = fastest(best, &again);
        }
        let mut report = Report::default();
        for (prepared, sizes, dims) in trace.parts {
            report.append(describe(session.module(), prepared, &sizes, &dims));
            report.sizes.extend(dims.into_values());
        }
        report.sizes.sort();
        report.sizes.dedup();
        for (group, timing) in report.groups.iter_mut().zip(&best.steps) {
            group.time = timing.time;
        }
        report.total = best.total;
        Ok((outputs, report))
    }
}

impl Report {
    /// Lets another part follow, which has memory of its own.
    fn append(&mut self, part: Report) {
        let (groups, buffers) = (self.groups.len(), self.buffers.len());
        self.groups.extend(part.groups.into_iter().map(|mut group| {
            group.buffers.iter_mut().for_each(|(buffer, _)| *buffer += buffers);
            group
        }));
        self.buffers.extend(part.buffers.into_iter().map(|mut buffer| {
            buffer.life = buffer.life.map(|(first, last)| (first + groups, last + groups));
            buffer
        }));
        self.arena = self.arena.max(part.arena);
    }
}

/// The least that each step took, and the whole.
fn fastest(best: Profile, other: &Profile) -> Profile {
    let mut best = best;
    for (step, again) in best.steps.iter_mut().zip(&other.steps) {
        step.time = step.time.min(again.time);
    }
    best.total = best.total.min(other.total);
    best
}

/// Groups and memory, without times.
fn describe(module: &Module, prepared: &Prepared, sizes: &Sizes, dims: &Dims) -> Report {
    let program = &prepared.program;
    let mut calls = 0;
    let mut groups = Vec::with_capacity(prepared.steps.len());
    for step in &prepared.steps {
        groups.push(match &step.work {
            Work::Call { call, .. } => {
                let parts = sizes.parts.get(calls).copied().unwrap_or(1);
                calls += 1;
                let written = |at: usize| call.writes.contains(&at);
                Group {
                    name: call.function.clone(),
                    compiled: true,
                    operations: call.ops.iter().map(|&op| computed(module, op)).collect(),
                    buffers: call
                        .buffers
                        .iter()
                        .enumerate()
                        .map(|(i, &b)| (b, written(i)))
                        .collect(),
                    cycles: call.cycles(&|expr| dims.eval(expr)),
                    parts,
                    time: Duration::ZERO,
                    code: program.text_of(&call.function).unwrap_or_default().to_owned(),
                    reason: String::new(),
                }
            }
            Work::Reference { op, reads } => Group {
                name: module.name_text(*op).to_owned(),
                compiled: false,
                operations: vec![computed(module, *op)],
                buffers: stored(prepared, reads.iter().copied(), false)
                    .chain(stored(prepared, module.results(*op), true))
                    .collect(),
                cycles: 0,
                parts: 1,
                time: Duration::ZERO,
                code: String::new(),
                reason: program.reasons.get(op).map(ToString::to_string).unwrap_or_default(),
            },
        });
    }
    let buffers = program.buffers.iter().enumerate().map(|(i, buffer)| Memory {
        storage: match buffer.storage {
            Storage::Input(_) => "input",
            Storage::Output(_) => "output",
            Storage::Constant(_) => "constant",
            Storage::Prepared => "packed",
            Storage::Arena => "arena",
        },
        element: buffer.element.name().to_owned(),
        bytes: sizes.bytes.get(i).copied().unwrap_or_default(),
        offset: sizes.offsets.get(i).copied().flatten(),
        life: prepared.lives.get(i).copied().flatten(),
    });
    Report { groups, buffers: buffers.collect(), arena: sizes.arena, ..Report::default() }
}

fn stored<'a>(
    prepared: &'a Prepared,
    values: impl Iterator<Item = Value> + 'a,
    written: bool,
) -> impl Iterator<Item = (usize, bool)> + 'a {
    values.filter_map(move |v| Some((prepared.program.values.get(&v)?.buffer, written)))
}

fn computed(module: &Module, op: Op) -> Computed {
    let result = |value: Value| {
        let name = module.value_name(value).map(|name| module.context().text(name).to_owned());
        let port = Port::of(module, value, name.unwrap_or_default());
        match port.name.is_empty() {
            true => port.kind.to_string(),
            false => format!("{}: {}", port.name, port.kind),
        }
    };
    Computed {
        name: module.name_text(op).to_owned(),
        results: module.results(op).map(result).collect(),
    }
}
