//! The files of kept sessions.
//!
//! An entry is a folder: the record, the library, the weights, and a stamp: the hash of
//! them all under the user's key. What its stamp does not fit is not there. Folders are made under another name and renamed.
//! Together they have at most some gigabytes: those that no start has used for the longest time go
//! first.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use memmap2::Mmap;
use tangram_files::{Scratch, entries, remove_folder};
use twox_hash::XxHash3_128;
use twox_hash::xxhash3_128::Hasher;

use crate::cache::{BUILDING, Cache, Key, sweep};
use crate::trusted::Secret;

/// The folder of all entries.
const SESSIONS: &str = "sessions";
const RECORD: &str = "session.json";
const LIBRARY: &str = "code.so";
const WEIGHTS: &str = "weights";
const STAMP: &str = "stamp";

/// The most bytes of all entries; weights of more than half of it are not worth what goes for them.
const MOST: u64 = 4 << 30;

/// The weights in parts, each time they are asked for.
type Weights<'a> = dyn Fn() -> Box<dyn Iterator<Item = &'a [u8]> + 'a> + 'a;

/// The place of one entry.
pub(super) struct Folder {
    all: PathBuf,
    place: PathBuf,
    secret: Secret,
}

/// An entry that is whole.
pub(super) struct Entry {
    pub record: String,
    pub library: PathBuf,
    pub weights: Bytes,
}

impl Folder {
    /// The place of `key`; `None` where nothing is kept.
    pub(super) fn of(cache: &Cache, key: &Key) -> Option<Folder> {
        let (folder, secret) = cache.usable()?;
        let all = folder.join(SESSIONS);
        Some(Folder { place: all.join(key.text()), all, secret })
    }

    /// What is kept there, if all of it is as it was written.
    pub(super) fn find(&self) -> Option<Entry> {
        let stamped = fs::read_to_string(self.place.join(STAMP)).ok()?;
        let record = fs::read_to_string(self.place.join(RECORD)).ok()?;
        let library = self.place.join(LIBRARY);
        let weights = mapped(&self.place.join(WEIGHTS)).ok()?;
        let hash = XxHash3_128::oneshot_with_seed(self.secret.seed(), &weights);
        if self.stamp(&record, &fs::read(&library).ok()?, hash) != stamped {
            return None;
        }
        // That it was used is worth knowing, not more.
        let _ = File::options()
            .append(true)
            .open(self.place.join(STAMP))
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(Entry { record, library, weights })
    }

    /// Keeps an entry, in place of what was there; what cannot be kept is made again.
    pub(super) fn keep(&self, record: &str, library: &Path, weights: &Weights<'_>) {
        if weights().map(|part| part.len() as u64).sum::<u64>() > MOST / 2 {
            return;
        }
        if self.write(record, library, weights).is_ok() {
            prune(&self.all, MOST);
            sweep(&self.all);
        }
    }

    fn write(&self, record: &str, library: &Path, weights: &Weights<'_>) -> io::Result<()> {
        crate::cache::make_private(&self.all)?;
        let scratch = Scratch::new_in(BUILDING, &self.all)?;
        let library = fs::read(library)?;
        let path = |name| scratch.path().join(name);
        fs::write(path(RECORD), record)?;
        fs::write(path(LIBRARY), &library)?;
        let hasher = Hasher::with_seed(self.secret.seed());
        let (mut file, mut hasher) = (File::create(path(WEIGHTS))?, hasher);
        for part in weights() {
            file.write_all(part)?;
            hasher.write(part);
        }
        fs::write(path(STAMP), self.stamp(record, &library, hasher.finish_128()))?;
        rename(scratch, &self.place)
    }

    /// What tells an entry from another, and from what somebody else wrote.
    fn stamp(&self, record: &str, library: &[u8], weights: u128) -> String {
        let name = self.place.file_name().unwrap_or_default().as_encoded_bytes();
        let parts = [name, record.as_bytes(), library, &weights.to_le_bytes()];
        format!("{}\n", self.secret.hash(&parts))
    }
}

