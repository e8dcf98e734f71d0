//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::judge::Judge;
use crate::values::{Limit, bytes, count, data, integer_type, memory, seconds, shape, share};

/// How many elementary steps loops, schedules and dependences may take, unless `--max-steps` says
/// otherwise: some seconds.
pub(crate) const LOOP_STEPS: u64 = 100_000_000;

/// Rearranges tensor programs into faster ones that compute the same.
#[derive(Parser, Debug)]
#[command(name = "tangram", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Start with:\n  tangram opt model.onnx -o better.onnx")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Optimise an ONNX model.
    // Names that other tools have, for whoever tries them first.
    #[command(aliases = ["optimize", "optimise", "simplify", "slim"])]
    Opt(Box<OptArgs>),
    /// List, show, check and format substitution rules.
    Rules {
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// Say what a model is: inputs, outputs, operators, weights, cost; or print or draw it.
    Show(ShowArgs),
    /// Write a page to explore a model, or two with their differences.
    View(crate::view::ViewArgs),
    /// Say what changed from one model to another, node by node. Exits with 1 if they differ.
    Diff(crate::diff::DiffArgs),
    /// Evaluate two models on the same inputs and compare. Exits with 1 if they differ, with 3 if
    /// they cannot be evaluated.
    Check(crate::check::CheckArgs),
    /// Run a model: on arrays in files, or on random ones.
    Run(Box<crate::run::RunArgs>),
    /// Time a model beside onnxruntime, where Python has it.
    Bench(Box<crate::bench::BenchArgs>),
    /// Compile a model to a shared library or to C, with a header and a file of weights, or to MLIR.
    Compile(Box<crate::compile::CompileArgs>),
    /// Calculate with integer sets and relations.
    Calc(CalcArgs),
    /// Generate loops that run the instances of a schedule in its order.
    Codegen(CodegenArgs),
    /// Find which write each read takes its value from.
    Flow(FlowArgs),
    /// Compute a schedule of instances that depend on each other.
    Schedule(ScheduleArgs),
    /// Simplify terms by rules in an e-graph; draw and convert e-graphs.
    Egraph {
        #[command(subcommand)]
        command: crate::egraph::EgraphCommand,
    },
    /// Make the loops of a C file faster, or analyse them.
    Scop(crate::scop::ScopArgs),
    /// Print what is known of a processor: vectors, caches, cores.
    Machine(crate::machine::MachineArgs),
    /// Run passes or apply rules on a program in MLIR's text.
    Rewrite(crate::rewrite::RewriteArgs),
    /// Answer an editor: rules in GSL and MLIR's text, over the language server protocol.
    Lsp(crate::lsp::LspArgs),
    /// Print a script that completes commands and options in a shell.
    Completions(crate::completions::CompletionsArgs),
    /// Print the manual page of a command, or write those of all.
    Man(crate::man::ManArgs),
}

/// How rules are applied.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StrategyArg {
    /// Until no rule fires any more.
    Greedy,
    /// Each operation once, in order.
    Walk,
    /// All rules at once, in an e-graph; then the cheapest program.
    Saturate,
}

/// Where weights go.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExternalDataArg {
    /// Beside the model if they were, or if they have to be.
    Auto,
    /// Into the model.
    #[value(alias = "never")]
    Inline,
    /// Beside the model.
    #[value(alias = "always")]
    External,
    /// They stay in the files that they came in; the result has to be in that folder.
    Keep,
}

/// Floats of 16 bits.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrecisionArg {
    /// IEEE 754's half precision: 10 bits behind the point, up to 65,504.
    #[value(alias = "fp16")]
    Float16,
    /// 7 bits behind the point, the range of float32.
    #[value(alias = "bf16")]
    Bfloat16,
}

