//! Files that are no UTF-8: C does not ask for it, and comments of old files are Latin-1.
//!
//! A byte that is of no character is read as one for private use, U+10FF80 and on, and written as the
//! byte that it was.

use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::path::Path;

use crate::error::{self, Error};
use crate::out;

/// What stands for the byte 0; those of no character are 128 and on.
const FIRST: u32 = 0x10_ff00;

/// Reads a file, or standard input if `path` is `-`.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    let bytes = match out::is_standard(path) {
        true => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        false => std::fs::read(path),
    };
    let bytes = bytes.map_err(error::io(path))?;
    text(&bytes).map_err(|why| Error::Usage(format!("{}: {why}", path.display())))
}

/// Reads bytes as text.
pub(super) fn text(bytes: &[u8]) -> Result<String, &'static str> {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        if chunk.valid().contains(is_byte) {
            return Err("expected no characters from U+10FF80 on, which stand for other bytes");
        }
        text.push_str(chunk.valid());
        text.extend(
            chunk.invalid().iter().filter_map(|byte| char::from_u32(FIRST + u32::from(*byte))),
        );
    }
    Ok(text)
}

/// Returns the bytes that a text was read from.
pub(super) fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(u32::from(c).wrapping_sub(FIRST)) {
            Ok(byte) if is_byte(c) => bytes.push(byte),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

/// Writes a text as [`out::deliver`] does, with the bytes that it was read from.
pub(super) fn deliver(path: Option<&Path>, text: &str) -> Result<(), Error> {
    if !text.contains(is_byte) {
        return out::deliver(path, text);
    }
    if let Some(path) = path.filter(|path| !out::is_standard(path)) {
        return out::write_bytes(path, &bytes(text));
    }
    if std::io::stdout().is_terminal() {
        return out::print(shown(text));
    }
    let mut to = std::io::stdout().lock();
    match to.write_all(&bytes(text)).and_then(|()| to.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error::io(Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Writes a text for people.
pub(super) fn shown(text: &str) -> String {
    text.replace(is_byte, "\u{fffd}")
}

fn is_byte(c: char) -> bool {
    u32::from(c) >= FIRST + 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for own in [&b"caf\xe9 \xff\x80;"[..], "größe".as_bytes(), b"", b"\xe2\x82 \xc3"] {
            assert_eq!(text(own).map(|text| bytes(&text)), Ok(own.to_vec()));
        }
        assert_eq!(text(b"caf\xe9").map(|text| shown(&text)), Ok("caf\u{fffd}".to_owned()));
        assert!(text("\u{10ff80}".as_bytes()).is_err());
    }
}
