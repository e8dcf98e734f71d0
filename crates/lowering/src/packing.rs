//! Sums of products with the copies that they need: panels, and operands with their padding.

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExprs, AffineMap};
use tangram_dialects::structured::{Access, Generic, TensorId};
use tangram_kernel::{Body, Element, RegisterTile};
use tangram_machine::Machine;

use crate::Options;
use crate::c::lanes::has_lanes;
use crate::contraction::{
    MOST_SEGMENTS, Padded, Panels, Product, copied, linear_terms, padded, panels, terms, zero,
};
use crate::group::Group;
use crate::nest::{Nest, Tensor};
use crate::quantised;
use crate::scop::count;
use crate::storage::{Draft, Planned};
use crate::windows::copied_windows;
use crate::winograd::Winograd;

/// Sums that are known to be shorter go the way of other loops, and results that are known to have
/// fewer columns, where these loops have lanes.
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
    /// How many updates a sum has at most if two panels and a block of rows stay in the second cache.
    pub near: usize,
}

impl Tiled {
    /// How many tiles have all rows if the others have one less, where sizes that are known leave
    /// some for the last tile otherwise: 13 rows are tiles of 5, 4 and 4.
    pub fn whole_tiles(&self, nest: &Nest) -> Option<usize> {
        let rows = nest.generic.extents[*self.product.rows.last()?].as_int()?;
        let (rows, size) = (usize::try_from(rows).ok()?, self.tile.rows);
        let tiles = rows.div_ceil(size);
        let whole = rows.checked_sub(tiles * (size - 1))?;
        (0 < whole && whole < tiles).then_some(whole)
    }
}

/// Gives each sum of products its copies.
pub(crate) fn pack(draft: &mut Draft<'_>, options: &Options) {
    let pinned = crate::fusion::pinned(draft);
    let mut steps: Vec<Option<Planned>> =
        std::mem::take(&mut draft.steps).into_iter().map(Some).collect();
    // Products that stand where what finishes them did.
    let mut later: FxHashMap<usize, Vec<Planned>> = FxHashMap::default();
    for at in 0..steps.len() {
        draft.steps.extend(later.remove(&at).into_iter().flatten());
        let Some(step) = steps[at].take() else { continue };
        match step {
            Planned::Nest(nest) => {
                let joined = quantised::finished(&nest, &steps, &pinned, draft);
                if let Some((end, joined)) = joined
                    && let Some(made) = product(&joined, draft, options)
                {
                    steps[end] = None;
                    later.insert(end, made);
                    continue;
                }
                let made = product(&nest, draft, options);
                let made = made.unwrap_or_else(|| {
                    let mut steps = Vec::new();
                    let nest = copied_windows(*nest, draft, &mut steps);
                    steps.extend(constants_beside(nest, draft));
                    steps
                });
                draft.steps.extend(made);
            }
            Planned::Recurrent(nests) => {
                let group = recurrent(nests, draft, options);
                draft.steps.push(Planned::Group(Box::new(group)));
            }
            reference => draft.steps.push(reference),
        }
    }
}

/// The nests that a sum of products becomes; nothing if it stays one.
fn product(nest: &Nest, draft: &mut Draft<'_>, options: &Options) -> Option<Vec<Planned>> {
    let mut nest = nest.clone();
    let whole = nest.clone();
    crate::collapse::without_unit_loops(&mut nest, true);
    let product = Product::of(&nest, draft).or_else(|| {
        // A single row needs its loop: then columns stream by in panels.
        nest = whole;
        Product::of(&nest, draft)
    })?;
    let small = |expr: &Expr| expr.as_int().is_some_and(|value| value < LEAST);
    let reduced: Vec<Expr> =
        product.reduced.iter().map(|at| nest.generic.extents[*at].clone()).collect();
    // Few columns leave most of a vector empty, which is still more than one number at a time.
    let is_narrow = small(&nest.generic.extents[product.column]);
    if small(&count(&reduced)?) || (is_narrow && has_lanes(&nest, &draft.tensors, options.exact)) {
        return None;
    }
    let mut steps = Vec::new();
    if product.element.is_pair() {
        pairs_beside(&mut nest, &product, draft, &mut steps)?;
        return tiled_product(nest, &product, draft, options, steps);
    }
    if !options.exact
        && let Some(plan) = Winograd::of(&nest, &product, draft, &options.machine)
    {
        return Some(vec![Planned::Winograd(Box::new(plan))]);
    }
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
        let last = (reorder && rank >= 3).then_some(1);
        let padded = padded(&nest, rows, &source, last)?;
        read_copy(&mut nest, rows, padded, draft, &mut steps)?;
        // Channels lie side by side now, if they did not.
        if !options.exact
            && reorder
            && let Some(plan) = Winograd::of(&nest, &product, draft, &options.machine)
        {
            steps.push(Planned::Winograd(Box::new(plan)));
            return Some(steps);
        }
    }
    tiled_product(nest, &product, draft, options, steps)
}

