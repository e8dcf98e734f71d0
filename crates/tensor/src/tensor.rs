//! The dense tensor value.
//!
//! A tensor is an element type, a shape and its elements in row-major order. Bytes are little
//! endian and shared: a clone costs a reference count, and the bytes may belong to a mapped file,
//! so they need not be aligned. Types narrower than a byte are packed, first element lowest.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use ndarray::{ArrayD, IxDyn};
use num_traits::AsPrimitive;
use smallvec::SmallVec;

use crate::budget;
use crate::dispatch;
use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{KernelError, Result};
use crate::limit::limit;
use crate::packed;

#[cfg(target_endian = "big")]
compile_error!("tensor bytes are viewed in place, and they are little endian");

/// Sizes of the dimensions, outermost first. Empty for a scalar.
pub type Shape = SmallVec<[usize; 6]>;

/// The elements of a tensor.
#[derive(Clone, Debug)]
pub enum Data {
    /// Little-endian elements, packed when narrower than a byte; possibly unaligned.
    Bytes(Bytes),
    /// Text elements; ONNX promises UTF-8, and nothing checks it.
    Strings(Arc<[Vec<u8>]>),
}

/// A dense tensor; cheap to clone, never changed in place.
#[derive(Clone, Debug)]
pub struct Tensor {
    dtype: DType,
    shape: Shape,
    data: Data,
}

/// Lends the bytes of a vector of elements to [`Bytes`] without copying them.
struct Owned<T>(Vec<T>);

impl<T: Element> AsRef<[u8]> for Owned<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// Counts the elements of a shape; `None` on overflow.
///
/// The sizes other than 0 must not overflow even in an empty tensor, so that every product of
/// sizes of a tensor that exists is safe to compute.
pub fn element_count(shape: &[usize]) -> Option<usize> {
    let mut nonzero = shape.iter().filter(|&&size| size != 0);
    let product =
        nonzero.try_fold(1isize, |n, &size| n.checked_mul(isize::try_from(size).ok()?))?;
    Some(if shape.contains(&0) { 0 } else { product as usize })
}

/// Counts the elements of a result about to be made, and refuses one above [`MAX_BYTES`](crate::MAX_BYTES), or above
/// what [`within`](crate::within) allows.
///
/// # Errors
/// [`KernelError::TooLarge`]. A text element counts as a `Vec`.
pub fn checked_count(dtype: DType, shape: &[usize]) -> Result<usize> {
    let bytes = |n: usize| match dtype {
        DType::String => n.checked_mul(size_of::<Vec<u8>>()),
        _ => dtype.byte_len(n),
    };
    let limit = limit();
    match element_count(shape) {
        Some(n) if bytes(n).is_some_and(|b| b <= limit) => {
            budget::ask(bytes(n).unwrap_or(0))?;
            Ok(n)
        }
        _ => Err(KernelError::TooLarge { dtype, shape: shape.into(), limit }),
    }
}

impl Tensor {
    /// Makes a tensor that takes over a vector, without copying it.
    ///
    /// # Errors
    /// [`KernelError::BadLength`] if the shape asks for another number of elements.
    pub fn from_vec<T: Element>(shape: impl AsRef<[usize]>, data: Vec<T>) -> Result<Tensor> {
        let shape = shape.as_ref();
        check_length(T::DTYPE, shape, "elements", element_count(shape), data.len())?;
        let bytes = if data.is_empty() { Bytes::new() } else { Bytes::from_owner(Owned(data)) };
        Ok(Tensor { dtype: T::DTYPE, shape: shape.into(), data: Data::Bytes(bytes) })
    }

    /// Makes a tensor of any type but text from its little-endian bytes, without copying them.
    ///
    /// # Errors
    /// [`KernelError::BadLength`] if the shape asks for another number of bytes,
    /// [`KernelError::BadDType`] for [`DType::String`].
    pub fn from_bytes(
        dtype: DType,
        shape: impl AsRef<[usize]>,
        bytes: impl Into<Bytes>,
    ) -> Result<Tensor> {
        let (shape, bytes) = (shape.as_ref(), bytes.into());
        if dtype == DType::String {
            let expected = "a type of fixed width";
            return Err(KernelError::BadDType { kernel: "from_bytes", expected, found: dtype });
        }
        let expected = element_count(shape).and_then(|n| dtype.byte_len(n));
        check_length(dtype, shape, "bytes", expected, bytes.len())?;
        Ok(Tensor { dtype, shape: shape.into(), data: Data::Bytes(bytes) })
    }

