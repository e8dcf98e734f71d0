//! A folder in which names change.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{temporary, unit};

/// How long a writer waits for another one that changes names in the folder, which takes moments.
const LONGEST: Duration = Duration::from_secs(20);

/// A folder that no other writer of ours changes names in while this is there.
///
/// What killed writers had decided is done, and what they left in it goes away.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The lock, where the system has one.
    held: Option<File>,
}

impl Folder {
    /// Waits until nobody else changes names in the folder of `target`.
    ///
    /// # Errors
    /// Another writer does not come to an end.
    pub fn of(target: &Path) -> io::Result<Folder> {
        let path = crate::folder_of(target).to_owned();
        // A folder that may be written to but not read cannot be opened: it stays unlocked.
        let held = File::open(&path).ok();
        if let Some(file) = &held {
            lock(file)?;
        }
        unit::resume(&path);
        temporary::sweep(&path);
        Ok(Folder { path, held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the names in it last.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> io::Result<()> {
        match &self.held {
            Some(folder) => settled(folder.sync_all()),
            None => Ok(()),
        }
    }

    /// Removes the file `name`, if it is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, name: &Path) -> io::Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Not every file system can be told to write down what it has.
pub(crate) fn settled(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        other => other,
    }
}

fn lock(folder: &File) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match folder.try_lock() {
            Err(fs::TryLockError::WouldBlock) if start.elapsed() < LONGEST => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(fs::TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::ResourceBusy,
                    "another program keeps its folder locked",
                ));
            }
            // Not every file system knows locks.
            _ => return Ok(()),
        }
    }
}
