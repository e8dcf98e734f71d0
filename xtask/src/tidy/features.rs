//! Shared dependencies have the same features in every build that users and CI make.
//!
//! Otherwise cargo compiles them, and whatever depends on them, once for each set.

use crate::workspace::cargo;
use std::collections::BTreeSet;

/// The packages that are built by themselves: the command, and what the wheel contains.
const BUILT: [&str; 2] = ["tangram-cli", "tangram-python"];

/// Lists dependencies that one build compiles with other features than the whole workspace does.
///
/// # Errors
/// What `cargo tree` said when it fails.
pub fn split() -> Result<Vec<String>, String> {
    let whole = compiled(&["--workspace", "--edges", "normal,build,dev"])?;
    let mut faults = Vec::new();
    for package in BUILT {
        let alone = compiled(&["--package", package, "--edges", "normal,build"])?;
        faults.extend(alone.difference(&whole).map(|one| {
            format!(
                "`{package}` alone compiles `{one}`, the workspace with further features: name \
                 these in crates/features/Cargo.toml"
            )
        }));
    }
    Ok(faults)
}

/// What a build compiles: names, versions and features.
fn compiled(selection: &[&str]) -> Result<BTreeSet<String>, String> {
    let format = ["tree", "--prefix", "none", "--format", "{p} {f}"];
    let output = cargo(format.iter().chain(selection)).output();
    let output = output.map_err(|error| format!("cargo tree: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(|line| line.trim_end_matches("(*)").trim_end().to_owned()).collect())
}
