//! The table of all models, as text, CSV, JSON and a page.

use std::fmt::Write;

use super::{Row, State};

const PAGE: &str = include_str!("page.html");

/// What the table is written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Columns for a terminal, and a line that adds up.
    Text,
    /// Comma-separated values with a header.
    Csv,
    /// An array of rows.
    Json,
    /// A page that sorts and filters.
    Html,
}

impl Format {
    /// The format that the ending of a file's name asks for; text if it is none of the others.
    pub fn of(path: &std::path::Path) -> Format {
        match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => Format::Csv,
            Some("json") => Format::Json,
            Some("html" | "htm") => Format::Html,
            _ => Format::Text,
        }
    }
}

/// Writes the table of `rows`.
pub fn render(rows: &[Row], format: Format) -> String {
    match format {
        Format::Text => text(rows),
        Format::Csv => csv(rows),
        Format::Json => json(rows) + "\n",
        // `<` stands in strings only, and `</script>` must not end the data.
        Format::Html => PAGE.replace("{{rows}}", &json(rows).replace('<', "\\u003c")),
    }
}

fn json(rows: &[Row]) -> String {
    // Rows hold numbers and texts, which JSON can express.
    serde_json::to_string_pretty(rows).unwrap_or_default()
}

fn state(state: State) -> &'static str {
    match state {
        State::Done => "done",
        State::Unchanged => "unchanged",
        State::Unchecked => "unchecked",
        State::Interrupted => "interrupted",
        State::Different => "different",
        State::Failed => "failed",
    }
}

fn text(rows: &[Row]) -> String {
    let head = ["model", "nodes", "bytes", "flops", "seconds", "difference", "state"];
    let mut lines = vec![head.map(str::to_owned)];
    for row in rows {
        let mut last = state(row.state).to_owned();
        if let Some(first) = row.note.lines().next().filter(|note| !note.is_empty()) {
            last += &format!(": {first}");
        }
        lines.push([
            shown(&row.model),
            pair(row.nodes, |n| n.to_string()),
            written(row.bytes),
            pair(row.flops, short),
            format!("{:.2}", row.seconds),
            row.difference.map_or(String::new(), |d| format!("{d:.1e}")),
            last,
        ]);
    }
    let width = |column: usize| lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut out = String::new();
    for line in &lines {
        let mut written = format!(" {:<w$}", line[0], w = widths[0]);
        for column in 1..head.len() - 1 {
            let _ = write!(written, "  {:>w$}", line[column], w = widths[column]);
        }
        let _ = write!(written, "  {}", line[head.len() - 1]);
        out += written.trim_end();
        out.push('\n');
    }
    out + &sum(rows)
}

/// How many models are in which state, and what became of their nodes together.
fn sum(rows: &[Row]) -> String {
    let mut out = format!("\n{} models", rows.len());
    let states = [
        State::Done,
        State::Unchanged,
        State::Unchecked,
        State::Interrupted,
        State::Different,
        State::Failed,
    ];
    for which in states {
        let count = rows.iter().filter(|row| row.state == which).count();
        if count > 0 {
            let _ = write!(out, ", {count} {}", state(which));
        }
    }
    let known = || rows.iter().filter_map(|row| row.nodes);
    let (before, after): (u64, u64) = known().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    let _ = writeln!(out, "; nodes {before} -> {after}");
    out
}

/// The most letters of a name in the table for a terminal.
const NAME: usize = 60;

/// A name on one line: the middle of a long one is left out, its end says most.
fn shown(name: &str) -> String {
    let letters: Vec<char> = name
        .chars()
        .flat_map(|c| match c.is_control() {
            true => c.escape_default().collect::<Vec<_>>(),
            false => vec![c],
        })
        .collect();
    if letters.len() <= NAME {
        return letters.into_iter().collect();
    }
    let (begin, end) = (NAME / 3, letters.len() - (NAME - NAME / 3 - 1));
    letters[..begin].iter().chain(&['…']).chain(&letters[end..]).collect()
}

/// Bytes of a model and its result; the first alone where there is no result.
fn written(bytes: Option<(u64, u64)>) -> String {
    match bytes {
        Some((before, 0)) => short(before as f64),
        both => pair(both, |n| short(n as f64)),
    }
}

fn pair<T: Copy>(both: Option<(T, T)>, show: impl Fn(T) -> String) -> String {
    both.map_or(String::new(), |(before, after)| format!("{} -> {}", show(before), show(after)))
}

/// A number in three digits and a unit.
fn short(value: f64) -> String {
    for (unit, name) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value >= unit {
            return format!("{:.2} {name}", value / unit);
        }
    }
    format!("{value:.0}")
}

fn csv(rows: &[Row]) -> String {
    let mut out = String::from(
        "model,state,nodes_before,nodes_after,bytes_before,bytes_after,flops_before,flops_after,\
         seconds,difference,note\n",
    );
    for row in rows {
        let mut cells = vec![quoted(&row.model), state(row.state).to_owned()];
        cells.extend(both(row.nodes));
        cells.extend(both(row.bytes));
        cells.extend(both(row.flops));
        cells.push(format!("{:.6}", row.seconds));
        cells.push(row.difference.map_or(String::new(), |d| d.to_string()));
        cells.push(quoted(&row.note));
        out += &cells.join(",");
        out.push('\n');
    }
    out
}

fn both<T: ToString>(pair: Option<(T, T)>) -> [String; 2] {
    pair.map_or([String::new(), String::new()], |(a, b)| [a.to_string(), b.to_string()])
}

/// A text as a cell: in quotes where it needs them.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
