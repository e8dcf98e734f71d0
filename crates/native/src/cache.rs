//! Compiled code, kept for the next session.
//!
//! An entry is a folder named by what it was made of: the text, the flags, the compiler. It holds
//! the text, the library, and a stamp: the hash of both under the user's key
//! ([`crate::trusted`]). What its stamp does not fit is built anew, as is a library whose text is
//! another (two texts may have one name, if hardly ever). Folders are made under another name and
//! renamed: whoever looks sees none or a whole one, however many processes build it. A folder that
//! somebody else may write to is not used at all.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tangram_files::{Scratch, remove_folder};

use crate::error::CompileError;
use crate::trusted::{Secret, Untrusted};

/// A folder of compiled code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cache {
    /// `None` for code that is kept nowhere.
    folder: Option<PathBuf>,
}

/// Compiled code in a file.
pub(crate) struct Built {
    path: PathBuf,
    /// What the file lies in, if it is not kept.
    _folder: Option<Scratch>,
}

impl Built {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The name of an entry: 128 bits of what it was made of.
pub(crate) struct Key(String);

impl Key {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn of(parts: &[&str]) -> Key {
        let half = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(seed);
            for part in parts {
                hasher.write_usize(part.len());
                hasher.write(part.as_bytes());
            }
            hasher.finish()
        };
        Key(format!("{:016x}{:016x}", half(1), half(2)))
    }
}

impl Cache {
    /// The user's folder: the variable `TANGRAM_CACHE`, else `tangram` in `XDG_CACHE_HOME`, else
    /// `.cache/tangram` at home. Nothing is kept where there is none of these.
    pub fn of_user() -> Cache {
        let variable = |name: &str| std::env::var_os(name).filter(|text| !text.is_empty());
        let folder = variable("TANGRAM_CACHE").map(PathBuf::from).or_else(|| {
            let base = variable("XDG_CACHE_HOME").map(PathBuf::from);
            let home = || Some(PathBuf::from(variable("HOME")?).join(".cache"));
            Some(base.filter(|path| path.is_absolute()).or_else(home)?.join("tangram"))
        });
        Cache { folder }
    }

    /// The folder `folder`, made when it is needed.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: Some(folder.into()) }
    }

    /// No folder: every session compiles.
    pub fn none() -> Cache {
        Cache { folder: None }
    }

    /// Where code is kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The library of `source` under `key`; `build` makes it in a folder if it is not there.
    pub(crate) fn entry(
        &self,
        key: &Key,
        source: &str,
        build: impl Fn(&Path) -> Result<PathBuf, CompileError>,
    ) -> Result<Built, CompileError> {
        let Some((folder, secret)) = self.usable() else { return temporary(build) };
        let place = folder.join(&key.0);
        if let Some(found) = whole(&place, source, &secret) {
            return Ok(found);
        }
        sweep(folder);
        let Ok(scratch) = Scratch::new_in(BUILDING, folder) else { return temporary(build) };
        let library = match build(scratch.path()) {
            // There may be room elsewhere, and what was begun here takes none of it.
            Err(CompileError::File { .. }) => {
                drop(scratch);
                return temporary(build);
            }
            made => made?,
        };
        let stamped = stamp(&library, source, &secret)
            .is_some_and(|stamp| fs::write(scratch.path().join(STAMP), stamp).is_ok());
        if !stamped {
            return Ok(Built { path: library, _folder: Some(scratch) });
        }
        Ok(moved(scratch, &place, (source, &secret)))
    }

    /// The library of `source`, whichever compiler made it.
    pub(crate) fn of_any_compiler(&self, source: &str) -> Option<Built> {
        let (folder, secret) = self.usable()?;
        tangram_files::entries(folder).ok()?.into_iter().find_map(|place| {
            let len = fs::metadata(place.join(TEXT)).ok()?.len();
            (len == source.len() as u64).then(|| whole(&place, source, &secret))?
        })
    }

    /// Removes the entry of `key`.
    pub(crate) fn forget(&self, key: &Key) {
        if let Some(folder) = self.folder() {
            // Who cannot remove it finds it damaged again.
            let _ = remove_folder(&folder.join(&key.0));
        }
    }

    /// A text that was kept under a key.
    pub(crate) fn text(&self, key: &Key) -> Option<String> {
        let (folder, secret) = self.usable()?;
        let text = fs::read_to_string(folder.join(TEXTS).join(&key.0)).ok()?;
        let (stamp, text) = text.split_once('\n')?;
        (stamp == secret.hash(&[key.0.as_bytes(), text.as_bytes()])).then(|| text.to_owned())
    }

    /// Keeps a text under a key, if it can.
    pub(crate) fn keep_text(&self, key: &Key, text: &str) {
        let Some((folder, secret)) = self.usable() else { return };
        let folder = folder.join(TEXTS);
        let written = make_private(&folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            write!(file, "{}\n{text}", secret.hash(&[key.0.as_bytes(), text.as_bytes()]))?;
            file.persist(folder.join(&key.0))?;
            Ok(())
        });
        // What is not kept is made again.
        drop(written);
    }

    /// Why nothing is kept in the folder that it is for, if so.
    pub fn refused(&self) -> Option<Untrusted> {
        let folder = self.folder.as_deref()?;
        make_private(folder)
            .map_err(|why| Untrusted::Unusable { folder: folder.to_owned(), why: why.to_string() })
            .and_then(|()| Secret::of(folder))
            .err()
    }

    /// The folder, if it is there or can be made and is this user's alone, with its key.
    pub(crate) fn usable(&self) -> Option<(&Path, Secret)> {
        let folder = self.folder.as_deref()?;
        make_private(folder).ok()?;
        Some((folder, Secret::of(folder).ok()?))
    }
}

