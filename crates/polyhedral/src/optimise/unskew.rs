//! Loops without the skewing that only permutable bands need.

use std::collections::BTreeMap;

use crate::transform::Editor;
use crate::{Band, Error, Node, NodeKind};

/// Coefficients of a member's row on the dimensions of each statement.
type Rows = BTreeMap<String, Vec<i128>>;

/// Subtracts outer members from steeper ones inside.
///
/// The order of the instances stays; `[x, c, 2c + u]` becomes `[x, c, u]`. This is for bands
/// with parallel members, which need no permutable loops beside them, and for those that are
/// not tiled: steep bounds cost.
pub(super) fn straightened(editor: &mut Editor, mut node: Node) -> Result<Node, Error> {
    let NodeKind::Band(band) = editor.tree().kind(node) else { return Ok(node) };
    let Some(mut rows) = rows(band)? else { return Ok(node) };
    let steep = |rows: &Rows| rows.values().flatten().any(|value| value.abs() > 1);
    for member in 1..rows.len() {
        if !steep(&rows[member]) {
            continue;
        }
        for outer in (0..member).rev() {
            let factor = factor(&rows[member], &rows[outer]);
            if factor != 0 {
                node = editor.skew(node, member, outer, -factor)?;
                rows[member] = without(&rows[member], &rows[outer], factor);
            }
        }
    }
    Ok(node)
}

/// Reads the rows of all members; nothing if one is no plain function.
fn rows(band: &Band) -> Result<Option<Vec<Rows>>, Error> {
    let mut all = Vec::new();
    for member in &band.members {
        let mut rows = Rows::new();
        for relation in member.schedule.relations() {
            let space = relation.space();
            let (Some(input), params) = (&space.input, space.params.len()) else {
                return Ok(None);
            };
            let parts = relation.narrow_conjunctions()?;
            let [part] = &parts[..] else { return Ok(None) };
            let [row] = &part.equalities[..] else { return Ok(None) };
            let dims = &row[1 + params..][..input.dims.len()];
            let sign = -row[1 + params + input.dims.len()];
            if sign.abs() != 1 || !part.divisions.is_empty() {
                return Ok(None);
            }
            rows.insert(input.name.clone(), dims.iter().map(|value| sign * value).collect());
        }
        all.push(rows);
    }
    Ok(Some(all))
}

fn without(row: &Rows, outer: &Rows, factor: i128) -> Rows {
    let mut left = row.clone();
    for (name, values) in &mut left {
        for (value, other) in values.iter_mut().zip(outer.get(name).into_iter().flatten()) {
            *value -= factor * other;
        }
    }
    left
}

/// Finds how often an outer row is to be subtracted for the smallest coefficients.
fn factor(row: &Rows, outer: &Rows) -> i128 {
    let size = |factor: &i128| -> i128 {
        without(row, outer, *factor).values().flatten().map(|value| value.abs()).sum()
    };
    let largest = row.values().flatten().map(|value| value.abs()).max().unwrap_or(0).min(64);
    let mut factors: Vec<i128> = (-largest..=largest).collect();
    // Of factors that do as well, the least.
    factors.sort_by_key(|factor| (factor.abs(), *factor));
    factors.into_iter().min_by_key(size).unwrap_or(0)
}
