//! Directives of a file, put back into its text behind the preprocessor.
//!
//! The preprocessor removes directives, and with them all that stands under conditions which do not
//! hold for it. But the file is compiled under others, too:
//!
//! ```c
//! #ifdef _OPENMP
//! #pragma omp parallel for        // in front of the loop for who has threads
//! #endif
//! for (int i = 0; i < n; i++) a[i] = 0;
//! ```
//!
//! So pragmas about loops that end a branch of a condition are put back, and govern what follows as
//! those do that the preprocessor leaves. So are the braces of a region that such a pragma opens in its
//! branch. Of other directives the words alone are put back, so that parts end in front of them.

use std::collections::HashMap;

use crate::directives::{Piece, pieces, renumbers, split};
use crate::line_index::{LineIndex, is_marker};
use crate::pragma::{is_about_loops, of_operator};

/// A line that the preprocessor leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Removed {
    line: usize,
    text: String,
    /// Whether the line may have code of its own, behind this.
    beside: bool,
}

impl Removed {
    fn new(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into(), beside: false }
    }

    fn is_brace(&self) -> bool {
        !self.text.starts_with('#')
    }
}

/// Puts the directives of `original` back into what the preprocessor made of it.
///
/// Lines keep their numbers. A file with `#line` stays as it is: what is said of its lines says nothing
/// of their places. Linear in both texts.
pub fn with_directives(original: &str, preprocessed: &str) -> String {
    let Some(removed) = Reader::default().removed(original) else {
        return preprocessed.to_owned();
    };
    let mut pending = removed.into_iter().peekable();
    let index = LineIndex::of(preprocessed);
    let own = index.own.unwrap_or_default();
    let (mut text, mut at) = (String::with_capacity(preprocessed.len()), 0);
    for line in preprocessed.split_inclusive('\n') {
        let place = index.at(at);
        at += line.len();
        if is_marker(line) || place.included || place.file != own {
            text.push_str(line);
            continue;
        }
        let (number, blank) = (place.number, line.trim().is_empty());
        let is_before =
            |next: &Removed| next.line < number || next.line == number && next.beside && !blank;
        let before = text.len();
        while let Some(next) = pending.next_if(is_before) {
            text.push_str(&(next.text + "\n"));
        }
        if text.len() > before {
            text.push_str(&marker(number, own));
        }
        let (before, mut count) = (text.len(), 0);
        while let Some(next) = pending.next_if(|next| next.line == number) {
            text.push_str(&(next.text + "\n"));
            count += 1;
        }
        match count {
            1 if blank => {}
            2.. if blank => text.push_str(&marker(number + 1, own)),
            _ => {
                // The preprocessor left what stands there.
                text.truncate(before);
                text.push_str(line);
            }
        }
    }
    text
}

fn marker(number: usize, file: &str) -> String {
    format!("# {number} \"{file}\"\n")
}

/// What a branch of a condition ends with, as far as it governs what follows.
#[derive(Debug, Default)]
struct Branch {
    /// Pragmas, and braces that are open.
    open: Vec<Removed>,
    /// Braces that end what another branch opened.
    closed: Vec<usize>,
}

impl Branch {
    fn code(&mut self, token: &str, line: usize) {
        match token {
            "{" => self.open.push(Removed::new(line, "{")),
            "}" => match self.open.iter().rposition(Removed::is_brace) {
                Some(at) => {
                    self.open.truncate(at);
                    self.governed();
                }
                None => self.closed.push(line),
            },
            _ => self.governed(),
        }
    }

    /// Forgets the pragmas that govern code of the branch itself.
    fn governed(&mut self) {
        let kept = self.open.iter().rposition(Removed::is_brace).map_or(0, |at| at + 1);
        self.open.truncate(kept);
    }
}

/// Reads a file for the lines that the preprocessor leaves out.
#[derive(Default)]
struct Reader {
    branches: Vec<Branch>,
    /// Macros that write a pragma under some condition, with its words, or none for those of arguments.
    macros: HashMap<String, Option<String>>,
    /// Braces that stand in `all` and are open.
    depth: usize,
    all: Vec<Removed>,
}

