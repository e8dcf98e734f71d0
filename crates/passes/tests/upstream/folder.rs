//! The folder of tests: its files, their parts, and what `mlir-opt` says of them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::peer;

/// What separates programs in a file.
const SEPARATOR: &str = "// -----";

/// A file of tests.
pub(crate) struct File {
    /// Its path in the folder.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// How many parts of a file are as they should be.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) good: usize,
    pub(crate) all: usize,
    /// The number of a part, from 0, and why it is not.
    pub(crate) reasons: Vec<(usize, String)>,
}

impl Tally {
    /// Counts a part.
    pub(crate) fn count(&mut self, part: usize, outcome: Result<(), String>) {
        self.all += 1;
        match outcome {
            Ok(()) => self.good += 1,
            Err(reason) => self.reasons.push((part, reason)),
        }
    }
}

impl File {
    /// The programs of this file.
    pub(crate) fn parts(&self) -> Vec<String> {
        split(&self.text)
    }
}

/// The programs that lines of dashes separate.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        match (line.starts_with(SEPARATOR), parts.last_mut()) {
            (false, Some(part)) => part.extend([line, "\n"]),
            _ => parts.push(String::new()),
        }
    }
    parts
}

/// The files of the folder that the environment names, in order.
pub(crate) fn files() -> Option<Vec<File>> {
    let root = PathBuf::from(std::env::var_os("TANGRAM_MLIR_TESTS")?);
    peer::mlir_opt(&["--version"], "")?.ok()?;
    let only = std::env::var("TANGRAM_MLIR_ONLY").unwrap_or_default();
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of tests") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "mlir") {
                files.extend(file(&root, &path).filter(|file| file.name.contains(&only)));
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Some(files)
}

fn file(root: &Path, path: &Path) -> Option<File> {
    let name = path.strip_prefix(root).ok()?.display().to_string();
    Some(File { name, text: std::fs::read_to_string(path).ok()? })
}

/// Applies `judge` to each file, on a few threads.
pub(crate) fn in_parallel(files: &[File], judge: fn(&File) -> Tally) -> Vec<Tally> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Tally)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((at, file)) = take(&next, files) {
                    let tally = judge(file);
                    done.lock().expect("no thread fails").push((at, tally));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread fails");
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, tally)| tally).collect()
}

fn take<'f>(next: &AtomicUsize, files: &'f [File]) -> Option<(usize, &'f File)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    files.get(at).map(|file| (at, file))
}

/// What `mlir-opt` makes of each program with these options, one call for all where it accepts all.
pub(crate) fn mlir_opt(options: &[&str], parts: &[String]) -> Vec<Result<String, String>> {
    let usual = ["--allow-unregistered-dialect", "--split-input-file"];
    let options = [&usual, options].concat();
    let together = parts.join(&format!("{SEPARATOR}\n"));
    if let Ok(all) = cached(&options, &together) {
        let answers = split(&all);
        if answers.len() == parts.len() {
            return answers.into_iter().map(Ok).collect();
        }
    }
    parts.iter().map(|part| cached(&options, part)).collect()
}

/// As `mlir-opt` answers, or as it answered before.
fn cached(options: &[&str], input: &str) -> Result<String, String> {
    let ask = || peer::mlir_opt(options, input).expect("installed");
    let Some(folder) = std::env::var_os("TANGRAM_MLIR_CACHE") else { return ask() };
    let mut hasher = DefaultHasher::new();
    (options, input).hash(&mut hasher);
    let path = PathBuf::from(folder).join(format!("{:016x}", hasher.finish()));
    if let Ok(kept) = std::fs::read_to_string(&path) {
        return match kept.split_at(1) {
            ("+", text) => Ok(text.to_owned()),
            (_, text) => Err(text.to_owned()),
        };
    }
    let answer = ask();
    let kept = match &answer {
        Ok(text) => format!("+{text}"),
        Err(text) => format!("-{text}"),
    };
    // A cache that cannot be written is none.
    drop(std::fs::write(path, kept));
    answer
}
