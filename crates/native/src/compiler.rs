//! The C compiler of the machine.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tangram_files::{Replacement, Scratch};
use tangram_machine::{Isa, Machine};

use crate::cache::{Cache, Key};
use crate::error::CompileError;
use crate::library::Library;
use crate::notice::{Notice, Progress};
use crate::units;

/// Commands that are tried where the variable `CC` names none.
const COMMANDS: [&str; 3] = ["cc", "gcc", "clang"];

/// Flags on every machine. Floating-point code means what it says: sums keep their order,
/// infinities and NaNs are what they are. Nobody reads `errno` or the flags of exceptions.
///
/// Integers wrap around, as in the reference kernels.
const FLAGS: [&str; 11] = [
    "-std=gnu11",
    "-O3",
    "-fPIC",
    "-shared",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-plt",
    "-fno-semantic-interposition",
    "-w",
];

/// A C compiler that starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiler {
    /// The command, and what it is always called with: `zig cc`.
    command: Vec<String>,
    /// What it says of itself.
    version: String,
}

/// Characters of a compiler's messages that are passed on: the first of them say why.
const MOST_SAID: usize = 4_000;

impl Compiler {
    /// Finds the compiler: `named`, else the variable `CC`, else `cc`, `gcc` or `clang`.
    ///
    /// A name may have arguments: `zig cc`.
    ///
    /// # Errors
    /// [`CompileError::NoCompiler`], which says what to install.
    pub fn find(named: Option<&str>) -> Result<Compiler, CompileError> {
        let variable = std::env::var("CC").ok().filter(|text| !text.trim().is_empty());
        let tried = match named.map(str::to_owned).or(variable) {
            Some(one) => vec![one],
            None => COMMANDS.map(str::to_owned).to_vec(),
        };
        match tried.iter().find_map(|command| Compiler::started(command)) {
            Some(found) => Ok(found),
            None => Err(CompileError::NoCompiler { tried }),
        }
    }

