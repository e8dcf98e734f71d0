//! Parsing what can be read of a preprocessed file.
//!
//! The parser knows C11 with GNU's extensions, and stops at the first thing that it does not
//! know. A file is more than that: headers of a compiler have types and builtins of its own, old
//! programs leave `int` away. So what stands at the top level is repaired, one item at a time:
//!
//! ```text
//! static __m128 _mm_set_ss(float f) { return (__m128){ f, 0, 0, 0 }; }     of a system header:
//! static __m128 _mm_set_ss(float f) ;                                      a declaration is enough
//! main() { ... }               int main() { ... }
//! int f(int n) { what? }       int f(int n) ;                              and a note about `f`
//! __auto_type p = &x;          typedef struct __auto_type __auto_type; in front of its item
//! ```
//!
//! A function without its body may do anything, as one that is only declared.

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, SyntaxError, parse_preprocessed};

use crate::Problem;
use crate::item::items;
use crate::plain::{FIRST, LAST};
use crate::source::Source;

/// How many items are repaired: each repair parses the file again.
const REPAIRS: usize = 40;
/// How many bytes are parsed in all, beyond the first time.
const BYTES: usize = 20 << 20;

/// GNU's type of what a variable starts with, which `<stdatomic.h>` uses.
const AUTO: &str = "__auto_type";
/// Makes it a name that is known, of a type that is not.
const AUTO_TYPE: &str = "typedef struct __auto_type __auto_type; ";

/// A file as far as it can be read.
pub(crate) struct Parsed {
    /// The text that was read: its places are those of the unit.
    pub text: String,
    pub unit: TranslationUnit,
    /// What was left out of the file itself and of its own headers.
    pub left_out: Vec<Problem>,
}

/// Parses a file with pragmas turned into calls.
pub(crate) fn parsed(text: String) -> Result<Parsed, Problem> {
    let mut text = without_system_bodies(text);
    let (mut left_out, mut read) = (Vec::new(), 0);
    for _ in 0..REPAIRS {
        let error = match parse_preprocessed(&Config::default(), text.clone()) {
            Ok(parse) => return Ok(Parsed { text, unit: parse.unit, left_out }),
            Err(error) => error,
        };
        let problem = syntax(&Source::new(&text), &error);
        read += text.len();
        match repaired(&text, error.offset.min(text.len()), problem, &mut left_out) {
            Ok(new) if read < BYTES => text = new,
            Ok(_) => break,
            Err(problem) => return Err(problem),
        }
    }
    let error = parse_preprocessed(&Config::default(), text.clone()).err();
    Err(match error {
        Some(error) => syntax(&Source::new(&text), &error),
        None => Source::new(&text).problem(0, "expected C11"),
    })
}

/// Turns the functions that system headers define into declarations.
fn without_system_bodies(mut text: String) -> String {
    let bodies: Vec<_> =
        items(&text).into_iter().filter(|item| item.system).filter_map(|item| item.body).collect();
    for body in bodies.into_iter().rev() {
        let declared = declaration(&text[body.clone()]);
        text.replace_range(body, &declared);
    }
    text
}

/// Repairs the item at `offset`, where the parser stopped.
fn repaired(
    text: &str,
    offset: usize,
    problem: Problem,
    left_out: &mut Vec<Problem>,
) -> Result<String, Problem> {
    let all = items(text);
    let Some(item) = all.into_iter().find(|item| item.whole.contains(&offset)) else {
        return Err(problem);
    };
    let whole = &text[item.whole.clone()];
    if whole.contains(FIRST) {
        return Err(problem);
    }
    let mut new = text.to_owned();
    if let Some(at) = item.without_type(text) {
        new.insert_str(at, "int ");
        return Ok(new);
    }
    if whole.contains(AUTO) && !text.contains(AUTO_TYPE) {
        new.insert_str(item.whole.start, AUTO_TYPE);
        return Ok(new);
    }
    let body = item.body.clone().filter(|body| text[body.clone()].starts_with('{'));
    if !item.system {
        let name = item.name(text).map_or("this".to_owned(), |name| format!("`{name}`"));
        let message = format!("{name} is left alone: {}", problem.message);
        left_out.push(Problem { message, ..problem });
    }
    match body.filter(|body| body.start <= offset) {
        Some(body) => new.replace_range(body.clone(), &declaration(&text[body])),
        None => new.replace_range(item.whole.clone(), &blank(whole)),
    }
    Ok(new)
}

/// Ends a declaration where a body stood.
fn declaration(body: &str) -> String {
    let mut text = blank(body);
    text.replace_range(..1, ";");
    text
}

/// Puts spaces in the place of all but line breaks and the preprocessor's lines.
fn blank(text: &str) -> String {
    let blank = |(at, line): (usize, &str)| match at > 0 && line.starts_with('#') {
        true => line.to_owned(),
        false => line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect(),
    };
    text.split_inclusive('\n').enumerate().map(blank).collect()
}

