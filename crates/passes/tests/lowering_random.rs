//! `lower-affine` and `convert-scf-to-cf`, alone and behind `canonicalize`, on random nests of parallel loops, reductions, split and
//! joined indices, choices by an index and regions that are run once: the meaning is that of what
//! `mlir-opt` 22 makes of them, and nothing of either dialect stays.

mod support;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use support::generate::Random;
use support::{asked_seeds, functions, mlir_opt, parse, pass};
use tangram_dialects::mlir::run::{Datum, Elements, Trap, run};
use tangram_ir::{Module, Op, Order, text, walk};

const CELLS: u64 = 8;
const BUDGET: u64 = 200_000;
const KINDS: [&str; 4] = ["addi", "muli", "ori", "andi"];
const COMBINE: [&str; 4] = ["addi", "xori", "maxsi", "subi"];

struct Generator {
    random: Random,
    out: String,
    next: usize,
    ints: Vec<String>,
    /// Indices that affine maps may use.
    dims: Vec<String>,
    indices: Vec<String>,
    depth: usize,
}

/// A function `(index, index, memref<8xi32>) -> (i32, index)`.
fn function(seed: u64) -> String {
    let mut g = Generator {
        random: Random::new(seed),
        out: String::new(),
        next: 0,
        ints: vec!["%x".into()],
        dims: vec!["%n".into(), "%m".into()],
        indices: vec!["%n".into(), "%m".into(), "%c3".into()],
        depth: 0,
    };
    g.statements(5);
    let (int, index) = (g.int(), g.index());
    format!(
        "func.func @f{seed}(%n: index, %m: index, %b: memref<{CELLS}xi32>) -> (i32, index) {{\n\
         %x = arith.constant 5 : i32\n%c3 = arith.constant 3 : index\n{}\
         return {int}, {index} : i32, index\n}}\n",
        g.out
    )
}

impl Generator {
    fn pick(&mut self, list: &[String]) -> String {
        // What was made last is more interesting.
        let skip = (list.len() / 2) as u64 * self.random.below(2);
        list[(skip + self.random.below(list.len() as u64 - skip)) as usize].clone()
    }

    fn int(&mut self) -> String {
        let list = self.ints.clone();
        self.pick(&list)
    }

    fn index(&mut self) -> String {
        let list = self.indices.clone();
        self.pick(&list)
    }

    fn dim(&mut self) -> String {
        let list = self.dims.clone();
        self.pick(&list)
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        writeln!(self.out, "{text}").expect("a string takes all");
    }

    fn affine(&mut self) -> String {
        let (dim, k) = (self.dim(), self.random.below(4) + 1);
        match self.random.below(5) {
            0 => format!("{k}"),
            1 => format!("{dim} + {k}"),
            2 => format!("{dim} * {k} - 3"),
            3 => format!("({dim} + {k}) floordiv {}", k + 1),
            _ => format!("{dim} mod {}", k + 2),
        }
    }

    /// What `write` writes, with what it makes known forgotten.
    fn nested(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let known = (self.ints.len(), self.dims.len(), self.indices.len());
        let out = std::mem::take(&mut self.out);
        self.depth += 1;
        write(self);
        self.depth -= 1;
        self.ints.truncate(known.0);
        self.dims.truncate(known.1);
        self.indices.truncate(known.2);
        std::mem::replace(&mut self.out, out)
    }

    fn statements(&mut self, most: u64) {
        for _ in 0..=self.random.below(most) {
            match self.random.below(if self.depth < 3 { 11 } else { 6 }) {
                0 => self.load(),
                1 => self.store(),
                2 => self.combine(),
                3 => self.delinearize(),
                4 => self.linearize(),
                5 => self.prefetch(),
                6 | 7 => self.affine_parallel(),
                8 => self.scf_parallel(),
                9 => self.forall(),
                _ => self.switch(),
            }
        }
    }

    fn load(&mut self) {
        let (name, at) = (self.fresh(), self.affine());
        self.line(&format!("{name} = affine.load %b[({at}) mod {CELLS}] : memref<{CELLS}xi32>"));
        self.ints.push(name);
    }

    fn store(&mut self) {
        let (value, at) = (self.int(), self.affine());
        self.line(&format!("affine.store {value}, %b[({at}) mod {CELLS}] : memref<{CELLS}xi32>"));
    }

