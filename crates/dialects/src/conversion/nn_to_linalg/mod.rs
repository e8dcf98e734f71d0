//! `nn` becomes `linalg` on tensors, with `arith`, `math`, `tensor`, `scf` and `affine.apply`.
//!
//! Each operation that has a structured definition becomes the `linalg.generic` operations of its
//! loop nests; nothing of `nn` is left of it, so that any tool of MLIR can go on from there.
//!
//! ```text
//! %y = nn.matmul %a, %b : tensor<[N]x8xf32>
//! ──▶ %n = tensor.dim %a, %c0
//!     %0 = tensor.empty(%n) : tensor<?x8xf32>
//!     %1 = linalg.fill ins(%zero) outs(%0)
//!     %y = linalg.generic {(i, j, k)} ins(%a: (i, k), %b: (k, j)) outs(%1: (i, j))
//! ```
//!
//! Extents that are expressions become unknown ones, and values of type `index` compute them from
//! `tensor.dim` of whatever has them as an extent. Integers lose their sign, as `arith` wants it:
//! it is in the operations then. An operation without such a definition stays as it is, with
//! `builtin.unrealized_conversion_cast` around it, and is listed in [`Linalg::kept`].
//!
//! Exactness: every element is computed from the same numbers by the same functions; sums run in
//! the order in which whoever lowers `linalg` runs the loops. Of two zeros of different sign the
//! greater one is `0`, the smaller one `-0`, as `arith.maximumf` has it.

mod access;
mod builder;
mod nest;
mod scalar;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_ir::{Attr, AttrData, Module, Op, Str, Type, TypeData, Value};

use self::builder::{Builder, plain_type};
use self::nest::{Frame, Tensor};
use crate::structured::{Structured, TensorId, structured};
use crate::{constant, dims, dtype};

/// What a function was converted to.
#[derive(Clone)]
pub struct Linalg {
    /// A module with one function, `@main`.
    pub module: Module,
    /// The names of the operations that stay operations of `nn`, in order, one for each.
    pub kept: Vec<String>,
}

/// Why a function was not converted.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinalgError {
    /// It has no body.
    #[error("the function has no body")]
    NoBody,
    /// The function gives back a value that is absent.
    #[error("`{0}` has an absent value")]
    Absent(String),
    /// An operation with regions has no definition as loops.
    #[error("`{0}` has bodies of its own")]
    Region(String),
}

/// Converts the function `function`.
///
/// `assumed`: pairs of extents that its types take to be equal, which the code asserts. The cost is
/// linear in the number of operations and of nests.
///
/// # Errors
/// [`LinalgError`].
pub fn nn_to_linalg(
    source: &Module,
    function: Op,
    assumed: &[[Expr; 2]],
) -> Result<Linalg, LinalgError> {
    let context = source.context();
    let body = source.regions(function).first().and_then(|&region| source.first_block(region));
    let body = body.ok_or(LinalgError::NoBody)?;
    let end = source.last_op(body).ok_or(LinalgError::NoBody)?;
    let plain = |value: Value| plain_type(context, source.value_type(value));
    let inputs: Vec<Type> = source.args(body).iter().map(|&value| plain(value)).collect();
    let results: Vec<Type> = source.operands(end).map(plain).collect();

    let module = Module::new(Arc::clone(source.context_arc()));
    let top = module.body();
    let mut builder = Builder::new(module, top);
    let signature =
        context.ty(TypeData::Function { inputs: inputs.clone().into(), results: results.into() });
    let attrs = builder.dict([
        ("sym_name", context.str_attr("main")),
        ("function_type", context.type_attr(signature)),
    ]);
    let made = builder.op_with_regions("func.func", &[], &[], attrs, 1);
    let (values, kept, assumed) = (FxHashMap::default(), Vec::new(), assumed.to_vec());
    let mut converter = Converter { source, values, kept, assumed };
    builder.region((made, 0), &inputs, |builder, arguments| {
        for (&old, &new) in source.args(body).iter().zip(arguments) {
            builder.module.set_value_name(new, source.value_name(old));
            converter.define(builder, old, new);
        }
        source.ops(body).try_for_each(|op| converter.convert(builder, op, op == end))
    })?;
    Ok(Linalg { module: builder.module, kept: converter.kept })
}

/// The values of a function, as they are converted.
struct Converter<'a> {
    source: &'a Module,
    values: FxHashMap<Value, Value>,
    kept: Vec<String>,
    /// Extents that are to be equal, and of which one has no value yet.
    assumed: Vec<[Expr; 2]>,
}

