//! Where definitions can stand in a file: between two of its own, on no line of another thing.
//!
//! The file is read as the compiler reads it before macros are put in their place: lines that end in
//! `\` go on, comments are space, literals are one token, and a directive ends with its line, however
//! many lines of text that is.
//!
//! ```c
//! static const int primes[] = {           // no place: a declaration is open
//! #include "primes.inc"
//! };
//! #include <math.h> /* behind
//!                      it */              // definitions stand behind this line
//! ```

use crate::c_tokens::words;
use crate::plain::literal;

/// Returns the place behind the last `#include`, up to `limit`, that stands by itself: under no
/// condition, and in no declaration. That of the file's first character, if there is none.
pub(crate) fn definitions_at(text: &str, limit: usize) -> usize {
    let mut reader = Reader::new(text);
    while reader.at < limit && reader.step() {}
    reader.place
}

/// Lists the names that directives of a text define as macros.
pub(crate) fn macros(text: &str) -> Vec<String> {
    let mut reader = Reader::new(text);
    while reader.step() {}
    reader.macros
}

/// Reads a file from token to token.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    place: usize,
    /// Conditions around.
    open: usize,
    /// Brackets around.
    depth: usize,
    /// Whether no declaration is open.
    ended: bool,
    /// Whether something stands in front on the line.
    begun: bool,
    /// Names that directives define.
    macros: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self {
            text,
            at: first,
            place: first,
            open: 0,
            depth: 0,
            ended: true,
            begun: false,
            macros: Vec::new(),
        }
    }
}

impl Reader<'_> {
    /// Reads one token, or all of a directive; says whether there was one.
    fn step(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return false };
        if let Some(length) = comment(rest).or_else(|| continued(rest)) {
            self.at += length;
            return true;
        }
        if first.is_whitespace() {
            self.begun &= first != '\n';
            self.at += first.len_utf8();
            return true;
        }
        let begins_line = !std::mem::replace(&mut self.begun, true);
        match first {
            '#' if begins_line => return self.directive(1),
            '%' if rest.starts_with("%:") && begins_line => return self.directive(2),
            '"' | '\'' => {
                self.at += literal(rest, first);
                self.ended = false;
                return true;
            }
            '{' | '(' | '[' => self.depth += 1,
            '}' | ')' | ']' => self.depth = self.depth.saturating_sub(1),
            '<' if rest.starts_with("<%") => self.depth += 1,
            '%' if rest.starts_with("%>") => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        // Behind `}`, a variable of the type may follow: that is seen when it does.
        self.ended = self.depth == 0 && matches!(first, ';' | '}');
        self.at += first.len_utf8();
        true
    }

    /// Reads a directive with the end of its line; `mark`: the length of what begins it.
    fn directive(&mut self, mark: usize) -> bool {
        let mut word = String::new();
        self.at += mark;
        loop {
            let rest = &self.text[self.at..];
            let Some(first) = rest.chars().next() else { break };
            if let Some(length) = comment(rest).or_else(|| continued(rest)) {
                self.at += length;
                continue;
            }
            self.at += match first {
                '"' if !word.starts_with("include") => literal(rest, first),
                _ => first.len_utf8(),
            };
            if first == '\n' {
                break;
            }
            word.push(first);
        }
        self.begun = false;
        let word = word.trim_start();
        if word.starts_with("if") {
            self.open += 1;
        } else if word.starts_with("endif") {
            self.open = self.open.saturating_sub(1);
        } else if word.starts_with("include") && self.open == 0 && self.ended {
            self.place = self.at;
        } else if let Some(rest) = word.strip_prefix("define") {
            self.macros.extend(words(rest).next().map(str::to_owned));
        }
        true
    }
}

/// Returns the length of a comment.
pub(crate) fn comment(text: &str) -> Option<usize> {
    if let Some(inner) = text.strip_prefix("/*") {
        return Some(inner.find("*/").map_or(text.len(), |end| end + 4));
    }
    if !text.starts_with("//") {
        return None;
    }
    let mut from = 0;
    while let Some(end) = text[from..].find('\n') {
        let line = text[..from + end].trim_end_matches('\r');
        if !line.ends_with('\\') {
            return Some(from + end);
        }
        from += end + 1;
    }
    Some(text.len())
}

/// Returns the length of the end of a line that goes on.
pub(crate) fn continued(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    let rest = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n')?;
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what stands in front of the place.
    fn before(text: &str) -> &str {
        &text[..definitions_at(text, text.len())]
    }

    #[test]
    fn directives_in_comments_and_strings_are_none() {
        let own = "#include <math.h>\n";
        for rest in [
            "/*\n#include <stdlib.h>\n*/\n",
            "char *s = \"\\\n#include <q.h>\\\n\";\n",
            "// on \\\n#include <q.h>\n",
            "#define X \\\n#include <q.h>\n",
            "char c = '\"';\n/* \"\n#include <q.h>\n*/",
            "int a[] = {\n#include \"a.inc\"\n};\n",
            "int b =\n#include \"b.inc\"\n;\n",
            "#if 0\n#include <q.h>\n#endif\n",
            "void f(void) <%\n#include \"b.inc\"\n%>\n",
        ] {
            assert_eq!(before(&format!("{own}{rest}")), own, "{rest}");
        }
    }

    #[test]
    fn lines_of_a_directive_are_all_that_belong_to_it() {
        for own in [
            "#define X \\\n 3\n#include <math.h> /* multi\n line */\n",
            "int a;\n  # include \"x.h\" // y \\\n z\n",
            "struct s { int a; };\n%: include <x.h>\r\n",
            "/* c */ #include <x\\\n.h>\n",
        ] {
            assert_eq!(before(&format!("{own}int f(void);\n")), own);
        }
    }

    #[test]
    fn macros_are_those_of_all_directives() {
        let text = "#define A all.A\n# define \\\n  F(x) x\n/*\n#define B\n*/\n%:define /* of */ C 1\n\
                    char *s = \"\\\n#define D\\\n\";\n#if 0\n#define E\n#endif\n#undef H\n#define\n";
        assert_eq!(macros(text), ["A", "F", "C", "E"]);
    }

    #[test]
    fn without_directives_it_is_the_first_character() {
        assert_eq!(before("\u{feff}int a;\n"), "\u{feff}");
        assert_eq!(before("\u{feff}#include <x.h>\nint a;\n"), "\u{feff}#include <x.h>\n");
        assert_eq!(before("int a;\n"), "");
        assert_eq!(definitions_at("#include <x.h>\nint a;\n#include <y.h>\n", 20), 15);
    }
}
