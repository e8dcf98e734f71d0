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
        let text = self.context().name_text(name);
        let def = self
            .context()
            .def(name)
            .ok_or_else(|| InferError::new(format!("`{text}` is no registered operation")))?;
        let infer = def
            .infer
            .ok_or_else(|| InferError::new(format!("`{text}` does not infer its types")))?;
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