/// `steps`, and behind them a product whose operand of the rows is read as it lies.
fn tiled_product(
    mut nest: Nest,
    product: &Product,
    draft: &mut Draft<'_>,
    options: &Options,
    mut steps: Vec<Planned>,
) -> Option<Vec<Planned>> {
    // Several matrices stay apart: what reads their product has them as loops of its own.
    let mut batch = product.batch.clone();
    crate::collapse::collapse_inner(&mut nest, &mut draft.tensors, &mut batch, options.exact);
    join_rows(&mut nest, draft, &options.machine);
    let (nest, tiled) = tiled(nest, draft, options, &mut steps)?;
    steps.push(Planned::Product(Box::new(nest), Box::new(tiled)));
    Some(steps)
}

/// Joins the two inner loops over rows where tiles across their border take less time: of an image
/// of 7 by 7, tiles of one line have 7 rows or 4 and 3, those of all 49 pixels have 5.
fn join_rows(nest: &mut Nest, draft: &mut Draft<'_>, machine: &Machine) -> Option<()> {
    let product = Product::of(nest, draft)?;
    let [.., outer, inner] = product.rows[..] else { return None };
    let known = |at: usize| nest.generic.extents[at].as_int();
    let (lines, line) = (known(outer)?, known(inner)?);
    let depth = depth(nest, &product)?.as_int();
    let time = |rows: i64| {
        let sizes = [Some(rows), known(product.column), depth];
        let (time, _) = least_time(machine, product.element, &Body::product(), sizes);
        i64::try_from(time).ok()
    };
    let (apart, joined) = (time(line)?.checked_mul(lines)?, time(line.checked_mul(lines)?)?);
    // Offsets of rows are divisions then; a gain of less than a thirtieth may be none.
    if joined + joined / 30 < apart {
        crate::collapse::join(nest, &mut draft.tensors, (outer, inner), product.rows_input);
    }
    Some(())
}

/// Where the operand of the rows has pairs: the reduced loop, and the coordinate that grows by one
/// with it. All else in that coordinate has an even factor, as the first channels of groups of an
/// even number of them do: then a pair starts at every even place.
fn paired(map: &AffineMap, product: &Product) -> Option<(usize, usize)> {
    let of = |coordinate: usize| {
        let terms = linear_terms(map, map.results()[coordinate])?;
        let (own, others): (Vec<_>, Vec<_>) = terms
            .into_iter()
            .partition(|(at, factor)| *factor == 1 && product.reduced.contains(at));
        let even = others.iter().all(|(_, factor)| factor % 2 == 0);
        (own.len() == 1 && even).then(|| (own[0].0, coordinate, others.is_empty()))
    };
    let found: Vec<_> = (0..map.results().len()).filter_map(of).collect();
    // Channels rather than windows; of several loops the one that lies side by side.
    let alone = found.iter().rev().find(|(_, _, alone)| *alone).or(found.last())?;
    Some((alone.0, alone.1))
}

/// Lets a product of integers read the operand of its rows in pairs: side by side along a reduced
/// loop of even length, in a copy where it does not lie so.
///
/// An odd length is one more: both operands are 0 there.
fn pairs_beside(
    nest: &mut Nest,
    product: &Product,
    draft: &mut Draft<'_>,
    steps: &mut Vec<Planned>,
) -> Option<()> {
    let rows = product.rows_input;
    let (reduced, coordinate) = paired(&nest.generic.inputs[rows].map, product)?;
    let source = draft.tensors[nest.inputs[rows]].extents.clone();
    let is_even = |extent: &Expr| extent.as_int().is_some_and(|extent| extent % 2 == 0);
    let last = source.len() - 1;
    let access = &nest.generic.inputs[rows];
    if access.outside.is_some() || coordinate != last || !is_even(&source[last]) {
        let Padded { mut copy, mut extents, access } =
            padded(nest, rows, &source, Some(coordinate))?;
        if !is_even(&extents[last]) {
            let even = even(&extents[last])?;
            copy.inputs[0].outside = Some(zero(product.element));
            (copy.extents[last], extents[last]) = (even.clone(), even);
        }
        read_copy(nest, rows, Padded { copy, extents, access }, draft, steps)?;
    }
    if !is_even(&nest.generic.extents[reduced]) {
        nest.generic.extents[reduced] = even(&nest.generic.extents[reduced])?;
    }
    Some(())
}

