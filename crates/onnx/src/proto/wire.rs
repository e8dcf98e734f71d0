//! The scan of the wire form: whether it is well formed, and which fields nobody knows.
//!
//! One pass with a stack of its own, before anything is built. Payloads of bytes are skipped, so
//! the cost is that of the graph, not of the weights. What the scan finds wrong has a place: the
//! byte and the path of the message, `graph.node[3].attribute[1]`.

use std::collections::BTreeMap;
use std::fmt;

use super::schema::{Field, Kind, MAX_NUMBER, Message};

/// How many messages may be nested in the outermost one.
pub const MAX_DEPTH: usize = 100;

/// Is a place in an encoded model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireLocation {
    /// Bytes from the start.
    pub offset: u64,
    /// The field, from the outermost message on; empty at the very top.
    pub path: String,
}

impl fmt::Display for WireLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, " ({})", self.path) }
    }
}

/// Says what is wrong with an encoded message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes end inside a field.
    #[error("expected {expected} more bytes of the message, found {found}")]
    Truncated {
        /// Bytes that the field needs.
        expected: u64,
        /// Bytes that the message still has.
        found: u64,
    },
    /// An integer of variable length runs past 64 bits.
    #[error("an integer is longer than 64 bits")]
    Varint,
    /// A key has field number 0, one past 2^29, or a wire type that does not exist.
    #[error("{0:#x} is not the key of a field")]
    Key(u64),
    /// A known field has a wire type that does not belong to it.
    #[error("expected the wire type of {expected:?}, found {found}")]
    WireType {
        /// What the format says.
        expected: Kind,
        /// The number of the wire type.
        found: u8,
    },
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    Utf8,
    /// Messages are nested more than [`MAX_DEPTH`] deep.
    #[error("messages are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// A group ends that did not start, or ends with another number.
    #[error("a group ends that was not open")]
    EndGroup,
}

/// Says what is wrong with an encoded model, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct WireError {
    /// Where.
    pub place: WireLocation,
    /// What.
    pub problem: Malformed,
}

/// Reports a field that the format, as known here, does not have; decoding drops it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The message that holds it.
    pub message: Message,
    /// Its number.
    pub number: u32,
    /// Where it stands first.
    pub first: WireLocation,
    /// How often it stands in the model.
    pub count: usize,
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, number, first, count } = self;
        let name = message.name();
        write!(f, "unknown field {number} of {name}, {count} times, first at {first}")
    }
}

/// Walks the wire form of a `root` message.
///
/// Returns the unknown fields, one entry per message and number. O(bytes outside of payloads).
///
/// # Errors
/// The first thing that is malformed. Lengths inside packed fields are left to the decoder.
pub fn scan(bytes: &[u8], root: Message) -> Result<Vec<UnknownField>, WireError> {
    let outermost = Frame::new(root, bytes.len(), None, 0);
    let mut scan =
        Scan { bytes, at: 0, field: None, stack: vec![outermost], unknown: <_>::default() };
    while let Some(frame) = scan.stack.last() {
        if scan.at == frame.end {
            scan.stack.pop();
            continue;
        }
        let start = scan.at;
        scan.field().map_err(|problem| WireError { place: scan.place(start), problem })?;
    }
    Ok(scan.unknown.into_values().collect())
}

/// A message that is being walked.
struct Frame {
    message: Message,
    end: usize,
    /// The field of the message around it, and which one of its occurrences this is.
    of: Option<&'static Field>,
    index: u32,
    /// How often each field has stood in this message.
    counts: [u32; MAX_NUMBER as usize + 1],
}

