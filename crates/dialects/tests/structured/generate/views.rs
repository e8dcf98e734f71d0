//! Rearranged, cut, repeated and made tensors.

use super::{ALL, Generator, NUMBERS, constants, line, list, tensor};

pub(super) fn views(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(1, 4);
    let rank = shape.len();
    let element = g.pick(ALL);
    let x = [tensor(element, &shape)];
    lines.push(line("batch_flatten", &x, &[], 1));
    let axis = g.random.usize(..=rank);
    lines.push(line("flatten", &x, &[format!("axis={axis}")], 1));
    lines.push(line("reshape", &x, &["newshape=[0,-1]".to_owned()], 1));
    lines.push(line("expand_dims", &[x[0].clone(), constants(&[0, -1])], &[], 1));
    let units = [vec!["1".to_owned()], shape.clone(), vec!["1".to_owned()]].concat();
    lines.push(line("squeeze", &[tensor(element, &units)], &["axis=[0,-1]".to_owned()], 1));
    let mut order: Vec<i64> = (0..rank as i64).collect();
    g.random.shuffle(&mut order);
    let attrs = if g.chance(4) { vec![] } else { vec![format!("axes={}", list(&order))] };
    lines.push(line("transpose", &x, &attrs, 1));
    let along = g.random.usize(..rank);
    let count = g.random.usize(1..4);
    let operands: Vec<String> = (0..count)
        .map(|_| {
            let mut part = shape.clone();
            part[along] = g.extent();
            tensor(element, &part)
        })
        .collect();
    let written = if g.flag() { along as i64 } else { along as i64 - rank as i64 };
    lines.push(line("concatenate", &operands, &[format!("axis={written}")], 1));
    splits(g, lines);
    slices(g, lines);
}

fn splits(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let mut shape = g.shape(1, 3);
    let along = g.random.usize(..shape.len());
    let parts: Vec<i64> = (0..g.int(1, 3)).map(|_| g.int(0, 3)).collect();
    let element = g.pick(ALL);
    let axis = format!("axis={along}");
    shape[along] = parts.iter().sum::<i64>().to_string();
    let results = parts.len();
    lines.push(line(
        "split",
        &[tensor(element, &shape), constants(&parts)],
        std::slice::from_ref(&axis),
        results,
    ));
    let starts: Vec<i64> = parts[..results - 1]
        .iter()
        .scan(0, |sum, part| {
            *sum += part;
            Some(*sum)
        })
        .collect();
    let starts = format!("indices_or_sections={}", list(&starts));
    lines.push(line("split", &[tensor(element, &shape)], &[axis.clone(), starts], results));
    shape[along] = if g.chance(3) { "3*N".to_owned() } else { g.int(0, 8).to_string() };
    let sections = "indices_or_sections=3".to_owned();
    lines.push(line("split", &[tensor(element, &shape)], &[axis, sections], 3));
}

fn slices(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(1, 4);
    let x = tensor(g.pick(ALL), &shape);
    let mut axes: Vec<i64> = (0..shape.len() as i64).collect();
    g.random.shuffle(&mut axes);
    axes.truncate(g.random.usize(1..=shape.len()));
    let numbers = |g: &mut Generator<'_>| -> Vec<i64> {
        axes.iter()
            .map(|_| {
                if g.chance(8) {
                    [i64::MAX, i64::MIN + 1][g.random.usize(..2)]
                } else {
                    g.int(-7, 7)
                }
            })
            .collect()
    };
    let (begin, end) = (numbers(g), numbers(g));
    let steps: Vec<i64> = axes.iter().map(|_| [1, 1, 2, 3, -1, -2][g.random.usize(..6)]).collect();
    if g.flag() {
        let attrs = [
            format!("begin={}", list(&begin)),
            format!("end={}", list(&end)),
            format!("axes={}", list(&axes)),
            format!("strides={}", list(&steps)),
        ];
        lines.push(line("strided_slice", &[x], &attrs, 1));
    } else {
        let lists = [&begin, &end, &axes, &steps].map(|numbers| constants(numbers));
        lines.push(line("strided_slice", &[vec![x], lists.to_vec()].concat(), &[], 1));
    }
}

