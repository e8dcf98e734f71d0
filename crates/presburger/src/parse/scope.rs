//! The names that a formula may use, one per column.

use std::collections::HashMap;

/// The names in scope in the order of their columns; a later one hides an earlier one.
///
/// Lookups cost one hash, so that a tuple of many thousands of dimensions is read in linear time.
#[derive(Default)]
pub(super) struct Scope {
    names: Vec<String>,
    /// The columns of each name, the latest last.
    columns: HashMap<String, Vec<usize>>,
}

impl Scope {
    pub fn of(names: &[String]) -> Self {
        let mut scope = Self::default();
        names.iter().for_each(|name| scope.push(name.clone()));
        scope
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    /// Returns the column that a name means.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.get(name).and_then(|columns| columns.last()).copied()
    }

    pub fn push(&mut self, name: String) {
        self.columns.entry(name.clone()).or_default().push(self.names.len());
        self.names.push(name);
    }

    /// Drops the names from column `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.hide(len);
        self.names.truncate(len);
    }

    /// Makes the columns from `len` on ones that no name means.
    pub fn hide(&mut self, len: usize) {
        for at in (len..self.names.len()).rev() {
            let name = std::mem::take(&mut self.names[at]);
            if let Some(columns) = self.columns.get_mut(&name) {
                columns.pop();
                if columns.is_empty() {
                    self.columns.remove(&name);
                }
            }
        }
    }

    /// Puts a name before all others.
    pub fn prepend(&mut self, name: &str) {
        let rest = std::mem::take(self);
        self.push(name.to_owned());
        rest.names.into_iter().for_each(|name| self.push(name));
    }
}

#[cfg(test)]
mod tests {
    use super::Scope;

    #[test]
    fn a_later_name_hides_an_earlier_one_until_it_goes() {
        let mut scope = Scope::of(&["i".into(), "j".into()]);
        scope.push("i".into());
        assert_eq!((scope.column("i"), scope.column("j"), scope.len()), (Some(2), Some(1), 3));
        scope.truncate(2);
        assert_eq!(scope.column("i"), Some(0));
        scope.prepend("s");
        assert_eq!((scope.column("s"), scope.column("i")), (Some(0), Some(1)));
        scope.push("i".into());
        scope.hide(3);
        assert_eq!((scope.column("i"), scope.len()), (Some(1), 4));
        scope.truncate(0);
        assert!(!scope.contains("s") && scope.len() == 0);
    }
}
