//! Random graphs and rules as text.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use proptest::prelude::*;

/// Decides one operation or pattern: which, and from which earlier ones.
pub type Item = [u8; 4];

pub fn items(count: RangeInclusive<usize>) -> impl Strategy<Value = Vec<Item>> {
    prop::collection::vec(any::<Item>(), count)
}

/// Picks one of `count` things, the later ones more often.
fn pick(byte: u8, count: usize) -> usize {
    let byte = usize::from(byte);
    if byte.is_multiple_of(2) { byte / 2 % count } else { count - 1 - byte / 2 % count.min(3) }
}

/// The kinds of operations that a rule asks for, so that graphs have enough of them.
pub fn palette(items: &[Item], output: Item) -> Vec<u8> {
    let of_item = |[kind, _, b, _]: &Item| match kind % 16 {
        0 | 4 | 8 | 12 => vec![0],
        1 | 11 => vec![2],
        2 => vec![3],
        3 => vec![4],
        5 | 6 => vec![5],
        7 => vec![7],
        10 | 13..=15 => {
            let field = [0, 3, 0, 5][usize::from(b % 4)];
            vec![field, field, 5, 6]
        }
        _ => Vec::new(),
    };
    let of_output: &[u8] = match output[0] % 8 {
        0 => &[0],
        1 | 2 => &[3],
        3 => &[0, 4],
        4 | 5 => &[5],
        6 => &[7],
        _ => &[0, 3],
    };
    let is_variadic = output[3].is_multiple_of(3);
    let branches = if is_variadic { of_output.repeat(2) } else { Vec::new() };
    items.iter().flat_map(of_item).chain(branches).chain([0]).collect()
}

/// Operations on matrices of unknown extents, most of them of the kinds in `palette`.
pub fn graph(items: &[Item], palette: &[u8]) -> String {
    let mut text = "v0, v1: f32[?, ?]\n".to_owned();
    let mut names = vec!["v0".to_owned(), "v1".to_owned()];
    for (i, [kind, a, b, c]) in items.iter().enumerate() {
        let name = format!("r{i}");
        let (x, y) = (&names[pick(*a, names.len())], &names[pick(*b, names.len())]);
        let z = &names[pick(c / 2, names.len())];
        let axis = c % 2;
        let mut made = vec![name.clone()];
        let kind = if kind.is_multiple_of(5) {
            kind / 5
        } else {
            palette[usize::from(*kind) % palette.len()]
        };
        text += &match kind % 8 {
            0 | 1 => format!("{name} = relu({x})\n"),
            2 => format!("{name} = tanh({x})\n"),
            3 => format!("{name} = add({x}, {y})\n"),
            4 => format!("{name} = subtract({x}, {y})\n"),
            5 => format!("{name} = concatenate({x}, {y}) {{axis = {axis}}}\n"),
            6 => format!("{name} = concatenate({x}, {y}, {z}) {{axis = {axis}}}\n"),
            _ => {
                made.push(format!("s{i}"));
                format!("{name}, s{i} = split({x}) {{axis = {axis}, indices_or_sections = 2}}\n")
            }
        };
        names.extend(made);
    }
    text
}

/// Statements of a rule, and what can be used further on.
#[derive(Default)]
struct Source {
    text: String,
    /// Patterns that later ones may use.
    names: Vec<String>,
    used: BTreeSet<String>,
    /// Calls of `concatenate`, which have an axis.
    joins: Vec<String>,
    /// Variadic patterns with a template each.
    variadics: Vec<(String, String)>,
    variable_operator: bool,
}

impl Source {
    fn take(&mut self, byte: u8) -> String {
        let name = self.names[pick(byte, self.names.len())].clone();
        self.used.insert(name.clone());
        name
    }

    fn unused(&self) -> Vec<String> {
        let inside =
            |name: &&String| !self.used.contains(*name) && !["p0", "p1"].contains(&name.as_str());
        self.names.iter().filter(inside).cloned().collect()
    }

    fn axis(&self, byte: u8) -> String {
        match (byte % 4, self.joins.last()) {
            (0, _) | (3, None) => String::new(),
            (3, Some(join)) => format!(" {{ axis = {join}.axis }}"),
            (n, _) => format!(" {{ axis = {} }}", n - 1),
        }
    }

    fn item(&mut self, i: usize, [kind, a, b, c]: Item) {
        let name = format!("p{i}");
        let commutative = if c.is_multiple_of(2) { "commutative " } else { "" };
        let made = match kind % 16 {
            0 => format!("relu({})", self.take(a)),
            1 => format!("tanh({})", self.take(a)),
            2 | 3 => {
                let op = if kind % 16 == 2 { "add" } else { "subtract" };
                format!("{commutative}{op}({}, {})", self.take(a), self.take(b))
            }
            4 => {
                if !std::mem::replace(&mut self.variable_operator, true) {
                    self.text += "op f = relu | tanh; ";
                }
                format!("f({})", self.take(a))
            }
            5 | 6 => {
                let axis = self.axis(c);
                let third =
                    if c.is_multiple_of(3) { format!(", {}", self.take(c)) } else { String::new() };
                self.joins.push(name.clone());
                format!("concatenate({}, {}{third}){axis}", self.take(a), self.take(b))
            }
            7 => {
                let axis = self.axis(b);
                let operand = self.take(a);
                self.text += &format!("let s{i} = split({operand}){axis}; ");
                format!("s{i}[{}]", ["0", "1", "_"][usize::from(c % 3)])
            }
            8 => format!("relu({}) | tanh({})", self.take(a), self.take(b)),
            9 => ["not relu(*)", "not const", "not add(*, *)"][usize::from(a % 3)].to_owned(),
            10 | 13..=15 => self.fields(i, [a, b, c]),
            11 => match self.variadics.last() {
                Some((all, template)) => format!("{all}[{template}, {}]", a % 2),
                None => format!("only tanh({})", self.take(b)),
            },
            _ => format!("only relu({})", self.take(a)),
        };
        self.text += &format!("let {name} = {made}; ");
        self.names.push(name);
    }

