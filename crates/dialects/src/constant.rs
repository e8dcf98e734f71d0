//! Tensors as attributes and as constant operations.

use bytes::Bytes;
use tangram_ir::{
    Attr, AttrData, Context, Dim, Loc, Module, Op, OpState, Point, Str, Traits, Type, TypeData,
    Value, resource,
};
use tangram_rewrite::Rewriter;
use tangram_tensor::{DType, Tensor};

use crate::dtype;

/// Tensors up to this many bytes are attributes; bigger ones are resources of the module.
pub const INLINE_BYTES: usize = 256;

/// The type of `tensor`.
pub fn tensor_type(context: &Context, tensor: &Tensor) -> Type {
    let dims: Vec<Dim> = tensor.shape().iter().map(|&n| Dim::fixed(n as i64)).collect();
    context.tensor_type(&dims, dtype::type_of(context, tensor.dtype()))
}

/// The attribute that holds `tensor`: `dense` when small, else a resource under `key`.
///
/// O(1) for a resource: the bytes are shared, not copied.
pub fn tensor_attr(module: &mut Module, tensor: &Tensor, key: &str) -> Attr {
    let ty = tensor_type(module.context(), tensor);
    if let Some(strings) = tensor.strings() {
        let items: Vec<Attr> = strings.iter().map(|s| string_item(module.context(), s)).collect();
        return module.context().array_attr(&items);
    }
    if tensor.byte_len() <= INLINE_BYTES {
        let bytes = tensor.bytes().as_ref().into();
        return module.context().attr(AttrData::Dense { ty, bytes, splat: false });
    }
    let key = fresh_key(module, key, tensor.bytes());
    module.resources_mut().insert(key, tensor.bytes().clone());
    module.context().attr(AttrData::Resource { ty, key })
}

/// Computed tensors from this many bytes on are kept in files, not in memory.
const FILE_BYTES: usize = 16 << 20;

/// As [`tensor_attr`], for a tensor that was computed: a big one moves to a temporary file, so
/// that folding the weights of a model larger than memory takes no more memory than one of them.
///
/// What shares its bytes with a resource stays where it is; so does what no file can take.
pub fn computed_attr(module: &mut Module, tensor: &Tensor, key: &str) -> Attr {
    if tensor.byte_len() < FILE_BYTES || module.resources().share(tensor.bytes()) {
        return tensor_attr(module, tensor, key);
    }
    let moved = resource::to_file(tensor.bytes())
        .ok()
        .and_then(|bytes| Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes).ok());
    tensor_attr(module, moved.as_ref().unwrap_or(tensor), key)
}

fn string_item(context: &Context, text: &[u8]) -> Attr {
    match std::str::from_utf8(text) {
        Ok(text) => context.str_attr(text),
        Err(_) => context.attr(AttrData::Bytes(text.into())),
    }
}

/// `key`, or `key.1`, `key.2`... where it is taken by other bytes.
fn fresh_key(module: &Module, key: &str, bytes: &Bytes) -> Str {
    let taken = |key: Str| {
        module.resources().find(key).is_some_and(|old| {
            !(old.len() == bytes.len() && std::ptr::eq(old.as_ptr(), bytes.as_ptr()))
        })
    };
    let context = module.context();
    let first = context.str(key);
    if !taken(first) {
        return first;
    }
    (1u64..)
        .map(|n| context.str(&format!("{key}.{n}")))
        .find(|&key| !taken(key))
        .expect("some number is free")
}

/// The tensor that `attr`, of type `ty` where it does not say so itself, holds.
pub fn attr_tensor(module: &Module, attr: Attr, ty: Type) -> Option<Tensor> {
    let context = module.context();
    match context.attr_data(attr) {
        AttrData::Dense { .. } => dense_tensor(context, attr),
        AttrData::Resource { ty, key } => {
            let (dtype, shape) = static_tensor(context, *ty)?;
            Tensor::from_bytes(dtype, &shape, module.resources().find(*key)?.clone()).ok()
        }
        AttrData::Array(items) => {
            let (dtype, shape) = static_tensor(context, ty)?;
            let strings = items.iter().map(|&item| match context.attr_data(item) {
                AttrData::String(text) => Some(context.text(*text).as_bytes().to_vec()),
                AttrData::Bytes(bytes) => Some(bytes.to_vec()),
                _ => None,
            });
            let strings: Vec<Vec<u8>> = strings.collect::<Option<_>>()?;
            (dtype == DType::String).then(|| Tensor::from_strings(&shape, strings).ok())?
        }
        _ => None,
    }
}

