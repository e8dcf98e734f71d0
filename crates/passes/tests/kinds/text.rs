//! The text of a function that is being made.

use std::fmt::Write as _;

use crate::support::generate::Random;

/// Lines so far, and the values that they name.
pub struct Text {
    pub random: Random,
    pub out: String,
    next: usize,
    pub ints: Vec<String>,
    pub indices: Vec<String>,
}

impl Text {
    pub fn new(seed: u64, ints: &[&str], indices: &[&str]) -> Text {
        let names = |all: &[&str]| all.iter().map(|&name| name.to_owned()).collect();
        let (ints, indices) = (names(ints), names(indices));
        Text { random: Random::new(seed), out: String::new(), next: 0, ints, indices }
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    pub fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    pub fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    pub fn line(&mut self, text: &str) {
        writeln!(self.out, "{text}").expect("a string takes all");
    }

    /// A line that names a new value.
    pub fn named(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    pub fn constant(&mut self, value: i64) -> String {
        self.named(&format!("arith.constant {value} : index"))
    }

    /// `value` as a number, or as a constant operand; says which.
    pub fn number(&mut self, value: i64) -> (String, bool) {
        if self.flip() { (value.to_string(), true) } else { (self.constant(value), false) }
    }

    /// One of `all`, more often a late one.
    pub fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        let skip = if self.flip() { all.len() / 2 } else { 0 };
        all[skip + self.below(all.len() - skip)].clone()
    }

    pub fn int(&mut self) -> String {
        let ints = std::mem::take(&mut self.ints);
        let one = self.one_of(&ints);
        self.ints = ints;
        one
    }

    pub fn index(&mut self) -> String {
        let indices = std::mem::take(&mut self.indices);
        let one = self.one_of(&indices);
        self.indices = indices;
        one
    }
}