    /// The compiler that `command` starts, if it starts; one that did is not asked again.
    fn started(text: &str) -> Option<Compiler> {
        static KNOWN: Mutex<BTreeMap<String, Compiler>> = Mutex::new(BTreeMap::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiler) = known().get(text) {
            return Some(compiler.clone());
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let (program, rest) = words.split_first()?;
        let mut command = Command::new(program);
        let output = tangram_files::output(command.args(rest).arg("--version")).ok()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        let compiler = output.status.success().then_some(Compiler { command: words, version })?;
        known().insert(text.to_owned(), compiler.clone());
        Some(compiler)
    }

    /// The command, with its arguments.
    pub fn command(&self) -> String {
        self.command.join(" ")
    }

    /// The first line of what it says of itself.
    pub fn version(&self) -> &str {
        self.version.lines().next().unwrap_or_default()
    }

    /// Builds a shared library of `source`, or finds it in `cache`, and loads it; `notice` hears how far
    /// that is.
    ///
    /// # Errors
    /// [`CompileError`]: the compiler refuses the text, or a file cannot be written or loaded.
    pub(crate) fn load(
        &self,
        source: &str,
        flags: &[String],
        cache: &Cache,
        notice: Option<&Notice>,
    ) -> Result<Library, CompileError> {
        let source = &with_flags(source, flags);
        let key = Key::of(&[source, &self.command(), &self.version]);
        let build = |folder: &Path| self.build(source, flags, folder, notice);
        let built = cache.entry(&key, source, build)?;
        if let Ok(library) = Library::load(built.path()) {
            return Ok(library);
        }
        // A compiler that was out of memory or disk may have left a part of a library, and no word.
        cache.forget(&key);
        let built = cache.entry(&key, source, build)?;
        let library = Library::load(built.path());
        if library.is_err() {
            cache.forget(&key);
        }
        library
    }

    /// Builds the shared library `output` of `source`, for `machine`: a file that is complete and has
    /// not got its place yet.
    ///
    /// # Errors
    /// [`CompileError`]: the compiler refuses the text, or a file cannot be written.
    pub fn build_library(
        &self,
        source: &str,
        machine: &Machine,
        exact: bool,
        output: &Path,
    ) -> Result<Replacement, CompileError> {
        let folder = Scratch::new()
            .map_err(|source| CompileError::File { path: std::env::temp_dir(), source })?;
        let text = folder.path().join("code.c");
        std::fs::write(&text, source)
            .map_err(|source| CompileError::File { path: text.clone(), source })?;
        let mut flags = flags(machine, exact);
        flags.push("-fvisibility=hidden".to_owned());
        let library = folder.path().join("code.so");
        self.run(&flags, &[text.as_os_str()], &library)?;
        delivered(&library, output)
            .map_err(|source| CompileError::File { path: output.to_owned(), source })
    }

    /// Writes `source` and the library of it into `folder`; returns the path of the library.
    fn build(
        &self,
        source: &str,
        flags: &[String],
        folder: &Path,
        notice: Option<&Notice>,
    ) -> Result<PathBuf, CompileError> {
        let (text, library) = (folder.join("code.c"), folder.join("code.so"));
        std::fs::write(&text, source)
            .map_err(|source| CompileError::File { path: text.clone(), source })?;
        let parts = units::of(source);
        let files = parts.len();
        let tell = |built| {
            if let Some(notice) = notice {
                notice.tell(Progress { built, files, ..Progress::default() });
            }
        };
        tell(0);
        match &parts[..] {
            [_] => self.run(flags, &[text.as_os_str()], &library)?,
            parts => self.build_parts(parts, flags, folder, (&library, &tell))?,
        }
        Ok(library)
    }

    /// Makes the shared library `output` of the parts of a source, several at a time; `folder` is
    /// for what is made on the way, and `tell` hears how many are made.
    fn build_parts(
        &self,
        parts: &[String],
        flags: &[String],
        folder: &Path,
        (output, tell): (&Path, &(dyn Fn(usize) + Sync)),
    ) -> Result<(), CompileError> {
        let scratch = Scratch::new_in("parts-", folder)
            .map_err(|source| CompileError::File { path: folder.to_owned(), source })?;
        let mut alone: Vec<String> =
            flags.iter().filter(|flag| *flag != "-shared").cloned().collect();
        alone.push("-c".to_owned());
        let done = AtomicUsize::new(0);
        let objects = units::each(parts.len(), |at| {
            let path = |ending: &str| scratch.path().join(format!("part{at}.{ending}"));
            let (text, object) = (path("c"), path("o"));
            std::fs::write(&text, &parts[at])
                .map_err(|source| CompileError::File { path: text.clone(), source })?;
            self.run(&alone, &[text.as_os_str()], &object)?;
            tell(1 + done.fetch_add(1, Ordering::Relaxed));
            Ok(object)
        })?;
        let objects: Vec<&OsStr> = objects.iter().map(|object| object.as_os_str()).collect();
        self.run(flags, &objects, output)
    }

    /// Makes the shared library `output` of files.
    ///
    /// # Errors
    /// [`CompileError::Refused`] with what the compiler says.
    fn run(&self, flags: &[String], inputs: &[&OsStr], output: &Path) -> Result<(), CompileError> {
        let missing = || CompileError::NoCompiler { tried: vec![self.command()] };
        let (program, rest) = self.command.split_first().ok_or_else(missing)?;
        let mut command = Command::new(program);
        command.args(rest).args(flags).arg("-o").arg(output).args(inputs).arg("-lm");
        let done = tangram_files::output(&mut command).map_err(|why| match why.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied => missing(),
            _ => CompileError::File { path: PathBuf::from(program), source: why },
        })?;
        if done.status.success() {
            return Ok(());
        }
        let command = format!("{} {}", self.command(), flags.join(" "));
        if done.status.code().is_none() {
            return Err(CompileError::Ended { command, status: done.status.to_string() });
        }
        let messages = String::from_utf8_lossy(&done.stderr);
        let messages = match messages.char_indices().nth(MOST_SAID) {
            Some((end, _)) => format!("{}\n...", &messages[..end]),
            None => messages.into_owned(),
        };
        Err(CompileError::Refused { command, messages })
    }
}

/// A source that says how it is built: an entry of the cache is that of its text.
pub(crate) fn with_flags(source: &str, flags: &[String]) -> String {
    format!("/* {} */\n{source}", flags.join(" "))
}

/// The flags for code that runs on `machine`.
///
/// `exact`: products and sums are rounded each by itself unless the text fuses them; otherwise
/// the compiler may fuse a product and the sum that it goes into.
pub(crate) fn flags(machine: &Machine, exact: bool) -> Vec<String> {
    let target = target(machine).iter();
    FLAGS.iter().chain(target).copied().chain([contract(exact)]).map(str::to_owned).collect()
}

/// Whether the compiler may fuse a product and the sum that it goes into.
pub(crate) fn contract(exact: bool) -> &'static str {
    if exact { "-ffp-contract=off" } else { "-ffp-contract=fast" }
}

/// The flags for what a processor has: just what `Machine::native` has asked it for.
pub(crate) fn target(machine: &Machine) -> &'static [&'static str] {
    match machine.isa {
        Isa::Avx2 => &["-mavx2", "-mfma"],
        Isa::Avx512 => &[
            "-mavx2",
            "-mfma",
            "-mavx512f",
            "-mavx512bw",
            "-mavx512dq",
            "-mavx512vl",
            "-mprefer-vector-width=512",
        ],
        // What every processor of the family has is the compiler's default.
        _ => &[],
    }
}

/// A finished library for where it is wanted, with the permissions that the compiler gave it.
fn delivered(library: &Path, output: &Path) -> std::io::Result<Replacement> {
    let mut made = std::fs::File::open(library)?;
    let mut file = Replacement::of(output)?;
    if !output.exists() {
        file.file().set_permissions(made.metadata()?.permissions())?;
    }
    std::io::copy(&mut made, &mut file)?;
    Ok(file)
}
