//! The elements of a tensor, from whichever field or file holds them.

use bytes::Bytes;

use super::{ExternalData, ExternalFiles, TensorError};
use crate::proto::{DataType, TensorProto};

/// Holds the elements of a tensor in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorBytes {
    /// Element type.
    pub data_type: DataType,
    /// Size of each dimension.
    pub dims: Vec<usize>,
    /// The elements, as many as the dimensions say.
    pub elements: Elements,
}

/// Is a list of elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Little endian, row major; elements of 2, 4 and 6 bits packed from the lowest bit on.
    Bytes(Bytes),
    /// The strings of a tensor of `String`.
    Strings(Vec<Bytes>),
}

/// Returns the length in bytes of `count` elements, the last byte padded; `None` for `String` and
/// where it overflows.
pub fn byte_len(data_type: DataType, count: u64) -> Option<u64> {
    let bits = u128::from(data_type.bits()?) * u128::from(count);
    u64::try_from(bits.div_ceil(8)).ok()
}

/// Reads the elements of `tensor`, without a copy if they are in `raw_data` or in a file.
///
/// # Errors
/// [`TensorError`]: the elements do not agree with type and dimensions, or cannot be reached.
pub fn tensor_bytes(
    tensor: &TensorProto,
    files: &ExternalFiles,
) -> Result<TensorBytes, TensorError> {
    let code = tensor.data_type();
    let data_type = DataType::try_from(code).map_err(|_| TensorError::DataType(code))?;
    if data_type == DataType::Undefined {
        return Err(TensorError::DataType(code));
    }
    if tensor.segment.is_some() {
        return Err(TensorError::Segment);
    }
    let dims = dims(tensor)?;
    let count = element_count(&dims)?;
    let elements = if data_type == DataType::String {
        Elements::Strings(strings(tensor, count)?)
    } else {
        let expected = byte_len(data_type, count).ok_or(TensorError::TooLarge)?;
        Elements::Bytes(numbers(tensor, data_type, count, expected, files)?)
    };
    Ok(TensorBytes { data_type, dims, elements })
}

fn dims(tensor: &TensorProto) -> Result<Vec<usize>, TensorError> {
    let size = |(index, &found): (usize, &i64)| {
        if found < 0 {
            return Err(TensorError::Dimension { index, found });
        }
        usize::try_from(found).map_err(|_| TensorError::TooLarge)
    };
    tensor.dims.iter().enumerate().map(size).collect()
}

/// Multiplies the sizes; a size of 0 gives 0 however large the others are.
fn element_count(dims: &[usize]) -> Result<u64, TensorError> {
    if dims.contains(&0) {
        return Ok(0);
    }
    dims.iter()
        .try_fold(1u64, |count, &size| count.checked_mul(size as u64))
        .ok_or(TensorError::TooLarge)
}

fn strings(tensor: &TensorProto, count: u64) -> Result<Vec<Bytes>, TensorError> {
    if tensor.is_external() {
        return Err(TensorError::Field { expected: "string_data", found: "external_data" });
    }
    only_in(tensor, "string_data")?;
    entries("string_data", count, tensor.string_data.len())?;
    Ok(tensor.string_data.clone())
}

fn numbers(
    tensor: &TensorProto,
    data_type: DataType,
    count: u64,
    expected: u64,
    files: &ExternalFiles,
) -> Result<Bytes, TensorError> {
    let bytes = if tensor.is_external() {
        only_in(tensor, "external_data")?;
        files.bytes(&ExternalData::of(tensor)?, Some(expected))?
    } else {
        match &tensor.raw_data {
            Some(raw) if !raw.is_empty() => {
                only_in(tensor, "raw_data")?;
                raw.clone()
            }
            _ => typed(tensor, data_type, count)?.into(),
        }
    };
    let found = bytes.len() as u64;
    if found == expected { Ok(bytes) } else { Err(TensorError::Bytes { expected, found }) }
}

