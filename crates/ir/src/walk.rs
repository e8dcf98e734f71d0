//! Visiting all operations below one, without recursion.

use crate::module::{Module, Op};

/// When an operation is visited with respect to those in its regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Before them.
    Pre,
    /// After them.
    Post,
}

/// The operations below `root`, and `root` itself, in `order`.
///
/// Operations of a block come in their order, regions and blocks likewise. The list is made at
/// once, so the module may be changed while it is gone through; look at [`Module::is_live`] then.
pub fn walk(module: &Module, root: Op, order: Order) -> Vec<Op> {
    let mut out = Vec::new();
    // Pre-order with children pushed in reverse; the reverse of a pre-order that takes the
    // children backwards is the post-order.
    let mut stack = vec![root];
    let mut children = Vec::new();
    while let Some(op) = stack.pop() {
        out.push(op);
        children.clear();
        for &region in module.regions(op) {
            for block in module.blocks(region) {
                children.extend(module.ops(block));
            }
        }
        match order {
            Order::Pre => stack.extend(children.iter().rev()),
            Order::Post => stack.extend(children.iter()),
        }
    }
    if order == Order::Post {
        out.reverse();
    }
    out
}
