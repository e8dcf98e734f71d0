//! Indices of accesses: as linear forms where they are, as values where they are wanted.

use tangram_affine::symbolic::Operation;
use tangram_affine::{AffineExprs, AffineMap, BinaryOp, Node};
use tangram_ir::{AttrData, Value};

use super::builder::{Builder, Size};

/// An index: factors of loops and of symbols, and a number.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Linear {
    pub loops: Vec<i64>,
    pub symbols: Vec<i64>,
    pub constant: i64,
}

impl Linear {
    fn constant(map: &AffineMap, constant: i64) -> Linear {
        Linear { loops: vec![0; map.dims()], symbols: vec![0; map.symbols()], constant }
    }

    /// The loop that this index is, with its factor; `None` if it has none or several.
    pub fn only_loop(&self) -> Option<(usize, i64)> {
        let mut used = self.loops.iter().enumerate().filter(|(_, factor)| **factor != 0);
        let (at, &factor) = used.next()?;
        used.next().is_none().then_some((at, factor))
    }

    /// Whether no loop occurs.
    pub fn is_fixed(&self) -> bool {
        self.loops.iter().all(|&factor| factor == 0)
    }

    fn map(&self, f: impl Fn(i64) -> Option<i64>) -> Option<Linear> {
        let all = |list: &[i64]| list.iter().map(|&n| f(n)).collect::<Option<Vec<_>>>();
        Some(Linear {
            loops: all(&self.loops)?,
            symbols: all(&self.symbols)?,
            constant: f(self.constant)?,
        })
    }

    fn plus(&self, other: &Linear) -> Option<Linear> {
        let all = |a: &[i64], b: &[i64]| {
            a.iter().zip(b).map(|(&a, &b)| a.checked_add(b)).collect::<Option<Vec<_>>>()
        };
        Some(Linear {
            loops: all(&self.loops, &other.loops)?,
            symbols: all(&self.symbols, &other.symbols)?,
            constant: self.constant.checked_add(other.constant)?,
        })
    }

    /// The number, if it is one.
    fn as_number(&self) -> Option<i64> {
        let fixed = self.is_fixed() && self.symbols.iter().all(|&factor| factor == 0);
        fixed.then_some(self.constant)
    }
}

/// The results of a map; `None` for those that are not linear. Symbols that are numbers are taken
/// as such.
pub(super) fn linear(map: &AffineMap, symbols: &[Size]) -> Vec<Option<Linear>> {
    let mut made: Vec<Option<Linear>> = Vec::with_capacity(map.nodes().len());
    for &node in map.nodes() {
        made.push(match node {
            Node::Constant(value) => Some(Linear::constant(map, value)),
            Node::Dim(i) => {
                let mut one = Linear::constant(map, 0);
                one.loops[i as usize] = 1;
                Some(one)
            }
            Node::Symbol(i) => Some(match symbols.get(i as usize) {
                Some(Size::Static(number)) => Linear::constant(map, *number),
                _ => {
                    let mut one = Linear::constant(map, 0);
                    one.symbols[i as usize] = 1;
                    one
                }
            }),
            Node::Binary(op, a, b) => match (&made[a.index()], &made[b.index()]) {
                (Some(a), Some(b)) => binary(map, op, a, b),
                _ => None,
            },
        });
    }
    map.results().iter().map(|result| made[result.index()].clone()).collect()
}

fn binary(map: &AffineMap, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
    match op {
        BinaryOp::Add => a.plus(b),
        BinaryOp::Mul => match (a.as_number(), b.as_number()) {
            (_, Some(factor)) => a.map(|n| n.checked_mul(factor)),
            (Some(factor), _) => b.map(|n| n.checked_mul(factor)),
            _ => None,
        },
        _ => {
            let (x, y) = (a.as_number()?, b.as_number().filter(|&y| y > 0)?);
            let value = match op {
                BinaryOp::FloorDiv => x.div_euclid(y),
                BinaryOp::CeilDiv => x.checked_neg()?.div_euclid(y).checked_neg()?,
                _ => x.rem_euclid(y),
            };
            Some(Linear::constant(map, value))
        }
    }
}

/// The least and the greatest value of an index over loops of these extents.
pub(super) fn range(
    builder: &mut Builder,
    index: &Linear,
    extents: &[Size],
    symbols: &[Size],
) -> Option<(Size, Size)> {
    let mut least = Size::Static(index.constant);
    for (&factor, &symbol) in index.symbols.iter().zip(symbols).filter(|(factor, _)| **factor != 0)
    {
        let scaled = builder.sizes(Operation::Mul, Size::Static(factor), symbol)?;
        least = builder.sizes(Operation::Add, least, scaled)?;
    }
    let mut greatest = least;
    for (&factor, &extent) in index.loops.iter().zip(extents).filter(|(factor, _)| **factor != 0) {
        let last = builder.sizes(Operation::Add, extent, Size::Static(-1))?;
        let scaled = builder.sizes(Operation::Mul, Size::Static(factor), last)?;
        let end = if factor < 0 { &mut least } else { &mut greatest };
        *end = builder.sizes(Operation::Add, *end, scaled)?;
    }
    Some((least, greatest))
}

/// The results of a map as values, at loops and symbols that are values.
pub(super) fn indices(
    builder: &mut Builder,
    map: &AffineMap,
    loops: &[Value],
    symbols: &[Size],
) -> Vec<Value> {
    let symbols: Vec<Value> = symbols.iter().map(|&size| builder.size_value(size)).collect();
    let used = &symbols[..map.symbols().min(symbols.len())];
    let mut made = Vec::with_capacity(map.results().len());
    for &result in map.results() {
        made.push(match map.nodes()[result.index()] {
            Node::Dim(i) => loops[i as usize],
            Node::Symbol(i) => used[i as usize],
            Node::Constant(value) => builder.number(value),
            Node::Binary(..) => {
                let mut exprs = AffineExprs::new();
                let results = map.substitute(&mut exprs, &[], &[]);
                let at = map.results().iter().position(|&other| other == result);
                let one = results.get(at.unwrap_or_default()).copied();
                let (dims, count) = (map.dims() as u32, map.symbols() as u32);
                let one = AffineMap::new(dims, count, &exprs, one.as_slice());
                let attrs = builder.dict([("map", builder.context.attr(AttrData::AffineMap(one)))]);
                let operands = [loops, used].concat();
                builder.value_with("affine.apply", &operands, builder.index, attrs)
            }
        });
    }
    made
}
