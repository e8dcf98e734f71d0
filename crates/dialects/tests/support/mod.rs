//! Reads the spec files: one application of an operation for each line.
//!
//! ```text
//! conv2d(f32[N,3,H,W], f32[64,3,3,3]) {strides=[2,2]} -> f32[N,64,floor((H - 3)/2) + 1,...]
//! reshape(f32[N,4], i64[2] = (2, -1)) -> f32[2,2*N]
//! concatenate(f32[2], f32[2,2]) {axis=0} -> error: ranks
//! sin | cos(f32[N]) -> f32[N]
//! ```
//! `none` is an absent operand, `?` an unknown extent, `*` an unknown rank. Elements in
//! parentheses after `=` are known: a constant where all are numbers.

#![allow(dead_code)] // Each test uses a part of this module.

use std::sync::Arc;

use tangram_affine::symbolic::Expr;
use tangram_dialects::infer::{Contents, contents_attr};
use tangram_dialects::nn::container::{map_type, map_types};
use tangram_dialects::{constant, dims, dtype};
use tangram_ir::{
    Attr, AttrData, Context, Dim, FloatKind, InferError, Inferred, Loc, Module, Op, OpState, Point,
    Type, TypeData, Value,
};
use tangram_tensor::{DType, Tensor};

/// A line of a spec file.
pub struct Case {
    /// File and line.
    pub place: String,
    /// The operation without its dialect.
    pub name: String,
    /// Operands as written.
    pub operands: Vec<String>,
    /// Attributes as written: name and value.
    pub attrs: Vec<(String, String)>,
    /// What is expected, as written.
    pub expected: String,
}

/// The cases of every spec file.
pub fn cases() -> Vec<Case> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/spec");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        all.extend(cases_in(&std::fs::read_to_string(&file).unwrap(), &name));
    }
    all
}

/// The cases of a table.
pub fn cases_in(text: &str, name: &str) -> Vec<Case> {
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.flat_map(|(i, line)| applications(line, &format!("{name}:{}", i + 1))).collect()
}

/// One case for each operation that the line names.
fn applications(line: &str, place: &str) -> Vec<Case> {
    let (names, rest) = line.split_once('(').unwrap_or_else(|| panic!("{place}: no ("));
    names.split('|').map(|name| case(&format!("{name}({rest}"), place.to_owned())).collect()
}

fn case(line: &str, place: String) -> Case {
    let (left, expected) = line.rsplit_once(" -> ").unwrap_or_else(|| panic!("{place}: no ->"));
    let (left, attrs) = match left.split_once(") {") {
        Some((left, attrs)) => (left, attrs.trim().trim_end_matches('}')),
        None => (left.trim().strip_suffix(')').unwrap_or_else(|| panic!("{place}: no )")), ""),
    };
    let (name, operands) = left.split_once('(').unwrap();
    let attr = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or_else(|| panic!("{place}: {text}"));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    Case {
        name: name.trim().to_owned(),
        operands: split(operands),
        attrs: split(attrs).iter().map(|text| attr(text)).collect(),
        expected: expected.trim().to_owned(),
        place,
    }
}

/// Cuts at commas that stand in no brackets and no quotes.
pub fn split(text: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut out, mut item) = (0, false, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '<' if !quoted => depth += 1,
            ')' | ']' | '>' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                out.push(std::mem::take(&mut item).trim().to_owned());
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    if !item.trim().is_empty() {
        out.push(item.trim().to_owned());
    }
    out
}

/// The element type written as in IR.
pub fn element(context: &Context, text: &str) -> Type {
    let by_name = |dtype: &&DType| element_text(context, dtype::type_of(context, **dtype)) == text;
    let dtype = DType::ALL.iter().find(by_name).unwrap_or_else(|| panic!("element type {text}"));
    dtype::type_of(context, *dtype)
}

