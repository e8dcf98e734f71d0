//! A map together with the values that it is applied to, and what `mlir-opt` makes of the two.
//!
//! [`Applied::canonical`] puts the maps of `affine.apply` in the place of the operands that they
//! give, one operand after the other; what they take in turn comes behind. Then dimensions that
//! are symbols of their scope become symbols, constants become numbers, each operand is there once
//! and used, and each result is a sum ([`tangram_affine::simplify`]).
//!
//! # Source
//! `composeAffineMapAndOperands` and `canonicalizeMapAndOperands` of MLIR's affine dialect.

use rustc_hash::FxHashMap;
use tangram_affine::{AffineExpr, AffineExprs, AffineMap, Bounds, simplify};
use tangram_ir::{Module, Op, Value};

use super::verify::is_symbol;
use crate::mlir::fold::{Known, number};

/// The most operands after composition.
const MAX_OPERANDS: usize = 64;
/// The largest result of a composition, in nodes.
const MAX_SIZE: u32 = 1024;

/// A map and its operands, first the dimensions, then the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Applied {
    pub(crate) map: AffineMap,
    pub(crate) operands: Vec<Value>,
}

/// The operands of a composition; those that a map took the place of are `None`.
struct Slots {
    dims: Vec<Option<Value>>,
    symbols: Vec<Option<Value>>,
}

/// The map that took the place of an operand.
struct Replaced {
    symbol: bool,
    at: usize,
    by: AffineMap,
    /// Where its dimensions and symbols begin.
    dims: usize,
    symbols: usize,
}

impl Applied {
    /// The map of `operands`; `None` if it does not fit.
    pub(crate) fn new(map: &AffineMap, operands: &[Value]) -> Option<Applied> {
        let fits = operands.len() == map.inputs();
        fits.then(|| Applied { map: map.clone(), operands: operands.to_vec() })
    }

    /// The left sides of a set as `mlir-opt` writes them: sums only where something was composed.
    pub(crate) fn canonical_set(&self, module: &Module, user: Op) -> Option<Applied> {
        match self.composed(module, user)? {
            composed if composed == *self => Some(self.tidied(module, user)),
            composed => composed.canonical(module, user),
        }
    }

    /// The same as `mlir-opt` writes it where `user` uses it; `None` if it becomes very large.
    pub(crate) fn canonical(&self, module: &Module, user: Op) -> Option<Applied> {
        let mut applied = self.composed(module, user)?.tidied(module, user);
        // An index in the place of its digits may be what an application gave.
        while let Some(rejoined) = applied.rejoined(module, user) {
            applied = rejoined.composed(module, user)?.tidied(module, user);
        }
        // A sum may lose operands: then the others are numbered again.
        loop {
            let mut exprs = AffineExprs::new();
            let results = applied.map.substitute(&mut exprs, &[], &[]);
            let simple: Vec<AffineExpr> =
                results.iter().map(|&result| simplify(&mut exprs, result)).collect();
            let [dims, symbols] = [applied.map.dims(), applied.map.symbols()].map(|n| n as u32);
            let map = AffineMap::new(dims, symbols, &exprs, &simple);
            let bounds: Vec<Bounds> =
                applied.operands.iter().map(|&value| bounds(module, value)).collect();
            let decided = map.within(&mut exprs, &bounds);
            let map = AffineMap::new(dims, symbols, &exprs, &decided);
            let next = Applied { map, operands: applied.operands.clone() }.tidied(module, user);
            let shrunk = next.operands.len() < applied.operands.len();
            applied = next;
            if !shrunk {
                return Some(applied);
            }
        }
    }

    /// With the maps of applications in the place of what they give.
    fn composed(&self, module: &Module, user: Op) -> Option<Applied> {
        let (dims, symbols) = self.operands.split_at(self.map.dims());
        let slots = |values: &[Value]| values.iter().map(|&value| Some(value)).collect();
        let mut slots = Slots { dims: slots(dims), symbols: slots(symbols) };
        let mut replaced = Vec::new();
        let mut at = 0;
        while at < slots.dims.len() + slots.symbols.len() {
            replaced.extend(slots.replace(module, user, at));
            if slots.dims.len() + slots.symbols.len() > MAX_OPERANDS {
                return None;
            }
            at += 1;
        }
        if replaced.is_empty() {
            return Some(self.clone());
        }
        slots.finish(&self.map, &replaced)
    }

    /// With symbols where dimensions are symbols of the scope, numbers for constants, and each
    /// operand once and used.
    fn tidied(&self, module: &Module, user: Op) -> Applied {
        let (dims, symbols) = self.operands.split_at(self.map.dims());
        let (used_dims, used_symbols) = self.map.used();
        let mut exprs = AffineExprs::new();
        let mut kept = Kept::default();
        let zero = exprs.constant(0);
        let mut dim_exprs = vec![zero; dims.len()];
        let mut symbol_exprs = vec![zero; symbols.len()];
        let mut promoted = Vec::new();
        for (i, &value) in dims.iter().enumerate().filter(|&(i, _)| used_dims[i]) {
            if is_symbol(module, value, user) {
                promoted.push((i, value));
            } else {
                dim_exprs[i] = exprs.dim(kept.dim(value));
            }
        }
        for (i, &value) in symbols.iter().enumerate().filter(|&(i, _)| used_symbols[i]) {
            symbol_exprs[i] = kept.symbol_expr(module, &mut exprs, value);
        }
        for (i, value) in promoted {
            dim_exprs[i] = kept.symbol_expr(module, &mut exprs, value);
        }
        let results = self.map.substitute(&mut exprs, &dim_exprs, &symbol_exprs);
        let [dims, symbols] = [&kept.dims, &kept.symbols].map(|list| list.len() as u32);
        let map = AffineMap::new(dims, symbols, &exprs, &results);
        Applied { map, operands: [kept.dims, kept.symbols].concat() }
    }
}

