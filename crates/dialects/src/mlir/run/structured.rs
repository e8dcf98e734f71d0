//! Structured operations on tensors, point by point, and concatenation.

use std::rc::Rc;

use tangram_affine::{AffineMap, Node};
use tangram_ir::Op;

use super::{Datum, Elements, Machine, Result};
use crate::mlir::extents::{DYNAMIC, list};

/// The most points of an iteration space.
const MOST_POINTS: i64 = 1 << 16;

impl Machine<'_> {
    pub(super) fn structured(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        match self.module.name_text(op) {
            "linalg.index" => {
                let dim = self.module.attr(op, "dim");
                let dim = dim.and_then(|attr| self.module.context().as_i64(attr));
                let point = self.points.last();
                let at = point.and_then(|point| point.get(usize::try_from(dim?).ok()?).copied());
                Ok(vec![Datum::Int(at.ok_or_else(|| self.unsupported(op))?.into())])
            }
            "linalg.pack" => self.pack(op, operands),
            "linalg.unpack" => self.unpack(op, operands),
            _ => self.nest(op, operands),
        }
    }

    /// The region for each point, in lexicographic order.
    fn nest(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let first = operands.len().checked_sub(self.module.result_count(op));
        let first = first.filter(|&first| first < operands.len());
        let first = first.ok_or_else(|| self.unsupported(op))?;
        let maps =
            crate::mlir::linalg::maps(self.module, op).ok_or_else(|| self.unsupported(op))?;
        let extents = sizes(&maps, operands).ok_or_else(|| self.undefined(op))?;
        let region = self.module.region(op, 0);
        let mut outputs: Vec<Elements> = Vec::new();
        for operand in &operands[first..] {
            let Datum::Tensor(tensor) = operand else { return Err(self.unsupported(op)) };
            outputs.push((**tensor).clone());
        }
        for point in points(&extents) {
            let mut args = Vec::with_capacity(operands.len());
            let mut places = Vec::with_capacity(operands.len());
            for (i, (operand, map)) in operands.iter().zip(&maps).enumerate() {
                let at = map.evaluate(&point).ok_or_else(|| self.unsupported(op))?;
                args.push(match (operand, i.checked_sub(first)) {
                    (_, Some(output)) => self.load(op, &outputs[output], &at)?,
                    (Datum::Tensor(tensor), None) => self.load(op, tensor, &at)?,
                    (scalar, None) => scalar.clone(),
                });
                places.push(at);
            }
            self.points.push(point);
            let given = self.region(op, region, args)?.1;
            self.points.pop();
            for (i, value) in given.iter().enumerate() {
                let output = outputs.get_mut(i).ok_or_else(|| self.unsupported(op))?;
                self.store(op, output, &places[first + i], value)?;
            }
        }
        Ok(outputs.into_iter().map(|elements| Datum::Tensor(Rc::new(elements))).collect())
    }

    /// How a packed tensor lies in the other: which dimension each of the outer ones is, and which
    /// are tiled, by how much.
    fn tiling(&self, op: Op, rank: usize, tiles: &[Datum]) -> Result<Tiling> {
        let read = |name| list(self.module, op, name).unwrap_or_default();
        let order = read("outer_dims_perm");
        let order = if order.is_empty() { (0..rank as i64).collect() } else { order };
        let mut tiles = self.ints(op, tiles)?.into_iter();
        let sizes: Option<Vec<i64>> = read("static_inner_tiles")
            .into_iter()
            .map(|n| if n == DYNAMIC { tiles.next() } else { Some(n) })
            .collect();
        let sizes = sizes.filter(|sizes| sizes.iter().all(|&n| n > 0));
        let sizes = sizes.ok_or_else(|| self.undefined(op))?;
        let dims = read("inner_dims_pos");
        let within = |dim: &i64| usize::try_from(*dim).is_ok_and(|dim| dim < rank);
        if order.len() != rank || dims.len() != sizes.len() {
            return Err(self.unsupported(op));
        }
        let known = order.iter().chain(&dims).all(within);
        known.then_some(Tiling { order, dims, sizes }).ok_or_else(|| self.unsupported(op))
    }

    fn pack(&self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let [Datum::Tensor(source), Datum::Tensor(dest), rest @ ..] = operands else {
            return Err(self.unsupported(op));
        };
        let segments = self.module.attr(op, "operandSegmentSizes");
        let segments = segments.and_then(|attr| self.module.int_list(attr)).unwrap_or_default();
        let padded = usize::from(segments.get(2) == Some(&1));
        let tiling = self.tiling(op, source.extents.len(), &rest[padded..])?;
        let mut packed = (**dest).clone();
        for point in points(&dest.extents) {
            let at = tiling.place(&point);
            let inside = at.iter().zip(&source.extents).all(|(at, n)| at < n);
            let value = match (inside, rest.first().filter(|_| padded == 1)) {
                (true, _) => self.load(op, source, &at)?,
                (false, Some(padding)) => padding.clone(),
                (false, None) => return Err(self.undefined(op)),
            };
            self.store(op, &mut packed, &point, &value)?;
        }
        Ok(vec![Datum::Tensor(Rc::new(packed))])
    }

    fn unpack(&self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let [Datum::Tensor(source), Datum::Tensor(dest), tiles @ ..] = operands else {
            return Err(self.unsupported(op));
        };
        let tiling = self.tiling(op, dest.extents.len(), tiles)?;
        let mut whole = (**dest).clone();
        for point in points(&source.extents) {
            let at = tiling.place(&point);
            if at.iter().zip(&whole.extents).all(|(at, n)| at < n) {
                let value = self.load(op, source, &point)?;
                self.store(op, &mut whole, &at, &value)?;
            }
        }
        Ok(vec![Datum::Tensor(Rc::new(whole))])
    }

    pub(super) fn concat(&self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let dim = self.module.attr(op, "dim");
        let dim = dim.and_then(|attr| self.module.context().as_i64(attr));
        let dim = dim.and_then(|dim| usize::try_from(dim).ok());
        let dim = dim.ok_or_else(|| self.unsupported(op))?;
        let mut whole: Option<Elements> = None;
        for operand in operands {
            let Datum::Tensor(part) = operand else { return Err(self.unsupported(op)) };
            let Some(before) = whole.take() else {
                whole = Some((**part).clone());
                continue;
            };
            let mut extents = before.extents.clone();
            let fits = before.extents.len() == part.extents.len()
                && before
                    .extents
                    .iter()
                    .zip(&part.extents)
                    .enumerate()
                    .all(|(i, (a, b))| a == b || i == dim);
            if !fits || dim >= extents.len() {
                return Err(self.undefined(op));
            }
            let first = before.extents[dim];
            extents[dim] += part.extents[dim];
            let mut data = Vec::new();
            for mut point in points(&extents) {
                let from = if point[dim] < first { &before } else { &**part };
                point[dim] -= if point[dim] < first { 0 } else { first };
                data.push(self.load(op, from, &point)?);
            }
            whole = Some(Elements { extents, data });
        }
        let whole = whole.ok_or_else(|| self.unsupported(op))?;
        Ok(vec![Datum::Tensor(Rc::new(whole))])
    }
}

