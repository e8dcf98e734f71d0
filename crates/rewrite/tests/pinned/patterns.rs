//! The patterns of the test passes of `mlir-opt`, by their names.

use tangram_ir::{Attr, Context, Module, Op, OpState, Point};
use tangram_rewrite::{FnPattern, FrozenPatternSet, Mapping, NoMatch, Rewriter};

use crate::common::{frozen, rule};

pub type Matched = Result<(), NoMatch>;

pub fn has(module: &Module, op: Op, name: &str) -> bool {
    module.attr(op, name).is_some()
}

pub fn mark(rewriter: &mut Rewriter<'_>, op: Op, name: &str) {
    let name = rewriter.module().context().str(name);
    rewriter.modify_in_place(op, |edit| edit.set_attr(name, Some(Attr::UNIT)));
}

pub fn no(rewriter: &Rewriter<'_>) -> Matched {
    Err(rewriter.no_match(String::new))
}

fn parent_outside(rewriter: &Rewriter<'_>, op: Op) -> Option<Op> {
    let module = rewriter.module();
    module.parent(op).filter(|&parent| module.name_text(parent) != "func.func")
}

fn move_before_parent(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let Some(parent) = parent_outside(rewriter, op) else { return no(rewriter) };
    rewriter.move_to(op, Point::Before(parent));
    Ok(())
}

fn move_after_parent(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let Some(parent) = parent_outside(rewriter, op) else { return no(rewriter) };
    let module = rewriter.module();
    let next = module.next(parent).filter(|_| has(module, op, "advance"));
    rewriter.move_to(op, Point::After(next.unwrap_or(parent)));
    Ok(())
}

fn clone_me(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    if has(rewriter.module(), op, "was_cloned") {
        return no(rewriter);
    }
    rewriter.clone_op(op, Point::After(op), &mut Mapping::new());
    mark(rewriter, op, "was_cloned");
    Ok(())
}

fn clone_region_before(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    if has(rewriter.module(), op, "was_cloned") {
        return no(rewriter);
    }
    let module = rewriter.module();
    let (from, block) = (module.region(op, 0), module.block(op).expect("a block"));
    let to = module.block_region(block).expect("a region");
    rewriter.clone_region(from, to, Some(block), &mut Mapping::new());
    mark(rewriter, op, "was_cloned");
    Ok(())
}

fn inline_blocks(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let region = rewriter.module().region(op, 0);
    let Some(block) = rewriter.module().first_block(region) else { return no(rewriter) };
    rewriter.inline_block(block, Point::Before(op), &[]).expect("no arguments");
    Ok(())
}

fn split_block_here(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    rewriter.split_block(op).expect("a block");
    replace(rewriter, op, "test.new_op");
    Ok(())
}

fn replace(rewriter: &mut Rewriter<'_>, op: Op, name: &str) {
    let module = rewriter.module();
    let state = OpState::new(module.context().name(name), module.loc(op));
    rewriter.replace_with(op, state).expect("no results");
}

fn replace_with_new(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let erase = has(rewriter.module(), op, "create_erase_op");
    replace(rewriter, op, if erase { "test.erase_op" } else { "test.new_op" });
    Ok(())
}

fn insert_same(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    if has(rewriter.module(), op, "skip") {
        return no(rewriter);
    }
    let module = rewriter.module();
    let mut state = OpState::new(module.name(op), module.loc(op));
    state.attrs = module.context().dict([(module.context().str("skip"), Attr::UNIT)]);
    rewriter.create(Point::Before(op), state);
    mark(rewriter, op, "skip");
    Ok(())
}

fn erase(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    rewriter.erase(op);
    Ok(())
}

fn erase_first_block(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let region = rewriter.module().region(op, 0);
    let Some(block) = rewriter.module().first_block(region) else { return no(rewriter) };
    rewriter.erase_block(block);
    Ok(())
}

pub fn patterns(context: &Context) -> FrozenPatternSet {
    type Rewrite = fn(&mut Rewriter<'_>, Op) -> Matched;
    let all: [(&str, Rewrite); 10] = [
        ("test.move_before_parent_op", move_before_parent),
        ("test.move_after_parent_op", move_after_parent),
        ("test.clone_me", clone_me),
        ("test.clone_region_before", clone_region_before),
        ("test.inline_blocks_into_parent", inline_blocks),
        ("test.split_block_here", split_block_here),
        ("test.replace_with_new_op", replace_with_new),
        ("test.insert_same_op", insert_same),
        ("test.erase_op", erase),
        ("test.erase_first_block", erase_first_block),
    ];
    frozen(all.map(|(root, rewrite)| -> FnPattern { rule(context, root, root, rewrite) }))
}
