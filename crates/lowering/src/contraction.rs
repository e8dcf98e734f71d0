//! Sums of products: which loops are rows, columns and reduced, and what is packed.
//!
//! ```text
//! out[n][y][x][o] = sum over u, v, c of in[n][y + u][x + v][c] * w[o][c][u][v]
//!
//! column o; rows x, around it n and y; reduced c, around it u and v
//! panels[o / 16][u][v][c][o mod 16]: the weights, packed once where they are constant
//! ```
//!
//! The operand of the columns is copied into panels, an array in the order in which tiles read it.
//! The other one is read where it lies; where it is padded, or its reduced coordinate is not side
//! by side in memory, a copy of it comes first.

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExpr, AffineExprs, AffineMap, BinaryOp, Node};
use tangram_dialects::structured::{
    Access, Binary, Body, Generic, IteratorKind, Number, Scalar, TensorId,
};
use tangram_kernel::Element;
use tangram_tensor::DType;

use crate::nest::{Nest, Tensor};
use crate::storage::Draft;

/// Offsets of runs of reduced iterations stand in a table of at most that many.
pub(crate) const MOST_SEGMENTS: i64 = 1024;

/// The loops of a sum of products.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub element: Element,
    /// The input that is read where it lies.
    pub rows_input: usize,
    /// The input that is packed.
    pub columns_input: usize,
    /// The loop along which results are side by side.
    pub column: usize,
    /// Loops of results that the packed operand does not have, outermost first.
    pub rows: Vec<usize>,
    /// Loops of the result and both operands.
    pub batch: Vec<usize>,
    /// Loops of results with columns around the one in tiles.
    pub outer_columns: Vec<usize>,
    /// Reduced loops.
    pub reduced: Vec<usize>,
}

/// What a nest multiplies: the numbers of two inputs, or these converted to the type of the sum.
pub(crate) fn factors(nest: &Nest) -> Option<[usize; 2]> {
    let generic = &nest.generic;
    let reduction = generic.reduction?;
    let zero = match reduction.initial {
        Number::Float(_, value) => value == 0.0,
        Number::Int(_, value) => value == 0,
    };
    let scalars = generic.body.scalars();
    let value = generic.body.value()?;
    let Scalar::Binary(Binary::Mul, a, b) = &scalars[value.0 as usize] else { return None };
    let input = |id: &tangram_dialects::structured::ScalarId| match scalars[id.0 as usize] {
        Scalar::Input(at) => Some(at),
        Scalar::Cast(ty, id) if ty == reduction.initial.element() => match scalars[id.0 as usize] {
            Scalar::Input(at) => Some(at),
            _ => None,
        },
        _ => None,
    };
    let factors = [input(a)?, input(b)?];
    let fits = zero && reduction.combine == Binary::Add && factors[0] != factors[1];
    // What lies outside adds nothing.
    let padded = |at: &usize| match generic.inputs[*at].outside {
        None => true,
        Some(Number::Float(_, value)) => value == 0.0,
        Some(Number::Int(_, value)) => value == 0,
    };
    (fits && factors.iter().all(padded)).then_some(factors)
}

impl Product {
    /// Whether a nest is a sum of products whose result would best have its second coordinate
    /// last, as that of a convolution: what is packed then is a constant, so packing it is free.
    /// Where neither choice packs a constant, windows decide, of which panels would be copies.
    pub fn wants_channels_last(nest: &Nest, draft: &Draft<'_>) -> bool {
        let Some(factors) = factors(nest) else { return false };
        let Some(column) = column_at(nest, 1) else { return false };
        let Some(second) = Product::with_column(nest, factors, &draft.tensors, column) else {
            return false;
        };
        let Some(last) = Product::of(nest, draft) else { return true };
        let packs_constant =
            |product: &Product| draft.is_constant(nest.inputs[product.columns_input]);
        match (packs_constant(&second), packs_constant(&last)) {
            (true, false) => true,
            (false, true) => false,
            _ => second.reduced.len() > 1,
        }
    }

    /// Reads a nest as a sum of products with results side by side along a loop of one operand.
    pub fn of(nest: &Nest, draft: &Draft<'_>) -> Option<Product> {
        let factors = factors(nest)?;
        let last = draft.tensors[nest.output].extents.len().checked_sub(1)?;
        let column = column_at(nest, last)?;
        Product::with_column(nest, factors, &draft.tensors, column)
    }

