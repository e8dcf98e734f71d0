//! Programs made ready to run: functions found, constants read, last uses known.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_dialects::interpret::{Datum, values_read};
use tangram_dialects::{constant, dtype};
use tangram_ir::{Module, Op, Value};
use tangram_lowering::{Call, Program, ProgramStep, Storage};
use tangram_tensor::Tensor;

use crate::error::SessionError;
use crate::formulas::Formulas;
use crate::library::{Function, Library};
use crate::outline;
use crate::profile::Coverage;
use crate::setup;

/// A program with all that runs have in common.
pub(crate) struct Prepared {
    /// The program.
    pub program: Program,
    /// Its sizes.
    pub formulas: Formulas,
    /// Its steps but constants.
    pub steps: Vec<Ready>,
    /// For each buffer in the arena that compiled code writes, the first and last step that need it.
    pub lives: Vec<Option<(usize, usize)>>,
    /// Stored values that reference steps or the caller see.
    pub seen: FxHashSet<Value>,
    /// Values that are the same in every run.
    pub constants: FxHashMap<Value, Datum>,
    /// For each buffer that a constant fills, its elements.
    pub filled: Vec<Option<Tensor>>,
    /// What the function takes.
    pub arguments: Vec<Value>,
    /// What it returns.
    pub results: Vec<Value>,
}

/// A step that can run.
pub(crate) struct Ready {
    pub work: Work,
    /// Values that no reference step reads after this one.
    pub forgets: Vec<Value>,
    /// Buffers that no step needs after this one.
    pub releases: Vec<usize>,
}

/// What a step does.
pub(crate) enum Work {
    /// Calls a compiled function.
    Call { call: Call, function: Function },
    /// Evaluates an operation.
    Reference { op: Op, reads: Vec<Value> },
}

impl Work {
    /// The buffers that the step has.
    fn buffers(&self, module: &Module, program: &Program) -> Vec<usize> {
        match self {
            Work::Call { call, .. } => call.buffers.clone(),
            Work::Reference { op, reads } => {
                let values = reads.iter().copied().chain(module.results(*op));
                values.filter_map(|value| Some(program.values.get(&value)?.buffer)).collect()
            }
        }
    }
}

impl Prepared {
    /// Makes `program`, the lowered `function`, ready; its code is in `library`.
    pub(crate) fn new(
        module: &Module,
        function: Op,
        program: Program,
        library: Option<&Library>,
    ) -> Result<Prepared, SessionError> {
        let mut prepared = Prepared::begun(module, function, program, library)?;
        prepared.filled = setup::constants(module, &prepared.program)?;
        prepared.read_constants(module)?;
        setup::run(&prepared.program, library, &mut prepared.filled)?;
        prepared.find_ends(module);
        Ok(prepared)
    }

    /// Makes a program ready whose buffers of constants are `filled` already; all of its steps are
    /// calls.
    pub(crate) fn with_weights(
        module: &Module,
        function: Op,
        program: Program,
        library: &Library,
        filled: Vec<Option<Tensor>>,
    ) -> Result<Prepared, SessionError> {
        let mut prepared = Prepared::begun(module, function, program, Some(library))?;
        prepared.filled = filled;
        prepared.find_ends(module);
        Ok(prepared)
    }

    /// A program with its functions, without constants.
    fn begun(
        module: &Module,
        function: Op,
        program: Program,
        library: Option<&Library>,
    ) -> Result<Prepared, SessionError> {
        check(module, &program)?;
        let block = outline::block(module, function).ok_or(SessionError::NoGraph)?;
        let results = module.last_op(block).map(|op| module.operands(op).collect());
        let mut prepared = Prepared {
            formulas: Formulas::default(),
            steps: Vec::new(),
            lives: Vec::new(),
            seen: FxHashSet::default(),
            constants: FxHashMap::default(),
            filled: Vec::new(),
            arguments: module.args(block).to_vec(),
            results: results.unwrap_or_default(),
            program,
        };
        prepared.find_work(module, library)?;
        Ok(prepared)
    }

