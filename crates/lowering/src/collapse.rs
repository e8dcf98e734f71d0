//! Loops whose elements follow each other in every tensor, as one loop.
//!
//! Fewer loops are longer ones: a batch of matrices times one matrix is one product, and what is
//! computed element by element is one loop whatever the rank. The product of two symbolic extents
//! is a parameter of its own then.

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExprs, AffineMap, BinaryOp};
use tangram_dialects::structured::{Access, Scalar};

use crate::nest::{Nest, Tensor, composed, shifted_iterators};

/// Joins all such loops of a nest; `tensors` grows by tensors of fewer coordinates in the same
/// buffers. With `exact`, terms of sums keep their order.
pub(crate) fn collapse(nest: &mut Nest, tensors: &mut Vec<Tensor>, exact: bool) {
    collapse_inner(nest, tensors, &mut [], exact);
}

/// Joins such loops but `fixed` ones, which keep their order and get new numbers.
pub(crate) fn collapse_inner(
    nest: &mut Nest,
    tensors: &mut Vec<Tensor>,
    fixed: &mut [usize],
    exact: bool,
) {
    while let Some((outer, inner)) = pair(nest, tensors, fixed, exact) {
        merge(nest, tensors, outer, inner);
        fixed.iter_mut().filter(|own| **own > outer).for_each(|own| *own -= 1);
    }
}

/// Joins two loops whose elements follow each other in every tensor but that of the input `windows`,
/// which reads the quotient and the remainder of the joined loop by the inner extent. Returns
/// whether they could be joined: the inner extent has to be a number.
pub(crate) fn join(
    nest: &mut Nest,
    tensors: &mut Vec<Tensor>,
    (outer, inner): (usize, usize),
    windows: usize,
) -> bool {
    let Some(width) = nest.generic.extents[inner].as_int() else { return false };
    if !can_follow(nest, tensors, &[], (outer, inner), Some(windows)) {
        return false;
    }
    let map = &nest.generic.inputs[windows].map;
    let mut exprs = AffineExprs::new();
    let mut dims: Vec<_> = (0..map.dims()).map(|at| exprs.dim(at as u32)).collect();
    let (joined, width) = (dims[inner], exprs.constant(width));
    dims[outer] = exprs.binary(BinaryOp::FloorDiv, joined, width);
    dims[inner] = exprs.binary(BinaryOp::Mod, joined, width);
    let results = map.substitute(&mut exprs, &dims, &[]);
    let read = AffineMap::new(map.dims() as u32, map.symbols() as u32, &exprs, &results);
    nest.generic.inputs[windows].map = read;
    merge(nest, tensors, outer, inner);
    true
}

fn pair(nest: &Nest, tensors: &[Tensor], fixed: &[usize], exact: bool) -> Option<(usize, usize)> {
    let count = nest.generic.extents.len();
    let mut pairs = (0..count).flat_map(|outer| (0..count).map(move |inner| (outer, inner)));
    let in_order = exact && !nest.is_free_of_order();
    pairs.find(|pair| {
        can_follow(nest, tensors, fixed, *pair, None) && (!in_order || keeps_order(nest, *pair))
    })
}

/// Whether two loops as one combine in the order of both: the inner one is the next that is combined.
fn keeps_order(nest: &Nest, (outer, inner): (usize, usize)) -> bool {
    let mut behind = nest.generic.reduced().skip_while(|at| *at != outer);
    behind.next().is_none() || behind.next() == Some(inner)
}

/// Whether two loops can be joined: their elements follow each other in every tensor but that of
/// the input `except`.
fn can_follow(
    nest: &Nest,
    tensors: &[Tensor],
    fixed: &[usize],
    (outer, inner): (usize, usize),
    except: Option<usize>,
) -> bool {
    let generic = &nest.generic;
    let indexed = |at: usize| generic.body.scalars().contains(&Scalar::Index(at));
    let accesses = || {
        let inputs = generic.inputs.iter().zip(nest.inputs.iter().copied()).enumerate();
        let inputs = inputs.filter(|(at, _)| Some(*at) != except).map(|(_, read)| read);
        inputs.chain([(&generic.output, nest.output)])
    };
    outer != inner
        && !fixed.contains(&outer)
        && !fixed.contains(&inner)
        && generic.extents[outer].try_mul(&generic.extents[inner]).is_some()
        && generic.kinds[outer] == generic.kinds[inner]
        && !indexed(outer)
        && !indexed(inner)
        && accesses().all(|(access, tensor)| {
            follow(access, &tensors[tensor], (outer, inner), &generic.extents).is_some()
        })
}

