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

/// What a program that reads texts of others may take: it and what it starts, each by itself.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Seconds of processor time.
    pub seconds: u64,
    /// Bytes of addresses.
    pub memory: u64,
    /// Bytes of a file that it writes, what it prints among them.
    pub printed: u64,
}

/// Runs `command` as [`output`] does, within bounds: the system ends what goes beyond by a signal. Where
/// there are no such bounds, they hold nothing.
///
/// # Errors
/// As [`output`].
pub fn output_within(command: &mut Command, bounds: Bounds) -> io::Result<Output> {
    #[cfg(unix)]
    bound(command, bounds);
    #[cfg(not(unix))]
    let _ = bounds;
    output(command)
}

#[cfg(unix)]
fn bound(command: &mut Command, bounds: Bounds) {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let set = move || {
        for (resource, most) in [
            (Resource::Cpu, bounds.seconds),
            (Resource::As, bounds.memory),
            (Resource::Fsize, bounds.printed),
        ] {
            let known = getrlimit(resource);
            let most = known.maximum.map_or(most, |maximum| maximum.min(most));
            setrlimit(resource, Rlimit { current: Some(most), ..known })?;
        }
        Ok(())
    };
    // SAFETY: between `fork` and `exec` it only makes calls of the system, with structures of its own.
    unsafe { command.pre_exec(set) };
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

    #[test]
    fn what_goes_beyond_its_bounds_is_ended() -> io::Result<()> {
        let bounds = Bounds { seconds: 1, memory: 1 << 30, printed: 1 << 16 };
        let ended = |script: &str| {
            let found = output_within(Command::new("sh").args(["-c", script]), bounds);
            found.map(|found| (found.status.success(), found.stdout.len()))
        };
        assert_eq!(ended("echo a")?, (true, 2));
        assert_eq!(ended("while :; do :; done")?, (false, 0));
        let (_, printed) = ended("trap '' XFSZ; while echo aaaaaaaaaaaaaaaa; do :; done")?;
        assert!(printed <= 1 << 16);
        Ok(())
    }
}
