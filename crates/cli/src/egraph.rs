//! `tangram egraph`: terms, rules and e-graphs as text.

use crate::exit::ExitCode;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use tangram_egraph::choices::{EGraphChoices, Selection};
use tangram_egraph::{
    AstDepth, AstSize, BackoffScheduler, EGraph, Extractor, Id, RecExpr, Runner, SerializedEGraph,
    SimpleScheduler, StopReason, SymbolLang, parse_rules,
};

use crate::error::Error;
use crate::{opt, out};

/// What to do with e-graphs.
#[derive(Subcommand, Debug)]
pub(crate) enum EgraphCommand {
    /// Apply rules to a term until nothing is new, and print the best equal term.
    #[command(after_help = SIMPLIFY_HELP)]
    Simplify(SimplifyArgs),
    /// Draw an e-graph.
    Show(ShowArgs),
    /// Print an e-graph as a graph for Graphviz.
    Dot(ShowArgs),
    /// Print an e-graph as JSON, in the format of the `egraph-serialize` crate.
    Json(ShowArgs),
    /// Choose the cheapest terms of an e-graph in JSON, where shared parts are paid once.
    ///
    /// Prints a term for each root, after lines `name = term` for the parts that are used more
    /// than once, and what they cost beside other ways to choose.
    Extract(ExtractArgs),
}

const SIMPLIFY_HELP: &str = "\
Terms are s-expressions, operators are any words. A rule file has a rule a line:
  # comments; indented lines go on with the rule before
  commute:   (+ ?a ?b) => (+ ?b ?a)
  associate: (+ ?a (+ ?b ?c)) <=> (+ (+ ?a ?b) ?c)
  cancel:    (/ ?a ?a) => 1  if (is-zero ?a) = false
  both:      ?p = (mul ?a ?b), ?q = (mul ?a ?c) => ?p = (first ?a ?b ?c), ?q = (second ?a ?b ?c)

Example:
  tangram egraph simplify --rules sums.rules '(+ 0 (* 1 x))'";

const NO_RULES: &str =
    "note: without rules a term is equal to itself only: name a file of rules with `--rules`\n";

/// Where an e-graph comes from.
#[derive(Args, Debug)]
pub(crate) struct Source {
    /// The terms to start from.
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    terms: Vec<String>,
    /// Start from an e-graph in JSON instead.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Files of rules.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Stop after so many iterations.
    #[arg(long, value_name = "N", default_value_t = 30)]
    iterations: usize,
    /// Stop at so many e-nodes.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    nodes: usize,
    /// Stop after so many seconds.
    #[arg(long, value_name = "S", default_value = "10", value_parser = crate::values::seconds)]
    seconds: Duration,
    /// Stop when the e-graph takes so many bytes.
    #[arg(long, value_name = "N")]
    bytes: Option<usize>,
    /// What happens to rules that match very often.
    #[arg(long, value_enum, default_value = "backoff")]
    scheduler: SchedulerArg,
}

/// What happens to rules that match very often.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum SchedulerArg {
    /// They have to pause for a while.
    Backoff,
    /// Nothing: every rule is applied in every iteration.
    Simple,
}

/// Arguments of `tangram egraph simplify`.
#[derive(Args, Debug)]
pub(crate) struct SimplifyArgs {
    #[command(flatten)]
    source: Source,
    /// What makes a term the best.
    #[arg(long, value_enum, default_value = "size")]
    cost: CostArg,
    /// Print why each result equals its term: a step a line.
    #[arg(long, conflicts_with = "from")]
    explain: bool,
    /// Print what each rule did, and which run away.
    #[arg(long)]
    statistics: bool,
}

/// What makes a term the best.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum CostArg {
    /// The fewest operators, each occurrence counted.
    Size,
    /// The least depth.
    Depth,
    /// The fewest operators, shared parts counted once.
    Shared,
}

/// Arguments of `tangram egraph show`, `dot` and `json`.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The form, if it is another one than the command names: `show` gives a picture.
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Where to print; standard output if absent.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
}

/// How many classes a picture has at most.
const CLASSES: usize = 500;

/// A form of an e-graph.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum FormatArg {
    /// A picture.
    Svg,
    /// Text for Graphviz.
    Dot,
    /// The format of the `egraph-serialize` crate.
    Json,
}

/// Arguments of `tangram egraph extract`.
#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// An e-graph in JSON, with costs of nodes and root classes.
    input: PathBuf,
    /// How long the exact way may take.
    #[arg(long, value_name = "S", default_value = "10", value_parser = crate::values::seconds)]
    seconds: Duration,
}

