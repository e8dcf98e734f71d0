//! Random applications of operations, as lines of a spec file.

mod entries;
mod fused;
mod layers;
mod picks;
mod sums;
mod values;
mod views;
mod windows;

use fastrand::Rng;

/// One line for each operation of the table.
pub fn lines(random: &mut Rng) -> Vec<String> {
    let mut g = Generator { random };
    let mut lines = Vec::new();
    values::elementwise(&mut g, &mut lines);
    sums::linear(&mut g, &mut lines);
    windows::windows(&mut g, &mut lines);
    sums::reductions(&mut g, &mut lines);
    sums::norms(&mut g, &mut lines);
    sums::transforms(&mut g, &mut lines);
    views::views(&mut g, &mut lines);
    picks::picks(&mut g, &mut lines);
    layers::quantised(&mut g, &mut lines);
    layers::attention(&mut g, &mut lines);
    layers::recurrent(&mut g, &mut lines);
    layers::recurrent_of_bytes(&mut g, &mut lines);
    fused::fused(&mut g, &mut lines);
    views::images(&mut g, &mut lines);
    views::made(&mut g, &mut lines);
    lines
}

/// What the entry of each operation proposes; some of it is refused by the kernel.
pub fn proposed(random: &mut Rng) -> Vec<String> {
    let mut lines = Vec::new();
    entries::proposed(&mut Generator { random }, &mut lines);
    lines
}

const FLOATS: &[&str] = &["f32", "f32", "f16", "bf16", "f64"];

const INTS: &[&str] = &["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"];

const SIGNED: &[&str] = &["i8", "i16", "i32", "i64", "f32", "f16", "f64", "bf16"];

const NUMBERS: &[&str] =
    &["f32", "f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"];

const ALL: &[&str] = &["f32", "f16", "bf16", "f64", "i8", "i32", "i64", "ui8", "ui64", "i1"];

struct Generator<'a> {
    random: &'a mut Rng,
}

type Extents = Vec<String>;

impl Generator<'_> {
    fn pick<'b>(&mut self, list: &[&'b str]) -> &'b str {
        list[self.random.usize(..list.len())]
    }

    fn int(&mut self, from: i64, to: i64) -> i64 {
        self.random.i64(from..=to)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.random.usize(..one_in) == 0
    }

    fn flag(&mut self) -> bool {
        self.random.bool()
    }

    /// An extent: mostly small, sometimes 1, rarely 0, or a symbol.
    fn extent(&mut self) -> String {
        match self.random.u8(..20) {
            0 => "0".to_owned(),
            1..4 => "1".to_owned(),
            4..7 => self.pick(&["N", "M", "K"]).to_owned(),
            _ => self.int(2, 6).to_string(),
        }
    }

    fn shape(&mut self, least: usize, most: usize) -> Extents {
        let rank = self.random.usize(least..=most);
        (0..rank).map(|_| self.extent()).collect()
    }

    /// A shape that broadcasts to `shape`.
    fn part(&mut self, shape: &[String]) -> Extents {
        let kept = self.random.usize(..=shape.len());
        let cut = if self.chance(2) { 0 } else { shape.len() - kept };
        let one = |e: &String| if self.chance(4) { "1".to_owned() } else { e.clone() };
        shape[cut..].iter().map(one).collect()
    }
}

fn tensor(element: &str, shape: &[String]) -> String {
    format!("{element}[{}]", shape.join(","))
}

fn list(numbers: &[i64]) -> String {
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", texts.join(","))
}

fn constants(numbers: &[i64]) -> String {
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("i64[{}] = ({})", numbers.len(), texts.join(", "))
}

fn line(name: &str, operands: &[String], attrs: &[String], results: usize) -> String {
    let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
    format!("{name}({}){attrs} -> {}", operands.join(", "), vec!["f32[]"; results].join(", "))
}
