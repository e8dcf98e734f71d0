//! Texts with names of files from anywhere in them, for whoever reads them on a terminal.

use std::borrow::Cow;

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

/// Whether a terminal does something else than to show the letter: control characters but the ends
/// of lines and tabulators, and Unicode's marks of direction (UAX 9) and of lines.
fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{061c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{2028}' | '\u{2029}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn names_are_text_and_nothing_else() {
        assert_eq!(shown("a\tb\n\u{1f600} \u{5e9}"), "a\tb\n\u{1f600} \u{5e9}");
        assert_eq!(shown("\u{1b}[2J\u{9b}1m\r\u{7f}"), r"\u{1b}[2J\u{9b}1m\u{d}\u{7f}");
        assert_eq!(shown("x\u{202e}y\u{2066}z"), r"x\u{202e}y\u{2066}z");
    }
}
