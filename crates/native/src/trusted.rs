//! Whether what lies in the cache may be run.
//!
//! Code in the cache is loaded into the process. So the folder has to be the user's alone, and what
//! is in it has to be what this user wrote: each entry carries a hash of its content under a key
//! (SipHash-2-4, Aumasson and Bernstein, 2012) that lies in the folder and that nobody else can
//! read. Somebody who could write there for a while does not know the key.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a folder is not used as a cache.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Untrusted {
    /// Somebody else could put code there.
    #[error("{} {why}, so no code is kept there or run from there", folder.display())]
    Folder {
        /// The folder, or the one above it that is at fault.
        folder: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It cannot be used.
    #[error("{} cannot be used: {why}", folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        why: String,
    },
}

/// The file of the key.
const KEY: &str = "key";

/// What only this user knows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret([u64; 4]);

impl Secret {
    /// The key of a folder, which is made when it is first needed.
    pub(crate) fn of(folder: &Path) -> Result<Secret, Untrusted> {
        owned(folder)?;
        let path = folder.join(KEY);
        let unusable =
            |why: io::Error| Untrusted::Unusable { folder: path.clone(), why: why.to_string() };
        for _ in 0..8 {
            match fs::symlink_metadata(&path) {
                Err(why) if why.kind() == io::ErrorKind::NotFound => {
                    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unusable)?;
                    file.write_all(&random()).map_err(unusable)?;
                    // Another process may have been faster: then its key is the one.
                    let _ = file.persist_noclobber(&path);
                }
                Err(why) => return Err(unusable(why)),
                Ok(found) if !found.is_file() || !is_private(&found) => {
                    let why = "is not a file that only its user reads";
                    return Err(Untrusted::Folder { folder: path, why });
                }
                Ok(_) => {
                    let bytes = fs::read(&path).map_err(unusable)?;
                    if let Ok(bytes) = <[u8; 32]>::try_from(bytes) {
                        return Ok(Secret(std::array::from_fn(|at| word(&bytes[8 * at..]))));
                    }
                    // One that was cut: what it was for is built again.
                    fs::remove_file(&path).map_err(unusable)?;
                }
            }
        }
        let why = "its key changes all the time".to_owned();
        Err(Untrusted::Unusable { folder: folder.to_owned(), why })
    }

    /// The hash of `parts` under the key: 128 bits as a text.
    pub(crate) fn hash(&self, parts: &[&[u8]]) -> String {
        let [a, b, c, d] = self.0;
        let half = |(first, second)| {
            #[expect(deprecated, reason = "the one hash of the standard library with keys")]
            let mut hasher = std::hash::SipHasher::new_with_keys(first, second);
            for part in parts {
                hasher.write(&(part.len() as u64).to_le_bytes());
                hasher.write(part);
            }
            hasher.finish()
        };
        format!("{:016x}{:016x}", half((a, b)), half((c, d)))
    }

    /// Where a hash starts that is quick on gigabytes of weights.
    pub(crate) fn seed(&self) -> u64 {
        self.0[0] ^ self.0[3].rotate_left(17)
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Numbers of the system's source: the keys of these hashes come from there.
fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    for (at, part) in bytes.chunks_mut(8).enumerate() {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_usize(at);
        part.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    bytes
}

/// Says whether only this user can put files into `folder`.
///
/// # Errors
/// [`Untrusted`]: who else can.
#[cfg(unix)]
pub(crate) fn owned(folder: &Path) -> Result<(), Untrusted> {
    use std::os::unix::fs::MetadataExt;
    let fault = |folder: &Path, why| Err(Untrusted::Folder { folder: folder.to_owned(), why });
    let unusable =
        |why: io::Error| Untrusted::Unusable { folder: folder.to_owned(), why: why.to_string() };
    let user = rustix::process::geteuid().as_raw();
    let link = fs::symlink_metadata(folder).map_err(unusable)?;
    if link.is_symlink() && link.uid() != user {
        return fault(folder, "is a link that somebody else made");
    }
    let real = fs::canonicalize(folder).map_err(unusable)?;
    let found = fs::metadata(&real).map_err(unusable)?;
    if found.uid() != user {
        return fault(folder, "belongs to somebody else");
    }
    if found.mode() & 0o022 != 0 {
        return fault(folder, "may be written to by others (`chmod go-w` changes that)");
    }
    // Who may rename what is above it can put another in its place.
    for above in real.ancestors().skip(1) {
        let found = fs::metadata(above).map_err(unusable)?;
        if found.uid() != user && found.uid() != 0 {
            return fault(above, "belongs to somebody else");
        }
        let sticky = found.mode() & 0o1000 != 0;
        if found.mode() & 0o002 != 0 && !sticky {
            return fault(above, "may be written to by everybody");
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn owned(_: &Path) -> Result<(), Untrusted> {
    Ok(())
}

#[cfg(unix)]
fn is_private(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_tells_contents_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = Secret::of(folder.path()).expect("a key");
        assert!(key == Secret::of(folder.path()).expect("the same"));
        assert_eq!(key.hash(&[b"ab", b"c"]), key.hash(&[b"ab", b"c"]));
        assert_ne!(key.hash(&[b"ab", b"c"]), key.hash(&[b"a", b"bc"]));
        fs::write(folder.path().join(KEY), "short").expect("written");
        assert!(key != Secret::of(folder.path()).expect("another"));
    }

    #[test]
    fn siphash_has_the_values_of_its_paper() {
        let key = Secret([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0, 0]);
        #[expect(deprecated, reason = "as above")]
        let mut hasher = std::hash::SipHasher::new_with_keys(key.0[0], key.0[1]);
        hasher.write(&(0..15).collect::<Vec<u8>>());
        assert_eq!(hasher.finish(), 0xa129_ca61_49be_45e5);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        };
        let inner = folder.path().join("cache");
        fs::create_dir(&inner).expect("made");
        mode(&inner, 0o700);
        assert_eq!(owned(&inner), Ok(()));
        for wrong in [0o770, 0o702, 0o777, 0o1777] {
            mode(&inner, wrong);
            let why = owned(&inner).expect_err("refused").to_string();
            assert!(why.contains("may be written to by others"), "{why}");
        }
        let link = folder.path().join("link");
        symlink(&inner, &link).expect("made");
        assert!(owned(&link).is_err(), "a link to one");
        mode(&inner, 0o700);
        assert_eq!(owned(&link), Ok(()));
        mode(folder.path(), 0o777);
        let why = owned(&inner).expect_err("refused").to_string();
        assert!(why.contains("by everybody"), "{why}");
        mode(folder.path(), 0o700);
        let key = inner.join(KEY);
        fs::write(&key, [7; 32]).expect("written");
        mode(&key, 0o644);
        assert!(Secret::of(&inner).is_err(), "a key that others read");
        fs::remove_file(&key).expect("removed");
        symlink("elsewhere", &key).expect("made");
        assert!(Secret::of(&inner).is_err(), "a key that is a link");
    }
}
