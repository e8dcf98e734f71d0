//! Programs of loops and conditions: bounds that are constant and others, values that are carried
//! without change, results that nobody uses, nests whose iterations run in any order.

use super::Kind;
use super::text::Text;
use tangram_dialects::mlir::run::Datum;

pub const KIND: Kind = Kind {
    prelude: "",
    function,
    arguments: || {
        let shaped = [super::buffer(&[8], 100), super::tensor(&[8], 500)];
        let plain = [Datum::Int(7), Datum::Int(9), Datum::Int(3), Datum::Int(1)];
        shaped.into_iter().chain(plain).collect()
    },
    longer: 5,
};

const DEEPEST: usize = 3;

struct Generator {
    text: Text,
    tensors: Vec<String>,
    depth: usize,
    /// Whether iterations around may run in any order: then nothing is written.
    parallel: bool,
}

/// A function of a buffer and a tensor of 8 elements, two numbers, an index and a condition.
fn function(seed: u64) -> String {
    let text = Text::new(seed, &["%x", "%y"], &["%n"]);
    let mut g = Generator { text, tensors: vec!["%t".into()], depth: 0, parallel: false };
    for _ in 0..5 {
        g.statement();
    }
    let (int, index, tensor) = (g.text.int(), g.text.index(), g.tensor());
    format!(
        "func.func @f{seed}(%m: memref<8xi32>, %t: tensor<8xi32>, %x: i32, %y: i32, %n: index, \
         %p: i1) -> (i32, index, tensor<8xi32>) {{\n{}return {int}, {index}, {tensor} : i32, \
         index, tensor<8xi32>\n}}\n",
        g.text.out
    )
}

impl Generator {
    fn tensor(&mut self) -> String {
        let tensors = std::mem::take(&mut self.tensors);
        let one = self.text.one_of(&tensors);
        self.tensors = tensors;
        one
    }

    fn statement(&mut self) {
        let most = if self.depth == DEEPEST { 4 } else { 14 };
        match self.text.below(most) {
            0 => self.sum(),
            1 => self.load(),
            2 => self.store(),
            3 => self.extent(),
            4..=6 => self.count(),
            7 | 8 => self.choose(),
            9 => self.repeat(),
            10 => self.once(),
            11 => self.switch(),
            12 => self.nest(),
            _ => self.forall(),
        }
    }

    fn sum(&mut self) {
        let (a, b) = (self.text.int(), self.text.int());
        let op = ["addi", "muli", "xori", "subi"][self.text.below(4)];
        let name = self.text.named(&format!("arith.{op} {a}, {b} : i32"));
        self.text.ints.push(name);
    }

    /// A place in the buffer: an index by the remainder.
    fn place(&mut self) -> String {
        let (index, eight) = (self.text.index(), self.text.constant(8));
        self.text.named(&format!("arith.remui {index}, {eight} : index"))
    }

    fn load(&mut self) {
        let at = self.place();
        let name = self.text.named(&format!("memref.load %m[{at}] : memref<8xi32>"));
        if self.parallel {
            return;
        }
        self.text.ints.push(name);
    }

    fn store(&mut self) {
        if self.parallel {
            return self.sum();
        }
        let (value, at) = (self.text.int(), self.place());
        self.text.line(&format!("memref.store {value}, %m[{at}] : memref<8xi32>"));
    }

    fn extent(&mut self) {
        let (tensor, zero) = (self.tensor(), self.text.constant(0));
        let name = self.text.named(&format!("tensor.dim {tensor}, {zero} : tensor<8xi32>"));
        self.text.indices.push(name);
    }

    /// A bound: a constant or an index.
    fn bound(&mut self, value: usize) -> String {
        match self.text.below(4) {
            0 => self.text.index(),
            _ => {
                let value = self.text.below(value) as i64;
                self.text.constant(value)
            }
        }
    }

    fn condition(&mut self) -> String {
        match self.text.below(4) {
            0 => "%p".into(),
            1 => {
                let value = self.text.flip();
                self.text.named(&format!("arith.constant {value}"))
            }
            _ => {
                let (a, b) = (self.text.int(), self.text.int());
                self.text.named(&format!("arith.cmpi slt, {a}, {b} : i32"))
            }
        }
    }

