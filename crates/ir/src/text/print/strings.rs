//! Strings, symbols and keys.

use std::fmt;

use super::Printer;

impl<W: fmt::Write> Printer<'_, W> {
    /// Writes `bytes` in quotes; what is not printable ASCII becomes `\XX`.
    pub(super) fn quoted(&mut self, bytes: &[u8]) -> fmt::Result {
        self.write("\"")?;
        self.escaped(bytes)?;
        self.write("\"")
    }

    fn escaped(&mut self, bytes: &[u8]) -> fmt::Result {
        let plain = |b: u8| (b == b' ' || b.is_ascii_graphic()) && b != b'"' && b != b'\\';
        let mut rest = bytes;
        while !rest.is_empty() {
            let n = rest.iter().position(|&b| !plain(b)).unwrap_or(rest.len());
            self.write(std::str::from_utf8(&rest[..n]).unwrap_or_default())?;
            match rest.get(n) {
                None => break,
                Some(b'\\') => self.write("\\\\")?,
                Some(b) => write!(self.out, "\\{b:02X}")?,
            }
            rest = &rest[n + 1..];
        }
        Ok(())
    }

    /// Writes an attribute or resource key, in quotes if it is no identifier.
    pub(super) fn key(&mut self, key: &str) -> fmt::Result {
        if is_identifier(key) { self.write(key) } else { self.quoted(key.as_bytes()) }
    }

    /// Writes `@name`.
    pub(super) fn symbol(&mut self, name: &str) -> fmt::Result {
        self.write("@")?;
        self.key(name)
    }
}

fn is_identifier(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}
