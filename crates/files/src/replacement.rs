//! A file that takes the place of another.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::folder::settled;
use crate::temporary::{Named, Temporary};
use crate::{Folder, Identity, behind_links, folder_of};

/// A file that is being written and will be what a path leads to.
///
/// Dropped before [`Replacement::commit`], it leaves everything as it was.
///
/// ```
/// use std::io::Write;
/// use tangram_files::Replacement;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = &folder.path().join("report.json");
/// let mut file = Replacement::of(path)?;
/// file.write_all(b"{}")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(path)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Replacement {
    new: Temporary,
    target: PathBuf,
    /// What was there when the work began.
    before: Identity,
    /// The target is a device or a pipe, which gets a copy.
    special: bool,
}

impl Replacement {
    /// Starts the file that will replace what `path` leads to.
    ///
    /// # Errors
    /// The folder is not there, or may not be written to.
    pub fn of(path: &Path) -> io::Result<Replacement> {
        let target = behind_links(path);
        // What a writer that was ended had decided is what was there before.
        crate::settle(&target)?;
        let before = Identity::of(&target);
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let special = old.as_ref().is_some_and(|old| !old.is_file());
        if special {
            let new = Temporary { file: tempfile::tempfile()?, name: None };
            return Ok(Replacement { new, target, before, special });
        }
        let new = Temporary::new(folder_of(&target))?;
        if let Some(old) = old {
            new.file.set_permissions(permissions(&old))?;
        }
        Ok(Replacement { new, target, before, special })
    }

    /// Starts a file in `folder` that gets its name later, by [`Replacement::at`].
    ///
    /// # Errors
    /// The folder is not there, or may not be written to.
    pub fn new_in(folder: &Path) -> io::Result<Replacement> {
        let new = Temporary::new(folder)?;
        let target = folder.to_owned();
        Ok(Replacement { new, target, before: Identity::default(), special: false })
    }

    /// Gives it the target `path` in the same folder, where nothing may be.
    #[must_use]
    pub fn at(self, path: PathBuf) -> Replacement {
        Replacement { target: path, before: Identity::default(), ..self }
    }

    /// States what was at the path when the work began that this file is the result of.
    #[must_use]
    pub fn since(self, before: Identity) -> Replacement {
        Replacement { before, ..self }
    }

    /// The path that will lead to it, behind all links.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        &self.new.file
    }

    /// Whether it goes to a device or a pipe, which has no folder of its own.
    pub fn is_special(&self) -> bool {
        self.special
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> io::Result<()> {
        settled(self.new.file.sync_all())
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Another program wrote there since the work began, or what the system says; the old file is
    /// as it was then.
    pub fn commit(self) -> io::Result<()> {
        if self.special {
            return self.copy();
        }
        self.sync()?;
        let folder = Folder::of(&self.target)?;
        self.commit_in(&folder)?;
        folder.sync()
    }

    /// The same in a folder that is locked already, without waiting for the disk: that is
    /// [`Replacement::sync`] before and [`Folder::sync`] after it.
    ///
    /// # Errors
    /// As those of [`Replacement::commit`].
    pub fn commit_in(self, folder: &Folder) -> io::Result<()> {
        if self.special {
            return self.copy();
        }
        self.check_unchanged()?;
        if self.before.exists() {
            let named = self.new.into_named(folder.path())?;
            return named.rename(&self.target).map_err(mounted);
        }
        self.new.link_new(&self.target)
    }

    /// Says whether another program wrote there since the work began.
    pub(crate) fn check_unchanged(&self) -> io::Result<()> {
        match Identity::of(&self.target) == self.before {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another program wrote it meanwhile, and what it wrote stays",
            )),
        }
    }

    /// Gives it a hidden name; returns that, the name that it will have, and whether it replaces a
    /// file.
    pub(crate) fn into_step(self, folder: &Folder) -> io::Result<(Named, PathBuf, bool)> {
        Ok((self.new.into_named(folder.path())?, self.target, self.before.exists()))
    }

    fn copy(mut self) -> io::Result<()> {
        self.new.file.rewind()?;
        let mut target = File::options().write(true).open(&self.target)?;
        io::copy(&mut self.new.file, &mut target).map(drop)
    }
}

/// Says what a single file that is mounted means, as containers have them.
fn mounted(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices => io::Error::new(
            error.kind(),
            "it is a mount of its own, which cannot be replaced: write to another file, or mount \
             its folder",
        ),
        _ => error,
    }
}

/// The permissions of a file, but for those to run as somebody else.
fn permissions(old: &fs::Metadata) -> fs::Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::Permissions::from_mode(old.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    old.permissions()
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.new.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.new.file.flush()
    }
}

impl Read for Replacement {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.new.file.read(bytes)
    }
}

impl Seek for Replacement {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.new.file.seek(to)
    }
}

/// Writes a file whole: what is at `path` is the old content or `bytes`.
///
/// # Errors
/// As those of [`Replacement::commit`].
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = Replacement::of(path)?;
    file.write_all(bytes.as_ref())?;
    file.commit()
}
