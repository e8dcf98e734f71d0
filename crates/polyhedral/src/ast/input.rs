//! isl's text form of a schedule map with context and options.

use tangram_presburger::{Budget, Relation, Union};

use super::{Ast, AstOptions};
use crate::Error;

/// What `isl_codegen` reads: a map, a set of parameters, and options of dimensions.
#[derive(Debug, Clone)]
pub struct MapInput {
    /// Instances to points in lexicographic order.
    pub schedule: Union,
    /// What holds for the parameters.
    pub context: Relation,
    /// `{ [i, j] -> separate[0] }` and the like.
    pub options: Union,
}

impl MapInput {
    /// Parses three sets or relations one after the other; `#` starts a comment.
    ///
    /// # Errors
    /// [`Error::Notation`] with the place; of a part that goes over several lines, its first.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let names = ["schedule", "context", "options"];
        let parts = split(text);
        let end = text.lines().count().max(1);
        let union = |index: usize| {
            let (line, text) = parts.get(index).map_or((end, ""), |(line, text)| (*line, text));
            let key = names[index].to_owned();
            Union::parse(text, budget).map_err(|error| Error::Notation {
                line,
                column: column(text, &error),
                key,
                error,
            })
        };
        let schedule = union(0)?;
        let context = union(1)?;
        let context = context.single().cloned().map_err(|error| {
            let line = parts.get(1).map_or(1, |(line, _)| *line);
            Error::Notation { line, column: 1, key: names[1].to_owned(), error }
        })?;
        Ok(Self { schedule, context, options: union(2)? })
    }

    /// Generates code.
    ///
    /// # Errors
    /// As [`Ast::of_map`].
    pub fn generate(&self, options: &AstOptions, budget: &Budget) -> Result<Ast, Error> {
        Ast::of_map(&self.schedule, Some(&self.context), &self.options, options, budget)
    }
}

/// Returns the column of an error in the first line of a part, from 1.
fn column(text: &str, error: &tangram_presburger::Error) -> usize {
    match error {
        tangram_presburger::Error::Syntax { column, .. } if !text.trim_end().contains('\n') => {
            *column
        }
        _ => 1,
    }
}

/// Cuts a text after each closing brace of the outermost level; says where parts start.
fn split(text: &str) -> Vec<(usize, String)> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    let mut start = 1;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for c in line.chars().chain([' ']) {
            if part.trim().is_empty() {
                start = number + 1;
            }
            part.push(c);
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                parts.push((start, std::mem::take(&mut part)));
            }
        }
    }
    if !part.trim().is_empty() {
        parts.push((start, part));
    }
    parts
}
