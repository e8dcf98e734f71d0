//! What a structured definition is made from: types, attributes, constants.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::{Expr, Facts, Truth};
use tangram_ir::{Module, Name, Op, Type, Value};
use tangram_tensor::{DType, Tensor};

use super::{Structured, Temporary, TensorId};
use crate::attrs::Attrs;
use crate::{constant, dims, dtype, infer};

/// The structured definition of an operation; `None` where one of its attributes, or what is
/// unknown of its operands, has none.
pub type StructuredFn = fn(&StructuredCx<'_>) -> Option<Structured>;

/// The structured definitions of a context, by operation name.
#[derive(Default)]
pub(crate) struct StructuredTable {
    pub(crate) functions: parking_lot::RwLock<FxHashMap<Name, StructuredFn>>,
}

/// The structured definition of `op`, with the symbolic extents of its operands as symbols.
///
/// `None` if the operation has none: nothing is known of how it computes, an extent is unknown, an
/// operand that decides about loops is computed at run time, or elements are no numbers of whole
/// bytes (texts, complex numbers, packed integers, floats of 8 bits).
pub fn structured(module: &Module, op: Op) -> Option<Structured> {
    StructuredCx::new(module, op).definition()
}

/// Returns whether `op` is of a kind that has a definition, and has operands or results whose extents
/// are not numbers: with other extents there may be one.
pub fn wants_extents(module: &Module, op: Op) -> bool {
    let context = module.context();
    let table = context.extension::<StructuredTable>();
    let is_open = |value| match context.as_tensor(module.value_type(value)) {
        Some((extents, _)) => extents.iter().any(|extent| extent.as_static().is_none()),
        None => context.element_type(module.value_type(value)).is_some(),
    };
    let mut values = module.operands(op).chain(module.results(op));
    table.functions.read().contains_key(&module.name(op)) && values.any(is_open)
}

/// The types of the results of `op`; `None` if an extent is unknown.
pub fn result_types(module: &Module, op: Op) -> Option<Vec<Temporary>> {
    let cx = StructuredCx::new(module, op);
    let result =
        |i| cx.result(i).map(|TensorRef { element, extents, .. }| Temporary { element, extents });
    (0..cx.result_count()).map(result).collect()
}

/// A tensor that loops read or write.
#[derive(Clone, PartialEq, Debug)]
pub struct TensorRef {
    /// Which.
    pub place: TensorId,
    /// The element type.
    pub element: DType,
    /// The extents, outermost first.
    pub extents: Vec<Expr>,
}

impl TensorRef {
    /// The number of extents.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }
}

/// What a structured definition may look at.
#[derive(Clone, Copy)]
pub struct StructuredCx<'a> {
    module: &'a Module,
    op: Op,
    /// What an extent of which nothing is known is taken to be.
    assumed: Option<i64>,
}

impl<'a> StructuredCx<'a> {
    /// What may be looked at of `op`.
    pub(crate) fn new(module: &'a Module, op: Op) -> Self {
        StructuredCx { module, op, assumed: None }
    }

    /// The same, with a number for extents of which nothing is known: to estimate by, never to run.
    pub(crate) fn assuming(self, extent: i64) -> Self {
        StructuredCx { assumed: Some(extent), ..self }
    }

    /// The definition that the operation's own function gives, if it is well-formed.
    pub(crate) fn definition(&self) -> Option<Structured> {
        let (module, op) = (self.module, self.op);
        let table = module.context().extension::<StructuredTable>();
        let function = table.functions.read().get(&module.name(op)).copied()?;
        let mut values = module.operands(op).chain(module.results(op));
        let plain = values.all(|value| self.is_plain(module.value_type(value)));
        (plain && self.has_inferred_types()).then_some(())?;
        let types = |place| match place {
            TensorId::Operand(i) => self.operand(i),
            TensorId::Result(i) => self.result(i),
            TensorId::Temporary(_) => None,
        };
        let known = |place| types(place).map(|tensor| (tensor.element, tensor.rank()));
        function(self).filter(|definition| definition.is_well_formed(&known))
    }

    /// What is assumed of the symbols.
    pub(crate) fn facts(&self) -> Arc<Facts> {
        dims::facts(self.module.context())
    }

