//! Names of the source and the names of a part.
//!
//! A variable that is declared inside a part and hides another one gets a name of its own, so
//! that all variables of a part can be declared side by side in front of the loops. Accesses
//! that are no plain subscripts, such as `*(p + i)`, are written as such: `p[i]`.

use lang_c::span::Span;

use super::Builder;
use super::rows::Row;
use crate::c_tokens::{one_line, words};
use crate::subscript::Settled;

/// Names and texts that differ from those of the source.
#[derive(Default)]
pub(super) struct Scopes {
    /// Names that are declared in open blocks of the part.
    declared: Vec<String>,
    /// Names of the source with the part's own ones, those of inner blocks last.
    renamed: Vec<(String, String)>,
    /// Places of the source with the texts in their place.
    edits: Vec<(Span, String)>,
    /// Pointers into arrays, those of inner blocks last.
    pub rows: Vec<(String, Row)>,
    /// Integers of the source that are names of values.
    pub values: Vec<(String, Settled)>,
}

/// How much of the names was there when a block began.
pub(crate) struct Mark {
    declared: usize,
    renamed: usize,
    rows: usize,
    values: usize,
}

impl Scopes {
    pub fn named<'n>(&'n self, name: &'n str) -> &'n str {
        let renamed = self.renamed.iter().rev().find(|(old, _)| old == name);
        renamed.map_or(name, |(_, new)| new.as_str())
    }

    /// Returns whether an open block of the part declares a name.
    pub fn is_declared(&self, name: &str) -> bool {
        self.declared.iter().any(|other| other == name)
    }

    /// Lists the names of the source that stand for something else.
    pub fn words(&self) -> impl Iterator<Item = &String> {
        let values = self.values.iter().map(|(name, _)| name);
        self.renamed.iter().map(|(name, _)| name).chain(values)
    }

    /// Returns whether all names are those of the source.
    pub fn is_plain(&self) -> bool {
        self.renamed.is_empty() && self.values.is_empty()
    }
}

impl Builder<'_> {
    /// Returns the part's name of what has a name in the source.
    pub(crate) fn named<'n>(&'n self, name: &'n str) -> &'n str {
        self.scopes.named(name)
    }

    /// Opens a block.
    pub(crate) fn open(&self) -> Mark {
        let Scopes { declared, renamed, rows, values, .. } = &self.scopes;
        Mark {
            declared: declared.len(),
            renamed: renamed.len(),
            rows: rows.len(),
            values: values.len(),
        }
    }

    /// Closes a block.
    pub(crate) fn close(&mut self, mark: &Mark) {
        self.scopes.declared.truncate(mark.declared);
        self.scopes.renamed.truncate(mark.renamed);
        self.scopes.rows.truncate(mark.rows);
        self.scopes.values.truncate(mark.values);
    }

    /// Lets a name of the source stand for `new` in a block.
    pub(super) fn rename(&mut self, name: &str, new: &str) {
        if self.named(name) != new {
            self.scopes.renamed.push((name.to_owned(), new.to_owned()));
        }
    }

    /// Returns whether an open block of the part declares a name.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.scopes.is_declared(name)
    }

    /// Notes that an open block declares a name, which stands for `new`.
    pub(super) fn note_declared(&mut self, name: &str, new: &str) {
        self.scopes.declared.push(name.to_owned());
        self.rename(name, new);
    }

    /// Finds a name that nothing has.
    pub(super) fn fresh(&self, name: &str) -> String {
        let taken = |new: &String| {
            self.names.get(new).is_some()
                || self.is_loop(new)
                || words(self.source.text).any(|word| word == new)
        };
        let all = (2..).map(|number| format!("{name}_{number}"));
        all.into_iter().find(|new| !taken(new)).unwrap_or_default()
    }

    /// Writes `text` in the place of a piece of the source.
    pub(crate) fn edit(&mut self, span: Span, text: String) {
        self.scopes.edits.push((span, text));
    }

    /// Returns a piece of the source with the part's names and texts.
    pub(crate) fn text(&self, span: Span) -> String {
        let inside = |edit: &&(Span, String)| span.start <= edit.0.start && edit.0.end <= span.end;
        let mut edits: Vec<&(Span, String)> = self.scopes.edits.iter().filter(inside).collect();
        // The outermost and latest one of several holds those inside.
        edits.reverse();
        edits.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let (mut text, mut from) = (String::new(), span.start);
        for (place, new) in edits {
            if place.start >= from {
                text.push_str(&self.renamed(from, place.start));
                text.push_str(new);
                from = place.end;
            }
        }
        text.push_str(&self.renamed(from, span.end));
        // Such a line takes all that is written behind it along.
        let has_lines = text.lines().skip(1).any(|line| line.trim_start().starts_with('#'));
        if has_lines { one_line(&text) } else { text.trim().to_owned() }
    }
}
