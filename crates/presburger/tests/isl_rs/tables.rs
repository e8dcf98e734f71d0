//! The tables in isl's own tests, read from the checkout of the crate `isl-rs`.

use std::path::{Path, PathBuf};

/// Returns the folder of isl's sources, if the crate was fetched.
pub fn isl() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))?;
    let registries = home.join("registry/src").read_dir().ok()?.flatten();
    let crates = registries.filter_map(|registry| registry.path().read_dir().ok()).flatten();
    let mut found: Vec<PathBuf> = crates
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("isl-rs-"))
        .map(|entry| entry.path().join("isl"))
        .filter(|path| path.join("isl_test.c").is_file())
        .collect();
    found.sort();
    found.pop()
}

/// Returns the rows of the table `name`: string literals as their text, other cells as written.
pub fn rows(source: &str, name: &str) -> Vec<Vec<String>> {
    let starts = ["[] = {", " [] = {"].map(|open| format!("{name}{open}"));
    let found = |open: &String| source.find(open).map(|at| at + open.len() - 1);
    let Some(start) = starts.iter().find_map(found) else { return Vec::new() };
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut depth, mut rest) = (0, &source[start..]);
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '/' if rest.starts_with("/*") => length = rest.find("*/").map_or(rest.len(), |i| i + 2),
            '"' => {
                let text = literal(&rest[1..]);
                length = text.1 + 2;
                cell.push_str(&text.0);
            }
            '\'' => {
                cell.push_str(&rest[1..2]);
                length = 3;
            }
            '{' => depth += 1,
            ',' | '}' => {
                if !cell.is_empty() {
                    row.push(std::mem::take(&mut cell));
                }
                depth -= usize::from(c == '}');
                if !row.is_empty() && depth <= 1 {
                    rows.push(std::mem::take(&mut row));
                }
                if depth == 0 {
                    break;
                }
            }
            c if c.is_whitespace() => {}
            c => cell.push(c),
        }
        rest = &rest[length..];
    }
    rows
}

/// Reads up to the closing quote; returns the text and the length of what stands for it.
fn literal(rest: &str) -> (String, usize) {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, at),
            '\\' => match chars.next() {
                Some((_, 'n' | 't')) => text.push(' '),
                Some((_, other)) => text.push(other),
                None => break,
            },
            c => text.push(c),
        }
    }
    (text, rest.len())
}
