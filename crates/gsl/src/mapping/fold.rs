//! New operations on constants are evaluated at once.

use tangram_dialects::{budget, constant, eval};
use tangram_ir::{Diagnostic, Op, OpState, Traits, Value};
use tangram_tensor::Tensor;

use super::build::{Builder, is_constant};
use super::range;

impl Builder<'_, '_> {
    /// Makes an `nn.constant`.
    pub(super) fn new_constant(&mut self, tensor: &Tensor) -> Value {
        let attr = self.tensor_attr(tensor);
        let context = self.module().context();
        let mut state = OpState::new(context.name("nn.constant"), self.loc);
        state.attrs = context.dict([(context.str("value"), attr)]);
        state.results.push(constant::tensor_type(context, tensor));
        let point = self.point();
        let op = self.rewriter.create(point, state);
        self.note(op);
        self.module().result(op, 0)
    }

    /// Replaces a new operation by constants, if all its operands are constants, it can be
    /// evaluated, and the results are not much larger than the operands.
    ///
    /// # Errors
    /// The result leaves the range of its element type.
    pub(super) fn fold(
        &mut self,
        op: Op,
        operands: &[Value],
    ) -> Result<Option<Vec<Value>>, Diagnostic> {
        let Some((tensors, results)) = self.evaluated(op, operands) else { return Ok(None) };
        if range::leaves(self.module(), op, &tensors, &results) {
            let name = self.module().name_text(op);
            let message = format!("`{name}` of constants leaves the range of their type");
            return Err(self.refuse("range", &message));
        }
        self.forget(op);
        Ok(Some(results.iter().map(|tensor| self.new_constant(tensor)).collect()))
    }

    /// The operands and results of a new operation, if it is to be folded.
    fn evaluated(&self, op: Op, operands: &[Value]) -> Option<(Vec<Option<Tensor>>, Vec<Tensor>)> {
        let module = self.module();
        let absent =
            |value: Value| constant::is_none_type(module.context(), module.value_type(value));
        let ready = |value: &Value| absent(*value) || is_constant(module, *value);
        let pure = module.has_traits(op, Traits::PURE) && !module.has_traits(op, Traits::RANDOM);
        if !pure || operands.is_empty() || !operands.iter().all(ready) || !self.is_small(op) {
            return None;
        }
        let tensors: Vec<Option<Tensor>> =
            operands.iter().map(|value| constant::constant_tensor(module, *value)).collect();
        let given = operands.iter().filter(|value| !absent(**value)).count();
        if eval::is_order_open(module, op) {
            return None;
        }
        if tensors.iter().flatten().count() != given {
            return None;
        }
        if budget::work(module, op) > budget::MAX_FOLD_WORK {
            return None;
        }
        let results = eval::evaluate(module, op, &tensors).ok()?;
        let types = module.results(op).map(|value| module.value_type(value));
        let inferred = types.zip(&results).all(|(ty, tensor)| {
            let made = constant::tensor_type(module.context(), tensor);
            super::types::merged(module.context(), ty, made).is_some()
        });
        if !inferred || results.len() != module.result_count(op) {
            return None;
        }
        Some((tensors, results))
    }

    fn is_small(&self, op: Op) -> bool {
        let module = self.module();
        let bytes = |value: Value| {
            let (dtype, shape) =
                constant::static_tensor(module.context(), module.value_type(value))?;
            dtype.byte_len(tangram_tensor::element_count(&shape)?)
        };
        let total = |values: Vec<Value>| {
            values.into_iter().try_fold(0usize, |sum, value| sum.checked_add(bytes(value)?))
        };
        let before = total(module.operands(op).collect()).unwrap_or(0);
        let limit = self.settings.fold_growth.map(|growth| before.saturating_add(growth));
        let limit = limit.map(|limit| limit.min(self.settings.fold_limit));
        limit.zip(total(module.results(op).collect())).is_some_and(|(limit, after)| after <= limit)
    }
}
