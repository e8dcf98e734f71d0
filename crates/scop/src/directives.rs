//! The preprocessor's directives in the text of a file, and what they forbid.
//!
//! Text that goes away with the loops of a part takes directives in it away, too:
//!
//! ```c
//! for (int j = 0; j < n; j++) {
//! #define LAST n                  // what is behind may need it
//!     for (int i = 0; i < n; i++) a[i][j] = 0;
//! #ifdef TRACE
//!     puts("a line");             // goes away whole: the part is what is left without `TRACE`
//! #endif
//! }
//! ```
//!
//! So conditions must begin and end inside the text, and nothing else may stand in it but pragmas that
//! say how loops run. The file is read as the compiler reads it: lines that end in `\` go on, comments
//! are space, and `%:` is `#`.

use std::ops::Range;

use crate::c_tokens::is_of_word;
use crate::plain::literal;
use crate::pragma::has_lasting_effect;
use crate::top_level::{comment, continued};

/// A piece of a file, before the preprocessor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// What stands behind `#`, on one line and without comments.
    Directive(String),
    /// A word, a literal, or another character that is no space.
    Code(&'a str),
}

/// Cuts a file into pieces, each with its place; a directive ends with its line. Linear in the text.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (Range<usize>, Piece<'_>)> {
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut begun = false;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            if let Some(length) = comment(rest).or_else(|| continued(rest)) {
                at += length;
                continue;
            }
            if first.is_whitespace() {
                begun &= first != '\n';
                at += first.len_utf8();
                continue;
            }
            let start = at;
            let mark = if rest.starts_with("%:") { 2 } else { usize::from(first == '#') };
            if mark > 0 && !begun {
                let (words, length) = directive(&rest[mark..]);
                at += mark + length;
                return Some((start..at, Piece::Directive(words)));
            }
            begun = true;
            let length = match first {
                '"' | '\'' => literal(rest, first),
                _ if is_of_word(first) => {
                    rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()).max(first.len_utf8())
                }
                _ => first.len_utf8(),
            };
            at += length;
            return Some((start..at, Piece::Code(&text[start..at])));
        }
    })
}

/// Reads a directive up to the end of its line; returns its words, and its length with that end.
fn directive(text: &str) -> (String, usize) {
    let (mut words, mut at) = (String::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some(length) = comment(rest) {
            words.push(' ');
            at += length;
            continue;
        }
        if let Some(length) = continued(rest) {
            at += length;
            continue;
        }
        let is_include = words.trim_start().starts_with("include");
        let length = match first {
            '"' if !is_include => literal(rest, first),
            _ => first.len_utf8(),
        };
        at += length;
        if first == '\n' {
            break;
        }
        words.push_str(&rest[..length]);
    }
    (words.trim().to_owned(), at)
}

/// Returns the word of a directive that says what it does, and what follows.
pub(crate) fn split(words: &str) -> (&str, &str) {
    let end = words.find(|c| !is_of_word(c)).unwrap_or(words.len());
    (&words[..end], words[end..].trim_start())
}

/// Finds the first of some directives that keeps the text around them from being replaced, and why.
/// `directives`: each with its place.
pub(crate) fn hindrance<'a, T>(
    directives: impl Iterator<Item = (T, &'a str)>,
) -> Option<(T, String)> {
    let mut open = Vec::new();
    for (at, words) in directives {
        let (word, rest) = split(words);
        let is_pragma = word == "pragma";
        match word {
            "if" | "ifdef" | "ifndef" => open.push((at, word)),
            "elif" | "elifdef" | "elifndef" | "else" if !open.is_empty() => {}
            "endif" if !open.is_empty() => drop(open.pop()),
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => return Some((at, cut(word))),
            // A number: where the preprocessor says that lines are from.
            "" => {}
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => {}
            _ if is_pragma && !has_lasting_effect(rest) => {}
            _ => {
                let name = split(rest).0;
                let shown = [word, name].join(" ");
                let shown = shown.trim_end();
                let message = format!(
                    "`#{shown}` stands among the loops and would go away with them: put it in front"
                );
                return Some((at, message));
            }
        }
    }
    open.into_iter().next().map(|(at, word)| (at, cut(word)))
}

fn cut(word: &str) -> String {
    format!(
        "`#{word}` is of a condition that is only partly among the loops: put all of it there, or none"
    )
}

/// Finds the lines of directives that give other numbers to lines, or other names to files.
pub(crate) fn renumbers(words: &str, line: usize) -> bool {
    let (word, rest) = split(words);
    let number = match word {
        "line" => split(rest).0,
        _ if word.starts_with(|c: char| c.is_ascii_digit()) => word,
        _ => return false,
    };
    number.parse() != Ok(line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directives(text: &str) -> Vec<String> {
        let words = |(_, piece)| match piece {
            Piece::Directive(words) => Some(words),
            Piece::Code(_) => None,
        };
        pieces(text).filter_map(words).collect()
    }

    fn why(text: &str) -> Option<usize> {
        let all = directives(text);
        hindrance(all.iter().map(String::as_str).enumerate()).map(|(at, _)| at)
    }

    #[test]
    fn directives_are_read_as_the_compiler_reads_them() {
        let text = "#def\\\nine A 1\n/* c */ %: undef A // d\nint a; /*\n*/ # b\n\"\\\n#c\";\n/*\n#d\n*/\n\
                    #pragma omp \\\r\n  for\n# if 0\nx = '\n#endif\n#include <a/*.h>\n*/\n";
        let found = directives(text);
        assert_eq!(found[..3], ["define A 1", "undef A", "pragma omp   for"]);
        assert_eq!(found[3..5], ["if 0", "endif"]);
    }

    #[test]
    fn conditions_are_whole_and_without_other_directives() {
        for text in [
            "",
            "#if A\n#elif B\n#else\n#endif\n",
            "#ifdef A\n#ifndef B\n#endif\n#pragma omp simd\n#endif\n",
            "#pragma GCC diagnostic push\n# 7 \"a.c\"\n#\n",
        ] {
            assert_eq!(why(text), None, "{text}");
        }
        for (text, at) in [
            ("#if A\n#endif\n#else\n", 2),
            ("#endif\n", 0),
            ("#if A\n#if B\n#endif\n", 0),
            ("#if A\n#define B\n#endif\n", 1),
            ("#undef A\n", 0),
            ("#include \"a.h\"\n", 0),
            ("#if A\n#error no\n#endif\n", 1),
            ("#pragma omp simd\n#pragma push_macro(\"a\")\n", 1),
            ("#pragma STDC FP_CONTRACT OFF\n", 0),
        ] {
            assert_eq!(why(text), Some(at), "{text}");
        }
    }

    #[test]
    fn lines_may_have_their_own_numbers() {
        assert!(renumbers("line 3 \"a.c\"", 7) && renumbers("3 \"a.c\"", 7));
        assert!(renumbers("line NUMBER", 7));
        assert!(!renumbers("line 8 \"a.c\"", 7) && !renumbers("define A", 7));
    }
}
