//! `tangram man`.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man;

use crate::error::{self, Error};
use crate::exit::ExitCode;
use crate::out;

/// Arguments of `tangram man`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  tangram man opt | man -l -\n  tangram man -o ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// The command whose page is printed, as `rules check`; that of all commands if absent.
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands to a folder.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Prints the page of a command, or writes all pages.
pub(crate) fn run(args: &ManArgs) -> Result<ExitCode, Error> {
    let mut root = crate::command();
    root.build();
    match &args.output {
        Some(folder) => written(&root, folder)?,
        None => out::deliver(None, &page(found(&root, &args.command)?)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds a command by its words.
fn found<'a>(root: &'a clap::Command, words: &[String]) -> Result<&'a clap::Command, Error> {
    let words = words.iter().flat_map(|words| words.split_whitespace());
    words.into_iter().try_fold(root, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let names = command.get_subcommands().filter(|own| !own.is_hide_set());
            let names: Vec<String> = names.map(|own| format!("`{}`", own.get_name())).collect();
            let known = match names.is_empty() {
                true => "it has no commands".to_owned(),
                false => format!("it has {}", names.join(", ")),
            };
            let name = command.get_bin_name().unwrap_or("tangram");
            Error::Usage(format!("`{name}` has no command `{word}`: {known}"))
        })
    })
}

/// Writes the page of each command, as `tangram-rules-check.1`.
fn written(root: &clap::Command, folder: &Path) -> Result<(), Error> {
    if !folder.is_dir() {
        std::fs::create_dir(folder).map_err(error::io(folder))?;
    }
    let mut open = vec![root];
    while let Some(command) = open.pop() {
        let path = folder.join(Man::new(command.clone()).get_filename());
        out::deliver(Some(&path), &page(command)?)?;
        let shown = |own: &&clap::Command| !own.is_hide_set() && own.get_name() != "help";
        open.extend(command.get_subcommands().filter(shown));
    }
    Ok(())
}

fn page(command: &clap::Command) -> Result<String, Error> {
    let mut text = Vec::new();
    let rendered = Man::new(command.clone()).render(&mut text);
    rendered.map_err(error::io(Path::new("standard output")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
