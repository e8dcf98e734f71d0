//! Runs pipelines: a pass after the other, the verifier between them.

use std::time::{Duration, Instant};

use tangram_ir::{Diagnostic, Module, Op, verify_op};
use tangram_rewrite::{DebugKind, Listener, PatternReport};

use crate::pass::{Pass, PassCx};
use crate::pipeline::{Item, Pipeline};
use crate::registry::{OptionError, PassOptions, Registry};

/// How a pipeline is run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Whether the verifier runs first and after each pass.
    pub verify: bool,
    /// Whether patterns are held to their contract: see [`tangram_rewrite::greedy::Breach`].
    /// Costs much time.
    pub check_patterns: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { verify: true, check_patterns: false }
    }
}

/// Hears when a pass has run.
#[allow(unused_variables)]
pub trait Observer {
    /// The pass `name` has run on `root`.
    fn after(&mut self, name: &str, module: &Module, root: Op) {}

    /// Who is told what a driver of this kind does in a pass.
    fn listener(&mut self, driver: DebugKind) -> Option<&mut dyn Listener> {
        None
    }
}

/// Hears and does nothing.
pub struct Silent;

impl Observer for Silent {}

/// What became of one pass of a pipeline, all its runs together.
#[derive(Clone, PartialEq, Debug)]
pub struct PassReport {
    /// Its name.
    pub name: String,
    /// How many pipelines stand around it, the outermost not counted.
    pub depth: usize,
    /// The operation that it runs on.
    pub anchor: String,
    /// How often it ran.
    pub runs: u64,
    /// The time that it took, without the verifier.
    pub time: Duration,
    /// What it counted.
    pub counts: Vec<(&'static str, u64)>,
    /// What became of each of its patterns.
    pub patterns: Vec<PatternReport>,
}

/// What was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunReport {
    /// Each pass, in order.
    pub passes: Vec<PassReport>,
    /// The time that the verifier took.
    pub verifying: Duration,
    /// What passes had to say.
    pub warnings: Vec<Diagnostic>,
}

/// Why a pipeline could not be run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The pipeline names a pass that there is not.
    #[error("no pass `{name}`; there are: {known}")]
    UnknownPass {
        /// The name.
        name: String,
        /// The passes that there are.
        known: String,
        /// Where it stands in the text of the pipeline, in bytes.
        at: usize,
    },
    /// An option of a pass is wrong.
    #[error("pass `{pass}`: {error}")]
    Option {
        /// The pass.
        pass: String,
        /// What is wrong.
        error: OptionError,
    },
    /// The root is not what the pipeline runs on.
    #[error("the pipeline runs on `{expected}`, but the program is a `{found}`")]
    Anchor {
        /// What it runs on.
        expected: String,
        /// What there is.
        found: String,
    },
    /// The module was wrong before the first pass.
    #[error("the program is not valid")]
    Input(Vec<Diagnostic>),
    /// A pass failed.
    #[error("pass `{pass}` failed: {error}")]
    Failed {
        /// The pass.
        pass: String,
        /// Why.
        error: Diagnostic,
    },
    /// A pass left something wrong: a bug in it.
    #[error("pass `{pass}` left a program that is not valid: a bug")]
    Broken {
        /// The pass.
        pass: String,
        /// What is wrong.
        errors: Vec<Diagnostic>,
    },
}

/// A pipeline whose passes are made.
struct Built {
    anchor: String,
    steps: Vec<PipelineStep>,
}

enum PipelineStep {
    /// A pass, and the place of its report.
    Pass(Box<dyn Pass>, usize),
    Nested(Built),
}

