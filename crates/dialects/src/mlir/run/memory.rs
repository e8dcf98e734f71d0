//! Tensors, and affine operations without regions.

use std::rc::Rc;

use tangram_ir::{Op, Type, TypeData, Value};

use super::{Datum, Elements, Machine, Result};

impl Machine<'_> {
    pub(super) fn memory(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let one = |datum| Ok(vec![datum]);
        match (self.module.name_text(op), operands) {
            ("tensor.extract", [Datum::Tensor(tensor), indices @ ..]) => {
                let at = self.ints(op, indices)?;
                one(self.load(op, tensor, &at)?)
            }
            ("tensor.insert", [value, Datum::Tensor(tensor), indices @ ..]) => {
                let (at, mut new) = (self.ints(op, indices)?, (**tensor).clone());
                self.store(op, &mut new, &at, value)?;
                one(Datum::Tensor(Rc::new(new)))
            }
            ("tensor.from_elements", data) => {
                let mut elements = self.blank(op, &[])?;
                if elements.data.len() != data.len() {
                    return Err(self.unsupported(op));
                }
                elements.data = data.to_vec();
                one(Datum::Tensor(Rc::new(elements)))
            }
            ("tensor.splat", [value, sizes @ ..]) => {
                let mut elements = self.blank(op, sizes)?;
                elements.data.fill(value.clone());
                one(Datum::Tensor(Rc::new(elements)))
            }
            ("tensor.empty", sizes) => one(Datum::Tensor(Rc::new(self.blank(op, sizes)?))),
            ("tensor.cast", [tensor @ Datum::Tensor(_)]) => one(tensor.clone()),
            ("tensor.dim", [Datum::Tensor(tensor), index]) => {
                self.extent(op, &tensor.extents, index)
            }
            ("tensor.rank", [Datum::Tensor(tensor)]) => {
                one(Datum::Int(tensor.extents.len() as i128))
            }
            _ => self.reshaped(op, operands),
        }
    }

    pub(super) fn extent(&self, op: Op, extents: &[i64], index: &Datum) -> Result<Vec<Datum>> {
        let at = self.ints(op, std::slice::from_ref(index))?[0];
        let extent = usize::try_from(at).ok().and_then(|at| extents.get(at));
        Ok(vec![Datum::Int(i128::from(*extent.ok_or_else(|| self.undefined(op))?))])
    }

    /// The element type and extents of a buffer or tensor type.
    pub(super) fn shape(&self, op: Op, ty: Type) -> Result<(Type, Vec<Option<i64>>)> {
        let (dims, element) = match self.module.context().type_data(ty) {
            TypeData::MemRef { dims, element, layout: None, .. } => (&dims[..], *element),
            TypeData::Tensor(tensor) => (&tensor.dims[..], tensor.element),
            _ => return Err(self.unsupported(op)),
        };
        Ok((element, dims.iter().map(|dim| dim.as_static()).collect()))
    }

    /// Zeros in the shape of the result, where `sizes` are the extents that are not constant.
    pub(super) fn blank(&self, op: Op, sizes: &[Datum]) -> Result<Elements> {
        const MOST: i64 = 1 << 20;
        let result: Value = self.module.result(op, 0);
        let (element, dims) = self.shape(op, self.module.value_type(result))?;
        let mut sizes = self.ints(op, sizes)?.into_iter();
        let extents: Option<Vec<i64>> =
            dims.into_iter().map(|dim| dim.or_else(|| sizes.next())).collect();
        let extents = extents.ok_or_else(|| self.unsupported(op))?;
        let count = extents.iter().try_fold(1i64, |n, &extent| {
            if extent < 0 { None } else { n.checked_mul(extent).filter(|&n| n <= MOST) }
        });
        let count = count.ok_or_else(|| self.undefined(op))?;
        let zero = match self.module.context().type_data(element) {
            TypeData::Float(_) => Datum::Float(0.0),
            _ => Datum::Int(0),
        };
        Ok(Elements { extents, data: vec![zero; count as usize] })
    }

    fn position(&self, op: Op, extents: &[i64], at: &[i64]) -> Result<usize> {
        let inside = at.len() == extents.len()
            && at.iter().zip(extents).all(|(at, extent)| (0..*extent).contains(at));
        if !inside {
            return Err(self.undefined(op));
        }
        Ok(at
            .iter()
            .zip(extents)
            .fold(0, |sum, (&at, &extent)| sum * extent as usize + at as usize))
    }

    pub(super) fn load(&self, op: Op, elements: &Elements, at: &[i64]) -> Result<Datum> {
        Ok(elements.data[self.position(op, &elements.extents, at)?].clone())
    }

    pub(super) fn store(
        &self,
        op: Op,
        elements: &mut Elements,
        at: &[i64],
        value: &Datum,
    ) -> Result<Vec<Datum>> {
        let position = self.position(op, &elements.extents, at)?;
        elements.data[position] = value.clone();
        Ok(Vec::new())
    }

    /// An affine operation without regions.
    pub(super) fn affine(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        if self.module.name_text(op).ends_with("linearize_index") {
            return self.digits(op, operands);
        }
        let map = self.map(op, "map")?;
        let mapped = |operands: &[Datum]| {
            let point = self.ints(op, operands)?;
            map.evaluate(&point).ok_or_else(|| self.unsupported(op))
        };
        let int = |value: Option<i64>| {
            let value = value.ok_or_else(|| self.unsupported(op))?;
            Ok(vec![Datum::Int(value.into())])
        };
        match (self.module.name_text(op), operands) {
            ("affine.apply", point) => int(mapped(point)?.first().copied()),
            ("affine.min", point) => int(mapped(point)?.into_iter().min()),
            ("affine.max", point) => int(mapped(point)?.into_iter().max()),
            ("affine.prefetch", _) => Ok(Vec::new()),
            ("affine.load", [buffer, point @ ..]) => {
                Ok(vec![self.read(op, buffer, &mapped(point)?)?])
            }
            ("affine.store", [value, buffer, point @ ..]) => {
                self.write(op, buffer, &mapped(point)?, value)
            }
            _ => Err(self.unsupported(op)),
        }
    }
}
