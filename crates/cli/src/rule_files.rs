//! Files that rules are read from: those that are named, those of folders, and what they `use`.

use std::path::{Path, PathBuf};

use tangram_files::{folder_of, same_file};

/// More files than anybody has; those beyond are not looked at.
const MOST: usize = 1_000;

/// Lists the files behind names of rules, as far as they are there. A name may be that of a shipped rule.
pub(crate) fn rule_files<P: AsRef<Path>>(names: impl IntoIterator<Item = P>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for name in names {
        let name = name.as_ref();
        match name.is_dir() {
            true => found.extend(of_folder(name)),
            false => found.extend(name.is_file().then(|| name.to_owned())),
        }
    }
    let mut at = 0;
    while let Some(file) = found.get(at).cloned().filter(|_| at < MOST) {
        at += 1;
        // One that cannot be read is explained where its rules are.
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for used in used(&text).map(|path| folder_of(&file).join(path)) {
            if used.is_file() && !found.iter().any(|known| same_file(known, &used)) {
                found.push(used);
            }
        }
    }
    found
}

fn of_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = tangram_files::entries(folder).unwrap_or_default();
    let is_rules = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gsl");
    entries.into_iter().filter(is_rules).collect()
}

/// The paths behind `use` in a text, and perhaps some in comments.
fn used(text: &str) -> impl Iterator<Item = &str> {
    let words = text.match_indices("use").map(|(at, word)| text[at + word.len()..].trim_start());
    words.filter_map(|rest| rest.strip_prefix('"')?.split_once('"').map(|(path, _)| path))
}

#[cfg(test)]
mod tests {
    use super::used;

    #[test]
    fn what_is_used_is_found() {
        let text = "use \"a.gsl\";\n// use \"b\"\n rule used { } use\n  \"c/d.gsl\" ;";
        assert_eq!(used(text).collect::<Vec<_>>(), ["a.gsl", "b", "c/d.gsl"]);
    }
}