/// The least even number that is not less.
fn even(extent: &Expr) -> Option<Expr> {
    extent.try_add(&Expr::int(1))?.floor_div(&Expr::int(2))?.try_mul(&Expr::int(2))
}

/// Lets a nest read a copy of an input with its padding.
pub(crate) fn read_copy(
    nest: &mut Nest,
    input: usize,
    Padded { copy, extents, access }: Padded,
    draft: &mut Draft<'_>,
    steps: &mut Vec<Planned>,
) -> Option<()> {
    let tensor = copy_of(draft, nest, nest.inputs[input], copy, extents, steps)?;
    nest.generic.inputs[input] = Access::new(nest.generic.inputs[input].place, access);
    nest.inputs[input] = tensor;
    Some(())
}

/// The loop along which results lie side by side, of a nest that combines.
pub(crate) fn lane(nest: &Nest, draft: &Draft<'_>) -> Option<usize> {
    let written = strides(&nest.generic.output, &draft.tensors[nest.output])?;
    let lane = written.iter().position(|step| step.as_int() == Some(1));
    lane.filter(|_| nest.generic.reduction.is_some())
}

/// A nest with copies of the constants that it reads with steps along the loop along which results
/// lie side by side: the weights of a depthwise convolution, channels last.
fn constants_beside(mut nest: Nest, draft: &mut Draft<'_>) -> Vec<Planned> {
    let mut steps = Vec::new();
    let lane = lane(&nest, draft);
    for input in 0..if lane.is_some() { nest.inputs.len() } else { 0 } {
        let (access, from) = (&nest.generic.inputs[input], nest.inputs[input]);
        let tensor = &draft.tensors[from];
        let is_constant = draft.is_constant(from);
        let map = &access.map;
        let rank = map.results().len();
        let mut own = (0..rank).filter(|at| lane.is_some() && map.as_operand(*at) == lane);
        let Some(coordinate) = own.next().filter(|at| own.next().is_none() && at + 1 < rank) else {
            continue;
        };
        if !is_constant || access.outside.is_some() {
            continue;
        }
        let order: Vec<usize> =
            (0..rank).filter(|at| *at != coordinate).chain([coordinate]).collect();
        let extents: Vec<Expr> = order.iter().map(|at| tensor.extents[*at].clone()).collect();
        let mut exprs = AffineExprs::new();
        let back: Vec<_> = (0..rank)
            .filter_map(|at| order.iter().position(|own| *own == at))
            .map(|at| exprs.dim(at as u32))
            .collect();
        let mut copy = Generic::over(extents.clone());
        let read = AffineMap::new(rank as u32, 0, &exprs, &back);
        copy.read(Access::new(TensorId::Operand(0), read));
        copy.write(Access::dims(TensorId::Result(0), rank, &(0..rank).collect::<Vec<_>>()));
        copy.body = copied();
        let map = crate::layout::permuted(map, &order);
        let Some(tensor) = copy_of(draft, &nest, from, copy, extents, &mut steps) else { continue };
        nest.generic.inputs[input].map = map;
        nest.inputs[input] = tensor;
    }
    steps.push(Planned::Nest(Box::new(nest)));
    steps
}

/// The nests of a recurrent layer, whose panels are packed before.
fn recurrent(nests: Vec<Nest>, draft: &mut Draft<'_>, options: &Options) -> Group {
    let mut group = Group { is_recurrent: true, ..Group::default() };
    for nest in nests {
        let mut steps = Vec::new();
        let (nest, tiled) = match tiled(nest.clone(), draft, options, &mut steps) {
            Some((nest, tiled)) => (nest, Some(tiled)),
            None => (nest, None),
        };
        draft.steps.extend(steps);
        group.nests.push(nest);
        group.tiled.push(tiled);
        group.rows.push(vec![0]);
    }
    group
}