    fn prefetch(&mut self) {
        let at = self.affine();
        self.line(&format!(
            "affine.prefetch %b[({at}) mod {CELLS}], write, locality<1>, data : memref<{CELLS}xi32>"
        ));
    }

    fn combine(&mut self) {
        let (name, a, b) = (self.fresh(), self.int(), self.int());
        let by = COMBINE[self.random.below(4) as usize];
        self.line(&format!("{name} = arith.{by} {a}, {b} : i32"));
        self.ints.push(name);
    }

    fn basis(&mut self, count: usize) -> String {
        let factors: Vec<String> = (0..count)
            .map(|_| match self.random.below(3) {
                0 => "%c3".to_owned(),
                n => (n * 3 - 1).to_string(),
            })
            .collect();
        factors.join(", ")
    }

    fn delinearize(&mut self) {
        let (name, of) = (self.fresh(), self.index());
        let count = self.random.below(3) as usize + 1;
        let open = usize::from(self.random.below(2) == 0 && count > 1);
        let basis = self.basis(count - open);
        let types = vec!["index"; count].join(", ");
        self.line(&format!(
            "{name}:{count} = affine.delinearize_index {of} into ({basis}) : {types}"
        ));
        self.indices.extend((0..count).map(|i| format!("{name}#{i}")));
    }

    fn linearize(&mut self) {
        let name = self.fresh();
        let count = self.random.below(3) as usize + 1;
        let open = usize::from(self.random.below(2) == 0 && count > 1);
        let of: Vec<String> = (0..count).map(|_| self.index()).collect();
        let basis = self.basis(count - open);
        let of = of.join(", ");
        self.line(&format!("{name} = affine.linearize_index [{of}] by ({basis}) : index"));
        self.indices.push(name);
    }

    fn bound(&mut self, join: &str) -> String {
        match self.random.below(3) {
            0 => format!("{join}({}, {})", self.affine(), self.affine()),
            1 => self.affine(),
            _ => self.random.below(4).to_string(),
        }
    }

    fn affine_parallel(&mut self) {
        let count = self.random.below(2) + 1;
        let counters: Vec<String> = (0..count).map(|_| self.fresh()).collect();
        let list = |g: &mut Self, join: &str| {
            (0..count).map(|_| g.bound(join)).collect::<Vec<_>>().join(", ")
        };
        let (low, high) = (list(self, "max"), list(self, "min"));
        let steps: Vec<String> =
            (0..count).map(|_| (self.random.below(3) + 1).to_string()).collect();
        let results = self.random.below(3) as usize;
        let kinds: Vec<&str> = (0..results).map(|_| KINDS[self.random.below(4) as usize]).collect();
        let body = self.nested(|g| {
            g.dims.extend(counters.iter().cloned());
            g.indices.extend(counters.iter().cloned());
            g.statements(3);
            let values: Vec<String> = (0..results).map(|_| g.int()).collect();
            if results > 0 {
                let types = vec!["i32"; results].join(", ");
                g.line(&format!("affine.yield {} : {types}", values.join(", ")));
            }
        });
        let reduce = match results {
            0 => String::new(),
            _ => format!(
                " reduce (\"{}\") -> ({})",
                kinds.join("\", \""),
                vec!["i32"; results].join(", ")
            ),
        };
        let head = format!(
            "affine.parallel ({}) = ({low}) to ({high}) step ({}){reduce} {{\n{body}}}",
            counters.join(", "),
            steps.join(", ")
        );
        self.give(results, &head);
    }

    fn give(&mut self, results: usize, text: &str) {
        if results == 0 {
            return self.line(text);
        }
        let name = self.fresh();
        self.line(&format!("{name}:{results} = {text}"));
        self.ints.extend((0..results).map(|i| format!("{name}#{i}")));
    }

    fn scf_parallel(&mut self) {
        let (i, high, one, zero) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        let k = self.random.below(5);
        self.line(&format!("{high} = arith.constant {k} : index"));
        self.line(&format!("{one} = arith.constant 1 : index"));
        self.line(&format!("{zero} = arith.constant 0 : index"));
        let (init, by) = (self.int(), COMBINE[self.random.below(4) as usize]);
        let body = self.nested(|g| {
            g.indices.push(i.clone());
            g.statements(3);
            let value = g.int();
            g.line(&format!(
                "scf.reduce({value} : i32) {{\n^bb0(%p: i32, %q: i32):\n\
                 %r = arith.{by} %p, %q : i32\nscf.reduce.return %r : i32\n}}"
            ));
        });
        self.give(
            1,
            &format!(
                "scf.parallel ({i}) = ({zero}) to ({high}) step ({one}) init ({init}) -> i32 \
                 {{\n{body}}}"
            ),
        );
    }

