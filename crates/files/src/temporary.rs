//! Files that are being written.
//!
//! On Linux they have no name while they are written (`O_TMPFILE`), so that nothing is left of them
//! however the process ends. Elsewhere, and on file systems that cannot do that, they have one that
//! cannot be foreseen and that was there for nobody (`O_EXCL`).

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::signals;

/// How the names begin of files that are being written.
const PREFIX: &str = ".tangram-";

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) file: File,
    /// Its name, if it has one.
    pub(crate) name: Option<Named>,
}

/// The name of a file that is being written, which goes away with this.
#[derive(Debug)]
pub(crate) struct Named {
    path: PathBuf,
    signal: Option<signals::Slot>,
}

impl Named {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn new(path: PathBuf) -> Named {
        let signal = signals::remove_when_ended(&path);
        Named { path, signal }
    }

    /// Gives the file its final name, in place of what has it.
    pub(crate) fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        // There is nothing left to remove.
        self.signal = None;
        std::mem::take(&mut self.path);
        Ok(())
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Once more where the system was not ready. What stays the next writer here removes.
            let _ = fs::remove_file(&self.path).or_else(|_| fs::remove_file(&self.path));
        }
    }
}

impl Temporary {
    /// Opens a new file in `folder`.
    pub(crate) fn new(folder: &Path) -> io::Result<Temporary> {
        match unnamed(folder) {
            Some(file) => Ok(Temporary { file, name: None }),
            None => Self::named(folder),
        }
    }

    fn named(folder: &Path) -> io::Result<Temporary> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..64 {
            let path = folder.join(free_name());
            let mut how = OpenOptions::new();
            how.read(true).write(true).create_new(true);
            match how.open(&path) {
                Ok(file) => {
                    // Whoever can lock it knows that its writer is gone.
                    let _ = file.try_lock();
                    return Ok(Temporary { file, name: Some(Named::new(path)) });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Gives the file the name `target`, which nothing has.
    ///
    /// # Errors
    /// Something has it, or what the system says.
    pub(crate) fn link_new(self, target: &Path) -> io::Result<()> {
        match &self.name {
            None => link(&self.file, target),
            // Not `rename`, which replaces.
            Some(named) => fs::hard_link(named.path(), target).or_else(|error| {
                match error.kind() == io::ErrorKind::AlreadyExists || target.exists() {
                    true => Err(error),
                    // There are file systems without second names.
                    false => fs::rename(named.path(), target),
                }
            }),
        }
    }

    /// Gives the file a name in `folder`, if it has none: only a name can replace another.
    pub(crate) fn into_named(self, folder: &Path) -> io::Result<Named> {
        if let Some(named) = self.name {
            return Ok(named);
        }
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..64 {
            let named = Named::new(folder.join(free_name()));
            match link(&self.file, named.path()) {
                Ok(()) => return Ok(named),
                Err(error) => {
                    let exists = error.kind() == io::ErrorKind::AlreadyExists;
                    last = error;
                    // It is somebody else's.
                    named.forget();
                    if !exists {
                        break;
                    }
                }
            }
        }
        Err(last)
    }
}

impl Named {
    /// Has it stay where a signal ends the process.
    pub(crate) fn disarm(&mut self) {
        self.signal = None;
    }

    pub(crate) fn forget(mut self) {
        self.signal = None;
        std::mem::take(&mut self.path);
    }
}

/// A name that cannot be foreseen.
fn free_name() -> OsString {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // The keys come from the system's random numbers.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{PREFIX}{:016x}", hasher.finish()).into()
}

#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    // A name is given through this folder later on.
    if !Path::new("/proc/self/fd").is_dir() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let made = openat(CWD, folder, flags, Mode::from_raw_mode(0o666));
    made.ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn link(file: &File, target: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, own, CWD, target, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a name is that of a file that is being written.
pub(crate) fn is_ours(name: &[u8]) -> bool {
    let digits = name.strip_prefix(PREFIX.as_bytes());
    digits.is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Removes what writers left in `folder` that are gone: nobody holds its lock.
pub(crate) fn sweep(folder: &Path) {
    for path in crate::entries(folder).unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if is_ours(name)
            && fs::symlink_metadata(&path).is_ok_and(|it| it.is_file())
            && is_left(&path)
        {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_left(path: &Path) -> bool {
    let mut how = OpenOptions::new();
    how.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut how, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    // One that was opened a moment ago is not locked yet.
    let old = |file: &File| {
        let age = file.metadata().ok()?.modified().ok()?.elapsed().ok()?;
        Some(age.as_secs() >= 10)
    };
    how.open(path).is_ok_and(|file| file.try_lock().is_ok() && old(&file) == Some(true))
}
