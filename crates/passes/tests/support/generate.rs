//! Random functions over arith, func, cf, scf, affine and memref, in MLIR's generic form.
//!
//! Each function takes `(i32, i32, i1, index)` and a buffer of [`CELLS`] integers, which it may
//! change, and returns `(i32, i1, index)`. All loops end soon, all accesses are inside.

use std::fmt::Write as _;

/// How many elements every buffer has.
pub const CELLS: u64 = 8;
const DEEPEST: usize = 3;

/// Marsaglia's xorshift, so that every run tests the same.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // Seeds that are close to each other start alike.
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
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
}

/// A function called `f{seed}` with about `size` operations; it may call `f{seed - 1}`, if
/// `calls`.
pub fn function(seed: u64, size: usize, calls: bool) -> String {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let mut g = Generator {
        random: Random::new(seed),
        out: String::new(),
        next: 0,
        ints: names(&["%x", "%y"]),
        bools: names(&["%c"]),
        indices: names(&["%n"]),
        affine: names(&["%n"]),
        buffers: names(&["%b"]),
        depth: 0,
        left: size,
    };
    while g.left > 0 {
        g.left -= 1;
        match g.random.below(24) {
            0 => g.diamond(),
            1 if calls => g.call(seed - 1),
            _ => g.statement(),
        }
    }
    let (int, boolean) = (g.late(|g| &g.ints), g.late(|g| &g.bools));
    let index = g.late(|g| &g.indices);
    format!(
        "\"func.func\"() <{{sym_name = \"f{seed}\", function_type = (i32, i32, i1, index, \
         memref<8xi32>) -> (i32, i1, index)}}> ({{\n^bb0(%x: i32, %y: i32, %c: i1, %n: index, %b: \
         memref<8xi32>):\n{}  \"func.return\"({int}, {boolean}, {index}) : (i32, i1, index) -> \
         ()\n}}) : () -> ()\n",
        g.out
    )
}

impl Generator {
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

    /// An index below the number of elements.
    fn inside(&mut self) -> String {
        if self.random.below(2) == 0 {
            let at = self.random.below(CELLS) as i64;
            return self.constant(at, "index");
        }
        let (index, mask) = (self.index(), self.constant(CELLS as i64 - 1, "index"));
        self.value(&format!("\"arith.andi\"({index}, {mask}) : (index, index) -> index"))
    }

    fn load(&mut self) {
        let (buffer, at) = (self.buffer(), self.inside());
        let value =
            self.value(&format!("\"memref.load\"({buffer}, {at}) : (memref<8xi32>, index) -> i32"));
        self.ints.push(value);
    }

    fn store(&mut self) {
        let (value, buffer, at) = (self.int(), self.buffer(), self.inside());
        self.line(&format!(
            "\"memref.store\"({value}, {buffer}, {at}) : (i32, memref<8xi32>, index) -> ()"
        ));
    }

    /// A new buffer with its first element set, so that what is read is known.
    fn alloc(&mut self) {
        let buffer = self.value(
            "\"memref.alloc\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xi32>",
        );
        let source = self.buffer();
        self.line(&format!(
            "\"memref.copy\"({source}, {buffer}) : (memref<8xi32>, memref<8xi32>) -> ()"
        ));
        if self.random.below(4) > 0 {
            self.buffers.push(buffer);
        }
    }

    fn expression(&mut self, names: &[&str]) -> String {
        let mut text = self.random.one_of(names).to_owned();
        for _ in 0..self.random.below(3) {
            let number = self.random.below(5) + 1;
            let other = self.random.one_of(names);
            text = match self.random.below(6) {
                0 => format!("({text}) * {number}"),
                1 => format!("({text}) floordiv {number}"),
                2 => format!("({text}) mod {}", number + 1),
                3 => format!("({text}) ceildiv {number}"),
                4 => format!("{text} + {other}"),
                _ => format!("{text} - {number}"),
            };
        }
        text
    }

    fn apply(&mut self) {
        let (a, b) = (self.affine_value(), self.affine_value());
        let expression = self.expression(&["d0", "d1"]);
        let value = self.value(&format!(
            "\"affine.apply\"({a}, {b}) <{{map = affine_map<(d0, d1) -> ({expression})>}}> : (index, \
             index) -> index"
        ));
        self.affine.push(value.clone());
        self.indices.push(value);
    }

    fn bound(&mut self) {
        let (a, b) = (self.affine_value(), self.affine_value());
        let name = self.random.one_of(&["min", "max"]);
        let (first, second) = (self.expression(&["d0", "d1"]), self.expression(&["d0"]));
        let value = self.value(&format!(
            "\"affine.{name}\"({a}, {b}) <{{map = affine_map<(d0, d1) -> ({first}, {second}, 3)>}}> \
             : (index, index) -> index"
        ));
        self.indices.push(value.clone());
    }

