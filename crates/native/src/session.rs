//! Sessions: models that run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_dialects::nn::decompose::decompose;
use tangram_ir::{Module, Op, Value};
use tangram_lowering::Program;
use tangram_machine::{Isa, Machine};
use tangram_onnx::Model;

use crate::bodies::Bodies;
use crate::cache::Cache;
use crate::compiler::{Compiler, flags, with_flags};
use crate::error::{CompileError, InputError, SessionError};
use crate::kept::{Found, Place};
use crate::library::Library;
use crate::notice::{Notice, Telling};
use crate::outline;
use crate::port::{Kind, Port};
use crate::profile::{Coverage, Profile};
use crate::runner::{Runner, Trace, reference};
use crate::segments;
use crate::shared::{Output, Shared, Target};

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
    /// Who is told how far it is while code is made.
    pub notice: Option<Notice>,
    /// Whether the program is verified after each pass over its nests: so in debug builds unless
    /// something else is said.
    pub verify_each: bool,
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
            notice: None,
            verify_each: cfg!(debug_assertions),
        }
    }
}

/// What a run is asked for besides its outputs.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Where outputs are to be written, by number; what is not named gets memory of its own.
    pub targets: &'a [Option<Target>],
    /// When it is set, also while the run lasts, no further step begins.
    pub stop: Option<&'a AtomicBool>,
    /// Whether what each step took is noted.
    pub profile: bool,
}

/// A model that runs.
///
/// Constants and code are shared by all runs, which otherwise have nothing in common: a session
/// may be run from several threads at once.
pub struct Session {
    module: Module,
    main: Runner,
    bodies: Bodies,
    outputs: Vec<Port>,
    /// What an input is if it is not given.
    defaults: Vec<Option<Datum>>,
    /// For one that was kept, the whole session.
    again: Option<Box<Again>>,
    /// For inputs that share the name of an extent and have other sizes, a session where each has a
    /// name of its own.
    apart: Option<Box<Apart>>,
}

/// The session that one which was kept stands for, made when it is first needed.
struct Again {
    make: Box<dyn Fn() -> Result<Session, SessionError> + Send + Sync>,
    made: OnceLock<Session>,
}

/// A session that may be there, made when it is first needed.
struct Apart {
    make: Box<dyn Fn() -> Option<Session> + Send + Sync>,
    made: OnceLock<Option<Session>>,
}

impl Session {
    /// Lowers and compiles `model`, or finds its code in the cache.
    ///
    /// # Errors
    /// [`SessionError`]: no compiler, or what it refuses.
    pub fn new(mut model: Model, options: &Options) -> Result<Session, SessionError> {
        let main = model.main().ok_or(SessionError::NoGraph)?;
        if options.interpret {
            let program = reference(&model.module, main);
            return Session::with_program(model, main, program, options);
        }
        decompose(&mut model.module, main);
        let names = input_names(&model.module, main);
        let runner = segments::runner(&mut model.module, main, names.into_iter(), options)?;
        Session::of(model, main, runner, options)
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
        let names = input_names(&model.module, main);
        let runner = Runner::new(&model.module, main, program, names.into_iter(), options)?;
        Session::of(model, main, runner, options)
    }