impl Converter<'_> {
    /// Says what a value becomes, and what it says of symbols.
    fn define(&mut self, builder: &mut Builder, old: Value, new: Value) {
        let tensor = self.source.context().as_tensor(self.source.value_type(old));
        if tensor.is_some_and(|(extents, _)| builder.name_extents(new, extents)) {
            self.assert_equal(builder);
        }
        self.values.insert(old, new);
    }

    /// Asserts that extents are equal, as soon as both have values.
    fn assert_equal(&mut self, builder: &mut Builder) {
        self.assumed.retain(|[a, b]| {
            let (Some(x), Some(y)) = (builder.size(a), builder.size(b)) else { return true };
            let (x, y) = (builder.size_value(x), builder.size_value(y));
            let equal = builder.is_equal(x, y);
            let text = builder.context.str_attr(&format!("{a} is not {b}"));
            let attrs = builder.dict([("msg", text)]);
            builder.op("cf.assert", &[equal], &[], attrs);
            false
        });
    }

    fn convert(&mut self, builder: &mut Builder, op: Op, end: bool) -> Result<(), LinalgError> {
        let source = self.source;
        if end && source.result_count(op) == 0 {
            let operands = self.operands(op)?;
            builder.op("func.return", &operands, &[], Attr::EMPTY_DICT);
            return Ok(());
        }
        match source.name_text(op) {
            "nn.none" => return Ok(()),
            "nn.constant" => {
                if let Some(value) = self.constant(builder, op) {
                    self.define(builder, source.result(op, 0), value);
                    return Ok(());
                }
            }
            _ => {
                if let Some(values) = builder.attempt(|builder| self.structured(builder, op)) {
                    for (old, new) in source.results(op).zip(values) {
                        self.define(builder, old, new);
                    }
                    return Ok(());
                }
            }
        }
        self.keep(builder, op)
    }

    fn operands(&self, op: Op) -> Result<Vec<Value>, LinalgError> {
        let known = |value| {
            let known = self.values.get(&value).copied();
            known.ok_or_else(|| LinalgError::Absent(self.source.name_text(op).to_owned()))
        };
        self.source.operands(op).map(known).collect()
    }

    /// A constant, whose bytes are shared.
    fn constant(&self, builder: &mut Builder, op: Op) -> Option<Value> {
        let tensor = constant::constant_tensor(self.source, self.source.result(op, 0))?;
        let sizes: Vec<_> =
            tensor.shape().iter().map(|&n| builder::Size::Static(n as i64)).collect();
        let ty = builder.tensor_type(tensor.dtype(), &sizes);
        let attr = constant::tensor_attr(&mut builder.module, &tensor, "weight");
        let attr = match builder.context.attr_data(attr) {
            AttrData::Dense { bytes, splat, .. } => {
                AttrData::Dense { ty, bytes: bytes.clone(), splat: *splat }
            }
            AttrData::Resource { key, .. } => AttrData::Resource { ty, key: *key },
            _ => return None,
        };
        let attrs = builder.context.dict([(Str::VALUE, builder.context.attr(attr))]);
        Some(builder.value_with("arith.constant", &[], ty, attrs))
    }

    /// The results of an operation that has a structured definition.
    fn structured(&self, builder: &mut Builder, op: Op) -> Option<Vec<Value>> {
        match structured(self.source, op)? {
            Structured::Reshape { operand } => {
                let value = self.source.operands(op).nth(operand)?;
                let result = self.tensor(builder, self.source.result(op, 0), None)?;
                Some(vec![reshape(builder, *self.values.get(&value)?, &result)])
            }
            Structured::Loops { temporaries, stages, recurrent } => {
                let mut frame = self.frame(builder, op, &temporaries)?;
                let mut next = 0;
                while let Some(stage) = stages.get(next) {
                    let shared = recurrent.iter().find(|range| range.start == next);
                    match shared.filter(|range| !range.is_empty()) {
                        Some(range) => {
                            steps(builder, &mut frame, stages.get(range.clone())?)?;
                            next = range.end;
                        }
                        None => {
                            nest::write(builder, &mut frame, stage, None)?;
                            next += 1;
                        }
                    }
                }
                Some(frame.results.iter().map(|tensor| tensor.value).collect())
            }
        }
    }

    /// The tensors of an operation: what it writes begins as empty.
    fn frame(
        &self,
        builder: &mut Builder,
        op: Op,
        temporaries: &[crate::structured::Temporary],
    ) -> Option<Frame> {
        let mut frame = Frame::default();
        for operand in self.source.operands(op) {
            let value = self.values.get(&operand).copied();
            frame.operands.push(match value {
                Some(value) => self.tensor(builder, operand, Some(value)),
                None => None,
            });
        }
        for result in self.source.results(op) {
            let tensor = self.tensor(builder, result, None)?;
            let value = builder.empty(tensor.element, &tensor.sizes);
            frame.results.push(Tensor { value, ..tensor });
        }
        for temporary in temporaries {
            let sizes = builder.extents(&temporary.extents)?;
            let value = builder.empty(temporary.element, &sizes);
            frame.temporaries.push(Tensor { value, element: temporary.element, sizes });
        }
        Some(frame)
    }

    /// A tensor with its extents; its value is that of `value`, or of nothing yet.
    fn tensor(&self, builder: &mut Builder, old: Value, value: Option<Value>) -> Option<Tensor> {
        let context = self.source.context();
        let (extents, element) = context.as_tensor(self.source.value_type(old))?;
        let element = dtype::dtype_of(context, element)?;
        let extents =
            extents.iter().map(|&e| dims::expr(context, e)).collect::<Option<Vec<_>>>()?;
        let sizes = builder.extents(&extents)?;
        Some(Tensor { value: value.unwrap_or(old), element, sizes })
    }

    /// The operation as it is, between casts to and from its own types.
    fn keep(&mut self, builder: &mut Builder, op: Op) -> Result<(), LinalgError> {
        let source = self.source;
        let name = source.name_text(op).to_owned();
        if !source.regions(op).is_empty() {
            return Err(LinalgError::Region(name));
        }
        let none = builder.context.ty(TypeData::None);
        let mut operands = Vec::new();
        for operand in source.operands(op) {
            let ty = own_type(builder, source.value_type(operand));
            operands.push(match self.values.get(&operand) {
                Some(&value) => cast(builder, value, ty),
                None => builder.value("nn.none", &[], none),
            });
        }
        let types: Vec<Type> =
            source.results(op).map(|v| own_type(builder, source.value_type(v))).collect();
        let made = builder.op(&name, &operands, &types, source.attrs(op));
        for (i, old) in source.results(op).enumerate() {
            let ty = plain_type(&builder.context, types[i]);
            let result = builder.module.result(made, i);
            let new = cast(builder, result, ty);
            self.define(builder, old, new);
        }
        self.kept.push(name);
        Ok(())
    }
}

