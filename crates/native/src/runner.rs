//! What runs a function: its program made ready, plans of memory by size, arenas to use again.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_ir::{Block, Module, Op};
use tangram_lowering::{Program, ProgramStep};

use crate::bodies::Bodies;
use crate::error::SessionError;
use crate::library::Library;
use crate::memory::Block as Memory;
use crate::port::{Dims, Port, bind};
use crate::prepare::Prepared;
use crate::profile::{Coverage, Profile};
use crate::recycled::Recycled;
use crate::run::Run;
use crate::session::{Options, compiled};
use crate::shared::{Shared, Target};
use crate::sizes::Sizes;

/// How many plans are kept for sizes of symbols that may come again.
const MAX_PLANS: usize = 256;

/// A function that runs. Several threads may run it at once.
pub(crate) struct Runner {
    pub prepared: Prepared,
    /// The code, if there is any.
    pub library: Option<Library>,
    function: Op,
    /// What follows, of extents that this part finds.
    tail: Option<Box<Tail>>,
    /// What runs for sizes and data that the code is not for, where its operations are known.
    reference: Option<Reference>,
    pub inputs: Vec<Port>,
    threads: usize,
    grain: i64,
    plans: Mutex<FxHashMap<Dims, Arc<Sizes>>>,
    /// Arenas that no run has.
    arenas: Mutex<Vec<Memory>>,
    /// The memory of outputs that nobody has.
    recycled: Recycled,
}

/// What follows a part of a function.
pub(crate) struct Tail {
    /// Takes the first results of the part.
    runner: Runner,
    /// What runs where values have other types than a model declares.
    reference: Reference,
    /// Where the results of both come from.
    gives: Vec<From>,
}

/// Where a result comes from: the part, or its tail; which one of its results.
#[derive(Clone, Copy)]
pub(crate) enum From {
    Head(usize),
    Tail(usize),
}

impl Tail {
    /// Makes a tail of `function`, which `runner` runs.
    pub(crate) fn new(function: Op, runner: Runner, gives: Vec<From>) -> Tail {
        Tail { runner, reference: Reference::new(function), gives }
    }

    /// Runs what follows a part that gave `given`.
    fn execute<'a>(
        &'a self,
        (module, bodies): (&Module, &Bodies),
        given: Vec<Datum>,
        trace: &mut Trace<'a>,
    ) -> Result<Vec<Datum>, SessionError> {
        let inputs = given[..self.runner.inputs.len()].to_vec();
        let known = trace.mark();
        let found = match self.runner.execute((module, bodies), inputs.clone(), trace) {
            Err(SessionError::Input(_) | SessionError::Extents { .. } | SessionError::Size(_)) => {
                trace.forget(known);
                self.reference.run((module, bodies), inputs, trace)
            }
            found => found,
        }?;
        let gives = self.gives.iter().map(|&from| match from {
            From::Head(at) => given[at].clone(),
            From::Tail(at) => found[at].clone(),
        });
        Ok(gives.collect())
    }
}

/// What goes along with a run: what its caller asks for, and what is noted of it.
#[derive(Default)]
pub(crate) struct Trace<'a> {
    /// What each step took.
    pub profile: Option<Profile>,
    /// The parts that ran, in order, and for which sizes.
    pub parts: Vec<(&'a Prepared, Arc<Sizes>, Dims)>,
    /// Where the caller wants results, by number.
    pub targets: &'a [Option<Target>],
    /// When it is set, no further step begins.
    pub stop: Option<&'a AtomicBool>,
    /// The memory of results that compiled code wrote.
    pub memory: Vec<Shared>,
}

impl<'a> Trace<'a> {
    fn part(&mut self, prepared: &'a Prepared, sizes: &Arc<Sizes>, dims: &Dims) {
        if let Some(profile) = &mut self.profile {
            profile.arena = profile.arena.max(sizes.arena);
            self.parts.push((prepared, sizes.clone(), dims.clone()));
        }
    }

    /// How much is noted.
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.profile.as_ref().map_or(0, |profile| profile.steps.len()), self.parts.len())
    }

    /// Forgets what was noted after a mark.
    pub(crate) fn forget(&mut self, (steps, parts): (usize, usize)) {
        if let Some(profile) = &mut self.profile {
            profile.steps.truncate(steps);
        }
        self.parts.truncate(parts);
    }
}

