//! Places of the protocol, in UTF-16 units of a line, and byte offsets.

use lsp_types::{Position, Range};

/// Where the lines of a text begin.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines; `\n`, `\r\n` and `\r` end one.
    pub(crate) fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = |i: usize| match bytes[i] {
            b'\n' => true,
            b'\r' => bytes.get(i + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = (0..bytes.len()).filter(|&i| ends(i)).map(|i| i + 1);
        Lines { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// The byte of `position`; one beyond the end of its line is the end of the line, one inside of
    /// a character its start.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return text.len() };
        let line = text[start..].split(['\n', '\r']).next().unwrap_or("");
        let (mut units, mut at) = (0, 0);
        for c in line.chars() {
            units += c.len_utf16();
            if units > position.character as usize {
                break;
            }
            at += c.len_utf8();
        }
        start + at
    }

    /// The position of byte `offset`, or of the start of the character around it.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let before = &text[self.starts[line]..offset];
        Position::new(line as u32, before.encode_utf16().count() as u32)
    }

    /// The range of bytes `start..end`.
    pub(crate) fn range(&self, text: &str, start: usize, end: usize) -> Range {
        Range::new(self.position(text, start), self.position(text, end.max(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        let text = "a\u{1D11E}b\r\né\rx";
        let lines = Lines::new(text);
        let at = |line, character| lines.offset(text, Position::new(line, character));
        assert_eq!([at(0, 1), at(0, 2), at(0, 3), at(0, 4)], [1, 1, 5, 6]);
        assert_eq!([at(1, 1), at(1, 9), at(2, 0), at(7, 0)], [10, 10, 11, 12]);
        assert_eq!(lines.position(text, 5), Position::new(0, 3));
        assert_eq!(lines.position(text, 3), Position::new(0, 1));
        assert_eq!(lines.position(text, 10), Position::new(1, 1));
    }

    #[test]
    fn a_place_that_is_a_position_comes_back() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..500 {
            let parts = ["a", "é", "\u{1D11E}", "\n", "\r\n", "\r", " "];
            let text: String = (0..random.usize(..30)).map(|_| parts[random.usize(..7)]).collect();
            let lines = Lines::new(&text);
            for (at, c) in text.char_indices() {
                let inside = c == '\n' && text[..at].ends_with('\r');
                let back = lines.offset(&text, lines.position(&text, at));
                assert!(inside || back == at, "{text:?} {at}");
            }
        }
    }
}
