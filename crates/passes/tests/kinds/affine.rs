//! Programs of affine maps: applications of applications, extremes, bounds and conditions of
//! loops, accesses, indices that are split and joined.

use super::Kind;
use super::text::Text;
use tangram_dialects::mlir::run::Datum;

pub const KIND: Kind = Kind {
    prelude: "",
    function,
    arguments: || vec![super::buffer(&[8], 100), Datum::Int(7), Datum::Int(3), Datum::Int(6)],
    longer: 5,
};

const DEEPEST: usize = 3;

/// What an index may be of a map.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Symbol,
    Dimension,
    /// Only operations that take any index take it.
    Neither,
}

/// An index that was split: its digits, and their factors but the first.
#[derive(Clone)]
struct Split {
    digits: Vec<String>,
    factors: Vec<i64>,
}

struct Generator {
    text: Text,
    indices: Vec<(String, Use)>,
    splits: Vec<Split>,
    depth: usize,
    /// Whether iterations around may run in any order: then nothing is written.
    parallel: bool,
}

/// A function of a buffer of 8 elements, a number and two indices.
fn function(seed: u64) -> String {
    let indices = ["%n", "%k"].map(|name| (name.to_owned(), Use::Symbol)).to_vec();
    let text = Text::new(seed, &["%x"], &[]);
    let mut g = Generator { text, indices, splits: Vec::new(), depth: 0, parallel: false };
    for _ in 0..8 {
        g.statement();
    }
    let (int, index, other) = (g.text.int(), g.any(), g.any());
    format!(
        "func.func @f{seed}(%m: memref<8xi32>, %x: i32, %n: index, %k: index) -> \
         (i32, index, index) {{\n{}return {int}, {index}, {other} : i32, index, index\n}}\n",
        g.text.out
    )
}

impl Generator {
    fn statement(&mut self) {
        let most = if self.depth == DEEPEST { 9 } else { 15 };
        match self.text.below(most) {
            0..=2 => self.apply(),
            3 => self.extreme(),
            4 => self.load(),
            5 => self.store(),
            6 => self.split(),
            7 => self.join(),
            8 => self.undo(),
            9..=11 => self.count(),
            12 | 13 => self.choose(),
            _ => self.nest(),
        }
    }

    fn any(&mut self) -> String {
        let indices = std::mem::take(&mut self.indices);
        let one = self.text.one_of(&indices);
        self.indices = indices;
        one.0
    }

    /// An index that is at most `least`.
    fn of(&mut self, least: Use) -> String {
        let fits = |&&(_, by): &&(String, Use)| match least {
            Use::Symbol => by == Use::Symbol,
            Use::Dimension => by != Use::Neither,
            Use::Neither => true,
        };
        let all: Vec<(String, Use)> = self.indices.iter().filter(fits).cloned().collect();
        self.text.one_of(&all).0
    }

    fn add(&mut self, name: String, by: Use) {
        // What is computed at the top is a symbol.
        let by = if self.depth == 0 { Use::Symbol } else { by };
        self.indices.push((name, by));
    }

    fn leaf(&mut self) -> String {
        match self.text.below(4) {
            0 => format!("{}", self.text.below(8)),
            1 => "s0".into(),
            2 => "d1".into(),
            _ => "d0".into(),
        }
    }

