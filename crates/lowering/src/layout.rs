//! Layouts: the order of a tensor's coordinates in memory.
//!
//! Sums of products are fastest where the coordinate along which a whole row of results is made
//! lies side by side in memory: for a convolution the channels. So its result, and whatever is
//! computed from it element by element or by windows, has its channels last, as long as nobody
//! else looks at that memory. A nest that reads one order and writes another is the reorder.

use tangram_affine::AffineMap;

use crate::contraction::Product;
use crate::nest::Nest;
use crate::program::Storage;
use crate::storage::{Draft, Planned};

/// Whether a nest reads or writes memory whose order of coordinates others see, of the rank of a
/// result that has channels. Constants, such as a bias for each channel, are small as a rule.
pub(crate) fn is_fixed(nest: &Nest, draft: &Draft<'_>, pinned: &[bool]) -> bool {
    let rank = draft.tensors[nest.output].extents.len();
    let mut tensors = nest.inputs.iter().chain([&nest.output]).map(|at| &draft.tensors[*at]);
    let is_constant = |buffer: usize| matches!(draft.buffers[buffer].storage, Storage::Constant(_));
    let fixed = |buffer: usize| pinned[buffer] && !is_constant(buffer);
    rank >= 3 && tensors.any(|tensor| tensor.extents.len() == rank && fixed(tensor.buffer))
}

/// Chooses the order of coordinates of every tensor that is free to have one.
pub(crate) fn choose(draft: &mut Draft<'_>) {
    let pinned = crate::fusion::pinned(draft);
    let free = |tensor: usize| !pinned[draft.tensors[tensor].buffer];
    let mut last = vec![false; draft.tensors.len()];
    let mut reordered = Vec::new();
    for step in &draft.steps {
        let Planned::Nest(nest) = step else { continue };
        let rank = draft.tensors[nest.output].extents.len();
        if rank < 3 || !free(nest.output) {
            continue;
        }
        // Windows and element by element: the order of what is read stays.
        let follows = nest.inputs.iter().zip(&nest.generic.inputs).any(|(tensor, access)| {
            last[*tensor]
                && draft.tensors[*tensor].extents.len() == rank
                && access.map.as_operand(1).is_some()
                && access.map.as_operand(1) == nest.generic.output.map.as_operand(1)
        });
        if (follows || Product::wants_channels_last(nest, draft)) && !last[nest.output] {
            last[nest.output] = true;
            reordered.push(nest.output);
        }
    }
    for tensor in reordered {
        let rank = draft.tensors[tensor].extents.len();
        let order: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
        reorder(draft, tensor, &order);
    }
}

/// Gives a tensor another order of coordinates.
pub(crate) fn reorder(draft: &mut Draft<'_>, tensor: usize, order: &[usize]) {
    let extents = &mut draft.tensors[tensor].extents;
    *extents = order.iter().map(|&at| extents[at].clone()).collect();
    for step in &mut draft.steps {
        let Planned::Nest(nest) = step else { continue };
        rewrite(nest, tensor, order);
    }
}

fn rewrite(nest: &mut Nest, tensor: usize, order: &[usize]) {
    for (access, own) in nest.generic.inputs.iter_mut().zip(&nest.inputs) {
        if *own == tensor {
            access.map = permuted(&access.map, order);
        }
    }
    if nest.output == tensor {
        nest.generic.output.map = permuted(&nest.generic.output.map, order);
    }
}

/// The map with its results in another order.
pub(crate) fn permuted(map: &AffineMap, order: &[usize]) -> AffineMap {
    let mut exprs = tangram_affine::AffineExprs::new();
    let nodes = map.copy(&mut exprs);
    let results: Vec<_> = order.iter().map(|&at| nodes[map.results()[at].index()]).collect();
    AffineMap::new(map.dims() as u32, map.symbols() as u32, &exprs, &results)
}
