//! A map together with the values that it is applied to.

use tangram_ir::{Attr, Context, Module, Traits, Value};

use super::expr::{Atom, Expr};
use super::map::Map;
use crate::mlir::fold::{Known, number};

/// The most operands after composition.
const MAX_OPERANDS: usize = 32;
/// How many applications are looked through, one behind the other.
const MAX_CHAIN: u32 = 32;

/// A map and its operands, first the dimensions, then the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Applied {
    pub(crate) map: Map,
    pub(crate) operands: Vec<Value>,
}

/// The operands of what is being composed.
#[derive(Default)]
struct Space {
    dims: Vec<Value>,
    symbols: Vec<Value>,
}

impl Space {
    fn variable(&mut self, module: &Module, value: Value, symbol: bool) -> Expr {
        let symbol = symbol || is_top_level(module, value);
        let list = if symbol { &mut self.symbols } else { &mut self.dims };
        let at = list.iter().position(|&known| known == value).unwrap_or_else(|| {
            list.push(value);
            list.len() - 1
        });
        Expr::atom(if symbol { Atom::Symbol(at as u32) } else { Atom::Dim(at as u32) })
    }
}

/// Says whether `value` does not change while the function around it runs.
fn is_top_level(module: &Module, value: Value) -> bool {
    let parent = module.def_block(value).and_then(|block| module.block_parent(block));
    parent.is_some_and(|op| module.has_traits(op, Traits::ISOLATED))
}

impl Applied {
    /// The map `attr` of `operands`; `None` if it is not understood, or does not fit.
    pub(crate) fn read(context: &Context, attr: Attr, operands: &[Value]) -> Option<Applied> {
        let map = Map::read(context, attr)?;
        let fits = operands.len() == map.dims as usize + map.symbols as usize;
        fits.then(|| Applied { map, operands: operands.to_vec() })
    }

    /// The same with the maps of applications that it uses put in, constants as numbers, each
    /// operand once and used, and those that do not change as symbols.
    pub(crate) fn canonical(&self, module: &Module) -> Option<Applied> {
        let mut space = Space::default();
        let values = self.expressions(module, &mut space, 0)?;
        let (dims, symbols) = values.split_at(self.map.dims as usize);
        let at = |list: &[Expr], i: u32| list.get(i as usize).cloned();
        let put = |e: &Expr| e.substitute(&|i| at(dims, i), &|i| at(symbols, i));
        let results: Option<Vec<Expr>> = self.map.results.iter().map(put).collect();
        space.finish(results?, self.map.equalities.clone())
    }

    /// What each operand is.
    fn expressions(&self, module: &Module, space: &mut Space, chain: u32) -> Option<Vec<Expr>> {
        let symbol = |i: usize| i >= self.map.dims as usize;
        let each = self.operands.iter().enumerate();
        each.map(|(i, &value)| expression(module, space, value, symbol(i), chain)).collect()
    }
}

/// What `value` is.
fn expression(
    module: &Module,
    space: &mut Space,
    value: Value,
    symbol: bool,
    chain: u32,
) -> Option<Expr> {
    let context = module.context();
    if let Some(attr) = module.constant_value(value) {
        return i64::try_from(number::as_int(context, attr)?).ok().map(Expr::number);
    }
    let known = Known::of(context);
    if let Some(def) = module.def_op(value)
        && module.name(def) == known.apply
        && chain < MAX_CHAIN
        && space.dims.len() + space.symbols.len() < MAX_OPERANDS
    {
        let operands: Vec<Value> = module.operands(def).collect();
        let own = operands.iter().any(|&operand| module.def_op(operand) == Some(def));
        if let Some(inner) = module.attr_by(def, known.map)
            && !own
            && let Some(inner) = Applied::read(context, inner, &operands)
            && let [result] = &inner.map.results[..]
        {
            // The operands of an application that is a symbol are symbols themselves.
            let values: Option<Vec<Expr>> = inner
                .operands
                .iter()
                .enumerate()
                .map(|(i, &value)| {
                    let symbol = symbol || i >= inner.map.dims as usize;
                    expression(module, space, value, symbol, chain + 1)
                })
                .collect();
            let values = values?;
            let (dims, symbols) = values.split_at(inner.map.dims as usize);
            let at = |list: &[Expr], i: u32| list.get(i as usize).cloned();
            return result.substitute(&|i| at(dims, i), &|i| at(symbols, i));
        }
    }
    Some(space.variable(module, value, symbol))
}

impl Space {
    /// The map of `results` over those operands that occur.
    fn finish(self, results: Vec<Expr>, equalities: Option<Vec<bool>>) -> Option<Applied> {
        let mut used = [vec![None; self.dims.len()], vec![None; self.symbols.len()]];
        for result in &results {
            result.variables(&mut |dim, i| used[usize::from(!dim)][i as usize] = Some(0));
        }
        let mut counts = [0u32; 2];
        let mut operands = Vec::new();
        for (kind, values) in [self.dims, self.symbols].into_iter().enumerate() {
            for (i, value) in values.into_iter().enumerate() {
                if let Some(slot) = &mut used[kind][i] {
                    *slot = counts[kind];
                    counts[kind] += 1;
                    operands.push(value);
                }
            }
        }
        let dim = |i: u32| used[0][i as usize].map(|n| Expr::atom(Atom::Dim(n)));
        let symbol = |i: u32| used[1][i as usize].map(|n| Expr::atom(Atom::Symbol(n)));
        let results: Option<Vec<Expr>> =
            results.iter().map(|result| result.substitute(&dim, &symbol)).collect();
        let map = Map { dims: counts[0], symbols: counts[1], results: results?, equalities };
        Some(Applied { map, operands })
    }
}
