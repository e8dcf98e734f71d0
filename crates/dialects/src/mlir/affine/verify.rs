//! Checks of affine operations: maps fit their operands, operands are dimensions or symbols, and
//! loops and conditions give their regions what these take.
//!
//! A symbol does not change while the function around it runs: an argument, something computed in
//! the outermost region, or something pure of such. A dimension may also be the counter of an
//! affine loop, or a map of dimensions.

use rustc_hash::FxHashSet;
use tangram_affine::AffineMap;
use tangram_ir::{Module, Op, Region, Signedness, Traits, Type, TypeData, Value};

use super::super::fold::number::integers;
use super::super::verify::{Checked, Site};

const YIELD: &str = "affine.yield";
/// How many values are looked at to find out what a symbol is made of; beyond, it is believed.
const MAX_LOOKED_AT: usize = 256;

/// The map `name` of the operation, or the left sides of the set.
fn map<'a>(site: Site<'a>, name: &str) -> Result<Option<&'a AffineMap>, tangram_ir::Diagnostic> {
    let attr = site.module.attr(site.op, name);
    let attr = attr.ok_or_else(|| {
        site.error("attribute", format_args!("expected attribute `{name}`, found none"))
    })?;
    let context = site.module.context();
    let set = context.as_integer_set(attr).map(|set| set.constraints());
    Ok(context.as_affine_map(attr).or(set))
}

/// Checks that map `name` takes as many operands as `values`; gives the map.
fn counted<'a>(
    site: Site<'a>,
    name: &str,
    values: &[Value],
) -> Result<Option<&'a AffineMap>, tangram_ir::Diagnostic> {
    let Some(map) = map(site, name)? else { return Ok(None) };
    let wanted = map.inputs();
    if wanted != values.len() {
        let message = format!("expected {wanted} operands for `{name}`, found {}", values.len());
        return Err(site.error("map-operands", message));
    }
    Ok(Some(map))
}

/// Checks that `values` are dimensions and symbols that map `name` takes; gives the number of its
/// results.
fn mapped(
    site: Site<'_>,
    name: &str,
    values: &[Value],
) -> Result<Option<usize>, tangram_ir::Diagnostic> {
    let Some(map) = counted(site, name, values)? else { return Ok(None) };
    for (i, &value) in values.iter().enumerate() {
        let symbol = i >= map.dims();
        let fits = if symbol {
            is_symbol(site.module, value, site.op)
        } else {
            is_dimension(site.module, value, site.op)
        };
        if !fits {
            let kind = if symbol { "symbol" } else { "dimension" };
            let message = format!("operand {i} of `{name}` cannot be used as a {kind}");
            return Err(site.error("map-operands", message));
        }
    }
    Ok(Some(map.results().len()))
}

fn operands(module: &Module, op: Op) -> Vec<Value> {
    module.operands(op).collect()
}

/// `affine.apply`: a map with one result, of any values. Only if these are dimensions, the result
/// is one.
pub(super) fn check_apply(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let map = counted(site, "map", &operands(module, op))?;
    match map.map(|map| map.results().len()) {
        Some(count) if count != 1 => {
            Err(site.error("map", format_args!("expected a map with one result, found {count}")))
        }
        _ => Ok(()),
    }
}

/// `affine.min` and `affine.max`: a map with results, of any values.
pub(super) fn check_extreme(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let map = counted(site, "map", &operands(module, op))?;
    match map.map(|map| map.results().len()) {
        Some(0) => Err(site.error("map", "expected a map with results, found none")),
        _ => Ok(()),
    }
}

/// Accesses of which operand `buffer` is the buffer and the rest indices.
fn access(module: &Module, op: Op, buffer: usize) -> Checked {
    let site = Site::new(module, op);
    let values = operands(module, op);
    let Some((&memref, indices)) = values.get(buffer..).and_then(<[Value]>::split_first) else {
        return Ok(());
    };
    let rank = match site.context().type_data(module.value_type(memref)) {
        TypeData::MemRef { dims, .. } => dims.len(),
        _ => {
            let found = site.text(&[module.value_type(memref)]);
            return Err(
                site.error("operand-type", format_args!("expected a buffer, found {found}"))
            );
        }
    };
    match mapped(site, "map", indices)? {
        Some(count) if count != rank => {
            let message = format!("expected a map with {rank} results, found {count}");
            Err(site.error("map", message))
        }
        _ => Ok(()),
    }
}

/// `affine.load` and the like.
pub(super) fn check_load(module: &Module, op: Op) -> Checked {
    access(module, op, 0)
}

