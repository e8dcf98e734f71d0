//! ARCHITECTURE.md, the glossary and the table of dependencies say what is in the tree: what they
//! name exists, and what exists they name.

use super::dependencies::ALLOWED;
use super::sources;
use crate::workspace::{Member, short};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The roots of crates whose public names the glossary explains.
const EXPLAINED: &[&str] = &["crates/affine/src/lib.rs", "crates/presburger/src/lib.rs"];
/// Folders whose subfolders have rows of their own.
const LISTED: &[&str] = &["bench"];

/// Lists where the documents and the tree disagree.
pub fn disagreements(root: &Path, members: &[Member]) -> Vec<String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let architecture = read("ARCHITECTURE.md");
    let mut faults = crates(&rows(&architecture), members);
    faults.extend(unused_arrows(members));
    faults.extend(folders(&architecture, root));
    let exports: Vec<String> = EXPLAINED.iter().flat_map(|path| exported(&read(path))).collect();
    faults.extend(glossary(&read("docs/glossary.md"), &words(root), &exports));
    faults
}

/// The rows of the table of crates: folder below `crates/`, and what it depends on.
fn rows(architecture: &str) -> Vec<(&str, &str)> {
    let row = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line.strip_prefix("| `crates/")?;
        Some((line.len() - rest.len(), rest.find('`')?))
    };
    let lines = architecture.lines();
    let found = lines.filter_map(|line| Some((line, row(line)?, line.split('|').nth(3)?)));
    found.map(|(line, (start, length), cell)| (&line[start..start + length], cell.trim())).collect()
}

/// Every crate has a row here and one among the allowed dependencies, which say the same; no row
/// is about a crate that is not there.
fn crates(rows: &[(&str, &str)], members: &[Member]) -> Vec<String> {
    let mut faults = Vec::new();
    let exist: BTreeSet<&str> = members.iter().map(|member| short(&member.name)).collect();
    for (name, cell) in rows {
        if !exist.contains(name) {
            faults.push(format!("ARCHITECTURE.md: a row for `{name}`, which is no crate"));
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(row, _)| row == name) else { continue };
        let said: BTreeSet<&str> = match *cell {
            "nothing" => BTreeSet::new(),
            "all below" => BTreeSet::from(["*"]),
            list => list.split(", ").collect(),
        };
        if said != allowed.iter().copied().collect() {
            faults.push(format!(
                "ARCHITECTURE.md: `{name}` depends on {cell}; xtask/src/tidy/dependencies.rs says {allowed:?}"
            ));
        }
    }
    for name in exist.iter().filter(|&&name| name != "xtask") {
        if !rows.iter().any(|(row, _)| row == name) {
            faults.push(format!("ARCHITECTURE.md: no row for crate `{name}`"));
        }
    }
    let gone = ALLOWED.iter().filter(|(name, _)| !exist.contains(name));
    faults.extend(gone.map(|(name, _)| {
        format!("xtask/src/tidy/dependencies.rs: a row for `{name}`, which is no crate")
    }));
    faults
}

/// Lists dependencies that a row allows and nobody has, not even by way of another.
fn unused_arrows(members: &[Member]) -> Vec<String> {
    let inside = |name: &str| {
        let member = members.iter().find(|member| short(&member.name) == name);
        member.map_or(&[][..], |member| &member.inside)
    };
    let mut faults = Vec::new();
    for (name, allowed) in ALLOWED {
        let (mut open, mut reached) = (vec![*name], BTreeSet::new());
        while let Some(next) = open.pop() {
            let below = inside(next).iter().map(|below| short(below));
            open.extend(below.filter(|below| reached.insert(*below)));
        }
        let unused = allowed.iter().filter(|&&below| below != "*" && !reached.contains(below));
        faults.extend(unused.map(|below| {
            format!(
                "xtask/src/tidy/dependencies.rs: `{name}` may depend on `{below}`, and does not"
            )
        }));
    }
    faults
}

/// The folders that the second table lists are there, and those that are there are listed.
fn folders(architecture: &str, root: &Path) -> Vec<String> {
    let listed =
        architecture.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let named: BTreeSet<&str> = listed
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(|name| name.trim_end_matches('/'))
        .collect();
    let mut faults = Vec::new();
    for folder in LISTED {
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            let hidden = name.contains("/.") || name.contains("__");
            if entry.path().is_dir() && !hidden && !named.contains(&*name) {
                faults.push(format!("ARCHITECTURE.md: no row for the folder `{name}`"));
            }
        }
    }
    let absent = named.iter().filter(|name| !root.join(name).exists());
    faults.extend(
        absent.map(|name| format!("ARCHITECTURE.md: a row for `{name}`, which is not there")),
    );
    faults.sort();
    faults
}