/// The type of a value of an operation that stays: extents that are expressions become unknown,
/// elements keep their sign.
fn own_type(builder: &Builder, ty: Type) -> Type {
    let context = &builder.context;
    let Some((extents, element)) = context.as_tensor(ty) else { return ty };
    let extent = |extent: &tangram_ir::Dim| {
        extent.as_static().map_or(tangram_ir::Dim::UNKNOWN, tangram_ir::Dim::fixed)
    };
    let extents: Vec<_> = extents.iter().map(extent).collect();
    context.tensor_type(&extents, element)
}

fn cast(builder: &mut Builder, value: Value, ty: Type) -> Value {
    if builder.module.value_type(value) == ty {
        return value;
    }
    builder.value("builtin.unrealized_conversion_cast", &[value], ty)
}

/// The elements of `value` in other extents.
fn reshape(builder: &mut Builder, value: Value, result: &Tensor) -> Value {
    let ty = builder.tensor_type(result.element, &result.sizes);
    if builder.module.value_type(value) == ty && builder::dynamic(&result.sizes).is_empty() {
        return value;
    }
    let sizes: Vec<Value> =
        result.sizes.clone().into_iter().map(|size| builder.size_value(size)).collect();
    let rank = tangram_ir::Dim::fixed(sizes.len() as i64);
    let shape = builder.context.tensor_type(&[rank], builder.index);
    let shape = builder.value("tensor.from_elements", &sizes, shape);
    builder.value("tensor.reshape", &[value, shape], ty)
}

/// Nests that run one after the other for each value of their first loop: `scf.for` around them,
/// which carries what they write.
fn steps(
    builder: &mut Builder,
    frame: &mut Frame,
    nests: &[crate::structured::Generic],
) -> Option<()> {
    let mut places: Vec<TensorId> = Vec::new();
    for nest in nests {
        if !places.contains(&nest.output.place) {
            places.push(nest.output.place);
        }
    }
    let count = builder.size(nests.first()?.extents.first()?)?;
    let (zero, count, one) = (builder.number(0), builder.size_value(count), builder.number(1));
    let initial: Option<Vec<Value>> =
        places.iter().map(|&place| frame.get(place).map(|tensor| tensor.value)).collect();
    let initial = initial?;
    let types: Vec<Type> = initial.iter().map(|&v| builder.module.value_type(v)).collect();
    let operands = [&[zero, count, one], &initial[..]].concat();
    let op = builder.op_with_regions("scf.for", &operands, &types, Attr::EMPTY_DICT, 1);
    let arguments = [&[builder.index], &types[..]].concat();
    let mut inner = frame.clone();
    builder.region((op, 0), &arguments, |builder, arguments| {
        for (&place, &value) in places.iter().zip(&arguments[1..]) {
            inner.set(place, value);
        }
        for nest in nests {
            nest::write(builder, &mut inner, nest, Some(arguments[0]))?;
        }
        let made: Option<Vec<Value>> =
            places.iter().map(|&place| inner.get(place).map(|tensor| tensor.value)).collect();
        builder.op("scf.yield", &made?, &[], Attr::EMPTY_DICT);
        Some(())
    })?;
    for (&place, value) in places.iter().zip(builder.module.results(op)) {
        frame.set(place, value);
    }
    Some(())
}