/// Says where the parser stopped: it knows C11 with GNU's extensions.
fn syntax(source: &Source, error: &SyntaxError) -> Problem {
    let text = source.text;
    let offset = error.offset.min(text.len());
    let rest = text[offset..].trim_start();
    let line = as_written(rest.lines().next().unwrap_or_default().trim_end());
    let found = match line.as_str() {
        "" => "the end of the file".to_owned(),
        line => format!("`{}`", line.chars().take(40).collect::<String>()),
    };
    if let Some(word) = of_cpp(text, offset) {
        return source
            .problem(offset, format!("expected C11, found `{word}` of C++: only C is read"));
    }
    let mut before = text[..offset].trim_end();
    // What the preprocessor says of places is no statement.
    while let Some(line) = before.lines().next_back().filter(|line| line.starts_with('#')) {
        before = before[..before.len() - line.len()].trim_end();
    }
    if error.expected.contains(";") && ends_a_statement(before, rest) {
        let last = as_written(before.lines().next_back().unwrap_or_default().trim());
        let last: String = last.chars().rev().take(40).collect();
        let last: String = last.chars().rev().collect();
        return source
            .problem(before.len(), format!("expected `;` behind `{last}`, found {found}"));
    }
    source.problem(offset, format!("expected C11, found {found}"))
}

/// Writes the calls that pragmas were turned into as pragmas again.
fn as_written(line: &str) -> String {
    let first = line.replace(&format!("{FIRST}();"), "#pragma scop");
    first.replace(&format!("{LAST}();"), "#pragma endscop")
}

/// Returns whether `;` is what is missing: what goes on is of another statement.
fn ends_a_statement(before: &str, rest: &str) -> bool {
    let value = |c: char| c.is_alphanumeric() || "_)]\"'".contains(c);
    let begins = |c: char| c.is_alphanumeric() || "_}*+-(".contains(c);
    before.ends_with(value) && (rest.is_empty() || rest.starts_with(begins))
}

/// Finds a word on the line of a place that only C++ has there.
fn of_cpp(text: &str, offset: usize) -> Option<&'static str> {
    const WORDS: [&str; 10] = [
        "template",
        "namespace",
        "class",
        "using",
        "typename",
        "public",
        "private",
        "constexpr",
        "operator",
        "nullptr",
    ];
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    let line = &text[start..end];
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    let word = words.find_map(|word| WORDS.into_iter().find(|known| *known == word));
    match word {
        None if line.contains("::") => Some("::"),
        None if line.trim_start().starts_with("extern \"C") => Some("extern \"C\""),
        word => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Parsed {
        parsed(text.to_owned()).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "int f(int n) {\n  what is;\n# 7 \"other.h\"\n}\nint g;\n";
        let found = read(text);
        assert_eq!(found.text, "int f(int n) ;\n          \n# 7 \"other.h\"\n \nint g;\n");
        assert_eq!(found.unit.0.len(), 2);
        assert!(found.left_out[0].message.starts_with("`f` is left alone"), "{:?}", found.left_out);
    }

    #[test]
    fn bodies_of_system_headers_are_not_read() {
        let own = "int f(void) { return 1; }\n";
        let text = format!("# 1 \"x.h\" 1 3 4\n{own}# 2 \"own.c\" 2\n{own}");
        let found = read(&text);
        assert!(found.text.starts_with("# 1 \"x.h\" 1 3 4\nint f(void) ; "), "{}", found.text);
        assert!(found.text.ends_with(own) && found.left_out.is_empty());
    }

    #[test]
    fn types_that_are_left_away_are_int() {
        for text in ["main() { return 0; }", "static f(a) int a; { return a; }", "x(), y();"] {
            let found = read(text);
            assert!(found.left_out.is_empty(), "{text}: {:?}", found.left_out);
        }
    }

    #[test]
    fn functions_with_atomic_accesses_are_read() {
        let text = "int f(int *p) { return __extension__ ({ __auto_type q = (p); *q; }); }\n";
        let found = read(&format!("# 1 \"a.c\"\n{text}{text}"));
        assert!(found.left_out.is_empty(), "{:?}", found.left_out);
        assert_eq!(found.unit.0.len(), 3);
    }

    #[test]
    fn what_is_no_function_is_left_out_too() {
        let text = "typedef what is this;\nint f(void) { return 1; }\nnamespace a { int b; }\n";
        let found = read(text);
        let messages: Vec<&str> = found.left_out.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[1].contains("`namespace` of C++"), "{messages:?}");
        assert_eq!(found.unit.0.len(), 1);
    }

    #[test]
    fn a_missing_semicolon_is_named() {
        let text = "void f(int n, int *a) {\n  for (int i = 0; i < n; i++) { a[i] = 1 }\n}\n";
        let found = read(text);
        let Problem { line, column, message, .. } = &found.left_out[0];
        let expected = "expected `;` behind `for (int i = 0; i < n; i++) { a[i] = 1`, found `}`";
        assert!(message.ends_with(expected), "{message}");
        assert_eq!((*line, *column), (2, 41));
    }
}