    /// Joins a variable number of fields.
    fn fields(&mut self, i: usize, [a, b, c]: [u8; 3]) -> String {
        let shared = if b % 4 == 1 { self.take(a) } else { String::new() };
        self.text += &format!("let w{i} = *; let e{i} = *; ");
        let call = |w: &str| match b % 4 {
            0 => format!("relu({w})"),
            1 => format!("add({w}, {shared})"),
            2 => format!("relu({w}) | tanh({w})"),
            _ => w.to_owned(),
        };
        let template =
            |name: &str| if c.is_multiple_of(5) { format!(" first {name}") } else { String::new() };
        let (first, w1) = (template(&format!("d{i}")), template(&format!("e{i}")));
        let over = if b % 4 == 3 {
            format!("w{i}{w1}")
        } else {
            let kind = if b % 4 == 2 { String::new() } else { format!("f{i}{first}, ") };
            let field = call(&format!("w{i}"));
            if !kind.is_empty() && !first.is_empty() {
                self.text += &format!("let d{i} = {}; ", call(&format!("e{i}")));
            }
            self.text += &format!("let f{i} = {field}; ");
            if kind.is_empty() { format!("f{i}, w{i}{w1}") } else { format!("{kind}w{i}{w1}") }
        };
        let field = if b % 4 == 3 { format!("w{i}") } else { format!("f{i}") };
        let length = ["", " min 2", " length 2"][usize::from(c % 3)];
        self.text += &format!("let v{i} = variadic {field} over ({over}){length}; ");
        self.variadics.push((format!("v{i}"), format!("w{i}")));
        self.joins.push(format!("p{i}"));
        format!("concatenate(v{i}){}", self.axis(a).replace(&format!("p{i}.axis"), "0"))
    }

    /// A variable number of outputs.
    fn branches(&mut self, [kind, a, b, c]: Item) -> String {
        // What nobody uses yet, so that everything is part of the branches.
        let unused = self.unused().first().cloned();
        let shared = unused.unwrap_or_else(|| self.take(a));
        self.used.insert(shared.clone());
        self.text += "let w = *; let w1 = *; ";
        let (field, over, index) = match kind % 8 {
            0 => (format!("relu({shared})"), "y", ""),
            1 => (format!("add({shared}, w)"), "y, w", ""),
            2 => (format!("commutative add(w, {shared})"), "y, w", ""),
            3 => {
                self.text += "let r = relu(w); ";
                (format!("subtract(r, {shared})"), "y, r, w", "")
            }
            4 => (format!("concatenate({shared}, w) {{ axis = i }}"), "y, w", " for i"),
            5 => {
                self.text += &format!("let y1 = concatenate({shared}, w1); ");
                let field = format!("concatenate({shared}, w) {{ axis = y1.axis }}");
                (field, "y first y1, w first w1", "")
            }
            6 => {
                self.text += &format!("let s = split({shared}); ");
                ("s[i]".to_owned(), "y", " for i")
            }
            _ => {
                self.text += &format!("let m = only relu({shared}); ");
                ("add(m, w)".to_owned(), ["y, w", "y, m, w"][usize::from(b % 2)], "")
            }
        };
        if !index.is_empty() {
            self.text += "index i; ";
        }
        let least = ["", " min 2", " min 1"][usize::from(c % 3)];
        self.text += &format!("let y = {field}; ");
        format!("match variadic y over ({over}){index}{least} as src; ")
    }
}

/// A rule whose outputs are what no other pattern uses, or a variable number of branches.
pub fn rule(items: &[Item], output: Item, alias: bool) -> Option<String> {
    let mut source = Source { names: vec!["p0".into(), "p1".into()], ..Source::default() };
    for (i, item) in items.iter().enumerate() {
        source.item(i + 2, *item);
    }
    let ends = if output[3].is_multiple_of(3) {
        let statement = source.branches(output);
        // Everything has to be part of the branches.
        if !source.unused().is_empty() {
            return None;
        }
        format!("{statement}rewrite variadic tanh(INPUT) over () for j < src.length; ")
    } else {
        let outputs = source.unused();
        if outputs.is_empty() {
            return None;
        }
        let mut condition = String::new();
        if let (Some(join), true) = (source.joins.first(), output[0].is_multiple_of(3)) {
            condition = format!("where {join}.axis == {}; ", output[1] % 2);
        }
        let targets = vec!["INPUT"; outputs.len()].join(", ");
        format!("match {}; {condition}rewrite {targets}; ", outputs.join(", "))
    };
    let input = ["p0", "p1"].into_iter().find(|name| source.used.contains(*name));
    let input = input.or_else(|| source.names.last().map(|name| name.as_str()))?;
    let alias = if alias { "alias " } else { "" };
    let text = format!("{}{}", source.text, ends.replace("INPUT", input));
    Some(format!("rule r {alias}{{ let p0 = *; let p1 = *; {text}}}"))
}
