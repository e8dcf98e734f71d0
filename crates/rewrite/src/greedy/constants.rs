//! The constants that folding makes: each once, at the start of an isolated region.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{Attr, Block, Folded, Module, Op, OpState, Point, Traits, Type, Value};

use crate::rewriter::Rewriter;

/// The constants made so far, by block, name, dictionary and type.
#[derive(Default)]
pub(super) struct Constants {
    table: FxHashMap<(Block, tangram_ir::Name, Attr, Type), Op>,
}

impl Constants {
    /// The value of each of `results`, for the results of `op`; `None` if the dialect has no
    /// constant for one of them, and then nothing is made.
    pub(super) fn values(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        op: Op,
        results: &[Folded],
    ) -> Option<SmallVec<[Value; 1]>> {
        let module = rewriter.module();
        let context = module.context();
        let types = module.results(op).map(|value| module.value_type(value));
        let states: Option<SmallVec<[Result<Value, OpState>; 1]>> = results
            .iter()
            .zip(types)
            .map(|(folded, ty)| match *folded {
                Folded::Value(value) => (module.value_type(value) == ty).then_some(Ok(value)),
                Folded::Attr(attr) => {
                    context.constant_state(module.name(op), attr, ty, module.loc(op)).map(Err)
                }
            })
            .collect();
        let states = states?;
        let home = home(module, op)?;
        let value = |found| match found {
            Ok(value) => value,
            Err(state) => self.unique(rewriter, home, state),
        };
        Some(states.into_iter().map(value).collect())
    }

    /// The one constant of `state` at the start of `home`.
    fn unique(&mut self, rewriter: &mut Rewriter<'_>, home: Block, state: OpState) -> Value {
        let key = (home, state.name, state.attrs, state.results[0]);
        if let Some(&op) = self.table.get(&key)
            && is_still(rewriter.module(), op, &key)
        {
            // What is folded may stand before the constant: at the start it serves all.
            if rewriter.module().first_op(home) != Some(op) {
                rewriter.move_to(op, Point::Start(home));
            }
            return rewriter.module().result(op, 0);
        }
        let op = rewriter.create(Point::Start(home), state);
        self.table.insert(key, op);
        rewriter.module().result(op, 0)
    }
}

fn is_still(module: &Module, op: Op, key: &(Block, tangram_ir::Name, Attr, Type)) -> bool {
    module.is_live(op)
        && module.block(op) == Some(key.0)
        && module.name(op) == key.1
        && module.attrs(op) == key.2
        && module.value_type(module.result(op, 0)) == key.3
}

/// The entry block of the nearest region around `op` from which values do not come from outside.
fn home(module: &Module, op: Op) -> Option<Block> {
    let mut at = op;
    loop {
        let region = module.block_region(module.block(at)?)?;
        let parent = module.region_parent(region);
        if module.has_traits(parent, Traits::ISOLATED) || module.block(parent).is_none() {
            return module.first_block(region);
        }
        at = parent;
    }
}
