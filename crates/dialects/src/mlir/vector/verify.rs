//! Checks of parts of vectors: they lie inside.

use tangram_ir::{Module, Op, Type, TypeData};

use crate::mlir::extents::list;
use crate::mlir::verify::{Checked, Site};

/// The extents of a vector, of which none for a scalar.
fn dims(site: Site<'_>, ty: Type) -> &[i64] {
    match site.context().type_data(ty) {
        TypeData::Vector { dims, .. } => dims,
        _ => &[],
    }
}

/// `vector.extract_strided_slice`: a part along each of the first dimensions.
pub(super) fn check_extracted_slice(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let sizes = list(module, op, "sizes").unwrap_or_default();
    let whole = dims(site, module.value_type(module.operand(op, 0)));
    check_part(site, &sizes, sizes.len(), whole)?;
    let rest = whole.get(sizes.len()..).unwrap_or(&[]);
    let expected: Vec<i64> = sizes.iter().chain(rest).copied().collect();
    let found = dims(site, module.value_type(module.result(op, 0)));
    if expected == found {
        return Ok(());
    }
    let message = format!("expected a result of extents {expected:?}, found {found:?}");
    Err(site.error("extents", message))
}

/// `vector.insert_strided_slice`: the dimensions of the part are the last of the whole.
pub(super) fn check_inserted_slice(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let [part, whole] = [0, 1].map(|i| dims(site, module.value_type(module.operand(op, i))));
    let Some(more) = whole.len().checked_sub(part.len()) else {
        let message = format!("expected rank {} at most, found {}", whole.len(), part.len());
        return Err(site.error("rank", message));
    };
    let sizes: Vec<i64> = std::iter::repeat_n(1, more).chain(part.iter().copied()).collect();
    check_part(site, &sizes, part.len(), whole)
}

/// Checks that `sizes` from the offsets on lie inside of `whole`, in so many steps of one element.
fn check_part(site: Site<'_>, sizes: &[i64], steps: usize, whole: &[i64]) -> Checked {
    let [offsets, strides] =
        ["offsets", "strides"].map(|name| list(site.module, site.op, name).unwrap_or_default());
    let counts = [(offsets.len(), sizes.len()), (strides.len(), steps)];
    if counts.iter().any(|(found, wanted)| found != wanted) || sizes.len() > whole.len() {
        let message = format!(
            "expected {} offsets and {steps} strides for {} dimensions, found {} and {}",
            sizes.len(),
            whole.len(),
            offsets.len(),
            strides.len()
        );
        return Err(site.error("attribute", message));
    }
    if let Some(stride) = strides.iter().find(|&&stride| stride != 1) {
        return Err(site.error("attribute", format_args!("expected strides of 1, found {stride}")));
    }
    for ((&offset, &size), &extent) in offsets.iter().zip(sizes).zip(whole) {
        let end = offset.checked_add(size).filter(|_| offset >= 0 && size >= 1);
        if end.is_none_or(|end| end > extent) {
            let message = format!("expected a part of {extent}, found {size} from {offset} on");
            return Err(site.error("attribute", message));
        }
    }
    Ok(())
}