/// The key in front of the text tells whether it is the one that was asked for: two may have one
/// name, if hardly ever.
impl tangram_lowering::Texts for Cache {
    fn find(&self, key: &str) -> Option<String> {
        let text = self.text(&Key::of(&["text", key]))?;
        text.strip_prefix(key)?.strip_prefix('\n').map(str::to_owned)
    }

    fn keep(&self, key: &str, text: &str) {
        self.keep_text(&Key::of(&["text", key]), &format!("{key}\n{text}"));
    }
}

/// Makes a folder that only its user writes to: what lies in it is run.
pub(crate) fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// How the names of folders begin in which something is being made.
pub(crate) const BUILDING: &str = ".building-";
/// What is being made for longer was left by a process that was ended.
const LONGEST_BUILD: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what processes left that were ended while they made it.
pub(crate) fn sweep(folder: &Path) {
    for path in tangram_files::entries(folder).unwrap_or_default() {
        let age = || fs::symlink_metadata(&path).ok()?.modified().ok()?.elapsed().ok();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if name.starts_with(BUILDING.as_bytes()) && age().is_some_and(|age| age > LONGEST_BUILD) {
            let _ = remove_folder(&path);
        }
    }
}

/// Builds where nothing can be kept.
fn temporary(
    build: impl Fn(&Path) -> Result<PathBuf, CompileError>,
) -> Result<Built, CompileError> {
    let folder = Scratch::new()
        .map_err(|source| CompileError::File { path: std::env::temp_dir(), source })?;
    let path = build(folder.path())?;
    Ok(Built { path, _folder: Some(folder) })
}

/// Gives a finished folder its name. Where another process was faster, its folder is taken; one
/// that is not whole goes away.
fn moved(scratch: Scratch, place: &Path, (source, secret): (&str, &Secret)) -> Built {
    for _ in 0..3 {
        if fs::rename(scratch.path(), place).is_ok() {
            // Nothing is left under the old name.
            let _ = scratch.keep();
            return Built { path: place.join(LIBRARY), _folder: None };
        }
        if let Some(found) = whole(place, source, secret) {
            return found;
        }
        // Who cannot remove it uses what was built.
        let _ = remove_folder(place);
    }
    Built { path: scratch.path().join(LIBRARY), _folder: Some(scratch) }
}

/// The folder of texts.
const TEXTS: &str = "texts";
const TEXT: &str = "code.c";
const LIBRARY: &str = "code.so";
const STAMP: &str = "stamp";

/// The entry at `place`, if it is complete and of this text.
fn whole(place: &Path, source: &str, secret: &Secret) -> Option<Built> {
    let written = fs::read_to_string(place.join(STAMP)).ok()?;
    let library = place.join(LIBRARY);
    let same = || fs::read(place.join(TEXT)).is_ok_and(|text| text == source.as_bytes());
    (stamp(&library, source, secret)? == written && same())
        .then_some(Built { path: library, _folder: None })
}

