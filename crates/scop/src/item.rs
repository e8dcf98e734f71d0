//! What stands at the top level of a file: definitions of functions and declarations.
//!
//! Found by brackets alone, so that one that cannot be parsed does not hide the others.

use std::ops::Range;

use crate::c_tokens::is_of_word;
use crate::plain::literal;

/// One definition or declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its place, from its first token.
    pub whole: Range<usize>,
    /// The body of a function, with its braces.
    pub body: Option<Range<usize>>,
    /// Whether a system header has it, as the preprocessor says.
    pub system: bool,
}

/// Words whose parentheses are not those of parameters.
const WITH_PARENTHESES: [&str; 10] = [
    "__attribute__",
    "__attribute",
    "__asm__",
    "asm",
    "__asm",
    "__declspec",
    "_Alignas",
    "__typeof__",
    "typeof",
    "__extension__",
];

impl Item {
    /// Returns the name of the function, if it is one.
    pub fn name<'a>(&self, text: &'a str) -> Option<&'a str> {
        let body = self.body.as_ref()?;
        let head = &text[self.whole.start..body.start];
        let at = parameters(head)?;
        let before = head[..at].trim_end();
        let start = before.rfind(|c: char| !is_of_word(c)).map_or(0, |at| at + 1);
        Some(&before[start..]).filter(|name| !name.is_empty())
    }

    /// Returns where `int` is left away: in front of a name with parentheses.
    pub fn without_type(&self, text: &str) -> Option<usize> {
        let whole = &text[self.whole.clone()];
        let mut at = 0;
        loop {
            let rest = &whole[at..];
            let word = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            match &rest[..word] {
                "" => return None,
                "static" | "extern" | "inline" | "__inline" | "register" => {
                    at += word;
                    at += whole[at..].len() - whole[at..].trim_start().len();
                }
                name => {
                    let called = rest[word..].trim_start().starts_with('(');
                    let known = WITH_PARENTHESES.contains(&name);
                    return (called && !known).then_some(self.whole.start + at);
                }
            }
        }
    }
}

/// Finds the parentheses of the parameters in the head of a function: the first ones that no
/// other word has, if all behind them declares parameters.
fn parameters(head: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(open) = head[at..].find('(').map(|open| at + open) {
        let before = head[..open].trim_end();
        let start = before.rfind(|c: char| !is_of_word(c)).map_or(0, |at| at + 1);
        if !before[start..].is_empty() && !WITH_PARENTHESES.contains(&&before[start..]) {
            return Some(open);
        }
        at = close(head, open)?;
    }
    None
}

/// Finds the end of what a bracket opens.
fn close(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + at + 1);
        }
    }
    None
}

/// Returns whether a brace behind `head` starts the body of a function.
fn is_function(head: &str) -> bool {
    let first = head.split(|c| !is_of_word(c)).find(|word| !word.is_empty());
    let Some(open) = parameters(head).filter(|_| first != Some("typedef")) else { return false };
    let Some(end) = close(head, open) else { return false };
    // Behind them: attributes, or the declarations of parameters in the old way.
    let mut behind = head[end..].trim();
    while let Some(word) = WITH_PARENTHESES.iter().find(|word| behind.starts_with(**word)) {
        let rest = behind[word.len()..].trim_start();
        let end = if rest.starts_with('(') { close(rest, 0) } else { Some(0) };
        let Some(end) = end else { return false };
        behind = rest[end..].trim_start();
    }
    !head[..open].contains('=') && (behind.is_empty() || behind.ends_with(';'))
}

/// Lists what stands at the top level. Linear in the text.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    let (mut system, mut depth, mut at) = (false, 0_usize, 0);
    let (mut start, mut brace): (Option<usize>, Option<usize>) = (None, None);
    while let Some(c) = text[at..].chars().next() {
        if c == '#' && (at == 0 || text[..at].ends_with('\n')) {
            let line = text[at..].lines().next().unwrap_or_default();
            if let Some((_, flags)) = line.rsplit_once('"').filter(|_| line.starts_with("# ")) {
                system = flags.split_whitespace().any(|flag| flag == "3");
            }
            at += line.len();
            continue;
        }
        if !c.is_whitespace() {
            start.get_or_insert(at);
        }
        if c == '"' || c == '\'' {
            at += literal(&text[at..], c);
            continue;
        }
        let next = at + c.len_utf8();
        match c {
            '{' | '(' | '[' => {
                if c == '{' && depth == 0 {
                    brace = Some(at);
                }
                depth += 1;
            }
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at = next;
        let head = || start.map_or("", |from| &text[from..brace.unwrap_or(from)]);
        let ends = depth == 0
            && match c {
                // In the old way, the types of parameters stand between these and the body.
                ';' => {
                    let from = start.unwrap_or(at);
                    brace.is_some() || !is_old_way(&text[from..at], &text[at..])
                }
                '}' => {
                    is_function(head()) || head().starts_with("namespace") || !is_continued(head())
                }
                _ => false,
            };
        if ends && let Some(from) = start.take() {
            let body =
                brace.filter(|_| c == '}' && is_function(&text[from..brace.unwrap_or(from)]));
            found.push(Item { whole: from..at, body: body.map(|body| body..at), system });
            brace = None;
        }
        if depth == 0 && c == '}' && start.is_some() {
            // A brace of a type or of values: what is behind belongs to the same declaration.
            brace = None;
        }
    }
    if let Some(from) = start {
        found.push(Item { whole: from..text.len(), body: None, system });
    }
    found
}

/// Returns whether braces behind `head` are those of a type or of values, which `;` ends.
fn is_continued(head: &str) -> bool {
    head.contains('=')
        || head.split(|c| !is_of_word(c)).any(|word| ["struct", "union", "enum"].contains(&word))
        || head.is_empty()
}

/// Returns whether a declaration is of a parameter in the old way: `f(a) int a;` in front of `{`.
fn is_old_way(head: &str, rest: &str) -> bool {
    let rest = rest.trim_start();
    let Some(open) = parameters(head) else { return false };
    let Some(end) = close(head, open) else { return false };
    let behind = head[end..].trim();
    // With nothing between both, it is a declaration.
    behind.len() > 1
        && !WITH_PARENTHESES.iter().any(|word| behind.starts_with(word))
        && behind.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && (rest.starts_with('{') || rest.starts_with(|c: char| c.is_alphabetic()))
        && behind.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(&str, Option<&str>)> {
        let of = |item: &Item| (&text[item.whole.clone()], item.name(text));
        items(text).iter().map(of).collect()
    }

    #[test]
    fn items_end_where_they_end() {
        let all = [
            ("int f(int n) { return n; }", Some("f")),
            ("struct s { int a; } x = { 1 }, y;", None),
            ("typedef struct __attribute__((packed)) { int a; } t;", None),
            ("struct s *g(void) __attribute__((pure)) { return 0; }", Some("g")),
            ("int a[] = { 1, 2 };", None),
            ("char *b = \"{;\";", None),
            ("old(a, b) int a; char *b; { return a; }", Some("old")),
            ("void h(void (*k)(int), int m[(3)]);", None),
            (
                "__attribute__((const)) static int p(int n) { if (n) { n = 1; } return n; }",
                Some("p"),
            ),
            ("enum { A, B };", None),
        ];
        let text: String = all.iter().map(|(item, _)| format!("{item}\n")).collect();
        assert_eq!(cut(&text), all);
    }
}