    fn with_column(
        nest: &Nest,
        factors: [usize; 2],
        tensors: &[Tensor],
        column: usize,
    ) -> Option<Product> {
        let generic = &nest.generic;
        let used = |access: &Access| access.map.used().0;
        let out = used(&generic.output);
        let of = factors.map(|at| used(&generic.inputs[at]));
        let (rows_at, columns_at) = match (of[0][column], of[1][column]) {
            (false, true) => (0, 1),
            (true, false) => (1, 0),
            _ => return None,
        };
        let (mut rows, mut batch) = (Vec::new(), Vec::new());
        let (mut outer_columns, mut reduced) = (Vec::new(), Vec::new());
        for at in (0..generic.extents.len()).filter(|at| *at != column) {
            match (out[at], of[rows_at][at], of[columns_at][at]) {
                (true, true, false) => rows.push(at),
                (true, true, true) => batch.push(at),
                (true, false, true) => outer_columns.push(at),
                (false, true, true) => reduced.push(at),
                _ => return None,
            }
        }
        // A table has the places of rows, but one step leads along the reduced loops.
        let read = &generic.inputs[factors[rows_at]].map;
        let uneven: Vec<usize> = read.results().iter().flat_map(|r| terms(read, *r).1).collect();
        let linear = is_linear(&generic.output.map) && uneven.iter().all(|at| rows.contains(at));
        if rows.is_empty() || reduced.is_empty() || !linear {
            return None;
        }
        let (rows_input, columns_input) = (factors[rows_at], factors[columns_at]);
        Some(Product {
            element: element(nest, [rows_input, columns_input], tensors)?,
            rows_input,
            columns_input,
            column,
            rows,
            batch,
            outer_columns,
            reduced,
        })
    }
}

/// What a kernel multiplies for these factors, the one of the rows first.
fn element(nest: &Nest, factors: [usize; 2], tensors: &[Tensor]) -> Option<Element> {
    let [rows, columns] = factors.map(|at| tensors[nest.inputs[at]].element);
    match (rows, columns, nest.generic.reduction?.initial.element()) {
        (DType::F32, DType::F32, DType::F32) => Some(Element::F32),
        (DType::F64, DType::F64, DType::F64) => Some(Element::F64),
        (DType::I16, DType::I16, DType::I32) => Some(Element::Pairs),
        (DType::I16, DType::I8, DType::I32) => Some(Element::PairsOfBytes),
        _ => None,
    }
}

/// The zero of the operand of the rows.
pub(crate) fn zero(element: Element) -> Number {
    Number::zero(match element {
        Element::F32 => DType::F32,
        Element::F64 => DType::F64,
        Element::Pairs | Element::PairsOfBytes => DType::I16,
    })
}

/// The zero of the operand of the columns.
fn column_zero(element: Element) -> Number {
    match element {
        Element::PairsOfBytes => Number::zero(DType::I8),
        other => zero(other),
    }
}

/// The loop that a coordinate of the output grows by one with, the last of them; others may stand
/// in the coordinate with factors.
fn column_at(nest: &Nest, coordinate: usize) -> Option<usize> {
    let map = &nest.generic.output.map;
    let result = *map.results().get(coordinate)?;
    let mut exprs = AffineExprs::new();
    map.copy(&mut exprs);
    let terms = linear_terms(map, result)?;
    let mut units = terms.iter().filter(|(_, factor)| *factor == 1).map(|(at, _)| *at);
    let column = units.next_back()?;
    let elsewhere = map.results().iter().enumerate().any(|(at, other)| {
        at != coordinate
            && linear_terms(map, *other).is_none_or(|terms| terms.iter().any(|t| t.0 == column))
    });
    (!elsewhere).then_some(column)
}

/// Whether all results are sums of iterators with factors, symbols and numbers.
pub(crate) fn is_linear(map: &AffineMap) -> bool {
    map.results().iter().all(|result| linear_terms(map, *result).is_some())
}

/// The iterators in a result and their factors; nothing if it is not a sum of such.
pub(crate) fn linear_terms(map: &AffineMap, result: AffineExpr) -> Option<Vec<(usize, i64)>> {
    let (terms, uneven) = terms(map, result);
    uneven.is_empty().then_some(terms)
}

