//! What is known of some statements.

/// A value for each of some statements, which are numbers among all statements of a program.
///
/// An array over all statements would make a program of many parts that have nothing to do with
/// each other take the square of their number.
#[derive(Debug, Clone)]
pub(super) struct Places<T> {
    /// Sorted by statement.
    entries: Vec<(usize, T)>,
}

impl<T> Places<T> {
    pub fn get(&self, statement: usize) -> Option<&T> {
        let at = self.entries.binary_search_by_key(&statement, |(known, _)| *known).ok()?;
        Some(&self.entries[at].1)
    }

    /// The statements and their values, in the order of the statements.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.entries.iter().map(|(statement, value)| (*statement, value))
    }
}

impl<T> FromIterator<(usize, T)> for Places<T> {
    fn from_iter<I: IntoIterator<Item = (usize, T)>>(values: I) -> Self {
        let mut entries: Vec<(usize, T)> = values.into_iter().collect();
        entries.sort_by_key(|(statement, _)| *statement);
        Self { entries }
    }
}
