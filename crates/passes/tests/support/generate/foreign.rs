//! Operations of dialects that are not known: with properties, attributes and regions.

use super::{Generator, Random};

/// A module of three functions: one of `func`, one of `llvm`, one of `gpu`.
pub fn module(seed: u64, size: usize) -> String {
    let mut first = Generator::new(Random::new(3 * seed), size);
    first.foreign = true;
    first.statements();
    let others = [("llvm", 3 * seed + 1), ("gpu", 3 * seed + 2)];
    let others = others.map(|(dialect, seed)| {
        let mut g = Generator::new(Random::new(seed), size / 2);
        g.foreign = true;
        g.isolated_function(dialect)
    });
    first.func(0) + &others.concat()
}

/// Values of attributes, some of which only their dialect could read.
const VALUES: &[&str] = &[
    "1 : i32",
    "unit",
    "\"text\"",
    "[1, \"a\", @f0]",
    "#foo.bar<a(b) -> [c, 4]>",
    "#llvm.linkage<external>",
    "!foo.box<i32>",
    "{b = 2 : i8, c}",
    "array<i32: 1, 2>",
    "dense<[1, 2]> : tensor<2xi64>",
    "affine_map<(d0)[s0] -> (d0 + s0)>",
    "2.5 : f32",
];

impl Generator {
    fn statements(&mut self) {
        while self.left > 0 {
            self.left -= 1;
            self.statement();
        }
    }

    /// A function of a dialect whose functions see nothing from outside, with integers only
    /// between it and the world.
    fn isolated_function(&mut self, dialect: &str) -> String {
        self.forget_all();
        self.ints.extend(["%x".to_owned(), "%y".to_owned()]);
        self.bools.push("%c".to_owned());
        self.start_isolated();
        self.statements();
        let int = self.late(|g| &g.ints);
        let args = "%x: i32, %y: i32, %c: i1";
        let body = std::mem::take(&mut self.out);
        match dialect {
            "llvm" => format!(
                "\"llvm.func\"() <{{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<i32 \
                 (i32, i32, i1)>, linkage = #llvm.linkage<external>, sym_name = \"g\", \
                 unnamed_addr = 0 : i64, visibility_ = 0 : i64}}> ({{\n^bb0({args}):\n{body}  \"llvm.return\"({int}) : (i32) -> \
                 ()\n}}) : () -> ()\n"
            ),
            _ => format!(
                "\"gpu.module\"() <{{sym_name = \"m\"}}> ({{\n\"gpu.func\"() <{{function_type = \
                 (i32, i32, i1) -> i32}}> ({{\n^bb0({args}):\n{body}  \"gpu.return\"({int}) : \
                 (i32) -> ()\n}}) {{sym_name = \"h\"}} : () -> ()\n}}) : () -> ()\n"
            ),
        }
    }

    fn forget_all(&mut self) {
        for list in [
            &mut self.ints,
            &mut self.bools,
            &mut self.indices,
            &mut self.affine,
            &mut self.buffers,
        ] {
            list.clear();
        }
    }

    /// What every statement may need, made anew.
    fn start_isolated(&mut self) {
        let index = self.constant(3, "index");
        self.indices.push(index.clone());
        self.affine.push(index);
        let buffer = self.value(
            "\"memref.alloc\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xi32>",
        );
        self.buffers.push(buffer);
    }

    pub(super) fn foreign_statement(&mut self, deep: bool) {
        match self.random.below(8) {
            0 | 1 if !deep => self.foreign_regions(),
            2 | 3 if !deep => self.foreign_isolated(),
            4 => self.llvm_arithmetic(),
            _ => self.foreign_plain(),
        }
    }

    fn llvm_arithmetic(&mut self) {
        let (a, b) = (self.int(), self.int());
        let name = self.random.one_of(&["add", "sub", "mul", "shl"]);
        // As `mlir-opt` prints them; words for them are read, and printed as a number.
        let flags = self.random.one_of(&["0", "1", "2", "3"]);
        let value = self.value(&format!(
            "\"llvm.{name}\"({a}, {b}) <{{overflowFlags = {flags} : i32}}> : (i32, i32) -> i32"
        ));
        self.ints.push(value);
    }

    /// `a = 1 : i32, b`.
    fn entries(&mut self) -> String {
        let names = ["alpha", "beta", "sym_name", "value", "foo.bar", "\"with space\""];
        let mut out: Vec<String> = Vec::new();
        for name in names {
            if self.random.below(4) == 0 {
                let value = self.random.one_of(VALUES);
                out.push(format!("{name} = {value}"));
            }
        }
        out.join(", ")
    }

