//! What a program prints.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::process::{Command, Output};

/// Runs `command` to its end, and returns what it prints.
///
/// It prints into files without names. The standard library's own way ends the process where a
/// pipe cannot be read.
///
/// # Errors
/// It does not start, or what it printed cannot be read.
pub fn output(command: &mut Command) -> io::Result<Output> {
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let status = command.stdout(out.try_clone()?).stderr(err.try_clone()?).status()?;
    let all = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(bytes)
    };
    Ok(Output { status, stdout: all(&mut out)?, stderr: all(&mut err)? })
}

/// A file without a name that holds `text`, for a program to read.
///
/// # Errors
/// What the system says.
pub fn holding(text: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn both_streams_and_the_status_come_back() -> io::Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        for _ in 0..2 {
            let found = output(&mut command)?;
            assert_eq!(found.status.code(), Some(3));
            assert_eq!((&found.stdout[..], &found.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
        }
        let echoed = output(Command::new("cat").stdin(holding(b"text")?))?;
        assert_eq!(echoed.stdout, b"text");
        assert!(output(&mut Command::new("no-such-program-of-anybody")).is_err());
        Ok(())
    }
}