impl Reader {
    /// Lists the lines in their order; nothing for a file that gives its lines other numbers.
    fn removed(mut self, text: &str) -> Option<Vec<Removed>> {
        let (mut line, mut counted, mut behind) = (1, 0, 0);
        for (place, piece) in pieces(text) {
            line += text[counted..place.start].matches('\n').count();
            counted = place.start;
            match piece {
                Piece::Directive(words) if renumbers(&words, line) => return None,
                Piece::Directive(words) => self.directive(&words, line),
                Piece::Code(_) if place.start < behind => {}
                Piece::Code(token) => {
                    behind = place.end + self.code(token, &text[place.end..], line)
                }
            }
        }
        if self.depth > 0 {
            self.all.retain(|removed| !removed.is_brace());
        }
        self.all.sort_by_key(|removed| removed.line);
        Some(self.all)
    }

    fn directive(&mut self, words: &str, line: usize) {
        let (word, rest) = split(words);
        match word {
            "pragma" => {
                if let Some(branch) = self.branches.last_mut().filter(|_| is_about_loops(rest)) {
                    branch.open.push(Removed::new(line, format!("#pragma {rest}")));
                }
                return;
            }
            "if" | "ifdef" | "ifndef" => self.branches.push(Branch::default()),
            "elif" | "elifdef" | "elifndef" | "else" => {
                self.end_branch();
                self.branches.push(Branch::default());
            }
            "endif" => self.end_branch(),
            "define" if !self.branches.is_empty() => self.define(rest),
            "" => return,
            _ => {}
        }
        let name = if matches!(word, "define" | "undef") { split(rest).0 } else { "" };
        self.all.push(Removed::new(line, format!("#{word} {name}").trim_end()));
    }

    fn define(&mut self, rest: &str) {
        let (name, definition) = split(rest);
        let written = pieces(definition).find_map(|(place, piece)| {
            let Piece::Code(token) = piece else { return None };
            // Brackets behind other words nest deep.
            let follows = || arguments(&definition[place.end..]);
            match token {
                "_Pragma" => Some(of_operator(follows()).map(str::to_owned)),
                _ => self.macros.contains_key(token).then(|| self.of_macro(token, follows())),
            }
        });
        if let Some(words) = written {
            self.macros.insert(name.to_owned(), words);
        }
    }

    fn end_branch(&mut self) {
        let Some(branch) = self.branches.pop() else { return };
        for line in branch.closed {
            if self.depth > 0 {
                self.depth -= 1;
                self.all.push(Removed::new(line, "}"));
            }
        }
        let mut pragmas = Vec::new();
        for removed in branch.open {
            let is_brace = removed.is_brace();
            if !is_brace {
                pragmas.push(removed);
            } else if pragmas.is_empty() {
                // A block as any other: what stands in it is seen where the branch is taken.
            } else {
                self.depth += 1;
                self.all.append(&mut pragmas);
                self.all.push(removed);
            }
        }
        self.all.append(&mut pragmas);
    }

    /// Reads a token of code; returns how many bytes behind it belong to a pragma that it writes.
    fn code(&mut self, token: &str, rest: &str, line: usize) -> usize {
        if token == "_Pragma" {
            let arguments = arguments(rest);
            let words = of_operator(arguments).filter(|words| is_about_loops(words));
            if let Some((branch, words)) = self.branches.last_mut().zip(words) {
                branch.open.push(Removed::new(line, format!("#pragma {words}")));
            }
            return arguments.len();
        }
        // What follows other words is not looked at: brackets nest deep.
        if self.macros.contains_key(token) {
            let arguments = arguments(rest);
            if let Some(words) = self.of_macro(token, arguments) {
                let text = format!("#pragma {words}");
                self.all.push(Removed { line, text, beside: true });
                return arguments.len();
            }
        }
        if let Some(branch) = self.branches.last_mut() {
            branch.code(token, line);
        }
        0
    }

    /// Returns the words of the pragma that a macro writes under some condition, if it is about loops.
    fn of_macro(&self, name: &str, arguments: &str) -> Option<String> {
        let words = match self.macros.get(name)? {
            Some(words) => words.clone(),
            None => {
                let inner = arguments.trim().strip_prefix('(')?.strip_suffix(')')?;
                inner.trim().to_owned()
            }
        };
        let of_openmp = format!("omp {words}");
        [words, of_openmp].into_iter().find(|words| is_known(words))
    }
}

