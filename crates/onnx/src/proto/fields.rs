//! The fields of one message in wire form, one after the other.

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Payload<'a> {
    /// A number, of whatever wire type.
    Number,
    /// A text, bytes, packed numbers or a message.
    Bytes(&'a [u8]),
}

/// Reads fields in order; `None` for the first that is malformed, which ends it. Groups, which the
/// format of models has not, are malformed here.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of a message.
    pub(crate) fn of(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message }
    }

    fn field(&mut self) -> Option<(u32, Payload<'a>)> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|&number| number > 0)?;
        let payload = match key & 7 {
            0 => self.varint().map(|_| Payload::Number)?,
            1 => self.take(8).map(|_| Payload::Number)?,
            2 => {
                let length = self.varint()?;
                Payload::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Payload::Number)?,
            _ => return None,
        };
        Some((number, payload))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (at, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u32, Payload<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field)
    }
}