/// A sum of products with a tile, whose panels the last of `steps` packs.
fn tiled(
    mut nest: Nest,
    draft: &mut Draft<'_>,
    options: &Options,
    steps: &mut Vec<Planned>,
) -> Option<(Nest, Tiled)> {
    let machine = &options.machine;
    let product = Product::of(&nest, draft)?;
    let rows = product.rows_input;
    let strides = self::steps(&nest.generic.inputs[rows], &draft.tensors[nest.inputs[rows]]);
    // Sums of integers are the same in any order.
    let in_order = options.exact && !product.element.is_pair();
    let (segments, run) = runs(&nest, &product, &strides, in_order)?;
    let order: Vec<usize> = segments.iter().chain(&run).copied().collect();
    let body = Body::product();
    let depth = depth(&nest, &product)?.as_int();
    let extent = |at: Option<&usize>| at.and_then(|at| least(&nest.generic.extents[*at]));
    let sizes = [extent(product.rows.last()), extent(Some(&product.column)), depth];
    let tile = fitting(machine, product.element, &body, sizes);
    let width = i64::try_from(tile.columns()).ok()?;
    let Panels { copy, extents, access } = panels(&nest, &product, &order, width)?;
    let columns = product.columns_input;
    let from = nest.inputs[columns];
    let tensor = copy_of(draft, &nest, from, copy, extents, steps)?;
    nest.generic.inputs[columns] = Access::new(nest.generic.inputs[columns].place, access);
    nest.inputs[columns] = tensor;
    let panel = tile.columns() * product.element.column_bytes();
    let near = second_cache(machine) / PANELS / panel.max(1);
    Some((nest, Tiled { product, segments, run, tile, near }))
}

/// The bytes of the second cache, or of the only one.
pub(crate) fn second_cache(machine: &Machine) -> usize {
    machine.caches.get(1).or(machine.caches.first()).map_or(0, |cache| cache.bytes)
}

/// A panel that is fetched while another one is read is at most this part of the second cache. Half of
/// that is for rows, and panels of a quarter or a fifth of it, fetched again by each tile of rows, drove
/// rows out: a sum of 4,608 updates took a seventh longer, one of 1,600 a thirtieth.
const PANELS: usize = 8;

/// How many updates a sum has: its reduced iterations, or pairs of these.
fn depth(nest: &Nest, product: &Product) -> Option<Expr> {
    let reduced: Vec<Expr> =
        product.reduced.iter().map(|at| nest.generic.extents[*at].clone()).collect();
    let all = count(&reduced)?;
    Some(all.as_int().map_or(all, |count| Expr::int(count / product.element.group() as i64)))
}

/// The value of an extent, or that of a multiple of one size of an input, which most often is a batch
/// of one. What is computed of sizes is not: three lines for each image, of as many pixels as a
/// quarter of its width, are many.
fn least(extent: &Expr) -> Option<i64> {
    let (terms, constant) = extent.affine_terms();
    match &terms[..] {
        [] => Some(constant),
        [(size, factor)] if constant == 0 && *factor > 1 && size.as_symbol().is_some() => {
            Some(*factor)
        }
        _ => None,
    }
}

/// Sizes that are not known are taken for these: rows, columns and reduced iterations.
const USUAL: [i64; 3] = [240, 240, 256];
/// Parts of a cycle that times are counted in.
const PARTS: usize = 10;
/// From the start of an update to that of the next one that needs it: 4 cycles, and half of one that
/// is lost where no other update can take its place, as measured of tiles of 2 to 4 rows by 2 vectors.
const LATENCY: usize = 4 * PARTS + PARTS / 2;
/// Bytes in a cycle that arrive from the second cache, or half a vector where that is longer. Manuals
/// state twice as much, which no sum reaches beside its own loads: on a Zen 3 server, tiles of 2 rows by
/// 4 vectors take nearly 10 cycles for an iteration of their 128 bytes, and 6 by 2, of 64, little more
/// than their updates need.
const SECOND_CACHE: usize = 16;
/// What a tile costs besides its updates: a call and its offsets, in cycles.
const CALL: usize = 60;

/// The register tile that takes the least time for a product of these sizes: rows, columns and
/// reduced iterations.
///
/// In each reduced iteration a tile of `r` rows and `v` vectors needs two units for `r * v`
/// updates and two ports for `r + v` loads, and at least the latency of an update; vectors of a
/// panel that the first cache does not keep come from the second one. So 64 columns
/// are better off with tiles of 32 than of 48, and 31 rows with one tile of 6 and five of 5 than with
/// eight of 4 at most.
pub(crate) fn fitting(
    machine: &Machine,
    element: Element,
    body: &Body,
    sizes: [Option<i64>; 3],
) -> RegisterTile {
    least_time(machine, element, body, sizes).1
}

