//! Kinds of files, and which command takes which.
//!
//! Whoever gives a C file to `tangram compile`, or a model to `tangram scop`, has chosen the wrong
//! one of two commands. Its reader would say that the bytes are no model: true, and no help. So what
//! a file holds is looked at before a command begins, in one place for all of them.
//!
//! A file is of a kind only where there is no doubt: its first bytes decide between models,
//! libraries and text, the ending of its name or the first words of a text between kinds of text.
//! What is of no kind that is known here goes to the command that was asked for.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tangram_polyhedral::ast::MapInput;

use crate::args::{Command, RulesCommand};
use crate::error::Error;
use crate::{fleet, out};

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Model,
    Library,
    C,
    Mlir,
    Rules,
    Calculation,
    Tree,
    Map,
    Constraints,
    Accesses,
}

/// How much of a file is looked at.
const LOOKED_AT: u64 = 1 << 16;

/// What libraries begin with on Linux, on macOS and on Windows; no model does.
const LIBRARIES: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ\x90\0"];

/// Refuses a file that another command takes, and says which.
pub(crate) fn check(command: &Command) -> Result<(), Error> {
    let Some(Taken { name, kinds, files }) = taken(command) else { return Ok(()) };
    for path in files.into_iter().filter(|path| !out::is_standard(path)) {
        let Some(kind) = Kind::of(path).filter(|kind| !kinds.contains(kind)) else { continue };
        let wanted: Vec<&str> = kinds.iter().map(|kind| kind.plural()).collect();
        return Err(Error::Usage(format!(
            "{}: this is {}, and `tangram {name}` takes {}: {}",
            path.display(),
            kind.named(),
            wanted.join(" and "),
            kind.way(path)
        )));
    }
    Ok(())
}

/// Returns whether a file is a library.
pub(crate) fn is_library(path: &Path) -> bool {
    Kind::of(path) == Some(Kind::Library)
}

/// What a command takes.
struct Taken<'a> {
    name: &'static str,
    kinds: &'static [Kind],
    files: Vec<&'a Path>,
}

/// Returns what the command takes for its inputs, where their kind matters.
fn taken(command: &Command) -> Option<Taken<'_>> {
    use Kind::{Accesses, C, Calculation, Constraints, Library, Map, Mlir, Model, Rules, Tree};
    let (name, kinds, files): (_, &[Kind], Vec<&Path>) = match command {
        // What is wrong with one of many models is a line of their table.
        Command::Opt(args) if fleet::is_asked(args) => return None,
        Command::Opt(args) => ("opt", &[Model], vec![&args.input]),
        Command::Show(args) => ("show", &[Model], vec![&args.input]),
        Command::View(args) => {
            let files = std::iter::once(&args.input).chain(&args.other);
            ("view", &[Model], files.map(PathBuf::as_path).collect())
        }
        Command::Diff(args) => ("diff", &[Model], vec![&args.before, &args.after]),
        Command::Check(args) => ("check", &[Model], vec![&args.first, &args.second]),
        Command::Bench(args) => ("bench", &[Model], vec![&args.model]),
        Command::Compile(args) => ("compile", &[Model], vec![&args.model]),
        Command::Run(args) => ("run", &[Model, Library], vec![&args.model]),
        Command::Scop(args) => ("scop", &[C], vec![&args.input]),
        Command::Rewrite(args) => ("rewrite", &[Mlir], vec![&args.input]),
        Command::Calc(args) => {
            let file = args.input.as_deref().filter(|path| !is_of_loops(Kind::of(path)));
            ("calc", &[Calculation], file.into_iter().collect())
        }
        Command::Codegen(args) => ("codegen", &[Tree, Map], vec![&args.input]),
        Command::Schedule(args) => ("schedule", &[Constraints, Tree, Map], vec![&args.input]),
        Command::Flow(args) => ("flow", &[Accesses], vec![&args.input]),
        Command::Rules { command } => {
            let (name, files) = rules(command)?;
            (name, &[Rules], files)
        }
        _ => return None,
    };
    Some(Taken { name, kinds, files })
}

fn rules(command: &RulesCommand) -> Option<(&'static str, Vec<&Path>)> {
    match command {
        RulesCommand::List { rules, .. } => Some(("rules list", paths(rules))),
        RulesCommand::Check { files, .. } => Some(("rules check", paths(files))),
        RulesCommand::Mutate { files, .. } => Some(("rules mutate", paths(files))),
        RulesCommand::Fmt { files, .. } => {
            Some(("rules fmt", files.iter().map(AsRef::as_ref).collect()))
        }
        _ => None,
    }
}

fn paths(names: &[String]) -> Vec<&Path> {
    names.iter().map(Path::new).collect()
}

/// Whether a text about loops has this kind: its braces can be read as sets, too.
fn is_of_loops(kind: Option<Kind>) -> bool {
    matches!(kind, Some(Kind::Tree | Kind::Map | Kind::Constraints | Kind::Accesses))
}

