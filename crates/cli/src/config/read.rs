//! What a configuration file says.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::{Arg, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::COMMANDS;
use crate::error::Error;

/// What all commands share that have such a flag.
const SHARED: [&str; 2] = ["rules", "disable"];

/// A file that was read.
pub(super) struct Config<'t> {
    file: &'t Path,
    text: &'t str,
    definition: &'t Command,
    table: DeTable<'t>,
}

/// An option of a command.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The argument that it is.
    pub(super) id: String,
    /// Where it stands, in bytes.
    pub(super) at: usize,
    /// What it is on a command line; nothing where it says `false`.
    pub(super) words: Vec<OsString>,
}

impl<'t> Config<'t> {
    /// Reads `text`, the contents of `file`.
    ///
    /// # Errors
    /// It is no TOML.
    pub(super) fn parse(
        file: &'t Path,
        text: &'t str,
        definition: &'t Command,
    ) -> Result<Config<'t>, Error> {
        let table = DeTable::parse(text).map(Spanned::into_inner).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(file, text, at, error.message())
        })?;
        Ok(Config { file, text, definition, table })
    }

    /// The options of `command` for a model; each argument once.
    ///
    /// # Errors
    /// A name or a value that there is not, also where it is about another command or model.
    pub(super) fn entries(&self, command: &str, model: &Path) -> Result<Vec<Entry>, Error> {
        let mut found = Vec::new();
        let mut models = None;
        for (key, value) in &self.table {
            match key.get_ref().as_ref() {
                "model" => models = Some(value),
                _ => self.add(key, value, command, &mut found)?,
            }
        }
        for model_table in self.models(models)? {
            let mut own = Vec::new();
            let mut pattern = None;
            for (key, value) in *model_table.get_ref() {
                match key.get_ref().as_ref() {
                    "path" => pattern = Some(self.text_of(value)?),
                    _ => self.add(key, value, command, &mut own)?,
                }
            }
            let Some(pattern) = pattern else {
                let message = "`path` is missing: which models, as in `path = \"vision/*.onnx\"`";
                return Err(self.wrong(model_table.span().start, message));
            };
            if self.is_about(&pattern, model) {
                found.extend(own);
            }
        }
        Ok(last_of_each(found))
    }

    /// The tables of models.
    fn models<'a>(
        &self,
        value: Option<&'a Spanned<DeValue<'t>>>,
    ) -> Result<Vec<Spanned<&'a DeTable<'t>>>, Error> {
        let Some(value) = value else { return Ok(Vec::new()) };
        let message = "expected tables `[[model]]`";
        let list = value.get_ref().as_array();
        let list = list.ok_or_else(|| self.wrong(value.span().start, message))?;
        let table = |item: &'a Spanned<DeValue<'t>>| {
            let table = item.get_ref().as_table();
            let table = table.ok_or_else(|| self.wrong(item.span().start, message))?;
            Ok(Spanned::new(item.span(), table))
        };
        list.iter().map(table).collect()
    }

    /// Adds what stands behind a key, if it is about `command`.
    fn add(
        &self,
        key: &Spanned<std::borrow::Cow<'t, str>>,
        value: &Spanned<DeValue<'t>>,
        command: &str,
        found: &mut Vec<Entry>,
    ) -> Result<(), Error> {
        let name = key.get_ref().as_ref();
        if SHARED.contains(&name) {
            // Those that have no such flag do not apply rules by name.
            return match self.flag(command, name) {
                Some(arg) => {
                    found.push(self.entry(arg, key.span(), value)?);
                    Ok(())
                }
                None => Ok(()),
            };
        }
        let Some((table_of, _)) = COMMANDS.iter().find(|(known, _)| *known == name) else {
            let message = format!(
                "there is no `{name}` here: `rules`, `disable`, `[opt]`, `[compile]`, `[[model]]`"
            );
            return Err(self.wrong(key.span().start, &message));
        };
        let Some(table) = value.get_ref().as_table() else {
            let message = format!("expected a table, as in `[{name}]`");
            return Err(self.wrong(value.span().start, &message));
        };
        for (key, value) in table {
            let flag = key.get_ref().as_ref();
            let Some(arg) = self.flag(table_of, flag).filter(|arg| !is_of_a_call(arg)) else {
                let message = format!("`tangram {table_of}` has no option `--{flag}` to set here");
                return Err(self.wrong(key.span().start, &message));
            };
            let entry = self.entry(arg, key.span(), value)?;
            if *table_of == command {
                found.push(entry);
            }
        }
        Ok(())
    }

    fn flag(&self, command: &str, name: &str) -> Option<&'t Arg> {
        let command = self.definition.find_subcommand(command)?;
        command.get_arguments().find(|arg| arg.get_long() == Some(name))
    }

    fn entry(
        &self,
        arg: &Arg,
        at: Range<usize>,
        value: &Spanned<DeValue<'t>>,
    ) -> Result<Entry, Error> {
        let flag = arg.get_long().unwrap_or_default();
        let words = match value.get_ref() {
            DeValue::Boolean(on) if !arg.get_action().takes_values() => {
                if *on {
                    vec![format!("--{flag}").into()]
                } else {
                    Vec::new()
                }
            }
            _ if !arg.get_action().takes_values() => {
                let message = format!("`{flag}` is `true` or `false`");
                return Err(self.wrong(value.span().start, &message));
            }
            DeValue::Array(list) => {
                let all = list.iter().map(|item| self.word(arg, flag, item));
                all.collect::<Result<_, _>>()?
            }
            _ => vec![self.word(arg, flag, value)?],
        };
        Ok(Entry { id: arg.get_id().to_string(), at: at.start, words })
    }

    /// `--flag=value`; a path is taken from the folder of the file.
    fn word(&self, arg: &Arg, flag: &str, value: &Spanned<DeValue<'t>>) -> Result<OsString, Error> {
        let text = self.text_of(value)?;
        let is_path = arg.get_value_parser().type_id() == ValueParser::path_buf().type_id();
        let beside = self.folder().join(&text);
        let mut word = OsString::from(format!("--{flag}="));
        // Rules are files, folders or names.
        match is_path && text != "-" || flag == "rules" && beside.exists() {
            true => word.push(beside),
            false => word.push(text),
        }
        Ok(word)
    }

    fn text_of(&self, value: &Spanned<DeValue<'t>>) -> Result<String, Error> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            _ => Err(self.wrong(value.span().start, "expected a text or a number")),
        }
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// Whether a pattern, from the folder of the file on, stands for a model.
    fn is_about(&self, pattern: &str, model: &Path) -> bool {
        let Ok(model) = std::path::absolute(model) else { return false };
        let pattern: PathBuf = self.folder().join(pattern);
        tangram::fleet::is_match(&pattern, &model)
    }

    /// An error at byte `at` of the file.
    pub(super) fn wrong(&self, at: usize, message: &str) -> Error {
        wrong(self.file, self.text, at, message)
    }
}

/// Whether an argument says what one call does, and not how a project wants it.
fn is_of_a_call(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "output" | "no_config" | "verbose" | "help" | "version")
}

/// Of several entries of one argument the last.
fn last_of_each(found: Vec<Entry>) -> Vec<Entry> {
    let is_last =
        |&(i, entry): &(usize, &Entry)| found[i + 1..].iter().all(|later| later.id != entry.id);
    found.iter().enumerate().filter(is_last).map(|(_, entry)| entry.clone()).collect()
}

/// `file:line:column: error: message`, with the line.
fn wrong(file: &Path, text: &str, at: usize, message: &str) -> Error {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let shown = text.lines().nth(line).unwrap_or_default();
    let place = format!("{}:{}:{}", file.display(), line + 1, column + 1);
    Error::Diagnostics(format!(
        "{place}: error: {message}\n  {shown}\n  {:>width$}",
        "^",
        width = column + 1
    ))
}