    /// The session that `make` makes of `model`, or what an earlier one of the same model left in
    /// the cache; `how` names all that `make` does, and the sources that it does it by.
    ///
    /// One from the cache is ready in the time that it takes to read the weights once. Where inputs
    /// need what its code is not for, `make` is called then.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn start<E>(
        model: &Model,
        how: &str,
        options: &Options,
        make: impl Fn() -> Result<Session, E> + Send + Sync + 'static,
    ) -> Result<Session, E>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let place = if options.interpret { None } else { Place::of(model, how, options) };
        let Some(place) = place else { return make() };
        if let Some(Found { module, function, runner }) = place.find(model, options) {
            let (outputs, defaults) = ports((&module, function), model, &runner);
            let make = Box::new(move || make().map_err(|error| SessionError::Again(error.into())));
            let again = Some(Box::new(Again { make, made: OnceLock::new() }));
            let bodies = Bodies::default();
            let apart = None;
            return Ok(Session { main: runner, bodies, outputs, defaults, module, again, apart });
        }
        let session = make()?;
        if session.bodies.runners().next().is_none() {
            place.keep(&session.module, &session.main);
        }
        Ok(session)
    }

    fn of(
        mut model: Model,
        main: Op,
        runner: Runner,
        options: &Options,
    ) -> Result<Session, SessionError> {
        let (outputs, defaults) = ports((&model.module, main), &model, &runner);
        let functions: Vec<Op> = runner.functions().collect();
        let bodies = match options.interpret {
            true => Bodies::default(),
            false => Bodies::new(&mut model.module, &functions, options)?,
        };
        let (module, again, apart) = (model.module, None, None);
        Ok(Session { main: runner, bodies, outputs, defaults, module, again, apart })
    }

    /// A session of a program in a library.
    pub(crate) fn of_runner(module: Module, main: Runner, outputs: Vec<Port>) -> Session {
        let defaults = vec![None; main.inputs.len()];
        let (bodies, again, apart) = (Bodies::default(), None, None);
        Session { module, main, bodies, outputs, defaults, again, apart }
    }

    /// The same, where inputs that share the name of an extent may have other sizes: `make` gives a
    /// session where each has a name of its own, if there are such inputs. Nothing is lost where that
    /// fails: then the sizes are refused, as without it.
    pub fn with_inputs_apart<E>(
        self,
        make: impl Fn() -> Result<Option<Session>, E> + Send + Sync + 'static,
    ) -> Session {
        if !share_an_extent(&self.main.inputs) {
            return self;
        }
        let make = Box::new(move || make().ok().flatten());
        Session { apart: Some(Box::new(Apart { make, made: OnceLock::new() })), ..self }
    }

    /// The session with all that a model is made of.
    pub(crate) fn whole(&self) -> Result<&Session, SessionError> {
        let Some(again) = &self.again else { return Ok(self) };
        if let Some(made) = again.made.get() {
            return Ok(made);
        }
        let made = (again.make)()?;
        Ok(again.made.get_or_init(|| made))
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[Port] {
        &self.main.inputs
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
        let mut coverage = self.main.coverage(&self.module);
        self.bodies.runners().for_each(|runner| coverage.add(runner.coverage(&self.module)));
        coverage
    }

    /// Runs the model; returns its outputs in their order.
    ///
    /// An input is not copied where its elements lie aligned.
    ///
    /// # Errors
    /// [`SessionError`]: which input does not fit, or which operation could not be evaluated.
    pub fn run(&self, inputs: &[(&str, Datum)]) -> Result<Vec<Datum>, SessionError> {
        self.execute(self.ordered(inputs)?, &mut Trace::default())
    }

    /// Runs the model as [`Session::run`] does, with more to ask for; returns the profile if it is
    /// wanted.
    ///
    /// # Errors
    /// As [`Session::run`]; [`SessionError::Target`] for an output that does not fit where it is to be
    /// written, [`SessionError::Stopped`].
    pub fn call(
        &self,
        inputs: &[(&str, Datum)],
        request: &Request<'_>,
    ) -> Result<(Vec<Output>, Option<Profile>), SessionError> {
        let profile = request.profile.then(Profile::default);
        let Request { targets, stop, .. } = *request;
        let mut trace = Trace { profile, targets, stop, ..Trace::default() };
        let start = Instant::now();
        let found = self.execute(self.ordered(inputs)?, &mut trace)?;
        if let Some(profile) = &mut trace.profile {
            profile.total = start.elapsed();
        }
        let (mut memory, mut outputs) = (trace.memory, Vec::with_capacity(found.len()));
        for (at, datum) in found.into_iter().enumerate() {
            let target = targets.get(at).and_then(Option::as_ref);
            outputs.push(self.placed(at, datum, target, &mut memory)?);
        }
        Ok((outputs, trace.profile))
    }

    /// Output number `at` where the caller wants it; `memory` is that of outputs which nobody has.
    fn placed(
        &self,
        at: usize,
        datum: Datum,
        target: Option<&Target>,
        memory: &mut Vec<Shared>,
    ) -> Result<Output, SessionError> {
        let Datum::Tensor(tensor) = &datum else { return Ok(Output { datum, memory: None }) };
        let Some(target) = target else {
            let own = memory.iter().position(|memory| memory.is(tensor.bytes()));
            return Ok(Output { memory: own.map(|own| memory.swap_remove(own)), datum });
        };
        let Target { memory, element, shape } = target;
        if tensor.dtype() != *element || tensor.shape() != shape.as_slice() {
            return Err(SessionError::Target {
                name: self.outputs.get(at).map(|port| port.name.clone()).unwrap_or_default(),
                expected: format!("{element}{shape:?}"),
                found: format!("{}{:?}", tensor.dtype(), tensor.shape()),
            });
        }
        if !memory.is(tensor.bytes()) {
            memory.write(tensor.bytes());
        }
        let datum = Datum::Tensor(memory.tensor(*element, shape)?);
        Ok(Output { datum, memory: Some(memory.clone()) })
    }

    /// Runs the model as [`Session::run`] does, and says what each step took.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn profile(&self, inputs: &[(&str, Datum)]) -> Result<(Vec<Datum>, Profile), SessionError> {
        let (outputs, trace) = self.traced(inputs)?;
        Ok((outputs, trace.profile.unwrap_or_default()))
    }

    /// Runs the model and notes all of the run.
    pub(crate) fn traced(
        &self,
        inputs: &[(&str, Datum)],
    ) -> Result<(Vec<Datum>, Trace<'_>), SessionError> {
        let mut trace = Trace { profile: Some(Profile::default()), ..Trace::default() };
        let start = Instant::now();
        let outputs = self.execute(self.ordered(inputs)?, &mut trace)?;
        if let Some(profile) = &mut trace.profile {
            profile.total = start.elapsed();
        }
        Ok((outputs, trace))
    }

    /// The bytes of the arena that a run on inputs of this size needs; outputs are besides, and
    /// what follows values whose extents only a run finds.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn arena_bytes(&self, inputs: &[(&str, Datum)]) -> Result<usize, SessionError> {
        self.main.arena_bytes(&self.module, &self.ordered(inputs)?)
    }

    /// The program that the code was made of; where it comes from a library, nothing of it but its
    /// arguments and results.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The inputs in their order.
    fn ordered(&self, given: &[(&str, Datum)]) -> Result<Vec<Datum>, InputError> {
        let mut values: Vec<Option<Datum>> = vec![None; self.main.inputs.len()];
        // Most come in the order of the model; the others are looked up, however many there are.
        let mut places: Option<FxHashMap<&str, usize>> = None;
        let all = || self.main.inputs.iter().enumerate().map(|(i, port)| (port.name.as_str(), i));
        for (at, (name, datum)) in given.iter().enumerate() {
            let in_order = self.main.inputs.get(at).is_some_and(|port| port.name == *name);
            let place = if in_order {
                Some(at)
            } else {
                places.get_or_insert_with(|| all().collect()).get(name).copied()
            };
            let Some(i) = place else {
                let known = self.main.inputs.iter().map(|port| port.name.clone()).collect();
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
        let absent = self.main.inputs.iter().zip(&values).filter(|(_, value)| value.is_none());
        let missing: Vec<String> = absent.map(|(port, _)| port.name.clone()).collect();
        match missing.is_empty() {
            true => Ok(values.into_iter().flatten().collect()),
            false => Err(InputError::Missing(missing)),
        }
    }

    fn execute<'a>(
        &'a self,
        inputs: Vec<Datum>,
        trace: &mut Trace<'a>,
    ) -> Result<Vec<Datum>, SessionError> {
        if let Some(apart) = &self.apart {
            let mark = trace.mark();
            return match self.execute_as_named(inputs.clone(), trace) {
                Err(SessionError::Input(refused @ InputError::Extent { .. })) => {
                    trace.forget(mark);
                    let apart = apart.made.get_or_init(|| (apart.make)());
                    match apart.as_ref().map(|apart| apart.execute(inputs, trace)) {
                        Some(Ok(found)) => Ok(found),
                        Some(Err(SessionError::Stopped)) => Err(SessionError::Stopped),
                        // An operation relates them: what the model says is what is to be told.
                        _ => Err(refused.into()),
                    }
                }
                found => found,
            };
        }
        self.execute_as_named(inputs, trace)
    }

    /// Runs the model, where extents of one name have one size.
    fn execute_as_named<'a>(
        &'a self,
        inputs: Vec<Datum>,
        trace: &mut Trace<'a>,
    ) -> Result<Vec<Datum>, SessionError> {
        if self.again.is_none() {
            return self.main.execute((&self.module, &self.bodies), inputs, trace);
        }
        match self.main.execute((&self.module, &self.bodies), inputs.clone(), trace) {
            Err(SessionError::Uncovered | SessionError::Index) => {
                self.whole()?.execute(inputs, trace)
            }
            found => found,
        }
    }
}

