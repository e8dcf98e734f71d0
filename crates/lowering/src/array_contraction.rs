//! Memory for one row: tensors that only a group sees need no more.
//!
//! A group runs row after row, and each of its accesses to such a tensor is of the row at hand, so
//! that the coordinates of rows can go. Where a block of rows runs at once, the last of them is
//! taken modulo the block.

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExprs, AffineMap, BinaryOp};

use crate::fusion::pinned;
use crate::group::Group;
use crate::nest::Tensor;
use crate::scop::count;
use crate::storage::{Draft, Planned};

/// Gives tensors that only one group sees memory for one row.
pub(crate) fn contract_arrays(draft: &mut Draft<'_>) {
    let pinned = pinned(draft);
    let mut steps = std::mem::take(&mut draft.steps);
    let mut users = vec![0_usize; draft.buffers.len()];
    for step in &steps {
        for buffer in buffers(step, draft) {
            users[buffer] += 1;
        }
    }
    for step in &mut steps {
        let Planned::Group(group) = step else { continue };
        group.contracted = group.nests.clone();
        for member in 0..group.nests.len() {
            let tensor = group.nests[member].output;
            let buffer = draft.tensors[tensor].buffer;
            if pinned[buffer] || users[buffer] != 1 {
                continue;
            }
            if let Some(coordinates) = row_coordinates(group, tensor) {
                let whole = &draft.tensors[tensor];
                let block = group.block();
                let gone = gone(&coordinates, block);
                let left = (0..whole.extents.len()).filter(|at| !gone.contains(at));
                let extents: Vec<Expr> = left
                    .map(|at| match coordinates.contains(&at) {
                        true => Expr::int(block as i64),
                        false => whole.extents[at].clone(),
                    })
                    .collect();
                let Some(size) = count(&extents) else { continue };
                let row = Tensor { extents, scratch: true, ..whole.clone() };
                draft.buffers[buffer].per_part = true;
                draft.buffers[buffer].size = size;
                draft.tensors.push(row);
                forget(group, tensor, &coordinates, draft.tensors.len() - 1);
            }
        }
    }
    draft.steps = steps;
}

/// The buffers of a step, each once.
fn buffers(step: &Planned, draft: &Draft<'_>) -> Vec<usize> {
    let nests = match step {
        Planned::Nest(nest) | Planned::Product(nest, _) => std::slice::from_ref(&**nest),
        Planned::Winograd(plan) => std::slice::from_ref(&plan.nest),
        Planned::Group(group) => &group.nests,
        Planned::Recurrent(nests) => nests,
        Planned::Reference(_) => &[],
    };
    let (tensors, _) = crate::scop::arrays(nests);
    let mut all: Vec<usize> =
        tensors.into_iter().map(|tensor| draft.tensors[tensor].buffer).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The coordinates of a tensor that are rows wherever the group has it; nothing if they differ.
fn row_coordinates(group: &Group, tensor: usize) -> Option<Vec<usize>> {
    let mut all: Option<Vec<usize>> = None;
    for (nest, rows) in group.nests.iter().zip(&group.rows) {
        let inputs = nest.generic.inputs.iter().zip(&nest.inputs);
        let output = [(&nest.generic.output, &nest.output)];
        for (access, _) in inputs.chain(output).filter(|(_, own)| **own == tensor) {
            let coordinates: Option<Vec<usize>> = rows
                .iter()
                .map(|row| {
                    (0..access.map.results().len())
                        .find(|at| access.map.as_operand(*at) == Some(*row))
                })
                .collect();
            let coordinates = coordinates?;
            if all.as_ref().is_some_and(|known| *known != coordinates) {
                return None;
            }
            all = Some(coordinates);
        }
    }
    all
}

/// The coordinates that one block of rows has no use for: all, or all but the place in the block.
fn gone(coordinates: &[usize], block: usize) -> &[usize] {
    match coordinates.split_last() {
        Some((_, outer)) if block > 1 => outer,
        _ => coordinates,
    }
}

/// Takes coordinates out of all accesses to a tensor, which become accesses to `row`.
fn forget(group: &mut Group, tensor: usize, coordinates: &[usize], row: usize) {
    let block = group.block();
    let gone = gone(coordinates, block);
    for nest in &mut group.contracted {
        let inputs = nest.generic.inputs.iter_mut().zip(&mut nest.inputs);
        let output = [(&mut nest.generic.output, &mut nest.output)];
        for (access, own) in inputs.chain(output).filter(|(_, own)| **own == tensor) {
            *own = row;
            let mut exprs = AffineExprs::new();
            let nodes = access.map.copy(&mut exprs);
            let results: Vec<_> = access
                .map
                .results()
                .iter()
                .enumerate()
                .filter(|(at, _)| !gone.contains(at))
                .map(|(at, result)| (coordinates.contains(&at), nodes[result.index()]))
                .collect();
            let size = exprs.constant(block as i64);
            let results: Vec<_> = results
                .into_iter()
                .map(|(is_row, result)| match is_row {
                    true => exprs.binary(BinaryOp::Mod, result, size),
                    false => result,
                })
                .collect();
            let (dims, symbols) = (access.map.dims() as u32, access.map.symbols() as u32);
            access.map = AffineMap::new(dims, symbols, &exprs, &results);
        }
    }
}
