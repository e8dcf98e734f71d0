//! Folders: what is in them, folders of a moment, and how they go.
//!
//! The standard library ends the process where a folder that it has listed cannot be closed, which
//! some file systems report late. Nothing is lost by that: what was read was read. So the folders
//! that are listed here are closed by hand.

use std::io;
use std::path::{Path, PathBuf};

/// The paths of what is in `folder`, sorted by name.
///
/// # Errors
/// It is no folder, or cannot be read.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> =
        system::names(folder)?.into_iter().map(|name| folder.join(name)).collect();
    found.sort();
    Ok(found)
}

/// Removes a folder and all that is in it; links in it go, and what they lead to stays.
///
/// # Errors
/// What the system says; there may be less in it then.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    system::remove(folder)
}

/// A folder of a moment: it goes with this.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    stays: bool,
}

impl Scratch {
    /// Makes one where the system has such folders.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Scratch> {
        Scratch::new_in("tangram-", &std::env::temp_dir())
    }

    /// Makes one in `folder`, with a name that begins with `prefix`.
    ///
    /// # Errors
    /// What the system says.
    pub fn new_in(prefix: &str, folder: &Path) -> io::Result<Scratch> {
        let made = tempfile::Builder::new().prefix(prefix).tempdir_in(folder)?;
        Ok(Scratch { path: made.keep(), stays: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it there.
    pub fn keep(mut self) -> PathBuf {
        self.stays = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.stays {
            // What cannot be removed costs room, nothing else.
            let _ = remove_folder(&self.path);
        }
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::{CString, OsString};
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStringExt;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, unlinkat};

    /// Folders in folders in folders: nothing of ours is as deep.
    const DEEPEST: usize = 16;

    pub(super) fn names(folder: &Path) -> io::Result<Vec<OsString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = openat(CWD, folder, flags, Mode::empty())?;
        let names = listed(&open)?.into_iter();
        Ok(names.map(|name| OsString::from_vec(name.into_bytes())).collect())
    }

    fn listed(folder: &OwnedFd) -> io::Result<Vec<CString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                names.push(entry.file_name().to_owned());
            }
        }
        Ok(names)
    }

    /// Depth first. An open folder is the one that was looked at, whatever has its name by now.
    pub(super) fn remove(folder: &Path) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = openat(CWD, folder, flags, Mode::empty())?;
        let names = listed(&open)?;
        let mut above = vec![(open, names, None::<CString>)];
        while let Some((open, names, own)) = above.last_mut() {
            let Some(name) = names.pop() else {
                let own = own.take();
                above.pop();
                if let (Some(own), Some((parent, ..))) = (own, above.last()) {
                    unlinkat(parent, own, AtFlags::REMOVEDIR)?;
                }
                continue;
            };
            if unlinkat(&*open, &name, AtFlags::empty()).is_ok() {
                continue;
            }
            // It is a folder, or stays for another reason, which opening it tells.
            let inner = openat(&*open, &name, flags, Mode::empty())?;
            if above.len() >= DEEPEST {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            let names = listed(&inner)?;
            above.push((inner, names, Some(name)));
        }
        std::fs::remove_dir(folder)
    }
}

#[cfg(not(unix))]
mod system {
    use std::ffi::OsString;
    use std::io;
    use std::path::Path;

    pub(super) fn names(folder: &Path) -> io::Result<Vec<OsString>> {
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub(super) fn remove(folder: &Path) -> io::Result<()> {
        std::fs::remove_dir_all(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_folder_is_listed_in_order_and_removed_whole() -> io::Result<()> {
        let outer = Scratch::new()?;
        let folder = outer.path().join("f");
        fs::create_dir_all(folder.join("b/c"))?;
        fs::create_dir(folder.join("empty"))?;
        for name in ["a", "b/x", "b/c/y", "z"] {
            fs::write(folder.join(name), name)?;
        }
        let names = |path: &Path| -> io::Result<Vec<String>> {
            let all = entries(path)?.into_iter();
            Ok(all.filter_map(|p| Some(p.file_name()?.to_str()?.to_owned())).collect())
        };
        assert_eq!(names(&folder)?, ["a", "b", "empty", "z"]);
        assert!(entries(&folder.join("a")).is_err() && entries(&folder.join("none")).is_err());
        remove_folder(&folder)?;
        assert!(!folder.exists());
        let path = outer.path().to_owned();
        drop(outer);
        assert!(!path.exists());
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn what_links_lead_to_stays() -> io::Result<()> {
        let outer = Scratch::new()?;
        let (kept, folder) = (outer.path().join("kept"), outer.path().join("f"));
        fs::create_dir(&kept)?;
        fs::write(kept.join("file"), "here")?;
        fs::create_dir(&folder)?;
        std::os::unix::fs::symlink(&kept, folder.join("link"))?;
        remove_folder(&folder)?;
        assert!(!folder.exists());
        assert_eq!(fs::read(kept.join("file"))?, b"here");
        // A link in the place of the folder is no folder.
        std::os::unix::fs::symlink(&kept, &folder)?;
        assert!(remove_folder(&folder).is_err());
        assert!(kept.join("file").exists());
        Ok(())
    }
}