/// The tensor that a `dense` attribute holds.
pub fn dense_tensor(context: &Context, attr: Attr) -> Option<Tensor> {
    let AttrData::Dense { ty, bytes, splat } = context.attr_data(attr) else { return None };
    let (dtype, shape) = static_tensor(context, *ty)?;
    let bytes = if *splat {
        let count = shape.iter().try_fold(1usize, |a, &b| a.checked_mul(b))?;
        bytes.repeat(count)
    } else {
        bytes.to_vec()
    };
    Tensor::from_bytes(dtype, &shape, Bytes::from(bytes)).ok()
}

/// Element type and extents of a tensor type that leaves nothing open.
pub fn static_tensor(context: &Context, ty: Type) -> Option<(DType, Vec<usize>)> {
    let (dims, element) = context.as_tensor(ty)?;
    let shape: Option<Vec<usize>> =
        dims.iter().map(|d| d.as_static().and_then(|n| usize::try_from(n).ok())).collect();
    Some((dtype::dtype_of(context, element)?, shape?))
}

/// Returns whether `op` is a constant.
pub fn is_constant(module: &Module, op: Op) -> bool {
    module.has_traits(op, Traits::CONSTANT_LIKE)
}

/// The value attribute of `value`, if a constant defines it.
pub fn constant_attr(module: &Module, value: Value) -> Option<Attr> {
    let op = module.def_op(value)?;
    if is_constant(module, op) { module.attr(op, "value") } else { None }
}

/// The tensor that `value` stands for, if a constant defines it. Big ones are shared, not copied.
pub fn constant_tensor(module: &Module, value: Value) -> Option<Tensor> {
    attr_tensor(module, constant_attr(module, value)?, module.value_type(value))
}

/// Makes an `nn.constant` for `tensor` at `point`.
pub fn build(module: &mut Module, point: Point, tensor: &Tensor, key: &str, loc: Loc) -> Op {
    let value = tensor_attr(module, tensor, key);
    let context = module.context();
    let mut state = OpState::new(context.name("nn.constant"), loc);
    state.attrs = context.dict([(context.str("value"), value)]);
    state.results.push(tensor_type(context, tensor));
    module.create_at(point, state)
}

/// Makes an `nn.constant` for `tensor`, which was computed, at `point`.
pub(crate) fn create(
    rewriter: &mut Rewriter<'_>,
    point: Point,
    tensor: &Tensor,
    key: &str,
    loc: Loc,
) -> Op {
    let value = computed_attr(rewriter.module_mut_unheard(), tensor, key);
    let context = rewriter.module().context();
    let mut state = OpState::new(context.name("nn.constant"), loc);
    state.attrs = context.dict([(context.str("value"), value)]);
    state.results.push(tensor_type(context, tensor));
    rewriter.create(point, state)
}

/// Returns whether `ty` is the type of an absent operand.
pub fn is_none_type(context: &Context, ty: Type) -> bool {
    matches!(context.type_data(ty), TypeData::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_big_computed_tensor_leaves_memory_unless_it_shares_a_resource() {
        let mut module = Module::new(crate::context());
        let bytes: Vec<u8> = (0..FILE_BYTES / 4).flat_map(|i| (i as u32).to_le_bytes()).collect();
        let tensor = Tensor::from_bytes(DType::U32, [FILE_BYTES / 4], bytes).unwrap();
        let made = computed_attr(&mut module, &tensor, "made");
        let ty = tensor_type(module.context(), &tensor);
        let moved = attr_tensor(&module, made, ty).unwrap();
        assert_eq!(moved.bytes(), tensor.bytes());
        assert_ne!(moved.bytes().as_ptr(), tensor.bytes().as_ptr());

        let view = Tensor::from_bytes(DType::U8, [FILE_BYTES], moved.bytes().clone()).unwrap();
        let shared = computed_attr(&mut module, &view, "view");
        let ty = tensor_type(module.context(), &view);
        let shared = attr_tensor(&module, shared, ty).unwrap();
        assert_eq!(shared.bytes().as_ptr(), moved.bytes().as_ptr());
    }
}