/// Arguments of `tangram opt`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  tangram opt model.onnx -o better.onnx --check\n  tangram opt \
                        model.onnx -o better.onnx --rules my.gsl --disable gelu\n  tangram opt \
                        model.onnx -o better.onnx --only simplify --json report.json\n  tangram opt \
                        model.onnx -o better.onnx --trace trace.html\n  tangram opt model.onnx -o \
                        better.onnx --for onnxruntime --measure"
)]
#[command(group(ArgGroup::new("evaluates").args(["check", "measure"]).multiple(true)))]
pub(crate) struct OptArgs {
    /// The model to read; `-` is standard input. Or a folder, or a pattern such as
    /// `models/**/*.onnx`.
    pub(crate) input: PathBuf,
    /// Where to write the result: a folder for many models. A file that is there is replaced once
    /// the new one is complete; `-` is standard output, and what is printed goes to standard error
    /// then.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// How rules are applied.
    #[arg(long, value_enum, default_value = "greedy")]
    pub(crate) strategy: StrategyArg,
    /// Further rules: a file, a folder of `.gsl` files, or those of the library that are applied
    /// on request only, by name, label or topic.
    #[arg(long, value_name = "FILE|DIR|NAME")]
    pub(crate) rules: Vec<String>,
    /// Leave out the rules of the library; only those of `--rules` are applied.
    #[arg(long)]
    pub(crate) no_library: bool,
    /// Switch off rules by name or label.
    #[arg(long, value_name = "NAME|LABEL", value_delimiter = ',')]
    pub(crate) disable: Vec<String>,
    /// Apply only these rules, by name or label. If absent, all but those on request; saturation
    /// weighs these as well.
    #[arg(long, value_name = "NAME|LABEL", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Write what was done to FILE, as JSON; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write each change to FILE: a page to step through in a browser if it ends in `.html`,
    /// JSON otherwise.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// How many changes JSON and trace tell of, one by one: rule, what was matched, made and
    /// removed.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) steps: usize,
    /// Apply only rules that give the same number for every input: none that change how results
    /// are rounded. `--check` then wants results that are equal to the last bit.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Read the result again, evaluate both models on random inputs and compare; exit with 1 if
    /// they differ, with 3 if they cannot be evaluated.
    #[arg(long)]
    pub(crate) check: bool,
    /// Who runs both models for `--check`: the reference kernels, or onnxruntime where Python has it.
    #[arg(long = "with", value_name = "ENGINE", requires = "check", value_enum,
        default_value_t = Judge::Tangram)]
    pub(crate) judge: Judge,
    /// The extents of an input for `--check` and `--measure`, as `images=1,3,224,224`; others are chosen.
    #[arg(long, value_name = "INPUT=N,N", requires = "evaluates", value_parser = shape)]
    pub(crate) shape: Vec<(String, Vec<usize>)>,
    /// The data of an input for `--check` and `--measure`, as `images=photo.npy`, or an archive of several,
    /// `inputs.npz`; other inputs are random.
    #[arg(long, value_name = "INPUT=FILE.npy|FILE.npz", requires = "evaluates", value_parser = data)]
    pub(crate) data: Vec<(String, PathBuf)>,
    /// How often `--check` evaluates both models: with other sizes where sizes are open, else on
    /// other numbers.
    #[arg(long, value_name = "N", requires = "check", default_value_t = 1, value_parser = count)]
    pub(crate) runs: usize,
    /// The largest difference that `--check` allows, as a share of the greatest magnitude in an
    /// output; what suits the element type if absent.
    #[arg(long, value_name = "SHARE", requires = "check", value_parser = share)]
    pub(crate) tolerance: Option<f64>,
    /// Compute in floats of 16 bits where that is possible; inputs and outputs of the model keep
    /// their types. Says what stays and why, and how far results are apart.
    #[arg(long, value_name = "TYPE", value_enum)]
    pub(crate) to: Option<PrecisionArg>,
    /// What `--to` leaves as it is: operators, nodes or values by name.
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "to")]
    pub(crate) keep: Vec<String>,
    /// Where large weights go: beside the model if they were beside it or if it is too long for
    /// one file, all into the model, all beside it, or left in the files that they came in.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) external_data: ExternalDataArg,
    /// Stop rewriting after so many seconds and keep what is reached. `--check`, and what `--to`
    /// measures, may take as long again.
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) max_seconds: Option<Duration>,
    /// The memory that the command may take, such as 8G; three quarters of what is free if absent.
    /// Of many models: what all of them may take together, estimated from the files.
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub(crate) max_memory: Option<u64>,
    /// Stop after so many rewrites and keep what is reached.
    #[arg(long, value_name = "N")]
    pub(crate) max_rewrites: Option<u64>,
    /// The most e-nodes of a saturation.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) max_nodes: usize,
    /// What operations cost, for saturation: a JSON file; a processor core if absent.
    #[arg(long, value_name = "FILE")]
    pub(crate) cost: Option<PathBuf>,
    /// Print why the result of a saturation equals the model, or why one output of it does.
    #[arg(
        long,
        value_name = "OUTPUT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) explain: Option<String>,
    /// How many bytes a folded constant may add to the model; `none` for no limit but those on
    /// the time and memory of folding.
    #[arg(long, value_name = "BYTES", default_value = "1048576", value_parser = bytes)]
    pub(crate) fold_limit: Limit,
    /// Write the result in this version of ONNX's operator set.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) opset: Option<i64>,
    /// Say what keeps this rule from matching in the result: its nearest misses.
    #[arg(long, value_name = "NAME")]
    pub(crate) explain_rule: Option<String>,
    /// Look only at the node that makes the value of this name.
    #[arg(long, value_name = "NODE", requires = "explain_rule")]
    pub(crate) at: Option<String>,
    /// Read no `tangram.toml`.
    #[arg(long)]
    pub(crate) no_config: bool,
    /// Say on standard error which configuration file is read.
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) choose: crate::choose::ChooseArgs,
    #[command(flatten)]
    pub(crate) edits: crate::edits::EditArgs,
    #[command(flatten)]
    pub(crate) fleet: crate::fleet::FleetArgs,
}

