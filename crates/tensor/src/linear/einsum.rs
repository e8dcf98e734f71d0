//! Einstein summation: ONNX `Einsum`.
//!
//! The operands are contracted from left to right. Each step sums the labels that nobody needs
//! any more and is otherwise one product of matrices for each place along the labels that both
//! operands and the rest need. With `ij,jk->ik`: `i` belongs to the left, `k` to the right, and
//! `j` is summed.

use smallvec::SmallVec;

use crate::elementwise::cast;
use crate::error::Result;
use crate::layout::{Nest, Strides, row_major};
use crate::linear::matmul::scalars;
use crate::linear::product::{Matrix, Scalar};
use crate::refuse;
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::{one_dtype, widen};

const NAME: &str = "einsum";

/// A letter, or the place of a dimension under the ellipsis counted from the last (above 127).
type Label = u32;

/// The first label of dimensions under the ellipsis.
const ELLIPSIS: Label = 128;

/// Sums products of elements over the labels of `equation` that the result lacks.
///
/// `equation`: the labels of each operand, letters, separated by commas; then, after `->`, those
/// of the result. Without `->`, the result has the dimensions of the ellipsis, then the labels
/// that occur once, by their character. `...` stands for any dimensions, aligned at the last. A
/// label that an operand has twice reads its diagonal. An extent of 1 broadcasts. Types and
/// tolerances are those of [`matmul`](crate::linear::matmul).
///
/// # Errors
/// [`BadParameter`](crate::KernelError::BadParameter) for an equation that does not fit,
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`TooLarge`](crate::KernelError::TooLarge).
pub fn einsum(equation: &str, operands: &[&Tensor]) -> Result<Tensor> {
    let dtype = one_dtype(NAME, operands)?;
    let parsed = Equation::parse(equation, operands)?;
    let shape: Shape = parsed.output.iter().map(|&label| parsed.extent(label)).collect();
    checked_count(dtype, &shape)?;
    let wide = operands.iter().map(|operand| widen(operand)).collect::<Result<Vec<_>>>()?;
    let Some(first) = wide.first() else {
        return Err(bad("at least one operand", equation));
    };
    let out = scalars!(NAME, first.dtype(), T => {
        Tensor::from_vec(&shape, parsed.contract::<T>(&wide)?)?
    });
    cast(&out, dtype)
}

fn bad(expected: &'static str, equation: &str) -> crate::KernelError {
    refuse::parameter(NAME, "equation", expected, equation)
}

/// An equation, laid over operands.
struct Equation {
    /// One label for each dimension of each operand.
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
    /// Extents other than 1, by label.
    extents: Vec<(Label, usize)>,
}

impl Equation {
    fn parse(equation: &str, operands: &[&Tensor]) -> Result<Equation> {
        let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let terms: Vec<&str> = left.split(',').collect();
        if terms.len() != operands.len() {
            return Err(bad("one term for each operand", equation));
        }
        let mut parsed = Equation { inputs: Vec::new(), output: Vec::new(), extents: Vec::new() };
        let mut hidden = 0;
        for (term, operand) in terms.iter().zip(operands) {
            let letters = term.chars().filter(|c| *c != '.').count();
            let under = operand.rank().checked_sub(letters);
            let under = under.ok_or_else(|| bad("as many letters as dimensions", equation))?;
            hidden = hidden.max(if term.contains('.') { under } else { 0 });
            let labels = labels(term, under).ok_or_else(|| bad("letters and `...`", equation))?;
            if labels.len() != operand.rank() {
                return Err(bad("as many letters as dimensions", equation));
            }
            parsed.note_extents(&labels, operand, equation)?;
            parsed.inputs.push(labels);
        }
        parsed.output = match right {
            Some(term) => labels(term, hidden).ok_or_else(|| bad("letters and `...`", equation))?,
            None => parsed.implicit_output(hidden),
        };
        parsed.check_output(equation)?;
        Ok(parsed)
    }

    fn note_extents(&mut self, labels: &[Label], operand: &Tensor, equation: &str) -> Result<()> {
        for (&label, &size) in labels.iter().zip(operand.shape()) {
            match self.extents.iter().find(|(other, _)| *other == label) {
                _ if size == 1 => {}
                None => self.extents.push((label, size)),
                Some(&(_, extent)) if extent == size => {}
                Some(_) => return Err(bad("equal extents for equal letters", equation)),
            }
        }
        Ok(())
    }

    fn implicit_output(&self, hidden: usize) -> Vec<Label> {
        let all = || self.inputs.iter().flatten().copied();
        let mut letters: Vec<Label> = all()
            .filter(|&label| label < ELLIPSIS && all().filter(|&l| l == label).count() == 1)
            .collect();
        letters.sort_unstable();
        (0..hidden).rev().map(|place| ELLIPSIS + place as Label).chain(letters).collect()
    }

    fn check_output(&self, equation: &str) -> Result<()> {
        let known = |label: &Label| self.inputs.iter().flatten().any(|other| other == label);
        let repeated = (1..self.output.len()).any(|i| self.output[..i].contains(&self.output[i]));
        if repeated || !self.output.iter().all(known) {
            return Err(bad("a result of distinct letters of the operands", equation));
        }
        Ok(())
    }

    fn extent(&self, label: Label) -> usize {
        self.extents.iter().find(|(other, _)| *other == label).map_or(1, |&(_, size)| size)
    }