/// Runs `pipeline`, of the passes of this crate, on `module`; `observer` hears after each pass.
///
/// # Errors
/// [`RunError`]; the module is then as the last pass left it.
pub fn run(
    module: &mut Module,
    pipeline: &Pipeline,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<RunReport, RunError> {
    Registry::standard().run(module, pipeline, options, observer)
}

impl Registry {
    /// Runs `pipeline` on `module`; `observer` hears after each pass.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(
        &self,
        module: &mut Module,
        pipeline: &Pipeline,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunReport, RunError> {
        let mut report = RunReport::default();
        let mut built = build(self, pipeline, 0, &mut report)?;
        let root = module.root();
        let found = module.name_text(root);
        if !matches(&built.anchor, found) {
            let (expected, found) = (built.anchor, found.to_owned());
            return Err(RunError::Anchor { expected, found });
        }
        let mut runner = Runner { module, options: *options, observer, report };
        runner.check(root).map_err(RunError::Input)?;
        runner.run(&mut built, root)?;
        Ok(runner.report)
    }
}

fn matches(anchor: &str, name: &str) -> bool {
    anchor == "any" || anchor == name
}

fn build(
    registry: &Registry,
    pipeline: &Pipeline,
    depth: usize,
    report: &mut RunReport,
) -> Result<Built, RunError> {
    let mut steps = Vec::new();
    for item in &pipeline.items {
        steps.push(match item {
            Item::Nested(nested) => {
                PipelineStep::Nested(build(registry, nested, depth + 1, report)?)
            }
            Item::Pass { name, options, at } => {
                let pass = make(registry, name, options, *at)?;
                report.passes.push(PassReport {
                    name: name.clone(),
                    depth,
                    anchor: pipeline.anchor.clone(),
                    runs: 0,
                    time: Duration::ZERO,
                    counts: Vec::new(),
                    patterns: Vec::new(),
                });
                PipelineStep::Pass(pass, report.passes.len() - 1)
            }
        });
    }
    Ok(Built { anchor: pipeline.anchor.clone(), steps })
}

fn make(
    registry: &Registry,
    name: &str,
    options: &[(String, String)],
    at: usize,
) -> Result<Box<dyn Pass>, RunError> {
    let Some(pass) = registry.find(name) else {
        let known: Vec<&str> = registry.iter().map(|pass| pass.name()).collect();
        return Err(RunError::UnknownPass { name: name.into(), known: known.join(", "), at });
    };
    let wrong = |error| RunError::Option { pass: name.into(), error };
    pass.make(&PassOptions(options.to_vec())).map_err(wrong)
}

struct Runner<'a> {
    module: &'a mut Module,
    options: RunOptions,
    observer: &'a mut dyn Observer,
    report: RunReport,
}

impl Runner<'_> {
    /// Runs the passes on `root`. The depth of pipelines is limited by their parser.
    fn run(&mut self, built: &mut Built, root: Op) -> Result<(), RunError> {
        for step in &mut built.steps {
            match step {
                PipelineStep::Pass(pass, index) => self.pass(&mut **pass, *index, root)?,
                PipelineStep::Nested(nested) => {
                    for op in self.below(root, &nested.anchor) {
                        // A pass on an earlier operation may not erase its neighbours.
                        self.run(nested, op)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The operations directly below `root` that `anchor` names.
    fn below(&self, root: Op, anchor: &str) -> Vec<Op> {
        let blocks = self.module.regions(root).iter().flat_map(|&r| self.module.blocks(r));
        let ops = blocks.flat_map(|block| self.module.ops(block));
        ops.filter(|&op| matches(anchor, self.module.name_text(op))).collect()
    }

    fn pass(&mut self, pass: &mut dyn Pass, index: usize, root: Op) -> Result<(), RunError> {
        let start = Instant::now();
        let entry = &mut self.report.passes[index];
        let outcome = pass.run(&mut PassCx {
            module: self.module,
            root,
            counts: &mut entry.counts,
            warnings: &mut self.report.warnings,
            patterns: &mut entry.patterns,
            observer: self.observer,
            check_patterns: self.options.check_patterns,
        });
        entry.time += start.elapsed();
        entry.runs += 1;
        let name = entry.name.clone();
        if let Err(error) = outcome {
            return Err(RunError::Failed { pass: name, error: *error });
        }
        if let Err(errors) = self.check(root) {
            return Err(RunError::Broken { pass: name, errors });
        }
        self.observer.after(&name, self.module, root);
        Ok(())
    }

    fn check(&mut self, root: Op) -> Result<(), Vec<Diagnostic>> {
        if !self.options.verify {
            return Ok(());
        }
        let start = Instant::now();
        let outcome = verify_op(self.module, root);
        self.report.verifying += start.elapsed();
        outcome
    }
}
