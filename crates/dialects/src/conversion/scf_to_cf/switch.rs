//! `scf.execute_region` and `scf.index_switch`.

use tangram_ir::{AttrData, Block, Op, Point, TypeData, Value};
use tangram_rewrite::Rewriter;

use super::{Matched, Site, Words, finish, malformed, sizes, state, take_end, types};

/// The blocks of the region move out; what they yield goes to the block that follows.
pub(super) fn convert_execute_region(
    words: &Words,
    rewriter: &mut Rewriter<'_>,
    op: Op,
) -> Matched {
    let module = rewriter.module();
    let results = types(module, module.results(op));
    let Some(&region) = module.regions(op).first() else { return Err(malformed(rewriter)) };
    let blocks: Vec<Block> = module.blocks(region).collect();
    let site = Site::new(words, rewriter, op)?;
    let Some(entry) = site.inline(rewriter, op, 0) else { return Err(malformed(rewriter)) };
    let values: Vec<Value> =
        results.iter().map(|&ty| rewriter.add_argument(site.after, ty)).collect();
    for block in blocks {
        let module = rewriter.module();
        let ends = module.last_op(block).is_some_and(|end| module.name(end) == words.yields);
        if ends {
            let given = take_end(rewriter, block, words.yields)?;
            site.branch(rewriter, block, site.after, &given);
        }
    }
    finish(rewriter, op, &values)?;
    site.branch(rewriter, site.before, entry, &[]);
    Ok(())
}

/// `cf.switch` on the index as an `i64`: no index is lost.
pub(super) fn convert_index_switch(words: &Words, rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let context = module.context_arc().clone();
    let results = types(module, module.results(op));
    let Some(flag) = module.operands(op).next() else { return Err(malformed(rewriter)) };
    let cases = module.attr(op, "cases").and_then(|attr| context.as_i64s(attr));
    let cases = cases.unwrap_or_default();
    if module.regions(op).len() != cases.len() + 1 {
        return Err(malformed(rewriter));
    }
    let site = Site::new(words, rewriter, op)?;
    let values: Vec<Value> =
        results.iter().map(|&ty| rewriter.add_argument(site.after, ty)).collect();
    let mut targets = Vec::new();
    for i in 0..=cases.len() {
        let Some(block) = site.inline(rewriter, op, i) else { return Err(malformed(rewriter)) };
        let given = take_end(rewriter, block, words.yields)?;
        site.branch(rewriter, block, site.after, &given);
        targets.push(block);
    }
    finish(rewriter, op, &values)?;
    let wide = context.int_type(64);
    let cast = state(words.index_cast, &[flag], Some(wide), site.loc);
    let cast = rewriter.create(Point::End(site.before), cast);
    let flag = rewriter.module().result(cast, 0);
    let mut made = state(words.switch, &[flag], None, site.loc);
    let none = AttrData::DenseArray {
        element: context.int_type(32),
        bytes: vec![0; 4 * cases.len()].into(),
    };
    let mut entries = vec![
        (words.segments, sizes(&context, [1, 0, 0])),
        (context.str("case_operand_segments"), context.attr(none)),
    ];
    if !cases.is_empty() {
        let dims = [cases.len() as i64].into();
        let ty = TypeData::Vector { dims, scalable: [false].into(), element: wide };
        let bytes: Vec<u8> = cases.iter().flat_map(|case| case.to_le_bytes()).collect();
        let (ty, splat) = (context.ty(ty), cases.len() == 1);
        let data = AttrData::Dense { ty, bytes: bytes.into(), splat };
        entries.push((context.str("case_values"), context.attr(data)));
    }
    made.attrs = context.dict(entries);
    made.successors.extend(targets);
    rewriter.create(Point::End(site.before), made);
    Ok(())
}
