//! Names the state of the code that functions of C are written by, so that none is taken for what
//! another state has written.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// The crates that decide what is written; of a package from a registry, the version stands for
/// them.
const CRATES: [&str; 9] = [
    "affine",
    "dialects",
    "ir",
    "kernel",
    "lowering",
    "machine",
    "polyhedral",
    "presburger",
    "tensor",
];

fn main() {
    let root = PathBuf::from("..");
    let mut hasher = DefaultHasher::new();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    for name in CRATES {
        let sources = root.join(name).join("src");
        if sources.is_dir() {
            println!("cargo::rerun-if-changed={}", sources.display());
            add(&sources, &mut hasher);
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=TANGRAM_SOURCES={:016x}", hasher.finish());
}

/// Adds the files of a folder in the order of their names.
fn add(folder: &Path, hasher: &mut DefaultHasher) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, hasher);
        } else if let Ok(text) = fs::read(&path) {
            hasher.write(path.to_string_lossy().as_bytes());
            hasher.write(&text);
        }
    }
}
