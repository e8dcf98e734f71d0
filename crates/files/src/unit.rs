//! Several files of a folder that are replaced together.
//!
//! Names change one by one. So that all of them change or none, a list of what is to be renamed gets
//! its name first, in one step, which decides: from there on whoever finds the list goes on with
//! it. It says which file is which by its number in the file system, so that a name that has changed
//! already is told from one that has not.
//!
//! ```text
//! .tangram-0f..  .tangram-1a..       the new files, complete and on the disk
//! .tangram-unit-..                   the list; with it, the new files are the ones
//! m.so           m.weights           renamed, one after the other
//! ```
//!
//! Where a name cannot be changed, those that have been are changed back: the old file is still
//! there, under the name that the new one had (`renameat2`; where a system has no such exchange, the
//! list stays, and the next writer goes on with it).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::temporary::{Named, Temporary, is_ours};
use crate::{Folder, Replacement, folder_of};

/// How the names of lists begin.
const LISTS: &str = ".tangram-unit-";
/// A list is no longer.
const LONGEST: u64 = 1 << 20;

/// Puts files in their places together.
///
/// Files that links lead to other folders are put there one by one.
///
/// # Errors
/// Another program wrote one of them since the work began, or what the system says. Then all old
/// files are as they were; but see the module's documentation for systems without exchange.
pub fn commit_together(files: Vec<Replacement>) -> io::Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    let folder = folder_of(first.target()).to_owned();
    let is_one = |file: &Replacement| !file.is_special() && folder_of(file.target()) == folder;
    if files.len() == 1 || !files.iter().all(is_one) {
        return files.into_iter().try_for_each(Replacement::commit);
    }
    files.iter().try_for_each(Replacement::sync)?;
    let folder = Folder::of(first.target())?;
    files.iter().try_for_each(Replacement::check_unchanged)?;
    let mut steps = Vec::new();
    for file in files {
        let (named, target, replaces) = file.into_step(&folder)?;
        let number = number_of(&fs::metadata(named.path())?);
        steps.push(Step { named, target, replaces, number });
    }
    // From here on a signal takes nothing away: the next writer goes on.
    steps.iter_mut().for_each(|step| step.named.disarm());
    let list = write_list(&folder, &steps)?;
    let written = folder.sync().map_err(|why| Failed { why, stays: false });
    let done = written.and_then(|()| rename_all(&steps));
    if let Err(Failed { stays: true, why }) = done {
        // The list stays, and what it names.
        steps.into_iter().for_each(|step| step.named.forget());
        return Err(why);
    }
    let removed = fs::remove_file(&list).or_else(|_| fs::remove_file(&list));
    // Under the hidden names there are the old files now, or the new ones that nobody wants.
    drop(steps);
    done.map_err(|failed| failed.why)?;
    removed?;
    folder.sync()
}

/// Goes on with what a writer that was ended had decided, in the folder of `path`.
///
/// # Errors
/// What the system says.
pub fn settle(path: &Path) -> io::Result<()> {
    if lists(folder_of(path)).is_empty() { Ok(()) } else { Folder::of(path).map(drop) }
}

/// One file with the name that it has until then.
struct Step {
    named: Named,
    target: PathBuf,
    /// Whether there is a file that it replaces.
    replaces: bool,
    number: u64,
}

/// A name could not be changed; `stays`: others that have been were not changed back.
struct Failed {
    why: io::Error,
    stays: bool,
}

fn rename_all(steps: &[Step]) -> Result<(), Failed> {
    let mut exchanged = true;
    for (at, step) in steps.iter().enumerate() {
        let Err(why) = step.apply(&mut exchanged) else { continue };
        let undone = steps[..at].iter().rev().all(|step| step.undo().is_ok());
        return Err(Failed { why, stays: !(undone && exchanged) });
    }
    Ok(())
}

impl Step {
    /// Gives the file its name; `exchanged` becomes false where the old file is gone by that.
    fn apply(&self, exchanged: &mut bool) -> io::Result<()> {
        match self.replaces {
            true => match exchange(self.named.path(), &self.target) {
                Err(error) if is_unknown(&error) => {
                    *exchanged = false;
                    fs::rename(self.named.path(), &self.target)
                }
                done => done,
            },
            false => fs::rename(self.named.path(), &self.target),
        }
    }

    fn undo(&self) -> io::Result<()> {
        match self.replaces {
            true => exchange(self.named.path(), &self.target),
            false => fs::rename(&self.target, self.named.path()),
        }
    }
}

#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a file system knows no exchange.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

fn write_list(folder: &Folder, steps: &[Step]) -> io::Result<PathBuf> {
    let mut text = Vec::new();
    for step in steps {
        let name = |path: &Path| path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        text.extend(step.number.to_string().into_bytes());
        for part in [name(step.named.path()), name(&step.target)] {
            text.push(0);
            text.extend(part);
        }
        text.push(0);
    }
    let mut list = Temporary::new(folder.path())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        list.file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    list.file.write_all(&text)?;
    list.file.sync_all()?;
    let number = number_of(&list.file.metadata()?);
    let path = folder.path().join(format!("{LISTS}{number:016x}"));
    list.link_new(&path)?;
    Ok(path)
}

/// The lists in a folder.
fn lists(folder: &Path) -> Vec<PathBuf> {
    let mut found = crate::entries(folder).unwrap_or_default();
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(LISTS.as_bytes())
    });
    found
}

