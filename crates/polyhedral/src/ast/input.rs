//! isl's text form of a schedule map with context and options.

use tangram_presburger::{Budget, Error as SetError, Relation, Union};

use super::check_options::{idle_option, map_fault};
use super::{Ast, AstOptions};
use crate::{Error, OptionFault};

/// What `isl_codegen` reads: a map, a set of parameters, and options of dimensions.
#[derive(Debug, Clone)]
pub struct MapInput {
    /// Instances to points in lexicographic order.
    pub schedule: Union,
    /// What holds for the parameters.
    pub context: Relation,
    /// `{ [i, j] -> separate[0] }` and the like.
    pub options: Union,
    /// An option for points that the map does not have, with its place: it has no effect.
    pub idle: Option<Error>,
}

/// The parts of a file in their order, and how one is written that says nothing.
const PARTS: [(&str, &str); 3] =
    [("schedule", "`{ ... }`"), ("context", "`{ : }`"), ("options", "`{ }`")];

impl MapInput {
    /// Returns whether a text is in isl's notation of sets and relations, and not a document of
    /// keys and values, which may start with a brace as well.
    pub fn is_notation(text: &str) -> bool {
        let mut body = text.trim_start();
        while let Some(comment) = body.strip_prefix('#') {
            body = comment.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        }
        let Some(inside) = body.strip_prefix('{') else { return body.starts_with('[') };
        let key = inside.trim_start().trim_start_matches(['"', '\'']);
        let rest = key.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        let colon = rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':');
        rest.len() == key.len() || !colon
    }

    /// Parses one map, or a set of instances, that stands alone.
    ///
    /// # Errors
    /// [`Error::Notation`] with the place.
    pub fn parse_schedule(text: &str, budget: &Budget) -> Result<Union, Error> {
        let parts = split(text);
        let schedule = union(text, &parts, 0, budget)?;
        ended(&parts, 1, "the end behind the map")?;
        Ok(schedule)
    }

    /// Parses three sets or relations one after the other; `#` starts a comment.
    ///
    /// # Errors
    /// [`Error::Notation`] and [`Error::PlacedOption`] with the place.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let parts = split(text);
        let schedule = union(text, &parts, 0, budget)?;
        let context = union(text, &parts, 1, budget)?;
        let context = context.single().cloned().and_then(|set| match set.is_set() {
            true if set.space().output.dims.is_empty() => Ok(set),
            _ => {
                let expected = "[..] -> { : .. }".to_owned();
                Err(SetError::Space { expected, found: set.space().to_string() })
            }
        });
        let context = context.map_err(|error| notation(parts[1].place(0), 1, error))?;
        let options = union(text, &parts, 2, budget)?;
        ended(&parts, 3, "the end behind schedule, context and options")?;
        let times: Vec<_> = schedule.relations().map(|map| map.space().output.clone()).collect();
        let placed = |fault: OptionFault| {
            let written = &parts[2].text;
            let at = fault.place_in(written).map_or(0, |at| written[..at].chars().count());
            let (line, column) = parts[2].place(at);
            Error::PlacedOption { line, column, fault }
        };
        if let Some(fault) = map_fault(&options, &times, budget)? {
            return Err(placed(fault));
        }
        let idle = idle_option(&options, &schedule).map(placed);
        Ok(Self { schedule, context, options, idle })
    }

    /// Generates code.
    ///
    /// # Errors
    /// As [`Ast::of_map`].
    pub fn generate(&self, options: &AstOptions, budget: &Budget) -> Result<Ast, Error> {
        Ast::of_map(&self.schedule, Some(&self.context), &self.options, options, budget)
    }
}

/// Refuses parts behind those of a form.
fn ended(parts: &[Part], count: usize, expected: &'static str) -> Result<(), Error> {
    let Some(more) = parts.get(count) else { return Ok(()) };
    let found = more.text.trim().to_owned();
    let error = SetError::Syntax { column: 1, expected: expected.into(), found };
    Err(notation(more.place(0), count - 1, error))
}

/// Reads the part at an index.
fn union(text: &str, parts: &[Part], index: usize, budget: &Budget) -> Result<Union, Error> {
    let Some(part) = parts.get(index) else {
        let last = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).last();
        let place = last.map_or((1, 1), |(at, line)| (at + 1, line.trim_end().chars().count() + 1));
        let expected = format!(
            "{}, as in {}: of the form `.in` are a map, its context and its options",
            PARTS[index].0, PARTS[index].1
        );
        let expected = expected.into();
        let error = SetError::Syntax { column: 1, expected, found: "end of file".to_owned() };
        return Err(notation(place, index, error));
    };
    Union::parse(&part.text, budget).map_err(|error| {
        let at = match &error {
            SetError::Syntax { column, .. } => column - 1,
            _ => 0,
        };
        notation(part.place(at), index, error)
    })
}

fn notation((line, column): (usize, usize), index: usize, error: SetError) -> Error {
    Error::Notation { line, column, key: PARTS[index].0.to_owned(), error }
}

/// One of the sets or relations of a text, without comments, on one line.
#[derive(Default)]
struct Part {
    text: String,
    chars: usize,
    /// Where in it each line of the text starts, in characters, and the line and column of that.
    lines: Vec<(usize, (usize, usize))>,
}

impl Part {
    /// Returns line and column of a character in the text that the part was cut out of.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = self.lines.iter().rev().find(|(start, _)| *start <= at);
        before.map_or((1, 1), |(start, (line, column))| (*line, column + at - start))
    }
}

/// Cuts a text after each closing brace of the outermost level; blanks in front go.
fn split(text: &str) -> Vec<Part> {
    let (mut parts, mut part, mut depth) = (Vec::new(), Part::default(), 0_usize);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut fresh = true;
        for (column, c) in line.chars().chain([' ']).enumerate() {
            if part.text.is_empty() && c.is_whitespace() {
                continue;
            }
            if std::mem::take(&mut fresh) || part.text.is_empty() {
                part.lines.push((part.chars, (number + 1, column + 1)));
            }
            part.text.push(c);
            part.chars += 1;
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                parts.push(std::mem::take(&mut part));
            }
        }
    }
    if !part.text.is_empty() {
        parts.push(part);
    }
    parts
}