/// What tells a library from one that was cut, changed, or put there by somebody else.
fn stamp(library: &Path, source: &str, secret: &Secret) -> Option<String> {
    let bytes = fs::read(library).ok()?;
    Some(format!("{}\n", secret.hash(&[source.as_bytes(), &bytes])))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tangram_lowering::Texts;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn an_entry_is_built_once_and_again_when_it_is_damaged() {
        let folder = TempDir::new().expect("a folder");
        let cache = Cache::at(folder.path().join("made/when/needed"));
        let built = AtomicUsize::new(0);
        let get = |text: &'static str| {
            let build = |folder: &Path| {
                built.fetch_add(1, Ordering::Relaxed);
                fs::write(folder.join("code.c"), text).expect("written");
                fs::write(folder.join(LIBRARY), [text, text].concat()).expect("written");
                Ok(folder.join(LIBRARY))
            };
            let found = cache.entry(&Key::of(&[text]), text, build).expect("an entry");
            assert_eq!(fs::read_to_string(found.path()).expect("read"), [text, text].concat());
            found.path().to_owned()
        };
        let path = get("one");
        assert_eq!(get("one"), path);
        assert_eq!(built.load(Ordering::Relaxed), 1, "the second time it is there");
        assert_ne!(get("two"), path);

        fs::write(&path, "onex").expect("written");
        assert_eq!(get("one"), path);
        assert_eq!(built.load(Ordering::Relaxed), 3, "what is damaged is built again");
        fs::remove_file(path.with_file_name(STAMP)).expect("removed");
        get("one");
        assert_eq!(built.load(Ordering::Relaxed), 4);
        let left = fs::read_dir(cache.folder().expect("one")).expect("listed").count();
        assert_eq!(left, 3, "two entries and the key: no scratch folder stays");
    }

    #[test]
    fn what_cannot_be_written_here_is_built_elsewhere() {
        let folder = TempDir::new().expect("a folder");
        let cache = Cache::at(folder.path());
        let build = |place: &Path| {
            let path = place.join(LIBRARY);
            if place.starts_with(folder.path()) {
                let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
                return Err(CompileError::File { path, source });
            }
            fs::write(&path, "code").expect("written");
            Ok(path)
        };
        let found = cache.entry(&Key::of(&["text"]), "text", build).expect("an entry");
        assert_eq!(fs::read(found.path()).expect("read"), b"code");
        let left = fs::read_dir(folder.path()).expect("listed").count();
        assert_eq!(left, 1, "the key");
    }

    #[test]
    fn what_was_left_long_ago_goes() {
        let folder = TempDir::new().expect("a folder");
        let make = |name: &str, age: u64| {
            let path = folder.path().join(name);
            fs::create_dir(&path).expect("made");
            fs::write(path.join("code.c"), "text").expect("written");
            let then = std::time::SystemTime::now() - Duration::from_secs(age);
            fs::File::open(&path).and_then(|file| file.set_modified(then)).expect("set");
            path
        };
        let old = make(".building-old", 2 * LONGEST_BUILD.as_secs());
        let others = [make(".building-new", 60), make("entry", 2 * LONGEST_BUILD.as_secs())];
        sweep(folder.path());
        assert!(!old.exists());
        assert!(others.iter().all(|path| path.exists()));
    }

    #[test]
    fn texts_come_back_whole_or_not_at_all() {
        let folder = TempDir::new().expect("a folder");
        let cache = Cache::at(folder.path().join("made/when/needed"));
        assert_eq!(cache.find("a\nkey"), None);
        cache.keep("a\nkey", "a\ntext\n");
        assert_eq!(cache.find("a\nkey").as_deref(), Some("a\ntext\n"));
        assert_eq!(cache.find("a"), None);
        let texts = cache.folder().expect("one").join(TEXTS);
        let kept = fs::read_dir(texts).expect("listed").next().expect("one").expect("it").path();
        let whole = fs::read(&kept).expect("read");
        fs::write(&kept, &whole[..whole.len() - 1]).expect("written");
        assert_eq!(cache.find("a\nkey"), None, "what is cut is not there");
        cache.keep("a\nkey", "another");
        assert_eq!(cache.find("a\nkey").as_deref(), Some("another"));
        Cache::none().keep("key", "text");
        assert_eq!(Cache::none().find("key"), None);
    }

    #[test]
    fn many_threads_get_one_entry() {
        let folder = TempDir::new().expect("a folder");
        let cache = Cache::at(folder.path());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let build = |folder: &Path| {
                        fs::write(folder.join("code.c"), "text").expect("written");
                        fs::write(folder.join(LIBRARY), "code").expect("written");
                        Ok(folder.join(LIBRARY))
                    };
                    let found = cache.entry(&Key::of(&["text"]), "text", build).expect("an entry");
                    assert_eq!(fs::read(found.path()).expect("read"), b"code");
                });
            }
        });
    }

    #[test]
    fn without_a_folder_code_lasts_as_long_as_its_handle() {
        let build = |folder: &Path| {
            fs::write(folder.join(LIBRARY), "code").expect("written");
            Ok(folder.join(LIBRARY))
        };
        let found = Cache::none().entry(&Key::of(&["text"]), "text", build).expect("an entry");
        let path = found.path().to_owned();
        assert!(path.exists());
        drop(found);
        assert!(!path.exists());
    }
}
