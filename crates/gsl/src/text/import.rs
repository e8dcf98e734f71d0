//! Rule files that use others.

use std::collections::HashMap;

use super::{RuleFile, parse_file};
use crate::diagnostic::{Diagnostic, Sources};

/// Finds the text of a rule file that another one uses. Nothing here reads files by itself.
pub trait Loader {
    /// Returns the name and the text of `path` as written in the file named `from`.
    ///
    /// The name identifies the file: one that was loaded before is not read again.
    ///
    /// # Errors
    /// Why there is no such file, in words.
    fn load(&mut self, from: &str, path: &str) -> Result<(String, String), String>;
}

/// A loader that finds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoImports;

impl Loader for NoImports {
    fn load(&mut self, _: &str, _: &str) -> Result<(String, String), String> {
        Err("this text cannot use other files".to_owned())
    }
}

/// Reads a rule file and, before it, the files that it uses, each once.
///
/// Files that use each other are fine: names of rules are not referred to.
pub fn load(name: &str, text: &str, loader: &mut dyn Loader, sources: &mut Sources) -> RuleFile {
    let mut whole = RuleFile::default();
    let mut known = HashMap::new();
    let first = sources.add(name, text);
    known.insert(name.to_owned(), first);
    let mut parsed = vec![parse_file(sources, first)];
    let mut at = 0;
    while at < parsed.len() {
        for (path, span) in parsed[at].uses.clone() {
            let from = sources.name(span.file).unwrap_or_default().to_owned();
            match loader.load(&from, &path) {
                Ok((name, _)) if known.contains_key(&name) => {}
                Ok((name, text)) => {
                    let file = sources.add(&name, text);
                    known.insert(name, file);
                    parsed.push(parse_file(sources, file));
                }
                Err(why) => {
                    let message = format!("cannot use {path:?}: {why}");
                    whole.diagnostics.push(Diagnostic::error("import", span, message));
                }
            }
        }
        at += 1;
    }
    for file in parsed.into_iter().rev() {
        whole.rules.extend(file.rules);
        whole.diagnostics.extend(file.diagnostics);
        whole.uses.extend(file.uses);
    }
    whole
}
