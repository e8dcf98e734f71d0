//! `tangram lsp`.

use clap::Args;
use lsp_server::Connection;
use tangram_lsp::{Ended, serve};

use crate::error::{self, Error};
use crate::exit::ExitCode;

/// Arguments of `tangram lsp`.
#[derive(Args, Debug)]
#[command(
    after_help = "Editors start this by themselves: docs/editors.md says how to set up VS Code, \
                        Neovim and Helix."
)]
pub(crate) struct LspArgs {
    /// Speak over standard input and output, as editors say it; nothing else is possible.
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// Speaks with an editor until that leaves; exits with 1 if it leaves without a goodbye.
pub(crate) fn run(_: &LspArgs) -> Result<ExitCode, Error> {
    let (connection, threads) = Connection::stdio();
    let ended = serve(&connection);
    drop(connection);
    threads.join().map_err(error::io("-".as_ref()))?;
    Ok(match ended {
        Ended::Orderly => ExitCode::SUCCESS,
        Ended::Abrupt => ExitCode::from(1),
    })
}
