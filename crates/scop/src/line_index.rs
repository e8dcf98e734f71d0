//! Which line of which file a place in preprocessed text comes from.
//!
//! The preprocessor's markers, `# 7 "kernel.h" 1`, name the line and the file of what follows. All
//! lines are gone through once; a place is then found by bisection.

/// The lines of a text.
#[derive(Debug)]
pub(crate) struct LineIndex<'a> {
    /// Where each line starts, and what it is, ascending.
    lines: Vec<(usize, Line<'a>)>,
    /// The file that the first marker names.
    pub own: Option<&'a str>,
}

/// A line of a file; without a marker in front of it, the file has no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub file: &'a str,
    pub number: usize,
    /// Whether an `#include` brought it: a file may include itself.
    pub included: bool,
}

impl<'a> LineIndex<'a> {
    pub fn of(text: &'a str) -> Self {
        let (mut lines, mut own, mut start, mut depth) = (Vec::new(), None, 0, 0_usize);
        let mut next = Line { file: "", number: 1, included: false };
        for line in text.split_inclusive('\n') {
            lines.push((start, next));
            start += line.len();
            match marker(line) {
                Some((found, step)) => {
                    own = own.or(Some(found.file));
                    depth = match step {
                        Step::Into => depth + 1,
                        Step::Back => depth.saturating_sub(1),
                        Step::Along => depth,
                    };
                    next = Line { included: depth > 0, ..found };
                }
                None => next.number += 1,
            }
        }
        // Behind the last line break.
        lines.push((start, next));
        Self { lines, own }
    }

    /// Returns the line of a byte.
    pub fn at(&self, offset: usize) -> Line<'a> {
        let behind = self.lines.partition_point(|(start, _)| *start <= offset);
        self.lines[behind.saturating_sub(1)].1
    }
}

/// What a marker says of the way to the lines behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// They are of an included file.
    Into,
    /// They are behind an `#include`.
    Back,
    /// They are of the file of those before, whatever its name is now.
    Along,
}

/// Returns whether a line says where the next one is from.
pub(crate) fn is_marker(line: &str) -> bool {
    marker(line).is_some()
}

/// Reads a marker; nothing of another line.
fn marker(line: &str) -> Option<(Line<'_>, Step)> {
    let (number, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let rest = rest.strip_prefix('"')?;
    let mut escaped = false;
    let end = rest.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    let step = rest[end + 1..].split_whitespace().find_map(|flag| match flag {
        "1" => Some(Step::Into),
        "2" => Some(Step::Back),
        _ => None,
    });
    let line = Line { file: &rest[..end], number: number.parse().ok()?, included: false };
    Some((line, step.unwrap_or(Step::Along)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_name_file_and_line_of_what_follows() {
        let text = "int a;\n# 10 \"k.c\"\nint b;\nint c;\n# 1 \"x \\\"y\\\".h\" 1 3\nint d;\n# 13 \"k.c\" 2\n\
                    # define E\n# x\nint f;\n";
        let index = LineIndex::of(text);
        let line = |word: &str| {
            let Line { file, number, .. } = index.at(text.find(word).expect("a word"));
            (file, number)
        };
        assert_eq!(index.own, Some("k.c"));
        assert_eq!(line("a;"), ("", 1));
        assert_eq!(line("# 10"), ("", 2));
        assert_eq!(line("int b"), ("k.c", 10));
        assert_eq!(line("c;"), ("k.c", 11));
        assert_eq!(line("d;"), ("x \\\"y\\\".h", 1));
        assert_eq!(line("# define"), ("k.c", 13));
        assert_eq!(line("f;"), ("k.c", 15));
        assert!(index.at(text.find("d;").expect("a word")).included);
        assert_eq!(index.at(text.len()), Line { file: "k.c", number: 16, included: false });
        let empty = Line { file: "", number: 1, included: false };
        assert_eq!(LineIndex::of("").at(0), empty);
    }
}
