//! Licences of dependencies: whatever is compiled into a build may be used by anybody.

use crate::workspace::cargo;
use std::collections::BTreeMap;

/// Licences that ask for no more than a notice.
const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Lists compiled dependencies, tests' own left out, that are not under permissive licences.
///
/// # Errors
/// What `cargo tree` said when it fails.
pub fn refused() -> Result<Vec<String>, String> {
    let edges = ["--workspace", "--edges", "normal,build"];
    let format = ["tree", "--prefix", "none", "--format", "{p}|{l}"];
    let output = cargo(format.iter().chain(&edges)).output();
    let output = output.map_err(|error| format!("cargo tree: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(unlike(&String::from_utf8_lossy(&output.stdout)))
}

fn unlike(tree: &str) -> Vec<String> {
    let licences: BTreeMap<&str, &str> = tree
        .lines()
        .filter_map(|line| line.trim_end_matches("(*)").trim_end().split_once('|'))
        .collect();
    let refused = licences.iter().filter(|(_, licence)| !is_permissive(licence));
    refused.map(|(name, licence)| format!("dependency {name} is under `{licence}`")).collect()
}

/// Returns whether an expression of SPDX leaves a choice of permissive licences alone.
///
/// `OR` binds less than `AND`; old manifests write `/` for `OR`.
fn is_permissive(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], "");
    if expression.contains('(') {
        // Each parenthesis stands for a choice among its licences: one of all would be too much.
        return plain.replace(" AND ", " OR ").split(" OR ").all(is_listed);
    }
    plain.split(" OR ").any(|choice| choice.split(" AND ").all(is_listed))
}

fn is_listed(licence: &str) -> bool {
    PERMISSIVE.contains(&licence.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_duties_are_told_apart() {
        for right in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "ISC AND MIT"] {
            assert!(is_permissive(right), "{right}");
        }
        assert!(is_permissive("(MIT OR Apache-2.0) AND Unicode-3.0"));
        for wrong in ["GPL-3.0", "", "MIT AND GPL-3.0", "(MIT OR ISC) AND MPL-2.0"] {
            assert!(!is_permissive(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_dependency_without_a_licence_is_named() {
        let tree = "a v1.0.0|MIT\nb v0.1.0|\na v1.0.0|MIT (*)\n\nc v2.0.0 (proc-macro)|GPL-2.0\n";
        let found = [
            "dependency b v0.1.0 is under ``",
            "dependency c v2.0.0 (proc-macro) is under `GPL-2.0`",
        ];
        assert_eq!(unlike(tree), found);
    }
}