/// Goes on with the lists in a folder that nobody else changes names in.
pub(crate) fn resume(folder: &Path) {
    for list in lists(folder) {
        // What cannot be done now the next one tries again.
        let Some(text) = own_text(&list) else { continue };
        let done = steps_of(&text).into_iter().all(|(number, hidden, target)| {
            let (hidden, target) = (folder.join(hidden), folder.join(target));
            match fs::symlink_metadata(&hidden) {
                Ok(found) if is_own(&found) && number_of(&found) == number => {
                    fs::rename(&hidden, target).is_ok()
                }
                // It has its name; what is there is the old file, which goes with what is left.
                Ok(_) => true,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            }
        });
        if done {
            let _ = fs::remove_file(&list);
        }
    }
}

/// The text of a list that this user wrote: in a folder of many, somebody else's is none.
fn own_text(list: &Path) -> Option<Vec<u8>> {
    let mut how = OpenOptions::new();
    how.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut how, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file: File = how.open(list).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || !is_own(&found) {
        return None;
    }
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Number, hidden name and name of each file in a list; nothing that leads out of the folder.
fn steps_of(text: &[u8]) -> Vec<(u64, String, String)> {
    let parts: Option<Vec<String>> =
        text.split(|&byte| byte == 0).map(|part| String::from_utf8(part.to_vec()).ok()).collect();
    let parts = parts.unwrap_or_default();
    let plain = |name: &str| !name.is_empty() && !name.contains('/') && name != "." && name != "..";
    let steps = parts.chunks_exact(3).filter_map(|step| {
        let number = step[0].parse().ok()?;
        let fits = is_ours(step[1].as_bytes()) && plain(&step[2]);
        fits.then(|| (number, step[1].clone(), step[2].clone()))
    });
    steps.collect()
}

#[cfg(unix)]
fn number_of(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn number_of(found: &fs::Metadata) -> u64 {
    found.len()
}

#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scratch, entries, write};

    fn started(folder: &Path, names: &[&str], text: &str) -> Vec<Replacement> {
        let file = |name: &&str| {
            let mut file = Replacement::of(&folder.join(name)).expect("it starts");
            file.write_all(text.as_bytes()).expect("written");
            file
        };
        names.iter().map(file).collect()
    }

    fn texts(folder: &Path) -> Vec<(String, String)> {
        let all = entries(folder).expect("listed").into_iter();
        all.map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap_or_default())
        })
        .collect()
    }

    fn each(names: &[&str], text: &str) -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn all_get_their_names() -> io::Result<()> {
        let folder = Scratch::new()?;
        let names = ["a", "b", "c"];
        commit_together(started(folder.path(), &names, "one"))?;
        assert_eq!(texts(folder.path()), each(&names, "one"));
        fs::remove_file(folder.path().join("b"))?;
        commit_together(started(folder.path(), &names, "two"))?;
        assert_eq!(texts(folder.path()), each(&names, "two"));
        Ok(())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_one_cannot_be_replaced_all_stay() -> io::Result<()> {
        let folder = Scratch::new()?;
        let names = ["a", "b", "c"];
        commit_together(started(folder.path(), &names, "one"))?;
        fs::remove_file(folder.path().join("b"))?;
        let files = started(folder.path(), &names, "two");
        let folder_lock = Folder::of(files[0].target())?;
        let mut steps = Vec::new();
        for file in files {
            let (named, target, replaces) = file.into_step(&folder_lock)?;
            steps.push(Step { named, target, replaces, number: 0 });
        }
        // Something else has the name of the last one, as a mount that cannot be renamed over.
        fs::remove_file(folder.path().join("c"))?;
        let failed = rename_all(&steps).expect_err("there is nothing to exchange with");
        assert!(!failed.stays, "{}", failed.why);
        drop((steps, folder_lock));
        assert_eq!(texts(folder.path()), each(&["a"], "one"));
        Ok(())
    }

    #[test]
    fn what_was_decided_is_gone_on_with() -> io::Result<()> {
        // The writer ends before the first, second, third and behind the last name.
        for ended in 0..=3 {
            let folder = Scratch::new()?;
            let names = ["a", "b", "c"];
            commit_together(started(folder.path(), &names, "one"))?;
            let lock = Folder::of(&folder.path().join("a"))?;
            let mut steps = Vec::new();
            for file in started(folder.path(), &names, "two") {
                let (named, target, replaces) = file.into_step(&lock)?;
                let number = number_of(&fs::metadata(named.path())?);
                steps.push(Step { named, target, replaces, number });
            }
            write_list(&lock, &steps)?;
            steps[..ended].iter().try_for_each(|step| step.apply(&mut true))?;
            steps.into_iter().for_each(|step| step.named.forget());
            drop(lock);
            settle(&folder.path().join("a"))?;
            let mut found = texts(folder.path());
            // The old files stay for a while under names that the next writer takes away.
            found.retain(|(name, _)| !is_ours(name.as_bytes()));
            assert_eq!(found, each(&names, "two"), "{ended}");
        }
        Ok(())
    }

    #[test]
    fn a_list_of_somebody_else_is_none() -> io::Result<()> {
        let folder = Scratch::new()?;
        let path = |name: &str| folder.path().join(name);
        let hidden = ".tangram-0123456789abcdef";
        write(&path(hidden), "theirs")?;
        write(&path("kept"), "ours")?;
        let number = number_of(&fs::metadata(path(hidden))?);
        for target in ["../kept", "..", "", "a/b"] {
            fs::write(path(".tangram-unit-1"), format!("{number}\0{hidden}\0{target}\0"))?;
            settle(&path("x"))?;
        }
        // It may be written to by others.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::write(path(".tangram-unit-1"), format!("{number}\0{hidden}\0kept\0"))?;
            fs::set_permissions(path(".tangram-unit-1"), fs::Permissions::from_mode(0o666))?;
            settle(&path("x"))?;
        }
        assert_eq!(fs::read(path("kept"))?, b"ours");
        Ok(())
    }
}
