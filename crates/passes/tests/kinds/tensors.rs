//! Programs over tensors: parts, casts, reshapes, paddings, elements, extents.

use std::fmt::Write as _;

use super::Kind;
use super::support::generate::Random;
use tangram_dialects::mlir::run::Datum;

pub const KIND: Kind = Kind {
    prelude: "",
    function,
    arguments: || {
        let tensors = [super::tensor(&[4, 6], 100), super::tensor(&[4, 6], 500)];
        tensors.into_iter().chain([Datum::Int(7), Datum::Int(3)]).collect()
    },
    longer: 5,
};

/// A tensor value: its name, its extents, and which of them its type says.
#[derive(Clone)]
pub struct Tensor {
    pub name: String,
    pub extents: Vec<i64>,
    pub known: Vec<bool>,
}

impl Tensor {
    pub fn ty(&self) -> String {
        let dims = self.extents.iter().zip(&self.known);
        let dims: String =
            dims.map(|(n, known)| if *known { format!("{n}x") } else { "?x".into() }).collect();
        format!("tensor<{dims}i32>")
    }
}

pub struct Generator {
    pub random: Random,
    out: String,
    next: usize,
    pub tensors: Vec<Tensor>,
    ints: Vec<String>,
    indices: Vec<String>,
}

/// A function of `(tensor<4x6xi32>, tensor<?x6xi32>, i32, index)`.
fn function(seed: u64) -> String {
    let mut g = Generator::new(seed);
    for _ in 0..10 {
        g.statement();
    }
    g.finish(seed)
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        let tensor = |name: &str, known| Tensor {
            name: name.into(),
            extents: vec![4, 6],
            known: vec![known, true],
        };
        Generator {
            random: Random::new(seed),
            out: String::new(),
            next: 0,
            tensors: vec![tensor("%t", true), tensor("%u", false)],
            ints: vec!["%x".into()],
            indices: vec!["%n".into()],
        }
    }

    /// The function of the statements so far.
    pub fn finish(&mut self, seed: u64) -> String {
        let tensor = self.tensor();
        let int = self.ints[self.ints.len() - 1].clone();
        let index = self.indices[self.indices.len() - 1].clone();
        format!(
            "func.func @f{seed}(%t: tensor<4x6xi32>, %u: tensor<?x6xi32>, %x: i32, %n: index) -> \
             ({}, i32, index) {{\n{}return {}, {int}, {index} : {}, i32, index\n}}\n",
            tensor.ty(),
            self.out,
            tensor.name,
            tensor.ty()
        )
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        writeln!(self.out, "{text}").expect("a string takes all");
    }

    pub fn tensor(&mut self) -> Tensor {
        let count = self.tensors.len() as u64;
        let skip = (count / 2) * self.random.below(2);
        self.tensors[(skip + self.random.below(count - skip)) as usize].clone()
    }

    pub fn int(&mut self) -> String {
        self.ints[self.random.below(self.ints.len() as u64) as usize].clone()
    }

    pub fn constant(&mut self, value: i64) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = arith.constant {value} : index"));
        name
    }

    /// `value` as a number, or as a constant operand; says which.
    fn number(&mut self, value: i64) -> (String, bool) {
        match self.random.below(2) {
            0 => (value.to_string(), true),
            _ => (self.constant(value), false),
        }
    }

    pub fn add(&mut self, text: &str, extents: Vec<i64>, known: Vec<bool>) {
        let mut tensor = Tensor { name: self.fresh(), extents, known };
        let line = text.replace("TYPE", &tensor.ty());
        self.line(&format!("{} = {line}", tensor.name));
        tensor.known.shrink_to_fit();
        self.tensors.push(tensor);
    }

    pub fn statement(&mut self) {
        match self.random.below(12) {
            0 | 1 => self.extract_slice(),
            2 => self.insert_slice(),
            3 | 4 => self.cast(),
            5 => self.collapse(),
            6 => self.expand(),
            7 => self.dim(),
            8 => self.insert(),
            9 => self.extract(),
            10 => self.splat(),
            _ => self.pad(),
        }
    }

    /// Offsets, sizes and strides of a part of `of`, as text, with the sizes and which are numbers.
    fn part(&mut self, of: &Tensor) -> (String, Vec<i64>, Vec<bool>) {
        let (mut offsets, mut sizes, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        let (mut extents, mut known) = (Vec::new(), Vec::new());
        for &extent in &of.extents {
            let whole = self.random.below(2) == 0;
            let offset = if whole { 0 } else { self.random.below(extent as u64) as i64 };
            let most = (extent - offset) as u64;
            let size = if whole { extent } else { self.random.below(most) as i64 + 1 };
            offsets.push(self.number(offset).0);
            let (text, is_number) = self.number(size);
            sizes.push(text);
            strides.push(self.number(1).0);
            extents.push(size);
            known.push(is_number);
        }
        let text =
            format!("[{}] [{}] [{}]", offsets.join(", "), sizes.join(", "), strides.join(", "));
        (text, extents, known)
    }

    fn extract_slice(&mut self) {
        let of = self.tensor();
        let (part, extents, known) = self.part(&of);
        let text = format!("tensor.extract_slice {}{part} : {} to TYPE", of.name, of.ty());
        self.add(&text, extents, known);
    }

    fn insert_slice(&mut self) {
        let of = self.tensor();
        let (part, extents, known) = self.part(&of);
        let fits = |t: &&Tensor| t.extents == extents && t.known == known;
        let Some(small) = self.tensors.iter().rev().find(fits).cloned() else { return };
        let text = format!(
            "tensor.insert_slice {} into {}{part} : {} into TYPE",
            small.name,
            of.name,
            small.ty()
        );
        self.add(&text, of.extents, of.known);
    }

    pub fn cast(&mut self) {
        let of = self.tensor();
        let known = of.known.iter().map(|_| self.random.below(2) == 0).collect::<Vec<_>>();
        let text = format!("tensor.cast {} : {} to TYPE", of.name, of.ty());
        self.add(&text, of.extents, known);
    }

    fn collapse(&mut self) {
        let of = self.tensor();
        let rank = of.extents.len();
        if of.known.contains(&false) || rank < 2 {
            return;
        }
        let at = self.random.below(rank as u64 - 1) as usize;
        let mut groups: Vec<String> = Vec::new();
        let mut extents = Vec::new();
        let mut i = 0;
        while i < rank {
            let joined = i == at;
            groups.push(if joined { format!("[{i}, {}]", i + 1) } else { format!("[{i}]") });
            extents.push(if joined { of.extents[i] * of.extents[i + 1] } else { of.extents[i] });
            i += if joined { 2 } else { 1 };
        }
        let groups = groups.join(", ");
        let text = format!("tensor.collapse_shape {} [{groups}] : {} into TYPE", of.name, of.ty());
        let known = vec![true; extents.len()];
        self.add(&text, extents, known);
    }

    fn expand(&mut self) {
        let of = self.tensor();
        let at = self.random.below(of.extents.len() as u64) as usize;
        if of.known.contains(&false) || of.extents.len() > 3 {
            return;
        }
        let factor = [2, 3, 1, of.extents[at]][self.random.below(4) as usize];
        if of.extents[at] % factor != 0 {
            return;
        }
        let mut extents = of.extents.clone();
        extents[at] = factor;
        extents.insert(at + 1, of.extents[at] / factor);
        let group = |i: usize| match i {
            _ if i < at => format!("[{i}]"),
            _ if i == at => format!("[{i}, {}]", i + 1),
            _ => format!("[{}]", i + 1),
        };
        let groups: Vec<String> = (0..of.extents.len()).map(group).collect();
        let shape: Vec<String> = extents.iter().map(i64::to_string).collect();
        let text = format!(
            "tensor.expand_shape {} [{}] output_shape [{}] : {} into TYPE",
            of.name,
            groups.join(", "),
            shape.join(", "),
            of.ty()
        );
        let known = vec![true; extents.len()];
        self.add(&text, extents, known);
    }

    fn dim(&mut self) {
        let of = self.tensor();
        let at = self.random.below(of.extents.len() as u64) as i64;
        let (at, name) = (self.constant(at), self.fresh());
        self.line(&format!("{name} = tensor.dim {}, {at} : {}", of.name, of.ty()));
        self.indices.push(name);
    }

    fn place(&mut self, of: &Tensor) -> String {
        let at: Vec<String> = of
            .extents
            .iter()
            .map(|&n| {
                let at = self.random.below(n as u64).min(1) as i64;
                self.constant(at)
            })
            .collect();
        at.join(", ")
    }

    fn insert(&mut self) {
        let of = self.tensor();
        let (value, at) = (self.int(), self.place(&of));
        let text = format!("tensor.insert {value} into {}[{at}] : TYPE", of.name);
        self.add(&text, of.extents, of.known);
    }

    fn extract(&mut self) {
        let of = self.tensor();
        let (at, name) = (self.place(&of), self.fresh());
        self.line(&format!("{name} = tensor.extract {}[{at}] : {}", of.name, of.ty()));
        self.ints.push(name);
    }

    fn splat(&mut self) {
        let value = self.int();
        let text = format!("tensor.splat {value} : TYPE");
        self.add(&text, vec![2, 3], vec![true, true]);
    }

    fn pad(&mut self) {
        let of = self.tensor();
        let value = self.int();
        let (mut low, mut high, mut extents, mut known) = (vec![], vec![], vec![], vec![]);
        for (&extent, &is_known) in of.extents.iter().zip(&of.known) {
            let (a, b) = (self.random.below(2) as i64, self.random.below(2) as i64);
            let ((before, fixed), (after, also)) = (self.number(a), self.number(b));
            low.push(before);
            high.push(after);
            extents.push(extent + a + b);
            known.push(is_known && fixed && also);
        }
        let args: Vec<String> = (0..extents.len()).map(|i| format!("%p{i}: index")).collect();
        let text = format!(
            "tensor.pad {} low[{}] high[{}] {{\n^bb0({}):\ntensor.yield {value} : i32\n}} : {} to TYPE",
            of.name,
            low.join(", "),
            high.join(", "),
            args.join(", "),
            of.ty()
        );
        self.add(&text, extents, known);
    }
}
