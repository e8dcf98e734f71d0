//! Paths that the root documents and the inventory name must exist.

use std::fs;
use std::path::Path;

/// The documents that send readers to places in the tree.
const DOCUMENTS: &[&str] =
    &["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/one-of-each.md"];

/// Lists paths named in the documents that do not exist.
pub fn missing(root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for document in DOCUMENTS {
        let Ok(text) = fs::read_to_string(root.join(document)) else {
            faults.push(format!("{document} is missing"));
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            for path in named(line).filter(|path| !root.join(path).exists()) {
                faults.push(format!("{document}:{}: `{path}` does not exist", number + 1));
            }
        }
    }
    faults
}

/// Finds the paths of the tree in one line: in backticks, or the target of a link.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    let linked = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    quoted.filter(|word| is_path(word)).chain(linked.filter(|target| is_local(target)))
}

/// Returns whether a word in backticks is a path of the tree: it has a slash, or a file's ending.
fn is_path(word: &str) -> bool {
    const ENDINGS: &[&str] = &[".md", ".rs", ".toml", ".py", ".gsl", ".txt"];
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let file = word.contains('/') || ENDINGS.iter().any(|ending| word.ends_with(ending));
    file && !word.starts_with(['/', '.', '-']) && word.chars().all(plain)
}

fn is_local(target: &str) -> bool {
    !target.is_empty() && !target.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_words() {
        let line = "see `crates/ir/src`, `README.md`, `a / b`, `i/32*`, `/tmp/x.onnx` and `Op`";
        assert_eq!(named(line).collect::<Vec<_>>(), ["crates/ir/src", "README.md"]);
        let links = "[here](docs/a.md#part) and [there](https://example.org/x)";
        assert_eq!(named(links).collect::<Vec<_>>(), ["docs/a.md"]);
    }

    #[test]
    fn a_missing_document_is_a_fault() {
        assert_eq!(missing(Path::new("nowhere")).len(), DOCUMENTS.len());
    }
}
