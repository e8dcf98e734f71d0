//! Sums of products with the copies that they need: panels, and operands with their padding.

use tangram_affine::AffineMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{Access, Generic};
use tangram_kernel::{Body, RegisterTile};
use tangram_machine::Machine;

use crate::nest::{Nest, Tensor};
use crate::product::{MOST_SEGMENTS, Padded, Panels, Product, linear_terms, padded, panels};
use crate::program::{Buffer, Storage};
use crate::scop::count;
use crate::storage::{Draft, Planned};

/// Sums that are known to be shorter, and results that are known to have fewer columns, go the way
/// of other loops.
const LEAST: i64 = 4;

/// How a sum of products is tiled.
#[derive(Clone, Debug)]
pub(crate) struct Tiled {
    pub product: Product,
    /// Reduced loops whose offsets stand in a table, outermost first.
    pub segments: Vec<usize>,
    /// Reduced loops along which the operand of the rows has one step, outermost first.
    pub run: Vec<usize>,
    /// Rows and columns of a register tile.
    pub tile: RegisterTile,
}

/// Gives each sum of products its copies.
pub(crate) fn expand(draft: &mut Draft<'_>, machine: &Machine) {
    for step in std::mem::take(&mut draft.steps) {
        match step {
            Planned::Nest(nest) => {
                let made = product(&nest, draft, machine);
                draft.steps.extend(made.unwrap_or_else(|| vec![Planned::Nest(nest)]));
            }
            reference => draft.steps.push(reference),
        }
    }
}

/// The nests that a sum of products becomes; nothing if it stays one.
fn product(nest: &Nest, draft: &mut Draft<'_>, machine: &Machine) -> Option<Vec<Planned>> {
    let mut nest = nest.clone();
    crate::collapse::without_unit_loops(&mut nest, true);
    let product = Product::of(&nest, draft)?;
    let small = |expr: &Expr| expr.as_int().is_some_and(|value| value < LEAST);
    let reduced: Vec<Expr> =
        product.reduced.iter().map(|at| nest.generic.extents[*at].clone()).collect();
    if small(&count(&reduced)?) || small(&nest.generic.extents[product.column]) {
        return None;
    }
    let mut steps = Vec::new();
    // The operand of the rows: side by side along a reduced loop, and with its padding.
    let rows = product.rows_input;
    let access = &nest.generic.inputs[rows];
    let source = draft.tensors[nest.inputs[rows]].extents.clone();
    let reads = |map: &AffineMap, coordinate: usize| {
        let terms = map.results().get(coordinate).and_then(|r| linear_terms(map, *r));
        terms.is_some_and(|terms| {
            terms.iter().any(|(at, factor)| *factor == 1 && product.reduced.contains(at))
        })
    };
    let rank = source.len();
    let beside = rank > 0 && reads(&access.map, rank - 1);
    let windowed = product.reduced.len() > 1;
    let reorder = windowed && rank >= 3 && !is_alone(&access.map, rank - 1, &product.reduced);
    let reorder = reorder || (!beside && rank >= 3 && reads(&access.map, 1));
    if access.outside.is_some() || reorder {
        let Padded { copy, extents, access } = padded(&nest, rows, &source, reorder)?;
        let from = nest.inputs[rows];
        let tensor = copy_of(draft, &nest, from, copy, extents, &mut steps)?;
        nest.generic.inputs[rows] = Access::new(nest.generic.inputs[rows].place, access);
        nest.inputs[rows] = tensor;
    }
    crate::collapse::collapse(&mut nest, &mut draft.tensors);
    let product = Product::of(&nest, draft)?;
    let rows = product.rows_input;
    let strides = strides(&nest.generic.inputs[rows], &draft.tensors[nest.inputs[rows]])?;
    let (segments, run) = runs(&nest, &product, &strides)?;
    let order: Vec<usize> = segments.iter().chain(&run).copied().collect();
    let body = Body::product();
    let mut tile = RegisterTile::of(machine, product.element, &body);
    let rows_of = product.rows.last().map(|at| &nest.generic.extents[*at]);
    tile.rows = even(rows_of.and_then(Expr::as_int), tile.rows);
    let width = i64::try_from(tile.columns()).ok()?;
    let Panels { copy, extents, access } = panels(&nest, &product, &order, width)?;
    let columns = product.columns_input;
    let from = nest.inputs[columns];
    let tensor = copy_of(draft, &nest, from, copy, extents, &mut steps)?;
    nest.generic.inputs[columns] = Access::new(nest.generic.inputs[columns].place, access);
    nest.inputs[columns] = tensor;
    steps.push(Planned::Product(Box::new(nest), Box::new(Tiled { product, segments, run, tile })));
    Some(steps)
}

