//! Names the state of sources, for build scripts of crates that keep what they made: so that nothing
//! is taken for what another state has made.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// Sets the variable `TANGRAM_SOURCES` of the crate that is built to a name of the state of `crates`,
/// folders beside it, and of `others`, from its own folder on. What is not there, as in a package
/// from a registry, the version stands for.
pub fn name(version: &str, crates: &[&str], others: &[&str]) {
    let sources = crates.iter().map(|name| Path::new("..").join(name).join("src"));
    let folders: Vec<PathBuf> = sources.chain(others.iter().map(PathBuf::from)).collect();
    let mut hasher = DefaultHasher::new();
    hasher.write(version.as_bytes());
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        add(folder, &mut hasher);
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=TANGRAM_SOURCES={:016x}", hasher.finish());
}

/// Adds the files of a folder, in the order of their names.
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
