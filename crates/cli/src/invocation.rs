//! How the command was called: its words, and the program to call for a process of the same command.
//!
//! Both are those of the process where `tangram` is a program of its own. Inside another process,
//! such as Python's, the caller says them.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

/// A call of the command.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The words of the command line; the first is the name of the command.
    pub words: Vec<OsString>,
    /// What starts the same command in a process of its own: a program and its first arguments.
    pub program: Vec<OsString>,
}

impl Invocation {
    /// Returns the call of this process.
    ///
    /// Where the program cannot be found, `tangram` on the path is the program.
    pub fn of_this_process() -> Self {
        let program = std::env::current_exe().map_or_else(|_| "tangram".into(), OsString::from);
        Self { words: std::env::args_os().collect(), program: vec![program] }
    }
}

static CURRENT: Mutex<Option<Invocation>> = Mutex::new(None);

/// Makes this the call that [`current`] returns.
pub(crate) fn enter(invocation: &Invocation) {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(invocation.clone());
}

/// Returns the call that is being answered.
pub(crate) fn current() -> Invocation {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}
