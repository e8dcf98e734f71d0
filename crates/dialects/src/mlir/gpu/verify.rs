//! Checks of kernels, of their launches, and of what threads combine.

use tangram_ir::{Attr, AttrData, Diagnostic, Dim, Module, Op, Signedness, Type, TypeData, Value};

use super::super::verify::{Checked, Site};
use super::word;
use crate::func::signature;

const CONTAINER: &str = "gpu.container_module";

/// `gpu.func`: a body that takes the arguments and buffers; a kernel gives nothing.
pub(super) fn check_function(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    site.inside(&["gpu.module"])?;
    let (inputs, results) = signature(site)?;
    if module.attr(op, "gpu.kernel").is_some() && !results.is_empty() {
        let found = site.text(&results);
        return Err(
            site.error("results", format_args!("expected no results of a kernel, found {found}"))
        );
    }
    let body = site.body(0)?;
    let found = site.types(module.args(body).iter().copied());
    let (arguments, buffers) = found.split_at(inputs.len().min(found.len()));
    site.same("block arguments", &inputs, arguments)?;
    check_attributions(site, buffers)
}

/// The first buffers are those of the block, the others those of the thread.
fn check_attributions(site: Site<'_>, buffers: &[Type]) -> Checked {
    let count = site.module.attr(site.op, "workgroup_attributions");
    let count = count.and_then(|attr| site.context().as_i64(attr)).unwrap_or(0);
    let Some(count) = usize::try_from(count).ok().filter(|&count| count <= buffers.len()) else {
        let found = buffers.len();
        let message = format!("expected {count} buffers of the block, found {found}");
        return Err(site.error("block-arguments", message));
    };
    for (i, &ty) in buffers.iter().enumerate() {
        let own = if i < count { "workgroup" } else { "private" };
        let TypeData::MemRef { space, .. } = site.context().type_data(ty) else {
            let found = site.text(&[ty]);
            return Err(
                site.error("block-arguments", format_args!("expected a buffer, found {found}"))
            );
        };
        if space.and_then(|space| space_name(site, space)).is_some_and(|space| space != own) {
            let found = site.text(&[ty]);
            let message = format!("expected a buffer in memory space `{own}`, found {found}");
            return Err(site.error("block-arguments", message));
        }
    }
    Ok(())
}

/// `workgroup` of `#gpu.address_space<workgroup>`.
fn space_name(site: Site<'_>, space: Attr) -> Option<&str> {
    match site.context().attr_data(space) {
        AttrData::Opaque(text) => {
            let text = site.context().text(*text).trim_start_matches('#');
            text.strip_prefix("gpu.address_space<")?.strip_suffix('>')
        }
        _ => None,
    }
}

/// `gpu.return`: what the type of the function says.
pub(super) fn check_return(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    site.inside(&["gpu.func"])?;
    let Some(function) = module.parent(op) else { return Ok(()) };
    let (_, results) = signature(Site::new(module, function))?;
    site.same("operands of types", &results, &site.operands())
}

/// `gpu.terminator`: inside of a launch.
pub(super) fn check_terminator(module: &Module, op: Op) -> Checked {
    Site::new(module, op).inside(&["gpu.launch"])
}

/// `gpu.launch`: a region that takes counters, sizes and buffers.
pub(super) fn check_launch(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let clusters = check_clusters(site)?;
    let Some(body) = site.block(0) else { return Ok(()) };
    let found = site.types(module.args(body).iter().copied());
    let expected = if clusters { 18 } else { 12 };
    let (counters, buffers) = found.split_at(expected.min(found.len()));
    site.same("block arguments", &vec![site.index(); expected], counters)?;
    check_attributions(site, buffers)?;
    for block in module.blocks(module.region(op, 0)) {
        let Some(last) = module.last_op(block) else { continue };
        if module.successors(last).is_empty() && module.name_text(last) != "gpu.terminator" {
            let found = module.name_text(last);
            let message =
                format!("expected `gpu.terminator` at the end of the region, found {found}");
            return Err(site.error("terminator", message));
        }
    }
    Ok(())
}

