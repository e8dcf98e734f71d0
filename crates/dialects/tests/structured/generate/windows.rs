//! Convolutions and pools.

use super::{Extents, FLOATS, Generator, NUMBERS, line, list, tensor};

/// Strides, dilations and padding of windows, `rank` of each.
pub(super) fn sliding(g: &mut Generator<'_>, rank: usize, negative: bool) -> Vec<String> {
    let mut attrs = Vec::new();
    let numbers = |g: &mut Generator<'_>, n, low, high| -> Vec<i64> {
        (0..n).map(|_| g.int(low, high)).collect()
    };
    if g.flag() {
        attrs.push(format!("strides={}", list(&numbers(g, rank, 1, 3))));
    }
    if g.flag() {
        attrs.push(format!("dilation={}", list(&numbers(g, rank, 1, 2))));
    }
    match g.random.u8(..5) {
        0 => attrs.push(format!("padding=\"{}\"", g.pick(&["SAME_UPPER", "SAME_LOWER", "VALID"]))),
        1..4 => {
            let low = if negative && g.chance(4) { -1 } else { 0 };
            attrs.push(format!("padding={}", list(&numbers(g, 2 * rank, low, 2))));
        }
        _ => {}
    }
    attrs
}

pub(super) fn windows(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    for (suffix, fixed) in [("1d", 1), ("2d", 2), ("3d", 3), ("", 0)] {
        let rank = if fixed == 0 { g.random.usize(1..4) } else { fixed };
        let element = g.pick(FLOATS);
        let extent = |g: &mut Generator<'_>| match g.chance(6) {
            true => ["H", "W"][g.random.usize(..2)].to_owned(),
            false => g.int(3, 7).to_string(),
        };
        let spatial: Extents = (0..rank).map(|_| extent(g)).collect();
        let groups = *g.random.choice(&[1, 1, 2, 3]).unwrap();
        let (channels, filters) = (g.int(1, 3), g.int(1, 2));
        let kernel: Vec<i64> = (0..rank).map(|_| g.int(1, 3)).collect();
        let batch = g.extent();
        let mut x = vec![batch, (channels * groups).to_string()];
        x.extend(spatial.clone());
        let mut w = vec![(filters * groups).to_string(), channels.to_string()];
        w.extend(kernel.iter().map(i64::to_string));
        let mut attrs = sliding(g, rank, true);
        attrs.push(format!("groups={groups}"));
        lines.push(line(
            &format!("conv{suffix}"),
            &[tensor(element, &x), tensor(element, &w)],
            &attrs,
            1,
        ));
        let mut turned = w.clone();
        turned[0] = (channels * groups).to_string();
        turned[1] = filters.to_string();
        if g.flag() {
            let extra: Vec<i64> = (0..rank).map(|_| g.int(0, 1)).collect();
            attrs.push(format!("output_padding={}", list(&extra)));
        } else if g.flag() {
            let sizes: Vec<i64> = (0..rank).map(|_| g.int(4, 12)).collect();
            attrs.push(format!("output_shape={}", list(&sizes)));
        }
        lines.push(line(
            &format!("conv{suffix}_transpose"),
            &[tensor(element, &x), tensor(element, &turned)],
            &attrs,
            1,
        ));
        let mut attrs = sliding(g, rank, false);
        attrs.push(format!("pool_size={}", list(&kernel)));
        attrs.push(format!("ceil_mode={}", g.flag()));
        let include = [format!("count_include_pad={}", g.flag())];
        let all = [&attrs[..], &include].concat();
        lines.push(line(&format!("avg_pool{suffix}"), &[tensor(element, &x)], &all, 1));
        let order = [format!("storage_order={}", g.int(0, 1))];
        let all = [&attrs[..], &order].concat();
        let element = g.pick(NUMBERS);
        let results = if g.flag() { 1 } else { 2 };
        lines.push(line(&format!("max_pool{suffix}"), &[tensor(element, &x)], &all, results));
        if suffix.is_empty() {
            let power = [format!("p={}", g.int(1, 3))];
            let all = [&attrs[..], &power].concat();
            lines.push(line("lp_pool", &[tensor("f32", &x)], &all, 1));
            lines.push(line("global_max_pool", &[tensor(element, &x)], &[], 1));
            let element = g.pick(FLOATS);
            lines.push(line("global_avg_pool", &[tensor(element, &x)], &[], 1));
            lines.push(line("global_lp_pool", &[tensor(element, &x)], &power, 1));
        }
    }
}
