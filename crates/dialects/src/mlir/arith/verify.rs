//! Checks of arithmetic: integers where integers are asked for, floats where floats are, and
//! comparisons that there are.

use tangram_ir::{AttrData, Module, Op, Signedness, Type, TypeData, VerifyFn};

use crate::mlir::verify::{Checked, Site};

/// The check of a binary operation: the last letter of its name says what it takes.
pub(super) const fn of_name(name: &str) -> VerifyFn {
    let bytes = name.as_bytes();
    if bytes[bytes.len() - 1] == b'f' { floats } else { integers }
}

/// The check of `arith.cmpi` or `arith.cmpf`.
pub(super) const fn of_comparison(name: &str) -> VerifyFn {
    let bytes = name.as_bytes();
    if bytes[bytes.len() - 1] == b'f' { compare_floats } else { compare_integers }
}

/// The type of what an operation takes one by one.
fn element(site: Site<'_>, ty: Type) -> Type {
    match site.context().type_data(ty) {
        TypeData::Vector { element, .. } | TypeData::UnrankedTensor(element) => *element,
        TypeData::Tensor(tensor) => tensor.element,
        _ => ty,
    }
}

fn all(site: Site<'_>, what: &str, accepts: impl Fn(&TypeData) -> bool) -> Checked {
    for ty in site.operands() {
        if !accepts(site.context().type_data(element(site, ty))) {
            let found = site.text(&[ty]);
            return Err(site.error("operand-type", format_args!("expected {what}, found {found}")));
        }
    }
    Ok(())
}

fn integers(module: &Module, op: Op) -> Checked {
    all(Site::new(module, op), "signless integers or indices", |ty| match ty {
        TypeData::Index => true,
        TypeData::Integer { sign, .. } => *sign == Signedness::Signless,
        _ => false,
    })
}

fn floats(module: &Module, op: Op) -> Checked {
    all(Site::new(module, op), "floats", |ty| matches!(ty, TypeData::Float(_)))
}

fn compare_integers(module: &Module, op: Op) -> Checked {
    integers(module, op)?;
    predicate(Site::new(module, op), 10)
}

fn compare_floats(module: &Module, op: Op) -> Checked {
    floats(module, op)?;
    predicate(Site::new(module, op), 16)
}

/// The comparison is an `i64` below `count`, and both sides have one type.
fn predicate(site: Site<'_>, count: i128) -> Checked {
    let types = site.operands();
    site.same("a right operand of type", &types[..1], &types[1..])?;
    let attr = site.module.attr(site.op, "predicate").map(|attr| site.context().attr_data(attr));
    match attr {
        Some(AttrData::Integer { value, ty })
            if (0..count).contains(value) && *ty == site.context().int_type(64) =>
        {
            Ok(())
        }
        _ => Err(site.error(
            "predicate",
            format_args!("expected an `i64` below {count} as attribute `predicate`"),
        )),
    }
}