/// Sizes of clusters are all there, or none.
fn check_clusters(site: Site<'_>) -> Result<bool, Diagnostic> {
    let sizes = site.segments()?;
    let clusters = sizes.get(7..10).unwrap_or(&[]);
    match clusters.iter().sum::<usize>() {
        0 => Ok(false),
        3 => Ok(true),
        n => Err(site.error("segments", format_args!("expected 3 sizes of clusters, found {n}"))),
    }
}

/// `gpu.launch_func`: in a module that holds kernels; all sizes have one type.
pub(super) fn check_launch_func(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let mut around = module.parent(op);
    while let Some(parent) = around.filter(|&parent| module.name_text(parent) != "builtin.module") {
        around = module.parent(parent);
    }
    if around.is_none_or(|around| module.attr(around, CONTAINER).is_none()) {
        let message =
            format!("expected attribute `{CONTAINER}` of the module around it, found none");
        return Err(site.error("parent", message));
    }
    check_clusters(site)?;
    let sizes = site.segments()?;
    let start = sizes.first().copied().unwrap_or(0);
    let count: usize = sizes.iter().skip(1).take(9).sum();
    let operands = site.operands();
    let found = operands.get(start..start + count).unwrap_or(&[]);
    let Some(&first) = found.first() else { return Ok(()) };
    site.same("one type of sizes", &vec![first; found.len()], found)
}

/// `gpu.alloc`: an extent for each that the type leaves open.
pub(super) fn check_alloc(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let sizes = site.segments()?;
    let Some(&ty) = site.results().first() else { return Ok(()) };
    let TypeData::MemRef { dims, .. } = site.context().type_data(ty) else {
        let found = site.text(&[ty]);
        return Err(site.error("result-type", format_args!("expected a buffer, found {found}")));
    };
    let open = dims.iter().filter(|dim| dim.is_unknown()).count();
    let given = sizes.get(1).copied().unwrap_or(0);
    if open == given {
        return Ok(());
    }
    Err(site.error("extents", format_args!("expected {open} extents, found {given}")))
}

/// The types of the operands but the tokens in front.
fn after_tokens(site: Site<'_>, count: usize) -> Vec<Type> {
    let operands = site.operands();
    operands[operands.len().saturating_sub(count)..].to_vec()
}

/// Extents and elements of a buffer; `None` of no buffer, no extents if they are not known.
fn buffer(site: Site<'_>, ty: Type) -> Option<(Option<Vec<Dim>>, Type)> {
    match site.context().type_data(ty) {
        TypeData::MemRef { dims, element, .. } => Some((Some(dims.to_vec()), *element)),
        TypeData::UnrankedMemRef { element, .. } => Some((None, *element)),
        _ => None,
    }
}

