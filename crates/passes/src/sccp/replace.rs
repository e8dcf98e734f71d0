//! Constants in the place of values that are known, and the end of what is not needed then.

use rustc_hash::FxHashMap;
use tangram_ir::{Attr, Block, Loc, Module, Op, OpState, Point, Region, Traits, Type, Value};
use tangram_rewrite::{Rewriter, Silent};

use crate::effects::Acting;

/// Makes users of the values use constants, each made once at the start of the nearest region that
/// may be isolated, or of the outermost one below `root`, and erases what then does nothing any more. Returns how many values were
/// replaced that were no constants, and how many operations erased.
pub(super) fn replace(
    module: &mut Module,
    root: Op,
    facts: Vec<(Value, Attr)>,
    acting: &Acting,
) -> (u64, u64) {
    let mut silent = Silent;
    let mut rewriter = Rewriter::new(module, &mut silent);
    let (mut replaced, mut erased) = (0, 0);
    let mut homes = Homes { root, known: FxHashMap::default() };
    let mut made: FxHashMap<(Block, Attr, Type), Value> = FxHashMap::default();
    let mut freed = Vec::new();
    for (value, attr) in facts {
        let module = rewriter.module();
        if !module.has_uses(value) {
            freed.extend(module.def_op(value));
            continue;
        }
        let Some(state) = constant(module, value, attr) else { continue };
        let Some(home) = module.def_block(value).and_then(|block| homes.of(module, block)) else {
            continue;
        };
        let def = module.def_op(value);
        let known = def.is_some_and(|op| module.has_traits(op, Traits::CONSTANT_LIKE));
        let constant = *made.entry((home, attr, module.value_type(value))).or_insert_with(|| {
            let op = rewriter.create(Point::Start(home), state);
            rewriter.module().result(op, 0)
        });
        rewriter.replace_uses(value, constant);
        replaced += u64::from(!known);
        freed.extend(def);
    }
    for op in freed {
        if rewriter.module().is_live(op) && acting.is_dead(rewriter.module(), op) {
            rewriter.erase(op);
            erased += 1;
        }
    }
    (replaced, erased)
}

/// The constant to take the place of `value`; `None` if there is none, or if `value` is a constant
/// that says more.
fn constant(module: &Module, value: Value, attr: Attr) -> Option<OpState> {
    let (context, ty) = (module.context(), module.value_type(value));
    let Some(def) = module.def_op(value) else {
        return context.constant_state(context.name("arith.constant"), attr, ty, Loc::UNKNOWN);
    };
    let state = context.constant_state(module.name(def), attr, ty, module.loc(def))?;
    let same = state.name == module.name(def) && state.attrs == module.attrs(def);
    (same || !module.has_traits(def, Traits::CONSTANT_LIKE)).then_some(state)
}

/// Where constants belong, for each region that was asked for.
struct Homes {
    /// Nothing is made outside of its regions.
    root: Op,
    known: FxHashMap<Region, Block>,
}

impl Homes {
    /// The entry block of the nearest region around `block` into which values may not come from
    /// outside.
    fn of(&mut self, module: &Module, block: Block) -> Option<Block> {
        let mut passed = Vec::new();
        let mut at = block;
        let home = loop {
            let region = module.block_region(at)?;
            if let Some(&home) = self.known.get(&region) {
                break home;
            }
            passed.push(region);
            let parent = module.region_parent(region);
            match module.block(parent) {
                Some(outer)
                    if parent != self.root && !module.may_have_traits(parent, Traits::ISOLATED) =>
                {
                    at = outer;
                }
                _ => break module.first_block(region)?,
            }
        };
        self.known.extend(passed.into_iter().map(|region| (region, home)));
        Some(home)
    }
}
