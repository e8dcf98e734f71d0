//! Constants of a match: a rule that is right for finite numbers leaves others alone.

use tangram_dialects::constant;
use tangram_dialects::nn::{self, Numbers};
use tangram_ir::{Diagnostic, Op};
use tangram_tensor::Tensor;

use super::build::Builder;
use super::range;
use crate::ast::Exactness;
use crate::matching::Match;

impl Builder<'_, '_> {
    /// Refuses what a rule labelled `range` makes where a constant that it matched is infinite or NaN: the
    /// sum of `x * inf` is NaN where x has both signs, and the sum of x times `inf` is not. A divisor of 0 is
    /// a factor that is infinite.
    pub(super) fn finite(&mut self, found: &Match) -> Result<(), Diagnostic> {
        if !self.settings.guarded || self.plan.rule().exactness() != Some(Exactness::Range) {
            return Ok(());
        }
        let module = self.module();
        let is_bad = |&op: &Op| {
            let divides = nn::numbers(module, op).contains(Numbers::QUOTIENT);
            module.operands(op).enumerate().any(|(at, value)| {
                constant::constant_tensor(module, value).is_some_and(|tensor| {
                    !range::is_finite(&tensor) || divides && at == 1 && has_zero(&tensor)
                })
            })
        };
        if found.ops().iter().any(is_bad) {
            let message = "a constant of the source is not finite, or divides by 0";
            return Err(self.refuse("not-finite", message));
        }
        Ok(())
    }
}

fn has_zero(tensor: &Tensor) -> bool {
    tensor.dtype().is_float() && tensor.f64s().is_ok_and(|all| all.contains(&0.0))
}
