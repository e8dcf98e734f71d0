//! `tangram.toml`: options of a project, for all its models or some.
//!
//! ```toml
//! rules = ["rules/own.gsl"]
//! disable = ["gelu"]
//!
//! [opt]
//! exact = true
//!
//! [[model]]
//! path = "vision/**/*.onnx"
//! opt = { opset = 20 }
//! ```
//!
//! An option is a flag of the command by its long name, and becomes words of the command line: what
//! may be said, and what is wrong with it, is known in one place. A flag that the command line has
//! itself goes before, later tables of models before earlier ones, and these before the rest.

mod read;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::error::{self, Error};
use crate::out;
use read::{Config, Entry};

/// The name of the file.
const NAME: &str = "tangram.toml";

/// The commands that read it, and what they call the model.
const COMMANDS: [(&str, &str); 2] = [("opt", "input"), ("compile", "model")];

/// Returns the words of the command line with those that a configuration file adds.
///
/// # Errors
/// The file cannot be read, or something in it is wrong: with its place.
pub(crate) fn with_config(
    words: Vec<OsString>,
    definition: &Command,
) -> Result<Vec<OsString>, Error> {
    // What is wrong with the command line itself is said where it is read again.
    let Ok(matches) = definition.clone().try_get_matches_from(&words) else { return Ok(words) };
    let Some((name, matches)) = matches.subcommand() else { return Ok(words) };
    let Some(model) = model_of(name, matches) else { return Ok(words) };
    let file = file(name, matches);
    if matches.get_flag("verbose") {
        let which = file.as_ref().map_or_else(|| format!("no {NAME}"), |f| f.display().to_string());
        out::say(format!("configuration: {which}\n"));
    }
    let Some(file) = file else { return Ok(words) };
    let text = std::fs::read_to_string(&file).map_err(error::io(&file))?;
    let config = Config::parse(&file, &text, definition)?;
    let entries = config.entries(name, model)?;
    let asked = |entry: &&Entry| !is_given(matches, &entry.id);
    let entries: Vec<&Entry> = entries.iter().filter(asked).collect();
    let added = with(&words, &entries);
    if definition.clone().try_get_matches_from(&added).is_err() {
        return Err(refused(&config, (definition, &words), &entries));
    }
    Ok(added)
}

/// The configuration file that a command reads, if there is one.
pub(crate) fn file(name: &str, matches: &ArgMatches) -> Option<PathBuf> {
    let model = model_of(name, matches)?;
    if matches.get_flag("no_config") { None } else { find(model) }
}

fn model_of<'m>(name: &str, matches: &'m ArgMatches) -> Option<&'m PathBuf> {
    let (_, model) = COMMANDS.iter().find(|(command, _)| *command == name)?;
    matches.get_one::<PathBuf>(model)
}

/// The configuration file of a model: in its folder or one above, else in the working directory or
/// one above.
fn find(model: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let folder = std::path::absolute(model).ok()?;
    let above = folder.ancestors().skip(usize::from(!folder.is_dir()));
    let all = above.chain(here.ancestors()).map(|folder| folder.join(NAME));
    all.into_iter().find(|file| file.is_file())
}

/// Whether the command line has an argument itself.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// The words, with those of entries behind the name of the subcommand.
fn with(words: &[OsString], entries: &[&Entry]) -> Vec<OsString> {
    let is_command = |word: &OsString| !word.to_string_lossy().starts_with('-');
    let at = words.iter().skip(1).position(is_command).map_or(words.len(), |at| at + 2);
    let (before, behind) = words.split_at(at.min(words.len()));
    let added = entries.iter().flat_map(|entry| entry.words.iter().cloned());
    before.iter().cloned().chain(added).chain(behind.iter().cloned()).collect()
}

/// Says which entry the command line does not take: the first with which it fails.
fn refused(
    config: &Config<'_>,
    (definition, words): (&Command, &[OsString]),
    entries: &[&Entry],
) -> Error {
    let fails =
        |entries: &[&Entry]| definition.clone().try_get_matches_from(with(words, entries)).err();
    let alone = entries.iter().find_map(|entry| Some((*entry, fails(&[entry])?)));
    let together = || {
        let mut all = 1..=entries.len();
        all.find_map(|count| Some((entries[count - 1], fails(&entries[..count])?)))
    };
    // Two that want each other fail alone, and all but the last are right in the end.
    let wanted = |found: &(&Entry, clap::Error)| {
        found.1.kind() != clap::error::ErrorKind::MissingRequiredArgument
    };
    match alone.filter(wanted).or_else(together) {
        Some((entry, error)) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let message = first.strip_prefix("error: ").unwrap_or(first);
            config.wrong(entry.at, message)
        }
        None => config.wrong(0, "these options do not go together"),
    }
}