    /// An expression of `d0`, `d1` and `s0`.
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let a = self.expression(depth - 1);
        let by = 1 + self.text.below(4);
        match self.text.below(7) {
            0 | 1 => format!("({a} + {})", self.leaf()),
            2 => format!("({a} * {by})"),
            3 => format!("({a} floordiv {by})"),
            4 => format!("({a} ceildiv {by})"),
            5 => format!("({a} mod {by})"),
            _ => format!("({a} - {})", self.leaf()),
        }
    }

    fn expressions(&mut self, count: usize) -> String {
        let mut all = Vec::new();
        for _ in 0..count {
            let depth = self.text.below(3);
            all.push(self.expression(depth));
        }
        all.join(", ")
    }

    /// Operands of a map whose dimensions are at most `least`.
    fn operands(&mut self, least: Use) -> String {
        let (a, b) = (self.of(least), self.of(least));
        let symbol = self.of(Use::Symbol);
        format!("({a}, {b})[{symbol}]")
    }

    fn map(&mut self, results: &str) -> String {
        format!("affine_map<(d0, d1)[s0] -> ({results})>")
    }

    fn apply(&mut self) {
        let least = if self.text.below(4) == 0 { Use::Neither } else { Use::Dimension };
        let (results, operands) = (self.expressions(1), self.operands(least));
        let map = self.map(&results);
        let name = self.text.named(&format!("affine.apply {map}{operands}"));
        self.add(name, least);
    }

    fn extreme(&mut self) {
        let op = if self.text.flip() { "min" } else { "max" };
        let count = 1 + self.text.below(3);
        let (results, operands) = (self.expressions(count), self.operands(Use::Neither));
        let map = self.map(&results);
        let name = self.text.named(&format!("affine.{op} {map}{operands}"));
        self.add(name, Use::Neither);
    }

    /// A place in the buffer: an expression by the remainder.
    fn place(&mut self) -> String {
        let (a, b) = (self.of(Use::Dimension), self.of(Use::Symbol));
        match self.text.below(3) {
            0 => format!("({a}) mod 8"),
            1 => format!("({a} + symbol({b})) mod 8"),
            _ => format!("({a} * 2 + 1) mod 8"),
        }
    }

    fn load(&mut self) {
        let at = self.place();
        let name = self.text.named(&format!("affine.load %m[{at}] : memref<8xi32>"));
        self.text.ints.push(name);
    }

    fn store(&mut self) {
        if !self.parallel {
            let (value, at) = (self.text.int(), self.place());
            self.text.line(&format!("affine.store {value}, %m[{at}] : memref<8xi32>"));
        }
    }

    /// Factors as text, some of them operands.
    fn factors(&mut self, factors: &[i64]) -> String {
        let mut all = Vec::new();
        for &factor in factors {
            let constant = self.text.below(4) == 0;
            all.push(if constant { self.text.constant(factor) } else { factor.to_string() });
        }
        all.join(", ")
    }

    fn split_of(&mut self, whole: &str, factors: &[i64]) {
        let (basis, name) = (self.factors(factors), self.text.fresh());
        let count = factors.len() + 1;
        let types = vec!["index"; count].join(", ");
        let digits: Vec<String> = (0..count).map(|i| format!("{name}d{i}")).collect();
        let names = digits.join(", ");
        self.text
            .line(&format!("{names} = affine.delinearize_index {whole} into ({basis}) : {types}"));
        digits.iter().for_each(|digit| self.add(digit.clone(), Use::Neither));
        self.splits.push(Split { digits, factors: factors.to_vec() });
    }

    fn some_factors(&mut self) -> Vec<i64> {
        let count = 1 + self.text.below(3);
        (0..count).map(|_| [1, 2, 3, 4, 8][self.text.below(5)]).collect()
    }

    fn split(&mut self) {
        let (whole, factors) = (self.any(), self.some_factors());
        self.split_of(&whole, &factors);
    }

    fn joined(&mut self, disjoint: bool, indices: &[String], factors: &[i64]) -> String {
        let (basis, flag) = (self.factors(factors), if disjoint { "disjoint " } else { "" });
        let name = self.text.named(&format!(
            "affine.linearize_index {flag}[{}] by ({basis}) : index",
            indices.join(", ")
        ));
        self.add(name.clone(), Use::Neither);
        name
    }

    fn join(&mut self) {
        let factors = self.some_factors();
        let mut indices = vec![self.any()];
        for _ in &factors {
            let zero = self.text.below(4) == 0;
            indices.push(if zero { self.text.constant(0) } else { self.any() });
        }
        self.joined(false, &indices, &factors);
    }

    /// Digits are joined, with others around them, or what was joined is split again.
    fn undo(&mut self) {
        if self.splits.is_empty() {
            return self.split();
        }
        let splits = std::mem::take(&mut self.splits);
        let split = self.text.one_of(&splits);
        self.splits = splits;
        let (mut digits, mut factors) = (split.digits.clone(), split.factors.clone());
        match self.text.below(5) {
            // The sum of digits and their weights.
            0 => {
                let (mut weight, mut terms) = (1, Vec::new());
                let names: Vec<String> = (0..digits.len()).map(|i| format!("d{i}")).collect();
                for (at, name) in names.iter().enumerate().rev() {
                    terms.push(format!("{name} * {weight}"));
                    weight *= at.checked_sub(1).map_or(1, |at| factors[at]);
                }
                let (names, terms) = (names.join(", "), terms.join(" + "));
                let name = self.text.named(&format!(
                    "affine.apply affine_map<({names}) -> ({terms} + {})>({})",
                    self.depth,
                    digits.join(", ")
                ));
                self.add(name, Use::Neither);
            }
            1 => {
                digits.push(self.any());
                factors.push(4);
                self.joined(false, &digits, &factors);
            }
            2 => {
                digits.insert(0, self.any());
                factors.insert(0, 5);
                self.joined(false, &digits, &factors);
            }
            kind => {
                // Digits but the first stay below their factors; the first is made not negative.
                let first = self
                    .text
                    .named(&format!("affine.apply affine_map<(d0) -> (d0 mod 16)>({})", digits[0]));
                self.add(first.clone(), Use::Neither);
                digits[0] = first;
                let joined = self.joined(true, &digits, &factors);
                if kind == 3 && factors.len() > 1 {
                    // Other factors with the same product at the end.
                    let last = factors.split_off(factors.len() - 2);
                    factors.push(last[0] * last[1]);
                } else if let Some(last) = factors.last_mut().filter(|last| **last % 4 == 0) {
                    *last /= 2;
                    factors.push(2);
                }
                self.split_of(&joined, &factors);
            }
        }
    }

    /// Statements that see these indices as well, of which the values are not seen outside.
    fn body(&mut self, seen: &[String], end: impl FnOnce(&mut Generator)) {
        let lengths = [self.text.ints.len(), self.indices.len(), self.splits.len()];
        self.depth += 1;
        self.indices.extend(seen.iter().map(|name| (name.clone(), Use::Dimension)));
        for _ in 0..self.text.below(4) {
            self.statement();
        }
        end(self);
        self.depth -= 1;
        self.text.ints.truncate(lengths[0]);
        self.indices.truncate(lengths[1]);
        self.splits.truncate(lengths[2]);
    }

    fn yields(&mut self, carried: Option<&str>, count: usize) {
        let mut all = Vec::new();
        for _ in 0..count {
            let same = carried.filter(|_| self.text.below(3) == 0);
            all.push(same.map_or_else(|| self.text.int(), str::to_owned));
        }
        match count {
            0 => self.text.line("affine.yield"),
            _ => self.text.line(&format!(
                "affine.yield {} : {}",
                all.join(", "),
                vec!["i32"; count].join(", ")
            )),
        }
    }

    fn count(&mut self) {
        let name = self.text.fresh();
        let low = match self.text.below(3) {
            0 => {
                let (results, operands) = (self.expressions(1), self.operands(Use::Dimension));
                format!("max {}{operands}", self.map(&format!("{results}, 0")))
            }
            _ => self.text.below(3).to_string(),
        };
        let high = match self.text.below(3) {
            0 => {
                let (results, operands) = (self.expressions(1), self.operands(Use::Dimension));
                format!("min {}{operands}", self.map(&format!("{results}, 6")))
            }
            _ => self.text.below(6).to_string(),
        };
        let step = 1 + self.text.below(2);
        let head = format!("affine.for {name}i = {low} to {high} step {step}");
        let carries = self.text.flip() && !self.parallel;
        if carries {
            let init = self.text.int();
            self.text.line(&format!("{name} = {head} iter_args({name}c = {init}) -> (i32) {{"));
            self.text.ints.push(format!("{name}c"));
            self.body(&[format!("{name}i")], |g| g.yields(Some(&format!("{name}c")), 1));
            self.text.ints.pop();
        } else {
            self.text.line(&format!("{head} {{"));
            self.body(&[format!("{name}i")], |_| ());
        }
        self.text.line("}");
        if carries && self.text.flip() {
            self.text.ints.push(name);
        }
    }

    fn choose(&mut self) {
        let (a, b) = (self.expressions(1), self.expressions(1));
        let op = if self.text.below(4) == 0 { "==" } else { ">=" };
        let condition =
            if self.text.flip() { format!("{a} {op} 0") } else { format!("{a} {op} 0, {b} >= 0") };
        let (operands, name) = (self.operands(Use::Dimension), self.text.fresh());
        let head = format!("affine.if affine_set<(d0, d1)[s0] : ({condition})>{operands}");
        let gives = self.text.flip();
        self.text.line(&match gives {
            true => format!("{name} = {head} -> i32 {{"),
            false => format!("{head} {{"),
        });
        let count = usize::from(gives);
        self.body(&[], |g| g.yields(None, count));
        if gives || self.text.flip() {
            self.text.line("} else {");
            self.body(&[], |g| g.yields(None, count));
        }
        self.text.line("}");
        if gives {
            self.text.ints.push(name);
        }
    }

    fn nest(&mut self) {
        let (name, symbol, dim) =
            (self.text.fresh(), self.of(Use::Symbol), self.of(Use::Dimension));
        let (low, high) = (self.text.below(2), self.text.below(4));
        let low =
            if self.text.flip() { low.to_string() } else { format!("symbol({symbol}) mod 2") };
        let high =
            if self.text.flip() { high.to_string() } else { format!("{dim} mod 4 + {high}") };
        self.text.line(&format!("affine.parallel ({name}i) = ({low}) to ({high}) {{"));
        let before = std::mem::replace(&mut self.parallel, true);
        self.body(&[format!("{name}i")], |_| ());
        self.parallel = before;
        self.text.line("}");
    }
}