/// Simplifies, draws, converts or extracts.
pub(crate) fn run(command: &EgraphCommand) -> Result<ExitCode, Error> {
    match command {
        EgraphCommand::Simplify(args) => simplify(args)?,
        EgraphCommand::Show(args) => show(args, FormatArg::Svg)?,
        EgraphCommand::Dot(args) => show(args, FormatArg::Dot)?,
        EgraphCommand::Json(args) => show(args, FormatArg::Json)?,
        EgraphCommand::Extract(args) => extract(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Source {
    /// Lists the files that it comes from.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.rules.iter().chain(&self.from)
    }
}

impl EgraphCommand {
    /// Returns where the e-graph comes from, if rules may make it grow.
    pub(crate) fn source(&self) -> Option<&Source> {
        match self {
            EgraphCommand::Simplify(args) => Some(&args.source),
            EgraphCommand::Show(args) | EgraphCommand::Dot(args) | EgraphCommand::Json(args) => {
                Some(&args.source)
            }
            EgraphCommand::Extract(_) => None,
        }
    }
}

type Grown = Runner<SymbolLang, ()>;

impl Source {
    /// Reads terms or an e-graph, and applies the rules.
    fn grow(&self, explain: bool) -> Result<Grown, Error> {
        let mut rules = Vec::new();
        for path in &self.rules {
            let read = parse_rules(&out::read(path)?);
            rules.extend(read.map_err(|source| Error::TermRules { path: path.clone(), source })?);
        }
        let mut runner = self.limited();
        if explain {
            runner = runner.with_explanations_enabled();
        }
        if let Some(path) = &self.from {
            let (egraph, roots) = read(path)?.build().map_err(in_file(path))?;
            runner = runner.with_egraph(egraph);
            runner.roots = roots;
        }
        for term in self.terms()? {
            runner = runner.with_expr(&term);
        }
        let flag = opt::on_interrupt();
        let runner = runner.with_hook(move |_| match flag.load(Ordering::Relaxed) {
            true => Err("interrupted".into()),
            false => Ok(()),
        });
        Ok(runner.run(&rules))
    }

    fn limited(&self) -> Grown {
        let runner = Runner::default()
            .with_iter_limit(self.iterations)
            .with_node_limit(self.nodes)
            .with_time_limit(self.seconds)
            .with_memory_limit(self.bytes.unwrap_or(usize::MAX));
        match self.scheduler {
            SchedulerArg::Backoff => runner.with_scheduler(BackoffScheduler::default()),
            SchedulerArg::Simple => runner.with_scheduler(SimpleScheduler),
        }
    }

    fn terms(&self) -> Result<Vec<RecExpr<SymbolLang>>, Error> {
        let term = |text: &String| {
            text.parse()
                .map_err(|why| Error::Usage(format!("cannot read the term `{text}`: {why}")))
        };
        self.terms.iter().map(term).collect()
    }
}

fn read(path: &Path) -> Result<SerializedEGraph, Error> {
    SerializedEGraph::from_json(&out::read(path)?).map_err(in_file(path))
}

fn in_file(path: &Path) -> impl Fn(tangram_egraph::SerializeError) -> Error + '_ {
    move |source| Error::Egraph { path: path.to_owned(), source }
}

/// Prints an e-graph, in the form `own` if no other one is asked for.
fn show(args: &ShowArgs, own: FormatArg) -> Result<(), Error> {
    let runner = args.source.grow(false)?;
    let text = match args.format.unwrap_or(own) {
        FormatArg::Svg => tangram::picture::egraph_svg(&runner.egraph, &runner.roots, CLASSES),
        FormatArg::Dot => runner.egraph.dot().to_string(),
        FormatArg::Json => {
            let serialized = SerializedEGraph::new(&runner.egraph, &runner.roots, |_, _| 1.0);
            serialized.to_json().map_err(|why| Error::Usage(why.to_string()))? + "\n"
        }
    };
    out::deliver(args.output.as_deref(), &text)
}

fn simplify(args: &SimplifyArgs) -> Result<(), Error> {
    let mut runner = args.source.grow(args.explain)?;
    if args.source.rules.is_empty() && args.source.from.is_none() {
        out::say(NO_RULES);
    }
    let mut text = String::new();
    let starts = args.source.terms()?;
    for (at, root) in runner.roots.clone().into_iter().enumerate() {
        let best = best(&runner.egraph, root, args.cost).ok_or_else(|| {
            Error::Usage(format!("root class {root} of the e-graph has no finite term"))
        })?;
        // Of a few dozen e-nodes a term may be longer than memory.
        let is_long = best.text_length() > LONGEST_LINE;
        if is_long {
            let shared = best.shared();
            shared.bindings.iter().chain(&shared.roots).for_each(|line| {
                text.push_str(line);
                text.push('\n');
            });
        } else {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{best}");
        }
        if let Some(start) = starts.get(at).filter(|_| args.explain) {
            if is_long {
                return Err(Error::Usage(format!(
                    "the best term of root class {root} has too many operators to explain it step by step"
                )));
            }
            for step in runner.explain_equivalence(start, &best).get_flat_strings() {
                let _ = writeln!(text, "  {step}");
            }
        }
    }
    if args.statistics {
        text.push_str(&statistics(&runner));
    }
    out::print(text)?;
    if !matches!(runner.stop_reason, Some(StopReason::Saturated) | None) {
        out::say(format!("note: {}; the terms are the best so far\n", stopped(&runner)));
    }
    Ok(())
}

fn best(egraph: &EGraph<SymbolLang, ()>, root: Id, cost: CostArg) -> Option<RecExpr<SymbolLang>> {
    match cost {
        CostArg::Size => Some(Extractor::new(egraph, AstSize).find_best(root).1),
        CostArg::Depth => Some(Extractor::new(egraph, AstDepth).find_best(root).1),
        CostArg::Shared => {
            let choices = EGraphChoices::new(egraph, |_, _| 1.0);
            let roots = [choices.class(egraph, root)?];
            let found = choices.choices.best(&roots, EXACT_TIME)?;
            choices.expression(egraph, &found.selection, &roots).map(|(term, _)| term)
        }
    }
}

/// A term of more bytes is printed with names for the parts that it has more than once.
const LONGEST_LINE: usize = 1 << 20;

/// How long `--cost shared` may look for a proof that nothing is better.
const EXACT_TIME: Duration = Duration::from_secs(10);

fn stopped(runner: &Grown) -> String {
    match &runner.stop_reason {
        Some(StopReason::IterationLimit(limit)) => format!("stopped after {limit} iterations"),
        Some(StopReason::NodeLimit(limit)) => format!("stopped at {limit} e-nodes"),
        Some(StopReason::TimeLimit(limit)) => format!("stopped after {limit:.1} seconds"),
        Some(StopReason::Other(why)) => format!("stopped: {why}"),
        _ => "nothing is new any more".into(),
    }
}

/// What each rule did, and the sizes.
fn statistics(runner: &Grown) -> String {
    let egraph = &runner.egraph;
    let (nodes, classes) = (egraph.total_number_of_nodes(), egraph.number_of_classes());
    let mut table = crate::table::plain(["rule", "matches", "changed", "e-nodes"]);
    for rule in runner.statistics.iter().filter(|rule| rule.matches > 0) {
        let mark = if rule.is_runaway(nodes) { " (runs away)" } else { "" };
        let name = rule.name.map_or(String::new(), |name| format!("{name}{mark}"));
        let counts = [rule.matches, rule.changed, rule.nodes].map(|count| count.to_string());
        table.add_row([name].into_iter().chain(counts));
    }
    let iterations = runner.iterations.len();
    format!(
        "\n{table}\n\n{nodes} e-nodes in {classes} classes after {iterations} iterations: {}\n",
        stopped(runner)
    )
}

fn extract(args: &ExtractArgs) -> Result<(), Error> {
    let egraph = read(&args.input)?;
    let (choices, roots) = egraph.choices();
    let found = choices.best(&roots, args.seconds).ok_or_else(|| {
        Error::Usage(format!("{}: a root class has no finite term", args.input.display()))
    })?;
    let cost = |selection: &Selection| choices.dag_cost(selection, &roots).unwrap_or(f64::INFINITY);
    let trees = cost(&choices.cheapest_trees());
    let greedy = cost(&choices.greedy());
    let proof = match found.optimal {
        true => "proved to be least".to_owned(),
        false => format!("nothing is below {}, gap {:.2} %", found.bound, 100.0 * found.gap()),
    };
    let terms = egraph.terms(&choices, &found.selection, &roots);
    let terms = terms.map_or(String::new(), |terms| {
        terms.bindings.iter().chain(&terms.roots).map(|line| format!("{line}\n")).collect()
    });
    out::print(format!(
        "{terms}\ncheapest trees  {trees}\ngreedy          {greedy}\n\
         best            {}  ({proof})\n",
        found.cost
    ))
}
