//! The pipeline: a model is loaded, verified, rewritten, verified again, exported and validated.
//!
//! ```text
//! file ──load──▶ ONNX ──import──▶ IR ──rewrite──▶ IR ──export──▶ ONNX ──save──▶ file
//!                               verified       verified      validated
//! ```
//!
//! The verifier of `tangram_ir` runs on what the import made and on what the rules left, whoever
//! wrote them; the export compares each node with the schema of its operator. Nothing is written
//! of a program that fails one of these. [`run`] is the whole; where a caller keeps the program in
//! between, as the Python package does, [`import`], [`rewrite`] and [`export`] are its parts.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tangram_ir::{Context, Diagnostic, Module, verify};
use tangram_native::{self as native, Session, SessionError};
use tangram_onnx::edit::{narrow, with_inputs_apart, with_named_extents};
use tangram_onnx::file::{FileError, Loaded};
use tangram_onnx::proto::ModelProto;
use tangram_onnx::{self as onnx, ExportOptions, Model};

use crate::choose;
use crate::library::{Library, RulesError};
use crate::optimise::{self, OptimiseError, Options, optimise};
use crate::report::{self, BeforeAfter, Narrowed, Report, Seconds};

/// A part of the pipeline, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Reading the file and importing its graph.
    Load,
    /// Rules and native patterns.
    Rewrite,
    /// Export and writing.
    Save,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Load => "the import",
            Phase::Rewrite => "rewriting",
            Phase::Save => "the export",
        })
    }
}

