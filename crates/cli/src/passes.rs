//! Watching the passes over a model's nests: what `tangram compile` prints of them.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use tangram::ir::{Module, text};
use tangram::lowering::{Watch, pass_names};

use crate::error::Error;
use crate::out;

/// What is seen of the passes over nests.
#[derive(Args, Debug, Default)]
pub(crate) struct PassArgs {
    /// Print the program as MLIR after this pass over its nests, or after `all`, to standard error,
    /// without the bytes of its weights.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub(crate) print_after: Vec<String>,
    /// Print the program after each pass over its nests.
    #[arg(long)]
    pub(crate) print_after_all: bool,
    /// Write the program as MLIR after this pass over its nests, and make no code.
    #[arg(long, value_name = "PASS")]
    pub(crate) stop_after: Option<String>,
    /// Print how long each pass took to standard error.
    #[arg(long)]
    pub(crate) time_passes: bool,
    /// Verify the program after each pass over its nests; so in debug builds.
    #[arg(long)]
    pub(crate) verify_each: bool,
}

impl PassArgs {
    /// Refuses names of passes that there are not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let names: Vec<&str> = pass_names().collect();
        let printed = self.print_after.iter().filter(|name| *name != "all");
        let printed = printed.map(|name| ("--print-after", name));
        for (flag, name) in printed.chain(self.stop_after.iter().map(|name| ("--stop-after", name)))
        {
            if !names.contains(&name.as_str()) {
                let list = names.join(", ");
                let why = format!("{flag}: there is no pass `{name}` over nests, but {list}");
                return Err(Error::Usage(why));
            }
        }
        Ok(())
    }
}

/// Prints what is asked for, and keeps the program that is to be written.
pub(crate) struct Watcher<'a> {
    args: &'a PassArgs,
    times: Vec<(&'static str, Duration)>,
    /// What was printed last.
    printed: String,
    kept: Option<String>,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(args: &'a PassArgs) -> Watcher<'a> {
        Watcher { args, times: Vec::new(), printed: String::new(), kept: None }
    }

    /// Prints how long passes took, where that is asked for.
    pub(crate) fn tell_times(&self) {
        if self.args.time_passes {
            let line = |(name, time): &(&str, Duration)| {
                format!("{:>12.3} ms  {name}\n", time.as_secs_f64() * 1e3)
            };
            out::say(self.times.iter().map(line).collect::<String>());
        }
    }

    /// Writes the program after the last pass that was asked for.
    pub(crate) fn write(self, path: &Path) -> Result<(), Error> {
        out::write(path, &self.kept.unwrap_or_default())?;
        out::print(format!("{}\n", path.display()))
    }

    fn is_last(&self, pass: &str) -> bool {
        self.args.stop_after.as_deref() == Some(pass)
    }

    fn is_printed(&self, pass: &str) -> bool {
        let named = |name: &String| name == pass || name == "all";
        self.args.print_after_all || self.args.print_after.iter().any(named)
    }
}

fn printed(program: &Module, options: text::Options) -> String {
    let mut printed = String::new();
    // A string takes whatever is written.
    let _ = text::print_to(&mut printed, program, text::Options { generic: false, ..options });
    printed
}

impl Watch for Watcher<'_> {
    fn wants(&self, pass: &str) -> bool {
        self.is_printed(pass) || self.is_last(pass)
    }

    fn after(&mut self, pass: &'static str, took: Duration, program: Option<&Module>) -> bool {
        self.times.push((pass, took));
        let Some(program) = program else { return true };
        if self.is_printed(pass) {
            let text = printed(program, text::Options::elided());
            match text == self.printed {
                true => out::say(format!("// ----- after {pass}: as before -----\n")),
                false => out::say(format!("// ----- after {pass} -----\n{text}\n")),
            }
            self.printed = text;
        }
        if self.is_last(pass) {
            self.kept = Some(printed(program, text::Options::default()));
        }
        !self.is_last(pass)
    }
}
