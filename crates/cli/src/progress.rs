//! A spinner or a bar on a terminal; nothing when the output is piped.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use tangram::onnx::file::SaveProgress;

/// How many characters the bar has.
const WIDTH: u64 = 30;

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

    /// Goes on with `phase`, and shows how many bytes of tensors are written, where there are many.
    pub(crate) fn watch_saving(&self, phase: &'static str, work: &Arc<SaveProgress>) {
        let Some(bar) = &self.bar else { return };
        self.phase(phase);
        let work = work.clone();
        let drawn = move |_: &ProgressState, out: &mut dyn Write| {
            if work.all() > 0 {
                let _ = out.write_str(&draw_bytes(work.done(), work.all()));
            }
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {work} {elapsed}") {
            bar.set_style(style.with_key("work", drawn));
        }
    }

    /// Goes on with `phase`, and shows how far `work` is.
    pub(crate) fn watch(&self, phase: &'static str, work: &Arc<tangram::Progress>) {
        let Some(bar) = &self.bar else { return };
        self.phase(phase);
        let work = work.clone();
        let drawn = move |_: &ProgressState, out: &mut dyn Write| {
            let saturation = work.saturation();
            let text = match saturation.round() {
                0 => draw(work.visits(), work.operations(), work.rewrites()),
                round => format!("round {round}, {} e-nodes", saturation.nodes()),
            };
            let _ = out.write_str(&text);
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {work} {elapsed}") {
            bar.set_style(style.with_key("work", drawn));
        }
    }

    /// Takes the spinner away.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar that is full when each operation was looked at, and the rewrites so far. After that
/// only what changed is looked at again.
fn draw(visits: u64, operations: u64, rewrites: u64) -> String {
    format!("{} {rewrites} rewrites", part(visits, operations))
}

fn draw_bytes(done: u64, all: u64) -> String {
    format!("{} {:.1} of {:.1} MB", part(done, all), done as f64 / 1e6, all as f64 / 1e6)
}

/// A bar of which `done` of `all` is full.
fn part(done: u64, all: u64) -> String {
    let done = u128::from(WIDTH) * u128::from(done.min(all)) / u128::from(all.max(1));
    let (full, left) = ("#".repeat(done as usize), ".".repeat(WIDTH as usize - done as usize));
    format!("[{full}{left}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_never_longer_than_full() {
        assert_eq!(draw(0, 0, 0), format!("[{}] 0 rewrites", ".".repeat(30)));
        assert_eq!(draw(5, 10, 1), format!("[{}{}] 1 rewrites", "#".repeat(15), ".".repeat(15)));
        assert_eq!(draw(50, 10, 7), format!("[{}] 7 rewrites", "#".repeat(30)));
        let half = format!("[{}{}] 1.0 of 2.0 MB", "#".repeat(15), ".".repeat(15));
        assert_eq!(draw_bytes(1_000_000, 2_000_000), half);
        assert!(draw_bytes(u64::MAX, u64::MAX).starts_with(&format!("[{}]", "#".repeat(30))));
    }
}
