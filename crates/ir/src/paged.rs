//! Tables by the number of a handle that take memory only where they are used.

/// How many entries stand together.
const PAGE: usize = 1024;

/// A value for each number, all equal at first.
///
/// A pass that looks at one function of many makes one of these without touching what it would
/// need for the whole module. Each access is O(1).
///
/// ```
/// let mut marks = tangram_ir::Paged::new(false);
/// marks.set(1_000_000, true);
/// assert!(marks.get(1_000_000) && !marks.get(7));
/// ```
#[derive(Clone, Debug)]
pub struct Paged<T> {
    initial: T,
    /// Where each page begins in `entries`, plus one; 0 for a page that is as at first.
    starts: Vec<u32>,
    entries: Vec<T>,
}

impl<T: Copy> Paged<T> {
    /// A table in which every number has the value `initial`.
    pub fn new(initial: T) -> Paged<T> {
        Paged { initial, starts: Vec::new(), entries: Vec::new() }
    }

    /// The value of `number`.
    pub fn get(&self, number: u32) -> T {
        let (page, at) = split(number);
        match self.starts.get(page) {
            None | Some(0) => self.initial,
            Some(&start) => self.entries[(start - 1) as usize * PAGE + at],
        }
    }

    /// Gives `number` a value.
    pub fn set(&mut self, number: u32, value: T) {
        let (page, at) = split(number);
        if page >= self.starts.len() {
            self.starts.resize(page + 1, 0);
        }
        if self.starts[page] == 0 {
            self.entries.resize(self.entries.len() + PAGE, self.initial);
            self.starts[page] = (self.entries.len() / PAGE) as u32;
        }
        self.entries[(self.starts[page] - 1) as usize * PAGE + at] = value;
    }
}

fn split(number: u32) -> (usize, usize) {
    (number as usize / PAGE, number as usize % PAGE)
}

#[cfg(test)]
mod tests {
    use super::{PAGE, Paged};

    #[test]
    fn pages_appear_where_something_is_set() {
        let mut table = Paged::new(7u8);
        assert_eq!(table.get(u32::MAX), 7);
        for number in [5000, 0, PAGE as u32 - 1, PAGE as u32, 5001] {
            table.set(number, (number % 5) as u8);
        }
        assert_eq!([0, 1023, 1024, 1025, 5000, 5001].map(|n| table.get(n)), [0, 3, 4, 7, 0, 1]);
        assert_eq!(table.entries.len(), 3 * PAGE);
    }
}
