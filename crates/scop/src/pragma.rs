//! Pragmas that say how loops run.
//!
//! Those of OpenMP and OpenACC give the iterations of a loop to threads: other loops in its place
//! would be given away in turn, whatever depends on what. Such loops stay as they are.
//! Those that tell a compiler to unroll or vectorise a loop say nothing of the loops in its
//! place, and go away with it.

use lang_c::span::Span;

use crate::Problem;
use crate::source::Source;

/// Says why a statement stays as it is: pragmas in it, or directly in front of it, give its
/// iterations to threads.
pub(crate) fn shared(source: &Source, span: Span) -> Option<Problem> {
    let text = source.text;
    let (start, end) = (in_front(text, span.start), span.end.min(text.len()));
    let mut at = start;
    let directive = text[start..end].split_inclusive('\n').find_map(|line| {
        let from = at;
        at += line.len();
        directive(line).filter(|words| shares(words)).map(|words| (from, words))
    });
    let (at, words) = directive?;
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = format!(
        "`#pragma {words}` says how the loop runs: take it away, and `--parallel` writes new ones"
    );
    Some(source.problem(at, message))
}

/// Returns whether a line is a pragma about the loop behind it that has no meaning for others.
pub(crate) fn is_hint(line: &str) -> bool {
    const HINTS: &[&str] = &[
        "GCC ivdep",
        "GCC unroll",
        "GCC novector",
        "clang loop",
        "omp simd",
        "unroll",
        "nounroll",
        "ivdep",
        "vector",
        "novector",
        "simd",
        "loop_count",
        "unroll_and_jam",
        "HLS",
    ];
    let Some(words) = directive(line) else { return false };
    HINTS.iter().any(|hint| {
        let mut given = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        hint.split(' ').all(|word| given.next() == Some(word))
    })
}

/// Returns where the lines of the preprocessor in front of a statement start.
fn in_front(text: &str, statement: usize) -> usize {
    let line = |end: usize| text[..end].rfind('\n').map_or(0, |at| at + 1);
    let mut start = line(statement);
    if !text[start..statement].trim().is_empty() {
        return statement;
    }
    while start > 0 {
        let above = line(start - 1);
        let words = text[above..start].trim();
        if !words.is_empty() && !words.starts_with('#') {
            break;
        }
        start = above;
    }
    start
}

/// Returns the words of a pragma.
fn directive(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    rest.strip_prefix("pragma").filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim)
}

fn shares(words: &str) -> bool {
    let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
    match words.next() {
        // Lanes of one thread.
        Some("omp") => words.next() != Some("simd"),
        Some("acc") => true,
        _ => false,
    }
}