/// Gives a finished folder its name, in place of another one.
fn rename(scratch: Scratch, place: &Path) -> io::Result<()> {
    if fs::rename(scratch.path(), place).is_err() {
        // Another process was faster, or what is there is not whole.
        remove_folder(place)?;
        fs::rename(scratch.path(), place)?;
    }
    // Nothing is left under the old name.
    let _ = scratch.keep();
    Ok(())
}

/// Maps a file that nobody writes to; an empty one is no bytes.
pub(crate) fn mapped(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: files of kept sessions, as those of compiled models, are renamed to where they are
    // when they are whole, and not written to after that; who deletes one leaves its pages to those
    // that have them mapped.
    let map = unsafe { Mmap::map(&file) }?;
    Ok(Bytes::from_owner(map))
}

/// Removes the entries that were not used for the longest time until all have at most `most` bytes.
fn prune(all: &Path, most: u64) {
    let Ok(found) = entries(all) else { return };
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = found
        .into_iter()
        .filter_map(|path| {
            // What has no stamp is being made.
            let used = fs::metadata(path.join(STAMP)).and_then(|data| data.modified()).ok()?;
            Some((used, bytes_of(&path), path))
        })
        .collect();
    entries.sort_unstable_by(|a, b| b.cmp(a));
    let mut sum = 0u64;
    for (at, (_, bytes, path)) in entries.iter().enumerate() {
        sum = sum.saturating_add(*bytes);
        if at > 0 && sum > most {
            // The next one tries again.
            let _ = remove_folder(path);
        }
    }
}

/// The bytes of the files in a folder.
fn bytes_of(folder: &Path) -> u64 {
    let files = entries(folder).unwrap_or_default().into_iter();
    files.filter_map(|file| Some(fs::symlink_metadata(file).ok()?.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn kept(cache: &Cache, name: &str, weights: &[u8]) -> Folder {
        let library = cache.folder().expect("one").join("library");
        fs::create_dir_all(cache.folder().expect("one")).expect("made");
        fs::write(&library, "code").expect("written");
        let folder = Folder::of(cache, &Key::of(&[name])).expect("a folder");
        folder.keep("{}", &library, &|| Box::new(weights.chunks(2)));
        folder
    }

    #[test]
    fn what_was_changed_is_not_there() {
        let scratch = TempDir::new().expect("a folder");
        let cache = Cache::at(scratch.path());
        for name in [RECORD, LIBRARY, WEIGHTS, STAMP] {
            let folder = kept(&cache, "one", &[1, 2, 3]);
            let entry = folder.find().expect("it is whole");
            assert_eq!((entry.record.as_str(), &entry.weights[..]), ("{}", &[1, 2, 3][..]));
            assert_eq!(fs::read(&entry.library).expect("read"), b"code");
            fs::write(folder.place.join(name), "else").expect("written");
            assert!(folder.find().is_none(), "{name} is another");
        }
        assert!(kept(&cache, "one", &[]).find().is_some(), "it is made again, without weights");
        assert!(Folder::of(&Cache::none(), &Key::of(&["one"])).is_none());
    }

    #[test]
    fn the_oldest_entries_go_first_and_the_last_one_stays() {
        let scratch = TempDir::new().expect("a folder");
        let cache = Cache::at(scratch.path());
        let folders = ["a", "b", "c"].map(|name| {
            let folder = kept(&cache, name, &[0; 1000]);
            let hours = if name == "b" { 9 } else { 1 };
            let used = SystemTime::now() - std::time::Duration::from_secs(hours * 3600);
            let stamp = File::options().append(true).open(folder.place.join(STAMP)).expect("open");
            stamp.set_modified(used).expect("set");
            folder
        });
        prune(&folders[0].all, 2500);
        assert!(folders[0].find().is_some() && folders[1].find().is_none());
        prune(&folders[0].all, 0);
        let left = fs::read_dir(&folders[0].all).expect("listed").count();
        assert_eq!(left, 1, "what was used last");
    }
}
