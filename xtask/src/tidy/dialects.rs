//! The representation knows no dialect: what text of an operation looks like, and what it does,
//! stands in its definition.

use std::fs;
use std::path::Path;

use super::sources::sources;

/// Where a name of a dialect is right, and why.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "crates/ir/src/text/parse/words.rs",
    "names without a dialect are those of `func`, as in MLIR's parser",
)];

/// Lists names of operations or attributes of dialects in texts of `crates/ir`.
pub fn known(root: &Path) -> Vec<String> {
    let dialects = dialects(root);
    let mut faults = Vec::new();
    for path in sources(root) {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let excepted = EXCEPTIONS.iter().any(|(place, _)| shown == *place);
        if excepted || !shown.starts_with("crates/ir/src/") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (at, line) in code.lines().enumerate() {
            let comment = line.trim_start().starts_with('/');
            if let (false, Some(name)) = (comment, named(line, &dialects)) {
                let line = at + 1;
                faults.push(format!(
                    "{shown}:{line}: `{name}` names a dialect: it belongs into a definition"
                ));
            }
        }
    }
    faults
}

/// The dialects that are defined, by their files and folders.
fn dialects(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = vec!["func".into(), "nn".into()];
    let entries = fs::read_dir(root.join("crates/dialects/src/mlir")).into_iter().flatten();
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        names.push(name.to_owned());
    }
    names
}

/// The text in `line` that begins with the name of a dialect and a dot.
fn named<'l>(line: &'l str, dialects: &[String]) -> Option<&'l str> {
    line.split('"').skip(1).step_by(2).find(|text| {
        let name = text.trim_start_matches(['#', '!']).split_once('.');
        name.is_some_and(|(dialect, _)| dialects.iter().any(|known| known == dialect))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dialects_are_found_in_texts() {
        let dialects = ["arith".to_owned(), "scf".to_owned()];
        let found = |line| named(line, &dialects);
        assert_eq!(found("let name = context.name(\"arith.addi\");"), Some("arith.addi"));
        assert_eq!(found("(\"a\", \"#scf.kind\")"), Some("#scf.kind"));
        assert_eq!(found("arith.addi(\"builtin.module\")"), None);
    }

    #[test]
    fn exceptions_are_there() {
        let root = crate::workspace::root();
        for (place, _) in EXCEPTIONS {
            assert!(root.join(place).is_file(), "{place}");
        }
        assert!(dialects(&root).iter().any(|name| name == "linalg"));
    }
}
