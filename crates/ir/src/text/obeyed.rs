//! Letters that readers of a text obey rather than show.

/// Whether a terminal or an editor does something else than to show the letter: control characters but
/// the ends of lines and tabulators, and Unicode's marks of direction (UAX 9) and of lines.
pub fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{061c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{2028}' | '\u{2029}' => true,
        other => other.is_control(),
    }
}
