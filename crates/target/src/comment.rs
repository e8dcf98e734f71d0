//! Text of others in comments of C.

use tangram_ir::text::is_obeyed;

/// Returns a text as a piece of a line in a comment, which it does not end, whatever it is.
///
/// C joins a line that ends in a backslash, which `??/` stands for, to the next one before it looks for
/// the end of a comment: ends of lines are written as numbers, as all is that is not shown.
///
/// ```
/// assert_eq!(tangram_target::comment("a*\\\n/ b */"), r"a*\\u{a}/ b * /");
/// assert_eq!(tangram_target::comment("größe"), "größe");
/// ```
pub fn comment(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 2);
    for letter in text.chars() {
        match letter {
            '\n' => line.extend(letter.escape_unicode()),
            '/' if line.ends_with('*') => line.push_str(" /"),
            // What follows the text may end its line.
            letter if is_obeyed(letter) => line.extend(letter.escape_unicode()),
            letter => line.push(letter),
        }
    }
    if line.ends_with('\\') || line.ends_with("??/") || line.ends_with('*') {
        line.push(' ');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn no_text_ends_a_comment() {
        for text in
            ["*/", "**/", "*\\\n/", "*\\ \n/", "*\\\r\n/", "*??/\n/", "*\\\n\\\n/", "*", "\\"]
        {
            let line = comment(text);
            assert!(!line.contains("*/") && !line.contains(['\n', '\r']), "{text:?}: {line:?}");
            assert!(!line.ends_with(['*', '\\']), "{text:?}: {line:?}");
        }
        assert_eq!(comment("a\u{1b}b\u{202e}c\td"), "a\\u{1b}b\\u{202e}c\td");
    }
}
