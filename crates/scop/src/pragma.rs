//! Pragmas that say how loops run.
//!
//! Those of OpenMP and OpenACC give the iterations of a loop to threads: other loops in its place
//! would be given away in turn, whatever depends on what. Such loops stay as they are; loops inside are
//! looked at where one thread runs all of an iteration, as below `#pragma omp for`.
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

/// Says how many loops from a statement on have iterations that threads share, each of which one thread
/// runs as it stands: nothing for other pragmas, or none.
pub(crate) fn workshared(source: &Source, statement: usize) -> Option<usize> {
    let mut loops = None;
    for words in
        source.text[in_front(source.text, statement)..statement].lines().filter_map(directive)
    {
        let Some(rest) = words.strip_prefix("omp") else { continue };
        let (mut clauses, mut is_loop) = (rest.trim_start(), false);
        while let Some(end) = name_end(clauses)
            && matches!(&clauses[..end], "parallel" | "for")
        {
            is_loop |= &clauses[..end] == "for";
            clauses = clauses[end..].trim_start();
        }
        let names = clauses.split(|c: char| !c.is_alphanumeric() && c != '_');
        // These stand by themselves.
        if ["barrier", "taskwait", "flush"].iter().any(|word| clauses.starts_with(word)) {
            continue;
        }
        if clauses.len() == rest.trim_start().len() || names.into_iter().any(is_other) {
            return None;
        }
        if is_loop {
            loops = Some(collapsed(clauses)?);
        }
    }
    loops
}

/// Returns whether a pragma in front of a statement lets threads run it, so that loops in it may be shared.
pub(crate) fn is_region(source: &Source, statement: usize) -> bool {
    let text = &source.text[in_front(source.text, statement)..statement];
    let all: Vec<&str> = text.lines().filter_map(directive).filter(|words| shares(words)).collect();
    let is_parallel = |words: &&str| {
        let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.next() == Some("omp")
            && words.next() == Some("parallel")
            && !words.any(|word| matches!(word, "for" | "sections" | "master" | "loop"))
    };
    !all.is_empty() && all.iter().all(is_parallel)
}

/// Returns whether a pragma of OpenMP in front of a loop that stays is about the loops in it as well:
/// in lanes there are no threads, and several loops may be taken as one.
pub(crate) fn is_about_inner_loops(source: &Source, statement: usize) -> bool {
    let text = &source.text[in_front(source.text, statement)..statement];
    text.lines().filter_map(directive).any(|words| {
        let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.next() == Some("omp") && matches!(words.next(), Some("simd" | "tile"))
    })
}

/// Returns whether a word says that iterations are no statements of one thread.
fn is_other(word: &str) -> bool {
    matches!(word, "simd" | "ordered" | "sections" | "master" | "masked" | "loop")
}

fn name_end(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then_some(end)
}

/// Returns how many loops a clause takes together; nothing if it does not say so by a number.
fn collapsed(clauses: &str) -> Option<usize> {
    let Some((_, rest)) = clauses.split_once("collapse") else { return Some(1) };
    let count = rest.trim_start().strip_prefix('(')?.split(')').next()?.trim().parse().ok()?;
    (count > 0).then_some(count)
}

/// Returns whether a pragma in front of a statement goes away with it.
pub(crate) fn is_hinted(text: &str, statement: usize) -> bool {
    text[in_front(text, statement)..statement].lines().any(is_hint)
}

/// Returns whether a line is a pragma about the loop behind it that has no meaning for others.
pub(crate) fn is_hint(line: &str) -> bool {
    directive(line).is_some_and(hints)
}

/// Returns whether a pragma of some words is about the loops behind it.
pub(crate) fn is_about_loops(words: &str) -> bool {
    shares(words) || hints(words)
}

/// Returns whether a pragma of some words says something of what stands behind the next statement.
pub(crate) fn has_lasting_effect(words: &str) -> bool {
    const LASTING: &[&str] = &[
        "STDC",
        "fenv_access",
        "float_control",
        "fp_contract",
        "once",
        "pack",
        "pop_macro",
        "push_macro",
        "redefine_extname",
        "weak",
    ];
    let mut given = words.split(|c: char| !c.is_alphanumeric() && c != '_');
    match given.next() {
        // What is said of warnings has no effect on what runs.
        Some("GCC" | "clang") => {
            !hints(words) && !matches!(given.next(), Some("diagnostic" | "warning" | "error"))
        }
        Some(word) => LASTING.contains(&word),
        None => false,
    }
}

fn hints(words: &str) -> bool {
    const HINTS: &[&str] = &[
        "GCC ivdep",
        "GCC unroll",
        "GCC novector",
        "clang loop",
        "omp simd",
        "omp unroll",
        "omp tile",
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
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("_Pragma") {
        return of_operator(rest);
    }
    let rest = line.strip_prefix('#').or(line.strip_prefix("%:"))?.trim_start();
    rest.strip_prefix("pragma").filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim)
}

/// Returns the words of a pragma in the parentheses behind `_Pragma`.
pub(crate) fn of_operator(rest: &str) -> Option<&str> {
    let words = rest.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
    // One with quotes in it is not about loops.
    let words = words.strip_prefix('"')?.strip_suffix('"')?;
    (!words.contains(['"', '\\'])).then_some(words.trim())
}

fn shares(words: &str) -> bool {
    let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
    match words.next() {
        // Lanes of one thread, and other orders of its iterations.
        Some("omp") => !matches!(words.next(), Some("simd" | "unroll" | "tile")),
        Some("acc") => true,
        _ => false,
    }
}
