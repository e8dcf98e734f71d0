//! `index` becomes `i64` in operations of func, arith and cf: a conversion of types.
//!
//! Casts between `index` and an integer become extensions or truncations, or nothing where both
//! are 64 bits wide.

use std::sync::Arc;

use tangram_ir::{AttrData, Context, Module, Op, OpState, Point, Type, TypeData, Value};
use tangram_rewrite::conversion::{
    Adaptor, Conversion, ConversionPattern, ConversionTarget, TypeConversion, TypeConverter,
};
use tangram_rewrite::{NoMatch, PatternSet, Rewriter, Roots};

const DIALECTS: [&str; 3] = ["func.", "arith.", "cf."];

/// `index` becomes `i64`, other types stay.
pub fn types() -> TypeConverter {
    let mut types = TypeConverter::new();
    types.add(|_, ty| TypeConversion::one(ty));
    types.add(|context, ty| match context.type_data(ty) {
        TypeData::Index => TypeConversion::one(context.int_type(64)),
        _ => TypeConversion::Skip,
    });
    types
}

/// The patterns, for the registered operations of the three dialects.
pub fn patterns(context: &Context, types: &Arc<TypeConverter>) -> PatternSet {
    let cast = |name: &str| name.starts_with("arith.index_cast");
    let names: Vec<&str> = context.defs().iter().map(|def| def.name).collect();
    let of = |wanted: &dyn Fn(&str) -> bool| {
        Roots::Names(names.iter().filter(|n| wanted(n)).map(|n| context.name(n)).collect())
    };
    let plain = of(&|name| !cast(name) && DIALECTS.iter().any(|d| name.starts_with(d)));
    let mut set = PatternSet::new();
    set.add(ConversionPattern::new("index-to-i64", plain, types, retype));
    set.add(ConversionPattern::new("index-cast-to-width", of(&cast), types, resize));
    set
}

/// The conversion of everything below an operation. It fails where a value of type `index` is
/// used by an operation of another dialect.
pub fn conversion(context: &Context) -> Conversion {
    let types = Arc::new(types());
    let mut target = ConversionTarget::new();
    let legal = types.clone();
    target.unknown(move |module, op| {
        let ours = DIALECTS.iter().any(|dialect| module.name_text(op).starts_with(dialect));
        let attrs = module.attrs(op);
        let same = || converted_attrs(&legal, module.context(), op, module) == Some(attrs);
        Some(!ours || legal.is_legal_op(module, op) && same())
    });
    let set = patterns(context, &types).freeze();
    Conversion::new(context, target, set).with_types(types)
}

/// The attributes of `op` with new types: also the type of a number.
fn converted_attrs(
    types: &TypeConverter,
    context: &Context,
    op: Op,
    module: &Module,
) -> Option<tangram_ir::Attr> {
    let attrs = types.convert_attr(context, module.attrs(op))?;
    if module.name_text(op) != "arith.constant" {
        return Some(attrs);
    }
    let entries =
        context.entries(attrs).iter().map(|&(name, attr)| match context.attr_data(attr) {
            AttrData::Integer { value, ty } if *context.type_data(*ty) == TypeData::Index => {
                let data = AttrData::Integer { value: *value, ty: context.int_type(64) };
                (name, context.attr(data))
            }
            _ => (name, attr),
        });
    Some(context.dict(entries.collect::<Vec<_>>()))
}

/// The same operation on the new types.
fn retype(
    rewriter: &mut Rewriter<'_>,
    types: &TypeConverter,
    op: Op,
    operands: &Adaptor,
) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let context = module.context_arc().clone();
    let results = module.results(op).map(|value| module.value_type(value));
    let (results, attrs) =
        (types.convert_all(&context, results), converted_attrs(types, &context, op, module));
    let (Some(results), Some(attrs)) = (results, attrs) else {
        return Err(rewriter.no_match(|| "a type has nothing in its place".to_owned()));
    };
    let mut state = OpState::new(module.name(op), module.loc(op));
    state.operands.extend(operands.all());
    state.results.extend(results);
    state.attrs = attrs;
    state.regions = module.regions(op).len() as u32;
    state.successors.extend_from_slice(module.successors(op));
    let targets = module.successors(op).to_vec();
    let new = rewriter.create(Point::Before(op), state);
    for i in 0..rewriter.module().regions(op).len() {
        let (from, to) = (rewriter.module().region(op, i), rewriter.module().region(new, i));
        rewriter.inline_region(from, to, None);
    }
    let converted = types.convert_regions(rewriter, new).is_some()
        && targets.iter().all(|&block| types.convert_arguments(rewriter, block).is_some());
    if !converted {
        return Err(rewriter.no_match(|| "an argument has no legal type".to_owned()));
    }
    let values: Vec<Vec<Value>> = rewriter.module().results(new).map(|value| vec![value]).collect();
    types.replace(rewriter, op, &values).map_err(|error| NoMatch::because(error.message))
}

/// `index_cast`, with `i64` for `index`.
fn resize(
    rewriter: &mut Rewriter<'_>,
    types: &TypeConverter,
    op: Op,
    operands: &Adaptor,
) -> Result<(), NoMatch> {
    let value = operands.one(0)?;
    let module = rewriter.module();
    let context = module.context_arc().clone();
    let unsigned = module.name_text(op) == "arith.index_castui";
    let to = types.convert(&context, module.value_type(module.result(op, 0)));
    let Some(&[to]) = to.as_deref() else {
        return Err(rewriter.no_match(|| "the result has no legal type".to_owned()));
    };
    let width = |ty: Type| match context.type_data(ty) {
        TypeData::Integer { width, .. } => Some(*width),
        _ => None,
    };
    let (Some(a), Some(b)) = (width(module.value_type(value)), width(to)) else {
        return Err(rewriter.no_match(|| "a cast of vectors or tensors".to_owned()));
    };
    let name = match a.cmp(&b) {
        std::cmp::Ordering::Equal => {
            return types
                .replace(rewriter, op, &[vec![value]])
                .map_err(|error| NoMatch::because(error.message));
        }
        std::cmp::Ordering::Less if unsigned => "arith.extui",
        std::cmp::Ordering::Less => "arith.extsi",
        std::cmp::Ordering::Greater => "arith.trunci",
    };
    let mut state = OpState::new(context.name(name), module.loc(op));
    state.operands.push(value);
    state.results.push(to);
    let new = rewriter.create(Point::Before(op), state);
    let value = rewriter.module().result(new, 0);
    types.replace(rewriter, op, &[vec![value]]).map_err(|error| NoMatch::because(error.message))
}
