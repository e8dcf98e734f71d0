//! Arrays in numpy's file format, `.npy`.
//!
//! ```text
//! \x93NUMPY, version, length of the header, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//! ```
//!
//! followed by the elements. Source: numpy's documentation of `numpy.lib.format`.

use std::path::Path;

use bytes::Bytes;
use tangram_tensor::{DType, Tensor};

/// Why a file is no array that can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The system refused.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file does not begin as it has to.
    #[error("not an array in numpy's format: {0}")]
    Header(&'static str),
    /// The elements have a type that tensors here cannot have.
    #[error("elements of type `{0}` are not supported")]
    Type(String),
    /// The elements stand in columns.
    #[error("arrays in Fortran's order are not supported")]
    Order,
    /// The file is an archive that is not of the plain kind.
    #[error("not an archive of arrays that can be read: {0}")]
    Archive(&'static str),
    /// There are not as many elements as the shape says.
    #[error("{0}")]
    Elements(#[from] tangram_tensor::KernelError),
}

/// Reads the array in the file at `path`.
///
/// # Errors
/// [`NpyError`]: the file cannot be read, or is no array of numbers.
pub fn read_npy(path: &Path) -> Result<Tensor, NpyError> {
    decode(std::fs::read(path)?.into())
}

pub(super) fn decode(bytes: Bytes) -> Result<Tensor, NpyError> {
    let short = || NpyError::Header("it ends early");
    let magic = bytes.get(..8).ok_or_else(short)?;
    if &magic[..6] != b"\x93NUMPY" {
        return Err(NpyError::Header("it begins otherwise"));
    }
    let (start, length) = match magic[6] {
        1 => (10, bytes.get(8..10).map(|n| u32::from(u16::from_le_bytes([n[0], n[1]])))),
        _ => (12, bytes.get(8..12).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]))),
    };
    let end = start + length.ok_or_else(short)? as usize;
    let header = bytes.get(start..end).ok_or_else(short)?;
    let header = std::str::from_utf8(header).map_err(|_| NpyError::Header("it is no text"))?;
    let after = |key: &'static str| {
        header.split_once(key).map(|found| found.1.trim_start()).ok_or(NpyError::Header(key))
    };
    if after("'fortran_order':")?.starts_with("True") {
        return Err(NpyError::Order);
    }
    let descr = after("'descr':")?.trim_start_matches('\'');
    let descr = descr.split('\'').next().unwrap_or_default();
    let dtype = dtype(descr).ok_or_else(|| NpyError::Type(descr.to_owned()))?;
    let shape = after("'shape':")?.trim_start_matches('(');
    let shape = shape.split(')').next().unwrap_or_default();
    let extents = shape.split(',').map(str::trim).filter(|text| !text.is_empty());
    let shape: Result<Vec<usize>, _> = extents.map(str::parse).collect();
    let shape = shape.map_err(|_| NpyError::Header("'shape':"))?;
    Ok(Tensor::from_bytes(dtype, shape, bytes.slice(end..))?)
}

/// What numpy calls the types that it has.
const TYPES: [(&str, DType); 14] = [
    ("<f2", DType::F16),
    ("<f4", DType::F32),
    ("<f8", DType::F64),
    ("|i1", DType::I8),
    ("<i2", DType::I16),
    ("<i4", DType::I32),
    ("<i8", DType::I64),
    ("|u1", DType::U8),
    ("<u2", DType::U16),
    ("<u4", DType::U32),
    ("<u8", DType::U64),
    ("|b1", DType::Bool),
    ("<c8", DType::C64),
    ("<c16", DType::C128),
];

fn dtype(descr: &str) -> Option<DType> {
    let plain = |text: &str| text.trim_start_matches(['<', '|']).to_owned();
    if descr.starts_with('>') {
        return None;
    }
    TYPES.iter().find(|(name, _)| plain(name) == plain(descr)).map(|row| row.1)
}

/// Encodes `tensor` as a file holds it.
///
/// # Errors
/// [`NpyError::Type`]: numpy has no such elements.
pub(super) fn encode(tensor: &Tensor) -> Result<Vec<u8>, NpyError> {
    let row = TYPES.iter().find(|(_, dtype)| *dtype == tensor.dtype());
    let (descr, _) = row.ok_or_else(|| NpyError::Type(tensor.dtype().name().to_owned()))?;
    let shape: Vec<String> = tensor.shape().iter().map(|n| format!("{n},")).collect();
    let shape = shape.join(" ");
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Elements start at a multiple of 64 bytes.
    let padding = 63 - (10 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let length =
        u16::try_from(header.len()).map_err(|_| NpyError::Header("its rank is too high"))?;
    file.extend(length.to_le_bytes());
    file.extend(header.as_bytes());
    file.extend_from_slice(tensor.bytes());
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(header: &str, data: &[u8]) -> Bytes {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes.into()
    }

    #[test]
    fn arrays_are_read_and_what_is_none_is_refused() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
        let data: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let found = decode(array(header, &data)).expect("an array");
        assert_eq!((found.shape(), found.f64s().expect("floats")), (&[1, 2][..], vec![1.5, -2.0]));
        let scalar = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }";
        assert_eq!(decode(array(scalar, &[1])).expect("a scalar").shape(), &[] as &[usize]);
        assert!(decode(array(header, &data[..5])).is_err(), "too few elements");
        assert!(decode(array(&header.replace("False", "True"), &data)).is_err());
        assert!(decode(array(&header.replace("<f4", ">f4"), &data)).is_err());
        for end in 0..20 {
            assert!(decode(array(header, &data).slice(..end)).is_err());
        }
    }
}
