//! Sessions: models that run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_ir::{Module, Op, Value};
use tangram_lowering::{Program, Step, lower};
use tangram_machine::Machine;
use tangram_onnx::Model;

use crate::cache::Cache;
use crate::compiler::{Compiler, flags};
use crate::error::{InputError, SessionError};
use crate::library::Library;
use crate::memory::Block;
use crate::port::{Dims, Kind, Port, bind};
use crate::prepare::Prepared;
use crate::profile::{Coverage, Profile};
use crate::run::Run;
use crate::sizes::Sizes;

/// How a model is compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The processor that the code is for.
    pub machine: Machine,
    /// Whether each product and sum is rounded by itself: the same bits on every machine.
    pub exact: bool,
    /// Whether nothing is compiled: all runs on the reference kernels.
    pub interpret: bool,
    /// The C compiler; what [`Compiler::find`] finds if absent.
    pub compiler: Option<String>,
    /// Where compiled code is kept.
    pub cache: Cache,
    /// On how many threads a run may be at once; as many as the machine has, if 0. The results are
    /// the same bits for any number.
    pub threads: usize,
    /// About how many cycles a thread is woken for: what would take less runs on fewer.
    pub grain: i64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            machine: Machine::native(),
            exact: false,
            interpret: false,
            compiler: None,
            cache: Cache::of_user(),
            threads: 0,
            grain: 20_000,
        }
    }
}

/// How many plans are kept for sizes of symbols that may come again.
const MAX_PLANS: usize = 256;

/// A model that runs.
///
/// Constants and code are shared by all runs, which otherwise have nothing in common: a session
/// may be run from several threads at once.
pub struct Session {
    module: Module,
    prepared: Prepared,
    /// What runs where extents differ that the code relies on to be equal: the reference kernels.
    fallback: Option<Prepared>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// What an input is if it is not given.
    defaults: Vec<Option<Datum>>,
    threads: usize,
    grain: i64,
    plans: Mutex<FxHashMap<Dims, Arc<Sizes>>>,
    /// Arenas that no run has.
    arenas: Mutex<Vec<Block>>,
}

impl Session {
    /// Lowers and compiles `model`, or finds its code in the cache.
    ///
    /// # Errors
    /// [`SessionError`]: no compiler, or what it refuses.
    pub fn new(model: Model, options: &Options) -> Result<Session, SessionError> {
        let main = model.main().ok_or(SessionError::NoGraph)?;
        let program = match options.interpret {
            true => reference(&model),
            false => {
                let mut lowering = tangram_lowering::Options::default();
                lowering.machine = options.machine.clone();
                lowering.exact = options.exact;
                lowering.texts = Some(Arc::new(options.cache.clone()));
                lower(&model.module, main, &lowering)?
            }
        };
        Session::with_program(model, main, program, options)
    }

    /// Makes a session of `program`, which the main function of `model` was lowered to.
    ///
    /// # Errors
    /// As [`Session::new`]; [`SessionError::Broken`] for a program that contradicts itself.
    pub fn with_program(
        model: Model,
        main: Op,
        program: Program,
        options: &Options,
    ) -> Result<Session, SessionError> {
        let calls = program.steps.iter().any(|step| matches!(step, Step::Call(_)));
        let library = if calls { Some(compiled(&program.source, options)?) } else { None };
        let names = model.output_names();
        let module = &model.module;
        let fallback = match program.assumed.is_empty() {
            true => None,
            false => Some(Prepared::new(module, main, reference(&model), None)?),
        };
        let prepared = Prepared::new(module, main, program, library.as_ref())?;
        let port = |value: Value, name: String| {
            let kind = Kind::of(module.context(), module.value_type(value));
            Port { name, kind }
        };
        let name = |value: Value| module.value_name(value).map(|name| module.context().text(name));
        let arguments = prepared.arguments.iter();
        let inputs: Vec<Port> = arguments
            .map(|&value| port(value, name(value).unwrap_or_default().to_owned()))
            .collect();
        let outputs = prepared.results.iter().zip(names).map(|(&v, name)| port(v, name)).collect();
        let default = |port: &Port| model.default_of(&port.name).map(Datum::Tensor);
        let defaults = inputs.iter().map(default).collect();
        let (plans, arenas) = (Mutex::default(), Mutex::default());
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        Ok(Session {
            prepared,
            fallback,
            inputs,
            outputs,
            defaults,
            threads,
            grain: options.grain.max(1),
            plans,
            arenas,
            module: model.module,
        })
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// Whether input number `i` need not be given.
    pub fn has_default(&self, i: usize) -> bool {
        self.defaults.get(i).is_some_and(Option::is_some)
    }

    /// What is compiled, and what runs on the reference kernels.
    pub fn coverage(&self) -> Coverage {
        self.prepared.coverage(&self.module)
    }

    /// Runs the model; returns its outputs in their order.
    ///
    /// An input is not copied where its elements lie aligned.
    ///
    /// # Errors
    /// [`SessionError`]: which input does not fit, or which operation could not be evaluated.
    pub fn run(&self, inputs: &[(&str, Datum)]) -> Result<Vec<Datum>, SessionError> {
        self.execute(self.ordered(inputs)?, None)
    }

    /// Runs the model as [`Session::run`] does, and says what each step took.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn profile(&self, inputs: &[(&str, Datum)]) -> Result<(Vec<Datum>, Profile), SessionError> {
        let mut profile = Profile::default();
        let start = Instant::now();
        let outputs = self.execute(self.ordered(inputs)?, Some(&mut profile))?;
        profile.total = start.elapsed();
        Ok((outputs, profile))
    }

