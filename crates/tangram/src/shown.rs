//! Texts with names of files from anywhere in them, for whoever reads them on a terminal.

use std::borrow::Cow;

use tangram_ir::text::is_obeyed;

/// Returns `text` as a terminal may show it: what it would obey, or what turns the direction in which
/// it is read, is written as a number.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_obeyed(letter) {
            true => plain.extend(letter.escape_unicode()),
            false => plain.push(letter),
        }
    }
    Cow::Owned(plain)
}

/// Letters of the longest word that a message repeats: more than a path has.
const WORD: usize = 5_000;
/// Letters of the longest line of many words, such as a list.
const LINE: usize = 20_000;
/// How much is left of what is longer, at its start and at its end.
const KEPT: (usize, usize) = (200, 50);

/// Returns `text` as a message to a person: as [`shown`], and of a word of more letters than a path
/// may have, such as a name of megabytes, or of a line longer than a page its start and its end with
/// the number of letters between.
pub fn message(text: &str) -> Cow<'_, str> {
    let of_words = cut(text.split_inclusive(char::is_whitespace), WORD);
    let of_lines = cut(of_words.as_deref().unwrap_or(text).split_inclusive('\n'), LINE);
    match of_lines.or(of_words) {
        None => shown(text),
        Some(text) => Cow::Owned(shown(&text).into_owned()),
    }
}

/// Shortens the pieces that are longer than `longest`; nothing if none is.
fn cut<'t>(pieces: impl Iterator<Item = &'t str> + Clone, longest: usize) -> Option<String> {
    let is_long = |piece: &str| piece.len() > longest;
    let shorter = |piece: &'t str| match is_long(piece) {
        true => Cow::Owned(shortened(piece)),
        false => Cow::Borrowed(piece),
    };
    pieces.clone().any(is_long).then(|| pieces.map(shorter).collect())
}

fn shortened(piece: &str) -> String {
    let (piece, space) = piece.split_at(piece.trim_end().len());
    let letters = piece.chars().count();
    let start: String = piece.chars().take(KEPT.0).collect();
    let end: String = piece.chars().skip(letters.saturating_sub(KEPT.1).max(KEPT.0)).collect();
    let between = letters.saturating_sub(KEPT.0 + KEPT.1);
    format!("{start}[{between} letters]{end}{space}")
}

#[cfg(test)]
mod tests {
    use super::{message, shown};

    #[test]
    fn names_are_text_and_nothing_else() {
        assert_eq!(shown("a\tb\n\u{1f600} \u{5e9}"), "a\tb\n\u{1f600} \u{5e9}");
        assert_eq!(shown("\u{1b}[2J\u{9b}1m\r\u{7f}"), r"\u{1b}[2J\u{9b}1m\u{d}\u{7f}");
        assert_eq!(shown("x\u{202e}y\u{2066}z"), r"x\u{202e}y\u{2066}z");
    }

    #[test]
    fn messages_repeat_long_words_in_part() {
        let path = "d/".repeat(2_000) + "m.onnx: is not there";
        assert_eq!(message(&path), path);
        let name = format!("no {}\u{1b}b\n", "\u{e9}".repeat(9_000));
        let said = message(&name);
        assert!(said.starts_with("no \u{e9}\u{e9}") && said.ends_with("\\u{1b}b\n"), "{said}");
        assert!(said.contains("[8752 letters]"), "{said}");
        let list = format!("found {}2\n", "1, ".repeat(10_000));
        assert_eq!(message(&list).len(), 250 + "[29757 letters]\n".len());
    }
}