/// `gpu.memcpy`: two buffers of one shape and kind.
pub(super) fn check_memcpy(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let types = after_tokens(site, 2);
    let buffers: Vec<_> = types.iter().filter_map(|&ty| buffer(site, ty)).collect();
    let fits = match &buffers[..] {
        [(a, first), (b, second)] => {
            let extents = a.as_ref().zip(b.as_ref()).is_none_or(|(a, b)| {
                let mut pairs = a.iter().zip(b);
                a.len() == b.len() && pairs.all(|(a, b)| a == b || a.is_unknown() || b.is_unknown())
            });
            first == second && extents
        }
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let found = site.text(&types);
    Err(site.error("operand-types", format_args!("expected buffers that fit, found {found}")))
}

/// `gpu.memset`: a buffer and one of its elements.
pub(super) fn check_memset(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let types = after_tokens(site, 2);
    let [target, value] = types[..] else { return Ok(()) };
    match buffer(site, target) {
        Some((_, element)) if element == value => Ok(()),
        _ => {
            let found = site.text(&types);
            let message = format!("expected a buffer and an element of it, found {found}");
            Err(site.error("operand-types", message))
        }
    }
}

/// Checks that values of type `ty` can be combined by `kind`.
fn check_kind(site: Site<'_>, kind: &str, ty: Type) -> Checked {
    let element = match site.context().type_data(ty) {
        TypeData::Vector { element, .. } => *element,
        _ => ty,
    };
    let fits = match site.context().type_data(element) {
        TypeData::Integer { sign, .. } => {
            *sign == Signedness::Signless
                && !matches!(kind, "minnumf" | "maxnumf" | "minimumf" | "maximumf")
        }
        TypeData::Float(_) => {
            !matches!(kind, "minsi" | "minui" | "maxsi" | "maxui" | "and" | "or" | "xor")
        }
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let found = site.text(&[ty]);
    Err(site.error(
        "operand-type",
        format_args!("expected a type that `{kind}` combines, found {found}"),
    ))
}

/// `gpu.all_reduce`: a function by name, or one in a region.
pub(super) fn check_all_reduce(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let kind = word(module, op, "op");
    let Some(&ty) = site.results().first() else { return Ok(()) };
    match (kind, site.block(0)) {
        (Some(kind), None) => check_kind(site, kind, ty),
        (None, Some(body)) => {
            site.arguments(body, &[ty; 2])?;
            let ends =
                module.blocks(module.region(op, 0)).filter_map(|block| module.last_op(block));
            let ends: Vec<Op> = ends.filter(|&end| module.name_text(end) == "gpu.yield").collect();
            if ends.is_empty() {
                return Err(
                    site.error("terminator", "expected `gpu.yield` in the region, found none")
                );
            }
            let given = |end: &Op| site.types(module.operands(*end).collect::<Vec<Value>>());
            ends.iter().try_for_each(|end| site.same("the region to yield", &[ty], &given(end)))
        }
        _ => Err(site.error("region", "expected a function by name, or a region, and not both")),
    }
}

/// `gpu.subgroup_reduce`: groups of threads are powers of two.
pub(super) fn check_subgroup_reduce(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let number = |name| module.attr(op, name).and_then(|attr| module.context().as_i64(attr));
    let (size, stride) = (number("cluster_size"), number("cluster_stride").unwrap_or(1));
    if size.is_none() && stride != 1 {
        return Err(site.error("attribute", "expected `cluster_size` beside `cluster_stride`"));
    }
    for n in [size.unwrap_or(1), stride] {
        if !u32::try_from(n).is_ok_and(u32::is_power_of_two) {
            return Err(site.error("attribute", format_args!("expected a power of two, found {n}")));
        }
    }
    match (word(module, op, "op"), site.results().first()) {
        (Some(kind), Some(&ty)) => check_kind(site, kind, ty),
        _ => Err(site.error("attribute", "expected a function as attribute `op`")),
    }
}

/// `gpu.rotate`: an offset within the width.
pub(super) fn check_rotate(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let number = |name| module.attr(op, name).and_then(|attr| module.context().as_i64(attr));
    let (Some(offset), Some(width)) = (number("offset"), number("width")) else { return Ok(()) };
    if !u32::try_from(width).is_ok_and(u32::is_power_of_two) {
        return Err(site.error("attribute", format_args!("expected a power of two, found {width}")));
    }
    if (0..width).contains(&offset) {
        return Ok(());
    }
    Err(site.error("attribute", format_args!("expected an offset below {width}, found {offset}")))
}

/// `gpu.subgroup_broadcast`: the number of a thread is there if it is asked for.
pub(super) fn check_broadcast(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let wanted = word(module, op, "broadcast_type") == Some("specific_lane");
    if wanted == (module.operand_count(op) == 2) {
        return Ok(());
    }
    Err(site.error("operands", "expected the number of a thread exactly if one is named"))
}
