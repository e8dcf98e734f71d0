//! Picking by index.

use super::{ALL, Extents, Generator, NUMBERS, line, tensor};

/// Indices of a dimension of extent `extent`, negative ones too, as constants or free elements.
fn indices(g: &mut Generator<'_>, extent: i64, shape: &[i64]) -> String {
    let count: i64 = shape.iter().product();
    let texts: Vec<String> = shape.iter().map(i64::to_string).collect();
    let list: Vec<String> = match g.random.u8(..3) {
        0 => (0..count).map(|i| i.min(extent - 1).to_string()).collect(),
        1 => (0..count).map(|i| (-1 - i).max(-extent).to_string()).collect(),
        _ => (0..count).map(|_| g.int(-extent, extent - 1).to_string()).collect(),
    };
    format!("i64[{}] = ({})", texts.join(","), list.join(", "))
}

pub(super) fn picks(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let mut shape = g.shape(1, 3);
    let rank = shape.len();
    let along = g.random.usize(..rank);
    let extent = g.int(1, 5);
    shape[along] = extent.to_string();
    let element = g.pick(ALL);
    let x = tensor(element, &shape);
    let axis = [format!("axis={along}")];
    let at: Vec<i64> = (0..g.random.usize(..3)).map(|_| g.int(1, 3)).collect();
    let picked = indices(g, extent, &at);
    lines.push(line("take", &[x.clone(), picked], &axis, 1));
    let fixed: Vec<i64> = (0..rank).map(|_| g.int(1, 4)).collect();
    let texts: Vec<String> = fixed.iter().map(i64::to_string).collect();
    let picked = indices(g, fixed[along], &fixed);
    lines.push(line("gather_elements", &[tensor(element, &texts), picked], &axis, 1));
    let depth = g.random.usize(1..=rank) as i64;
    let count = g.int(1, 3);
    let picked = indices(g, 1, &[count, depth]);
    let whole: Extents = (0..rank).map(|_| g.int(1, 4).to_string()).collect();
    lines.push(line("gather_nd", &[tensor(element, &whole), picked], &[], 1));
    let picked = indices(g, 1, &[2, 2, 1]);
    let batched = ["2".to_owned(), "3".to_owned(), "N".to_owned()];
    let attrs = ["batch_dims=1".to_owned()];
    lines.push(line("gather_nd", &[tensor(element, &batched), picked], &attrs, 1));
    for name in ["argmax", "argmin"] {
        let attrs = [
            axis[0].clone(),
            format!("keepdims={}", g.flag()),
            format!("select_last_index={}", g.flag()),
        ];
        let element = g.pick(NUMBERS);
        lines.push(line(name, &[tensor(element, &shape)], &attrs, 1));
    }
    let depth = g.int(1, 5);
    let types = ["i64", "i32", "f32"];
    let at = g.random.usize(..=rank);
    let operands = [
        tensor(g.pick(&types), &shape),
        format!("i64[] = ({depth})"),
        tensor(g.pick(ALL), &["2".to_owned()]),
    ];
    lines.push(line("one_hot", &operands, &[format!("axis={at}")], 1));
    chosen(g, lines);
    walk(g, lines);
}

/// Rows that go through nodes in any order, which may come back to where they were.
fn walk(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let (nodes, ways, trees) = (g.int(1, 6), g.int(2, 3), g.int(1, 3));
    let (features, steps) = (g.int(1, 4), g.int(0, 5));
    let element = g.pick(&["f32", "f64"]);
    let mut table = |shape: &str, count: i64, below: i64| {
        let list: Vec<String> = (0..count).map(|_| g.int(0, below - 1).to_string()).collect();
        format!("i32[{shape}] = ({})", list.join(", "))
    };
    let operands = [
        tensor(element, &["N".to_owned(), features.to_string()]),
        table(&nodes.to_string(), nodes, features),
        tensor(element, &[nodes.to_string()]),
        table(&format!("{nodes},{ways}"), nodes * ways, nodes),
        table(&trees.to_string(), trees, nodes),
    ];
    lines.push(line("ml_tree_leaves", &operands, &[format!("depth={steps}")], 1));
}

/// What goes through a dimension from one end to the other.
fn chosen(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(1, 3);
    let rank = shape.len();
    let along = g.random.usize(..rank);
    let written = if g.flag() { along as i64 } else { along as i64 - rank as i64 };
    for name in ["cumsum", "cumprod"] {
        let attrs = [
            format!("axis={written}"),
            format!("exclusive={}", g.flag()),
            format!("reverse={}", g.flag()),
        ];
        lines.push(line(name, &[tensor(g.pick(NUMBERS), &shape)], &attrs, 1));
    }
    let count = g.int(0, 4);
    let mut deep = shape.clone();
    deep[along] = if g.chance(4) { "N".to_owned() } else { g.int(count, count + 3).to_string() };
    let x = tensor(g.pick(NUMBERS), &deep);
    let attrs = [format!("k={count}"), format!("axis={written}"), format!("largest={}", g.flag())];
    lines.push(line("topk", &[x], &attrs, 2));
    let flags: Vec<i64> = (0..g.int(1, 9)).map(|_| g.int(0, 1)).collect();
    let texts: Vec<String> = flags.iter().map(i64::to_string).collect();
    let condition = format!("i1[{}] = ({})", flags.len(), texts.join(", "));
    let element = g.pick(ALL);
    let mut long = shape;
    long[along] = flags.len().to_string();
    let operands = [tensor(element, &long), condition.clone()];
    lines.push(line("compress", &operands, &[format!("axis={written}")], 1));
    let flat = [g.int(3, 5), g.int(3, 4)].map(|n| n.to_string());
    lines.push(line("compress", &[tensor(element, &flat), condition], &[], 1));
}
