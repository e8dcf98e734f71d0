//! From the points of an operation's iteration space to the elements of its operands.

use tangram_affine::{AffineExprs, AffineMap};
use tangram_ir::{AttrData, Module, Op, TypeData, Value};

use crate::mlir::extents::list;

/// The map of each operand: as written, or as the name says. `None` for operations of which this
/// is not known here.
pub(in crate::mlir) fn maps(module: &Module, op: Op) -> Option<Vec<AffineMap>> {
    let context = module.context();
    if let Some(attr) = module.attr(op, "indexing_maps") {
        let AttrData::Array(maps) = context.attr_data(attr) else { return None };
        return maps.iter().map(|&map| context.as_affine_map(map).cloned()).collect();
    }
    let rank = rank(module, module.operands(op).next_back()?)?;
    let numbers = |name: &str| -> Option<Vec<usize>> {
        let numbers = list(module, op, name)?.into_iter();
        numbers.map(|n| usize::try_from(n).ok().filter(|&n| n < rank)).collect()
    };
    let whole: Vec<usize> = (0..rank).collect();
    let read = match module.name_text(op) {
        "linalg.transpose" => {
            let order = numbers("permutation")?;
            let place = |dim: usize| order.iter().position(|&from| from == dim);
            (0..rank).map(place).collect::<Option<Vec<usize>>>()?
        }
        "linalg.broadcast" => {
            let made = numbers("dimensions")?;
            whole.iter().copied().filter(|dim| !made.contains(dim)).collect()
        }
        "linalg.fill" => Vec::new(),
        name if ELEMENT_BY_ELEMENT.contains(&name) => whole.clone(),
        _ => return None,
    };
    let map = |dims: &[usize]| {
        let mut exprs = AffineExprs::new();
        let results: Vec<_> = dims.iter().map(|&dim| exprs.dim(dim as u32)).collect();
        AffineMap::new(rank as u32, 0, &exprs, &results)
    };
    let inputs = module.operand_count(op) - 1;
    Some(std::iter::repeat_n(map(&read), inputs).chain([map(&whole)]).collect())
}

/// Operations that read and write the same place at each point.
const ELEMENT_BY_ELEMENT: &[&str] = &[
    "linalg.abs",
    "linalg.add",
    "linalg.ceil",
    "linalg.copy",
    "linalg.div",
    "linalg.div_unsigned",
    "linalg.erf",
    "linalg.exp",
    "linalg.floor",
    "linalg.log",
    "linalg.map",
    "linalg.max",
    "linalg.min",
    "linalg.mul",
    "linalg.negf",
    "linalg.powf",
    "linalg.reciprocal",
    "linalg.round",
    "linalg.rsqrt",
    "linalg.select",
    "linalg.sqrt",
    "linalg.square",
    "linalg.sub",
    "linalg.tanh",
];

fn rank(module: &Module, value: Value) -> Option<usize> {
    match module.context().type_data(module.value_type(value)) {
        TypeData::Tensor(tensor) => Some(tensor.dims.len()),
        TypeData::MemRef { dims, .. } => Some(dims.len()),
        _ => None,
    }
}