impl Frame {
    fn new(message: Message, end: usize, of: Option<&'static Field>, index: u32) -> Self {
        Self { message, end, of, index, counts: [0; MAX_NUMBER as usize + 1] }
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The known field being read, with its occurrence, for the path of an error.
    field: Option<(&'static Field, u32)>,
    stack: Vec<Frame>,
    unknown: BTreeMap<(Message, u32), UnknownField>,
}

impl Scan<'_> {
    /// Reads one field of the innermost message.
    fn field(&mut self) -> Result<(), Malformed> {
        self.field = None;
        let start = self.at;
        let (number, wire) = self.key()?;
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        let Some(field) = frame.message.field(number) else {
            let message = frame.message;
            self.skip(number, wire)?;
            self.note_unknown(message, number, start);
            return Ok(());
        };
        let count = &mut frame.counts[number as usize];
        let index = *count;
        *count += 1;
        self.field = Some((field, index));
        match (wire, field.kind) {
            (0, Kind::Varint) => self.varint().map(drop),
            (1, Kind::Fixed64) => self.advance(8),
            (5, Kind::Fixed32) => self.advance(4),
            (2, kind) => self.delimited(field, kind, index),
            (found, expected) => Err(Malformed::WireType { expected, found }),
        }
    }

    fn delimited(
        &mut self,
        field: &'static Field,
        kind: Kind,
        index: u32,
    ) -> Result<(), Malformed> {
        let scalar = matches!(kind, Kind::Varint | Kind::Fixed32 | Kind::Fixed64);
        if scalar && !field.repeated {
            return Err(Malformed::WireType { expected: kind, found: 2 });
        }
        let len = self.varint()?;
        let start = self.at;
        self.advance(len)?;
        match kind {
            Kind::String if std::str::from_utf8(&self.bytes[start..self.at]).is_err() => {
                Err(Malformed::Utf8)
            }
            Kind::Message(_) if self.stack.len() > MAX_DEPTH => Err(Malformed::TooDeep),
            Kind::Message(message) => {
                self.stack.push(Frame::new(message, self.at, Some(field), index));
                self.at = start;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Steps over the value of an unknown field, a whole group if it opens one.
    fn skip(&mut self, number: u32, wire: u8) -> Result<(), Malformed> {
        let mut open = Vec::new();
        let (mut number, mut wire) = (number, wire);
        loop {
            match wire {
                0 => self.varint().map(drop)?,
                1 => self.advance(8)?,
                2 => {
                    let len = self.varint()?;
                    self.advance(len)?;
                }
                3 if self.stack.len() + open.len() > MAX_DEPTH => return Err(Malformed::TooDeep),
                3 => open.push(number),
                4 if open.pop() != Some(number) => return Err(Malformed::EndGroup),
                4 => {}
                _ => self.advance(4)?,
            }
            if open.is_empty() {
                return Ok(());
            }
            (number, wire) = self.key()?;
        }
    }

    fn key(&mut self) -> Result<(u32, u8), Malformed> {
        let key = self.varint()?;
        let wire = (key & 7) as u8;
        match u32::try_from(key) {
            Ok(key) if key >= 8 && wire <= 5 => Ok((key >> 3, wire)),
            _ => Err(Malformed::Key(key)),
        }
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let at = self.at;
            self.advance(1)?;
            let byte = self.bytes[at];
            if shift == 63 && byte > 1 {
                return Err(Malformed::Varint);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed::Varint)
    }

    fn advance(&mut self, expected: u64) -> Result<(), Malformed> {
        let end = self.stack.last().map_or(self.bytes.len(), |frame| frame.end);
        let found = (end - self.at) as u64;
        if expected > found {
            return Err(Malformed::Truncated { expected, found });
        }
        self.at += expected as usize;
        Ok(())
    }

    fn note_unknown(&mut self, message: Message, number: u32, start: usize) {
        if let Some(known) = self.unknown.get_mut(&(message, number)) {
            known.count += 1;
            return;
        }
        let first = self.place(start);
        self.unknown.insert((message, number), UnknownField { message, number, first, count: 1 });
    }

    fn place(&self, offset: usize) -> WireLocation {
        let around = self.stack.iter().filter_map(|frame| Some((frame.of?, frame.index)));
        let mut path = String::new();
        for (field, index) in around.chain(self.field) {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(field.name);
            if field.repeated {
                path.push_str(&format!("[{index}]"));
            }
        }
        WireLocation { offset: offset as u64, path }
    }
}