/// The first words of the glossary's rows occur in the sources, and `exports` among those words.
fn glossary(text: &str, words: &BTreeSet<String>, exports: &[String]) -> Vec<String> {
    let first = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let terms: BTreeSet<&str> = first
        .filter(|cell| *cell != "here" && !cell.starts_with("---"))
        .flat_map(|cell| cell.split(", "))
        .map(|term| term.trim_matches('`'))
        .collect();
    let known = |term: &&&str| {
        term.split([' ', '-']).all(|word| {
            let plain = word.to_lowercase();
            words.contains(word) || words.contains(&plain) || words.contains(&format!("{plain}s"))
        })
    };
    let unknown = terms.iter().filter(|term| !known(term));
    let mut faults: Vec<String> =
        unknown.map(|term| format!("docs/glossary.md: `{term}` occurs in no source")).collect();
    let silent = exports.iter().filter(|name| !terms.contains(&***name));
    faults.extend(silent.map(|name| format!("docs/glossary.md: no row for `{name}`")));
    faults
}

/// The types that the root of a crate makes public: names in `pub use` that begin with a capital.
fn exported(root: &str) -> Vec<String> {
    let uses = root.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let names = uses.flat_map(|path| {
        let last = path.rsplit("::").next().unwrap_or(path);
        last.split([',', '{', '}', '\n', ' ']).map(str::to_owned).collect::<Vec<_>>()
    });
    let capital = |name: &String| {
        let mut chars = name.chars();
        chars.next().is_some_and(char::is_uppercase) && chars.any(char::is_lowercase)
    };
    names.filter(capital).filter(|name| !name.ends_with("Error")).collect()
}

/// Every word, and every part of a name with underscores, of our sources.
fn words(root: &Path) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for text in sources::texts(root) {
        let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        for name in names.filter(|name| !name.is_empty()) {
            if !words.contains(name) {
                words.insert(name.to_owned());
                words.extend(name.split('_').map(str::to_lowercase));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, inside: &[&str]) -> Member {
        let inside = inside.iter().map(|&name| name.into()).collect();
        Member { name: name.into(), documented: true, inside, outside: Vec::new() }
    }

    fn all() -> Vec<Member> {
        ALLOWED.iter().map(|(name, below)| member(name, below)).collect()
    }

    fn table() -> String {
        let row = |(name, below): &(&str, &[&str])| match below {
            [] => format!("| `crates/{name}` | r | nothing | i |\n"),
            ["*"] => format!("| `crates/{name}` | r | all below | i |\n"),
            below => format!("| `crates/{name}` | r | {} | i |\n", below.join(", ")),
        };
        ALLOWED.iter().filter(|(name, _)| *name != "xtask").map(row).collect()
    }

    #[test]
    fn crates_and_their_rows_agree() {
        let table = table();
        assert!(crates(&rows(&table), &all()).is_empty());
        let other = table.replace("`crates/ir`", "`crates/gone`");
        let faults = crates(&rows(&other), &all());
        assert_eq!(
            faults,
            [
                "ARCHITECTURE.md: a row for `gone`, which is no crate",
                "ARCHITECTURE.md: no row for crate `ir`"
            ]
        );
        let other = table.replace("| r | ir |", "| r | nothing |");
        assert!(crates(&rows(&other), &all())[0].starts_with("ARCHITECTURE.md: `rewrite` depends"));
        let fewer: Vec<Member> = all().into_iter().filter(|m| m.name != "ir").collect();
        assert_eq!(crates(&rows(&table), &fewer).len(), 2);
    }

    #[test]
    fn an_arrow_that_nobody_has_is_a_fault() {
        assert!(unused_arrows(&all()).is_empty());
        let mut members = all();
        members.iter_mut().find(|m| m.name == "rewrite").expect("a crate").inside.clear();
        assert!(unused_arrows(&members)[0].contains("may depend on `ir`, and does not"));
    }

    #[test]
    fn a_folder_needs_a_row_and_a_row_a_folder() {
        let root = crate::workspace::root();
        let faults = folders("| `nowhere` | x |\n", &root);
        assert!(faults.contains(&"ARCHITECTURE.md: no row for the folder `bench/egraph`".into()));
        assert!(
            faults.contains(&"ARCHITECTURE.md: a row for `nowhere`, which is not there".into())
        );
    }

    #[test]
    fn the_glossary_knows_the_words_of_the_sources() {
        let words = ["gist", "lattice", "hull", "Space"].map(String::from).into();
        let text =
            "| here | isl |\n| --- | --- |\n| gist | gist |\n| lattice hull | x |\n| Basic | y |\n";
        let exports = exported("pub use a::{gist, Space};\npub use b::Odd;\n");
        assert_eq!(exports, ["Space", "Odd"]);
        assert_eq!(
            glossary(text, &words, &exports),
            [
                "docs/glossary.md: `Basic` occurs in no source",
                "docs/glossary.md: no row for `Space`",
                "docs/glossary.md: no row for `Odd`"
            ]
        );
    }
}
