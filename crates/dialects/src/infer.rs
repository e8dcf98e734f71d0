//! What type inference of tensor operations is written with.

use smallvec::{SmallVec, smallvec};
use tangram_affine::symbolic::Expr;
use tangram_ir::{
    Attr, AttrData, Context, Dim, InferCx, InferError, Inferred, Type, TypeData, Value,
};
use tangram_tensor::{DType, Tensor};

use crate::attrs::Attrs;
use crate::{constant, dims, dtype};

/// The extents of a tensor, outermost first.
pub type Dims = SmallVec<[Dim; 6]>;

/// The most elements for which contents are tracked.
pub const MAX_CONTENTS: usize = 64;

/// The result of inference.
pub type Result<T = Inferred, E = InferError> = std::result::Result<T, E>;

/// The elements of a small tensor of integers or booleans (0 and 1), in row-major order; `None` for an unknown one.
pub type Contents = Vec<Option<Expr>>;

/// What is known of the type of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shaped {
    /// The extents; `None` if not even their number is known.
    pub dims: Option<Dims>,
    /// The element type.
    pub element: Type,
}

impl Shaped {
    /// A tensor of known rank.
    pub fn ranked(dims: impl IntoIterator<Item = Dim>, element: Type) -> Self {
        Self { dims: Some(dims.into_iter().collect()), element }
    }

    /// A tensor of unknown rank.
    pub fn unranked(element: Type) -> Self {
        Self { dims: None, element }
    }

    /// The number of extents, if known.
    pub fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(|dims| dims.len())
    }

    /// The type.
    pub fn ty(&self, context: &Context) -> Type {
        match &self.dims {
            Some(dims) => context.tensor_type(dims, self.element),
            None => context.ty(TypeData::UnrankedTensor(self.element)),
        }
    }
}

/// An error with a formatted message.
#[macro_export]
macro_rules! infer_error {
    ($($arg:tt)*) => { ::tangram_ir::InferError::mismatch(format!($($arg)*)) };
}

/// One result of type `shaped`.
pub fn one(cx: &InferCx<'_>, shaped: &Shaped) -> Result {
    Ok(Inferred { types: smallvec![shaped.ty(cx.context())], contents: SmallVec::new() })
}

/// One result of type `shaped` with `contents`, where they are few enough and something is known.
pub fn one_with(cx: &InferCx<'_>, shaped: &Shaped, contents: Option<Contents>) -> Result {
    let contents = contents.and_then(|contents| contents_attr(cx.context(), &contents));
    Ok(Inferred { types: smallvec![shaped.ty(cx.context())], contents: smallvec![contents] })
}

/// Several results.
pub fn several(cx: &InferCx<'_>, shaped: impl IntoIterator<Item = Shaped>) -> Result {
    let types = shaped.into_iter().map(|s| s.ty(cx.context())).collect();
    Ok(Inferred { types, contents: SmallVec::new() })
}

/// What inference functions ask of [`InferCx`].
pub trait InferExt<'a> {
    /// The attributes.
    fn attrs(&self) -> Attrs<'a>;
    /// Returns whether operand `i` is there: given, and no `nn.none`.
    fn has(&self, i: usize) -> bool;
    /// The type of operand `i`, which has to be a tensor.
    fn tensor(&self, i: usize) -> Result<Shaped>;
    /// The element type of operand `i`.
    fn dtype(&self, i: usize) -> Result<DType>;
    /// Operand `i` if it is a constant.
    fn constant(&self, i: usize) -> Option<Tensor>;
    /// The elements of operand `i`, if it is a small integer tensor of which something is known.
    fn contents(&self, i: usize) -> Option<Contents>;
    /// The elements of operand `i` if it is a constant integer tensor.
    fn constant_ints(&self, i: usize) -> Option<Vec<i64>>;
    /// The integer attribute `name`, which has to be there.
    fn need_int(&self, name: &str) -> Result<i64>;
    /// The integer list attribute `name`, which has to be there.
    fn need_ints(&self, name: &str) -> Result<Vec<i64>>;
}

impl<'a> InferExt<'a> for InferCx<'a> {
    fn attrs(&self) -> Attrs<'a> {
        Attrs::new(self.context(), self.attrs)
    }

    fn has(&self, i: usize) -> bool {
        self.operand_type(i).is_some_and(|ty| !constant::is_none_type(self.context(), ty))
    }

    fn tensor(&self, i: usize) -> Result<Shaped> {
        let name = self.def.name;
        let ty = self
            .operand_type(i)
            .ok_or_else(|| infer_error!("`{name}` needs operand {i}, which is absent"))?;
        match self.context().type_data(ty) {
            TypeData::Tensor(t) => {
                Ok(Shaped { dims: Some(t.dims.iter().copied().collect()), element: t.element })
            }
            TypeData::UnrankedTensor(element) => Ok(Shaped::unranked(*element)),
            _ => Err(infer_error!("operand {i} of `{name}` is no tensor")),
        }
    }

    fn dtype(&self, i: usize) -> Result<DType> {
        let element = self.tensor(i)?.element;
        dtype::dtype_of(self.context(), element).ok_or_else(|| {
            infer_error!("operand {i} of `{}` has no known element type", self.def.name)
        })
    }

    fn constant(&self, i: usize) -> Option<Tensor> {
        constant::constant_tensor(self.module, *self.operands.get(i)?)
    }

    fn contents(&self, i: usize) -> Option<Contents> {
        value_contents(self.module, *self.operands.get(i)?)
    }

    fn constant_ints(&self, i: usize) -> Option<Vec<i64>> {
        self.constant(i)?.i64s().ok()
    }

    fn need_int(&self, name: &str) -> Result<i64> {
        let missing = || infer_error!("`{}` needs the integer attribute `{name}`", self.def.name);
        self.attrs().int(name).ok_or_else(missing)
    }

    fn need_ints(&self, name: &str) -> Result<Vec<i64>> {
        let missing = || infer_error!("`{}` needs the integer list `{name}`", self.def.name);
        self.attrs().ints(name).ok_or_else(missing)
    }
}