impl Runner {
    /// Compiles `program`, which `function` was lowered to, or finds its code in the cache; `names`
    /// are those of its arguments.
    pub(crate) fn new(
        module: &Module,
        function: Op,
        program: Program,
        names: impl Iterator<Item = String>,
        options: &Options,
    ) -> Result<Runner, SessionError> {
        let is_call = |step: &ProgramStep| matches!(step, ProgramStep::Call(_));
        let calls = !program.setup.is_empty() || program.steps.iter().any(is_call);
        let library = if calls { Some(compiled(&program.source, options)?) } else { None };
        let prepared = Prepared::new(module, function, program, library.as_ref())?;
        Ok(Runner::ready(module, function, (prepared, library), names, options))
    }

    /// What runs `function`, of which a program is ready, whose code is in the library.
    pub(crate) fn ready(
        module: &Module,
        function: Op,
        (prepared, library): (Prepared, Option<Library>),
        names: impl Iterator<Item = String>,
        options: &Options,
    ) -> Runner {
        let port = |(&value, name)| Port::of(module, value, name);
        let inputs = prepared.arguments.iter().zip(names).map(port).collect();
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        let (plans, arenas) = (Mutex::default(), Mutex::default());
        let grain = options.grain.max(1);
        let (tail, reference) = (None, Some(Reference::new(function)));
        Runner {
            prepared,
            library,
            function,
            tail,
            reference,
            inputs,
            threads,
            grain,
            plans,
            arenas,
            recycled: Recycled::default(),
        }
    }

    /// The same, of a function whose operations are not known: sizes that the code is not for are
    /// [`SessionError::Uncovered`].
    pub(crate) fn without_reference(self) -> Runner {
        Runner { reference: None, ..self }
    }

    /// Whether it is all of its function.
    pub(crate) fn is_whole(&self) -> bool {
        self.tail.is_none()
    }

    /// Lets `tail` follow.
    pub(crate) fn set_tail(&mut self, tail: Tail) {
        self.tail = Some(Box::new(tail));
    }

