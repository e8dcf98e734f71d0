//! `tangram compile`.

use crate::exit::ExitCode;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tangram::Session;
use tangram::dialects::dims;
use tangram::dialects::interpret::Datum;
use tangram::ir::text;
use tangram::lowering::linalg;
use tangram::native::{CompileError, Compiler, Promise, SessionError, emit_watched};
use tangram::onnx::Model;

use crate::edits::EditArgs;
use crate::error::{self, Error};
use crate::out;
use crate::passes::{PassArgs, Watcher};
use crate::run::{CompileOptions, Inputs, first_run, opened, refused, write_report};

/// What is written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EmitArg {
    /// A shared library, a header and the weights.
    Library,
    /// C, a header and the weights.
    C,
    /// MLIR, with the weights in it: `linalg` on tensors, for `mlir-opt` and what builds on it.
    Mlir,
}

impl CompileArgs {
    /// What is written: as is asked for, or as the name of the output says.
    pub(crate) fn emit(&self) -> EmitArg {
        let ending = self.output.extension().and_then(|ending| ending.to_str());
        self.emit.unwrap_or(match ending {
            Some("c") => EmitArg::C,
            // A program between two passes is MLIR of another kind.
            Some("mlir") if self.passes.stop_after.is_none() => EmitArg::Mlir,
            _ => EmitArg::Library,
        })
    }
}

/// Arguments of `tangram compile`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  tangram compile model.onnx -o model.so\n  tangram compile \
                        model.onnx -o model.c --machine neon\n  tangram compile \
                        model.onnx -o model.mlir\n\nBeside a library, and beside C, \
                        lie its header, `model.h`, and its weights, `model.weights`.")]
pub(crate) struct CompileArgs {
    /// The model to compile.
    pub(crate) model: PathBuf,
    /// Where to write the library, the C or the MLIR; its name, without the ending, begins the functions.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What to write; without it C for an output that ends in `.c`, MLIR for `.mlir`, else a library.
    #[arg(long, value_enum)]
    pub(crate) emit: Option<EmitArg>,
    /// Run the model here on made-up inputs, and write a page of what it is compiled to: groups of
    /// operations with their time, memory and loops.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Apply no rule before.
    #[arg(long)]
    pub(crate) no_rules: bool,
    /// Round each product and sum by itself, and apply only rules that change no result.
    #[arg(long)]
    pub(crate) exact: bool,
    /// The processor that the code is for: `native`, `avx2`, `avx512`, `neon`, `sse2`, `scalar`,
    /// or a file as `tangram machine --json` writes it.
    #[arg(long, value_name = "NAME|FILE", default_value = "native",
          value_parser = crate::machine::named)]
    pub(crate) machine: tangram_machine::Machine,
    /// Read no `tangram.toml`.
    #[arg(long)]
    pub(crate) no_config: bool,
    /// Say on standard error which configuration file is read.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    #[command(flatten)]
    pub(crate) edits: EditArgs,
}