    /// Makes a tensor of text.
    ///
    /// # Errors
    /// [`KernelError::BadLength`] if the shape asks for another number of elements.
    pub fn from_strings(
        shape: impl AsRef<[usize]>,
        strings: impl Into<Arc<[Vec<u8>]>>,
    ) -> Result<Tensor> {
        let (shape, strings) = (shape.as_ref(), strings.into());
        check_length(DType::String, shape, "elements", element_count(shape), strings.len())?;
        Ok(Tensor { dtype: DType::String, shape: shape.into(), data: Data::Strings(strings) })
    }

    /// Makes a tensor of rank 0.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        let bytes = Bytes::copy_from_slice(bytemuck::bytes_of(&value));
        Tensor { dtype: T::DTYPE, shape: Shape::new(), data: Data::Bytes(bytes) }
    }

    /// Makes a tensor of rank 1.
    pub fn vector<T: Element>(data: Vec<T>) -> Tensor {
        let shape = SmallVec::from_slice(&[data.len()]);
        Tensor { dtype: T::DTYPE, shape, data: Data::Bytes(Bytes::from_owner(Owned(data))) }
    }

    /// Returns the element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the sizes of the dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        element_count(&self.shape).expect("the data was measured against the shape")
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Returns the elements as they are stored.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the little-endian bytes; empty for text.
    pub fn bytes(&self) -> &Bytes {
        static NONE: Bytes = Bytes::new();
        match &self.data {
            Data::Bytes(bytes) => bytes,
            Data::Strings(_) => &NONE,
        }
    }

    /// Returns the text elements; `None` for every other type.
    pub fn strings(&self) -> Option<&[Vec<u8>]> {
        match &self.data {
            Data::Bytes(_) => None,
            Data::Strings(strings) => Some(strings),
        }
    }

    /// Returns the number of bytes of the elements; for text, of the characters alone.
    pub fn byte_len(&self) -> usize {
        match &self.data {
            Data::Bytes(bytes) => bytes.len(),
            Data::Strings(strings) => strings.iter().map(Vec::len).sum(),
        }
    }

    /// Lends the elements in place, if they have type `T` and lie aligned.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if self.dtype != T::DTYPE {
            return None;
        }
        bytemuck::checked::try_cast_slice(self.bytes()).ok()
    }

    /// Lends the elements, in place where they lie aligned and as a copy otherwise.
    ///
    /// # Errors
    /// [`KernelError::BadDType`] if the elements have another type.
    pub fn view<T: Element>(&self) -> Result<Cow<'_, [T]>> {
        if self.dtype != T::DTYPE {
            let (expected, found) = (T::DTYPE.name(), self.dtype);
            return Err(KernelError::BadDType { kernel: "view", expected, found });
        }
        Ok(match self.as_slice() {
            Some(slice) => Cow::Borrowed(slice),
            None => Cow::Owned(self.bytes().chunks_exact(size_of::<T>()).map(T::from_le).collect()),
        })
    }

    /// Copies the elements out.
    ///
    /// # Errors
    /// [`KernelError::BadDType`] if the elements have another type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.view().map(Cow::into_owned)
    }

    /// Copies into an `ndarray` array of the same shape.
    ///
    /// # Errors
    /// [`KernelError::BadDType`] if the elements have another type.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let data = self.to_vec()?;
        ArrayD::from_shape_vec(IxDyn(&self.shape), data).map_err(|_| KernelError::TooLarge {
            dtype: self.dtype,
            shape: self.shape().into(),
            limit: isize::MAX as usize,
        })
    }

    /// Takes over an `ndarray` array; copies only if it is not in row-major order.
    pub fn from_ndarray<T: Element>(array: ArrayD<T>) -> Tensor {
        let shape: Shape = array.shape().into();
        let whole = array.is_standard_layout();
        let data = match (whole, array.len()) {
            (true, len) => {
                let (mut data, offset) = array.into_raw_vec_and_offset();
                data.drain(..offset.unwrap_or(0));
                data.truncate(len);
                data
            }
            (false, _) => array.iter().copied().collect(),
        };
        Tensor { dtype: T::DTYPE, shape, data: Data::Bytes(Bytes::from_owner(Owned(data))) }
    }

    /// Converts integers of any width, and booleans, to `i64`.
    ///
    /// # Errors
    /// [`KernelError::BadDType`] for other types; [`KernelError::BadElement`] if an unsigned
    /// element exceeds `i64::MAX`.
    pub fn i64s(&self) -> Result<Vec<i64>> {
        budget::ask(self.len().saturating_mul(size_of::<i64>()))?;
        match self.dtype {
            DType::I64 => self.to_vec(),
            DType::Bool => Ok(self.view::<bool>()?.iter().map(|&b| i64::from(b)).collect()),
            DType::U64 => self.view::<u64>()?.iter().map(|&v| signed(v)).collect(),
            dtype if dtype.is_packed() && dtype.is_int() => {
                let codes = packed::unpack(self.bytes(), dtype, self.len());
                Ok(codes.into_iter().map(|code| packed::decode_int(dtype, code)).collect())
            }
            dtype => dispatch!(int, "i64s", dtype, T => {
                Ok(self.view::<T>()?.iter().map(|&v| v.as_()).collect())
            }),
        }
    }

    /// Converts numbers of any real type, and booleans, to `f64`; integers beyond 2^53 round.
    ///
    /// # Errors
    /// [`KernelError::BadDType`] for complex numbers and text.
    pub fn f64s(&self) -> Result<Vec<f64>> {
        budget::ask(self.len().saturating_mul(size_of::<f64>()))?;
        match self.dtype {
            DType::Bool => {
                Ok(self.view::<bool>()?.iter().map(|&b| f64::from(u8::from(b))).collect())
            }
            dtype if dtype.is_packed() && dtype.is_int() => {
                Ok(self.i64s()?.into_iter().map(|v| v as f64).collect())
            }
            dtype if packed::is_small_float(dtype) => {
                let codes = packed::unpack(self.bytes(), dtype, self.len());
                Ok(codes.into_iter().map(|c| f64::from(packed::decode_float(dtype, c))).collect())
            }
            dtype => dispatch!(number, "f64s", dtype, T => {
                Ok(self.view::<T>()?.iter().map(|&v| Number::to_f64(v)).collect())
            }),
        }
    }

    /// Whether all elements are the same, bit for bit. True for a tensor of one element, and for
    /// an empty one.
    pub fn is_splat(&self) -> bool {
        let bytes = match &self.data {
            Data::Strings(strings) => return strings.windows(2).all(|w| w[0] == w[1]),
            Data::Bytes(bytes) => bytes,
        };
        if self.dtype.is_packed() {
            let codes = packed::unpack(bytes, self.dtype, self.len());
            return codes.windows(2).all(|w| w[0] == w[1]);
        }
        // Equal to itself shifted by one element: one pass of the machine's memory comparison.
        let size = self.dtype.size_bits() / 8;
        bytes.len() <= size || bytes[size..] == bytes[..bytes.len() - size]
    }

    /// Gives the same elements another shape.
    ///
    /// # Errors
    /// [`KernelError::BadLength`] if the shape asks for another number of elements.
    pub fn reshaped(&self, shape: impl AsRef<[usize]>) -> Result<Tensor> {
        let shape = shape.as_ref();
        check_length(self.dtype, shape, "elements", element_count(shape), self.len())?;
        Ok(Tensor { dtype: self.dtype, shape: shape.into(), data: self.data.clone() })
    }

    /// Reads the same bytes as another type of the same width.
    ///
    /// # Errors
    /// [`KernelError::BadDType`] if the widths differ.
    pub fn bitcast(&self, dtype: DType) -> Result<Tensor> {
        if dtype.size_bits() != self.dtype.size_bits() {
            let expected = "a type of the same width";
            return Err(KernelError::BadDType { kernel: "bitcast", expected, found: dtype });
        }
        Ok(Tensor { dtype, shape: self.shape.clone(), data: self.data.clone() })
    }
}

/// Bitwise equality: type, shape and bytes. Two NaNs are equal when their bits are.
impl PartialEq for Tensor {
    fn eq(&self, other: &Tensor) -> bool {
        self.dtype == other.dtype
            && self.shape == other.shape
            && match (&self.data, &other.data) {
                (Data::Bytes(a), Data::Bytes(b)) => a == b,
                (Data::Strings(a), Data::Strings(b)) => a == b,
                _ => false,
            }
    }
}

fn signed(value: u64) -> Result<i64> {
    i64::try_from(value)
        .map_err(|_| KernelError::BadElement { to: DType::I64, found: value.to_string() })
}

fn check_length(
    dtype: DType,
    shape: &[usize],
    unit: &'static str,
    expected: Option<usize>,
    found: usize,
) -> Result<()> {
    match expected {
        None => Err(KernelError::TooLarge { dtype, shape: shape.into(), limit: usize::MAX }),
        Some(n) if n == found => Ok(()),
        Some(expected) => {
            Err(KernelError::BadLength { dtype, shape: shape.into(), unit, expected, found })
        }
    }
}