/// `affine.store`: the value has the type of the elements.
pub(super) fn check_store(module: &Module, op: Op) -> Checked {
    access(module, op, 1)?;
    let site = Site::new(module, op);
    let types = site.operands();
    match site.context().type_data(types[1]) {
        TypeData::MemRef { element, .. } => site.same("a value of type", &[*element], &types[..1]),
        _ => Ok(()),
    }
}

/// `affine.vector_store`.
pub(super) fn check_vector_store(module: &Module, op: Op) -> Checked {
    access(module, op, 1)
}

/// `affine.for`: bounds have results, what is carried keeps its types.
pub(super) fn check_for(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let values = operands(module, op);
    let sizes = site.segments()?;
    let &[low, high, _] = &sizes[..] else { return Ok(()) };
    let (lower, rest) = values.split_at(low.min(values.len()));
    let (upper, inits) = rest.split_at(high.min(rest.len()));
    for (name, values) in [("lowerBoundMap", lower), ("upperBoundMap", upper)] {
        if mapped(site, name, values)? == Some(0) {
            return Err(site.error("map", format_args!("expected results of `{name}`, found none")));
        }
    }
    let inits = site.types(inits.iter().copied());
    site.same("results of types", &inits, &site.results())?;
    let body = site.body(0)?;
    let arguments: Vec<Type> = std::iter::once(site.index()).chain(inits.clone()).collect();
    site.arguments(body, &arguments)?;
    site.same("the region to yield", &inits, &site.end(body, YIELD)?)
}

/// `affine.if`: both regions give the results; with results, both are there.
pub(super) fn check_if(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    mapped(site, "condition", &operands(module, op))?;
    let attr = module.attr(op, "condition");
    if attr.is_some_and(|attr| module.context().as_affine_map(attr).is_some()) {
        return Err(site.error("attribute", "expected a set as `condition`, found a map"));
    }
    site.branches(YIELD)
}

/// `affine.parallel`: a counter for each step.
pub(super) fn check_parallel(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let steps = module.attr(op, "steps").and_then(|attr| site.context().as_i64s(attr));
    let body = site.body(0)?;
    if let Some(steps) = steps {
        site.arguments(body, &vec![site.index(); steps.len()])?;
        bounds(site, "lowerBoundsMap", "lowerBoundsGroups", steps.len())?;
        bounds(site, "upperBoundsMap", "upperBoundsGroups", steps.len())?;
    }
    let kinds = module.attr(op, "reductions").and_then(|attr| site.context().as_i64s(attr));
    for (kind, ty) in kinds.unwrap_or_default().into_iter().zip(site.results()) {
        if !reduces(site.context().type_data(ty), kind) {
            let message =
                format!("expected a type for reduction {kind}, found {}", site.text(&[ty]));
            return Err(site.error("reduction-type", message));
        }
    }
    site.same("the region to yield", &site.results(), &site.end(body, YIELD)?)
}

/// Checks that `groups` says for each of `counters` how many results of `map` bound it.
fn bounds(site: Site<'_>, map: &str, groups: &str, counters: usize) -> Checked {
    let of_map = self::map(site, map)?.map_or(0, |map| map.results().len());
    let sizes = site.module.attr(site.op, groups);
    let sizes = sizes.and_then(|attr| integers(site.context(), attr, counters));
    let sizes = sizes.unwrap_or_default();
    if sizes.contains(&0) {
        return Err(site.error("map", format_args!("expected a bound in `{map}`, found none")));
    }
    let all = sizes.iter().try_fold(0i128, |all, &size| all.checked_add(size));
    if sizes.len() == counters && all == Some(of_map as i128) {
        return Ok(());
    }
    let message = format!(
        "expected `{groups}` to divide {of_map} results among {counters} counters, found {sizes:?}"
    );
    Err(site.error("map", message))
}

/// Returns whether values of a type are combined by the reduction of MLIR's number `kind`.
fn reduces(ty: &TypeData, kind: i64) -> bool {
    let sign = match ty {
        TypeData::Integer { sign, .. } => Some(*sign),
        _ => None,
    };
    match kind {
        // addf, maximumf, minimumf, mulf
        0 | 4 | 8 | 12 => matches!(ty, TypeData::Float(_)),
        // addi, andi, muli, ori
        1 | 2 | 13 | 14 => sign.is_some(),
        // assign
        3 => true,
        // maxs, mins
        6 | 10 => sign == Some(Signedness::Signed),
        // maxu, minu
        7 | 11 => sign == Some(Signedness::Unsigned),
        _ => false,
    }
}