    /// The bytes of the arena that a run on inputs of this size needs; outputs are besides.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn arena_bytes(&self, inputs: &[(&str, Datum)]) -> Result<usize, SessionError> {
        let inputs = self.ordered(inputs)?;
        let dims = bind(self.module.context(), &self.inputs, &inputs)?;
        Ok(self.sizes(self.prepared(&dims), &dims)?.arena)
    }

    /// The inputs in their order.
    fn ordered(&self, given: &[(&str, Datum)]) -> Result<Vec<Datum>, InputError> {
        let mut values: Vec<Option<Datum>> = vec![None; self.inputs.len()];
        for (name, datum) in given {
            let Some(i) = self.inputs.iter().position(|port| port.name == *name) else {
                let known = self.inputs.iter().map(|port| port.name.clone()).collect();
                return Err(InputError::Unknown { name: (*name).to_owned(), known });
            };
            if values[i].replace(datum.clone()).is_some() {
                return Err(InputError::Twice((*name).to_owned()));
            }
        }
        for (value, default) in values.iter_mut().zip(&self.defaults) {
            if value.is_none() {
                value.clone_from(default);
            }
        }
        let absent = self.inputs.iter().zip(&values).filter(|(_, value)| value.is_none());
        let missing: Vec<String> = absent.map(|(port, _)| port.name.clone()).collect();
        match missing.is_empty() {
            true => Ok(values.into_iter().flatten().collect()),
            false => Err(InputError::Missing(missing)),
        }
    }

    fn execute(
        &self,
        inputs: Vec<Datum>,
        mut profile: Option<&mut Profile>,
    ) -> Result<Vec<Datum>, SessionError> {
        let dims = bind(self.module.context(), &self.inputs, &inputs)?;
        let prepared = self.prepared(&dims);
        let sizes = self.sizes(prepared, &dims)?;
        if let Some(profile) = profile.as_deref_mut() {
            profile.arena = sizes.arena;
        }
        let arena = self.arena(sizes.arena)?;
        let mut run = Run::new(&self.module, prepared, &sizes, inputs, arena)?;
        run.steps(profile)?;
        let (outputs, arena) = run.finish()?;
        self.arenas.lock().unwrap_or_else(PoisonError::into_inner).push(arena);
        Ok(outputs)
    }

    /// What runs for these symbols.
    fn prepared(&self, dims: &Dims) -> &Prepared {
        let holds = |[a, b]: &[Expr; 2]| dims.eval(a).is_some() && dims.eval(a) == dims.eval(b);
        match &self.fallback {
            Some(fallback) if !self.prepared.program.assumed.iter().all(holds) => fallback,
            _ => &self.prepared,
        }
    }

    /// The sizes for these symbols, computed once.
    fn sizes(&self, prepared: &Prepared, dims: &Dims) -> Result<Arc<Sizes>, SessionError> {
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans().get(dims) {
            return Ok(known.clone());
        }
        let sizes = Arc::new(Sizes::of(prepared, dims, self.threads, self.grain)?);
        let mut plans = plans();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(dims.clone(), sizes.clone());
        Ok(sizes)
    }

    /// An arena of at least `bytes` bytes: one that was used before, if it is large enough.
    fn arena(&self, bytes: usize) -> Result<Block, SessionError> {
        let kept = self.arenas.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept {
            Some(arena) if arena.len() >= bytes => Ok(arena),
            _ => Block::zeroed(bytes).ok_or(SessionError::Memory(bytes)),
        }
    }
}

/// Loads the code of a program.
pub(crate) fn compiled(source: &str, options: &Options) -> Result<Library, SessionError> {
    let compiler = Compiler::find(options.compiler.as_deref())?;
    let flags = flags(&options.machine, options.exact);
    Ok(compiler.load(source, &flags, &options.cache)?)
}

/// The program that runs every operation on the reference kernels.
fn reference(model: &Model) -> Program {
    let module = &model.module;
    let ops = model.graph().map(|block| module.ops(block)).into_iter().flatten();
    let steps = ops.filter(|&op| module.result_count(op) > 0).map(Step::Reference);
    Program { steps: steps.collect(), ..Program::default() }
}
