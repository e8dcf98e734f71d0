//! An operation against its definition.

use super::Check;
use crate::module::Op;
use crate::op_def::{Arity, InferCx, OpDef, Traits};
use crate::text;
use crate::types::Type;

impl Check<'_> {
    pub(super) fn definition(&mut self, op: Op) {
        let Some(def) = self.module.def(op) else { return };
        let before = self.errors.len();
        let operands = def.operands.iter().map(|operand| operand.arity);
        self.arity(op, "operand", operands, self.module.operand_count(op), "operandSegmentSizes");
        let results = def.results.iter().map(|result| result.arity);
        self.arity(op, "result", results, self.module.result_count(op), "resultSegmentSizes");
        self.attributes(op, def);
        self.regions(op, def);
        if def.traits.contains(Traits::SAME_TYPE) {
            self.same_type(op);
        }
        // Functions of the definition may rely on what was checked before.
        if self.errors.len() > before {
            return;
        }
        self.inference(op, def);
        if let Some(verify) = def.verify
            && let Err(error) = verify(self.module, op)
        {
            self.errors.push(error);
        }
    }

    /// Checks a number of operands or results, and how it is divided if an attribute says so.
    fn arity(
        &mut self,
        op: Op,
        what: &str,
        arities: impl Iterator<Item = Arity> + Clone,
        found: usize,
        segments: &str,
    ) {
        let least = arities.clone().filter(|&arity| arity == Arity::One).count();
        let open = arities.clone().any(|arity| arity == Arity::Variadic);
        let most = arities.clone().count();
        if found < least || !open && found > most {
            let expected = match (open, least == most) {
                (true, _) => format!("at least {least} {what}{}", plural(least)),
                (false, true) => format!("{least} {what}{}", plural(least)),
                (false, false) => format!("{least} to {most} {what}s"),
            };
            return self.error(op, "arity", format_args!("expected {expected}, found {found}"));
        }
        // What has one list, or none, has no sizes of its own: the attribute is any other's.
        let divided = arities.clone().filter(|&arity| arity != Arity::One).count() > 1;
        let sizes = self.module.attr(op, segments).filter(|_| divided);
        let Some(sizes) = sizes.and_then(|attr| self.module.int_list(attr)) else {
            let several = arities.filter(|&arity| arity == Arity::Variadic).count() > 1;
            if several && what == "operand" && !self.module.has_traits(op, Traits::SAME_SIZES) {
                self.error(
                    op,
                    "segments",
                    format_args!("expected attribute `{segments}`, found none"),
                );
            }
            return;
        };
        let fits = sizes.len() == most
            && sizes.iter().map(|&size| i128::from(size)).sum::<i128>() == found as i128
            && sizes.iter().zip(arities).all(|(&size, arity)| match arity {
                Arity::One => size == 1,
                Arity::Optional => size == 0 || size == 1,
                Arity::Variadic => size >= 0,
            });
        if !fits {
            let message = format!(
                "expected `{segments}` with {most} entries that add up to {found}, found {sizes:?}"
            );
            self.error(op, "segments", message);
        }
    }

    fn regions(&mut self, op: Op, def: &OpDef) {
        let found = self.module.regions(op).len();
        if let Some(expected) = def.regions
            && found != expected as usize
        {
            let plural = plural(expected as usize);
            let message = format!("expected {expected} region{plural}, found {found}");
            return self.error(op, "region-count", message);
        }
        if !def.traits.contains(Traits::SINGLE_BLOCK) {
            return;
        }
        for &region in self.module.regions(op) {
            let blocks = self.module.blocks(region).count();
            if blocks > 1 {
                self.error(op, "single-block", format!("expected one block, found {blocks}"));
            }
        }
    }

    fn same_type(&mut self, op: Op) {
        let module = self.module;
        let mut types = module.operands(op).chain(module.results(op)).map(|v| module.value_type(v));
        let Some(first) = types.next() else { return };
        let other = types.find(|&ty| !super::types::compatible(module.context(), first, ty));
        if let Some(other) = other {
            let (first, other) = (self.type_text(first), self.type_text(other));
            self.error(op, "same-type", format!("expected one type, found {first} and {other}"));
        }
    }

    /// Infers the result types again. The recorded ones may say less or more, nothing else.
    fn inference(&mut self, op: Op, def: &'static OpDef) {
        let Some(infer) = def.infer else { return };
        let module = self.module;
        let operands: Vec<_> = module.operands(op).collect();
        let (name, attrs) = (module.name(op), module.attrs(op));
        let result_count = Some(module.result_count(op));
        let cx = InferCx { module, name, def, operands: &operands, attrs, result_count };
        let inferred = match infer(&cx) {
            Ok(inferred) => inferred,
            Err(error) => return self.error(op, "inference", error.to_string()),
        };
        if inferred.types.len() != module.result_count(op) {
            let (expected, found) = (inferred.types.len(), module.result_count(op));
            let message = format!("expected {expected} result{}, found {found}", plural(expected));
            return self.error(op, "result-count", message);
        }
        for (i, (&expected, value)) in inferred.types.iter().zip(module.results(op)).enumerate() {
            let found = module.value_type(value);
            if !super::types::compatible(module.context(), expected, found) {
                let (expected, found) = (self.type_text(expected), self.type_text(found));
                let message = format!("expected result {i} of type {expected}, found {found}");
                self.error(op, "result-type", message);
            }
        }
    }

    pub(super) fn type_text(&self, ty: Type) -> String {
        text::type_text(self.module, ty)
    }
}

/// The ending for `n` things.
pub(super) fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
