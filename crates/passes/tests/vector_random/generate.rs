//! Random functions over vectors of integers.

use std::fmt::Write;

/// The elements of a vector are at most so many.
const MAX_ELEMENTS: i64 = 24;
/// The indices that functions are given, `%i` and `%j`.
const INDICES: [(&str, i64); 2] = [("%i", 1), ("%j", 0)];

/// A value of a function: its name, and its extents; none of a scalar.
#[derive(Clone)]
struct Value {
    name: String,
    dims: Option<Vec<i64>>,
}

/// `vector<2x3xi32>`.
fn ty(dims: &Option<Vec<i64>>, element: &str) -> String {
    let Some(dims) = dims else { return element.to_owned() };
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("vector<{dims}{element}>")
}

fn list(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

struct Function {
    rng: fastrand::Rng,
    text: String,
    values: Vec<Value>,
    count: usize,
}

impl Function {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("%v{}", self.count)
    }

    /// Writes `%v = op`, a value of these extents.
    fn define(&mut self, dims: Option<Vec<i64>>, op: String) -> Value {
        let name = self.fresh();
        writeln!(self.text, "  {name} = {op}").expect("text");
        let value = Value { name, dims };
        self.values.push(value.clone());
        value
    }

    fn dims(&mut self, least: usize) -> Vec<i64> {
        loop {
            let rank = self.rng.usize(least..=3);
            let dims: Vec<i64> = (0..rank).map(|_| self.rng.i64(1..=4)).collect();
            if dims.iter().product::<i64>() <= MAX_ELEMENTS {
                return dims;
            }
        }
    }

    /// A vector that is there, with at least one dimension, the newer the likelier.
    fn vector(&mut self) -> (String, Vec<i64>) {
        let all: Vec<(String, Vec<i64>)> = self
            .values
            .iter()
            .filter_map(|value| Some((value.name.clone(), value.dims.clone()?)))
            .filter(|(_, dims)| !dims.is_empty())
            .collect();
        let from = if self.rng.bool() { all.len().saturating_sub(4) } else { 0 };
        all[self.rng.usize(from..all.len())].clone()
    }

    /// A value of these extents: one that is there, or a new one.
    fn like(&mut self, dims: &Option<Vec<i64>>) -> String {
        let found = self.values.iter().rev().find(|value| value.dims == *dims);
        match found.filter(|_| self.rng.u8(..4) > 0) {
            Some(value) => value.name.clone(),
            None => match dims {
                Some(dims) => self.constant(dims.clone()).name,
                None => "%x".to_owned(),
            },
        }
    }

    fn constant(&mut self, dims: Vec<i64>) -> Value {
        let count: i64 = dims.iter().product();
        let mut numbers: Vec<i64> = (0..count).map(|_| self.rng.i64(-9..10)).collect();
        if self.rng.bool() || dims.is_empty() {
            let first = numbers[0];
            let text =
                format!("arith.constant dense<{first}> : {}", ty(&Some(dims.clone()), "i32"));
            return self.define(Some(dims), text);
        }
        let mut text: Vec<String> = numbers.drain(..).map(|n| n.to_string()).collect();
        for &dim in dims.iter().rev() {
            text = text.chunks(dim as usize).map(|part| format!("[{}]", part.join(", "))).collect();
        }
        let text =
            format!("arith.constant dense<{}> : {}", text[0], ty(&Some(dims.clone()), "i32"));
        self.define(Some(dims), text)
    }

    /// A place in so many dimensions: numbers, and sometimes what an operand says.
    fn place(&mut self, dims: &[i64], whole: usize) -> String {
        let coord = |rng: &mut fastrand::Rng, dim: i64| {
            let (name, value) = INDICES[rng.usize(..INDICES.len())];
            // What `mlir-opt` lowers: numbers, but for vectors of one dimension.
            match dims.len() == whole && whole == 1 && rng.u8(..4) == 0 && value < dim {
                true => name.to_owned(),
                false => rng.i64(0..dim).to_string(),
            }
        };
        let coords: Vec<String> = dims.iter().map(|&dim| coord(&mut self.rng, dim)).collect();
        format!("[{}]", coords.join(", "))
    }

    fn mask(&mut self, dims: &[i64]) -> String {
        let name = self.fresh();
        let ty = ty(&Some(dims.to_vec()), "i1");
        let sizes: Vec<i64> = dims.iter().map(|&dim| self.rng.i64(0..=dim)).collect();
        let text = match self.rng.u8(..3) {
            0 if !sizes.contains(&0) => format!("vector.constant_mask {} : {ty}", list(&sizes)),
            1 => format!("vector.constant_mask {} : {ty}", list(dims)),
            _ => {
                let mut values = Vec::new();
                for (i, size) in sizes.iter().enumerate() {
                    let value = match self.rng.u8(..3) {
                        0 => INDICES[i % 2].0.to_owned(),
                        _ => {
                            let name = self.fresh();
                            writeln!(self.text, "  {name} = arith.constant {size} : index")
                                .expect("text");
                            name
                        }
                    };
                    values.push(value);
                }
                format!("vector.create_mask {} : {ty}", values.join(", "))
            }
        };
        writeln!(self.text, "  {name} = {text}").expect("text");
        name
    }

    fn step(&mut self) {
        match self.rng.u8(..14) {
            0 => self.broadcast(),
            1 => self.shape_cast(),
            2 => self.transpose(),
            3 | 4 => self.extract(),
            5 | 6 => self.insert(),
            7 => self.slice(),
            8 => self.insert_slice(),
            9 => self.shuffle(),
            10 => self.listed(),
            11 => self.select(),
            12 => self.reduce(),
            _ => self.memory(),
        }
    }

    fn broadcast(&mut self) {
        let (name, dims) = match self.rng.u8(..3) {
            0 => ("%x".to_owned(), None),
            _ => {
                let (name, dims) = self.vector();
                (name, Some(dims))
            }
        };
        let inner = dims.clone().unwrap_or_default();
        let stretched = inner.iter().map(|&dim| if dim == 1 { self.rng.i64(1..=3) } else { dim });
        let mut new: Vec<i64> = stretched.collect();
        while new.len() < 3 && self.rng.bool() || new.is_empty() {
            new.insert(0, self.rng.i64(1..=3));
        }
        if new.iter().product::<i64>() > MAX_ELEMENTS {
            return;
        }
        let (from, to) = (ty(&dims, "i32"), ty(&Some(new.clone()), "i32"));
        self.define(Some(new), format!("vector.broadcast {name} : {from} to {to}"));
    }

    fn shape_cast(&mut self) {
        let (name, dims) = self.vector();
        let mut rest: i64 = dims.iter().product();
        let mut new = Vec::new();
        while new.len() < 3 && (rest > 1 || self.rng.bool()) {
            let divisors: Vec<i64> = (1..=rest).filter(|n| rest % n == 0).collect();
            let dim = divisors[self.rng.usize(..divisors.len())];
            new.push(dim);
            rest /= dim;
        }
        if rest > 1 || new.is_empty() {
            new.push(rest);
        }
        let (from, to) = (ty(&Some(dims), "i32"), ty(&Some(new.clone()), "i32"));
        self.define(Some(new), format!("vector.shape_cast {name} : {from} to {to}"));
    }

    fn transpose(&mut self) {
        let (name, dims) = self.vector();
        let mut order: Vec<i64> = (0..dims.len() as i64).collect();
        self.rng.shuffle(&mut order);
        let new: Vec<i64> = order.iter().map(|&i| dims[i as usize]).collect();
        let (from, to) = (ty(&Some(dims), "i32"), ty(&Some(new.clone()), "i32"));
        let text = format!("vector.transpose {name}, {} : {from} to {to}", list(&order));
        self.define(Some(new), text);
    }

    fn extract(&mut self) {
        let (name, dims) = self.vector();
        let taken = self.rng.usize(1..=dims.len());
        let place = self.place(&dims[..taken], dims.len());
        let part = (taken < dims.len()).then(|| dims[taken..].to_vec());
        let (from, to) = (ty(&Some(dims), "i32"), ty(&part, "i32"));
        self.define(part, format!("vector.extract {name}{place} : {to} from {from}"));
    }

    fn insert(&mut self) {
        let (name, dims) = self.vector();
        let taken = self.rng.usize(1..=dims.len());
        let place = self.place(&dims[..taken], dims.len());
        let part = (taken < dims.len()).then(|| dims[taken..].to_vec());
        let value = self.like(&part);
        let (whole, part) = (ty(&Some(dims.clone()), "i32"), ty(&part, "i32"));
        let text = format!("vector.insert {value}, {name} {place} : {part} into {whole}");
        self.define(Some(dims), text);
    }

    /// Offsets and sizes of a part.
    fn part(&mut self, dims: &[i64]) -> (Vec<i64>, Vec<i64>) {
        let one = |&dim: &i64| {
            let size = self.rng.i64(1..=dim);
            (self.rng.i64(0..=dim - size), size)
        };
        dims.iter().map(one).unzip()
    }

    fn slice(&mut self) {
        let (name, dims) = self.vector();
        let (offsets, sizes) = self.part(&dims);
        let (from, to) = (ty(&Some(dims.clone()), "i32"), ty(&Some(sizes.clone()), "i32"));
        let text = format!(
            "vector.extract_strided_slice {name} {{offsets = {}, sizes = {}, strides = {}}} : \
             {from} to {to}",
            list(&offsets),
            list(&sizes),
            list(&vec![1; dims.len()])
        );
        self.define(Some(sizes), text);
    }

    fn insert_slice(&mut self) {
        let (name, dims) = self.vector();
        let (offsets, sizes) = self.part(&dims);
        let skipped = self.rng.usize(..dims.len());
        let inner = Some(sizes[skipped..].to_vec());
        let value = self.like(&inner);
        let (part, whole) = (ty(&inner, "i32"), ty(&Some(dims.clone()), "i32"));
        let text = format!(
            "vector.insert_strided_slice {value}, {name} {{offsets = {}, strides = {}}} : {part} \
             into {whole}",
            list(&offsets),
            list(&vec![1; dims.len() - skipped])
        );
        self.define(Some(dims), text);
    }

    fn shuffle(&mut self) {
        let (name, dims) = self.vector();
        if dims.len() != 1 {
            return;
        }
        let other = self.like(&Some(dims.clone()));
        let count = self.rng.usize(1..=6);
        let taken: Vec<i64> = (0..count).map(|_| self.rng.i64(0..2 * dims[0])).collect();
        let of = ty(&Some(dims), "i32");
        let text = format!("vector.shuffle {name}, {other} {} : {of}, {of}", list(&taken));
        self.define(Some(vec![count as i64]), text);
    }

    fn listed(&mut self) {
        let dims = self.dims(1);
        let count: i64 = dims.iter().product();
        let scalars: Vec<String> =
            self.values.iter().filter(|v| v.dims.is_none()).map(|v| v.name.clone()).collect();
        let all: Vec<String> =
            (0..count).map(|_| scalars[self.rng.usize(..scalars.len())].clone()).collect();
        let to = ty(&Some(dims.clone()), "i32");
        self.define(Some(dims), format!("vector.from_elements {} : {to}", all.join(", ")));
    }

    fn select(&mut self) {
        let (name, dims) = self.vector();
        let (other, mask) = (self.like(&Some(dims.clone())), self.mask(&dims));
        let (flags, of) = (ty(&Some(dims.clone()), "i1"), ty(&Some(dims.clone()), "i32"));
        self.define(Some(dims), format!("arith.select {mask}, {name}, {other} : {flags}, {of}"));
    }

    fn reduce(&mut self) {
        let (name, dims) = self.vector();
        let kind = ["add", "mul", "minsi", "maxui", "xor"][self.rng.usize(..5)];
        let of = ty(&Some(dims.clone()), "i32");
        let mut plain = self.rng.bool();
        let (left, text) = if dims.len() == 1 && self.rng.bool() {
            (None, format!("vector.reduction <{kind}>, {name}, %x : {of} into i32"))
        } else {
            let along: Vec<usize> = (0..dims.len()).filter(|_| self.rng.bool()).collect();
            if along.is_empty() {
                return;
            }
            // Along dimensions of one element alone, `mlir-opt` 22 forgets what masks leave out.
            plain |= along.iter().all(|&i| dims[i] == 1);
            let kept = (0..dims.len()).filter(|i| !along.contains(i)).map(|i| dims[i]);
            let kept: Vec<i64> = kept.collect();
            let left = (!kept.is_empty()).then_some(kept);
            let acc = self.like(&left);
            let along: Vec<i64> = along.into_iter().map(|i| i as i64).collect();
            let to = ty(&left, "i32");
            let text = format!(
                "vector.multi_reduction <{kind}>, {name}, {acc} {} : {of} to {to}",
                list(&along)
            );
            (left, text)
        };
        if plain {
            self.define(left, text);
            return;
        }
        let mask = self.mask(&dims);
        let (flags, to) = (ty(&Some(dims), "i1"), ty(&left, "i32"));
        self.define(left, format!("vector.mask {mask} {{ {text} }} : {flags} -> {to}"));
    }

    /// Writes to a buffer and reads from it, past its end too.
    fn memory(&mut self) {
        let (name, dims) = self.vector();
        if dims.len() > 2 {
            return;
        }
        let of = ty(&Some(dims.clone()), "i32");
        let extents: Vec<i64> = dims.iter().map(|&dim| dim + self.rng.i64(0..2)).collect();
        let buffer: String = extents.iter().map(|dim| format!("{dim}x")).collect();
        let buffer = format!("memref<{buffer}i32>");
        let (memory, zero) = (self.fresh(), self.fresh());
        writeln!(self.text, "  {zero} = arith.constant 0 : index").expect("text");
        writeln!(self.text, "  {memory} = memref.alloca() : {buffer}").expect("text");
        let start = vec![zero.clone(); dims.len()].join(", ");
        let whole = ty(&Some(extents.clone()), "i32");
        let filled = self.constant(extents).name;
        writeln!(
            self.text,
            "  vector.transfer_write {filled}, {memory}[{start}] : {whole}, {buffer}"
        )
        .expect("text");
        let mask = self.mask(&dims);
        let masked = if self.rng.bool() { format!(", {mask}") } else { String::new() };
        let text =
            format!("vector.transfer_write {name}, {memory}[{start}]{masked} : {of}, {buffer}");
        writeln!(self.text, "  {text}").expect("text");
        let at: Vec<&str> =
            dims.iter().map(|_| if self.rng.bool() { "%i" } else { &zero }).collect();
        let text = format!("vector.transfer_read {memory}[{}], %x : {buffer}, {of}", at.join(", "));
        self.define(Some(dims), text);
    }

    /// Adds up all values, each element with a weight of its own.
    fn sum(&mut self) -> String {
        let mut sum = "%x".to_owned();
        for value in self.values.clone() {
            let part = match &value.dims {
                None => value.name.clone(),
                Some(dims) => {
                    let count: i64 = dims.iter().product();
                    let flat = ty(&Some(vec![count]), "i32");
                    let weights: Vec<i64> = (0..count).map(|i| 3 + 2 * i * i).collect();
                    let [cast, weight, product, total] = [(); 4].map(|()| self.fresh());
                    let of = ty(&value.dims, "i32");
                    writeln!(
                        self.text,
                        "  {cast} = vector.shape_cast {} : {of} to {flat}",
                        value.name
                    )
                    .expect("text");
                    writeln!(
                        self.text,
                        "  {weight} = arith.constant dense<{}> : {flat}",
                        list(&weights)
                    )
                    .expect("text");
                    writeln!(self.text, "  {product} = arith.muli {cast}, {weight} : {flat}")
                        .expect("text");
                    writeln!(
                        self.text,
                        "  {total} = vector.reduction <add>, {product} : {flat} into i32"
                    )
                    .expect("text");
                    total
                }
            };
            let (scaled, next, factor) = (self.fresh(), self.fresh(), self.fresh());
            writeln!(self.text, "  {factor} = arith.constant 31 : i32").expect("text");
            writeln!(self.text, "  {scaled} = arith.muli {sum}, {factor} : i32").expect("text");
            writeln!(self.text, "  {next} = arith.addi {scaled}, {part} : i32").expect("text");
            sum = next;
        }
        sum
    }
}

