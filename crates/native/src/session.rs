//! Sessions: models that run.

use std::sync::Arc;
use std::time::Instant;

use tangram_dialects::interpret::Datum;
use tangram_ir::{Module, Op, Value};
use tangram_lowering::{Program, lower};
use tangram_machine::Machine;
use tangram_onnx::Model;

use crate::bodies::Bodies;
use crate::cache::Cache;
use crate::compiler::{Compiler, flags};
use crate::error::{InputError, SessionError};
use crate::library::Library;
use crate::port::{Dims, Port};
use crate::prepare::Prepared;
use crate::profile::{Coverage, Profile};
use crate::runner::{Runner, reference};
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
}

impl Session {
    /// Lowers and compiles `model`, or finds its code in the cache.
    ///
    /// # Errors
    /// [`SessionError`]: no compiler, or what it refuses.
    pub fn new(model: Model, options: &Options) -> Result<Session, SessionError> {
        let main = model.main().ok_or(SessionError::NoGraph)?;
        let program = match options.interpret {
            true => reference(&model.module, main),
            false => lower(&model.module, main, &lowering(options))?,
        };
        Session::with_program(model, main, program, options)
    }

    /// Makes a session of `program`, which the main function of `model` was lowered to.
    ///
    /// # Errors
    /// As [`Session::new`]; [`SessionError::Broken`] for a program that contradicts itself.
    pub fn with_program(
        mut model: Model,
        main: Op,
        program: Program,
        options: &Options,
    ) -> Result<Session, SessionError> {
        let names = model.output_names();
        let module = &model.module;
        let name = |value: Value| module.value_name(value).map(|name| module.context().text(name));
        let block = module.regions(main).first().and_then(|&region| module.first_block(region));
        let arguments = block.map(|block| module.args(block)).unwrap_or_default();
        let given: Vec<String> =
            arguments.iter().map(|&value| name(value).unwrap_or_default().to_owned()).collect();
        let runner = Runner::new(module, main, program, given.into_iter(), options)?;
        let results = runner.prepared.results.iter().zip(names);
        let outputs = results.map(|(&value, name)| Port::of(module, value, name)).collect();
        let default = |port: &Port| model.default_of(&port.name).map(Datum::Tensor);
        let defaults = runner.inputs.iter().map(default).collect();
        let bodies = match options.interpret {
            true => Bodies::default(),
            false => Bodies::new(&mut model.module, main, options)?,
        };
        Ok(Session { main: runner, bodies, outputs, defaults, module: model.module })
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
        let mut coverage = self.main.prepared.coverage(&self.module);
        for runner in self.bodies.runners() {
            coverage.add(runner.prepared.coverage(&self.module));
        }
        coverage
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
        let (_, sizes, _) = self.main.planned(&self.module, &self.ordered(inputs)?)?;
        Ok(sizes.arena)
    }

    /// What a run on inputs of this size runs.
    pub(crate) fn planned(
        &self,
        inputs: &[(&str, Datum)],
    ) -> Result<(&Module, &Prepared, Arc<Sizes>, Dims), SessionError> {
        let (prepared, sizes, dims) = self.main.planned(&self.module, &self.ordered(inputs)?)?;
        Ok((&self.module, prepared, sizes, dims))
    }

    /// The inputs in their order.
    fn ordered(&self, given: &[(&str, Datum)]) -> Result<Vec<Datum>, InputError> {
        let mut values: Vec<Option<Datum>> = vec![None; self.main.inputs.len()];
        for (name, datum) in given {
            let Some(i) = self.main.inputs.iter().position(|port| port.name == *name) else {
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

    fn execute(
        &self,
        inputs: Vec<Datum>,
        profile: Option<&mut Profile>,
    ) -> Result<Vec<Datum>, SessionError> {
        self.main.execute((&self.module, &self.bodies), inputs, profile)
    }
}

/// How functions are lowered.
pub(crate) fn lowering(options: &Options) -> tangram_lowering::Options {
    let mut lowering = tangram_lowering::Options::default();
    lowering.machine = options.machine.clone();
    lowering.exact = options.exact;
    lowering.texts = Some(Arc::new(options.cache.clone()));
    lowering
}

/// Loads the code of a program.
pub(crate) fn compiled(source: &str, options: &Options) -> Result<Library, SessionError> {
    let compiler = Compiler::find(options.compiler.as_deref())?;
    let flags = flags(&options.machine, options.exact);
    Ok(compiler.load(source, &flags, &options.cache)?)
}