    /// Statements that see these numbers and indices as well, of which the values are not seen
    /// outside; `end` ends them.
    fn body(&mut self, ints: &[String], indices: &[String], end: impl FnOnce(&mut Generator)) {
        let lengths = [&self.text.ints, &self.text.indices, &self.tensors].map(|list| list.len());
        self.text.ints.extend_from_slice(ints);
        self.text.indices.extend_from_slice(indices);
        self.depth += 1;
        for _ in 0..self.text.below(4) {
            self.statement();
        }
        end(self);
        self.depth -= 1;
        self.text.ints.truncate(lengths[0]);
        self.text.indices.truncate(lengths[1]);
        self.tensors.truncate(lengths[2]);
    }

    /// Results of which some are used later.
    fn results(&mut self, name: &str, count: usize) {
        for i in 0..count {
            if self.text.flip() {
                self.text.ints.push(format!("{name}#{i}"));
            }
        }
    }

    fn yields(&mut self, count: usize, carried: &[String]) {
        let mut all = Vec::new();
        for i in 0..count {
            let same = carried.get(i).filter(|_| self.text.below(3) == 0).cloned();
            all.push(same.unwrap_or_else(|| self.text.int()));
        }
        let types = vec!["i32"; count].join(", ");
        match count {
            0 => self.text.line("scf.yield"),
            _ => self.text.line(&format!("scf.yield {} : {types}", all.join(", "))),
        }
    }

    fn count(&mut self) {
        let (low, high) = (self.bound(3), self.bound(6));
        let step = 1 + self.text.below(3) as i64;
        let step = self.text.constant(step);
        let (count, name, counter) = (self.text.below(4), self.text.fresh(), self.text.fresh());
        let carried: Vec<String> = (0..count).map(|i| format!("{name}c{i}")).collect();
        let mut inits = Vec::new();
        for arg in &carried {
            let init = self.text.int();
            inits.push(format!("{arg} = {init}"));
        }
        let types = vec!["i32"; count].join(", ");
        let head = format!("scf.for {counter} = {low} to {high} step {step}");
        match count {
            0 => self.text.line(&format!("{head} {{")),
            _ => self.text.line(&format!(
                "{name}:{count} = {head} iter_args({}) -> ({types}) {{",
                inits.join(", ")
            )),
        }
        self.body(&carried, &[counter], |g| g.yields(count, &carried));
        self.text.line("}");
        self.results(&name, count);
    }

    fn choose(&mut self) {
        let (condition, count, name) = (self.condition(), self.text.below(3), self.text.fresh());
        let types = vec!["i32"; count].join(", ");
        match count {
            0 => self.text.line(&format!("scf.if {condition} {{")),
            _ => self.text.line(&format!("{name}:{count} = scf.if {condition} -> ({types}) {{")),
        }
        self.body(&[], &[], |g| g.yields(count, &[]));
        if count > 0 || self.text.flip() {
            self.text.line("} else {");
            self.body(&[], &[], |g| g.yields(count, &[]));
        }
        self.text.line("}");
        self.results(&name, count);
    }

    /// A loop that ends when what it carries reaches a number.
    fn repeat(&mut self) {
        let (name, init, other) = (self.text.fresh(), self.text.index(), self.text.int());
        let (one, four) = (self.text.constant(1), self.text.constant(4));
        self.text.line(&format!(
            "{name}:2 = scf.while ({name}a = {init}, {name}b = {other}) : (index, i32) -> (index, i32) {{\n\
             {name}c = arith.cmpi slt, {name}a, {four} : index"
        ));
        self.body(&[format!("{name}b")], &[format!("{name}a")], |g| {
            let given = if g.text.flip() { format!("{name}b") } else { g.text.int() };
            g.text.line(&format!("scf.condition({name}c) {name}a, {given} : index, i32"));
        });
        self.text.line(&format!(
            "}} do {{\n^bb0({name}d: index, {name}e: i32):\n\
             {name}f = arith.addi {name}d, {one} : index"
        ));
        self.body(&[format!("{name}e")], &[format!("{name}d")], |g| {
            let given = if g.text.flip() { format!("{name}e") } else { g.text.int() };
            g.text.line(&format!("scf.yield {name}f, {given} : index, i32"));
        });
        self.text.line("}");
        if self.text.flip() {
            self.text.ints.push(format!("{name}#1"));
        }
        if self.text.flip() {
            self.text.indices.push(format!("{name}#0"));
        }
    }

    fn once(&mut self) {
        let count = self.text.below(3);
        let (name, types) = (self.text.fresh(), vec!["i32"; count].join(", "));
        match count {
            0 => self.text.line("scf.execute_region {"),
            _ => self.text.line(&format!("{name}:{count} = scf.execute_region -> ({types}) {{")),
        }
        self.body(&[], &[], |g| g.yields(count, &[]));
        self.text.line("}");
        self.results(&name, count);
    }