/// Arguments of `tangram show`.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The model to read.
    pub(crate) input: PathBuf,
    /// The form to print.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: ShowFormat,
    /// Where to print; standard output if absent.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    /// Print the bytes of the weights too; if absent, long ones are left out.
    #[arg(long)]
    pub(crate) weights: bool,
    /// Draw what is nearest to this value or node; to the inputs if absent.
    #[arg(long, value_name = "NAME")]
    pub(crate) around: Option<String>,
    /// Draw so many operations at most.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Draw each of several equal blocks that follow each other, such as layers; by default the
    /// first is drawn, in a frame that says how many there are.
    #[arg(long)]
    pub(crate) unfold: bool,
    #[command(flatten)]
    pub(crate) edits: crate::edits::EditArgs,
}

/// The forms of `tangram show`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ShowFormat {
    /// What the model is, in tables.
    Table,
    /// The same as one JSON object.
    Json,
    /// MLIR's generic text.
    Mlir,
    /// A graph for Graphviz.
    Dot,
    /// A picture.
    Svg,
}

/// What to do with rules.
#[derive(Subcommand, Debug)]
pub(crate) enum RulesCommand {
    /// List rules with their labels.
    List {
        /// Files, folders or names; the library if absent.
        rules: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print one rule.
    Show {
        /// The name of the rule.
        name: String,
        /// Where to look besides the library.
        #[arg(long, value_name = "FILE|DIR")]
        rules: Vec<String>,
    },
    /// Rewrite rule files in canonical form.
    Fmt {
        /// Files or folders.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change nothing; exit with 1 if a file is not in canonical form.
        #[arg(long)]
        check: bool,
    },
    /// Write the rules of another optimiser's collection as text: TASO's protobuf, or one of
    /// TENSAT's lists of terms.
    Import {
        /// The collection.
        file: PathBuf,
        /// Where to write the rules; standard output if absent.
        #[arg(short, long)]
        output: Option<PathBuf>,
        /// Two lines of a list are the two outputs of one rule.
        #[arg(long)]
        pairs: bool,
    },
    /// Check rules against the operations, and verify them by exact evaluation of many small
    /// instances. Exits with 1 if one is wrong.
    Check {
        /// Files, folders or names; the library if absent.
        files: Vec<String>,
        /// Leave out verification.
        #[arg(long)]
        quick: bool,
        /// Instead, say what the rules do to each other when they are applied together: which
        /// overlap, never get a turn, add nothing, or loop. Exits with 1 for all but an overlap.
        /// Of the library, without rules on request.
        #[arg(long, conflicts_with = "quick")]
        set: bool,
        /// Print the verdicts as JSON; what is not well formed is told on standard error.
        #[arg(long)]
        json: bool,
    },
    /// Change rules in one place at a time and verify what comes of it: how many of the wrong
    /// ones verification sees. Exits with 1 if it misses one.
    Mutate {
        /// Files, folders or names; the library if absent.
        files: Vec<String>,
        /// Take every so many mutants of each rule.
        #[arg(long, default_value_t = 1)]
        step: usize,
        /// Print every mutant as JSON: its text, what became of it and why.
        #[arg(long)]
        json: bool,
    },
    /// Show the space of instances: what the definition of each operation declares of its
    /// attributes, and the values that they take in verification.
    Domains {
        /// Operations, as `cumsum`; all if absent.
        operations: Vec<String>,
        /// How many instances of each are attempted.
        #[arg(long, default_value_t = 400)]
        attempts: usize,
        /// Print all values as JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `tangram calc`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  echo '{ [i] : 0 <= i < 4 } - { [2] };' | tangram calc\n\n\
                  `--help` lists the operators and verbs of the language.",
    after_long_help = calc_language()
)]
pub(crate) struct CalcArgs {
    /// The program to run; standard input if absent.
    pub(crate) input: Option<PathBuf>,
    /// Print each result as a JSON object on a line of its own: its kind, its text, and spaces,
    /// parameters, numbers or items, as the kind has them.
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop a statement after so many elementary steps; 20000000 unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    /// Let the program read and write files. What is typed on a terminal may do so anyway.
    #[arg(long)]
    pub(crate) allow_files: bool,
}

/// The language of generated code.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetArg {
    /// Loops in C.
    C,
    /// Kernels in CUDA.
    Cuda,
}

