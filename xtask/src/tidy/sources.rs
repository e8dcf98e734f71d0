//! Rules for source files: each says what it is for, and none grows past reading.

use std::fs;
use std::path::{Path, PathBuf};

/// Beyond this many lines a file is named, so that someone looks at it again.
const LONG: usize = 600;
/// The folders whose sources are ours.
const FOLDERS: &[&str] = &["bench", "crates", "examples", "fuzz", "python", "tests", "xtask"];

/// What was found in the sources.
#[derive(Default)]
pub struct Findings {
    /// What breaks a rule.
    pub faults: Vec<String>,
    /// What is worth a look.
    pub notes: Vec<String>,
}

/// Examines all Rust and Python sources.
pub fn examine(root: &Path) -> Findings {
    let mut findings = Findings::default();
    for path in sources(root) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let place = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        examine_one(&place, &text, &mut findings);
        if path.with_extension("").is_dir() && place.contains("/src/") {
            findings.faults.push(format!("{place}: a module with children is its folder's mod.rs"));
        }
    }
    findings
}

/// The texts of the Rust sources of the crates.
pub fn texts(root: &Path) -> impl Iterator<Item = String> {
    let crates = root.join("crates");
    let own = move |path: &PathBuf| path.starts_with(&crates);
    sources(root).into_iter().filter(own).filter_map(|path| fs::read_to_string(path).ok())
}

fn examine_one(place: &str, text: &str, findings: &mut Findings) {
    let lines = text.lines().count();
    if lines > LONG {
        findings.notes.push(format!("{place} has {lines} lines"));
    }
    if !is_introduced(place, text) {
        findings.faults.push(format!("{place}:1: nothing says what this module is for"));
    }
    if says_one_word(place, text) {
        findings.faults.push(format!("{place}:1: one word does not say what this module is for"));
    }
    for (number, line) in text.lines().enumerate() {
        if line.contains(concat!("parse(&for", "mat!(")) && builds_text(place) {
            let advice = "build sets from typed expressions (`tangram_presburger::formula`)";
            findings.faults.push(format!("{place}:{}: {advice}", number + 1));
        }
        if line.trim() == concat!("#[ign", "ore]") {
            findings
                .faults
                .push(format!("{place}:{}: an ignored test without a reason", number + 1));
        }
    }
}

/// Returns whether a file opens with its documentation; tests in folders of their own need none.
fn is_introduced(place: &str, text: &str) -> bool {
    let first = text.lines().find(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with("#!") && !line.starts_with("// @generated")
    });
    let Some(first) = first else { return true };
    if place.ends_with(".rs") { first.starts_with("//!") } else { first.starts_with("\"\"\"") }
}

/// Returns whether the documentation of a Rust file is one word.
fn says_one_word(place: &str, text: &str) -> bool {
    let mut header = text.lines().map_while(|line| line.strip_prefix("//!"));
    let first = header.next().unwrap_or_default();
    place.ends_with(".rs")
        && !first.is_empty()
        && !first.trim().contains(' ')
        && header.next().is_none()
}

/// Returns whether a file is one that has typed expressions to build sets from: not a test, and
/// none of the readers of text.
fn builds_text(place: &str) -> bool {
    let readers = ["crates/calc/", "crates/affine/", "crates/passes/"];
    place.starts_with("crates/")
        && place.contains("/src/")
        && !place.contains("/tests")
        && !readers.iter().any(|reader| place.starts_with(reader))
}

/// Lists the sources, sorted, so that every run reports in the same order.
pub(super) fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            // A crate has that name as well.
            let is_build = name == "target" && !path.join("Cargo.toml").exists();
            if path.is_dir() && !hidden && !is_build && name != "__pycache__" {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "py") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(place: &str, text: &str) -> Vec<String> {
        let mut findings = Findings::default();
        examine_one(place, text, &mut findings);
        findings.faults
    }

    #[test]
    fn a_module_opens_with_its_purpose() {
        assert!(faults("a.rs", "//! Says where it is.\nfn f() {}\n").is_empty());
        assert!(
            faults("a.py", "#!/usr/bin/env python3\n\"\"\"Says where it is.\"\"\"\n").is_empty()
        );
        assert_eq!(faults("a.rs", "use std::fmt;\n").len(), 1);
        assert_eq!(faults("a.py", "import os\n").len(), 1);
    }

    #[test]
    fn an_ignored_test_needs_its_reason() {
        let bare = concat!("//! Tests of it.\n    #[ign", "ore]\nfn t() {}\n");
        assert_eq!(faults("a.rs", bare), ["a.rs:2: an ignored test without a reason"]);
        assert!(
            faults("a.rs", "//! Tests of it.\n#[ignore = \"needs 10 GB\"]\nfn t() {}\n").is_empty()
        );
    }

    #[test]
    fn a_header_of_one_word_says_nothing() {
        assert_eq!(faults("a.rs", "//! Parsing.\n\nuse std::fmt;\n").len(), 1);
        assert!(faults("a.rs", "//! Parsing.\n//!\n//! Of all texts.\n").is_empty());
        assert!(faults("a.rs", "//! Parsing texts.\n").is_empty());
    }

    #[test]
    fn text_of_sets_is_not_built() {
        let line =
            concat!("//! A b.\nlet set = Union::parse(&for", "mat!(\"{{ [{i}] }}\"), budget)?;\n");
        assert_eq!(faults("crates/scop/src/a.rs", line).len(), 1);
        assert!(faults("crates/scop/tests/a.rs", line).is_empty());
    }

    #[test]
    fn a_long_file_is_a_note_only() {
        let mut findings = Findings::default();
        examine_one("a.rs", &"//! x\n".repeat(LONG + 1), &mut findings);
        assert!(findings.faults.is_empty());
        assert_eq!(findings.notes, ["a.rs has 601 lines"]);
    }
}
