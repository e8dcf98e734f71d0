//! Where a part stands in the file itself, to the byte.
//!
//! The preprocessor keeps lines, but not columns. So the tokens in front of a part on its first
//! line, and those behind it on its last, are compared with the tokens of the file: where they
//! are the same, no macro wrote any of them, and the part stands between them.

use std::ops::Range;

use crate::c_tokens::{Token, tokens};
use crate::directives::{self, Piece, hindrance, renumbers, split};
use crate::plain::without_comments;
use crate::pragma::is_hint;
use crate::{Part, Problem};

/// What stands beside a part on its lines, behind the preprocessor.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// In front of it on its first line.
    pub before: String,
    /// Its first line from its first character on.
    pub first: String,
    /// Its last line up to its last character.
    pub last: String,
    /// Behind it on its last line.
    pub behind: String,
    /// Whether a pragma about its first loop stands in front of it.
    pub hinted: bool,
}

/// Finds the bytes of a file in which each part stands, with the space around it on lines of
/// its own.
///
/// `original`: the text before the preprocessor. Linear in the text and in the lines of parts.
/// Each result is a [`Problem`] for a part that does not stand in the file, as one that macros
/// write or another file has, and for one with directives that must stay.
pub fn places(original: &str, parts: &[&Part]) -> Vec<Result<Range<usize>, Problem>> {
    let lines = Lines::of(original);
    parts.iter().map(|part| lines.place(part)).collect()
}