pub(super) fn made(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(1, 4);
    let rank = shape.len();
    let element = g.pick(ALL);
    let x = tensor(element, &shape);
    let sizes: Vec<i64> = (0..g.random.usize(..3)).map(|_| g.int(0, 4)).collect();
    let value = format!("value=dense {}[1] {}", "i64", g.int(0, 9));
    lines.push(line("full", &[], &[format!("shape={}", list(&sizes)), value], 1));
    let (first, step) = (g.int(-5, 5), g.int(1, 3));
    let limit = g.int(-5, 12);
    let scalars = [first, limit, step].map(|n| format!("{}[] = ({n})", "i64"));
    lines.push(line("arange", &scalars, &[], 1));
    let mut square = g.shape(0, 2);
    square.extend([g.extent(), g.extent()]);
    let attrs = [format!("k={}", g.int(-2, 2)), format!("upper={}", g.flag())];
    lines.push(line("trilu", &[tensor(element, &square)], &attrs, 1));
    let pair = [g.extent(), g.extent()];
    let attrs = [format!("k={}", g.int(-2, 2)), format!("dtype={}", g.pick(NUMBERS))];
    lines.push(line("eye_like", &[tensor(element, &pair)], &attrs, 1));
    let block = g.int(1, 3);
    let mode = format!("mode=\"{}\"", g.pick(&["DCR", "CRD"]));
    let attrs = [format!("block_size={block}"), mode];
    let (c, h, w) = (g.int(1, 3), g.int(1, 3), g.extent());
    let deep = [g.extent(), (c * block * block).to_string(), h.to_string(), w.clone()];
    lines.push(line("depth_to_space", &[tensor(element, &deep)], &attrs, 1));
    let flat = [g.extent(), c.to_string(), (h * block).to_string(), format!("{block}*{w}")];
    lines.push(line("space_to_depth", &[tensor(element, &flat)], &attrs, 1));
    lines.push(line("shape_of", std::slice::from_ref(&x), &["start=-2".to_owned()], 1));
    lines.push(line("ndarray_size", std::slice::from_ref(&x), &[], 1));
    let part = g.part(&shape);
    let wanted = format!("i64[{rank}] = ({})", shape.join(", "));
    lines.push(line("broadcast_to", &[tensor(element, &part), wanted], &[], 1));
    let copies: Vec<i64> = (0..rank).map(|_| g.int(0, 3)).collect();
    lines.push(line("tile", &[x.clone(), constants(&copies)], &[], 1));
    // Extents that are open beside numbers, which a run finds to be equal or 1.
    let numbers: Vec<String> = (0..rank).map(|_| g.pick(&["1", "2", "3"]).to_owned()).collect();
    let mut opened = numbers.clone();
    opened[g.random.usize(..rank)] = "N".to_owned();
    let wanted = format!("i64[{rank}] = ({})", numbers.join(", "));
    lines.push(line("broadcast_to", &[tensor(element, &opened), wanted], &[], 1));
    let pair = [tensor(element, &opened), tensor(element, &numbers)];
    lines.push(line("equal", &pair, &[], 1));
    let mode = g.pick(&["constant", "constant", "edge", "reflect", "wrap"]);
    let widths: Vec<i64> = (0..2 * rank).map(|_| g.int(-2, 3)).collect();
    let mut attrs = vec![format!("pad_mode=\"{mode}\"")];
    let mut operands = vec![x.clone()];
    if g.flag() {
        attrs.push(format!("pad_width={}", list(&widths)));
        if g.flag() {
            attrs.push(format!("pad_value={}", g.int(-3, 3)));
        }
    } else {
        operands.extend([constants(&widths), tensor(element, &[])]);
    }
    lines.push(line("pad", &operands, &attrs, 1));
}

pub(super) fn images(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(ALL);
    let shape = [g.extent(), g.int(1, 3).to_string(), g.int(1, 7).to_string()];
    let x = tensor(element, &shape);
    let transform = g.pick(&["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]);
    let nearest = g.pick(&["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]);
    let modes = [
        "mode=\"nearest\"".to_owned(),
        format!("coordinate_transformation_mode=\"{transform}\""),
        format!("nearest_mode=\"{nearest}\""),
    ];
    let size = g.int(1, 12);
    let target = match g.flag() {
        true => vec![format!("sizes=[{size}]"), "axes=[2]".to_owned()],
        false => vec![format!("scales=[1.0,1.0,{}.0]", g.int(1, 3))],
    };
    lines.push(line("resize", std::slice::from_ref(&x), &[&modes[..], &target].concat(), 1));
    let sizes = [g.int(1, 5), g.int(1, 9)];
    let operands = [x, constants(&sizes)];
    lines.push(line("center_crop_pad", &operands, &["axes=[1,2]".to_owned()], 1));

    let (batch, steps) = (g.int(1, 3), g.int(2, 5));
    let lengths: Vec<i64> = (0..batch).map(|_| g.int(0, steps)).collect();
    let x = [steps.to_string(), batch.to_string(), g.extent()];
    lines.push(line("reverse_sequence", &[tensor(element, &x), constants(&lengths)], &[], 1));
    let written = g.int(1, steps);
    let circular = g.flag();
    let most = if circular { 2 * steps } else { steps - written };
    let starts: Vec<i64> = (0..batch).map(|_| g.int(0, most)).collect();
    let cache = [batch.to_string(), g.extent(), steps.to_string(), g.extent()];
    let mut update = cache.clone();
    update[2] = written.to_string();
    let mode = if circular { "circular" } else { "linear" };
    let operands = [tensor(element, &cache), tensor(element, &update), constants(&starts)];
    lines.push(line("tensor_scatter", &operands, &[format!("mode=\"{mode}\"")], 1));
}
