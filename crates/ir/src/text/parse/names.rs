//! Names of values as numbers: a name is looked up once wherever it stands.

use super::texts::Texts;

/// A name, `%0` or `%arg1`, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NameId(u32);

impl NameId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of one text.
#[derive(Default)]
pub(super) struct Names<'a> {
    spellings: Vec<&'a str>,
    numbers: Texts<'a, NameId>,
}

impl<'a> Names<'a> {
    /// The number of the name `text[start..end]`.
    pub(super) fn number(&mut self, text: &'a str, start: usize, end: usize) -> NameId {
        let next = NameId(self.spellings.len() as u32);
        let id = self.numbers.find_or_insert(text.as_bytes(), start, end, next);
        if id == next {
            self.spellings.push(text.get(start..end).unwrap_or(""));
        }
        id
    }

    pub(super) fn spelling(&self, name: NameId) -> &'a str {
        self.spellings.get(name.index()).copied().unwrap_or("")
    }
}
