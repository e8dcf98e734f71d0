//! A script in Python, in a process of its own, that answers in lines of JSON.
//!
//! What it runs may have no end: answers are waited for within the time that evaluation may take on this
//! thread ([`budget`]), and the process ends with its owner.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;
use tangram::check::Reason;
use tangram::tensor::budget;

/// How often the time is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The process.
pub(crate) struct Script {
    name: String,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    /// What it says on standard error.
    said: File,
}

impl Script {
    /// Starts `script`, which a Python runs with some words.
    ///
    /// # Errors
    /// Why it does not start, in words.
    pub fn start<W: AsRef<OsStr>>(
        python: &OsStr,
        script: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, Reason> {
        let name = Path::new(python).display().to_string();
        let said = tempfile::tempfile().map_err(|error| error.to_string())?;
        let errors = said.try_clone().map_err(|error| error.to_string())?;
        let mut command = Command::new(python);
        command.args(["-c", script]).args(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().map_err(|error| {
            format!("`{name}` cannot be run ({error}): TANGRAM_PYTHON names another Python")
        })?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = pipes else { return Err("it has no pipes".to_owned()) };
        Ok(Self { name, child, stdin, lines: lines(stdout), said })
    }

    /// Sends a line, and waits for the answer.
    ///
    /// # Errors
    /// As [`Script::answer`].
    pub fn ask(&mut self, asked: &Value) -> Result<Value, Reason> {
        let sent = writeln!(self.stdin, "{asked}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| self.silence())?;
        self.answer()
    }

    /// Waits for the next line that is an object of JSON; libraries print lines of their own.
    ///
    /// # Errors
    /// The process ended without one, or the time did; then the process is ended, too.
    pub fn answer(&mut self) -> Result<Value, Reason> {
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(found @ Value::Object(_)) => return Ok(found),
                    _ => continue,
                },
                Err(RecvTimeoutError::Disconnected) => return Err(self.silence()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(over) = budget::check_time() {
                self.end();
                return Err(over.to_string());
            }
        }
    }

    fn silence(&mut self) -> Reason {
        let mut said = String::new();
        let read = self.said.rewind().and_then(|()| self.said.read_to_string(&mut said));
        let last = read.ok().and_then(|_| said.lines().last()).unwrap_or("nothing");
        format!("`{}` ended without an answer; it said: {last}", self.name)
    }

    fn end(&mut self) {
        // Nothing is left to be done where it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads lines on a thread of its own, which ends with the process.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Python; without one these tests say nothing.
    fn script(text: &str) -> Option<Script> {
        Script::start(&crate::judge::known_python(), text, ["word"]).ok()
    }

    #[test]
    fn lines_are_answered() {
        let echo = "import sys, json\nprint('noise')\nprint('[1]')\nprint('{\"told\": \"%s\"}' % sys.argv[1], \
                    flush=True)\nfor line in sys.stdin: print(json.dumps({'got': json.loads(line)}), flush=True)";
        let Some(mut found) = script(echo) else { return };
        assert_eq!(found.answer().expect("it tells")["told"], "word");
        assert_eq!(found.ask(&serde_json::json!(7)).expect("it answers")["got"], 7);
    }

    #[test]
    fn what_has_no_end_is_ended_and_what_ends_says_why() {
        let Some(mut found) = script("import time\ntime.sleep(60)") else { return };
        let limit = Some(Duration::from_millis(100));
        let told = budget::within_time(limit, || found.answer()).expect_err("the time is over");
        assert!(told.contains("longer than"), "{told}");
        let Some(mut found) = script("raise SystemExit('no such thing')") else { return };
        assert!(found.answer().expect_err("it ends").ends_with("it said: no such thing"));
    }
}
