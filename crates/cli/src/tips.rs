//! Ways out of command lines as other tools have them.
//!
//! ```text
//! $ tangram opt model.onnx better.onnx
//! error: unexpected argument 'better.onnx' found
//!
//!   tip: the file to write follows `-o`, as in `tangram opt model.onnx -o better.onnx`
//!
//! $ tangram opt model.onnx -o better.onnx --dtype fp16
//! error: unexpected argument '--dtype' found
//!
//!   tip: onnxslim's `--dtype fp16` is here: `--to float16`; inputs and outputs stay float32
//! ```

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The page of the book that has every flag of the tools whose place this one takes.
const PAGE: &str = include_str!("../docs/from-onnxsim.md");

/// Adds to an error of the command line what its author probably wants, where that is known.
pub(crate) fn with_tip(mut error: clap::Error, command: &Command, words: &[String]) -> clap::Error {
    let mut tips: Vec<String> = output_is_positional(&error, command, words).into_iter().collect();
    if let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) {
        tips.extend(foreign(flag, command, words));
        tips.extend(engine(flag));
    }
    if !tips.is_empty() {
        for guess in [ContextKind::SuggestedArg, ContextKind::SuggestedValue] {
            error.remove(guess);
        }
        let tips = tips.into_iter().map(StyledStr::from).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Where the engines of other machines are reached.
fn engine(flag: &str) -> Option<String> {
    let name = flag.split(['=', ' ']).next()?;
    matches!(name, "--dask" | "--ray").then(|| {
        format!("engines are reached through the Python package: `python -m tangram opt .. {name} ADDRESS`")
    })
}

/// What stands for a flag of another tool, by the tables of the page.
fn foreign(flag: &str, command: &Command, words: &[String]) -> Vec<String> {
    let optimises = words.get(1).and_then(|name| command.find_subcommand(name));
    if optimises.is_none_or(|subcommand| subcommand.get_name() != "opt") {
        return Vec::new();
    }
    let flag = flag.split(['=', ' ']).next().unwrap_or(flag);
    let mut tool = None;
    let mut tips = Vec::new();
    for line in PAGE.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            tool = title.strip_prefix("Flags of ");
        }
        let (Some(tool), Some(row)) = (tool, line.strip_prefix("| ")) else { continue };
        let Some((flags, place)) = row.trim_end_matches(" |").split_once(" | ") else { continue };
        let named = flags.split('`').filter(|name| name.split(' ').next() == Some(flag));
        tips.extend(named.map(|name| format!("{tool}'s `{name}` is here: {}", unlinked(place))));
    }
    tips
}

/// Markdown without the targets of its links.
fn unlinked(text: &str) -> String {
    let mut out = String::new();
    for part in text.split("](") {
        match part.split_once(')') {
            Some((_, after)) if !out.is_empty() => out.push_str(after),
            _ => out.push_str(part),
        }
    }
    out.replace('[', "")
}

/// A second file without `-o`: the result, as onnxsim and onnxslim take it.
fn output_is_positional(
    error: &clap::Error,
    command: &Command,
    words: &[String],
) -> Option<String> {
    if !matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument) {
        return None;
    }
    let [_, name, rest @ ..] = words else { return None };
    let subcommand = command.find_subcommand(name)?;
    subcommand.get_arguments().find(|arg| arg.get_long() == Some("output"))?;
    let files: Vec<&String> = rest.iter().take_while(|word| !word.starts_with('-')).collect();
    let [from, to] = files[..] else { return None };
    Some(format!("the file to write follows `-o`, as in `tangram {name} {from} -o {to}`"))
}
