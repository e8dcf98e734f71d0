//! Constants, once for each value in a function.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tangram_ir::{Attr, Block, Loc, Module, Op, OpState, Order, Point, Traits, Type, Value, walk};
use tangram_rewrite::Rewriter;

use super::known::Known;

/// The constants that stand at the start of an entry block.
#[derive(Default)]
pub(crate) struct Constants {
    table: Mutex<FxHashMap<(Block, Attr, Type), Op>>,
}

impl Constants {
    /// The constant `attr` of type `ty` where `op` stands; made if it is not there yet.
    pub(crate) fn find(
        &self,
        rewriter: &mut Rewriter<'_>,
        op: Op,
        attr: Attr,
        ty: Type,
        loc: Loc,
    ) -> Option<Value> {
        let module = rewriter.module();
        let home = entry(module, op)?;
        let key = (home, attr, ty);
        let mut table = self.table.lock();
        if let Some(&found) = table.get(&key)
            && module.is_live(found)
            && module.block(found) == Some(home)
        {
            // One that a pattern moved or changed is no longer what the table says.
            let known = Known::of(module.context());
            let same = known.constant_op(module, found) == Some(attr);
            if same && (module.block(op) != Some(home) || module.is_before(found, op)) {
                return Some(module.result(found, 0));
            }
        }
        let context = module.context();
        let known = Known::of(context);
        let mut state = OpState::new(known.constant, loc);
        state.attrs = context.dict([(known.value, attr)]);
        state.results.push(ty);
        let made = rewriter.create(Point::Start(home), state);
        table.insert(key, made);
        Some(rewriter.module().result(made, 0))
    }

    fn insert(&self, key: (Block, Attr, Type), op: Op) -> Option<Op> {
        match self.table.lock().entry(key) {
            std::collections::hash_map::Entry::Occupied(found) => Some(*found.get()),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(op);
                None
            }
        }
    }
}

/// The entry block of the innermost isolated region around `op`.
fn entry(module: &Module, op: Op) -> Option<Block> {
    let mut at = op;
    loop {
        let region = module.block_region(module.block(at)?)?;
        let parent = module.region_parent(region);
        if parent == module.root() || module.has_traits(parent, Traits::ISOLATED) {
            return module.first_block(region);
        }
        at = parent;
    }
}

/// Moves every `arith.constant` below `root` to the start of its function and leaves one of those
/// that are equal. Returns how many went away. O(operations).
pub fn unique_constants(rewriter: &mut Rewriter<'_>, root: Op) -> usize {
    let module = rewriter.module();
    let known_constant = Known::of(module.context()).constant;
    let all: Vec<Op> = walk(module, root, Order::Pre)
        .into_iter()
        .filter(|&op| op != root && module.name(op) == known_constant)
        .collect();
    let table = Constants::default();
    // The last constant that stands at the start of a block.
    let mut ends: FxHashMap<Block, Op> = FxHashMap::default();
    let mut gone = 0;
    for op in all {
        let module = rewriter.module();
        let known = Known::of(module.context());
        let (Some(home), Some(attr)) = (entry(module, op), known.constant_op(module, op)) else {
            continue;
        };
        if module.result_count(op) != 1 {
            continue;
        }
        let ty = module.value_type(module.result(op, 0));
        if let Some(kept) = table.insert((home, attr, ty), op) {
            let value = module.result(kept, 0);
            gone += usize::from(rewriter.replace(op, &[value]).is_ok());
            continue;
        }
        let after = ends.insert(home, op);
        let point = after.map_or(Point::Start(home), Point::After);
        let stands = match after {
            Some(last) => module.prev(op) == Some(last),
            None => module.first_op(home) == Some(op),
        };
        if !stands {
            rewriter.move_to(op, point);
        }
    }
    gone
}
