//! The points of a nest, and what affine maps make of them.

use tangram_affine::{BinaryOp, Node};

use super::{InterpretError, Result};
use crate::structured::Access;

/// The most points of a nest that are run.
const MAX_POINTS: u64 = 1 << 32;
/// How many points are taken at a time.
const CHUNK: u64 = 1 << 13;

/// The loops of a nest, with their values.
pub(super) struct Space {
    extents: Vec<i64>,
    symbols: Vec<i64>,
    count: u64,
    /// What each loop starts at.
    first: Vec<i64>,
    /// The loops from the slowest to the fastest.
    order: Vec<usize>,
}

impl Space {
    pub(super) fn new(extents: &[i64], symbols: Vec<i64>) -> Result<Space> {
        let (first, order) = (vec![0; extents.len()], (0..extents.len()).collect());
        let space = Space { extents: extents.to_vec(), symbols, count: 0, first, order };
        space.counted()
    }

    fn counted(mut self) -> Result<Space> {
        let count = if self.extents.contains(&0) {
            Some(0)
        } else {
            self.extents.iter().try_fold(1u64, |count, &n| count.checked_mul(n as u64))
        };
        let count = count.filter(|&count| count < MAX_POINTS);
        self.count = count.ok_or(InterpretError::TooLarge(MAX_POINTS))?;
        Ok(self)
    }

    /// The points at `block` iterations of a loop from `start` on, as far as there are as many.
    pub(super) fn within(mut self, iterator: usize, start: i64, block: i64) -> Result<Space> {
        let none = InterpretError::Malformed("there is no such loop");
        let extent = self.extents.get_mut(iterator).ok_or(none)?;
        if start < 0 || start > *extent {
            return Err(InterpretError::Malformed("a loop begins outside of its iterations"));
        }
        *extent = block.min(*extent - start);
        self.first[iterator] = start;
        self.counted()
    }

    /// The same points, with the loops `last` behind all others, the last of them fastest.
    pub(super) fn ending_with(mut self, last: &[usize]) -> Space {
        self.order.retain(|iterator| !last.contains(iterator));
        self.order.extend(last);
        self
    }

    /// The points at which the loops `fixed` are at 0, even those that make no iteration.
    pub(super) fn without(&self, fixed: &[usize]) -> Space {
        let extent = |(i, &n): (usize, &i64)| if fixed.contains(&i) { 1 } else { n };
        let extents: Vec<i64> = self.extents.iter().enumerate().map(extent).collect();
        let count = extents.iter().fold(1u64, |count, &n| count.saturating_mul(n as u64));
        let (symbols, first) = (self.symbols.clone(), self.first.clone());
        Space { extents, symbols, count, first, order: self.order.clone() }
    }

    /// How many points there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Which of these points each of `points` is, by all loops but those that are at one value here.
    pub(super) fn numbers(&self, points: &Points<'_>) -> Vec<usize> {
        let mut numbers = vec![0usize; points.count];
        for &at in &self.order {
            let (extent, first) = (self.extents[at], self.first[at]);
            if extent == 1 {
                continue;
            }
            for (number, &value) in numbers.iter_mut().zip(&points.loops[at]) {
                *number = *number * extent as usize + (value - first) as usize;
            }
        }
        numbers
    }

    /// The points in order, the last loop fastest.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Points<'_>> {
        let starts = (0..self.count).step_by(CHUNK as usize);
        starts.map(|start| Points::new(self, start, CHUNK.min(self.count - start)))
    }
}

/// Some points of a nest.
pub(super) struct Points<'a> {
    space: &'a Space,
    /// For each loop its value at each point.
    loops: Vec<Vec<i64>>,
    count: usize,
}

impl<'a> Points<'a> {
    fn new(space: &'a Space, start: u64, count: u64) -> Points<'a> {
        let mut step = 1u64;
        let mut loops = vec![Vec::new(); space.extents.len()];
        for &iterator in space.order.iter().rev() {
            let (extent, first) = (space.extents[iterator] as u64, space.first[iterator]);
            let at = |point: u64| (point / step % extent) as i64 + first;
            loops[iterator] = (start..start + count).map(at).collect();
            step = step.saturating_mul(extent);
        }
        Points { space, loops, count: count as usize }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The value of loop `i` at each.
    pub(super) fn iterator(&self, i: usize) -> Result<&[i64]> {
        self.loops
            .get(i)
            .map(Vec::as_slice)
            .ok_or(InterpretError::Malformed("there is no such loop"))
    }

    /// The value of symbol `i`.
    pub(super) fn symbol(&self, i: usize) -> Result<i64> {
        let value = self.space.symbols.get(i).copied();
        value.ok_or(InterpretError::Malformed("there is no such symbol"))
    }

    /// The row-major place in a tensor of these extents at each point; `None` where it is outside.
    pub(super) fn places(&self, access: &Access, extents: &[i64]) -> Result<Vec<Option<usize>>> {
        let map = &access.map;
        if map.results().len() != extents.len() || map.dims() != self.loops.len() {
            return Err(InterpretError::Malformed("a map does not fit its loops or its tensor"));
        }
        let values = self.evaluate(access)?;
        let mut places = vec![Some(0usize); self.count];
        for (result, &extent) in map.results().iter().zip(extents) {
            for (place, &at) in places.iter_mut().zip(&values[result.index()]) {
                let inside = (0..extent).contains(&at);
                *place = place.filter(|_| inside).map(|row| row * extent as usize + at as usize);
            }
        }
        Ok(places)
    }

    /// The index at point `i`; empty where it has none.
    pub(super) fn index(&self, access: &Access, i: usize) -> Vec<i64> {
        let loops = self.loops.iter().map(|values| values[i]);
        let symbols = self.space.symbols.iter().copied().take(access.map.symbols());
        access.map.evaluate(&loops.chain(symbols).collect::<Vec<_>>()).unwrap_or_default()
    }

    /// The value of each node of the map at each point.
    fn evaluate(&self, access: &Access) -> Result<Vec<Vec<i64>>> {
        let mut values: Vec<Vec<i64>> = Vec::with_capacity(access.map.nodes().len());
        for &node in access.map.nodes() {
            values.push(match node {
                Node::Dim(i) => self.iterator(i as usize)?.to_vec(),
                Node::Symbol(i) => vec![self.symbol(i as usize)?; self.count],
                Node::Constant(value) => vec![value; self.count],
                Node::Binary(op, a, b) => {
                    let pairs = values[a.index()].iter().zip(&values[b.index()]);
                    pairs
                        .map(|(&a, &b)| apply(op, a, b))
                        .collect::<Option<_>>()
                        .ok_or(InterpretError::Malformed("an index has no value"))?
                }
            });
        }
        Ok(values)
    }
}

fn apply(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::FloorDiv if b > 0 => Some(a.div_euclid(b)),
        BinaryOp::CeilDiv if b > 0 => Some(-(-a).div_euclid(b)),
        BinaryOp::Mod if b > 0 => Some(a.rem_euclid(b)),
        _ => None,
    }
}