/// Arguments of `tangram codegen`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  tangram codegen schedule.st\n  tangram codegen schedule.in -o \
                        loops.c --macros\n  tangram codegen mapped.st --target cuda"
)]
pub(crate) struct CodegenArgs {
    /// A schedule tree (isl's `.st`), or a map, a context and options (isl's `.in`).
    pub(crate) input: PathBuf,
    /// Where to write the code instead of printing it.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    /// C loops, or a CUDA kernel from a tree whose contexts bound `b0`, `t0` and the like.
    #[arg(long, value_enum, default_value = "c")]
    pub(crate) target: TargetArg,
    /// Write the definitions of `floord`, `min` and `max` first.
    #[arg(long)]
    pub(crate) macros: bool,
    /// The type of iterators.
    #[arg(long, value_name = "TYPE", default_value = "int64_t", value_parser = integer_type)]
    pub(crate) index: String,
    /// Put an OpenMP pragma in front of the outermost coincident loops.
    #[arg(long)]
    pub(crate) parallel: bool,
    /// Put a hint to vectorise in front of innermost coincident loops.
    #[arg(long)]
    pub(crate) vectorize: bool,
    /// Stop after so many elementary steps; 100000000 unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
}

/// Arguments of `tangram flow`.
#[derive(Args, Debug)]
#[command(
    after_help = "The file is in isl's form:\n  sink: \"{ R[] -> a[] }\"\n  must_source: \"{ W[i] -> \
                        a[] : 0 <= i < 4 }\"\n  schedule_map: \"{ W[i] -> [0, i]; R[] -> [1, 0] }\""
)]
pub(crate) struct FlowArgs {
    /// Sinks, sources, kills and a schedule, as isl's `.ai` files hold them.
    pub(crate) input: PathBuf,
    /// Print the relations as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop after so many elementary steps; 100000000 unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
}

