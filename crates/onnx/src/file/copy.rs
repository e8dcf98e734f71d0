//! Copying a part of a file into another file, by the system where it can.
//!
//! On a file system with shared blocks nothing is copied at all; on others the bytes stay in the
//! kernel. Holes are skipped: a part of them that was data in the target would stay, so the target
//! is one that has nothing there yet.

use std::fs::File;
use std::io;

/// Copies `length` bytes at `from` of `source` to `to` of `target`, which has nothing there yet.
///
/// # Errors
/// The system cannot, or the source is shorter than that; a part may have been copied.
#[cfg(target_os = "linux")]
pub(super) fn range(
    source: &File,
    from: u64,
    target: &File,
    to: u64,
    length: u64,
) -> io::Result<()> {
    let end = from.checked_add(length).ok_or(io::ErrorKind::InvalidInput)?;
    if source.metadata()?.len() < end {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut at = from;
    while let Some((start, stop)) = data(source, at, end)? {
        let (mut input, mut output) = (start, to + (start - from));
        while input < stop {
            let left = usize::try_from(stop - input).unwrap_or(usize::MAX);
            let copied = rustix::fs::copy_file_range(
                source,
                Some(&mut input),
                target,
                Some(&mut output),
                left,
            )?;
            if copied == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        at = stop;
    }
    Ok(())
}

/// The next part of a file that is no hole, between `at` and `end`.
#[cfg(target_os = "linux")]
fn data(file: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;

    if at >= end {
        return Ok(None);
    }
    let start = match seek(file, SeekFrom::Data(at)) {
        Ok(start) if start < end => start,
        // Nothing but a hole is left.
        Ok(_) | Err(Errno::NXIO) => return Ok(None),
        // The system does not know of holes here.
        Err(_) => return Ok(Some((at, end))),
    };
    let stop = seek(file, SeekFrom::Hole(start)).map_or(end, |stop| stop.min(end));
    Ok(Some((start, stop)))
}

/// Elsewhere the caller copies.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(super) fn range(_: &File, _: u64, _: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom, Write};

    #[test]
    fn parts_holes_and_all_arrive() {
        let mut source = tempfile::tempfile().expect("a file");
        source.write_all(&[1; 5000]).expect("written");
        source.seek(SeekFrom::Start(1 << 20)).expect("a hole");
        source.write_all(&[2; 5000]).expect("written");
        source.set_len(1 << 21).expect("a hole at the end");
        let mut target = tempfile::tempfile().expect("a file");
        target.write_all(&[9; 100]).expect("written");
        let length = (1 << 21) - 1000;
        if range(&source, 1000, &target, 100, length).is_err() {
            return; // This file system cannot.
        }
        target.set_len(100 + length).expect("the end");
        let (mut all, mut found) = (Vec::new(), Vec::new());
        source.rewind().and_then(|()| source.read_to_end(&mut all)).expect("read");
        target.rewind().and_then(|()| target.read_to_end(&mut found)).expect("read");
        assert_eq!(found[..100], [9; 100]);
        assert!(found[100..] == all[1000..], "the bytes differ");
        assert!(range(&source, 1 << 21, &target, 0, 1).is_err(), "past the end");
    }
}
