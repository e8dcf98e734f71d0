//! Ways out of command lines as other tools have them.
//!
//! ```text
//! $ tangram opt model.onnx better.onnx
//! error: unexpected argument 'better.onnx' found
//!
//!   tip: the file to write follows `-o`, as in `tangram opt model.onnx -o better.onnx`
//! ```

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Adds to an error of the command line what its author probably wants, where that is known.
pub(crate) fn with_tip(mut error: clap::Error, command: &Command, words: &[String]) -> clap::Error {
    if let Some(tip) = output_is_positional(&error, command, words) {
        let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
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
