//! What a command reads and what it writes, known before anything is read.
//!
//! An output that is an input would be gone when it is wanted again, and two outputs in one file
//! leave one of them. Both are refused for all commands here.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use tangram::onnx::file::outline;
use tangram_files::{folder_of, is_special, same_file};

use crate::args::{Command, OptArgs, RulesCommand};
use crate::compile::{CompileArgs, EmitArg};
use crate::egraph::EgraphCommand;
use crate::error::Error;
use crate::rule_files::rule_files;
use crate::run::RunArgs;
use crate::scop::ScopArgs;
use crate::{config, fleet, out};

/// The files of a command line.
#[derive(Debug, Default)]
struct Ends {
    /// Files that are read, models among them.
    reads: Vec<PathBuf>,
    /// Models, which may have weights in further files.
    models: Vec<PathBuf>,
    /// Files that are written.
    writes: Vec<PathBuf>,
    /// The input whose place the first output may take: it is read to its end before.
    replaced: Option<PathBuf>,
}

/// Refuses outputs that are one file, that are an input, or that hold the weights of one.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> Result<(), Error> {
    let mut ends = of(command);
    ends.reads.extend(matches.subcommand().into_iter().flat_map(|(name, own)| beside(name, own)));
    for paths in [&mut ends.reads, &mut ends.models, &mut ends.writes] {
        paths.retain(|path| !out::is_standard(path) && !is_special(path));
    }
    for paths in [&mut ends.reads, &mut ends.models] {
        // What is not there is explained when it is opened; some are names of rules.
        paths.retain(|path| path.is_file());
    }
    for (at, path) in ends.writes.iter().enumerate() {
        let shown = path.display();
        if ends.writes[..at].iter().any(|other| same_file(other, path)) {
            return Err(Error::Usage(format!("{shown}: two outputs go to the same file")));
        }
        let may_replace = |input: &PathBuf| at == 0 && ends.replaced.as_ref() == Some(input);
        let read = |input: &&PathBuf| !may_replace(input) && same_file(input, path);
        if let Some(input) = ends.reads.iter().chain(&ends.models).find(read) {
            let input = input.display();
            return Err(Error::Usage(format!(
                "{shown}: this output would replace the input {input}; write to another file"
            )));
        }
        if let Some(model) = ends.models.iter().find(|model| is_data_of(path, model)) {
            let model = model.display();
            return Err(Error::Usage(format!(
                "{shown}: this output would replace the weights of {model}; write to another file"
            )));
        }
    }
    Ok(())
}

/// What a command reads beside its inputs: the file of a processor, and the one of a project.
fn beside(name: &str, matches: &ArgMatches) -> Vec<PathBuf> {
    let machine = matches.try_get_raw("machine").ok().flatten().into_iter().flatten();
    machine.map(PathBuf::from).chain(config::file(name, matches)).collect()
}

/// Whether `path` holds weights of the model.
fn is_data_of(path: &Path, model: &Path) -> bool {
    if !path.is_file() || !model.is_file() {
        return false;
    }
    // What is no model is explained when it is opened.
    let Ok(Some(outline)) = outline(model) else { return false };
    let folder = folder_of(model);
    outline.locations.iter().any(|location| same_file(&folder.join(location), path))
}

fn of(command: &Command) -> Ends {
    match command {
        Command::Opt(args) => opt(args),
        Command::Run(args) => run(args),
        Command::Compile(args) => compile(args),
        Command::Show(args) => Ends {
            models: vec![args.input.clone()],
            writes: args.output.iter().cloned().collect(),
            ..Ends::default()
        },
        Command::View(args) => Ends {
            models: std::iter::once(&args.input).chain(&args.other).cloned().collect(),
            reads: args.profile.clone(),
            writes: args.output.iter().cloned().collect(),
            ..Ends::default()
        },
        Command::Codegen(args) => plain(&args.input, &args.output),
        Command::Rewrite(args) => {
            let mut ends = plain(&args.input, &args.output);
            ends.reads.extend(rule_files(&args.rules));
            Ends { replaced: Some(args.input.clone()), ..ends }
        }
        Command::Scop(args) => scop(args),
        Command::Egraph {
            command:
                EgraphCommand::Show(args) | EgraphCommand::Dot(args) | EgraphCommand::Json(args),
        } => Ends {
            reads: args.source.files().cloned().collect(),
            writes: args.output.iter().cloned().collect(),
            ..Ends::default()
        },
        Command::Rules { command: RulesCommand::Import { file, output, .. } } => {
            plain(file, output)
        }
        _ => Ends::default(),
    }
}

fn plain(input: &Path, output: &Option<PathBuf>) -> Ends {
    let writes = output.iter().cloned().collect();
    Ends { reads: vec![input.to_owned()], writes, ..Ends::default() }
}

fn opt(args: &OptArgs) -> Ends {
    let told = args.json.iter().chain(&args.trace).chain(&args.fleet.table);
    let told = told.chain(&args.choose.measurements).cloned();
    let data = args.data.iter().map(|(_, path)| path);
    let rules = rule_files(&args.rules);
    let reads = data.chain(&args.cost).cloned().chain(rules).collect();
    if fleet::is_asked(args) {
        // The results have a folder of their own.
        let models = args.fleet.more.iter().chain([&args.input]);
        let models = models.filter(|path| path.is_file()).cloned().collect();
        return Ends { reads, models, writes: told.collect(), replaced: None };
    }
    Ends {
        reads,
        models: vec![args.input.clone()],
        writes: [args.output.clone()].into_iter().chain(told).collect(),
        replaced: Some(args.input.clone()),
    }
}

fn run(args: &RunArgs) -> Ends {
    // A name stands before `=`, or none does and the file has one in its name.
    let given = args.input.iter().flat_map(|text| {
        let named = text.match_indices('=').map(|(at, _)| &text[at + 1..]);
        std::iter::once(text.as_str()).chain(named)
    });
    let mut reads: Vec<PathBuf> = given.map(PathBuf::from).collect();
    // A library has its weights beside it.
    reads.push(args.model.with_extension("weights"));
    Ends {
        reads,
        models: vec![args.model.clone()],
        writes: args.output.iter().chain(&args.report).cloned().collect(),
        replaced: None,
    }
}

fn compile(args: &CompileArgs) -> Ends {
    let mut writes = vec![args.output.clone()];
    if args.emit() != EmitArg::Mlir {
        // One that ends like them is refused with its own words.
        let others = ["h", "weights"].map(|ending| args.output.with_extension(ending));
        writes.extend(others.into_iter().filter(|path| *path != args.output));
    }
    writes.extend(args.report.clone());
    Ends { models: vec![args.model.clone()], writes, ..Ends::default() }
}

fn scop(args: &ScopArgs) -> Ends {
    let rewritten = args.print.is_none() && args.target == crate::args::TargetArg::C;
    Ends { replaced: rewritten.then(|| args.input.clone()), ..plain(&args.input, &args.output) }
}
