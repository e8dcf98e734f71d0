//! The run over the steps, which all layers share.

use crate::budget;
use crate::dtype::DType;
use crate::error::Result;
use crate::linear::product::{Matrix, Scalar};
use crate::recurrent::{Direction, Operands, RecurrentParams};
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{from_f64s, one_float};

/// The weights of a layer, and how far it goes.
pub(super) struct Scan {
    name: &'static str,
    dtype: DType,
    direction: Direction,
    batch_first: bool,
    pub steps: usize,
    pub batch: usize,
    input: usize,
    pub hidden: usize,
    /// Gates times the hidden size.
    pub width: usize,
    x: Vec<f64>,
    w: Vec<f64>,
    r: Vec<f64>,
    /// Directions by two by `width`: biases of the input and of the state.
    bias: Vec<f64>,
    lens: Vec<usize>,
}

/// What one direction of one step sees.
pub(super) struct ScanStep<'a> {
    /// Number of the direction.
    pub direction: usize,
    /// Batch by width: weighted input with its bias.
    pub from_input: &'a [f64],
    /// The states, each batch by hidden size; the first is the one that a layer returns.
    pub state: &'a [f64],
}

impl Scan {
    pub(super) fn new(
        name: &'static str,
        gates: usize,
        operands: &Operands<'_>,
        more: &[Option<&Tensor>],
        params: &RecurrentParams,
    ) -> Result<Scan> {
        let Operands { x, w, r, bias, initial_h, .. } = *operands;
        let floats: Vec<&Tensor> = [Some(x), Some(w), Some(r), bias, initial_h]
            .iter()
            .chain(more)
            .filter_map(|&operand| operand)
            .collect();
        let dtype = one_float(name, &floats)?;
        let (&[first, second, input], &[_, _, hidden]) = (x.shape(), r.shape()) else {
            let wrong = if x.rank() == 3 { r } else { x };
            return Err(refuse::shape(name, "rank 3", wrong));
        };
        let (steps, batch) = if params.batch_first { (second, first) } else { (first, second) };
        let directions = params.direction.count();
        let Some(width) = hidden.checked_mul(gates) else {
            return Err(refuse::shape(name, "a smaller hidden size", r));
        };
        let scan = Scan {
            name,
            dtype,
            direction: params.direction,
            batch_first: params.batch_first,
            steps,
            batch,
            input,
            hidden,
            width,
            x: x.f64s()?,
            w: read(name, w, &[directions, width, input])?,
            r: read(name, r, &[directions, width, hidden])?,
            bias: match bias {
                Some(bias) => read(name, bias, &[directions, width.saturating_mul(2)])?,
                None => vec![0.0; checked_count(DType::F64, &[directions, 2, width])?],
            },
            lens: lengths(name, operands.sequence_lens, steps, batch)?,
        };
        checked_count(DType::F64, &[directions, steps, batch, width])?;
        Ok(scan)
    }

    /// Reads a first state, with the batch before the directions if so asked; 0 if absent.
    pub(super) fn initial(&self, state: Option<&Tensor>) -> Result<Vec<f64>> {
        let directions = self.direction.count();
        let (batch, hidden) = (self.batch, self.hidden);
        let Some(state) = state else {
            return Ok(vec![0.0; checked_count(DType::F64, &[directions, batch, hidden])?]);
        };
        if !self.batch_first {
            return read(self.name, state, &[directions, batch, hidden]);
        }
        let data = read(self.name, state, &[batch, directions, hidden])?;
        Ok(swap_outer(&data, [batch, directions, hidden]))
    }

