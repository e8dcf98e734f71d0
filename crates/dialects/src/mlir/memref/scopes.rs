//! Canonicalisation of `memref.alloca_scope`, at whose end the memory on the stack is given back.

use tangram_ir::{Module, Op, Order, Point, Value, walk};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("scope-for-nothing", &["memref.alloca_scope"], for_nothing),
    ("allocation-before-scope", &["memref.alloca_scope"], allocation_before),
];

/// Returns whether memory on the stack that `op` asks for is given back at its end.
fn is_scope(module: &Module, op: Op) -> bool {
    const SCOPES: &[&str] = &[
        "func.func",
        "memref.alloca_scope",
        "scf.for",
        "scf.parallel",
        "scf.forall",
        "affine.for",
        "affine.parallel",
    ];
    SCOPES.contains(&module.name_text(op))
}

/// Returns whether `op` may ask for memory that is given back at the end of the scope around it.
fn allocates(cx: &Cx<'_, '_>) -> bool {
    let module = cx.module();
    let mut scopes: Vec<Op> = Vec::new();
    for op in walk(module, cx.op, Order::Pre).into_iter().skip(1) {
        let inner = scopes.iter().any(|&scope| within(module, op, scope, cx.op));
        if !inner && (module.name(op) == cx.known.alloca || module.def(op).is_none()) {
            return true;
        }
        if !inner && is_scope(module, op) {
            scopes = vec![op];
        }
    }
    false
}

/// Returns whether `op`, which is inside of `around`, is inside of `scope`.
fn within(module: &Module, op: Op, scope: Op, around: Op) -> bool {
    let mut at = module.parent(op);
    while let Some(parent) = at.filter(|&parent| parent != around) {
        if parent == scope {
            return true;
        }
        at = module.parent(parent);
    }
    false
}

/// Returns whether nothing but the terminator of the only block comes after `op`.
fn is_last(module: &Module, op: Op) -> bool {
    let Some(block) = module.block(op) else { return false };
    let alone = module.block_region(block).is_some_and(|region| {
        module.first_block(region) == Some(block) && module.next_block(block).is_none()
    });
    alone && module.next(op).is_some() && module.next(op) == module.last_op(block)
}

/// A scope in which nothing is allocated, or that ends with the scope around it.
fn for_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let ends = || {
        let around = module.parent(cx.op);
        around.is_some_and(|around| is_scope(module, around)) && is_last(module, cx.op)
    };
    (!allocates(cx) || ends()).then(|| cx.take_region(0, &[]))?
}

/// Memory that may be asked for in front of all that ends with this scope.
fn allocation_before(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let mut outermost = module.parent(cx.op)?;
    if is_scope(module, outermost) || !is_last(module, cx.op) {
        return None;
    }
    while is_last(module, outermost) && !is_scope(module, module.parent(outermost)?) {
        outermost = module.parent(outermost)?;
    }
    if !is_last(module, outermost) {
        return None;
    }
    let block = cx.only_block(0)?;
    let before = |value: Value| {
        let mut at = module.def_block(value);
        while let Some(parent) = at.and_then(|block| module.block_parent(block)) {
            if parent == outermost {
                return false;
            }
            at = module.block(parent);
        }
        true
    };
    let moves = |&op: &Op| module.name(op) == cx.known.alloca && module.operands(op).all(before);
    let moving: Vec<Op> = module.ops(block).filter(moves).collect();
    for &op in &moving {
        cx.rewriter.move_to(op, Point::Before(outermost));
    }
    (!moving.is_empty()).then_some(())
}
