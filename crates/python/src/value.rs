//! Values of sessions: tensors whose memory Python sees as well, sequences, maps.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{IntoPyObjectExt, ffi};
use tangram::dialects::interpret::Datum;
use tangram::native::{Output, Shared, Target};
use tangram::tensor::{DType, Tensor, checked_count};

use crate::{EvaluationError, datum};

/// A value of a session. The memory of a tensor is an array's, or may be one's.
#[pyclass(module = "tangram._native", frozen)]
pub(crate) struct Value {
    datum: Datum,
    /// The memory of a tensor of numbers.
    memory: Option<Shared>,
    /// Whether nobody may write to it.
    readonly: bool,
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    EvaluationError::new_err(error.to_string())
}

fn no_memory(bytes: usize) -> PyErr {
    failed(format!("{bytes} bytes of memory could not be had"))
}

#[pymethods]
impl Value {
    /// Takes a value over: a copy.
    #[staticmethod]
    fn of(datum: &Bound<'_, PyAny>) -> PyResult<Value> {
        Value::owned(datum::from_python(datum)?)
    }

    /// The memory of an array in the order of C, without a copy; `None` for another order, or for
    /// elements that a buffer does not name.
    #[staticmethod]
    fn share(array: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
        let Ok(buffer) = PyUntypedBuffer::get(array) else { return Ok(None) };
        let Some(element) = element_of(&buffer).filter(|_| buffer.is_c_contiguous()) else {
            return Ok(None);
        };
        let shape = buffer.shape().to_vec();
        Value::over(buffer, element, &shape).map(Some)
    }

    /// The memory of a buffer of bytes, as a tensor of this type and shape.
    #[staticmethod]
    fn view_of(buffer: &Bound<'_, PyAny>, dtype: &str, shape: Vec<usize>) -> PyResult<Value> {
        let buffer = PyUntypedBuffer::get(buffer)?;
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("the bytes do not lie side by side"));
        }
        Value::over(buffer, dtype.parse().map_err(failed)?, &shape)
    }

    /// The memory at an address, whose owner keeps it as long as the value is used.
    #[staticmethod]
    fn at(address: usize, dtype: &str, shape: Vec<usize>) -> PyResult<Value> {
        let element: DType = dtype.parse().map_err(failed)?;
        let bytes = bytes_of(element, &shape)?;
        if address == 0 && bytes > 0 {
            return Err(PyValueError::new_err("there is nothing at address 0"));
        }
        // SAFETY: who gives an address promises what is there; Python cannot.
        let memory =
            unsafe { Shared::of(std::ptr::with_exposed_provenance_mut(address), bytes, None) };
        Value::shared(memory, element, &shape, false)
    }

    /// A tensor of zeros.
    #[staticmethod]
    fn zeros(dtype: &str, shape: Vec<usize>) -> PyResult<Value> {
        let element: DType = dtype.parse().map_err(failed)?;
        let bytes = bytes_of(element, &shape)?;
        let memory = Shared::zeroed(bytes).ok_or_else(|| no_memory(bytes))?;
        Value::shared(memory, element, &shape, false)
    }

    /// Copies the value out.
    fn get<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        datum::to_python(python, &self.datum())
    }

    /// Element type and shape of a tensor whose bytes this is a buffer of.
    fn tensor<'py>(&self, python: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Datum::Tensor(tensor), Some(_)) = (&self.datum, &self.memory) else { return Ok(None) };
        let described = (tensor.dtype().name(), tensor.shape().to_vec());
        described.into_bound_py_any(python).map(Some)
    }

    /// Where the bytes of a tensor begin.
    fn address(&self) -> Option<usize> {
        Some(self.memory.as_ref()?.start().expose_provenance())
    }

    /// Copies the bytes of a buffer here.
    fn write(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        let buffer = PyUntypedBuffer::get(buffer)?;
        let memory = self.memory.as_ref().filter(|_| !self.readonly);
        let memory =
            memory.ok_or_else(|| PyRuntimeError::new_err("the value cannot be written"))?;
        if buffer.len_bytes() != memory.len() || !buffer.is_c_contiguous() {
            let (given, here) = (buffer.len_bytes(), memory.len());
            let text = format!("{given} bytes are given, the value has {here}");
            return Err(PyRuntimeError::new_err(text));
        }
        // SAFETY: the buffer is held, of as many bytes, and side by side.
        memory.write(unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), memory.len()) });
        Ok(())
    }

    /// What it is: as `Session.inputs` says it; nothing where it is absent.
    fn kind<'py>(&self, python: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        described(python, &self.datum())
    }

    /// Lends the bytes of a tensor.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let value = slf.get();
        let Some(memory) = &value.memory else {
            return Err(PyBufferError::new_err("only a tensor of numbers has bytes"));
        };
        let len = ffi::Py_ssize_t::try_from(memory.len()).map_err(failed)?;
        let (start, readonly) = (memory.start().cast(), c_int::from(value.readonly));
        // SAFETY: `view` is the caller's, to be filled; the memory lives as long as the object does,
        // which the view keeps.
        let filled =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, readonly, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