    /// `<{...}>`, which may name what the dictionary names again; or nothing.
    fn properties(&mut self) -> String {
        match self.random.below(4) {
            0 | 1 => String::new(),
            2 => format!(" <{}>", self.random.one_of(VALUES)),
            _ => format!(" <{{{}}}>", self.entries()),
        }
    }

    fn dictionary(&mut self) -> String {
        match self.random.below(2) {
            0 => String::new(),
            _ => format!(" {{{}}}", self.entries()),
        }
    }

    /// Operands and their types.
    fn some_operands(&mut self) -> (String, String) {
        let (mut values, mut types) = (Vec::new(), Vec::new());
        for _ in 0..self.random.below(4) {
            let (value, ty) = match self.random.below(4) {
                0 => (self.bool(), "i1"),
                1 => (self.index(), "index"),
                _ => (self.int(), "i32"),
            };
            values.push(value);
            types.push(ty);
        }
        (values.join(", "), types.join(", "))
    }

    fn foreign_name(&mut self) -> &'static str {
        self.random.one_of(&["foo.make", "foo.change", "bar.look", "bar.baz.deep"])
    }

    /// An operation with one result of some type, or two, or none.
    fn with_results(&mut self, head: &str, types: &str) {
        match self.random.below(5) {
            0 => self.line(&format!("{head} : ({types}) -> ()")),
            1 => {
                let value = self.value(&format!("{head} : ({types}) -> i1"));
                self.bools.push(value);
            }
            2 => {
                let value = self.value(&format!("{head} : ({types}) -> index"));
                self.indices.push(value);
            }
            3 => {
                let name = self.fresh();
                self.line(&format!("{name}:2 = {head} : ({types}) -> (i32, i32)"));
                self.ints.extend((0..2).map(|i| format!("{name}#{i}")));
            }
            _ => {
                let value = self.value(&format!("{head} : ({types}) -> i32"));
                self.ints.push(value);
            }
        }
    }

    fn foreign_plain(&mut self) {
        let (name, (operands, types)) = (self.foreign_name(), self.some_operands());
        let (properties, dictionary) = (self.properties(), self.dictionary());
        self.with_results(&format!("\"{name}\"({operands}){properties}{dictionary}"), &types);
    }

    fn foreign_yield(&mut self) {
        let (operands, types) = self.some_operands();
        self.line(&format!("\"foo.yield\"({operands}) : ({types}) -> ()"));
    }

    /// A region that sees what is around it, if `open`.
    fn foreign_region(&mut self, open: bool) -> String {
        let args: Vec<(String, &str)> = (0..self.random.below(3))
            .map(|_| (self.fresh(), self.random.one_of(&["i32", "i1", "index"])))
            .collect();
        let lists = [
            self.ints.clone(),
            self.bools.clone(),
            self.indices.clone(),
            self.affine.clone(),
            self.buffers.clone(),
        ];
        let body = self.nested(|g| {
            if !open {
                g.forget_all();
                let (int, flag) = (g.constant(5, "i32"), "true");
                g.ints.push(int);
                let flag =
                    g.value(&format!("\"arith.constant\"() <{{value = {flag}}}> : () -> i1"));
                g.bools.push(flag);
                g.start_isolated();
            }
            for (name, ty) in &args {
                match *ty {
                    "i32" => g.ints.push(name.clone()),
                    "i1" => g.bools.push(name.clone()),
                    _ => g.indices.push(name.clone()),
                }
            }
            g.some_statements();
            g.foreign_yield();
        });
        let [ints, bools, indices, affine, buffers] = lists;
        (self.ints, self.bools, self.indices) = (ints, bools, indices);
        (self.affine, self.buffers) = (affine, buffers);
        let args: Vec<String> = args.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let header = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
        format!("{{\n^bb0{header}:\n{body}  }}")
    }

    fn foreign_regions(&mut self) {
        let (operands, types) = self.some_operands();
        let (properties, dictionary) = (self.properties(), self.dictionary());
        let regions: Vec<String> =
            (0..1 + self.random.below(2)).map(|_| self.foreign_region(true)).collect();
        let regions = regions.join(", ");
        let head = format!("\"foo.region\"({operands}){properties} ({regions}){dictionary}");
        self.with_results(&head, &types);
    }

    /// An operation of which `mlir-opt` knows that its region sees nothing from outside.
    fn foreign_isolated(&mut self) {
        let ((operands, types), dictionary) = (self.some_operands(), self.dictionary());
        let region = self.foreign_region(false);
        let head = format!("\"test.isolated_one_region_op\"({operands}) ({region}){dictionary}");
        self.with_results(&head, &types);
    }
}
