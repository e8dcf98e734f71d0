//! A spinner on a terminal; nothing when the output is piped.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows what is being done, where someone looks.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins with `phase`; silent if `quiet` or if standard error is no terminal.
    pub(crate) fn start(phase: &'static str, quiet: bool) -> Progress {
        use std::io::IsTerminal;
        if quiet || !std::io::stderr().is_terminal() {
            return Progress { bar: None };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(phase);
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress { bar: Some(bar) }
    }

    /// Goes on with `phase`.
    pub(crate) fn phase(&self, phase: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_message(phase);
        }
    }

    /// Takes the spinner away.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
