//! Tables by pieces of the text that is read.

use rustc_hash::FxHashMap;

/// A value for each of some pieces of one text, by what they say.
pub(super) struct Texts<'a, V> {
    /// Those of at most 16 bytes, by these: nearly all. A number needs no look at the text.
    short: FxHashMap<u128, V>,
    long: FxHashMap<&'a [u8], V>,
}

impl<V> Default for Texts<'_, V> {
    fn default() -> Self {
        Texts { short: FxHashMap::default(), long: FxHashMap::default() }
    }
}

impl<'a, V: Copy> Texts<'a, V> {
    /// The value of `text[start..end]`.
    pub(super) fn find(&self, text: &'a [u8], start: usize, end: usize) -> Option<V> {
        match short(text, start, end) {
            Some(number) => self.short.get(&number).copied(),
            None => self.long.get(text.get(start..end)?).copied(),
        }
    }

    /// The value of `text[start..end]`, which becomes `new` if it has none.
    pub(super) fn find_or_insert(&mut self, text: &'a [u8], start: usize, end: usize, new: V) -> V {
        match short(text, start, end) {
            Some(number) => *self.short.entry(number).or_insert(new),
            None => *self.long.entry(text.get(start..end).unwrap_or(&[])).or_insert(new),
        }
    }
}

/// The bytes `start..end` as a number, if they are at most 16 and none is 0.
fn short(text: &[u8], start: usize, end: usize) -> Option<u128> {
    const SIZE: usize = size_of::<u128>();
    let unused = SIZE.checked_sub(end.checked_sub(start)?)?;
    let rest = text.get(start..)?;
    let bytes = match rest.first_chunk() {
        Some(&bytes) => u128::from_le_bytes(bytes),
        None => {
            let mut bytes = [0; SIZE];
            bytes[..rest.len()].copy_from_slice(rest);
            u128::from_le_bytes(bytes)
        }
    };
    bytes.checked_shl(8 * unused as u32)
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn what_says_the_same_is_the_same_wherever_it_stands() {
        let text = "%1 %123456789abcdefg %123456789abcdef %123456789abcde f %1 %123456789abcdefg \
                    %123456789abcdef %123456789abcde f %123456789abcdef %1";
        let (mut table, mut at, mut ids) = (Texts::default(), 0, Vec::new());
        for word in text.split(' ') {
            let (start, end) = (at, at + word.len());
            assert_eq!(table.find(text.as_bytes(), start, end).is_some(), ids.len() >= 5);
            ids.push(table.find_or_insert(text.as_bytes(), start, end, ids.len()));
            at = end + 1;
        }
        assert_eq!(ids, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 2, 0]);
    }
}
