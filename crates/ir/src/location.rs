//! Where an operation comes from.
//!
//! Locations are interned. An operation read from text has one that costs nothing: its place in
//! the text, which becomes file, line and column when someone asks. A location that is fused keeps at
//! most [`LocData::MAX_FUSED`] parts, so that an operation which was rewritten a thousand times does
//! not carry a thousand locations; one that is read keeps all that the text says.

use parking_lot::Mutex;

use crate::attributes::Attr;
use crate::context::Str;

/// A handle of a location.
///
/// Equal handles say the same. Places in a text that was read and locations that were made one
/// by one have different handles, also where they say the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Loc(pub(crate) u32);

impl Loc {
    /// The location of what comes from nowhere in particular.
    pub const UNKNOWN: Loc = Loc(0);

    /// Set in a handle that counts positions in the texts of a context.
    const POSITION: u32 = 1 << 31;

    pub(crate) fn at_position(position: u32) -> Loc {
        Loc(position | Loc::POSITION)
    }

    /// The position among all texts of the context, for a place in a text.
    pub(crate) fn position(self) -> Option<u32> {
        (self.0 & Loc::POSITION != 0).then_some(self.0 & !Loc::POSITION)
    }
}

/// The texts that were read into a context: their bytes are numbered one after the other.
#[derive(Default)]
pub(crate) struct Sources {
    texts: boxcar::Vec<Source>,
    /// The number of the first byte of the next text.
    end: Mutex<u32>,
}

/// A text.
struct Source {
    file: Str,
    /// The number of its first byte.
    base: u32,
    /// Where each line starts, in bytes from the start.
    lines: Box<[u32]>,
}

/// The offset of the first byte of each line.
pub(crate) fn line_starts(text: &[u8]) -> Box<[u32]> {
    const LOW: u64 = u64::from_le_bytes([0x7F; 8]);
    const NEWLINES: u64 = u64::from_le_bytes([b'\n'; 8]);
    let mut starts = Vec::with_capacity(text.len() / 64 + 1);
    starts.push(0);
    let (words, rest) = text.as_chunks();
    for (i, word) in words.iter().enumerate() {
        // The top bit of each byte says whether it is a newline.
        let different = u64::from_le_bytes(*word) ^ NEWLINES;
        let mut found = !((different & LOW).wrapping_add(LOW) | different | LOW);
        while found != 0 {
            starts.push(i as u32 * 8 + found.trailing_zeros() / 8 + 1);
            found &= found - 1;
        }
    }
    let read = (text.len() - rest.len()) as u32;
    let newlines = (read..).zip(rest).filter(|&(_, &b)| b == b'\n');
    starts.extend(newlines.map(|(at, _)| at + 1));
    starts.into()
}

impl Sources {
    /// Numbers the bytes of `text`, and its end, and returns the number of the first; `None` when
    /// the numbers are used up.
    pub(crate) fn add(&self, file: Str, text: &str) -> Option<u32> {
        let size = u32::try_from(text.len()).ok()?.checked_add(1)?;
        let lines = line_starts(text.as_bytes());
        // The texts have to stand in the order of their numbers.
        let mut end = self.end.lock();
        let base = *end;
        let next = base.checked_add(size).filter(|&next| next <= Loc::POSITION)?;
        self.texts.push(Source { file, base, lines });
        *end = next;
        Some(base)
    }

    /// What stands at `position`.
    pub(crate) fn resolve(&self, position: u32) -> LocData {
        let (mut low, mut high) = (0, self.texts.count());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.texts[middle].base <= position { low = middle } else { high = middle }
        }
        let Some(source) = self.texts.get(low) else { return LocData::Unknown };
        let offset = position.saturating_sub(source.base);
        let line = source.lines.partition_point(|&start| start <= offset);
        let start = source.lines.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        LocData::File { file: source.file, line: line as u32, column: offset - start + 1 }
    }
}

/// What a location says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LocData {
    /// Nothing is known.
    Unknown,
    /// A place in a text file; `line` and `column` count from 1.
    File {
        /// The file as the user named it.
        file: Str,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
    /// A range of a text file, from the first place up to the last one; both count from 1.
    Range {
        /// The file as the user named it.
        file: Str,
        /// Line and column where it begins.
        start: (u32, u32),
        /// Line and column where it ends.
        end: (u32, u32),
    },
    /// A name in the source program, such as an ONNX node's.
    Name {
        /// The name.
        name: Str,
        /// Where that name stands, or [`Loc::UNKNOWN`].
        child: Loc,
    },
    /// Made from several places.
    Fused {
        /// The places, without repetition: sorted, at most [`LocData::MAX_FUSED`] of them, or all
        /// that the text which it was read from names, in that order.
        parts: Box<[Loc]>,
        /// What a producer says of it, such as the scope of LLVM's debug information.
        metadata: Option<Attr>,
    },
    /// `callee` seen through a call at `caller`.
    CallSite {
        /// The place in the called function.
        callee: Loc,
        /// The place of the call.
        caller: Loc,
    },
}

impl LocData {
    /// The most parts that fusing keeps; the earliest-interned ones stay.
    pub const MAX_FUSED: usize = 8;
}

#[cfg(test)]
mod tests {
    use super::line_starts;

    #[test]
    fn a_line_starts_behind_each_newline() {
        let mut random = 7u32;
        for length in 0..100 {
            let mut byte = || {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *[b'\n', b'\x0b', 0x8A, b'a', b'\t', 0].get(random as usize >> 29).unwrap_or(&0xFF)
            };
            let text: Vec<u8> = (0..length).map(|_| byte()).collect();
            let behind = |at: &usize| *at == 0 || text[at - 1] == b'\n';
            let expected: Vec<u32> = (0..=length).filter(behind).map(|at| at as u32).collect();
            assert_eq!(*line_starts(&text), *expected);
        }
    }
}