/// The first and the last value of the counter of an affine loop, where they are numbers.
fn bounds(module: &Module, value: Value) -> Bounds {
    let known = Known::of(module.context());
    let counter = || {
        let block = module.def_block(value).filter(|_| module.def_op(value).is_none())?;
        let op = module.block_parent(block)?;
        let first = module.args(block).first() == Some(&value);
        (module.name_text(op) == "affine.for" && first).then_some(op)
    };
    let Some(op) = counter() else { return (None, None) };
    let number = |name| {
        let map = module.context().as_affine_map(module.attr_by(op, name)?)?;
        map.as_constants().filter(|list| list.len() == 1)?.first().copied()
    };
    let (low, end) = (number(known.lower), number(known.upper));
    let step = module.attr_by(op, known.step).and_then(|attr| module.context().as_i64(attr));
    let last = match (low, end, step.filter(|&step| step > 0)) {
        (Some(low), Some(end), Some(step)) if low < end => Some(end - 1 - (end - low - 1) % step),
        _ => end.and_then(|end| end.checked_sub(1)),
    };
    (low, last)
}

/// The operands that stay.
#[derive(Default)]
struct Kept {
    dims: Vec<Value>,
    symbols: Vec<Value>,
    numbers: FxHashMap<(bool, Value), u32>,
}

impl Kept {
    fn dim(&mut self, value: Value) -> u32 {
        *self.numbers.entry((false, value)).or_insert_with(|| {
            self.dims.push(value);
            self.dims.len() as u32 - 1
        })
    }

    fn symbol_expr(
        &mut self,
        module: &Module,
        exprs: &mut AffineExprs,
        value: Value,
    ) -> AffineExpr {
        let constant = module.constant_value(value);
        let constant = constant.and_then(|attr| number::as_int(module.context(), attr));
        if let Some(number) = constant.and_then(|number| i64::try_from(number).ok()) {
            return exprs.constant(number);
        }
        let number = *self.numbers.entry((true, value)).or_insert_with(|| {
            self.symbols.push(value);
            self.symbols.len() as u32 - 1
        });
        exprs.symbol(number)
    }
}

impl Slots {
    /// Puts the map of the application that gives operand number `at` in its place.
    fn replace(&mut self, module: &Module, user: Op, at: usize) -> Option<Replaced> {
        let symbol = at >= self.dims.len();
        let at = if symbol { at - self.dims.len() } else { at };
        let slot = if symbol { self.symbols.get(at) } else { self.dims.get(at) };
        let value = (*slot?)?;
        let def = module.def_op(value)?;
        let known = Known::of(module.context());
        if module.name(def) != known.apply {
            return None;
        }
        let operands: Vec<Value> = module.operands(def).collect();
        let own = operands.iter().any(|&operand| module.def_op(operand) == Some(def));
        let map = module.context().as_affine_map(module.attr_by(def, known.map)?)?;
        let inner = Applied::new(map, &operands).filter(|_| !own)?.tidied(module, user);
        if inner.map.results().len() != 1 {
            return None;
        }
        let replaced = Replaced {
            symbol,
            at,
            dims: self.dims.len(),
            symbols: self.symbols.len(),
            by: inner.map.clone(),
        };
        if symbol {
            self.symbols[at] = None;
        } else {
            self.dims[at] = None;
        }
        let (dims, symbols) = inner.operands.split_at(inner.map.dims());
        self.dims.extend(dims.iter().map(|&value| Some(value)));
        self.symbols.extend(symbols.iter().map(|&value| Some(value)));
        Some(replaced)
    }

    /// `map` over what is left.
    fn finish(&self, map: &AffineMap, replaced: &[Replaced]) -> Option<Applied> {
        let mut exprs = AffineExprs::new();
        let zero = exprs.constant(0);
        let mut operands = Vec::new();
        let mut made = [&self.dims, &self.symbols].map(|list| vec![zero; list.len()]);
        let mut counts = [0u32; 2];
        for (kind, list) in [&self.dims, &self.symbols].into_iter().enumerate() {
            for (i, &value) in list.iter().enumerate() {
                let Some(value) = value else { continue };
                let number = counts[kind];
                made[kind][i] = if kind == 0 { exprs.dim(number) } else { exprs.symbol(number) };
                counts[kind] += 1;
                operands.push(value);
            }
        }
        // A map takes what comes behind its place only.
        for Replaced { symbol, at, by, dims, symbols } in replaced.iter().rev() {
            let results = by.substitute(&mut exprs, &made[0][*dims..], &made[1][*symbols..]);
            made[usize::from(*symbol)][*at] = *results.first()?;
            if exprs.size(results[0]) > MAX_SIZE {
                return None;
            }
        }
        let results = map.substitute(&mut exprs, &made[0], &made[1]);
        let small = results.iter().all(|&result| exprs.size(result) <= MAX_SIZE);
        let map = AffineMap::new(counts[0], counts[1], &exprs, &results);
        small.then_some(Applied { map, operands })
    }
}