/// How an element type is written.
pub fn element_text(context: &Context, ty: Type) -> String {
    match context.type_data(ty) {
        TypeData::Integer { width, sign: tangram_ir::Signedness::Unsigned } => format!("ui{width}"),
        TypeData::Integer { width, .. } => format!("i{width}"),
        TypeData::Float(kind) => kind.name().to_owned(),
        TypeData::Complex(part) => format!("complex<{}>", element_text(context, *part)),
        TypeData::Dialect { .. } => "string".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// The extents written between brackets; `None` for an unknown rank.
fn extents(context: &Context, text: &str) -> Option<Vec<Dim>> {
    if text == "*" {
        return None;
    }
    let extent = |text: &String| match text.as_str() {
        "?" => Dim::UNKNOWN,
        text => dims::dim(context, &text.parse::<Expr>().unwrap_or_else(|e| panic!("{text}: {e}"))),
    };
    Some(split(text).iter().map(extent).collect())
}

/// A type as written: `f32[N,3]`, `sequence<f32[?]>`, `map<i64,f32[*]>`, `none`.
pub fn parse_type(context: &Context, text: &str) -> Type {
    if text == "none" {
        return context.ty(TypeData::None);
    }
    if let Some(held) = text.strip_prefix("map<") {
        let (key, value) = held.strip_suffix('>').unwrap().split_once(',').unwrap();
        return map_type(context, element(context, key), parse_type(context, value));
    }
    for wrapper in ["sequence", "optional"] {
        if let Some(held) = text.strip_prefix(wrapper).and_then(|t| t.strip_prefix('<')) {
            let held = parse_type(context, held.strip_suffix('>').unwrap());
            let params = Box::new([context.type_attr(held)]);
            let name = context.str(&format!("nn.{wrapper}"));
            return context.ty(TypeData::Dialect { name, params });
        }
    }
    let (name, rest) = text.split_once('[').unwrap_or_else(|| panic!("no type: {text}"));
    let name = element(context, name);
    match extents(context, rest.strip_suffix(']').unwrap()) {
        Some(dims) => context.tensor_type(&dims, name),
        None => context.ty(TypeData::UnrankedTensor(name)),
    }
}

/// The text of a type, as spec files write it.
pub fn type_text(context: &Context, ty: Type) -> String {
    match context.type_data(ty) {
        TypeData::None => "none".to_owned(),
        TypeData::UnrankedTensor(element) => format!("{}[*]", element_text(context, *element)),
        TypeData::Tensor(t) => {
            let dims: Vec<String> = t.dims.iter().map(|&d| dims::text(context, d)).collect();
            format!("{}[{}]", element_text(context, t.element), dims.join(","))
        }
        TypeData::Dialect { .. } if map_types(context, ty).is_some() => {
            let (key, value) = map_types(context, ty).unwrap();
            format!("map<{},{}>", element_text(context, key), type_text(context, value))
        }
        TypeData::Dialect { name, params } => match context.attr_data(params[0]) {
            AttrData::Type(held) => {
                let name = context.text(*name).trim_start_matches("nn.");
                format!("{name}<{}>", type_text(context, *held))
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn parse_elements(text: &str) -> Contents {
    let inner = text.trim().strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap();
    let one = |text: &String| (text != "?").then(|| text.parse().unwrap());
    split(inner).iter().map(one).collect()
}

/// An attribute as written.
pub fn parse_attr(context: &Context, text: &str) -> Attr {
    if let Some(list) = text.strip_prefix('[') {
        let items = split(list.strip_suffix(']').unwrap());
        if let Ok(ints) = items.iter().map(|i| i.parse()).collect::<Result<Vec<i64>, _>>() {
            return context.i64s_attr(&ints);
        }
        let items: Vec<Attr> = items.iter().map(|i| parse_attr(context, i)).collect();
        return context.array_attr(&items);
    }
    if let Some(text) = text.strip_prefix('"') {
        return context.str_attr(text.strip_suffix('"').unwrap());
    }
    if let Some(splat) = text.strip_prefix("dense ") {
        let (ty, value) = splat.split_once(' ').unwrap();
        let ty = parse_type(context, ty);
        let bytes = value.parse::<i64>().unwrap().to_le_bytes().into();
        return context.attr(AttrData::Dense { ty, bytes, splat: false });
    }
    match (text, text.parse::<i64>(), text.parse::<f64>()) {
        ("true" | "false", ..) => context.bool_attr(text == "true"),
        (_, Ok(n), _) => context.i64_attr(n),
        (_, _, Ok(x)) => context.float_attr(x, FloatKind::F32),
        _ if text.contains('[') => context.type_attr(parse_type(context, text)),
        _ => context.type_attr(element(context, text)),
    }
}

/// An operand as written, as a value of `module`.
fn operand(module: &mut Module, text: &str) -> Value {
    let context: Arc<Context> = module.context_arc().clone();
    let (ty, elements) = match text.split_once(" = ") {
        Some((ty, elements)) => (ty, Some(parse_elements(elements))),
        None => (text, None),
    };
    let ty = parse_type(&context, ty);
    if text == "none" {
        let mut state = OpState::new(context.name("nn.none"), Loc::UNKNOWN);
        state.results.push(ty);
        let op = module.create_at(Point::End(module.body()), state);
        return module.result(op, 0);
    }
    let numbers = elements
        .as_ref()
        .and_then(|list| list.iter().map(|e| e.as_ref()?.as_int()).collect::<Option<Vec<i64>>>());
    if let Some(numbers) = numbers {
        let (dtype, shape) = constant::static_tensor(&context, ty).unwrap();
        let tensor = integers(dtype, &shape, &numbers);
        let at = Point::End(module.body());
        let op = constant::build(module, at, &tensor, "c", Loc::UNKNOWN);
        return module.result(op, 0);
    }
    let value = module.add_arg(module.body(), ty);
    if let Some(elements) = elements {
        module.set_contents(value, contents_attr(&context, &elements));
    }
    value
}

/// A tensor of small integers in any element type that holds them.
pub fn integers(dtype: DType, shape: &[usize], values: &[i64]) -> Tensor {
    match dtype {
        DType::I64 => Tensor::from_vec(shape, values.to_vec()),
        DType::I32 => Tensor::from_vec(shape, values.iter().map(|&v| v as i32).collect::<Vec<_>>()),
        DType::F32 => Tensor::from_vec(shape, values.iter().map(|&v| v as f32).collect::<Vec<_>>()),
        DType::Bool => Tensor::from_vec(shape, values.iter().map(|&v| v != 0).collect::<Vec<_>>()),
        other => panic!("no constants of type {other}"),
    }
    .unwrap()
}

/// The module, values and attributes of a case, with `write` applied to each operand's text.
pub fn prepare(case: &Case, write: impl Fn(&str) -> String) -> (Module, Vec<Value>, Attr) {
    let context = tangram_dialects::context();
    let mut module = Module::new(context.clone());
    let values = case.operands.iter().map(|o| operand(&mut module, &write(o))).collect();
    let attrs = case.attrs.iter().map(|(k, v)| (context.str(k), parse_attr(&context, v)));
    let attrs = context.dict(attrs.collect::<Vec<_>>());
    (module, values, attrs)
}

/// How many results a case expects.
pub fn result_count(case: &Case) -> Option<usize> {
    (!case.expected.starts_with("error")).then(|| split(&case.expected).len())
}

/// Infers a case.
pub fn infer(case: &Case) -> (Module, Result<Inferred, InferError>) {
    let (module, values, attrs) = prepare(case, str::to_owned);
    let name = module.context().name(&format!("nn.{}", case.name));
    let inferred = module.infer(name, &values, attrs, result_count(case));
    (module, inferred)
}

/// Makes the operation of a case.
pub fn build(case: &Case, write: impl Fn(&str) -> String) -> (Module, Result<Op, InferError>) {
    let (mut module, values, attrs) = prepare(case, write);
    let name = module.context().name(&format!("nn.{}", case.name));
    let at = Point::End(module.body());
    let op = module.build(at, name, &values, attrs, result_count(case), Loc::UNKNOWN);
    (module, op)
}
