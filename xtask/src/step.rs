//! Steps: commands run one after another, a line and a time for each.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// What a step, or a run of steps, gives.
pub type Outcome = Result<(), Failure>;

/// A step that failed: its name, its command, and what it said.
#[derive(Debug)]
pub struct Failure {
    step: String,
    command: Option<String>,
    output: String,
}

impl Failure {
    /// Makes the failure of a step that no command was started for.
    pub fn new(step: &str, message: impl Into<String>) -> Self {
        Self { step: step.to_owned(), command: None, output: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\nfailed: {}", without_progress(&self.output).trim_end(), self.step)?;
        self.command.as_ref().map_or(Ok(()), |command| write!(f, "command: {command}"))
    }
}

/// Leaves out the lines that tell of what went well: a log that is cut keeps what went wrong.
fn without_progress(output: &str) -> String {
    const PROGRESS: [&str; 7] =
        ["Compiling", "Checking", "Downloading", "Downloaded", "Documenting", "Locking", "PASS"];
    let tells = |line: &&str| {
        let first = line.trim_start().split(' ').next().unwrap_or_default();
        !(line.starts_with("  ") && PROGRESS.contains(&first))
    };
    output.lines().filter(tells).map(|line| format!("{line}\n")).collect()
}

/// Runs steps and prints a line for each.
pub struct Steps {
    verbose: bool,
}

impl Steps {
    /// Makes a runner; a verbose one lets the output of the steps through.
    pub fn new(verbose: bool) -> Self {
        Self { verbose }
    }

    /// Runs a command; its output is shown only where it fails, but for its summary.
    ///
    /// # Errors
    /// The command could not start, or did not succeed.
    pub fn run(&mut self, name: &str, mut command: Command) -> Outcome {
        let started = Instant::now();
        let shown = display(&command);
        let failure = |output: String| Failure {
            step: name.to_owned(),
            command: Some(shown.clone()),
            output,
        };
        let output = if self.verbose {
            command.status().map(|status| (status, String::new()))
        } else {
            quietly(&mut command)
        };
        let output = output.map_err(|error| failure(error.to_string()))?;
        if !output.0.success() {
            line("FAILED", started, name, "");
            return Err(failure(format!("{}\n{}", output.1, output.0)));
        }
        line("ok", started, name, &summary(&output.1));
        Ok(())
    }

    /// Runs a command whose output is the point of it, and lets it through.
    ///
    /// # Errors
    /// The command could not start, or did not succeed.
    pub fn show(&mut self, name: &str, command: Command) -> Outcome {
        let before = std::mem::replace(&mut self.verbose, true);
        let outcome = self.run(name, command);
        self.verbose = before;
        outcome
    }

    /// Runs a step that is a function; the text it returns are notes to show.
    ///
    /// # Errors
    /// What the function found wrong.
    pub fn inline(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<Vec<String>, Vec<String>>,
    ) -> Outcome {
        let started = Instant::now();
        match work() {
            Ok(notes) => {
                line("ok", started, name, "");
                notes.iter().for_each(|note| println!("       note: {note}"));
                Ok(())
            }
            Err(faults) => {
                line("FAILED", started, name, "");
                Err(Failure::new(name, faults.join("\n")))
            }
        }
    }
}

/// Runs a command and returns all that it said.
///
/// It speaks into a file: a pipe would stay open as long as some process that it left behind has it.
fn quietly(command: &mut Command) -> io::Result<(ExitStatus, String)> {
    let mut said = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said.try_clone()?);
    let status = command.status()?;
    let mut bytes = Vec::new();
    said.seek(SeekFrom::Start(0))?;
    said.read_to_end(&mut bytes)?;
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}

fn line(verdict: &str, started: Instant, name: &str, detail: &str) {
    let seconds = started.elapsed().as_secs_f64();
    println!("{}", format!("{verdict:<6} {seconds:>7.1} s  {name}  {detail}").trim_end());
}

/// Writes a command as one could type it, with the variables it sets.
fn display(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        value.map(|value| format!("{}={}", name.to_string_lossy(), quote(&value.to_string_lossy())))
    });
    let words = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| quote(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Finds the line in which a test runner counts its results.
fn summary(output: &str) -> String {
    let is_count = |line: &&str| {
        line.starts_with("Summary [") || (line.contains(" passed") && line.contains(" in "))
    };
    let mut counts = output.lines().map(|line| line.trim_matches([' ', '='])).filter(is_count);
    let last = counts.next_back().unwrap_or_default();
    if last.is_empty() { doc_tests(output) } else { last.to_owned() }
}

/// Adds up the results that libtest prints for each crate.
fn doc_tests(output: &str) -> String {
    let passed: Vec<usize> = output
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse().ok())
        .collect();
    if passed.is_empty() {
        String::new()
    } else {
        format!("{} passed", passed.iter().sum::<usize>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = Command::new("cargo");
        command.args(["test", "-p", "a b"]).env("X", "it's");
        assert_eq!(display(&command), r"X='it'\''s' cargo test -p 'a b'");
    }

    #[test]
    fn the_summary_is_the_line_with_the_counts() {
        let nextest = "  PASS [ 0.1s] a\n     Summary [ 2.5s] 7 tests run: 7 passed\n";
        assert_eq!(summary(nextest), "Summary [ 2.5s] 7 tests run: 7 passed");
        assert_eq!(summary("....\n==== 12 passed in 3.40s ====\n"), "12 passed in 3.40s");
        let doc = "test result: ok. 3 passed; 0 failed\ntest result: ok. 4 passed; 0 failed\n";
        assert_eq!(summary(doc), "7 passed");
        assert_eq!(summary("nothing"), "");
    }

    #[test]
    fn a_process_that_stays_does_not_hold_a_step() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & echo 3 passed in 0.1s"]);
        let started = Instant::now();
        Steps::new(false).run("shell", command).expect("it ends at once");
        assert!(started.elapsed().as_secs() < 30);
    }

    #[test]
    fn a_failure_shows_its_command_and_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo because; echo '   Compiling itoa v1.0.0'; exit 3"]);
        let failure = Steps::new(false).run("shell", command).expect_err("it exits with 3");
        let shown = failure.to_string();
        assert!(
            shown.contains("because") && shown.contains("command: sh -c 'echo because;"),
            "{shown}"
        );
        assert!(!shown.starts_with("because\n   Compiling"), "{shown}");
    }
}