/// Which statements share loops.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FuseArg {
    /// Only those that depend on each other in a cycle.
    None,
    /// Those that lose nothing by it.
    Smart,
    /// All that can.
    Max,
}

/// How schedules are chosen.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AlgorithmArg {
    /// Permutable bands with short distances.
    Pluto,
    /// Outer loops that carry as much as they can.
    Feautrier,
}

/// Ways to write a schedule as a map.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FormArg {
    /// One point for each instance, in lexicographic order.
    Map,
    /// As a map; an instance with several points runs several times.
    ManyValued,
    /// Kelly's form: points of different lengths.
    Kelly,
    /// The 2d+1 form.
    Regular,
    /// An affine function for each statement; statements run one after the other.
    Affine,
}

/// What `tangram schedule` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScheduleFormat {
    /// isl's text.
    Text,
    /// A picture.
    Svg,
    /// One point for each instance, in lexicographic order.
    Map,
    /// As a map, with all points of an expanded instance.
    ManyValued,
    /// Kelly's form: points of different lengths.
    Kelly,
    /// The 2d+1 form.
    Regular,
    /// An affine function for each statement, without their order.
    Affine,
}

/// Arguments of `tangram schedule`.
#[derive(Args, Debug)]
#[command(
    after_help = "The file is in isl's form:\n  domain: \"[N] -> { S[i] : 0 <= i < N }\"\n  validity: \
                        \"[N] -> { S[i] -> S[i + 1] }\"\n\nThe tree is checked against the constraints \
                        before it is printed.\n\nA tree or a map is taken as it is, and can be changed:\n  \
                        tangram schedule loops.st --do \"find band; tile 32 8\" --respecting \"{ S[i, j] \
                        -> S[i + 1, j] }\""
)]
pub(crate) struct ScheduleArgs {
    /// Domain and constraints, as isl's `.sc` files hold them; or a schedule tree, as `.st` files
    /// do; or a map from instances to points.
    pub(crate) input: PathBuf,
    /// Apply steps to the tree, one after the other; `@FILE` reads them from a file. `help` lists
    /// them.
    #[arg(long = "do", value_name = "STEPS")]
    pub(crate) steps: Vec<String>,
    /// Pairs of instances whose order a given tree or map keeps, as a map or `@FILE`.
    #[arg(long, value_name = "MAP")]
    pub(crate) respecting: Option<String>,
    /// What the points of a given map mean.
    #[arg(long, value_enum)]
    pub(crate) from: Option<FormArg>,
    /// What is printed: the tree as text or picture, or its points in some form.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ScheduleFormat,
    /// Which statements share loops [default: smart].
    #[arg(long, value_enum)]
    pub(crate) fuse: Option<FuseArg>,
    /// How schedules are chosen [default: pluto].
    #[arg(long, value_enum)]
    pub(crate) algorithm: Option<AlgorithmArg>,
    /// Let a loop that carries dependences come first, where the inner loops become parallel.
    #[arg(long)]
    pub(crate) inner_parallel: bool,
    /// The largest coefficient of a skewed loop.
    #[arg(long, value_name = "N")]
    pub(crate) max_coefficient: Option<u32>,
    /// Stop after so many elementary steps; 100000000 unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
}

/// The form of what is printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum FormatArg {
    /// isl's text.
    #[default]
    Text,
    /// A picture; of trees only.
    Svg,
}

/// The language of the calculator, for its help.
fn calc_language() -> String {
    format!(
        "Example:\n  echo '{{ [i] : 0 <= i < 4 }} - {{ [2] }};' | tangram calc\n\n{}",
        tangram_calc::help()
    )
}
