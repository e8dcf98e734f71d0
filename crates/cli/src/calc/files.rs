//! The files that a program of the calculator may use: those of its user.

use std::path::Path;

use tangram_calc::Host;
use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;

use crate::error;
use crate::{out, scop};

/// Files of the machine, by paths from the current folder: for a person who types, and for a
/// script whose user allows it. A script may come from anywhere.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) allowed: bool,
}

impl Files {
    fn allow(&self, path: &str) -> Result<(), String> {
        match self.allowed {
            true => Ok(()),
            false => Err(format!("{path}: a script uses files only with `--allow-files`")),
        }
    }
}

impl Host for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        self.allow(path)?;
        let read = std::fs::read_to_string(path).map_err(error::io(Path::new(path)));
        read.map_err(|error| error.to_string())
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        self.allow(path)?;
        out::write(Path::new(path), text).map_err(|error| error.to_string())
    }

    fn scop(&self, path: &str, budget: &Budget) -> Result<Scop, String> {
        self.allow(path)?;
        let original = out::read(Path::new(path)).map_err(|error| error.to_string())?;
        let text = scop::preprocessed(&original, Path::new(path), &[])
            .map_err(|reason| format!("{path}: {reason}"))?;
        let mut parts = tangram_scop::parts(&text, budget).map_err(|problems| {
            let message = |problem| scop::quoted::message(problem, Path::new(path));
            let lines: Vec<String> =
                problems.iter().map(|p| format!("{}: {}", p.at(path), message(p))).collect();
            lines.join("\n")
        })?;
        match parts.len() {
            1 => Ok(parts.remove(0).scop),
            0 => Err(format!("{path}: no `#pragma scop` in the file")),
            more => Err(format!("{path}: expected one `#pragma scop`, found {more}")),
        }
    }
}