/// The function of `seed`, with `main` and its number, which calls it.
fn function(seed: u64) -> String {
    let rng = fastrand::Rng::with_seed(seed);
    let mut f = Function { rng, text: String::new(), values: Vec::new(), count: 0 };
    f.values.push(Value { name: "%x".to_owned(), dims: None });
    let mut parameters = vec!["%x: i32".to_owned(), "%i: index".into(), "%j: index".into()];
    let mut given = vec!["%x".to_owned(), "%i".into(), "%j".into()];
    let mut types = vec!["i32".to_owned(), "index".into(), "index".into()];
    let mut caller =
        Function { rng: f.rng.clone(), text: String::new(), values: Vec::new(), count: 0 };
    for n in 0..3 {
        let dims = f.dims(1);
        parameters.push(format!("%p{n}: {}", ty(&Some(dims.clone()), "i32")));
        types.push(ty(&Some(dims.clone()), "i32"));
        given.push(caller.constant(dims.clone()).name);
        f.values.push(Value { name: format!("%p{n}"), dims: Some(dims) });
    }
    (0..8).for_each(|_| f.step());
    // What is looked at: the newest, and some of the others.
    let last = f.values.split_off(f.values.len().saturating_sub(3));
    f.values.retain(|_| f.rng.u8(..4) == 0);
    f.values.extend(last);
    let sum = f.sum();
    format!(
        "func.func @f{seed}({}) -> i32 {{\n{}  return {sum} : i32\n}}\nfunc.func @main{seed}() -> \
         i32 {{\n  %x = arith.constant 7 : i32\n  %i = arith.constant 1 : index\n  %j = \
         arith.constant 0 : index\n{}  %r = call @f{seed}({}) : ({}) -> i32\n  return %r : i32\n}}\n",
        parameters.join(", "),
        f.text,
        caller.text,
        given.join(", "),
        types.join(", "),
    )
}

/// The functions of `seeds`, and `main`, which gives what all of them give together.
pub fn program(seeds: std::ops::Range<u64>) -> String {
    let mut text = String::new();
    let mut main = "func.func @main() -> i32 {\n  %h0 = arith.constant 1 : i32\n  %c = \
                    arith.constant 1000003 : i32\n"
        .to_owned();
    let mut last = "%h0".to_owned();
    for seed in seeds {
        text += &function(seed);
        writeln!(main, "  %r{seed} = call @main{seed}() : () -> i32").expect("text");
        writeln!(main, "  %m{seed} = arith.muli {last}, %c : i32").expect("text");
        writeln!(main, "  %s{seed} = arith.addi %m{seed}, %r{seed} : i32").expect("text");
        last = format!("%s{seed}");
    }
    text + &main + &format!("  return {last} : i32\n}}\n")
}
