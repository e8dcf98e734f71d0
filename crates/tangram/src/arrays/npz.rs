//! Archives of arrays, `.npz`: zip files whose members are `.npy` files.
//!
//! Members are stored as they are, as `numpy.savez` does; what `numpy.savez_compressed` writes is
//! refused. Source: PKWARE's APPNOTE, sections 4.3.7 (local header), 4.3.12 (central directory),
//! 4.3.16 (its end).

use bytes::Bytes;
use tangram_tensor::Tensor;

use super::npy::{NpyError, decode, encode};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// The bytes of an end without a comment.
const END_LENGTH: usize = 22;
/// The longest comment after it.
const LONGEST_COMMENT: usize = 0xffff;

/// Encodes named arrays as an archive.
///
/// # Errors
/// [`NpyError::Type`]: numpy has no such elements; [`NpyError::Archive`]: more than 4 GiB.
pub fn encode_npz(arrays: &[(String, Tensor)]) -> Result<Vec<u8>, NpyError> {
    let large = |_| NpyError::Archive("it has more than 4 GiB");
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, tensor) in arrays {
        let (name, data) = (format!("{name}.npy"), encode(tensor)?);
        let start = u32::try_from(file.len()).map_err(large)?;
        let length = u32::try_from(data.len()).map_err(large)?;
        let name_length =
            u16::try_from(name.len()).map_err(|_| NpyError::Archive("a name is too long"))?;
        // Version, flags (a name in UTF-8), stored, the first of January 1980, checksum, lengths.
        let mut common = Vec::new();
        for half in [20u16, 0x800, 0, 0, 0x21] {
            common.extend(half.to_le_bytes());
        }
        for word in [crc32(&data), length, length] {
            common.extend(word.to_le_bytes());
        }
        common.extend(name_length.to_le_bytes());
        common.extend(0u16.to_le_bytes());
        file.extend(LOCAL.to_le_bytes());
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(&data);
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend(20u16.to_le_bytes());
        directory.extend(&common);
        // No comment, first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let count = u16::try_from(arrays.len()).map_err(|_| NpyError::Archive("too many arrays"))?;
    let start = u32::try_from(file.len()).map_err(large)?;
    let length = u32::try_from(directory.len()).map_err(large)?;
    file.extend(&directory);
    file.extend(END.to_le_bytes());
    file.extend([0; 4]);
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    Ok(file)
}

/// Decodes an archive: its arrays by name.
///
/// # Errors
/// [`NpyError`]: it is no archive of arrays, or is compressed.
pub fn decode_npz(bytes: &Bytes) -> Result<Vec<(String, Tensor)>, NpyError> {
    let short = || NpyError::Archive("it ends early");
    let tail = bytes.len().saturating_sub(END_LENGTH + LONGEST_COMMENT);
    let last = bytes.len().checked_sub(END_LENGTH).ok_or_else(short)?;
    let end = (tail..=last).rev().find(|&at| word(bytes, at) == Some(END));
    let end = end.ok_or(NpyError::Archive("it has no directory"))?;
    let count = half(bytes, end + 10).ok_or_else(short)?;
    let mut at = word(bytes, end + 16).ok_or_else(short)? as usize;
    let mut arrays = Vec::new();
    for _ in 0..count {
        if word(bytes, at) != Some(CENTRAL) {
            return Err(NpyError::Archive("its directory is damaged"));
        }
        let field = |offset| word(bytes, at + offset).map(|n| n as usize).ok_or_else(short);
        let part = |offset| half(bytes, at + offset).map(usize::from).ok_or_else(short);
        if part(10)? != 0 {
            return Err(NpyError::Archive("it is compressed: numpy.savez does without"));
        }
        let (length, start) = (field(20)?, field(42)?);
        if length == u32::MAX as usize || start == u32::MAX as usize {
            return Err(NpyError::Archive("it has more than 4 GiB"));
        }
        let (name, extra, comment) = (part(28)?, part(30)?, part(32)?);
        let text = bytes.get(at + 46..at + 46 + name).ok_or_else(short)?;
        let text = String::from_utf8_lossy(text);
        let text = text.strip_suffix(".npy").unwrap_or(&text).to_owned();
        arrays.push((text, decode(member(bytes, start, length).ok_or_else(short)?)?));
        at += 46 + name + extra + comment;
    }
    Ok(arrays)
}

/// The data of the member whose local header starts at `start`.
fn member(bytes: &Bytes, start: usize, length: usize) -> Option<Bytes> {
    let (name, extra) = (half(bytes, start + 26)?, half(bytes, start + 28)?);
    let from = start + 30 + usize::from(name) + usize::from(extra);
    let to = from.checked_add(length)?;
    (word(bytes, start)? == LOCAL && to <= bytes.len()).then(|| bytes.slice(from..to))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The checksum of zip files: the remainder by the polynomial 0xedb88320, bits reflected.
fn crc32(data: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut rest = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                rest = if rest & 1 == 1 { rest >> 1 ^ 0xedb8_8320 } else { rest >> 1 };
                bit += 1;
            }
            table[byte] = rest;
            byte += 1;
        }
        table
    };
    !data.iter().fold(!0, |rest, &byte| rest >> 8 ^ TABLE[usize::from(rest as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_come_back_and_damaged_ones_are_refused() {
        // The check value of this checksum, of the digits 1 to 9.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let arrays = vec![
            ("x".to_owned(), Tensor::from_vec([2, 3], vec![1.5f32; 6]).expect("fits")),
            ("a/b".to_owned(), Tensor::scalar(7i64)),
            ("empty".to_owned(), Tensor::from_vec([0, 2], Vec::<u8>::new()).expect("fits")),
        ];
        let file = Bytes::from(encode_npz(&arrays).expect("encoded"));
        assert_eq!(decode_npz(&file).expect("decoded"), arrays);
        for end in 0..file.len() {
            assert!(decode_npz(&file.slice(..end)).is_err(), "cut at {end}");
        }
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let mut wrong = file.to_vec();
            wrong[random.usize(0..file.len())] ^= 1 << random.u8(0..8);
            // Whatever comes out, nothing panics.
            let _ = decode_npz(&wrong.into());
        }
        let text = Tensor::from_strings([1], vec![b"text".to_vec()]).expect("fits");
        assert!(encode_npz(&[("t".to_owned(), text)]).is_err());
    }
}