    /// The calls, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.steps.iter().filter_map(|step| match &step.work {
            Work::Call { call, .. } => Some(call),
            Work::Reference { .. } => None,
        })
    }

    fn find_work(
        &mut self,
        module: &Module,
        library: Option<&Library>,
    ) -> Result<(), SessionError> {
        let mut functions: FxHashMap<&str, Function> = FxHashMap::default();
        for step in &self.program.steps {
            let work = match step {
                ProgramStep::Reference(op) if is_constant(module, *op) => continue,
                ProgramStep::Reference(op) => {
                    Work::Reference { op: *op, reads: values_read(module, *op) }
                }
                ProgramStep::Call(call) => {
                    let function = match functions.get(call.function.as_str()) {
                        Some(known) => known.clone(),
                        None => {
                            let library = library.ok_or_else(|| broken("calls without code"))?;
                            library.function(&call.function)?
                        }
                    };
                    functions.insert(&call.function, function.clone());
                    Work::Call { call: call.clone(), function }
                }
            };
            self.steps.push(Ready { work, forgets: Vec::new(), releases: Vec::new() });
        }
        Ok(())
    }

    /// Reads the constants that reference steps and the caller need.
    fn read_constants(&mut self, module: &Module) -> Result<(), SessionError> {
        let mut wanted: Vec<Value> = self.results.clone();
        for step in &self.steps {
            if let Work::Reference { reads, .. } = &step.work {
                wanted.extend(reads);
            }
        }
        let filled: FxHashMap<Value, usize> = self
            .program
            .buffers
            .iter()
            .enumerate()
            .filter_map(|(i, buffer)| match buffer.storage {
                Storage::Constant(value) => Some((value, i)),
                _ => None,
            })
            .collect();
        for value in wanted {
            let Some(op) = module.def_op(value).filter(|&op| is_constant(module, op)) else {
                continue;
            };
            if self.constants.contains_key(&value) {
                continue;
            }
            let datum = match filled.get(&value).and_then(|&i| self.filled[i].clone()) {
                Some(tensor) => Datum::Tensor(tensor),
                None if module.name_text(op) == "nn.none" => Datum::None,
                None => match constant::constant_tensor(module, value) {
                    Some(tensor) => Datum::Tensor(tensor),
                    None => return Err(broken("a constant that cannot be read")),
                },
            };
            self.constants.insert(value, datum);
        }
        Ok(())
    }

    /// Finds what is seen of stored values, and after which step values and buffers end.
    fn find_ends(&mut self, module: &Module) {
        let program = &self.program;
        let mut last_read: FxHashMap<Value, usize> = FxHashMap::default();
        let mut lives: Vec<Option<(usize, usize)>> = vec![None; program.buffers.len()];
        let mut written: FxHashSet<usize> = FxHashSet::default();
        for (at, step) in self.steps.iter().enumerate() {
            match &step.work {
                Work::Call { call, .. } => {
                    written.extend(call.writes.iter().map(|&place| call.buffers[place]));
                }
                Work::Reference { op, reads } => {
                    let values = reads.iter().copied().chain(module.results(*op));
                    last_read.extend(values.clone().map(|value| (value, at)));
                    self.seen.extend(values);
                }
            }
            for buffer in step.work.buffers(module, program) {
                let life = lives[buffer].get_or_insert((at, at));
                life.1 = at;
            }
        }
        let end = self.steps.len();
        for value in &self.results {
            self.seen.insert(*value);
            last_read.remove(value);
            if let Some(stored) = program.values.get(value) {
                lives[stored.buffer].get_or_insert((end, end)).1 = end;
            }
        }
        for (value, at) in last_read {
            self.steps[at].forgets.push(value);
        }
        for (buffer, life) in lives.iter_mut().enumerate() {
            if let Some(step) = life.and_then(|life| self.steps.get_mut(life.1)) {
                step.releases.push(buffer);
            }
            if life.is_none() {
                // A constant that was only there to be copied.
                self.filled[buffer] = None;
            }
            let needs_slot = program.buffers[buffer].storage == Storage::Arena;
            if !needs_slot || !written.contains(&buffer) {
                *life = None;
            }
        }
        self.lives = lives;
        self.formulas = Formulas::of(&self.program, self.calls(), self.seen.iter().copied());
    }

    /// What is compiled and what is not.
    pub(crate) fn coverage(&self, module: &Module) -> Coverage {
        let mut coverage = Coverage::default();
        for step in &self.steps {
            let (ops, compiled) = match &step.work {
                Work::Call { call, .. } => (call.ops.as_slice(), true),
                Work::Reference { op, .. } => (std::slice::from_ref(op), false),
            };
            coverage.calls += usize::from(compiled);
            for &op in ops {
                let count = coverage.operations.entry(module.name_text(op).to_owned()).or_default();
                *if compiled { &mut count.0 } else { &mut count.1 } += 1;
                if let Some(reason) = self.program.reasons.get(&op).filter(|_| !compiled) {
                    let reasons = coverage.reasons.entry(module.name_text(op).to_owned());
                    *reasons.or_default().entry(reason.to_string()).or_default() += 1;
                }
            }
        }
        coverage
    }
}

fn is_constant(module: &Module, op: Op) -> bool {
    matches!(module.name_text(op), "nn.constant" | "nn.none")
}

fn broken(what: impl Into<String>) -> SessionError {
    SessionError::Broken(what.into())
}

/// Returns whether the numbers of `program` are numbers of its parts, and types fit.
fn check(module: &Module, program: &Program) -> Result<(), SessionError> {
    let count = program.buffers.len();
    for (&value, stored) in &program.values {
        let Some(buffer) = program.buffers.get(stored.buffer) else {
            return Err(broken(format!("a value in buffer {} of {count}", stored.buffer)));
        };
        let context = module.context();
        let element = context.element_type(module.value_type(value));
        let element = element.and_then(|ty| dtype::dtype_of(context, ty));
        if element.is_some_and(|element| element != buffer.element) {
            return Err(broken(format!("a value of another type in buffer {}", stored.buffer)));
        }
    }
    let calls = program.steps.iter().filter_map(|step| match step {
        ProgramStep::Call(call) => Some((call, false)),
        ProgramStep::Reference(_) => None,
    });
    for (call, once) in program.setup.iter().map(|call| (call, true)).chain(calls) {
        let name = &call.function;
        if let Some(buffer) = call.buffers.iter().find(|&&buffer| buffer >= count) {
            return Err(broken(format!("`{name}` has buffer {buffer} of {count}")));
        }
        for &place in &call.writes {
            let buffer = call.buffers.get(place).map(|&buffer| program.buffers[buffer].storage);
            let fits = match buffer {
                Some(Storage::Output(_) | Storage::Arena) => !once,
                Some(Storage::Prepared) => once,
                _ => false,
            };
            if !fits {
                return Err(broken(format!("`{name}` writes {buffer:?}")));
            }
        }
    }
    Ok(())
}