    fn switch(&mut self) {
        let (on, count, name) = (self.bound(4), self.text.below(3), self.text.fresh());
        let types = vec!["i32"; count].join(", ");
        match count {
            0 => self.text.line(&format!("scf.index_switch {on}")),
            _ => self.text.line(&format!("{name}:{count} = scf.index_switch {on} -> {types}")),
        }
        for case in 0..self.text.below(3) {
            self.text.line(&format!("case {} {{", case * 2));
            self.body(&[], &[], |g| g.yields(count, &[]));
            self.text.line("}");
        }
        self.text.line("default {");
        self.body(&[], &[], |g| g.yields(count, &[]));
        self.text.line("}");
        self.results(&name, count);
    }

    /// Lower bounds, upper bounds and steps of a nest.
    fn bounds(&mut self, rank: usize) -> [Vec<String>; 3] {
        let mut lists = [const { Vec::new() }; 3];
        for _ in 0..rank {
            lists[0].push(self.bound(2));
            lists[1].push(self.bound(5));
            let step = 1 + self.text.below(2) as i64;
            lists[2].push(self.text.constant(step));
        }
        lists
    }

    fn nest(&mut self) {
        let (rank, name, init) = (1 + self.text.below(2), self.text.fresh(), self.text.int());
        let lists = self.bounds(rank).map(|list| list.join(", "));
        let counters: Vec<String> = (0..rank).map(|i| format!("{name}i{i}")).collect();
        let head = format!(
            "scf.parallel ({}) = ({}) to ({}) step ({})",
            counters.join(", "),
            lists[0],
            lists[1],
            lists[2]
        );
        let before = std::mem::replace(&mut self.parallel, true);
        if self.text.below(3) == 0 {
            self.text.line(&format!("{head} {{"));
            self.body(&[], &counters, |g| g.text.line("scf.reduce"));
            self.text.line("}");
        } else {
            self.text.line(&format!("{name} = {head} init ({init}) -> i32 {{"));
            self.body(&[], &counters, |g| {
                let given = g.text.int();
                g.text.line(&format!(
                    "scf.reduce({given} : i32) {{\n^bb0({name}a: i32, {name}b: i32):\n\
                     {name}c = arith.addi {name}a, {name}b : i32\nscf.reduce.return {name}c : i32\n}}"
                ));
            });
            self.text.line("}");
            self.text.ints.push(name);
        }
        self.parallel = before;
    }

    /// A nest whose iterations write an element each.
    fn forall(&mut self) {
        let (name, count) = (self.text.fresh(), 1 + self.text.below(2));
        let (low, high) = (self.text.below(3) as i64, self.text.below(8) as i64);
        let ((low, _), (high, _)) = (self.text.number(low), self.text.number(high));
        let (more, end) = (self.text.number(0).0, self.text.number(1).0);
        let counters =
            if self.text.flip() { format!("{name}i") } else { format!("{name}i, {name}j") };
        let nested = counters.contains(',');
        let second = |first: &str, text: &str| match nested {
            true => format!("{first}, {text}"),
            false => first.to_owned(),
        };
        let mut outputs = Vec::new();
        for i in 0..count {
            let output = self.tensor();
            outputs.push(format!("{name}o{i} = {output}"));
        }
        let step = 1 + self.text.below(3) as i64;
        let step = self.text.number(step).0;
        let types = vec!["tensor<8xi32>"; count].join(", ");
        self.text.line(&format!(
            "{name}:{count} = scf.forall ({counters}) = ({}) to ({}) step ({}) shared_outs({}) -> ({types}) {{",
            second(&low, &more),
            second(&high, &end),
            second(&step, "1"),
            outputs.join(", ")
        ));
        let before = std::mem::replace(&mut self.parallel, true);
        self.body(&[], &[format!("{name}i")], |g| {
            let mut inserts = Vec::new();
            for i in 0..count {
                let value = g.text.int();
                let part = g.text.named(&format!("tensor.from_elements {value} : tensor<1xi32>"));
                if g.text.below(4) > 0 {
                    inserts.push(format!(
                        "tensor.parallel_insert_slice {part} into {name}o{i}[{name}i] [1] [1] : \
                         tensor<1xi32> into tensor<8xi32>\n"
                    ));
                }
            }
            g.text.line(&format!("scf.forall.in_parallel {{\n{}}}", inserts.concat()));
        });
        self.text.line("}");
        self.parallel = before;
        for i in 0..count {
            if self.text.flip() {
                self.tensors.push(format!("{name}#{i}"));
            }
        }
    }
}
