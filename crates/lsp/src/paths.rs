//! The files that URIs name.

use std::path::{Path, PathBuf};

/// The file of a URI of the scheme `file`.
pub(crate) fn of_uri(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // A host other than this one has no files here.
    let path = &rest[rest.find('/')?..];
    let decoded = decode(path)?;
    let drive = decoded.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { decoded[1..].to_owned() } else { decoded }))
}

/// The URI of a file.
pub(crate) fn to_uri(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// Takes `%20` for a space.
fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
                out.push((high * 16 + low) as u8);
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_paths_are_told_apart() {
        let path = Path::new("/a b/ö/x.gsl");
        assert_eq!(to_uri(path), "file:///a%20b/%C3%B6/x.gsl");
        assert_eq!(of_uri(&to_uri(path)).as_deref(), Some(path));
        assert_eq!(of_uri("file:///C%3A/x.gsl"), Some(PathBuf::from("C:/x.gsl")));
        for odd in ["untitled:1", "file://", "file:///%", "file:///%zz", "file:///%ff", ""] {
            assert_eq!(of_uri(odd), None, "{odd}");
        }
    }
}