    /// Weights of the state in one direction, `count` rows from row `from` on.
    pub(super) fn state_weights(
        &self,
        direction: usize,
        from: usize,
        count: usize,
    ) -> Matrix<'_, f64> {
        let start = (direction * self.width + from) * self.hidden;
        Matrix::new(&self.r[start..], count, self.hidden)
    }

    /// Bias of the state in one direction.
    pub(super) fn state_bias(&self, direction: usize) -> &[f64] {
        &self.bias[(2 * direction + 1) * self.width..][..self.width]
    }

    /// Reads weights of shape directions by `parts * hidden`.
    pub(super) fn per_direction(&self, tensor: &Tensor, parts: usize) -> Result<Vec<f64>> {
        read(self.name, tensor, &[self.direction.count(), self.hidden.saturating_mul(parts)])
    }

    /// Runs over the steps. `initial`: the first states, each directions by batch by hidden size.
    ///
    /// `cell` computes the next states. Returns the outputs of all steps (0 after the end of a
    /// sequence), then the last states.
    pub(super) fn run(
        &self,
        initial: &[Vec<f64>],
        mut cell: impl FnMut(ScanStep<'_>, &mut [f64]),
    ) -> Result<Vec<Tensor>> {
        let directions = self.direction.count();
        let plane = self.batch * self.hidden;
        let shape = [self.steps, directions, self.batch, self.hidden];
        let mut y = vec![0.0; checked_count(self.dtype, &shape)?];
        let mut last: Vec<Vec<f64>> = initial.to_vec();
        // Without a result, no step is worth taking.
        for direction in 0..if plane == 0 { 0 } else { directions } {
            let part = direction * plane..(direction + 1) * plane;
            let first = initial.iter().flat_map(|planes| &planes[part.clone()]);
            let mut state: Vec<f64> = first.copied().collect();
            self.run_direction(direction, &mut state, &mut y, &mut cell)?;
            for (planes, state) in last.iter_mut().zip(state.chunks_exact(plane)) {
                planes[part.clone()].copy_from_slice(state);
            }
        }
        self.results(y, last)
    }

    fn run_direction(
        &self,
        direction: usize,
        state: &mut [f64],
        y: &mut [f64],
        cell: &mut impl FnMut(ScanStep<'_>, &mut [f64]),
    ) -> Result<()> {
        let Scan { batch, hidden, width, .. } = *self;
        let directions = self.direction.count();
        let weighted = self.weighted_input(direction);
        let mut next = vec![0.0; state.len()];
        let mut from_input = vec![0.0; batch * width];
        for step in 0..self.steps {
            budget::check_time()?;
            let rows = from_input.chunks_exact_mut(width);
            for (b, row) in rows.enumerate() {
                let time = self.time(direction, step, b).unwrap_or(0);
                row.copy_from_slice(&weighted[self.position(time, b) * width..][..width]);
            }
            cell(ScanStep { direction, from_input: &from_input, state }, &mut next);
            for b in 0..batch {
                let Some(time) = self.time(direction, step, b) else { continue };
                for start in (0..state.len()).step_by(batch * hidden) {
                    let own = start + b * hidden..start + (b + 1) * hidden;
                    state[own.clone()].copy_from_slice(&next[own]);
                }
                let at = ((time * directions + direction) * batch + b) * hidden;
                y[at..][..hidden].copy_from_slice(&state[b * hidden..][..hidden]);
            }
        }
        Ok(())
    }

    /// The time that a sequence is at; none after its end.
    fn time(&self, direction: usize, step: usize, batch: usize) -> Option<usize> {
        let rest = self.lens[batch].checked_sub(step + 1)?;
        let reverse = self.direction == Direction::Reverse || direction == 1;
        Some(if reverse { rest } else { step })
    }

    /// Where a step of a sequence lies in the input.
    fn position(&self, time: usize, batch: usize) -> usize {
        if self.batch_first { batch * self.steps + time } else { time * self.batch + batch }
    }

    /// Weights all inputs of a direction and adds their bias, in the order of the input.
    fn weighted_input(&self, direction: usize) -> Vec<f64> {
        let rows = self.steps * self.batch;
        let bias = &self.bias[2 * direction * self.width..][..self.width];
        let mut out: Vec<f64> = Vec::with_capacity(rows * self.width);
        (0..rows).for_each(|_| out.extend(bias));
        let w = Matrix::new(&self.w[direction * self.width * self.input..], self.width, self.input);
        f64::multiply_add(Matrix::new(&self.x, rows, self.input), w.transposed(), &mut out);
        out
    }

    fn results(&self, y: Vec<f64>, last: Vec<Vec<f64>>) -> Result<Vec<Tensor>> {
        let (directions, batch, hidden) = (self.direction.count(), self.batch, self.hidden);
        let mut results = Vec::with_capacity(1 + last.len());
        let (y, shape) = match self.batch_first {
            false => (y, [self.steps, directions, batch, hidden]),
            true => {
                let moved = swap_outer(&y, [self.steps * directions, batch, hidden]);
                (moved, [batch, self.steps, directions, hidden])
            }
        };
        results.push(from_f64s(self.dtype, &shape, y)?);
        for state in last {
            let (state, shape) = match self.batch_first {
                false => (state, [directions, batch, hidden]),
                true => {
                    (swap_outer(&state, [directions, batch, hidden]), [batch, directions, hidden])
                }
            };
            results.push(from_f64s(self.dtype, &shape, state)?);
        }
        Ok(results)
    }
}

/// Exchanges the two outer dimensions.
fn swap_outer(data: &[f64], [rows, columns, run]: [usize; 3]) -> Vec<f64> {
    let mut out = Vec::with_capacity(data.len());
    for column in 0..if data.is_empty() { 0 } else { columns } {
        for row in 0..rows {
            out.extend(&data[(row * columns + column) * run..][..run]);
        }
    }
    out
}

fn read(name: &'static str, tensor: &Tensor, shape: &[usize]) -> Result<Vec<f64>> {
    if tensor.shape() != shape {
        return Err(refuse::shape(name, format!("shape {shape:?}"), tensor));
    }
    tensor.f64s()
}

fn lengths(
    name: &'static str,
    lens: Option<&Tensor>,
    steps: usize,
    batch: usize,
) -> Result<Vec<usize>> {
    let Some(lens) = lens else { return Ok(vec![steps; checked_count(DType::I64, &[batch])?]) };
    if lens.shape() != [batch] {
        return Err(refuse::shape(name, format!("shape [{batch}]"), lens));
    }
    let valid = |&len: &i64| usize::try_from(len).ok().filter(|&len| len <= steps);
    let list = lens.i64s()?;
    list.iter().map(valid).collect::<Option<Vec<_>>>().ok_or_else(|| {
        refuse::parameter(name, "sequence_lens", "numbers up to the number of steps", &list)
    })
}
