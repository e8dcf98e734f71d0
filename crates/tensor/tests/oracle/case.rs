//! The text form of cases: an operation, its attributes, operands and expected results.
//!
//! ```text
//! case a name
//! op Conv
//! attr strides ints 2 2
//! in float32 1,1,2,2 : 1 2 3 4
//! in -
//! out float32 1,1,1,1 : 10
//! ```

use std::collections::HashMap;

use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

/// One attribute.
#[derive(Clone, Debug)]
pub enum Attr {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<String>),
}

/// One case.
#[derive(Debug, Default)]
pub struct Case {
    pub name: String,
    pub op: String,
    attrs: HashMap<String, Attr>,
    pub inputs: Vec<Option<Tensor>>,
    pub outputs: Vec<Option<Tensor>>,
}

impl Case {
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.ints(name).first().copied().unwrap_or(default)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.int(name, 0) != 0
    }

    pub fn ints(&self, name: &str) -> Vec<i64> {
        match self.attrs.get(name) {
            Some(Attr::Ints(list)) => list.clone(),
            _ => Vec::new(),
        }
    }

    pub fn sizes(&self, name: &str) -> Vec<usize> {
        self.ints(name).into_iter().map(|n| n as usize).collect()
    }

    pub fn floats(&self, name: &str) -> Vec<f64> {
        match self.attrs.get(name) {
            Some(Attr::Floats(list)) => list.clone(),
            _ => Vec::new(),
        }
    }

    pub fn float(&self, name: &str, default: f64) -> f64 {
        self.floats(name).first().copied().unwrap_or(default)
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        match self.attrs.get(name) {
            Some(Attr::Texts(list)) => list.clone(),
            _ => Vec::new(),
        }
    }

    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        match self.attrs.get(name) {
            Some(Attr::Texts(list)) => list.first().map_or(default, |text| text),
            _ => default,
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.attrs.contains_key(name)
    }

    pub fn input(&self, index: usize) -> &Tensor {
        self.get(index).unwrap_or_else(|| panic!("{}: no operand {index}", self.name))
    }

    pub fn get(&self, index: usize) -> Option<&Tensor> {
        self.inputs.get(index)?.as_ref()
    }

    /// The one integer of an operand.
    pub fn scalar(&self, index: usize) -> Option<i64> {
        self.get(index)?.i64s().unwrap().first().copied()
    }
}

/// Reads all cases of a text.
pub fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        if key == "case" {
            cases.push(Case { name: rest.to_owned(), ..Case::default() });
            continue;
        }
        let case = cases.last_mut().expect("a case comes first");
        match key {
            "op" => case.op = rest.to_owned(),
            "attr" => {
                let (name, attr) = parse_attr(rest);
                case.attrs.insert(name, attr);
            }
            "in" => case.inputs.push(parse_tensor(rest)),
            "out" => case.outputs.push(parse_tensor(rest)),
            other => panic!("unknown key '{other}' in {}", case.name),
        }
    }
    cases
}

fn parse_attr(text: &str) -> (String, Attr) {
    let mut words = text.split(' ');
    let (name, kind) = (words.next().unwrap(), words.next().unwrap());
    let words = words.filter(|word| !word.is_empty());
    let attr = match kind {
        "ints" => Attr::Ints(words.map(|word| word.parse().unwrap()).collect()),
        "floats" => Attr::Floats(words.map(|word| word.parse().unwrap()).collect()),
        "texts" => Attr::Texts(words.map(|word| word.replace('~', " ")).collect()),
        other => panic!("unknown kind of attribute '{other}'"),
    };
    (name.to_owned(), attr)
}

fn parse_tensor(text: &str) -> Option<Tensor> {
    if text.trim() == "-" {
        return None;
    }
    let (head, data) = text.split_once(" :").unwrap();
    let (dtype, shape) = head.split_once(' ').unwrap();
    let shape: Vec<usize> =
        shape.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
    let dtype: DType = dtype.parse().unwrap();
    let words = || data.split(' ').filter(|word| !word.is_empty());
    let tensor = if dtype.is_float() {
        Tensor::from_vec(&shape, words().map(|word| word.parse::<f64>().unwrap()).collect())
    } else {
        Tensor::from_vec(&shape, words().map(|word| word.parse::<i64>().unwrap()).collect())
    };
    Some(cast(&tensor.unwrap(), dtype).unwrap())
}