/// Rows of tiles that are all nearly of one size, where their number is known: 14 rows are 5, 5
/// and 4, not 6, 6 and 2, which have too few sums to hide their latency.
fn even(extent: Option<i64>, most: usize) -> usize {
    match extent.and_then(|extent| usize::try_from(extent).ok()) {
        Some(extent) if extent > 0 => extent.div_ceil(extent.div_ceil(most)),
        _ => most,
    }
}

/// Whether the reduced loops in a coordinate are there alone.
fn is_alone(map: &AffineMap, coordinate: usize, reduced: &[usize]) -> bool {
    let terms = linear_terms(map, map.results()[coordinate]).unwrap_or_default();
    terms.len() == 1 && reduced.contains(&terms[0].0)
}

/// Adds a copy of a tensor; returns the copy.
fn copy_of(
    draft: &mut Draft<'_>,
    nest: &Nest,
    from: usize,
    copy: Generic,
    extents: Vec<Expr>,
    steps: &mut Vec<Planned>,
) -> Option<usize> {
    let element = draft.tensors[from].element;
    let size = count(&extents)?;
    draft.buffers.push(Buffer { element, size, storage: Storage::Arena });
    let buffer = draft.buffers.len() - 1;
    draft.tensors.push(Tensor { element, extents, buffer });
    let output = draft.tensors.len() - 1;
    let (inputs, tables, finish) = (vec![from], Vec::new(), None);
    let ops = nest.ops.clone();
    let nest = Nest { ops, generic: copy, inputs, tables, output, finish };
    steps.push(Planned::Nest(Box::new(nest)));
    Some(output)
}

/// By how many elements the place of an access grows with each iterator.
pub(crate) fn strides(access: &Access, tensor: &Tensor) -> Option<Vec<Expr>> {
    let mut strides = vec![Expr::int(0); access.map.dims()];
    let mut below = Expr::int(1);
    for (coordinate, result) in access.map.results().iter().enumerate().rev() {
        for (at, factor) in linear_terms(&access.map, *result)? {
            let step = below.try_mul(&Expr::int(factor))?;
            strides[at] = strides[at].try_add(&step)?;
        }
        below = below.try_mul(&tensor.extents[coordinate])?;
    }
    Some(strides)
}

/// Parts the reduced loops into those of a table and those along which there is one step.
fn runs(nest: &Nest, product: &Product, strides: &[Expr]) -> Option<(Vec<usize>, Vec<usize>)> {
    let generic = &nest.generic;
    let mut left = product.reduced.clone();
    // The run ends with the loop of the least step.
    let unit = left.iter().position(|at| strides[*at].as_int() == Some(1));
    let last = left.remove(unit.unwrap_or(left.len() - 1));
    let mut run = vec![last];
    loop {
        let first = run[0];
        let whole = generic.extents[first].try_mul(&strides[first])?;
        let Some(at) = left.iter().rposition(|at| strides[*at] == whole) else { break };
        run.insert(0, left.remove(at));
    }
    let segments: Vec<Expr> = left.iter().map(|at| generic.extents[*at].clone()).collect();
    let number = count(&segments)?.as_int()?;
    (number <= MOST_SEGMENTS).then_some((left, run))
}