/// The least time that a product of these sizes takes, in [`PARTS`] of a cycle, and the tile of it.
fn least_time(
    machine: &Machine,
    element: Element,
    body: &Body,
    sizes: [Option<i64>; 3],
) -> (usize, RegisterTile) {
    let known = |at: usize| usize::try_from(sizes[at].unwrap_or(USUAL[at]).max(1)).unwrap_or(1);
    let [rows, columns, depth] = [known(0), known(1), known(2)];
    let best = RegisterTile::of(machine, element, body);
    let registers = best.rows * best.vectors + best.vectors + 1;
    let near = machine.caches.first().map_or(32 * 1024, |cache| cache.bytes);
    let from_second = (best.width * element.bytes() / 2).max(SECOND_CACHE);
    let cycles = |rows: usize, vectors: usize| {
        let updates = PARTS * rows * vectors / 2;
        let vector = vectors * best.width * element.column_bytes();
        let from_afar = if depth * vector > near / 2 { PARTS * vector / from_second } else { 0 };
        let step = updates.max(PARTS * (rows + vectors) / 2).max(LATENCY).max(from_afar);
        depth * step + PARTS * (4 * rows * vectors + CALL)
    };
    let mut candidates = Vec::new();
    for vectors in 1..=best.vectors.max(8) {
        let most = (registers.saturating_sub(vectors + 1) / vectors).min(16);
        let panels = columns.div_ceil(vectors * best.width);
        for size in 1..=most {
            // Rows of nearly one size: all tiles have as many, or one less.
            let tiles = rows.div_ceil(size);
            let size = rows.div_ceil(tiles);
            let less = tiles * size - rows;
            let rest = if less > 0 { less * cycles(size - 1, vectors) } else { 0 };
            let time = (tiles - less) * cycles(size, vectors) + rest;
            candidates.push((panels * time, size, vectors));
        }
    }
    let least = candidates.into_iter().min_by_key(|(time, size, _)| (*time, usize::MAX - size));
    let (time, rows, vectors) = least.unwrap_or((0, best.rows, best.vectors));
    (time, RegisterTile { rows, vectors, width: best.width })
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
    let output = draft.between(element, extents)?;
    let (inputs, tables, finish) = (vec![from], Vec::new(), None);
    let ops = nest.ops.clone();
    let nest = Nest { ops, generic: copy, inputs, tables, output, finish };
    steps.push(Planned::Nest(Box::new(nest)));
    Some(output)
}

/// By how many elements the place of an access grows with each iterator; nothing for one that it does
/// not grow with evenly.
pub(crate) fn steps(access: &Access, tensor: &Tensor) -> Vec<Option<Expr>> {
    let map = &access.map;
    let mut steps = vec![Some(Expr::int(0)); map.dims()];
    let mut below = Some(Expr::int(1));
    for (coordinate, result) in map.results().iter().enumerate().rev() {
        let (terms, uneven) = terms(map, *result);
        for (at, factor) in terms {
            let step = below.as_ref().and_then(|one| one.try_mul(&Expr::int(factor)));
            steps[at] = steps[at].as_ref().and_then(|own| own.try_add(&step?));
        }
        uneven.into_iter().for_each(|at| steps[at] = None);
        below = below.and_then(|one| one.try_mul(tensor.extents.get(coordinate)?));
    }
    steps
}

/// [`steps`], where there is one for each iterator.
pub(crate) fn strides(access: &Access, tensor: &Tensor) -> Option<Vec<Expr>> {
    steps(access, tensor).into_iter().collect()
}

/// Parts the reduced loops into those of a table and those along which there is one step; `in_order`:
/// so that sums are taken in the order of the loops.
fn runs(
    nest: &Nest,
    product: &Product,
    strides: &[Option<Expr>],
    in_order: bool,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let generic = &nest.generic;
    let step = |at: usize| strides[at].as_ref();
    if product.reduced.iter().any(|at| step(*at).is_none()) {
        return None;
    }
    let mut left = product.reduced.clone();
    // The run ends with the loop of the least step.
    let unit = left.iter().position(|at| step(*at).and_then(Expr::as_int) == Some(1));
    let unit = unit.filter(|_| !in_order);
    let last = left.remove(unit.unwrap_or(left.len() - 1));
    let mut run = vec![last];
    loop {
        let first = run[0];
        let whole = generic.extents[first].try_mul(step(first)?)?;
        let at = left.iter().rposition(|at| step(*at) == Some(&whole));
        let Some(at) = at.filter(|at| !in_order || at + 1 == left.len()) else { break };
        run.insert(0, left.remove(at));
    }
    let segments: Vec<Expr> = left.iter().map(|at| generic.extents[*at].clone()).collect();
    let number = count(&segments)?.as_int()?;
    (number <= MOST_SEGMENTS).then_some((left, run))
}