    /// This part and those that follow it.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Runner> {
        std::iter::successors(Some(self), |part| part.tail.as_ref().map(|tail| &tail.runner))
    }

    /// The functions of the parts.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Op> {
        self.parts().map(|part| part.function)
    }

    /// Whether anything is compiled.
    pub(crate) fn has_calls(&self) -> bool {
        self.parts().any(|part| part.prepared.calls().next().is_some())
    }

    /// What of the parts is compiled.
    pub(crate) fn coverage(&self, module: &Module) -> Coverage {
        let mut coverage = Coverage::default();
        self.parts().for_each(|part| coverage.add(part.prepared.coverage(module)));
        coverage
    }

    /// Runs the function on `inputs`; the bodies of loops and branches are `bodies`.
    pub(crate) fn execute<'a>(
        &'a self,
        (module, bodies): (&Module, &Bodies),
        inputs: Vec<Datum>,
        trace: &mut Trace<'a>,
    ) -> Result<Vec<Datum>, SessionError> {
        let dims = bind(module.context(), &self.inputs, &inputs)?;
        let outputs = if self.is_for(&dims) {
            let known = trace.mark();
            match self.run((module, bodies), &dims, inputs.clone(), trace) {
                // They know which index it is, and of which operation.
                Err(SessionError::Index) if self.reference.is_some() => {
                    trace.forget(known);
                    self.uncovered((module, bodies), inputs, trace)
                }
                outputs => outputs,
            }
        } else {
            self.uncovered((module, bodies), inputs, trace)
        }?;
        match &self.tail {
            Some(tail) => tail.execute((module, bodies), outputs, trace),
            None => Ok(outputs),
        }
    }

    /// Runs what the code is not for.
    fn uncovered<'a>(
        &'a self,
        (module, bodies): (&Module, &Bodies),
        inputs: Vec<Datum>,
        trace: &mut Trace<'a>,
    ) -> Result<Vec<Datum>, SessionError> {
        let reference = self.reference.as_ref().ok_or(SessionError::Uncovered)?;
        reference.run((module, bodies), inputs, trace)
    }

    /// Runs this part's own code.
    fn run<'a>(
        &'a self,
        (module, bodies): (&Module, &Bodies),
        dims: &Dims,
        inputs: Vec<Datum>,
        trace: &mut Trace<'a>,
    ) -> Result<Vec<Datum>, SessionError> {
        let sizes = self.sizes(dims)?;
        trace.part(&self.prepared, &sizes, dims);
        let arena = self.arena(sizes.arena)?;
        let shared = bodies.within(module, trace.stop);
        // What follows a part has the results.
        let targets = if self.is_whole() { trace.targets } else { &[] };
        let memory = (arena, self.recycled.clone());
        let asked = (targets, trace.stop);
        let mut run = Run::new((module, &shared), &self.prepared, &sizes, inputs, memory, asked)?;
        run.steps(trace.profile.as_mut())?;
        let (outputs, memory, arena) = run.finish()?;
        trace.memory.extend(memory);
        self.arenas.lock().unwrap_or_else(PoisonError::into_inner).push(arena);
        Ok(outputs)
    }

    /// The bytes of the arena of this part.
    pub(crate) fn arena_bytes(
        &self,
        module: &Module,
        inputs: &[Datum],
    ) -> Result<usize, SessionError> {
        let dims = bind(module.context(), &self.inputs, inputs)?;
        if self.is_for(&dims) { Ok(self.sizes(&dims)?.arena) } else { Ok(0) }
    }

    /// Whether the code is for these symbols.
    fn is_for(&self, dims: &Dims) -> bool {
        // Sizes that have a plan were found to be so.
        if self.plans.lock().unwrap_or_else(PoisonError::into_inner).contains_key(dims) {
            return true;
        }
        let Program { assumed, excluded, .. } = &self.prepared.program;
        let holds = |[a, b]: &[Expr; 2]| dims.eval(a).is_some() && dims.eval(a) == dims.eval(b);
        // What cannot be computed is not known to be harmless.
        let is_excluded =
            |all: &Vec<Expr>| all.iter().all(|expr| dims.eval(expr).is_none_or(|value| value >= 0));
        assumed.iter().all(holds) && !excluded.iter().any(is_excluded)
    }

    /// The sizes for these symbols, computed once.
    fn sizes(&self, dims: &Dims) -> Result<Arc<Sizes>, SessionError> {
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans().get(dims) {
            return Ok(known.clone());
        }
        let sizes = Arc::new(Sizes::of(&self.prepared, dims, self.threads, self.grain)?);
        let mut plans = plans();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(dims.clone(), sizes.clone());
        Ok(sizes)
    }

    /// An arena of at least `bytes` bytes: one that was used before, if it is large enough.
    fn arena(&self, bytes: usize) -> Result<Memory, SessionError> {
        let kept = self.arenas.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept {
            Some(arena) if arena.len() >= bytes => Ok(arena),
            // Sizes that grow, as those of a loop over tokens do, grow again.
            Some(_) => {
                let roomy = Memory::zeroed(bytes.saturating_add(bytes / 4));
                roomy.or_else(|| Memory::zeroed(bytes)).ok_or(SessionError::Memory(bytes))
            }
            None => Memory::zeroed(bytes).ok_or(SessionError::Memory(bytes)),
        }
    }
}

/// A function on the reference kernels, which is made ready when it first runs.
struct Reference {
    function: Op,
    prepared: OnceLock<Prepared>,
}

impl Reference {
    fn new(function: Op) -> Reference {
        Reference { function, prepared: OnceLock::new() }
    }

    fn run<'a>(
        &'a self,
        (module, bodies): (&Module, &Bodies),
        inputs: Vec<Datum>,
        trace: &mut Trace<'a>,
    ) -> Result<Vec<Datum>, SessionError> {
        let prepared = self.prepared(module)?;
        let sizes = Arc::new(Sizes::of(prepared, &Dims::default(), 1, 1)?);
        let arena = Memory::zeroed(0).ok_or(SessionError::Memory(0))?;
        let memory = (arena, Recycled::default());
        let shared = bodies.within(module, trace.stop);
        let asked = (&[][..], trace.stop);
        let mut run = Run::new((module, &shared), prepared, &sizes, inputs, memory, asked)?;
        trace.part(prepared, &sizes, &Dims::default());
        run.steps(trace.profile.as_mut())?;
        Ok(run.finish()?.0)
    }

    fn prepared(&self, module: &Module) -> Result<&Prepared, SessionError> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let program = reference(module, self.function);
        let prepared = Prepared::new(module, self.function, program, None)?;
        Ok(self.prepared.get_or_init(|| prepared))
    }
}

/// The program that runs every operation of `function` on the reference kernels.
pub(crate) fn reference(module: &Module, function: Op) -> Program {
    let block: Option<Block> =
        module.regions(function).first().and_then(|&region| module.first_block(region));
    let ops = block.map(|block| module.ops(block)).into_iter().flatten();
    let steps = ops.filter(|&op| module.result_count(op) > 0).map(ProgramStep::Reference);
    Program { steps: steps.collect(), ..Program::default() }
}
