//! Plans as attributes: how a nest becomes code.

use tangram_ir::{Attr, Context};

use crate::packing::Tiled;
use crate::winograd::Winograd;

/// The order in which a tiled product is summed: that of its panels.
pub(super) fn order(tiled: &Tiled) -> Vec<usize> {
    tiled.segments.iter().chain(&tiled.run).copied().collect()
}

fn ints(context: &Context, list: impl IntoIterator<Item = usize>) -> Attr {
    let list: Vec<i64> = list.into_iter().map(|n| n as i64).collect();
    context.i64s_attr(&list)
}

fn dict<const N: usize>(context: &Context, entries: [(&str, Attr); N]) -> Attr {
    context.dict(entries.map(|(name, attr)| (context.str(name), attr)))
}

/// A product in register tiles.
pub(super) fn product(context: &Context, tiled: &Tiled) -> Attr {
    let product = &tiled.product;
    let one = |n: usize| context.i64_attr(n as i64);
    dict(
        context,
        [
            ("by", context.str_attr("product")),
            ("rows", ints(context, product.rows.iter().copied())),
            ("column", one(product.column)),
            ("batch", ints(context, product.batch.iter().copied())),
            ("outer_columns", ints(context, product.outer_columns.iter().copied())),
            ("rows_read", one(product.rows_input)),
            ("columns_read", one(product.columns_input)),
            ("tile", ints(context, [tiled.tile.rows, tiled.tile.columns()])),
            ("segments", ints(context, tiled.segments.iter().copied())),
            ("run", ints(context, tiled.run.iter().copied())),
            ("near", one(tiled.near)),
        ],
    )
}

/// A convolution by Winograd's algorithm, whose sums are others than the nest's.
pub(super) fn winograd(context: &Context, plan: &Winograd) -> Attr {
    let one = |n: usize| context.i64_attr(n as i64);
    dict(
        context,
        [
            ("by", context.str_attr("winograd")),
            ("outer", ints(context, plan.outer.iter().copied())),
            ("position", ints(context, plan.position)),
            ("window", ints(context, plan.window)),
            ("channel", one(plan.channel)),
            ("column", one(plan.product.column)),
            ("block", ints(context, plan.block)),
            ("lanes", one(plan.lanes)),
            ("tile", ints(context, [plan.tile.rows, plan.tile.columns()])),
        ],
    )
}
