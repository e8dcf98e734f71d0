//! Finds isl: its Python package and its test inputs, which the crate `isl-rs` ships.

// Each test uses a part of this.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns a Python that has islpy, and the files below isl's test inputs in `folder`.
pub fn python_and_inputs(folder: &str) -> Option<(PathBuf, Vec<PathBuf>)> {
    let python = std::env::var_os("TANGRAM_PYTHON").map(PathBuf::from).filter(|python| {
        let probe = Command::new(python).args(["-c", "import islpy"]).output();
        probe.is_ok_and(|out| out.status.success())
    });
    let Some(python) = python else {
        println!("skipped: needs islpy in the Python of TANGRAM_PYTHON");
        return None;
    };
    Some((python, inputs(folder)?))
}

/// Returns the files below isl's test inputs in `folder`, sorted.
pub fn inputs(folder: &str) -> Option<Vec<PathBuf>> {
    let Some(inputs) = checkout() else {
        println!("skipped: needs isl's test inputs, `cargo fetch` of the crate isl-rs");
        return None;
    };
    let (mut files, mut open) = (Vec::new(), vec![inputs.join(folder)]);
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().ok()?.flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Some(files)
}

fn checkout() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))?;
    let crates = home.join("registry/src").read_dir().ok()?.flatten();
    let mut found: Vec<PathBuf> = crates
        .filter_map(|registry| registry.path().read_dir().ok())
        .flat_map(|entries| entries.flatten())
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("isl-rs-"))
        .map(|entry| entry.path().join("isl/test_inputs"))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found.pop()
}

/// Runs a script over lines and returns what it prints.
pub fn ask(python: &Path, script: &str, lines: &str) -> String {
    let mut child = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Python may fill its output before it has read all lines.
    let out = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(lines.as_bytes()).expect("Python reads"));
        child.wait_with_output().expect("Python ends")
    });
    assert!(out.status.success());
    String::from_utf8(out.stdout).expect("text")
}