/// See [`Machine::tiling`].
struct Tiling {
    order: Vec<i64>,
    dims: Vec<i64>,
    sizes: Vec<i64>,
}

impl Tiling {
    /// Where the element at `point` of the packed tensor lies in the other.
    fn place(&self, point: &[i64]) -> Vec<i64> {
        let rank = self.order.len();
        let mut at = vec![0; rank];
        for (&dim, &tile) in self.order.iter().zip(point) {
            at[dim as usize] = tile;
        }
        for ((&dim, size), inner) in self.dims.iter().zip(&self.sizes).zip(&point[rank..]) {
            at[dim as usize] = at[dim as usize] * size + inner;
        }
        at
    }
}

/// The extents of the iteration space; `None` where operands do not agree.
fn sizes(maps: &[AffineMap], operands: &[Datum]) -> Option<Vec<i64>> {
    let mut extents = vec![None; maps.first()?.dims()];
    for (map, operand) in maps.iter().zip(operands) {
        let Datum::Tensor(tensor) = operand else { continue };
        for (&result, &extent) in map.results().iter().zip(&tensor.extents) {
            let Node::Dim(dim) = map.node(result) else { continue };
            let slot = extents.get_mut(dim as usize)?;
            if slot.is_some_and(|other| other != extent) {
                return None;
            }
            *slot = Some(extent);
        }
    }
    let extents: Vec<i64> = extents.into_iter().collect::<Option<_>>()?;
    let count = extents.iter().try_fold(1i64, |n, &extent| n.checked_mul(extent));
    count.filter(|&count| count <= MOST_POINTS).map(|_| extents)
}

/// The points of a box in lexicographic order.
fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for &extent in extents {
        let along = |point: Vec<i64>| (0..extent).map(move |i| [&point[..], &[i]].concat());
        points = points.into_iter().flat_map(along).collect();
    }
    points
}
