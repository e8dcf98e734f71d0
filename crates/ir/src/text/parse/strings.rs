//! String literals, with the escapes that MLIR writes.

use super::{Parsed, Parser, Token};
use crate::attributes::AttrData;
use crate::context::Str;

impl Parser<'_> {
    /// The bytes of the string literal `token` (`"..."` or `@"..."`).
    pub(super) fn unescape(&mut self, token: Token) -> Parsed<Vec<u8>> {
        let text = self.spelling(token);
        let body = text.trim_start_matches('@');
        let body = body.get(1..body.len().saturating_sub(1)).unwrap_or("").as_bytes();
        let mut bytes = Vec::with_capacity(body.len());
        let mut at = 0;
        while let Some(&b) = body.get(at) {
            at += 1;
            if b != b'\\' {
                bytes.push(b);
                continue;
            }
            let (value, used) = match body.get(at..).unwrap_or(&[]) {
                [b'n', ..] => (b'\n', 1),
                [b't', ..] => (b'\t', 1),
                [c @ (b'"' | b'\\'), ..] => (*c, 1),
                [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                    (nibble(*high) << 4 | nibble(*low), 2)
                }
                _ => {
                    let message = "expected `\\n`, `\\t`, `\\\"`, `\\\\` or two hexadecimal digits after `\\`";
                    return self.error(token, "escape", message.into());
                }
            };
            bytes.push(value);
            at += used;
        }
        Ok(bytes)
    }

    /// The literal `token` as text.
    pub(super) fn text_of(&mut self, token: Token) -> Parsed<Str> {
        let text = self.spelling(token);
        if !text.contains('\\') {
            let body = text.trim_start_matches('@');
            return Ok(self.context.str(body.trim_matches('"')));
        }
        match String::from_utf8(self.unescape(token)?) {
            Ok(text) => Ok(self.context.str(&text)),
            Err(_) => {
                self.error(token, "not-utf-8", "expected text in UTF-8, found other bytes".into())
            }
        }
    }

    /// The literal `token` as an attribute.
    pub(super) fn string_attr(&mut self, token: Token) -> Parsed<AttrData> {
        Ok(match String::from_utf8(self.unescape(token)?) {
            Ok(text) => AttrData::String(self.context.str(&text)),
            Err(error) => AttrData::Bytes(error.into_bytes().into()),
        })
    }
}

/// The value of a hexadecimal digit.
pub(super) fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

/// The bytes of `0x` and an even number of hexadecimal digits.
pub(super) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if digits.len() % 2 != 0 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    Some(digits.chunks_exact(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])).collect())
}
