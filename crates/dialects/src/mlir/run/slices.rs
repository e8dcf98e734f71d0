//! Parts of tensors, tensors around others, and other shapes of the same elements.

use std::rc::Rc;

use tangram_ir::Op;

use super::{Datum, Elements, Machine, Result};
use crate::mlir::extents::{DYNAMIC, list};
use crate::mlir::fold::number::{self, Number};

/// Which elements of a tensor make a part of it.
pub(super) struct Part {
    pub(super) offsets: Vec<i64>,
    pub(super) sizes: Vec<i64>,
    pub(super) strides: Vec<i64>,
}

impl Part {
    /// The elements of the part in row-major order, each by its indices in the whole.
    pub(super) fn points(&self) -> Vec<Vec<i64>> {
        let mut points = vec![Vec::new()];
        for ((&offset, &size), &stride) in self.offsets.iter().zip(&self.sizes).zip(&self.strides) {
            let along = |point: Vec<i64>| {
                (0..size).map(move |i| [&point[..], &[offset + i * stride]].concat())
            };
            points = points.into_iter().flat_map(along).collect();
        }
        points
    }
}

impl Machine<'_> {
    /// `tensor.extract_slice`, `tensor.insert_slice`, reshapes and `tensor.pad`.
    pub(super) fn reshaped(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let one = |elements| Ok(vec![Datum::Tensor(Rc::new(elements))]);
        match (self.module.name_text(op), operands) {
            ("tensor.extract_slice", [Datum::Tensor(whole), rest @ ..]) => {
                let part = self.part(op, rest)?;
                let mut elements = self.result_of(op, &part.sizes)?;
                for (to, at) in elements.data.iter_mut().zip(part.points()) {
                    *to = self.load(op, whole, &at)?;
                }
                one(elements)
            }
            ("tensor.insert_slice", operands) => Ok(vec![self.inserted(op, operands)?]),
            ("tensor.collapse_shape" | "tensor.expand_shape", [Datum::Tensor(tensor), ..]) => {
                // Shapes here are known; elements stay in their order.
                let mut elements = self.result_of(op, &[])?;
                if elements.data.len() != tensor.data.len() {
                    return Err(self.undefined(op));
                }
                elements.data = tensor.data.clone();
                one(elements)
            }
            ("tensor.pad", [Datum::Tensor(tensor), rest @ ..]) => {
                let mut rest = self.ints(op, rest)?.into_iter();
                let low = self.mixed(op, "static_low", &mut rest)?;
                let high = self.mixed(op, "static_high", &mut rest)?;
                let around = tensor.extents.iter().zip(&low).zip(&high);
                let extents: Vec<i64> = around.map(|((n, low), high)| n + low + high).collect();
                if low.iter().chain(&high).any(|&n| n < 0) {
                    return Err(self.undefined(op));
                }
                self.padded(op, tensor, &low, extents)
            }
            ("tensor.generate", sizes) => self.generated(op, sizes),
            _ => Err(self.unsupported(op)),
        }
    }

    fn generated(&mut self, op: Op, sizes: &[Datum]) -> Result<Vec<Datum>> {
        let mut elements = self.blank(op, sizes)?;
        let extents = &elements.extents;
        let (offsets, strides) = (vec![0; extents.len()], vec![1; extents.len()]);
        let whole = Part { offsets, strides, sizes: extents.clone() };
        let region = self.module.region(op, 0);
        for (element, point) in elements.data.iter_mut().zip(whole.points()) {
            let args = point.into_iter().map(|at| Datum::Int(at.into())).collect();
            let given = self.region(op, region, args)?.1;
            *element = given.first().cloned().ok_or_else(|| self.unsupported(op))?;
        }
        Ok(vec![Datum::Tensor(Rc::new(elements))])
    }

    /// A constant tensor of numbers, of which all are the same or all are integers.
    pub(super) fn constant_tensor(&self, op: Op) -> Result<Vec<Datum>> {
        let context = self.module.context();
        let mut elements = self.result_of(op, &[])?;
        let wrong = || self.unsupported(op);
        let attr = self.module.attr(op, "value").ok_or_else(wrong)?;
        match number::splat(context, attr) {
            Some(Number::Int(value)) => elements.data.fill(Datum::Int(value)),
            Some(Number::Float(value)) => elements.data.fill(Datum::Float(value)),
            None => {
                let numbers = number::integers(context, attr, elements.data.len());
                elements.data = numbers.ok_or_else(wrong)?.into_iter().map(Datum::Int).collect();
            }
        }
        Ok(vec![Datum::Tensor(Rc::new(elements))])
    }

    /// A tensor with a part put into it.
    pub(super) fn inserted(&self, op: Op, operands: &[Datum]) -> Result<Datum> {
        let [Datum::Tensor(small), Datum::Tensor(whole), rest @ ..] = operands else {
            return Err(self.unsupported(op));
        };
        let mut elements = (**whole).clone();
        let points = self.part(op, rest)?.points();
        if points.len() != small.data.len() {
            return Err(self.undefined(op));
        }
        for (value, at) in small.data.iter().zip(points) {
            self.store(op, &mut elements, &at, value)?;
        }
        Ok(Datum::Tensor(Rc::new(elements)))
    }

    fn padded(
        &mut self,
        op: Op,
        tensor: &Elements,
        low: &[i64],
        extents: Vec<i64>,
    ) -> Result<Vec<Datum>> {
        let whole = Part {
            offsets: vec![0; extents.len()],
            strides: vec![1; extents.len()],
            sizes: extents.clone(),
        };
        let region = self.module.region(op, 0);
        let mut data = Vec::new();
        for point in whole.points() {
            let inner: Vec<i64> = point.iter().zip(low).map(|(at, low)| at - low).collect();
            let inside = inner.iter().zip(&tensor.extents).all(|(at, n)| (0..*n).contains(at));
            data.push(if inside {
                self.load(op, tensor, &inner)?
            } else {
                let args = point.iter().map(|&at| Datum::Int(at.into())).collect();
                let given = self.region(op, region, args)?.1;
                given.first().cloned().ok_or_else(|| self.unsupported(op))?
            });
        }
        Ok(vec![Datum::Tensor(Rc::new(Elements { extents, data }))])
    }

    /// Zeros in the shape of the result, which has no more dimensions than `sizes`.
    fn result_of(&self, op: Op, sizes: &[i64]) -> Result<Elements> {
        let (_, dims) = self.shape(op, self.module.value_type(self.module.result(op, 0)))?;
        let fixed: Option<Vec<i64>> = dims.iter().copied().collect();
        let extents = match fixed {
            Some(extents) => extents,
            None if dims.len() == sizes.len() => sizes.to_vec(),
            None => return Err(self.unsupported(op)),
        };
        let count: i64 = extents.iter().product();
        let asked: i64 = sizes.iter().product();
        if extents.iter().any(|&n| n < 0) || !sizes.is_empty() && asked != count {
            return Err(self.undefined(op));
        }
        Ok(Elements { extents, data: vec![Datum::Int(0); count as usize] })
    }

    pub(super) fn part(&self, op: Op, rest: &[Datum]) -> Result<Part> {
        let mut rest = self.ints(op, rest)?.into_iter();
        Ok(Part {
            offsets: self.mixed(op, "static_offsets", &mut rest)?,
            sizes: self.mixed(op, "static_sizes", &mut rest)?,
            strides: self.mixed(op, "static_strides", &mut rest)?,
        })
    }

    /// The numbers of attribute `name`, with those of operands in their places.
    pub(super) fn mixed(
        &self,
        op: Op,
        name: &str,
        operands: &mut impl Iterator<Item = i64>,
    ) -> Result<Vec<i64>> {
        let numbers = list(self.module, op, name).ok_or_else(|| self.unsupported(op))?;
        let numbers: Option<Vec<i64>> = numbers
            .into_iter()
            .map(|n| if n == DYNAMIC { operands.next() } else { Some(n) })
            .collect();
        numbers.ok_or_else(|| self.unsupported(op))
    }
}