/// Whether two inputs have an extent of the same name.
fn share_an_extent(inputs: &[Port]) -> bool {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    inputs.iter().any(|input| {
        let Kind::Tensor { shape: Some(shape), .. } = &input.kind else { return false };
        let own: BTreeSet<&str> = shape.iter().flatten().filter_map(Expr::as_symbol).collect();
        let shares = own.iter().any(|symbol| known.contains(symbol));
        known.extend(own);
        shares
    })
}

/// The outputs of `main`, and what each input is if it is not given, by what `model` says.
fn ports(
    (module, main): (&Module, Op),
    model: &Model,
    runner: &Runner,
) -> (Vec<Port>, Vec<Option<Datum>>) {
    let end = outline::block(module, main).and_then(|block| module.last_op(block));
    let results = end.into_iter().flat_map(|end| module.operands(end));
    let outputs = results.zip(model.output_names());
    let outputs = outputs.map(|(value, name)| Port::of(module, value, name)).collect();
    let default = |port: &Port| model.default_of(&port.name).map(Datum::Tensor);
    (outputs, runner.inputs.iter().map(default).collect())
}

/// The names of the arguments of `main`.
pub(crate) fn input_names(module: &Module, main: Op) -> Vec<String> {
    let name = |value: Value| module.value_name(value).map(|name| module.context().text(name));
    let block = outline::block(module, main);
    let arguments = block.map(|block| module.args(block)).unwrap_or_default();
    arguments.iter().map(|&value| name(value).unwrap_or_default().to_owned()).collect()
}