/// Refuses operands `these`, as far as they are there, if two of them have different element types.
///
/// What rules make is inferred too: a rule that meets operands of two types, which some operators
/// allow, makes no sum of both.
pub fn one_element(cx: &InferCx<'_>, these: impl IntoIterator<Item = usize>) -> Result<()> {
    let mut first: Option<DType> = None;
    for i in these.into_iter().filter(|&i| cx.has(i)) {
        let Some(found) = dtype::dtype_of(cx.context(), cx.tensor(i)?.element) else { continue };
        let expected = *first.get_or_insert(found);
        if found != expected {
            let (name, expected, found) = (cx.def.name, expected.name(), found.name());
            return Err(infer_error!(
                "the operands of `{name}` are of one element type, found {expected} and {found}"
            ));
        }
    }
    Ok(())
}

/// The elements of `value`, if it is a small integer tensor of which something is known: a
/// constant, or recorded by inference.
pub fn value_contents(module: &tangram_ir::Module, value: Value) -> Option<Contents> {
    let context = module.context();
    if let Some(attr) = module.contents(value) {
        return Some(attr_contents(context, attr));
    }
    let attr = constant::constant_attr(module, value)?;
    let small = match context.attr_data(attr) {
        AttrData::Dense { .. } => true,
        AttrData::Resource { key, .. } => {
            module.resources().find(*key).is_some_and(|b| b.len() <= MAX_CONTENTS * 8)
        }
        _ => false,
    };
    let dtype = dtype::dtype_of(context, context.element_type(module.value_type(value))?)?;
    if !small || !(dtype.is_int() || dtype == DType::Bool) {
        return None;
    }
    let tensor = constant::constant_tensor(module, value)?;
    if tensor.len() > MAX_CONTENTS {
        return None;
    }
    let ints = match tensor.view::<bool>() {
        Ok(flags) => flags.iter().map(|&b| i64::from(b)).collect(),
        Err(_) => tensor.i64s().ok()?,
    };
    Some(ints.into_iter().map(|n| Some(Expr::int(n))).collect())
}

/// Contents as the attribute that a module records; `None` if nothing is known or too much.
pub fn contents_attr(context: &Context, contents: &Contents) -> Option<Attr> {
    if contents.len() > MAX_CONTENTS || contents.iter().all(Option::is_none) {
        return None;
    }
    let item = |expr: &Option<Expr>| match expr {
        None => Attr::UNIT,
        Some(expr) => match expr.as_int() {
            Some(n) => context.i64_attr(n),
            None => context.attr(AttrData::String(dims::intern(context, expr))),
        },
    };
    let items: Vec<Attr> = contents.iter().map(item).collect();
    Some(context.array_attr(&items))
}

fn attr_contents(context: &Context, attr: Attr) -> Contents {
    let AttrData::Array(items) = context.attr_data(attr) else { return Contents::new() };
    let item = |&item: &Attr| match context.attr_data(item) {
        AttrData::Integer { .. } => context.as_i64(item).map(Expr::int),
        AttrData::String(text) => dims::parse(context, *text),
        _ => None,
    };
    items.iter().map(item).collect()
}

/// `axis` counted from the front, for a tensor of `rank` extents.
pub fn axis(axis: i64, rank: usize) -> Result<usize> {
    let from_front = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(from_front)
        .ok()
        .filter(|&axis| axis < rank)
        .ok_or_else(|| infer_error!("axis {axis} is out of range for rank {rank}"))
}

/// The axes counted from the front, sorted, each once.
pub fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut out: Vec<usize> = list.iter().map(|&a| axis(a, rank)).collect::<Result<_>>()?;
    out.sort_unstable();
    let before = out.len();
    out.dedup();
    if out.len() < before {
        return Err(infer_error!("axes {list:?} name one axis twice"));
    }
    Ok(out)
}

/// Refuses axes of which two may be one once the rank is known, as [`axes`] does then: it must not
/// be inlining or a better type that makes an operation one that it refuses.
pub fn axes_of_any_rank(list: &[i64]) -> Result<()> {
    let negative = list.iter().filter(|&&axis| axis < 0).count();
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    let repeated = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    if repeated || negative > 0 && negative < list.len() {
        return Err(infer_error!("axes {list:?} may name one axis twice"));
    }
    Ok(())
}

/// The extents of operands broadcast together, as NumPy does; `None` if a rank is unknown.
pub fn broadcast(context: &Context, shapes: &[&Shaped]) -> Result<Option<Dims>> {
    let Some(rank) = shapes.iter().map(|s| s.rank()).try_fold(0, |m, r| Some(m.max(r?))) else {
        return Ok(None);
    };
    let mut out: Dims = smallvec![Dim::fixed(1); rank];
    for shape in shapes {
        let dims = shape.dims.as_ref().expect("every rank is known");
        let offset = rank - dims.len();
        for (i, &d) in dims.iter().enumerate() {
            let both = dims::broadcast(context, out[offset + i], d);
            out[offset + i] =
                both.map_err(|(a, b)| infer_error!("extents {a} and {b} do not broadcast"))?;
        }
    }
    Ok(Some(out))
}
