//! `tangram calc`.

mod converse;
mod files;
mod json;

use crate::exit::ExitCode;
use std::io::{self, IsTerminal};
use std::path::Path;

use tangram_calc::{CalcError, Printed, Session};

use crate::args::CalcArgs;
use crate::error::Error;
use crate::out;

/// Runs a program from a file or from standard input; on a terminal, statement by statement.
pub(crate) fn run(args: &CalcArgs) -> Result<ExitCode, Error> {
    let session = args.max_steps.map_or_else(Session::default, Session::with_steps);
    let allowed = args.allow_files || (args.input.is_none() && io::stdin().is_terminal());
    let mut session = session.with_host(files::Files { allowed });
    let name = args.input.as_ref().map_or("<input>".into(), |path| path.display().to_string());
    let program = match &args.input {
        Some(path) if !out::is_standard(path) => {
            session = session.with_file(&name);
            out::read(path)?
        }
        None if io::stdin().is_terminal() => return converse::converse(session, args.json),
        _ => out::read(Path::new("-"))?,
    };
    let mut printing = Ok(());
    let ran = session.run_with(&program, |printed| {
        if printing.is_ok() {
            printing = show(printed, args.json);
        }
    });
    printing?;
    warn(&name, &mut session);
    match ran {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            report(&name, &error);
            Ok(ExitCode::from(2))
        }
    }
}

/// Prints one result; as JSON, an object on a line of its own.
fn show(printed: Printed<'_>, json: bool) -> Result<(), Error> {
    let Printed { name, value } = printed;
    if json {
        return out::print(format!("{}\n", json::of(name, value)));
    }
    let text = value.to_string();
    out::print(match name {
        Some(name) if text.contains('\n') => format!("{name} :=\n{text}\n"),
        Some(name) => format!("{name} := {text}\n"),
        None => format!("{text}\n"),
    })
}

/// Says what may be meant otherwise.
fn warn(name: &str, session: &mut Session) {
    for CalcError { line, column, message, .. } in session.take_warnings() {
        out::say(format!("{name}:{line}:{column}: warning: {message}\n"));
    }
}

fn report(name: &str, error: &CalcError) {
    let CalcError { line, column, message, .. } = error;
    out::say(format!("{name}:{line}:{column}: error: {message}\n"));
}