/// `affine.yield` ends a region of a loop or a condition.
pub(super) fn check_yield(module: &Module, op: Op) -> Checked {
    Site::new(module, op).inside(&["affine.for", "affine.if", "affine.parallel"])
}

/// The region in which symbols are computed: that of the function around `op`.
fn scope(module: &Module, op: Op) -> Option<Region> {
    let mut at = op;
    loop {
        let region = module.block_region(module.block(at)?)?;
        let parent = module.region_parent(region);
        if module.has_traits(parent, Traits::ISOLATED) {
            return Some(region);
        }
        at = parent;
    }
}

fn home(module: &Module, value: Value) -> Option<Region> {
    module.block_region(module.def_block(value)?)
}

fn is_index(module: &Module, value: Value) -> bool {
    matches!(module.context().type_data(module.value_type(value)), TypeData::Index)
}

pub(super) fn is_dimension(module: &Module, value: Value, user: Op) -> bool {
    let mut open = vec![value];
    let mut seen = FxHashSet::default();
    while let Some(value) = open.pop() {
        if !seen.insert(value) || is_counter(module, value) || is_symbol(module, value, user) {
            continue;
        }
        // What a map makes of dimensions is a dimension.
        match module.def_op(value) {
            Some(def) if module.name_text(def) == "affine.apply" => {
                open.extend(module.operands(def));
            }
            _ => return false,
        }
        if seen.len() > MAX_LOOKED_AT {
            return true;
        }
    }
    true
}

/// Whether a value counts the iterations of an affine loop.
fn is_counter(module: &Module, value: Value) -> bool {
    let around = home(module, value).map(|region| module.region_parent(region));
    let looped = |op| matches!(module.name_text(op), "affine.for" | "affine.parallel");
    module.def_op(value).is_none() && around.is_some_and(looped) && is_index(module, value)
}

pub(super) fn is_symbol(module: &Module, value: Value, user: Op) -> bool {
    let Some(scope) = scope(module, user) else { return true };
    let mut open = vec![value];
    let mut seen = FxHashSet::default();
    while let Some(value) = open.pop() {
        if !is_index(module, value) {
            return false;
        }
        if home(module, value) == Some(scope) || !seen.insert(value) {
            continue;
        }
        if seen.len() > MAX_LOOKED_AT {
            return true;
        }
        let Some(def) = module.def_op(value) else { return false };
        match size(module, def, scope) {
            Size::Known => continue,
            Size::OfValue(value) => {
                open.push(value);
                continue;
            }
            Size::Other => {}
        }
        if !module.has_traits(def, Traits::PURE) {
            return false;
        }
        open.extend(module.operands(def));
    }
    true
}

/// What an operation says about the extent of a buffer or tensor.
enum Size {
    /// It is an extent that the whole scope knows.
    Known,
    /// It is an extent of a view or new buffer that this operand gave.
    OfValue(Value),
    /// It is something else.
    Other,
}

fn size(module: &Module, op: Op, scope: Region) -> Size {
    if !matches!(module.name_text(op), "memref.dim" | "tensor.dim") {
        return Size::Other;
    }
    let mut operands = module.operands(op);
    let (Some(source), Some(index)) = (operands.next(), operands.next()) else {
        return Size::Other;
    };
    if home(module, source) == Some(scope) {
        return Size::Known;
    }
    size_operand(module, source, index).unwrap_or(Size::Other)
}

/// The extent number `index` of a buffer made in the scope, which its sizes say.
fn size_operand(module: &Module, source: Value, index: Value) -> Option<Size> {
    let def = module.def_op(source)?;
    let number = module.attr(module.def_op(index)?, "value")?;
    let number = usize::try_from(module.context().as_i64(number)?).ok()?;
    let TypeData::MemRef { dims, .. } = module.context().type_data(module.value_type(source))
    else {
        return None;
    };
    if !dims.get(number)?.is_unknown() {
        return Some(Size::Known);
    }
    let dynamic = dims[..number].iter().filter(|dim| dim.is_unknown()).count();
    let first = match module.name_text(def) {
        "memref.alloc" | "memref.alloca" => 0,
        // A buffer, and where the view starts.
        "memref.view" => 2,
        "memref.subview" => {
            let segments = module.attr(def, "operandSegmentSizes");
            let sizes = segments.and_then(|attr| module.int_list(attr))?;
            usize::try_from(sizes.first()? + sizes.get(1)?).ok()?
        }
        _ => return None,
    };
    // A size that the type does not tell may still be a number in the attribute.
    module.operands(def).nth(first + dynamic).map(Size::OfValue)
}