/// Compiles the model to files.
pub(crate) fn run(args: &CompileArgs) -> Result<ExitCode, Error> {
    for path in [&args.output].into_iter().chain(&args.report) {
        out::check(path)?;
    }
    args.passes.check()?;
    // Header and weights lie beside it under the same name.
    if let Some(taken) = args.output.extension().filter(|end| *end == "h" || *end == "weights") {
        return Err(Error::Usage(format!(
            "{}: another of the files written ends in `.{}`; let this one end in `.so` or `.c`",
            args.output.display(),
            taken.display()
        )));
    }
    let stem = args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let how = CompileOptions {
        interpret: false,
        no_rules: args.no_rules,
        exact: args.exact,
        machine: args.machine.clone(),
    };
    let mut model = opened(&args.model, &args.edits)?;
    how.rewrite(&args.model, &mut model)?;
    if args.emit() == EmitArg::Mlir {
        if args.report.is_some() {
            let why = "`--report` is of compiled code: it has no effect with `--emit mlir`";
            return Err(Error::Usage(why.to_owned()));
        }
        return emit_mlir(args, &model);
    }
    let mut options = how.options();
    options.verify_each |= args.passes.verify_each;
    let mut watcher = Watcher::new(&args.passes);
    let emitted = emit_watched(&model, &stem, &options, &mut watcher);
    watcher.tell_times();
    let emitted = emitted.map_err(|error| match error {
        SessionError::NotCompiled { want_extents, .. } => Error::Usage(format!(
            "{}: {error}; `tangram run` runs the model, with these on the reference kernels{}",
            args.model.display(),
            if want_extents { fixed_sizes(&model) } else { String::new() }
        )),
        other => refused(&args.model)(other),
    })?;
    let Some(emitted) = emitted else {
        watcher.write(&args.output)?;
        return Ok(ExitCode::SUCCESS);
    };
    let code = match args.emit() {
        EmitArg::C => out::started(&args.output, emitted.source.as_bytes())?,
        EmitArg::Library | EmitArg::Mlir => {
            let failed = |error: CompileError| refused(&args.model)(error.into());
            let compiler = Compiler::find(None).map_err(failed)?;
            let text = format!("{}{}", emitted.source, emitted.described);
            compiler
                .build_library(&text, &args.machine, args.exact, &args.output)
                .map_err(failed)?
        }
    };
    if let Some(path) = &args.report {
        report(args, path, &model, &how)?;
    }
    let (header, weights) =
        (args.output.with_extension("h"), args.output.with_extension("weights"));
    // Code, header and weights of different models are of no use together.
    let others = [
        out::started(&weights, &emitted.weights)?,
        out::started(&header, emitted.header.as_bytes())?,
    ];
    let all = others.into_iter().chain([code]).collect();
    tangram_files::commit_together(all).map_err(error::io(&args.output))?;
    out::print(format!(
        "{}, {}, {} ({} bytes)\n{}\n",
        args.output.display(),
        header.display(),
        weights.display(),
        emitted.weights.len(),
        arena(&emitted.arena),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the model on made-up inputs, and writes the page of what runs.
fn report(
    args: &CompileArgs,
    path: &Path,
    model: &Model,
    how: &CompileOptions,
) -> Result<(), Error> {
    let mut options = how.options();
    options.threads = 1;
    let session = Session::new(model.clone(), &options).map_err(refused(&args.model))?;
    let wanted = Inputs { model: &args.model, files: &[], random: Some(0), shapes: &[] };
    let (inputs, _) = first_run(&session, &model.module, &[], wanted)?;
    let named: Vec<(&str, Datum)> =
        inputs.iter().map(|(name, datum)| (name.as_str(), datum.clone())).collect();
    write_report(path, &args.model, &session, &named, how)
}

/// Writes the model as `linalg` on tensors.
fn emit_mlir(args: &CompileArgs, model: &Model) -> Result<ExitCode, Error> {
    let wrong =
        |error: &dyn std::fmt::Display| Error::Usage(format!("{}: {error}", args.model.display()));
    let main = model.main().ok_or_else(|| wrong(&"there is no graph"))?;
    let linalg = linalg(&model.module, main).map_err(|error| wrong(&error))?;
    let mut text = String::new();
    let options = text::Options { generic: false, ..text::Options::default() };
    // A string takes whatever is written.
    let _ = text::print_to(&mut text, &linalg.module, options);
    out::write(&args.output, &text)?;
    let mut kept = BTreeMap::<&str, usize>::new();
    for name in &linalg.kept {
        *kept.entry(name).or_default() += 1;
    }
    let stay = match linalg.kept.len() {
        0 => String::new(),
        count => {
            let names: Vec<String> = kept.iter().map(|(n, count)| format!("{count} {n}")).collect();
            format!(
                "\n{count} operations have no definition as loops and stay, so `mlir-opt` needs \
                 --allow-unregistered-dialect: {}{}",
                names.join(", "),
                fixed_sizes(model)
            )
        }
    };
    out::print(format!("{}{stay}\n", args.output.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// How to fix what a model leaves open, since more operations are compiled where sizes are known.
fn fixed_sizes(model: &Model) -> String {
    let module = &model.module;
    let context = module.context();
    let inputs = model.graph().map(|block| module.args(block)).unwrap_or_default();
    let mut ways = BTreeSet::new();
    for &input in inputs {
        let Some((extents, _)) = context.as_tensor(module.value_type(input)) else { continue };
        for expr in extents.iter().filter_map(|&extent| dims::expr(context, extent)) {
            ways.extend(expr.symbols().into_iter().map(|symbol| match symbol.starts_with('?') {
                true => {
                    let name = module.value_name(input).map(|name| context.text(name));
                    format!("`--input-shape {}:...`", name.unwrap_or_default())
                }
                false => format!("`--dim {symbol}=N`"),
            }));
        }
    }
    match ways.is_empty() {
        true => String::new(),
        false => {
            let ways: Vec<String> = ways.into_iter().collect();
            format!("; where sizes are known, more is compiled: {}", ways.join(" "))
        }
    }
}

/// How large the arena can become, or how to bound it.
fn arena(promise: &Result<Promise, Vec<String>>) -> String {
    match promise {
        Ok(Promise { bytes, per_thread, within }) => {
            let further = match per_thread {
                0 => String::new(),
                more => format!(", {more} more for each further thread"),
            };
            let sizes = within.iter().map(|(s, (least, most))| format!("{s} {least} to {most}"));
            let sizes: Vec<String> = sizes.collect();
            let sizes = match &sizes[..] {
                [] => String::new(),
                list => format!(" for {}", list.join(", ")),
            };
            format!("arena: at most {bytes} bytes{further}{sizes}")
        }
        Err(open) => {
            let named: Vec<String> = open.iter().map(|s| format!("--dim {s}=1..N")).collect();
            match &named[..] {
                [] => "arena: beyond 64 bits at the largest sizes".into(),
                list => format!("arena: as the sizes want; {} bounds it", list.join(" ")),
            }
        }
    }
}