impl Value {
    /// What the session reads: memory is lent anew each time, as others may have written to it.
    pub(crate) fn datum(&self) -> Datum {
        if let (Datum::Tensor(tensor), Some(memory)) = (&self.datum, &self.memory)
            && let Ok(lent) = memory.tensor(tensor.dtype(), tensor.shape())
        {
            return Datum::Tensor(lent);
        }
        self.datum.clone()
    }

    /// Where an output is to be written.
    pub(crate) fn target(&self) -> Option<Target> {
        let (Datum::Tensor(tensor), Some(memory)) = (&self.datum, &self.memory) else {
            return None;
        };
        let (element, shape) = (tensor.dtype(), tensor.shape().into());
        (!self.readonly).then(|| Target { memory: memory.clone(), element, shape })
    }

    /// An output; a tensor gets memory of its own if it has none.
    pub(crate) fn of_output(output: Output) -> PyResult<Value> {
        match output.memory {
            Some(memory) => {
                Ok(Value { datum: output.datum, memory: Some(memory), readonly: false })
            }
            None => Value::owned(output.datum),
        }
    }

    fn owned(datum: Datum) -> PyResult<Value> {
        match &datum {
            Datum::Tensor(tensor) if tensor.strings().is_none() => {
                let bytes = tensor.bytes();
                let memory = Shared::copied(bytes).ok_or_else(|| no_memory(bytes.len()))?;
                Value::shared(memory, tensor.dtype(), tensor.shape(), false)
            }
            _ => Ok(Value { datum, memory: None, readonly: false }),
        }
    }

    fn over(buffer: PyUntypedBuffer, element: DType, shape: &[usize]) -> PyResult<Value> {
        let (start, len) = (buffer.buf_ptr().cast::<u8>(), buffer.len_bytes());
        let readonly = buffer.readonly();
        // SAFETY: the buffer holds the memory; that nobody writes to it while a run lasts is what the
        // documentation of sessions asks for, as that of onnxruntime does.
        let memory = unsafe { Shared::of(start, len, Some(Box::new(buffer))) };
        Value::shared(memory, element, shape, readonly)
    }

    fn shared(memory: Shared, element: DType, shape: &[usize], readonly: bool) -> PyResult<Value> {
        let tensor: Tensor = memory.tensor(element, shape).map_err(failed)?;
        Ok(Value { datum: Datum::Tensor(tensor), memory: Some(memory), readonly })
    }
}

/// The bytes of a tensor.
fn bytes_of(element: DType, shape: &[usize]) -> PyResult<usize> {
    let count = checked_count(element, shape).map_err(failed)?;
    element.byte_len(count).ok_or_else(|| no_memory(usize::MAX))
}

/// The element type that a buffer names, if its bytes lie as those of tensors do.
fn element_of(buffer: &PyUntypedBuffer) -> Option<DType> {
    let format = buffer.format().to_bytes();
    let own_order: &[u8] = if cfg!(target_endian = "little") { b"<@=" } else { b">@=!" };
    let format = match format {
        [order, rest @ ..] if own_order.contains(order) => rest,
        all => all,
    };
    Some(match (format, buffer.item_size()) {
        (b"?", 1) => DType::Bool,
        (b"b", 1) => DType::I8,
        (b"B", 1) => DType::U8,
        (b"h", 2) => DType::I16,
        (b"H", 2) => DType::U16,
        (b"i" | b"l", 4) => DType::I32,
        (b"I" | b"L", 4) => DType::U32,
        (b"l" | b"q", 8) => DType::I64,
        (b"L" | b"Q", 8) => DType::U64,
        (b"e", 2) => DType::F16,
        (b"f", 4) => DType::F32,
        (b"d", 8) => DType::F64,
        (b"Zf", 8) => DType::C64,
        (b"Zd", 16) => DType::C128,
        _ => return None,
    })
}

fn described<'py>(python: Python<'py>, of: &Datum) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match of {
        Datum::Tensor(tensor) => {
            let described = ("tensor", tensor.dtype().name(), tensor.shape().to_vec());
            Some(described.into_bound_py_any(python)?)
        }
        Datum::Sequence(items) => {
            let first = match items.first() {
                Some(item) => described(python, item)?,
                None => None,
            };
            Some(("seq", first).into_bound_py_any(python)?)
        }
        Datum::Map { keys, values } => {
            let value = described(python, &Datum::Tensor(values.clone()))?;
            Some(("map", value, keys.dtype().name()).into_bound_py_any(python)?)
        }
        Datum::Optional(Some(held)) => described(python, held)?,
        Datum::Optional(None) | Datum::None => None,
    })
}

/// What a run looks at before each step: whether its caller wants it to end.
#[pyclass(module = "tangram._native", frozen)]
pub(crate) struct Flag(AtomicBool);

#[pymethods]
impl Flag {
    /// A flag that is not set.
    #[new]
    fn new() -> Flag {
        Flag(AtomicBool::new(false))
    }

    /// Sets the flag, or takes it back.
    fn set(&self, value: bool) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Whether it is set.
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Flag {
    pub(crate) fn as_atomic(&self) -> &AtomicBool {
        &self.0
    }
}
