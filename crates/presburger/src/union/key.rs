//! What tells the pieces of a union apart.

use std::sync::Arc;

use crate::{Error, Relation, Space, Tuple};

/// Tells tuples apart, whatever their dimensions are called; a clone is cheap.
pub(crate) type TupleKey = Arc<str>;

/// Tells spaces apart, whatever their dimensions and parameters are called.
///
/// In order of inputs, then outputs; a set comes before the relations from its tuple.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The input, or the tuple of a set.
    pub(super) first: TupleKey,
    /// The output; a set has none.
    pub(super) second: Option<TupleKey>,
}

impl Key {
    pub(crate) fn of(space: &Space) -> Self {
        let output = tuple_key(&space.output);
        match &space.input {
            Some(input) => Self { first: tuple_key(input), second: Some(output) },
            None => Self::set(output),
        }
    }

    pub(super) fn set(tuple: TupleKey) -> Self {
        Self { first: tuple, second: None }
    }

    /// The input of a relation.
    pub(super) fn input(&self) -> Option<&TupleKey> {
        self.second.as_ref().map(|_| &self.first)
    }

    /// The output of a relation, or the tuple of a set.
    pub(super) fn output(&self) -> &TupleKey {
        self.second.as_ref().unwrap_or(&self.first)
    }
}

pub(crate) fn tuple_key(tuple: &Tuple) -> TupleKey {
    let mut text = String::new();
    write_key(tuple, &mut text);
    text.into()
}

fn write_key(tuple: &Tuple, text: &mut String) {
    text.push_str(&tuple.name);
    text.push('[');
    match tuple.nested.as_deref() {
        Some((left, right)) => {
            write_key(left, text);
            text.push_str("->");
            write_key(right, text);
        }
        None => text.push_str(&tuple.dims.len().to_string()),
    }
    text.push(']');
}

/// A relation beside the key of its space.
pub(super) type Piece = (Key, Relation);

/// Brings pieces into order and unites those of one space, in the order they came in.
pub(super) fn merged(mut pieces: Vec<Piece>) -> Result<Arc<[Piece]>, Error> {
    if !pieces.is_sorted_by(|(a, _), (b, _)| a < b) {
        pieces.sort_by(|(a, _), (b, _)| a.cmp(b));
        // All of one space at once: one after the other would copy the first as often as there
        // are others.
        let united = pieces.chunk_by(|(a, _), (b, _)| a == b).map(|same| match same {
            [one] => Ok(one.clone()),
            _ => Ok((same[0].0.clone(), Relation::unite(same.iter().map(|(_, piece)| piece))?)),
        });
        pieces = united.collect::<Result<_, Error>>()?;
    }
    Ok(pieces.into())
}
