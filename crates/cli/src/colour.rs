//! Colours of messages on a terminal.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// The kinds of messages, as they stand at the start of a line or behind a place.
const KINDS: [(&str, AnsiColor); 3] =
    [("error", AnsiColor::Red), ("warning", AnsiColor::Yellow), ("note", AnsiColor::Cyan)];

/// Colours the kinds of the messages in `text` where standard error is a terminal, or `CLICOLOR_FORCE`
/// asks for it; `NO_COLOR` and a terminal that knows no colours keep it as it is.
pub(crate) fn for_standard_error(text: &str) -> String {
    match AutoStream::choice(&std::io::stderr()) {
        ColorChoice::Never => text.to_owned(),
        _ => text.split_inclusive('\n').map(line).collect(),
    }
}

fn line(line: &str) -> String {
    let found = KINDS.iter().filter_map(|(kind, colour)| Some((at(line, kind)?, kind, colour)));
    let Some((at, kind, colour)) = found.min_by_key(|(at, ..)| *at) else {
        return line.to_owned();
    };
    let style = Style::new().bold().fg_color(Some((*colour).into()));
    let (before, behind) = (&line[..at], &line[at + kind.len()..]);
    format!("{before}{style}{kind}{style:#}{behind}")
}

/// Where a line says of what kind it is.
fn at(line: &str, kind: &str) -> Option<usize> {
    if line.strip_prefix(kind).is_some_and(|rest| rest.starts_with(": ")) {
        return Some(0);
    }
    line.find(&format!(": {kind}: ")).map(|at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_kind_of_a_message_is_coloured_and_nothing_else() {
        let seen = |text: &str| line(text).replace('\u{1b}', "");
        assert_eq!(seen("error: no note: at all\n"), "[1m[31merror[0m: no note: at all\n");
        assert_eq!(seen("a.c:3:1: warning: b\n"), "a.c:3:1: [1m[33mwarning[0m: b\n");
        assert_eq!(seen("a.c:3-9: note: b"), "a.c:3-9: [1m[36mnote[0m: b");
        assert_eq!(seen("an error of 3: noted\n"), "an error of 3: noted\n");
    }
}