    fn affine_load(&mut self) {
        let (buffer, at) = (self.buffer(), self.affine_value());
        let expression = self.expression(&["d0"]);
        let value = self.value(&format!(
            "\"affine.load\"({buffer}, {at}) <{{map = affine_map<(d0) -> (({expression}) mod 8)>}}> \
             : (memref<8xi32>, index) -> i32"
        ));
        self.ints.push(value);
    }

    fn affine_store(&mut self) {
        let (value, buffer, at) = (self.int(), self.buffer(), self.affine_value());
        self.line(&format!(
            "\"affine.store\"({value}, {buffer}, {at}) <{{map = affine_map<(d0) -> ((d0 + 1) mod \
             8)>}}> : (i32, memref<8xi32>, index) -> ()"
        ));
    }

    fn yield_in(&mut self, dialect: &str, results: bool) {
        match results {
            true => {
                let value = self.late(|g| &g.ints);
                self.line(&format!("\"{dialect}.yield\"({value}) : (i32) -> ()"));
            }
            false => self.line(&format!("\"{dialect}.yield\"() : () -> ()")),
        }
    }

    fn scf_if(&mut self) {
        let condition = self.bool();
        self.either("scf.if", &format!("({condition})"), "", "(i1)", "scf");
    }

    fn affine_if(&mut self) {
        let (at, k) = (self.affine_value(), self.random.below(5));
        let expression = self.expression(&["d0"]);
        let set = format!(" <{{condition = affine_set<(d0) : ({expression} - {k} >= 0)>}}>");
        self.either("affine.if", &format!("({at})"), &set, "(index)", "affine");
    }

    fn either(&mut self, name: &str, operands: &str, attrs: &str, types: &str, dialect: &str) {
        let results = self.random.below(3) > 0;
        let both = results || self.random.below(2) == 0;
        let yes = self.nested(|g| {
            g.some_statements();
            g.yield_in(dialect, results);
        });
        let no = match both {
            true => self.nested(|g| {
                g.some_statements();
                g.yield_in(dialect, results);
            }),
            false => String::new(),
        };
        let given = if results { "i32" } else { "()" };
        let text = format!(
            "\"{name}\"{operands}{attrs} ({{\n{yes}  }}, {{\n{no}  }}) : {types} -> {given}"
        );
        match results {
            true => {
                let value = self.value(&text);
                self.ints.push(value);
            }
            false => self.line(&text),
        }
    }

    fn scf_for(&mut self) {
        let low = match self.random.below(4) {
            0 => self.inside(),
            n => self.constant(n as i64 - 1, "index"),
        };
        let high = match self.random.below(2) {
            0 => self.inside(),
            _ => {
                let high = self.random.below(5) as i64;
                self.constant(high, "index")
            }
        };
        let step = self.random.below(3) as i64 + 1;
        let step = self.constant(step, "index");
        let carried = self.random.below(3) as usize;
        let inits: Vec<String> = (0..carried).map(|_| self.int()).collect();
        let (counter, args): (String, Vec<String>) =
            (self.fresh(), (0..carried).map(|_| self.fresh()).collect());
        let body = self.nested(|g| {
            g.indices.push(counter.clone());
            g.ints.extend(args.iter().cloned());
            g.some_statements();
            g.yield_all("scf", carried);
        });
        let args: String = args.iter().map(|arg| format!(", {arg}: i32")).collect();
        let given: String = inits.iter().map(|init| format!(", {init}")).collect();
        self.loop_line(
            &format!("\"scf.for\"({low}, {high}, {step}{given})"),
            &format!("^bb0({counter}: index{args}):\n{body}"),
            &format!("(index, index, index{})", ", i32".repeat(carried)),
            carried,
        );
    }

    fn yield_all(&mut self, dialect: &str, count: usize) {
        let values: Vec<String> = (0..count).map(|_| self.late(|g| &g.ints)).collect();
        let types = vec!["i32"; count].join(", ");
        self.line(&format!("\"{dialect}.yield\"({}) : ({types}) -> ()", values.join(", ")));
    }

    /// A loop whose results are integers.
    fn loop_line(&mut self, head: &str, body: &str, types: &str, results: usize) {
        let given = format!("({})", vec!["i32"; results].join(", "));
        let text = format!("{head} ({{\n  {body}  }}) : {types} -> {given}");
        match results {
            0 => self.line(&text),
            _ => {
                let name = self.fresh();
                self.line(&format!("{name}:{results} = {text}"));
                self.ints.extend((0..results).map(|i| format!("{name}#{i}")));
            }
        }
    }

