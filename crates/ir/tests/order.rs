//! The order of operations in a block is that of a plain list, whatever is inserted and moved.

use proptest::prelude::*;
use tangram_ir::{Context, Loc, Module, Op, OpState, Point};

/// One change: what is done, and two numbers that choose where.
type Edit = (u8, u16, u16);

fn point(module: &Module, list: &[Op], how: u8, at: u16) -> (Point, usize) {
    let i = if list.is_empty() { 0 } else { usize::from(at) % list.len() };
    match how % 4 {
        _ if list.is_empty() => (Point::End(module.body()), 0),
        0 => (Point::Start(module.body()), 0),
        1 => (Point::End(module.body()), list.len()),
        2 => (Point::Before(list[i]), i),
        _ => (Point::After(list[i]), i + 1),
    }
}

/// Does the same to the block and to the list.
fn edit(module: &mut Module, list: &mut Vec<Op>, (what, from, to): Edit) {
    let name = module.context().name("t.x");
    match what % 8 {
        // Erase and move now and then; places of insertion crowd at few numbers.
        6 if !list.is_empty() => {
            let op = list.remove(usize::from(from) % list.len());
            module.erase(op);
        }
        7 if list.len() > 1 => {
            let op = list.remove(usize::from(from) % list.len());
            let (point, i) = point(module, list, what / 8, to);
            module.move_to(op, point);
            list.insert(i, op);
        }
        _ => {
            let (point, i) = point(module, list, what / 8, to % 7);
            let op = module.create_at(point, OpState::new(name, Loc::UNKNOWN));
            list.insert(i, op);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_block_is_in_the_order_of_a_list(edits in prop::collection::vec(any::<Edit>(), 0..400)) {
        let mut module = Module::new(Context::new());
        let mut list = Vec::new();
        for step in edits {
            edit(&mut module, &mut list, step);
        }
        let ops: Vec<Op> = module.ops(module.body()).collect();
        prop_assert_eq!(&ops, &list);
        for (i, &a) in list.iter().enumerate() {
            for (j, &b) in list.iter().enumerate() {
                prop_assert_eq!(module.is_before(a, b), i < j);
            }
        }
    }
}