/// Returns whether words are those of a pragma about loops, and not only begin as one.
fn is_known(words: &str) -> bool {
    let mut parts = words.split(|c: char| !c.is_alphanumeric() && c != '_');
    match (parts.next(), parts.next()) {
        (Some("omp"), Some(next)) => {
            ["parallel", "for", "simd", "target", "teams", "distribute", "loop", "taskloop", "task"]
                .contains(&next)
        }
        _ => is_about_loops(words),
    }
}

/// Returns the parentheses that follow, with the space in front.
fn arguments(text: &str) -> &str {
    let mut depth = 0_usize;
    for (place, piece) in pieces(text) {
        match piece {
            Piece::Code("(") => depth += 1,
            Piece::Code(")") => depth = depth.saturating_sub(1),
            _ if depth == 0 => return "",
            _ => {}
        }
        if depth == 0 {
            return if text[..place.end].ends_with(')') { &text[..place.end] } else { "" };
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(text: &str) -> Vec<(usize, String)> {
        let all = Reader::default().removed(text).unwrap_or_default();
        all.into_iter()
            .map(|own| (own.line, own.text))
            .filter(|(_, text)| !text.starts_with("#e"))
            .collect()
    }

    fn kept(text: &str) -> Vec<String> {
        let all = removed(text).into_iter().map(|(_, text)| text);
        all.filter(|text| !text.starts_with("#if")).collect()
    }

    #[test]
    fn pragmas_that_end_a_branch_govern_what_follows() {
        let own = "#ifdef M\nx = 1;\n#pragma omp parallel for\n#endif\nfor\n";
        assert_eq!(removed(own)[1], (3, "#pragma omp parallel for".to_owned()));
        for (text, expected) in [
            ("#if A\n#pragma omp for\nfor (;;) { }\n#endif\n", &[][..]),
            ("#if A\n_Pragma(\"omp for\")\n#else\n#endif\n", &["#pragma omp for"]),
            ("#if A\n#pragma once\n#endif\n#pragma omp for\n", &[]),
            ("#if A\n{\n#endif\n#if A\n}\n#endif\n", &[]),
            (
                "#if A\n#pragma omp parallel\n{ int t = id();\n#endif\n#if A\n}\n#endif\n",
                &["#pragma omp parallel", "{", "}"],
            ),
            // What is open to the end would leave nothing of the file.
            ("#if A\n#pragma omp parallel\n{\n#endif\n", &["#pragma omp parallel"]),
            ("#if A\n#pragma omp parallel\n{ f(); }\n#endif\n", &[]),
        ] {
            assert_eq!(kept(text), expected, "{text}");
        }
    }

    #[test]
    fn macros_write_pragmas_under_conditions() {
        let text = "#if A\n#define P _Pragma(\"omp for\")\n#define O(x) _Pragma(#x)\n#define Q(x) O(omp x)\n\
                    #define R P\n#endif\nP O(acc loop) O (\"x\")\nQ(simd) R\n";
        let pragmas = kept(text);
        let pragmas: Vec<_> = pragmas.iter().filter(|text| !text.starts_with("#define")).collect();
        assert_eq!(pragmas[..2], ["#pragma omp for", "#pragma acc loop"]);
        assert!(pragmas[2..].contains(&&"#pragma omp for".to_owned()), "{pragmas:?}");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let original =
            "int a;\n#if 0\n#pragma omp for\n#endif\n\n\n\n#include \"x.h\"\n#define N\nint b; N\n";
        let read = "# 1 \"k.c\"\nint a;\n# 1 \"x.h\" 1\nint x;\n# 9 \"k.c\" 2\n\nint b;\n";
        let text = with_directives(original, read);
        let index = LineIndex::of(&text);
        for (word, number) in [("int a", 1), ("int x", 1), ("int b", 10)] {
            let at = text.find(word).expect("there");
            assert_eq!(index.at(at).number, number, "{text}");
        }
        let order = ["int a", "#if", "#pragma omp for", "#endif", "#include", "#define N", "int b"];
        let places: Vec<_> = order.iter().filter_map(|word| text.find(word)).collect();
        assert!(places.len() == order.len() && places.is_sorted(), "{text}");
    }
}
