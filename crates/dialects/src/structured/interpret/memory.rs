//! The tensors that nests read and write.

use tangram_tensor::{DType, Tensor, checked_count};

use super::{InterpretError, Result, extents};
use crate::structured::{Temporary, TensorId, is_plain};

/// A tensor that nests write.
pub(super) struct Buffer {
    pub(super) element: DType,
    pub(super) extents: Vec<i64>,
    bytes: Vec<u8>,
    written: Vec<bool>,
}

impl Buffer {
    fn new(ty: &Temporary, symbols: &dyn Fn(&str) -> Option<i64>) -> Result<Buffer> {
        let extents = extents(&ty.extents, symbols)?;
        let shape: Vec<usize> = extents.iter().map(|&n| n as usize).collect();
        let count = checked_count(ty.element, &shape)?;
        if !is_plain(ty.element) {
            return Err(InterpretError::Malformed("elements have to be numbers of whole bytes"));
        }
        let bytes = vec![0; count * size(ty.element)];
        Ok(Buffer { element: ty.element, extents, bytes, written: vec![false; count] })
    }

    /// A tensor of which only some elements are written.
    pub(super) fn partial(tensor: &Tensor, written: Vec<bool>) -> Buffer {
        let extents = tensor.shape().iter().map(|&n| n as i64).collect();
        Buffer { element: tensor.dtype(), extents, bytes: tensor.bytes().to_vec(), written }
    }

    /// What is in it, and which elements are written.
    pub(super) fn parts(self) -> Result<(Tensor, Vec<bool>)> {
        let shape: Vec<usize> = self.extents.iter().map(|&n| n as usize).collect();
        Ok((Tensor::from_bytes(self.element, shape, self.bytes)?, self.written))
    }

    /// Writes `values`, one at each place.
    pub(super) fn write(&mut self, own: TensorId, places: &[usize], values: &Tensor) -> Result<()> {
        if values.dtype() != self.element || values.len() != places.len() {
            return Err(InterpretError::Malformed("a value has another type than its place"));
        }
        let size = size(self.element);
        for (&place, value) in places.iter().zip(values.bytes().chunks_exact(size)) {
            if std::mem::replace(&mut self.written[place], true) {
                return Err(InterpretError::Twice(own));
            }
            self.bytes[place * size..][..size].copy_from_slice(value);
        }
        Ok(())
    }

    /// What is in it.
    pub(super) fn tensor(&self) -> Result<Tensor> {
        let shape: Vec<usize> = self.extents.iter().map(|&n| n as usize).collect();
        Ok(Tensor::from_bytes(self.element, shape, self.bytes.clone())?)
    }
}

/// The bytes of an element.
fn size(element: DType) -> usize {
    element.size_bits().div_ceil(8)
}

/// All tensors of a definition.
pub(super) struct Memory<'a> {
    operands: &'a [Option<Tensor>],
    /// Which elements of operands are written; all where nothing says it.
    written: &'a [Option<&'a [bool]>],
    results: Vec<Option<Buffer>>,
    temporaries: Vec<Option<Buffer>>,
}

impl<'a> Memory<'a> {
    pub(super) fn new(
        operands: &'a [Option<Tensor>],
        results: &[Temporary],
        temporaries: &[Temporary],
        symbols: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<Memory<'a>> {
        let all = |types: &[Temporary]| {
            types.iter().map(|ty| Buffer::new(ty, symbols).map(Some)).collect::<Result<Vec<_>>>()
        };
        let (results, temporaries) = (all(results)?, all(temporaries)?);
        Ok(Memory { operands, written: &[], results, temporaries })
    }

    /// The tensors of one nest whose result is `into`.
    pub(super) fn of_nest(
        operands: &'a [Option<Tensor>],
        written: &'a [Option<&'a [bool]>],
        into: Buffer,
    ) -> Memory<'a> {
        Memory { operands, written, results: vec![Some(into)], temporaries: Vec::new() }
    }

    /// Which elements of a tensor are written; all where nothing says it.
    fn written(&self, place: TensorId) -> Option<&[bool]> {
        match (self.buffer(place), place) {
            (Some(buffer), _) => Some(&buffer.written),
            (None, TensorId::Operand(i)) => self.written.get(i).copied().flatten(),
            _ => None,
        }
    }

    fn slot(&mut self, place: TensorId) -> Option<&mut Option<Buffer>> {
        match place {
            TensorId::Operand(_) => None,
            TensorId::Result(i) => self.results.get_mut(i),
            TensorId::Temporary(i) => self.temporaries.get_mut(i),
        }
    }

    /// Takes the tensor that a nest writes: it cannot be read meanwhile.
    pub(super) fn take(&mut self, place: TensorId) -> Result<Buffer> {
        self.slot(place).and_then(Option::take).ok_or(InterpretError::Absent(place))
    }

    /// Puts it back.
    pub(super) fn put(&mut self, place: TensorId, buffer: Buffer) {
        if let Some(slot) = self.slot(place) {
            *slot = Some(buffer);
        }
    }

    /// The type of a tensor.
    pub(super) fn ty(&self, place: TensorId) -> Result<(DType, Vec<i64>)> {
        let absent = InterpretError::Absent(place);
        match self.buffer(place) {
            Some(buffer) => Ok((buffer.element, buffer.extents.clone())),
            None => {
                let TensorId::Operand(i) = place else { return Err(absent) };
                let tensor = self.operands.get(i).and_then(Option::as_ref).ok_or(absent)?;
                Ok((tensor.dtype(), tensor.shape().iter().map(|&n| n as i64).collect()))
            }
        }
    }

    fn buffer(&self, place: TensorId) -> Option<&Buffer> {
        match place {
            TensorId::Operand(_) => None,
            TensorId::Result(i) => self.results.get(i)?.as_ref(),
            TensorId::Temporary(i) => self.temporaries.get(i)?.as_ref(),
        }
    }

    /// The elements at `places`, `outside` where there is none.
    pub(super) fn gather(
        &self,
        place: TensorId,
        places: &[Option<usize>],
        outside: &[u8],
    ) -> Result<Tensor> {
        let (element, _) = self.ty(place)?;
        if !is_plain(element) {
            return Err(InterpretError::Malformed("elements have to be numbers of whole bytes"));
        }
        let size = size(element);
        let buffer = self.buffer(place);
        let bytes = match (buffer, place) {
            (Some(buffer), _) => &buffer.bytes[..],
            (None, TensorId::Operand(i)) => {
                self.operands.get(i).and_then(Option::as_ref).map_or(&[][..], |t| &t.bytes()[..])
            }
            _ => &[],
        };
        let written = self.written(place);
        let mut out = Vec::with_capacity(places.len() * size);
        for &at in places {
            let Some(at) = at else {
                out.extend_from_slice(outside);
                continue;
            };
            if written.is_some_and(|written| !written[at]) {
                return Err(InterpretError::Unwritten(place));
            }
            out.extend_from_slice(&bytes[at * size..][..size]);
        }
        Ok(Tensor::from_bytes(element, [places.len()], out)?)
    }

    /// The results, every element of which has to be written.
    pub(super) fn results(self) -> Result<Vec<Tensor>> {
        let all = self.results.into_iter().enumerate();
        all.map(|(i, buffer)| {
            let place = TensorId::Result(i);
            let buffer = buffer.ok_or(InterpretError::Absent(place))?;
            if buffer.written.iter().all(|&written| written) {
                buffer.tensor()
            } else {
                Err(InterpretError::Unwritten(place))
            }
        })
        .collect()
    }
}