/// Where two loops are coordinates that follow each other; `Some(None)` if neither occurs.
fn follow(
    access: &Access,
    tensor: &Tensor,
    (outer, inner): (usize, usize),
    extents: &[Expr],
) -> Option<Option<usize>> {
    let map = &access.map;
    let (used, _) = map.used();
    if !used[outer] && !used[inner] {
        return Some(None);
    }
    let rank = map.results().len();
    let first = (0..rank).find(|at| map.as_operand(*at) == Some(outer))?;
    let fits = first + 1 < rank
        && map.as_operand(first + 1) == Some(inner)
        && tensor.extents[first + 1] == extents[inner]
        && tensor.extents[first] == extents[outer]
        && access.outside.is_none();
    // Neither may occur in another coordinate.
    let elsewhere = (0..rank).filter(|at| *at != first && *at != first + 1).any(|at| {
        let own = one(map, at).used().0;
        own[outer] || own[inner]
    });
    (fits && !elsewhere).then_some(Some(first))
}

/// One result of a map.
pub(crate) fn one(map: &AffineMap, at: usize) -> AffineMap {
    let mut exprs = AffineExprs::new();
    let nodes = map.copy(&mut exprs);
    let result = nodes[map.results()[at].index()];
    AffineMap::new(map.dims() as u32, map.symbols() as u32, &exprs, &[result])
}

fn merge(nest: &mut Nest, tensors: &mut Vec<Tensor>, outer: usize, inner: usize) {
    let extents = nest.generic.extents.clone();
    let mut views: Vec<(usize, usize, usize)> = Vec::new();
    let inputs = nest.generic.inputs.iter_mut().zip(nest.inputs.iter_mut());
    for (access, tensor) in inputs.chain([(&mut nest.generic.output, &mut nest.output)]) {
        let found = follow(access, &tensors[*tensor], (outer, inner), &extents).flatten();
        let Some(first) = found else { continue };
        let known = views.iter().find(|view| (view.0, view.1) == (*tensor, first));
        let view = match known {
            Some(view) => view.2,
            None => {
                let mut view = tensors[*tensor].clone();
                let Some(both) = view.extents[first].try_mul(&view.extents[first + 1]) else {
                    continue;
                };
                view.extents.splice(first..first + 2, [both]);
                tensors.push(view);
                views.push((*tensor, first, tensors.len() - 1));
                tensors.len() - 1
            }
        };
        let mut exprs = AffineExprs::new();
        let nodes = access.map.copy(&mut exprs);
        let mut results: Vec<_> =
            access.map.results().iter().map(|result| nodes[result.index()]).collect();
        // The inner loop stands for both from now on.
        results.remove(first);
        let (dims, symbols) = (access.map.dims() as u32, access.map.symbols() as u32);
        access.map = AffineMap::new(dims, symbols, &exprs, &results);
        *tensor = view;
    }
    let both = extents[outer].try_mul(&extents[inner]);
    if let Some(both) = both {
        nest.generic.extents[inner] = both;
    }
    drop_iterator(nest, outer);
}

/// Takes a loop away that no access uses.
pub(crate) fn drop_iterator(nest: &mut Nest, gone: usize) {
    nest.generic.extents.remove(gone);
    nest.generic.kinds.remove(gone);
    for access in nest.generic.inputs.iter_mut().chain([&mut nest.generic.output]) {
        access.map = shifted_iterators(&access.map, gone);
    }
    let moved = |scalar: &Scalar| match scalar {
        Scalar::Index(at) if *at > gone => Scalar::Index(at - 1),
        other => other.clone(),
    };
    nest.generic.body = crate::nest::mapped(&nest.generic.body, moved);
}

/// Takes loops of one iteration away; those that are a coordinate of the output only if asked to.
pub(crate) fn without_unit_loops(nest: &mut Nest, coordinates: bool) {
    let mut at = 0;
    while at < nest.generic.extents.len() {
        let indexed = nest.generic.body.scalars().contains(&Scalar::Index(at));
        let reduced = nest.generic.reduced().collect::<Vec<_>>();
        // A combination of one iteration stays one.
        let map = &nest.generic.output.map;
        let is_coordinate = (0..map.results().len()).any(|c| map.as_operand(c) == Some(at));
        let one = nest.generic.extents[at].as_int() == Some(1);
        if !one || indexed || reduced == [at] || (is_coordinate && !coordinates) {
            at += 1;
            continue;
        }
        let count = nest.generic.extents.len();
        let mut exprs = AffineExprs::new();
        let dims: Vec<_> = (0..count)
            .map(|own| if own == at { exprs.constant(0) } else { exprs.dim(own as u32) })
            .collect();
        let zero = AffineMap::new(count as u32, 0, &exprs, &dims);
        for access in nest.generic.inputs.iter_mut().chain([&mut nest.generic.output]) {
            let symbols = access.map.symbols();
            if let Some(map) = composed(&access.map, &zero, symbols) {
                access.map = map;
            }
        }
        drop_iterator(nest, at);
    }
}