    /// Contracts operands of type `T`; the result is in the order of the output.
    fn contract<T: Scalar>(&self, operands: &[Tensor]) -> Result<Vec<T>> {
        let mut left = self.term::<T>(0, operands)?;
        for index in 1..operands.len() {
            let right = self.term::<T>(index, operands)?;
            let needed = |label: &Label| {
                self.output.contains(label)
                    || self.inputs[index + 1..].iter().any(|input| input.contains(label))
            };
            left = self.contract_pair(left, right, needed)?;
        }
        Ok(self.arranged(&left, &self.output)?.data)
    }

    /// Reads an operand: diagonals once, extents of 1 not at all.
    fn term<T: Scalar>(&self, index: usize, operands: &[Tensor]) -> Result<Term<T>> {
        let (input, operand) = (&self.inputs[index], &operands[index]);
        let own = row_major(operand.shape());
        let mut labels: Vec<Label> = Vec::new();
        let mut steps: Strides = Strides::new();
        for (axis, &label) in input.iter().enumerate() {
            if operand.shape()[axis] == 1 {
                continue;
            }
            match labels.iter().position(|&other| other == label) {
                Some(at) => steps[at] += own[axis],
                None => {
                    labels.push(label);
                    steps.push(own[axis]);
                }
            }
        }
        let shape: Shape = labels.iter().map(|&label| self.extent(label)).collect();
        let mut data = Vec::with_capacity(checked_count(T::DTYPE, &shape)?);
        let source = operand.view::<T>()?;
        Nest::new(&shape, [&steps]).walk([0], |[at]| data.push(source[at as usize]));
        Ok(Term { labels, data })
    }

    /// Multiplies two terms and sums what is not `needed`.
    fn contract_pair<T: Scalar>(
        &self,
        left: Term<T>,
        right: Term<T>,
        needed: impl Fn(&Label) -> bool,
    ) -> Result<Term<T>> {
        let pick = |from: &Term<T>, keep: &dyn Fn(&Label) -> bool| {
            from.labels.iter().copied().filter(|label| keep(label)).collect::<Vec<_>>()
        };
        let both = |label: &Label| left.labels.contains(label) && right.labels.contains(label);
        let batch = pick(&left, &|label| both(label) && needed(label));
        let summed = pick(&left, &|label| both(label) && !needed(label));
        let rows = pick(&left, &|label| !both(label) && needed(label));
        let columns = pick(&right, &|label| !both(label) && needed(label));
        let count = |labels: &[Label]| {
            let sizes: Shape = labels.iter().map(|&label| self.extent(label)).collect();
            checked_count(T::DTYPE, &sizes)
        };
        let a = self.arranged(&left, &[&batch[..], &rows, &summed].concat())?;
        let b = self.arranged(&right, &[&batch[..], &summed, &columns].concat())?;
        let (m, k, n) = (count(&rows)?, count(&summed)?, count(&columns)?);
        let labels = [&batch[..], &rows, &columns].concat();
        let mut data = vec![T::default(); count(&labels)?];
        if !data.is_empty() && k > 0 {
            for (part, out) in data.chunks_exact_mut(m * n).enumerate() {
                let a = Matrix::new(&a.data[part * m * k..], m, k);
                let b = Matrix::new(&b.data[part * k * n..], k, n);
                T::multiply_add(a, b, out);
            }
        }
        Ok(Term { labels, data })
    }

    /// Brings the dimensions into the order `labels`; sums those that are not among them.
    fn arranged<T: Scalar>(&self, term: &Term<T>, labels: &[Label]) -> Result<Term<T>> {
        let shape: Shape = term.labels.iter().map(|&label| self.extent(label)).collect();
        let own = row_major(&shape);
        let place = |label: &Label| term.labels.iter().position(|other| other == label);
        let sizes: Shape = labels.iter().map(|&label| self.extent(label)).collect();
        let steps: Strides = labels.iter().map(|l| place(l).map_or(0, |at| own[at])).collect();
        let gone: SmallVec<[usize; 6]> =
            (0..shape.len()).filter(|&axis| !labels.contains(&term.labels[axis])).collect();
        let sums = Nest::new(
            &gone.iter().map(|&axis| shape[axis]).collect::<Shape>(),
            [&gone.iter().map(|&axis| own[axis]).collect::<Strides>()],
        );
        let mut data = Vec::with_capacity(checked_count(T::DTYPE, &sizes)?);
        Nest::new(&sizes, [&steps]).walk([0], |start| {
            let mut sum = T::default();
            sums.walk(start, |[at]| sum = sum.plus(term.data[at as usize]));
            data.push(sum);
        });
        Ok(Term { labels: labels.to_vec(), data })
    }
}

/// A tensor whose dimensions have labels, each once; row-major.
struct Term<T> {
    labels: Vec<Label>,
    data: Vec<T>,
}

/// Reads the labels of a term; `under` dimensions lie under its ellipsis, if it has one.
fn labels(term: &str, under: usize) -> Option<Vec<Label>> {
    let (front, back, under) = match term.split_once("...") {
        Some((front, back)) => (front, back, under),
        None => (term, "", 0),
    };
    let letters = |part: &str| {
        part.chars()
            .map(|c| c.is_ascii_alphabetic().then_some(c as Label))
            .collect::<Option<Vec<_>>>()
    };
    let mut labels = letters(front)?;
    labels.extend((0..under).rev().map(|place| ELLIPSIS + place as Label));
    labels.extend(letters(back)?);
    Some(labels)
}