struct Lines<'a> {
    /// With their ends.
    lines: Vec<&'a str>,
    /// Without comments, each as many characters long.
    plain: Vec<String>,
    starts: Vec<usize>,
    /// The directives of the preprocessor: where they start, their lines, and their words.
    directives: Vec<(usize, usize, String)>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut starts = vec![0];
        starts.extend(lines.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        }));
        let plain = without_comments(text).lines().map(str::to_owned).collect();
        let directives = directives::pieces(text).filter_map(|(place, piece)| match piece {
            Piece::Directive(words) => {
                let line = starts.partition_point(|start| *start <= place.start);
                Some((place.start, line, words))
            }
            Piece::Code(_) => None,
        });
        let directives = directives.collect();
        Self { lines, plain, starts, directives }
    }

    fn place(&self, part: &Part) -> Result<Range<usize>, Problem> {
        if let Some(file) = &part.file {
            let message = format!("the part stands in `{file}`: only this file is written anew");
            return Err(Problem::new(part.first_line, message));
        }
        let mut renumbered =
            self.directives.iter().filter(|(_, line, words)| renumbers(words, *line));
        if let Some((_, line, _)) = renumbered.next() {
            let message = "gives lines other numbers: where loops stand is not known";
            return Err(Problem::new(*line, message.to_owned()));
        }
        let place = self.between_tokens(part)?;
        match self.hindrance(&place) {
            Some(problem) => Err(problem),
            None => Ok(place),
        }
    }

    /// Says which directive in some bytes must stay.
    fn hindrance(&self, place: &Range<usize>) -> Option<Problem> {
        let within = |at: usize| self.directives.partition_point(|(start, ..)| *start < at);
        let inside = &self.directives[within(place.start)..within(place.end)];
        let own = inside.iter().map(|(_, line, words)| (*line, words.as_str()));
        hindrance(own).map(|(line, message)| Problem::new(line, message))
    }

    fn between_tokens(&self, part: &Part) -> Result<Range<usize>, Problem> {
        let problem = |line: usize, message: &str| Err(Problem::new(line, message.to_owned()));
        let (first, last) = (part.first_line.saturating_sub(1), part.last_line.saturating_sub(1));
        let pragma = |line: usize, word: &str| {
            self.lines.get(line).is_some_and(|l| l.contains("pragma") && l.contains(word))
        };
        let stands = match part.marked {
            true => pragma(first, "scop") && pragma(last, "endscop"),
            false => first <= last && last < self.plain.len(),
        };
        if !stands {
            return problem(part.first_line, "the part does not stand in this file");
        }
        if part.marked {
            return Ok(self.starts[first]..self.starts[last + 1]);
        }
        let by_macro = "shares a line with code that a macro writes: put a line break before the \
                        loop and one behind it";
        let Some((start, is_own)) = self.start(first, part) else {
            return problem(part.first_line, by_macro);
        };
        let Some((end, ends)) = self.end(last, part) else {
            return problem(part.last_line, by_macro);
        };
        let whole = is_own && ends;
        if !whole && !self.is_balanced(first..last + 1) {
            let message = "is written by a macro over several lines: only loops of the file \
                           itself can be written anew";
            return problem(part.first_line, message);
        }
        let hint = self.without_hints(first, start);
        if hint == start && part.beside.hinted {
            let message = "has a pragma in front that a macro or a condition writes: write it out, or take \
                 it away";
            return problem(part.first_line, message);
        }
        let start = hint;
        if start < end { Ok(start..end) } else { problem(part.first_line, by_macro) }
    }

    /// Returns where a part starts, and whether its first token stands there itself.
    fn start(&self, line: usize, part: &Part) -> Option<(usize, bool)> {
        let mut found = pieces(&self.plain[line]);
        for (_, expected) in pieces(&part.beside.before) {
            found.next().filter(|(_, piece)| *piece == expected)?;
        }
        let own = pieces(&part.beside.first).next().map(|(_, piece)| piece);
        let is_alone = part.beside.before.trim().is_empty();
        match found.next().filter(|(_, piece)| Some(*piece) == own) {
            Some((at, _)) if !is_alone => Some((self.byte(line, at), true)),
            // Space and comments in front stay only where they do not indent.
            Some((at, _)) => {
                let blank = self.lines[line].chars().take(at).all(char::is_whitespace);
                Some((if blank { self.starts[line] } else { self.byte(line, at) }, true))
            }
            None => is_alone.then_some((self.starts[line], false)),
        }
    }

    /// Returns where the pragmas start that say how a compiler is to run the loop of a part, with the
    /// conditions around them.
    fn without_hints(&self, line: usize, start: usize) -> usize {
        if start != self.starts[line] {
            return start;
        }
        let (mut found, mut depth, mut hinted) = (start, 0_usize, false);
        for above in (0..line).rev() {
            let text = self.plain[above].trim();
            let condition = text.strip_prefix('#').map(|rest| split(rest.trim_start()).0);
            match condition.unwrap_or_default() {
                "endif" => depth += 1,
                "if" | "ifdef" | "ifndef" if depth > 0 => depth -= 1,
                "else" | "elif" if depth > 0 => {}
                _ if is_hint(text) => hinted = true,
                _ if text.is_empty() => continue,
                _ => break,
            }
            if depth == 0 && hinted {
                (found, hinted) = (self.starts[above], false);
            }
        }
        found
    }

    /// Returns where a part ends, and whether its last token stands there itself.
    fn end(&self, line: usize, part: &Part) -> Option<(usize, bool)> {
        let all: Vec<(usize, &str)> = pieces(&self.plain[line]).collect();
        let behind: Vec<&str> = pieces(&part.beside.behind).map(|(_, piece)| piece).collect();
        let own = pieces(&part.beside.last).last().map(|(_, piece)| piece);
        let count = all.len().checked_sub(behind.len())?;
        if !all[count..].iter().map(|(_, piece)| *piece).eq(behind.iter().copied()) {
            return None;
        }
        match all[..count].last().filter(|(_, piece)| Some(*piece) == own) {
            Some((at, piece)) => Some((self.byte(line, at + piece.chars().count()), true)),
            None => behind.is_empty().then_some((self.starts[line + 1], false)),
        }
    }

    /// Returns the place of a character of a line in the text.
    fn byte(&self, line: usize, character: usize) -> usize {
        let text = self.lines[line];
        let within = text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
        self.starts[line] + within
    }

    fn is_balanced(&self, lines: Range<usize>) -> bool {
        let mut depth = 0_i64;
        for c in self.plain[lines].iter().flat_map(|line| line.chars()) {
            match c {
                '(' | '{' | '[' => depth += 1,
                ')' | '}' | ']' => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
        depth == 0
    }
}

/// Lists the tokens of a line, without space, with the numbers of their first characters.
fn pieces(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut character = 0;
    let all = tokens(line).map(move |(_, token)| {
        let (Token::Name(piece) | Token::Other(piece)) = token;
        let at = character;
        character += piece.chars().count();
        (at, piece)
    });
    all.filter(|(_, piece)| !piece.trim().is_empty())
}
