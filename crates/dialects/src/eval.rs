//! Reference evaluation of operations on constant operands.

use rustc_hash::FxHashMap;
use tangram_ir::{Attr, AttrData, Context, Dim, Module, Name, Op, OpDef, Type};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, KernelError, Tensor, budget};

use crate::attrs::Attrs;
use crate::{constant, dtype};

/// Why an operation was not evaluated.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The operation has no reference evaluation.
    #[error("`{0}` has no reference evaluation")]
    Unsupported(String),
    /// An operand that has to be there is absent.
    #[error("operand {0} is absent")]
    AbsentOperand(usize),
    /// An attribute that has to be there is absent or of another kind.
    #[error("attribute `{0}` is absent or of another kind")]
    Attribute(&'static str),
    /// An attribute or operand has a value that the operation does not take.
    #[error("`{0}` is {1}")]
    Value(&'static str, String),
    /// The definition of an operation of the caller's says nothing here.
    #[error("{0}")]
    Undefined(String),
    /// Evaluation and inference contradict each other.
    #[error("result {index} should have extents {expected:?}, found {found:?}")]
    Extents {
        /// The number of the result.
        index: usize,
        /// The extents of its type.
        expected: Vec<usize>,
        /// The extents of the tensor.
        found: Vec<usize>,
    },
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Evaluates an operation: one tensor for each result.
pub type EvalFn = fn(&EvalCx<'_>) -> Evaluated;

/// The results of an evaluation.
pub type Evaluated = Result<Vec<Tensor>, EvalError>;

/// What kernels of one result return, as the results of an evaluation.
pub(crate) fn single(result: tangram_tensor::Result<Tensor>) -> Evaluated {
    Ok(vec![result?])
}

/// What evaluation may look at.
#[derive(Clone, Copy)]
pub struct EvalCx<'a> {
    /// The module, which holds big tensors of attributes.
    pub module: &'a Module,
    /// The context.
    pub context: &'a Context,
    /// The definition.
    pub def: &'static OpDef,
    /// The attribute dictionary.
    pub dict: Attr,
    /// The operands; `None` for an absent one.
    pub operands: &'a [Option<Tensor>],
    /// The result types, as inferred.
    pub results: &'a [Type],
}

impl<'a> EvalCx<'a> {
    /// The attributes.
    pub fn attrs(&self) -> Attrs<'a> {
        Attrs::new(self.context, self.dict)
    }

    /// The tensor that attribute `name` holds. One of texts is a vector.
    pub fn tensor_attr(&self, name: &str) -> Option<Tensor> {
        let attr = self.attrs().find(name)?;
        let AttrData::Array(items) = self.context.attr_data(attr) else {
            return constant::attr_tensor(self.module, attr, self.attrs().tensor_type(attr)?);
        };
        let texts = dtype::type_of(self.context, DType::String);
        let ty = self.context.tensor_type(&[Dim::fixed(items.len() as i64)], texts);
        constant::attr_tensor(self.module, attr, ty)
    }

    /// The tensor of attribute `name`, if the module holds its bytes.
    pub(crate) fn resource(&self, name: &str) -> Option<Tensor> {
        let attr = self.attrs().find(name)?;
        let named = matches!(self.context.attr_data(attr), AttrData::Resource { .. });
        named.then(|| self.tensor_attr(name)).flatten()
    }

    /// Operand `i`, if it is there.
    pub fn get(&self, i: usize) -> Option<&'a Tensor> {
        self.operands.get(i).and_then(Option::as_ref)
    }

    /// Operand `i`, which has to be there.
    pub fn need(&self, i: usize) -> Result<&'a Tensor, EvalError> {
        self.get(i).ok_or(EvalError::AbsentOperand(i))
    }

    /// Every operand, all of which have to be there.
    pub fn all(&self) -> Result<Vec<&'a Tensor>, EvalError> {
        (0..self.operands.len()).map(|i| self.need(i)).collect()
    }

    /// The element type of result `i`.
    pub fn dtype(&self, i: usize) -> Option<DType> {
        dtype::dtype_of(self.context, self.context.element_type(*self.results.get(i)?)?)
    }

    /// The integers of attribute `name`, or of operand `i`.
    pub fn ints(&self, name: &str, i: usize) -> Result<Option<Vec<i64>>, EvalError> {
        match (self.attrs().ints(name), self.get(i)) {
            (Some(list), _) => Ok(Some(list)),
            (None, Some(tensor)) => Ok(Some(tensor.i64s()?)),
            (None, None) => Ok(None),
        }
    }

    /// The integer of attribute `name`, or of operand `i`, which has one element then.
    pub fn int(&self, name: &str, i: usize) -> Result<Option<i64>, EvalError> {
        match (self.attrs().int(name), self.get(i)) {
            (Some(n), _) => Ok(Some(n)),
            (None, Some(tensor)) => Ok(tensor.i64s()?.first().copied()),
            (None, None) => Ok(None),
        }
    }

    /// The number of attribute `name` as a scalar of type `dtype`, or operand `i`.
    pub fn scalar(&self, name: &str, i: usize, dtype: DType) -> Result<Option<Tensor>, EvalError> {
        match (self.attrs().float(name), self.get(i)) {
            (Some(x), _) => Ok(Some(self.exact(name, x, dtype)?)),
            (None, Some(tensor)) => Ok(Some(cast(tensor, dtype)?)),
            (None, None) => Ok(None),
        }
    }

    /// The attribute as a scalar: an integer keeps all its digits.
    fn exact(&self, name: &str, x: f64, dtype: DType) -> tangram_tensor::Result<Tensor> {
        match self.attrs().int(name) {
            Some(n) => cast(&Tensor::scalar(n), dtype),
            None => cast(&Tensor::scalar(x), dtype),
        }
    }
}

