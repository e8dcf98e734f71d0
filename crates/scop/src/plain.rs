//! The text that the parser reads: without comments and digraphs, and with calls in the place of pragmas
//! that mark parts.

use crate::top_level::comment;

/// Calls at the marks of a part.
pub(crate) const FIRST: &str = "__tangram_scop";
pub(crate) const LAST: &str = "__tangram_endscop";

/// Turns the pragmas into calls that the parser keeps.
pub(crate) fn marked(source: &str) -> String {
    let mut marked = String::with_capacity(source.len());
    for line in source.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let call = match words.as_slice() {
            ["#pragma", "scop"] | ["#", "pragma", "scop"] => FIRST,
            ["#pragma", "endscop"] | ["#", "pragma", "endscop"] => LAST,
            _ => {
                // The parser knows directives at the start of a line alone.
                let own = line.trim_start();
                let (blank, own) = line.split_at(line.len() - own.len());
                let pieces = if own.starts_with('#') { [own, blank] } else { [blank, own] };
                marked.extend(pieces);
                marked.push('\n');
                continue;
            }
        };
        marked.push_str(&format!("{call}();\n"));
    }
    marked
}

/// Puts spaces in the place of comments, and brackets in that of digraphs; lines and columns stay where
/// they are.
pub(crate) fn without_comments(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if comment(rest).is_some() => comment(rest).unwrap_or_default(),
            '<' | ':' | '%' if digraph(rest).is_some() => {
                text.push_str(digraph(rest).unwrap_or_default());
                rest = &rest[2..];
                continue;
            }
            '"' | '\'' => {
                let length = literal(rest, first);
                text.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            _ => {
                text.push(if first == '\u{feff}' && text.is_empty() { ' ' } else { first });
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        text.extend(rest[..length].chars().map(|c| if c == '\n' { c } else { ' ' }));
        rest = &rest[length..];
    }
    text
}

/// Returns the bracket that two characters stand for, and a space.
fn digraph(text: &str) -> Option<&'static str> {
    const ALL: [(&str, &str); 5] =
        [("<:", "[ "), (":>", "] "), ("<%", "{ "), ("%>", "} "), ("%:", "# ")];
    ALL.into_iter().find(|(written, _)| text.starts_with(written)).map(|(_, stands)| stands)
}

/// Returns the length of a literal with its quotes.
pub(crate) fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            // The end of a line that goes on may be two characters.
            '\r' if escaped => {}
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            // None goes on behind its line.
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