    /// The attributes.
    pub fn attrs(&self) -> Attrs<'a> {
        Attrs::new(self.module.context(), self.module.attrs(self.op))
    }

    /// The name of the operation.
    pub fn name(&self) -> &'a str {
        self.module.name_text(self.op)
    }

    /// How many operands there are, absent ones included.
    pub fn operand_count(&self) -> usize {
        self.module.operands(self.op).len()
    }

    /// How many results there are.
    pub fn result_count(&self) -> usize {
        self.module.results(self.op).len()
    }

    /// Whether operand `i` is there: given, and no `nn.none`.
    pub fn has(&self, i: usize) -> bool {
        let ty = self.value(i).map(|value| self.module.value_type(value));
        ty.is_some_and(|ty| !constant::is_none_type(self.module.context(), ty))
    }

    /// Operand `i`, if it is there and all its extents are known.
    pub fn operand(&self, i: usize) -> Option<TensorRef> {
        self.tensor(TensorId::Operand(i), self.value(i)?)
    }

    /// Result `i`, if all its extents are known.
    pub fn result(&self, i: usize) -> Option<TensorRef> {
        self.tensor(TensorId::Result(i), self.module.results(self.op).nth(i)?)
    }

    /// Operand `i` if it is a constant.
    pub fn constant(&self, i: usize) -> Option<Tensor> {
        constant::constant_tensor(self.module, self.value(i)?)
    }

    /// The tensor that attribute `name` holds.
    pub fn tensor_attr(&self, name: &str) -> Option<Tensor> {
        constant::dense_tensor(self.module.context(), self.attrs().find(name)?)
    }

    /// The integers of attribute `name` or of operand `i`: `Some(None)` if neither is there,
    /// `None` if they are computed at run time.
    pub fn ints(&self, name: &str, i: usize) -> Option<Option<Vec<i64>>> {
        let exprs = self.exprs(name, i)?;
        let Some(exprs) = exprs else { return Some(None) };
        exprs.iter().map(Expr::as_int).collect::<Option<Vec<_>>>().map(Some)
    }

    /// The integer of attribute `name` or of operand `i`; `None` if neither is there, or it is
    /// computed at run time.
    pub fn int(&self, name: &str, i: usize) -> Option<i64> {
        match self.attrs().int(name) {
            Some(int) => Some(int),
            None => self.ints(name, i)??.first().copied(),
        }
    }

    /// As [`StructuredCx::ints`], with elements that are extents of other tensors as expressions.
    pub fn exprs(&self, name: &str, i: usize) -> Option<Option<Vec<Expr>>> {
        if let Some(list) = self.attrs().ints(name) {
            return Some(Some(list.into_iter().map(Expr::int).collect()));
        }
        if !self.has(i) {
            return Some(None);
        }
        if let Some(tensor) = self.constant(i) {
            return tensor.i64s().ok().map(|list| Some(list.into_iter().map(Expr::int).collect()));
        }
        let contents = infer::value_contents(self.module, self.value(i)?)?;
        contents.into_iter().collect::<Option<Vec<Expr>>>().map(Some)
    }

    fn value(&self, i: usize) -> Option<Value> {
        self.module.operands(self.op).nth(i)
    }

    fn tensor(&self, place: TensorId, value: Value) -> Option<TensorRef> {
        let context = self.module.context();
        let (dims, element) = context.as_tensor(self.module.value_type(value))?;
        let known = |&dim| dims::expr(context, dim).or(self.assumed.map(Expr::int));
        let extents = dims.iter().map(known).collect::<Option<_>>()?;
        Some(TensorRef { place, element: dtype::dtype_of(context, element)?, extents })
    }

    /// Whether the results have the element types and ranks that follow from the operands, which is
    /// what definitions are written for.
    fn has_inferred_types(&self) -> bool {
        let (module, context) = (self.module, self.module.context());
        let operands: Vec<Value> = module.operands(self.op).collect();
        let (name, attrs) = (module.name(self.op), module.attrs(self.op));
        let inferred = module.infer(name, &operands, attrs, Some(self.result_count()));
        let Ok(inferred) = inferred else { return false };
        let agrees = |(&inferred, result): (&Type, Value)| {
            let stated = context.as_tensor(module.value_type(result));
            context.element_type(inferred) == stated.map(|(_, element)| element)
                && context.as_tensor(inferred).is_none_or(|(dims, _)| {
                    stated.is_some_and(|(stated, _)| stated.len() == dims.len())
                })
        };
        inferred.types.len() >= self.result_count()
            && inferred.types.iter().zip(module.results(self.op)).all(agrees)
    }

    /// Whether tensors of the type have numbers of whole bytes, or booleans, as elements.
    fn is_plain(&self, ty: Type) -> bool {
        let context = self.module.context();
        constant::is_none_type(context, ty)
            || context
                .as_tensor(ty)
                .and_then(|(_, element)| dtype::dtype_of(context, element))
                .is_some_and(is_plain)
    }
}

/// Whether scalars of a body can be of this type.
pub(crate) fn is_plain(element: DType) -> bool {
    use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(element, Bool | F16 | BF16 | F32 | F64 | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
}

/// The type that arithmetic on numbers of a type is done in: `f32` for the floats of 16 bits.
pub(crate) fn wide(element: DType) -> DType {
    match element {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// Whether two extents are equal for all values of the symbols.
pub(crate) fn equal(a: &Expr, b: &Expr) -> bool {
    Facts::default().equal(a, b) == Truth::True
}

/// `axis` counted from the front; `None` if there is no such dimension.
pub(crate) fn axis(axis: i64, rank: usize) -> Option<usize> {
    infer::axis(axis, rank).ok()
}

/// The product of extents.
pub(crate) fn product(extents: &[Expr]) -> Option<Expr> {
    extents.iter().try_fold(Expr::int(1), |product, extent| product.try_mul(extent))
}
