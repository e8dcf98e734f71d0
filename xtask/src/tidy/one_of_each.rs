//! `docs/one-of-each.md` lists what exists several times on purpose: each file of such a row says
//! in its header why, and so names another one of the row.

use std::fs;
use std::path::Path;

const DOCUMENT: &str = "docs/one-of-each.md";
/// The table of what exists several times.
const SEVERAL: &str = "## Several";

/// Lists headers that are silent about the others of their row.
pub fn silent(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join(DOCUMENT)).unwrap_or_default();
    let Some((_, table)) = text.split_once(SEVERAL) else {
        return vec![format!("{DOCUMENT}: no `{SEVERAL}`")];
    };
    let header = |path: &str| {
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        text.lines().map_while(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join(" ")
    };
    table.lines().flat_map(|row| without_others(&places(row), &header)).collect()
}

/// The paths in the second cell of a row.
fn places(row: &str) -> Vec<&str> {
    let cell = row.split('|').nth(2).unwrap_or_default();
    cell.split('`').skip(1).step_by(2).collect()
}

/// Lists the files of a row whose headers name none of the others.
fn without_others(places: &[&str], header: &dyn Fn(&str) -> String) -> Vec<String> {
    let silent = places.iter().filter(|own| {
        let text = header(own);
        !places.iter().filter(|other| other != own).any(|other| names(&text, other))
    });
    silent
        .map(|own| format!("{own}:1: {DOCUMENT} says that its header names its siblings"))
        .collect()
}

/// Returns whether a header names a file: by the end of its path, by its module, or by the type
/// that its name is in capitals, as `basic_map` is `BasicMap`.
fn names(header: &str, path: &str) -> bool {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("/src/lib");
    let Some(last) = path.rsplit('/').next() else { return false };
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    let kind: String = last.split('_').filter_map(capital).collect();
    let short = path.split('/').rev().take(2).collect::<Vec<_>>();
    let words = || header.split(|c: char| !c.is_alphanumeric() && c != '_');
    let qualified = short.iter().rev().copied().collect::<Vec<_>>().join("/");
    header.contains(&qualified) || words().any(|word| word == last || word == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_another_file_of_its_row() {
        let row = "| sums | `crates/a/src/one.rs`, `crates/b/src/two_sums/mod.rs` | reasons |";
        let places = places(row);
        assert_eq!(places, ["crates/a/src/one.rs", "crates/b/src/two_sums/mod.rs"]);
        let told = |path: &str| {
            if path.ends_with("one.rs") { "unlike [`TwoSums`]" } else { "not `a/src/one`" }
                .to_owned()
        };
        assert!(without_others(&places, &told).is_empty());
        let faults = without_others(&places, &|_| "Sums of the ones.".to_owned());
        assert_eq!(faults.len(), 2);
        assert!(faults[0].starts_with("crates/a/src/one.rs:1: "));
    }

    #[test]
    fn a_missing_table_is_a_fault() {
        assert_eq!(silent(Path::new("nowhere")).len(), 1);
    }
}
