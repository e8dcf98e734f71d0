//! `tangram completions`.

use clap::Args;
use clap_complete::Shell;

use crate::error::Error;
use crate::exit::ExitCode;
use crate::out;

/// Arguments of `tangram completions`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  source <(tangram completions bash)                  # this shell\n  \
                  tangram completions bash > ~/.local/share/bash-completion/completions/tangram\n  \
                  tangram completions zsh > ~/.zfunc/_tangram         # a folder of $fpath\n  \
                  tangram completions fish > ~/.config/fish/completions/tangram.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Prints a script that completes commands, options and their values.
pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "tangram", &mut text);
    out::deliver(None, &String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
