//! Constants: each once, at the start of an isolated region.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{Attr, Block, Folded, Module, Name, Op, OpState, Point, Traits, Type, Value};

use crate::rewriter::Rewriter;

/// Where a constant belongs, its name, dictionary and type.
type Key = (Block, Name, Attr, Type);

/// The constants so far. They stand one after the other at the start of their block.
pub(super) struct Constants {
    /// Nothing is made or moved outside of this operation's regions.
    scope: Op,
    table: FxHashMap<Key, Op>,
    /// The last constant at the start of each block.
    ends: FxHashMap<Block, Op>,
}

impl Constants {
    /// None yet; all that come stand in the regions of `scope`.
    pub(super) fn new(scope: Op) -> Constants {
        Constants { scope, table: FxHashMap::default(), ends: FxHashMap::default() }
    }

    /// Returns whether [`Constants::values`] has values for these results of `op`.
    pub(super) fn has_values(&self, module: &Module, op: Op, results: &[Folded]) -> bool {
        states(module, op, results).is_some() && self.home(module, op).is_some()
    }

    /// The value of each of `results`, for the results of `op`; `None` if the dialect has no
    /// constant for one of them, and then nothing is made.
    pub(super) fn values(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        op: Op,
        results: &[Folded],
    ) -> Option<SmallVec<[Value; 1]>> {
        let module = rewriter.module();
        let states = states(module, op, results)?;
        let home = self.home(module, op)?;
        let value = |found| match found {
            Ok(value) => value,
            Err(state) => self.unique(rewriter, home, op, state),
        };
        Some(states.into_iter().map(value).collect())
    }

    /// The one constant of `state` in `home`, for `user`.
    fn unique(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        home: Block,
        user: Op,
        state: OpState,
    ) -> Value {
        let key = (home, state.name, state.attrs, state.results[0]);
        if let Some(op) = self.known(rewriter.module(), &key) {
            bring_before(rewriter, home, op, user);
            return rewriter.module().result(op, 0);
        }
        let point = self.end(rewriter.module(), home).map_or(Point::Start(home), Point::After);
        let op = rewriter.create(point, state);
        self.table.insert(key, op);
        self.ends.insert(home, op);
        bring_before(rewriter, home, op, user);
        rewriter.module().result(op, 0)
    }

    /// Takes over the constant `op`: replaces it by an equal one, and then says `true`, or moves
    /// it to the others.
    pub(super) fn adopt(&mut self, rewriter: &mut Rewriter<'_>, op: Op) -> bool {
        let module = rewriter.module();
        if module.result_count(op) != 1 || module.operand_count(op) != 0 {
            return false;
        }
        let Some(home) = self.home(module, op) else { return false };
        let key = key_of(module, home, op);
        match self.known(module, &key) {
            Some(kept) if kept == op => return false,
            Some(kept) => {
                let value = module.result(kept, 0);
                bring_before(rewriter, home, kept, op);
                return rewriter.replace(op, &[value]).is_ok();
            }
            None => {}
        }
        let end = self.end(module, home);
        if module.block(op) != Some(home) || module.prev(op) != end {
            rewriter.move_to(op, end.map_or(Point::Start(home), Point::After));
        }
        self.table.insert(key, op);
        self.ends.insert(home, op);
        false
    }

    /// The constant that stands for `key`, if it is there still.
    fn known(&self, module: &Module, key: &Key) -> Option<Op> {
        self.table.get(key).copied().filter(|&op| is_still(module, op, key))
    }

    /// The last of the constants at the start of `home`.
    fn end(&self, module: &Module, home: Block) -> Option<Op> {
        let op = *self.ends.get(&home)?;
        let stands = module.is_live(op)
            && module.result_count(op) == 1
            && module.block(op) == Some(home)
            && self.table.get(&key_of(module, home, op)) == Some(&op);
        stands.then_some(op)
    }

    /// The entry block of the nearest region around `op` into which values do not come from
    /// outside, or of the outermost one in the scope.
    fn home(&self, module: &Module, op: Op) -> Option<Block> {
        let mut at = op;
        loop {
            let region = module.block_region(module.block(at)?)?;
            let parent = module.region_parent(region);
            // Nothing may move out of an operation that may be isolated.
            let walled = module.may_have_traits(parent, Traits::ISOLATED);
            if walled || parent == self.scope || module.block(parent).is_none() {
                return module.first_block(region);
            }
            at = parent;
        }
    }
}

/// What each of `results` of `op` becomes: a value, or a constant to be made; `None` if the
/// dialect has no constant for one of them.
fn states(
    module: &Module,
    op: Op,
    results: &[Folded],
) -> Option<SmallVec<[Result<Value, OpState>; 1]>> {
    let context = module.context();
    let types = module.results(op).map(|value| module.value_type(value));
    results
        .iter()
        .zip(types)
        .map(|(folded, ty)| match *folded {
            Folded::Value(value) => (module.value_type(value) == ty).then_some(Ok(value)),
            Folded::Attr(attr) => {
                context.constant_state(module.name(op), attr, ty, module.loc(op)).map(Err)
            }
        })
        .collect()
}

fn key_of(module: &Module, home: Block, op: Op) -> Key {
    (home, module.name(op), module.attrs(op), module.value_type(module.result(op, 0)))
}

fn is_still(module: &Module, op: Op, key: &Key) -> bool {
    module.is_live(op) && module.block(op) == Some(key.0) && key_of(module, key.0, op) == *key
}

/// Moves the constant `op` of `home` to the start, if it does not stand before `user` already.
fn bring_before(rewriter: &mut Rewriter<'_>, home: Block, op: Op, user: Op) {
    let module = rewriter.module();
    let user = module.ancestor_in(home, user);
    if user.is_some_and(|user| user != op && !module.is_before(op, user)) {
        rewriter.move_to(op, Point::Start(home));
    }
}
