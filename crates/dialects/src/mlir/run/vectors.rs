//! Vectors of one dimension: made of scalars, loaded and stored.

use tangram_ir::{Op, Type, TypeData};

use super::scalar::vector;
use super::{Datum, Machine, Result};

impl Machine<'_> {
    pub(super) fn vectors(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let module = self.module;
        match (module.name_text(op), operands) {
            ("vector.broadcast", [scalar @ (Datum::Int(_) | Datum::Float(_))]) => {
                let width = self.width(op, module.value_type(module.result(op, 0)))?;
                Ok(vec![vector(vec![scalar.clone(); width])])
            }
            ("vector.load", [base, at @ ..]) => {
                let width = self.width(op, module.value_type(module.result(op, 0)))?;
                Ok(vec![vector(self.line(op, base, at, width)?)])
            }
            ("vector.store", [Datum::Tensor(lanes), base, at @ ..]) => {
                let at = self.ints(op, at)?;
                for (lane, value) in lanes.data.iter().enumerate() {
                    let place = self.beside(op, &at, lane)?;
                    self.write(op, base, &place, value)?;
                }
                Ok(Vec::new())
            }
            _ => Err(self.unsupported(op)),
        }
    }

    /// How many lanes a vector type of one dimension has.
    pub(super) fn width(&self, op: Op, ty: Type) -> Result<usize> {
        match self.module.context().type_data(ty) {
            TypeData::Vector { dims, scalable, .. } if !scalable.contains(&true) => {
                match dims[..] {
                    [width] => usize::try_from(width).map_err(|_| self.unsupported(op)),
                    _ => Err(self.unsupported(op)),
                }
            }
            _ => Err(self.unsupported(op)),
        }
    }

    /// The operands lane by lane; scalars are the same in all lanes.
    pub(super) fn lanes(&self, op: Op, operands: &[Datum]) -> Result<Vec<Vec<Datum>>> {
        let width = self.width(op, self.module.value_type(self.module.result(op, 0)))?;
        let lane = |at: usize| {
            let each = operands.iter().map(|operand| match operand {
                Datum::Tensor(lanes) => lanes.data.get(at).cloned(),
                scalar => Some(scalar.clone()),
            });
            each.collect::<Option<Vec<Datum>>>().ok_or_else(|| self.unsupported(op))
        };
        (0..width).map(lane).collect()
    }

    /// Neighbouring elements along the last dimension of a buffer.
    pub(super) fn line(
        &self,
        op: Op,
        base: &Datum,
        at: &[Datum],
        count: usize,
    ) -> Result<Vec<Datum>> {
        let at = self.ints(op, at)?;
        (0..count).map(|lane| self.read(op, base, &self.beside(op, &at, lane)?)).collect()
    }

    fn beside(&self, op: Op, at: &[i64], lane: usize) -> Result<Vec<i64>> {
        let mut place = at.to_vec();
        let last = place.last_mut().ok_or_else(|| self.unsupported(op))?;
        *last = last.checked_add(lane as i64).ok_or_else(|| self.undefined(op))?;
        Ok(place)
    }
}