impl Kind {
    /// Returns what a file holds, if it is there and there is no doubt.
    fn of(path: &Path) -> Option<Kind> {
        // A pipe can be read once only.
        if !path.is_file() {
            return None;
        }
        let mut start = Vec::new();
        File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let ending = ending.to_ascii_lowercase();
        if LIBRARIES.iter().any(|begin| start.starts_with(begin)) {
            return Some(Kind::Library);
        }
        if is_text(&start) {
            return Kind::of_text(&ending, &String::from_utf8_lossy(&start));
        }
        // Models begin with the version of their format, the number of a field in front.
        let is_model = ending == "onnx" || matches!(start[..], [8, 1..=31, ..]);
        is_model.then_some(Kind::Model)
    }

    fn of_text(ending: &str, text: &str) -> Option<Kind> {
        match ending {
            "c" | "h" | "i" => return Some(Kind::C),
            "mlir" => return Some(Kind::Mlir),
            "gsl" => return Some(Kind::Rules),
            "calc" | "iscc" => return Some(Kind::Calculation),
            "in" if MapInput::is_notation(text) => return Some(Kind::Map),
            "st" | "sc" | "ai" | "in" | "yaml" | "yml" | "txt" | "" => {}
            _ => return None,
        }
        Kind::of_directive(text).or_else(|| Kind::of_mlir(text)).or_else(|| Kind::of_keys(text))
    }

    /// Only C begins with a directive.
    fn of_directive(text: &str) -> Option<Kind> {
        let directive = text.trim_start().strip_prefix('#')?.trim_start();
        let known = ["include ", "include<", "include\"", "define ", "pragma scop"];
        known.iter().any(|word| directive.starts_with(word)).then_some(Kind::C)
    }

    fn of_mlir(text: &str) -> Option<Kind> {
        let mut lines = text.lines().map(str::trim_start);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with("//"))?;
        let begins = ["\"builtin.module\"(", "builtin.module ", "module {", "func.func "];
        begins.iter().any(|word| first.starts_with(word)).then_some(Kind::Mlir)
    }

    /// isl's texts about loops have keys that say what they are.
    fn of_keys(text: &str) -> Option<Kind> {
        let has = |keys: &[&str]| keys.iter().any(|key| has_key(text, key));
        let kinds: [(&[&str], Kind); 3] = [
            (&["sink", "must_source", "may_source"], Kind::Accesses),
            (&["child"], Kind::Tree),
            (&["validity", "coincidence", "proximity"], Kind::Constraints),
        ];
        kinds.into_iter().find_map(|(keys, kind)| has(keys).then_some(kind))
    }

    fn named(self) -> &'static str {
        match self {
            Kind::Model => "an ONNX model",
            Kind::Library => "a compiled library",
            Kind::C => "C source",
            Kind::Mlir => "a program in MLIR's text",
            Kind::Rules => "a file of rules",
            Kind::Calculation => "a program of the calculator",
            Kind::Tree => "a schedule tree",
            Kind::Map => "a map that is a schedule",
            Kind::Constraints => "a domain with constraints of its schedule",
            Kind::Accesses => "a list of accesses",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Kind::Model => "ONNX models",
            Kind::Library => "compiled libraries",
            Kind::C => "C source",
            Kind::Mlir => "programs in MLIR's text",
            Kind::Rules => "files of rules",
            Kind::Calculation => "programs of the calculator",
            Kind::Tree => "schedule trees",
            Kind::Map => "maps",
            Kind::Constraints => "constraints",
            Kind::Accesses => "lists of accesses",
        }
    }

    /// Returns the command that takes a file of this kind.
    fn way(self, path: &Path) -> String {
        let path = path.display();
        match self {
            Kind::Model => format!(
                "`tangram compile {path}` compiles it, `tangram opt {path}` makes it faster, \
                 `tangram show {path}` says what it is"
            ),
            Kind::Library => format!("`tangram run {path}` runs it"),
            Kind::C => format!("`tangram scop {path}` makes its loops faster"),
            Kind::Mlir => format!("`tangram rewrite {path}` runs passes on it"),
            Kind::Rules => format!(
                "`tangram rules check {path}` verifies them, `tangram opt` applies them by `--rules \
                 {path}`"
            ),
            Kind::Calculation => format!("`tangram calc {path}` runs it"),
            Kind::Tree | Kind::Map => format!(
                "`tangram schedule {path}` changes it, `tangram codegen {path}` makes loops of it"
            ),
            Kind::Constraints => format!("`tangram schedule {path}` computes a schedule"),
            Kind::Accesses => format!("`tangram flow {path}` finds what each read depends on"),
        }
    }
}

/// Whether a text of YAML's form has a key, in quotes or not, and something of that form behind it.
fn has_key(text: &str, key: &str) -> bool {
    let is_key = |(at, _): (usize, &str)| {
        let whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let value = rest.strip_prefix(':').map(|value| value.trim_start_matches([' ', '\t', '\r']));
        whole && value.is_some_and(|value| value.starts_with(['"', '\'', '{', '[', '-', '\n']))
    };
    text.match_indices(key).any(is_key)
}

/// Whether these bytes are text: models and libraries have numbers in their first bytes.
fn is_text(start: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    !start.iter().any(is_control)
}
