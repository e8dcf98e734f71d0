//! `tangram calc`.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use tangram_calc::{CalcError, Session};

use crate::args::CalcArgs;
use crate::error::{self, Error};

/// Runs a program from a file or from standard input.
pub(crate) fn run(args: &CalcArgs) -> Result<ExitCode, Error> {
    let mut session = args.max_steps.map_or_else(Session::default, Session::with_steps);
    let name = args.input.as_ref().map_or("<input>".into(), |path| path.display().to_string());
    let program = match &args.input {
        Some(path) => std::fs::read_to_string(path).map_err(error::io(path))?,
        None if io::stdin().is_terminal() => return converse(&mut session, args.json),
        None => io::read_to_string(io::stdin()).map_err(error::io(Path::new("<input>")))?,
    };
    let result = session.run_with(&program, |text| show(&text, args.json));
    Ok(report(&name, result))
}

/// Prints one result; as JSON, a string on a line of its own.
fn show(text: &str, json: bool) {
    if json {
        println!("{}", serde_json::Value::from(text));
    } else {
        println!("{text}");
    }
}

fn report(name: &str, result: Result<(), CalcError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}:{}:{}: error: {}", error.line, error.column, error.message);
            ExitCode::from(1)
        }
    }
}

/// Reads statements line by line; a statement ends at its `;`.
fn converse(session: &mut Session, json: bool) -> Result<ExitCode, Error> {
    let mut pending = String::new();
    for line in prompted() {
        pending.push_str(&line.map_err(error::io(Path::new("<input>")))?);
        pending.push('\n');
        if pending.trim_end().ends_with(';') {
            report("<input>", session.run_with(&pending, |text| show(&text, json)));
            pending.clear();
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn prompted() -> impl Iterator<Item = io::Result<String>> {
    let mut lines = io::stdin().lock().lines();
    std::iter::from_fn(move || {
        eprint!("> ");
        // A prompt that cannot be shown stops nothing.
        let _ = io::stderr().flush();
        lines.next()
    })
}
