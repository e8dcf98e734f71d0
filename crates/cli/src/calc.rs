//! `tangram calc`.

mod converse;
mod files;
mod json;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use tangram_calc::{CalcError, Printed, Session};

use crate::args::CalcArgs;
use crate::error::{self, Error};

/// Runs a program from a file or from standard input; on a terminal, statement by statement.
pub(crate) fn run(args: &CalcArgs) -> Result<ExitCode, Error> {
    let session = args.max_steps.map_or_else(Session::default, Session::with_steps);
    let mut session = session.with_host(files::Files);
    let name = args.input.as_ref().map_or("<input>".into(), |path| path.display().to_string());
    let program = match &args.input {
        Some(path) => std::fs::read_to_string(path).map_err(error::io(path))?,
        None if io::stdin().is_terminal() => return converse::converse(session, args.json),
        None => io::read_to_string(io::stdin()).map_err(error::io(Path::new("<input>")))?,
    };
    match session.run_with(&program, |printed| show(printed, args.json)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            report(&name, &error);
            Ok(ExitCode::from(1))
        }
    }
}

/// Prints one result; as JSON, an object on a line of its own.
fn show(printed: Printed<'_>, json: bool) {
    let Printed { name, value } = printed;
    if json {
        println!("{}", json::of(name, value));
        return;
    }
    let text = value.to_string();
    match name {
        Some(name) if text.contains('\n') => println!("{name} :=\n{text}"),
        Some(name) => println!("{name} := {text}"),
        None => println!("{text}"),
    }
}

fn report(name: &str, error: &CalcError) {
    eprintln!("{name}:{}:{}: error: {}", error.line, error.column, error.message);
}
