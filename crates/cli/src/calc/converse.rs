//! A conversation on a terminal: editing, history, completion.

use crate::exit::ExitCode;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use tangram_calc::{CalcError, Session, complete, is_complete};

use super::{report, show, warn};
use crate::error::{self, Error};
use crate::out;

/// Reads statements and runs them until the input ends. Ctrl-C drops what is typed, or stops the
/// statement that runs.
pub(super) fn converse(session: Session, json: bool) -> Result<ExitCode, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    // Without a handler Ctrl-C ends the process, as it does everywhere.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    let session = session.with_cancel(stop.clone()).with_named_results();
    let mut editor = editor(session).map_err(failed)?;
    let history = history_file();
    if let Some(path) = &history {
        // The first conversation has no history.
        let _ = editor.load_history(path);
    }
    loop {
        let program = match editor.readline("> ") {
            Ok(program) => program,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(ExitCode::SUCCESS),
            Err(error) => return Err(failed(error)),
        };
        remember(&mut editor, &program, history.as_deref());
        let Some(Desk(session)) = editor.helper_mut() else { continue };
        stop.store(false, Ordering::Relaxed);
        let mut printing = Ok(());
        let ran = session.run_with(&program, |printed| {
            if printing.is_ok() {
                printing = show(printed, json);
            }
        });
        printing?;
        warn("<input>", session);
        if let Err(error) = ran {
            point(&program, &error);
        }
    }
}

/// The session, asked by the editor for completions and whether a program is complete.
struct Desk(Session);

impl Helper for Desk {}
impl Highlighter for Desk {}
impl Hinter for Desk {
    type Hint = String;
}

impl Completer for Desk {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&self.0, line, at))
    }
}

impl Validator for Desk {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

fn editor(session: Session) -> rustyline::Result<Editor<Desk, DefaultHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(1000)?
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Desk(session)));
    Ok(editor)
}

/// Adds to the history at once, so that the end of the process loses nothing. A history that
/// cannot be kept stops nothing.
fn remember(editor: &mut Editor<Desk, DefaultHistory>, program: &str, history: Option<&Path>) {
    let new = editor.add_history_entry(program.trim_end()).unwrap_or(false);
    if let (true, Some(path)) = (new, history) {
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = editor.append_history(path);
    }
}

/// Returns where the history is kept: in the user's folder for the state of programs.
fn history_file() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = match cfg!(windows) {
        true => absolute("LOCALAPPDATA"),
        false => absolute("XDG_STATE_HOME")
            .or_else(|| env::home_dir().map(|home| home.join(".local").join("state"))),
    };
    folder.map(|folder| folder.join("tangram").join("calc_history"))
}

/// Shows the line of an error, and its column from below.
fn point(program: &str, error: &CalcError) {
    if let Some(line) = program.lines().nth(error.line - 1) {
        let indent: String =
            line.chars().take(error.column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
        out::say(format!("  {line}\n  {indent}^\n"));
    }
    report("<input>", error);
}

fn failed(error: ReadlineError) -> Error {
    let source = match error {
        ReadlineError::Io(source) => source,
        other => std::io::Error::other(other),
    };
    error::io(Path::new("<input>"))(source)
}
