//! Random functions over arith, func, cf, scf, affine and memref, in MLIR's generic form.
//!
//! Each function takes `(i32, i32, i1, index)` and a buffer of [`CELLS`] integers, which it may
//! change, and returns `(i32, i1, index)`. All loops end soon, all accesses are inside.

mod control;
mod foreign;
mod memory;

use std::fmt::Write as _;

/// How many elements every buffer has.
pub const CELLS: u64 = 8;
const DEEPEST: usize = 3;

/// Marsaglia's xorshift, so that every run tests the same, behind a list of choices made before.
pub struct Random {
    state: u64,
    /// What is chosen first, the last byte before all others.
    choices: Vec<u8>,
}

impl Random {
    /// Chooses by `bytes` until there are none left: small changes of them change the result a little.
    pub fn choosing(bytes: &[u8]) -> Random {
        Random { choices: bytes.iter().rev().copied().collect(), ..Random::new(1) }
    }

    pub fn new(seed: u64) -> Random {
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut random = Random { state, choices: Vec::new() };
        // Seeds that are close to each other start alike.
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    pub fn below(&mut self, n: u64) -> u64 {
        if let Some(choice) = self.choices.pop() {
            let more = if n > 256 { self.choices.pop() } else { None };
            return (u64::from(choice) | u64::from(more.unwrap_or(0)) << 8) % n;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % n
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}

/// The values that are known, by type.
#[derive(Clone, Copy, Default)]
struct Known {
    ints: usize,
    bools: usize,
    indices: usize,
    affine: usize,
    buffers: usize,
}

pub struct Generator {
    random: Random,
    out: String,
    next: usize,
    ints: Vec<String>,
    bools: Vec<String>,
    indices: Vec<String>,
    /// Indices that affine maps may use.
    affine: Vec<String>,
    buffers: Vec<String>,
    depth: usize,
    left: usize,
    /// Whether operations of unknown dialects are among the statements.
    foreign: bool,
}

/// A function called `f{seed}` with about `size` operations; it may call `f{seed - 1}`, if
/// `calls`.
pub fn function(seed: u64, size: usize, calls: bool) -> String {
    function_of(Random::new(seed), seed, size, calls)
}

/// As [`function`], with choices of its own.
pub fn function_of(random: Random, number: u64, size: usize, calls: bool) -> String {
    let mut g = Generator::new(random, size);
    while g.left > 0 {
        g.left -= 1;
        match g.random.below(24) {
            0 => g.diamond(),
            1 if calls => g.call(number - 1),
            _ => g.statement(),
        }
    }
    g.func(number)
}

/// A module of functions, some of dialects that only `mlir-opt` knows, in which operations of
/// unknown dialects stand with properties, attributes and regions of all kinds.
pub fn foreign_module(seed: u64, size: usize) -> String {
    foreign::module(seed, size)
}

impl Generator {
    fn new(random: Random, size: usize) -> Generator {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        Generator {
            random,
            out: String::new(),
            next: 0,
            ints: names(&["%x", "%y"]),
            bools: names(&["%c"]),
            indices: names(&["%n"]),
            affine: names(&["%n"]),
            buffers: names(&["%b"]),
            depth: 0,
            left: size,
            foreign: false,
        }
    }

    /// What was made, as the body of the function `f{number}`.
    fn func(mut self, number: u64) -> String {
        let (int, boolean) = (self.late(|g| &g.ints), self.late(|g| &g.bools));
        let index = self.late(|g| &g.indices);
        format!(
            "\"func.func\"() <{{sym_name = \"f{number}\", function_type = (i32, i32, i1, index, \
             memref<8xi32>) -> (i32, i1, index)}}> ({{\n^bb0(%x: i32, %y: i32, %c: i1, %n: index, \
             %b: memref<8xi32>):\n{}  \"func.return\"({int}, {boolean}, {index}) : (i32, i1, \
             index) -> ()\n}}) : () -> ()\n",
            self.out
        )
    }

    /// One of the last values of a list, so that what is made is used.
    fn late(&mut self, list: impl Fn(&Generator) -> &Vec<String>) -> String {
        let length = list(self).len();
        let back = self.random.below(length.min(4) as u64) as usize;
        list(self)[length - 1 - back].clone()
    }

    fn int(&mut self) -> String {
        let all = std::mem::take(&mut self.ints);
        let one = self.random.one_of(&all);
        self.ints = all;
        one
    }

    fn bool(&mut self) -> String {
        let all = std::mem::take(&mut self.bools);
        let one = self.random.one_of(&all);
        self.bools = all;
        one
    }

    fn index(&mut self) -> String {
        let all = std::mem::take(&mut self.indices);
        let one = self.random.one_of(&all);
        self.indices = all;
        one
    }

    fn affine_value(&mut self) -> String {
        let all = std::mem::take(&mut self.affine);
        let one = self.random.one_of(&all);
        self.affine = all;
        one
    }

    fn buffer(&mut self) -> String {
        let all = std::mem::take(&mut self.buffers);
        let one = self.random.one_of(&all);
        self.buffers = all;
        one
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        writeln!(self.out, "  {text}").expect("text grows");
    }

    /// An operation with one result.
    fn value(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    fn constant(&mut self, value: i64, ty: &str) -> String {
        self.value(&format!("\"arith.constant\"() <{{value = {value} : {ty}}}> : () -> {ty}"))
    }

    fn known(&self) -> Known {
        Known {
            ints: self.ints.len(),
            bools: self.bools.len(),
            indices: self.indices.len(),
            affine: self.affine.len(),
            buffers: self.buffers.len(),
        }
    }

    fn forget(&mut self, known: Known) {
        self.ints.truncate(known.ints);
        self.bools.truncate(known.bools);
        self.indices.truncate(known.indices);
        self.affine.truncate(known.affine);
        self.buffers.truncate(known.buffers);
    }

    /// What `inside` writes, as a region; what it makes is not known outside.
    fn nested(&mut self, inside: impl FnOnce(&mut Generator)) -> String {
        let (known, outer) = (self.known(), std::mem::take(&mut self.out));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.forget(known);
        std::mem::replace(&mut self.out, outer)
    }

    fn some_statements(&mut self) {
        for _ in 0..self.random.below(4) {
            self.left = self.left.saturating_sub(1);
            self.statement();
        }
    }

    fn statement(&mut self) {
        let deep = self.depth >= DEEPEST;
        if self.foreign && self.random.below(4) == 0 {
            return self.foreign_statement(deep);
        }
        match self.random.below(32) {
            0..=2 => self.new_constant(),
            3..=9 => self.binary(),
            10 | 11 => self.compare(),
            12 => self.select(),
            13 => self.cast(),
            14 | 15 => self.index_arithmetic(),
            16 => self.load(),
            17 => self.store(),
            18 => self.alloc(),
            19 | 20 => self.apply(),
            21 => self.bound(),
            22 => self.affine_load(),
            23 => self.affine_store(),
            24 | 25 if !deep => self.scf_if(),
            26 | 27 if !deep => self.scf_for(),
            28 | 29 if !deep => self.affine_for(),
            30 if !deep => self.affine_if(),
            31 if !deep => self.scf_while(),
            _ => self.binary(),
        }
    }

    fn new_constant(&mut self) {
        let value = self.random.one_of(&[-1i64, 0, 1, 2, 7, -8]);
        match self.random.below(4) {
            0 => {
                let name = self.constant(value.abs(), "index");
                self.indices.push(name);
            }
            1 => {
                let text = self.random.one_of(&["true", "false"]);
                let name =
                    self.value(&format!("\"arith.constant\"() <{{value = {text}}}> : () -> i1"));
                self.bools.push(name);
            }
            _ => {
                let name = self.constant(value, "i32");
                self.ints.push(name);
            }
        }
    }

    fn binary(&mut self) {
        const INT: &[&str] = &[
            "addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui", "minsi", "maxui",
            "addi",
        ];
        if self.random.below(6) == 0 {
            let name = self.random.one_of(&["andi", "ori", "xori"]);
            let (a, b) = (self.bool(), self.bool());
            let value = self.value(&format!("\"arith.{name}\"({a}, {b}) : (i1, i1) -> i1"));
            self.bools.push(value);
            return;
        }
        let name = self.random.one_of(INT);
        let (a, b) = (self.int(), self.int());
        let value = self.value(&format!("\"arith.{name}\"({a}, {b}) : (i32, i32) -> i32"));
        self.ints.push(value);
    }

    fn compare(&mut self) {
        let predicate = self.random.below(10);
        let (a, b, ty) = match self.random.below(3) {
            0 => (self.index(), self.index(), "index"),
            _ => (self.int(), self.int(), "i32"),
        };
        let value = self.value(&format!(
            "\"arith.cmpi\"({a}, {b}) <{{predicate = {predicate} : i64}}> : ({ty}, {ty}) -> i1"
        ));
        self.bools.push(value);
    }

    fn select(&mut self) {
        let (c, a, b) = (self.bool(), self.int(), self.int());
        let value = self.value(&format!("\"arith.select\"({c}, {a}, {b}) : (i1, i32, i32) -> i32"));
        self.ints.push(value);
    }

    fn cast(&mut self) {
        match self.random.below(3) {
            0 => {
                let a = self.index();
                let value = self.value(&format!("\"arith.index_cast\"({a}) : (index) -> i32"));
                self.ints.push(value);
            }
            1 => {
                let a = self.bool();
                let value = self.value(&format!("\"arith.extui\"({a}) : (i1) -> i32"));
                self.ints.push(value);
            }
            _ => {
                let a = self.int();
                let wide = self.value(&format!("\"arith.extsi\"({a}) : (i32) -> i64"));
                let value = self.value(&format!("\"arith.trunci\"({wide}) : (i64) -> i32"));
                self.ints.push(value);
            }
        }
    }

    fn index_arithmetic(&mut self) {
        let name = self.random.one_of(&["addi", "muli", "subi", "andi"]);
        let (a, b) = (self.index(), self.index());
        let value = self.value(&format!("\"arith.{name}\"({a}, {b}) : (index, index) -> index"));
        self.indices.push(value);
    }
}
