//! A model and its external data are one unit.
//!
//! Two files cannot be replaced in one step. So no data file is ever written to or replaced: the
//! data gets a name that nothing has, and the one step that replaces the model decides between the
//! old pair and the new one. What only the old model referred to goes afterwards.
//!
//! The name is `<model>.data` for a model that has no data yet, where the name is free, or where it
//! has these bytes already; else `<model>.<hash>.data` with a hash of the content.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tangram_files::{Folder, Replacement, folder_of};
use twox_hash::xxhash3_128::Hasher;

use super::{load, outline};

/// The ending of data files.
const ENDING: &str = ".data";
/// Digits of the hash in a name.
const DIGITS: usize = 16;
/// In a folder of more files the old data stays: to look who refers to it would take too long.
const MOST_FILES: usize = 4096;

/// A data file that has its name.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) name: String,
    /// Whether it was not there before.
    made: bool,
}

/// Gives `data` the name `wanted`, or, where another content has that, one of its content. Where
/// the model `replaces` data of its own, a name that is free now may have been in use a moment ago,
/// and who read the model then looks for it: so only one of the content will do.
pub(super) fn place(
    folder: &Folder,
    data: Replacement,
    wanted: &str,
    replaces: bool,
) -> io::Result<Placed> {
    let content = load::map(data.file())?;
    let stem = wanted.strip_suffix(ENDING).unwrap_or(wanted);
    let hashed = |try_: u32| {
        let mut hasher = Hasher::new();
        hasher.write(&content);
        let mut text = format!("{:032x}", hasher.finish_128());
        text.truncate(DIGITS);
        match try_ {
            0 => format!("{stem}.{text}{ENDING}"),
            _ => format!("{stem}.{text}.{try_}{ENDING}"),
        }
    };
    let names = std::iter::once(wanted.to_owned()).chain((0..).map(hashed));
    for name in names {
        let path = folder.path().join(&name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if replaces && name == wanted {
                    continue;
                }
                data.at(path).commit_in(folder)?;
                return Ok(Placed { name, made: true });
            }
            Err(error) => return Err(error),
            // A link may lead somewhere else tomorrow.
            Ok(found) if found.is_file() && has_content(&path, &content) => {
                return Ok(Placed { name, made: false });
            }
            Ok(_) => {}
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl Placed {
    /// Takes the file away again: the model did not get its place.
    pub(super) fn undo(&self, folder: &Folder) {
        if self.made {
            // Nobody refers to it; the next one to save the same finds it.
            let _ = folder.remove(Path::new(&self.name));
        }
    }
}

fn has_content(path: &Path, content: &[u8]) -> bool {
    let same = |file: &File| {
        file.metadata().is_ok_and(|found| found.len() == content.len() as u64)
            && load::map(file).is_ok_and(|bytes| bytes[..] == *content)
    };
    File::open(path).is_ok_and(|file| same(&file))
}

/// The data files of the model that is at `path` now which bear its name.
pub(super) fn own_data(path: &Path) -> Vec<PathBuf> {
    let Some(model) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let own = |location: &String| {
        let hash = location.strip_prefix(model)?.strip_suffix(ENDING)?;
        let is_hash = |text: &str| {
            text.split('.').all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        (hash.is_empty() || hash.strip_prefix('.').is_some_and(is_hash)).then_some(())
    };
    let locations = locations(path);
    let own = locations.iter().filter(|location| own(location).is_some());
    let mut found: Vec<PathBuf> = own.map(|name| folder_of(path).join(name)).collect();
    found.sort();
    found.dedup();
    found.retain(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file()));
    found
}

/// Removes those of `old` that no model in the folder refers to.
pub(super) fn remove_unused(folder: &Folder, old: &[PathBuf]) {
    if old.is_empty() {
        return;
    }
    let Some(used) = referred_to(folder.path()) else { return };
    for path in old {
        let is_used = fs::canonicalize(path).is_ok_and(|path| used.contains(&path));
        if let (false, Some(name)) = (is_used, path.file_name()) {
            // What stays costs room, nothing else.
            let _ = folder.remove(Path::new(name));
        }
    }
}

/// What the models in a folder refer to; `None` where it has too many files.
fn referred_to(folder: &Path) -> Option<HashSet<PathBuf>> {
    let mut used = HashSet::new();
    let files = tangram_files::entries(folder).ok()?;
    if files.len() > MOST_FILES {
        return None;
    }
    for path in files {
        if fs::metadata(&path).is_ok_and(|found| found.is_file()) {
            let names = locations(&path);
            used.extend(names.iter().filter_map(|name| fs::canonicalize(folder.join(name)).ok()));
        }
    }
    Some(used)
}

/// The locations of the external data of the model at `path`; none if it is none.
fn locations(path: &Path) -> Vec<String> {
    outline(path).ok().flatten().map(|outline| outline.locations).unwrap_or_default()
}