    fn affine_for(&mut self) {
        let carried = self.random.below(2) as usize;
        let inits: Vec<String> = (0..carried).map(|_| self.int()).collect();
        let (counter, args): (String, Vec<String>) =
            (self.fresh(), (0..carried).map(|_| self.fresh()).collect());
        let low = self.random.below(3);
        let (high, operand) = match self.random.below(2) {
            0 => (format!("() -> ({})", self.random.below(6)), None),
            _ => ("(d0) -> (d0 mod 5, 4)".to_owned(), Some(self.affine_value())),
        };
        let body = self.nested(|g| {
            g.indices.push(counter.clone());
            g.affine.push(counter.clone());
            g.ints.extend(args.iter().cloned());
            g.some_statements();
            g.yield_all("affine", carried);
        });
        let args: String = args.iter().map(|arg| format!(", {arg}: i32")).collect();
        let uppers = usize::from(operand.is_some());
        let operands: Vec<String> = operand.into_iter().chain(inits).collect();
        let types: Vec<&str> =
            vec!["index"; uppers].into_iter().chain(vec!["i32"; carried]).collect();
        let step = self.random.below(2) + 1;
        self.loop_line(
            &format!(
                "\"affine.for\"({}) <{{lowerBoundMap = affine_map<() -> ({low})>, \
                 operandSegmentSizes = array<i32: 0, {uppers}, {carried}>, step = {step} : index, \
                 upperBoundMap = affine_map<{high}>}}>",
                operands.join(", ")
            ),
            &format!("^bb0({counter}: index{args}):\n{body}"),
            &format!("({})", types.join(", ")),
            carried,
        );
    }

    /// A loop that counts down from a small number.
    fn scf_while(&mut self) {
        let (start, three) = (self.int(), self.constant(3, "i32"));
        let start = self.value(&format!("\"arith.andi\"({start}, {three}) : (i32, i32) -> i32"));
        let carried = self.int();
        let names: Vec<String> = (0..4).map(|_| self.fresh()).collect();
        let [a, b, c, d] = &names[..] else { return };
        let before = self.nested(|g| {
            let zero = g.constant(0, "i32");
            let more = g.value(&format!(
                "\"arith.cmpi\"({a}, {zero}) <{{predicate = 4 : i64}}> : (i32, i32) -> i1"
            ));
            g.line(&format!("\"scf.condition\"({more}, {a}, {b}) : (i1, i32, i32) -> ()"));
        });
        let after = self.nested(|g| {
            let one = g.constant(-1, "i32");
            let less = g.value(&format!("\"arith.addi\"({c}, {one}) : (i32, i32) -> i32"));
            g.ints.push(d.clone());
            g.some_statements();
            let value = g.late(|g| &g.ints);
            g.line(&format!("\"scf.yield\"({less}, {value}) : (i32, i32) -> ()"));
        });
        let name = self.fresh();
        self.line(&format!(
            "{name}:2 = \"scf.while\"({start}, {carried}) ({{\n  ^bb0({a}: i32, {b}: i32):\n{before}  \
             }}, {{\n  ^bb0({c}: i32, {d}: i32):\n{after}  }}) : (i32, i32) -> (i32, i32)"
        ));
        self.ints.extend([format!("{name}#0"), format!("{name}#1")]);
    }

    /// A branch over two blocks that meet again.
    fn diamond(&mut self) {
        let condition = self.bool();
        let label = self.next;
        self.next += 1;
        let (before, joined) = (self.int(), self.fresh());
        let direct = self.random.below(3) == 0;
        let no = if direct { format!("^j{label}") } else { format!("^n{label}") };
        let (sizes, given, types) = match direct {
            true => ("1, 0, 1", format!(", {before}"), ", i32"),
            false => ("1, 0, 0", String::new(), ""),
        };
        self.line(&format!(
            "\"cf.cond_br\"({condition}{given})[^y{label}, {no}] <{{operandSegmentSizes = \
             array<i32: {sizes}>}}> : (i1{types}) -> ()"
        ));
        for side in if direct { &["y"][..] } else { &["y", "n"][..] } {
            let known = self.known();
            self.out += &format!("^{side}{label}:\n");
            self.some_statements();
            let value = self.late(|g| &g.ints);
            self.line(&format!("\"cf.br\"({value})[^j{label}] : (i32) -> ()"));
            self.forget(known);
        }
        self.out += &format!("^j{label}({joined}: i32):\n");
        self.ints.push(joined);
    }

    fn call(&mut self, other: u64) {
        let (a, b, c, n, m) = (self.int(), self.int(), self.bool(), self.index(), self.buffer());
        let name = self.fresh();
        self.line(&format!(
            "{name}:3 = \"func.call\"({a}, {b}, {c}, {n}, {m}) <{{callee = @f{other}}}> : (i32, i32, \
             i1, index, memref<8xi32>) -> (i32, i1, index)"
        ));
        self.ints.push(format!("{name}#0"));
        self.bools.push(format!("{name}#1"));
        self.indices.push(format!("{name}#2"));
    }
}