/// How functions are lowered.
pub(crate) fn lowering(options: &Options) -> tangram_lowering::Options {
    let mut lowering = tangram_lowering::Options::default();
    lowering.machine = options.machine.clone();
    (lowering.exact, lowering.verify_each) = (options.exact, options.verify_each);
    let texts = options.cache.clone();
    lowering.texts = Some(match &options.notice {
        Some(notice) => {
            let (notice, written) = (notice.clone(), AtomicUsize::new(0));
            Arc::new(Telling { inner: texts, notice, written })
        }
        None => Arc::new(texts),
    });
    lowering
}

/// Loads the code of a program.
pub(crate) fn compiled(source: &str, options: &Options) -> Result<Library, SessionError> {
    let (isa, here) = (options.machine.isa, Isa::native());
    // Text for Neon is for vectors of 16 bytes, whose they may be.
    if isa != Isa::Neon && !isa.runs_on(here) {
        return Err(CompileError::Processor { isa, here }.into());
    }
    let flags = flags(&options.machine, options.exact);
    let compiler = match Compiler::find(options.compiler.as_deref()) {
        Err(missing) if options.compiler.is_none() => {
            // Where there was a compiler once, code may be there.
            let built = options.cache.of_any_compiler(&with_flags(source, &flags));
            return Ok(Library::load(built.ok_or(missing)?.path())?);
        }
        found => found?,
    };
    Ok(compiler.load(source, &flags, &options.cache, options.notice.as_ref())?)
}
