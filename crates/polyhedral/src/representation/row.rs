//! One dimension of a statement's schedule as a row of integers.

use crate::Conjunction;
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use crate::Error;
use crate::schedule_tree::affine::solved;
use crate::schedule_tree::from_map::widen;

/// Returns the value of a relation to one dimension as `[constant, params.., dims..]`.
///
/// Nothing if the value is not one affine expression, with integer factors, of them.
pub(super) fn row(relation: &Relation) -> Option<Vec<i128>> {
    let space = relation.space();
    let count = 1 + space.params.len() + space.input.as_ref()?.dims.len();
    let mut found = None;
    for part in relation.narrow_conjunctions().ok()? {
        let (mut value, _) = solved(&part, count)?;
        if value[count..].iter().any(|entry| *entry != 0) {
            return None;
        }
        value.truncate(count);
        if *found.get_or_insert_with(|| value.clone()) != value {
            return None;
        }
    }
    found
}

/// Relates the instances in `domain` to the values of rows over parameters and dimensions.
pub(super) fn schedule(domain: &Relation, rows: &[Vec<i128>]) -> Result<Relation, Error> {
    let space = domain.space();
    let (inputs, count) = (1 + space.params.len() + space.output.dims.len(), rows.len());
    let mut parts = domain.narrow_conjunctions()?;
    for part in &mut parts {
        widen(part, inputs, count);
        for (at, row) in rows.iter().enumerate() {
            let mut equation = row.clone();
            equation.resize(inputs + count + part.divisions.len(), 0);
            equation[inputs + at] = -1;
            part.equalities.push(equation);
        }
    }
    let space = Space::map(space.params.clone(), space.output.clone(), Tuple::anonymous(count));
    Ok(Relation::from_conjunctions(space, &parts)?)
}

/// Returns a relation with its points cut or filled up with zeros to `length` dimensions.
pub(super) fn padded(
    relation: &Relation,
    length: usize,
    budget: &Budget,
) -> Result<Relation, Error> {
    let dims = relation.space().output.dims.len();
    let mut part = Conjunction::default();
    for at in 0..length {
        let mut row = vec![0; 1 + dims + length];
        row[1 + dims + at] = -1;
        if at < dims {
            row[1 + at] = 1;
        }
        part.equalities.push(row);
    }
    let space = Space::map(Vec::new(), Tuple::anonymous(dims), Tuple::anonymous(length));
    let places = Relation::from_conjunctions(space, &[part])?;
    let plain = relation.cast(relation.space().input.clone(), Tuple::anonymous(dims))?;
    Ok(plain.apply_range(&places, budget)?)
}

/// Fills all points of a map up with zeros to one length.
pub(super) fn all_padded(map: &Union, budget: &Budget) -> Result<Union, Error> {
    let longest = map.relations().map(|piece| piece.space().output.dims.len()).max().unwrap_or(0);
    let pieces: Result<Vec<Relation>, Error> =
        map.relations().map(|piece| padded(piece, longest, budget)).collect();
    Ok(Union::collect(pieces?)?)
}
