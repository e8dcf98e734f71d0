//! Which models a folder or a pattern stands for.

use std::path::{Path, PathBuf};

/// A model, and where its result goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// Its name below the folder that was asked for.
    pub name: PathBuf,
}

/// Why there is nothing to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// A folder cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// There is no model.
    #[error(
        "{0}: no model; a folder with files `.onnx`, or a pattern that matches some, is needed"
    )]
    None(String),
}

/// The models in a folder and those below, or those that a pattern matches, in order of names.
///
/// In a pattern, `*` and `?` stand for letters of a name, `**` for any folders. Names are kept
/// from the first folder on that a pattern leaves open.
///
/// # Errors
/// [`FindError`]: there is none, or a folder cannot be read.
pub fn find(wanted: &Path) -> Result<Vec<Found>, FindError> {
    let text = wanted.to_string_lossy();
    let parts: Vec<_> = wanted.components().collect();
    let open =
        |part: &std::path::Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?']);
    let fixed = match wanted.exists() {
        true => parts.len(),
        false => parts.iter().position(open).unwrap_or(parts.len()),
    };
    let base: PathBuf = parts[..fixed].iter().collect();
    let pattern: Vec<String> =
        parts[fixed..].iter().map(|p| p.as_os_str().to_string_lossy().into_owned()).collect();
    let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
    let mut found = files(&base)?;
    found.retain(|found| match pattern.is_empty() {
        true => found.name.extension().is_some_and(|end| end.eq_ignore_ascii_case("onnx")),
        false => {
            let names: Vec<_> =
                found.name.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            matches(&pattern, &names)
        }
    });
    found.sort_by(|a, b| a.name.cmp(&b.name));
    if found.is_empty() { Err(FindError::None(text.into_owned())) } else { Ok(found) }
}

/// Names models that were found in several places from the last folder on that all places share:
/// `a/model.onnx` and `b/model.onnx` keep their folders.
///
/// # Errors
/// The current folder is unknown.
pub fn name_from_shared_folder(models: &mut [Found]) -> std::io::Result<()> {
    let mut shared: Option<PathBuf> = None;
    for model in &mut *models {
        model.path = std::path::absolute(&model.path)?;
        // The folder that was asked for, which the name is below.
        let base = model.path.ancestors().nth(model.name.components().count());
        let base = base.unwrap_or(Path::new("/"));
        shared = Some(match shared {
            None => base.to_owned(),
            Some(known) => {
                let both = known.components().zip(base.components());
                both.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
            }
        });
    }
    let shared = shared.unwrap_or_default();
    for model in models {
        if let Ok(name) = model.path.strip_prefix(&shared) {
            model.name = name.to_owned();
        }
    }
    Ok(())
}

/// All files below a folder.
fn files(base: &Path) -> Result<Vec<Found>, FindError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = base.join(&folder);
        let failed = |source| FindError::Read { path: path.clone(), source };
        for path in tangram_files::entries(&path).map_err(failed)? {
            let name = folder.join(path.file_name().unwrap_or_default());
            // Links to folders may lead in circles; one that leads nowhere is a model that fails.
            if path.symlink_metadata().map_err(failed)?.is_dir() {
                folders.push(name);
            } else if path.metadata().map_or(true, |data| data.is_file()) {
                found.push(Found { path, name });
            }
        }
    }
    Ok(found)
}

/// Whether a path is what a pattern such as `models/**/*.onnx` stands for.
pub fn is_match(pattern: &Path, path: &Path) -> bool {
    let names = |path: &Path| -> Vec<String> {
        path.iter().map(|name| name.to_string_lossy().into_owned()).collect()
    };
    matches(&names(pattern), &names(path))
}

/// Whether names of folders and a file are what a pattern of such names stands for.
fn matches(pattern: &[String], names: &[String]) -> bool {
    wild(
        pattern,
        names,
        |part| part == "**",
        |part, name| {
            let (part, name): (Vec<char>, Vec<char>) =
                (part.chars().collect(), name.chars().collect());
            wild(&part, &name, |&c| c == '*', |&a, &b| a == b || a == '?')
        },
    )
}

/// Matching where some parts of a pattern stand for any number of items; goes back to the last.
fn wild<P, N>(
    pattern: &[P],
    items: &[N],
    any: impl Fn(&P) -> bool,
    one: impl Fn(&P, &N) -> bool,
) -> bool {
    let (mut at, mut item) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while item < items.len() {
        if at < pattern.len() && any(&pattern[at]) {
            back = Some((at + 1, item));
            at += 1;
        } else if at < pattern.len() && one(&pattern[at], &items[item]) {
            (at, item) = (at + 1, item + 1);
        } else if let Some((after, tried)) = back {
            back = Some((after, tried + 1));
            (at, item) = (after, tried + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_part_by_part() {
        let split = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        for (pattern, name, is) in [
            ("*.onnx", "a.onnx", true),
            ("*.onnx", "b/a.onnx", false),
            ("**/*.onnx", "a.onnx", true),
            ("**/*.onnx", "b/c/a.onnx", true),
            ("b*/?.onnx", "bcd/a.onnx", true),
            ("b*/?.onnx", "bcd/aa.onnx", false),
            ("**/b/**/a*c*.onnx", "x/b/y/b/z/abcd.onnx", true),
            ("**/b/**/a*c*.onnx", "x/y/abcd.onnx", false),
        ] {
            assert_eq!(matches(&split(pattern), &split(name)), is, "{pattern} {name}");
        }
    }
}
