//! Constants that a target makes, and the element types that they get.

use tangram_ir::Value;
use tangram_tensor::DType;

use super::{Builder, Result};
use crate::ast::{ExprId, PatId, PatternKind};
use crate::eval::AttrValue;
use crate::mapping::tensor;
use crate::matching::Frame;

impl Builder<'_, '_> {
    /// Returns for a new constant that does not say its type whether it is of whole numbers.
    pub(super) fn pending_constant(&mut self, frame: Frame, id: PatId) -> Option<bool> {
        let (frame, id) = self.bindings.resolve(self.plan, frame, id);
        match &self.plan.rule().pattern(id).kind {
            PatternKind::Const { value: Some(value), tensor, .. }
                if tensor.dtype.is_none() && !self.plan.in_source(id) =>
            {
                let value = self.evaluate(frame, *value).ok()?;
                Some(!tensor::has_floats(&value))
            }
            _ => None,
        }
    }

    /// The rule PE-Const: a constant, of type `like` unless it says its own.
    pub(super) fn constant(
        &mut self,
        frame: Frame,
        id: PatId,
        like: Option<DType>,
    ) -> Result<Value> {
        let (frame, id) = self.bindings.resolve(self.plan, frame, id);
        if let Some(value) = self.constants.get(&(frame, id, like)) {
            return Ok(*value);
        }
        let plan = self.plan;
        let PatternKind::Const { value: Some(value), tensor, .. } = &plan.rule().pattern(id).kind
        else {
            return Err(self.refuse("evaluation", "a constant without value"));
        };
        let found = self.evaluate(frame, *value)?;
        let dtype = match tensor.dtype {
            Some(dtype) => self.named_dtype(frame, dtype)?,
            None => like.unwrap_or_else(|| tensor::natural_dtype(&found)),
        };
        let shape = match tensor.shape {
            Some(shape) => Some(self.extents(frame, shape)?),
            None => None,
        };
        let made = tensor::from_value(&found, dtype, shape.as_deref());
        let tensor = made.map_err(|message| self.refuse("constant", &message))?;
        let value = self.new_constant(&tensor);
        self.constants.insert((frame, id, like), value);
        Ok(value)
    }

    fn named_dtype(&mut self, frame: Frame, expr: ExprId) -> Result<DType> {
        let found = self.evaluate(frame, expr)?;
        let named = match &found {
            AttrValue::Str(name) => DType::ALL.into_iter().find(|dtype| dtype.name() == name),
            _ => None,
        };
        let message = || format!("{} names no element type", crate::matching::show(&found));
        named.ok_or_else(|| self.refuse("evaluation", &message()))
    }

    fn extents(&mut self, frame: Frame, expr: ExprId) -> Result<Vec<usize>> {
        let found = self.evaluate(frame, expr)?;
        let extent = |field: &AttrValue| match field {
            AttrValue::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let extents = match &found {
            AttrValue::Tuple(fields) => fields.iter().map(extent).collect::<Option<_>>(),
            _ => None,
        };
        let message = || format!("{} is no shape of a constant", crate::matching::show(&found));
        extents.ok_or_else(|| self.refuse("evaluation", &message()))
    }

    pub(in crate::mapping) fn dtype(&self, value: Value) -> Option<DType> {
        let context = self.module().context();
        let element = context.element_type(self.module().value_type(value))?;
        tangram_dialects::dtype::dtype_of(context, element)
    }
}
