//! Making operations whose result types follow from their definition.

use smallvec::SmallVec;

use crate::attributes::Attr;
use crate::context::Name;
use crate::location::Loc;
use crate::module::{Module, Op, OpState, Point, Value};
use crate::op_def::{InferCx, InferError, Inferred};

impl Module {
    /// Infers the results of operation `name` on `operands`.
    ///
    /// `result_count` is how many results are wanted where the attributes leave it open.
    ///
    /// # Errors
    /// If the operation is not registered, has no type inference, or does not accept the operands.
    pub fn infer(
        &self,
        name: Name,
        operands: &[Value],
        attrs: Attr,
        result_count: Option<usize>,
    ) -> Result<Inferred, InferError> {
        let text = || self.context().name_text(name).to_owned();
        let def = self.context().def(name).ok_or_else(|| InferError::Unregistered(text()))?;
        let infer = def.infer.ok_or_else(|| InferError::NotInferable(text()))?;
        infer(&InferCx { module: self, name, def, operands, attrs, result_count })
    }

    /// Makes operation `name` at `point` with the results that inference gives.
    ///
    /// # Errors
    /// As [`Module::infer`]; nothing is made then.
    pub fn build(
        &mut self,
        point: Point,
        name: Name,
        operands: &[Value],
        attrs: Attr,
        result_count: Option<usize>,
        loc: Loc,
    ) -> Result<Op, InferError> {
        let inferred = self.infer(name, operands, attrs, result_count)?;
        let state = OpState {
            operands: SmallVec::from_slice(operands),
            results: inferred.types.iter().copied().collect(),
            attrs,
            ..OpState::new(name, loc)
        };
        let op = self.create_at(point, state);
        for (i, contents) in inferred.contents.into_iter().enumerate() {
            let value = self.result(op, i);
            self.set_contents(value, contents);
        }
        Ok(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::op_def::OpDef;

    #[test]
    fn errors_tell_why_types_are_not_inferred() {
        static PLAIN: OpDef = OpDef::new("t.plain", "no inference");
        static CHOOSY: OpDef = OpDef {
            infer: Some(|cx| match cx.operand_type(0) {
                Some(ty) => Ok(Inferred { types: [ty].into_iter().collect(), ..<_>::default() }),
                None => Err(InferError::mismatch("expected an operand, found none")),
            }),
            ..OpDef::new("t.choosy", "wants an operand")
        };
        let context = Context::new();
        context.register([&PLAIN, &CHOOSY]);
        let module = Module::new(context.clone());
        let infer = |name: &str| module.infer(context.name(name), &[], context.dict([]), None);
        let (missing, plain) = ("t.missing".to_owned(), "t.plain".to_owned());
        let choosy = InferError::Mismatch("expected an operand, found none".to_owned());
        assert_eq!(infer("t.missing"), Err(InferError::Unregistered(missing)));
        assert_eq!(infer("t.plain"), Err(InferError::NotInferable(plain)));
        assert_eq!(infer("t.choosy"), Err(choosy.clone()));
        let texts = ["t.missing", "t.plain"].map(|name| infer(name).expect_err("none").to_string());
        assert_eq!(texts[0], "`t.missing` is no registered operation");
        assert_eq!(texts[1], "`t.plain` does not infer its types");
        assert_eq!(choosy.to_string(), "expected an operand, found none");
    }
}