    fn forall(&mut self) {
        let (i, j, low) = (self.fresh(), self.fresh(), self.random.below(3));
        let body = self.nested(|g| {
            g.indices.extend([i.clone(), j.clone()]);
            g.statements(3);
        });
        let head = match self.random.below(2) {
            0 => format!("scf.forall ({i}, {j}) in (%c3, 2)"),
            _ => format!("scf.forall ({i}, {j}) = ({low}, 0) to (%c3, 3) step (1, 2)"),
        };
        self.line(&format!("{head} {{\n{body}}}"));
    }

    fn switch(&mut self) {
        let on = self.index();
        let mut region = || {
            self.nested(|g| {
                g.statements(2);
                let value = g.int();
                g.line(&format!("scf.yield {value} : i32"));
            })
        };
        let regions: Vec<String> = (0..3).map(|_| region()).collect();
        let once = "%o = scf.execute_region -> i32 {\n%t = arith.cmpi slt, %n, %m : index\n\
                    cf.cond_br %t, ^bb1, ^bb2(%x : i32)\n^bb1:\ncf.br ^bb2(%x : i32)\n\
                    ^bb2(%y: i32):\nscf.yield %y : i32\n}\nscf.yield %o : i32\n";
        let last = if self.random.below(3) == 0 { once } else { &*regions[2] };
        self.give(
            1,
            &format!(
                "scf.index_switch {on} -> i32\ncase 0 {{\n{}}}\ncase 2 {{\n{}}}\n\
                 default {{\n{last}}}",
                regions[0], regions[1]
            ),
        );
    }
}

fn outcome(module: &Module, function: Op, [n, m]: [i64; 2]) -> Result<(Vec<Datum>, Datum), Trap> {
    let data = (0..CELLS).map(|i| Datum::Int(i128::from(i) * 7 - 20)).collect();
    let buffer = Elements { extents: vec![CELLS as i64], data };
    let buffer = Datum::Buffer(Rc::new(RefCell::new(buffer)));
    let args = [Datum::Int(n.into()), Datum::Int(m.into()), buffer.clone()];
    Ok((run(module, function, &args, BUDGET)?, buffer))
}

fn check(seeds: std::ops::Range<u64>) {
    let input: String = seeds.clone().map(function).collect();
    let mut ours = parse(&input);
    pass(&mut ours, "builtin.module(lower-affine,convert-scf-to-cf)");
    let mut simpler = parse(&input);
    pass(&mut simpler, "builtin.module(canonicalize,lower-affine,convert-scf-to-cf)");
    let left = |op: &Op| {
        let name = ours.name_text(*op);
        name.starts_with("affine.") || name.starts_with("scf.")
    };
    let left = walk(&ours, ours.root(), Order::Pre).into_iter().find(left);
    assert_eq!(left.map(|op| ours.name_text(op)), None);
    let flags = ["--lower-affine", "--convert-scf-to-cf", "--mlir-print-op-generic"];
    let Some(theirs) = mlir_opt(&flags, &input) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    mlir_opt(&["--verify-each"], &text::print(&ours));
    let theirs = parse(&theirs);
    let mut compared = 0;
    let all = functions(&ours).into_iter().zip(functions(&simpler)).zip(functions(&theirs));
    for (seed, ((mine, simple), other)) in seeds.zip(all) {
        for point in [[0, 0], [1, 3], [7, 2], [-5, 4]] {
            let expected = outcome(&theirs, other, point);
            if matches!(expected, Err(Trap::Budget(_) | Trap::Undefined(_))) {
                continue;
            }
            let source = || function(seed);
            assert_eq!(outcome(&ours, mine, point), expected, "{seed} {point:?}\n{}", source());
            let found = outcome(&simpler, simple, point);
            assert_eq!(found, expected, "canonicalised: {seed} {point:?}\n{}", source());
            compared += 1;
        }
    }
    assert!(compared * 2 > functions(&ours).len() * 3, "{compared} runs end within the budget");
}

#[test]
fn some_nests() {
    check(asked_seeds().unwrap_or(1..61));
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn a_thousand_nests() {
    (0..10).for_each(|block| check(1000 + 100 * block..1100 + 100 * block));
}