/// Checks that no other field than `expected` holds elements.
fn only_in(tensor: &TensorProto, expected: &'static str) -> Result<(), TensorError> {
    let fields = [
        ("raw_data", tensor.raw_data().is_empty()),
        ("float_data", tensor.float_data.is_empty()),
        ("int32_data", tensor.int32_data.is_empty()),
        ("int64_data", tensor.int64_data.is_empty()),
        ("uint64_data", tensor.uint64_data.is_empty()),
        ("double_data", tensor.double_data.is_empty()),
        ("string_data", tensor.string_data.is_empty()),
    ];
    match fields.iter().find(|(name, empty)| !empty && *name != expected) {
        Some((found, _)) => Err(TensorError::Field { expected, found }),
        None => Ok(()),
    }
}

fn entries(field: &'static str, expected: u64, found: usize) -> Result<(), TensorError> {
    let found = found as u64;
    if found == expected { Ok(()) } else { Err(TensorError::Entries { field, expected, found }) }
}

/// Reads the typed field that belongs to `data_type`.
fn typed(tensor: &TensorProto, data_type: DataType, count: u64) -> Result<Vec<u8>, TensorError> {
    use DataType::*;
    let (field, found) = match data_type {
        Float | Complex64 => ("float_data", tensor.float_data.len()),
        Double | Complex128 => ("double_data", tensor.double_data.len()),
        Int64 => ("int64_data", tensor.int64_data.len()),
        Uint32 | Uint64 => ("uint64_data", tensor.uint64_data.len()),
        _ => ("int32_data", tensor.int32_data.len()),
    };
    only_in(tensor, field)?;
    entries(field, entry_count(data_type, count).ok_or(TensorError::TooLarge)?, found)?;
    Ok(match field {
        "float_data" => tensor.float_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        "double_data" => tensor.double_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        "int64_data" => tensor.int64_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        "uint64_data" if data_type == Uint32 => narrow_u32(&tensor.uint64_data)?,
        "uint64_data" => tensor.uint64_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        _ => from_int32(&tensor.int32_data, data_type)?,
    })
}

/// How many entries of its typed field `count` elements take.
fn entry_count(data_type: DataType, count: u64) -> Option<u64> {
    match data_type {
        DataType::Complex64 | DataType::Complex128 => count.checked_mul(2),
        // Elements of 2 and 4 bits are packed to the bytes that the entries hold; those of 6 bits
        // are not.
        _ if matches!(data_type.bits(), Some(2 | 4)) => byte_len(data_type, count),
        _ => Some(count),
    }
}

fn narrow_u32(entries: &[u64]) -> Result<Vec<u8>, TensorError> {
    let mut bytes = Vec::with_capacity(entries.len() * 4);
    for (index, &found) in entries.iter().enumerate() {
        let Ok(value) = u32::try_from(found) else {
            let found = i128::from(found);
            return Err(TensorError::OutOfRange { field: "uint64_data", index, found });
        };
        bytes.extend(value.to_le_bytes());
    }
    Ok(bytes)
}

/// Narrows the entries of `int32_data`. Those of 16 bits and less may be written signed or unsigned.
fn from_int32(entries: &[i32], data_type: DataType) -> Result<Vec<u8>, TensorError> {
    let range = match data_type.bits() {
        Some(32) => i32::MIN..=i32::MAX,
        Some(16) => -0x8000..=0xffff,
        Some(6) => 0..=0x3f,
        _ => -0x80..=0xff,
    };
    if let Some(index) = entries.iter().position(|value| !range.contains(value)) {
        let found = i128::from(entries[index]);
        return Err(TensorError::OutOfRange { field: "int32_data", index, found });
    }
    Ok(match (data_type, data_type.bits()) {
        (DataType::Bool, _) => entries.iter().map(|&x| u8::from(x != 0)).collect(),
        (_, Some(32)) => entries.iter().flat_map(|x| x.to_le_bytes()).collect(),
        (_, Some(16)) => entries.iter().flat_map(|&x| (x as u16).to_le_bytes()).collect(),
        (_, Some(6)) => pack6(entries),
        _ => entries.iter().map(|&x| x as u8).collect(),
    })
}

/// Packs codes of 6 bits, four to three bytes, from the lowest bit on.
fn pack6(codes: &[i32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((codes.len() * 3).div_ceil(4));
    for four in codes.chunks(4) {
        let group = four.iter().rev().fold(0u32, |group, &code| group << 6 | code as u32);
        let used = (four.len() * 6).div_ceil(8);
        bytes.extend_from_slice(&group.to_le_bytes()[..used]);
    }
    bytes
}