/// The iterators in a result and their factors, as far as it is a sum of such, and those in its
/// other parts, some more than once.
pub(crate) fn terms(map: &AffineMap, result: AffineExpr) -> (Vec<(usize, i64)>, Vec<usize>) {
    let (mut terms, mut uneven): (Vec<(usize, i64)>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut open = vec![(result, Some(1_i64))];
    while let Some((expr, factor)) = open.pop() {
        match (map.node(expr), factor) {
            (Node::Symbol(_) | Node::Constant(_), _) => {}
            (Node::Dim(at), factor) => {
                let at = at as usize;
                let known = terms.iter().position(|term| term.0 == at);
                let before = known.map_or(0, |known| terms[known].1);
                match (factor.and_then(|factor| before.checked_add(factor)), known) {
                    (Some(all), Some(known)) => terms[known].1 = all,
                    (Some(all), None) => terms.push((at, all)),
                    (None, _) => uneven.push(at),
                }
            }
            (Node::Binary(BinaryOp::Add, a, b), factor) => open.extend([(a, factor), (b, factor)]),
            (Node::Binary(BinaryOp::Mul, a, b), factor) => {
                let times = |value: i64| factor.and_then(|factor| factor.checked_mul(value));
                match (map.as_constant(a), map.as_constant(b)) {
                    (_, Some(value)) => open.push((a, times(value))),
                    (Some(value), None) => open.push((b, times(value))),
                    (None, None) => open.extend([(a, None), (b, None)]),
                }
            }
            (Node::Binary(_, a, b), _) => open.extend([(a, None), (b, None)]),
        }
    }
    terms.sort_unstable();
    (terms, uneven)
}

/// Whether what is read slides along loop `at`: a coordinate grows with it and with a reduced loop.
pub(crate) fn slides(generic: &Generic, map: &AffineMap, at: usize) -> bool {
    map.results().iter().any(|result| {
        let terms = linear_terms(map, *result).unwrap_or_default();
        let has = |at: usize| terms.iter().any(|term| term.0 == at);
        has(at) && generic.reduced().any(has)
    })
}

/// The panels of a packed operand: `[batch.., outer columns.., column / width, reduced.., width]`;
/// of pairs, the last reduced loop counts them, and the numbers of a pair come last.
pub(crate) struct Panels {
    /// The copy into panels, without its output.
    pub copy: Generic,
    /// The extents of the panels.
    pub extents: Vec<Expr>,
    /// The coordinates that a tile reads, over the iterators of the product and one more, the
    /// number of the panel, which is not used: the column stands for it.
    pub access: AffineMap,
}

/// Packs the operand of the columns into panels of `width`.
///
/// In the access, the coordinate of the panel is `column floordiv width`, and the last one
/// `column mod width`.
pub(crate) fn panels(
    nest: &Nest,
    product: &Product,
    order: &[usize],
    width: i64,
) -> Option<Panels> {
    let generic = &nest.generic;
    let source = &generic.inputs[product.columns_input];
    let outer: Vec<usize> = product.batch.iter().chain(&product.outer_columns).copied().collect();
    let columns = &generic.extents[product.column];
    let count = columns.try_add(&Expr::int(width - 1))?.floor_div(&Expr::int(width))?;
    let mut extents: Vec<Expr> = outer.iter().map(|at| generic.extents[*at].clone()).collect();
    extents.push(count);
    extents.extend(order.iter().map(|at| generic.extents[*at].clone()));
    let group = product.element.group() as i64;
    if let Some(last) = extents.last_mut().filter(|_| group > 1) {
        *last = last.floor_div(&Expr::int(group))?;
    }
    extents.push(Expr::int(width));
    let (panel, lane) = (outer.len(), extents.len() - 1);
    extents.extend((group > 1).then(|| Expr::int(group)));

    // The copy runs over the coordinates of the panels.
    let loops = extents.len();
    let mut exprs = AffineExprs::new();
    let mut dims: Vec<AffineExpr> = vec![exprs.constant(0); generic.extents.len()];
    for (at, own) in outer.iter().enumerate() {
        dims[*own] = exprs.dim(at as u32);
    }
    for (at, own) in order.iter().enumerate() {
        dims[*own] = exprs.dim((panel + 1 + at) as u32);
    }
    if let Some(paired) = order.last().filter(|_| group > 1) {
        let (pair, size, half) = (dims[*paired], exprs.constant(group), exprs.dim(lane as u32 + 1));
        let first = exprs.binary(BinaryOp::Mul, pair, size);
        dims[*paired] = exprs.binary(BinaryOp::Add, first, half);
    }
    let (number, factor) = (exprs.dim(panel as u32), exprs.constant(width));
    let first = exprs.binary(BinaryOp::Mul, number, factor);
    let within = exprs.dim(lane as u32);
    dims[product.column] = exprs.binary(BinaryOp::Add, first, within);
    let results = source.map.substitute(&mut exprs, &dims, &[]);
    let map = AffineMap::new(loops as u32, source.map.symbols() as u32, &exprs, &results);
    let mut copy = Generic::over(extents.clone());
    copy.symbols = generic.symbols.clone();
    let whole = columns.as_int().is_some_and(|count| count % width == 0);
    let access = Access::new(TensorId::Operand(0), map);
    // A last pair may be half of one.
    let outside = !whole || group > 1 || source.outside.is_some();
    copy.read(if outside { access.or(column_zero(product.element)) } else { access });
    let all: Vec<usize> = (0..loops).collect();
    copy.write(Access::dims(TensorId::Result(0), loops, &all));
    copy.body = copied();

    // What the product reads.
    let mut exprs = AffineExprs::new();
    let mut results: Vec<AffineExpr> = outer.iter().map(|at| exprs.dim(*at as u32)).collect();
    let column = exprs.dim(product.column as u32);
    let factor = exprs.constant(width);
    results.push(exprs.binary(BinaryOp::FloorDiv, column, factor));
    results.extend(order.iter().map(|at| exprs.dim(*at as u32)).collect::<Vec<_>>());
    let size = exprs.constant(group);
    let paired = results.last_mut().filter(|_| group > 1).map(|last| {
        let own = *last;
        *last = exprs.binary(BinaryOp::FloorDiv, own, size);
        own
    });
    results.push(exprs.binary(BinaryOp::Mod, column, factor));
    if let Some(paired) = paired {
        results.push(exprs.binary(BinaryOp::Mod, paired, size));
    }
    let access = AffineMap::new(
        generic.extents.len() as u32,
        generic.symbols.len() as u32,
        &exprs,
        &results,
    );
    Some(Panels { copy, extents, access })
}

/// A body that is what is read.
pub(crate) fn copied() -> Body {
    let mut body = Body::default();
    let value = body.input(0);
    body.result(value);
    body
}

/// A copy of an operand that holds all that is read: padding included, coordinates in another
/// order.
pub(crate) struct Padded {
    /// The copy, without its output.
    pub copy: Generic,
    /// Its extents.
    pub extents: Vec<Expr>,
    /// The coordinates that the nest reads.
    pub access: AffineMap,
}

/// Copies what a nest reads through an input, a coordinate of it last where one is named.
pub(crate) fn padded(
    nest: &Nest,
    input: usize,
    source: &[Expr],
    last: Option<usize>,
) -> Option<Padded> {
    let generic = &nest.generic;
    let access = &generic.inputs[input];
    let rank = source.len();
    let mut exprs = AffineExprs::new();
    let nodes = access.map.copy(&mut exprs);
    let (mut extents, mut least, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for (coordinate, result) in access.map.results().iter().enumerate() {
        let expr = nodes[result.index()];
        let is_iterator = access.map.as_operand(coordinate);
        let whole = is_iterator.and_then(|at| generic.extents.get(at));
        if access.outside.is_none() || whole == Some(&source[coordinate]) {
            extents.push(source[coordinate].clone());
            least.push(0);
            results.push(expr);
            continue;
        }
        // From the least to the greatest value of a sum whose factors are not negative.
        let terms = linear_terms(&access.map, *result)?;
        let mut zeros: Vec<i64> = vec![0; access.map.inputs()];
        zeros.truncate(access.map.inputs());
        let low = access.map.evaluate(&zeros)?[coordinate];
        let has_symbols = access.map.used().1.iter().any(|used| *used);
        if terms.iter().any(|(_, factor)| *factor < 0) || has_symbols {
            return None;
        }
        let mut extent = Expr::int(1);
        for (at, factor) in &terms {
            let last = generic.extents[*at].try_sub(&Expr::int(1))?;
            extent = extent.try_add(&last.try_mul(&Expr::int(*factor))?)?;
        }
        extents.push(extent);
        least.push(low);
        let shift = exprs.constant(-low);
        results.push(exprs.binary(BinaryOp::Add, expr, shift));
    }
    let order: Vec<usize> = (0..rank).filter(|at| Some(*at) != last).chain(last).collect();
    let in_order =
        |list: &[AffineExpr]| -> Vec<AffineExpr> { order.iter().map(|&at| list[at]).collect() };
    let new = AffineMap::new(
        access.map.dims() as u32,
        access.map.symbols() as u32,
        &exprs,
        &in_order(&results),
    );
    let mut own = AffineExprs::new();
    let mut from: Vec<AffineExpr> = Vec::new();
    for (coordinate, low) in least.iter().enumerate() {
        let at = order.iter().position(|other| *other == coordinate)?;
        let (dim, low) = (own.dim(at as u32), own.constant(*low));
        from.push(own.binary(BinaryOp::Add, dim, low));
    }
    let extents: Vec<Expr> = order.iter().map(|&at| extents[at].clone()).collect();
    let mut copy = Generic::over(extents.clone());
    let read = Access::new(TensorId::Operand(0), AffineMap::new(rank as u32, 0, &own, &from));
    copy.read(Access { outside: access.outside, ..read });
    let all: Vec<usize> = (0..rank).collect();
    copy.write(Access::dims(TensorId::Result(0), rank, &all));
    copy.body = copied();
    debug_assert!(copy.kinds.iter().all(|kind| *kind == IteratorKind::Parallel));
    Some(Padded { copy, extents, access: new })
}
