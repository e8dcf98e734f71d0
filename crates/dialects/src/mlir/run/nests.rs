//! Nests whose iterations may run in any order: here one after the other.

use tangram_affine::AffineMap;
use tangram_ir::Op;

use super::{Datum, Machine, Result};

/// The points of a nest, with these first values, ends and steps, which are above 0.
fn points(low: &[i64], high: &[i64], steps: &[i64]) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for ((&low, &high), &step) in low.iter().zip(high).zip(steps) {
        let along = |point: Vec<i64>| {
            let counter = (low..high).step_by(step.unsigned_abs() as usize);
            counter.map(move |at| [&point[..], &[at]].concat())
        };
        points = points.into_iter().flat_map(along).collect();
    }
    points
}

fn counters(point: &[i64]) -> Vec<Datum> {
    point.iter().map(|&at| Datum::Int(at.into())).collect()
}

impl Machine<'_> {
    fn iterations(
        &self,
        op: Op,
        low: &[i64],
        high: &[i64],
        steps: &[i64],
    ) -> Result<Vec<Vec<i64>>> {
        const MOST: i64 = 1 << 16;
        let spans = low.iter().zip(high).map(|(low, high)| high.saturating_sub(*low).max(0));
        let size = spans.fold(1i64, |size, span| size.saturating_mul(span));
        if steps.iter().any(|&step| step <= 0) || size > MOST {
            Err(self.undefined(op))
        } else {
            Ok(points(low, high, steps))
        }
    }

    pub(super) fn parallel(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let body = self.module.region(op, 0);
        let entry = self.module.first_block(body).ok_or_else(|| self.unsupported(op))?;
        let count = self.module.args(entry).len();
        let (bounds, inits) =
            operands.split_at_checked(3 * count).ok_or_else(|| self.unsupported(op))?;
        let bounds = self.ints(op, bounds)?;
        let [low, high, steps] = [0, 1, 2].map(|i| &bounds[i * count..(i + 1) * count]);
        let mut results = inits.to_vec();
        for point in self.iterations(op, low, high, steps)? {
            let (end, given) = self.region(op, body, counters(&point))?;
            for (i, value) in given.into_iter().enumerate() {
                let combine = self.module.region(end, i);
                let args = vec![results[i].clone(), value];
                let combined = self.region(end, combine, args)?.1;
                results[i] = combined.first().cloned().ok_or_else(|| self.unsupported(op))?;
            }
        }
        Ok(results)
    }

    /// Each iteration sees the outputs as they were.
    pub(super) fn forall(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let count = self.module.result_count(op);
        let bounds = operands.len().checked_sub(count).ok_or_else(|| self.unsupported(op))?;
        let (bounds, outputs) = operands.split_at(bounds);
        let mut bounds = self.ints(op, bounds)?.into_iter();
        let low = self.mixed(op, "staticLowerBound", &mut bounds)?;
        let high = self.mixed(op, "staticUpperBound", &mut bounds)?;
        let steps = self.mixed(op, "staticStep", &mut bounds)?;
        let body = self.module.region(op, 0);
        let mut results = outputs.to_vec();
        for point in self.iterations(op, &low, &high, &steps)? {
            let args = [&counters(&point)[..], outputs].concat();
            let end = self.region(op, body, args)?.0;
            self.insert(op, end, &low, &mut results)?;
        }
        Ok(results)
    }

    /// Runs the insertions at the end of an iteration.
    fn insert(&mut self, op: Op, end: Op, low: &[i64], results: &mut [Datum]) -> Result<()> {
        let module = self.module;
        let (body, inserts) = (module.region(op, 0), module.region(end, 0));
        let body = module.first_block(body).ok_or_else(|| self.unsupported(op))?;
        let Some(inserts) = module.first_block(inserts) else { return Ok(()) };
        for insert in module.ops(inserts) {
            let target = module.operand(insert, 1);
            let at = module.args(body).iter().skip(low.len()).position(|&arg| arg == target);
            let at = at.ok_or_else(|| self.unsupported(op))?;
            let mut operands = self.operands(insert)?;
            operands[1] = results[at].clone();
            results[at] = self.inserted(insert, &operands)?;
        }
        Ok(())
    }

    /// A nest without reductions.
    pub(super) fn affine_parallel(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let (lower, upper) = (self.map(op, "lowerBoundsMap")?, self.map(op, "upperBoundsMap")?);
        let (first, second) =
            operands.split_at_checked(lower.inputs()).ok_or_else(|| self.unsupported(op))?;
        let bound = |map: &AffineMap, operands: &[Datum]| -> Result<Vec<i64>> {
            let point = self.ints(op, operands)?;
            map.evaluate(&point).ok_or_else(|| self.unsupported(op))
        };
        let (low, high) = (bound(&lower, first)?, bound(&upper, second)?);
        let steps = crate::mlir::extents::list(self.module, op, "steps");
        let steps = steps.filter(|steps| [low.len(), high.len()] == [steps.len(); 2]);
        let steps = steps.filter(|_| self.module.result_count(op) == 0);
        let steps = steps.ok_or_else(|| self.unsupported(op))?;
        let body = self.module.region(op, 0);
        for point in self.iterations(op, &low, &high, &steps)? {
            self.region(op, body, counters(&point))?;
        }
        Ok(Vec::new())
    }
}