/// The sizes in a list of integers, none of which may be negative.
pub(crate) fn sizes(name: &'static str, list: &[i64]) -> Result<Vec<usize>, EvalError> {
    let size = |&n: &i64| usize::try_from(n).map_err(|_| EvalError::Value(name, n.to_string()));
    list.iter().map(size).collect()
}

/// The reference evaluations of a context, by operation name.
#[derive(Default)]
pub(crate) struct EvalTable {
    pub(crate) functions: parking_lot::RwLock<FxHashMap<Name, EvalFn>>,
}

/// Evaluates `op` on `operands`. The results have the element types that the operation states.
///
/// # Errors
/// [`EvalError`] if the operation has no evaluation, or it refuses, or its results have other
/// extents than the operation states.
pub fn evaluate(module: &Module, op: Op, operands: &[Option<Tensor>]) -> Evaluated {
    let context = module.context();
    let name = module.name(op);
    let unsupported = || EvalError::Unsupported(context.name_text(name).to_owned());
    let table = context.extension::<EvalTable>();
    let function = table.functions.read().get(&name).copied().ok_or_else(unsupported)?;
    let types: Vec<Type> = module.results(op).map(|v| module.value_type(v)).collect();
    budget::check_time()?;
    // Kernels ask for what they make by its shape, which says nothing of how long texts are.
    let texts = operands.iter().flatten().filter(|tensor| tensor.dtype() == DType::String);
    budget::ask(texts.map(Tensor::byte_len).fold(0, usize::saturating_add))?;
    let results = function(&EvalCx {
        module,
        context,
        def: context.def(name).ok_or_else(unsupported)?,
        dict: module.attrs(op),
        operands,
        results: &types,
    })?;
    let stated = results.into_iter().zip(&types).enumerate();
    stated.map(|(i, (tensor, &ty))| conform(context, i, tensor, ty)).collect()
}

/// Whether the standard leaves open in which order results come, so that what runs a model decides:
/// no constant can stand for them.
pub fn is_order_open(module: &Module, op: Op) -> bool {
    let sorted = || Attrs::new(module.context(), module.attrs(op)).bool("sorted");
    module.name_text(op) == "nn.topk" && sorted() == Some(false)
}

/// `tensor` in the element type of `ty`, whose extents it has to have.
fn conform(context: &Context, index: usize, tensor: Tensor, ty: Type) -> Result<Tensor, EvalError> {
    if let Some((dims, _)) = context.as_tensor(ty) {
        let fits =
            |(dim, &n): (&Dim, &usize)| dim.as_static().is_none_or(|extent| extent == n as i64);
        if dims.len() != tensor.rank() || !dims.iter().zip(tensor.shape()).all(fits) {
            let expected = constant::static_tensor(context, ty).map(|t| t.1).unwrap_or_default();
            let found = tensor.shape().to_vec();
            return Err(EvalError::Extents { index, expected, found });
        }
    }
    match context.element_type(ty).and_then(|element| dtype::dtype_of(context, element)) {
        Some(dtype) if dtype != tensor.dtype() => Ok(cast(&tensor, dtype)?),
        _ => Ok(tensor),
    }
}