/// Why a model did not come through the pipeline. Nothing was written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// The model cannot be read, imported, exported or written.
    #[error(transparent)]
    Model(#[from] onnx::Error),
    /// The rules cannot be applied.
    #[error(transparent)]
    Rules(#[from] OptimiseError),
    /// The shipped rules cannot be read.
    #[error(transparent)]
    Library(#[from] RulesError),
    /// A phase left a program that does not verify.
    #[error("{after} left a program that does not verify, which is a defect: {first}")]
    Unverified {
        /// The phase.
        after: Phase,
        /// What the verifier said first.
        first: Box<Diagnostic>,
    },
    /// The model cannot be compiled.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// [`Endpoints::review`] did not want the result.
    #[error("the result was declined before it was written")]
    Declined,
}

/// Where a model comes from and where it goes, and who listens in between.
pub trait Endpoints {
    /// Reads the model.
    ///
    /// # Errors
    /// [`onnx::Error`]: it cannot be read.
    fn load(&mut self) -> Result<Loaded, onnx::Error>;

    /// Writes the model, whose nodes are those of `proto`.
    ///
    /// # Errors
    /// [`onnx::Error`]: it cannot be written.
    fn save(&mut self, model: &Model, proto: &ModelProto) -> Result<(), onnx::Error>;

    /// Hears that a phase begins.
    fn begin(&mut self, _phase: Phase) {}

    /// Sees the model before anything is rewritten, and may give it other inputs, outputs or
    /// extents.
    ///
    /// # Errors
    /// [`onnx::Error`]: it cannot be changed like this.
    fn prepare(&mut self, model: Model) -> Result<Model, onnx::Error> {
        Ok(model)
    }

    /// Sees the result before it is written; says whether it is wanted.
    fn review(&mut self, _model: &Model, _report: &Report) -> bool {
        true
    }
}

/// What came of a model.
#[derive(Clone)]
pub struct Outcome {
    /// The program after rewriting.
    pub model: Model,
    /// What was written.
    pub proto: ModelProto,
    /// What was done.
    pub report: Report,
}

/// Loads a model, applies the rules of `library` and the native patterns, and saves the result.
///
/// # Errors
/// [`PipelineError`]; nothing is written then.
pub fn run(
    ends: &mut dyn Endpoints,
    library: &Library,
    options: &Options,
) -> Result<Outcome, PipelineError> {
    let start = Instant::now();
    ends.begin(Phase::Load);
    let loaded = ends.load()?;
    let before = report::histogram(&loaded.model);
    let mut model = ends.prepare(onnx::import(loaded, library.context())?)?;
    verified(&model.module, Phase::Load)?;
    let load = start.elapsed();

    let start = Instant::now();
    ends.begin(Phase::Rewrite);
    let mut report = rewrite(&mut model, library, options)?;
    let spent = start.elapsed();
    if !ends.review(&model, &report) {
        return Err(PipelineError::Declined);
    }

    let start = Instant::now();
    ends.begin(Phase::Save);
    let proto = export(&model, options.opset)?;
    ends.save(&model, &proto)?;
    report.count(&before, &report::histogram(&proto));
    report.time(load, spent, start.elapsed());
    Ok(Outcome { model, proto, report })
}

/// Imports a model, and verifies the program.
///
/// # Errors
/// [`PipelineError::Model`] and [`PipelineError::Unverified`].
pub fn import(loaded: Loaded) -> Result<Model, PipelineError> {
    import_into(loaded, tangram_dialects::context())
}

/// Imports a model into a context, which may know [operators](onnx::declared) of the caller.
///
/// # Errors
/// As [`import`].
pub fn import_into(loaded: Loaded, context: Arc<Context>) -> Result<Model, PipelineError> {
    let model = onnx::import(loaded, context)?;
    verified(&model.module, Phase::Load)?;
    Ok(model)
}

/// Optimises a model, gives it narrower floats if that is asked for, and verifies the program; makes
/// several of it, of which it takes one, if there is something to [choose] by.
///
/// # Errors
/// [`PipelineError::Rules`], with the model unchanged; [`PipelineError::Model`] where it cannot be
/// narrowed; [`PipelineError::Unverified`].
pub fn rewrite(
    model: &mut Model,
    library: &Library,
    options: &Options,
) -> Result<Report, PipelineError> {
    if let Some(how) = &options.choosing {
        return choose::choose(model, library, options, how);
    }
    define(model, library)?;
    let report = optimise(model, library, options)?;
    verified(&model.module, Phase::Rewrite)?;
    narrowed(model, options, report)
}

/// The model as it came, but for narrower floats if these are asked for.
pub(crate) fn untouched(
    model: &mut Model,
    library: &Library,
    options: &Options,
) -> Result<Report, PipelineError> {
    define(model, library)?;
    let report = optimise::untouched(model);
    narrowed(model, options, report)
}

fn narrowed(
    model: &mut Model,
    options: &Options,
    mut report: Report,
) -> Result<Report, PipelineError> {
    if let Some(how) = &options.narrow {
        let (narrowed, found) = narrow(model, how, ExportOptions { opset: options.opset })?;
        verified(&narrowed.module, Phase::Rewrite)?;
        let mut found: Narrowed = found.into();
        let wide = std::mem::replace(model, narrowed);
        found.measure(&wide, model, report.cost.after.flops, options.max_time);
        report.narrowed = Some(found);
    }
    Ok(report)
}

/// Lets a model know the operators in it that rules define, which it may have been imported without.
///
/// # Errors
/// [`PipelineError::Model`]: what the import says.
pub fn define(model: &mut Model, library: &Library) -> Result<(), PipelineError> {
    let foreign = model.foreign();
    let names: Vec<&str> = foreign.iter().map(|(name, ..)| name.as_str()).collect();
    if library.defines_any(&names, model.module.context()) {
        *model = onnx::edit::within(model, library.context())?;
    }
    Ok(())
}

/// What the rules and the code are that sessions are made by: another build of it may make others.
const SOURCES: &str = env!("TANGRAM_SOURCES");

/// Makes a session of a model, which the shipped rules are applied to before it is compiled if it
/// is to be optimised; or takes what an earlier session of the same model left in the cache.
///
/// # Errors
/// As [`rewrite`]; [`PipelineError::Session`]: there is no C compiler, or it refuses.
pub fn session(
    model: Model,
    optimise: bool,
    options: &native::Options,
) -> Result<Session, PipelineError> {
    let model = Arc::new(with_named_extents(model)?);
    let how = format!("{SOURCES} {optimise}");
    let (original, chosen) = (Arc::clone(&model), options.clone());
    let make = move || compiled(Model::clone(&original), optimise, &chosen);
    let session = Session::start(&model, &how, options, make)?;
    let chosen = options.clone();
    let apart = move || match with_inputs_apart(&model)? {
        Some(apart) => compiled(apart, optimise, &chosen).map(Some),
        None => Ok::<_, PipelineError>(None),
    };
    Ok(session.with_inputs_apart(apart))
}

/// Applies the shipped rules to a model, if it is to be optimised, and compiles it.
fn compiled(
    mut model: Model,
    optimise: bool,
    options: &native::Options,
) -> Result<Session, PipelineError> {
    if optimise {
        let settings = Options { exact: options.exact, ..Options::default() };
        rewrite(&mut model, &Library::shipped_for(&settings)?, &settings)?;
    }
    Ok(Session::new(model, options)?)
}

/// Exports a model that verifies, in its own operator set or in version `opset`. Every node keeps
/// to the schema of its operator.
///
/// # Errors
/// [`PipelineError::Model`].
pub fn export(model: &Model, opset: Option<i64>) -> Result<ModelProto, PipelineError> {
    Ok(onnx::export(model, ExportOptions { opset })?)
}

/// A file of the pipeline's own cannot be written.
pub(crate) fn unsaved(source: std::io::Error) -> PipelineError {
    let path = std::env::temp_dir();
    PipelineError::Model(FileError::Io { action: "write to", path, source }.into())
}

fn verified(module: &Module, after: Phase) -> Result<(), PipelineError> {
    let Err(found) = verify(module) else { return Ok(()) };
    match found.into_iter().next() {
        Some(first) => Err(PipelineError::Unverified { after, first: Box::new(first) }),
        None => Ok(()),
    }
}

impl Report {
    /// Says how many nodes there were and are, by operator.
    pub fn count(&mut self, before: &report::Histogram, after: &report::Histogram) {
        self.nodes = BeforeAfter { before: before.values().sum(), after: after.values().sum() };
        self.operators = report::compare(before, after);
    }

    fn time(&mut self, load: Duration, optimise: Duration, save: Duration) {
        self.seconds = Seconds {
            load: load.as_secs_f64(),
            optimise: optimise.as_secs_f64(),
            save: save.as_secs_f64(),
        };
    }
}
